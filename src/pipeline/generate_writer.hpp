// Samples as FASTA, in the order of the input whatever the order in which they are finished.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "src/genome/output.hpp"
#include "src/pipeline/generate_prompt.hpp"

namespace carbon {

class GenerateWriter {
 public:
  explicit GenerateWriter(const GenerateOptions& options);

  /// Sample `sample` (0-based) of a prompt: its new bases and their log-probability. Written as soon as all
  /// before it are.
  void put(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp);
  /// Hands written samples to whoever reads them as they come. Not BGZF: its blocks would end where this is
  /// called.
  void flush() {
    if (streams_) output_.flush();
  }
  /// Bytes of finished samples that wait for earlier ones.
  size_t waiting_bytes() const { return waiting_bytes_; }
  void close() { output_.close(); }

 private:
  std::string record(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp) const;

  const GenerateOptions& options_;
  TextOutput output_;
  bool streams_;
  uint64_t next_ = 0;                        // record * samples + sample of what is written next
  std::map<uint64_t, std::string> waiting_;  // by the same number
  size_t waiting_bytes_ = 0;
};

}  // namespace carbon
