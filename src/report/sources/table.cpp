#include "src/report/sources/table.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/lists.hpp"

namespace carbon {
namespace {

constexpr int64_t kLastPosition = int64_t{1}
                                  << 40;  // no sequence is as long, and sums stay far from overflow
constexpr size_t kHeaderLines = 10000;    // more than any header has

}  // namespace

TableReader::TableReader(const std::string& path, const char* function)
    : path_(path), function_(function), input_(path, function) {}

void TableReader::fail(const std::string& what) const {
  throw Error(function_, where() + ": " + what);
}

void TableReader::read_header() {
  while (next() && line_.starts_with("##")) {
    if (!line_.starts_with("##carbon_")) continue;
    if (header_.size() == kHeaderLines) fail("the header has more than 10,000 lines of carbon");
    header_.push_back(line_);
  }
}

void TableReader::jump_to(const VcfRegions& regions) {
  if (!regions.contigs().empty() && IndexedTable::has_index(path_)) jump_.emplace(path_, function_, regions);
}

bool TableReader::next() {
  if (!(jump_ ? jump_->line(line_) : input_.line(line_))) {
    columns_.clear();
    line_.clear();
    return false;
  }
  split(line_, '\t', columns_);
  return true;
}

int64_t TableReader::position(size_t column) const {
  int64_t value = 0;
  if (!parse_number(columns_[column], value) || value < 1 || value > kLastPosition)
    fail("'" + printable(columns_[column]) + "' is not a position; positions are whole numbers from 1");
  return value;
}

}  // namespace carbon
