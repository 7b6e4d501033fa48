// The table of options: parsing, messages and --help, whichever version of CLI11 is there.

#include "src/cli/command_line.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <sstream>

#include "src/base/error.hpp"

using namespace carbon;

namespace {

enum class Side { left, right };
constexpr Word<Side> kSides[] = {{"left", Side::left}, {"right", Side::right}};

/// A command with an option of each kind.
struct Everything {
  std::string input, output = "-", index, kind = "a", taken;
  std::vector<std::string> regions, names;
  Side side = Side::right;
  std::optional<int64_t> window;
  size_t top = 5, size = 0;
  double share = 0.05, score = 0;
  bool plain = false, resumed = false;
  CommandLine line{"x"};

  Everything() {
    line.describe("About it", "carbon x [options]", {{"an example", "carbon x -o y"}}, "A footer\n");
    line.argument("input", input);
    OptionGroup group = line.options();
    group.option({'o', "output", kOutput, "output file"}, output).shows_default("standard output");
    group.option({'W', "write-index", "", "index"}, index).offers({"csi", "tbi"}).only_attached();
    group.option({"kind", "KIND", "a or b"}, kind).one_of({"a", "b"}).shows_default();
    group.option({"side", "SIDE", "left or right"}, side, kSides).shows_default();
    group.option({'r', "region", "REGION", "one of several"}, regions);
    group.option({"name", "NAME", "several at a time"}, names).takes_several();
    OptionGroup numbers = line.group("Numbers");
    numbers.option({'w', "window", "BP", "bases"}, window).required();
    numbers.option({"top", "INT", "lines"}, top).range(1, 10).shows_default();
    numbers.option({"share", "FRACTION", "a share"}, share).range(0.0, 1.0).shows_default().needs("top");
    numbers.option({"size", "N", "any size"}, size);
    numbers.option({"score", "X", "any number"}, score);
    numbers.option({"take", "TEXT", "anything but no"}, [this](const std::string& text) {
      if (text == "no") throw Error("take", "--take no");
      taken = text;
    });
    numbers.flag('p', "plain", "a flag", plain).excludes("input");
    line.options().action("resume", "go on", [this] { resumed = true; });
  }

  /// Nothing if the command would run, else its exit status.
  std::optional<int> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "x");
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    return line.parse(static_cast<int>(words.size()), argv.data());
  }

  /// The message of the Error for a wrong command line, or "".
  std::string refused(const std::vector<std::string>& words) {
    try {
      parse(words);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_CASE("a command line fills in the targets") {
  Everything x;
  CHECK(
      !x.parse({"-w", "12", "-ofile", "--kin=b", "--side",  "left", "-r",     "a",  "-r",       "b", "--name",
                "m",  "n",  "--top",  "010",     "--share", "0.5",  "--take", "-w", "--resume", "-W"}));
  CHECK(x.window == 12);
  CHECK(x.output == "file");
  CHECK(x.kind == "b");
  CHECK(x.side == Side::left);
  CHECK(x.regions == std::vector<std::string>{"a", "b"});
  CHECK(x.names == std::vector<std::string>{"m", "n"});
  CHECK(x.top == 10);
  CHECK(x.share == 0.5);
  CHECK(x.taken == "-w");
  CHECK(x.resumed);
  Everything numbers;
  CHECK(!numbers.parse({"-w", "-012", "--size", "+18446744073709551615", "--score", "-1e3"}));
  CHECK(numbers.window == -12);
  CHECK(numbers.size == SIZE_MAX);
  CHECK(numbers.score == -1000);
  CHECK(!x.plain);
  CHECK(x.index == "csi");
  CHECK(x.line.given("window"));
  CHECK(!x.line.given("plain"));
  CHECK(
      x.line.text() ==
      "x -w 12 -ofile --kin=b --side left -r a -r b --name m n --top 010 --share 0.5 --take -w --resume -W");
}

TEST_CASE("a value behind an option, and an argument") {
  for (const auto& [word, kind] :
       {std::pair("-Wtbi", "tbi"), {"-W=tbi", "tbi"}, {"--write-index=tbi", "tbi"}}) {
    Everything x;
    CHECK(!x.parse({"-w1", word, "in put"}));
    CHECK(x.index == kind);
    CHECK(x.input == "in put");
    CHECK(x.line.text() == std::string("x -w1 ") + word + " 'in put'");
  }
  Everything x;
  CHECK(!x.parse({"-w1", "-r", "a", "--", "-r"}));
  CHECK(x.regions == std::vector<std::string>{"a"});
  CHECK(x.input == "-r");
}

TEST_CASE("what is refused before anything is parsed") {
  CHECK(Everything()
            .refused({"--nosuch"})
            .starts_with("unrecognized option '--nosuch'; see 'carbon x --help'"));
  CHECK(Everything()
            .refused({"--rezume"})
            .starts_with("unrecognized option '--rezume' (did you mean '--resume'?)"));
  CHECK(Everything().refused({"-pZ"}).starts_with("unrecognized option '-Z' in '-pZ'"));
  CHECK(Everything().refused({"--re"}).starts_with("option '--re' could be --region or --resume"));
  CHECK(Everything().refused({"-o", ""}).starts_with("-o is empty"));
  CHECK(Everything().refused({"--output="}).starts_with("--output is empty"));
  CHECK(Everything().refused({"--write-index="}).starts_with("--write-index= is empty: expected csi or tbi"));
  CHECK(Everything().refused({""}).starts_with("an argument is empty"));
  CHECK(Everything().refused({"-w"}).starts_with("-w needs a value: BP"));
  CHECK(Everything().refused({"-w1", "--take", "no"}) == "--take no");
}

/// What is logged while `call` runs.
std::string logged(const std::function<void()>& call) {
  std::fflush(stderr);
  std::FILE* file = std::tmpfile();
  const int kept = dup(2);
  dup2(fileno(file), 2);
  call();
  std::fflush(stderr);
  dup2(kept, 2);
  close(kept);
  std::rewind(file);
  std::string text(1000, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST_CASE("what is refused by the table") {
  const auto message = [](const std::vector<std::string>& words) {
    return logged([&] { CHECK(Everything().parse(words) == 1); });
  };
  const std::string end = "; see 'carbon x --help'\n";
  CHECK(message({}) == "[E::main_x] --window is missing: bases" + end);
  CHECK(message({"-w1", "--kind", "c"}) == "[E::main_x] --kind: expected a or b, not 'c'" + end);
  CHECK(message({"-w1", "--side", "1"}) == "[E::main_x] --side: expected left or right, not '1'" + end);
  CHECK(message({"-w1", "--top", "11"}) ==
        "[E::main_x] --top: expected a number from 1 to 10, not '11'" + end);
  CHECK(message({"-w1", "--top", "x"}) == "[E::main_x] --top: expected a number from 1 to 10, not 'x'" + end);
  CHECK(message({"-w1", "--top", "2", "--share", "1.5"}) ==
        "[E::main_x] --share: expected a number from 0 to 1, not '1.5'" + end);
  CHECK(message({"-w1", "--share", "0.5"}) == "[E::main_x] --share requires --top" + end);
  CHECK(message({"-w1", "--plain", "in"}).find(" excludes ") != std::string::npos);
  CHECK(message({"-w1", "in", "more"}).find("more") != std::string::npos);
  for (const char* wrong : {"x", "0x8", "1_000", "1.5", "9223372036854775808", "+-1"})
    CHECK(message({"-w", wrong}) ==
          "[E::main_x] --window: expected a whole number, not '" + std::string(wrong) + "'" + end);
  for (const char* wrong : {"-1", "18446744073709551616"})
    CHECK(message({"-w1", "--size", wrong}) ==
          "[E::main_x] --size: expected a number from 0 to 18446744073709551615, not '" + std::string(wrong) +
              "'" + end);
  CHECK(message({"-w1", "--score", "nan"}) == "[E::main_x] --score: expected a number, not 'nan'" + end);
}

TEST_CASE("what runs after parsing may refuse") {
  Everything x;
  x.line.after_parsing([&] {
    if (x.line.given("top") && !x.line.given("kind")) throw Error("after", "needs a kind");
  });
  CHECK(x.refused({"-w1", "--top", "2"}) == "needs a kind");
  Everything help;
  help.line.after_parsing([] { throw Error("after", "is not called"); });
  std::ostringstream out;
  std::streambuf* const kept = std::cout.rdbuf(out.rdbuf());
  CHECK(help.parse({"--help"}) == 0);
  std::cout.rdbuf(kept);
  CHECK(out.str() == help.line.help());
}

TEST_CASE("--help is made of the table") {
  CHECK(Everything().line.help() ==
        "About it\n"
        "Usage: carbon x [options]\n"
        "\n"
        "Options:\n"
        "  -h,--help                     Print this help message and exit\n"
        "  -o,--output FILE              output file (default: standard output)\n"
        "  -W,--write-index [=csi|tbi]   index\n"
        "  --kind KIND                   a or b (default: a)\n"
        "  --side SIDE                   left or right (default: right)\n"
        "  -r,--region REGION            one of several\n"
        "  --name NAME                   several at a time\n"
        "  --resume                      go on\n"
        "\n"
        "Numbers:\n"
        "  -w,--window BP                bases (required)\n"
        "  --top INT                     lines (default: 5)\n"
        "  --share FRACTION              a share (default: 0.05)\n"
        "  --size N                      any size\n"
        "  --score X                     any number\n"
        "  --take TEXT                   anything but no\n"
        "  -p,--plain                    a flag\n"
        "\n"
        "A footer\n"
        "\n"
        "Examples:\n"
        "  # an example\n"
        "  carbon x -o y\n");
}

}  // namespace
