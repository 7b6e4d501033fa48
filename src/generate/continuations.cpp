#include "src/generate/continuations.hpp"

#include <memory>
#include <vector>

#include "src/base/error.hpp"
#include "src/engine/kmer_draws.hpp"
#include "src/generate/prompt.hpp"
#include "src/generate/sample.hpp"

namespace carbon {
namespace {

// Runs `chunks`, of which each asks for one row, and draws the next 6-mer of the rows of the same index.
void draw(Engine& engine, const std::vector<Chunk>& chunks, ops::RowClass row_class,
          const std::vector<GenerateRow*>& rows, KmerDraws& drawer) {
  DrawChains draws;
  for (size_t i = 0; i < rows.size(); ++i) {
    draws.add(rows[i]->draw(rows[i]->kmers.size()), i);
    draws.end_chain();
  }
  drawer.draw(engine.decoder().forward(chunks, row_class), draws, [&](size_t i, const ops::DrawnKmer& drawn) {
    rows[i]->take(drawn);
    return true;
  });
  for (const GenerateRow* row : rows)
    if (!row->finite)
      throw Error("generate", "non-finite logits after " + row->prompt->name +
                                  "; the checkpoint's weights or activations are not finite");
}

void run_group(Engine& engine, std::vector<GenerateRow>& group, KmerDraws& drawer) {
  std::vector<Chunk> chunks;
  std::vector<GenerateRow*> rows;
  for (GenerateRow& row : group) {
    row.sequence = engine.decoder().kv().make_sequence();
    const std::vector<uint32_t>& context = row.prompt->context;
    chunks.push_back({&*row.sequence, context, context.size() - 1, context.size()});
    rows.push_back(&row);
  }
  draw(engine, chunks, ops::RowClass::prefill, rows, drawer);
  for (;;) {
    std::erase_if(rows, [](const GenerateRow* row) { return row->done(); });
    if (rows.empty()) return;
    std::vector<uint32_t> last;  // the tokens that go in, one a row
    last.reserve(rows.size());
    for (const GenerateRow* row : rows) last.push_back(engine.config().layout.kmer0() + row->kmers.back());
    chunks.clear();
    for (size_t i = 0; i < rows.size(); ++i) chunks.push_back({&*rows[i]->sequence, {&last[i], 1}, 0, 1});
    draw(engine, chunks, ops::RowClass::decode, rows, drawer);
  }
}

}  // namespace

void generate_bases(Engine& engine, const SamplerOptions& sampler, size_t length,
                    std::span<const NumberedPrompt> prompts,
                    const std::function<void(size_t, const Continuation&)>& take) {
  if (length == 0) throw Error("generate", "no new bases are asked for; ask for at least one");
  GenerateOptions options;
  options.length = length;
  const PromptPlanner planner(engine.config(), nullptr, {}, options);
  KmerDraws drawer(engine, sampler);
  std::vector<GenerateRow> group;
  size_t tokens = 0, done = 0;
  const auto flush = [&] {
    run_group(engine, group, drawer);
    for (const GenerateRow& row : group) take(done++, {row.bases(), row.logp});
    group.clear();
    tokens = 0;
  };
  for (const NumberedPrompt& numbered : prompts) {
    const FastaRecord record{std::to_string(numbered.record + 1), std::string(numbered.bases)};
    auto prompt = std::make_shared<const Prompt>(planner.plan(numbered.record, record));
    if (!group.empty() && tokens + prompt->context.size() > engine.batch_tokens()) flush();
    tokens += prompt->context.size();
    group.emplace_back().prompt = std::move(prompt);
  }
  if (!group.empty()) flush();
}

}  // namespace carbon
