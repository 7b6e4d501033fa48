// The values of INFO tags, with the types that the header gives them, and the FILTER column.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "src/base/error.hpp"
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

}  // namespace carbon
