// All kernels, in the order in which they use one another. Each isa_*.cpp includes this text once, in its own
// namespace, after the vectors of its instruction set (simd_*.hpp).
#include "kernels/cpu/kernels.inl"
//
#include "kernels/cpu/tile.inl"
//
#include "kernels/cpu/linear.inl"
//
#ifdef TILES
#include "kernels/cpu/amx.inl"
#endif
//
#include "kernels/cpu/linear_int8.inl"
//
#include "kernels/cpu/kv_page.inl"
//
#include "kernels/cpu/attention.inl"
