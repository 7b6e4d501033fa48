#include "src/embed/predict.hpp"

#include <cmath>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/embed/run.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/formats/provenance.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

Predictor::Predictor(const ModelConfig& config, const LabelValues& labels, Pooling pooling,
                     StrandChoice strand)
    : labels_(labels), rows_("predict", config, pooling), strand_(strand) {}

PredictItem Predictor::plan(std::string name, std::string_view bases) const {
  rows_.check(name, bases.size());
  PredictItem item{std::move(name), {}, {}};
  if (strand_ != StrandChoice::reverse) item.requests.push_back(rows_.request(bases));
  if (strand_ != StrandChoice::forward) item.requests.push_back(rows_.request(reverse_complement(bases)));
  return item;
}

std::vector<double> Predictor::values(const PredictItem& item) const {
  std::vector<double> mean(labels_.names().size(), 0.0);
  for (const RequestPtr& request : item.requests) {
    const std::vector<double> values = labels_.values(request->states);
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += values[i];
  }
  for (double& value : mean) {
    value /= static_cast<double>(item.requests.size());
    if (!std::isfinite(value)) throw not_finite("predict", "value of a label in sequence " + item.name);
  }
  return mean;
}

namespace {

constexpr int kDigits = 9;

// What the values depend on besides the model and the sequences.
Settings settings_of(const PredictOptions& options, const LabelValues& labels, const TokenLayout& layout) {
  Settings settings = {{"pool", word_of(kPoolWords, pool_of(options.pooling, layout))},
                       {"tail", word_of(kTailWords, options.pooling.pad_tail)}};
  for (auto& setting : labels.settings()) settings.push_back(std::move(setting));
  settings.emplace_back("strand", word_of(kStrandWords, options.strand));
  return settings;
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const PredictOptions& options, const LabelValues& labels) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options, labels, model.config().layout))
    run.emplace(name, value);
  run.emplace("labels", joined(labels.names(), "\t"));
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const PredictOptions& options,
                                      const LabelValues& labels) {
  return provenance_lines("predict", options.record,
                          {model_line("predict", "values", model,
                                      header_text(settings_of(options, labels, model.config().layout)))});
}

std::string heading(const LabelValues& labels) {
  return "#name\t" + joined(labels.names(), "\t") + "\n";
}

std::string row(const std::string& name, const std::vector<double>& values) {
  check_row_name("predict", name);
  std::string line = name;
  for (const double value : values) {
    line += '\t';
    append_general(value, kDigits, line);
  }
  return line + '\n';
}

}  // namespace

void run_predict(Engine& engine, const PredictOptions& options) {
  const LabelValues labels(engine.model().checkpoint(), options.labels, *options.log);
  const Predictor predictor(engine.config(), labels, options.pooling, options.strand);
  const SequenceRunInfo run{{"predict", "sequence"},
                            [&] { return run_identity(engine.model(), options, labels); },
                            options.earlier,
                            [&] { return header_lines(engine.model(), options, labels); }};
  SequenceOutput output(options.output, run, *options.log, output_threads(engine));
  if (!output.continued()) output.write(heading(labels));
  run_sequences<PredictItem>(
      engine, "predict", options, output,
      [&](const std::function<void(PredictItem)>& emit, Progress& progress) {
        plan_sequences("predict", options, output.continued(), predictor, emit, progress);
      },
      [&](PredictItem& item) { output.write(row(item.name, predictor.values(item))); });
}

}  // namespace carbon
