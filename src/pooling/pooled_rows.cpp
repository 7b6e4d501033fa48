#include "src/pooling/pooled_rows.hpp"

#include <memory>
#include <utility>

#include "src/base/advice_topics.hpp"
#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

PooledRows::PooledRows(std::string command, const ModelConfig& config, Pooling pooling)
    : command_(std::move(command)),
      positions_(config.sequence_positions()),
      layout_(config.layout),
      pooling_(pooling) {
  if (pooling_.pad_tail && !layout_.pads())
    throw Error(command_,
                "the tokenizer of the family " + std::string(layout_.family->name) +
                    " pads no 6-mer, so bases after the last whole 6-mer have no row",
                {AdviceTopic::no_pad_tail});
}

size_t PooledRows::kmers(size_t length) const {
  return (length + (pooling_.pad_tail ? layout_.bases() - 1 : 0)) / layout_.bases();
}

// The tokens before and after the 6-mers take a position each.
size_t PooledRows::largest() const {
  return layout_.bases() * (positions_ - 2);
}

void PooledRows::check(const std::string& name, size_t length) const {
  const size_t tokens = kmers(length) + 2;
  if (tokens > positions_)
    throw Error(command_,
                "sequence " + name + " of " + std::to_string(length) + " bp takes " + std::to_string(tokens) +
                    " tokens and the model's context has " + std::to_string(positions_) +
                    "; the longest that fits is " + std::to_string(largest()) + " bp: cut it into pieces",
                {AdviceTopic::regions});
  if (tokens == 2 && (pooling_.pool == Pool::last || pooling_.pool == Pool::mean))
    throw Error(command_,
                "sequence " + name + " of " + std::to_string(length) +
                    " bp has no 6-mer to take a hidden state from; leave it out",
                {length > 0 && layout_.pads() ? AdviceTopic::pad_tail : AdviceTopic::pool_separator});
}

RequestPtr PooledRows::request(std::string_view bases, int layer) const {
  const size_t count = kmers(bases.size());
  if (count == 0 && pooling_.pool == Pool::none) return nullptr;
  auto request = std::make_shared<Request>();
  request->tokens = sequence_tokens(bases.substr(0, count * layout_.bases()), layout_);
  // The rows of 6-mers do not depend on the separator, so it is only run if its row is wanted.
  if (pooling_.pool == Pool::separator) request->tokens.push_back(layout_.separator());
  const bool every_kmer = pooling_.pool == Pool::mean || pooling_.pool == Pool::none;
  request->want_begin = every_kmer ? layout_.lead() + 1 : request->tokens.size() - 1;
  request->head = pooling_.pool == Pool::mean ? HeadKind::mean_hidden : HeadKind::hidden;
  request->layer = layer;
  return request;
}

}  // namespace carbon
