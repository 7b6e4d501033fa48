// src/score/: carbon score: sequences of FASTA files come in, and log-likelihoods of their bases or 6-mers
// go out. planner makes windows with their requests, assembler makes values of the results, and run reads
// the files and writes the output.
//
// docs/conventions.md has the definitions ("Score windows"). The command line fills in the options.
//
// The command line fills in the options. Of a sequence, planner.hpp makes windows with their requests,
// assembler.hpp makes values of the results, and run.cpp reads the files and writes the output.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/sampling/base_scores.hpp"

namespace carbon {

class Engine;

enum class ScoreOutput { summary, bedgraph, tsv };
inline constexpr Word<ScoreOutput> kScoreOutputWords[] = {
    {"summary", ScoreOutput::summary}, {"bedgraph", ScoreOutput::bedgraph}, {"tsv", ScoreOutput::tsv}};

struct ScoreOptions {
  SequenceInputs inputs;
  std::string output = "-";
  std::optional<ScoreOutput> type;  // without one: that of the name of the output, or a summary
  ScoreLevel level = ScoreLevel::base;
  StrandChoice strand = StrandChoice::forward;
  size_t window = 0, stride = 0;            // bp, of whole tokens; 0: the defaults of planner.hpp
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of OUTPUT.partial
  CommandRecord record;                     // of the header
  bool estimate = false;                    // print the expected work and run time, then exit
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// What the scores depend on besides sequences and model.
SettingList score_settings(ScoreOptions& options);

/// What is written. Throws Error if the name of the output stands for another format.
ScoreOutput score_output_type(const ScoreOptions& options);

/// Sets window and stride where they are 0. Throws SettingError for a window that does not fit a model of
/// `max_positions` tokens of `bases` bases, for a stride that is longer than the window, for one of them that
/// is not a positive multiple of `bases`, for the level of tokens that are bases, and for that level on both
/// strands.
void complete_score_options(ScoreOptions& options, size_t max_positions, size_t bases);

/// Scores the sequences of the inputs. Throws Error; a named output file is then not left behind.
void run_score(Engine& engine, ScoreOptions options);

}  // namespace carbon
