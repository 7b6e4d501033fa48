#include "src/generate/drafter.hpp"

#include <algorithm>
#include <cstdio>

#include "src/base/error.hpp"
#include "src/base/log.hpp"

namespace carbon {

Drafter::Drafter(Engine& draft, const Engine& target, const GenerateOptions& options)
    : engine_(draft), policy_(options.draft_tokens), draws_(draft, options.sampler) {
  const TokenLayout &ours = target.config().layout, &theirs = draft.config().layout;
  if (!options.prefix.empty() && (ours.first != theirs.first || ours.vocab_size != theirs.vocab_size))
    throw Error("generate",
                "the draft " + draft.checkpoint().id() + " has another text vocabulary than " +
                    target.checkpoint().id() +
                    " and cannot read the metadata; draft with a model of the same vocabulary, or "
                    "generate without metadata");
}

std::vector<std::optional<Sequence>> Drafter::prefill(
    std::span<const std::shared_ptr<const Prompt>> prompts) {
  std::vector<std::optional<Sequence>> sequences(prompts.size());
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < prompts.size(); ++i) {
    if (prompts[i]->draft_context.size() > config().max_positions) continue;
    sequences[i] = engine_.decoder().kv().make_sequence();
    chunks.push_back({&*sequences[i], prompts[i]->draft_context, 0, 0});
  }
  if (!chunks.empty()) engine_.decoder().forward(chunks);
  return sequences;
}

// How many 6-mers may be drafted for a row.
size_t Drafter::room(const GenerateRow& row) const {
  if (!row.draft || row.missing() < 2) return 0;
  // All drawn so far and all proposed but the last are the draft's input.
  const size_t inputs = row.prompt->draft_context.size() + row.kmers.size();
  const size_t limit = config().max_positions;
  return std::min(row.missing() - 1, inputs > limit ? 0 : limit - inputs + 1);
}

// Appends one proposal to each row.
void Drafter::step(std::span<GenerateRow* const> rows) {
  const size_t first = config().layout.kmer0();
  std::vector<std::vector<uint32_t>> tokens(rows.size());
  std::vector<Chunk> chunks;
  DrawChains draws;
  for (size_t i = 0; i < rows.size(); ++i) {
    GenerateRow& row = *rows[i];
    // What the cache lacks: the last 6-mer, and the one before it when a whole round was accepted.
    const size_t known = row.draft->length() - row.prompt->draft_context.size();
    for (size_t at = known; at < row.kmers.size() + row.proposed.size(); ++at)
      tokens[i].push_back(static_cast<uint32_t>(
          first + (at < row.kmers.size() ? row.kmers[at] : row.proposed[at - row.kmers.size()])));
    chunks.push_back({&*row.draft, tokens[i], tokens[i].size() - 1, tokens[i].size()});
    draws.add(row.draw(row.kmers.size() + row.proposed.size()), i);
    draws.end_chain();
  }
  const HiddenRows hidden = engine_.decoder().forward(chunks, ops::RowClass::decode);
  // Logits that are not finite propose 6-mer 0 all the same; the target will not agree, or is right.
  draws_.draw(hidden, draws, [&](size_t i, const ops::DrawnKmer& drawn) {
    rows[i]->proposed.push_back(static_cast<uint16_t>(drawn.kmer));
    return true;
  });
}

void Drafter::propose(std::span<GenerateRow> rows) {
  const Stopwatch watch;
  asked_ = policy_.next();
  std::vector<size_t> wanted;
  for (const GenerateRow& row : rows) wanted.push_back(std::min(asked_, room(row)));
  for (size_t done = 0; done < asked_; ++done) {
    std::vector<GenerateRow*> drafted;
    for (size_t i = 0; i < rows.size(); ++i)
      if (wanted[i] > done) drafted.push_back(&rows[i]);
    if (drafted.empty()) break;
    step(drafted);
    ++total_.steps;
    total_.drafted += drafted.size();
  }
  draft_seconds_ = watch.seconds();
}

void Drafter::settle(std::span<GenerateRow> rows, std::span<const size_t> drawn_before,
                     double target_seconds) {
  DraftRound round{asked_, rows.size(), 0, 0, draft_seconds_, target_seconds};
  for (size_t i = 0; i < rows.size(); ++i) {
    GenerateRow& row = rows[i];
    const size_t drawn = row.kmers.size() - drawn_before[i];
    const size_t accepted = std::min(row.proposed.size(), drawn - 1);
    round.accepted += accepted;
    round.tested += std::min(row.proposed.size(), drawn);
    row.proposed.clear();
    if (!row.draft) continue;
    // Accepted proposals stay in the cache; the last 6-mer drawn is another one, or not there yet.
    const size_t valid = row.prompt->draft_context.size() + row.kmers.size() - 1;
    if (row.draft->length() > valid) row.draft->truncate(valid);
  }
  policy_.record(round);
  ++total_.rounds;
  total_.tested += round.tested;
  total_.accepted += round.accepted;
  total_.draft_seconds += draft_seconds_;
  total_.target_seconds += target_seconds;
  if (!policy_.off()) return;
  for (GenerateRow& row : rows) row.draft.reset();
  char text[200];
  std::snprintf(text, sizeof text,
                "drafting is off from here on: %.1f %% of the drafted 6-mers were accepted, which would make "
                "it slower than generating without a draft",
                100 * policy_.acceptance());
  log::message("generate", text);
}

void Drafter::report() const {
  char text[300];
  const auto per = [](double a, uint64_t b) { return b > 0 ? a / static_cast<double>(b) : 0.0; };
  std::snprintf(
      text, sizeof text,
      "draft: %llu 6-mers drafted, %llu tested, %llu accepted (%.1f %%); %.3f ms a draft step, %.3f "
      "ms a round of the target",
      static_cast<unsigned long long>(total_.drafted), static_cast<unsigned long long>(total_.tested),
      static_cast<unsigned long long>(total_.accepted),
      100 * per(static_cast<double>(total_.accepted), total_.tested),
      1e3 * per(total_.draft_seconds, total_.steps), 1e3 * per(total_.target_seconds, total_.rounds));
  log::message("generate", text);
}

}  // namespace carbon
