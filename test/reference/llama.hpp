// A plain Llama, Qwen3 or GENERanno in double or float: the independent reference for the decoder and the
// heads, and the naive implementation in whose own error tolerances are measured.
//
// Written for reading: no cache, no batches, every product a loop, whose rows are divided among threads.
// Shares with the program only the reading of the checkpoint (config, mapped tensors).
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/checkpoint.hpp"

namespace carbon::reference {

template <class T>
using Matrix = std::vector<std::vector<T>>;

/// Final-norm hidden states of a whole sequence, [tokens, hidden].
template <class T>
Matrix<T> hidden_states(const Checkpoint& checkpoint, const std::vector<uint32_t>& tokens);

/// The residual stream after the first `blocks` blocks, [tokens, hidden].
template <class T>
Matrix<T> residual_stream(const Checkpoint& checkpoint, const std::vector<uint32_t>& tokens, size_t blocks);

/// row . head^T over vocabulary rows [first, first + count).
template <class T>
std::vector<T> logits(const Checkpoint& checkpoint, const std::vector<T>& row, size_t first, size_t count);

/// Of an annotator with 6-mers, [2 strands][6 bases][2 classes], of a final-norm state.
template <class T>
std::vector<T> class_logits(const Checkpoint& checkpoint, const std::vector<T>& row);

/// [6][4] natural logs by summing the softmax over all 4,096 6-mers; letters A, T, C, G.
template <class T>
std::vector<double> marginals(const Checkpoint& checkpoint, const std::vector<T>& row);

/// ln softmax over the full vocabulary at `target`.
template <class T>
double token_logprob(const Checkpoint& checkpoint, const std::vector<T>& row, uint32_t target);

}  // namespace carbon::reference
