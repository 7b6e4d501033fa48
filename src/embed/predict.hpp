// `carbon predict`: sequences of FASTA files come in, and values of the labels of a classification head go
// out.
//
// docs/conventions.md has the definitions ("Classification heads").
//
// The command line fills in the options. A Predictor makes requests of a sequence and values of their
// results; run_predict() reads the files and writes the table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/engine/request.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/model/config.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

class Engine;

struct PredictOptions {
  SequenceInputs inputs;
  std::string output = "-";
  Pooling pooling;  // of one row: separator or last
  LabelSettings labels;
  StrandChoice strand = StrandChoice::forward;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of OUTPUT.partial
  CommandRecord record;                     // of the header
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// What the values depend on besides sequences and model.
inline SettingList predict_settings(PredictOptions& options) {
  SettingList settings = label_settings(options.pooling, options.labels);
  settings.emplace_back(
      "strand", "STRAND",
      "strand to read: + (default), - (reverse complement) or both (mean of the two values)", options.strand,
      kStrandWords);
  return settings;
}

/// A sequence on its way through the run.
struct PredictItem {
  std::string name;
  std::vector<RequestPtr> requests;  // one per strand
  SequencesDone done = {};           // this sequence and those before it in the run

  size_t bytes() const { return sizeof(*this) + name.capacity(); }
};

class Predictor {
 public:
  /// `labels` must outlive it. `pooling` is of one row. Throws Error as PooledRows does.
  Predictor(const ModelConfig& config, const LabelValues& labels, Pooling pooling, StrandChoice strand);

  /// Throws Error as PooledRows::check() does.
  PredictItem plan(std::string name, std::string_view bases) const;
  /// The values of the labels, from the finished requests of a sequence: those of one strand, or the mean
  /// over both. Throws Error, which names the sequence, for one that is not finite.
  std::vector<double> values(const PredictItem& item) const;

 private:
  const LabelValues& labels_;
  PooledRows rows_;
  StrandChoice strand_;
};

/// Throws Error. The model must have a classification head.
void run_predict(Engine& engine, const PredictOptions& options);

}  // namespace carbon
