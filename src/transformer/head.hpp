// What is read off hidden rows: FNS marginals, conditionals of bases, logits of k-mers, full-vocabulary token
// log-probabilities; values of labels, by the head of a model that was trained to give these; and logits of
// the classes of bases.
//
// Base-level scores use the 4^k rows of DNA of the output matrix alone, which is exact (docs/model.md,
// "Marginals"); the rest of the vocabulary is touched only by token_logprob. The head's product has the class
// of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "src/base/threads.hpp"
#include "src/model/checkpoint.hpp"
#include "src/transformer/decoder.hpp"

namespace carbon {

class Head {
 public:
  /// The checkpoint must outlive the head. Of a model with a classification head, which has no output matrix,
  /// all functions below throw Error.
  Head(ops::Backend& backend, const Checkpoint& checkpoint);

  /// How many k-mers the model chooses among: the logits of a row.
  size_t kmer_count() const { return kmers().rows(); }
  /// out [count, k, 4]: natural log of P_j(b), letters in the order A, T, C, G (technical report eq. S15).
  /// NaN in a row whose logits are not finite.
  void marginals(const HiddenRows& rows, double* out);
  /// out [count, k, 4]: the same given the true bases before each one in its k-mer (docs/model.md,
  /// "Conditionals"); known[i] says which of them row i has.
  void conditionals(const HiddenRows& rows, std::span<const ops::KnownBases> known, double* out);
  /// out [count, kmer_count()] in the order of indices.
  void kmer_logits(const HiddenRows& rows, float* out);
  /// The same into device memory.
  void kmer_logits_on_device(const HiddenRows& rows, float* out);
  /// out[i] = ln softmax over the full vocabulary at targets[i]; NaN where a logit is not finite.
  void token_logprob(const HiddenRows& rows, std::span<const uint32_t> targets, double* out);

 private:
  const ops::Weight& kmers() const;

  ops::Backend& backend_;
  TensorView matrix_;                                 // [vocab, hidden]
  int exponent_ = 0;                                  // of HiddenRows::act
  std::unique_ptr<ops::Weight> kmers_;                // null: there is no output matrix
  std::vector<std::unique_ptr<ops::Weight>> slices_;  // the whole vocabulary, made when first asked for
};

/// Of a model that was trained to give values of labels: score.weight of transformers'
/// LlamaForSequenceClassification, times one hidden state after the final norm.
///
/// The matrix is small, so that it is multiplied on the host. It knows neither activations nor scales.
class ClassificationHead {
 public:
  /// Reads the matrix [labels, hidden] as f32, which holds every stored type exactly. Throws Error if it has
  /// a number that is not finite, or if the model has no classification head.
  explicit ClassificationHead(const Checkpoint& checkpoint);

  size_t labels() const { return labels_; }
  /// One value for each label, of a hidden state [hidden] after the final norm: the sum of the products of
  /// f32 numbers in double, from the first number of the state to the last.
  std::vector<double> values(std::span<const float> state) const;

 private:
  size_t labels_;
  std::vector<float> by_column_;  // [hidden, labels]
};

/// Of an annotator: for each base of a token the logits of its classes, on both strands (docs/model.md,
/// "Annotators"). The heads keep the precision in which they are stored, and are multiplied on the host.
class AnnotatorHead {
 public:
  /// Reads the heads as f32, which holds every stored type exactly. Throws Error if one has a number that is
  /// not finite.
  explicit AnnotatorHead(const Checkpoint& checkpoint);

  /// Logits of a token: for each strand, for each base, for each class.
  size_t width() const { return heads_.size() * outputs_; }
  /// out [rows, width()] of hidden states [rows, hidden] after the final norm. Sums over the last matrix are
  /// in double and those over a hidden layer in f32, from the first number to the last.
  void logits(std::span<const float> states, ThreadPool& pool, float* out) const;

 private:
  struct OneHead {
    std::vector<float> last;            // [hidden, outputs]
    std::vector<float> hidden, biases;  // [hidden inputs, hidden outputs], [hidden]; empty without a layer
  };
  void head_logits(const OneHead& head, const float* states, size_t rows, float* out) const;

  size_t hidden_, outputs_;  // of a strand
  std::vector<OneHead> heads_;
};

}  // namespace carbon
