// The register of a run's files: no output replaces an input or another output, and nothing that can be read
// once is opened twice.

#include "src/files/run_files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "src/files/output.hpp"
#include "src/files/resumable_output.hpp"
#include "src/files/text_input.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kReplaced = "is an input of this run, which the output would replace";
constexpr const char* kTwoOutputs = "two outputs of this run, of which one would replace the other";

/// A folder with files that have several names, and with names of files that there are not yet.
struct Files {
  Files() {
    fs::create_directory(dir.file("sub"));
    fs::create_directory_symlink("sub", dir.file("link"));
    for (const char* name : {"r.fa", "R.FA", "sub/r.fa"}) dir.put(name, std::string("bases of ") + name);
    fs::create_hard_link(dir.file("r.fa"), dir.file("sub/hard.fa"));
    fs::create_symlink("../r.fa", dir.file("sub/soft.fa"));
    fs::create_symlink(dir.file("sub/soft.fa"), dir.file("far.fa"));
    fs::create_symlink("sub/new.txt", dir.file("dangling"));
  }

  /// Names by the file that they lead to.
  const std::vector<std::vector<std::string>> existing = {
      {"r.fa", "sub/hard.fa", "sub/soft.fa", "far.fa", "link/hard.fa", "link/../r.fa"},
      {"R.FA", "./sub/../R.FA"},
      {"sub/r.fa", "link/r.fa"}};
  const std::vector<std::vector<std::string>> absent = {
      {"new.txt", "sub/../new.txt"}, {"NEW.TXT"}, {"sub/new.txt", "link/new.txt", "dangling"}};
  TemporaryDirectory dir;
};

/// Another spelling of the same name.
std::string spelled(const std::string& folder, const std::string& name, std::mt19937& random) {
  const std::string base = random() % 2 == 0 ? folder : fs::relative(folder).string();
  std::string out = base;
  for (unsigned i = random() % 3; i > 0; --i) out += std::array{"/.", "//", "/sub/.."}[random() % 3];
  return out + "/" + name;
}

/// The contents of all regular files.
std::vector<std::string> contents(const Files& files) {
  std::vector<std::string> all;
  for (const auto& names : files.existing) all.push_back(read_bytes(files.dir.file(names.front())));
  return all;
}

void write_output(const std::string& path) {
  TextOutput out(path);
  out.write("output\n");
  out.close();
}

}  // namespace

TEST_CASE("without a register nothing is refused") {
  const TemporaryDirectory dir;
  const std::string path = dir.put("in", "x\n");
  declare_input(path, InputUse::once, "test");
  CHECK_NOTHROW(declare_output(path, "test"));
  CHECK(input_to_open(path, "test") == path);
  CHECK_NOTHROW(write_output(path));
}

TEST_CASE("two hundred pairs of an input and an output, by any of their names") {
  std::mt19937 random(71);
  int refused = 0;
  for (int pair = 0; pair < 200; ++pair) {
    const Files files;
    const std::vector<std::string> before = contents(files);
    const auto pick = [&](const auto& list) { return random() % list.size(); };
    const size_t in = pick(files.existing);
    const bool replaces = random() % 2 == 0;  // a file that exists
    const auto& outputs = replaces ? files.existing : files.absent;
    const size_t out = pick(outputs);
    const std::string input = spelled(files.dir.path(), files.existing[in][pick(files.existing[in])], random),
                      output = spelled(files.dir.path(), outputs[out][pick(outputs[out])], random);
    CAPTURE(input);
    CAPTURE(output);
    const bool same = replaces && in == out;
    std::string message;
    {
      const RunFiles run;
      const auto open_input = [&] {
        std::string line;
        TextInput(input, "test").line(line);
      };
      const unsigned how = random() % 4;
      CAPTURE(how);
      message = error_of([&] {
        if (how == 0) {  // as the command line does
          declare_input(input, InputUse::once, "test");
          declare_output(output, "test");
        } else if (how == 1) {  // the input is known first, by its opening
          open_input();
        } else if (how == 2) {  // the output is known first
          declare_output(output, "test");
          open_input();
        } else {
          const TextOutput writing(output);
          open_input();
        }
        write_output(output);
      });
      CHECK(same == (message.find(kReplaced) != std::string::npos));
      CHECK(same == !message.empty());
    }
    refused += same ? 1 : 0;
    const std::vector<std::string> after = contents(files);
    for (size_t i = 0; i < before.size(); ++i)
      if (same || !replaces || i != out) CHECK(after[i] == before[i]);
    CHECK(read_bytes(input) == before[in]);
  }
  CHECK(refused > 20);
  CHECK(refused < 100);
}

TEST_CASE("two outputs of a run are two files") {
  std::mt19937 random(72);
  for (int pair = 0; pair < 60; ++pair) {
    const Files files;
    const auto& lists = random() % 2 == 0 ? files.existing : files.absent;
    const size_t a = random() % lists.size(), b = random() % lists.size();
    const std::string first = spelled(files.dir.path(), lists[a][random() % lists[a].size()], random),
                      second = spelled(files.dir.path(), lists[b][random() % lists[b].size()], random);
    CAPTURE(first);
    CAPTURE(second);
    const RunFiles run;
    const bool declared = random() % 2 == 0;
    const std::string message = error_of([&] {
      if (declared) declare_output(first, "test");
      if (declared) declare_output(second, "test");
      const TextOutput one(first), two(second);
    });
    CHECK((a == b) == (message.find(kTwoOutputs) != std::string::npos));
    CHECK((a == b) == !message.empty());
  }
}

TEST_CASE("what a run has completed may be read, and written again") {
  const TemporaryDirectory dir;
  const RunFiles run;
  const std::string path = dir.file("between.bed");
  declare_output(dir.file("out.tsv"), "test");
  write_output(path);
  write_output(path);
  CHECK(read_text(path, "test", 100) == "output\n");
}

TEST_CASE("streams and devices are no conflict") {
  const TemporaryDirectory dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const RunFiles run;
  for (int i = 0; i < 2; ++i) {
    CHECK_NOTHROW(declare_input("/dev/null", InputUse::once, "test"));
    CHECK_NOTHROW(declare_output("/dev/null", "test"));
    CHECK(input_to_open("/dev/null", "test") == "/dev/null");
    CHECK_NOTHROW(declare_output(fifo, "test"));
  }
  CHECK_NOTHROW(declare_input(fifo, InputUse::once, "test"));
  CHECK_NOTHROW(declare_input(dir.path(), InputUse::once, "test"));
  CHECK_NOTHROW(declare_input(dir.file("absent"), InputUse::once, "test"));
}

TEST_CASE("standard output may not be an input, or two outputs") {
  const TemporaryDirectory dir;
  const std::string path = dir.put("in.fa", ">a\nACGT\n");
  const int kept = dup(1), file = open(path.c_str(), O_WRONLY | O_APPEND);
  dup2(file, 1);
  std::string message, twice;
  {
    const RunFiles run;
    declare_input(path, InputUse::once, "test");
    message = error_of([] { const TextOutput out("-"); });
    twice = error_of([] {
      declare_output("-", "test");
      declare_output("/dev/stdout", "test");
    });
  }
  dup2(kept, 1);
  close(kept);
  close(file);
  CHECK(message.find("standard output is written to " + path + ", which is an input") != std::string::npos);
  CHECK(twice.find("standard output is written to") != std::string::npos);
  const RunFiles run;
  declare_output("-", "test");
  CHECK(error_of([] { declare_output("/dev/stdout", "test"); }).find(kTwoOutputs) != std::string::npos);
}

TEST_CASE("the files beside an output are outputs, too") {
  const TemporaryDirectory dir;
  const std::string target = dir.file("out.tsv");
  const auto open_partial = [&] {
    ResumableOutput(target, {"score", "sequence"}, {}, EarlierRun::refuse, silent_log());
  };
  for (const char* end : {".partial", ".partial.state"}) {
    CAPTURE(end);
    const RunFiles run;
    const std::string input = dir.put(std::string("out.tsv") + end, "mine\n");
    declare_input(input, InputUse::once, "test");
    CHECK(error_of(open_partial).find(kReplaced) != std::string::npos);
    CHECK(read_bytes(input) == "mine\n");
    fs::remove(input);
    CHECK(dir.entries() == 0);
  }
  const RunFiles run;
  ResumableOutput partial(target, {"score", "sequence"}, {}, EarlierRun::refuse, silent_log());
  for (const char* end : {".partial", ".partial.state"})
    CHECK(error_of([&] { const TextOutput out(target + end); }).find(kTwoOutputs) != std::string::npos);
}

TEST_CASE("a pipe is opened once, or kept") {
  const TemporaryDirectory dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string text(200'000, 'x');
  const auto write_it = [&] { std::ofstream(fifo) << text << "\nend\n"; };
  for (const InputUse use : {InputUse::once, InputUse::again}) {
    std::string copy;
    {
      const RunFiles run;
      declare_input(fifo, use, "test");
      CHECK(error_of([&] { declare_input(fifo, use, "test"); }).find("named twice") != std::string::npos);
      std::thread writer(write_it);
      const std::string message = error_of([&] {
        for (int i = 0; i < 2; ++i) CHECK(read_text(fifo, "test", 1 << 20) == text + "\nend\n");
      });
      writer.join();
      if (use == InputUse::once) {
        CHECK(message.find(fifo + " can be read only once, and this run reads it again") !=
              std::string::npos);
        continue;
      }
      CHECK(message.empty());
      copy = input_to_open(fifo, "test");
      CHECK(fs::is_regular_file(copy));
    }
    CHECK(!fs::exists(fs::path(copy).parent_path()));
  }
}

TEST_CASE("a copy that cannot be made is said to be one") {
  const TemporaryDirectory dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", dir.file("absent").c_str(), 1);
  {
    const RunFiles run;
    declare_input(fifo, InputUse::again, "test");
    CHECK(error_of([&] { input_to_open(fifo, "test"); }).find("TMPDIR") != std::string::npos);
  }
  before ? setenv("TMPDIR", kept.c_str(), 1) : unsetenv("TMPDIR");
}
