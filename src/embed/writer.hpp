// The output formats of `carbon embed`: a table, or a matrix and a table of names.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/embed/options.hpp"

namespace carbon {

class EmbedWriter {
 public:
  virtual ~EmbedWriter() = default;
  /// Writes the rows of one sequence, [n, hidden].
  virtual void write(const std::string& name, std::span<const float> rows) = 0;
  /// Passes a table on to a pipe or a terminal, as TextOutput::pass_on() does.
  virtual void pass_on() = 0;
  /// Completes the files. Without it, they are not left behind.
  virtual void close() = 0;
};

/// Throws Error if the output cannot have the type that the options ask for. Opens no file.
void check_embed_output(const EmbedOptions& options);

std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, size_t hidden);

}  // namespace carbon
