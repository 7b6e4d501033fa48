#include "src/serve/completion_request.hpp"

#include <algorithm>

#include "src/base/system_random.hpp"
#include "src/sampling/ranks.hpp"

namespace carbon {
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

uint64_t draw_seed() {
  return system_random() >> 11;
}

std::optional<uint64_t> read_seed(const Fields& fields) {
  const nlohmann::json* const value = fields.find("seed");
  if (!value) return std::nullopt;
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  return static_cast<uint64_t>(fields.whole("seed", 0, INT64_MIN, INT64_MAX));
}

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

}  // namespace carbon
