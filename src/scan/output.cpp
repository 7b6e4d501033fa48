#include "src/scan/output.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/formats/provenance.hpp"
#include "src/formats/vcf.hpp"

namespace carbon {
namespace {

constexpr const char* kTag = "CARBON_SCAN";
// The level of compressed outputs, unless a digit of the type says otherwise: a tenth of a percent to two
// percent larger than htslib's default, in less than half the time. A scan writes much, and has to keep up
// with a GPU.
constexpr int kScanCompression = 4;
// The longest text of a value, such as -1.23457e-05.
constexpr uint64_t kValueBytes = 12;

uint64_t digits_of(int64_t number) {
  return std::to_string(number).size();
}

// Contig and position, with tabs.
uint64_t site_bytes(const ScanPiece& piece) {
  return piece.contig.size() + 1 + digits_of(piece.end) + 1;
}

VcfWriterOptions begun(const ScanOptions& options, const IndexedFasta& fasta,
                       const ScanDestination& destination) {
  VcfWriterOptions writing = scan_writer_options(options);
  writing.header_lines = destination.header_lines;
  writing.temporary = destination.temporary;
  writing.continued = destination.continued;
  writing.compression_threads = destination.threads;
  for (const std::string& name : fasta.names()) writing.contigs.emplace_back(name, fasta.length(name));
  return writing;
}

class TableScanOutput final : public ScanOutput {
 public:
  explicit TableScanOutput(const VcfWriterOptions& options) : output_(options) {
    if (options.continued) return;
    for (const std::string& line : options.header_lines) output_.write(line + "\n");
    output_.write(std::string("#CHROM\tPOS\tREF\tALT\t") + kTag + "\n");
  }

  void write(const ScannedBase& base) override {
    const Alternatives alts(base);
    site_ = base.piece->contig;
    site_ += '\t';
    append_integer(base.position + 1, site_);
    site_ += '\t';
    site_ += kBaseLetters[base.digit];
    site_ += '\t';
    text_.clear();
    for (size_t i = 0; i < alts.letters.size(); ++i) {
      text_ += site_;
      text_ += alts.letters[i];
      text_ += '\t';
      append_vcf_float(alts.values[i], text_);
      text_ += '\n';
    }
    output_.write(text_);
  }

  Output& file() override { return output_; }

 private:
  TableOutput output_;
  std::string site_, text_;
};

class VcfScanOutput final : public ScanOutput {
 public:
  explicit VcfScanOutput(const VcfWriterOptions& options) : writer_(options) {}

  void write(const ScannedBase& base) override {
    const Alternatives alts(base);
    writer_.set_snv(record_, base.piece->number, base.position, kBaseLetters[base.digit],
                    {alts.letters.data(), alts.letters.size()});
    scores_.assign(alts.values.begin(), alts.values.end());
    writer_.set_floats(record_, kTag, scores_);
    writer_.write(record_);
  }

  Output& file() override { return writer_; }

 private:
  VcfWriter writer_;
  VcfRecord record_;
  std::vector<float> scores_;
};

class BedgraphScanOutput final : public ScanOutput {
 public:
  BedgraphScanOutput(const std::string& path, const ScanDestination& destination)
      : output_(path, destination.temporary, {kScanCompression, destination.threads}) {
    if (destination.continued) return;
    for (const std::string& line : destination.header_lines) output_.write(line + "\n");
  }

  void write(const ScannedBase& base) override {
    text_ = base.piece->contig;
    for (const int64_t number : {base.position, base.position + 1}) {
      text_ += '\t';
      append_integer(number, text_);
    }
    text_ += '\t';
    append_base_value(base.logp[static_cast<size_t>(base.digit)], text_);
    text_ += '\n';
    output_.write(text_);
  }

  Output& file() override { return output_; }

 private:
  TextOutput output_;
  std::string text_;
};

uint64_t table_bytes(const ScanPiece& piece) {
  return 3 * (site_bytes(piece) + 4 + kValueBytes + 1);
}

std::unique_ptr<ScanOutput> open_table(const ScanOptions& options, const IndexedFasta& fasta,
                                       const ScanDestination& destination) {
  return std::make_unique<TableScanOutput>(begun(options, fasta, destination));
}

uint64_t vcf_bytes(const ScanPiece& piece) {
  return site_bytes(piece) + 2 + 2 + 6 + 6 + 12 + 3 * (kValueBytes + 1);
}

std::unique_ptr<ScanOutput> open_vcf(const ScanOptions& options, const IndexedFasta& fasta,
                                     const ScanDestination& destination) {
  VcfWriterOptions writing = begun(options, fasta, destination);
  writing.records_per_block = 0;
  writing.tags = {
      {kTag, "A", "Float",
       "Carbon ln(P(ALT)/P(REF)) at this base, after the bases to its left on each strand that is "
       "read; negative = the alternative is less likely"}};
  return std::make_unique<VcfScanOutput>(writing);
}

uint64_t bedgraph_bytes(const ScanPiece& piece) {
  return site_bytes(piece) + digits_of(piece.end) + 1 + kValueBytes + 1;
}

std::unique_ptr<ScanOutput> open_bedgraph(const ScanOptions& options, const IndexedFasta&,
                                          const ScanDestination& destination) {
  return std::make_unique<BedgraphScanOutput>(options.output, destination);
}

bool has(const auto& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

// Lines of a VCF would be comments, too.
void check_table_name(const std::string& name) {
  check_row_name("scan", name, "leave it out with {-t 0}", "'^{" + name + "}'");
}

void check_vcf_name(const std::string& name) {
  check_table_name(name);
  if (!fits_contig_line(name))
    throw Error("scan", "the name of contig " + printable(name) + " cannot stand in the header of a VCF",
                {"choose a table with {-O} t, or leave it out with {-t 0}", {"'^{" + name + "}'"}});
}

// The type that a word of -O names. Throws Error.
const ScanOutputType& type_of_word(const std::string& word) {
  for (const ScanOutputType& type : scan_output_types())
    if (has(type.words, word)) return type;
  throw Error("scan", "'" + word + "' is not an output type; one of " + shown_scan_outputs());
}

// The type that -O names, which the name of an output of variants may change into another of these.
const ScanOutputType& type_of_text(const std::string& text) {
  if (text.empty()) return scan_output_types().front();
  const bool has_level = text.size() == 2 && text[1] >= '0' && text[1] <= '9';
  return type_of_word(has_level ? text.substr(0, 1) : text);
}

}  // namespace

const std::vector<ScanOutputType>& scan_output_types() {
  static const std::vector<ScanOutputType> types{
      {.words = {"t"},
       .shown = "t",
       .help = "format: t, a table with one line per SNV (default)",
       .names = {"tsv"},
       .of_variants = true,
       .check_name = check_table_name,
       .bytes_per_base = table_bytes,
       .open = open_table},
      {.words = {"u", "b", "v", "z"},
       .shown = "u|b[0-9]|v|z[0-9]",
       .help = "u or b, BCF, uncompressed or compressed, and v or z, VCF, with one record per base; 0-9, the "
               "compression level",
       .names = {"vcf", "bcf"},
       .of_variants = true,
       .check_name = check_vcf_name,
       .bytes_per_base = vcf_bytes,
       .open = open_vcf},
      {.words = {"bedgraph"},
       .shown = "bedgraph",
       .help = "bedgraph: log-likelihood of each reference base",
       .names = {"bedgraph"},
       .check_name = check_table_name,
       .bytes_per_base = bedgraph_bytes,
       .open = open_bedgraph},
      {.words = {"bigwig"},
       .shown = "bigwig",
       .help = "bigwig: probabilities of the four letters, in PREFIX.A.bw, .C.bw, .G.bw and .T.bw with -o "
               "PREFIX, "
               "and the lowest score of each base, in PREFIX.lowest.bw",
       .names = {"bigwig"},
       .set = "bigWig files",
       .has_hub = true,
       .bytes_per_base = bigwig_bytes,
       .open = open_bigwig}};
  return types;
}

std::string shown_scan_outputs() {
  return joined(scan_output_types(), "|", &ScanOutputType::shown);
}

const ScanOutputType& scan_output_type(const ScanOptions& options) {
  const ScanOutputType& type = type_of_text(options.output_type);
  return type.of_variants ? type_of_word(std::string(1, scan_writer_options(options).type)) : type;
}

std::string scan_output_text(const ScanOptions& options) {
  const ScanOutputType& type = scan_output_type(options);
  if (!type.of_variants) return type.words.front();
  const VcfWriterOptions output = scan_writer_options(options);
  return output.type + (output.level < 0 || output.type == 't' ? "" : std::to_string(output.level));
}

void choose_scan_output(ScanOptions& options) {
  const std::string_view named = format_of_name(options.output);
  for (const ScanOutputType& type : scan_output_types())
    if (options.output_type.empty() && !type.of_variants && has(type.names, named))
      options.output_type = type.words.front();
  const ScanOutputType& type = type_of_text(options.output_type);
  if (type.of_variants) {
    check_output_name("scan", options.output, {"tsv", "vcf", "bcf"}, "a table, VCF or BCF",
                      "choose with -O " + shown_scan_outputs() + ", and a name that fits");
    return;
  }
  check_output_name("scan", options.output, type.names, type.words.front() + " by -O",
                    "leave out -O, or give another name");
  // The name is the beginning of several.
  if (!type.set.empty() && !named.empty()) options.output.resize(options.output.rfind('.'));
}

VcfWriterOptions scan_writer_options(const ScanOptions& options) {
  VcfWriterOptions out;
  out.path = options.output;
  out.log = options.log;
  out.type = 't';
  if (!options.output_type.empty()) parse_output_type(options.output_type, out, shown_scan_outputs());
  out.type = output_type(out);
  if (out.level < 0 && out.type != 'u' && out.type != 'v') out.level = kScanCompression;
  out.indexed_table = true;
  if (!options.write_index.empty()) parse_write_index(options.write_index, out);
  return out;
}

}  // namespace carbon
