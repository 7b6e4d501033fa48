// What -O and -W of a VCF output mean, and which of them go together.

#include <cstring>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
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

}  // namespace carbon
