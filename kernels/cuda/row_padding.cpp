#include "kernels/cuda/row_padding.hpp"

#include <utility>

namespace carbon::cuda {

RowPadding::RowPadding(std::shared_ptr<const Device> device)
    : device_(std::move(device)), act_(device_, "padded rows"), out_(device_, "padded rows") {}

bool RowPadding::run(const MatmulCall& call, size_t rows,
                     const std::function<bool(const MatmulCall&)>& multiply) {
  const size_t act_row = call.k * sizeof(bf16), size = result_bytes(call.result);
  const size_t out_row = call.outputs * size, step = call.ld_out * size;
  auto* const act = act_.ensure_array<char>(rows * act_row);
  auto* const out = out_.ensure_array<char>(rows * out_row);
  device_->copy(act, call.act, call.n * act_row);
  device_->clear(act + call.n * act_row, (rows - call.n) * act_row);
  if (call.result == MatmulResult::added) {
    device_->copy_rows(out, out_row, call.out, step, out_row, call.n);
    device_->clear(out + call.n * out_row, (rows - call.n) * out_row);
  }
  if (!multiply({act, call.weight, rows, call.outputs, call.k, out, call.outputs, call.result})) return false;
  device_->copy_rows(call.out, step, out, out_row, out_row, call.n);
  return true;
}

}  // namespace carbon::cuda
