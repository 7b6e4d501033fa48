// SHA-256 and its memory between runs: what identifies a model in outputs and caches.
//
// Hashing a large checkpoint takes many seconds, so the result is remembered under $XDG_CACHE_HOME/carbon
// (~/.cache without it) as long as the files look untouched. The memory is a convenience: failing to read or
// write it is silent.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace carbon {

/// SHA-256 as bytes.
using Sha256Bytes = std::array<unsigned char, 32>;
Sha256Bytes sha256_bytes(std::string_view text);
/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);
/// The same of a part of a read-only file mapping, whose pages are given back as they are hashed: whoever
/// reads them later gets them from the file again.
std::string sha256_hex_of_mapping(const void* data, size_t bytes);

/// The value remembered for `subject` (a checkpoint's path) if it was remembered with exactly this `key`
/// (what its files looked like), else compute(), which is then remembered in its place unless `remember` is
/// false.
std::string remembered_digest(const std::string& subject, const std::string& key, bool remember,
                              const std::function<std::string()>& compute);

}  // namespace carbon
