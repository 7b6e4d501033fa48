#include "src/embed/writer.hpp"

#include <charconv>
#include <vector>

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "src/embed/array_file.hpp"
#include "src/files/output_name.hpp"
#include "src/formats/provenance.hpp"

namespace carbon {
namespace {

constexpr const char kNpy[] = ".npy", kSafetensors[] = ".safetensors", kNames[] = ".names.tsv",
                     kRecord[] = ".json";

EmbedOutput output_of(const EmbedOptions& options) {
  if (options.type) return *options.type;
  return options.output.ends_with(kNpy)           ? EmbedOutput::npy
         : options.output.ends_with(kSafetensors) ? EmbedOutput::safetensors
                                                  : EmbedOutput::tsv;
}

const char* suffix_of(EmbedOutput type) {
  return type == EmbedOutput::npy ? kNpy : kSafetensors;
}

// The output path without its suffix.
std::string stem_of(const EmbedOptions& options) {
  std::string stem = options.output;
  const std::string suffix = suffix_of(output_of(options));
  if (stem.ends_with(suffix)) stem.resize(stem.size() - suffix.size());
  return stem;
}

// One line per row: name, number of the 6-mer if each has a row, values. Values have the fewest digits that
// give the same float.
class TableWriter final : public EmbedWriter {
 public:
  TableWriter(const EmbedOptions& options, const SequenceRunInfo& run, size_t hidden)
      : output_(options.output, run, *options.log),
        hidden_(hidden),
        half_(options.dtype == DType::f16),
        kmers_(options.pool == Pool::none) {
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
  void put(float value) {
    char text[32];
    line_.append(text, std::to_chars(text, text + sizeof text, value).ptr);
  }

  SequenceOutput output_;
  size_t hidden_;
  bool half_, kmers_;
  std::string line_;
};

// The provenance stands in the header of safetensors; npy has no place for it, so it is in a file beside.
class MatrixWriter final : public EmbedWriter {
 public:
  MatrixWriter(const EmbedOptions& options, ArrayFormat format, const std::vector<std::string>& provenance,
               size_t hidden)
      : matrix_(stem_of(options) + suffix_of(output_of(options)), format, options.dtype, hidden,
                format == ArrayFormat::safetensors ? provenance_strings(provenance) : ""),
        names_(stem_of(options) + kNames),
        hidden_(hidden) {
    names_.write("#name\tfirst_row\trows\n");
    if (format == ArrayFormat::safetensors) return;
    record_.emplace(stem_of(options) + kRecord);
    record_->write(provenance_json(provenance));
  }

  void write(const std::string& name, std::span<const float> rows) override {
    names_.write(name + "\t" + std::to_string(matrix_.rows()) + "\t" + std::to_string(rows.size() / hidden_) +
                 "\n");
    matrix_.append(rows);
  }

  void flush_for_reader() override {}

  // The matrix gets its name last, so that a complete matrix always has the files beside it.
  void close() override {
    names_.finish();
    if (record_) record_->finish();
    matrix_.finish();
    names_.commit();
    if (record_) record_->commit();
    matrix_.commit();
  }

 private:
  ArrayFile matrix_;
  TextOutput names_;
  std::optional<TextOutput> record_;
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
    throw Error("embed", "a matrix cannot be continued", {AdviceTopic::resume_table});
  const std::string suffix = suffix_of(type), name = suffix.substr(1);
  const std::string stem = stem_of(options);
  const auto refuse = [&](const std::string& path) {
    throw Error("embed",
                name + " output needs a regular file, because its beginning is written last" +
                    (path.empty() ? "" : ", and " + path + " is not one"),
                {AdviceTopic::matrix_file});
  };
  if (options.output == "-" || stem.empty() || stem.ends_with('/')) refuse("");
  for (const std::string& path : {options.output, stem + suffix})
    if (is_stream(path)) refuse(path);
  if (type == EmbedOutput::npy) check_provenance_file("embed", stem + kRecord);
}

std::unique_ptr<EmbedWriter> make_embed_writer(const EmbedOptions& options, const SequenceRunInfo& run,
                                               size_t hidden) {
  switch (output_of(options)) {
    case EmbedOutput::npy:
      return std::make_unique<MatrixWriter>(options, ArrayFormat::npy, run.header(), hidden);
    case EmbedOutput::safetensors:
      return std::make_unique<MatrixWriter>(options, ArrayFormat::safetensors, run.header(), hidden);
    case EmbedOutput::tsv:
      break;
  }
  return std::make_unique<TableWriter>(options, run, hidden);
}

}  // namespace carbon
