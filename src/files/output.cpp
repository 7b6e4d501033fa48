// Output paths and plain text output. Only this file decides which outputs are renamed and which are written
// directly.

#include "src/files/output.hpp"

#include <fcntl.h>
#include <htslib/bgzf.h>
#include <htslib/hfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/files/file_name.hpp"
#include "src/files/run_files.hpp"

namespace carbon {

namespace {

constexpr size_t buffer_limit = 1 << 16;
constexpr int kBlocksAhead = 64;  // of BGZF output that threads compress

[[noreturn]] void fail(const std::string& path, const std::string& what, int code) {
  throw Error("open_output",
              what + " " + (path == "-" ? "standard output" : path) + ": " + std::strerror(code));
}

std::string parent_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

/// Throws Error for a file that rename() could not replace, which would be noticed when all is computed.
void check_replaceable(const std::string& path, const std::string& file, const struct stat& info,
                       const char* directory) {
  const auto refuse = [&](const std::string& why) {
    throw Error("open_output", "cannot replace " + path + ", because " + why,
                {"name another output with {-o}"});
  };
  struct statx more = {};
  if (statx(AT_FDCWD, file.c_str(), AT_SYMLINK_NOFOLLOW, 0, &more) == 0) {
    if (more.stx_attributes & STATX_ATTR_MOUNT_ROOT)
      refuse("it is mounted as a single file, as a volume of a container may be");
    if (more.stx_attributes & STATX_ATTR_APPEND)
      refuse("it may only be appended to (chattr -a changes that)");
  }
  struct stat folder = {};
  if (stat(directory, &folder) != 0) return;
  const uid_t user = geteuid();
  if ((folder.st_mode & S_ISVTX) && user != 0 && user != info.st_uid && user != folder.st_uid)
    refuse("it belongs to another user, and files in " + std::string(directory) +
           " may be replaced only by their owners");
}

/// What an output path leads to.
struct Destination {
  int descriptor = -1;         // the open descriptor that the path names, or -1
  std::string target;          // absolute path of the file to create or replace; "" to write directly
  std::optional<mode_t> mode;  // of the target, if it exists
};

Destination find_destination(const std::string& path) {
  if (path.empty())
    throw Error("open_output", "the output path is empty; give a file name or - for standard output");
  std::string current = path;
  struct stat info = {};
  bool exists = false;
  for (int links = 0;; ++links) {
    if (links > 40) fail(path, "cannot open", ELOOP);
    // This comes before lstat, because /dev/stdout may lead to a regular file, which is open and must not be
    // replaced.
    if (const int descriptor = output_descriptor(current); descriptor >= 0)
      return {descriptor, "", std::nullopt};
    exists = lstat(current.c_str(), &info) == 0;
    if (!exists && errno != ENOENT) fail(path, "cannot open", errno);
    if (!exists || !S_ISLNK(info.st_mode)) break;
    char link[PATH_MAX];
    const ssize_t length = readlink(current.c_str(), link, sizeof(link));
    if (length < 0) fail(path, "cannot read the symbolic link", errno);
    if (length == static_cast<ssize_t>(sizeof(link)))
      fail(path, "cannot read the symbolic link", ENAMETOOLONG);
    const std::string next(link, static_cast<size_t>(length));
    current = !next.empty() && next[0] == '/' ? next : parent_of(current) + "/" + next;
  }
  if ((exists && S_ISDIR(info.st_mode)) || current.back() == '/') fail(path, "cannot write", EISDIR);
  if (exists && !S_ISREG(info.st_mode)) return {-1, "", std::nullopt};
  if (exists && faccessat(AT_FDCWD, current.c_str(), W_OK, AT_EACCESS) != 0)
    fail(path, "cannot write", errno);

  char directory[PATH_MAX];
  if (!realpath(parent_of(current).c_str(), directory)) fail(path, "there is no directory for", errno);
  if (exists) check_replaceable(path, current, info, directory);
  return {-1, (std::strcmp(directory, "/") == 0 ? "" : std::string(directory)) + "/" + base_of(current),
          exists ? std::optional<mode_t>(info.st_mode) : std::nullopt};
}

}  // namespace

OutputPath::OutputPath(const std::string& path, TemporaryName name, PathClaim claim)
    : shown_(path), writable_(path), name_(name) {
  const Destination found = find_destination(path);
  descriptor_ = found.descriptor;
  if (descriptor_ >= 0) check_data_output(descriptor_, "open_output");
  direct_ = found.target.empty();
  if (claim == PathClaim::own) claim_.emplace(path);
  if (direct_) {
    if (descriptor_ == 1) writable_ = "-";
    return;
  }
  int code = 0;
  temporary_ = TemporaryFile::create(found.target, found.mode, code, name);
  if (!temporary_) fail(path, "cannot create a temporary file in the directory of", code);
  writable_ = temporary_->path();
}

std::string replaced_file(const std::string& path) {
  return find_destination(path).target;
}

OutputPath::~OutputPath() = default;

int OutputPath::open() const {
  const int how = name_ == TemporaryName::kept ? O_APPEND : O_TRUNC;
  const int fd = descriptor_ >= 0 ? fcntl(descriptor_, F_DUPFD_CLOEXEC, 3)
                                  : ::open(writable_.c_str(), O_WRONLY | O_CLOEXEC | how);
  if (fd < 0) fail(shown_, "cannot write", errno);
  return fd;
}

void OutputPath::commit() {
  if (direct_) return;
  if (!temporary_->complete()) fail(shown_, "cannot rename the finished output to", errno);
}

bool is_stream(const std::string& path) {
  if (output_descriptor(path) >= 0) return true;
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

void abandon_stream(int fd, hFILE* stream) {
  if (stream) hclearerr(stream);
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (null < 0) return;
  dup2(null, fd);
  ::close(null);
}

struct TextOutput::Impl {
  Impl(const std::string& path, TemporaryName name, const BgzfOptions& compression, PathClaim claim)
      : target(path, name, claim), fd(target.open()) {
    if (is_compressed_name(path)) start_compression(compression);
    immediate = isatty(fd) != 0;
  }

  ~Impl() {
    if (fd < 0) return;
    // A normal close would write the end-of-file marker, so that an incomplete output looks complete.
    abandon_stream(fd, compressed ? compressed->fp : nullptr);
    if (compressed) {
      (void)!bgzf_close(compressed);
    } else {
      ::close(fd);
    }
  }

  void start_compression(const BgzfOptions& compression) {
    const std::string level = compression.level < 0 ? "" : std::to_string(compression.level);
    compressed = bgzf_dopen(fd, ("w" + level).c_str());
    if (!compressed) {
      const int code = errno;
      ::close(fd);
      errno = code;
      fail("cannot start BGZF output to");
    }
    // Without threads the output is slower and the same.
    if (compression.threads > 0) (void)!bgzf_mt(compressed, compression.threads, kBlocksAhead);
  }

  [[noreturn]] void fail(const std::string& what) const {
    // A thread that compresses also writes, and leaves its error in the stream.
    const int other = compressed ? herrno(compressed->fp) : 0, code = other ? other : errno;
    const std::string name = target.shown() == "-" ? "standard output" : target.shown();
    throw Error("write_output", what + " " + name + ": " + (code ? std::strerror(code) : "unknown error"));
  }

  /// Writes the buffer to htslib's stream if the output is compressed, otherwise to the file.
  void empty_buffer() {
    errno = 0;
    if (compressed) {
      if (bgzf_write(compressed, buffer.data(), buffer.size()) != static_cast<ssize_t>(buffer.size())) {
        fail("cannot write");
      }
    } else if (!write_all(fd, buffer.data(), buffer.size())) {
      fail("cannot write");
    }
    buffer.clear();
  }

  void end_block() {
    empty_buffer();
    errno = 0;
    // Unlike bgzf_flush(), this does not wait for the threads that compress.
    if (compressed && bgzf_flush_try(compressed, BGZF_MAX_BLOCK_SIZE) != 0) fail("cannot write");
  }

  void flush() {
    empty_buffer();
    errno = 0;
    if (compressed && (bgzf_flush(compressed) != 0 || hflush(compressed->fp) != 0)) fail("cannot write");
  }

  OutputPath target;
  int fd = -1;
  BGZF* compressed = nullptr;
  std::string buffer;
  bool immediate = false;
};

TextOutput::TextOutput(const std::string& path, TemporaryName name, const BgzfOptions& compression,
                       PathClaim claim)
    : impl_(std::make_unique<Impl>(path, name, compression, claim)) {}
TextOutput::~TextOutput() = default;

void TextOutput::write(std::string_view text) {
  if (impl_->fd < 0) throw Error("write_output", "write after close to " + impl_->target.shown());
  impl_->buffer.append(text);
  if (impl_->buffer.size() >= buffer_limit || impl_->immediate) impl_->empty_buffer();
}

bool TextOutput::compressed() const {
  return impl_->compressed != nullptr;
}

void TextOutput::end_block() {
  if (impl_->fd >= 0) impl_->end_block();
}

void TextOutput::flush() {
  if (impl_->fd >= 0) impl_->flush();
}

void TextOutput::flush_for_reader() {
  if (impl_->fd >= 0 && !impl_->compressed && impl_->target.direct()) impl_->empty_buffer();
}

void TextOutput::close() {
  if (impl_->fd < 0) return;
  finish();
  commit();
}

void TextOutput::finish() {
  if (impl_->fd < 0) return;
  // Writing can fail here, and then the destructor closes the handle. htslib does not free a handle whose
  // close fails.
  impl_->flush();
  errno = 0;
  const int fd = impl_->fd;
  impl_->fd = -1;
  // For standard output this closes a duplicate. That still reports errors that a network file system
  // delayed.
  const int status = impl_->compressed ? bgzf_close(impl_->compressed) : ::close(fd);
  impl_->compressed = nullptr;
  if (status != 0) impl_->fail("cannot finish writing");
}

void TextOutput::commit() {
  impl_->target.commit();
}

void write_standard_output(std::string_view text) {
  TextOutput output("-");
  output.write(text);
  output.close();
}

}  // namespace carbon
