// Shares of records: every record in one of them, in order.
#include "src/vep/options.hpp"

#include <doctest/doctest.h>

#include "src/base/error.hpp"

using namespace carbon;

namespace {

/// A source of `records` records that counts how often it is asked.
RecordSource source(int records, int& asked) {
  return [left = records, &asked](VcfRecord&) mutable {
    ++asked;
    return left-- > 0;
  };
}

}  // namespace

TEST_CASE("shares are contiguous, complete and of like sizes") {
  for (const uint64_t records : {0, 1, 2, 3, 9, 10, 11, 1000}) {
    for (const uint64_t count : {1, 2, 3, 10, 1001}) {
      CAPTURE(records);
      CAPTURE(count);
      uint64_t end = 0, smallest = records, largest = 0;
      for (uint64_t i = 1; i <= count; ++i) {
        const IndexRange share = share_of({i, count}, records);
        REQUIRE(share.begin == end);
        REQUIRE(share.end >= share.begin);
        end = share.end;
        smallest = std::min(smallest, share.end - share.begin);
        largest = std::max(largest, share.end - share.begin);
      }
      CHECK(end == records);
      CHECK(largest - smallest <= 1);
    }
  }
  const uint64_t most = std::numeric_limits<uint64_t>::max();
  CHECK(share_of({most, most}, 5).begin == 5);
  CHECK(share_of({most, most}, most).begin == most - 1);
  CHECK(share_of({3, 3}, most).end == most);
}

TEST_CASE("the text I/N of a share") {
  CHECK(parse_shard("2/10").index == 2);
  CHECK(parse_shard("2/10").count == 10);
  CHECK(parse_shard("1/1").count == 1);
  for (const char* bad : {"", "/", "1", "1/", "/2", "0/2", "3/2", "1/0", "-1/2", "+1/2", "1/2/3", "1 /2",
                          "a/b", "1.0/2", "1/99999999999999999999"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(parse_shard(bad), doctest::Contains("expected I/N"), Error);
  }
}

TEST_CASE("a share reads up to its end and no further") {
  int asked = 0;
  CHECK(count_records(source(7, asked)) == 7);
  asked = 0;
  CHECK(count_records(records_in(source(7, asked), {2, 5})) == 3);
  CHECK(asked == 5);
  asked = 0;
  CHECK(count_records(records_in(source(7, asked), {7, 7})) == 0);
  CHECK(asked == 7);
  asked = 0;
  CHECK(count_records(records_in(source(7, asked), {0, 0})) == 0);
  CHECK(asked == 0);
  CHECK_THROWS_WITH_AS(count_records(records_in(source(4, asked), {2, 5})), doctest::Contains("changed"),
                       Error);
}

TEST_CASE("what cannot be read twice is refused") {
  CHECK_THROWS_WITH_AS(check_share_input("-"), doctest::Contains("standard input"), Error);
  CHECK_THROWS_WITH_AS(check_share_input("/dev/null"), doctest::Contains("/dev/null"), Error);
  CHECK_NOTHROW(check_share_input("test/data/mini.vcf"));
  CHECK_NOTHROW(check_share_input("test/data/absent.vcf"));
}
