#include "src/formats/gene_models.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr size_t kColumns = 9;
constexpr int64_t kLastPosition = int64_t{1} << 40;  // no sequence is as long

bool parse_position(std::string_view text, int64_t& value) {
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value >= 1 && value <= kLastPosition;
}

// Whether the features end before this line, because sequences follow. ##FASTA with more after it is a
// comment, such as a peptide.
bool ends_features(std::string_view line) {
  constexpr std::string_view directive = "##FASTA";
  return line.starts_with('>') || (line.starts_with(directive) &&
                                   line.find_first_not_of(" \t", directive.size()) == std::string_view::npos);
}

// Of key=value;key=value in GFF3; in GTF of key "value"; key value; where quotes may have semicolons.
std::optional<std::string_view> find_attribute(std::string_view text, std::string_view key, bool gtf) {
  for (size_t at = 0; (at = text.find_first_not_of(" ;", at)) != std::string_view::npos;) {
    const size_t key_end = std::min(text.find_first_of(gtf ? " ;" : "=;", at), text.size());
    const bool has_value = key_end < text.size() && text[key_end] != ';';
    size_t begin = key_end + (has_value ? 1 : 0);
    if (gtf) begin = std::min(text.find_first_not_of(' ', begin), text.size());
    const bool quoted = gtf && begin < text.size() && text[begin] == '"';
    if (quoted) ++begin;
    const size_t end = std::min(text.find(quoted ? '"' : ';', begin), text.size());
    if (has_value && text.substr(at, key_end - at) == key) return text.substr(begin, end - begin);
    at = std::min(end + (quoted ? 1 : 0), text.size());
  }
  return std::nullopt;
}

}  // namespace

bool is_track_line(std::string_view line) {
  for (const std::string_view word : {"track", "browser"}) {
    if (!line.starts_with(word)) continue;
    const std::string_view rest = line.substr(word.size());
    if (rest.empty()) return true;
    const bool number = rest.size() > 1 && rest[1] >= '0' && rest[1] <= '9';
    return (rest[0] == ' ' || rest[0] == '\t') && !number && !is_gene_feature(line);
  }
  return false;
}

std::string gff3_text(std::string_view written) {
  std::string out;
  for (size_t i = 0; i < written.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = written.data() + i + 1;
    const bool escaped = written[i] == '%' && i + 2 < written.size() &&
                         std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2 && byte >= ' ';
    out += escaped ? static_cast<char>(byte) : written[i];
    if (escaped) i += 2;
  }
  return out;
}

std::optional<std::string> GeneFeature::attribute(std::string_view key) const {
  const auto value = find_attribute(attributes, key, gtf);
  if (!value) return std::nullopt;
  return gtf ? std::string(*value) : gff3_text(*value);
}

std::string GeneFeature::id() const {
  if (!gtf) return attribute("ID").value_or("");
  return type == "gene" ? attribute("gene_id").value_or("") : "";
}

std::string GeneFeature::parent() const {
  if (gtf) return type == "gene" ? "" : attribute("gene_id").value_or("");
  const std::string_view parents = find_attribute(attributes, "Parent", false).value_or("");
  return gff3_text(parents.substr(0, parents.find(',')));  // a comma of a name is written as %2C
}

bool is_gene_feature(std::string_view line) {
  const std::vector<std::string_view> columns = split(line, '\t');
  int64_t position = 0;
  return columns.size() == kColumns && !parse_position(columns[1], position) &&
         parse_position(columns[3], position) && parse_position(columns[4], position);
}

void parse_gene_feature(std::string_view line, const std::string& where, GeneFeature& feature) {
  const auto fail = [&](const std::string& what) { throw Error("read_genes", where + ": " + what); };
  const std::vector<std::string_view> columns = split(line, '\t');
  if (columns.size() != kColumns)
    fail("a line of GFF3 or GTF has nine columns between tabs: '" + printable(line) + "'");
  for (const auto& [column, value] : {std::pair(columns[3], &feature.begin), {columns[4], &feature.end}})
    if (!parse_position(column, *value))
      fail("'" + printable(column) + "' is not a position; positions are whole numbers from 1");
  if (feature.begin > feature.end) fail("the start lies after the end");
  --feature.begin;
  feature.score = columns[5];
  feature.attributes = columns[8];
  const size_t first = std::min(feature.attributes.find_first_not_of(' '), feature.attributes.size());
  const size_t after_key = feature.attributes.find_first_of(" =\"", first);
  feature.gtf = after_key != std::string::npos && feature.attributes[after_key] != '=';
  feature.contig = feature.gtf ? std::string(columns[0]) : gff3_text(columns[0]);
  feature.type = columns[2];
  feature.strand = columns[6].size() == 1 ? columns[6][0] : '.';
}

bool next_gene_feature(TextInput& input, std::string& line, GeneFeature& feature) {
  while (input.line(line)) {
    if (ends_features(line)) return false;
    if (line.empty() || line[0] == '#' || is_track_line(line)) continue;
    parse_gene_feature(line, input.where(), feature);
    return true;
  }
  return false;
}

}  // namespace carbon
