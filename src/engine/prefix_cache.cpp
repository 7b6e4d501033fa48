#include "src/engine/prefix_cache.hpp"

#include <algorithm>
#include <utility>

#include "kernels/ops.hpp"

namespace carbon {
namespace {

// So many prompts at most, because each one is compared with every new prompt.
constexpr size_t kMostEntries = 256;

size_t common_length(std::span<const uint32_t> a, std::span<const uint32_t> b) {
  const size_t n = std::min(a.size(), b.size());
  return static_cast<size_t>(
      std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first - a.begin());
}

}  // namespace

void PrefixCache::keep(std::span<const uint32_t> tokens, size_t length, const Sequence& sequence) {
  tokens = tokens.first(length);
  if (length < ops::kPageTokens) return;
  const auto longer = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return common_length(entry.tokens, tokens) == length;
  });
  if (longer != entries_.end()) {
    std::rotate(longer, longer + 1, entries_.end());
    return;
  }
  std::erase_if(entries_, [&](const Entry& entry) {
    return common_length(entry.tokens, tokens) == entry.tokens.size();
  });
  if (entries_.size() >= kMostEntries) entries_.pop_front();
  entries_.push_back({{tokens.begin(), tokens.end()}, sequence.fork()});
  entries_.back().sequence.truncate(length);
}

std::optional<Sequence> PrefixCache::find(std::span<const uint32_t> tokens, size_t most) {
  tokens = tokens.first(std::min(most, tokens.size()));
  size_t longest = ops::kPageTokens - 1;
  auto best = entries_.end();
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    const size_t common = common_length(at->tokens, tokens);
    if (common <= longest) continue;
    longest = common;
    best = at;
  }
  if (best == entries_.end()) return std::nullopt;
  Sequence fork = best->sequence.fork();
  fork.truncate(longest);
  std::rotate(best, best + 1, entries_.end());
  return fork;
}

bool PrefixCache::drop_oldest() {
  if (entries_.empty()) return false;
  entries_.pop_front();
  return true;
}

void PrefixCache::trim(size_t most) {
  for (size_t total = tokens(); total > most;) {
    total -= entries_.front().tokens.size();
    entries_.pop_front();
  }
}

size_t PrefixCache::pages() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) sum += pages_for(entry.tokens.size());
  return sum;
}

size_t PrefixCache::tokens() const {
  size_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.tokens.size();
  return sum;
}

}  // namespace carbon
