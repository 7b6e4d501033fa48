// KV pages in host memory.
//
// For every layer and KV head a page has K, transposed to [head_dim][64 tokens], then V, [64
// tokens][value_dim], where value_dim is head_dim rounded up to 16 with zeros at the end. (kv_page.inl
// interleaves elements for products of pairs.) Elements are f32 or bf16. Nothing here knows which sequence
// uses a page.
//
// Pages are parts of slabs, because a page alone is too small for the huge pages of the system: a step of
// decoding would find no address of its keys translated.
#pragma once

#include <vector>

#include "kernels/cpu/cpu_memory.hpp"
#include "kernels/ops.hpp"

namespace carbon::cpu {

class CpuKvStore final : public ops::KvStore {
 public:
  /// Throws Error if the shape is empty, the head size is odd or too large, or the size overflows.
  CpuKvStore(const ops::KvShape& shape, DType type);

  size_t page_bytes() const override { return page_bytes_; }
  void reserve(size_t count) override;
  void release(size_t count) override;
  void copy_page(uint32_t to, uint32_t from) override;

  const ops::KvShape& shape() const { return shape_; }
  DType type() const { return type_; }
  size_t value_dim() const { return value_dim_; }
  size_t count() const { return base_.size(); }
  /// Addresses of all pages, in order.
  void* const* bases() const { return base_.data(); }
  /// Bytes from the address of a page to the keys or the values of one layer and head.
  size_t k_offset(size_t layer, size_t head) const { return (layer * shape_.kv_heads + head) * head_bytes_; }
  size_t v_offset(size_t layer, size_t head) const { return k_offset(layer, head) + k_bytes_; }

 private:
  ops::KvShape shape_;
  DType type_;
  size_t value_dim_, k_bytes_, head_bytes_, page_bytes_, slab_pages_;
  std::vector<Memory> slabs_;
  std::vector<void*> base_;
};

}  // namespace carbon::cpu
