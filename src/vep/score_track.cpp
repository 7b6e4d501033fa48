#include "src/vep/score_track.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/formats/bigwig_writer.hpp"

namespace carbon {
namespace {

using Place = LowestScores::Place;

std::pair<uint32_t, uint32_t> key_of(const Place& place) {
  return {place.contig, place.position};
}

// Makes places that follow one another one place, if they are equal.
void add_to(std::vector<Place>& places, const Place& next) {
  if (!places.empty() && key_of(places.back()) == key_of(next))
    places.back().lowest = std::min(places.back().lowest, next.lowest);
  else
    places.push_back(next);
}

[[noreturn]] void fail(const char* what) {
  throw Error("vep", std::string("cannot ") + what + " the file in which scores are sorted: " +
                         (errno ? std::strerror(errno) : "it became shorter") +
                         "; set TMPDIR to a folder with room");
}

class TrackSiteOutput final : public SiteOutput, private Output {
 public:
  TrackSiteOutput(std::string path, std::vector<std::string> contigs, ContigLength length)
      : path_(std::move(path)), length_(std::move(length)), names_(std::move(contigs)) {
    for (size_t i = 0; i < names_.size(); ++i) numbers_.emplace(names_[i], i);
  }

  void write(VcfRecord& record, const SiteScores& scores) override {
    float lowest = std::numeric_limits<float>::infinity();
    for (const float score : scores.values.front())
      if (!std::isnan(score)) lowest = std::min(lowest, score);
    if (std::isinf(lowest)) return;  // no ALT has a score
    const auto [known, is_new] = numbers_.try_emplace(record.contig(), names_.size());
    if (is_new) names_.push_back(record.contig());
    if (record.pos() > std::numeric_limits<uint32_t>::max()) beyond(record.contig(), record.pos());
    scores_.add({static_cast<uint32_t>(known->second), static_cast<uint32_t>(record.pos()), lowest});
  }

  Output& file() override { return *this; }

 private:
  void close() override {
    std::vector<std::pair<std::string, int64_t>> contigs;
    std::vector<std::optional<size_t>> places;  // of contigs among those of the file
    for (const std::string& name : names_) {
      const int64_t length = length_(name);
      places.push_back(length < 0 ? std::nullopt : std::optional(contigs.size()));
      if (length >= 0) contigs.emplace_back(name, length);
    }
    BigwigWriter writer(path_, contigs);
    scores_.each([&](const Place& place) {
      const std::string& name = names_[place.contig];
      if (!places[place.contig])
        throw Error("vep", "contig " + name +
                               " has no length in the header of the VCF, which a bigWig needs; add it with "
                               "bcftools reheader -f FASTA.fai");
      const size_t contig = *places[place.contig];
      if (place.position >= contigs[contig].second) beyond(name, place.position);
      if (contig != contig_ || positions_.size() == BigwigWriter::kMostPlacedValues) write_block(writer);
      contig_ = contig;
      positions_.push_back(place.position);
      values_.push_back(place.lowest);
    });
    write_block(writer);
    writer.finish();
    writer.commit();
  }

  void write_block(BigwigWriter& writer) {
    writer.write(contig_, positions_, values_);
    positions_.clear();
    values_.clear();
  }

  [[noreturn]] static void beyond(const std::string& contig, int64_t position) {
    throw Error("vep", contig + ":" + std::to_string(position + 1) +
                           " is beyond the end of the contig, or of what a bigWig can hold");
  }

  std::string path_;
  ContigLength length_;
  std::vector<std::string> names_;  // of contigs; the places of scores have their numbers
  std::unordered_map<std::string, size_t> numbers_;
  LowestScores scores_;
  // The next block of the file.
  size_t contig_ = 0;
  std::vector<int64_t> positions_;
  std::vector<float> values_;
};

}  // namespace

void check_track_tags(const std::vector<InfoTag>& tags, const RecipeList& recipes) {
  std::vector<std::string> names;
  for (const InfoTag& tag : tags) names.push_back(tag.id);
  if (names.size() > 1)
    throw Error(
        "vep",
        "a bigWig has one score at a position, and this run has " + and_list(names) + "; ask for one of them",
        {"for example with {--recipe}, or choose another type with {-O}"});
  if (!recipes.front()->has_log_ratios(0))
    throw Error("vep",
                "a bigWig has the lowest score at a position, and " + names.front() +
                    " is not a log-likelihood ratio, of which low ones matter",
                {"choose another type with {-O}"});
}

std::unique_ptr<SiteOutput> make_track_output(const std::string& path, std::vector<std::string> contigs,
                                              ContigLength length) {
  return std::make_unique<TrackSiteOutput>(path, std::move(contigs), std::move(length));
}

// The places of a sorted run in the file, read some at a time.
class LowestScores::Run {
 public:
  Run(int fd, uint64_t begin, uint64_t end) : fd_(fd), next_(begin), end_(end) { read(); }

  bool at_end() const { return used_ == buffer_.size(); }
  const Place& place() const { return buffer_[used_]; }
  void advance() {
    if (++used_ == buffer_.size()) read();
  }

 private:
  static constexpr uint64_t kPlaces = 8192;

  void read() {
    buffer_.resize(std::min<uint64_t>(kPlaces, (end_ - next_) / sizeof(Place)));
    const size_t bytes = buffer_.size() * sizeof(Place);
    errno = 0;
    if (read_at(fd_, reinterpret_cast<char*>(buffer_.data()), bytes, next_) != static_cast<ssize_t>(bytes))
      fail("read");
    next_ += bytes;
    used_ = 0;
  }

  int fd_;
  uint64_t next_, end_;
  std::vector<Place> buffer_;
  size_t used_ = 0;
};

LowestScores::LowestScores(size_t most_in_memory) : most_(most_in_memory) {}

LowestScores::~LowestScores() {
  if (fd_ >= 0) ::close(fd_);
}

void LowestScores::add(const Place& place) {
  add_to(places_, place);
  if (places_.size() > most_) spill();
}

void LowestScores::sort() {
  const auto before = [](const Place& a, const Place& b) { return key_of(a) < key_of(b); };
  if (std::is_sorted(places_.begin(), places_.end(), before)) return;
  std::sort(places_.begin(), places_.end(), before);
  std::vector<Place> once;
  for (const Place& place : places_) add_to(once, place);
  places_ = std::move(once);
}

void LowestScores::spill() {
  sort();
  errno = 0;
  if (fd_ < 0) {
    folder_ = std::make_unique<PrivateDirectory>();
    fd_ = ::open(folder_->file("scores").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd_ < 0) fail("make");
  }
  const size_t bytes = places_.size() * sizeof(Place);
  if (!write_all(fd_, reinterpret_cast<const char*>(places_.data()), bytes)) fail("write");
  ends_.push_back((ends_.empty() ? 0 : ends_.back()) + bytes);
  places_.clear();
}

void LowestScores::each(const std::function<void(const Place&)>& take) {
  if (ends_.empty()) {
    sort();
    std::for_each(places_.begin(), places_.end(), take);
    return;
  }
  if (!places_.empty()) spill();
  std::vector<Run> runs;
  for (size_t i = 0; i < ends_.size(); ++i) runs.emplace_back(fd_, i == 0 ? 0 : ends_[i - 1], ends_[i]);
  // The run with the first place is at the front of the heap.
  const auto after = [](const Run& a, const Run& b) { return key_of(a.place()) > key_of(b.place()); };
  std::make_heap(runs.begin(), runs.end(), after);
  std::vector<Place> waiting;  // at most one place, which the next ones may be, too
  while (!runs.empty()) {
    std::pop_heap(runs.begin(), runs.end(), after);
    const Place next = runs.back().place();
    if (!waiting.empty() && key_of(waiting.back()) != key_of(next)) {
      take(waiting.back());
      waiting.clear();
    }
    add_to(waiting, next);
    runs.back().advance();
    if (runs.back().at_end())
      runs.pop_back();
    else
      std::push_heap(runs.begin(), runs.end(), after);
  }
  if (!waiting.empty()) take(waiting.back());
}

}  // namespace carbon
