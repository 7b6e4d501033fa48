#include "src/serve/run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/serve/api.hpp"
#include "src/serve/service.hpp"

namespace carbon {
namespace {

using std::chrono::steady_clock;

// How often the server looks for late requests, and for connections that are still sending at its end.
constexpr auto kLook = std::chrono::milliseconds(100);
// For the last bytes of answers to reach clients.
constexpr auto kFlush = std::chrono::seconds(2);

// Room for two prompts as long as the model's context, beside which streams go on.
SchedulerOptions scheduler_options(const LoadedModel& model) {
  SchedulerOptions options;
  options.interactive = options.shared = true;
  const size_t batch = model.batch_tokens();
  options.cached_batches =
      std::max(options.cached_batches, (2 * model.config().max_positions + batch - 1) / batch);
  return options;
}

// Why the server ends, from whatever thread that comes.
class Ending {
 public:
  void ask() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    changed_.notify_all();
  }
  /// Ends the server because of a failure, of which the first counts.
  void fail(const std::exception_ptr& problem) {
    {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = problem;
    }
    ask();
  }
  /// Waits at most `time` until the end is asked for.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return asked_; });
  }
  std::exception_ptr failure() const {
    const std::lock_guard lock(mutex_);
    return failure_;
  }
  /// `work`, whose failure ends the server.
  template <class Work>
  auto guarded(Work work) {
    return [this, work] {
      try {
        work();
      } catch (...) {
        fail(std::current_exception());
      }
    };
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false;
  std::exception_ptr failure_;
};

// The signals while the server runs.
class Watch {
 public:
  Watch(StopRequests* stop, std::function<void()> request) : stop_(stop) {
    if (stop_) stop_->watch(std::move(request));
  }
  ~Watch() {
    if (stop_) stop_->ignore();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  StopRequests* stop_;
};

// The models and what answers with them. The threads that use it are those of run_serve().
struct Serving {
  Serving(std::unique_ptr<ModelsToServe> loaded, const ApiKeys& keys, const Cors& cors,
          const ServeOptions& options)
      : models(std::move(loaded)),
        engine(models->models.all(), models->drafts ? models->drafts->all() : std::vector<LoadedModel*>{},
               {options.draft_tokens, scheduler_options(models->models.front())}),
        served(models->models, models->drafts ? &*models->drafts : nullptr, options.names,
               options.auto_dna_tags),
        reference(options.fasta.empty()
                      ? nullptr
                      : std::make_unique<SharedReference>(IndexedFasta(options.fasta, *options.log))),
        service(engine, options.limits, *options.log),
        api(service, served, reference.get(), keys, cors) {}

  std::unique_ptr<ModelsToServe> models;
  Engine engine;
  ServedModel served;
  std::unique_ptr<SharedReference> reference;
  Service service;
  Api api;
};

void write_port(const std::string& path, uint16_t port) {
  if (path.empty()) return;
  // Whoever waits for the file must not read half a number.
  TextOutput file(path);
  file.write(std::to_string(port) + "\n");
  file.close();
}

// Another server may have written its port to the file since.
void remove_port(const std::string& path, uint16_t port) {
  if (path.empty() || is_stream(path)) return;
  std::ifstream in(path);
  if (std::string written; in >> written && written == std::to_string(port)) std::remove(path.c_str());
}

// Ends the service and then the server, when the last answers are sent. Meanwhile clients are told that it
// ends. If a pass of the model for stopped requests takes long, `leave` is called before it is waited for.
void end(Service& service, HttpServer& server, double drain_seconds, const std::function<void()>& leave) {
  server.close_after_answers();
  const bool empty = service.drain(drain_seconds);
  server.stop_accepting();
  const auto until = steady_clock::now() + kFlush;
  while (server.connections() > 0 && steady_clock::now() < until) std::this_thread::sleep_for(kLook);
  server.close();
  if (!empty) {
    leave();
    service.wait_until_empty();
  }
  service.close();
}

// Reads the keys again. Whoever has changed the file sees in the log whether they are used.
void reload(ApiKeys& keys, const ServeOptions& options) {
  try {
    keys.read_again();
    options.log->message(
        "serve", "SIGHUP: read " + count_of(keys.count(), "key") + " of " + options.api_key_file + " again");
  } catch (const Error& error) {
    options.log->error(error.function(), std::string(error.what()) + "; the earlier keys stay");
  }
}

// From the end that was asked for to the end of all answers. Without a service the model is still being
// loaded: nobody waits for an answer, and loading cannot be stopped but with the process.
void bring_to_end(Service* service, HttpServer& server, const Ending& ending, const ServeOptions& options) {
  const bool failed = ending.failure() != nullptr;
  const auto leave = [&] {
    if (failed || !options.stop || options.stop->asked_by().empty()) return;
    remove_port(options.port_file, server.port());
    options.stop->end();
  };
  if (service == nullptr) {
    if (!failed) options.log->message("serve", "ending before the model is loaded");
    leave();
    return server.close();
  }
  if (!failed)
    options.log->message("serve", "ending: requests under way have " +
                                      std::to_string(static_cast<int>(options.drain_seconds)) +
                                      " s; a second signal ends the server at once");
  end(*service, server, failed ? 0 : options.drain_seconds, leave);
}

}  // namespace

void check_serve_options(const ServeOptions& options) {
  if (!options.fasta.empty()) const IndexedFasta fasta(options.fasta, *options.log);
  if (!options.port_file.empty()) (void)OutputPath(options.port_file);  // written when the model is loaded
}

void run_serve(const std::function<std::unique_ptr<ModelsToServe>()>& load, const ServeOptions& options,
               std::function<void(const HttpAccess&)> access) {
  ApiKeys keys(options.api_key_file);
  const Cors cors(options.cors);
  FrontDoor door(cors);
  Ending ending;
  // Signals are handled before anything is answered or written.
  if (keys.needed() && options.when_reload_is_asked)
    options.when_reload_is_asked([&] { reload(keys, options); });
  const Watch watch(options.stop, [&] { ending.ask(); });
  HttpServer server(options.http,
                    {[&](const HttpRequest& request) { return door.refuse(request); },
                     [&](HttpExchangePtr exchange) { door.handle(std::move(exchange)); },
                     [&](int status, const std::string& message) { return door.error(status, message); },
                     [&](const HttpAccess& done) {
                       door.log(done);
                       if (access) access(done);
                     }});
  const std::string address = "http://" + host_and_port(options.http.host, server.port());
  if (!keys.needed() && !server.only_local())
    options.log->warning(
        "serve",
        address +
            " can be reached from other machines, and no key is asked for: whoever reaches it "
            "can use the model",
        {"name a file of keys with {--api-key}, or listen on 127.0.0.1 with {--host}"});

  std::unique_ptr<Serving> serving;
  std::mutex mutex;            // guards what follows
  Service* service = nullptr;  // once the model is loaded
  bool over = false;           // the server has ended before that
  std::thread watching;
  std::thread network = start_thread(ending.guarded([&] { server.run(); }));
  ending.guarded([&] {
    watching = start_thread([&] {
      while (!ending.wait(kLook)) {
        const std::lock_guard lock(mutex);
        if (service) service->stop_late();
      }
      std::unique_lock lock(mutex);
      Service* const last = service;
      over = !last;
      if (last) lock.unlock();  // else the port is not written meanwhile
      bring_to_end(last, server, ending, options);
    });
    options.log->info("serve", "listening on " + address + "; loading the model");
    serving = std::make_unique<Serving>(load(), keys, cors, options);
    serving->api.set_connections([&] { return server.connections(); });
    {
      const std::lock_guard lock(mutex);
      if (over) return;
      service = &serving->service;
      door.open(serving->api);
      write_port(options.port_file, server.port());
    }
    options.log->message("serve", "serving " + serving->served.name() + " on " + address);
    serving->service.run();
  })();
  watching.joinable() ? watching.join() : server.close();
  network.join();
  door.close();
  remove_port(options.port_file, server.port());
  if (const std::exception_ptr failure = ending.failure()) std::rethrow_exception(failure);
}

namespace {

// For an answer to the check.
constexpr double kSeconds = 30;

nlohmann::json ask(const ServeOptions& options, const std::string& key, const std::string& method,
                   const std::string& path, const std::string& body) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  if (!key.empty()) request.authorization = "Bearer " + key;
  const HttpAnswer answer = http_ask(options.http.host, options.http.port, request, kSeconds);
  if (answer.status == 200) return parse_json(answer.body, "the answer of " + path);
  throw Error("serve", path + " was answered with status " + std::to_string(answer.status) + ": " +
                           printable(answer.body));
}

}  // namespace

std::string check_server(const ServeOptions& options) {
  const std::string key = ApiKeys(options.api_key_file).any();
  const auto begin = std::chrono::steady_clock::now();
  try {
    const nlohmann::json models = ask(options, key, "GET", "/v1/models", "");
    const nlohmann::json scores =
        ask(options, key, "POST", "/v1/dna/score", R"({"sequences":["ACGTACGTACGTACGTACGTACGT"]})");
    if (scores.at("results").at(0).at("n_scored") != 24)
      throw Error("serve", "/v1/dna/score did not score the 24 bases that it was given");
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return host_and_port(options.http.host, options.http.port) + " serves " +
           models.at("data").at(0).at("id").get<std::string>() + " and has answered within " +
           fixed_text(seconds, 3) + " s";
  } catch (const nlohmann::json::exception&) {
    throw Error("serve", "what listens on " + host_and_port(options.http.host, options.http.port) +
                             " does not answer as carbon serve does");
  }
}

}  // namespace carbon
