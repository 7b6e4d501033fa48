#include "src/scan/options.hpp"

#include "src/base/error.hpp"
#include "src/files/output_name.hpp"
#include "src/scan/grid.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

std::vector<int> frames_of(int count) {
  std::vector<int> frames;
  for (int i = 0; i < count; ++i) frames.push_back(i * kKmerLength / count);
  return frames;
}

void complete_scan_options(ScanOptions& options, size_t max_positions) {
  const bool first = options.level == ScanLevel::first;
  if (options.frames == 0) options.frames = first ? kKmerLength : 1;
  if (first && options.frames != kKmerLength)
    throw SettingError("scan", "frames",
                       "level first needs six frames, because each frame gives a value to one base in six",
                       {AdviceTopic::frames});
  if (options.context == 0) options.context = default_scan_context(max_positions);
}

void choose_scan_output(ScanOptions& options) {
  const std::string_view named = format_of_name(options.output);
  if (options.output_type.empty() && (named == "bedgraph" || named == "bigwig")) options.output_type = named;
  const std::string& type = options.output_type;
  const std::string other = "leave out -O, or give another name";
  if (type == "bedgraph") {
    check_output_name("scan", options.output, {"bedgraph"}, "bedgraph by -O", other);
  } else if (type == "bigwig") {
    check_output_name("scan", options.output, {"bigwig"}, "bigwig by -O", other);
    // The name is the beginning of four.
    if (named == "bigwig") options.output.resize(options.output.rfind('.'));
  } else {
    check_output_name("scan", options.output, {"tsv", "vcf", "bcf"}, "a table, VCF or BCF",
                      "choose with -O t, v, z, b, bedgraph or bigwig, and a name that fits");
  }
}

ScanOutputType scan_output_type(const ScanOptions& options) {
  if (options.output_type == "bedgraph") return ScanOutputType::bedgraph;
  if (options.output_type == "bigwig") return ScanOutputType::bigwig;
  return scan_writer_options(options).type == 't' ? ScanOutputType::table : ScanOutputType::vcf;
}

VcfWriterOptions scan_writer_options(const ScanOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  out.log = options.log;
  out.type = 't';
  if (!options.output_type.empty()) parse_output_type(options.output_type, out);
  out.type = output_type(out);
  if (out.level < 0 && out.type != 'u' && out.type != 'v') out.level = kScanCompression;
  out.compression_threads = kCompressionThreads;
  out.indexed_table = true;
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

}  // namespace carbon
