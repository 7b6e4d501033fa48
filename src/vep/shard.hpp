// A share of the records of a file (base/shard.hpp).
//
// It works on any source of records, so that shares are formed after records were selected.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/error.hpp"
#include "src/base/shard.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {

/// Reads the next record; false at the end. VcfReader::next, or a function around it.
using RecordSource = std::function<bool(VcfRecord&)>;

/// Throws Error for an input that cannot be read twice: standard input, a pipe, a terminal. `why` begins the
/// message: which reads it twice, and what for.
void check_readable_twice(const std::string& input, const std::string& why, const Advice& advice = {});
/// The same for the input of a share, whose records are counted first.
void check_share_input(const std::string& input);
/// Reads to the end and returns the number of records.
uint64_t count_records(const RecordSource& next);
/// A source of the records of `next` in `range`. It does not read beyond the end of the range, and throws
/// Error if `next` ends earlier.
RecordSource records_in(RecordSource next, IndexRange range);

}  // namespace carbon
