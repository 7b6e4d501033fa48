#include "src/annotate/outputs.hpp"

#include <algorithm>
#include <limits>

#include "src/annotate/gene.hpp"
#include "src/annotate/genes.hpp"
#include "src/annotate/run.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/files/output.hpp"
#include "src/formats/bigwig_writer.hpp"
#include "src/formats/provenance.hpp"

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

// Calls f(first base, number of bases) for pieces of the bases that are wanted.
template <class F>
void each_piece(const AnnotatedContig& contig, int64_t most, F f) {
  for (const Interval& interval : contig.wanted)
    for (int64_t begin = interval.begin; begin < interval.end; begin += most)
      f(begin, static_cast<size_t>(std::min(most, interval.end - begin)));
}

// The probabilities of one strand, read a piece at a time.
struct StrandPiece {
  bool reverse = false;
  std::vector<float> values = {};

  const std::vector<float>& read(const AnnotatedContig& contig, int64_t begin, size_t bases) {
    values.resize(bases);
    contig.probabilities.read(reverse, begin, values);
    return values;
  }
};

// A line for each base: a table of both strands, or bedGraph of one.
class LinesOutput final : public ContigOutput {
 public:
  LinesOutput(const AnnotateOptions& options, const std::vector<std::string>& lines, TemporaryName name)
      : output_(options.output, name) {
    if (annotate_output_type(options) == AnnotateOutput::tsv)
      strands_ = {{false}, {true}};
    else
      strands_ = {{options.strand == AnnotateStrand::reverse}};
    for (const std::string& line : lines) output_.write(line + "\n");
    if (table()) output_.write("#name\tpos\tbase\tplus\tminus\n");
  }

  void write(const AnnotatedContig& contig) override {
    constexpr int64_t kPiece = int64_t{1} << 16;
    const std::string start = contig.record.name + "\t";
    each_piece(contig, kPiece, [&](int64_t begin, size_t bases) {
      text_.clear();
      for (StrandPiece& strand : strands_) strand.read(contig, begin, bases);
      for (size_t i = 0; i < bases; ++i) {
        const int64_t at = begin + static_cast<int64_t>(i);
        text_ += start;
        append_integer(table() ? at + 1 : at, text_);
        text_ += '\t';
        if (table())
          text_ += contig.record.sequence[static_cast<size_t>(at)];
        else
          append_integer(at + 1, text_);
        for (const StrandPiece& strand : strands_) {
          text_ += '\t';
          append_base_value(static_cast<double>(strand.values[i]), text_);
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
  bool table() const { return strands_.size() == 2; }

  TextOutput output_;
  std::vector<StrandPiece> strands_;
  std::string text_;
};

class TracksOutput final : public ContigOutput {
 public:
  TracksOutput(const std::string& prefix, const Contigs& contigs)
      : plus_(plus_track(prefix), contigs), minus_(minus_track(prefix), contigs) {}

  void write(const AnnotatedContig& contig) override {
    StrandPiece plus{false}, minus{true};
    each_piece(contig, BigwigWriter::kMostValues, [&](int64_t begin, size_t bases) {
      plus_.write(contig.number, begin, plus.read(contig, begin, bases));
      minus_.write(contig.number, begin, minus.read(contig, begin, bases));
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

DistinctContigs::DistinctContigs(const AnnotateOptions& options)
    : lines_begin_with_names_(annotate_output_type(options) == AnnotateOutput::tsv ||
                              annotate_output_type(options) == AnnotateOutput::bedgraph) {}

void DistinctContigs::check(const std::string& path, const FastaRecord& contig) {
  constexpr uint64_t kMostBases = std::numeric_limits<uint32_t>::max();
  if (lines_begin_with_names_) check_row_name("annotate", contig.name);
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
