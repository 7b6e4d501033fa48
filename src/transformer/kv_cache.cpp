#include "src/transformer/kv_cache.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace carbon {

KvCache::KvCache(ops::Backend& backend, const ops::KvShape& shape) : store_(backend.kv_store(shape)) {}

Sequence KvCache::make_sequence() {
  return Sequence(this);
}

uint32_t KvCache::take_page() {
  if (free_.empty()) {
    store_->reserve(refs_.size() + 1);
    refs_.push_back(0);
    free_.push_back(static_cast<uint32_t>(refs_.size() - 1));
  }
  std::ranges::pop_heap(free_, std::greater{});
  const uint32_t page = free_.back();
  free_.pop_back();
  refs_[page] = 1;
  return page;
}

void KvCache::drop(uint32_t page) {
  if (--refs_[page] != 0) return;
  free_.push_back(page);
  std::ranges::push_heap(free_, std::greater{});
}

void KvCache::free_unused_pages() {
  while (!refs_.empty() && refs_.back() == 0) refs_.pop_back();
  std::erase_if(free_, [&](uint32_t page) { return page >= refs_.size(); });
  std::ranges::make_heap(free_, std::greater{});
  store_->release(refs_.size());
}

Sequence::Sequence(Sequence&& other) noexcept
    : cache_(other.cache_), pages_(std::move(other.pages_)), length_(std::exchange(other.length_, 0)) {
  other.pages_.clear();
}

Sequence& Sequence::operator=(Sequence&& other) noexcept {
  if (this == &other) return *this;
  release();
  cache_ = other.cache_;
  pages_ = std::move(other.pages_);
  other.pages_.clear();
  length_ = std::exchange(other.length_, 0);
  return *this;
}

Sequence::~Sequence() {
  release();
}

void Sequence::release() {
  for (const uint32_t page : pages_) cache_->drop(page);
  pages_.clear();
  length_ = 0;
}

Sequence Sequence::fork() const {
  Sequence copy(cache_);
  copy.pages_ = pages_;
  copy.length_ = length_;
  for (const uint32_t page : pages_) cache_->share(page);
  return copy;
}

void Sequence::truncate(size_t n) {
  while (pages_.size() > pages_for(n)) {
    cache_->drop(pages_.back());
    pages_.pop_back();
  }
  length_ = n;
}

void Sequence::reserve(size_t n) {
  if (n == 0) return;
  const size_t used = length_ % ops::kPageTokens;
  if (used != 0 && cache_->refs_[pages_[length_ / ops::kPageTokens]] > 1) {
    uint32_t& last = pages_[length_ / ops::kPageTokens];
    const uint32_t copy = cache_->take_page();
    cache_->store_->copy_page(copy, last);
    cache_->drop(last);
    last = copy;
  }
  while (pages_.size() < pages_for(length_ + n)) pages_.push_back(cache_->take_page());
}

}  // namespace carbon
