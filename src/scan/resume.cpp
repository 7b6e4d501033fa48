#include "src/scan/resume.hpp"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/genome/output.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr const char* kLayout = "carbon_scan_partial";
constexpr int kLayoutNumber = 1;
constexpr size_t kLargestState = size_t{1} << 30;
constexpr uint64_t kCheckedEnd = 1 << 16;
constexpr int64_t kSliceBases = 1 << 20;

uint32_t crc(const std::string& bytes) {
  return static_cast<uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

bool is_before(const ScanPiece& piece, int64_t position, const ScanMark& mark) {
  return piece.number < mark.contig || (piece.number == mark.contig && position < mark.position);
}

// Throws std::range_error for what is not a whole number that `out` can hold; the library would convert it.
template <class T>
void read_whole(const nlohmann::json& value, T& out) {
  if (!value.is_number_unsigned() || !std::in_range<T>(value.get<uint64_t>()))
    throw std::range_error("not a whole number in range");
  out = static_cast<T>(value.get<uint64_t>());
}

}  // namespace

void ScannedBases::add(const ScanPiece& piece, int64_t position, int digit) {
  // The mixing step of FNV-1a, over numbers instead of bytes.
  constexpr uint64_t prime = 1099511628211u;
  ++count;
  checksum = (checksum ^ piece.number) * prime;
  checksum = (checksum ^ (static_cast<uint64_t>(position) * 4 + static_cast<uint64_t>(digit))) * prime;
}

std::vector<ScanPiece> pieces_from(const std::vector<ScanPiece>& pieces, const ScanMark& mark) {
  std::vector<ScanPiece> out;
  for (ScanPiece piece : pieces) {
    if (piece.number < mark.contig) continue;
    if (piece.number == mark.contig) piece.begin = std::max(piece.begin, mark.position);
    if (piece.begin < piece.end) out.push_back(piece);
  }
  return out;
}

void check_bases_before(const ScanMark& mark, const std::vector<ScanPiece>& pieces,
                        const IndexedFasta& fasta) {
  ScannedBases found;
  for (const ScanPiece& piece : pieces) {
    for (int64_t begin = piece.begin; begin < piece.end && is_before(piece, begin, mark);
         begin += kSliceBases) {
      const int64_t end = std::min(piece.end, begin + kSliceBases);
      const std::string bases = to_upper(fasta.fetch(piece.contig, begin, end));
      for (int64_t i = begin; i < end && is_before(piece, i, mark); ++i)
        if (const int digit = base_digit(bases[static_cast<size_t>(i - begin)]); digit >= 0)
          found.add(piece, i, digit);
    }
  }
  if (found.count != mark.before.count || found.checksum != mark.before.checksum)
    throw Error("resume", fasta.path() + " has other bases than when the run began; give the same FASTA",
                {"restart"});
}

PartialScan::PartialScan(const std::string& target, const RunIdentity& run, EarlierRun earlier, Log& log)
    : file_(target + ".partial", log),
      state_path_(path() + ".state"),
      identity_(identity_json(run)),
      keep_(earlier == EarlierRun::resume) {
  const std::optional<State> state = read_state(run, earlier);
  if (state) {
    file_.cut(state->bytes);
    continued_ = state->mark;
    saved_ = true;
    return;
  }
  file_cleanup_.emplace(path());
  state_cleanup_.emplace(state_path_);
  try {
    file_.cut(0);
    write_state({});
  } catch (...) {
    ::unlink(path().c_str());
    throw;
  }
}

PartialScan::~PartialScan() {
  if (finished_ || (keep_ && saved_)) return;
  // The lock is still held, so that no other run can have begun to use them.
  ::unlink(path().c_str());
  ::unlink(state_path_.c_str());
}

// The state that this run continues; none to begin anew.
std::optional<PartialScan::State> PartialScan::read_state(const RunIdentity& run, EarlierRun earlier) const {
  if (file_.size() == 0 || earlier == EarlierRun::discard) return std::nullopt;
  if (!path_exists(state_path_))
    file_.fail(
        "not the output of an interrupted carbon scan, which has " + state_path_ + " beside it; move it away",
        {"other_output"});
  const nlohmann::json json = read_json_file(state_path_, kLargestState);
  State state;
  std::string theirs;
  try {
    if (json.at(kLayout) != kLayoutNumber) file_.fail("begun by another version of carbon", {"restart"});
    theirs = json.at("run").dump();
    read_whole(json.at("bytes"), state.bytes);
    read_whole(json.at("end_check"), state.end_check);
    read_whole(json.at("contig"), state.mark.contig);
    read_whole(json.at("position"), state.mark.position);
    read_whole(json.at("scored"), state.mark.before.count);
    read_whole(json.at("checksum"), state.mark.before.checksum);
    json.at("histogram").get_to(state.mark.histogram);
  } catch (const nlohmann::json::exception&) {
    throw Error("resume", state_path_ + " is damaged", {"restart"});
  } catch (const std::range_error&) {
    throw Error("resume", state_path_ + " is damaged", {"restart"});
  }
  if (state.bytes == 0) return std::nullopt;
  if (earlier == EarlierRun::refuse)
    file_.fail("an interrupted run has left " + std::to_string(state.mark.before.count) + " bases here",
               {"resume_or_restart"});
  if (const std::string differences = identity_differences(theirs, run, state_path_); !differences.empty())
    file_.fail("begun with another model or other options (" + differences + "); repeat them to continue it",
               {"restart"});
  if (file_.size() < state.bytes || end_check(state.bytes) != state.end_check)
    file_.fail("has lost bytes that were written, as after a power cut", {"restart"});
  return state;
}

void PartialScan::write_state(const State& state) {
  const nlohmann::json json = {{kLayout, kLayoutNumber},
                               {"run", nlohmann::json::parse(identity_)},
                               {"bytes", state.bytes},
                               {"end_check", state.end_check},
                               {"contig", state.mark.contig},
                               {"position", state.mark.position},
                               {"scored", state.mark.before.count},
                               {"checksum", state.mark.before.checksum},
                               {"histogram", state.mark.histogram}};
  TextOutput output(state_path_, PartialName::fixed);
  output.write(json.dump() + "\n");
  output.close();
}

// A checksum of the last of the first `bytes` bytes of the file.
uint32_t PartialScan::end_check(uint64_t bytes) const {
  std::string end(static_cast<size_t>(std::min(bytes, kCheckedEnd)), '\0');
  const ssize_t got = read_at(file_.fd(), end.data(), end.size(), bytes - end.size());
  if (got < 0) file_.fail(std::string("cannot be read: ") + std::strerror(errno));
  end.resize(static_cast<size_t>(got));
  return crc(end);
}

void PartialScan::save(const ScanMark& mark) {
  const uint64_t bytes = file_.size();
  write_state({mark, bytes, end_check(bytes)});
  saved_ = true;
  since_.emplace();
  file_cleanup_.reset();
  state_cleanup_.reset();
}

void PartialScan::finish() {
  finished_ = true;
  ::unlink(state_path_.c_str());
}

}  // namespace carbon
