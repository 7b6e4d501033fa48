#include "src/scan/output.hpp"

#include "src/base/numbers.hpp"
#include "src/files/output.hpp"
#include "src/formats/table_output.hpp"
#include "src/scan/alternatives.hpp"
#include "src/scan/bigwig_output.hpp"

namespace carbon {
namespace {

constexpr const char* kTag = "CARBON_SCAN";

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
  BedgraphScanOutput(const std::string& path, TemporaryName name)
      : output_(path, name, {kScanCompression, kCompressionThreads}) {}

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

}  // namespace

std::unique_ptr<ScanOutput> make_scan_output(const ScanOptions& options, const IndexedFasta& fasta,
                                             const ScanDestination& destination) {
  const ScanOutputType type = scan_output_type(options);
  if (type == ScanOutputType::bedgraph)
    return std::make_unique<BedgraphScanOutput>(options.output, destination.temporary);
  if (type == ScanOutputType::bigwig) return make_bigwig_output(options, fasta);
  VcfWriterOptions writing = scan_writer_options(options);
  writing.header_lines = destination.header_lines;
  writing.temporary = destination.temporary;
  writing.continued = destination.continued;
  for (const std::string& name : fasta.names()) writing.contigs.emplace_back(name, fasta.length(name));
  if (type == ScanOutputType::table) return std::make_unique<TableScanOutput>(writing);
  writing.records_per_block = 0;
  writing.tags = {
      {kTag, "A", "Float",
       "Carbon ln(P(ALT)/P(REF)) at this base, after the bases to its left on each strand that is "
       "read; negative = the alternative is less likely"}};
  return std::make_unique<VcfScanOutput>(writing);
}

}  // namespace carbon
