// Where the values of `carbon scan` go: a table of the types of output, each with its writer.
//
// A writer knows how values are printed, not how they are computed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/files/output.hpp"
#include "src/files/temporary_files.hpp"
#include "src/formats/vcf.hpp"
#include "src/scan/assembler.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {

/// The three SNVs of a base: the letters other than the base, in alphabetical order, each with CARBON_SCAN as
/// all outputs have it: the Float of a VCF.
struct Alternatives {
  std::array<char, 3> letters{};
  std::array<float, 3> values{};

  explicit Alternatives(const ScannedBase& base) {
    const double reference = base.logp[static_cast<size_t>(base.digit)];
    size_t i = 0;
    for (const char letter : {'A', 'C', 'G', 'T'}) {
      const int digit = base_digit(letter);
      if (digit == base.digit) continue;
      letters[i] = letter;
      values[i] = static_cast<float>(base.logp[static_cast<size_t>(digit)] - reference);
      ++i;
    }
  }
};

class ScanOutput {
 public:
  virtual ~ScanOutput() = default;
  /// Bases come in the order of the FASTA.
  virtual void write(const ScannedBase& base) = 0;
  virtual Output& file() = 0;
};

/// How the output is begun.
struct ScanDestination {
  std::vector<std::string> header_lines;  // of any but bigWig, each without a newline
  TemporaryName temporary = TemporaryName::unique;
  bool continued = false;  // FILE.partial has its header, and bases are added to it
  int threads = 1;         // that compress
};

/// A line of the table.
struct ScanOutputType {
  std::vector<std::string> words;  // of -O
  std::string shown;               // the words as --help writes them
  std::string help;                // names them, too
  /// Names of outputs that fit it, as format_of_name() (src/files/file_name.hpp) calls their formats.
  /// Unless it is one of variants, such a name chooses it.
  std::vector<std::string_view> names;
  /// A table, VCF or BCF, which VcfWriterOptions describe. It can have an index, and limits the positions.
  bool of_variants = false;
  /// For several files that appear together, what they are, such as "bigWig files". Their names begin with
  /// the name of the output. They must be regular files, and cannot be continued or put together from shares.
  std::string set = {};
  bool has_hub = false;
  /// Throws Error for the name of a contig that the output cannot hold; null: it holds all.
  void (*check_name)(const std::string& name) = nullptr;
  /// At most, for each base of a piece, before compression.
  uint64_t (*bytes_per_base)(const ScanPiece& piece);
  /// Opens it. Throws Error.
  std::unique_ptr<ScanOutput> (*open)(const ScanOptions& options, const IndexedFasta& fasta,
                                      const ScanDestination& destination);
};
const std::vector<ScanOutputType>& scan_output_types();
/// The words of all of them, with | between them.
std::string shown_scan_outputs();

/// The type of the options. Throws Error for a type or an index that the output cannot have.
const ScanOutputType& scan_output_type(const ScanOptions& options);
/// The type as the identity of a run has it: a letter of VcfWriterOptions with the level, or a word.
std::string scan_output_text(const ScanOptions& options);
/// Without an output type, sets the one that the name of the output stands for. Throws Error if the name
/// stands for another format than will be written.
void choose_scan_output(ScanOptions& options);

/// Path, type, index and log of an output of variants; the type is 't' for a table. Throws Error for a type
/// or an index that the output cannot have.
VcfWriterOptions scan_writer_options(const ScanOptions& options);

// The type of bigWig, whose writer has a file of its own (bigwig_output.cpp).

/// Opens PREFIX.A.bw and the four others, and the hub if the options name one. Throws Error.
std::unique_ptr<ScanOutput> open_bigwig(const ScanOptions& options, const IndexedFasta& fasta,
                                        const ScanDestination& destination);
uint64_t bigwig_bytes(const ScanPiece& piece);

}  // namespace carbon
