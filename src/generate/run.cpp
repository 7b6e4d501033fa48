#include "src/generate/run.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <thread>
#include <utility>

#include "src/base/bounded_queue.hpp"
#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/base/threads.hpp"
#include "src/engine/kmer_draws.hpp"
#include "src/generate/drafter.hpp"
#include "src/generate/prompt.hpp"
#include "src/generate/sample.hpp"
#include "src/generate/writer.hpp"
#include "tokenizer/bpe.hpp"
#include "tokenizer/hybrid.hpp"
#include "tokenizer/metadata_tags.hpp"

namespace carbon {
namespace {

// Prompts that are read ahead.
constexpr size_t kQueuedPrompts = 64;
// Keys and values are kept for this many times --batch-tokens tokens, which bounds memory; one sample runs
// however long it is.
constexpr size_t kCachedBatches = 8;
// First 6-mers drawn at a time.
constexpr size_t kStartsAtOnce = 1024;
// Finished samples that wait for an earlier one.
constexpr size_t kMaxWaitingBytes = size_t{1} << 24;

size_t pages(size_t tokens) {
  return (tokens + ops::kPageTokens - 1) / ops::kPageTokens;
}

// A prompt, and which of its samples one generator makes.
struct Task {
  std::shared_ptr<const Prompt> prompt;
  uint32_t first = 0, end = 0;
};

// A prompt whose keys and values are there and whose samples are not all started.
struct ActivePrompt {
  std::shared_ptr<const Prompt> prompt;
  std::optional<Sequence> sequence, draft;
  size_t row;  // of starts_: what the first new 6-mers are drawn from
  uint32_t next_sample, end_sample;
};

class Generator {
 public:
  /// `number`: which of the generators that share writer and progress this is.
  Generator(size_t number, Engine& engine, Drafter* drafter, const GenerateOptions& options,
            BoundedQueue<Task>& queue, GenerateWriter& writer, GenerateProgress& progress)
      : number_(number),
        engine_(engine),
        drafter_(drafter),
        options_(options),
        queue_(queue),
        writer_(writer),
        progress_(progress),
        starts_(engine, options.sampler),
        steps_(engine, options.sampler) {}

  void run() {
    for (;;) {
      if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
      try {
        resume_samples();
        do start_samples();
        while (has_room() && prefill());
        if (live_.empty() && prompts_.empty() && ended_) break;
        if (!live_.empty()) round();
      } catch (const OutOfMemory&) {
        if (!engine_.take_less()) throw;
        suspend_samples();
        // What sequences of either model had may be what the other one lacks.
        engine_.decoder().give_back();
        if (drafter_) drafter_->give_back();
      }
      writer_.flush();
    }
    report();
  }

 private:
  // Pages that the living samples will take beyond those in use; one of each for the copy of a shared page.
  size_t promised_pages() const {
    size_t sum = 0;
    for (const GenerateRow& row : live_)
      sum += pages(row.prompt->context.size() + row.prompt->kmers()) + 1 - pages(row.sequence->length());
    return sum;
  }

  bool has_room() const {
    return live_.empty() || (suspended_.empty() && live_.size() < engine_.batch_tokens() &&
                             writer_.waiting_bytes() < kMaxWaitingBytes &&
                             engine_.decoder().kv().pages_in_use() + promised_pages() < page_limit());
  }
  size_t page_limit() const { return kCachedBatches * engine_.batch_tokens() / ops::kPageTokens; }

  bool next_prompt();
  bool prefill();
  void resume_samples();
  void suspend_samples();
  void start_samples();
  void round();
  void check_group(std::span<GenerateRow> rows);
  void retire_finished();
  void retire(GenerateRow& row);
  void report() const;
  [[noreturn]] void not_finite(const GenerateRow& row) const;

  size_t number_;
  Engine& engine_;
  Drafter* drafter_;
  const GenerateOptions& options_;
  BoundedQueue<Task>& queue_;
  GenerateWriter& writer_;
  GenerateProgress& progress_;
  bool ended_ = false;     // no prompt will come
  std::deque<Task> read_;  // from the queue, not yet prefilled
  std::deque<ActivePrompt> prompts_;
  std::vector<GenerateRow> live_;
  std::deque<GenerateRow> suspended_;  // without keys and values, since memory ran out; in order
  KmerDraws starts_, steps_;           // from the rows of the last prefill, and of check_group
  uint64_t done_bases_ = 0;
  struct {
    uint64_t tokens_read = 0, kmers = 0, rounds = 0;
    double reading = 0, rounds_seconds = 0;
  } total_;
};

// True if a prompt is in read_. Waits for one only if there is nothing else to do.
bool Generator::next_prompt() {
  if (!read_.empty() || ended_) return !read_.empty();
  if (queue_.try_pop(read_)) return true;
  if (!live_.empty() || !prompts_.empty()) return false;  // nor are there suspended ones
  ended_ = !queue_.pop(read_);
  return !ended_;
}

// Runs waiting prompts through the model, about a batch of tokens; false if there was none, or some still
// have samples to start.
bool Generator::prefill() {
  if (!prompts_.empty()) return false;
  std::vector<Task> tasks;
  std::vector<std::shared_ptr<const Prompt>> group;
  std::vector<Sequence> sequences;
  size_t tokens = 0, samples = 0, taken = engine_.decoder().kv().pages_in_use() + promised_pages();
  while (samples < kStartsAtOnce && next_prompt()) {
    const Prompt& prompt = *read_.front().prompt;
    const size_t length = prompt.context.size();
    const size_t row_pages = pages(length + prompt.kmers()) + 1;
    const bool first = group.empty() && live_.empty();
    if (!first && (tokens + length > engine_.batch_tokens() || taken + row_pages > page_limit())) break;
    tokens += length;
    taken += row_pages;
    samples += read_.front().end - read_.front().first;
    group.push_back(read_.front().prompt);
    tasks.push_back(std::move(read_.front()));
    read_.pop_front();
    sequences.push_back(engine_.decoder().kv().make_sequence());
  }
  if (group.empty()) return false;

  const Stopwatch watch;
  std::vector<Chunk> chunks;
  for (size_t i = 0; i < group.size(); ++i)
    chunks.push_back(
        {&sequences[i], group[i]->context, group[i]->context.size() - 1, group[i]->context.size()});
  std::vector<std::optional<Sequence>> drafts(group.size());
  try {
    const HiddenRows rows = engine_.decoder().forward(chunks);
    starts_.keep(rows);
    if (drafter_ && drafter_->on()) drafts = drafter_->prefill(group);
  } catch (const OutOfMemory&) {
    read_.insert(read_.begin(), tasks.begin(), tasks.end());
    throw;
  }
  for (size_t i = 0; i < group.size(); ++i)
    prompts_.push_back(
        {group[i], std::move(sequences[i]), std::move(drafts[i]), i, tasks[i].first, tasks[i].end});
  total_.tokens_read += tokens;
  total_.reading += watch.seconds();
  return true;
}

// Draws the first 6-mers of as many samples as there is room for.
void Generator::start_samples() {
  while (!prompts_.empty() && has_room()) {
    std::vector<GenerateRow> rows;
    DrawChains draws;
    size_t taken = engine_.decoder().kv().pages_in_use() + promised_pages();
    for (ActivePrompt& active : prompts_) {
      const size_t row_pages = pages(active.prompt->context.size() + active.prompt->kmers()) + 1 -
                               pages(active.sequence->length());
      while (active.next_sample < active.end_sample && rows.size() < kStartsAtOnce) {
        const bool first = rows.empty() && live_.empty();
        if (!first && active.prompt->kmers() > 1 &&
            (live_.size() + rows.size() >= engine_.batch_tokens() || taken + row_pages > page_limit()))
          break;
        taken += row_pages;
        GenerateRow& row = rows.emplace_back();
        row.prompt = active.prompt;
        row.sample = active.next_sample++;
        draws.add(row.draw(0), active.row);
        draws.end_chain();
        if (row.prompt->kmers() == 1) continue;  // done with the first 6-mer
        row.sequence = active.sequence->fork();
        if (active.draft && drafter_->on()) row.draft = active.draft->fork();
      }
      if (active.next_sample < active.end_sample) break;
    }
    if (rows.empty()) return;
    try {
      starts_.draw(draws, [&](size_t i, const ops::DrawnKmer& drawn) {
        rows[i].take(drawn);
        return true;
      });
    } catch (const OutOfMemory&) {  // nothing was drawn: these samples are still to be started
      for (ActivePrompt& active : prompts_)
        for (const GenerateRow& row : rows)
          if (row.prompt == active.prompt) active.next_sample = std::min(active.next_sample, row.sample);
      throw;
    }
    for (GenerateRow& row : rows) {
      if (!row.finite) not_finite(row);
      if (row.done())
        retire(row);
      else
        live_.push_back(std::move(row));
    }
    while (!prompts_.empty() && prompts_.front().next_sample == prompts_.front().end_sample)
      prompts_.pop_front();
  }
}

// After memory ran out, and the batch limit is smaller: brings the samples to where they stood when they drew
// last, and takes keys and values from the latest until the others have room to grow.
void Generator::suspend_samples() {
  retire_finished();
  for (GenerateRow& row : live_) {
    row.proposed.clear();
    row.sequence->truncate(row.prompt->context.size() + row.kmers.size() - 1);
    const size_t drafted = row.prompt->draft_context.size() + row.kmers.size() - 1;
    if (row.draft) row.draft->truncate(std::min(row.draft->length(), drafted));
  }
  while (live_.size() > 1 && engine_.decoder().kv().pages_in_use() + promised_pages() > page_limit()) {
    live_.back().sequence.reset();
    live_.back().draft.reset();
    suspended_.push_front(std::move(live_.back()));
    live_.pop_back();
  }
  if (!suspended_.empty())
    log::info("generate", std::to_string(suspended_.size()) + " of " +
                              std::to_string(live_.size() + suspended_.size()) +
                              " living samples wait for memory, and are then computed anew up to there");
}

// Gives suspended samples their keys and values again, as many as there is room for: each token's are
// computed in the class that they had.
void Generator::resume_samples() {
  while (!suspended_.empty()) {
    GenerateRow& row = suspended_.front();
    const std::vector<uint32_t>& context = row.prompt->context;
    const size_t row_pages = pages(context.size() + row.prompt->kmers()) + 1;
    if (!live_.empty() && engine_.decoder().kv().pages_in_use() + promised_pages() + row_pages > page_limit())
      return;
    std::vector<uint32_t> drawn;
    for (const uint16_t kmer : row.kmers) drawn.push_back(engine_.config().layout.kmer0() + kmer);
    drawn.pop_back();
    Sequence sequence = engine_.decoder().kv().make_sequence();
    const auto run = [&](const std::vector<uint32_t>& tokens, ops::RowClass row_class) {
      const Chunk chunk{&sequence, tokens, tokens.size(), tokens.size()};  // no row is wanted
      engine_.decoder().forward(std::span(&chunk, 1), row_class);
    };
    run(context, ops::RowClass::prefill);
    run(drawn, ops::RowClass::decode);
    if (drafter_ && drafter_->on())
      row.draft = std::move(drafter_->prefill(std::span(&row.prompt, 1)).front());
    row.sequence = std::move(sequence);
    live_.push_back(std::move(row));
    suspended_.pop_front();
  }
}

// One pass for every living sample: a 6-mer each, and those of the draft that the target agrees with.
void Generator::round() {
  const Stopwatch whole;
  std::vector<size_t> drawn_before;
  for (const GenerateRow& row : live_) drawn_before.push_back(row.kmers.size());
  if (drafter_ && drafter_->on()) drafter_->propose(live_);

  const Stopwatch watch;
  for (size_t begin = 0; begin < live_.size();) {
    size_t end = begin, tokens = 0;
    do tokens += 1 + live_[end++].proposed.size();
    while (end < live_.size() && tokens + 1 + live_[end].proposed.size() <= engine_.batch_tokens());
    check_group(std::span(live_).subspan(begin, end - begin));
    begin = end;
  }
  if (drafter_ && drafter_->on()) drafter_->settle(live_, drawn_before, watch.seconds());
  for (size_t i = 0; i < live_.size(); ++i) total_.kmers += live_[i].kmers.size() - drawn_before[i];
  ++total_.rounds;
  total_.rounds_seconds += whole.seconds();

  retire_finished();
  uint64_t bases = done_bases_;
  for (const GenerateRow& row : live_) bases += kKmerLength * row.kmers.size() - row.prompt->given;
  if (!live_.empty()) progress_.update(number_, bases, live_.front().prompt->name);
}

// Runs the last 6-mer of each row and what is proposed behind it, draws at each place, and keeps what it drew
// up to and with the first 6-mer that is not the proposed one. All of it has the decode class, however many
// rows that makes, so that a draft changes no bit of what is drawn from.
void Generator::check_group(std::span<GenerateRow> rows) {
  const uint32_t first = engine_.config().layout.kmer0();
  std::vector<std::vector<uint32_t>> tokens(rows.size());
  std::vector<Chunk> chunks;
  DrawChains draws;
  std::vector<size_t> drawn_before;
  for (size_t i = 0; i < rows.size(); ++i) {
    const GenerateRow& row = rows[i];
    drawn_before.push_back(row.kmers.size());
    tokens[i].push_back(first + row.kmers.back());
    for (const uint16_t kmer : row.proposed) tokens[i].push_back(first + kmer);
    chunks.push_back({&*rows[i].sequence, tokens[i], 0, tokens[i].size()});
    for (size_t at = 0; at < tokens[i].size(); ++at)
      draws.add(row.draw(row.kmers.size() + at), draws.draws.size());
    draws.end_chain();
  }
  const HiddenRows hidden = engine_.decoder().forward(chunks, ops::RowClass::decode);
  steps_.draw(hidden, draws, [&](size_t i, const ops::DrawnKmer& drawn) {
    GenerateRow& row = rows[i];
    const size_t at = row.kmers.size() - drawn_before[i];
    row.take(drawn);
    return row.finite && at < row.proposed.size() && row.kmers.back() == row.proposed[at];
  });
  for (GenerateRow& row : rows) {
    if (!row.finite) not_finite(row);
    row.sequence->truncate(row.prompt->context.size() + row.kmers.size() - 1);
  }
}

void Generator::retire_finished() {
  for (GenerateRow& row : live_)
    if (row.done()) retire(row);
  std::erase_if(live_, [](const GenerateRow& row) { return row.done(); });
}

void Generator::retire(GenerateRow& row) {
  writer_.put(*row.prompt, row.sample, row.bases(), row.logp);
  done_bases_ += row.prompt->length;
  progress_.update(number_, done_bases_, row.prompt->name);
}

void Generator::report() const {
  char text[200];
  std::snprintf(text, sizeof text,
                "%llu tokens of prompts in %.3f s; %llu 6-mers in %llu rounds in %.3f s after the first ones",
                static_cast<unsigned long long>(total_.tokens_read), total_.reading,
                static_cast<unsigned long long>(total_.kmers), static_cast<unsigned long long>(total_.rounds),
                total_.rounds_seconds);
  log::info("generate", text);
}

void Generator::not_finite(const GenerateRow& row) const {
  const size_t base = kKmerLength * row.kmers.size() - (row.kmers.empty() ? 0 : row.prompt->given) + 1;
  throw Error("generate", "non-finite logits at new base " + std::to_string(base) + " of " +
                              row.prompt->name + ", sample " + std::to_string(row.sample + 1) +
                              "; the checkpoint's weights or activations are not finite");
}

// Ids of the metadata text: built in where it is known, else through the model's BPE files.
std::vector<uint32_t> prefix_ids(const Engine& engine, const std::string& text) {
  const TokenLayout& layout = engine.config().layout;
  if (text.empty()) return {};
  if (layout.first == 0)
    throw Error("generate",
                "the model " + engine.checkpoint().id() +
                    " has a vocabulary of DNA alone and cannot read metadata; leave out --prefix, "
                    "--species and --gene-type");
  for (const char* tag : {"<dna>", "</dna>"})
    if (text.find(tag) != std::string::npos)
      throw Error("generate", std::string("--prefix holds ") + tag + "; it is the text before <dna> alone");
  if (layout.first == TokenLayout{}.first)
    if (std::optional<std::vector<uint32_t>> ids = known_tag_ids(text)) return *ids;
  const std::string& dir = engine.checkpoint().dir();
  if (!Bpe::present(dir))
    throw Error("generate", "the prefix '" + text + "' is no known tag and " + dir +
                                " has no tokenizer files; put tokenizer.json, or vocab.json and merges.txt, "
                                "beside the weights");
  return HybridTokenizer(layout, std::make_shared<const Bpe>(Bpe::load(dir))).encode(text).ids;
}

// Shares the samples of a prompt out among the generators' queues; whose turn it is to have one more changes
// from prompt to prompt.
void share_out(Prompt prompt, size_t samples, std::deque<BoundedQueue<Task>>& queues) {
  const auto shared = std::make_shared<const Prompt>(std::move(prompt));
  const size_t n = queues.size();
  std::vector<Task> one;
  for (size_t part = 0; part < n; ++part) {
    const auto first = static_cast<uint32_t>(samples * part / n),
               end = static_cast<uint32_t>(samples * (part + 1) / n);
    if (first == end) continue;
    one.push_back({shared, first, end});
    queues[(part + shared->record) % n].push(one);
  }
}

void read_prompts(const PromptPlanner& planner, const GenerateOptions& options,
                  std::deque<BoundedQueue<Task>>& queues) {
  if (options.unconditional) return share_out(planner.plan_unconditional(), options.samples, queues);
  FastaReader reader(options.input);
  uint64_t record = 0;
  for (FastaRecord fasta; reader.next(fasta); ++record)
    share_out(planner.plan(record, fasta), options.samples, queues);
}

}  // namespace

void run_generate(Engines& engines, Engines* drafts, const GenerateOptions& options) {
  std::deque<Drafter> drafters;
  if (drafts)
    for (size_t i = 0; i < engines.size(); ++i) drafters.emplace_back((*drafts)[i], engines[i], options);
  const PromptPlanner planner(engines.front().config(), drafts ? &drafts->front().config() : nullptr,
                              prefix_ids(engines.front(), options.prefix), options);
  GenerateWriter writer(options);
  GenerateProgress progress(options.progress, engines.size());
  std::deque<BoundedQueue<Task>> queues;
  for (size_t i = 0; i < engines.size(); ++i) queues.emplace_back(kQueuedPrompts);
  const auto fail = [&queues](const std::exception_ptr& failure) {
    for (BoundedQueue<Task>& queue : queues) queue.fail(failure);
  };
  std::thread reader([&] {
    try {
      read_prompts(planner, options, queues);
      for (BoundedQueue<Task>& queue : queues) queue.close();
    } catch (...) {
      fail(std::current_exception());
    }
  });
  run_threads(engines.size(), [&](size_t i) {
    try {
      Drafter* const drafter = drafts ? &drafters[i] : nullptr;
      Generator(i, engines[i], drafter, options, queues[i], writer, progress).run();
    } catch (...) {
      fail(std::current_exception());
    }
  });
  reader.join();
  // What failed first is the failure of all queues.
  if (const std::exception_ptr failure = queues.front().failure()) std::rethrow_exception(failure);
  progress.finish();
  writer.close();
  for (const Drafter& drafter : drafters) drafter.report();
}

}  // namespace carbon
