#include "src/serve/http_body.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace carbon {
namespace {

// A line between chunks has a number and perhaps an extension, which nobody uses.
constexpr size_t kLongestLine = 1024;
constexpr size_t kLongestTrailer = 8192;

// The size in front of a chunk. None if the line is malformed.
std::optional<uint64_t> chunk_size(std::string_view line) {
  uint64_t size = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), size, 16);
  if (error != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return line.empty() || line.front() == ';' ? std::optional(size) : std::nullopt;
}

}  // namespace

HttpBodyReader::HttpBodyReader(std::optional<uint64_t> length, size_t limit)
    : limit_(limit),
      chunked_(!length),
      part_(chunked_ ? Part::size : Part::data),
      left_(length.value_or(0)) {}

HttpBodyReader::Status HttpBodyReader::read(std::string_view& bytes) {
  for (;;) {
    if (part_ == Part::data) {
      const size_t n = std::min<uint64_t>(left_, bytes.size());
      body_.append(bytes.substr(0, n));
      bytes.remove_prefix(n);
      left_ -= n;
      if (left_ > 0) return Status::more;
      if (!chunked_) return Status::complete;
      part_ = Part::data_end;
    }
    const size_t longest = part_ == Part::trailer ? kLongestTrailer - trailer_ : kLongestLine;
    const bool ended = read_line(bytes);
    if (line_.size() > longest) return Status::malformed;
    if (!ended) return Status::more;
    const Status status = line_ended();
    if (status != Status::more) return status;
    line_.clear();
  }
}

// Moves bytes to line_ until a line has ended, and returns whether it has. line_ keeps its '\r'.
bool HttpBodyReader::read_line(std::string_view& bytes) {
  const size_t end = bytes.find('\n');
  const size_t n = std::min(end, bytes.size());
  // Not more than shows that the line is too long.
  line_.append(bytes.substr(0, std::min(n, kLongestTrailer + 1)));
  bytes.remove_prefix(end == std::string_view::npos ? n : n + 1);
  return end != std::string_view::npos;
}

HttpBodyReader::Status HttpBodyReader::line_ended() {
  if (line_.empty() || line_.back() != '\r') return Status::malformed;
  const std::string_view line = std::string_view(line_).substr(0, line_.size() - 1);
  switch (part_) {
    case Part::size: {
      const std::optional<uint64_t> size = chunk_size(line);
      if (!size) return Status::malformed;
      if (*size > limit_ - body_.size()) return Status::too_large;
      left_ = *size;
      part_ = *size > 0 ? Part::data : Part::trailer;
      return Status::more;
    }
    case Part::data_end:
      part_ = Part::size;
      return line.empty() ? Status::more : Status::malformed;
    case Part::trailer:
      trailer_ += line_.size();
      return line.empty() ? Status::complete : Status::more;
    case Part::data:
      break;
  }
  return Status::malformed;
}

}  // namespace carbon
