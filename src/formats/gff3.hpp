// What lines of GFF3 say, for everybody who reads such files: plugins as well, so that it stands alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/formats/bed.hpp"

namespace carbon {

/// Whether a line of GFF3 is one of UCSC's header lines. What follows a contig is text here, too, but there
/// are further columns, all of them after a tab.
inline bool is_gff3_header(std::string_view line) {
  const std::optional<std::string_view> rest = after_header_word(line);
  return rest && !(rest->starts_with('\t') && rest->find('\t', 1) != std::string_view::npos);
}

/// Whether the features of a GFF3 end before this line, because sequences follow. ##FASTA with more behind it
/// is a comment, such as a peptide.
inline bool ends_gff3_features(std::string_view line) {
  constexpr std::string_view directive = "##FASTA";
  return line.starts_with('>') || (line.starts_with(directive) &&
                                   line.find_first_not_of(" \t", directive.size()) == std::string_view::npos);
}

/// The value of a hexadecimal digit, -1 for another letter.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The text of a column or an attribute: %41 and the like become the bytes that they stand for. Control
/// characters stay as they are written, because a tab or the end of a line would break the tables into which
/// names go.
inline std::string gff3_text(std::string_view written) {
  std::string out;
  for (size_t i = 0; i < written.size(); ++i) {
    const bool escaped = written[i] == '%' && i + 2 < written.size();
    const int high = escaped ? hex_digit(written[i + 1]) : -1, low = escaped ? hex_digit(written[i + 2]) : -1;
    if (high < 2 || low < 0) {
      out += written[i];
      continue;
    }
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return out;
}

/// The value of an attribute in the ninth column, as it is written; nothing if it is not there.
inline std::optional<std::string_view> gff3_attribute(std::string_view attributes, std::string_view key) {
  while (!attributes.empty()) {
    const size_t end = attributes.find(';');
    std::string_view one = attributes.substr(0, end);
    attributes = end == std::string_view::npos ? std::string_view() : attributes.substr(end + 1);
    const size_t begin = one.find_first_not_of(' ');
    one = begin == std::string_view::npos ? std::string_view() : one.substr(begin);
    if (one.size() > key.size() && one.starts_with(key) && one[key.size()] == '=')
      return one.substr(key.size() + 1);
  }
  return std::nullopt;
}

}  // namespace carbon
