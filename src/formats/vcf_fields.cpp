// The fields of records: the values of INFO tags, with the types that the header gives them, the FILTER
// column, and the genotypes, FORMAT GT and PS as htslib stores them.
//
// A number of GT is (allele + 1) * 2 + phased; 0 and 1 are a missing allele. Values are decoded from the
// bytes of the record, so that PS may have any type.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "src/base/error.hpp"
#include "src/formats/haplotype.hpp"
#include "src/formats/vcf_internal.hpp"

namespace carbon {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

InfoType type_of(int htslib_type) {
  switch (htslib_type) {
    case BCF_HT_FLAG:
      return InfoType::flag;
    case BCF_HT_INT:
      return InfoType::integer;
    case BCF_HT_REAL:
      return InfoType::real;
    default:
      return InfoType::text;
  }
}

InfoNumber number_of(int htslib_length) {
  switch (htslib_length) {
    case BCF_VL_A:
      return InfoNumber::alt;
    case BCF_VL_R:
      return InfoNumber::allele;
    case BCF_VL_G:
      return InfoNumber::genotype;
    default:
      return InfoNumber::other;
  }
}

/// The memory that bcf_get_info_values() allocates.
struct Buffer {
  ~Buffer() { std::free(values); }
  void* values = nullptr;
  int capacity = 0;
};

std::vector<double> integers(const Buffer& buffer, int count) {
  const auto* values = static_cast<const int32_t*>(buffer.values);
  std::vector<double> out;
  for (int i = 0; i < count && values[i] != bcf_int32_vector_end; ++i)
    out.push_back(values[i] == bcf_int32_missing ? kMissing : values[i]);
  return out;
}

std::vector<double> reals(const Buffer& buffer, int count) {
  const auto* values = static_cast<const float*>(buffer.values);
  std::vector<double> out;
  for (int i = 0; i < count && !bcf_float_is_vector_end(values[i]); ++i)
    out.push_back(std::isnan(values[i]) ? kMissing : static_cast<double>(values[i]));
  return out;
}

// A comma before a blank, or the low line that stands for one, is part of a value, as in ClinVar's
// Pathogenic,_low_penetrance.
std::vector<std::string> texts(const std::string& all) {
  std::vector<std::string> out;
  size_t begin = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] != ',' || (i + 1 < all.size() && (all[i + 1] == '_' || all[i + 1] == ' '))) continue;
    out.push_back(all.substr(begin, i - begin));
    begin = i + 1;
  }
  out.push_back(all.substr(begin));
  return out;
}

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

InfoType VcfReader::info_type(const std::string& tag) const {
  const std::lock_guard lock(impl_->shared->mutex);
  const bcf_hdr_t* header = impl_->shared->header;
  const int id = bcf_hdr_id2int(header, BCF_DT_ID, tag.c_str());
  if (!bcf_hdr_idinfo_exists(header, BCF_HL_INFO, id)) return InfoType::none;
  return type_of(bcf_hdr_id2type(header, BCF_HL_INFO, id));
}

InfoValues VcfReader::info(const VcfRecord& record, const std::string& tag) const {
  const VcfRecord::Impl& source = *record.impl_;
  const std::lock_guard lock(impl_->shared->mutex);
  bcf_hdr_t* header = impl_->shared->header;
  const int id = bcf_hdr_id2int(header, BCF_DT_ID, tag.c_str());
  if (!bcf_hdr_idinfo_exists(header, BCF_HL_INFO, id)) return {};
  const int kind = bcf_hdr_id2type(header, BCF_HL_INFO, id);
  Buffer buffer;
  const int count =
      bcf_get_info_values(header, source.record, tag.c_str(), &buffer.values, &buffer.capacity, kind);
  constexpr int absent = -3;
  if (count == absent || (kind == BCF_HT_FLAG && count == 0)) return {};
  const bcf_info_t* stored = bcf_get_info(header, source.record, tag.c_str());
  // A tag that stands alone is there, whatever type the header gives it.
  const bool alone = stored && stored->vptr && stored->len == 0;
  if (count < 0 && !alone)
    throw Error("read_vcf", source.where() + ": the values of " + tag +
                                " are not of the type in the header; correct the record or the header");
  InfoValues out;
  out.type = type_of(kind);
  out.number = number_of(bcf_hdr_id2length(header, BCF_HL_INFO, id));
  if (alone) return out;
  if (kind == BCF_HT_INT) out.numbers = integers(buffer, count);
  if (kind == BCF_HT_REAL) out.numbers = reals(buffer, count);
  if (kind == BCF_HT_STR && count > 0) out.texts = texts(static_cast<const char*>(buffer.values));
  // htslib keeps the value of a flag that has one, as FLAG=0, as text.
  if (kind == BCF_HT_FLAG && stored && stored->type == BCF_BT_CHAR)
    out.texts =
        texts(std::string(reinterpret_cast<const char*>(stored->vptr), static_cast<size_t>(stored->len)));
  return out;
}

std::string VcfReader::filter(const VcfRecord& record) const {
  bcf1_t* source = record.impl_->record;
  const std::lock_guard lock(impl_->shared->mutex);
  bcf_unpack(source, BCF_UN_FLT);
  std::string names;
  for (int i = 0; i < source->d.n_flt; ++i)
    names +=
        (i > 0 ? ";" : "") + std::string(bcf_hdr_int2id(impl_->shared->header, BCF_DT_ID, source->d.flt[i]));
  return names.empty() ? "." : names;
}

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
