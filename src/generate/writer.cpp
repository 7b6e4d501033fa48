#include "src/generate/writer.hpp"

#include <cstdio>
#include <numeric>
#include <utility>

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
  std::string text = record(prompt, sample, bases, logp);
  const std::lock_guard lock(mutex_);
  const auto added = waiting_.emplace(number, std::move(text)).first;
  waiting_bytes_ += added->second.size();
  for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
       first = waiting_.erase(first), ++next_) {
    output_.write(first->second);
    waiting_bytes_ -= first->second.size();
  }
}

void GenerateWriter::flush() {
  const std::lock_guard lock(mutex_);
  if (streams_) output_.flush();
}

size_t GenerateWriter::waiting_bytes() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes_;
}

void GenerateProgress::update(size_t generator, uint64_t bases, const std::string& where) {
  const std::lock_guard lock(mutex_);
  bases_[generator] = bases;
  progress_.update(std::accumulate(bases_.begin(), bases_.end(), uint64_t{0}), where);
}

}  // namespace carbon
