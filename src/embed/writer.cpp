#include "src/embed/writer.hpp"

#include <vector>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/files/file_name.hpp"
#include "src/formats/matrix_output.hpp"

namespace carbon {
namespace {

EmbedOutput output_of(const EmbedOptions& options) {
  if (options.type) return *options.type;
  const std::optional<ArrayFormat> format = array_format_of(options.output);
  return !format                       ? EmbedOutput::tsv
         : *format == ArrayFormat::npy ? EmbedOutput::npy
                                       : EmbedOutput::safetensors;
}

MatrixPlace place_of(const EmbedOptions& options) {
  const bool npy = output_of(options) == EmbedOutput::npy;
  return {options.output, npy ? ArrayFormat::npy : ArrayFormat::safetensors, ".names.tsv",
          "#name\tfirst_row\trows"};
}

// One line per row: name, number of the 6-mer if each has a row, values. Values have the fewest digits that
// give the same float.
class TableWriter final : public EmbedWriter {
 public:
  TableWriter(const EmbedOptions& options, const SequenceRunInfo& run, size_t hidden)
      : output_(options.output, run, *options.log),
        hidden_(hidden),
        half_(options.dtype == DType::f16),
        kmers_(options.pooling.pool == Pool::none) {
    if (output_.continued()) return;
    line_ = kmers_ ? "#name\tkmer" : "#name";
    for (size_t i = 0; i < hidden; ++i) line_ += "\te" + std::to_string(i);
    output_.write(line_ + "\n");
  }

  void write(const std::string& name, std::span<const float> rows) override {
    for (size_t row = 0; row * hidden_ < rows.size(); ++row) {
      line_ = name;
      if (kmers_) line_ += '\t' + std::to_string(row);
      for (const float value : rows.subspan(row * hidden_, hidden_)) {
        line_ += '\t';
        put(half_ ? half_to_float(float_to_half(value)) : value);
      }
      line_ += '\n';
      output_.write(line_);
    }
  }

  void end_sequence(const SequencesDone& done) override { output_.end_sequence(done); }
  std::optional<SequencesDone> continued() const override { return output_.continued(); }
  void flush_for_reader() override { output_.flush_for_reader(); }
  bool to_file() const override { return output_.to_file(); }
  std::string saved_in() const override { return output_.saved_in(); }
  void flush_finished() override { output_.flush_finished(); }
  void close() override { output_.close(); }

 private:
  void put(float value) { append_shortest(value, line_); }

  SequenceOutput output_;
  size_t hidden_;
  bool half_, kmers_;
  std::string line_;
};

class MatrixWriter final : public EmbedWriter {
 public:
  MatrixWriter(const EmbedOptions& options, const std::vector<std::string>& provenance, size_t hidden)
      : matrix_(place_of(options), {place_of(options).format, options.dtype, hidden}, provenance),
        hidden_(hidden) {}

  void write(const std::string& name, std::span<const float> rows) override {
    matrix_.describe(name + "\t" + std::to_string(matrix_.rows()) + "\t" +
                     std::to_string(rows.size() / hidden_));
    matrix_.append(rows);
  }

  void flush_for_reader() override {}

  void close() override {
    matrix_.finish();
    matrix_.commit();
  }

 private:
  MatrixOutput matrix_;
  size_t hidden_;
};

}  // namespace

void check_embed_output(const EmbedOptions& options) {
  const EmbedOutput type = output_of(options);
  check_output_name("embed", options.output, {word_of(kEmbedOutputWords, type)},
                    std::string(word_of(kEmbedOutputWords, type)) + (options.type ? " by -O" : ""),
                    "choose with -O tsv, npy or safetensors, and a name that fits");
  if (type == EmbedOutput::tsv) return check_continuable("embed", options.output, options.earlier);
  if (options.earlier == EarlierRun::resume)
    throw Error("embed", "a matrix cannot be continued",
                {"write a table with {-O} tsv, or leave out {--resume}"});
  check_matrix_output("embed", place_of(options), {"name a regular file with {-o}, or use {-O} tsv"});
}

std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, const SequenceRunInfo& run,
                                               size_t hidden) {
  if (output_of(options) != EmbedOutput::tsv)
    return std::make_unique<MatrixWriter>(options, run.header(), hidden);
  return std::make_unique<TableWriter>(options, run, hidden);
}

}  // namespace carbon
