// Keys and values of prompts that are complete, kept for later prompts that begin with the same tokens.
//
// It keeps only what was computed as a prompt, never drawn 6-mers: those have another row class, and so other
// bits. A row that begins on kept keys and values therefore has the bits that it would have had without.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "src/transformer/kv_cache.hpp"

namespace carbon {

class PrefixCache {
 public:
  /// Keeps the first `length` tokens of `sequence`, which are those of `tokens`. If they are the beginning of
  /// an entry, that entry serves for both; entries that they begin with are replaced.
  void keep(std::span<const uint32_t> tokens, size_t length, const Sequence& sequence);
  /// A fork of an entry that has as many of the first `most` of `tokens` as any, cut after them; none if no
  /// entry has a page of them.
  std::optional<Sequence> find(std::span<const uint32_t> tokens, size_t most);

  /// Drops the entry that was not used for longest. Returns false if there was none.
  bool drop_oldest();
  /// Drops entries until the rest have at most `most` tokens.
  void trim(size_t most);
  void clear() { entries_.clear(); }
  /// The sums over the entries. Those that begin alike share their pages, but count each.
  size_t tokens() const;
  size_t pages() const;

 private:
  struct Entry {
    std::vector<uint32_t> tokens;
    Sequence sequence;
  };
  std::deque<Entry> entries_;  // the last used comes last
};

}  // namespace carbon
