// The instructions for tiles of AMX in plain code, for CPUs without them: included before kernels/cpu/isa.cpp
// (mk/flags.mk), whose intrinsics of the same names they replace. Shapes are checked as a CPU checks them,
// and a fault ends the program. Source: Intel's Software Developer's Manual, volume 2, LDTILECFG, TILELOADD,
// TILESTORED, TDPBF16PS.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace carbon::tiles_in_memory {

struct Tile {
  uint32_t rows[16][16];
};

/// The tiles of a thread, and what LDTILECFG has read.
struct State {
  bool configured = false;
  uint16_t bytes_per_row[8];
  uint8_t rows[8];
  Tile tiles[8];
};
inline thread_local State state;

inline void check(bool right) {
  if (!right) __builtin_trap();
}

inline void configure(const void* memory) {
  const auto* const bytes = static_cast<const uint8_t*>(memory);
  check(bytes[0] == 1);                                   // the palette
  for (size_t i = 1; i < 16; ++i) check(bytes[i] == 0);   // the row to go on with, and what must be zero
  for (size_t i = 32; i < 48; ++i) check(bytes[i] == 0);  // tiles 8 to 15 do not exist
  for (size_t i = 56; i < 64; ++i) check(bytes[i] == 0);
  __builtin_memcpy(state.bytes_per_row, bytes + 16, sizeof state.bytes_per_row);
  __builtin_memcpy(state.rows, bytes + 48, sizeof state.rows);
  for (size_t t = 0; t < 8; ++t)
    check(state.rows[t] > 0 && state.rows[t] <= 16 && state.bytes_per_row[t] > 0 &&
          state.bytes_per_row[t] <= 64);
  __builtin_memset(state.tiles, 0, sizeof state.tiles);
  state.configured = true;
}
inline void release() {
  state.configured = false;
}

inline void load(size_t t, const void* memory, size_t stride) {
  check(state.configured);
  __builtin_memset(&state.tiles[t], 0, sizeof(Tile));
  for (size_t r = 0; r < state.rows[t]; ++r)
    __builtin_memcpy(state.tiles[t].rows[r], static_cast<const char*>(memory) + r * stride,
                     state.bytes_per_row[t]);
}
inline void store(size_t t, void* memory, size_t stride) {
  check(state.configured);
  for (size_t r = 0; r < state.rows[t]; ++r)
    __builtin_memcpy(static_cast<char*>(memory) + r * stride, state.tiles[t].rows[r], state.bytes_per_row[t]);
}
inline void clear(size_t t) {
  check(state.configured);
  __builtin_memset(&state.tiles[t], 0, sizeof(Tile));
}

inline float as_float(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
/// A subnormal number is zero, to what is read and to what is computed.
inline float flushed(float value) {
  return __builtin_fabsf(value) < 0x1p-126f ? value * 0.0f : value;
}

/// sums += a . b: the products of even inner indices in ascending order, those of odd ones, both added, and
/// that to the sum.
inline void multiply(size_t sums, size_t a, size_t b) {
  const size_t pairs = state.bytes_per_row[a] / 4, columns = state.bytes_per_row[b] / 4;
  check(state.configured && state.rows[b] == pairs && state.rows[sums] == state.rows[a] &&
        state.bytes_per_row[sums] == state.bytes_per_row[b]);
  for (size_t r = 0; r < state.rows[a]; ++r) {
    float even[16] = {}, odd[16] = {};
    for (size_t i = 0; i < pairs; ++i) {
      const uint32_t left = state.tiles[a].rows[r][i];
      const float left_even = flushed(as_float(left << 16)), left_odd = flushed(as_float(left & 0xffff0000));
      for (size_t j = 0; j < columns; ++j) {
        const uint32_t right = state.tiles[b].rows[i][j];
        even[j] = flushed(__builtin_fmaf(left_even, flushed(as_float(right << 16)), even[j]));
        odd[j] = flushed(__builtin_fmaf(left_odd, flushed(as_float(right & 0xffff0000)), odd[j]));
      }
    }
    for (size_t j = 0; j < columns; ++j) {
      const float sum = flushed(flushed(as_float(state.tiles[sums].rows[r][j])) + flushed(even[j] + odd[j]));
      __builtin_memcpy(&state.tiles[sums].rows[r][j], &sum, sizeof sum);
    }
  }
}

}  // namespace carbon::tiles_in_memory

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_loadd
#undef _tile_stored
#undef _tile_zero
#undef _tile_dpbf16ps
#define _tile_loadconfig(memory) carbon::tiles_in_memory::configure(memory)
#define _tile_release() carbon::tiles_in_memory::release()
#define _tile_loadd(tile, memory, stride) carbon::tiles_in_memory::load(tile, memory, stride)
#define _tile_stored(tile, memory, stride) carbon::tiles_in_memory::store(tile, memory, stride)
#define _tile_zero(tile) carbon::tiles_in_memory::clear(tile)
#define _tile_dpbf16ps(sums, a, b) carbon::tiles_in_memory::multiply(sums, a, b)
