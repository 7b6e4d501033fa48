// Regions in options and in files. Lines come through TextInput, so that a cut file is not taken for a
// shorter list.

#include "src/formats/regions.hpp"

#include <htslib/tbx.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/gene_models.hpp"
#include "src/formats/records_file.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "read_regions";
constexpr int64_t kLastPosition = kOpenEnd - 1;

/// Whether a comma before `part` separates thousands, as in 1,234,567, or belongs to a name in braces. In a
/// list of regions, "1:5,200" is one position, not a region and a contig named 200.
bool continues_region(const std::string& before, std::string_view part) {
  constexpr std::string_view digits = "0123456789";
  if (before.starts_with('{') && before.find('}') == std::string::npos) return true;
  if (std::min(part.find_first_not_of(digits), part.size()) != 3 || (part.size() > 3 && part[3] != '-'))
    return false;
  const size_t last = before.find_last_not_of(digits);  // before the last digits
  const size_t count = before.size() - (last + 1);
  return last != std::string::npos && count >= 1 && count <= 3 && before.find(':') <= last &&
         std::string_view(":-,").find(before[last]) != std::string_view::npos;
}

/// Reads a coordinate at the beginning of `text` as htslib does, also 1.5e6 or 10k, and removes it from
/// `text`.
std::optional<int64_t> take_position(std::string_view& text) {
  if (text.empty() || std::string_view("0123456789.").find(text[0]) == std::string_view::npos)
    return std::nullopt;
  double value = 0;
  const char* const end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string number(text.data(), end);
  if (number.empty()) return std::nullopt;
  text.remove_prefix(number.size());
  const size_t suffix = text.empty() ? std::string_view::npos : std::string_view("kKmMgG").find(text[0]);
  if (suffix != std::string_view::npos) {  // an exponent in the text keeps 1.001k exact
    text.remove_prefix(1);
    number += "e" + std::to_string(3 * (suffix / 2 + 1));
  }
  const auto [read, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (read != number.data() + number.size()) return std::nullopt;
  const bool large = problem != std::errc() || value > static_cast<double>(kLastPosition);
  return large ? kLastPosition : static_cast<int64_t>(value);
}

struct Range {
  int64_t begin = 0, end = kOpenEnd;
};

/// Reads what follows the colon: "", POS, BEG-, BEG-END or -END.
std::optional<Range> parse_range(std::string_view written, RegionStyle style) {
  if (written.empty()) return style == RegionStyle::samtools ? std::optional(Range{}) : std::nullopt;
  std::string plain(written);
  std::erase(plain, ',');
  std::string_view rest = plain;
  Range range;
  const std::optional<int64_t> begin = take_position(rest);
  if (begin) range.begin = *begin - 1;
  if (rest.starts_with('-')) {
    rest.remove_prefix(1);
    const std::optional<int64_t> end = take_position(rest);
    if (!begin && !end) return std::nullopt;
    if (end) range.end = *end;
  } else {
    if (!begin) return std::nullopt;
    if (style == RegionStyle::bcftools) range.end = *begin;
  }
  return rest.empty() && range.begin < range.end ? std::optional(range) : std::nullopt;
}

/// One region; `where` is its place in a file and a colon, or "".
WrittenRegion parse_item(std::string_view text, const std::string& where, RegionStyle style,
                         const KnownContig& known) {
  const std::string shown = where + "region '" + printable(text) + "': ";
  const auto fail = [&](const std::string& what) { throw Error(kFunction, shown + what); };
  const std::string grammar =
      std::string("expected CHROM, CHROM:POS, CHROM:BEG-END, CHROM:BEG- or CHROM:-END with BEG <= END, ") +
      "numbers with or without commas; write {CHROM} for a name with a colon";
  WrittenRegion region;
  std::optional<std::string_view> coordinates;
  if (text.starts_with('{')) {
    const size_t brace = text.find('}');
    if (brace == std::string_view::npos) fail("there is no '}' after the name");
    region.contig = text.substr(1, brace - 1);
    if (brace + 1 < text.size()) {
      if (text[brace + 1] != ':') fail("only ':' and a range may follow '}'");
      coordinates = text.substr(brace + 2);
    }
  } else if (const size_t colon = text.rfind(':'); colon == std::string_view::npos) {
    region.contig = text;
  } else {
    const std::string whole(text), prefix(text.substr(0, colon));
    const std::string_view range = text.substr(colon + 1);
    const bool readable = parse_range(range, style).has_value();
    // Without knowing names, what cannot be a range belongs to the name.
    const bool is_name =
        known ? known(whole) : !readable && range.find_first_not_of("0123456789,-") != range.npos;
    const bool is_part = known && known(prefix);
    if (is_name && is_part && readable)
      fail("both " + whole + " and " + prefix + " are names in the file; write {" + whole + "} or {" +
           prefix + "}:" + std::string(range));
    if (!is_name) coordinates = range;
    region.contig = is_name ? whole : prefix;
    const bool clear = is_name || is_part || prefix.find(':') == std::string::npos ||
                       (!known && readable && range.find('-') != std::string_view::npos);
    if (!clear) fail(grammar);
  }
  if (region.contig.empty()) fail(grammar);
  if (!coordinates) return region;
  const std::optional<Range> range = parse_range(*coordinates, style);
  if (!range) fail(grammar);
  region.begin = range->begin;
  region.end = range->end;
  return region;
}

/// Counted from 0. If end == begin, a line has one position.
struct Columns {
  size_t contig = 0, begin = 1, end = 2;
  bool from_zero = false;
};

/// The columns that a tabix index of the file defines; nothing if there is no index.
std::optional<Columns> columns_of_index(const std::string& path) {
  struct Delete {
    void operator()(tbx_t* index) const { tbx_destroy(index); }
  };
  if (path == "-") return std::nullopt;
  check_indices(path, kFunction);
  const std::unique_ptr<tbx_t, Delete> index(tbx_index_load3(path.c_str(), nullptr, HTS_IDX_SILENT_FAIL));
  if (!index || index->conf.sc < 1 || index->conf.bc < 1) return std::nullopt;
  const auto& conf = index->conf;
  const auto begin = static_cast<size_t>(conf.bc - 1);
  return Columns{static_cast<size_t>(conf.sc - 1), begin,
                 conf.ec > 0 ? static_cast<size_t>(conf.ec - 1) : begin, conf.preset == TBX_UCSC};
}

class RegionFile {
 public:
  RegionFile(const std::string& path, const RegionRules& rules)
      : path_(path), rules_(rules), indexed_(columns_of_index(path)), input_(path, kFunction) {
    const std::string_view format = format_of_name(path);
    if (format == "bed") layout_ = Layout::bed;
    if (format == "vcf") layout_ = Layout::vcf;
    if (format == "gff3" || format == "gtf") layout_ = Layout::genes;
  }

  bool has_index() const { return indexed_.has_value(); }
  std::string where() const { return input_.where(); }

  bool next(WrittenRegion& region) {
    region = {};
    while (layout_ != Layout::genes && input_.line(line_)) {
      if (is_comment()) continue;
      if (layout_ == Layout::unknown) layout_ = is_gene_feature(line_) ? Layout::genes : Layout::table;
      if (layout_ != Layout::genes) return read_columns(region), true;
      parse_gene_feature(line_, where(), feature_);
      if (take_feature(region)) return true;
    }
    while (layout_ == Layout::genes && next_gene_feature(input_, line_, feature_))
      if (take_feature(region)) return true;
    return false;
  }

  /// Throws Error if the file had no regions, with the types of the features that it had.
  void check_found(uint64_t regions) const {
    if (regions > 0) return;
    if (types_.empty())
      throw Error(kFunction, path_ + ": there are no regions in this file; give at least one");
    throw Error(kFunction, path_ + ": there is no feature of type " + or_list(rules_.features) +
                               "; the types of this file are " + and_list(types_));
  }

 private:
  enum class Layout { unknown, table, bed, vcf, genes };

  [[noreturn]] void fail(const std::string& what) const { throw Error(kFunction, where() + ": " + what); }

  bool is_comment() {
    if (layout_ == Layout::unknown && line_.starts_with("##fileformat=VCF")) layout_ = Layout::vcf;
    if (layout_ == Layout::unknown && line_.starts_with("##gff-version")) layout_ = Layout::genes;
    if (line_.find_first_not_of(" \t") == std::string::npos || line_[0] == '#') return true;
    // In a list of regions a word alone is a contig.
    return is_track_line(line_) &&
           (layout_ == Layout::bed || line_.find_first_of(" \t") != std::string::npos);
  }

  // False for a feature of a type that is not wanted.
  bool take_feature(WrittenRegion& region) {
    const auto has = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), feature_.type) != list.end();
    };
    if (!has(types_)) types_.push_back(feature_.type);
    if (!rules_.features.empty() && !has(rules_.features)) return false;
    region = {feature_.contig, feature_.begin, feature_.end, "", feature_.strand};
    for (size_t i = 0; i < rules_.names.size() && region.name.empty(); ++i)
      region.name = feature_.attribute(rules_.names[i]).value_or("");
    return true;
  }

  int64_t position(std::string_view text) const {
    std::string_view rest = text;
    const std::optional<int64_t> value = take_position(rest);
    if (!value || !rest.empty())
      fail("'" + printable(text) + "' is not a position; a line has CHROM and POS, or CHROM, BEG and END");
    return *value;
  }

  void read_columns(WrittenRegion& region) {
    const bool tabs = line_.find('\t') != std::string::npos;
    const std::vector<std::string_view> fields = tabs ? split(line_, '\t') : words_of(line_);
    const bool table = layout_ == Layout::table && !indexed_;
    if (table && fields.size() == 1) {
      region = parse_item(fields[0], where() + ": ", rules_.style, rules_.known);
      return;
    }
    const bool positions = layout_ == Layout::vcf || (table && !has_end(fields));
    const Columns columns =
        indexed_.value_or(Columns{0, 1, positions ? size_t{1} : size_t{2}, layout_ == Layout::bed});
    if (std::max({columns.contig, columns.begin, columns.end}) >= fields.size() ||
        fields[columns.contig].empty())
      fail(layout_ == Layout::bed ? "a BED line has CHROM, BEG and END"
                                  : "a line has CHROM and POS, or CHROM, BEG and END, separated by tabs");
    const int64_t begin = position(fields[columns.begin]) - (columns.from_zero ? 0 : 1);
    const int64_t end = columns.end == columns.begin ? begin + 1 : position(fields[columns.end]);
    if (begin > end || (!columns.from_zero && begin == end)) fail("BEG is greater than END; exchange them");
    region.contig = fields[columns.contig];
    region.begin = begin;
    region.end = end;
    if (indexed_ || positions) return;
    if (fields.size() > 3 && fields[3] != ".") region.name = fields[3];
    if (fields.size() > 5 && fields[5].size() == 1) region.strand = fields[5][0];
  }

  // Whether the third column of a line is an END. Other texts may stand there after positions, such as
  // alleles; but where some lines have an END, such a text is a mistake.
  bool has_end(const std::vector<std::string_view>& fields) {
    if (fields.size() < 3 || fields[2].empty()) return false;
    std::string_view rest = fields[2];
    const bool number = take_position(rest).has_value() && rest.empty();
    std::string& first = number ? first_end_ : first_text_;
    if (first.empty()) first = where();
    if (!first_end_.empty() && !first_text_.empty())
      fail("the third column is '" + printable(fields[2]) + "' here, and " +
           (number ? "no END in " + first_text_ : "an END in " + first_end_) +
           "; correct the line, or give positions and intervals in two files");
    return number;
  }

  std::string path_;
  const RegionRules& rules_;
  std::optional<Columns> indexed_;
  Layout layout_ = Layout::unknown;
  TextInput input_;
  std::string line_;
  GeneFeature feature_;
  std::vector<std::string> types_;      // of features
  std::string first_end_, first_text_;  // where a third column was an END, and where another text
};

}  // namespace

WrittenRegion parse_written_region(std::string_view text, RegionStyle style, const KnownContig& known) {
  return parse_item(text, "", style, known);
}

std::vector<WrittenRegion> parse_region_list(std::string_view list, RegionStyle style,
                                             const KnownContig& known) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(list, ',')) {
    if (!parts.empty() && continues_region(parts.back(), part))
      parts.back().append(",").append(part);
    else
      parts.emplace_back(part);
  }
  std::vector<WrittenRegion> regions;
  for (const std::string& part : parts)
    if (!part.empty()) regions.push_back(parse_written_region(part, style, known));
  if (regions.empty())
    throw Error(kFunction, "the list of regions is empty; give at least one, such as chr1:1000-2000");
  return regions;
}

bool read_region_file(
    const std::string& path, const RegionRules& rules, Log& log,
    const std::function<void(WrittenRegion&, const std::function<std::string()>& where)>& take) {
  RegionFile file(path, rules);
  const std::function<std::string()> where = [&] { return file.where(); };
  uint64_t regions = 0, empty = 0;
  std::string first_empty;
  for (WrittenRegion region; file.next(region); ++regions) {
    if (region.begin == region.end && empty++ == 0) first_empty = where();
    take(region, where);
  }
  file.check_found(regions);
  if (regions == empty)
    throw Error(kFunction, path + ": no region of this file has a base: BEG is END on every line");
  if (empty > 0)
    log.warning(kFunction, first_empty + ": BEG is END, so that the region has no bases and selects nothing" +
                               (empty > 1 ? ", as on " + count_of(empty - 1, "further line") : ""));
  return file.has_index();
}

VcfOverlap parse_vcf_overlap(const std::string& text, const std::string& option) {
  constexpr const char* names[] = {"pos", "record", "variant"};
  for (int i = 0; i < 3; ++i) {
    if (equal_letters(text, names[i]) || text == std::to_string(i)) return static_cast<VcfOverlap>(i);
  }
  throw Error("read_regions", option + " " + text + ": expected pos, record or variant, or 0, 1 or 2");
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

// A region without bases selects nothing.
void VcfRegions::add(const WrittenRegion& region) {
  if (region.begin == region.end) return;
  const auto [entry, added] = numbers_.emplace(region.contig, contigs_.size());
  if (added) contigs_.push_back({region.contig, {}});
  contigs_[entry->second].intervals.push_back({region.begin, region.end - 1});
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

VcfRegions::VcfRegions(const std::vector<WrittenRegion>& regions) {
  for (const WrittenRegion& region : regions) add(region);
  merge();
}

VcfRegions VcfRegions::from_list(const std::string& text, const KnownContig& known) {
  return VcfRegions(parse_region_list(text, RegionStyle::bcftools, known));
}

VcfRegions VcfRegions::from_file(const std::string& path, const KnownContig& known, Log& log) {
  VcfRegions regions;
  const RegionRules rules = {.style = RegionStyle::bcftools, .known = known};
  if (!read_region_file(path, rules, log, [&](const WrittenRegion& one, auto&) { regions.add(one); }))
    regions.merge();
  return regions;
}

}  // namespace carbon
