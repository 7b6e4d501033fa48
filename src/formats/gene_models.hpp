// Gene models: GFF3, and GTF as Ensembl, GENCODE and RefSeq write it. The one reader of such files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/files/text_input.hpp"

namespace carbon {

/// A line of a gene model. The ninth column says whether it is GFF3 or GTF, whatever the file is called.
struct GeneFeature {
  std::string contig, type;
  char strand = '.';
  int64_t begin = 0, end = 0;  // 0-based, half-open
  std::string score;           // as it is written; "." for none
  std::string attributes;      // the ninth column
  bool gtf = false;

  /// The value of an attribute, the first one of that name, as text: without the quotes of GTF and with the
  /// letters that GFF3 writes as %41 and the like. Nothing if there is no such attribute.
  std::optional<std::string> attribute(std::string_view key) const;

  /// A name by which other features refer to this one, and the one that this one refers to: its gene in GTF,
  /// where all lines name it; the first Parent in GFF3. "" without.
  std::string id() const;
  std::string parent() const;
};

/// Whether a line has the columns of a gene model, and not those of BED or of a list of regions.
bool is_gene_feature(std::string_view line);

/// Whether a line of BED or GFF3 is one of UCSC's header lines, of the words track and browser. A contig may
/// be called so, too: a number or the columns of a feature follow it then.
bool is_track_line(std::string_view line);

/// Reads the columns of a line. `where` is its place, for messages. Throws Error if it is malformed.
void parse_gene_feature(std::string_view line, const std::string& where, GeneFeature& feature);

/// Reads the next feature; `line` is for the text of its line. Returns false at the end of the features,
/// after which a GFF3 file may have sequences. Throws Error as parse_gene_feature() does.
bool next_gene_feature(TextInput& input, std::string& line, GeneFeature& feature);

/// The text of a column or a value of GFF3: %41 and the like become the bytes that they stand for. Control
/// characters stay as they are written, because a tab or the end of a line would break the tables into which
/// names go.
std::string gff3_text(std::string_view written);

}  // namespace carbon
