// The journal behind --resume: what was appended is replayed, whatever a killed process left of it.

#include "src/vep/resume.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

const RunIdentity kRun = {{"model", "abc"}, {"window", "48"}};

Sha256Bytes site(int number) {
  return sha256_bytes(std::to_string(number));
}

std::vector<float> values_of(int number) {
  std::vector<float> values(static_cast<size_t>(number % 4 + 1), static_cast<float>(number) * -1.25f);
  values.back() = number % 3 == 0 ? std::numeric_limits<float>::quiet_NaN() : -0.0f;
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<uint32_t>(x) == std::bit_cast<uint32_t>(y);
  });
}

/// A journal as a run that is killed or fails leaves it: its bytes. One without entries is not left.
std::string journal_of(const TemporaryDirectory& dir, int records) {
  const std::string path = dir.file("made.partial");
  std::string bytes;
  {
    Journal journal(path, kRun, EarlierRun::discard);
    for (int i = 0; i < records; ++i) journal.append(site(i), values_of(i));
    bytes = read_bytes(path);
  }
  CHECK(std::filesystem::remove(path) == (records > 0));
  return bytes;
}

/// Replays all that the journal has, checks it, and appends what is missing of `records`.
void go_on(Journal& journal, int records) {
  int next = 0;
  for (; next < records; ++next) {
    const std::vector<float> wanted = values_of(next);
    const auto saved = journal.replay(site(next), wanted.size(), "c1:1");
    if (!saved) break;
    CHECK(same_bits(*saved, wanted));
  }
  CHECK(static_cast<uint64_t>(next) == journal.saved());
  for (; next < records; ++next) journal.append(site(next), values_of(next));
}

}  // namespace

TEST_CASE("a journal cut anywhere is continued to the same bytes") {
  const TemporaryDirectory dir;
  const std::string whole = journal_of(dir, 12), path = dir.file("x.partial");
  const size_t first_line = whole.find('\n') + 1;
  REQUIRE(whole.starts_with("##carbon_vepPartial2={"));
  for (size_t size = 0; size <= whole.size(); size += size < first_line ? 7 : 1) {
    dir.put("x.partial", whole.substr(0, size));
    std::string bytes;
    {
      Journal journal(path, kRun, EarlierRun::resume);
      go_on(journal, 12);
      journal.check_replayed();
      bytes = read_bytes(path);
      journal.remove();
    }
    CHECK(bytes == whole);
    CHECK(dir.entries() == 0);
  }
}

TEST_CASE("a changed byte ends what is replayed") {
  const TemporaryDirectory dir;
  const std::string whole = journal_of(dir, 12), path = dir.file("x.partial");
  for (size_t at = whole.find('\n') + 1; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x41);
    dir.put("x.partial", changed);
    Journal journal(path, kRun, EarlierRun::resume);
    CHECK(journal.saved() < 12);
    go_on(journal, 12);
    CHECK(read_bytes(path) == whole);
  }
  // An entry that is gone from the middle is noticed, too.
  const size_t first_line = whole.find('\n') + 1;
  dir.put("x.partial", whole.substr(0, first_line) + whole.substr(first_line + 44));
  Journal journal(path, kRun, EarlierRun::resume);
  CHECK(journal.saved() == 0);
}

TEST_CASE("a long journal is replayed block by block") {
  const TemporaryDirectory dir;
  dir.put("x.partial", journal_of(dir, 10000));
  Journal journal(dir.file("x.partial"), kRun, EarlierRun::resume);
  CHECK(journal.saved() == 10000);
  go_on(journal, 10001);
}

TEST_CASE("another run, other records and another process are refused") {
  const TemporaryDirectory dir;
  const std::string whole = journal_of(dir, 5), path = dir.file("x.partial");
  dir.put("x.partial", whole);
  RunIdentity other = kRun;
  other["window"] = "96";
  CHECK(error_of([&] { Journal(path, other, EarlierRun::resume); }).find("window 48, now 96") !=
        std::string::npos);
  {
    Journal journal(path, kRun, EarlierRun::resume);
    CHECK(error_of([&] { Journal(path, kRun, EarlierRun::resume); }).find("another run") !=
          std::string::npos);
    CHECK(error_of([&] { Journal(path, kRun, EarlierRun::discard); }).find("another run") !=
          std::string::npos);
    CHECK(journal.replay(site(0), values_of(0).size(), "c1:1"));
    CHECK(error_of([&] { journal.check_replayed(); }).find("only 1") != std::string::npos);
    CHECK(error_of([&] { journal.replay(site(2), values_of(2).size(), "c1:77"); }).find("c1:77") !=
          std::string::npos);
    CHECK(error_of([&] { journal.replay(site(2), 9, "c1:78"); }).find("c1:78") != std::string::npos);
  }
  CHECK(read_bytes(path) == whole);  // nothing was added, so it stays
  CHECK(error_of([&] { Journal(path, kRun, EarlierRun::refuse); }).find("holds the scores") !=
        std::string::npos);
  CHECK(read_bytes(path) == whole);
  for (const EarlierRun earlier : {EarlierRun::refuse, EarlierRun::discard, EarlierRun::resume}) {
    dir.put("x.partial", "a download\n");
    CHECK(error_of([&] { Journal(path, kRun, earlier); }).find("not a journal") != std::string::npos);
    CHECK(read_bytes(path) == "a download\n");
  }
  dir.put("x.partial", whole);
  { Journal journal(path, kRun, EarlierRun::discard); }  // starts afresh, and failed
  CHECK(dir.entries() == 0);
}
