// Where the program finds its installed files. See installed.hpp.
//
// Only this file knows the directories of `make install`, so that a change of them recompiles nothing else.
#include "src/base/installed.hpp"

#include <filesystem>

#include "src/base/program_folder.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

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
