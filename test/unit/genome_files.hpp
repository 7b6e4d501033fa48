// A temporary directory and small file helpers for the tests of src/formats and src/files. No assertions
// here.
#pragma once

#include <htslib/bgzf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "src/base/error.hpp"

namespace carbon_test {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "carbon-test-XXXXXX").string();
    if (!mkdtemp(path_.data())) throw std::runtime_error("mkdtemp failed");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string put_bgzf(const std::string& name, const std::string& text) const {
    BGZF* out = bgzf_open(file(name).c_str(), "w");
    if (!out || bgzf_write(out, text.data(), text.size()) < 0 || bgzf_close(out) != 0) {
      throw std::runtime_error("bgzf failed");
    }
    return file(name);
  }
  size_t entries() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The decompressed bytes of a plain, gzip or BGZF file.
inline std::string read_text(const std::string& path) {
  BGZF* in = bgzf_open(path.c_str(), "r");
  if (!in) throw std::runtime_error("cannot open " + path);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = bgzf_read(in, buffer, sizeof(buffer))) > 0;) text.append(buffer, count);
  (void)!bgzf_close(in);
  return text;
}

struct CommandResult {
  std::string output;
  int status = -1;  // exit status, or 128 + signal
};

inline CommandResult run_command(const std::string& command) {
  CommandResult result;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return result;
  char buffer[4096];
  for (size_t count; (count = fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    result.output.append(buffer, count);
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

inline bool have_command(const std::string& name) {
  return run_command("command -v " + name).status == 0;
}

/// The message of the Error that `action` throws, "" if it throws none.
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const carbon::Error& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace carbon_test
