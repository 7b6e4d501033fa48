#include "src/scan/hub.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "src/base/error.hpp"
#include "src/files/file_name.hpp"

namespace carbon {
namespace {

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

// One container that stacks the four tracks as letters, in their order. Each track's name ends with its
// letter.
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
  return text;
}

}  // namespace

std::string track_path(const std::string& prefix, char letter) {
  return prefix + "." + letter + ".bw";
}

std::string hub_genome_of(const std::string& fasta) {
  std::filesystem::path name = std::filesystem::path(fasta).filename();
  if (is_compressed_name(name)) name = name.stem();
  return name.stem().string();
}

ScanHub::Folder::Folder(const std::string& path) : path_(path) {
  if (::mkdir(path.c_str(), 0777) == 0) {
    made_.emplace(path);
    return;
  }
  const int code = errno;
  struct stat info = {};
  if (code != EEXIST || ::stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode))
    throw Error("scan_hub", "cannot create the hub's folder " + path + ": " + std::strerror(code));
}

ScanHub::Folder::~Folder() {
  if (made_) ::rmdir(path_.c_str());
}

ScanHub::ScanHub(const std::string& folder, const std::string& genome, const std::string& prefix)
    : folder_(folder) {
  if (genome.empty() || genome.find_first_not_of(kWordCharacters) != std::string::npos)
    throw Error("scan_hub",
                "'" + genome +
                    "' cannot be the name of a genome in a hub, as it is not of letters, digits, '.', '_' "
                    "and '-'",
                {"give the browser's name of the genome with {--hub-genome}"});
  const std::string tracks = relative_prefix(folder, prefix);
  const std::array<std::pair<const char*, std::string>, 3> texts{
      {{"hub.txt", hub_text()}, {"genomes.txt", genomes_text(genome)}, {"trackDb.txt", tracks_text(tracks)}}};
  for (size_t i = 0; i < texts.size(); ++i) {
    files_[i] = std::make_unique<TextOutput>(folder + "/" + texts[i].first);
    files_[i]->write(texts[i].second);
  }
}

void ScanHub::finish() {
  for (const auto& file : files_) file->finish();
}

void ScanHub::commit() {
  for (const auto& file : files_) file->commit();
  folder_.keep();
}

}  // namespace carbon
