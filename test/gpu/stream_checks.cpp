// The stream: lists of kernels that come again are replayed as graphs, and whether they are changes nothing.
#include "kernels/cuda/stream.hpp"

#include <cstdlib>
#include <optional>

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
  checks.that(counter.stream().graph_failures() == 0, "no graph: " + counter.stream().graph_problem());
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

/// A variable of the environment has another value for a while.
class Setting {
 public:
  Setting(const char* name, const char* value) : name_(name) {
    if (const char* const text = std::getenv(name)) before_ = text;
    setenv(name, value, 1);
  }
  ~Setting() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// The same list several times; returns how often it was replayed.
size_t replays_of_rounds(Checks& checks, const Counter& counter, size_t rounds) {
  const double counted = counter.count();
  const size_t before = counter.stream().replays();
  for (size_t round = 1; round <= rounds; ++round) {
    counter.put(kLong);
    checks.that(counter.count() == counted + static_cast<double>(round * kLong), "every kernel runs once");
  }
  return counter.stream().replays() - before;
}

void obeys_switches(Checks& checks, const Machine& machine) {
  {
    const Setting graphs("CARBON_CUDA_GRAPHS", "0"), overlap("CARBON_CUDA_OVERLAP", "0");
    checks.that(cuda::describe_switches().starts_with("CARBON_CUDA_OVERLAP=0, CARBON_CUDA_GRAPHS=0"),
                "they are described");
    const Counter counter(machine);
    checks.that(!counter.stream().overlaps(), "no overlap");
    checks.that(replays_of_rounds(checks, counter, 4) == 0, "no graphs");
  }
  {
    const Setting graphs("CARBON_CUDA_GRAPHS", "1");
    checks.that(replays_of_rounds(checks, Counter(machine), 4) == 3, "graphs");
  }
  {
    const Setting library("CARBON_CUDA_LIBRARY", "0");
    const auto backend = make(machine, kWays[2]);
    checks.that(backend->device_kind() == make(machine, kWays[1])->device_kind(), "no library");
  }
  for (const char* const value : {"2", "no", " 1", "01"}) {
    const Setting overlap("CARBON_CUDA_OVERLAP", value);
    checks.refused([&] { const Counter counter(machine); },
                   std::string("CARBON_CUDA_OVERLAP is \"") + value + "\"; it must be 0");
  }
  const Setting empty("CARBON_CUDA_GRAPHS", "");
  checks.that(cuda::read_switches().graphs, "an empty value counts as unset");
}

/// Notes what it is told.
struct Watcher final : cuda::LaunchWatcher {
  void begin(cudaStream_t, const void* kernel) override {
    good = good && begun == ended;
    ++begun;
    kernels += kernel != nullptr ? 1 : 0;
  }
  void end(cudaStream_t) override { ++ended; }
  size_t begun = 0, ended = 0, kernels = 0;
  bool good = true;
};

void tells_a_watcher(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  Watcher watcher;
  counter.put(2);
  counter.stream().watch(&watcher);
  checks.that(replays_of_rounds(checks, counter, 4) == 0, "what is watched is no graph");
  bool ran = false;
  counter.stream().run_library([&](cudaStream_t) { ran = watcher.begun == 4 * kLong + 1; });
  counter.stream().watch(nullptr);
  counter.put(2);
  checks.that(counter.count() == 4 * kLong + 4, "every kernel runs once");
  checks.that(ran && watcher.good && watcher.begun == watcher.ended && watcher.kernels == 4 * kLong,
              "told of each launch in between");
}

#ifdef CARBON_CUDA_EMULATION
/// Only in emulation, where a driver can be had that makes no graph.
void does_without_graphs(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  {
    const Setting graphs("CARBON_EMULATED_GRAPHS", "0");
    checks.that(replays_of_rounds(checks, counter, 5) == 0, "none is replayed");
  }
  checks.that(
      counter.stream().graph_failures() == 2 && counter.stream().graph_problem().find("making a graph") == 0,
      "failures are counted: " + counter.stream().graph_problem());
  // The fifth round has counted as the first one.
  checks.that(replays_of_rounds(checks, counter, 3) == 3, "graphs are made once the driver can");
  {
    const Setting graphs("CARBON_EMULATED_GRAPHS", "0");
    for (size_t list = 1; list <= 20; ++list)
      for (int round = 0; round < 2; ++round) {
        counter.put(kLong, kWidth + list);
        counter.stream().flush();
      }
  }
  checks.that(counter.stream().graph_failures() == 2 + 8, "no graph is tried after eight failures in a row");
}

/// Only in emulation, where a driver can be had that makes no graph of kernels that overlap.
void makes_graphs_without_overlap(Checks& checks, const Machine& machine) {
  const Counter counter(machine);
  const Setting graphs("CARBON_EMULATED_GRAPHS", "2");
  checks.that(replays_of_rounds(checks, counter, 5) == 4, "replayed from the second time on");
  const std::string& problem = counter.stream().graph_problem();
  checks.that(counter.stream().graph_failures() == 1 && problem.ends_with("; made without overlap"),
              "a failure that is said: " + problem);
  for (size_t list = 1; list <= 10; ++list)
    for (int round = 0; round < 2; ++round) {
      counter.put(kLong, kWidth + list);
      counter.stream().flush();
    }
  checks.that(counter.stream().replays() == 4 + 10, "so are later lists");
  checks.that(counter.stream().graph_failures() == 1, "which are not tried with overlap");
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

/// Another program may be compiled for other kinds than this one.
void runs_the_newest_code(Checks& checks) {
  struct Case {
    const char* kinds;
    int capability, code;
  };
  for (const auto& [kinds, capability, code] : {Case{"80 90", 80, 80},
                                                {"80 90", 86, 80},
                                                {"80 90", 90, 90},
                                                {"80 90", 120, 90},
                                                {"80 90", 75, 0},
                                                {"75", 75, 75},
                                                {"75", 90, 75},
                                                {"75 90", 86, 0},
                                                {"75 80 86", 89, 86},
                                                {"75 80 86", 90, 86}})
    checks.that(cuda::code_for(kinds, capability) == code,
                std::string("code for ") + kinds + " on sm_" + std::to_string(capability));
}

}  // namespace

void check_stream(Checks& checks, const Machine& machine) {
  if (cuda::read_switches().graphs) {
    checks.run("stream: lists of kernels that come again are replayed",
               [&] { replays_what_comes_again(checks, machine); });
    checks.run("stream: more lists than are kept", [&] { forgets_without_harm(checks, machine); });
  }
  checks.run("stream: kernels, copies and freed memory keep their order",
             [&] { keeps_the_order(checks, machine); });
  checks.run("stream: parts are turned off by the environment", [&] { obeys_switches(checks, machine); });
  checks.run("stream: a device runs the newest code that it can", [&] { runs_the_newest_code(checks); });
  checks.run("stream: a watcher is told of every launch", [&] { tells_a_watcher(checks, machine); });
#ifdef CARBON_CUDA_EMULATION
  if (cuda::read_switches().graphs)
    checks.run("stream: a driver that makes no graphs", [&] { does_without_graphs(checks, machine); });
  const bool overlap = cuda::read_switches().overlap && cuda::Device(machine.device).code() >= 90;
  if (cuda::read_switches().graphs && overlap)
    checks.run("stream: a driver that makes graphs only without overlap",
               [&] { makes_graphs_without_overlap(checks, machine); });
  checks.run("stream: a kernel that the device refuses", [&] { survives_a_refusal(checks, machine); });
#endif
}

}  // namespace carbon::gpu_test
