// Where the running program lies, found in the same way for plugins, models and carbon-cuda.so, and where
// `make install` puts the files that it reads at run time. In libcarbon.so, the library stands for the
// program.
#pragma once

#include <string>
#include <vector>

namespace carbon {

/// The folder of the running program, absolute and without symbolic links, or "" if nothing says where it is.
/// It is found once, at the first call.
const std::string& program_folder();

/// Whether the loader of an archive has started this program, and not the system's. The C library of the
/// system is another one then.
bool started_by_own_loader();

/// What can say where the program lies, in the order in which it is asked. Each may be empty.
struct ProgramClues {
  /// The value of CARBON_INTERNAL_PROGRAM. This variable is not for users: the launcher of an archive sets it
  /// to the absolute path of the program if it starts the program by a loader, which the kernel then takes
  /// for the program.
  std::string variable;
  std::string link;        // a symbolic link to the program: /proc/self/exe, if /proc is mounted
  std::string started_as;  // as execve() was told; relative to the working folder
  /// The library that has this code; "" in the program. It is asked for before the two above.
  std::string library = {};
};

/// The folder that the first right clue leads to, or "". A clue that leads to another file than the running
/// program is skipped, because plugins beside that file could be those of another carbon. The variable is
/// taken only if its file was read and compared; of the others, also a file that cannot be read.
std::string program_folder(const ProgramClues& clues);

/// Directories of installed data, in the order to search them; models are in their carbon/models. First the
/// directory in its place relative to this program, which is right if the installed tree was moved or lies
/// under a DESTDIR. Then the configured directory, if it is another one.
std::vector<std::string> installed_data_directories();
/// The same for the directories of installed plugins and of carbon-cuda.so.
std::vector<std::string> installed_library_directories();

}  // namespace carbon
