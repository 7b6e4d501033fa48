#include "kernels/cuda/row_padding.hpp"

#include <utility>

namespace carbon::cuda {

RowPadding::RowPadding(std::shared_ptr<const Device> device)
    : device_(std::move(device)), act_(device_, "padded rows"), out_(device_, "padded rows") {}

void RowPadding::run(const Matmul::Call& call, const std::function<void(const Matmul::Call&)>& multiply) {
  const size_t act_row = call.k * sizeof(bf16), size = Matmul::result_bytes(call.result);
  const size_t out_row = call.outputs * size, step = call.ld_out * size;
  auto* const act = act_.ensure_array<char>(kPaddedRows * act_row);
  auto* const out = out_.ensure_array<char>(kPaddedRows * out_row);
  device_->copy(act, call.act, call.n * act_row);
  device_->clear(act + call.n * act_row, (kPaddedRows - call.n) * act_row);
  if (call.result == Matmul::Result::added) {
    device_->copy_rows(out, out_row, call.out, step, out_row, call.n);
    device_->clear(out + call.n * out_row, (kPaddedRows - call.n) * out_row);
  }
  multiply({act, call.weight, kPaddedRows, call.outputs, call.k, out, call.outputs, call.result});
  device_->copy_rows(call.out, step, out, out_row, out_row, call.n);
}

}  // namespace carbon::cuda
