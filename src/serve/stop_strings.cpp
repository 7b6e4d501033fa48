#include "src/serve/stop_strings.hpp"

#include <algorithm>

#include "src/formats/fasta_alphabet.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

StoppedText::StoppedText(std::vector<std::string> stops) {
  for (std::string& stop : stops) {
    std::transform(stop.begin(), stop.end(), stop.begin(), dna_letter);
    if (is_acgt(stop)) stops_.push_back(to_upper(stop));
  }
  // The longest first.
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

bool StoppedText::add(std::string_view bases) {
  for (const char base : bases) {
    if (stopped()) break;
    text_ += base;
    for (const std::string& stop : stops_) {
      if (!text_.ends_with(stop)) continue;
      found_ = stop;
      text_.resize(text_.size() - stop.size());
      break;
    }
  }
  return !stopped();
}

size_t StoppedText::certain() const {
  if (stopped()) return text_.size();
  size_t held = 0;
  for (const std::string& stop : stops_)
    for (size_t n = std::min(stop.size() - 1, text_.size()); n > held; --n)
      if (std::string_view(text_).ends_with(std::string_view(stop).substr(0, n))) held = n;
  return text_.size() - held;
}

}  // namespace carbon
