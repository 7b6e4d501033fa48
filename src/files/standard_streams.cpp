#include "src/files/standard_streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "src/base/error.hpp"

namespace carbon {
namespace {

/// The N of /dev/fd/N and the like, or -1.
int number_of(const std::string& path) {
  const std::string own = "/proc/" + std::to_string(getpid()) + "/fd/";
  for (const std::string& prefix : {std::string("/dev/fd/"), std::string("/proc/self/fd/"), own}) {
    if (!path.starts_with(prefix)) continue;
    const std::string number = path.substr(prefix.size());
    if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
      break;
    return std::stoi(number);
  }
  return -1;
}

/// Whether a descriptor is open in a mode that excludes what is wanted.
bool only_for(int descriptor, int mode) {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags < 0 || (flags & O_ACCMODE) == mode;
}

std::string name_of(int descriptor) {
  return descriptor == STDOUT_FILENO ? "standard output" : "descriptor " + std::to_string(descriptor);
}

}  // namespace

void open_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // A new file gets the lowest free number, which is this one.
    const int mode = descriptor == STDOUT_FILENO ? O_RDONLY : O_WRONLY;
    if (open("/dev/null", mode) < 0) (void)!open("/", O_RDONLY | O_DIRECTORY);
  }
}

int output_descriptor(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  return path == "/dev/stderr" ? STDERR_FILENO : number_of(path);
}

void check_data_output(int descriptor, const std::string& function) {
  if (only_for(descriptor, O_RDONLY))
    throw Error(function,
                name_of(descriptor) + " is closed or can only be read, so no data can be written there",
                {"name a file with {-o}"});
  struct stat data = {}, messages = {};
  if (descriptor == STDERR_FILENO || fstat(descriptor, &data) != 0 || fstat(STDERR_FILENO, &messages) != 0)
    return;
  if (S_ISREG(data.st_mode) && data.st_dev == messages.st_dev && data.st_ino == messages.st_ino)
    throw Error(function,
                name_of(descriptor) +
                    " and standard error are the same file, so messages would be written among the data",
                {"name a file with {-o}"});
}

void check_data_input(const std::string& path, const std::string& function) {
  const bool standard = path == "-" || path == "/dev/stdin" || number_of(path) == STDIN_FILENO;
  if (standard && only_for(STDIN_FILENO, O_WRONLY))
    throw Error(function, "standard input is closed, so nothing can be read from it; name an input file");
}

}  // namespace carbon
