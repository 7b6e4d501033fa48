// The scores of the alleles of one file, to be found again by CHROM, POS, REF and ALT.
//
// Open addressing over one block of bytes, because files have millions of alleles: an allele costs its
// letters and about 50 bytes. An allele that is listed several times is found as often, in the order of the
// file.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plugins/support.hpp"

namespace carbon_plugins {

struct Allele {
  std::string contig;
  int64_t pos = 0;  // 0-based
  std::string ref, alt;

  /// For messages.
  std::string text() const { return contig + ":" + std::to_string(pos + 1) + " " + ref + ">" + alt; }
};

class AlleleTable {
 public:
  void add(const Allele& allele, double score) {
    if (entries_.size() >= kTaken - 1) fail("more than 4,294,967,293 alleles; select fewer with -r or -t");
    if (2 * (entries_.size() + 1) > slots_.size()) grow();
    const auto contig = contigs_.emplace(allele.contig, static_cast<uint32_t>(contigs_.size())).first->second;
    const std::string key = key_of(contig, allele);
    const auto entry = static_cast<uint32_t>(entries_.size());
    uint32_t& slot = slot_of(key);
    if (slot == kNone) {
      slot = entry;
      entries_.push_back({bytes_.size(), score, kNone, entry});
      bytes_ += key;
    } else {
      Entry& first = entries_[slot];
      const Entry added{first.key, score, kNone, entry};
      entries_[first.last].next = entry;
      first.last = entry;
      entries_.push_back(added);
    }
  }

  /// The score of the allele's first entry that has not been taken yet. No allele is added after the first
  /// call.
  std::optional<double> take(const Allele& allele) {
    const auto contig = contigs_.find(allele.contig);
    if (contig == contigs_.end() || slots_.empty()) return std::nullopt;
    uint32_t& slot = slot_of(key_of(contig->second, allele));
    if (slot == kNone || entries_[slot].next == kTaken) return std::nullopt;
    Entry& entry = entries_[slot];
    // The last entry of a key stays in its slot, so that keys behind it are still found.
    if (entry.next == kNone)
      entry.next = kTaken;
    else
      slot = entry.next;
    ++taken_;
    return entry.score;
  }

  uint64_t size() const { return entries_.size(); }
  uint64_t left() const { return entries_.size() - taken_; }

 private:
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max(), kTaken = kNone - 1;
  struct Entry {
    uint64_t key;   // where it begins in bytes_
    double score;   // NaN: the allele has none
    uint32_t next;  // of the same key
    uint32_t last;  // of the same key, in its first entry
  };

  /// Numbers of fixed length and then text with an end: no key is the beginning of another one.
  static std::string key_of(uint32_t contig, const Allele& allele) {
    std::string key(sizeof contig + sizeof allele.pos, '\0');
    std::memcpy(key.data(), &contig, sizeof contig);
    std::memcpy(key.data() + sizeof contig, &allele.pos, sizeof allele.pos);
    return key.append(allele.ref).append(1, '>').append(allele.alt).append(1, '\0');
  }

  /// Where the key is, or the empty slot where it belongs.
  uint32_t& slot_of(std::string_view key) {
    const size_t mask = slots_.size() - 1;
    for (size_t i = std::hash<std::string_view>()(key) & mask;; i = (i + 1) & mask)
      if (slots_[i] == kNone || bytes_.compare(entries_[slots_[i]].key, key.size(), key) == 0)
        return slots_[i];
  }

  /// The key of an entry, whose text ends at the first NUL after the numbers.
  std::string_view key_at(uint64_t begin) const {
    const size_t text = begin + sizeof(uint32_t) + sizeof(int64_t);
    return std::string_view(bytes_).substr(begin, bytes_.find('\0', text) + 1 - begin);
  }

  void grow() {
    std::vector<uint32_t> old = std::move(slots_);
    slots_.assign(std::max<size_t>(1024, 2 * old.size()), kNone);
    for (const uint32_t first : old)
      if (first != kNone) slot_of(key_at(entries_[first].key)) = first;
  }

  std::string bytes_;
  std::vector<Entry> entries_;
  std::vector<uint32_t> slots_;  // a power of two of them, at most half of them in use
  std::unordered_map<std::string, uint32_t> contigs_;
  uint64_t taken_ = 0;
};

}  // namespace carbon_plugins
