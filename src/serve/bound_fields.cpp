#include "src/serve/bound_fields.hpp"

#include <string>

#include "src/base/error.hpp"
#include "src/generate/bounds.hpp"

namespace carbon {
namespace {

using nlohmann::json;

// As on the command line.
constexpr int64_t kMostRun = 10'000, kMostWindow = 1'000'000;
// Many requests may be under way.
constexpr size_t kMostMiB = 64;

// The lowest and the highest GC content in per cent.
std::optional<GcBound> read_gc(const Fields& fields) {
  const json* const value = fields.find("gc");
  if (!value) {
    if (fields.has("gc_window")) fields.fail("gc_window", "needs gc");
    return std::nullopt;
  }
  GcBound gc;
  const bool two =
      value->is_array() && value->size() == 2 && (*value)[0].is_number() && (*value)[1].is_number();
  if (two) {
    gc.least = (*value)[0].get<double>();
    gc.most = (*value)[1].get<double>();
  }
  // A share from 0 to 1 is a mistake.
  if (!two || !(gc.least >= 0 && gc.least <= gc.most && gc.most <= 100) || (gc.most > 0 && gc.most < 1))
    fields.fail("gc", "must be the lowest and the highest GC content in per cent, such as [40, 60]");
  gc.window = static_cast<size_t>(fields.whole("gc_window", 0, 1, kMostWindow));
  return gc;
}

std::vector<Motif> read_avoided(const Fields& fields) {
  std::vector<Motif> motifs;
  const json* const list = fields.find("avoid");
  if (!list) return motifs;
  const std::string expected = "must be a list of motifs in IUPAC letters, such as [\"GAATTC\", \"GGTCTC\"]";
  if (!list->is_array()) fields.fail("avoid", expected);
  for (const json& motif : *list) {
    if (!motif.is_string() || motif.get_ref<const std::string&>().empty()) fields.fail("avoid", expected);
    const std::string place = "avoid[" + std::to_string(motifs.size()) + "]";
    motifs.push_back({parse_constraint(motif.get_ref<const std::string&>(), place, "serve")});
  }
  return motifs;
}

// The frames without stop codons.
void read_frames(const Fields& fields, BoundOptions& bounds) {
  const json* const list = fields.find("no_stop");
  if (!list) return;
  const auto refuse = [&] {
    fields.fail(
        "no_stop",
        "must be a list of frames: \"prompt\", the frame of the prompt's first base, or 1, 2 or 3, which "
        "begin with that new base");
  };
  if (!list->is_array()) refuse();
  for (const json& frame : *list) {
    if (frame == "prompt") {
      bounds.prompt_frame = true;
    } else if (frame == 1 || frame == 2 || frame == 3) {
      bounds.frames.push_back(frame.get<size_t>() - 1);
    } else {
      refuse();
    }
  }
}

}  // namespace

BoundOptions read_bounds(const Fields& fields, SamplerKind sampler) {
  BoundOptions bounds;
  bounds.most_mib = kMostMiB;
  bounds.gc = read_gc(fields);
  bounds.avoided = read_avoided(fields);
  read_frames(fields, bounds);
  bounds.max_homopolymer = static_cast<size_t>(fields.whole("max_homopolymer", 0, 1, kMostRun));
  if (sampler == SamplerKind::marginal && has_bounds(bounds))
    fields.fail("sampler",
                "'marginal' draws six bases independently and cannot keep bounds; use kmer or chain");
  return bounds;
}

}  // namespace carbon
