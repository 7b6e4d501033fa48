#include "src/formats/vcf_changes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <new>
#include <unordered_set>
#include <utility>
#include <vector>

#include "src/formats/vcf_header.hpp"

namespace carbon {
namespace {

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
