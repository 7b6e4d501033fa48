// The backend of the CPU, of which a test replaces some operations.
#pragma once

#include <memory>

#include "kernels/ops.hpp"

namespace carbon::test {

class WrappedCpu : public ops::Backend {
 public:
  explicit WrappedCpu(const ops::CpuOptions& options = {}) : cpu_(ops::make_cpu_backend(options)) {}
  std::string device_kind() const override { return cpu_->device_kind(); }
  DType dtype() const override { return cpu_->dtype(); }
  size_t pass_rows() const override { return cpu_->pass_rows(); }
  bool separates_classes() const override { return cpu_->separates_classes(); }
  void* allocate(size_t bytes) override { return cpu_->allocate(bytes); }
  void release(void* memory) override { cpu_->release(memory); }
  std::unique_ptr<ops::Weight> prepare(std::span<const TensorView> matrices,
                                       std::span<const int> exponents) override {
    return cpu_->prepare(matrices, exponents);
  }
  std::unique_ptr<ops::Weight> part(const ops::Weight& whole, size_t first, size_t count) override {
    return cpu_->part(whole, first, count);
  }
  std::unique_ptr<ops::KvStore> kv_store(const ops::KvShape& shape) override { return cpu_->kv_store(shape); }
  void set_rope(const ops::RopeParams& rope, size_t positions) override { cpu_->set_rope(rope, positions); }
  void embed(const TensorView& table, std::span<const uint32_t> rows, float* x) override {
    cpu_->embed(table, rows, x);
  }
  void norm(const float* x, const float* weight, float eps, size_t n, size_t width, void* act) override {
    cpu_->norm(x, weight, eps, n, width, act);
  }
  void norm_heads(float* x, const float* weight, float eps, size_t n, size_t heads, size_t head_dim,
                  size_t ld) override {
    cpu_->norm_heads(x, weight, eps, n, heads, head_dim, ld);
  }
  void linear(const void* act, size_t n, const ops::Weight& w, float* out, size_t ld,
              ops::RowClass c) override {
    cpu_->linear(act, n, w, out, ld, c);
  }
  void linear_add(const void* act, size_t n, const ops::Weight& w, float* x, ops::RowClass c) override {
    cpu_->linear_add(act, n, w, x, c);
  }
  std::unique_ptr<ops::RowPlan> plan(std::span<const ops::RowRun> runs, size_t heads, ops::KvStore& kv,
                                     ops::RowClass c) override {
    return cpu_->plan(runs, heads, kv, c);
  }
  void append_kv(const float* k, const float* v, size_t ld, const ops::RowPlan& plan, size_t layer) override {
    cpu_->append_kv(k, v, ld, plan, layer);
  }
  void attention(const float* q, size_t ld, const ops::RowPlan& plan, size_t layer, void* act,
                 int exponent) override {
    cpu_->attention(q, ld, plan, layer, act, exponent);
  }
  void swiglu(const float* gate_up, size_t n, size_t width, void* act) override {
    cpu_->swiglu(gate_up, n, width, act);
  }
  void select_rows(const float* x, std::span<const uint32_t> rows, size_t width, float* out) override {
    cpu_->select_rows(x, rows, width, out);
  }
  void final_norm(const float* x, const float* weight, float eps, size_t n, size_t width,
                  float* out) override {
    cpu_->final_norm(x, weight, eps, n, width, out);
  }
  void sum_rows(const float* x, const float* weight, float eps, size_t width,
                std::span<const ops::RowSums> rows, double* sums) override {
    cpu_->sum_rows(x, weight, eps, width, rows, sums);
  }
  void upload(const float* host, size_t count, float* device) override { cpu_->upload(host, count, device); }
  void download(const float* device, size_t count, float* host) override {
    cpu_->download(device, count, host);
  }
  void marginals(const void* act, size_t n, const ops::Weight& w, double* out, ops::RowClass c) override {
    cpu_->marginals(act, n, w, out, c);
  }
  void conditionals(const void* act, size_t n, const ops::Weight& w, std::span<const ops::KnownBases> known,
                    double* out, ops::RowClass c) override {
    cpu_->conditionals(act, n, w, known, out, c);
  }
  void logits(const void* act, size_t n, const ops::Weight& w, float* out, ops::RowClass c) override {
    cpu_->logits(act, n, w, out, c);
  }
  void logsumexp(const void* act, size_t n, const ops::Weight& w, std::span<const int64_t> targets,
                 double* maximum, double* sum, double* target_logit, ops::RowClass c) override {
    cpu_->logsumexp(act, n, w, targets, maximum, sum, target_logit, c);
  }

 private:
  std::unique_ptr<ops::Backend> cpu_;
};

}  // namespace carbon::test
