#include "src/generate/bounds.hpp"

#include <unistd.h>

#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta.hpp"

namespace carbon {
namespace {

using Parts = Setting::Parts;

constexpr const char* kFunction = "generate";

// Longer runs and windows than any prompt has; the table of the bounds would not fit long before.
constexpr int64_t kMostRun = 10'000, kMostWindow = 1'000'000;

// Prompts end in six ways inside a 6-mer, each in three frames.
constexpr size_t kMade = 18;

std::vector<Motif> motifs_of_file(const std::string& path) {
  if (path.find('/') == std::string::npos && access(path.c_str(), F_OK) != 0)
    throw Error(kFunction, "'" + path +
                               "' is neither motifs nor a file; give IUPAC letters such as GAATTC, "
                               "with commas between motifs, or the name of a file with motifs");
  std::vector<Motif> motifs;
  TextInput input(path, kFunction);
  if (input.peek().starts_with('>')) {
    FastaReader reader(path);
    for (FastaRecord record; reader.next(record);)
      motifs.push_back({parse_constraint(record.sequence, path + ", record " + record.name, kFunction)});
    return motifs;
  }
  for (std::string line; input.line(line);) {
    line.erase(line.find_last_not_of(" \t") + 1);
    if (!line.empty() && line.front() != '#')
      motifs.push_back({parse_constraint(line, input.where(), kFunction)});
  }
  if (motifs.empty()) throw Error(kFunction, path + " has no motif; give one on each line, or FASTA");
  return motifs;
}

// The motifs of texts of IUPAC codes. Throws Error.
std::vector<Motif> motifs_of(const std::vector<std::string>& texts) {
  std::vector<Motif> motifs;
  for (const std::string& motif : texts) {
    const std::string where = "motif " + std::to_string(motifs.size() + 1) + " of " + joined(texts, ",");
    if (motif.empty())
      throw SettingError(kFunction, "avoid", where + " is empty; give IUPAC letters for each");
    motifs.push_back({parse_constraint(motif, where, kFunction)});
  }
  return motifs;
}

// The motifs of a text of IUPAC codes with commas, or, if the text is not one, of a file: FASTA, or one motif
// per line, where lines that begin with # are comments. Throws Error.
std::vector<Motif> read_motifs(const std::string& text) {
  const bool spelled = std::all_of(text.begin(), text.end(),
                                   [](char letter) { return letter == ',' || iupac_bases(letter) != 0; });
  if (!spelled) return motifs_of_file(text);
  std::vector<std::string> texts;
  for (const std::string_view motif : split(text, ',')) texts.emplace_back(motif);
  return motifs_of(texts);
}

std::optional<GcBound> gc_bound(const BoundOptions& options) {
  if (!options.gc) return std::nullopt;
  return GcBound{options.gc->first, options.gc->second, options.gc_window};
}

// The motifs of all bounds: the avoided ones on both strands, runs of one base, and stop codons.
std::vector<Motif> all_motifs(const BoundOptions& options) {
  std::vector<Motif> motifs = options.avoided;
  for (const Motif& motif : options.avoided) motifs.push_back(reverse_complement(motif));
  if (options.max_homopolymer > 0)
    for (size_t base = 0; base < ops::kLetters; ++base)
      motifs.push_back({std::vector<BaseSet>(options.max_homopolymer + 1, static_cast<BaseSet>(1 << base))});
  if (!options.frames.empty() || options.prompt_frame)
    for (const Motif& codon : stop_codons()) motifs.push_back(codon);
  return motifs;
}

// The bounds of `options` one by one: what each is on, and the others without it.
struct OneBound {
  std::string subject;
  BoundOptions others;
};
std::vector<OneBound> one_by_one(const BoundOptions& options) {
  std::vector<OneBound> out;
  const auto add = [&](bool given, const char* subject, auto drop) {
    if (!given) return;
    out.push_back({subject, options});
    drop(out.back().others);
  };
  add(options.gc.has_value(), "GC content", [](BoundOptions& o) { o.gc.reset(); });
  add(!options.avoided.empty(), "motifs", [](BoundOptions& o) { o.avoided.clear(); });
  add(!options.frames.empty() || options.prompt_frame, "stop codons", [](BoundOptions& o) {
    o.frames.clear();
    o.prompt_frame = false;
  });
  add(options.max_homopolymer > 0, "runs of one base", [](BoundOptions& o) { o.max_homopolymer = 0; });
  return out;
}

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

bool has_bounds(const BoundOptions& options) {
  return options.gc || !options.avoided.empty() || !options.frames.empty() || options.prompt_frame ||
         options.max_homopolymer > 0;
}

std::string bounds_text(const BoundOptions& options) {
  if (!has_bounds(options)) return "none";
  std::string text;
  if (options.gc)
    text += "gc=" + exact_text(options.gc->first) + "-" + exact_text(options.gc->second) + "/" +
            std::to_string(options.gc_window) + " ";
  if (!options.avoided.empty()) text += "avoid=";
  for (const Motif& motif : options.avoided) {
    for (const BaseSet set : motif.bases) text += "0123456789abcdef"[set];
    text += ' ';
  }
  for (const size_t frame : options.frames) text += "no-stop=" + std::to_string(frame + 1) + " ";
  if (options.prompt_frame) text += "no-stop=prompt ";
  return text + "max-homopolymer=" + std::to_string(options.max_homopolymer);
}

PromptBounds::PromptBounds(const BoundOptions& options) : options_(options) {
  if (has_bounds(options)) motifs_ = std::make_shared<const MotifAutomaton>(all_motifs(options));
}

// In which frames of the new bases stop codons count.
uint8_t PromptBounds::frames(size_t prompt_bases) const {
  size_t frames = 0;
  for (const size_t frame : options_.frames) frames |= size_t{1} << frame;
  if (options_.prompt_frame) frames |= size_t{1} << (3 - prompt_bases % 3) % 3;
  return static_cast<uint8_t>(frames);
}

std::shared_ptr<const BoundedBases> PromptBounds::of(const std::string& name, std::string_view prompt,
                                                     const NewBases& bases) const {
  const uint8_t in_frames = frames(prompt.size());
  auto found = std::find_if(made_.begin(), made_.end(), [&](const Made& made) {
    return made.frames == in_frames && made.given == bases.given && made.sets == bases.sets;
  });
  if (found == made_.end()) {
    if (made_.size() == kMade) made_.erase(made_.begin());
    auto bounds = std::make_shared<const BoundedBases>(motifs_, gc_bound(options_), in_frames, bases,
                                                       options_.most_mib);
    found = made_.insert(made_.end(), {in_frames, bases.given, bases.sets, std::move(bounds)});
  }
  if (!found->bounds->possible(found->bounds->start(prompt))) throw impossible(name, prompt, bases);
  return found->bounds;
}

Error PromptBounds::impossible(const std::string& name, std::string_view prompt,
                               const NewBases& bases) const {
  std::string given, in_the_way;
  for (const OneBound& bound : one_by_one(options_)) {
    given += (given.empty() ? "" : ", ") + bound.subject;
    const PromptBounds others(bound.others);
    if (others.any()) {
      const BoundedBases left(others.motifs_, gc_bound(bound.others), others.frames(prompt.size()), bases,
                              options_.most_mib);
      if (!left.possible(left.start(prompt))) continue;
    }
    in_the_way += (in_the_way.empty() ? "without that on " : ", or without that on ") + bound.subject;
  }
  const bool several = given.find(',') != std::string::npos, constrained = bases.sets.size() > bases.given;
  std::string text = "no " + count_of(bases.length, "new base") + " after prompt " + name +
                     " keep the bound" + (several ? "s on " : " on ") + given +
                     (constrained ? " and the constraint" : "");
  if (several && !in_the_way.empty()) text += "; " + in_the_way + ", there are some";
  return Error(kFunction, text + "; allow more");
}

}  // namespace carbon
