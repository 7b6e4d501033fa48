// The reference as plugins read it that go through records.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "plugins/support.hpp"
#include "src/formats/contig_spelling.hpp"
#include "src/formats/haplotype.hpp"

namespace carbon_plugins {

/// The bases of the reference in upper case, with N for all that is not A, C, G or T; fetched in pieces, as
/// they are asked for mostly in order.
class Reference {
 public:
  Reference(carbon_run* run, const std::string& path)
      : run_(run), path_(path), fasta_(checked(run->api->fasta_open(run, path.c_str()))) {}

  void enter(const std::string& contig) {
    contig_ = contig;
    length_ = run_->api->fasta_length(run_, fasta_, contig.c_str());
    bases_.clear();
  }
  const std::string& path() const { return path_; }
  /// That the FASTA does not have the contig, and how it spells it, for messages.
  std::string lacks(const std::string& contig) const {
    std::vector<std::string> names;
    for (size_t i = 0; const char* const name = run_->api->fasta_contig(run_, fasta_, i); ++i)
      names.emplace_back(name);
    return path_ + " has no contig " + contig + carbon::called_otherwise(contig, names);
  }
  const std::string& contig() const { return contig_; }
  /// Of the contig that was entered; -1 if there is no such contig.
  int64_t length() const { return length_; }
  std::string bases(int64_t begin, int64_t end) {
    if (begin < begin_ || end > begin_ + static_cast<int64_t>(bases_.size())) fetch(begin, end);
    return bases_.substr(static_cast<size_t>(begin - begin_), static_cast<size_t>(end - begin));
  }

 private:
  static constexpr int64_t kBefore = 1024, kAtOnce = 16384;

  void fetch(int64_t begin, int64_t end) {
    begin_ = std::max<int64_t>(0, begin - kBefore);
    const int64_t to = std::min(length_, std::max(end, begin_ + kAtOnce));
    bases_.assign(static_cast<size_t>(to - begin_), 'N');
    checked(run_->api->fasta_fetch(run_, fasta_, contig_.c_str(), begin_, to, bases_.data()));
    bases_ = upper_case(std::move(bases_));
    for (char& base : bases_)
      if (!carbon::is_acgt({&base, 1})) base = 'N';
  }

  carbon_run* run_;
  std::string path_;
  carbon_indexed_fasta* fasta_;
  std::string contig_, bases_;
  int64_t length_ = -1, begin_ = 0;
};

}  // namespace carbon_plugins
