#include "kernels/cuda/kv.hpp"

#include <algorithm>

#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

static_assert(ops::kPageTokens == 64);

// Bytes of a pool: a large cache has few pools, and a small cache leaves little of a pool unused.
constexpr size_t kPoolBytes = size_t{256} << 20;
constexpr size_t kPoolPages = 64;
// A pool takes at most this part of the free memory, but at least one page. The next forward pass needs
// memory for activations, and release() can free some of several small pools.
constexpr size_t kPoolShare = 8;

size_t checked_page_bytes(const ops::KvShape& shape, DType type) {
  if (shape.layers == 0 || shape.kv_heads == 0 || shape.head_dim == 0 || shape.head_dim % 2 != 0 ||
      shape.head_dim > kMaxPlainHead)
    throw Error("kv_store", "unsupported KV shape: " + std::to_string(shape.layers) + " layers, " +
                                std::to_string(shape.kv_heads) + " KV heads of " +
                                std::to_string(shape.head_dim) + " (an even size up to " +
                                std::to_string(kMaxPlainHead) + " is needed)");
  size_t bytes = 2 * ops::kPageTokens * shape.head_dim * dtype_size(type);
  if (__builtin_mul_overflow(bytes, shape.kv_heads, &bytes) ||
      __builtin_mul_overflow(bytes, shape.layers, &bytes))
    throw Error("kv_store", "a size overflows: " + std::to_string(shape.layers) + " layers of " +
                                std::to_string(shape.kv_heads) + " KV heads");
  return bytes;
}

}  // namespace

CudaKvStore::CudaKvStore(std::shared_ptr<const Device> device, const ops::KvShape& shape, DType type)
    : device_(std::move(device)),
      shape_(shape),
      type_(type),
      page_bytes_(checked_page_bytes(shape, type)),
      pool_pages_(std::clamp<size_t>(kPoolBytes / page_bytes_, 1, kPoolPages)) {}

// The old list is kept until the new one is complete: if memory runs out, the pages in use must still be
// found.
void CudaKvStore::reserve(size_t count) {
  if (count <= listed_) return;
  device_->use();
  while (pages_.size() < count) add_pool();
  if (table_.bytes() < pages_.size() * sizeof(void*))
    table_ = Memory(device_, 2 * pages_.size() * sizeof(void*), "the list of KV pages");
  device_->copy_in(table_.get(), pages_.data(), pages_.size() * sizeof(void*));
  listed_ = pages_.size();
}

void CudaKvStore::release(size_t count) {
  while (!pools_.empty() && pages_.size() - pools_.back().pages >= count) {
    pages_.resize(pages_.size() - pools_.back().pages);
    pools_.pop_back();
  }
  listed_ = std::min(listed_, pages_.size());
}

void CudaKvStore::add_pool() {
  const size_t count = std::clamp<size_t>(device_->free_memory() / kPoolShare / page_bytes_, 1, pool_pages_);
  Memory pool(device_, count * page_bytes_, "keys and values");
  device_->clear(pool.get(), count * page_bytes_);
  for (size_t i = 0; i < count; ++i) pages_.push_back(pool.as<char>() + i * page_bytes_);
  pools_.push_back({std::move(pool), count});
}

void CudaKvStore::copy_page(uint32_t to, uint32_t from) {
  if (to >= count() || from >= count())
    throw Error("copy_page", "page " + std::to_string(to >= count() ? to : from) + " of " +
                                 std::to_string(count()) + " does not exist");
  device_->use();
  if (to != from) device_->copy(pages_[to], pages_[from], page_bytes_);
}

KvLayer CudaKvStore::layer(size_t index) const {
  const size_t layer_bytes = page_bytes_ / shape_.layers;
  return {table_.as<void*>(), index * layer_bytes, shape_.kv_heads, shape_.head_dim};
}

}  // namespace carbon::cuda
