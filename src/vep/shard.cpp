#include "src/vep/shard.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
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
                {"shard"});
  return shard;
}

RecordRange share_of(const Shard& shard, uint64_t records) {
  // records * index / count could overflow.
  const uint64_t size = records / shard.count, larger = records % shard.count;
  const auto begin = [&](uint64_t index) { return size * index + std::min(index, larger); };
  return {begin(shard.index - 1), begin(shard.index)};
}

void check_readable_twice(const std::string& input) {
  std::error_code ignored;
  const auto status = std::filesystem::status(input, ignored);
  if (input != "-" && !std::filesystem::is_fifo(status) && !std::filesystem::is_character_file(status) &&
      !std::filesystem::is_socket(status))
    return;
  throw Error("shard",
              "the input of a share is read twice, to count the records first, and " +
                  (input == "-" ? "standard input" : input) + " can be read only once; write it to a file",
              {"no_shard"});
}

uint64_t count_records(const RecordSource& next) {
  uint64_t count = 0;
  for (VcfRecord record; next(record);) ++count;
  return count;
}

RecordSource records_in(RecordSource next, RecordRange range) {
  return [next = std::move(next), range, read = uint64_t{0}](VcfRecord& record) mutable {
    while (read < range.end) {
      if (!next(record))
        throw Error("shard", "the input ended after " + std::to_string(read) +
                                 " records, fewer than were counted; it changed during the run");
      if (read++ >= range.begin) return true;
    }
    return false;
  };
}

}  // namespace carbon
