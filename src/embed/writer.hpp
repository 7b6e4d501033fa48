// The output formats of `carbon embed`: a table, or a matrix and a table of names.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "src/embed/options.hpp"
#include "src/files/sequence_output.hpp"

namespace carbon {

class EmbedWriter {
 public:
  virtual ~EmbedWriter() = default;
  /// Writes the rows of one sequence, [n, hidden].
  virtual void write(const std::string& name, std::span<const float> rows) = 0;
  /// Called when the sequences `done` are written.
  virtual void end_sequence(const SequencesDone& /*done*/) {}
  /// The sequences that the output has from an earlier run; none without one.
  virtual std::optional<SequencesDone> continued() const { return std::nullopt; }
  /// Passes a table on to a pipe or a terminal, as TextOutput::flush_for_reader() does.
  virtual void flush_for_reader() = 0;
  /// Whether the output is a file that can be continued.
  virtual bool to_file() const { return false; }
  virtual std::string saved_in() const { return ""; }
  virtual void flush_finished() {}
  /// Completes the files. Without it, they are not left behind.
  virtual void close() = 0;
};

/// Throws Error if the output cannot have the type that the options ask for. Opens no file.
void check_embed_output(const EmbedOptions& options);

/// Of `run`, a matrix uses the header alone.
std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, const SequenceRunInfo& run,
                                               size_t hidden);

}  // namespace carbon
