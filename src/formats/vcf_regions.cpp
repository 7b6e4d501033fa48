// Region lists for VCF input. Lines come through TextInput, so that a cut file is not taken for a shorter
// list.

#include "src/formats/vcf_regions.hpp"

#include <htslib/tbx.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/letters.hpp"
#include "src/base/lists.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/bed.hpp"
#include "src/formats/index_check.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "read_regions";
// Larger than any position in a CSI index with htslib's defaults.
constexpr int64_t last_position = (int64_t{1} << 44) - 3;

/// How many bytes the digits at the beginning of `text` take with commas as thousands separators, as in
/// 1,234,567; 0 if they have none. In a list of regions, "1:5,200" is one position, not a region and a contig
/// named 200.
size_t grouped_digits(std::string_view text) {
  const auto digits_at = [&](size_t at) {
    size_t count = 0;
    while (at + count < text.size() && text[at + count] >= '0' && text[at + count] <= '9') ++count;
    return count;
  };
  size_t at = digits_at(0);
  if (at < 1 || at > 3) return 0;
  bool grouped = false;
  while (at < text.size() && text[at] == ',' && digits_at(at + 1) == 3) {
    at += 4;
    grouped = true;
  }
  const bool ends = at == text.size() || text[at] == ',' || text[at] == '-';
  return grouped && ends ? at : 0;
}

/// Reads a coordinate at the beginning of `text` as htslib does, also 1.5e6 or 10k, and removes it from
/// `text`.
std::optional<int64_t> take_position(std::string_view& text) {
  size_t at = 0;
  int64_t value = 0;
  int digits = 0, exponent = 0;
  const auto digit = [&] { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
  const auto mantissa = [&] {
    for (; digit(); ++at, ++digits)
      if (value <= last_position) value = value * 10 + (text[at] - '0');
  };
  mantissa();
  if (at < text.size() && text[at] == '.') {
    const int whole = digits;
    ++at;
    mantissa();
    exponent = whole - digits;
  }
  if (digits == 0) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    const bool negative = at < text.size() && text[at] == '-';
    if (negative || (at < text.size() && text[at] == '+')) ++at;
    int power = 0;
    for (; digit(); ++at) power = std::min(power * 10 + (text[at] - '0'), 1000);
    exponent += negative ? -power : power;
  }
  if (at < text.size()) {
    const size_t suffix = std::string_view("kKmMgG").find(text[at]);
    if (suffix != std::string_view::npos) {
      exponent += 3 * static_cast<int>(suffix / 2 + 1);
      ++at;
    }
  }
  for (; exponent > 0 && value > 0 && value <= last_position; --exponent) value *= 10;
  for (; exponent < 0 && value > 0; ++exponent) value /= 10;
  text.remove_prefix(at);
  return std::min(value, last_position);
}

std::optional<int64_t> position_column(const std::vector<std::string_view>& fields, size_t column) {
  if (column >= fields.size()) return std::nullopt;
  std::string_view text = fields[column];
  const std::optional<int64_t> value = take_position(text);
  return text.empty() ? value : std::nullopt;
}

/// The columns of a region file, counted from 0. If end == begin, a line has one position.
struct Columns {
  size_t contig = 0, begin = 1, end = 2;
  bool from_zero = false;  // positions are 0-based, as in BED
  bool fixed = false;      // the columns are known before the first line is read
};

/// The columns that a tabix index of the file defines; nothing if there is no index.
std::optional<Columns> indexed_columns(const std::string& path) {
  struct Delete {
    void operator()(tbx_t* index) const { tbx_destroy(index); }
  };
  check_indices(path, function_name);
  const std::unique_ptr<tbx_t, Delete> index(tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
  if (!index || index->conf.sc < 1 || index->conf.bc < 1) return std::nullopt;
  Columns columns;
  columns.contig = static_cast<size_t>(index->conf.sc - 1);
  columns.begin = static_cast<size_t>(index->conf.bc - 1);
  columns.end = index->conf.ec > 0 ? static_cast<size_t>(index->conf.ec - 1) : columns.begin;
  columns.from_zero = index->conf.preset == TBX_UCSC;
  columns.fixed = true;
  return columns;
}

/// The same in a region, where the digits may be grouped.
std::optional<int64_t> take_region_position(std::string_view& text) {
  const size_t grouped = grouped_digits(text);
  if (grouped == 0) return take_position(text);
  std::string digits;
  for (const char c : text.substr(0, grouped))
    if (c != ',') digits += c;
  text.remove_prefix(grouped);
  std::string_view rest = digits;
  return take_position(rest);
}

/// Reads "", ":POS", ":BEG-", ":BEG-END" or ":-END" up to a comma or the end, and removes it from `rest`.
std::optional<VcfInterval> take_range(std::string_view& rest) {
  VcfInterval interval{0, last_position};
  if (rest.empty() || rest.front() == ',') return interval;
  if (rest.front() != ':') return std::nullopt;
  rest.remove_prefix(1);
  const std::optional<int64_t> begin = take_region_position(rest);
  if (begin) interval.begin = *begin - 1;
  if (!rest.empty() && rest.front() == '-') {
    rest.remove_prefix(1);
    const std::optional<int64_t> end = take_region_position(rest);
    if (!begin && !end) return std::nullopt;
    if (end) interval.end = *end - 1;
  } else {
    if (!begin) return std::nullopt;
    interval.end = interval.begin;
  }
  if (interval.begin > interval.end || (!rest.empty() && rest.front() != ',')) return std::nullopt;
  return interval;
}

}  // namespace

VcfOverlap parse_vcf_overlap(const std::string& text, const std::string& option) {
  constexpr const char* names[] = {"pos", "record", "variant"};
  for (int i = 0; i < 3; ++i) {
    if (equal_letters(text, names[i]) || text == std::to_string(i)) return static_cast<VcfOverlap>(i);
  }
  throw Error(function_name, option + " " + text + ": expected pos, record or variant, or 0, 1 or 2");
}

VcfInterval vcf_extent(VcfOverlap overlap, int64_t pos, int64_t length, const std::string& ref,
                       const std::vector<std::string>& alts) {
  if (overlap == VcfOverlap::pos) return {pos, pos};
  if (overlap == VcfOverlap::record) return {pos, pos + length - 1};
  int64_t common = length;
  for (const std::string& alt : alts) {
    const auto differ = std::mismatch(ref.begin(), ref.end(), alt.begin(), alt.end());
    common = std::min<int64_t>(common, differ.first - ref.begin());
  }
  return {pos + common, pos + length - 1};
}

void VcfRegions::add(const std::string& contig, const VcfInterval& interval) {
  const auto [entry, added] = numbers_.emplace(contig, contigs_.size());
  if (added) contigs_.push_back({contig, {}});
  contigs_[entry->second].intervals.push_back(interval);
}

void VcfRegions::merge() {
  for (Contig& contig : contigs_) {
    std::vector<VcfInterval>& intervals = contig.intervals;
    std::sort(intervals.begin(), intervals.end(),
              [](const VcfInterval& a, const VcfInterval& b) { return a.begin < b.begin; });
    size_t kept = 0;
    for (const VcfInterval& interval : intervals) {
      if (kept > 0 && intervals[kept - 1].end >= interval.begin) {
        intervals[kept - 1].end = std::max(intervals[kept - 1].end, interval.end);
      } else {
        intervals[kept++] = interval;
      }
    }
    intervals.resize(kept);
  }
}

bool VcfRegions::overlap(const std::string& contig, const VcfInterval& extent) const {
  const auto entry = numbers_.find(contig);
  if (entry == numbers_.end()) return false;
  if (extent.begin < 0) return true;
  const std::vector<VcfInterval>& intervals = contigs_[entry->second].intervals;
  const auto first =
      std::lower_bound(intervals.begin(), intervals.end(), extent.begin,
                       [](const VcfInterval& interval, int64_t position) { return interval.end < position; });
  return first != intervals.end() && first->begin <= extent.end;
}

VcfRegions VcfRegions::from_list(const std::string& text) {
  VcfRegions regions;
  std::string_view rest = text;
  while (!rest.empty()) {
    if (rest.front() == ',') {
      rest.remove_prefix(1);
      continue;
    }
    const std::string shown(rest.substr(0, rest.find(',')));
    std::string contig;
    if (rest.front() == '{') {
      const size_t brace = rest.find('}');
      if (brace == std::string_view::npos) {
        throw Error(function_name, "region '" + std::string(rest) + "': there is no '}' after the name");
      }
      contig = rest.substr(1, brace - 1);
      rest.remove_prefix(brace + 1);
    } else {
      contig = rest.substr(0, std::min(rest.find_first_of(",:"), rest.size()));
      rest.remove_prefix(contig.size());
    }
    const std::optional<VcfInterval> interval = take_range(rest);
    if (contig.empty() || !interval) {
      throw Error(
          function_name,
          "region '" + shown +
              "': expected CHROM, CHROM:POS, CHROM:BEG-END, CHROM:BEG- or CHROM:-END with BEG <= END, "
              "numbers with or without commas; write {CHROM} for a name with a colon");
    }
    regions.add(contig, *interval);
  }
  if (regions.contigs_.empty()) {
    throw Error(function_name, "the list of regions is empty; give at least one, such as chr1:1000-2000");
  }
  regions.merge();
  return regions;
}

VcfRegions VcfRegions::from_file(const std::string& path) {
  const std::optional<Columns> indexed = indexed_columns(path);
  const bool bed = !indexed && (ends_with_letters(path, ".bed") || ends_with_letters(path, ".bed.gz"));
  Columns columns = indexed.value_or(Columns{});
  if (bed) columns.from_zero = columns.fixed = true;

  VcfRegions regions;
  TextInput input(path, function_name);
  std::string line;
  while (input.line(line)) {
    if (line.starts_with("##fileformat=VCF")) {
      columns.end = columns.begin;
      columns.fixed = true;
    }
    if (line.empty() || line[0] == '#' || (bed && is_bed_header(line))) continue;
    const std::vector<std::string_view> fields = split(line, '\t');
    // The first line decides whether there is a column of ends.
    if (!columns.fixed && !position_column(fields, columns.end)) columns.end = columns.begin;
    columns.fixed = true;
    const std::optional<int64_t> begin = position_column(fields, columns.begin);
    const std::optional<int64_t> end = position_column(fields, columns.end);
    if (columns.contig >= fields.size() || fields[columns.contig].empty() || !begin || !end) {
      throw Error(function_name,
                  input.where() + ": expected " +
                      (bed ? "CHROM, BEG and END" : "CHROM and POS, or CHROM, BEG and END on every line,") +
                      " separated by tabs");
    }
    const VcfInterval interval{columns.from_zero ? *begin : *begin - 1, *end - 1};
    if (interval.begin > interval.end + (columns.from_zero ? 1 : 0)) {
      throw Error(function_name, input.where() + ": BEG is greater than END; exchange them");
    }
    // An interval of no bases, which BED allows, selects nothing.
    if (interval.begin <= interval.end) regions.add(std::string(fields[columns.contig]), interval);
  }
  if (regions.contigs_.empty()) {
    throw Error(function_name,
                path + ": there are no regions in this file; without a file of regions all records are read");
  }
  if (!indexed) regions.merge();
  return regions;
}

}  // namespace carbon
