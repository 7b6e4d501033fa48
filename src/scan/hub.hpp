// A UCSC track hub that shows four bigWig tracks, one for each letter, as a sequence logo: hub.txt,
// genomes.txt and trackDb.txt (https://genome.ucsc.edu/goldenPath/help/hgTrackHubHelp.html).
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "src/files/output.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {

/// The letters of the tracks, in the order of the hub.
inline constexpr std::array<char, 4> kTrackLetters{'A', 'C', 'G', 'T'};
/// The track of a letter.
std::string track_path(const std::string& prefix, char letter);

/// The genome's name for a hub if none is given: the name of the FASTA without folders and suffixes.
std::string hub_genome_of(const std::string& fasta);

class ScanHub {
 public:
  /// Creates the folder if it is absent, and opens the hub's files there. Throws Error if that is not
  /// possible, if the tracks are not in the folder or below it, and for a name of a genome that is not one
  /// word.
  ScanHub(const std::string& folder, const std::string& genome, const std::string& prefix);

  /// Completes the files except for their names, which commit() gives them. Without them nothing is left.
  void finish();
  void commit();

 private:
  // A folder that this run has made. It goes again unless the run completes, also if a signal ends it.
  class Folder {
   public:
    explicit Folder(const std::string& path);
    ~Folder();
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

}  // namespace carbon
