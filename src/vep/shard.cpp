#include "src/vep/shard.hpp"

#include <filesystem>

#include "src/base/error.hpp"

namespace carbon {

void check_readable_twice(const std::string& input, const std::string& why, const Advice& advice) {
  std::error_code ignored;
  const auto status = std::filesystem::status(input, ignored);
  if (input != "-" && !std::filesystem::is_fifo(status) && !std::filesystem::is_character_file(status) &&
      !std::filesystem::is_socket(status))
    return;
  throw Error("vep",
              why + ", and " + (input == "-" ? "standard input" : input) +
                  " can be read only once; write it to a file",
              advice);
}

void check_share_input(const std::string& input) {
  check_readable_twice(input, "the input of a share is read twice, to count the records first",
                       {"or leave out {--shard}"});
}

uint64_t count_records(const RecordSource& next) {
  uint64_t count = 0;
  for (VcfRecord record; next(record);) ++count;
  return count;
}

RecordSource records_in(RecordSource next, IndexRange range) {
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
