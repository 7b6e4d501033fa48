// OutputPath and TextOutput: temporary names, links, devices, pipes and signals.

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <thread>

#include "src/cli/signals.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/output.hpp"
#include "src/files/run_files.hpp"
#include "src/files/text_input.hpp"
#include "test/unit/genome_files.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

/// Runs `action` in a child process; its exit status is 0, 1 after an Error, or 128 + signal.
template <typename Action>
int in_child(const Action& action) {
  const pid_t child = fork();
  if (child == 0) _exit(error_of(action).empty() ? 0 : 1);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("a regular output appears only when complete") {
  const TemporaryDirectory dir;
  const std::string path = dir.file("out.txt");
  {
    TextOutput out(path);
    out.write("lost\n");
    CHECK_FALSE(std::filesystem::exists(path));
  }
  CHECK(dir.entries() == 0);
  const mode_t mask = umask(027);
  {
    TextOutput out(path);
    out.write("first\n");
    out.write(std::string(200000, 'x'));
    out.close();
    out.close();
    CHECK(error_of([&] { out.write("late"); }) != "");
  }
  umask(mask);
  CHECK(read_bytes(path) == "first\n" + std::string(200000, 'x'));
  CHECK(mode_of(path) == 0640);
  CHECK(dir.entries() == 1);

  chmod(path.c_str(), 0604);
  {
    TextOutput out(path);
    out.write("second\n");
    out.close();
  }
  CHECK(read_bytes(path) == "second\n");
  CHECK(mode_of(path) == 0604);
  {
    TextOutput out(path);
    out.write("lost\n");
  }
  CHECK(read_bytes(path) == "second\n");
}

TEST_CASE("a symbolic link stays and its target is replaced") {
  const TemporaryDirectory dir, elsewhere;
  const std::string target = elsewhere.put("target", "old");
  std::filesystem::create_symlink(target, dir.file("link"));
  std::filesystem::create_symlink("link", dir.file("second"));
  std::filesystem::create_symlink("absent", dir.file("dangling"));
  for (const char* name : {"second", "dangling"}) {
    TextOutput out(dir.file(name));
    out.write("new");
    out.close();
    CHECK(std::filesystem::is_symlink(dir.file(name)));
    CHECK(read_bytes(dir.file(name)) == "new");
  }
  CHECK(read_bytes(target) == "new");
  CHECK(elsewhere.entries() == 1);
  CHECK(std::filesystem::is_regular_file(dir.file("absent")));
  std::filesystem::create_symlink("loop", dir.file("loop"));
  CHECK(error_of([&] { OutputPath out(dir.file("loop")); }) != "");
}

TEST_CASE("paths that cannot be written") {
  const TemporaryDirectory dir;
  CHECK(contains(error_of([&] { OutputPath out(dir.path()); }), "directory"));
  CHECK(error_of([&] { OutputPath out(dir.file("absent/")); }) != "");
  CHECK(contains(error_of([&] { OutputPath out(dir.file("absent/x")); }), "absent/x"));
  CHECK(error_of([&] { OutputPath out(""); }) != "");
}

TEST_CASE("a file that could not be replaced at the end is refused before the work begins") {
  const TemporaryDirectory dir;
  const std::string path = dir.put("out.txt", "old"), volume = dir.put("volume", "");
  enum Ending { refused = 42, not_refused = 43, impossible = 44 };
  const auto ending = [&](const char* word) {
    return contains(error_of([&] { OutputPath out(path); }), word) ? refused : not_refused;
  };
  const int mounted = in_child([&] {
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
        mount(volume.c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0)
      _exit(impossible);
    _exit(ending("it is mounted as a single file"));
  });
  if (mounted == impossible) MESSAGE("SKIPPED: no file can be mounted here");
  CHECK((mounted == refused || mounted == impossible));
  if (geteuid() != 0) {
    MESSAGE("SKIPPED: only root can make files of other users");
    return;
  }
  chmod(dir.path().c_str(), 01777);
  chmod(path.c_str(), 0666);
  REQUIRE(chown(path.c_str(), 1, 1) == 0);
  const auto as_nobody = [&] {
    if (seteuid(65534) != 0) _exit(impossible);
    _exit(ending("it belongs to another user"));
  };
  CHECK(in_child(as_nobody) == refused);
  REQUIRE(chown(path.c_str(), 65534, 1) == 0);
  CHECK(in_child(as_nobody) == not_refused);
}

TEST_CASE("permissions that cannot be set do not end a run") {
  if (geteuid() != 0) {
    MESSAGE("SKIPPED: only root can make files of other users");
    return;
  }
  // As --resume finds the FILE.partial of a colleague in a folder that both may write.
  const TemporaryDirectory dir;
  const std::string path = dir.put("out.txt", "old");
  dir.put("out.txt.partial", "new");
  for (const std::string& name : {path, path + ".partial"}) chmod(name.c_str(), 0666);
  chmod(dir.path().c_str(), 0777);
  CHECK(in_child([&] {
          if (seteuid(65534) != 0) return;
          TextOutput out(path, TemporaryName::kept);
          out.write(" lines");
          out.close();
        }) == 0);
  CHECK(read_bytes(path) == "new lines");
}

TEST_CASE("data are not written to a closed standard output, or among messages") {
  const TemporaryDirectory dir;
  enum Ending { refused = 42, not_refused = 43 };
  const auto ending = [](const char* word) {
    return contains(error_of([] { OutputPath out("-"); }), word) ? refused : not_refused;
  };
  CHECK(in_child([&] {
          close(1);
          open_closed_descriptors();
          _exit(ending("standard output is closed"));
        }) == refused);
  CHECK(in_child([&] {
          close(0);
          open_closed_descriptors();
          _exit(contains(error_of([] { TextInput in("-", "read"); }), "standard input is closed")
                    ? refused
                    : not_refused);
        }) == refused);
  CHECK(in_child([&] {
          for (const int descriptor : {0, 1, 2}) close(descriptor);
          open_closed_descriptors();
          _exit(open("/dev/null", O_RDONLY) >= 3 ? refused : not_refused);
        }) == refused);
  const std::string file = dir.file("both");
  const auto both = [&](const char* name) {
    return in_child([&] {
      const int out = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(out, 2);
      // Another descriptor, or the same.
      dup2(std::string(name) == "opened again" ? open(file.c_str(), O_WRONLY | O_APPEND) : out, 1);
      _exit(ending("are the same file"));
    });
  };
  CHECK(both("opened again") == refused);
  CHECK(both("a copy") == refused);
  CHECK(in_child([&] {
          const int null = open("/dev/null", O_WRONLY);
          dup2(null, 1);
          dup2(null, 2);
          _exit(ending("are the same file"));
        }) == not_refused);
}

TEST_CASE("the end of whoever reads the log ends no run") {
  CHECK(in_child([] {
          signal(SIGPIPE, SIG_DFL);
          int ends[2];
          if (pipe(ends) != 0 || dup2(ends[1], 2) < 0) _exit(2);
          close(ends[0]);
          close(ends[1]);
          StderrLog log;
          log.warning("test", "nobody reads this");
          log.progress({});
          _exit(42);
        }) == 42);
}

TEST_CASE("devices, FIFOs and descriptors are written directly and never replaced") {
  if (access("/dev/full", W_OK) != 0) {
    MESSAGE("SKIPPED: no /dev/full");
  } else {
    CHECK(contains(error_of([] {
                     TextOutput out("/dev/full");
                     out.write("x");
                     out.close();
                   }),
                   "/dev/full"));
    const TemporaryDirectory links;
    std::filesystem::create_symlink("/dev/full", links.file("full.gz"));
    CHECK(contains(error_of([&] {
                     TextOutput out(links.file("full.gz"));
                     out.write("x");
                     out.close();
                   }),
                   "full.gz"));
    CHECK(std::filesystem::is_character_file("/dev/full"));
  }
  const TemporaryDirectory dir;
  std::filesystem::create_symlink("/dev/null", dir.file("null"));
  {
    TextOutput out(dir.file("null"));
    out.write("x");
    out.close();
  }
  CHECK(std::filesystem::is_symlink(dir.file("null")));
  CHECK(std::filesystem::is_character_file("/dev/null"));

  const std::string fifo = dir.file("fifo.gz");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  std::string received;
  std::thread reader([&] { received = read_bytes(fifo); });
  {
    TextOutput out(fifo);
    out.write("through the pipe");
    out.close();
  }
  reader.join();
  CHECK(std::filesystem::is_fifo(fifo));
  CHECK(read_text(dir.put("copy.gz", received)) == "through the pipe");

  const std::string log = dir.put("log", "kept ");
  const int fd = open(log.c_str(), O_WRONLY | O_APPEND);
  REQUIRE(fd >= 0);
  {
    TextOutput out("/dev/fd/" + std::to_string(fd));
    out.write("added");
    out.close();
  }
  CHECK(fcntl(fd, F_GETFD) >= 0);
  close(fd);
  CHECK(read_bytes(log) == "kept added");
}

TEST_CASE("standard output is checked, not replaced and left open") {
  const TemporaryDirectory dir;
  for (const char* name : {"-", "/dev/stdout"}) {
    CAPTURE(name);
    const std::string path = dir.put("stdout", "");
    const int status = in_child([&] {
      const int fd = open(path.c_str(), O_WRONLY | O_APPEND);
      dup2(fd, 1);
      for (const char* text : {"one ", "two"}) {
        TextOutput out(name);
        out.write(text);
        out.close();
      }
    });
    CHECK(status == 0);
    CHECK(read_bytes(path) == "one two");
    CHECK(dir.entries() == 1);
  }
  const auto to_full = [] {
    dup2(open("/dev/full", O_WRONLY), 1);
    TextOutput out("-");
    out.write("x");
    out.close();
  };
  CHECK(in_child(to_full) == 1);
  const auto to_closed_pipe = [] {
    int ends[2];
    if (pipe(ends) != 0) return;
    close(ends[0]);
    dup2(ends[1], 1);
    signal(SIGPIPE, SIG_DFL);
    TextOutput out("-");
    out.write("x");
    out.close();
  };
  CHECK(in_child(to_closed_pipe) == 128 + SIGPIPE);
}

TEST_CASE("compressed output is BGZF, and without close() has no end") {
  const TemporaryDirectory dir;
  for (const char* name : {"a.gz", "a.bgz"}) {
    TextOutput out(dir.file(name));
    out.write("line\n");
    out.close();
    const std::string bytes = read_bytes(dir.file(name));
    REQUIRE(bytes.size() > 28);
    CHECK(bytes.substr(12, 2) == "BC");
    CHECK(read_text(dir.file(name)) == "line\n");
  }
  const std::string path = dir.put("broken", "");
  const int fd = open(path.c_str(), O_WRONLY);
  REQUIRE(fd >= 0);
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(fd), dir.file("direct.gz"));
  {
    TextOutput out(dir.file("direct.gz"));
    std::string numbers;  // so many that htslib writes some blocks before the end
    for (int i = 0; i < 100000; ++i) numbers += std::to_string(i * 7919LL % 1000003);
    out.write(numbers);
  }
  close(fd);
  const std::string bytes = read_bytes(path);
  CHECK(bytes.size() > 0);
  CHECK((bytes.size() < 28 || bytes.substr(bytes.size() - 16, 2) != "BC"));
}

TEST_CASE("an output with a fixed temporary name replaces what a killed process left") {
  const TemporaryDirectory dir;
  const std::string path = dir.file("out.txt");
  const auto killed = [&] {
    TextOutput out(path, TemporaryName::fixed);
    out.write("lost\n");
    out.flush();
    raise(SIGKILL);
  };
  CHECK(in_child(killed) == 128 + SIGKILL);
  CHECK(in_child(killed) == 128 + SIGKILL);
  CHECK(dir.entries() == 1);
  {
    TextOutput out(path, TemporaryName::fixed);
    CHECK(dir.entries() == 1);
    out.write("kept\n");
    out.close();
  }
  CHECK(read_bytes(path) == "kept\n");
  CHECK(dir.entries() == 1);
}

TEST_CASE("the file that an output replaces") {
  const TemporaryDirectory dir;
  const std::string path = std::filesystem::canonical(dir.path()).string() + "/out.txt";
  CHECK(replaced_file(dir.file("out.txt")) == path);
  std::filesystem::create_symlink("out.txt", dir.file("link"));
  CHECK(replaced_file(dir.file("link")) == path);
  for (const char* direct : {"-", "/dev/null", "/dev/stdout", "/dev/fd/1"})
    CHECK(replaced_file(direct) == "");
  CHECK(error_of([&] { replaced_file(dir.path()); }) != "");
}

TEST_CASE("flushed text is in the file before the close") {
  const TemporaryDirectory dir;
  for (const char* name : {"out.txt", "out.txt.gz"}) {
    const std::string path = dir.put(name, "");
    std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(open(path.c_str(), O_WRONLY)),
                                    dir.file(std::string("direct.") + name));
    TextOutput out(dir.file(std::string("direct.") + name));
    out.write("line\n");
    CHECK(read_bytes(path).empty());
    out.flush();
    CHECK(read_text(path) == "line\n");
  }
}

TEST_CASE("an orderly end by a signal removes the temporary file") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryDirectory dir;
    const auto ended = [&] {
      TextOutput out(dir.file("out"));
      if (dir.entries() != 1) _exit(77);
      end_by_signal(number);
    };
    CHECK(in_child(ended) == 128 + number);
    CHECK(dir.entries() == 0);
  }
}

TEST_CASE("signals remove the temporary file and keep their exit status") {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const TemporaryDirectory dir;
    const auto killed = [&] {
      signal(number, SIG_DFL);
      remove_unfinished_files_on_signals();
      TextOutput out(dir.file("out"));
      out.write(std::string(100000, 'x'));
      if (dir.entries() != 1) _exit(77);
      kill(getpid(), number);
    };
    CHECK(in_child(killed) == 128 + number);
    CHECK(dir.entries() == 0);
  }
  const TemporaryDirectory dir;
  const auto ignoring = [&] {
    signal(SIGHUP, SIG_IGN);
    remove_unfinished_files_on_signals();
    TextOutput out(dir.file("out"));
    raise(SIGHUP);
    out.write("x");
    out.close();
  };
  CHECK(in_child(ignoring) == 0);
  CHECK(read_bytes(dir.file("out")) == "x");
}
