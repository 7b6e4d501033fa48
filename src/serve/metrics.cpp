#include "src/serve/metrics.hpp"

#include <algorithm>

#include "src/base/numbers.hpp"

namespace carbon {
namespace {

std::string number(double value) {
  return general_text(value, 9);
}

// A metric with one value: its help, type, and line.
void add(std::string& out, const std::string& name, const char* type, const char* help,
         const std::string& labels, double value) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " " + type + "\n" + name + "{" + labels + "} " +
         number(value) + "\n";
}

void add(std::string& out, const std::string& name, const char* help, const std::string& labels,
         const Histogram& histogram) {
  out += "# HELP " + name + " " + help + "\n# TYPE " + name + " histogram\n" + histogram.text(name, labels);
}

// Text within the quotes of a label.
std::string label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

void Histogram::add(double seconds) {
  const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), seconds);
  ++counts_[static_cast<size_t>(at - kBounds.begin())];
  sum_ += seconds;
}

std::string Histogram::text(const std::string& name, const std::string& labels) const {
  std::string out;
  uint64_t below = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    const std::string bound = i < kBounds.size() ? number(kBounds[i]) : "+Inf";
    out += name + "_bucket{" + labels + ",le=\"" + bound + "\"} " + std::to_string(below) + "\n";
  }
  return out + name + "_sum{" + labels + "} " + number(sum_) + "\n" + name + "_count{" + labels + "} " +
         std::to_string(below) + "\n";
}

void Metrics::tokens(uint64_t prompt, uint64_t generated) {
  const std::lock_guard lock(mutex_);
  prompt_tokens_ += prompt;
  generated_tokens_ += generated;
}

void Metrics::queued(double seconds) {
  const std::lock_guard lock(mutex_);
  queued_.add(seconds);
}

void Metrics::first_token(double seconds) {
  const std::lock_guard lock(mutex_);
  first_token_.add(seconds);
}

void Metrics::next_token(double seconds) {
  const std::lock_guard lock(mutex_);
  next_token_.add(seconds);
}

void Metrics::ended(End end, double seconds) {
  const std::lock_guard lock(mutex_);
  ++ends_[static_cast<size_t>(end)];
  if (end != End::abort) whole_.add(seconds);
}

void Metrics::refused() {
  const std::lock_guard lock(mutex_);
  ++refused_;
}

void Metrics::answered(std::string_view path, int status) {
  const std::lock_guard lock(mutex_);
  ++answers_[{std::string(path), status}];
}

std::string Metrics::text(const std::string& model, const SchedulerState& state, size_t connections,
                          size_t under_way) const {
  const std::lock_guard lock(mutex_);
  const std::string labels = "model_name=\"" + label(model) + "\"";
  const auto value = [](auto n) { return static_cast<double>(n); };
  const auto used = state.page_limit == 0 ? 0.0 : value(state.pages) / value(state.page_limit);
  std::string out;
  add(out, "vllm:num_requests_running", "gauge", "Sequences that the model is computing.", labels,
      value(state.running));
  add(out, "vllm:num_requests_waiting", "gauge", "Sequences that wait for memory.", labels,
      value(state.waiting));
  add(out, "vllm:kv_cache_usage_perc", "gauge", "Share of the KV cache in use (1 is all of it).", labels,
      used);
  add(out, "vllm:prompt_tokens_total", "counter", "Tokens of prompts and sequences.", labels,
      value(prompt_tokens_));
  add(out, "vllm:generation_tokens_total", "counter", "6-mers generated.", labels, value(generated_tokens_));
  add(out, "vllm:prefix_cache_queries_total", "counter",
      "Tokens of prompts that may begin like earlier ones.", labels, value(state.counts.prefix_tokens));
  add(out, "vllm:prefix_cache_hits_total", "counter", "Of these, tokens that were not computed again.",
      labels, value(state.counts.prefix_hits));
  add(out, "vllm:spec_decode_num_drafts_total", "counter", "Rounds of speculative decoding.", labels,
      value(state.drafts.rounds));
  add(out, "vllm:spec_decode_num_draft_tokens_total", "counter", "6-mers proposed by the draft.", labels,
      value(state.drafts.drafted));
  add(out, "vllm:spec_decode_num_accepted_tokens_total", "counter",
      "Of these, 6-mers that the model drew as well.", labels, value(state.drafts.accepted));
  add(out, "vllm:request_queue_time_seconds", "Time until the model begins with a request.", labels, queued_);
  add(out, "vllm:time_to_first_token_seconds", "Time to the first 6-mer.", labels, first_token_);
  add(out, "vllm:inter_token_latency_seconds", "Time between two 6-mers of a sample.", labels, next_token_);
  add(out, "vllm:e2e_request_latency_seconds", "Time from a request to the end of its answer.", labels,
      whole_);
  out +=
      "# HELP vllm:request_success_total Requests that were answered.\n# TYPE vllm:request_success_total "
      "counter\n";
  constexpr const char* kEnds[] = {"length", "stop", "abort"};
  for (size_t i = 0; i < ends_.size(); ++i)
    out += "vllm:request_success_total{" + labels + ",finished_reason=\"" + kEnds[i] + "\"} " +
           std::to_string(ends_[i]) + "\n";
  out +=
      "# HELP carbon:http_requests_total Answers by path and status.\n# TYPE carbon:http_requests_total "
      "counter\n";
  for (const auto& [what, count] : answers_)
    out += "carbon:http_requests_total{path=\"" + label(what.first) + "\",status=\"" +
           std::to_string(what.second) + "\"} " + std::to_string(count) + "\n";
  add(out, "carbon:requests_refused_total", "counter", "Requests refused because too many were under way.",
      labels, value(refused_));
  add(out, "carbon:requests_under_way", "gauge", "Requests of clients that are not answered yet.", labels,
      value(under_way));
  add(out, "carbon:connections", "gauge", "Open connections.", labels, value(connections));
  add(out, "carbon:kv_pages_in_use", "gauge",
      "Pages of the KV cache in use, those kept for later prompts included.", labels, value(state.pages));
  add(out, "carbon:kv_pages_kept", "gauge", "Pages, at most, that are kept for later prompts alone.", labels,
      value(state.kept_pages));
  add(out, "carbon:rows_total", "counter", "Tokens that the model has computed.", labels,
      value(state.counts.rows));
  add(out, "carbon:passes_total", "counter", "Passes of the model.", labels,
      value(state.counts.window_passes + state.counts.sample_passes));
  return out;
}

}  // namespace carbon
