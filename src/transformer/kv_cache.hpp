// Who uses which KV page: sequences that share prefixes, copy on write, roll back.
//
// Bookkeeping only; the bytes are the backend's (ops::KvStore). Not thread-safe: the thread that calls the
// decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/ops.hpp"

namespace carbon {

class Sequence;

/// Pages that hold the keys and values of `tokens` tokens of one sequence.
constexpr size_t pages_for(size_t tokens) {
  return (tokens + ops::kPageTokens - 1) / ops::kPageTokens;
}

class KvCache {
 public:
  KvCache(ops::Backend& backend, const ops::KvShape& shape);
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  /// An empty sequence. It must not outlive the cache.
  Sequence make_sequence();
  ops::KvStore& store() { return *store_; }
  /// Pages in use by living sequences, a shared page counted once.
  size_t pages_in_use() const { return refs_.size() - free_.size(); }
  /// Pages that have been allocated, whether a sequence uses them or not.
  size_t pages() const { return refs_.size(); }
  /// Frees the memory of pages that no sequence uses, as far as the store can.
  void free_unused_pages();

 private:
  friend class Sequence;
  uint32_t take_page();
  void share(uint32_t page) { ++refs_[page]; }
  void drop(uint32_t page);

  std::unique_ptr<ops::KvStore> store_;
  std::vector<uint32_t> refs_;  // users of each page
  std::vector<uint32_t> free_;  // a heap, the lowest first: so those in use stay together
};

/// Tokens whose keys and values are cached. Move-only; gives its pages back when destroyed.
class Sequence {
 public:
  Sequence(Sequence&& other) noexcept;
  Sequence& operator=(Sequence&& other) noexcept;
  ~Sequence();

  size_t length() const { return length_; }  // tokens
  /// A second sequence with the same tokens; pages are shared until one of the two appends to them.
  Sequence fork() const;
  /// Forgets the tokens from n on. n <= length().
  void truncate(size_t n);

  /// Makes room for n tokens: copies a shared last page, adds pages. For the decoder.
  void reserve(size_t n);
  /// The n tokens reserved are written. For the decoder.
  void advance(size_t n) { length_ += n; }
  const uint32_t* pages() const { return pages_.data(); }

 private:
  friend class KvCache;
  explicit Sequence(KvCache* cache) : cache_(cache) {}
  void release();

  KvCache* cache_;
  std::vector<uint32_t> pages_;
  size_t length_ = 0;
};

}  // namespace carbon
