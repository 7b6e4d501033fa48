// What the library holds of this process: the models, calls, FASTA and VCF files, by the numbers that C code
// has as pointers, and its log.
//
// A number is never used twice, so that one of something closed, or of nothing at all, is known as such. A
// child of fork() has none of the threads that compute, and its locks may be held by threads that it lacks.
// So it never touches what its parent had, and begins anew with larger numbers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "src/api/call.hpp"
#include "src/api/open_model.hpp"
#include "src/base/log.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/vcf.hpp"
#include "src/verbs/variant_input.hpp"

namespace carbon::api {

/// The log of the library: messages wait in memory until carbon_log_next() takes them.
class LogQueue final : public Log {
 public:
  void write(LogLevel level, std::string_view where, std::string_view text, const Advice& advice) override;
  void summary(std::string_view where, std::string_view text,
               std::span<const std::pair<std::string, uint64_t>> counts) override;
  /// Nobody sees progress here; results are what shows it.
  ProgressStyle progress_style() const override { return {}; }
  void progress(const ProgressReport& /*report*/) override {}
  void clear_progress() override {}

  /// The oldest message, as a JSON object.
  std::optional<std::string> take();

 private:
  // The oldest are dropped.
  static constexpr size_t kMost = 1000;

  void add(const char* level, std::string_view where, std::string_view text);

  std::mutex mutex_;
  std::deque<std::string> messages_;
};

/// A reader cannot go on after an error: whoever asks for more is told the same again, and never that the
/// file is complete.
class LastingError {
 public:
  template <class Read>
  decltype(auto) or_again(const Read& read) {
    if (thrown_) std::rethrow_exception(thrown_);
    try {
      return read();
    } catch (...) {
      thrown_ = std::current_exception();
      throw;
    }
  }

 private:
  std::exception_ptr thrown_;
};

/// A FASTA file that is read record by record (carbon_fasta_open() in carbon.h), by the reader of the
/// commands. Throws Error, as FastaReader does.
class FastaFile {
 public:
  FastaFile(const std::string& path, Log& log) : reader_(path, log) {}

  /// The next record, valid until the next call; null if there are no more.
  const FastaRecord* next() {
    const std::lock_guard lock(mutex_);
    return error_.or_again([&] { return reader_.next(record_); }) ? &record_ : nullptr;
  }

 private:
  std::mutex mutex_;  // guards what follows
  LastingError error_;
  FastaReader reader_;
  FastaRecord record_;
};

/// A VCF or BCF file whose alternative alleles are read one by one (carbon_vcf_open() in carbon.h), by the
/// reader of the commands. Throws Error, as VcfReader does.
class VcfFile {
 public:
  VcfFile(const std::string& path, Log& log) : reader_(path, {}, log) {}

  /// The next allele as an input of the verb variants, valid until the next call; null if there are no more.
  const char* next() {
    const std::lock_guard lock(mutex_);
    return error_.or_again([&]() -> const char* {
      while (next_alt_ == record_.alts().size()) {
        if (!reader_.next(record_)) return nullptr;
        next_alt_ = 0;
      }
      text_ = variant_text(reader_, record_, next_alt_++);
      return text_.c_str();
    });
  }

 private:
  std::mutex mutex_;  // guards what follows
  LastingError error_;
  VcfReader reader_;
  VcfRecord record_;
  size_t next_alt_ = 0;
  std::string text_;
};

class Handles {
 public:
  /// Those of this process.
  static Handles& here();

  LogQueue& log() { return log_; }

  uintptr_t add(std::shared_ptr<OpenModel> model);
  uintptr_t add(std::shared_ptr<FastaFile> fasta);
  uintptr_t add(std::shared_ptr<VcfFile> vcf);
  /// Throws Problem, as do all functions below, for a number that is not open here.
  uintptr_t add(uintptr_t model, std::shared_ptr<Call> call);
  std::shared_ptr<OpenModel> model(uintptr_t number);
  std::shared_ptr<Call> call(uintptr_t number);
  std::shared_ptr<FastaFile> fasta(uintptr_t number);
  std::shared_ptr<VcfFile> vcf(uintptr_t number);
  void close_model(uintptr_t number);
  void free_call(uintptr_t number);
  void close_fasta(uintptr_t number);
  void close_vcf(uintptr_t number);

 private:
  Handles(int64_t process, uintptr_t first) : process_(process), first_(first), next_(first) {}

  struct CallOfModel {
    uintptr_t model = 0;
    std::shared_ptr<Call> call;
  };
  static void close_all();
  /// Returns the number by which it is found.
  template <class Open>
  uintptr_t keep(std::map<uintptr_t, Open>& open, Open opened);
  /// If `close`, nobody finds it again: of several threads that close it, one does.
  template <class Open>
  Open find(std::map<uintptr_t, Open>& open, uintptr_t number, const char* what, bool close = false);
  [[noreturn]] void refuse(uintptr_t number, const char* what) const;

  const int64_t process_;
  const uintptr_t first_;
  std::atomic<uintptr_t> next_;
  LogQueue log_;
  std::mutex mutex_;  // guards what follows
  std::map<uintptr_t, std::shared_ptr<OpenModel>> models_;
  std::map<uintptr_t, CallOfModel> calls_;
  std::map<uintptr_t, std::shared_ptr<FastaFile>> fastas_;
  std::map<uintptr_t, std::shared_ptr<VcfFile>> vcfs_;
};

}  // namespace carbon::api
