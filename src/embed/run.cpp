#include "src/embed/run.hpp"

#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/embed/writer.hpp"
#include "src/engine/ordered_writer.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

// A sequence on its way through the run: one request per strand, or none where it has no rows.
struct Item {
  std::string name;
  std::vector<RequestPtr> requests;

  size_t bytes() const { return sizeof(*this) + name.capacity(); }
};

// The name of a sequence, or of a region in the form that samtools faidx uses.
std::string shown_name(const SequencePlace& place, bool is_region) {
  if (!is_region) return place.name;
  return place.name + ":" + std::to_string(place.begin + 1) + "-" + std::to_string(place.end);
}

// Makes the requests of sequences.
class Planner {
 public:
  Planner(const ModelConfig& config, const EmbedOptions& options) : config_(config), options_(options) {}

  Item plan(const SequencePlace& place, std::string_view bases) const {
    Item item{shown_name(place, options_.inputs.has_regions()), {}};
    check(item.name, bases.size());
    if (options_.strand != StrandChoice::reverse) add_request(item, bases);
    if (options_.strand != StrandChoice::forward) add_request(item, reverse_complement(bases));
    return item;
  }

 private:
  size_t kmers(size_t length) const {
    return (length + (options_.pad_tail ? kKmerLength - 1 : 0)) / kKmerLength;
  }

  void check(const std::string& name, size_t length) const {
    const size_t tokens = kmers(length) + 2;
    if (tokens > config_.max_positions)
      throw Error("embed",
                  "sequence " + name + " of " + std::to_string(length) + " bp takes " +
                      std::to_string(tokens) + " tokens and the model's context has " +
                      std::to_string(config_.max_positions) + "; the longest that fits is " +
                      std::to_string(kKmerLength * (config_.max_positions - 2)) + " bp: cut it into pieces",
                  {"regions"});
    if (tokens == 2 && (options_.pool == Pool::last || options_.pool == Pool::mean))
      throw Error("embed",
                  "sequence " + name + " of " + std::to_string(length) +
                      " bp has no 6-mer to take a hidden state from; leave it out",
                  {length > 0 ? "pad_tail" : "pool_separator"});
  }

  void add_request(Item& item, std::string_view bases) const {
    const std::vector<uint32_t> ids =
        encode_kmers(bases.substr(0, kmers(bases.size()) * kKmerLength), config_.layout);
    if (ids.empty() && options_.pool == Pool::none) return;
    const auto request = std::make_shared<Request>();
    request->tokens.push_back(config_.layout.dna_begin());
    request->tokens.insert(request->tokens.end(), ids.begin(), ids.end());
    // The rows of 6-mers do not depend on </dna>, so it is only run if its row is wanted.
    if (options_.pool == Pool::separator) request->tokens.push_back(config_.layout.dna_end());
    const bool every_kmer = options_.pool == Pool::mean || options_.pool == Pool::none;
    request->want_begin = every_kmer ? 1 : request->tokens.size() - 1;
    request->head = options_.pool == Pool::mean ? HeadKind::mean_hidden : HeadKind::hidden;
    request->layer = options_.layer;
    item.requests.push_back(request);
  }

  ModelConfig config_;
  const EmbedOptions& options_;
};

// Returns the rows of a sequence: those of one strand, or the mean of both strands.
std::vector<float> rows_of(Item& item) {
  if (item.requests.empty()) return {};
  std::vector<float> rows = std::move(item.requests[0]->states);
  if (item.requests.size() == 2)
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<float>((double{rows[i]} + double{item.requests[1]->states[i]}) / 2);
  return rows;
}

void check_values(const Item& item, const std::vector<float>& rows, DType type) {
  for (const float value : rows) {
    if (!std::isfinite(value))
      throw Error("embed", "non-finite hidden state in sequence " + item.name +
                               "; the checkpoint's weights or activations are not finite");
    if (type == DType::f16 && !std::isfinite(half_to_float(float_to_half(value))))
      throw Error("embed", "a hidden state of sequence " + item.name + " is too large for f16",
                  {"output_f32"});
  }
}

void check_layer(int layer, size_t layers) {
  if (layer == kFinalNorm || (layer >= 1 && static_cast<size_t>(layer) <= layers)) return;
  throw Error("embed",
              "there is no layer " + std::to_string(layer) + ": the model has " + std::to_string(layers) +
                  " layers; expected 1 to " + std::to_string(layers) +
                  ", or -1 for the state after the final norm",
              {"layer"});
}

}  // namespace

void check_embed_options(const EmbedOptions& options) {
  if (options.pool == Pool::none && options.strand == StrandChoice::both)
    throw Error("embed",
                "rows of single 6-mers cannot be averaged over both strands, because the 6-mers of the two "
                "strands do not match",
                {"pool_none_both"});
  check_embed_output(options);
}

void run_embed(Engine& engine, const EmbedOptions& options) {
  const ModelConfig& config = engine.config();
  check_embed_options(options);
  check_layer(options.layer, config.layers);
  const auto writer = make_embed_writer(options, config.hidden);
  const Planner planner(config, options);
  Progress progress(*options.log, options.progress, "embed", "sequences");
  uint64_t done = 0;
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        read_sequences(
            "embed", options.inputs, *options.log,
            [&](const SequencePlace& place, const std::string& bases) { emit(planner.plan(place, bases)); });
      },
      [&](Item& item) {
        const std::vector<float> rows = rows_of(item);
        check_values(item, rows, options.dtype);
        writer->write(item.name, rows);
        progress.update(++done, item.name);
      });
  progress.finish();
  report_passes(engine);
  writer->close();
}

}  // namespace carbon
