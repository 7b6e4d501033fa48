// The header of a .npy file, in which numpy keeps an array.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace carbon {

/// What stands before the values of a matrix in C order.
struct NpyHeader {
  bool half = false;  // f16, else f32
  uint64_t rows = 0, columns = 0;
  uint64_t begin = 0;  // of the values, in bytes from the start of the file
};

/// Whether a file that begins so is a .npy file.
inline bool is_npy(std::string_view bytes) {
  return bytes.starts_with("\x93NUMPY");
}

/// Reads a header from the first bytes of a file, which may be more than the header. Throws Error for
/// versions other than 1 to 3, for types other than little-endian f4 and f2, for Fortran order, and for
/// arrays that are no matrix.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& path);

}  // namespace carbon
