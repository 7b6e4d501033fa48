#include "src/pipeline/generate_writer.hpp"

#include <cstdio>

namespace carbon {

GenerateWriter::GenerateWriter(const GenerateOptions& options)
    : options_(options),
      output_(options.output),
      streams_(is_stream(options.output) && !options.output.ends_with("gz")) {}

std::string GenerateWriter::record(const Prompt& prompt, uint32_t sample, std::string_view bases,
                                   double logp) const {
  std::string text = ">" + prompt.name;
  const std::string number = std::to_string(sample + 1);
  if (options_.samples > 1) text += "/" + number;
  char total[40];
  std::snprintf(total, sizeof total, "%.10g", logp);
  text += " sample=" + number + " seed=" + std::to_string(options_.sampler.seed) +
          " length=" + std::to_string(bases.size()) + " logp=" + total + "\n";
  std::string sequence = options_.include_prompt ? prompt.sequence : "";
  sequence += bases;
  const size_t width = options_.line_length == 0 ? sequence.size() : options_.line_length;
  for (size_t at = 0; at < sequence.size(); at += width) text.append(sequence, at, width).append("\n");
  return text;
}

void GenerateWriter::put(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp) {
  const uint64_t number = prompt.record * options_.samples + sample;
  const auto added = waiting_.emplace(number, record(prompt, sample, bases, logp)).first;
  waiting_bytes_ += added->second.size();
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.erase(first), ++next_) {
    output_.write(first->second);
    waiting_bytes_ -= first->second.size();
  }
}

}  // namespace carbon
