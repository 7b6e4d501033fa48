// The I-th of N contiguous shares of the records of a file, for the tasks of a job array.
//
// It works on any source of records, so that shares are formed after records were selected.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "src/genome/vcf.hpp"

namespace carbon {

struct Shard {
  uint64_t index = 1, count = 1;  // 1 <= index <= count
};

/// Reads `I/N`. Throws Error.
Shard parse_shard(const std::string& text);

/// Records [begin, end), counted from 0.
struct RecordRange {
  uint64_t begin = 0, end = std::numeric_limits<uint64_t>::max();
};

/// The sizes of shares differ by at most one record; the shares 1/N to N/N are all records in order.
RecordRange share_of(const Shard& shard, uint64_t records);

/// Reads the next record; false at the end. VcfReader::next, or a function around it.
using RecordSource = std::function<bool(VcfRecord&)>;

/// Throws Error for an input that cannot be read twice: standard input, a pipe, a terminal.
void check_readable_twice(const std::string& input);
/// Reads to the end and returns the number of records.
uint64_t count_records(const RecordSource& next);
/// A source of the records of `next` in `range`. It does not read beyond the end of the range, and throws
/// Error if `next` ends earlier.
RecordSource records_in(RecordSource next, RecordRange range);

}  // namespace carbon
