// A bigWig file: one number for each base that has one, and summaries of many bases, for genome browsers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace carbon {

/// Writes a file that appears only when it is complete. All functions throw Error if writing fails.
class BigwigWriter {
 public:
  /// Contigs with their lengths. Throws Error also for a path that is no regular file, and for a contig that
  /// is too long for the format.
  BigwigWriter(const std::string& path, const std::vector<std::pair<std::string, int64_t>>& contigs);
  ~BigwigWriter();
  BigwigWriter(const BigwigWriter&) = delete;
  BigwigWriter& operator=(const BigwigWriter&) = delete;

  /// The most values of one call.
  static constexpr size_t kMostValues = 8000;
  /// The values of consecutive bases from `begin` (0-based) on a contig, which is a number in the order of
  /// the constructor. They become one block of the file. Blocks come in the order of the contigs.
  void write(size_t contig, int64_t begin, std::span<const float> values);
  /// The most values of one call with positions.
  static constexpr size_t kMostPlacedValues = kMostValues / 2;
  /// The values of single bases at ascending positions (0-based), which become one block, too.
  void write(size_t contig, std::span<const int64_t> positions, std::span<const float> values);
  /// Completes the file except for its name, which commit() gives it. Without them no file is left.
  void finish();
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace carbon
