// KV pages in host memory. See cpu_kv.hpp for the layout.
#include "kernels/cpu/cpu_kv.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/cpu_tasks.hpp"
#include "kernels/cpu/kernels.hpp"

namespace carbon::cpu {
namespace {
constexpr size_t kSlabBytes = 8 * kHugePage;
}  // namespace

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
  slab_pages_ = std::max<size_t>(1, kSlabBytes / page_bytes_);
}

void CpuKvStore::reserve(size_t count) {
  while (base_.size() < count) {
    if (base_.size() == slabs_.size() * slab_pages_)
      slabs_.push_back(allocate_aligned("reserve", checked_product("reserve", slab_pages_, page_bytes_)));
    char* const page = static_cast<char*>(slabs_.back().get()) + base_.size() % slab_pages_ * page_bytes_;
    std::memset(page, 0, page_bytes_);
    base_.push_back(page);
  }
}

void CpuKvStore::release(size_t count) {
  if (count >= base_.size()) return;
  base_.resize(count);
  slabs_.resize(divide_up(count, slab_pages_));
}

void CpuKvStore::copy_page(uint32_t to, uint32_t from) {
  if (to >= count() || from >= count())
    throw Error("copy_page", "page " + std::to_string(to >= count() ? to : from) + " of " +
                                 std::to_string(count()) + " does not exist");
  if (to != from) std::memcpy(base_[to], base_[from], page_bytes_);
}

}  // namespace carbon::cpu
