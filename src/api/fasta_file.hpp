// A FASTA file that is read record by record (carbon_fasta_open() in carbon.h), by the reader of the
// commands.
#pragma once

#include <mutex>
#include <string>

#include "src/base/log.hpp"
#include "src/formats/fasta.hpp"

namespace carbon::api {

/// Throws Error, as FastaReader does.
class FastaFile {
 public:
  FastaFile(const std::string& path, Log& log) : reader_(path, log) {}

  /// The next record, valid until the next call; null if there are no more.
  const FastaRecord* next() {
    const std::lock_guard lock(mutex_);
    return reader_.next(record_) ? &record_ : nullptr;
  }

 private:
  std::mutex mutex_;  // guards what follows
  FastaReader reader_;
  FastaRecord record_;
};

}  // namespace carbon::api
