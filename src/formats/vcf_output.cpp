// What the options of an output mean: its type and index, which of them go together, and which positions it
// can hold; and the table, which has such options.

#include <algorithm>
#include <cstring>
#include <optional>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/formats/vcf_internal.hpp"

namespace carbon {
namespace {

constexpr const char* function_name = "write_vcf";

}  // namespace

void check_output_type(char type, int level) {
  if (std::strchr("ubvz", type) == nullptr) {
    throw Error(function_name, std::string("unknown output type '") + type + "'; one of u, b, v, z");
  }
  if (level > 9 || level < -1) throw Error(function_name, "a compression level is one of 0 to 9");
  if (level >= 0 && (type == 'u' || type == 'v')) {
    throw Error(function_name, "compression level " + std::to_string(level) +
                                   " cannot be set on an uncompressed output; use type z or b");
  }
}

void check_output_index(const VcfWriterOptions& options) {
  if (options.index == VcfIndexKind::none) return;
  const char type = output_type(options);
  if (options.path == "-") {
    throw Error(function_name, "standard output cannot be indexed", {"name a file with {-o}"});
  }
  if (type == 't' && !options.indexed_table) {
    throw Error(function_name,
                options.path + " is a table, which gets no index here; index it with tabix -s1 -b2 -e2");
  }
  if (type == 't' && !is_compressed_name(options.path)) {
    throw Error(
        function_name,
        options.path + " is not compressed, so it cannot be indexed; give it a name that ends in .tsv.gz");
  }
  if (type != 'z' && type != 'b' && type != 't') {
    throw Error(
        function_name,
        options.path +
            " is not compressed, so it cannot be indexed; give it a name that ends in .vcf.gz or .bcf",
        {"or choose a compressed type with {-O} z or {-O} b"});
  }
  if (type == 'b' && options.index == VcfIndexKind::tbi) {
    throw Error(
        function_name,
        options.path + " is BCF, which can have a .csi index but no .tbi index; write .vcf.gz for that",
        {"use {-W} ({--write-index}=csi)"});
  }
}

void parse_output_type(const std::string& text, VcfWriterOptions& options) {
  if (text.empty() || text.size() > 2 || std::strchr("ubvzt", text[0]) == nullptr ||
      (text.size() == 2 && (text[0] == 't' || text[1] < '0' || text[1] > '9'))) {
    throw Error("parse_output_type", "'" + text + "' is not an output type; one of u, b[0-9], v, z[0-9], t");
  }
  const int level = text.size() == 2 ? text[1] - '0' : -1;
  if (text[0] != 't') check_output_type(text[0], level);
  options.type = text[0];
  options.level = level;
}

/// The name of the output decides before the type, except that type u keeps BCF uncompressed.
char output_type(const VcfWriterOptions& options) {
  const std::string_view format = format_of_name(options.path);
  const bool compressed = is_compressed_name(options.path);
  if (format == "bcf") return options.type == 'u' ? 'u' : 'b';
  if (format == "vcf") return compressed ? 'z' : 'v';
  if (format == "tsv") return 't';
  if (compressed && (options.type == 0 || options.type == 'v')) return 'z';
  return options.type ? options.type : 'v';
}

void parse_write_index(const std::string& text, VcfWriterOptions& options) {
  if (text != "csi" && text != "tbi") {
    throw Error("parse_write_index", "index type '" + text + "': expected csi or tbi");
  }
  options.index = text == "tbi" ? VcfIndexKind::tbi : VcfIndexKind::csi;
  check_output_index(options);
}

void check_last_position(const VcfWriterOptions& options, int64_t last, const std::string& what) {
  const char type = output_type(options);
  if ((type == 'b' || type == 'u') && last > kLastBcfPosition)
    throw Error(function_name,
                what + ", but BCF holds positions of up to " + std::to_string(kLastBcfPosition) +
                    "; name an output that ends in .vcf.gz or .tsv.gz",
                {"or write VCF with {-O} z"});
  if (options.index == VcfIndexKind::tbi && last > kLastTbiPosition)
    throw Error(function_name,
                what + ", but a .tbi index holds positions of up to " + std::to_string(kLastTbiPosition) +
                    " (512 Mb); a .csi index holds more",
                {"use {-W} ({--write-index}=csi)"});
  if (type == 't' && options.index == VcfIndexKind::csi && last > kLastTablePosition)
    throw Error(function_name,
                what + ", but the index of a table holds positions of up to " +
                    std::to_string(kLastTablePosition) + "; write .vcf.gz, whose index holds more",
                {"or leave out {--write-index}"});
}

/// htslib gives a table so many levels of bins that bins of 2^14 reach 2^32, and those of 2^15 reach 2^33.
int table_index_shift(const VcfWriterOptions& options) {
  constexpr int64_t kReached = int64_t{1} << 32;
  const bool longer = std::any_of(options.contigs.begin(), options.contigs.end(),
                                  [&](const auto& contig) { return contig.second > kReached; });
  return longer ? 15 : 14;
}

struct TableOutput::Impl {
  explicit Impl(const VcfWriterOptions& options)
      : output(options.path, options.temporary, {options.level, options.compression_threads}) {
    if (options.index == VcfIndexKind::none) return;
    if (is_stream(options.path))
      throw Error("write_table", options.path + " is not a regular file, so it cannot be indexed");
    index.emplace(options, IndexedFormat::table);
  }

  TextOutput output;
  std::optional<VcfIndexOutput> index;
};

TableOutput::TableOutput(const VcfWriterOptions& options) : impl_(std::make_unique<Impl>(options)) {}
TableOutput::~TableOutput() = default;

void TableOutput::write(std::string_view text) {
  impl_->output.write(text);
}
void TableOutput::end_block() {
  impl_->output.end_block();
}
void TableOutput::flush() {
  impl_->output.flush();
}
void TableOutput::flush_for_reader() {
  impl_->output.flush_for_reader();
}
void TableOutput::close() {
  impl_->output.close();
  if (impl_->index) impl_->index->build();
}

}  // namespace carbon
