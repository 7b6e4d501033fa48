#include "src/embed/planner.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

void check_layer(int layer, size_t layers) {
  if (layer == kFinalNorm || (layer >= 1 && static_cast<size_t>(layer) <= layers)) return;
  throw Error("embed",
              "there is no layer " + std::to_string(layer) + ": the model has " + std::to_string(layers) +
                  " layers; expected 1 to " + std::to_string(layers) +
                  ", or -1 for the state after the final norm",
              {AdviceTopic::layer});
}

// Returns the rows of a sequence: those of one strand, or the mean of both strands.
std::vector<float> rows_of(EmbedItem& item) {
  if (item.requests.empty()) return {};
  std::vector<float> rows = std::move(item.requests[0]->states);
  if (item.requests.size() == 2)
    for (size_t i = 0; i < rows.size(); ++i)
      rows[i] = static_cast<float>((double{rows[i]} + double{item.requests[1]->states[i]}) / 2);
  return rows;
}

void check_values(const EmbedItem& item, const std::vector<float>& rows, DType type) {
  for (const float value : rows) {
    if (!std::isfinite(value)) throw not_finite("embed", "hidden state in sequence " + item.name);
    if (type == DType::f16 && !std::isfinite(half_to_float(float_to_half(value))))
      throw Error("embed", "a hidden state of sequence " + item.name + " is too large for f16",
                  {AdviceTopic::output_f32});
  }
}

}  // namespace

EmbedPlanner::EmbedPlanner(const ModelConfig& config, const EmbedOptions& options)
    : config_(config),
      layer_(options.layer),
      pool_(options.pool),
      strand_(options.strand),
      pad_tail_(options.pad_tail) {
  check_layer(layer_, config_.layers);
  if (pad_tail_ && !config_.layout.pads())
    throw Error("embed",
                "the tokenizer of the family " + std::string(config_.layout.family->name) +
                    " pads no 6-mer, so bases after the last whole 6-mer have no row",
                {AdviceTopic::no_pad_tail});
}

EmbedItem EmbedPlanner::plan(std::string name, std::string_view bases) const {
  check(name, bases.size());
  EmbedItem item{std::move(name), {}, {}};
  if (strand_ != StrandChoice::reverse) add_request(item, bases);
  if (strand_ != StrandChoice::forward) add_request(item, reverse_complement(bases));
  return item;
}

size_t EmbedPlanner::kmers(size_t length) const {
  return (length + (pad_tail_ ? kKmerLength - 1 : 0)) / kKmerLength;
}

void EmbedPlanner::check(const std::string& name, size_t length) const {
  const size_t tokens = kmers(length) + 2;
  if (tokens > config_.sequence_positions())
    throw Error("embed",
                "sequence " + name + " of " + std::to_string(length) + " bp takes " + std::to_string(tokens) +
                    " tokens and the model's context has " + std::to_string(config_.sequence_positions()) +
                    "; the longest that fits is " +
                    std::to_string(kKmerLength * (config_.sequence_positions() - 2)) +
                    " bp: cut it into pieces",
                {AdviceTopic::regions});
  if (tokens == 2 && (pool_ == Pool::last || pool_ == Pool::mean))
    throw Error("embed",
                "sequence " + name + " of " + std::to_string(length) +
                    " bp has no 6-mer to take a hidden state from; leave it out",
                {length > 0 && config_.layout.pads() ? AdviceTopic::pad_tail : AdviceTopic::pool_separator});
}

void EmbedPlanner::add_request(EmbedItem& item, std::string_view bases) const {
  const size_t count = kmers(bases.size());
  if (count == 0 && pool_ == Pool::none) return;
  const auto request = std::make_shared<Request>();
  request->tokens = sequence_tokens(bases.substr(0, count * kKmerLength), config_.layout);
  // The rows of 6-mers do not depend on the separator, so it is only run if its row is wanted.
  if (pool_ == Pool::separator) request->tokens.push_back(config_.layout.separator());
  const bool every_kmer = pool_ == Pool::mean || pool_ == Pool::none;
  request->want_begin = every_kmer ? config_.layout.lead() + 1 : request->tokens.size() - 1;
  request->head = pool_ == Pool::mean ? HeadKind::mean_hidden : HeadKind::hidden;
  request->layer = layer_;
  item.requests.push_back(request);
}

std::vector<float> take_rows(EmbedItem& item, DType type) {
  std::vector<float> rows = rows_of(item);
  check_values(item, rows, type);
  return rows;
}

}  // namespace carbon
