// The pages of the key-value cache in device memory.
//
// For every layer and KV head a page has keys [64][head_dim], then values of the same shape, as f32 or bf16.
// Pages are in pools, which are allocated when they are needed. Nothing here knows which sequence uses a
// page.
#pragma once

#include <vector>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "kernels/ops.hpp"

namespace carbon::cuda {

class CudaKvStore final : public ops::KvStore {
 public:
  /// Throws Error if the shape is empty, the head size is odd or too large for the kernels, or a size
  /// overflows.
  CudaKvStore(std::shared_ptr<const Device> device, const ops::KvShape& shape, DType type);

  size_t page_bytes() const override { return page_bytes_; }
  void reserve(size_t count) override;
  void release(size_t count) override;
  void copy_page(uint32_t to, uint32_t from) override;

  const ops::KvShape& shape() const { return shape_; }
  DType type() const { return type_; }
  size_t count() const { return listed_; }
  KvLayer layer(size_t index) const;

 private:
  struct Pool {
    Memory memory;
    size_t pages;
  };
  void add_pool();

  std::shared_ptr<const Device> device_;
  ops::KvShape shape_;
  DType type_;
  size_t page_bytes_, pool_pages_;
  std::vector<Pool> pools_;
  std::vector<void*> pages_;
  size_t listed_ = 0;  // number of pages whose addresses are in table_
  Memory table_;       // the addresses of pages, on the device
};

}  // namespace carbon::cuda
