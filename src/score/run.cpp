#include "src/score/run.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/output_run.hpp"
#include "src/engine/run_estimate.hpp"
#include "src/files/file_name.hpp"
#include "src/files/ordered_texts.hpp"
#include "src/files/output.hpp"
#include "src/files/sequence_output.hpp"
#include "src/formats/provenance.hpp"
#include "src/sampling/base_scores.hpp"
#include "src/score/assembler.hpp"
#include "src/score/planner.hpp"

namespace carbon {
namespace {

// Beyond any context.
constexpr int64_t kMostBases = 1'000'000'000;

void check_multiple(const std::string& name, size_t value, size_t bases) {
  if (value == 0 || value % bases != 0)
    throw SettingError("score", name,
                       "a " + name + " of " + std::to_string(value) +
                           " bp cannot be used; expected a positive multiple of " + std::to_string(bases),
                       {"set it with {--" + name + "}"});
}

}  // namespace

SettingList score_settings(ScoreOptions& options) {
  return {Setting("level", "LEVEL",
                  "what is scored: bp (one value per base; default) or token (one value per 6-mer, over the "
                  "full vocabulary)",
                  options.level, kScoreLevelWords),
          Setting("strand", "STRAND",
                  "strand to read: + (default), - (reverse complement) or both (mean of the two)",
                  options.strand, kStrandWords),
          Setting("window", "BP", "window in bp, a multiple of 6", &options.window)
              .range(1, kMostBases)
              .otherwise("49140, or what fits the model's context"),
          Setting("stride", "BP", "distance between window starts in bp, a multiple of 6", &options.stride)
              .range(1, kMostBases)
              .otherwise("half a window")};
}

ScoreOutput score_output_type(const ScoreOptions& options) {
  const bool bedgraph = format_of_name(options.output) == "bedgraph";
  const ScoreOutput type = options.type.value_or(bedgraph ? ScoreOutput::bedgraph : ScoreOutput::summary);
  if (type == ScoreOutput::bedgraph) {
    check_output_name("score", options.output, {"bedgraph"}, "bedgraph by -O",
                      "choose with -O summary or tsv, or give another name");
  } else {
    check_output_name("score", options.output, {"tsv"}, "a table",
                      "choose with -O bedgraph, or give it a name that ends in .tsv");
  }
  return type;
}

void complete_score_options(ScoreOptions& options, size_t max_positions, size_t bases) {
  check_level("score", options.level, bases);
  if (options.level == ScoreLevel::token && options.strand == StrandChoice::both)
    throw SettingError("score", "strand",
                       "strand both cannot be used with level token, which has one value a 6-mer; "
                       "expected + or -");
  if (options.window == 0) options.window = default_window(max_positions, bases);
  const size_t largest = bases * (max_positions - 1);
  if (options.window > largest)
    throw SettingError("score", "window",
                       "a window of " + std::to_string(options.window) +
                           " bp does not fit the model's context of " + std::to_string(max_positions) +
                           " tokens; the largest that fits is " + std::to_string(largest) + " bp",
                       {"set it with {--window}"});
  check_multiple("window", options.window, bases);

  if (options.stride == 0) options.stride = default_stride(options.window, bases);
  check_multiple("stride", options.stride, bases);
  if (options.stride > options.window)
    throw SettingError("score", "stride",
                       "a stride of " + std::to_string(options.stride) +
                           " bp leaves bases without a score between " + "windows of " +
                           std::to_string(options.window) + " bp; the largest that fits is " +
                           std::to_string(options.window) + " bp",
                       {"set it with {--stride}"});
}

namespace {

constexpr int kTotalDigits = 10;
// Values whose lines one thread makes at a time.
constexpr size_t kPieceValues = 1024;

// Values of a sequence that have a line each.
struct Piece {
  struct Value {
    int64_t begin, end;
    double logp;
    char base;
    std::array<double, ops::kLetters> letters;  // not used by bedgraph
  };
  std::string name;
  std::vector<Value> values;
};

void append_bedgraph(const Piece& piece, std::string& text) {
  for (const Piece::Value& value : piece.values) {
    text += piece.name;
    text += '\t';
    append_integer(value.begin, text);
    text += '\t';
    append_integer(value.end, text);
    text += '\t';
    append_base_value(value.logp, text);
    text += '\n';
  }
}

void append_table(const Piece& piece, std::string& text) {
  for (const Piece::Value& value : piece.values) {
    std::array<double, ops::kLetters> probabilities;
    for (size_t b = 0; b < ops::kLetters; ++b) probabilities[b] = std::exp(value.letters[b]);
    text += piece.name;
    text += '\t';
    append_integer(value.end, text);
    text += '\t';
    text += value.base;
    text += '\t';
    append_base_value(value.logp, text);
    text += '\t';
    append_base_value(entropy(value.letters.data(), probabilities.data()), text);
    for (const size_t digit : kOutputOrder) {
      text += '\t';
      append_base_value(probabilities[digit], text);
    }
    text += '\n';
  }
}

// Writes the three output formats: it receives the values of a sequence in ascending forward coordinates and
// decides what to print. Sums are taken in that order, in double.
class ScoreWriter final : public ScoreSink {
 public:
  /// Opens the output and writes the table's heading, unless the run continues another. `threads` make lines,
  /// and as many compress. Throws Error, as do the other functions.
  ScoreWriter(const ScoreOptions& options, const SequenceRunInfo& run, int threads)
      : output_(options.output, run, *options.log, threads),
        type_(score_output_type(options)),
        strand_(word_of(kStrandWords, options.strand)),
        texts_(type_ == ScoreOutput::summary ? 0 : threads,
               [this](std::string_view text) { output_.write(text); }) {
    if (output_.continued()) return;
    if (type_ == ScoreOutput::summary)
      output_.write("#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity\n");
    if (type_ == ScoreOutput::tsv) output_.write("#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n");
  }

  void begin(const SequencePlace& sequence) override {
    check_row_name("score", sequence.name);
    sequence_ = sequence;
    scored_ = 0;
    sum_ = 0;
  }

  void value(const ScoredValue& value) override {
    ++scored_;
    sum_ += value.logp;
    if (type_ == ScoreOutput::summary) return;
    Piece::Value& kept =
        values_.emplace_back(Piece::Value{value.begin, value.end, value.logp, value.base, {}});
    if (value.letters) std::copy_n(value.letters, ops::kLetters, kept.letters.begin());
    if (values_.size() == kPieceValues) hand_over();
  }

  void end() override {
    if (type_ != ScoreOutput::summary) return hand_over();
    std::string line = sequence_.name;
    for (const int64_t number : {sequence_.begin, sequence_.end}) {
      line += '\t';
      append_integer(number, line);
    }
    line.append("\t").append(strand_).append("\t");
    append_integer(static_cast<int64_t>(scored_), line);
    line += '\t';
    append_general(sum_, kTotalDigits, line);
    if (scored_ == 0) {
      line += "\t.\t.\n";
    } else {
      const double mean = sum_ / static_cast<double>(scored_);
      line += '\t';
      append_general(mean, kTotalDigits, line);
      line += '\t';
      append_general(std::exp(-mean), kTotalDigits, line);
      line += '\n';
    }
    output_.write(line);
  }

  /// Called after end(), when the sequences `done` are complete.
  void end_sequence(const SequencesDone& done) {
    texts_.then([this, done] { output_.end_sequence(done); });
  }
  /// Waits for lines that are being made, and writes them. What is written and complete is known to the
  /// output only then.
  void write_all() { texts_.write_all(); }
  /// The same after an error, which is what will be said: the sequences before it are complete, and are kept
  /// if they can be written.
  void write_complete() {
    try {
      texts_.write_all();
    } catch (const std::exception&) {
    }
  }
  const std::optional<SequencesDone>& continued() const { return output_.continued(); }
  /// Passes it on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  void flush_for_reader() { output_.flush_for_reader(); }
  bool to_file() const { return output_.to_file(); }
  std::string saved_in() const { return output_.saved_in(); }
  void flush_finished() {
    write_all();
    output_.flush_finished();
  }
  /// Completes the output file. Without it, a named file is not left behind.
  void close() {
    write_all();
    output_.close();
  }

 private:
  // Has the lines of the values made.
  void hand_over() {
    if (values_.empty()) return;
    const auto piece = std::make_shared<const Piece>(Piece{sequence_.name, std::move(values_)});
    values_ = {};
    values_.reserve(kPieceValues);
    if (type_ == ScoreOutput::bedgraph)
      texts_.add([piece](std::string& text) { append_bedgraph(*piece, text); });
    else
      texts_.add([piece](std::string& text) { append_table(*piece, text); });
  }

  SequenceOutput output_;
  ScoreOutput type_;
  const char* strand_;
  SequencePlace sequence_;
  uint64_t scored_ = 0;
  double sum_ = 0;
  std::vector<Piece::Value> values_;  // of the sequence, that have no lines yet
  OrderedTexts texts_;                // last, as its threads end before the rest goes
};

// Says what the run would take, after planning all windows and running some.
void estimate_score(Engine& engine, const ScoreOptions& options) {
  const ScorePlanner planner(engine.config().layout, options);
  RunEstimate estimate;
  uint64_t sequences = 0, bases_in_all = 0;
  read_sequences(
      "score", options.inputs, *options.log,
      [&](SequencePlace place, const std::string& bases) {
        ++sequences;
        bases_in_all += bases.size();
        planner.plan(std::move(place), bases,
                     [&](const ScoredWindow& window) { estimate.add(window.requests); });
      },
      [](const SequenceTotals&) {});
  write_standard_output(count_of(sequences, "sequence") + " of " + count_of(bases_in_all, "base") + " in " +
                        count_of(estimate.windows(), "window") + " with " +
                        count_of(estimate.tokens(), "token") + "\n" +
                        estimate.measure(engine, estimate.tokens()).text + "\n");
}

// Settings name variables, and these only read them.
Settings settings_of(ScoreOptions options) {
  return setting_values(score_settings(options));
}

// Everything that the output depends on, except the sequences, which are compared one by one, and the version
// lines of the header.
RunIdentity run_identity(const LoadedModel& model, const ScoreOptions& options) {
  RunIdentity run = identity_of(model);
  for (const auto& [name, value] : settings_of(options)) run.emplace(name, value);
  run.emplace("output-type", word_of(kScoreOutputWords, score_output_type(options)));
  return run;
}

std::vector<std::string> header_lines(const LoadedModel& model, const ScoreOptions& options) {
  return provenance_lines("score", options.record,
                          {model_line("score", "logp", model, header_text(settings_of(options)))});
}

// A sequence or region in one line, for comparing the input of two runs.
std::string place_text(const SequencePlace& place) {
  return place.name + ":" + std::to_string(place.begin) + "-" + std::to_string(place.end);
}

}  // namespace

void run_score(Engine& engine, ScoreOptions options) {
  const ModelConfig& config = engine.config();
  complete_score_options(options, config.sequence_positions(), config.layout.bases());
  options.inputs.in_order = score_output_type(options) == ScoreOutput::bedgraph;
  if (options.estimate) return estimate_score(engine, options);

  const SequenceRunInfo run{{"score", "sequence"},
                            [&] { return run_identity(engine.model(), options); },
                            options.earlier,
                            [&] { return header_lines(engine.model(), options); }};
  ScoreWriter writer(options, run, output_threads(engine));
  ScoreAssembler assembler(options, config.layout.bases(), writer);
  Progress progress(*options.log, options.progress, "score", "bp");
  uint64_t done = writer.continued() ? writer.continued()->bases : 0;
  progress.begin_at(done);
  const ScorePlanner planner(config.layout, options);
  const auto idle = [&] {
    writer.write_all();
    // A heading alone is kept back, because there may be no input.
    if (done > 0) writer.flush_for_reader();
  };
  uint64_t sequences = writer.continued() ? writer.continued()->count : 0;
  run_to_output<ScoredWindow>(
      engine, {"score", [&] { return count_of(sequences, "sequence"); }, *options.log, options.stop, idle},
      writer, progress,
      [&](const std::function<void(ScoredWindow)>& emit) {
        read_further_sequences(
            "score", options.inputs, *options.log, writer.continued(), place_text,
            [&](SequencePlace place, const std::string&, const std::string& bases,
                const SequencesDone& read) { planner.plan(std::move(place), bases, emit, read); },
            [&](const SequenceTotals& totals) { progress.set_total(totals.bases); });
      },
      [&](const ScoredWindow& item) {
        try {
          assembler.consume(item);
        } catch (...) {
          writer.write_complete();
          throw;
        }
        if (item.last) {
          ++sequences;
          writer.end_sequence(item.sequence->done);
        }
        done += item.window.end - item.window.take;
        progress.update(done, item.sequence->place.name);
      });
}

}  // namespace carbon
