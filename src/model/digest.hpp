// SHA-256, which identifies a model in outputs and caches, and a file in which digests are remembered.
//
// Hashing a large checkpoint takes many seconds, so the result is kept under $XDG_CACHE_HOME/carbon (default
// ~/.cache/carbon) and used as long as the files look unchanged. A failure to read or write it is ignored:
// the digest is then computed again.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace carbon {

struct ModelConfig;

/// SHA-256 as bytes.
using Sha256Bytes = std::array<unsigned char, 32>;
Sha256Bytes sha256_bytes(std::string_view text);
/// SHA-256 as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view text);
/// The same for a part of a read-only mapping of a file. Its pages are given back to the system as they are
/// hashed; a later access reads them from the file again.
std::string sha256_hex_of_mapping(const void* data, size_t bytes);

/// The keys of the configuration that change results, as sorted `key=value` lines, for the digest of the
/// model. max_position_embeddings is left out, because it only limits the length of windows.
std::string config_fingerprint(const ModelConfig& config);

/// Returns the digest that is remembered for `subject` (the path of a checkpoint) if it was stored with
/// exactly this `key` (a description of the files). Otherwise returns compute(), and stores that if
/// `remember` is true.
std::string remembered_digest(const std::string& subject, const std::string& key, bool remember,
                              const std::function<std::string()>& compute);

}  // namespace carbon
