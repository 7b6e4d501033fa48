#include "src/vep/site.hpp"

#include <algorithm>

namespace carbon {
namespace {

// A slice that begins at most so far from the last one, in either direction, is taken for one of sorted
// input: the bases after it will be wanted too.
constexpr int64_t kNear = 1 << 16, kReadAhead = 1 << 18;
// Single bases are asked for step by step, in either direction.
constexpr int64_t kSteps = 1 << 12;

}  // namespace

bool ReferenceReader::holds(const std::string& contig, int64_t begin, int64_t end) const {
  return begin >= begin_ && end <= begin_ + static_cast<int64_t>(bases_.size()) && contig == contig_;
}

void ReferenceReader::read(const std::string& contig, int64_t begin, int64_t end) {
  bases_ = to_upper(fasta_->fetch(contig, begin, end));
  contig_ = contig;
  begin_ = begin;
}

int64_t ReferenceReader::length(const std::string& contig) const {
  if (fasta_) return fasta_->length(contig);
  return contig == contig_ ? static_cast<int64_t>(bases_.size()) : -1;
}

ReferenceSlice ReferenceReader::slice(const std::string& contig, int64_t length, int64_t begin, int64_t end) {
  begin = std::clamp<int64_t>(begin, 0, length);
  end = std::clamp(end, begin, length);
  if (!holds(contig, begin, end)) {
    const int64_t last_end = begin_ + static_cast<int64_t>(bases_.size());
    const bool near = contig == contig_ && begin < last_end + kNear && end > begin_ - kNear;
    read(contig, begin, near ? std::min(length, std::max(end, begin + kReadAhead)) : end);
  }
  return {begin, length,
          bases_.substr(static_cast<size_t>(begin - begin_), static_cast<size_t>(end - begin))};
}

char ReferenceReader::base(const std::string& contig, int64_t length, int64_t position) {
  if (!holds(contig, position, position + 1)) {
    const bool onward = contig == contig_ && position >= begin_ + static_cast<int64_t>(bases_.size());
    const int64_t begin = onward ? position : std::max<int64_t>(0, position + 1 - kSteps);
    read(contig, begin, std::min(length, onward ? position + kSteps : position + 1));
  }
  return bases_[static_cast<size_t>(position - begin_)];
}

AlleleFlag VepSite::flag(size_t alt) const {
  for (const RecipeSite& recipe : recipes)
    if (recipe.flags[alt] != AlleleFlag::scored) return recipe.flags[alt];
  return AlleleFlag::scored;
}

bool VepSite::changes_length(size_t alt) const {
  for (const RecipeSite& recipe : recipes)
    for (const ScoredAllele& allele : recipe.alleles)
      if (allele.alt == alt) return allele.form.changes_length();
  return false;
}

bool VepSite::any_scored() const {
  return std::any_of(recipes.begin(), recipes.end(),
                     [](const RecipeSite& recipe) { return !recipe.alleles.empty(); });
}

}  // namespace carbon
