#include "src/embed/run.hpp"

#include <climits>
#include <cmath>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/files/file_name.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/matrix_output.hpp"
#include "src/formats/provenance.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

EmbedOutput output_of(const EmbedOptions& options) {
  if (options.type) return *options.type;
  const std::optional<ArrayFormat> format = array_format_of(options.output);
  return !format                       ? EmbedOutput::tsv
         : *format == ArrayFormat::npy ? EmbedOutput::npy
                                       : EmbedOutput::safetensors;
}

MatrixPlace place_of(const EmbedOptions& options) {
  const bool npy = output_of(options) == EmbedOutput::npy;
  return {options.output, npy ? ArrayFormat::npy : ArrayFormat::safetensors, ".names.tsv",
          "#name\tfirst_row\trows"};
}

// Throws Error if the output cannot have the type that the options ask for. Opens no file.
void check_embed_output(const EmbedOptions& options) {
  const EmbedOutput type = output_of(options);
  check_output_name("embed", options.output, {word_of(kEmbedOutputWords, type)},
                    std::string(word_of(kEmbedOutputWords, type)) + (options.type ? " by -O" : ""),
                    "choose with -O tsv, npy or safetensors, and a name that fits");
  if (type == EmbedOutput::tsv) return check_continuable("embed", options.output, options.earlier);
  if (options.earlier == EarlierRun::resume)
    throw Error("embed", "a matrix cannot be continued",
                {"write a table with {-O} tsv, or leave out {--resume}"});
  check_matrix_output("embed", place_of(options), {"name a regular file with {-o}, or use {-O} tsv"});
}

}  // namespace

SettingList embed_settings(EmbedOptions& options) {
  return {Setting("pool", "POOL",
                  "which rows: separator (the row of </dna> or a last <s>; default), last (6-mer), mean "
                  "(over all 6-mers) or "
                  "none (one row per 6-mer)",
                  options.pooling.pool, kPoolWords),
          Setting("layer", "L",
                  "which states: -1, after the final norm (default), or L, the residual stream after the "
                  "first L layers",
                  &options.layer)
              .range(kFinalNorm, INT_MAX),
          Setting("strand", "STRAND",
                  "strand to read: + (default), - (reverse complement) or both (mean of the two rows)",
                  options.strand, kStrandWords),
          Setting("pad-tail", "pad a partial 6-mer at the end with A (default: leave it out)",
                  options.pooling.pad_tail)};
}

void check_embed_options(const EmbedOptions& options) {
  if (options.pooling.pool == Pool::none && options.strand == StrandChoice::both)
    throw Error("embed",
                "rows of single 6-mers cannot be averaged over both strands, because the 6-mers of the two "
                "strands do not match",
                {"use {--strand} both with another {--pool}, or {--pool} none with {--strand} + and with "
                 "{--strand} -"});
  check_embed_output(options);
}

namespace {

// The output formats: a table, or a matrix and a table of names.
class EmbedWriter {
 public:
  virtual ~EmbedWriter() = default;
  /// Writes the rows of one sequence, [n, hidden].
  virtual void write(const std::string& name, std::span<const float> rows) = 0;
  /// Called when the sequences `done` are written.
  virtual void end_sequence(const SequencesDone& /*done*/) {}
  /// The sequences that the output has from an earlier run; none without one.
  virtual std::optional<SequencesDone> continued() const { return std::nullopt; }
  /// Passes a table on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  virtual void flush_for_reader() = 0;
  /// Whether the output is a file that can be continued.
  virtual bool to_file() const { return false; }
  virtual std::string saved_in() const { return ""; }
  virtual void flush_finished() {}
  /// Completes the files. Without it, they are not left behind.
  virtual void close() = 0;
};

// One line per row: name, number of the 6-mer if each has a row, values. Values have the fewest digits that
// give the same float.
class TableWriter final : public EmbedWriter {
 public:
  TableWriter(const EmbedOptions& options, const SequenceRunInfo& run, size_t hidden, int threads)
      : output_(options.output, run, *options.log, threads),
        hidden_(hidden),
        half_(options.dtype == DType::f16),
        kmers_(options.pooling.pool == Pool::none) {
    if (output_.continued()) return;
    line_ = kmers_ ? "#name\tkmer" : "#name";
    for (size_t i = 0; i < hidden; ++i) line_ += "\te" + std::to_string(i);
    output_.write(line_ + "\n");
  }

  void write(const std::string& name, std::span<const float> rows) override {
    check_row_name("embed", name);
    for (size_t row = 0; row * hidden_ < rows.size(); ++row) {
      line_ = name;
      if (kmers_) line_ += '\t' + std::to_string(row);
      for (const float value : rows.subspan(row * hidden_, hidden_)) {
        line_ += '\t';
        put(half_ ? half_to_float(float_to_half(value)) : value);
      }
      line_ += '\n';
      output_.write(line_);
    }
  }

  void end_sequence(const SequencesDone& done) override { output_.end_sequence(done); }
  std::optional<SequencesDone> continued() const override { return output_.continued(); }
  void flush_for_reader() override { output_.flush_for_reader(); }
  bool to_file() const override { return output_.to_file(); }
  std::string saved_in() const override { return output_.saved_in(); }
  void flush_finished() override { output_.flush_finished(); }
  void close() override { output_.close(); }

 private:
  void put(float value) { append_shortest(value, line_); }

  SequenceOutput output_;
  size_t hidden_;
  bool half_, kmers_;
  std::string line_;
};

class MatrixWriter final : public EmbedWriter {
 public:
  MatrixWriter(const EmbedOptions& options, const std::vector<std::string>& provenance, size_t hidden)
      : matrix_(place_of(options), {place_of(options).format, options.dtype, hidden}, provenance),
        hidden_(hidden) {}

  void write(const std::string& name, std::span<const float> rows) override {
    check_row_name("embed", name);
    matrix_.describe(name + "\t" + std::to_string(matrix_.rows()) + "\t" +
                     std::to_string(rows.size() / hidden_));
    matrix_.append(rows);
  }

  void flush_for_reader() override {}

  void close() override {
    matrix_.finish();
    matrix_.commit();
  }

 private:
  MatrixOutput matrix_;
  size_t hidden_;
};

// Of `run`, a matrix uses the header alone.
std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, const SequenceRunInfo& run,
                                               size_t hidden, int threads) {
  if (output_of(options) != EmbedOutput::tsv)
    return std::make_unique<MatrixWriter>(options, run.header(), hidden);
  return std::make_unique<TableWriter>(options, run, hidden, threads);
}

// What the values depend on besides the sequences and the model. Settings name variables, and these only
// read them.
Settings settings_of(EmbedOptions options, const TokenLayout& layout) {
  options.pooling.pool = pool_of(options.pooling, layout);
  Settings settings = setting_values(embed_settings(options));
  settings.emplace_back("dtype-out", dtype_name(options.dtype));
  return settings;
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const EmbedOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options, model.config().layout)) run.emplace(name, value);
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const EmbedOptions& options) {
  const Settings settings = settings_of(options, model.config().layout);
  return provenance_lines("embed", options.record,
                          {model_line("embed", "embeddings", model, header_text(settings))});
}

}  // namespace

void run_embed(Engine& engine, const EmbedOptions& options) {
  const ModelConfig& config = engine.config();
  check_embed_options(options);
  const EmbedPlanner planner(config, options);
  const SequenceRunInfo run{{"embed", "sequence"},
                            [&] { return run_identity(engine.model(), options); },
                            options.earlier,
                            [&] { return header_lines(engine.model(), options); }};
  const auto writer = make_embed_writer(options, run, config.hidden, output_threads(engine));
  run_sequences<EmbedItem>(
      engine, "embed", options, *writer,
      [&](const std::function<void(EmbedItem)>& emit, Progress& progress) {
        plan_sequences("embed", options, writer->continued(), planner, emit, progress);
      },
      [&](EmbedItem& item) { writer->write(item.name, take_rows(item, options.dtype)); });
}

namespace {

void check_layer(int layer, size_t layers) {
  if (layer == kFinalNorm || (layer >= 1 && static_cast<size_t>(layer) <= layers)) return;
  throw SettingError("embed", "layer",
                     "there is no layer " + std::to_string(layer) + ": the model has " +
                         std::to_string(layers) + " layers; expected 1 to " + std::to_string(layers) +
                         ", or -1 for the state after the final norm",
                     {"set it with {--layer}"});
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
                  {"use {--dtype-out} f32"});
  }
}

}  // namespace

EmbedPlanner::EmbedPlanner(const ModelConfig& config, const EmbedOptions& options)
    : rows_("embed", config, options.pooling), layer_(options.layer), strand_(options.strand) {
  check_layer(layer_, config.layers);
}

EmbedItem EmbedPlanner::plan(std::string name, std::string_view bases) const {
  rows_.check(name, bases.size());
  EmbedItem item{std::move(name), {}, {}};
  const auto add = [&](const RequestPtr& request) {
    if (request) item.requests.push_back(request);
  };
  if (strand_ != StrandChoice::reverse) add(rows_.request(bases, layer_));
  if (strand_ != StrandChoice::forward) add(rows_.request(reverse_complement(bases), layer_));
  return item;
}

std::vector<float> take_rows(EmbedItem& item, DType type) {
  std::vector<float> rows = rows_of(item);
  check_values(item, rows, type);
  return rows;
}

}  // namespace carbon
