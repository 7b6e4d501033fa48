// FastaReader and IndexedFasta: good files in every compression, damaged files, and index building.

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <thread>

#include "src/formats/fasta.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

std::vector<FastaRecord> read_all(const std::string& path) {
  FastaReader reader(path);
  std::vector<FastaRecord> records;
  for (FastaRecord record; reader.next(record);) records.push_back(record);
  return records;
}

std::string read_error(const std::string& path) {
  return error_of([&] { read_all(path); });
}

/// Bases without a short period, so that BGZF gets several blocks of real data.
std::string random_bases(size_t count) {
  std::string bases;
  uint64_t state = 1;
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bases += "ACGT"[state >> 62];
  }
  return bases;
}

std::string wrap(const std::string& bases, size_t width) {
  std::string text;
  for (size_t i = 0; i < bases.size(); i += width) text += bases.substr(i, width) + "\n";
  return text;
}

}  // namespace

TEST_CASE("FastaReader reads plain, gzip and BGZF alike") {
  const TemporaryDirectory dir;
  const std::string big = random_bases(300000);
  const std::string text =
      "\n>one first record\r\nACgt N\r\n\r\n*-\r\n>empty\n>big\tx\n" + wrap(big, 61) + ">last\n" + big;
  const std::string plain = dir.put("a.fa", text);
  const std::string bgzf = dir.put_bgzf("b.fa.gz", text);
  const std::string gzip = dir.file("c.fa.gz");
  REQUIRE(run_command("gzip -c " + plain + " > " + gzip).status == 0);
  for (const std::string& path : {plain, bgzf, gzip}) {
    CAPTURE(path);
    const auto records = read_all(path);
    REQUIRE(records.size() == 4);
    CHECK(records[0].name == "one");
    CHECK(records[0].sequence == "ACgtN*-");
    CHECK(records[1].name == "empty");
    CHECK(records[1].sequence.empty());
    CHECK(records[2].name == "big");
    CHECK(records[2].sequence == big);
    CHECK(records[3].sequence == big);
  }
}

TEST_CASE("FastaReader names the line of what is wrong") {
  const TemporaryDirectory dir;
  const auto error = [&](const std::string& text) { return read_error(dir.put("x.fa", text)); };
  CHECK(contains(error(">a\nAC\nA1C\n"), "x.fa:3: '1'"));
  CHECK(contains(error(">a\nAC\n>b\nAC" + std::string("\x01") + "\n"), "x.fa:4: byte 0x01"));
  CHECK(contains(error(">a\nAC\n> b\nAC\n"), "x.fa:3: a record without a name"));
  CHECK(contains(error(">a\nAC\n>"), "x.fa:3: a record without a name"));
  CHECK(contains(error("\nACGT\n>a\n"), "x.fa:2: 'A' before the first '>'"));
  CHECK(contains(error("@r\nAC\n+\nII\n"), "x.fa:1: this looks like FASTQ"));
  CHECK(contains(error(">a\rACGT\r>b\rAC\r"), "x.fa:1: a carriage return"));
  CHECK(contains(error(""), "empty"));
  CHECK(contains(error("\n \n"), "empty"));
  CHECK(contains(read_error(dir.file("absent.fa")), "cannot open"));
  CHECK(contains(read_error(dir.path()), "irectory"));
}

TEST_CASE("FastaReader refuses cut and damaged compressed files") {
  const TemporaryDirectory dir;
  const std::string text = ">a\n" + wrap(random_bases(500000), 60);
  const std::string whole = read_bytes(dir.put_bgzf("whole.gz", text));
  REQUIRE(whole.size() > 100000);
  for (size_t keep :
       {whole.size() - 28, whole.size() - 27, whole.size() - 29, whole.size() / 2, size_t{1000}}) {
    CAPTURE(keep);
    CHECK(read_error(dir.put("cut.gz", whole.substr(0, keep))) != "");
  }
  CHECK(contains(read_error(dir.put("noeof.gz", whole.substr(0, whole.size() - 28))), "end-of-file marker"));
  std::string flipped = whole;
  for (size_t i = whole.size() / 2; i < whole.size() / 2 + 20; ++i) flipped[i] ^= 0x55;
  CHECK(contains(read_error(dir.put("flipped.gz", flipped)), "cut or damaged"));

  REQUIRE(run_command("gzip -dc " + dir.file("whole.gz") + " | gzip -c > " + dir.file("plain.gz")).status ==
          0);
  CHECK(read_error(dir.file("plain.gz")) == "");
  const std::string gzipped = read_bytes(dir.file("plain.gz"));
  CHECK(read_error(dir.put("cut2.gz", gzipped.substr(0, gzipped.size() / 2))) != "");
  CHECK(read_error(dir.put("cut3.gz", gzipped.substr(0, gzipped.size() - 4))) != "");
  std::string bad_check = gzipped;
  bad_check[bad_check.size() - 6] ^= 1;
  CHECK(read_error(dir.put("crc.gz", bad_check)) != "");
}

TEST_CASE("FastaReader reads a pipe") {
  const TemporaryDirectory dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string bases = random_bases(200000);
  std::thread feeder([&] { std::ofstream(fifo) << ">p\n" << bases << "\n"; });
  const auto records = read_all(fifo);
  feeder.join();
  REQUIRE(records.size() == 1);
  CHECK(records[0].sequence == bases);
}

TEST_CASE("IndexedFasta builds its index and fetches") {
  const TemporaryDirectory dir;
  const std::string one = random_bases(100001), two = "acgtNNryACGT";
  const std::string text = ">one x\n" + wrap(one, 50) + ">two\n" + wrap(two, 50);
  for (const std::string& path : {dir.put("a.fa", text), dir.put_bgzf("b.fa.gz", text)}) {
    CAPTURE(path);
    for (int round = 0; round < 2; ++round) {  // the second finds the index
      IndexedFasta fasta(path);
      CHECK(fasta.path() == path);
      CHECK(fasta.names() == std::vector<std::string>{"one", "two"});
      CHECK(fasta.length("one") == 100001);
      CHECK(fasta.length("three") == -1);
      CHECK(fasta.fetch("one", 49, 99999) == one.substr(49, 99950));
      CHECK(fasta.fetch("one", 100000, 100001) == one.substr(100000));
      CHECK(fasta.fetch("two", 0, 12) == two);
      CHECK(fasta.fetch("two", 5, 5) == "");
      CHECK(contains(error_of([&] { fasta.fetch("two", 0, 13); }), "two:1-13"));
      CHECK(error_of([&] { fasta.fetch("two", -1, 3); }) != "");
      CHECK(error_of([&] { fasta.fetch("three", 0, 0); }) != "");
    }
  }
  CHECK(dir.entries() == 5);  // two FASTA files, two .fai, one .gzi and no temporary name
}

TEST_CASE("an index that cannot be right is refused by the line of the FASTA") {
  const TemporaryDirectory dir;
  const auto error = [](const std::string& path) { return error_of([&] { IndexedFasta fasta(path); }); };
  for (const std::string compressed : {"", ".gz"}) {
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& index,
                             std::initializer_list<const char*> words) {
      const std::string file = name + ".fa" + compressed;
      const std::string path = compressed.empty() ? dir.put(file, text) : dir.put_bgzf(file, text);
      // The same again, and with an index of another program: no advice to build another index.
      for (int run = 0; run < 3; ++run) {
        if (run == 2) dir.put(file + ".fai", index);
        if (run == 2 && !compressed.empty()) dir.put(file + ".gzi", std::string(8, '\0'));
        const std::string message = error(path);
        CAPTURE(message);
        for (const char* word : words) CHECK(contains(message, word));
        CHECK_FALSE(contains(message, "delete"));
        if (run < 2) CHECK_FALSE(std::filesystem::exists(path + ".fai"));
        if (index.empty()) break;
      }
    };
    refused("uneven", ">a\nAC\n>b\nACGT\nAC\nACGT\n", "", {":6:", " b ", "seqtk"});
    refused("longer", ">a\nAC\nACGT\n", "", {":3:", " a ", "seqtk"});
    refused("blank", ">a\nACGT\n\nACGT\n", "", {":4:", " a "});
    refused("empty", ">a\nACGT\n>\nAC\n", "a\t4\t3\t4\t5\n\t2\t10\t2\t3\n", {":3:", "without a name"});
    refused("spaced", ">a\nACGT\n> b\nAC\n", "", {":3:", "without a name", "blank"});
  }
}

TEST_CASE("sequences with the name of an earlier one are reported once") {
  const TemporaryDirectory dir;
  const auto warnings = [](const carbon::test::TestLog& log) {
    return std::count_if(log.lines().begin(), log.lines().end(),
                         [](const std::string& line) { return line.starts_with("W "); });
  };
  const std::string text = ">a first > one\nACGT\nAC\n>b\nGG\n>a again\nTTTT\n>a\nC";
  for (const std::string& path : {dir.put("r.fa", text), dir.put_bgzf("r.fa.gz", text)}) {
    for (int run = 0; run < 2; ++run) {  // with a new index, and with an old one
      carbon::test::TestLog log;
      const IndexedFasta fasta(path, log);
      CHECK(fasta.fetch("a", 0, 6) == "ACGTAC");
      CHECK(warnings(log) == 1);
      CHECK(log.has("2 sequences have the name of an earlier one (a)"));
    }
  }
  carbon::test::TestLog log;
  const IndexedFasta fasta(dir.put("s.fa", ">a first > one\nACGT\nAC\n\n>b\nGG"), log);
  CHECK(warnings(log) == 0);
}

TEST_CASE("IndexedFasta refuses what it cannot use") {
  const TemporaryDirectory dir;
  const auto error = [](const std::string& path) { return error_of([&] { IndexedFasta fasta(path); }); };
  const std::string plain = dir.put("a.fa", ">a\nACGT\n");
  REQUIRE(run_command("gzip -c " + plain + " > " + dir.file("a.fa.gz")).status == 0);
  CHECK(contains(error(dir.file("a.fa.gz")), "bgzip"));
  CHECK(contains(error(dir.put("uneven.fa", ">a\nACGT\nAC\nACGT\n")), "same length"));
  CHECK(contains(error(dir.put("bare.fa", ">a\nAC\n>b\n")), "each name must have a sequence"));
  CHECK(contains(error(dir.put("empty.fa", "")), "empty"));
  CHECK(contains(error(dir.file("absent.fa")), "cannot open"));
  CHECK(contains(error(dir.path()), "not a regular file"));
  CHECK_FALSE(std::filesystem::exists(dir.file("uneven.fa.fai")));
  dir.put("a.fa.fai", "a\tfour\t3\t4\t5\n");
  CHECK(contains(error(plain), "a.fa.fai:1"));
  dir.put("a.fa.fai", "a\t40\t3\t4\t5\n");
  CHECK(contains(error(plain), "goes on after the end"));
  dir.put("b.fa", ">a\nACGT\n>b1\nACGT\n");
  dir.put("b.fa.fai", "a\t8\t3\t4\t5\n");
  IndexedFasta stale(dir.file("b.fa"));
  CHECK(contains(error_of([&] { stale.fetch("a", 0, 8); }), "does not match"));
}

TEST_CASE("a contig that has no bases by the index must have none") {
  const TemporaryDirectory dir;
  const std::string path = dir.put("a.fa", ">a\nACGT\n>empty\n\n>b\nAC\n>last\n");
  const std::string a = "a\t4\t3\t4\t5\n", empty = "empty\t0\t15\t0\t0\n", b = "b\t2\t19\t2\t3\n",
                    last = "last\t0\t28\t0\t0\n";
  const auto error = [&](const std::string& lines) {
    dir.put("a.fa.fai", lines);
    return error_of([&] { IndexedFasta fasta(path); });
  };
  CHECK(error(a + empty + b + last).empty());
  CHECK(contains(error(a + empty + "b\t0\t19\t2\t3\n" + last), "does not match"));
  CHECK(contains(error(a + "empty\t0\t3\t0\t0\n" + b + last), "does not match"));
  CHECK(contains(error(a + empty + b + last + "none\t0\t2000000000\t0\t0\n"), "does not match"));
}

TEST_CASE("an index that is not that of the whole FASTA is refused, in whatever order its lines are") {
  const TemporaryDirectory dir;
  const std::string lines[] = {"a\t6\t3\t4\t5\n", "b\t2\t14\t2\t3\n", "c\t5\t20\t4\t5\n"};
  const std::string text = ">a\nACGT\nAC\n>b\nGG\n>c\nTTTT\nC\n";
  const std::string plain = dir.put("a.fa", text), compressed = dir.put_bgzf("b.fa.gz", text);
  (void)IndexedFasta(compressed);  // builds the .gzi
  for (const std::string& path : {plain, compressed}) {
    const auto error = [&](const std::string& index) {
      std::ofstream(path + ".fai", std::ios::binary) << index;
      return error_of([&] { IndexedFasta fasta(path); });
    };
    CAPTURE(path);
    CHECK(error(lines[0] + lines[1] + lines[2]) == "");
    CHECK(error(lines[2] + lines[0] + lines[1]) == "");
    for (const auto& shorter :
         {std::pair(lines[0] + lines[1], "lacks c of"), std::pair(lines[0] + lines[2], "lacks b of"),
          std::pair(lines[1] + lines[2], "lacks a of"), std::pair(lines[0], "lacks b and other sequences")}) {
      const std::string index = shorter.first, missing = shorter.second;
      CAPTURE(index);
      CHECK(contains(error(index), missing));
      CHECK(contains(error(index), path + ".fai"));
    }
  }
  dir.put("a.fa", text.substr(0, text.size() - 4));
  dir.put("a.fa.fai", lines[0] + lines[1] + lines[2]);
  CHECK(contains(error_of([&] { IndexedFasta fasta(plain); }), "goes on after the end"));
}

TEST_CASE("BGZF with gzip after it is refused by that, with an index or without") {
  const TemporaryDirectory dir;
  const std::string path = dir.put_bgzf("a.fa.gz", ">a\nACGT\n");
  (void)IndexedFasta(path);  // builds an index of the first part
  const std::string blocks = read_bytes(path).substr(0, read_bytes(path).size() - 28);
  REQUIRE(run_command("gzip -c " + dir.put("b.fa", ">b\nGGTT\n") + " > " + dir.file("b.gz")).status == 0);
  dir.put("a.fa.gz", blocks + read_bytes(dir.file("b.gz")));
  for (int run = 0; run < 3; ++run) {  // with that index, and twice without one
    const std::string message = error_of([&] { IndexedFasta fasta(path); });
    CAPTURE(message);
    CHECK(contains(message, "BGZF up to byte " + std::to_string(blocks.size()) + " and gzip from there on"));
    CHECK_FALSE(contains(message, "delete"));
    std::filesystem::remove(path + ".fai");
    std::filesystem::remove(path + ".gzi");
  }
}

TEST_CASE("FILE##idx##INDEX names the index of a FASTA, which is built there if it is missing") {
  const TemporaryDirectory dir, elsewhere;
  const std::string path = dir.put("a.fa", ">a\nACGT\n"), index = elsewhere.file("its.fai");
  for (int run = 0; run < 2; ++run) {
    const IndexedFasta fasta(path + "##idx##" + index);
    CHECK(fasta.path() == path);
    CHECK(fasta.fetch("a", 1, 3) == "CG");
    CHECK(read_bytes(index) == "a\t4\t3\t4\t5\n");
  }
  CHECK(dir.entries() == 1);
  CHECK(read_all(path + "##idx##" + index).size() == 1);
}

TEST_CASE("a contig that an index has in the wrong place is refused as often as it is asked for") {
  TemporaryDirectory directory;
  const std::string path = directory.put("a.fa", ">a\nACGTACGTAC\nACGTACGTAC\n>b\nTTTT\n");
  directory.put("a.fa.fai", "a\t368547758076\t3\t10\t11\nb\t4\t28\t4\t5\n");
  const IndexedFasta fasta(path);
  for (int i = 0; i < 3; ++i) {
    CHECK(contains(error_of([&] { fasta.fetch("a", 0, 5); }), "does not match"));
    CHECK(contains(error_of([&] { fasta.fetch("a", 5, 368547758000); }), "does not match"));
  }
  CHECK(fasta.fetch("b", 1, 3) == "TT");
}

TEST_CASE("a damaged .gzi, or a damaged FASTA with one, gives no other bases") {
  const TemporaryDirectory dir;
  const std::string bases = random_bases(1000);
  const std::string path = dir.file("a.fa.gz");
  BGZF* const out = bgzf_open(path.c_str(), "w");
  REQUIRE(out);
  REQUIRE(bgzf_index_build_init(out) == 0);
  const std::string text = ">a\n" + wrap(bases, 50) + ">b\n" + wrap("ACGT", 50);
  for (size_t at = 0; at < text.size(); at += 100) {
    REQUIRE(bgzf_write(out, text.data() + at, std::min<size_t>(100, text.size() - at)) > 0);
    REQUIRE(bgzf_flush(out) == 0);
  }
  REQUIRE(bgzf_index_dump(out, path.c_str(), ".gzi") == 0);
  REQUIRE(bgzf_close(out) == 0);
  const std::string index = read_bytes(path + ".gzi"), fasta = read_bytes(path);
  CHECK(IndexedFasta(path).fetch("b", 1, 3) == "CG");  // and there is a .fai
  int refused = 0;
  // True if the bases are right or there was an Error of one line. htslib alone ends by an assertion or
  // gives other bases.
  const auto right = [&] {
    std::string got;
    const std::string error = error_of([&] {
      const IndexedFasta reader(path);
      got = reader.fetch("a", 420, 610) + reader.fetch("a", 900, 1000);
    });
    refused += !error.empty();
    return error.empty() ? got == bases.substr(420, 190) + bases.substr(900) : !contains(error, "\n");
  };
  CHECK(right());
  CHECK(refused == 0);
  for (size_t at = 0; at < index.size(); ++at) {
    for (const int change : {1, 3, 64, 255}) {
      std::string changed = index;
      changed[at] = static_cast<char>(changed[at] + change);
      dir.put("a.fa.gz.gzi", changed);
      CAPTURE(at);
      CHECK(right());
    }
    dir.put("a.fa.gz.gzi", index.substr(0, at));
    CHECK(right());
  }
  CHECK(refused > 500);
  // Two wrong numbers that make up for each other around the place that is asked for.
  std::string shifted = index;
  for (const size_t block : {4, 5, 6})
    shifted[8 + 16 * block + 8] = static_cast<char>(shifted[8 + 16 * block + 8] + 51);
  dir.put("a.fa.gz.gzi", shifted);
  refused = 0;
  CHECK(right());
  CHECK(refused == 1);
  dir.put("a.fa.gz.gzi", index);
  for (size_t at = 0; at < fasta.size(); ++at) {
    std::string changed = fasta;
    changed[at] = static_cast<char>(changed[at] + 1);
    dir.put("a.fa.gz", changed);
    CAPTURE(at);
    CHECK(right());
    dir.put("a.fa.gz", fasta.substr(0, at));
    CHECK(right());
  }
}

TEST_CASE("IndexedFasta beside a read-only FASTA keeps its index in memory") {
  const TemporaryDirectory dir;
  const std::string path = dir.put_bgzf("a.fa.gz", ">a\nACGT\n");
  chmod(dir.path().c_str(), 0755);
  // Root may write anywhere, so it becomes the user nobody for this test.
  const uid_t nobody = 65534;
  const bool root = geteuid() == 0;
  if (root && seteuid(nobody) != 0) {
    MESSAGE("SKIPPED: root cannot become another user here");
    return;
  }
  if (!root) chmod(dir.path().c_str(), 0500);
  setenv("TMPDIR", dir.file("absent").c_str(), 1);  // which is not needed
  {
    carbon::test::TestLog log;
    IndexedFasta fasta(path, log);
    CHECK(log.has("W open_fasta: cannot write an index beside " + path));
    CHECK(log.has("Permission denied"));
    CHECK(fasta.fetch("a", 1, 3) == "CG");
  }
  unsetenv("TMPDIR");
  if (root) REQUIRE(seteuid(0) == 0);
  chmod(dir.path().c_str(), 0700);
  CHECK(dir.entries() == 1);
}

TEST_CASE("an index for which there is no room is kept in memory, and the FASTA is not blamed") {
  const TemporaryDirectory dir;
  const pid_t child = fork();
  if (child == 0) {
    // A file system of two pages, both of them full, which only this process sees.
    const std::string user = std::to_string(geteuid()), group = std::to_string(getegid());
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(77);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
    std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
    if (mount("none", dir.path().c_str(), "tmpfs", 0, "size=8k") != 0) _exit(77);
    const std::string path = dir.put("a.fa", ">a\nACGT\n>b\nAC\n");
    dir.put("rest", std::string(4096, 'x'));
    carbon::test::TestLog log;
    std::string bases;
    const std::string message = error_of([&] { bases = IndexedFasta(path, log).fetch("b", 0, 2); });
    _exit(message.empty() && bases == "AC" && log.has("No space left") && dir.entries() == 2 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) MESSAGE("SKIPPED: no file system can be mounted here");
  CHECK((WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
}
