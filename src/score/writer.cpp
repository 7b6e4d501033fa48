#include "src/score/writer.hpp"

#include <cmath>

#include "src/base/numbers.hpp"
#include "src/marginals/base_scores.hpp"

namespace carbon {
namespace {

constexpr int kTotalDigits = 10;

}  // namespace

ScoreWriter::ScoreWriter(const ScoreOptions& options, const SequenceRunInfo& run)
    : output_(options.output, run, *options.log),
      type_(score_output_type(options)),
      strand_(word_of(kStrandWords, options.strand)) {
  if (output_.continued()) return;
  if (type_ == ScoreOutput::summary)
    output_.write("#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity\n");
  if (type_ == ScoreOutput::tsv) output_.write("#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n");
}

void ScoreWriter::begin(const SequencePlace& sequence) {
  sequence_ = sequence;
  scored_ = 0;
  sum_ = 0;
}

void ScoreWriter::value(const ScoredValue& value) {
  ++scored_;
  sum_ += value.logp;
  if (type_ == ScoreOutput::summary) return;
  line_ = sequence_.name;
  line_ += '\t';
  if (type_ == ScoreOutput::bedgraph) {
    append_integer(value.begin, line_);
    line_ += '\t';
    append_integer(value.end, line_);
    line_ += '\t';
    append_base_value(value.logp, line_);
  } else {
    append_integer(value.end, line_);
    line_ += '\t';
    line_ += value.base;
    line_ += '\t';
    append_base_value(value.logp, line_);
    line_ += '\t';
    append_base_value(entropy(value.letters), line_);
    for (const size_t digit : kOutputOrder) {
      line_ += '\t';
      append_base_value(std::exp(value.letters[digit]), line_);
    }
  }
  line_ += '\n';
  output_.write(line_);
}

void ScoreWriter::end() {
  if (type_ != ScoreOutput::summary) return;
  line_ = sequence_.name;
  for (const int64_t number : {sequence_.begin, sequence_.end}) {
    line_ += '\t';
    append_integer(number, line_);
  }
  line_.append("\t").append(strand_).append("\t");
  append_integer(static_cast<int64_t>(scored_), line_);
  line_ += '\t';
  append_general(sum_, kTotalDigits, line_);
  if (scored_ == 0) {
    line_ += "\t.\t.\n";
  } else {
    const double mean = sum_ / static_cast<double>(scored_);
    line_ += '\t';
    append_general(mean, kTotalDigits, line_);
    line_ += '\t';
    append_general(std::exp(-mean), kTotalDigits, line_);
    line_ += '\n';
  }
  output_.write(line_);
}

}  // namespace carbon
