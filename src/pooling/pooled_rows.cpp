#include "src/pooling/pooled_rows.hpp"

#include <memory>
#include <utility>

#include "src/base/error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

Pool pool_of(const Pooling& pooling, const TokenLayout& layout) {
  return pooling.pool.value_or(layout.has_separator() ? Pool::separator : Pool::mean);
}

PooledRows::PooledRows(std::string command, const ModelConfig& config, Pooling pooling)
    : command_(std::move(command)),
      positions_(config.sequence_positions()),
      layout_(config.layout),
      pool_(pool_of(pooling, layout_)),
      pad_tail_(pooling.pad_tail) {
  const std::string family(layout_.family->name), word(layout_.family->token_word);
  if (pad_tail_ && !layout_.pads())
    throw Error(command_,
                "the tokenizer of the family " + family + " pads no " + word +
                    (layout_.bases() > 1 ? ", so bases after the last whole " + word + " have no row"
                                         : ", because each base is a token"),
                {"leave out {--pad-tail}"});
  if (pool_ == Pool::separator && !layout_.has_separator())
    throw Error(command_, "pool separator cannot be used with a model of the family " + family +
                              ", which has no token after a sequence; use mean, last or none");
}

size_t PooledRows::kmers(size_t length) const {
  return (length + (pad_tail_ ? layout_.bases() - 1 : 0)) / layout_.bases();
}

// The tokens before and after the k-mers take a position each.
size_t PooledRows::largest() const {
  return layout_.bases() * (positions_ - around());
}

void PooledRows::check(const std::string& name, size_t length) const {
  const size_t tokens = kmers(length) + around();
  if (tokens > positions_)
    throw Error(command_,
                "sequence " + name + " of " + std::to_string(length) + " bp takes " + std::to_string(tokens) +
                    " tokens and the model's context has " + std::to_string(positions_) +
                    "; the longest that fits is " + std::to_string(largest()) + " bp: cut it into pieces",
                {"name regions of it with {-R}"});
  if (tokens == around() && (pool_ == Pool::last || pool_ == Pool::mean))
    throw Error(command_,
                "sequence " + name + " of " + std::to_string(length) + " bp has no " +
                    std::string(layout_.family->token_word) + " to take a hidden state from; leave it out",
                {length > 0 && layout_.pads() ? "or use {--pad-tail}" : "or use {--pool} separator"});
}

RequestPtr PooledRows::request(std::string_view bases, int layer) const {
  const size_t count = kmers(bases.size());
  if (count == 0 && pool_ == Pool::none) return nullptr;
  auto request = std::make_shared<Request>();
  request->tokens = sequence_tokens(bases.substr(0, count * layout_.bases()), layout_);
  // The rows of k-mers do not depend on the separator, so it is only run if its row is wanted.
  if (pool_ == Pool::separator) request->tokens.push_back(layout_.separator());
  const bool every_kmer = pool_ == Pool::mean || pool_ == Pool::none;
  request->want_begin = every_kmer ? layout_.lead() + 1 : request->tokens.size() - 1;
  request->head = pool_ == Pool::mean ? HeadKind::mean_hidden : HeadKind::hidden;
  request->layer = layer;
  return request;
}

}  // namespace carbon
