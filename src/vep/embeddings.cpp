#include "src/vep/embeddings.hpp"

#include <cmath>
#include <limits>

#include "src/base/error.hpp"

namespace carbon {
namespace {

MatrixPlace place_of(const std::string& path) {
  const std::optional<ArrayFormat> format = array_format_of(path);
  if (!format)
    throw Error("vep", path + ": embeddings are written to a file whose name ends in .safetensors or .npy");
  return {path, *format, ".variants.tsv", "#CHROM\tPOS\tID\tREF\tALT\trow"};
}

ArrayLayout layout_of(ArrayFormat format, size_t hidden) {
  if (format == ArrayFormat::npy) return {format, DType::f32, 2 * hidden};
  return {format, DType::f32, hidden, {"ref", "alt"}};
}

}  // namespace

void check_embeddings_file(const std::string& path) {
  check_matrix_output("vep", place_of(path));
}

std::vector<float> joined_rows(const std::vector<std::optional<AlleleMeans>>& alleles, size_t hidden) {
  std::vector<float> rows;
  for (const std::optional<AlleleMeans>& means : alleles) {
    if (means) {
      rows.insert(rows.end(), means->ref.begin(), means->ref.end());
      rows.insert(rows.end(), means->alt.begin(), means->alt.end());
    } else {
      rows.resize(rows.size() + 2 * hidden, std::numeric_limits<float>::quiet_NaN());
    }
  }
  return rows;
}

VariantEmbeddings::VariantEmbeddings(const std::string& path, size_t hidden,
                                     const std::vector<std::string>& lines)
    : hidden_(hidden),
      format_(place_of(path).format),
      matrix_(place_of(path), layout_of(format_, hidden), lines) {}

void VariantEmbeddings::write(const VcfRecord& record, size_t alt, std::span<const float> rows) {
  if (std::isnan(rows.front())) return;
  matrix_.describe(record.contig() + "\t" + std::to_string(record.pos() + 1) + "\t" + record.id() + "\t" +
                   record.ref() + "\t" + record.alts()[alt] + "\t" + std::to_string(matrix_.rows()));
  if (format_ == ArrayFormat::npy) return matrix_.append(rows);
  matrix_.append(rows.first(hidden_), 0);
  matrix_.append(rows.subspan(hidden_), 1);
}

}  // namespace carbon
