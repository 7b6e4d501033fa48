// Region strings and region files for FASTA input. VCF regions have other rules (vcf_regions.cpp).

#include "src/formats/regions.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "src/base/counts.hpp"
#include "src/base/error.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/bed.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "parse_region";

/// The part of a region after the colon, 0-based and half-open; `end` is open_end if none is given.
struct Range {
  int64_t begin = 0, end = 0;
};

constexpr int64_t open_end = std::numeric_limits<int64_t>::max();

/// A number of up to 18 digits, with commas as thousands separators; nothing for any other text.
std::optional<int64_t> parse_coordinate(std::string_view text) {
  int64_t value = 0;
  int digits = 0;
  for (const char c : text) {
    if (c == ',' && digits > 0) continue;
    if (c < '0' || c > '9' || ++digits > 18) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return digits > 0 ? std::optional<int64_t>(value) : std::nullopt;
}

/// "", BEG, BEG-, BEG-END or -END, counted from 1, END included.
std::optional<Range> parse_range(std::string_view text) {
  if (text.empty()) return Range{0, open_end};
  const size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view second = dash == std::string_view::npos ? "" : text.substr(dash + 1);
  if (first.empty() && second.empty()) return std::nullopt;
  const std::optional<int64_t> begin = first.empty() ? 1 : parse_coordinate(first);
  const std::optional<int64_t> end = second.empty() ? open_end : parse_coordinate(second);
  if (!begin || !end || *begin < 1 || *begin > *end) return std::nullopt;
  return Range{*begin - 1, *end};
}

/// Clips [begin, end) to the contig. `shown` is the text to name in messages.
Region make_region(const std::string& contig, int64_t begin, int64_t end, const IndexedFasta& fasta,
                   const std::string& shown) {
  const int64_t length = fasta.length(contig);
  if (length < 0) {
    throw Error(function_name, shown + ": no sequence " + contig + " in " + fasta.path() +
                                   "; the first column of its .fai lists the names");
  }
  if (end > length && begin < length) {
    fasta.log().warning(function_name, shown + ": the end lies beyond the end of " + contig + " (" +
                                           count_of(length, "base") + "), which is used instead");
  }
  if (end > length) end = length;
  if (begin < 0 || begin >= end) {
    throw Error(function_name, shown + ": there are no bases in this range of " + contig + ", which has " +
                                   count_of(length, "base") +
                                   "; positions count from 1, and BEG must not exceed END");
  }
  return {contig, begin, end};
}

Region parse_named(const std::string& text, const IndexedFasta& fasta, const std::string& shown) {
  const auto fail = [&](const std::string& what) { throw Error(function_name, shown + ": " + what); };
  // An open end means the end of the contig, without a warning.
  const auto region = [&](const std::string& contig, const Range& range) {
    return make_region(contig, range.begin, range.end == open_end ? fasta.length(contig) : range.end, fasta,
                       shown);
  };
  NamedPart parts;
  std::string contig;
  std::string_view coordinates;
  if (text.starts_with('{')) {
    const size_t brace = text.find('}');
    if (brace == std::string::npos) fail("no '}' after the name");
    contig = text.substr(1, brace - 1);
    coordinates = std::string_view(text).substr(brace + 1);
    if (!coordinates.empty() && coordinates.front() != ':') fail("only ':' and a range may follow '}'");
    if (!coordinates.empty()) coordinates.remove_prefix(1);
  } else {
    parts = split_region(text, fasta, shown);
    contig = parts.contig;
    coordinates = parts.coordinates;
  }
  if (fasta.length(contig) < 0) {
    fail("no sequence " + contig + " in " + fasta.path() + "; the first column of its .fai lists the names");
  }
  const std::optional<Range> range = parse_range(coordinates);
  if (!range) fail("'" + std::string(coordinates) + "' is not BEG, BEG-END or -END with 1 <= BEG <= END");
  return region(contig, *range);
}

std::vector<std::string> split(const std::string& line) {
  // A BED file may separate columns by spaces. A line with a tab is split at tabs only.
  const char* separators = line.find('\t') != std::string::npos ? "\t" : " ";
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= line.size();) {
    size_t end = line.find_first_of(separators, begin);
    if (end == std::string::npos) end = line.size();
    if (end > begin || *separators == '\t') fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

int64_t parse_position(const std::string& text, const std::string& where) {
  int64_t value = -1;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0) {
    throw Error("read_regions", where + ": '" + text + "' is not a position");
  }
  return value;
}

bool is_bed_name(const std::string& path) {
  for (const std::string_view suffix : {".bed", ".bed.gz", ".bed.bgz"}) {
    if (std::string_view(path).ends_with(suffix)) return true;
  }
  return false;
}

}  // namespace

NamedPart split_region(const std::string& text, const IndexedFasta& fasta, const std::string& shown) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {text, ""};
  const std::string prefix = text.substr(0, colon), rest = text.substr(colon + 1);
  const bool whole = fasta.length(text) >= 0, part = fasta.length(prefix) >= 0;
  if (whole && part && parse_range(rest)) {
    throw Error(function_name, shown + ": both " + text + " and " + prefix +
                                   " are names in the FASTA; write {" + text + "} or {" + prefix +
                                   "}:" + rest);
  }
  if (whole || !part) return {text, ""};
  return {prefix, rest};
}

Region parse_region(const std::string& text, const IndexedFasta& fasta) {
  return parse_named(text, fasta, "region '" + text + "'");
}

std::vector<Region> read_regions(const std::string& path, const IndexedFasta& fasta) {
  const bool bed = is_bed_name(path);
  std::vector<Region> regions;
  TextInput input(path, "read_regions");
  std::string line;
  while (input.line(line)) {
    // In a list of regions a word alone is a contig.
    const bool heads = is_bed_header(line) && (bed || line.find_first_of(" \t") != std::string::npos);
    if (line.empty() || line[0] == '#' || heads) continue;
    const std::string where = input.where();
    if (!bed && line.find('\t') == std::string::npos) {
      regions.push_back(parse_named(line, fasta, where + ": region '" + line + "'"));
      continue;
    }
    const std::vector<std::string> fields = split(line);
    if (fields.size() < (bed ? 3u : 2u)) {
      throw Error("read_regions",
                  where + (bed ? ": a BED line has CHROM, BEG and END"
                               : ": a line has CHROM, BEG and END separated by tabs, or a region"));
    }
    const int64_t first = parse_position(fields[1], where);
    const int64_t last = fields.size() > 2 ? parse_position(fields[2], where) : first;
    regions.push_back(make_region(fields[0], bed ? first : first - 1, last, fasta, where));
  }
  return regions;
}

}  // namespace carbon
