// Writing a VCF that arrives as text: lines become records, which a VcfWriter writes.

#include <utility>

#include "src/base/error.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_header.hpp"
#include "src/formats/vcf_lines.hpp"

namespace carbon {

struct VcfTextWriter::Impl {
  Impl(std::string text, VcfWriterOptions given)
      : shown(std::move(text)), options(std::move(given)), header(shown) {}

  void take_line() {
    ++lines;
    if (line.ends_with('\r')) line.pop_back();
    if (writer)
      take_record();
    else
      take_header_line();
    line.clear();
  }

  void take_header_line() {
    if (lines == 1 && !line.starts_with("##fileformat=VCF"))
      throw Error("read_vcf", shown + ": the first line does not begin with ##fileformat=VCF");
    if (!header.add(line)) return;
    shared->header = header.parse().release();
    warn_of_header_changes(shared->header, header.text(), shown, *options.log);
    writer.reset(new VcfWriter(shared, options));
    writer->flush_for_reader();
  }

  void take_record() {
    VcfRecord::Impl& parts = *record.impl_;
    const std::string where = "line " + std::to_string(lines);
    parts.set_ids.clear();
    parts.record->errcode = 0;
    parser.parse(*shared, shown, where, line, parts.record);
    parts.unpack(*shared, shown, where);
    changes.compare(*shared, parts.record, line, where);
    writer->write(record);
  }

  std::string shown;
  VcfWriterOptions options;
  std::string line;   // so far
  int64_t lines = 0;  // that are complete
  VcfHeaderLines header;
  std::shared_ptr<SharedHeader> shared = std::make_shared<SharedHeader>();
  VcfLineParser parser;
  VcfChanges changes;
  VcfRecord record;
  std::unique_ptr<VcfWriter> writer;  // once the header is complete
};

VcfTextWriter::VcfTextWriter(std::string shown, VcfWriterOptions options)
    : impl_(std::make_unique<Impl>(std::move(shown), std::move(options))) {}
VcfTextWriter::~VcfTextWriter() = default;

void VcfTextWriter::write(std::string_view text) {
  for (size_t newline; (newline = text.find('\n')) != std::string_view::npos;) {
    impl_->line.append(text.substr(0, newline));
    text.remove_prefix(newline + 1);
    impl_->take_line();
  }
  impl_->line.append(text);
}

void VcfTextWriter::flush_for_reader() {
  if (impl_->writer) impl_->writer->flush_for_reader();
}

void VcfTextWriter::close() {
  if (!impl_->line.empty()) impl_->take_line();
  if (!impl_->writer) throw Error("read_vcf", impl_->shown + ": the text ends before the line #CHROM");
  impl_->changes.report(impl_->shown, *impl_->options.log);
  impl_->writer->close();
}

}  // namespace carbon
