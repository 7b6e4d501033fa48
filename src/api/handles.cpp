#include "src/api/handles.hpp"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "src/files/htslib_messages.hpp"

namespace carbon::api {
namespace {

// The one state of the library that lives as long as the process. It is never destroyed, because threads may
// still compute when the process ends, and because a child of fork() must not destroy what it cannot use.
std::atomic<Handles*> current{nullptr};

}  // namespace

Handles& Handles::here() {
  const int64_t process = ::getpid();
  for (;;) {
    Handles* known = current.load();
    if (known && known->process_ == process) return *known;
    auto* const own = new Handles(process, known ? known->next_.load() : 1);
    if (!current.compare_exchange_strong(known, own)) {
      delete own;  // another thread was faster
      continue;
    }
    set_htslib_verbosity(0);  // it would write to descriptor 2
    return *own;
  }
}

void Handles::refuse(uintptr_t number, const char* what) const {
  if (number == 0) throw Problem(CARBON_E_ARGUMENT, std::string("the ") + what + " is a null pointer");
  if (number < first_)
    throw Problem(CARBON_E_FORKED,
                  std::string("this process was forked after the ") + what +
                      " was opened, and has none of the threads that compute; open models after fork(), or "
                      "start processes without fork (in Python: multiprocessing with 'spawn')");
  throw Problem(CARBON_E_HANDLE, std::string("the ") + what + " is not open");
}

// A model that a program has left open at its end must not compute while what it uses is being destroyed.
void Handles::close_all() {
  Handles* const known = current.load();
  if (!known || known->process_ != ::getpid()) return;
  std::vector<uintptr_t> open;
  {
    const std::lock_guard lock(known->mutex_);
    for (const auto& [number, model] : known->models_) open.push_back(number);
  }
  for (const uintptr_t number : open) {
    try {
      known->close_model(number);
    } catch (const Problem&) {
      // Another thread has closed it.
    }
  }
}

template <class Open>
uintptr_t Handles::keep(std::map<uintptr_t, Open>& open, Open opened) {
  const std::lock_guard lock(mutex_);
  const uintptr_t number = next_++;
  open.emplace(number, std::move(opened));
  return number;
}

uintptr_t Handles::add(std::shared_ptr<OpenModel> model) {
  // Called after all that the model has made by now, and so before that is destroyed.
  std::atexit(&Handles::close_all);
  return keep(models_, std::move(model));
}

uintptr_t Handles::add(std::shared_ptr<FastaFile> fasta) {
  return keep(fastas_, std::move(fasta));
}

uintptr_t Handles::add(std::shared_ptr<VcfFile> vcf) {
  return keep(vcfs_, std::move(vcf));
}

uintptr_t Handles::add(uintptr_t model, std::shared_ptr<Call> call) {
  const std::lock_guard lock(mutex_);
  if (!models_.contains(model)) refuse(model, "model");
  const uintptr_t number = next_++;
  calls_.emplace(number, CallOfModel{model, std::move(call)});
  return number;
}

template <class Open>
Open Handles::find(std::map<uintptr_t, Open>& open, uintptr_t number, const char* what, bool close) {
  if (number < first_) refuse(number, what);
  const std::lock_guard lock(mutex_);
  const auto at = open.find(number);
  if (at == open.end()) refuse(number, what);
  Open found = at->second;
  if (close) open.erase(at);
  return found;
}

std::shared_ptr<OpenModel> Handles::model(uintptr_t number) {
  return find(models_, number, "model");
}

std::shared_ptr<Call> Handles::call(uintptr_t number) {
  return find(calls_, number, "call").call;
}

std::shared_ptr<FastaFile> Handles::fasta(uintptr_t number) {
  return find(fastas_, number, "FASTA file");
}

void Handles::close_fasta(uintptr_t number) {
  find(fastas_, number, "FASTA file", true);  // which is closed after the lock is free
}

std::shared_ptr<VcfFile> Handles::vcf(uintptr_t number) {
  return find(vcfs_, number, "VCF file");
}

void Handles::close_vcf(uintptr_t number) {
  find(vcfs_, number, "VCF file", true);  // which is closed after the lock is free
}

void Handles::close_model(uintptr_t number) {
  const std::shared_ptr<OpenModel> closed = find(models_, number, "model", true);
  std::vector<std::shared_ptr<Call>> calls;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, each] : calls_)
      if (each.model == number) calls.push_back(each.call);
  }
  for (const auto& call : calls) call->close(Problem(CARBON_E_HANDLE, "the model of the call is closed"));
}

void Handles::free_call(uintptr_t number) {
  const std::shared_ptr<Call> freed = find(calls_, number, "call", true).call;
  freed->close(Problem(CARBON_E_HANDLE, "the call is freed"));
}

// ---- The log.

void LogQueue::write(LogLevel level, std::string_view where, std::string_view text,
                     const Advice& /*advice*/) {
  constexpr const char* kNames[] = {"error", "warning", "info", "message"};
  add(kNames[static_cast<int>(level)], where, text);
}

void LogQueue::summary(std::string_view where, std::string_view text,
                       std::span<const std::pair<std::string, uint64_t>> /*counts*/) {
  add("message", where, text);
}

void LogQueue::add(const char* level, std::string_view where, std::string_view text) {
  using nlohmann::ordered_json;
  const ordered_json message = {{"level", level}, {"where", where}, {"text", text}};
  std::string line = message.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  const std::lock_guard lock(mutex_);
  messages_.push_back(std::move(line));
  if (messages_.size() > kMost) messages_.pop_front();
}

std::optional<std::string> LogQueue::take() {
  const std::lock_guard lock(mutex_);
  if (messages_.empty()) return std::nullopt;
  std::string oldest = std::move(messages_.front());
  messages_.pop_front();
  return oldest;
}

}  // namespace carbon::api
