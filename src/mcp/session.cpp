// The messages of carbon mcp. Calls of tools run in threads of their own, so that others are
// answered, and cancelled, meanwhile.

#include <algorithm>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "src/base/json.hpp"
#include "src/base/threads.hpp"
#include "src/mcp/mcp.hpp"
#include "version.h"

namespace carbon {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kParseError = -32700, kInvalidRequest = -32600, kNoMethod = -32601, kInvalidParameters = -32602,
              kInternalError = -32603;
constexpr const char* kVersions[] = {"2025-11-25", "2025-06-18"};
constexpr size_t kLongestLine = size_t{256} << 20, kMostCalls = 64;

// Why a request is not answered with a result.
struct Refusal {
  int code;
  std::string text;
};

class McpSession {
 public:
  McpSession(McpTools& tools, std::ostream& out) : tools_(tools), out_(out) {}

  void take(const std::string& line) {
    json id;  // null until it is known
    try {
      handle(parse_json(line, "the message"), id);
    } catch (const Refusal& refusal) {
      error(id, refusal.code, refusal.text);
    } catch (const json::exception&) {
      error(id, kInvalidParameters, "a member of the message has another type than it must have");
    } catch (const Error& problem) {
      error(id, kParseError, problem.what());
    }
  }

  /// Waits until all calls are answered.
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running_ == 0; });
    lock.unlock();
    join_done();
  }

 private:
  struct Active {
    std::shared_ptr<ToolRun> run;
    std::thread thread;
    bool done = false;
  };

  void handle(const json& message, json& id) {
    if (!message.is_object() || message.value("jsonrpc", json()) != "2.0")
      throw Refusal{kInvalidRequest, "a message must be an object with \"jsonrpc\": \"2.0\""};
    if (!message.contains("method")) return;  // an answer, where nothing was asked
    const json parameters = message.value("params", json::object()), asked_as = message.value("id", json());
    const bool is_request = message.contains("id");
    if (is_request && !asked_as.is_string() && !asked_as.is_number_integer())
      throw Refusal{kInvalidRequest, "id must be a text or a whole number"};
    id = asked_as;
    if (!message["method"].is_string()) throw Refusal{kInvalidRequest, "method must be a text"};
    const std::string method = message["method"].get<std::string>();
    if (method == "notifications/cancelled" && parameters.is_object()) cancel(parameters);
    if (!is_request) return;
    if (method == "ping") return result(id, ordered_json::object());
    if (method == "tools/list") return result(id, {{"tools", tools_.list()}});
    if (method == "tools/call") return begin(id, parameters);
    if (method != "initialize") throw Refusal{kNoMethod, "there is no method " + printable(method)};
    const std::string asked = parameters.value("protocolVersion", std::string());
    const bool known = std::find(std::begin(kVersions), std::end(kVersions), asked) != std::end(kVersions);
    result(id, {{"protocolVersion", known ? asked : kVersions[0]},
                {"capabilities", {{"tools", ordered_json::object()}}},
                {"serverInfo", {{"name", "carbon"}, {"version", CARBON_VERSION}}},
                {"instructions",
                 "A DNA language model on this machine; nothing is sent anywhere. Positions count from 1. "
                 "A negative log-likelihood ratio means that the model finds the alternative less likely; "
                 "it is no diagnosis."}});
  }

  void begin(const json& id, const json& parameters) {
    const std::string name = parameters.value("name", std::string()), key = id.dump();
    const json arguments = parameters.value("arguments", json::object());
    const json token = parameters.value("_meta", json::object()).value("progressToken", json());
    if (!tools_.has(name)) throw Refusal{kInvalidParameters, "there is no tool '" + printable(name) + "'"};
    if (!token.is_null() && !token.is_string() && !token.is_number_integer())
      throw Refusal{kInvalidParameters, "progressToken must be a text or a whole number"};
    join_done();
    const std::lock_guard lock(mutex_);
    if (active_.contains(key)) throw Refusal{kInvalidRequest, "a call with this id runs"};
    if (running_ >= kMostCalls)
      throw Refusal{kInvalidRequest, std::to_string(kMostCalls) + " calls run; wait for one of them"};
    const auto run = std::make_shared<ToolRun>();
    if (!token.is_null())
      run->progress = [this, token](size_t done, size_t planned) {
        send({{"jsonrpc", "2.0"},
              {"method", "notifications/progress"},
              {"params", {{"progressToken", token}, {"progress", done}, {"total", planned}}}});
      };
    // The call counts when its thread is there, which may not be had; it cannot end before mutex_ is free.
    std::thread thread = start_thread([this, id, key, name, arguments, run] {
      answer(id, name, arguments, *run);
      const std::lock_guard ended(mutex_);
      active_.at(key).done = true;
      --running_;
      changed_.notify_all();
    });
    ++running_;
    active_[key] = {run, std::move(thread)};
  }

  // Whoever has cancelled a call waits for no answer.
  void answer(const json& id, const std::string& name, const json& arguments, ToolRun& run) {
    try {
      ordered_json value = tools_.call(name, arguments, run);
      if (!run.cancelled) result(id, std::move(value));
    } catch (const std::exception& problem) {
      if (!run.cancelled) error(id, kInternalError, problem.what());
    }
  }

  void cancel(const json& parameters) {
    const std::lock_guard lock(mutex_);
    const auto found = active_.find(parameters.value("requestId", json()).dump());
    if (found != active_.end()) found->second.run->cancelled = true;
  }

  void join_done() {
    const std::lock_guard lock(mutex_);
    for (auto call = active_.begin(); call != active_.end();) {
      if (call->second.done) call->second.thread.join();
      call = call->second.done ? active_.erase(call) : std::next(call);
    }
  }

  void result(const json& id, ordered_json value) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(value)}});
  }
  void error(const json& id, int code, const std::string& text) {
    send({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", text}}}});
  }
  void send(const ordered_json& message) {
    const std::string text = message.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    const std::lock_guard lock(send_mutex_);
    out_ << text << '\n' << std::flush;
  }

  McpTools& tools_;
  std::mutex send_mutex_;  // guards what follows
  std::ostream& out_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<std::string, Active> active_;  // by the text of the id
  size_t running_ = 0;
};

bool read_line(std::istream& in, std::string& line) {
  line.clear();
  int c = 0;
  while ((c = in.rdbuf()->sbumpc()) != EOF && c != '\n') {
    if (line.size() == kLongestLine) throw Error("mcp", "a message has more than 256 MiB");
    line += static_cast<char>(c);
  }
  return c != EOF || !line.empty();
}

}  // namespace

void talk_mcp(McpTools& tools, std::istream& in, std::ostream& out) {
  McpSession session(tools, out);
  for (std::string line; out && read_line(in, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) session.take(line);
  session.finish();
}

}  // namespace carbon
