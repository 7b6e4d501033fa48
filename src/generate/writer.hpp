// Writes samples as FASTA, and shows progress.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/files/sequence_output.hpp"
#include "src/generate/prompt.hpp"

namespace carbon {

/// How many samples an output has, with `per_prompt` samples for each prompt.
uint64_t samples_in(const SequencesDone& done, size_t per_prompt);

class GenerateWriter {
 public:
  /// Opens the output. A FASTA has no place for the lines of `provenance`, so a file gets them as JSON beside
  /// it; they are asked for only then. Throws Error, as do the other functions.
  GenerateWriter(const GenerateOptions& options, const SequenceRunInfo& run,
                 const std::function<std::vector<std::string>()>& provenance);

  /// The prompts whose samples the output has from an earlier run, of the last of them perhaps only some;
  /// none without one.
  const std::optional<SequencesDone>& continued() const { return output_.continued(); }
  /// Writes sample `sample` (0-based) of a prompt: its new bases and their log-probability.
  void write(const Prompt& prompt, uint32_t sample, std::string_view bases, double logp);
  /// Passes the samples on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  void flush_for_reader() { output_.flush_for_reader(); }
  bool to_file() const { return output_.to_file(); }
  std::string saved_in() const { return output_.saved_in(); }
  void flush_finished() { output_.flush_finished(); }
  /// Completes the output and the JSON beside it. Without it, neither is left behind.
  void close();

 private:
  const GenerateOptions& options_;
  std::string record_path_;  // of the JSON; "": none
  SequenceOutput output_;
  std::optional<TextOutput> record_;
};

/// Counts new bases, and shows them as progress. Any thread may call it.
class GenerateProgress {
 public:
  /// `k` are the bases of a token, which is a k-mer.
  GenerateProgress(Log& log, ProgressMode mode, size_t k) : progress_(log, mode, "generate", "bp"), k_(k) {}
  /// Called when `kmers` more k-mers are drawn for a sample of the prompt `name`.
  void drawn(size_t kmers, const std::string& name);
  /// Called when a sample is written. It has `bases` new bases, and drawn() has counted `kmers` k-mers for
  /// it.
  void written(size_t kmers, size_t bases, const std::string& name);
  /// Ends the counting. Samples that are still being drawn, in a run that is stopped, do not count any more.
  void finish();

 private:
  std::mutex mutex_;
  Progress progress_;
  size_t k_;
  uint64_t kmers_ = 0;  // drawn, of samples that are not written yet
  uint64_t bases_ = 0;  // written
  bool finished_ = false;
};

}  // namespace carbon
