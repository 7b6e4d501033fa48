#include "src/generate/options.hpp"

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/generate/bounds.hpp"

namespace carbon {
namespace {

using Parts = Setting::Parts;

// Beyond any context, and far from where sums of lengths overflow.
constexpr int64_t kMostBases = int64_t{1} << 40;
// Longer runs and windows than any prompt has; the table of the bounds would not fit long before.
constexpr int64_t kMostRun = 10'000, kMostWindow = 1'000'000;

std::pair<double, double> read_gc(const Parts& parts) {
  std::pair<double, double> gc;
  const bool two = parts.size() == 2 && parse_number(parts[0], gc.first) && parse_number(parts[1], gc.second);
  // A share from 0 to 1 is a mistake.
  if (!two || !(gc.first >= 0 && gc.first <= gc.second && gc.second <= 100) ||
      (gc.second > 0 && gc.second < 1))
    throw SettingError(
        "generate", "gc",
        "gc " + joined(parts, "-") + ": expected the lowest and the highest GC content in per cent");
  return gc;
}

void read_frames(const Parts& parts, BoundOptions& bounds) {
  bounds.frames.clear();
  bounds.prompt_frame = false;
  for (const std::string& part : parts) {
    if (part == "prompt") {
      bounds.prompt_frame = true;
    } else if (part == "1" || part == "2" || part == "3") {
      bounds.frames.push_back(static_cast<size_t>(part[0] - '1'));
    } else if (!part.empty() || &part != &parts.back() || parts.size() == 1) {  // a comma at the end is none
      throw SettingError("generate", "no-stop",
                         "no-stop " + joined(parts, ",") +
                             ": expected prompt, for the frame that begins with the prompt's first base, or "
                             "1, 2 or 3, for one that begins with the first, second or third new base");
    }
  }
}

}  // namespace

SettingList bound_settings(BoundOptions& bounds) {
  Setting::List avoid{[&bounds](const Parts& motifs) { bounds.avoided = motifs_of(motifs); }};
  avoid.set_text = [&bounds](const std::string& text) { bounds.avoided = read_motifs(text); };
  Setting::List gc{[&bounds](const Parts& parts) { bounds.gc = read_gc(parts); }};
  gc.separator = '-';
  gc.of_numbers = true;
  return {Setting("gc", "MIN-MAX", "GC content of the new bases in per cent, e.g. 40-60", std::move(gc))
              .such_as("40-60"),
          Setting("gc-window", "BP",
                  "bound the GC content of each BP new bases instead of all; the windows do not overlap",
                  &bounds.gc_window)
              .range(1, kMostWindow)
              .needs("gc"),
          Setting("avoid", "MOTIFS|FILE",
                  "motifs that must not occur on either strand: IUPAC letters with commas, or a file",
                  std::move(avoid))
              .such_as("GAATTC,GGTCTC"),
          Setting("no-stop", "FRAME",
                  "no stop codon in this reading frame: prompt, or 1, 2 or 3 of the new bases",
                  Setting::List{[&bounds](const Parts& parts) { read_frames(parts, bounds); }})
              .one_of({"prompt", "1", "2", "3"})
              .such_as("prompt"),
          Setting("max-homopolymer", "INT", "longest run of one base", &bounds.max_homopolymer)
              .range(1, kMostRun)};
}

SettingList length_settings(GenerateOptions& options) {
  return {Setting("length", "BP", "number of new bases in each sample", &options.length)
              .letter_is('l')
              .range(1, kMostBases)
              .required()
              .not_at(Door::plugin, "an argument of the function"),
          Setting("num", "INT", "samples per prompt", &options.samples)
              .letter_is('n')
              .also("n")
              .range(1, UINT32_MAX)
              .shows_default()
              .not_at(Door::plugin, "an item is one sample")};
}

SettingList constraint_settings(GenerateOptions& options) {
  return {Setting("constraint", "IUPAC", "allowed bases as IUPAC letters, from the first new base on",
                  &options.constraint)};
}

SettingList generate_settings(GenerateOptions& options) {
  SettingList settings = length_settings(options);
  for (SettingList& more : std::vector<SettingList>{
           sampler_settings(options.sampler), constraint_settings(options), bound_settings(options.bounds)})
    for (Setting& setting : more) settings.push_back(std::move(setting));
  return settings;
}

void check_generate_options(const GenerateOptions& options) {
  check_sampler(options.sampler);
  if (options.sampler.kind == SamplerKind::marginal && has_bounds(options.bounds))
    throw SettingError(
        "generate", "sampler",
        "sampler marginal draws six bases independently and cannot keep bounds; use kmer or chain");
}

}  // namespace carbon
