// The options of a run of `carbon predict` (docs/conventions.md, "Classification heads"). The
// command line fills them in.
#pragma once

#include <string>

#include "src/base/log.hpp"
#include "src/base/progress.hpp"
#include "src/base/run_identity.hpp"
#include "src/base/settings.hpp"
#include "src/base/stop.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/pooling/label_values.hpp"
#include "src/pooling/pooled_rows.hpp"

namespace carbon {

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
  settings.emplace_back("strand", "STRAND",
                        "+ (default), - (reverse complement) or both (mean of the two values)",
                        options.strand, kStrandWords);
  return settings;
}

}  // namespace carbon
