// `carbon vep --embeddings`: for each scored ALT the mean hidden states of the windows with the reference and
// with the alternative, as a matrix with a table of its rows beside it (docs/conventions.md, "Embeddings of
// variants").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/formats/matrix_output.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/site.hpp"

namespace carbon {

/// Throws Error unless `path` names a .safetensors or .npy file that can be written.
void check_embeddings_file(const std::string& path);

/// The rows of alleles as one list, which a journal keeps: `ref` and `alt` of each, [2, hidden]; NaN for one
/// that has none.
std::vector<float> joined_rows(const std::vector<std::optional<AlleleMeans>>& alleles, size_t hidden);

/// safetensors: tensors `ref` and `alt` [n, hidden]. npy: [n, 2 * hidden], the reference first.
/// STEM.variants.tsv says which ALT a row belongs to.
class VariantEmbeddings {
 public:
  /// `lines` are those of the output's header. Throws Error, as do the other functions.
  VariantEmbeddings(const std::string& path, size_t hidden, const std::vector<std::string>& lines);

  size_t hidden() const { return hidden_; }
  /// Writes the rows of an ALT, [2, hidden], unless they are NaN.
  void write(const VcfRecord& record, size_t alt, std::span<const float> rows);
  void finish() { matrix_.finish(); }
  void commit() { matrix_.commit(); }

 private:
  size_t hidden_;
  ArrayFormat format_;
  MatrixOutput matrix_;
};

}  // namespace carbon
