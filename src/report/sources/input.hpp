// Which kind of file a report is to draw, by its first bytes and lines, never by its name alone.
#pragma once

#include <string>
#include <string_view>

namespace carbon {

enum class InputKind {
  variants,         // VCF or BCF
  variant_table,    // the table of vep -O t
  mutagenesis,      // --matrix of +mutagenesis
  base_scores,      // score -O tsv
  scan,             // the table of scan
  concordance,      // the JSON of +concord
  bench,            // bench --json
  embedding_table,  // embed -O tsv
  embedding_array   // embed -O npy or safetensors, with its .names.tsv
};

/// Throws Error, which says what a report can draw, for any other file.
InputKind input_kind(const std::string& path);
/// The kind of a table by its line of columns; `path` is for messages.
InputKind table_kind(const std::string& path, std::string_view columns);

/// The name of a file without its folders, as titles and captions show it; "standard input" for "-".
std::string file_name(const std::string& path);

}  // namespace carbon
