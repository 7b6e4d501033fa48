#include "src/generate/prompt.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "generate";

Error wrong_token(const std::string& name, std::span<const uint32_t> ids, size_t i, const std::string& what) {
  return Error(kFunction, "token " + std::to_string(i + 1) + " of prompt " + name + ", id " +
                              std::to_string(ids[i]) + ", " + what);
}

// The ids of all k-mers, for messages.
std::string kmer_ids(const TokenLayout& layout) {
  if (!layout.letters) return std::to_string(layout.kmer0()) + " to " + std::to_string(layout.kmer_end() - 1);
  std::vector<std::string> ids;
  for (const uint32_t id : layout.letters->letters) ids.push_back(std::to_string(id));
  return joined(ids, ", ");
}

}  // namespace

void check_draft(const Checkpoint& model, const Checkpoint& draft, bool metadata) {
  const size_t bases = model.config().layout.bases(), draft_bases = draft.config().layout.bases();
  if (bases != draft_bases)
    throw Error(kFunction, "the draft " + draft.id() + " has tokens of " + count_of(draft_bases, "base") +
                               ", and " + model.id() + " has tokens of " + count_of(bases, "base") +
                               "; use a draft model with the same tokens");
  if (metadata && !model.config().layout.same_metadata(draft.config().layout))
    throw Error(kFunction,
                "the draft " + draft.id() + " has another text vocabulary than " + model.id() +
                    " and cannot read the metadata; use a draft model with the same vocabulary, or "
                    "generate without metadata");
}

Constraints::Constraints(const GenerateOptions& options) : path_(options.constraint_file) {
  const auto parse = [&](const std::string& text, const std::string& where) {
    std::vector<BaseSet> sets = parse_constraint(text, where, kFunction);
    if (sets.size() > options.length)
      throw WrongLength(where + " has " + count_of(sets.size(), "base") + ", more than the " +
                        count_of(options.length, "new base"));
    return sets;
  };
  if (!options.constraint.empty()) common_ = parse(options.constraint, "the constraint");
  if (path_.empty()) return;
  FastaReader reader(path_);
  for (FastaRecord record; reader.next(record);) {
    const std::string where = path_ + ", record " + record.name;
    if (!by_name_.emplace(record.name, parse(record.sequence, where)).second)
      throw Error(kFunction, where + ": a second record of this name; give one constraint for each prompt");
  }
  if (by_name_.size() == 1) {
    common_ = std::move(by_name_.begin()->second);
    by_name_.clear();
  }
}

const std::vector<BaseSet>& Constraints::of(const std::string& name) const {
  if (by_name_.empty()) return common_;
  const auto found = by_name_.find(name);
  if (found == by_name_.end())
    throw Error(kFunction,
                path_ + " has no record " + name +
                    "; add one (a single N leaves the prompt free), or give a file with one record "
                    "for all prompts");
  return found->second;
}

PromptPlanner::PromptPlanner(const ModelConfig& model, const ModelConfig* draft,
                             const GenerateOptions& options)
    : layout_(model.layout),
      draft_layout_(draft ? draft->layout : TokenLayout{}),
      with_draft_(draft != nullptr),
      max_positions_(model.max_positions),
      length_(options.length),
      constraints_(options),
      bounds_(options.bounds) {
  if (layout_.bases() == 1 && options.sampler.kind != SamplerKind::kmer)
    throw SettingError(
        kFunction, "sampler",
        std::string("sampler ") + word_of(kSamplerWords, options.sampler.kind) +
            " cannot be used with a model of one base a token, where all samplers would be one; "
            "use kmer");
}

Prompt PromptPlanner::start(uint64_t record, const std::string& name, std::string_view whole) const {
  Prompt prompt;
  prompt.record = record;
  prompt.name = name;
  prompt.first_kmer = layout_.start().size();
  const auto context = [&](const TokenLayout& layout) {
    std::vector<uint32_t> tokens = layout.start(layout_.prefix);
    const std::vector<uint32_t> kmers = encode_kmers(whole, layout);
    tokens.insert(tokens.end(), kmers.begin(), kmers.end());
    return tokens;
  };
  prompt.context = context(layout_);
  if (with_draft_)
    prompt.draft_context = std::make_shared<const std::vector<uint32_t>>(context(draft_layout_));
  return prompt;
}

// `given` are the last bases of the prompt, which belong to the first new k-mer.
void PromptPlanner::add_bases(Prompt& prompt, std::string_view given) const {
  auto bases = std::make_shared<NewBases>();
  bases->given = given.size();
  bases->length = length_;
  bases->k = layout_.bases();
  for (const char base : given) {
    const BaseSet set = iupac_bases(base);
    bases->sets.push_back(set == 0 ? kAnyBase : set);
  }
  const std::vector<BaseSet>& constraint = constraints_.of(prompt.name);
  bases->sets.insert(bases->sets.end(), constraint.begin(), constraint.end());
  prompt.bases = bases;
  check_context(prompt);
  if (!bounds_.any()) return;
  prompt.bounds = bounds_.of(prompt.name, prompt.sequence, *bases);
  prompt.bound_start = prompt.bounds->start(prompt.sequence);
}

Prompt PromptPlanner::plan_unconditional() const {
  Prompt prompt = start(0, "unconditional", "");
  add_bases(prompt, "");
  return prompt;
}

Prompt PromptPlanner::plan(uint64_t record, const FastaRecord& fasta) const {
  const std::string_view bases = fasta.sequence;
  if (bases.empty())
    throw Error(kFunction, "prompt " + fasta.name + " is empty; give it at least one base",
                {"or use {--unconditional} to start without a prompt"});
  if (std::none_of(bases.begin(), bases.end(), [](char base) { return base_digit(base) >= 0; }))
    throw Error(kFunction, "prompt " + fasta.name + " has no A, C, G or T; give it at least one",
                {"or use {--unconditional} to start without a prompt"});
  const size_t given = bases.size() % layout_.bases();
  Prompt prompt = start(record, fasta.name, bases.substr(0, bases.size() - given));
  prompt.sequence = fasta.sequence;
  add_bases(prompt, bases.substr(bases.size() - given));
  return prompt;
}

Prompt PromptPlanner::plan_ids(uint64_t record, const std::string& name,
                               std::span<const uint32_t> ids) const {
  if (ids.size() > max_positions_)
    throw Error(kFunction, "prompt " + name + " has " + count_of(ids.size(), "token") +
                               ", more than the model's context of " + std::to_string(max_positions_));
  const size_t first_kmer = find_kmers(name, ids);
  if (ids.size() > first_kmer && layout_.closes(ids.back())) ids = ids.first(ids.size() - 1);
  check_kmers(name, ids, first_kmer);
  Prompt prompt;
  prompt.record = record;
  prompt.name = name;
  prompt.context.assign(ids.begin(), ids.end());
  prompt.first_kmer = first_kmer;
  for (const uint32_t id : ids.subspan(first_kmer))
    prompt.sequence += id == layout_.oov() ? std::string(layout_.bases(), 'N')
                                           : kmer_text(layout_.kmer_of(id), layout_.bases());
  if (with_draft_) {
    // The ids of metadata are the same in both models, and the k-mers have one order.
    std::vector<uint32_t> metadata(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(first_kmer));
    metadata.erase(std::find(metadata.begin(), metadata.end(), layout_.begin()));
    std::vector<uint32_t> draft = draft_layout_.start(metadata);
    for (const uint32_t id : ids.subspan(first_kmer))
      draft.push_back(id == layout_.oov() ? draft_layout_.oov() : draft_layout_.kmer_id(layout_.kmer_of(id)));
    prompt.draft_context = std::make_shared<const std::vector<uint32_t>>(std::move(draft));
  }
  add_bases(prompt, "");
  return prompt;
}

// Returns how many ids stand before the 6-mers: the token that begins a sequence, and metadata in its place.
size_t PromptPlanner::find_kmers(const std::string& name, std::span<const uint32_t> ids) const {
  const std::string tag(layout_.family->begin_tag);
  const auto begin = static_cast<size_t>(std::find(ids.begin(), ids.end(), layout_.begin()) - ids.begin());
  if (begin == ids.size())
    throw Error(kFunction, "prompt " + name + " has no " + tag + "; give its id, " +
                               std::to_string(layout_.begin()) + ", before the " +
                               std::string(layout_.family->token_word) + "s");
  const bool metadata_first = layout_.family->metadata_place == 0;
  for (size_t i = 0; i < begin; ++i) {
    if (!metadata_first) throw wrong_token(name, ids, i, "stands before " + tag + ", which comes first");
    if (layout_.is_metadata(ids[i])) continue;
    throw wrong_token(name, ids, i,
                      layout_.metadata() == MetadataKind::none
                          ? "stands before " + tag + ", but the model has a vocabulary of DNA alone"
                          : "stands before " + tag + " and is not one of text; expected an id below " +
                                std::to_string(layout_.first));
  }
  size_t first_kmer = begin + 1;
  while (!metadata_first && first_kmer < ids.size() && layout_.is_metadata(ids[first_kmer])) ++first_kmer;
  if (first_kmer > 1 && with_draft_ && !layout_.same_metadata(draft_layout_))
    throw Error(kFunction, "the draft model has another text vocabulary than the model and cannot read the " +
                               count_of(first_kmer - 1, "token") + " " +
                               (metadata_first ? "before " : "after ") + tag + " of prompt " + name);
  return first_kmer;
}

void PromptPlanner::check_kmers(const std::string& name, std::span<const uint32_t> ids,
                                size_t first_kmer) const {
  const std::string tag(layout_.family->begin_tag);
  for (size_t i = first_kmer; i < ids.size(); ++i) {
    if (ids[i] == layout_.oov() || layout_.is_kmer(ids[i])) continue;
    if (ids[i] == layout_.begin())
      throw wrong_token(name, ids, i,
                        "is a second " + tag + "; a prompt has one, at token " +
                            std::to_string(layout_.family->metadata_place == 0 ? first_kmer : 1));
    throw wrong_token(name, ids, i,
                      "stands after " + tag + " and is not one of a " +
                          std::string(layout_.family->token_word) + "; expected " + kmer_ids(layout_) +
                          ", or " + std::to_string(layout_.oov()) + " for " +
                          std::string(layout_.family->oov_tag));
  }
}

void PromptPlanner::check_context(const Prompt& prompt) const {
  // The last new k-mer is never an input, but a family may leave no place for one that is predicted alone.
  const size_t past = layout_.past_context();
  if (prompt.context.size() + prompt.bases->kmers() - past <= max_positions_) return;
  const std::string what = "prompt " + prompt.name + " of " + std::to_string(prompt.sequence.size()) +
                           " bp and " + count_of(length_, "new base") +
                           " do not fit the model's context of " + count_of(max_positions_, "token") + "; ";
  if (prompt.context.size() + 1 - past <= max_positions_) {
    const size_t largest =
        layout_.bases() * (max_positions_ - prompt.context.size() + past) - prompt.bases->given;
    throw WrongLength(what + "the largest number of new bases that fits is " + std::to_string(largest));
  }
  const size_t tokens = prompt.first_kmer + 1 - past;
  const size_t kmers = tokens + 1 > max_positions_ ? 0 : max_positions_ - tokens;
  throw Error(kFunction, what + "the longest prompt that fits has " +
                             std::to_string(layout_.bases() * kmers + layout_.bases() - 1) + " bp");
}

}  // namespace carbon
