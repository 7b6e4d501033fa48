// src/scan/: carbon scan: a FASTA comes in, and a value for every base of it, or a score for every SNV,
// goes out. pieces selects the bases, planner makes windows with their requests, assembler makes values of
// the results, and recorder hands them to the output and the histogram.
//
// docs/recipes.md ("Scan") and docs/conventions.md have the definitions.
//
// The command line fills in the options. pieces.hpp selects the bases, planner.hpp makes windows with their
// requests, assembler.hpp makes values of the results, and recorder.hpp hands them to the output (output.hpp)
// and the histogram, while it keeps what --resume needs. run.cpp does one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/scan/pieces.hpp"

namespace carbon {

class Engine;

/// Which probability of a base at offset j of its 6-mer is taken.
enum class ScanLevel {
  marginal,  // FNS: the bases before it in the 6-mer are summed over
  chain,     // given the true bases before it in the 6-mer
  first,     // j = 0 only: in six frames every base is the first of its 6-mer in one of them
};
inline constexpr Word<ScanLevel> kScanLevelWords[] = {
    {"marginal", ScanLevel::marginal}, {"chain", ScanLevel::chain}, {"first", ScanLevel::first}};

struct ScanOptions {
  std::string fasta;
  std::string output = "-";  // of a set of files: how their names begin
  std::string output_type;   // a word of scan_output_types() (output.hpp), with a level if it has one; or ""
  std::string write_index;   // "", csi, tbi
  std::string histogram;     // "" for none
  std::string hub;           // folder of a track hub of bigwig; "" for none
  std::string hub_genome;    // its genome; "" for the name of the FASTA without folders and suffixes
  ScanSelection selection;
  ScanLevel level = ScanLevel::marginal;
  StrandChoice strand = StrandChoice::both;
  int frames = 0;       // a divisor of a token's bases; 0: all of them for the first level, else 1
  int64_t context = 0;  // bp; 0: default_scan_context()
  std::optional<Shard> shard;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of OUTPUT.partial
  bool keeps_partial = true;                // an early end leaves OUTPUT.partial for a later run
  bool dry_run = false;                     // only say what would be done
  EstimateOptions estimate;                 // the same, and measure how fast that would be
  bool version_lines = true;
  std::string command_line;  // for ##carbon_scanCommand
  ProgressMode progress = ProgressMode::automatic;
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
  Log* log = &silent_log();
};

/// What the values depend on besides FASTA and model.
SettingList scan_settings(ScanOptions& options);

/// Sets the options whose default depends on others or on the model, whose tokens have `bases` bases, and
/// throws Error for what cannot be combined.
void complete_scan_options(ScanOptions& options, size_t max_positions, size_t bases);

/// Scans the bases that the options select. Throws Error; a named output file is then not left behind.
void run_scan(Engine& engine, ScanOptions options);

}  // namespace carbon
