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

// As printf's %.10g.
void put_total(std::string& line, double value) {
  constexpr int digits = 10;
  char text[40];
  line.append(text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr);
}

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
    append_base_value(value.logp, line_);
  } else {
    put(line_, value.end);
    line_ += '\t';
    line_ += value.base;
    line_ += '\t';
    append_base_value(value.logp, line_);
    line_ += '\t';
    append_base_value(entropy(value.letters), line_);
    for (const char base : {'A', 'C', 'G', 'T'}) {
      line_ += '\t';
      append_base_value(std::exp(value.letters[base_digit(base)]), line_);
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
  put_total(line_, sum_);
  if (scored_ == 0) {
    line_ += "\t.\t.\n";
  } else {
    const double mean = sum_ / static_cast<double>(scored_);
    line_ += '\t';
    put_total(line_, mean);
    line_ += '\t';
    put_total(line_, std::exp(-mean));
    line_ += '\n';
  }
  output_.write(line_);
}

}  // namespace carbon
