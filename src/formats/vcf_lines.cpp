#include "src/formats/vcf_lines.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/htslib_messages.hpp"
#include "src/formats/vcf_header.hpp"

namespace carbon {
namespace {

constexpr int kUndefinedName = BCF_ERR_CTG_UNDEF | BCF_ERR_TAG_UNDEF;

[[noreturn]] void fail(const std::string& shown, const std::string& what) {
  throw Error("read_vcf", shown + ": " + what);
}

// The largest POS that every version of htslib reads: 1.16 takes HTS_POS_MAX, which is more, and 1.21 has 62
// bits.
constexpr hts_pos_t kLargestPosition = (hts_pos_t{1} << 62) - 1;

/// htslib 1.16 would read a POS that is not a number as 0.
/// What is wrong with POS, or "".
std::string problem_of_position(std::string_view line) {
  line.remove_prefix(line.find('\t') + 1);
  const std::string_view text = line.substr(0, line.find('\t'));
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos)
    return "POS is not a number; correct the line";
  hts_pos_t pos = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pos);
  if (problem == std::errc() && pos <= kLargestPosition) return "";
  return "POS is larger than " + std::to_string(kLargestPosition) +
         ", the largest that htslib can hold; correct the line";
}

/// What is wrong with FORMAT and the columns of `samples` samples, or "". htslib adds a FORMAT without a name
/// to the header, keeps some empty samples, and drops columns that no sample has; what it writes then lacks
/// data, or cannot be read again. Tabs at the end of a line hold nothing that could be lost.
std::string problem_of_samples(std::string_view line, size_t samples) {
  for (int column = 1; column < 9; ++column) line.remove_prefix(line.find('\t') + 1);
  const std::string_view names = line.substr(0, line.find('\t'));
  if (names.empty() || names.front() == ':' || names.back() == ':' || names.find("::") != names.npos)
    return "FORMAT has an empty name; the line is damaged, or a tab or colon is too many";
  line.remove_prefix(names.size());
  for (size_t sample = 1; sample <= samples && !line.empty(); ++sample) {
    line.remove_prefix(1);
    const size_t length = std::min(line.find('\t'), line.size());
    if (length == 0) return "sample " + std::to_string(sample) + " is empty; write . where there is no value";
    line.remove_prefix(length);
  }
  if (line.find_first_not_of('\t') == line.npos) return "";
  return "more columns than the header names samples; the line is damaged, or the #CHROM line is";
}

/// True if a genotype says of its first allele, too, whether it is phased, as in |0/1.
bool has_leading_phase(std::string_view line) {
  for (int column = 1; column < 9; ++column) line.remove_prefix(line.find('\t') + 1);
  if (!line.starts_with("GT")) return false;
  return line.find("\t|") != line.npos || line.find("\t/") != line.npos;
}

std::string error_names(int code) {
  std::string names;
  const auto add = [&](int bit, const char* name) {
    if (code & bit) names += (names.empty() ? "" : ", ") + std::string(name);
  };
  add(BCF_ERR_NCOLS, "wrong number of columns");
  add(BCF_ERR_LIMITS, "a value beyond the format's limits");
  add(BCF_ERR_CHAR, "an invalid character");
  add(BCF_ERR_CTG_INVALID, "an invalid contig name");
  add(BCF_ERR_TAG_INVALID, "an invalid tag name");
  return names.empty() ? "malformed" : names;
}

constexpr size_t kMostLines = 10, kMostTags = 100, kLongestLine = 200, kLongestValue = 60;
// A Float has 24 bits, and htslib prints six digits of it.
constexpr double kFloatError = 5.1e-6;

std::string shortened(std::string_view text, size_t longest) {
  return std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "");
}

/// Takes the part of `rest` before `separator`, and that away.
std::string_view next_part(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool is_missing(std::string_view value) {
  return std::all_of(value.begin(), value.end(),
                     [](char c) { return c == '.' || c == ',' || c == '/' || c == '|'; });
}

bool same_number(std::string_view before, std::string_view after) {
  if (before.starts_with('+')) before.remove_prefix(1);
  double a = 0, b = 0;
  const auto [a_end, a_problem] = std::from_chars(before.data(), before.data() + before.size(), a);
  const auto [b_end, b_problem] = std::from_chars(after.data(), after.data() + after.size(), b);
  if (a_end != before.data() + before.size() || b_end != after.data() + after.size()) return false;
  if (a_problem != std::errc() || b_problem != std::errc()) return false;
  const auto whole = [](std::string_view text) {
    return text.find_first_not_of("+-0123456789") == text.npos;
  };
  if (whole(before) && whole(after)) return a == b;
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= kFloatError * std::abs(a);
}

bool same_values(std::string_view before, std::string_view after) {
  if (before == after || (is_missing(before) && is_missing(after))) return true;
  while (!before.empty() && !after.empty()) {
    const std::string_view a = next_part(before, ','), b = next_part(after, ',');
    if (a != b && !(is_missing(a) && is_missing(b)) && !same_number(a, b)) return false;
  }
  return is_missing(before) && is_missing(after);
}

/// The line as htslib spells it; "" if it cannot read it.
std::string as_htslib_spells(bcf_hdr_t* header, const std::string& line) {
  int length = 0;
  bcf_hrec_t* const read = bcf_hdr_parse_line(header, line.c_str(), &length);
  if (!read) return "";
  HtsText text;
  const int status = bcf_hrec_format(read, &text.text);
  bcf_hrec_destroy(read);
  if (status < 0) throw std::bad_alloc();
  std::string_view spelled(text.text.s, text.text.l);
  return std::string(next_part(spelled, '\n'));
}

std::string without_blanks(std::string_view line) {
  std::string kept;
  std::copy_if(line.begin(), line.end(), std::back_inserter(kept), [](char c) { return c != ' '; });
  return kept;
}

std::unordered_set<std::string_view> lines_of(std::string_view text) {
  std::unordered_set<std::string_view> lines;
  while (!text.empty()) lines.insert(next_part(text, '\n'));
  return lines;
}

}  // namespace

std::string place_of_line(const std::string& where, std::string_view line) {
  const size_t first = line.find('\t');
  if (first == std::string::npos) return where + " (" + std::string(line.substr(0, 40)) + ")";
  const size_t second = line.find('\t', first + 1);
  return where + " (" + std::string(line.substr(0, std::min<size_t>(first, 60))) + ":" +
         std::string(line.substr(first + 1, std::min<size_t>(second - first - 1, 20))) + ")";
}

void VcfLineParser::parse(SharedHeader& shared, const std::string& shown, const std::string& where,
                          const std::string& line, bcf1_t* record) {
  const auto refuse = [&](const std::string& what) { fail(shown, place_of_line(where, line) + ": " + what); };
  const auto columns = std::count(line.begin(), line.end(), '\t') + 1;
  if (columns < 8) refuse("fewer than 8 columns; the line is cut or its fields are not separated by tabs");
  // Without samples htslib stops after INFO, so two lines whose newline was lost would pass as one record.
  if (columns > 9 && bcf_hdr_nsamples(shared.header) == 0)
    refuse(std::to_string(columns) +
           " columns, but the header names no samples; the line is damaged, or the #CHROM line is");
  // htslib takes it for the end of the line and writes what it has read so far.
  if (line.find('\0') != std::string::npos) refuse("a NUL byte in the line; the file is damaged");
  std::string problem = problem_of_position(line);
  if (!problem.empty()) refuse(problem);
  if (columns > 9) {
    problem = problem_of_samples(line, static_cast<size_t>(bcf_hdr_nsamples(shared.header)));
    if (!problem.empty()) refuse(problem);
  }
  const std::lock_guard lock(shared.mutex);
  const auto parse_copy = [&] {
    scratch_.text.l = 0;
    if (kputsn(line.data(), line.size(), &scratch_.text) < 0) throw std::bad_alloc();
    return vcf_parse(&scratch_.text, shared.header, record);
  };
  if (parse_copy() >= 0 && (record->errcode & ~kUndefinedName) == 0) return;
  const std::string known = error_names(record->errcode & ~kUndefinedName);
  const std::string reason = htslib_reason([&] {
    bcf_clear(record);
    parse_copy();
  });
  refuse("htslib " + htslib_version() + " cannot read the record (" + (reason.empty() ? known : reason) +
         "); " +
         (has_leading_phase(line)
              ? "a genotype begins with | or /, as VCF 4.4 allows and htslib reads from version 1.22 on; use "
                "that version, or leave the genotypes out with cut -f1-8, as bcftools cannot read them "
                "either"
              : "correct it or copy the file again"));
}

void check_record(const bcf1_t* record, int status, const std::string& shown, const std::string& where,
                  const std::string& reason) {
  const int code = record->errcode & ~kUndefinedName;
  if (status >= 0 && code == 0) return;
  fail(shown, where + ": the record cannot be read (" + (reason.empty() ? error_names(code) : reason) +
                  "); correct it or copy the file again");
}

BcfDictionaries::BcfDictionaries(const bcf_hdr_t* header)
    : header_(header), contigs_(header->n[BCF_DT_CTG]), names_(header->n[BCF_DT_ID]) {}

// A dictionary has gaps where names were removed.
bool BcfDictionaries::has_contig(int32_t number) const {
  return number >= 0 && number < contigs_ && header_->id[BCF_DT_CTG][number].key;
}

int BcfDictionaries::count_contigs() const {
  int count = 0;
  for (int32_t number = 0; number < contigs_; ++number) count += has_contig(number);
  return count;
}

bool BcfDictionaries::has_name(int32_t number) const {
  return number >= 0 && number < names_ && header_->id[BCF_DT_ID][number].key;
}

std::optional<std::string> BcfDictionaries::undefined_name(bcf1_t* record, const std::string& shown,
                                                           const std::string& place) const {
  if (bcf_unpack(record, BCF_UN_ALL) != 0) fail(shown, place + ": the record is damaged");
  const auto named = [](const char* kind, int32_t number) { return kind + std::to_string(number); };
  for (int i = 0; i < record->d.n_flt; ++i)
    if (!has_name(record->d.flt[i])) return named("FILTER number ", record->d.flt[i]);
  for (uint32_t i = 0; i < record->n_info; ++i)
    if (!has_name(record->d.info[i].key)) return named("INFO number ", record->d.info[i].key);
  for (uint32_t i = 0; i < record->n_fmt; ++i)
    if (!has_name(record->d.fmt[i].id)) return named("FORMAT number ", record->d.fmt[i].id);
  return std::nullopt;
}

void BcfDictionaries::check(bcf1_t* record, const std::string& shown, const std::string& place) const {
  const std::optional<std::string> undefined = has_contig(record->rid)
                                                   ? undefined_name(record, shown, place)
                                                   : "contig number " + std::to_string(record->rid);
  if (undefined)
    fail(shown, place + ": the header does not define " + *undefined +
                    ", which the record has; the file is damaged");
}

void VcfRecord::Impl::unpack(SharedHeader& shared, const std::string& shown, const std::string& place) {
  if (bcf_unpack(record, BCF_UN_STR) != 0) fail(shown, place + ": damaged alleles");
  {
    const std::lock_guard lock(shared.mutex);
    const char* name = bcf_seqname(shared.header, record);
    contig = name ? name : "";
  }
  ref = record->n_allele > 0 ? record->d.allele[0] : "";
  alts.clear();
  for (int i = 1; i < static_cast<int>(record->n_allele); ++i) alts.emplace_back(record->d.allele[i]);
  // A text has none; of a BCF they would make columns and lines in an output.
  const auto breaks = [](std::string_view text) { return text.find_first_of("\t\n") != text.npos; };
  if (breaks(record->d.id) || breaks(ref) || std::any_of(alts.begin(), alts.end(), breaks))
    fail(shown, place + ": a tab or an end of line in ID or an allele; the file is damaged");
}

void warn_of_header_changes(bcf_hdr_t* header, std::string_view text, const std::string& shown, Log& log) {
  HtsText formatted;
  if (bcf_hdr_format(header, 0, &formatted.text) < 0) throw std::bad_alloc();
  const auto kept = lines_of({formatted.text.s, formatted.text.l});
  std::vector<std::string> changes;
  uint64_t count = 0;
  while (!text.empty()) {
    const std::string_view given = next_part(text, '\n');
    // What PASS means is a matter of the format, and htslib says it in its own words.
    if (kept.contains(given) || !given.starts_with("##") || given.starts_with("##FILTER=<ID=PASS,")) continue;
    const std::string line = without_number(given);
    if (kept.contains(line)) continue;
    const std::string spelled = as_htslib_spells(header, line);
    const bool left_out = !kept.contains(spelled);
    if (!left_out && without_blanks(spelled) == without_blanks(line)) continue;
    if (++count <= kMostLines)
      changes.push_back((left_out ? "left out: " : "cut or completed: ") + shortened(line, kLongestLine));
  }
  if (count == 0) return;
  log.warning(
      "read_vcf",
      shown + ": htslib, which reads and writes the records, cannot keep " +
          (count == 1 ? "1 line" : std::to_string(count) + " lines") +
          " of the header as it stands; such a line is malformed, or defines what an earlier one does" +
          (count > kMostLines ? " (the first " + std::to_string(kMostLines) + " are named)" : ""));
  for (const std::string& change : changes) log.warning("read_vcf", change);
}

/// Compares the columns of a line with those of a record that was printed again.
class VcfChanges::Columns {
 public:
  Columns(VcfChanges& changes, std::string_view before, std::string_view after, const std::string& where)
      : changes_(changes), line_(before), where_(where), before_(before), after_(after) {}

  void compare() {
    for (const char* name : {"CHROM", "POS", "ID", "REF", "ALT", "QUAL", "FILTER"})
      compare_values("", name, next_part(before_, '\t'), next_part(after_, '\t'));
    compare_info(next_part(before_, '\t'), next_part(after_, '\t'));
    const std::string_view format = next_part(before_, '\t'), printed = next_part(after_, '\t');
    compare_values("", "FORMAT", format, printed);
    if (format != printed) return;
    while (!after_.empty()) compare_sample(format, next_part(before_, '\t'), next_part(after_, '\t'));
  }

 private:
  void add(const char* kind, std::string_view tag, std::string_view before, std::string_view after) {
    changes_.add(kind + std::string(tag), before, after, place_of_line(where_, line_));
  }

  void compare_values(const char* kind, std::string_view tag, std::string_view before,
                      std::string_view after) {
    if (!same_values(before, after)) add(kind, tag, before, after);
  }

  void compare_info(std::string_view before, std::string_view after) {
    while (!before.empty()) {
      std::string_view a = next_part(before, ';');
      if (is_missing(a)) continue;
      std::string_view b = next_part(after, ';');
      if (a == b) continue;
      const std::string_view whole_a = a, whole_b = b, tag = next_part(a, '=');
      if (tag != next_part(b, '=')) return add("", "INFO", whole_a, whole_b);
      compare_values("INFO/", tag, a, b);
    }
  }

  void compare_sample(std::string_view format, std::string_view before, std::string_view after) {
    if (before == after) return;
    while (!format.empty()) {
      const std::string_view tag = next_part(format, ':');
      compare_values("FORMAT/", tag, next_part(before, ':'), next_part(after, ':'));
    }
  }

  VcfChanges& changes_;
  std::string_view line_;
  const std::string& where_;
  std::string_view before_, after_;
};

void VcfChanges::add(const std::string& tag, std::string_view before, std::string_view after,
                     const std::string& place) {
  const bool room = changes_.size() < kMostTags || changes_.contains(tag);
  Change& change = changes_[room ? tag : "other tags"];
  if (++change.values > 1) return;
  change.before = shortened(before, kLongestValue);
  change.after = shortened(after, kLongestValue);
  change.place = place;
}

void VcfChanges::compare(SharedHeader& shared, bcf1_t* record, const std::string& line,
                         const std::string& where) {
  formatted_.text.l = 0;
  {
    const std::lock_guard lock(shared.mutex);
    if (vcf_format(shared.header, record, &formatted_.text) < 0) throw std::bad_alloc();
  }
  std::string_view after(formatted_.text.s, formatted_.text.l);
  if (after.ends_with('\n')) after.remove_suffix(1);
  if (line != after) Columns(*this, line, after, where).compare();
}

void VcfChanges::report(const std::string& shown, Log& log) {
  const auto spelled = [](const std::string& value) { return value.empty() ? "empty" : value; };
  for (const auto& [tag, change] : std::exchange(changes_, {})) {
    const bool one = change.values == 1, typed = tag.find('/') != tag.npos && tag != "FORMAT/GT";
    log.warning("read_vcf", shown + ": htslib, which reads and writes the records, cannot hold " +
                                (one ? "1 value" : std::to_string(change.values) + " values") + " of " + tag +
                                " as written; " + (one ? "that" : "the first") + " in " + change.place +
                                " is " + spelled(change.before) + " and becomes " + spelled(change.after) +
                                (typed ? "; with Type=String in its header line it would stay" : ""));
  }
}

}  // namespace carbon
