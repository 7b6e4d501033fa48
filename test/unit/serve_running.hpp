// A service on a generated checkpoint, whose requests come from the test instead of the network.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "src/serve/service.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon::test {

inline std::string random_bases(size_t n, unsigned seed, const std::string& letters = "ACGT") {
  std::mt19937 random(seed);
  std::string bases;
  while (bases.size() < n) bases += letters[random() % letters.size()];
  return bases;
}

/// An exchange that keeps what it is given to send.
class KeptExchange final : public HttpExchange {
 public:
  explicit KeptExchange(std::string body) {
    request_.method = "POST";
    request_.body = std::move(body);
    request_.id = "test";
  }

  const HttpRequest& request() const override { return request_; }
  void answer(HttpAnswer answer) override {
    start(std::move(answer));
    finish();
  }
  void start(HttpAnswer head) override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(begun_, true)) throw std::logic_error("a second answer");
    answer_ = std::move(head);
  }
  void send(std::string piece) override {
    const std::lock_guard lock(mutex_);
    if (!begun_ || complete_) throw std::logic_error("a piece outside an answer");
    answer_.body += piece;
  }
  void finish() override {
    const std::lock_guard lock(mutex_);
    if (std::exchange(complete_, true)) throw std::logic_error("a second end");
    changed_.notify_all();
  }
  void when_gone(std::function<void()>) override {}

  /// The whole answer. Throws if it does not come.
  HttpAnswer wait() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, std::chrono::minutes(2), [&] { return complete_; }))
      throw std::runtime_error("no answer");
    return answer_;
  }

 private:
  HttpRequest request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  HttpAnswer answer_;
  bool begun_ = false, complete_ = false;
};

class RunningService {
 public:
  using Make = std::function<WorkPtr(const ServedModel&, HttpExchangePtr)>;

  explicit RunningService(const std::string& dir, const RequestLimits& limits = {},
                          bool auto_dna_tags = false)
      : models_(model_options(dir)),
        served_(models_, nullptr, {"tiny"}, auto_dna_tags),
        engine_(models_.all(), {}, engine_options()),
        service_(engine_, limits),
        thread_([this] { service_.run(); }) {}
  ~RunningService() {
    service_.drain(60);
    service_.close();
    thread_.join();
  }
  RunningService(const RunningService&) = delete;
  RunningService& operator=(const RunningService&) = delete;

  /// The answer to a body.
  HttpAnswer ask_text(const Make& make, const std::string& body) {
    const auto exchange = std::make_shared<KeptExchange>(body);
    service_.take(make(served_, exchange));
    return exchange->wait();
  }
  /// The same in JSON. Throws unless its status is the one that is expected.
  nlohmann::json ask(const Make& make, const nlohmann::json& body, int status = 200) {
    const HttpAnswer answer = ask_text(make, body.dump());
    if (answer.status != status) throw std::runtime_error(std::to_string(answer.status) + " " + answer.body);
    return nlohmann::json::parse(answer.body);
  }
  /// The events of a stream, which ends with [DONE].
  std::vector<nlohmann::json> events(const Make& make, const nlohmann::json& body) {
    const HttpAnswer answer = ask_text(make, body.dump());
    const std::string begin = "data: ", end = "\n\n";
    std::vector<nlohmann::json> events;
    for (size_t at = 0; at < answer.body.size();) {
      const size_t stop = answer.body.find(end, at);
      if (answer.body.compare(at, begin.size(), begin) != 0 || stop == std::string::npos)
        throw std::runtime_error("not an event: " + answer.body.substr(at));
      const std::string data = answer.body.substr(at + begin.size(), stop - at - begin.size());
      at = stop + end.size();
      if (data == "[DONE]" && at == answer.body.size()) return events;
      events.push_back(nlohmann::json::parse(data));
    }
    throw std::runtime_error("no end: " + answer.body);
  }
  /// The field that a request is refused for.
  std::string refused(const Make& make, const nlohmann::json& body) {
    const nlohmann::json param = ask(make, body, 400)["error"]["param"];
    return param.is_null() ? "" : param.get<std::string>();
  }

  Service& service() { return service_; }
  const ServedModel& served() const { return served_; }

 private:
  static ModelOptions model_options(const std::string& dir) {
    ModelOptions options;
    options.use = ModelUse::any;
    options.model = dir;
    options.threads = 2;
    options.batch_tokens = 512;
    return options;
  }
  static EngineOptions engine_options() {
    EngineOptions options;
    options.scheduler.interactive = true;
    return options;
  }

  LoadedModels models_;
  ServedModel served_;
  Engine engine_;
  Service service_;
  std::thread thread_;
};

}  // namespace carbon::test
