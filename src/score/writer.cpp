#include "src/score/writer.hpp"

#include <charconv>
#include <cmath>

#include "src/marginals/base_scores.hpp"

namespace carbon {
namespace {

void put(std::string& line, int64_t value) {
  char text[24];
  line.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// As printf's %.<digits>g.
void put(std::string& line, double value, int digits) {
  char text[40];
  line.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr);
}

constexpr int kBaseDigits = 6, kTotalDigits = 10;

}  // namespace

ScoreWriter::ScoreWriter(const std::string& path, ScoreOutput type, StrandChoice strand)
    : output_(path),
      type_(type),
      strand_(strand == StrandChoice::forward   ? "+"
              : strand == StrandChoice::reverse ? "-"
                                                : "both") {
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
    put(line_, value.begin);
    line_ += '\t';
    put(line_, value.end);
    line_ += '\t';
    put(line_, value.logp, kBaseDigits);
  } else {
    put(line_, value.end);
    line_ += '\t';
    line_ += value.base;
    line_ += '\t';
    put(line_, value.logp, kBaseDigits);
    line_ += '\t';
    put(line_, entropy(value.letters), kBaseDigits);
    for (const char base : {'A', 'C', 'G', 'T'}) {
      line_ += '\t';
      put(line_, std::exp(value.letters[base_digit(base)]), kBaseDigits);
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
    put(line_, number);
  }
  line_.append("\t").append(strand_).append("\t");
  put(line_, static_cast<int64_t>(scored_));
  line_ += '\t';
  put(line_, sum_, kTotalDigits);
  if (scored_ == 0) {
    line_ += "\t.\t.\n";
  } else {
    const double mean = sum_ / static_cast<double>(scored_);
    line_ += '\t';
    put(line_, mean, kTotalDigits);
    line_ += '\t';
    put(line_, std::exp(-mean), kTotalDigits);
    line_ += '\n';
  }
  output_.write(line_);
}

}  // namespace carbon
