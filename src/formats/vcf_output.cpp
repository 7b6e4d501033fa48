// What the options of an output mean: its header, its type and index, which of them go together, and which
// positions it can hold; and the table, which has such options.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_header.hpp"
#include "src/formats/vcf_internal.hpp"
#include "src/formats/vcf_lines.hpp"

namespace carbon {

namespace {

constexpr const char* function_name = "write_vcf";

std::string format_header(const bcf_hdr_t* header) {
  kstring_t text = {0, 0, nullptr};
  const int status = bcf_hdr_format(header, 1, &text);
  std::string result(text.s ? text.s : "", text.l);
  ks_free(&text);
  if (status < 0) throw Error(function_name, "the header cannot be formatted; out of memory?");
  return result;
}

std::string info_line(const InfoTag& tag, const std::string& index) {
  return "##INFO=<ID=" + tag.id + ",Number=" + tag.number + ",Type=" + tag.type + ",Description=\"" +
         tag.description + "\"" + index + ">";
}

void append_line(bcf_hdr_t* header, const std::string& line) {
  if (bcf_hdr_append(header, line.c_str()) < 0)
    throw Error(function_name, "cannot add the header line " + line);
}

}  // namespace

void check_lengths(const bcf_hdr_t* header) {
  constexpr uint64_t kLongest = uint64_t{1} << 44;  // of a .csi index with the usual smallest bins
  for (int i = 0; i < header->n[BCF_DT_CTG]; ++i) {
    const bcf_idpair_t& contig = header->id[BCF_DT_CTG][i];
    if (contig.val && contig.val->info[0] > kLongest)
      throw Error(function_name,
                  "contig " + std::string(contig.key ? contig.key : "") + " has a length of " +
                      std::to_string(contig.val->info[0]) +
                      " in the header, which no index can hold; correct the header",
                  {"or leave out {--write-index}"});
  }
}

bool fits_contig_line(std::string_view name) {
  return name.find_first_of(",<>\"= ") == name.npos;
}

void extend_input_header(bcf_hdr_t* header, const VcfWriterOptions& options, bool binary) {
  const bool add_contigs = binary || header->n[BCF_DT_CTG] == 0;
  for (const auto& [name, length] : options.contigs) {
    if (!add_contigs) break;
    if (bcf_hdr_name2id(header, name.c_str()) >= 0) continue;
    if (!fits_contig_line(name)) continue;
    append_line(header,
                "##contig=<ID=" + name + (length >= 0 ? ",length=" + std::to_string(length) : "") + ">");
  }
  for (const InfoTag& tag : options.tags) {
    // htslib takes a removed tag for one that exists, until it is defined anew.
    if (options.takes_lines) bcf_hdr_remove(header, BCF_HL_INFO, tag.id.c_str());
    if (options.takes_lines ||
        !bcf_hdr_idinfo_exists(header, BCF_HL_INFO, bcf_hdr_id2int(header, BCF_DT_ID, tag.id.c_str()))) {
      append_line(header, info_line(tag, ""));
    }
  }
  if (bcf_hdr_sync(header) < 0) throw Error(function_name, "the header cannot be extended; out of memory?");
}

// It numbers names as `input` does, because bcf_hdr_format prints the numbers as IDX and bcf_hdr_parse reads
// them.
VcfHeaderPtr make_output_header(const bcf_hdr_t* input, const VcfWriterOptions& options) {
  const VcfHeaderPtr stripped = parse_vcf_header(format_header(input));
  if (!stripped) throw Error(function_name, "the header cannot be copied");
  for (const InfoTag& tag : options.tags) bcf_hdr_remove(stripped.get(), BCF_HL_INFO, tag.id.c_str());
  for (const std::string& id : options.drop_infos) bcf_hdr_remove(stripped.get(), BCF_HL_INFO, id.c_str());

  std::string added;
  for (const InfoTag& tag : options.tags) {
    const int id = bcf_hdr_id2int(input, BCF_DT_ID, tag.id.c_str());
    added += info_line(tag, ",IDX=" + std::to_string(id)) + "\n";
  }
  for (const std::string& line : options.header_lines) {
    if (!line.starts_with("##") || line.find('\n') != std::string::npos) {
      throw Error(function_name, "'" + line + "' is not a header line");
    }
    added += line + "\n";
  }
  const auto dropped = [&](std::string_view line) {
    return std::any_of(options.drop_header_lines.begin(), options.drop_header_lines.end(),
                       [&](const std::string& beginning) { return line.starts_with(beginning); });
  };
  const std::string text = format_header(stripped.get());
  std::string edited;
  for (size_t begin = 0; begin < text.size();) {
    const size_t newline = std::min(text.find('\n', begin), text.size() - 1);
    const std::string_view line = std::string_view(text).substr(begin, newline + 1 - begin);
    if (line.starts_with("#CHROM")) edited += added;
    if (!dropped(line)) edited += line;
    begin = newline + 1;
  }
  VcfHeaderPtr output = parse_vcf_header(edited);
  if (!output)
    throw Error(function_name, "the output header cannot be built from that of the input; out of memory?");
  return output;
}

void check_output_type(char type, int level) {
  if (std::strchr("ubvz", type) == nullptr) {
    throw Error(function_name, std::string("unknown output type '") + type + "'; one of u, b, v, z");
  }
  if (level > 9 || level < -1) throw Error(function_name, "a compression level is one of 0 to 9");
  if (level >= 0 && (type == 'u' || type == 'v')) {
    throw Error(function_name, "compression level " + std::to_string(level) +
                                   " cannot be set on an uncompressed output; use type z or b");
  }
}

void check_output_index(const VcfWriterOptions& options) {
  if (options.index == VcfIndexKind::none) return;
  const char type = output_type(options);
  if (options.path == "-") {
    throw Error(function_name, "standard output cannot be indexed", {"name a file with {-o}"});
  }
  if (type == 't' && !options.indexed_table) {
    throw Error(function_name,
                options.path + " is a table, which gets no index here; index it with tabix -s1 -b2 -e2");
  }
  if (type == 't' && !is_compressed_name(options.path)) {
    throw Error(
        function_name,
        options.path + " is not compressed, so it cannot be indexed; give it a name that ends in .tsv.gz");
  }
  if (type != 'z' && type != 'b' && type != 't') {
    throw Error(
        function_name,
        options.path +
            " is not compressed, so it cannot be indexed; give it a name that ends in .vcf.gz or .bcf",
        {"or choose a compressed type with {-O} z or {-O} b"});
  }
  if (type == 'b' && options.index == VcfIndexKind::tbi) {
    throw Error(
        function_name,
        options.path + " is BCF, which can have a .csi index but no .tbi index; write .vcf.gz for that",
        {"use {-W} ({--write-index}=csi)"});
  }
}

void parse_output_type(const std::string& text, VcfWriterOptions& options, const std::string& known) {
  if (text.empty() || text.size() > 2 || std::strchr("ubvzt", text[0]) == nullptr ||
      (text.size() == 2 && (text[0] == 't' || text[1] < '0' || text[1] > '9'))) {
    throw Error("parse_output_type", "'" + text + "' is not an output type; one of " + known);
  }
  const int level = text.size() == 2 ? text[1] - '0' : -1;
  if (text[0] != 't') check_output_type(text[0], level);
  options.type = text[0];
  options.level = level;
}

/// The name of the output decides before the type, except that type u keeps BCF uncompressed.
char output_type(const VcfWriterOptions& options) {
  const std::string_view format = format_of_name(options.path);
  const bool compressed = is_compressed_name(options.path);
  if (format == "bcf") return options.type == 'u' ? 'u' : 'b';
  if (format == "vcf") return compressed ? 'z' : 'v';
  if (format == "tsv") return 't';
  if (compressed && (options.type == 0 || options.type == 'v')) return 'z';
  return options.type ? options.type : 'v';
}

void parse_write_index(const std::string& text, VcfWriterOptions& options) {
  if (text != "csi" && text != "tbi") {
    throw Error("parse_write_index", "index type '" + text + "': expected csi or tbi");
  }
  options.index = text == "tbi" ? VcfIndexKind::tbi : VcfIndexKind::csi;
  check_output_index(options);
}

void check_last_position(const VcfWriterOptions& options, int64_t last, const std::string& what) {
  const char type = output_type(options);
  if ((type == 'b' || type == 'u') && last > kLastBcfPosition)
    throw Error(function_name,
                what + ", but BCF holds positions of up to " + std::to_string(kLastBcfPosition) +
                    "; name an output that ends in .vcf.gz or .tsv.gz",
                {"or write VCF with {-O} z"});
  if (options.index == VcfIndexKind::tbi && last > kLastTbiPosition)
    throw Error(function_name,
                what + ", but a .tbi index holds positions of up to " + std::to_string(kLastTbiPosition) +
                    " (512 Mb); a .csi index holds more",
                {"use {-W} ({--write-index}=csi)"});
  if (type == 't' && options.index == VcfIndexKind::csi && last > kLastTablePosition)
    throw Error(function_name,
                what + ", but the index of a table holds positions of up to " +
                    std::to_string(kLastTablePosition) + "; write .vcf.gz, whose index holds more",
                {"or leave out {--write-index}"});
}

/// htslib gives a table so many levels of bins that bins of 2^14 reach 2^32, and those of 2^15 reach 2^33.
int table_index_shift(const VcfWriterOptions& options) {
  constexpr int64_t kReached = int64_t{1} << 32;
  const bool longer = std::any_of(options.contigs.begin(), options.contigs.end(),
                                  [&](const auto& contig) { return contig.second > kReached; });
  return longer ? 15 : 14;
}

struct TableOutput::Impl {
  explicit Impl(const VcfWriterOptions& options)
      : output(options.path, options.temporary, {options.level, options.compression_threads}) {
    if (options.index == VcfIndexKind::none) return;
    if (is_stream(options.path))
      throw Error("write_table", options.path + " is not a regular file, so it cannot be indexed");
    index.emplace(options, IndexedFormat::table);
  }

  TextOutput output;
  std::optional<VcfIndexOutput> index;
};

TableOutput::TableOutput(const VcfWriterOptions& options) : impl_(std::make_unique<Impl>(options)) {}
TableOutput::~TableOutput() = default;

void TableOutput::write(std::string_view text) {
  impl_->output.write(text);
}
void TableOutput::end_block() {
  impl_->output.end_block();
}
void TableOutput::flush() {
  impl_->output.flush();
}
void TableOutput::flush_for_reader() {
  impl_->output.flush_for_reader();
}
void TableOutput::close() {
  impl_->output.close();
  if (impl_->index) impl_->index->build();
}

// ---- a VCF that arrives as text: lines become records, which a VcfWriter writes

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
