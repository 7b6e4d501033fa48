// Samples as FASTA, in the order of the input whatever the order in which they are finished, and progress.
// Generators of several engines share them, so any thread may call them.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "src/generate/prompt.hpp"
#include "src/genome/output.hpp"

namespace carbon {

class GenerateWriter {
 public:
  explicit GenerateWriter(const GenerateOptions& options);

  /// Sample `sample` (0-based) of a prompt: its new bases and their log-probability. Written as soon as all
  /// before it are.
  void put(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp);
  /// Hands written samples to whoever reads them as they come. Not BGZF: its blocks would end where this is
  /// called.
  void flush();
  /// Bytes of finished samples that wait for earlier ones.
  size_t waiting_bytes() const;
  void close() { output_.close(); }

 private:
  std::string record(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp) const;

  const GenerateOptions& options_;
  TextOutput output_;
  bool streams_;
  mutable std::mutex mutex_;                 // of all that follows and of output_
  uint64_t next_ = 0;                        // record * samples + sample of what is written next
  std::map<uint64_t, std::string> waiting_;  // by the same number
  size_t waiting_bytes_ = 0;
};

/// Counts the new bases of all generators.
class GenerateProgress {
 public:
  GenerateProgress(ProgressMode mode, size_t generators)
      : progress_(mode, "generate", "bp"), bases_(generators) {}
  /// `bases` of this generator so far; `where` is what it works on.
  void update(size_t generator, uint64_t bases, const std::string& where);
  void finish() { progress_.finish(); }

 private:
  std::mutex mutex_;
  Progress progress_;
  std::vector<uint64_t> bases_;
};

}  // namespace carbon
