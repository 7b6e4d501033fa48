#include "src/report/sources/input.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/model/model_files.hpp"
#include "src/report/sources/embeddings.hpp"

namespace carbon {
namespace {

constexpr size_t kBeginning = 1 << 16;  // enough of a file to know JSON by its keys
// Of tracks for genome browsers.
constexpr std::string_view kTables =
    "draw the table of scan, score -O tsv or annotate -O tsv, which has the same values";

[[noreturn]] void refuse(const std::string& path, const std::string& seen) {
  throw Error(
      "input_kind",
      shown_path(path) + ": " + seen +
          "; a report draws VCF and BCF with scores, the tables of vep -O t, score, scan, embed, "
          "annotate -O tsv, +mutagenesis --matrix and +gene-summary, genes of annotate, histograms of vep "
          "and scan, embeddings in .npy and .safetensors, and the JSON of +concord and +auroc");
}

// A file of carbon that has another one with more to draw, or whose table is all that there is to see.
[[noreturn]] void explain(const std::string& path, const std::string& what) {
  throw Error("input_kind", shown_path(path) + ": this is " + what);
}

// How the line of columns of each kind begins; "$" at the end: the whole line.
constexpr std::pair<std::string_view, InputKind> kColumns[] = {
    {"#CHROM\tPOS\tID\tREF\tALT\tQUAL\t", InputKind::variants},
    {"#CHROM\tPOS\tID\tREF\tALT\t", InputKind::variant_table},
    {"#CHROM\tPOS\tREF\tA\tC\tG\tT$", InputKind::mutagenesis},
    {"#CHROM\tPOS\tREF\tdel\tA\tC\tG\tT$", InputKind::mutagenesis},
    {"#CHROM\tPOS\tREF\tALT\tCARBON_SCAN$", InputKind::scan},
    {"#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT$", InputKind::base_scores},
    {"#name\tpos\tbase\tplus\tminus$", InputKind::coding},
    {"#name\te0\t", InputKind::embedding_table},
    {"#name\tkmer\te0\t", InputKind::embedding_table},
    {"#name\tstart\tend\tstrand\tn_scored\tsum_logp\tmean_logp\tperplexity$", InputKind::score_summary},
    {"#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax$", InputKind::gene_summary},
    {"#TRI\tALT\tBIN\tCOUNT$", InputKind::histogram},
    {"#TAG\tTYPE\tBIN\tCOUNT$", InputKind::histogram}};
// The same of tables that are not drawn, and what they are. These are looked up first.
constexpr std::pair<std::string_view, const char*> kNotDrawn[] = {
    {"#CHROM\tPOS\tID\tREF\tALT\trow",
     "the table of rows of vep --embeddings; draw the VCF that the run has written"},
    {"#name\tfirst_row\trows", "the names of a matrix of embed; name the .npy or .safetensors beside it"},
    {"#metric\tvalue\tlow\thigh", "the table of +auroc; draw its --json, or the VCF with --label"},
    {"#stratum\tpositive\tnegative", "the table of +auroc --by; draw its --json, or the VCF with --label"},
    {"#stratum\tmetric", "the table of +concord; draw its --json"},
    {"#threshold\tsensitivity", "the table of +auroc --thresholds; draw the VCF with --label"},
    {"#stratum\tthreshold", "the table of +auroc --thresholds; draw the VCF with --label"},
    {"#metric\tvalue", "the table of +perturb, a few numbers, which a report does not draw"},
    {"#name\toriginal_ll", "the details of +perturb, which a report does not draw"},
    {"#depth\trows", "the table of +niah, which a report does not draw"},
    {"#uid\tdepth", "the details of +niah, which a report does not draw"},
    {"#measure\tprecision\trecall\tf1", "the table of +genes, a few numbers, which a report does not draw"},
    {"#group\trows", "the table of +recovery, which a report does not draw"},
    {"#name\tgroup\taccuracy", "the details of +recovery, which a report does not draw"}};

bool begins_as(std::string_view columns, std::string_view known) {
  return known.ends_with('$') ? columns == known.substr(0, known.size() - 1) : columns.starts_with(known);
}

InputKind json_kind(const std::string& path, std::string_view text) {
  const auto has = [&](std::string_view key) {
    return text.find("\"" + std::string(key) + "\"") != std::string_view::npos;
  };
  if (has("metrics") && has("counts")) return InputKind::separation;
  if (has("strata") || has("pearson")) return InputKind::concordance;
  if (has("regions") && has("tag")) explain(path, "the JSON of +gene-summary; draw its table");
  if (has("measures") && has("truth"))
    explain(path, "the JSON of +genes, a few numbers, which a report does not draw");
  refuse(path, "this JSON is of none of the known commands");
}

constexpr std::string_view kStart = "##carbon_";

// "vep" of ##carbon_vepCommand=..., with `end` Command; "" for another line.
std::string_view command_named(std::string_view line, std::string_view end) {
  const std::string_view key = line.substr(0, line.find('='));
  return key.starts_with(kStart) && key.ends_with(end)
             ? key.substr(kStart.size(), key.size() - kStart.size() - end.size())
             : "";
}

// Whether a line is one of bedGraph: a name, two positions and a value.
bool is_bedgraph(std::string_view line) {
  const std::vector<std::string_view> columns = split(line, '\t');
  int64_t begin = 0, end = 0;
  double value = 0;
  return columns.size() == 4 && parse_number(columns[1], begin) && parse_number(columns[2], end) &&
         parse_number(columns[3], value);
}

// GFF3 is drawn if annotate has written it, as its header or its first feature says.
InputKind kind_of_gff3(const std::string& path, TextInput& input) {
  bool known = false;
  std::string line = "#";
  while (!known && line.starts_with('#')) {
    known = line.starts_with("#!carbon_annotate");
    line.clear();
    input.line(line);
  }
  if (!known && line.find("\tcarbon\t") == line.npos)
    explain(path, "GFF3; genes are drawn beside scores, by --genes");
  return InputKind::genes;
}

// The kind by the first line that does not begin with ##. A line with a command can be long.
InputKind kind_by_lines(const std::string& path, TextInput& input) {
  std::string line, command;
  while (input.line(line) && line.starts_with("##")) {
    if (const std::string_view named = command_named(line, "Command"); !named.empty()) command = named;
    if (line.starts_with("##gff-version")) return kind_of_gff3(path, input);
    line.clear();
  }
  if (is_bedgraph(line)) explain(path, "bedGraph; " + std::string(kTables));
  try {
    return table_kind(path, line);
  } catch (const Error&) {
    if (command.empty()) throw;
  }
  explain(path, "a file of carbon " + command + " that a report does not draw");
}

bool is_model(std::string_view line) {
  return line.substr(0, line.find('=')).ends_with("Model");
}

std::string words_of(const std::string& field) {
  if (field == "SHA256") return "SHA-256 of the model";
  if (field == "Dtype") return "Data type";
  if (field == "RopeScaling") return "Scaling of positions";
  std::string out;  // "Pad tail" for PadTail
  for (const char c : field) {
    const bool begins = is_capital_letter(c) && !out.empty() && is_small_letter(out.back());
    out += begins ? std::string{' ', small_letter(c)} : std::string(1, c);
  }
  return out;
}

std::string model_sentence(const HeaderFields& fields) {
  const std::string model = header_field(fields, "Model"), recipe = header_field(fields, "Recipe"),
                    type = header_field(fields, "Dtype"), device = header_field(fields, "Device");
  if (model.empty()) return "";
  std::string out = "Model " + model;
  if (!recipe.empty()) out += ", recipe " + recipe;
  if (!type.empty()) out += ", data type " + type;
  // The kind of device stands before what tells one of its kind from another.
  if (!device.empty()) out += ", device " + device.substr(0, device.find_first_of(": "));
  out += ".";
  if (file_name(model) == kBundledModel)
    out += " This is a demonstration model: not meaningful for variants.";
  return out;
}

}  // namespace

InputKind table_kind(const std::string& path, std::string_view columns) {
  for (const auto& [begins, what] : kNotDrawn)
    if (begins_as(columns, begins)) explain(path, what);
  for (const auto& [begins, kind] : kColumns)
    if (begins_as(columns, begins)) return kind;
  refuse(path, columns.empty() ? "its beginning has no line of columns"
                               : "its columns '" + printable(columns.substr(0, 60)) +
                                     "' are of none of the known commands");
}

InputKind input_kind(const std::string& path) {
  TextInput input(path, "input_kind");
  const std::string_view block = input.peek();
  const std::string_view text = block.substr(0, std::min(block.size(), kBeginning));
  if (text.empty()) refuse(path, "it is empty");
  if (text.starts_with("\x26\xfc\x8f\x88") || text.starts_with("\x88\x8f\xfc\x26"))
    explain(path, "a bigWig; " + std::string(kTables));
  if (text.starts_with("BCF")) return InputKind::variants;
  if (is_npy(text) || is_safetensors(text)) {
    if (is_compressed_name(path))
      refuse(path, "a matrix is read where it lies, so it cannot be compressed; unpack it");
    if (is_stream(path))
      refuse(path, "a matrix is drawn with the table of names beside it, so it needs to be a regular file");
    return InputKind::embedding_array;
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return json_kind(path, text);
  if (text.starts_with("##fileformat=VCF")) return InputKind::variants;
  if (text[0] == '>') explain(path, "FASTA; draw the scores that score, scan or embed write of it");
  return kind_by_lines(path, input);
}

std::string file_name(const std::string& path) {
  const std::string file = split_index_name(path).file;
  return shown_path(file.substr(file.rfind('/') + 1));
}

TableReader::TableReader(const std::string& path, const char* function, bool by_hand)
    : path_(path), function_(function), by_hand_(by_hand), input_(path, function) {}

void TableReader::fail(const std::string& what) const {
  throw Error(function_, where() + ": " + what);
}

void TableReader::read_header() {
  while (next() && line_.starts_with("##")) {
    if (!line_.starts_with("##carbon_")) continue;
    if (header_.size() == kHeaderLines) fail("the header has more than 10,000 lines of carbon");
    header_.push_back(line_);
  }
}

void TableReader::jump_to(const VcfRegions& regions) {
  if (!regions.contigs().empty() && IndexedTable::has_index(path_)) jump_.emplace(path_, function_, regions);
}

bool TableReader::next() {
  if (!(jump_ ? jump_->line(line_) : input_.line(line_))) {
    columns_.clear();
    line_.clear();
    return false;
  }
  if (!jump_ && !by_hand_ && !input_.newline_seen())
    fail("the last line has no newline, so the file is probably cut; copy it again or add the newline");
  split(line_, '\t', columns_);
  return true;
}

void TableReader::expect_columns(size_t count) const {
  if (size() != count)
    fail("this line does not have the " + std::to_string(count) + " columns of the header; it has " +
         count_of(size(), "column") + ": '" + printable(line_) + "'");
}

void TableReader::refuse(size_t column, const std::string& what) const {
  fail("'" + printable(columns_[column]) + "' " + what);
}

int64_t TableReader::position(size_t column) const {
  int64_t value = 0;
  if (!parse_number(columns_[column], value) || value < 1 || value > kLastPosition)
    refuse(column, "is not a position; positions are whole numbers from 1");
  return value;
}

double TableReader::number(size_t column, bool logarithm) const {
  if (columns_[column] == ".") return NAN;
  double value = 0;
  const bool parsed = parse_number(columns_[column], value);
  if (!parsed || !(std::abs(value) <= kMostValue || (logarithm && value == -INFINITY)))
    refuse(column, "is not a number of usual size");
  return value;
}

std::vector<std::pair<std::string, std::string>> variant_provenance(const std::string& path,
                                                                    const std::vector<std::string>& lines) {
  std::vector<std::pair<std::string, std::string>> out = {{"File", file_name(path)}};
  const bool several =
      std::count_if(lines.begin(), lines.end(), [](const auto& l) { return is_model(l); }) > 1;
  for (const std::string& line : lines) {
    const size_t equals = line.find('=');
    if (!line.starts_with(kStart) || equals == std::string::npos) continue;
    const std::string_view key = std::string_view(line).substr(0, equals);
    const std::string value = line.substr(equals + 1);
    if (key.ends_with("Version")) {
      out.emplace_back("Program", "carbon " + std::string(command_named(line, "Version")) + " " + value);
    } else if (key.ends_with("Command")) {
      out.emplace_back("Command", value);
    } else if (is_model(line)) {
      const HeaderFields fields = header_fields(line);
      const std::string id = header_field(fields, "ID");
      if (!several) out.emplace_back("Tags", id);
      for (const auto& [name, text] : fields)
        if (name != "ID" && name != "IDX")
          out.emplace_back((several ? id + ": " : "") + words_of(name), text);
    } else {
      out.emplace_back(std::string(key.substr(2)), value);
    }
  }
  return out;
}

std::vector<std::string> model_sentences(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    const HeaderFields fields = header_fields(line);
    const std::string sentence = is_model(line) ? model_sentence(fields) : "";
    if (!sentence.empty()) out.push_back(header_field(fields, "ID") + ": " + sentence);
  }
  return out;
}

}  // namespace carbon
