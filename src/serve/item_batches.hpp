// A request that consists of many items, each with its requests to the model, in batches, so that the results
// that are in memory together stay small: those of a million bases may take gigabytes.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "src/engine/request.hpp"

namespace carbon {

/// `Item` has a member `requests`. No request has its parent in another batch.
template <class Item>
class ItemBatches {
 public:
  void add(Item item) { waiting_.push_back(std::move(item)); }
  bool done() const { return waiting_.empty(); }

  /// Begins a batch with the next items, and returns their requests. `sizes` are those of the model.
  std::vector<RequestPtr> begin(const ResultSizes& sizes) {
    std::vector<RequestPtr> requests;
    for (size_t bytes = 0; !waiting_.empty() && bytes < kBytes; waiting_.pop_front()) {
      running_.push_back(std::move(waiting_.front()));
      for (const RequestPtr& request : running_.back().requests) {
        bytes += request->bytes(sizes);
        tokens_ += request->tokens.size();
        requests.push_back(request);
      }
    }
    return requests;
  }

  /// Hands over the items of the batch, whose requests are finished.
  std::vector<Item> end() { return std::exchange(running_, {}); }
  /// Tokens of all batches that have begun.
  size_t tokens() const { return tokens_; }

 private:
  // Enough to keep a GPU busy for a while: two million bases of one strand.
  static constexpr size_t kBytes = size_t{64} << 20;

  std::deque<Item> waiting_;
  std::vector<Item> running_;
  size_t tokens_ = 0;
};

}  // namespace carbon
