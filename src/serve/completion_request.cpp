#include "src/serve/completion_request.hpp"

#include <algorithm>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/system.hpp"
#include "src/formats/fasta.hpp"
#include "src/sampling/joint.hpp"
#include "src/serve/api_error.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

// ---- Prompts.

namespace {

constexpr std::string_view kBegin = "<dna>", kEnd = "</dna>";

std::string_view without_end(std::string_view text, std::string_view tag = kEnd) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  if (text.ends_with(tag)) text.remove_suffix(tag.size());
  return text;
}

std::string_view without_beginning(std::string_view text, std::string_view tag = "") {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  if (text.starts_with(tag)) text.remove_prefix(tag.size());
  return text;
}

std::vector<uint32_t> read_ids(const nlohmann::json& list, const std::string& field) {
  std::vector<uint32_t> ids;
  ids.reserve(list.size());
  for (const nlohmann::json& id : list) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > UINT32_MAX)
      throw ApiError(400, field + "[" + std::to_string(ids.size()) + "] is not a token id", field);
    ids.push_back(id.get<uint32_t>());
  }
  return ids;
}

std::string sent_bases(const Fields& fields, std::string_view text, const std::string& field) {
  return checked_bases(field, text, [&](const std::string& note) { fields.note(note); });
}

// A text of a family with <dna> and </dna>.
DnaText split_tagged_text(const Fields& fields, std::string_view text, const std::string& field,
                          bool auto_dna_tags) {
  const size_t begin = text.find(kBegin);
  if (begin == std::string_view::npos) {
    if (auto_dna_tags) return {"", sent_bases(fields, without_end(text), field)};
    throw ApiError(
        400,
        field +
            " has no <dna>: write \"<dna>ACGT...\" with the bases after the tag (a server started with "
            "--auto-dna-tags adds it)",
        field, "dna_tag_missing");
  }
  const std::string_view bases = without_end(text.substr(begin + kBegin.size()));
  for (const std::string_view tag : {kBegin, kEnd})
    if (bases.find(tag) != std::string_view::npos ||
        text.substr(0, begin).find(kEnd) != std::string_view::npos)
      throw ApiError(400, field + " has more than one DNA region; give one, and </dna> only at its end",
                     field);
  return {std::string(text.substr(0, begin)), sent_bases(fields, bases, field)};
}

// A text of a family whose whole text is DNA and single tokens. The token that begins a sequence may be there
// or not: nothing else can be meant.
DnaText split_token_text(const Fields& fields, std::string_view text, const std::string& field,
                         const ModelFamily& family) {
  const std::string begin(family.begin_tag);
  for (const std::string_view tag : {kBegin, kEnd})
    if (text.find(tag) != std::string_view::npos)
      throw ApiError(400,
                     field + " has " + std::string(tag) + ", which a model of the family " +
                         std::string(family.name) + " does not know: write \"" + begin +
                         "ACGT...\", or the bases alone",
                     field, "dna_tag_unknown");
  std::string_view rest = without_beginning(text, begin);
  std::string metadata;
  for (rest = without_beginning(rest); rest.starts_with('<') && !rest.starts_with(family.separator_tag);
       rest = without_beginning(rest)) {
    const size_t end = std::min(rest.find('>'), rest.size() - 1) + 1;
    metadata += rest.substr(0, end);
    rest.remove_prefix(end);
  }
  rest = without_end(rest, family.separator_tag);
  if (rest.find(family.begin_tag) != std::string_view::npos)
    throw ApiError(400, field + " has more than one " + begin + "; a sequence begins with one", field);
  return {metadata, sent_bases(fields, rest, field)};
}

// Takes a text apart: metadata, <dna>, bases, and at the end an optional </dna>, which is left out. White
// space between bases is dropped. If the server adds tags, a text without <dna> is all bases. Where metadata
// is single tokens, they stand before the bases, and <s> before them may be left out. Throws ApiError, which
// names `field`, for a text without <dna>, for more than one DNA region or <s>, for <dna> where the family
// has none, and for bases that checked_bases() refuses. `fields` keep its note.
DnaText split_dna_text(const Fields& fields, std::string_view text, const std::string& field,
                       const ServedModel& served) {
  const TokenLayout& layout = served.config().layout;
  if (layout.letters) return {"", sent_bases(fields, text, field)};
  return layout.metadata() == MetadataKind::tokens
             ? split_token_text(fields, text, field, *layout.family)
             : split_tagged_text(fields, text, field, served.auto_dna_tags());
}

}  // namespace

std::vector<SentPrompt> read_prompts(const Fields& fields, const std::string& name, const ServedModel& served,
                                     size_t most) {
  const nlohmann::json& value = fields.required(name);
  std::vector<SentPrompt> prompts;
  const auto add = [&](const nlohmann::json& one, const std::string& field) {
    if (one.is_string()) {
      prompts.emplace_back(split_dna_text(fields, one.get_ref<const std::string&>(), field, served));
    } else if (one.is_array()) {
      prompts.emplace_back(read_ids(one, field));
    } else {
      throw ApiError(400, field + " must be a string or a list of token ids", field);
    }
  };
  if (!value.is_array() || (!value.empty() && value.front().is_number())) {
    add(value, name);
    return prompts;
  }
  if (value.empty()) fields.fail(name, "is empty");
  if (value.size() > most)
    fields.fail(name, "has " + std::to_string(value.size()) + " entries; the server's limit is " +
                          std::to_string(most));
  for (const nlohmann::json& one : value) add(one, name + "[" + std::to_string(prompts.size()) + "]");
  return prompts;
}

std::string bases_of(const SentPrompt& prompt, const TokenLayout& layout) {
  if (const auto* const text = std::get_if<DnaText>(&prompt)) return text->bases;
  std::string bases;
  bool dna = false;
  for (const uint32_t id : std::get<std::vector<uint32_t>>(prompt)) {
    if (dna && layout.is_kmer(id)) bases += kmer_text(layout.kmer_of(id), layout.bases());
    if (dna && id == layout.oov()) bases.append(layout.bases(), 'N');
    dna = dna || id == layout.begin();
  }
  return bases;
}

// ---- The fields of completions.

namespace {

// Fields that would change what is drawn, and which the samplers do not have. Their neutral values are
// accepted, because clients send them.
struct Neutral {
  const char* name;
  double value;
};
constexpr Neutral kNeutral[] = {{"repetition_penalty", 1},
                                {"presence_penalty", 0},
                                {"frequency_penalty", 0},
                                {"min_p", 0},
                                {"length_penalty", 1}};
// Texts and lists that say nothing when they are empty.
constexpr const char* kNeutralIfEmpty[] = {"suffix",         "allowed_token_ids", "bad_words",
                                           "guided_choice",  "guided_grammar",    "guided_regex",
                                           "stop_token_ids", "logits_processors"};
constexpr const char* kRefused[] = {"guided_json", "structured_outputs"};
constexpr const char* kCannot = "is not supported; remove it";
constexpr size_t kMostStops = 16, kLongestStop = 6000;

bool is_empty(const nlohmann::json& value) {
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value.is_array() && value.empty();
}

// A bias of zero for any token changes nothing.
bool biases(const nlohmann::json& value) {
  return !value.is_structured() ||
         std::any_of(value.begin(), value.end(), [](const nlohmann::json& bias) { return bias != 0; });
}

// The best of n samples, of which all are returned, are these.
void check_best_of(const Fields& fields, size_t samples) {
  const double best_of = fields.number("best_of", 1, -1e300, 1e300);
  if (best_of != 1 && best_of != static_cast<double>(samples))
    fields.fail("best_of", "is not supported unless it equals n; remove it");
}

void refuse_what_changes_the_draw(const Fields& fields) {
  for (const auto& [name, value] : kNeutral)
    if (fields.has(name) && fields.number(name, value, -1e300, 1e300) != value) fields.fail(name, kCannot);
  for (const char* name : kRefused)
    if (fields.has(name)) fields.fail(name, kCannot);
  for (const char* name : kNeutralIfEmpty)
    if (const nlohmann::json* const value = fields.find(name); value && !is_empty(*value))
      fields.fail(name, kCannot);
  if (const nlohmann::json* const bias = fields.find("logit_bias"); bias && biases(*bias))
    fields.fail("logit_bias", kCannot);
  for (const char* name : {"use_beam_search", "include_stop_str_in_output"})
    if (fields.flag(name, false)) fields.fail(name, kCannot);
  if (const nlohmann::json* const format = fields.find("response_format");
      format && (!format->is_object() || format->value("type", nlohmann::json()) != "text"))
    fields.fail("response_format", "is not supported, because the answer is text; remove it");
}

std::vector<std::string> read_stops(const Fields& fields) {
  const nlohmann::json* const value = fields.find("stop");
  std::vector<std::string> stops;
  if (!value) return stops;
  const auto add = [&](const nlohmann::json& one) {
    if (!one.is_string()) fields.fail("stop", "must be a string or a list of strings");
    stops.push_back(one.get<std::string>());
    if (stops.back().empty() || stops.back().size() > kLongestStop)
      fields.fail("stop", "has a string of " + std::to_string(stops.back().size()) + " letters; 1 to " +
                              std::to_string(kLongestStop) + " are possible");
  };
  if (!value->is_array()) {
    add(*value);
    return stops;
  }
  if (value->size() > kMostStops)
    fields.fail("stop", "has more than " + std::to_string(kMostStops) + " strings");
  for (const nlohmann::json& one : *value) add(one);
  return stops;
}

// A seed for a request without one: at most 2^53, so that every client reads it exactly.
uint64_t draw_seed() {
  return system_random() >> 11;
}

// The field `seed`: a whole number of 64 bits, with or without sign.
std::optional<uint64_t> read_seed(const Fields& fields) {
  const nlohmann::json* const value = fields.find("seed");
  if (!value) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  return static_cast<uint64_t>(fields.whole("seed", 0, INT64_MIN, INT64_MAX));
}

SamplerOptions read_sampler(const Fields& fields) {
  SamplerOptions sampler;
  sampler.temperature = fields.number("temperature", 1, 0, 100);
  sampler.greedy = sampler.temperature == 0;
  if (sampler.greedy) sampler.temperature = 1;
  sampler.top_p = fields.number("top_p", 1, 0, 1);
  if (sampler.top_p == 0) fields.fail("top_p", "must be above 0");
  // OpenAI's clients send -1 or 0 for all.
  const int64_t top_k = fields.whole("top_k", 0, -1, static_cast<int64_t>(ops::kKmers));
  sampler.top_k = top_k > 0 ? static_cast<uint32_t>(top_k) : 0;
  if (sampler.greedy) {
    sampler.top_k = 0;
    sampler.top_p = 1;
  }
  sampler.seed = read_seed(fields).value_or(draw_seed());
  return sampler;
}

std::optional<size_t> read_logprobs(const Fields& fields, const std::string& name) {
  const nlohmann::json* const value = fields.find(name);
  if (!value || *value == false) return std::nullopt;
  return static_cast<size_t>(fields.whole(name, 0, 0, static_cast<int64_t>(kRanked)));
}

void check_size(const CompletionRequest& request, const Fields& fields, const TokenLayout& layout,
                const RequestLimits& limits) {
  const size_t samples = request.prompts.size() * request.samples;
  if (samples > limits.items)
    fields.fail("n", "times the number of prompts is " + std::to_string(samples) +
                         "; the server's limit is " + std::to_string(limits.items));
  size_t bases = samples * request.max_tokens * layout.bases();
  for (const SentPrompt& prompt : request.prompts) bases += bases_of(prompt, layout).size();
  if (bases > limits.bases)
    fields.fail("max_tokens", "and the prompts have " + std::to_string(bases) +
                                  " bases together, for all samples; the server's limit for one request is " +
                                  std::to_string(limits.bases));
}

}  // namespace

CompletionRequest read_completion(const Fields& fields, const ServedModel& served,
                                  const RequestLimits& limits) {
  CompletionRequest request;
  request.prompts = read_prompts(fields, "prompt", served, limits.items);
  request.samples = static_cast<size_t>(fields.whole("n", 1, 1, static_cast<int64_t>(limits.items)));
  request.max_tokens = static_cast<size_t>(fields.whole("max_tokens", 16, 0, 1 << 24));
  check_best_of(fields, request.samples);
  refuse_what_changes_the_draw(fields);
  request.sampler = read_sampler(fields);
  request.stops = read_stops(fields);
  // Without stop strings every sample has max_tokens 6-mers.
  const int64_t most = request.stops.empty() ? static_cast<int64_t>(request.max_tokens) : 0;
  if (fields.whole("min_tokens", 0, 0, INT32_MAX) > most)
    fields.fail("min_tokens", "is not supported beside stop or above max_tokens; remove it");
  request.echo = fields.flag("echo", false);
  request.stream = fields.flag("stream", false);
  request.token_ids = fields.flag("return_token_ids", false);
  request.logprobs = read_logprobs(fields, "logprobs");
  request.prompt_logprobs = read_logprobs(fields, "prompt_logprobs");
  if (const nlohmann::json* const options = fields.find("stream_options"))
    request.include_usage = Fields(*options, "stream_options").flag("include_usage", false);
  fields.flag("ignore_eos", false);  // the end of a text is never drawn
  fields.find("user");               // known, and of no use here
  if (request.stream && request.prompt_logprobs)
    fields.fail("prompt_logprobs", "cannot be streamed; use echo with logprobs, or no stream");
  check_size(request, fields, served.config().layout, limits);
  return request;
}

// ---- Stop strings.

StoppedText::StoppedText(std::vector<std::string> stops) {
  for (std::string& stop : stops) {
    std::transform(stop.begin(), stop.end(), stop.begin(), dna_letter);
    if (is_acgt(stop)) stops_.emplace_back(to_upper(stop));
  }
  // The longest first.
  std::stable_sort(stops_.begin(), stops_.end(),
                   [](const Stop& a, const Stop& b) { return a.letters.size() > b.letters.size(); });
}

StoppedText::Stop::Stop(std::string bases) : letters(std::move(bases)), shorter{0} {
  for (size_t i = 1; i < letters.size(); ++i) {
    add(letters[i]);
    shorter.push_back(met);
  }
  met = 0;
}

// The algorithm of Knuth, Morris and Pratt.
bool StoppedText::Stop::add(char base) {
  while (met > 0 && (met == letters.size() || letters[met] != base)) met = shorter[met - 1];
  met += letters[met] == base;
  return met == letters.size();
}

bool StoppedText::add(std::string_view bases) {
  for (const char base : bases) {
    if (stopped()) break;
    text_ += base;
    for (Stop& stop : stops_) {
      if (!stop.add(base) || stopped()) continue;
      found_ = stop.letters;
      text_.resize(text_.size() - found_.size());
    }
  }
  return !stopped();
}

size_t StoppedText::certain() const {
  size_t held = 0;
  if (!stopped())
    for (const Stop& stop : stops_) held = std::max(held, stop.met);
  return text_.size() - held;
}

}  // namespace carbon
