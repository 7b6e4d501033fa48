// Layouts as in the supplement of Kent et al., BigWig and BigBed, Bioinformatics 26, 2204 (2010).

#include "src/formats/bigwig_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/files/run_files.hpp"
#include "src/files/temporary_files.hpp"

namespace carbon {
namespace {

constexpr uint32_t kMagic = 0x888FFC26, kSwappedMagic = 0x26FC8F88, kBigbedMagic = 0x8789F2EB;
constexpr uint32_t kContigsMagic = 0x78CA8C91, kIndexMagic = 0x2468ACE0;
constexpr uint64_t kHeaderBytes = 64, kContigsHeadBytes = 32, kIndexHeadBytes = 48, kNodeHeadBytes = 4;
constexpr uint64_t kLeafItem = 32, kInnerItem = 24, kBlockHeadBytes = 24;
constexpr uint32_t kMostBlockBytes = 1u << 26;  // of what is unpacked; usual are 64 KiB
constexpr uint32_t kMostNameBytes = 1u << 16;
constexpr int kMostDepth = 64;  // of a tree
enum : uint8_t { kBedGraph = 1, kVariableStep = 2, kFixedStep = 3 };

/// Numbers of a text one after the other, each in the layout of its type. The caller knows that they are
/// there.
class Numbers {
 public:
  explicit Numbers(std::string_view text) : rest_(text) {}
  template <class T>
  T next() {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string_view text(size_t count) {
    const std::string_view part = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return part;
  }
  void skip(size_t count) { rest_.remove_prefix(count); }

 private:
  std::string_view rest_;
};

}  // namespace

/// What read() is doing.
struct BigwigReader::Run {
  const Contig& contig;
  const std::function<void(int64_t, int64_t, float)>& take;
  uint64_t bytes = 0;           // of nodes and blocks so far
  int64_t end = 0;              // of the last value
  std::vector<char> room = {};  // for a block that is unpacked
};

BigwigReader::BigwigReader(const std::string& path, std::string function)
    : path_(path), function_(std::move(function)) {
  fd_ = ::open(input_to_open(path, function_).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd_ < 0) fail(std::string("cannot be opened: ") + std::strerror(errno));
  try {
    struct stat status {};
    if (::fstat(fd_, &status) != 0 || !S_ISREG(status.st_mode))
      fail("is not a regular file; a bigWig is read from one");
    size_ = static_cast<uint64_t>(status.st_size);
    if (size_ < kHeaderBytes) fail("is too short for a bigWig");
    const std::string header = bytes(0, kHeaderBytes, "header");
    Numbers numbers(header);
    const auto magic = numbers.next<uint32_t>();
    if (magic == kSwappedMagic)
      fail(
          "is a bigWig of a big-endian machine, which is not read; write it anew, e.g. with bigWigToBedGraph "
          "and bedGraphToBigWig");
    if (magic == kBigbedMagic) fail("is a bigBed; a bigWig is expected");
    if (magic != kMagic) fail("is not a bigWig");
    numbers.skip(4);  // version and zoom levels
    const auto contigs = numbers.next<uint64_t>();
    numbers.skip(8);  // where the values begin
    index_ = numbers.next<uint64_t>();
    numbers.skip(20);  // fields of bigBed, and the summary
    block_bytes_ = numbers.next<uint32_t>();
    if (block_bytes_ > kMostBlockBytes)
      fail("has blocks of " + std::to_string(block_bytes_) + " bytes by its header; up to " +
           std::to_string(kMostBlockBytes) + " are read");
    read_contigs(contigs);
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

BigwigReader::~BigwigReader() {
  ::close(fd_);
}

void BigwigReader::fail(const std::string& what) const {
  throw Error(function_, path_ + " " + what);
}

std::string BigwigReader::bytes(uint64_t offset, uint64_t count, const char* what) const {
  if (offset > size_ || count > size_ - offset)
    fail(std::string("is damaged: its ") + what + " lies beyond the end of the file");
  std::string text(count, '\0');
  const ssize_t got = read_at(fd_, text.data(), count, offset);
  if (got < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
  if (static_cast<uint64_t>(got) != count) fail("became shorter while it was read");
  return text;
}

void BigwigReader::read_contigs(uint64_t offset) {
  const std::string head = bytes(offset, kContigsHeadBytes, "list of contigs");
  Numbers numbers(head);
  const auto magic = numbers.next<uint32_t>();
  numbers.skip(4);
  const auto name_bytes = numbers.next<uint32_t>(), value_bytes = numbers.next<uint32_t>();
  if (magic != kContigsMagic || value_bytes != 8 || name_bytes > kMostNameBytes)
    fail("is damaged: its list of contigs does not begin as one");
  const uint64_t item_bytes = name_bytes + value_bytes;
  std::vector<uint64_t> nodes = {offset + kContigsHeadBytes};  // of a tree
  uint64_t read = 0;                                           // bytes of nodes
  for (size_t at = 0; at < nodes.size(); ++at) {
    const std::string node_head = bytes(nodes[at], kNodeHeadBytes, "list of contigs");
    Numbers node(node_head);
    const bool leaf = node.next<uint8_t>() != 0;
    node.skip(1);
    const uint64_t count = node.next<uint16_t>();
    const std::string text = bytes(nodes[at] + kNodeHeadBytes, count * item_bytes, "list of contigs");
    // If the file is right, each of its bytes is read once.
    if ((read += kNodeHeadBytes + text.size()) > size_) fail("is damaged: its list of contigs has no end");
    Numbers items(text);
    for (uint64_t i = 0; i < count; ++i) {
      const std::string_view padded = items.text(name_bytes);
      if (!leaf) {
        nodes.push_back(items.next<uint64_t>());
        continue;
      }
      const std::string name(padded.substr(0, padded.find('\0')));
      const Contig contig = {items.next<uint32_t>(), items.next<uint32_t>()};
      if (!contigs_.emplace(name, contig).second)
        fail("is damaged: it lists the contig " + printable(name) + " twice");
    }
  }
}

int64_t BigwigReader::length(const std::string& contig) const {
  const auto found = contigs_.find(contig);
  return found == contigs_.end() ? -1 : int64_t{found->second.length};
}

void BigwigReader::read(const std::string& contig,
                        const std::function<void(int64_t, int64_t, float)>& take) const {
  const auto found = contigs_.find(contig);
  if (found == contigs_.end()) return;
  const std::string head = bytes(index_, kIndexHeadBytes, "index");
  if (Numbers(head).next<uint32_t>() != kIndexMagic) fail("is damaged: its index does not begin as one");
  Run run{found->second, take};
  read_node(run, index_ + kIndexHeadBytes, 0);
}

void BigwigReader::read_node(Run& run, uint64_t offset, int depth) const {
  const std::string head = bytes(offset, kNodeHeadBytes, "index");
  Numbers node(head);
  const bool leaf = node.next<uint8_t>() != 0;
  node.skip(1);
  const uint64_t count = node.next<uint16_t>(), item_bytes = leaf ? kLeafItem : kInnerItem;
  const std::string text = bytes(offset + kNodeHeadBytes, count * item_bytes, "index");
  // If the file is right, each of its bytes is read once.
  if (depth > kMostDepth || (run.bytes += kNodeHeadBytes + text.size()) > size_)
    fail("is damaged: its index has no end");
  for (uint64_t i = 0; i < count; ++i) {
    Numbers item(std::string_view(text).substr(i * item_bytes, item_bytes));
    const auto first = item.next<uint32_t>();
    item.skip(4);
    const auto last = item.next<uint32_t>();
    item.skip(4);
    const auto place = item.next<uint64_t>();
    if (run.contig.number < first || run.contig.number > last) continue;
    if (leaf)
      read_block(run, place, item.next<uint64_t>());
    else
      read_node(run, place, depth + 1);
  }
}

std::string_view BigwigReader::unpacked(Run& run, std::string_view packed) const {
  run.room.resize(block_bytes_);
  uLongf length = block_bytes_;
  if (::uncompress(reinterpret_cast<Bytef*>(run.room.data()), &length,
                   reinterpret_cast<const Bytef*>(packed.data()), packed.size()) != Z_OK)
    fail("is damaged: a block of values cannot be decompressed");
  return {run.room.data(), length};
}

void BigwigReader::read_block(Run& run, uint64_t offset, uint64_t size) const {
  const std::string stored = bytes(offset, size, "block of values");
  if ((run.bytes += stored.size()) > size_)
    fail("is damaged: its index names the same values again and again");
  const std::string_view text = block_bytes_ > 0 ? unpacked(run, stored) : std::string_view(stored);
  const auto refuse = [&](const std::string& what) { fail("is damaged: " + what); };
  if (text.size() < kBlockHeadBytes) refuse("a block of values is too short");
  Numbers numbers(text);
  const auto number = numbers.next<uint32_t>();
  int64_t begin = numbers.next<uint32_t>();
  numbers.skip(4);
  const int64_t step = numbers.next<uint32_t>(), span = numbers.next<uint32_t>();
  const auto type = numbers.next<uint8_t>();
  numbers.skip(1);
  const uint64_t count = numbers.next<uint16_t>();
  if (number != run.contig.number) return;  // of a node that speaks of several contigs
  if (type != kBedGraph && type != kVariableStep && type != kFixedStep)
    refuse("a block of values is of the unknown kind " + std::to_string(type));
  const uint64_t item_bytes = type == kBedGraph ? 12 : type == kVariableStep ? 8 : 4;
  if (text.size() - kBlockHeadBytes < count * item_bytes) refuse("a block of values is too short");
  for (uint64_t i = 0; i < count; ++i) {
    if (type != kFixedStep) begin = numbers.next<uint32_t>();
    const int64_t end = type == kBedGraph ? int64_t{numbers.next<uint32_t>()} : begin + span;
    if (begin < run.end || begin >= end)
      refuse("values overlap or are not in order at base " + std::to_string(begin + 1));
    if (end > run.contig.length)
      refuse("a value is given for base " + std::to_string(end) + " of a contig of " +
             std::to_string(run.contig.length) + " bases");
    run.take(begin, end, numbers.next<float>());
    run.end = end;
    begin += step;
  }
}

}  // namespace carbon
