// The output formats of `carbon embed`: a table, or a matrix with a table of names beside it.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "src/embed/run.hpp"

namespace carbon {

class EmbedWriter {
 public:
  virtual ~EmbedWriter() = default;
  /// The rows of one sequence, [n, hidden].
  virtual void write(const std::string& name, std::span<const float> rows) = 0;
  /// Completes the files; without it nothing of them remains.
  virtual void close() = 0;
};

/// Whether the output of these options can be made, as far as can be seen without making it. Throws Error.
void check_embed_output(const EmbedOptions& options);

std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, size_t hidden);

}  // namespace carbon
