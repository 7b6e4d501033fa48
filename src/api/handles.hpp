// The models, calls and FASTA files of this process, by the numbers that C code holds as pointers.
//
// A number is never used twice, so that one of something closed, or of nothing at all, is known as such. A
// child of fork() has none of the threads that compute, and its locks may be held by threads that it lacks.
// So it never touches what its parent had, and begins anew with larger numbers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "src/api/call.hpp"
#include "src/api/fasta_file.hpp"
#include "src/api/log_queue.hpp"
#include "src/api/open_model.hpp"

namespace carbon::api {

class Handles {
 public:
  /// Those of this process.
  static Handles& here();

  LogQueue& log() { return log_; }

  uintptr_t add(std::shared_ptr<OpenModel> model);
  uintptr_t add(std::shared_ptr<FastaFile> fasta);
  /// Throws Problem, as do all functions below, for a number that is not open here.
  uintptr_t add(uintptr_t model, std::shared_ptr<Call> call);
  std::shared_ptr<OpenModel> model(uintptr_t number);
  std::shared_ptr<Call> call(uintptr_t number);
  std::shared_ptr<FastaFile> fasta(uintptr_t number);
  void close_model(uintptr_t number);
  void free_call(uintptr_t number);
  void close_fasta(uintptr_t number);

 private:
  Handles(int64_t process, uintptr_t first) : process_(process), first_(first), next_(first) {}

  struct CallOfModel {
    uintptr_t model = 0;
    std::shared_ptr<Call> call;
  };
  static void close_all();
  template <class Open>
  Open find(const std::map<uintptr_t, Open>& open, uintptr_t number, const char* what);
  /// The same, and nobody finds it again: of several threads that close it, one does.
  template <class Open>
  Open take(std::map<uintptr_t, Open>& open, uintptr_t number, const char* what);
  [[noreturn]] void refuse(uintptr_t number, const char* what) const;

  const int64_t process_;
  const uintptr_t first_;
  std::atomic<uintptr_t> next_;
  LogQueue log_;
  std::mutex mutex_;  // guards what follows
  std::map<uintptr_t, std::shared_ptr<OpenModel>> models_;
  std::map<uintptr_t, CallOfModel> calls_;
  std::map<uintptr_t, std::shared_ptr<FastaFile>> fastas_;
};

}  // namespace carbon::api
