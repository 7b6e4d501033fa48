#include "src/vep/options.hpp"

#include <filesystem>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/files/sequence_output.hpp"
#include "src/vep/output.hpp"

namespace carbon {
namespace {

constexpr const char* kTrackType = "bigwig";  // of -O, and the format of names

// Throws Error for what a run cannot have whose output is a track.
void check_track(const VepOptions& options) {
  check_output_name("vep", options.output, {kTrackType}, "bigWig by -O",
                    "give it a name that ends in .bw, or choose another type with -O");
  if (!options.write_index.empty())
    throw Error("vep", "a bigWig has its index within", {"leave out {--write-index}"});
  if (options.shard || options.estimate.limit > 0)
    throw Error("vep", "a bigWig cannot be put together from shares",
                {std::string("leave out ") + (options.shard ? "{--shard}" : "the time of {--estimate}") +
                 ", or choose another type with {-O}"});
  if (is_stream(options.output))
    throw Error("vep", "a bigWig is written to a regular file", {"name it with {-o} FILE.bw"});
}

}  // namespace

size_t pooled_tokens(const std::string& pool, size_t bases) {
  if (pool == kWindowPool) return 0;
  if (pool == kVariantPool) return 1;
  size_t length = 0;
  if (!parse_number(pool, length) || length < bases || length % bases != 0)
    throw SettingError("vep", "pool",
                       "pool '" + printable(pool) +
                           "': expected window, variant, or a number of bases that is a "
                           "multiple of " +
                           std::to_string(bases) + ", at least " + std::to_string(bases));
  return length / bases;
}

VepOutput vep_output(const VepOptions& options) {
  const bool named = options.output_type.empty() && format_of_name(options.output) == kTrackType;
  if (named || options.output_type == kTrackType) return VepOutput::track;
  return output_type(output_options(options)) == 't' ? VepOutput::table : VepOutput::records;
}

VcfWriterOptions output_options(const VepOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  out.log = options.log;
  if (!options.output_type.empty() && options.output_type != kTrackType)
    parse_output_type(options.output_type, out, kVepOutputTypes);
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

void check_vep_output(const VepOptions& options) {
  const VepOutput output = vep_output(options);
  if (options.header == TableHeader::plain && output != VepOutput::table)
    throw Error("vep", "a plain header is for tables", {"add {-O} t, or leave out {--header} plain"});
  if (output == VepOutput::track)
    check_track(options);
  else
    check_output_name("vep", options.output, {"vcf", "bcf", "tsv"}, "VCF, BCF or a table",
                      "give it a name that ends in .vcf.gz, .bcf or .tsv.gz");
  if (!options.embeddings.empty()) {
    if (options.scores.recipes != std::vector<std::string>{"centered"})
      throw Error("vep",
                  "embeddings are those of the windows of recipe centered, which is to be the only one");
    pooled_tokens(options.pool, 1);  // a model may ask for more
    check_embeddings_file(options.embeddings);
  }
  check_continuable("vep", options.output, options.earlier);
}

void check_readable_twice(const std::string& input, const std::string& why, const Advice& advice) {
  std::error_code ignored;
  const auto status = std::filesystem::status(input, ignored);
  if (input != "-" && !std::filesystem::is_fifo(status) && !std::filesystem::is_character_file(status) &&
      !std::filesystem::is_socket(status))
    return;
  throw Error("vep", why + ", and " + shown_path(input) + " can be read only once; write it to a file",
              advice);
}

void check_share_input(const std::string& input) {
  check_readable_twice(input, "the input of a share is read twice, to count the records first",
                       {"or leave out {--shard}"});
}

uint64_t count_records(const RecordSource& next) {
  uint64_t count = 0;
  for (VcfRecord record; next(record);) ++count;
  return count;
}

RecordSource records_in(RecordSource next, IndexRange range) {
  return [next = std::move(next), range, read = uint64_t{0}](VcfRecord& record) mutable {
    while (read < range.end) {
      if (!next(record))
        throw Error("shard", "the input ended after " + std::to_string(read) +
                                 " records, fewer than were counted; it changed during the run");
      if (read++ >= range.begin) return true;
    }
    return false;
  };
}

}  // namespace carbon
