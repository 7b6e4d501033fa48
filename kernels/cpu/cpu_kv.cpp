// KV pages in host memory. See cpu_kv.hpp for the layout.
#include "kernels/cpu/cpu_kv.hpp"

#include <cstring>

#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {

static_assert(kPage == ops::kPageTokens);

CpuKvStore::CpuKvStore(const ops::KvShape& shape, DType type) : shape_(shape), type_(type) {
  if (shape.layers == 0 || shape.kv_heads == 0 || shape.head_dim == 0 || shape.head_dim % 2 != 0 ||
      shape.head_dim > kMaxHeadDim)
    throw Error("kv_store", "unsupported KV shape: " + std::to_string(shape.layers) + " layers, " +
                                std::to_string(shape.kv_heads) + " KV heads of " +
                                std::to_string(shape.head_dim) + "; the head size must be even and at most " +
                                std::to_string(kMaxHeadDim));
  value_dim_ = (shape.head_dim + kValuePad - 1) / kValuePad * kValuePad;
  k_bytes_ = shape.head_dim * kPage * dtype_size(type);
  head_bytes_ = k_bytes_ + kPage * value_dim_ * dtype_size(type);
  page_bytes_ =
      checked_product("kv_store", checked_product("kv_store", shape.layers, shape.kv_heads), head_bytes_);
}

void CpuKvStore::reserve(size_t count) {
  while (pages_.size() < count) {
    Memory page = allocate_aligned("reserve", page_bytes_);
    std::memset(page.get(), 0, page_bytes_);
    pages_.push_back(std::move(page));
    base_.push_back(pages_.back().get());
  }
}

void CpuKvStore::release(size_t count) {
  if (count >= pages_.size()) return;
  pages_.resize(count);
  base_.resize(count);
}

void CpuKvStore::copy_page(uint32_t to, uint32_t from) {
  if (to >= count() || from >= count())
    throw Error("copy_page", "page " + std::to_string(to >= count() ? to : from) + " of " +
                                 std::to_string(count()) + " does not exist");
  if (to != from) std::memcpy(base_[to], base_[from], page_bytes_);
}

}  // namespace carbon::cpu
