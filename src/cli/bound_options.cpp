#include "src/cli/bound_options.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/generate/bounds.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "main_generate";

// Longer runs and windows than any prompt has; the table of the bounds would not fit long before.
constexpr size_t kMaxRun = 10'000, kMaxWindow = 1'000'000;

bool parse_percent(std::string_view text, double& out) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() && end == text.data() + text.size() && out >= 0 && out <= 100;
}

void parse_gc(const std::string& text, GcBound& gc) {
  const size_t dash = text.find('-');
  const bool two = dash != std::string::npos &&
                   parse_percent(std::string_view(text).substr(0, dash), gc.least) &&
                   parse_percent(std::string_view(text).substr(dash + 1), gc.most) && gc.least <= gc.most;
  if (!two || (gc.most > 0 && gc.most < 1))
    throw Error(kFunction, "--gc " + text +
                               ": expected the lowest and the highest GC content in per cent, such as 40-60");
}

void parse_frames(const std::string& text, BoundOptions& bounds) {
  bounds.frames.clear();
  bounds.prompt_frame = false;
  const std::string_view list(text.data(), text.size() - (text.ends_with(',') ? 1 : 0));
  for (const std::string_view word : split(list, ',')) {
    if (word == "prompt") {
      bounds.prompt_frame = true;
    } else if (word == "1" || word == "2" || word == "3") {
      bounds.frames.push_back(static_cast<size_t>(word[0] - '1'));
    } else {
      bounds.frames.clear();
      bounds.prompt_frame = false;
      break;
    }
  }
  if (bounds.frames.empty() && !bounds.prompt_frame)
    throw Error(kFunction,
                "--no-stop " + text +
                    ": expected prompt, for the frame that begins with the prompt's first base, or 1, "
                    "2 or 3, for one that begins with the first, second or third new base");
}

}  // namespace

void add_bound_options(CommandLine& line, BoundOptions& bounds) {
  const auto avoided = std::make_shared<std::string>();
  OptionGroup group = line.group("Bounds");
  group.option({"gc", "MIN-MAX", "GC content of the new bases in per cent, e.g. 40-60"},
               [&bounds](const std::string& text) { parse_gc(text, bounds.gc.emplace()); });
  group
      .option({"gc-window", "BP",
               "bound the GC content of each BP new bases instead of all; the windows do not overlap"},
              [&bounds](const std::string& text) {
                if (bounds.gc) bounds.gc->window = std::stoul(text);  // without --gc refused
              })
      .range(1, kMaxWindow)
      .needs("gc");
  group.option({"avoid",
                {"MOTIFS|FILE", Names::input},
                "motifs that must not occur on either strand: IUPAC letters with commas, or a file"},
               *avoided);
  // A file is opened when it is declared.
  line.after_parsing([&bounds, avoided] {
    if (!avoided->empty()) bounds.avoided = read_motifs(*avoided);
  });
  group
      .option(
          {"no-stop", "FRAME", "no stop codon in this reading frame: prompt, or 1, 2 or 3 of the new bases"},
          [&bounds](const std::string& text) { parse_frames(text, bounds); })
      .offers({"prompt", "1", "2", "3"});
  group.option({"max-homopolymer", "INT", "longest run of one base"}, bounds.max_homopolymer)
      .range(1, kMaxRun);
}

}  // namespace carbon
