// What a run would gain from many cores, on a machine that has few: the program measures the parts that
// threads share, and computes from them how long the same run takes with more threads.
//
//   build/bench_cores SHAPE [bf16|int8|f32] [PROMPT] [BATCHES] [TESTS]
//   build/bench_cores 500M bf16 1366 1,16,64 prefill,decode,scan,anchored      # the defaults
//
// A region is a call of ThreadPool::run(), whose pieces the threads take one after the other; between regions
// one thread works alone. All calls of it in this program go through record_run() below (the linker's --wrap,
// mk/test.mk), which computes the pieces one after the other and takes the time of each by the clock of its
// thread. So other load on the machine changes these times little.
//
// T(p) = serial + the regions' times, each of which is played through: the model was loaded for p threads,
// because the number of pieces depends on it; a free thread takes the next piece from the counter that all
// share, for which it has to wait if others are taking; and a call ends when each thread has said that its
// pieces are done. What a thread waits for that counter, and for the others to begin and to end, was measured
// with two threads. Efficiency is T(1) / (p T(p)).
//
// Pieces take as long as with one thread alone. So threads do not take the memory's rate from one another
// here: decoding of few sequences reads all weights, and ends at that rate whatever the threads do.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/base/threads.hpp"
#include "src/base/words.hpp"
#include "src/bench/run.hpp"
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

double total(const Region& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), 0.0);
}

/// What threads pay for sharing the pieces of a call, in seconds.
struct Sharing {
  double take = 0;      // the counter of pieces goes from one thread to another
  double exchange = 0;  // of a call in which each of two threads has a piece, beyond the piece
};

/// When the last of `threads` is done.
double makespan(const Region& pieces, int threads, const Sharing& sharing) {
  if (threads == 1 || pieces.size() < 2) return total(pieces);
  // The calling thread needs not be told of the pieces.
  std::priority_queue<double, std::vector<double>, std::greater<>> free;
  free.push(0);
  for (int i = 1; i < threads; ++i) free.push(sharing.exchange / 2);
  double counter = 0;
  for (const double piece : pieces) {
    counter = std::max(counter, free.top()) + sharing.take;
    free.pop();
    free.push(counter + piece);
  }
  double done = 0;
  for (; !free.empty(); free.pop())
    if (free.top() > sharing.exchange / 2) done = std::max(done, free.top()) + sharing.take;
  return done + sharing.exchange / 2;
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
  for (size_t piece = 0; piece < pieces; ++piece) {
    const double begin = thread_seconds();
    work(piece, 0);
    region[piece] = std::max(0.0, thread_seconds() - begin - looking);
  }
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

template <class F>
double sum_over(const std::vector<Region>& regions, F seconds) {
  double sum = 0;
  for (const Region& region : regions) sum += seconds(region);
  return sum;
}

double predicted(const Recording& recording, int threads, const Sharing& sharing) {
  return recording.serial + sum_over(recording.regions, [&](const Region& region) {
           return makespan(region, threads, sharing);
         });
}

/// Two threads change one number in turn, as those of a pool do to take a piece.
double take_seconds() {
  constexpr int kTurns = 200000;
  std::atomic<int> turn = 0;
  const auto change = [&](int first) {
    for (int i = first; i < kTurns; i += 2) {
      while (turn.load() != i) {
      }
      turn.store(i + 1);
    }
  };
  std::thread other(change, 1);
  const Stopwatch watch;
  change(0);
  other.join();
  return watch.seconds() / kTurns;
}

double exchange_seconds() {
  constexpr double kPiece = 20e-6;
  ThreadPool pool(2);
  std::vector<double> beyond;
  for (int i = 0; i < 5000; ++i) {
    const Stopwatch watch;
    real_run(&pool, 2, [](size_t, size_t) {
      for (const Stopwatch piece; piece.seconds() < kPiece;) {
      }
    });
    beyond.push_back(watch.seconds() - kPiece);
  }
  return spread_of(std::move(beyond)).median;
}

std::string name_of(const BenchTest& test) {
  std::string name = test.name;
  if (test.name == "decode") name += ", batch " + std::to_string(test.batch);
  if (test.name == "anchored") name += ", H " + std::to_string(test.horizon);
  return name;
}

/// Of the anchored recipe, that of neighbouring SNVs is enough.
bool wanted(const BenchTest& test, const std::vector<std::string_view>& tests) {
  return std::ranges::find(tests, test.name) != tests.end() &&
         (test.name != "anchored" || (test.horizon == 96 && test.batch == 50));
}

using Results = std::map<std::string, std::map<int, Measured>>;

void measure(const std::string& shape, const std::string& dtype, const BenchSizes& sizes,
             const std::vector<std::string_view>& tests, int threads, std::vector<std::string>& order,
             Results& results) {
  ModelOptions options;
  options.device = "cpu";
  options.dtype = dtype;
  options.threads = threads;
  LoadedModel model(options, synthetic_checkpoint(shape, std::nullopt));
  Engine engine({&model});
  for (const BenchTest& test : bench_tests(engine, complete_bench_sizes(sizes, model.config()))) {
    if (!wanted(test, tests)) continue;
    const std::string name = name_of(test);
    if (threads == kThreads[0]) order.push_back(name);
    Measured measured;
    test.run();
    std::vector<double> seconds;
    // With more threads than CPUs, the time of a run says nothing.
    for (int i = 0; threads <= available_cpus() && i < kRounds; ++i) seconds.push_back(test.run());
    if (!seconds.empty()) measured.wall = spread_of(std::move(seconds)).median;
    recording = &measured.recording;
    test.run();
    recording = nullptr;
    std::fprintf(stderr, "%s, %d threads\n", name.c_str(), threads);
    results[name][threads] = std::move(measured);
  }
}

/// What one and two threads take by the model, and what they took.
void print_measured(const std::vector<std::string>& order, const Results& results, const Sharing& sharing) {
  std::printf("| Test | regions | longest piece, ms | T(1), ms | measured | T(2), ms | measured |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  for (const std::string& name : order) {
    const Measured &one = results.at(name).at(1), &two = results.at(name).at(2);
    double longest = 0;
    for (const Region& region : two.recording.regions)
      longest = std::max(longest, *std::ranges::max_element(region));
    std::printf("| %s | %zu | %.3f | %.1f | %.1f | %.1f | %.1f |\n", name.c_str(),
                two.recording.regions.size(), 1e3 * longest, 1e3 * predicted(one.recording, 1, sharing),
                1e3 * one.wall, 1e3 * predicted(two.recording, 2, sharing), 1e3 * two.wall);
  }
}

/// What more threads would take, and what they spend it on.
void print_predicted(const std::vector<std::string>& order, const Results& results, const Sharing& sharing) {
  std::printf(
      "| Test | threads | T, ms | efficiency | computing | one thread alone | waiting for the last piece | "
      "sharing |\n|---|---|---|---|---|---|---|---|\n");
  for (const std::string& name : order) {
    const double t1 = predicted(results.at(name).at(1).recording, 1, sharing);
    for (const auto& [p, measured] : results.at(name)) {
      if (p <= 2) continue;
      const Recording& recording = measured.recording;
      const double t = predicted(recording, p, sharing), free = predicted(recording, p, {}),
                   work = sum_over(recording.regions, total) / p;
      std::printf("| %s | %d | %.2f | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.0f %% |\n", name.c_str(), p,
                  1e3 * t, 100 * t1 / (p * t), 100 * work / t, 100 * recording.serial / t,
                  100 * (free - recording.serial - work) / t, 100 * (t - free) / t);
    }
  }
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : otherwise;
  };
  const std::string shape = argument(0, "500M"), dtype = argument(1, "bf16"),
                    tests = argument(4, "prefill,decode,scan,anchored");
  BenchSizes sizes;
  sizes.prompt = std::stoul(argument(2, "1366"));
  sizes.steps = 4;
  sizes.batches.clear();
  for (const std::string_view batch : split(argument(3, "1,16,64"), ','))
    sizes.batches.push_back(std::stoul(std::string(batch)));
  const Sharing sharing{take_seconds(), exchange_seconds()};
  std::vector<std::string> order;
  Results results;
  for (const int threads : kThreads) measure(shape, dtype, sizes, split(tests, ','), threads, order, results);
  std::printf("%s, %s, prompt of %zu tokens, %zu decode steps; to take a piece %.3f us, a call %.3f us\n\n",
              shape.c_str(), dtype.c_str(), sizes.prompt, sizes.steps, 1e6 * sharing.take,
              1e6 * sharing.exchange);
  print_measured(order, results, sharing);
  std::printf("\n");
  print_predicted(order, results, sharing);
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
