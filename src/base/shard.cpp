#include "src/base/shard.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "src/base/error.hpp"

namespace carbon {
namespace {

/// Returns the number, or 0 if the text is not a positive number.
uint64_t parse_count(std::string_view text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::string_view view = text;
  const size_t slash = std::min(view.find('/'), view.size());
  const Shard shard{parse_count(view.substr(0, slash)),
                    slash < view.size() ? parse_count(view.substr(slash + 1)) : 0};
  if (shard.index == 0 || shard.count == 0 || shard.index > shard.count)
    throw Error("parse_shard",
                "'" + text + "' does not name a share: expected I/N with I from 1 to N, e.g. 1/10",
                {"correct {--shard}"});
  return shard;
}

std::string shard_text(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

IndexRange share_of(const Shard& shard, uint64_t items) {
  // items * index / count could overflow.
  const uint64_t size = items / shard.count, larger = items % shard.count;
  const auto begin = [&](uint64_t index) { return size * index + std::min(index, larger); };
  return {begin(shard.index - 1), begin(shard.index)};
}

}  // namespace carbon
