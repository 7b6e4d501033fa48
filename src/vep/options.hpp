// The options of a run of `carbon vep` (docs/recipes.md, docs/conventions.md), which the command line fills
// in, and the records that they choose: those of a share of the input (long_run.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/assembly_check.hpp"
#include "src/vep/output.hpp"
#include "src/vep/recipe.hpp"

namespace carbon {

/// What happens to a record whose REF differs from the FASTA: a warning and no score, an Error, or no output.
enum class CheckRef { warn, exit, exclude };
inline constexpr Word<CheckRef> kCheckRefWords[] = {
    {"w", CheckRef::warn}, {"e", CheckRef::exit}, {"x", CheckRef::exclude}};

/// Of which tokens of a window --embeddings writes the mean: of all, or from the first on that differs, that
/// one or those of some bases.
inline constexpr const char* kWindowPool = "window";
inline constexpr const char* kVariantPool = "variant";
/// How many tokens of `bases` bases that are; 0 for those of the window. Throws SettingError.
size_t pooled_tokens(const std::string& pool, size_t bases);

/// Those of -O.
inline constexpr const char* kVepOutputTypes = "u|b[0-9]|v|z[0-9]|t|bigwig";

struct VepOptions {
  std::string input = "-";
  std::string fasta;
  std::string output = "-";
  std::string output_type;                 // "" or one of kVepOutputTypes
  std::string write_index;                 // "", csi, tbi
  TableHeader header = TableHeader::full;  // of a table
  VcfReaderOptions selection;
  RecipeSettings scores;
  CheckRef check_ref = CheckRef::warn;
  double max_ref_mismatch = kMaxRefMismatch;
  std::string tag_prefix = "CARBON";
  std::string unify_chr_names, chr_map;  // for ContigNames; "" : names must be equal
  std::string cache;                     // "" : none
  std::string embeddings;                // a file of mean hidden states; "" : none
  std::string pool = kWindowPool;        // of which tokens these are: a word, or a number of bases
  std::string histogram;                 // of the scores; "" : none
  std::vector<std::string> tables;       // of carbon scan
  std::optional<Shard> shard;
  EarlierRun earlier = EarlierRun::refuse;  // what becomes of the scores in OUTPUT.partial
  bool version_lines = true;
  std::string command_line;  // for ##carbon_vepCommand
  EstimateOptions estimate;  // print the expected work and run time, then exit
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // who may ask for an early end; null: nobody
};

/// What the output is: the records of the input, a table, or a track of the lowest scores (score_track.hpp).
enum class VepOutput { records, table, track };
/// By -O and the name of the output. Throws Error for an output type that there is not.
VepOutput vep_output(const VepOptions& options);

/// Path, type, compression and index of an output that is not a track. Throws Error.
VcfWriterOptions output_options(const VepOptions& options);

/// Throws Error for an output type or an index that the output cannot have, for what a track cannot be, and
/// if `resume` is set for an output that cannot be continued. Needs no model.
void check_vep_output(const VepOptions& options);

/// Reads the next record; false at the end. VcfReader::next, or a function around it: shares are formed after
/// records were selected.
using RecordSource = std::function<bool(VcfRecord&)>;

/// Throws Error for an input that cannot be read twice: standard input, a pipe, a terminal. `why` begins the
/// message: which reads it twice, and what for.
void check_readable_twice(const std::string& input, const std::string& why, const Advice& advice = {});
/// The same for the input of a share, whose records are counted first.
void check_share_input(const std::string& input);
/// Reads to the end and returns the number of records.
uint64_t count_records(const RecordSource& next);
/// A source of the records of `next` in `range`. It does not read beyond the end of the range, and throws
/// Error if `next` ends earlier.
RecordSource records_in(RecordSource next, IndexRange range);

}  // namespace carbon
