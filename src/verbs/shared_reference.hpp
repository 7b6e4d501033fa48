// The FASTA of a server, which many requests read.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

#include "src/formats/fasta.hpp"

namespace carbon {

/// An IndexedFasta serves one thread at a time, and so does this.
class SharedReference {
 public:
  explicit SharedReference(IndexedFasta fasta) : fasta_(std::move(fasta)) {}

  /// Calls `use` while no other thread reads the FASTA.
  void read(const std::function<void(const IndexedFasta&)>& use) {
    const std::lock_guard lock(mutex_);
    use(fasta_);
  }

 private:
  std::mutex mutex_;
  IndexedFasta fasta_;
};

}  // namespace carbon
