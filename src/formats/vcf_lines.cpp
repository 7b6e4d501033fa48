#include "src/formats/vcf_lines.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <string_view>

#include "src/base/error.hpp"
#include "src/files/htslib_messages.hpp"

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
}

}  // namespace carbon
