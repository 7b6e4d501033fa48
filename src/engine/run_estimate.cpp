#include "src/engine/run_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "src/base/numbers.hpp"
#include "src/base/system.hpp"
#include "src/engine/ordered_writer.hpp"

namespace carbon {
namespace {

// The first run also warms up caches and chooses kernels; if it is long enough, the second one is measured.
constexpr uint64_t kWarmUp = 512;
constexpr double kSeconds = 2;
constexpr double kUsed = 0.9;  // of the time of a share
constexpr uint64_t kMostShares = 1'000'000;

/// What requests run. Those with the tokens of the one before read other things from the same rows.
struct Runs {
  uint64_t windows = 0, tokens = 0;
};
Runs runs_of(const std::vector<RequestPtr>& requests) {
  Runs runs;
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i > 0 && same_tokens(*requests[i - 1], *requests[i])) continue;
    ++runs.windows;
    runs.tokens += requests[i]->rows();
  }
  return runs;
}

// "45 s", "12 min" or "3.5 h".
std::string duration_text(double seconds) {
  if (seconds < 90) return fixed_text(seconds, seconds < 10 ? 1 : 0) + " s";
  if (seconds < 5400) return fixed_text(seconds / 60, 0) + " min";
  if (seconds < 48 * 3600.0) return fixed_text(seconds / 3600, 1) + " h";
  return fixed_text(seconds / 86400, 1) + " days";
}

}  // namespace

void RunEstimate::add(const std::vector<RequestPtr>& requests) {
  if (requests.empty()) return;
  const Runs runs = runs_of(requests);
  windows_ += runs.windows;
  tokens_ += runs.tokens;
  if (enough_to_measure()) return;
  kept_tokens_ += runs.tokens;
  kept_.push_back({requests});
}

// Requests whose parent ran before, and is gone, would compute it again, and are left out.
size_t RunEstimate::run(Engine& engine, const std::vector<Item>& items, size_t first, uint64_t least,
                        uint64_t& tokens, double& seconds) {
  std::vector<Item> chosen;
  std::unordered_set<const Request*> running;
  size_t next = first;
  for (tokens = 0; next < items.size() && tokens < least; ++next) {
    const std::vector<RequestPtr>& requests = items[next].requests;
    // Parents come before their children, also within an item.
    const auto known = [&](const RequestPtr& request) {
      return !request->parent || running.contains(request->parent.get()) ||
             std::find(requests.begin(), requests.end(), request->parent) != requests.end();
    };
    if (!std::all_of(requests.begin(), requests.end(), known)) continue;
    for (const RequestPtr& request : requests) running.insert(request.get());
    tokens += runs_of(requests).tokens;
    chosen.push_back(items[next]);
  }
  const Stopwatch watch;
  run_ordered<Item>(
      engine,
      [&](const std::function<void(Item)>& emit) {
        for (Item& item : chosen) emit(std::move(item));
      },
      [](const Item&) {});
  seconds = watch.seconds();
  return next;
}

RunTime RunEstimate::measure(Engine& engine, uint64_t tokens) const {
  if (kept_.empty()) return {"no tokens, so that the model has nothing to compute"};
  uint64_t measured = 0;
  double seconds = 0;
  const size_t next = run(engine, kept_, 0, kWarmUp, measured, seconds);
  if (next < kept_.size()) {
    const double speed = static_cast<double>(measured) / seconds;
    uint64_t more = 0;
    double later = 0;
    run(engine, kept_, next, std::max<uint64_t>(kWarmUp, static_cast<uint64_t>(kSeconds * speed)), more,
        later);
    if (more >= measured) {
      measured = more;
      seconds = later;
    }
  }
  const double speed = static_cast<double>(measured) / seconds;
  const double time = static_cast<double>(tokens) / speed;
  return {"at " + general_text(speed, 4) + " tokens per second, measured with " + std::to_string(measured) +
              " of them, the run takes about " + duration_text(time),
          time};
}

std::string shares_text(const EstimateOptions& options, const RunTime& run) {
  if (options.limit <= 0) return {};
  const std::string limit = duration_text(options.limit);
  // A tenth of the time is for what is not measured: loading the model, and shares of unequal work.
  const double shares = std::ceil(run.seconds / (kUsed * options.limit));
  if (shares <= 1) return "this is within " + limit + ", so no shares are needed\n";
  if (shares > kMostShares)
    return "more than " + std::to_string(kMostShares) + " shares would be needed for " + limit +
           " each: give a longer time, or choose a faster device or a smaller model\n";
  const auto count = static_cast<uint64_t>(shares);
  return std::to_string(count) + " shares take about " + duration_text(run.seconds / shares) +
         " each on such machines; run this for every I from 1 to " + std::to_string(count) + ":\n" +
         options.share_command(count) + "\n";
}

}  // namespace carbon
