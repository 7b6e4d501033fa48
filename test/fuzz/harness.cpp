// The entry points that libFuzzer calls, and what the targets share. See harness.hpp.
#include "test/fuzz/harness.hpp"

#include <htslib/bgzf.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "src/base/error.hpp"
#include "src/files/htslib_messages.hpp"

namespace carbon::fuzz {
namespace {

namespace fs = std::filesystem;

std::string parent_of_folders() {
  if (const char* chosen = std::getenv("TMPDIR")) return chosen;
  std::error_code ignored;
  return fs::is_directory("/dev/shm", ignored) ? "/dev/shm" : "/tmp";
}

// What the last attempt() was refused with, for the message of a broken require().
std::string& last_refusal() {
  static std::string message;
  return message;
}

// An error is printed as one line, so that a program that reads the lines is not misled.
void check_message(const Error& error) {
  const std::string_view message = last_refusal() = error.what();
  require(!message.empty(), "an error without a message");
  require(message.find('\n') == std::string_view::npos, "an error message of several lines");
}

}  // namespace

// c1 has 120 bases in lines of 40, c2 60 and HLA:1 12.
const char* const kFasta =
    ">c1 the first\n"
    "ACGTACGTTAGCATCGATCGGCTAAGCTTAGCATTACGGA\n"
    "TTGACCATGGCATTCAGGATCCATTACGGATTACAGATTA\n"
    "CCGGTTAACCATGCATGCATTAGGCCTTAAGGCCATTACG\n"
    ">c2\n"
    "TTTTACGACCAGATTACAGGCATTACNNNNACGGATTACACCATTAGGACCATTACGGTA\n"
    ">HLA:1\n"
    "ACGTNACGTRAC\n";

Folder::Folder() : path_(parent_of_folders() + "/carbon-fuzz-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    std::perror(path_.c_str());
    std::abort();
  }
}

Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Folder::put(const std::string& name, std::string_view bytes, size_t zeros) const {
  const std::string path = file(name);
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (zeros > 0) fs::resize_file(path, bytes.size() + zeros);
  return path;
}

std::string Folder::put_bgzf(const std::string& name, std::string_view bytes) const {
  BGZF* const out = bgzf_open(file(name).c_str(), "w");
  const bool written = out != nullptr && bgzf_write(out, bytes.data(), bytes.size()) >= 0;
  require(out != nullptr && bgzf_close(out) == 0 && written, "cannot write a file of the target");
  return file(name);
}

void Folder::clear() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(path_, ignored)) fs::remove_all(entry.path(), ignored);
}

std::vector<std::string_view> split_files(std::string_view input, size_t count) {
  constexpr std::string_view kBetween = "\n@@@@\n";
  std::vector<std::string_view> files;
  while (files.size() + 1 < count) {
    const size_t end = input.find(kBetween);
    files.push_back(input.substr(0, end));
    input = end == std::string_view::npos ? std::string_view() : input.substr(end + kBetween.size());
  }
  files.push_back(input);
  return files;
}

std::vector<std::string> split_lines(std::string_view text, size_t most) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool attempt(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    check_message(error);
    return false;
  }
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  if (!last_refusal().empty()) std::fprintf(stderr, "the last error was: %s\n", last_refusal().c_str());
  std::abort();
}

}  // namespace carbon::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  carbon::set_htslib_verbosity(0);
  // What the program remembers between runs would make an input behave otherwise the second time.
  ::setenv("XDG_CACHE_HOME", "/dev/null", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const carbon::fuzz::Folder folder;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  carbon::fuzz::last_refusal().clear();
  carbon::fuzz::attempt([&] { carbon::fuzz::run(input, folder); });
  folder.clear();
  return 0;
}
