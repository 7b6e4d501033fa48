// annotate: the probability of each base to be coding on both strands, as `carbon annotate` computes it. A
// result has plus [n] and minus [n], and if asked for gff3, the genes or runs that it writes.
#include <utility>

#include "src/annotate/probabilities.hpp"
#include "src/annotate/run.hpp"
#include "src/annotate/windows.hpp"
#include "src/base/json.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {
namespace {

constexpr const char* kPlugin = "plugins cannot annotate";

// A sequence whose windows are computed.
struct AnnotatedSequence {
  AnnotatedSequence(std::string given, std::string text)
      : name(std::move(given)),
        bases(std::move(text)),
        probabilities(static_cast<int64_t>(bases.size())),
        means(0, [this](int64_t begin, std::span<const float> plus, std::span<const float> minus) {
          probabilities.write(false, begin, plus);
          probabilities.write(true, begin, minus);
        }) {}
  AnnotatedSequence(const AnnotatedSequence&) = delete;

  std::string name, bases;
  ScratchProbabilities probabilities;
  MeanProbabilities means;
};

class AnnotateVerb final : public Verb {
 public:
  AnnotateVerb(const VerbContext& context, AnnotateOptions options, bool gff3)
      : context_(context),
        options_(std::move(options)),
        sizes_{options_.window, *options_.overlap,
               static_cast<int64_t>(context.served.config().layout.bases())},
        gff3_(gff3) {}

  void add(size_t /*index*/, const std::string& name, std::string_view text, const Emit& emit) override {
    const auto sequence = std::make_shared<AnnotatedSequence>(name, checked_bases(name, text, context_.note));
    const auto bases = static_cast<int64_t>(sequence->bases.size());
    const Interval whole{0, bases};
    bool any = false;
    visit_windows(bases, sizes_, {&whole, 1}, 0, [&](const AnnotatedWindow& window) {
      any = true;
      const RequestPtr request =
          window_request(sequence->bases, window.place, context_.served.config().layout);
      emit({{request}, [this, sequence, window, request](Findings& findings) {
              take(*sequence, window, *request, findings);
            }});
    });
    if (!any)
      emit({{}, [this, sequence](Findings& findings) { findings.results.push_back(result_of(*sequence)); }});
  }

  WindowBases windows(size_t bases) const override {
    const auto n = static_cast<int64_t>(bases);
    return {static_cast<size_t>(count_windows(n, sizes_) * std::min(sizes_.window, n)), "overlap"};
  }

 private:
  void take(AnnotatedSequence& sequence, const AnnotatedWindow& window, const Request& request,
            Findings& findings) const {
    sequence.means.add(window.place, sizes_.token, window_logits(request, sequence.name, window.place));
    sequence.means.finish(window.final_end);
    if (window.last) findings.results.push_back(result_of(sequence));
  }

  Result result_of(const AnnotatedSequence& sequence) const {
    const size_t n = sequence.bases.size();
    Result result;
    for (const bool reverse : {false, true}) {
      std::vector<float> values(n);
      sequence.probabilities.read(reverse, 0, values);
      result.emplace_back(reverse ? "minus" : "plus", std::move(values), std::initializer_list<size_t>{n});
    }
    if (gff3_) result.emplace_back("gff3", lines_of(sequence));
    return result;
  }

  std::string lines_of(const AnnotatedSequence& sequence) const {
    std::string text;
    if (sequence.bases.empty()) return text;
    const std::vector<GeneCall> calls = calls_of(options_, sequence.bases, sequence.probabilities);
    for (size_t i = 0; i < calls.size(); ++i) append_call(options_, calls[i], sequence.name, i + 1, text);
    return text;
  }

  const VerbContext context_;
  const AnnotateOptions options_;
  const WindowSizes sizes_;
  const bool gff3_;
};

SettingList annotate_verb_settings(AnnotateOptions& options, bool& gff3) {
  SettingList settings = window_settings(options);
  settings.push_back(Setting("gff3", "also give genes, or runs, as lines of GFF3", gff3)
                         .not_at(Door::command, "-O gff3 writes them"));
  settings.push_back(mode_setting(options));
  for (const SettingList& more : {gene_settings(options), settings_of_runs(options)})
    settings.insert(settings.end(), more.begin(), more.end());
  for (Setting& setting : settings) setting.not_at(Door::plugin, kPlugin);
  return settings;
}

}  // namespace

void describe_annotate(const std::function<void(const SettingList&)>& see) {
  AnnotateOptions options;
  bool gff3 = false;
  see(annotate_verb_settings(options, gff3));
}

std::unique_ptr<Verb> make_annotate_verb(const VerbContext& context, const ReadSettings& read) {
  AnnotateOptions options;
  bool gff3 = false;
  const std::vector<std::string> given = read(annotate_verb_settings(options, gff3));
  check_annotate_settings(options, given);
  if (!gff3)
    for (const std::string& name : given)
      if (name != "window" && name != "overlap" && name != "gff3")
        throw SettingError("annotate", name,
                           name + " has no meaning without gff3, which asks for genes or runs");
  const ModelConfig& config = context.served.config();
  complete_annotate_windows(options, config.max_positions, config.layout.bases());
  return std::make_unique<AnnotateVerb>(context, std::move(options), gff3);
}

}  // namespace carbon
