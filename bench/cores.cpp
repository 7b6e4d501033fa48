// What a run would gain from many cores, on a machine that has few: the program measures the parts that
// threads share, and computes from them how long the same run takes with more threads.
//
//   build/bench_cores SHAPE [bf16|int8|f32] [PROMPT] [BATCHES]      for example: build/bench_cores 500M bf16
//   1366 1,16,64
//
// A region is a call of ThreadPool::run(), whose pieces the threads take one after the other; between regions
// one thread works alone. All calls of it in this program go through record_run() below (the linker's --wrap,
// mk/test.mk), which takes the time of each piece by the clock of its thread. So other load on the machine,
// and more threads than CPUs, change these times little.
//
// With p threads, a run takes
//
//   T(p) = serial + sum over regions of (makespan of its pieces on p threads + barrier(p))
//
// where the model was loaded for p threads, because the number of pieces depends on it; a free thread takes
// the next piece; and barrier(p) = barrier(2) * log2(p), as threads wake one another like a tree. Efficiency
// is T(1) / (p T(p)). It assumes that a thread has as much of the memory's rate as here, which holds for the
// cores of a memory domain as far as its memory does: decoding of few sequences reads all weights, and ends
// at that rate whatever the threads do.
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "src/base/cpus.hpp"
#include "src/base/error.hpp"
#include "src/base/lists.hpp"
#include "src/base/stopwatch.hpp"
#include "src/base/thread_pool.hpp"
#include "src/bench/tests.hpp"
#include "src/engine/engine.hpp"
#include "src/model/synthetic.hpp"

namespace carbon {
namespace {

constexpr int kThreads[] = {1, 2, 16, 64, 128};
constexpr int kRounds = 3;

/// Seconds that this thread has computed.
double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// What looking at the clock adds to a piece.
double clock_seconds() {
  constexpr int kLooks = 1000;
  const double begin = thread_seconds();
  for (int i = 0; i < kLooks; ++i) thread_seconds();
  return (thread_seconds() - begin) / kLooks;
}

/// Seconds of the pieces of a region, in their order.
using Region = std::vector<double>;

struct Recording {
  std::vector<Region> regions;
  double serial = 0;  // of the thread that calls run(), between two regions
  double last = 0;    // when the last region ended, by the clock of that thread; 0: there was none
};

// The functions of this file that the linker puts in place of run() have no other way to know of it.
Recording* recording = nullptr;

double makespan(const Region& pieces, int threads) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  for (int i = 0; i < threads; ++i) free.push(0);
  double end = 0;
  for (const double piece : pieces) {
    const double done = free.top() + piece;
    free.pop();
    free.push(done);
    end = std::max(end, done);
  }
  return end;
}

}  // namespace

extern "C" {
void real_run(ThreadPool* pool, size_t pieces, const ThreadPool::Work& work) __asm__(
    "__real__ZN6carbon10ThreadPool3runEmRKSt8functionIFvmmEE");
void record_run(ThreadPool* pool, size_t pieces, const ThreadPool::Work& work) __asm__(
    "__wrap__ZN6carbon10ThreadPool3runEmRKSt8functionIFvmmEE");
void record_run(ThreadPool* pool, size_t pieces, const ThreadPool::Work& work) {
  if (recording == nullptr) return real_run(pool, pieces, work);
  static const double looking = clock_seconds();
  Recording& to = *recording;
  if (to.last > 0) to.serial += std::max(0.0, thread_seconds() - to.last - looking);
  Region region(pieces);
  real_run(pool, pieces, [&](size_t piece, size_t thread) {
    const double begin = thread_seconds();
    work(piece, thread);
    region[piece] = std::max(0.0, thread_seconds() - begin - looking);
  });
  to.regions.push_back(std::move(region));
  to.last = thread_seconds();
}
}

namespace {

/// A test with one number of threads.
struct Measured {
  double wall = 0;  // seconds of a run, median, without recording
  Recording recording;
};

double predicted(const Measured& measured, int threads, double barrier) {
  double seconds = measured.recording.serial;
  for (const Region& region : measured.recording.regions) seconds += makespan(region, threads) + barrier;
  return seconds;
}

/// Seconds of a region without work, beyond those of its pieces.
double barrier_seconds(int threads) {
  constexpr int kCalls = 20000;
  ThreadPool pool(threads);
  const Stopwatch watch;
  for (int i = 0; i < kCalls; ++i) real_run(&pool, static_cast<size_t>(4 * threads), [](size_t, size_t) {});
  return watch.seconds() / kCalls;
}

std::string name_of(const BenchTest& test) {
  std::string name = test.name;
  if (test.name == "decode") name += ", batch " + std::to_string(test.batch);
  if (test.name == "anchored") name += ", H " + std::to_string(test.horizon);
  return name;
}

bool wanted(const BenchTest& test) {
  return test.name == "prefill" || test.name == "decode" || test.name == "scan" ||
         (test.name == "anchored" && test.horizon == 96 && test.batch == 50);
}

using Results = std::map<std::string, std::map<int, Measured>>;

void measure(const std::string& shape, const std::string& dtype, const BenchSizes& sizes, int threads,
             std::vector<std::string>& order, Results& results) {
  ModelOptions options;
  options.device = "cpu";
  options.dtype = dtype;
  options.threads = threads;
  LoadedModel model(options, synthetic_checkpoint(shape, std::nullopt));
  Engine engine({&model});
  for (const BenchTest& test : bench_tests(engine, complete_bench_sizes(sizes, model.config()))) {
    if (!wanted(test)) continue;
    const std::string name = name_of(test);
    if (threads == kThreads[0]) order.push_back(name);
    Measured measured;
    test.run();
    std::vector<double> seconds;
    // With more threads than CPUs the time of a run says nothing.
    for (int i = 0; threads <= available_cpus() && i < kRounds; ++i) seconds.push_back(test.run());
    std::ranges::sort(seconds);
    if (!seconds.empty()) measured.wall = seconds[seconds.size() / 2];
    recording = &measured.recording;
    test.run();
    recording = nullptr;
    std::fprintf(stderr, "%s, %d threads\n", name.c_str(), threads);
    results[name][threads] = std::move(measured);
  }
}

void print(const std::vector<std::string>& order, const Results& results, double barrier) {
  std::printf(
      "| Test | regions | of them one thread's | serial, ms | longest piece, ms | T(1), ms | measured |");
  std::printf(" T(2), ms | measured |");
  for (const int p : kThreads)
    if (p > 2) std::printf(" efficiency at %d |", p);
  std::printf("\n|---|---|---|---|---|---|---|---|---|");
  for (const int p : kThreads)
    if (p > 2) std::printf("---|");
  std::printf("\n");
  for (const std::string& name : order) {
    const std::map<int, Measured>& by_threads = results.at(name);
    const Measured &one = by_threads.at(1), &two = by_threads.at(2);
    double longest = 0;
    size_t single = 0;
    for (const Region& region : two.recording.regions) {
      for (const double piece : region) longest = std::max(longest, piece);
      single += region.size() == 1;
    }
    const double t1 = predicted(one, 1, 0);
    std::printf("| %s | %zu | %zu | %.2f | %.3f | %.1f | %.1f | %.1f | %.1f |", name.c_str(),
                two.recording.regions.size(), single, 1e3 * one.recording.serial, 1e3 * longest, 1e3 * t1,
                1e3 * one.wall, 1e3 * predicted(two, 2, barrier), 1e3 * two.wall);
    for (const auto& [p, measured] : by_threads)
      if (p > 2) std::printf(" %.0f %% |", 100 * t1 / (p * predicted(measured, p, barrier * std::log2(p))));
    std::printf("\n");
  }
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : otherwise;
  };
  const std::string shape = argument(0, "500M"), dtype = argument(1, "bf16");
  BenchSizes sizes;
  sizes.prompt = std::stoul(argument(2, "1366"));
  sizes.steps = 8;
  sizes.batches.clear();
  for (const std::string_view batch : split(argument(3, "1,16,64"), ','))
    sizes.batches.push_back(std::stoul(std::string(batch)));
  const double barrier = barrier_seconds(2);
  std::vector<std::string> order;
  Results results;
  for (const int threads : kThreads) measure(shape, dtype, sizes, threads, order, results);
  std::printf("%s, %s, prompt of %zu tokens, %zu decode steps; barrier(2) = %.2f us\n\n", shape.c_str(),
              dtype.c_str(), sizes.prompt, sizes.steps, 1e6 * barrier);
  print(order, results, barrier);
}

}  // namespace
}  // namespace carbon

int main(int argc, char** argv) {
  try {
    carbon::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "bench_cores: " << error.what() << "\n";
    return 1;
  }
}
