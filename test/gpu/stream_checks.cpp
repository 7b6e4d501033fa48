// The stream: lists of kernels that come again are replayed as graphs, and whether they are changes nothing.
#include "kernels/cuda/stream.hpp"

#include <cstdlib>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/kernels.hpp"
#include "test/gpu/check.hpp"

namespace carbon::gpu_test {
namespace {

constexpr size_t kLong = 8;  // kernels that make a list worth a graph
constexpr size_t kWidth = 40;

/// Rows of x to which kernels add 1, so that x counts those that have run.
class Counter {
 public:
  explicit Counter(const Machine& machine)
      : device_(std::make_shared<const cuda::Device>(machine.device)), x_(make(0)), ones_(make(1)) {}

  cuda::Stream& stream() const { return device_->stream(); }
  const cuda::Device& device() const { return *device_; }

  /// Products of one by ones, added to x, which is one row: `ld` is an argument like any other.
  void put(size_t kernels, size_t ld = kWidth) const {
    for (size_t i = 0; i < kernels; ++i)
      cuda::run_linear_plain(stream(), {ones_.get(), ones_.get(), 1, kWidth, 1, x_.as<float>(), ld, true},
                             DType::f32, WeightType::f32);
  }
  void set(float value) const {
    const std::vector<float> values(kWidth, value);
    device_->copy_in(x_.get(), values.data(), kWidth * sizeof(float));
  }
  /// How many kernels have run since x was 0; -1 unless all of x says so.
  double count() const {
    std::vector<float> values(kWidth);
    device_->copy_out(values.data(), x_.get(), kWidth * sizeof(float));
    for (const float value : values)
      if (value != values[0]) return -1;
    return static_cast<double>(values[0]);
  }
  cuda::Memory make(float value) const {
    device_->use();
    cuda::Memory memory(device_, kWidth * sizeof(float), "a test");
    const std::vector<float> values(kWidth, value);
    device_->copy_in(memory.get(), values.data(), kWidth * sizeof(float));
    return memory;
  }

 private:
  std::shared_ptr<const cuda::Device> device_;
  cuda::Memory x_, ones_;
};

void replays_what_comes_again(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  for (size_t round = 1; round <= 5; ++round) {
    counter.put(kLong);
    counter.stream().flush();
    checks.that(counter.count() == static_cast<double>(round * kLong),
                "every kernel runs once, round " + std::to_string(round));
    checks.that(counter.stream().replays() == round - 1,
                "replayed from the second time on, round " + std::to_string(round));
  }
  counter.set(0);
  counter.put(kLong, kWidth + 1);
  checks.that(counter.count() == kLong && counter.stream().replays() == 4,
              "another argument is another list");
  counter.put(kLong + 1);
  checks.that(counter.count() == 2 * kLong + 1 && counter.stream().replays() == 4,
              "a longer list is another list");
  counter.put(kLong);
  checks.that(counter.count() == 3 * kLong + 1 && counter.stream().replays() == 5,
              "the first list is still known");
  for (size_t round = 0; round < 3; ++round) {
    counter.put(kLong - 1);
    counter.stream().flush();
  }
  checks.that(counter.stream().replays() == 5, "short lists are not worth a graph");
}

/// More lists in turn than are kept.
void forgets_without_harm(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  constexpr size_t kLists = 20;
  for (size_t round = 1; round <= 4; ++round) {
    for (size_t list = 0; list < kLists; ++list) {
      counter.put(kLong, kWidth + list);
      counter.stream().flush();
    }
    checks.that(counter.count() == static_cast<double>(round * kLists * kLong), "every kernel runs once");
  }
  checks.that(counter.stream().replays() > 0, "some are replayed");
}

void keeps_the_order(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  for (int round = 0; round < 3; ++round) {
    counter.put(kLong);
    counter.set(100);
    counter.put(kLong + 2);
    checks.that(counter.count() == 100 + kLong + 2, "a copy between kernels");
  }
  counter.put(3);
  { const cuda::Memory gone = counter.make(0); }
  checks.that(counter.stream().empty(), "nothing is still to be started that may use memory when it goes");
  checks.that(counter.count() == 100 + kLong + 5, "nor is it lost");
}

#ifdef CARBON_CUDA_EMULATION
/// Only in emulation, where a driver can be had that makes no graph.
void does_without_graphs(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  setenv("CARBON_EMULATED_GRAPHS", "0", 1);
  for (size_t round = 1; round <= 4; ++round) {
    counter.put(kLong);
    checks.that(counter.count() == static_cast<double>(round * kLong), "every kernel runs once");
  }
  unsetenv("CARBON_EMULATED_GRAPHS");
  checks.that(counter.stream().replays() == 0, "none is replayed");
}

/// Only in emulation, where the device can become one that lacks what is asked for.
void survives_a_refusal(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  counter.put(2);
  setenv("CARBON_EMULATED_SM", "75", 1);
  const cuda::Memory unused = counter.make(0);
  counter.put(kLong);
  checks.refused(
      [&] {
        cuda::run_linear_stream(counter.stream(),
                                {unused.get(), unused.get(), 1, 1, 8, unused.as<float>(), 1},
                                cuda::kStreamTiles[std::size(cuda::kStreamTiles) - 1]);
      },
      "shared memory of a kernel");
  unsetenv("CARBON_EMULATED_SM");
  checks.that(counter.count() == kLong + 2, "what was noted before a refused kernel runs");
}
#endif

}  // namespace

void check_stream(Checks& checks, const Machine& machine) {
  checks.run("stream: lists of kernels that come again are replayed",
             [&] { replays_what_comes_again(checks, machine); });
  checks.run("stream: more lists than are kept", [&] { forgets_without_harm(checks, machine); });
  checks.run("stream: kernels, copies and freed memory keep their order",
             [&] { keeps_the_order(checks, machine); });
#ifdef CARBON_CUDA_EMULATION
  checks.run("stream: a driver that makes no graphs", [&] { does_without_graphs(checks, machine); });
  checks.run("stream: a kernel that the device refuses", [&] { survives_a_refusal(checks, machine); });
#endif
}

}  // namespace carbon::gpu_test
