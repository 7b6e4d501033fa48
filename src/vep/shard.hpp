// `--shard I/N`: the I-th of N contiguous shares of the records of a file.
//
// Works on whatever source of records it is given, so that a share is one of the records that are left after
// any selection.
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

/// VcfReader::next or something around it.
using RecordSource = std::function<bool(VcfRecord&)>;

/// Refuses what cannot be read twice: standard input, pipes, terminals. Throws Error.
void check_readable_twice(const std::string& input);
/// Reads to the end.
uint64_t count_records(const RecordSource& next);
/// The records of `next` that lie in `range`; reads no further than its end. The source throws Error when
/// `next` ends before that.
RecordSource records_in(RecordSource next, RecordRange range);

}  // namespace carbon
