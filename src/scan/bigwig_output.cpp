// The output type bigwig: the probabilities of the four letters at each base as four bigWig files, the lowest
// score of its SNVs as a fifth one, and the UCSC track hub that shows them, the letters as a sequence logo:
// hub.txt, genomes.txt and trackDb.txt (https://genome.ucsc.edu/goldenPath/help/hgTrackHubHelp.html).
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "src/base/error.hpp"
#include "src/base/threads.hpp"
#include "src/files/file_name.hpp"
#include "src/files/output.hpp"
#include "src/files/temporary_files.hpp"
#include "src/formats/bigwig_writer.hpp"
#include "src/scan/output.hpp"

namespace carbon {
namespace {

// The letters of the tracks, in the order of the hub.
constexpr std::array<char, 4> kTrackLetters{'A', 'C', 'G', 'T'};
// The track of a letter.
std::string track_path(const std::string& prefix, char letter) {
  return prefix + "." + letter + ".bw";
}
std::string lowest_path(const std::string& prefix) {
  return prefix + ".lowest.bw";
}
constexpr size_t kTracks = kTrackLetters.size() + 1;  // the lowest scores come last

// The genome's name for a hub if none is given: the name of the FASTA without folders and suffixes.
std::string hub_genome_of(const std::string& fasta) {
  std::filesystem::path name = std::filesystem::path(fasta).filename();
  if (is_compressed_name(name)) name = name.stem();
  return name.stem().string();
}

constexpr std::string_view kWordCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

// The usual colours of the letters in a logo.
const char* color_of(char letter) {
  switch (letter) {
    case 'A':
      return "0,128,0";
    case 'C':
      return "0,0,255";
    case 'G':
      return "255,165,0";
    default:
      return "255,0,0";
  }
}

// A relative path as a relative URL.
std::string url_of(const std::string& path) {
  std::string url;
  for (const char c : path) {
    if (c == '/' || kWordCharacters.find(c) != std::string_view::npos) {
      url += c;
      continue;
    }
    constexpr char digits[] = "0123456789ABCDEF";
    const unsigned char byte = static_cast<unsigned char>(c);
    url += {'%', digits[byte / 16], digits[byte % 16]};
  }
  return url;
}

// The tracks' common beginning, relative to the hub's folder. A hub is copied to a web server as a folder,
// and an address outside it, or one of this machine, would lead nowhere there.
std::string relative_prefix(const std::string& folder, const std::string& prefix) {
  namespace fs = std::filesystem;
  const fs::path path(prefix);
  std::error_code failed;
  const fs::path parent = fs::canonical(path.has_parent_path() ? path.parent_path() : fs::path("."), failed);
  const fs::path top = failed ? fs::path() : fs::canonical(folder, failed);
  if (failed) throw Error("scan_hub", "cannot find the folder of " + prefix + ": " + failed.message());
  const fs::path relative = (parent / path.filename()).lexically_relative(top);
  if (relative.empty() || *relative.begin() == "..")
    throw Error("scan_hub",
                "the tracks " + track_path(prefix, 'A') + " and so on are not in the hub's folder " + folder +
                    " or below it, so that a copy of the folder would lack them",
                {"name them with {-o} {0}/NAME", {folder}});
  return relative.string();
}

std::string hub_text() {
  // UCSC wants an address; only the owner of the hub knows it.
  return "hub carbon_scan\n"
         "shortLabel Carbon\n"
         "longLabel Probability of each base by a Carbon model\n"
         "genomesFile genomes.txt\n"
         "email nobody@example.org\n";
}

std::string genomes_text(const std::string& genome) {
  return "genome " + genome + "\ntrackDb trackDb.txt\n";
}

// One container that stacks the tracks of letters, in their order; the name of each ends with its letter. And
// the track of the lowest scores, of which a pixel shows the lowest.
std::string tracks_text(const std::string& prefix) {
  std::string text =
      "track carbonLogo\n"
      "container multiWig\n"
      "type bigWig 0 1\n"
      "shortLabel Carbon logo\n"
      "longLabel Probability of each base by a Carbon model\n"
      "visibility full\n"
      "aggregate stacked\n"
      "logo on\n"
      "noInherit on\n"
      "autoScale off\n"
      "viewLimits 0:1\n"
      "maxHeightPixels 128:64:16\n";
  for (size_t i = 0; i < kTrackLetters.size(); ++i) {
    const std::string letter(1, kTrackLetters[i]);
    text += "\n    track carbonLogo" + letter +
            "\n    parent carbonLogo\n    type bigWig 0 1\n    shortLabel Carbon " + letter +
            "\n    longLabel Probability of " + letter + " by a Carbon model\n    priority " +
            std::to_string(i + 1) + "\n    color " + color_of(letter[0]) + "\n    bigDataUrl " +
            url_of(track_path(prefix, letter[0])) + "\n";
  }
  return text +
         "\ntrack carbonLowest\n"
         "type bigWig\n"
         "shortLabel Carbon lowest\n"
         "longLabel Lowest score of the SNVs of a base by a Carbon model\n"
         "visibility full\n"
         "autoScale on\n"
         "alwaysZero on\n"
         "windowingFunction minimum\n"
         "maxHeightPixels 128:48:16\n"
         "color 120,20,20\n"
         "bigDataUrl " +
         url_of(lowest_path(prefix)) + "\n";
}

class ScanHub {
 public:
  /// Creates the folder if it is absent, and opens the hub's files there. Throws Error if that is not
  /// possible, if the tracks are not in the folder or below it, and for a name of a genome that is not one
  /// word.
  ScanHub(const std::string& folder, const std::string& genome, const std::string& prefix) : folder_(folder) {
    if (genome.empty() || genome.find_first_not_of(kWordCharacters) != std::string::npos)
      throw Error("scan_hub",
                  "'" + genome +
                      "' cannot be the name of a genome in a hub, as it is not of letters, digits, '.', '_' "
                      "and '-'",
                  {"give the browser's name of the genome with {--hub-genome}"});
    const std::string tracks = relative_prefix(folder, prefix);
    const std::array<std::pair<const char*, std::string>, 3> texts{{{"hub.txt", hub_text()},
                                                                    {"genomes.txt", genomes_text(genome)},
                                                                    {"trackDb.txt", tracks_text(tracks)}}};
    for (size_t i = 0; i < texts.size(); ++i) {
      files_[i] = std::make_unique<TextOutput>(folder + "/" + texts[i].first);
      files_[i]->write(texts[i].second);
    }
  }

  /// Completes the files except for their names, which commit() gives them. Without them nothing is left.
  void finish() {
    for (const auto& file : files_) file->finish();
  }

  void commit() {
    for (const auto& file : files_) file->commit();
    folder_.keep();
  }

 private:
  // A folder that this run has made. It goes again unless the run completes, also if a signal ends it.
  class Folder {
   public:
    explicit Folder(const std::string& path) : path_(path) {
      if (::mkdir(path.c_str(), 0777) == 0) {
        made_.emplace(path);
        return;
      }
      const int code = errno;
      struct stat info = {};
      if (code != EEXIST || ::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
        throw Error("scan_hub", "cannot create the hub's folder " + path + ": " + std::strerror(code));
    }

    ~Folder() {
      if (made_) ::rmdir(path_.c_str());
    }

    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    void keep() { made_.reset(); }

   private:
    std::string path_;
    std::optional<SignalCleanup> made_;
  };

  Folder folder_;
  std::array<std::unique_ptr<TextOutput>, 3> files_;
};

using Contigs = std::vector<std::pair<std::string, int64_t>>;

class BigwigScanOutput final : public ScanOutput, private Output {
 public:
  BigwigScanOutput(const ScanOptions& options, const Contigs& contigs, int threads)
      : pool_(std::min(threads, static_cast<int>(kTracks)), "carbon-format") {
    if (!options.hub.empty())
      hub_.emplace(options.hub,
                   options.hub_genome.empty() ? hub_genome_of(options.fasta) : options.hub_genome,
                   options.output);
    for (size_t i = 0; i < kTracks; ++i) {
      const std::string path = i < kTrackLetters.size() ? track_path(options.output, kTrackLetters[i])
                                                        : lowest_path(options.output);
      writers_[i] = std::make_unique<BigwigWriter>(path, contigs);
      values_[i].reserve(BigwigWriter::kMostValues);
    }
  }

  void write(const ScannedBase& base) override {
    const bool follows = contig_ == base.piece->number && begin_ + count() == base.position;
    if (!follows || values_[0].size() == BigwigWriter::kMostValues) {
      write_block();
      contig_ = base.piece->number;
      begin_ = base.position;
    }
    std::array<double, kTrackLetters.size()> probabilities{};
    double sum = 0;
    for (size_t i = 0; i < kTrackLetters.size(); ++i) {
      probabilities[i] = std::exp(base.logp[static_cast<size_t>(base_digit(kTrackLetters[i]))]);
      sum += probabilities[i];
    }
    for (size_t i = 0; i < kTrackLetters.size(); ++i)
      values_[i].push_back(static_cast<float>(probabilities[i] / sum));
    const Alternatives alts(base);
    values_.back().push_back(*std::min_element(alts.values.begin(), alts.values.end()));
  }

  Output& file() override { return *this; }

 private:
  void close() override {
    write_block();
    for (const auto& writer : writers_) writer->finish();
    if (hub_) hub_->finish();
    // Everything is written now. Only names are missing, so that all files appear or none does.
    for (const auto& writer : writers_) writer->commit();
    if (hub_) hub_->commit();
  }

  int64_t count() const { return static_cast<int64_t>(values_[0].size()); }

  void write_block() {
    if (values_[0].empty()) return;
    pool_.run(kTracks, [&](size_t i, size_t) {
      writers_[i]->write(contig_, begin_, values_[i]);
      values_[i].clear();
    });
  }

  std::optional<ScanHub> hub_;  // first, because its folder can only go when the tracks have gone
  std::array<std::unique_ptr<BigwigWriter>, kTracks> writers_;
  // The bases that are not yet in the files.
  size_t contig_ = 0;  // its number
  int64_t begin_ = 0;
  std::array<std::vector<float>, kTracks> values_;
  ThreadPool pool_;  // each file is summarised and compressed by one thread at a time
};

}  // namespace

std::unique_ptr<ScanOutput> open_bigwig(const ScanOptions& options, const IndexedFasta& fasta,
                                        const ScanDestination& destination) {
  Contigs contigs;
  for (const std::string& name : fasta.names()) contigs.emplace_back(name, fasta.length(name));
  return std::make_unique<BigwigScanOutput>(options, contigs, destination.threads);
}

uint64_t bigwig_bytes(const ScanPiece&) {
  // Five floats, and summaries of 32 bytes for each 64, 256, ... bases.
  return 5 * 4 + 5;
}

}  // namespace carbon
