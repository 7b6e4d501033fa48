// Reads the body of a request from the bytes of a connection, as they come: of a length that the header gave,
// or in chunks (RFC 9112, section 7.1).
//
// Boost.Beast's parser is not used for this: an assertion in its 1.74 ends the program when the end of an
// empty chunked body arrives byte by byte, and it limits neither extensions of chunks nor trailers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace carbon {

class HttpBodyReader {
 public:
  enum class Status { more, complete, too_large, malformed };

  /// Without a length the body is chunked. It may have at most `limit` bytes, to which the caller has held
  /// the length already.
  HttpBodyReader(std::optional<uint64_t> length, size_t limit);

  /// Takes bytes of the body from the front of `bytes`.
  Status read(std::string_view& bytes);
  const std::string& body() const { return body_; }
  std::string take_body() { return std::move(body_); }

 private:
  enum class Part { data, size, data_end, trailer };

  bool read_line(std::string_view& bytes);
  Status line_ended();

  size_t limit_;
  bool chunked_;
  Part part_;
  uint64_t left_ = 0;   // bytes that are missing of the data, or of the chunk
  std::string line_;    // what there is of a line between chunks, without its end
  size_t trailer_ = 0;  // bytes in lines after the last chunk
  std::string body_;
};

}  // namespace carbon
