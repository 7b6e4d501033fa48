#include "src/annotate/outputs.hpp"

#include <algorithm>
#include <limits>

#include "src/annotate/genetic_code.hpp"
#include "src/annotate/gff3.hpp"
#include "src/annotate/run.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/output.hpp"
#include "src/formats/bigwig_writer.hpp"

namespace carbon {
namespace {

// The header line that says how calls were made.
std::string decoder_line(const AnnotateOptions& options) {
  AnnotateOptions shown = options;
  const RunRules rules = run_rules(options);
  shown.outward = rules.outward;
  shown.inward = rules.inward;
  shown.stop_run = rules.stop_run;
  shown.min_run = rules.min_run;
  shown.min_gap = rules.min_gap;
  SettingList settings = {mode_setting(shown)};
  for (Setting& setting : options.mode == GeneMode::model ? gene_settings(shown) : settings_of_runs(shown))
    settings.push_back(std::move(setting));
  return "##carbon_annotateDecoder=<" + header_text(setting_values(settings)) + ">";
}

class Gff3Output final : public ContigOutput {
 public:
  Gff3Output(const AnnotateOptions& options, const std::vector<std::string>& lines, TemporaryName name)
      : options_(options), genes_(options.output, name) {
    if (!options.proteins.empty()) proteins_ = std::make_unique<TextOutput>(options.proteins);
    if (!options.coding.empty()) coding_ = std::make_unique<TextOutput>(options.coding);
    genes_.write("##gff-version 3\n");
    // Programs that read GFF3 know the directives of ##, and take #! for those of others.
    for (const std::string& line : lines) genes_.write("#!" + line.substr(2) + "\n");
    genes_.write("#!" + decoder_line(options).substr(2) + "\n");
  }

  void write(const AnnotatedContig& contig) override {
    const FastaRecord& record = contig.record;
    genes_.write(gff3_region(record.name, static_cast<int64_t>(record.sequence.size())));
    const std::vector<GeneCall> calls = calls_of(options_, record.sequence, contig.probabilities);
    for (size_t i = 0; i < calls.size(); ++i) write(record, calls[i], i + 1);
  }

  void finish() override {
    for (TextOutput* output : {&genes_, proteins_.get(), coding_.get()})
      if (output) output->finish();
  }
  void commit() override {
    for (TextOutput* output : {&genes_, proteins_.get(), coding_.get()})
      if (output) output->commit();
  }
  void flush() override { genes_.flush(); }

 private:
  void write(const FastaRecord& contig, const GeneCall& call, size_t number) {
    std::string text;
    append_call(options_, call, contig.name, number, text);
    genes_.write(text);
    if (proteins_) {
      text.clear();
      append_protein(call, contig.name, number, contig.sequence, code_, text);
      proteins_->write(text);
    }
    if (coding_) {
      text.clear();
      append_coding_sequence(call, contig.name, number, contig.sequence, text);
      coding_->write(text);
    }
  }

  const AnnotateOptions& options_;
  const GeneticCode code_{options_.rules.code};
  TextOutput genes_;
  std::unique_ptr<TextOutput> proteins_, coding_;
};

// Calls f(first base, values of the forward strand, values of the reverse strand) for pieces of the bases
// that are wanted.
template <class F>
void each_piece(const AnnotatedContig& contig, int64_t most, F f) {
  std::vector<float> plus, minus;
  for (const Interval& interval : contig.wanted)
    for (int64_t begin = interval.begin; begin < interval.end; begin += most) {
      const auto n = static_cast<size_t>(std::min(most, interval.end - begin));
      plus.resize(n);
      minus.resize(n);
      contig.probabilities.read(false, begin, plus);
      contig.probabilities.read(true, begin, minus);
      f(begin, plus, minus);
    }
}

// A line for each base: a table of both strands, or bedGraph of one.
class LinesOutput final : public ContigOutput {
 public:
  LinesOutput(const AnnotateOptions& options, const std::vector<std::string>& lines, TemporaryName name)
      : table_(annotate_output_type(options) == AnnotateOutput::tsv),
        reverse_(options.strand == AnnotateStrand::reverse),
        output_(options.output, name) {
    for (const std::string& line : lines) output_.write(line + "\n");
    if (table_) output_.write("#name\tpos\tbase\tplus\tminus\n");
  }

  void write(const AnnotatedContig& contig) override {
    constexpr int64_t kPiece = int64_t{1} << 16;
    const std::string start = contig.record.name + "\t";
    each_piece(contig, kPiece,
               [&](int64_t begin, const std::vector<float>& plus, const std::vector<float>& minus) {
                 text_.clear();
                 for (size_t i = 0; i < plus.size(); ++i) {
                   const int64_t at = begin + static_cast<int64_t>(i);
                   text_ += start;
                   if (table_) {
                     append_integer(at + 1, text_);
                     text_ += '\t';
                     text_ += contig.record.sequence[static_cast<size_t>(at)];
                     text_ += '\t';
                     append_base_value(static_cast<double>(plus[i]), text_);
                     text_ += '\t';
                     append_base_value(static_cast<double>(minus[i]), text_);
                   } else {
                     append_integer(at, text_);
                     text_ += '\t';
                     append_integer(at + 1, text_);
                     text_ += '\t';
                     append_base_value(static_cast<double>((reverse_ ? minus : plus)[i]), text_);
                   }
                   text_ += '\n';
                 }
                 output_.write(text_);
               });
  }

  void finish() override { output_.finish(); }
  void commit() override { output_.commit(); }
  void flush() override { output_.flush(); }

 private:
  const bool table_, reverse_;
  TextOutput output_;
  std::string text_;
};

class TracksOutput final : public ContigOutput {
 public:
  TracksOutput(const std::string& prefix, const Contigs& contigs)
      : plus_(plus_track(prefix), contigs), minus_(minus_track(prefix), contigs) {}

  void write(const AnnotatedContig& contig) override {
    each_piece(contig, BigwigWriter::kMostValues,
               [&](int64_t begin, const std::vector<float>& plus, const std::vector<float>& minus) {
                 plus_.write(contig.number, begin, plus);
                 minus_.write(contig.number, begin, minus);
               });
  }

  void finish() override {
    plus_.finish();
    minus_.finish();
  }
  void commit() override {
    plus_.commit();
    minus_.commit();
  }

 private:
  BigwigWriter plus_, minus_;
};

}  // namespace

void DistinctContigs::check(const std::string& path, const FastaRecord& contig) {
  constexpr uint64_t kMostBases = std::numeric_limits<uint32_t>::max();
  if (!names_.insert(contig.name).second)
    throw Error("annotate", path + ": two sequences are called " + printable(contig.name) +
                                ", so their genes would have the same IDs; rename one of them");
  if (contig.sequence.size() > kMostBases)
    throw Error("annotate", path + ": " + printable(contig.name) + " has " +
                                std::to_string(contig.sequence.size()) + " bases; sequences of up to " +
                                std::to_string(kMostBases) + " are read");
}

std::vector<GeneCall> calls_of(const AnnotateOptions& options, std::string_view contig,
                               const Probabilities& probabilities) {
  return options.mode == GeneMode::runs ? call_runs(probabilities, run_rules(options))
                                        : call_genes(contig, probabilities, options.rules, options.filter);
}

void append_call(const AnnotateOptions& options, const GeneCall& call, std::string_view contig, size_t number,
                 std::string& text) {
  options.mode == GeneMode::runs ? append_run(call, contig, number, text)
                                 : append_gene(call, contig, number, text);
}

bool needs_contigs(const AnnotateOptions& options) {
  return annotate_output_type(options) == AnnotateOutput::bigwig || !options.tracks.empty();
}

std::vector<std::unique_ptr<ContigOutput>> open_outputs(const AnnotateOptions& options,
                                                        const std::vector<std::string>& lines,
                                                        const Contigs& contigs, TemporaryName name) {
  std::vector<std::unique_ptr<ContigOutput>> outputs;
  switch (annotate_output_type(options)) {
    case AnnotateOutput::gff3:
      outputs.push_back(std::make_unique<Gff3Output>(options, lines, name));
      break;
    case AnnotateOutput::tsv:
    case AnnotateOutput::bedgraph:
      outputs.push_back(std::make_unique<LinesOutput>(options, lines, name));
      break;
    case AnnotateOutput::bigwig:
      outputs.push_back(std::make_unique<TracksOutput>(options.output, contigs));
      break;
  }
  if (!options.tracks.empty()) outputs.push_back(std::make_unique<TracksOutput>(options.tracks, contigs));
  return outputs;
}

}  // namespace carbon
