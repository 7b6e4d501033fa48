// The start of carbon serve: the port is bound and requests are answered while the model is being loaded.
#include <doctest/doctest.h>

#include <fstream>
#include <future>
#include <thread>

#include "src/base/error.hpp"
#include "src/serve/http.hpp"
#include "src/serve/run.hpp"
#include "test/unit/generated_checkpoint.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::TestLog;
using carbon::test::tiny;
using model_test::contains;
using model_test::TempDir;

namespace fs = std::filesystem;

namespace {

// The end that a test asks for.
class AskedEnd final : public StopRequests {
 public:
  void watch(std::function<void()> request) override { ask = std::move(request); }
  void ignore() override {}
  std::string asked_by() const override { return ""; }
  [[noreturn]] void end() override { std::abort(); }

  std::function<void()> ask;
};

HttpAnswer asked(uint16_t port, const std::string& method, const std::string& path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = method == "POST" ? "{}" : "";
  return http_ask("127.0.0.1", port, request, 60);
}

// A server whose model is loaded when a test says so.
struct Starting {
  explicit Starting(std::function<std::unique_ptr<ModelsToServe>()> load) {
    options.http.port = 0;
    options.port_file = dir.str() + "/port";
    options.stop = &end;
    options.log = &log;
    running = std::async(std::launch::async, [this, load = std::move(load)] {
      run_serve(
          [&] {
            // The thread that loads is the one that has said where the server listens.
            const std::string line = log.lines().back();
            bound.set_value(static_cast<uint16_t>(
                std::stoi(line.substr(line.find("127.0.0.1:") + std::string("127.0.0.1:").size()))));
            go_on.get_future().wait();
            return load();
          },
          options, nullptr);
    });
  }

  TempDir dir;
  TestLog log;
  AskedEnd end;
  ServeOptions options;
  std::promise<uint16_t> bound;
  std::promise<void> go_on;
  std::future<void> running;
};

}  // namespace

TEST_CASE("clients are told that the model is being loaded") {
  const GeneratedCheckpoint model(tiny());
  Starting server([&] {
    ModelOptions options;
    options.model = model.dir();
    options.threads = 1;
    return std::make_unique<ModelsToServe>(ModelsToServe{LoadedModels(options), std::nullopt});
  });
  const uint16_t port = server.bound.get_future().get();
  const HttpAnswer health = asked(port, "GET", "/health");
  CHECK(health.status == 503);
  CHECK(health.body == R"({"status":"loading"})");
  const HttpAnswer score = asked(port, "POST", "/v1/dna/score");
  CHECK(score.status == 503);
  CHECK(contains(score.body, "model_loading"));
  CHECK_FALSE(fs::exists(server.options.port_file));

  server.go_on.set_value();
  while (asked(port, "GET", "/health").status != 200) std::this_thread::yield();
  CHECK(asked(port, "POST", "/v1/dna/score").status == 400);
  while (!fs::exists(server.options.port_file)) std::this_thread::yield();
  std::ifstream file(server.options.port_file);
  std::string written;
  file >> written;
  CHECK(written == std::to_string(port));
  server.end.ask();
  server.running.get();
  CHECK_FALSE(fs::exists(server.options.port_file));
}

TEST_CASE("a model that cannot be loaded ends the server") {
  Starting server([]() -> std::unique_ptr<ModelsToServe> { throw Error("load", "no such model"); });
  const uint16_t port = server.bound.get_future().get();
  server.go_on.set_value();
  CHECK(model_test::message_of([&] { server.running.get(); }) == "no such model");
  CHECK(model_test::message_of([&] { asked(port, "GET", "/health"); }) != "no error");
  CHECK_FALSE(fs::exists(server.options.port_file));
}
