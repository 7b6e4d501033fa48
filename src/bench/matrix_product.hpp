// A matrix product of a backend, ready to be timed: a limit of `carbon bench`, and what
// PRODUCTS=1 bench/peers.sh compares with other programs.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/ops.hpp"
#include "src/base/system.hpp"
#include "src/transformer/decoder.hpp"

namespace carbon {

/// Runs f until `least` seconds have passed, and returns a rate per second. Each call of f does `amount`
/// units of work and returns when they are done.
template <class F>
double rate_of(double amount, double least, F f) {
  double done = 0, seconds = 0;
  const Stopwatch watch;
  do {
    f();
    done += amount;
    seconds = watch.seconds();
  } while (seconds < least);
  return done / seconds;
}

/// Rows of activations by a matrix, both random numbers, in the backend's types; the results are f32.
class MatrixProduct {
 public:
  struct Shape {
    size_t rows = 0, inputs = 0, outputs = 0;
  };

  /// Runs once, to warm up.
  MatrixProduct(ops::Backend& backend, Shape shape)
      : backend_(backend), shape_(shape), act_(backend), out_(backend) {
    // In f32 the weight is a view of values_.
    values_ = numbers(shape.outputs * shape.inputs);
    weight_ = backend.prepare({values_.data(), DType::f32, shape.outputs, shape.inputs, false});
    act_.ensure(shape.rows * shape.inputs * dtype_size(backend.dtype()));
    const std::vector<float> rows = numbers(shape.rows * shape.inputs), ones(shape.inputs, 1.0f);
    DeviceBuffer x(backend), norm(backend);
    backend.upload(rows.data(), rows.size(), x.floats(rows.size()));
    backend.upload(ones.data(), ones.size(), norm.floats(ones.size()));
    backend.norm(x.floats(), norm.floats(), 1e-6f, shape.rows, shape.inputs, act_.get());
    out_.floats(shape.rows * shape.outputs);
    run();
  }

  /// Floating-point operations per second, a multiply-add being two, of runs of at least this many seconds.
  double rate(double least_seconds) {
    return rate_of(
        2.0 * static_cast<double>(shape_.rows * shape_.inputs) * static_cast<double>(shape_.outputs),
        least_seconds, [&] { run(); });
  }

 private:
  /// Numbers between -1 and 1, always the same ones.
  static std::vector<float> numbers(size_t n) {
    std::vector<float> result(n);
    uint32_t state = 1;
    for (float& value : result) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-31f;
    }
    return result;
  }

  void run() {
    backend_.linear(act_.get(), shape_.rows, *weight_, out_.floats(), shape_.outputs);
    float done;
    backend_.download(out_.floats(), 1, &done);  // waits until the device is done
  }

  ops::Backend& backend_;
  Shape shape_;
  std::vector<float> values_;
  std::unique_ptr<ops::Weight> weight_;
  DeviceBuffer act_, out_;
};

}  // namespace carbon
