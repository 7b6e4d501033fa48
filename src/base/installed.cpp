// Where the program and its installed files are. See installed.hpp.
//
// Only this file knows the directories of `make install`, so that a change of them recompiles nothing else.
#include "src/base/installed.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

// The linker's name for the first byte of the program in memory, where the beginning of its file lies.
extern "C" __attribute__((visibility("hidden"))) const char __ehdr_start[];

namespace carbon {
namespace {

namespace fs = std::filesystem;

// The smallest page of any machine. It holds the headers of the program, which give the size of each of its
// parts, and its build ID.
constexpr size_t kCompared = 4096;

// Whether the file is the running program; nothing if it cannot be read. Files are compared by their bytes
// and not by device and inode, because without /proc nothing gives the inode of the running program.
std::optional<bool> is_this_program(const fs::path& path) {
  std::array<char, kCompared> bytes;
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  file.read(bytes.data(), bytes.size());
  return file.gcount() == bytes.size() && std::memcmp(bytes.data(), __ehdr_start, bytes.size()) == 0;
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

// The linker's name for the file of the program itself is "".
std::string loaded_library() {
  Dl_info ignored;
  void* map = nullptr;
  if (dladdr1(__ehdr_start, &ignored, &map, RTLD_DL_LINKMAP) == 0 || map == nullptr) return "";
  return text_or_empty(static_cast<const link_map*>(map)->l_name);
}

// The file itself behind a path; nothing for nothing, of which some C++ libraries make the working folder.
fs::path file_behind(const std::string& path) {
  std::error_code ignored;
  return path.empty() ? fs::path() : fs::canonical(path, ignored);
}

// Whether a value of the variable was meant for this program.
bool is_of_launcher(const fs::path& variable) {
  return variable.is_absolute() && is_this_program(variable) == true;
}

std::string launcher_variable() {
  return text_or_empty(std::getenv("CARBON_INTERNAL_PROGRAM"));
}

}  // namespace

bool started_by_own_loader() {
  return is_of_launcher(launcher_variable());
}

std::string program_folder(const ProgramClues& clues) {
  std::error_code ignored;
  const fs::path variable = clues.variable;
  if (is_of_launcher(variable)) return fs::canonical(variable, ignored).parent_path();
  for (const fs::path& path :
       {file_behind(clues.library), fs::read_symlink(clues.link, ignored), file_behind(clues.started_as)})
    if (!path.empty() && is_this_program(path) != false) return path.parent_path();
  return "";
}

const std::string& program_folder() {
  static const std::string folder = program_folder(
      ProgramClues{launcher_variable(), "/proc/self/exe",
                   text_or_empty(reinterpret_cast<const char*>(getauxval(AT_EXECFN))), loaded_library()});
  return folder;
}

namespace {

std::vector<std::string> places(const fs::path& configured) {
  std::vector<std::string> found;
  if (const fs::path program = program_folder(); !program.empty()) {
    const fs::path moved = (program / configured.lexically_relative(CARBON_BINDIR)).lexically_normal();
    // The program's own folder would end in a slash.
    found.push_back((moved.has_filename() ? moved : moved.parent_path()).string());
  }
  if (found.empty() || found.front() != configured.lexically_normal()) found.push_back(configured.string());
  return found;
}

}  // namespace

std::vector<std::string> installed_data_directories() {
  return places(CARBON_DATADIR);
}

std::vector<std::string> installed_library_directories() {
  return places(fs::path(CARBON_LIBEXECDIR) / "carbon");
}

}  // namespace carbon
