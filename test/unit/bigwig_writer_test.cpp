// Files with so many blocks that their indexes have several heights, read back with libBigWig: values, and
// summaries that must add up to the values. test/cli/scan_bigwig_test.py looks at every byte of small files.
#include <bigWig.h>
#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/formats/bigwig_reader.hpp"
#include "src/formats/bigwig_writer.hpp"

namespace carbon {
namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("carbon-bigwig-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

// Exact in float, and its sums in double.
float value_at(int64_t position) {
  return static_cast<float>(position * 7 % 64) / 64;
}

// The values of the bases [begin, end) that have one.
std::vector<float> values_of(bigWigFile_t& file, const char* contig, uint32_t begin, uint32_t end) {
  const std::unique_ptr<bwOverlappingIntervals_t, decltype(&bwDestroyOverlappingIntervals)> got(
      bwGetValues(&file, contig, begin, end, 0), bwDestroyOverlappingIntervals);
  return got ? std::vector<float>(got->value, got->value + got->l) : std::vector<float>{};
}

}  // namespace

TEST_CASE("a bigWig of ten million bases") {
  const Folder folder;
  const std::string path = folder.path / "a.bw";
  constexpr int64_t length = 10'000'000;
  BigwigWriter writer(path, {{"empty", 100}, {"long", length}, {"last", 50}});
  std::vector<float> values;
  for (int64_t begin = 0; begin < length; begin += 8000) {
    values.clear();
    for (int64_t i = begin; i < begin + 8000; ++i) values.push_back(value_at(i));
    writer.write(1, begin, values);
  }
  writer.write(2, 10, std::vector<float>{0.75f, 0.25f});
  CHECK_FALSE(std::filesystem::exists(path));
  writer.finish();
  writer.commit();

  std::unique_ptr<bigWigFile_t, decltype(&bwClose)> file(bwOpen(path.c_str(), nullptr, "r"), bwClose);
  REQUIRE(file);
  CHECK(file->hdr->nLevels == 9);
  CHECK(file->hdr->nBasesCovered == length + 2);
  CHECK(file->hdr->minVal == 0);
  CHECK(file->hdr->maxVal == 63.0 / 64);
  for (const uint32_t begin : {0u, 7'990u, 5'000'000u, 9'999'980u}) {
    const std::vector<float> got = values_of(*file, "long", begin, begin + 20);
    REQUIRE(got.size() == 20);
    for (uint32_t i = 0; i < 20; ++i) CHECK(got[i] == value_at(begin + i));
  }
  CHECK(values_of(*file, "last", 0, 50) == std::vector<float>{0.75f, 0.25f});
  CHECK(values_of(*file, "empty", 0, 100).empty());
  const BigwigReader reader(path, "test");
  int64_t next = 0, wrong = 0;
  reader.read("long", [&](int64_t begin, int64_t end, float value) {
    wrong += begin != next || end != begin + 1 || value != value_at(begin);
    next = end;
  });
  CHECK(next == length);
  CHECK(wrong == 0);
  // Means that come from each of the levels, of bins that are whole summaries where they come from the first.
  for (const uint32_t bins : {1u, 10u, 100u, 1000u, 10000u}) {
    const std::unique_ptr<double, decltype(&std::free)> means(
        bwStats(file.get(), "long", 0, length, bins, mean), std::free);
    REQUIRE(means);
    for (uint32_t i = 0; i < bins; ++i) CHECK(std::abs(means.get()[i] - 63.0 / 128) < 0.02);
  }
}

TEST_CASE("a bigWig of more contigs than a node of their tree holds") {
  const Folder folder;
  const std::string path = folder.path / "a.bw";
  std::vector<std::pair<std::string, int64_t>> contigs;
  for (int i = 0; i < 70'000; ++i) contigs.emplace_back("scaffold_" + std::to_string(i), 100 + i % 7);
  BigwigWriter writer(path, contigs);
  for (const size_t i : {size_t{0}, size_t{9}, size_t{40'000}, size_t{69'999}})
    writer.write(i, 3, std::vector<float>{static_cast<float>(i)});
  writer.finish();
  writer.commit();

  std::unique_ptr<bigWigFile_t, decltype(&bwClose)> file(bwOpen(path.c_str(), nullptr, "r"), bwClose);
  REQUIRE(file);
  REQUIRE(file->cl->nKeys == 70'000);
  size_t wrong = 0;
  for (size_t i = 0; i < contigs.size(); ++i)
    wrong += file->cl->chrom[i] != contigs[i].first || file->cl->len[i] != contigs[i].second;
  CHECK(wrong == 0);
  for (const size_t i : {size_t{0}, size_t{9}, size_t{40'000}, size_t{69'999}})
    CHECK(values_of(*file, contigs[i].first.c_str(), 0, 100) == std::vector<float>{static_cast<float>(i)});
  CHECK(values_of(*file, "scaffold_1", 0, 100).empty());

  const BigwigReader reader(path, "test");
  wrong = 0;
  for (const auto& [name, length] : contigs) wrong += reader.length(name) != length;
  CHECK(wrong == 0);
  CHECK(reader.length("scaffold_") == -1);
  for (const size_t i : {size_t{0}, size_t{9}, size_t{40'000}, size_t{69'999}})
    reader.read(contigs[i].first, [&](int64_t begin, int64_t end, float value) {
      CHECK(begin == 3);
      CHECK(end == 4);
      CHECK(value == static_cast<float>(i));
    });
  reader.read("scaffold_1", [](int64_t, int64_t, float) { FAIL("a value"); });
}

TEST_CASE("a bigWig of values that lie apart") {
  const Folder folder;
  const std::string path = folder.path / "a.bw";
  constexpr int64_t last = (int64_t{1} << 32) - 2;
  BigwigWriter writer(path, {{"first", 2'000'000}, {"none", 10}, {"giant", last + 1}});
  std::vector<int64_t> positions;
  std::vector<float> values;
  for (int64_t i = 0; i < 1'600'000; i += 1 + i % 31) {
    if (positions.size() == BigwigWriter::kMostPlacedValues) {
      writer.write(0, positions, values);
      positions.clear();
      values.clear();
    }
    positions.push_back(i);
    values.push_back(value_at(i));
  }
  writer.write(0, positions, values);
  writer.write(2, std::vector<int64_t>{0, last}, std::vector<float>{-1.5f, 2});
  writer.write(2, {}, {});
  writer.finish();
  writer.commit();

  std::unique_ptr<bigWigFile_t, decltype(&bwClose)> file(bwOpen(path.c_str(), nullptr, "r"), bwClose);
  REQUIRE(file);
  CHECK(file->hdr->minVal == -1.5);
  CHECK(file->hdr->maxVal == 2);
  CHECK(values_of(*file, "giant", static_cast<uint32_t>(last - 5), static_cast<uint32_t>(last + 1)) ==
        std::vector<float>{2});
  const BigwigReader reader(path, "test");
  int64_t next = 0, wrong = 0, count = 0;
  double sum = 0;
  reader.read("first", [&](int64_t begin, int64_t end, float value) {
    wrong += begin != next || end != begin + 1 || value != value_at(begin);
    next = begin + 1 + begin % 31;
    sum += value;
    ++count;
  });
  CHECK(next >= 1'600'000);
  CHECK(wrong == 0);
  CHECK(file->hdr->nBasesCovered == static_cast<uint64_t>(count) + 2);
  reader.read("none", [](int64_t, int64_t, float) { FAIL("a value"); });
  const std::vector<float> got = values_of(*file, "first", 31, 200);
  for (size_t i = 0, at = 31; i < got.size(); at += 1 + at % 31, ++i)
    CHECK(got[i] == value_at(static_cast<int64_t>(at)));
  // Summaries of all sizes add up to the values.
  for (const uint32_t bins : {1u, 40u, 400u}) {
    const std::unique_ptr<double, decltype(&std::free)> means(
        bwStats(file.get(), "first", 0, 2'000'000, bins, bins == 1 ? bwStatsType::mean : bwStatsType::max),
        std::free);
    REQUIRE(means);
    if (bins == 1) CHECK(std::abs(means.get()[0] - sum / static_cast<double>(count)) < 1e-6);
    for (uint32_t i = 0; i < bins * 3 / 4; ++i) CHECK(means.get()[i] >= (bins == 1 ? 0 : 0.9));
  }
}

TEST_CASE("a bigWig without values") {
  const Folder folder;
  const std::string path = folder.path / "a.bw";
  BigwigWriter writer(path, {{"a", 100}});
  writer.finish();
  writer.commit();
  std::unique_ptr<bigWigFile_t, decltype(&bwClose)> file(bwOpen(path.c_str(), nullptr, "r"), bwClose);
  REQUIRE(file);
  CHECK(file->hdr->nBasesCovered == 0);
  CHECK(values_of(*file, "a", 0, 100).empty());
}

TEST_CASE("a bigWig that is not finished leaves nothing") {
  const Folder folder;
  {
    BigwigWriter writer(folder.path / "a.bw", {{"a", 1'000'000}});
    for (int64_t begin = 0; begin < 1'000'000; begin += 8000)
      writer.write(0, begin, std::vector<float>(8000, 0.5f));
    CHECK_FALSE(std::filesystem::is_empty(folder.path));
  }
  CHECK(std::filesystem::is_empty(folder.path));
}

TEST_CASE("what a bigWig cannot be") {
  const Folder folder;
  CHECK_THROWS_WITH_AS(BigwigWriter(folder.path / "a.bw", {{"giant", int64_t{1} << 32}}),
                       "contig giant has 4294967296 bases, and a bigWig holds contigs of up to 4294967295",
                       Error);
  CHECK_NOTHROW(BigwigWriter(folder.path / "a.bw", {{"large", (int64_t{1} << 32) - 1}}));
  CHECK_THROWS_AS(BigwigWriter("/dev/null", {{"a", 1}}), Error);
  CHECK(std::filesystem::is_empty(folder.path));
}

}  // namespace carbon
