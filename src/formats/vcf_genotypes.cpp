// The genotypes of records: FORMAT GT and PS as htslib stores them.
//
// A number of GT is (allele + 1) * 2 + phased; 0 and 1 are a missing allele. Values are decoded from the
// bytes of the record, so that PS may have any type.

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "src/base/error.hpp"
#include "src/formats/haplotype.hpp"
#include "src/formats/vcf_internal.hpp"

namespace carbon {
namespace {

constexpr const char* kDamaged = "the record is damaged; copy the file again, or correct the record";

/// The values of one FORMAT key, those of a sample after those of another.
class Column {
 public:
  /// Throws Error, in which the record is called `where`, for a type that FORMAT cannot have, or if the
  /// record holds fewer bytes than it says.
  Column(const bcf_fmt_t& format, size_t samples, const std::string& where) : format_(format) {
    const size_t all = samples * static_cast<size_t>(format.size);
    const bool known = holds_integers() || format.type == BCF_BT_FLOAT || format.type == BCF_BT_CHAR;
    if (!known || format.n < 0 || format.size < 0 || all > format.p_len)
      throw Error("read_vcf", where + ": " + kDamaged);
  }
  int type() const { return format_.type; }
  bool holds_integers() const {
    return format_.type == BCF_BT_INT8 || format_.type == BCF_BT_INT16 || format_.type == BCF_BT_INT32;
  }
  size_t count() const { return static_cast<size_t>(format_.n); }
  std::string_view text(size_t sample) const {
    const std::string_view all(reinterpret_cast<const char*>(bytes(sample)), count());
    return all.substr(0, all.find('\0'));
  }
  template <class T>
  T value(size_t sample, size_t i) const {
    T out;
    std::memcpy(&out, bytes(sample) + i * sizeof out, sizeof out);
    return out;
  }
  /// An integer of any width; nothing at the end of the sample's values.
  std::optional<int32_t> integer(size_t sample, size_t i) const {
    switch (format_.type) {
      case BCF_BT_INT8:
        return decoded(value<int8_t>(sample, i), bcf_int8_missing, bcf_int8_vector_end);
      case BCF_BT_INT16:
        return decoded(value<int16_t>(sample, i), bcf_int16_missing, bcf_int16_vector_end);
      default:
        return decoded(value<int32_t>(sample, i), bcf_int32_missing, bcf_int32_vector_end);
    }
  }

 private:
  const uint8_t* bytes(size_t sample) const { return format_.p + sample * static_cast<size_t>(format_.size); }
  static std::optional<int32_t> decoded(int32_t value, int32_t missing, int32_t end) {
    if (value == end) return std::nullopt;
    return value == missing ? bcf_int32_missing : value;
  }

  const bcf_fmt_t& format_;
};

/// The values of a sample between commas; "" if there is none, or all are missing.
template <class Next>
std::string joined(size_t count, Next next) {
  std::string out;
  bool any = false;
  for (size_t i = 0; i < count; ++i) {
    std::optional<std::string> value = next(i);
    if (!value) break;
    any |= *value != ".";
    out += (i > 0 ? "," : "") + *value;
  }
  return any ? out : "";
}

std::string float_text(float value) {
  std::string text;
  append_vcf_float(value, text);
  return text;
}

std::string phase_set(const Column& column, size_t sample) {
  if (column.type() == BCF_BT_CHAR) {
    const std::string_view text = column.text(sample);
    return text == "." ? "" : std::string(text);
  }
  return joined(column.count(), [&](size_t i) -> std::optional<std::string> {
    if (column.type() == BCF_BT_FLOAT) {
      const auto value = column.value<float>(sample, i);
      if (bcf_float_is_vector_end(value)) return std::nullopt;
      return bcf_float_is_missing(value) ? "." : float_text(value);
    }
    const std::optional<int32_t> value = column.integer(sample, i);
    if (!value) return std::nullopt;
    return *value == bcf_int32_missing ? "." : std::to_string(*value);
  });
}

/// Whether the first allele of a genotype has a sign of its own: htslib sets it from version 1.22 on, for the
/// files that may have it.
bool first_has_sign(const bcf_hdr_t* header) {
  const auto numbers = [](std::string_view text) {
    std::array<int, 2> found{};
    for (int& number : found) {
      const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (code != std::errc()) break;
      text.remove_prefix(std::min(static_cast<size_t>(end - text.data()) + 1, text.size()));
    }
    return found;
  };
  std::string_view version = bcf_hdr_get_version(header);
  version.remove_prefix(std::min(version.find_first_of("0123456789"), version.size()));
  return numbers(version) >= std::array{4, 4} && numbers(hts_version()) >= std::array{1, 22};
}

void add_alleles(const Column& column, size_t sample, bool signed_first, Genotypes& out) {
  const size_t begin = out.alleles.size();
  bool others_phased = true;
  for (size_t i = 0; i < column.count(); ++i) {
    const std::optional<int32_t> value = column.integer(sample, i);
    if (!value) break;
    const bool missing = *value == bcf_int32_missing || bcf_gt_is_missing(*value);
    out.alleles.push_back(missing      ? kMissingAllele
                          : *value < 0 ? std::numeric_limits<int32_t>::max()
                                       : bcf_gt_allele(*value));
    out.phased.push_back(bcf_gt_is_phased(*value) ? 1 : 0);
    if (i > 0 && out.phased.back() == 0) others_phased = false;
  }
  if (out.alleles.size() > begin && !signed_first) out.phased[begin] = others_phased ? 1 : 0;
  out.alleles.resize(begin + column.count(), kNoAllele);
  out.phased.resize(begin + column.count(), 0);
}

}  // namespace

std::vector<std::string> VcfReader::samples() const {
  const std::lock_guard lock(impl_->shared->mutex);
  const bcf_hdr_t* header = impl_->shared->header;
  return {header->samples, header->samples + bcf_hdr_nsamples(header)};
}

void VcfReader::genotypes(const VcfRecord& record, Genotypes& out) const {
  const VcfRecord::Impl& source = *record.impl_;
  const std::lock_guard lock(impl_->shared->mutex);
  bcf_hdr_t* header = impl_->shared->header;
  out.samples = static_cast<size_t>(bcf_hdr_nsamples(header));
  out.ploidy = 0;
  out.alleles.clear();
  out.phased.clear();
  out.phase_sets.clear();
  if (out.samples == 0 || source.record->n_fmt == 0) return;
  if (source.record->n_sample != out.samples || bcf_unpack(source.record, BCF_UN_FMT) != 0)
    throw Error("read_vcf", source.where() + ": " + kDamaged);
  const bcf_fmt_t* const gt = bcf_get_fmt(header, source.record, "GT");
  if (!gt || !gt->p || gt->type == BCF_BT_NULL) return;
  const Column alleles(*gt, out.samples, source.where());
  if (bcf_hdr_id2type(header, BCF_HL_FMT, gt->id) != BCF_HT_STR || !alleles.holds_integers())
    throw Error("read_vcf", source.where() +
                                ": the header does not give FORMAT GT the type String, so the genotypes "
                                "cannot be read; correct its line ##FORMAT=<ID=GT,...>");
  out.ploidy = alleles.count();
  const bool signed_first = first_has_sign(header);
  for (size_t sample = 0; sample < out.samples; ++sample) add_alleles(alleles, sample, signed_first, out);
  const bcf_fmt_t* const ps = bcf_get_fmt(header, source.record, "PS");
  if (!ps || !ps->p || ps->type == BCF_BT_NULL) return;
  const Column sets(*ps, out.samples, source.where());
  for (size_t sample = 0; sample < out.samples; ++sample) out.phase_sets.push_back(phase_set(sets, sample));
}

}  // namespace carbon
