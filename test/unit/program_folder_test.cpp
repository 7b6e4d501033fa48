// Where the program lies, by what the kernel or a launcher says. The program is that of the unit tests.
#include "src/base/installed.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "test/unit/model_fixture.hpp"

using carbon::program_folder;
using carbon::ProgramClues;
using model_test::TempDir;
using model_test::write_text;
namespace fs = std::filesystem;

namespace {

/// Links to this program and to another one, and a script.
struct Programs {
  TempDir dir;
  fs::path self = fs::read_symlink("/proc/self/exe");
  std::string folder = self.parent_path(), link = dir.path() / "carbon", other = dir.path() / "shell",
              text = dir.path() / "text", nothing = dir.path() / "nothing";
  Programs() {
    fs::create_symlink(self, link);
    fs::create_symlink(fs::canonical("/bin/sh"), other);
    write_text(text, "#!/bin/sh\n");
  }
};

}  // namespace

TEST_CASE("program folder: this process") {
  CHECK(program_folder() == fs::read_symlink("/proc/self/exe").parent_path());
  CHECK(&program_folder() == &program_folder());
}

TEST_CASE("program folder: each clue leads there") {
  const Programs at;
  CHECK(program_folder(ProgramClues{at.self, "", ""}) == at.folder);
  CHECK(program_folder(ProgramClues{at.link, "", ""}) == at.folder);
  CHECK(program_folder(ProgramClues{"", at.link, ""}) == at.folder);
  CHECK(program_folder(ProgramClues{"", "", at.link}) == at.folder);
  CHECK(program_folder(ProgramClues{"", at.nothing, fs::relative(at.link)}) == at.folder);
  CHECK(program_folder(ProgramClues{"", at.nothing, at.nothing}) == "");
  CHECK(program_folder(ProgramClues{"", "", ""}) == "");
}

TEST_CASE("program folder: another file is not taken for the program") {
  const Programs at;
  for (const std::string& wrong :
       {at.other, at.text, at.nothing, at.folder, fs::relative(at.self).string(), std::string("/dev/null")}) {
    CAPTURE(wrong);
    CHECK(program_folder(ProgramClues{wrong, "", ""}) == "");
    CHECK(program_folder(ProgramClues{wrong, at.link, ""}) == at.folder);
  }
  // A loader that starts the program is what /proc/self/exe leads to.
  CHECK(program_folder(ProgramClues{"", at.other, at.link}) == at.folder);
  CHECK(program_folder(ProgramClues{at.self, at.other, at.other}) == at.folder);
  CHECK(program_folder(ProgramClues{"", at.other, at.text}) == "");
}

TEST_CASE("program folder: a program that was replaced while it runs is still found") {
  const Programs at;
  const std::string replaced = at.dir.path() / "exe";
  fs::create_symlink(at.dir.path() / "bin" / "carbon (deleted)", replaced);
  CHECK(program_folder(ProgramClues{"", replaced, ""}) == at.dir.path() / "bin");
}

TEST_CASE("program folder: a launcher with a loader of its own says so") {
  const Programs at;
  const auto with = [](const std::string& value) {
    setenv("CARBON_INTERNAL_PROGRAM", value.c_str(), 1);
    const bool own = carbon::started_by_own_loader();
    unsetenv("CARBON_INTERNAL_PROGRAM");
    return own;
  };
  CHECK(!carbon::started_by_own_loader());
  CHECK(with(at.self));
  for (const std::string& wrong : {std::string(), at.other, at.nothing, fs::relative(at.self).string()}) {
    CAPTURE(wrong);
    CHECK(!with(wrong));
  }
}
