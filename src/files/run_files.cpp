// Standard streams; then the register of files, and the copies of pipes. Files are compared by device and
// inode, and by the place of their name, since an output that does not exist yet has nothing else.
#include "src/files/run_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/files/temporary_files.hpp"

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

namespace {

constexpr const char* kStandardOutput = "-";

struct FileId {
  dev_t device;
  ino_t inode;
  bool operator==(const FileId&) const = default;
};

/// A regular file that exists, or the place of one that does not. Neither, for a stream.
struct Place {
  std::string shown;         // as the user gave it
  std::optional<FileId> id;  // of the file, if it exists
  std::string name;  // its absolute path without symbolic links; kStandardOutput; "" for other streams
};

bool same_place(const Place& a, const Place& b) {
  return (a.id && a.id == b.id) || (!a.name.empty() && a.name == b.name);
}

/// An input that can be read once.
struct Stream {
  FileId id;
  bool again = false, declared = false, opened = false;
  std::string copy = {};  // path, or ""
};

bool status_of(const std::string& path, int standard, struct stat& status) {
  return (path == "-" ? ::fstat(standard, &status) : ::stat(path.c_str(), &status)) == 0;
}

/// Devices can be opened again, and the bytes of some, such as /dev/zero, have no end.
bool can_be_read_once(const std::string& path, const struct stat& status) {
  if (path == "-") return !S_ISCHR(status.st_mode) || isatty(STDIN_FILENO) != 0;
  return S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode);
}

/// Throws Error if the output and the input are the same file.
void check_apart(const Place& output, const Place& input, const std::string& function) {
  if (!same_place(output, input)) return;
  const std::string in = shown_path(input.shown);
  if (output.shown == "-")
    throw Error(function, "standard output is written to " + in +
                              ", which is an input of this run; write the output to another file");
  throw Error(function, output.shown + (output.shown == in ? "" : ", the same file as " + in + ",") +
                            " is an input of this run, which the output would replace; give the output "
                            "another name");
}

/// Throws Error if one of the two outputs would replace the other.
void check_outputs_apart(const Place& a, const Place& b, const std::string& function) {
  if (!same_place(a, b)) return;
  const auto shown = [](const Place& place) { return place.shown == "-" ? "standard output" : place.shown; };
  throw Error(function,
              shown(a) + (a.shown == b.shown ? " is named for" : " and " + shown(b) + " are one file, for") +
                  " two outputs of this run, of which one would replace the other; give one of "
                  "them another name");
}

}  // namespace

struct RunFiles::Impl {
  std::mutex mutex;
  std::vector<Place> inputs, declared;  // `declared` are outputs
  std::list<std::pair<const OutputClaim*, Place>> claims;
  std::vector<Stream> streams;
  std::optional<PrivateDirectory> folder;  // of copies
  int copies = 0;

  void add_input(const Place& place, const std::string& function);
  Stream& stream_of(const struct stat& status);
  std::string open_stream(const std::string& path, Stream& stream, const std::string& function);
  std::string copy_of(const std::string& path);
};

namespace {

// The files of a process are one thing, as its temporary files are (temporary_files.cpp): whoever opens one
// of them could not be relied upon to have been handed the register.
RunFiles::Impl* installed = nullptr;

Place input_place(const std::string& path, const struct stat& status) {
  Place place{path, FileId{status.st_dev, status.st_ino}, ""};
  char name[PATH_MAX];
  if (path != "-" && ::realpath(path.c_str(), name)) place.name = name;
  return place;
}

Place output_place(const std::string& path) {
  Place place{path, std::nullopt, ""};
  try {
    place.name = output_descriptor(path) == STDOUT_FILENO ? kStandardOutput : replaced_file(path);
  } catch (const Error&) {
    // Whoever opens it reports this, and knows what the name stands for.
  }
  struct stat status {};
  if (status_of(path, STDOUT_FILENO, status) && S_ISREG(status.st_mode))
    place.id = FileId{status.st_dev, status.st_ino};
  return place;
}

/// Copies `from` to its end. Returns 0, or an errno value.
int copy_all(int from, int to) {
  std::vector<char> block(size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(from, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 ? errno : 0;
    if (!write_all(to, block.data(), static_cast<size_t>(got))) return errno;
  }
}

}  // namespace

RunFiles::RunFiles() : impl_(std::make_unique<Impl>()) {
  installed = impl_.get();
}

RunFiles::~RunFiles() {
  installed = nullptr;
}

void RunFiles::Impl::add_input(const Place& place, const std::string& function) {
  for (const Place& output : declared) check_apart(output, place, function);
  for (const auto& [claim, output] : claims) check_apart(output, place, function);
  const auto known = [&](const Place& input) { return input.id == place.id && input.name == place.name; };
  if (std::none_of(inputs.begin(), inputs.end(), known)) inputs.push_back(place);
}

Stream& RunFiles::Impl::stream_of(const struct stat& status) {
  const FileId id{status.st_dev, status.st_ino};
  for (Stream& stream : streams)
    if (stream.id == id) return stream;
  return streams.emplace_back(Stream{id});
}

/// The path to open, which is `path` itself the first time.
std::string RunFiles::Impl::open_stream(const std::string& path, Stream& stream,
                                        const std::string& function) {
  if (!stream.copy.empty()) return stream.copy;
  if (stream.opened)
    throw Error(function, shown_path(path) +
                              " can be read only once, and this run reads it again; write it to a file, and "
                              "name that");
  stream.opened = true;
  if (!stream.again) return path;
  stream.copy = copy_of(path);
  return stream.copy;
}

std::string RunFiles::Impl::copy_of(const std::string& path) {
  if (!folder) folder.emplace();
  const std::string copy = folder->file("input" + std::to_string(++copies));
  const int from =
      path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = from < 0 ? -1 : ::open(copy.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int problem = to < 0 ? errno : copy_all(from, to);
  if (from >= 0) ::close(from);
  if (to >= 0 && ::close(to) != 0 && problem == 0) problem = errno;
  if (problem != 0)
    throw Error("keep_input", shown_path(path) + " is read more than once, and cannot be copied to " + copy +
                                  ": " + std::strerror(problem) +
                                  "; set TMPDIR to a folder with room, or write it to a file");
  return copy;
}

void declare_input(const std::string& name, InputUse use, const std::string& function) {
  const std::string path = split_index_name(name).file;
  struct stat status {};
  if (!installed || !status_of(path, STDIN_FILENO, status)) return;
  const std::lock_guard lock(installed->mutex);
  if (S_ISREG(status.st_mode)) installed->add_input(input_place(path, status), function);
  if (!can_be_read_once(path, status)) return;
  Stream& stream = installed->stream_of(status);
  if (stream.declared)
    throw Error(function, shown_path(path) +
                              " is named twice among the inputs, and can be read only once; name a file for "
                              "one of them");
  stream.declared = true;
  stream.again = use == InputUse::again;
}

void declare_output(const std::string& path, const std::string& function) {
  if (!installed) return;
  const Place place = output_place(path);
  const std::lock_guard lock(installed->mutex);
  for (const Place& input : installed->inputs) check_apart(place, input, function);
  for (const Place& output : installed->declared) check_outputs_apart(output, place, function);
  installed->declared.push_back(place);
}

std::string input_to_open(const std::string& path, const std::string& function) {
  check_data_input(path, function);
  struct stat status {};
  if (!installed || !status_of(path, STDIN_FILENO, status)) return path;
  const std::lock_guard lock(installed->mutex);
  if (S_ISREG(status.st_mode)) installed->add_input(input_place(path, status), function);
  if (!can_be_read_once(path, status)) return path;
  return installed->open_stream(path, installed->stream_of(status), function);
}

OutputClaim::OutputClaim(const std::string& path) : files_(installed) {
  if (!files_) return;
  const Place place = output_place(path);
  const std::lock_guard lock(files_->mutex);
  for (const Place& input : files_->inputs) check_apart(place, input, "open_output");
  for (const auto& [claim, output] : files_->claims) check_outputs_apart(output, place, "open_output");
  files_->claims.emplace_back(this, place);
}

OutputClaim::~OutputClaim() {
  if (!files_) return;
  const std::lock_guard lock(files_->mutex);
  files_->claims.remove_if([this](const auto& one) { return one.first == this; });
}

}  // namespace carbon
