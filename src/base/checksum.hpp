// A checksum against damage, not against forgery (src/model/digest.hpp has that).
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string_view>

namespace carbon {

/// The CRC-32 of zlib of some bytes after those whose checksum is `before`.
inline uint32_t crc32_of(std::string_view bytes, uint32_t before = 0) {
  return static_cast<uint32_t>(::crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace carbon
