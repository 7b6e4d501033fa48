#include "src/serve/run.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "src/base/threads.hpp"
#include "src/files/output.hpp"
#include "src/serve/api.hpp"
#include "src/serve/http_text.hpp"
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
  options.interactive = true;
  const size_t batch = model.batch_tokens();
  options.cached_batches =
      std::max(options.cached_batches, (2 * model.config().max_positions + batch - 1) / batch);
  return options;
}

// Whether the server is to end, which any thread may ask for.
class EndRequest {
 public:
  void ask() {
    const std::lock_guard lock(mutex_);
    asked_ = true;
    changed_.notify_all();
  }
  // Waits for it at most `time`.
  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return asked_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool asked_ = false;
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
  if (unsigned written = 0; in >> written && written == port) std::remove(path.c_str());
}

// Ends the service and then the server, when the last answers are sent. If a pass of the model for stopped
// requests takes long, `leave` is called before it is waited for.
void end(Service& service, HttpServer& server, double drain_seconds, const std::function<void()>& leave) {
  server.stop_accepting();
  const bool empty = service.drain(drain_seconds);
  const auto until = steady_clock::now() + kFlush;
  while (server.connections() > 0 && steady_clock::now() < until) std::this_thread::sleep_for(kLook);
  server.close();
  if (!empty) {
    leave();
    service.wait_until_empty();
  }
  service.close();
}

}  // namespace

void check_serve_options(const ServeOptions& options) {
  if (!options.fasta.empty()) const IndexedFasta fasta(options.fasta, *options.log);
  if (!options.port_file.empty()) (void)OutputPath(options.port_file);  // written when the model is loaded
}

void run_serve(LoadedModels& models, LoadedModels* drafts, const ServeOptions& options,
               std::function<void(const HttpAccess&)> access) {
  Engine engine(models.all(), drafts ? drafts->all() : std::vector<LoadedModel*>{},
                {options.draft_tokens, scheduler_options(models.front())});
  const ServedModel served(models, drafts, options.names, options.auto_dna_tags);
  std::optional<SharedReference> reference;
  if (!options.fasta.empty()) reference.emplace(IndexedFasta(options.fasta, *options.log));
  Service service(engine, options.limits, *options.log);
  Api api(service, served, reference ? &*reference : nullptr, options);
  HttpServer server(options.http,
                    {[&](const HttpRequest& request) { return api.refuse(request); },
                     [&](HttpExchangePtr exchange) { api.handle(std::move(exchange)); },
                     [&](int status, const std::string& message) { return api.error(status, message); },
                     [&](const HttpAccess& done) {
                       api.log(done);
                       if (access) access(done);
                     }});
  api.set_connections([&] { return server.connections(); });

  EndRequest ending;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto fail = [&](const std::exception_ptr& problem) {
    {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = problem;
    }
    ending.ask();
  };
  const auto has_failed = [&] {
    const std::lock_guard lock(failure_mutex);
    return failure != nullptr;
  };
  const auto guarded = [&](auto work) {
    return [&fail, work] {
      try {
        work();
      } catch (...) {
        fail(std::current_exception());
      }
    };
  };
  std::thread network = start_thread(guarded([&] { server.run(); }));
  std::thread watching;
  try {
    write_port(options.port_file, server.port());
    options.log->message("serve", "serving " + served.name() + " on http://" +
                                      host_and_port(options.http.host, server.port()));
    if (options.stop) options.stop->watch([&] { ending.ask(); });
    watching = start_thread([&] {
      while (!ending.wait(kLook)) service.stop_late();
      const bool failed = has_failed();
      if (!failed)
        options.log->message("serve", "ending: requests under way have " +
                                          std::to_string(static_cast<int>(options.drain_seconds)) +
                                          " s; a second signal ends the server at once");
      end(service, server, failed ? 0 : options.drain_seconds, [&] {
        if (!options.stop || options.stop->asked_by().empty()) return;
        remove_port(options.port_file, server.port());
        options.stop->end();
      });
    });
  } catch (...) {
    fail(std::current_exception());
    server.close();
  }
  if (watching.joinable()) {
    guarded([&] { service.run(); })();
    watching.join();
  }
  network.join();
  if (options.stop) options.stop->ignore();
  remove_port(options.port_file, server.port());
  if (failure) std::rethrow_exception(failure);
}

}  // namespace carbon
