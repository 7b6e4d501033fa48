#include "src/base/long_run.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/json.hpp"

namespace carbon {
namespace {

/// Returns the number, or 0 if the text is not a positive number.
uint64_t parse_count(std::string_view text) {
  uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size() ? value : 0;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  const std::string_view view = text;
  const size_t slash = std::min(view.find('/'), view.size());
  const Shard shard{parse_count(view.substr(0, slash)),
                    slash < view.size() ? parse_count(view.substr(slash + 1)) : 0};
  if (shard.index == 0 || shard.count == 0 || shard.index > shard.count)
    throw Error("parse_shard",
                "'" + text + "' does not name a share: expected I/N with I from 1 to N, e.g. 1/10",
                {"correct {--shard}"});
  return shard;
}

std::string shard_text(const Shard& shard) {
  return std::to_string(shard.index) + "/" + std::to_string(shard.count);
}

IndexRange share_of(const Shard& shard, uint64_t items) {
  // items * index / count could overflow.
  const uint64_t size = items / shard.count, larger = items % shard.count;
  const auto begin = [&](uint64_t index) { return size * index + std::min(index, larger); };
  return {begin(shard.index - 1), begin(shard.index)};
}

void say_stopping(const StopRequests& stop, const std::string& command, Log& log) {
  log.message(
      command,
      stop.asked_by() + ": stopping; what is finished is written, and a second signal ends the run at once");
}

void end_early(StopRequests& stop, const EarlyEnd& run, Log& log) {
  try {
    if (run.failure) std::rethrow_exception(run.failure);
    run.flush();
  } catch (const Error& error) {
    log.error(error.function(), error.what(), error.advice());
  } catch (const std::exception& error) {
    log.error(run.command, error.what());
  }
  const std::string saved_in = run.saved_in ? run.saved_in() : "";
  const bool saved = !saved_in.empty();
  log.warning(run.command,
              "stopped by " + stop.asked_by() + " after " + run.done +
                  (saved ? ""
                   : run.save_point.empty()
                       ? "; the output is not complete"
                       : "; nothing is kept, because a run can be continued only from " + run.save_point),
              saved ? Advice{"continue with {--resume}, from {0}", {saved_in}} : Advice{});
  stop.end();
}

void say_finishing(const KeptWork& kept) {
  kept.log.warning(kept.command, "reading ended early; what was read before is still computed");
}

void run_keeping(const KeptWork& kept, const std::function<void()>& work) {
  constexpr const char* kContinue =
      "continue with {--resume}, from {0}; if what was read so far has changed, begin again with {--restart}";
  try {
    work();
  } catch (const OtherInput&) {
    throw;  // to say that the work is kept would contradict its advice
  } catch (const Error& error) {
    const std::string path = kept.saved_in();
    if (path.empty()) throw;
    if (error.advice().text.empty())
      throw Error(error.function(), std::string(error.what()) + "; what was computed is kept",
                  {kContinue, {path}});
    // Advice such as to sort an input, or to give another FASTA, is followed by a run that cannot continue,
    // and so is this one's first word.
    Advice advice = error.advice();
    advice.text +=
        "; what was computed is kept: if what was read so far has changed, begin again with {--restart}, "
        "else continue with {--resume}, from {" +
        std::to_string(advice.values.size()) + "}";
    advice.values.push_back(path);
    throw Error(error.function(), error.what(), advice);
  } catch (...) {
    if (const std::string path = kept.saved_in(); !path.empty())
      kept.log.warning(kept.command, "what was computed is kept", {kContinue, {path}});
    throw;
  }
}

std::string identity_json(const RunIdentity& run) {
  return nlohmann::json(run).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string identity_differences(std::string_view earlier, const RunIdentity& run, const std::string& path) {
  const nlohmann::json theirs = parse_json(earlier, path);
  const nlohmann::json ours = nlohmann::json::parse(identity_json(run));
  if (theirs == ours) return "";
  const auto value = [](const nlohmann::json& object, const std::string& name) {
    const auto found = object.is_object() ? object.find(name) : object.end();
    return found == object.end() || !found->is_string() ? "none" : printable(found->get<std::string>());
  };
  std::set<std::string> names;
  for (const auto& [name, ignored] : run) names.insert(name);
  if (theirs.is_object())
    for (const auto& [name, ignored] : theirs.items()) names.insert(name);
  std::string differences;
  for (const std::string& name : names) {
    const std::string was = value(theirs, name), is = value(ours, name);
    if (was != is)
      differences += (differences.empty() ? "" : "; ") + printable(name) + " " + was + ", now " + is;
  }
  return differences.empty() ? "unknown ones" : differences;
}

}  // namespace carbon
