// Samples as FASTA, and progress.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "src/generate/prompt.hpp"
#include "src/genome/output.hpp"

namespace carbon {

class GenerateWriter {
 public:
  explicit GenerateWriter(const GenerateOptions& options);

  /// Writes sample `sample` (0-based) of a prompt: its new bases and their log-probability.
  void write(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp);
  /// Hands written samples to whoever reads the output as they come. It does nothing for BGZF, whose blocks
  /// would end where this is called.
  void flush();
  void close() { output_.close(); }

 private:
  const GenerateOptions& options_;
  TextOutput output_;
  bool streams_;
};

/// Counts new bases. Any thread may call it.
class GenerateProgress {
 public:
  explicit GenerateProgress(ProgressMode mode) : progress_(mode, "generate", "bp") {}
  /// `kmers` more 6-mers are drawn for a sample of the prompt `name`.
  void drawn(size_t kmers, const std::string& name);
  /// A sample is written, of which `kmers` 6-mers have been counted and `bases` bases are new.
  void written(size_t kmers, size_t bases, const std::string& name);
  void finish() { progress_.finish(); }

 private:
  std::mutex mutex_;
  Progress progress_;
  uint64_t kmers_ = 0, bases_ = 0;  // drawn and not written; written
};

}  // namespace carbon
