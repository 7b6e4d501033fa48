// Several lanes: order, waiting and failure, with work whose end the tests decide.
#include "src/engine/lanes.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "src/engine/pipeline.hpp"

using namespace carbon;

namespace {

struct Item {
  uint32_t number = 0;
  std::vector<ScoreJob> jobs;
};
using Jobs = std::span<ScoreJob* const>;

// Items of one token each, their number.
std::function<void(const std::function<void(Item)>&)> producer(uint32_t count) {
  return [count](const std::function<void(Item)>& emit) {
    for (uint32_t i = 0; i < count; ++i) {
      Item item{i, std::vector<ScoreJob>(1)};
      item.jobs[0].tokens = {i};
      emit(std::move(item));
    }
  };
}

void answer(Jobs jobs) {
  for (ScoreJob* job : jobs) job->rows = {2.0 * job->tokens[0]};
}

// Something that lanes wait for.
class Gate {
 public:
  void change(const std::function<void()>& f) {
    const std::lock_guard lock(mutex_);
    f();
    changed_.notify_all();
  }
  void wait(const std::function<bool()>& reached) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, reached);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
};

}  // namespace

TEST_CASE("a lane that is ahead goes on, and results come in the order of the items") {
  Gate gate;
  size_t done = 0;
  std::set<std::thread::id> threads;
  // The lane with the first item waits until the other has done three more.
  const auto lane = [&](Jobs jobs) {
    gate.change([&] { threads.insert(std::this_thread::get_id()); });
    if (jobs.front()->tokens[0] == 0) gate.wait([&] { return done >= 3; });
    answer(jobs);
    gate.change([&] { ++done; });
  };
  std::vector<uint32_t> seen;
  bool right = true;
  run_pipeline<Item>({{lane, lane}, 1}, producer(200), [&](const Item& item) {
    seen.push_back(item.number);
    right = right && item.jobs[0].rows == std::vector<double>{2.0 * item.number};
  });
  REQUIRE(seen.size() == 200);
  CHECK(right);
  for (uint32_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
  CHECK(threads.size() == 2);
}

TEST_CASE("what waits for a slow lane is bounded") {
  Gate gate;
  size_t done = 0, most = 0;
  bool released = false;
  const auto lane = [&](Jobs jobs) {
    if (jobs.front()->tokens[0] == 0) {
      // Two lanes: numbers 1, 2 and 3 may wait for 0, and the lane that has 4 waits with it.
      gate.wait([&] { return done >= 4; });
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      gate.change([&] {
        most = done;
        released = true;
      });
    }
    answer(jobs);
    gate.change([&] { ++done; });
  };
  run_pipeline<Item>({{lane, lane}, 1}, producer(50), [](const Item&) {});
  CHECK(released);
  CHECK(most == 4);
  CHECK(done == 50);
}

TEST_CASE("the first error of a lane stops the others and is the caller's") {
  Gate gate;
  bool caught = false;
  size_t after = 0;
  const auto lane = [&](Jobs jobs) {
    const uint32_t number = jobs.front()->tokens[0];
    if (number == 0) {
      // The producer learns of the other lane's error; then this one fails as well.
      gate.wait([&] { return caught; });
      throw Error("lane", "the second");
    }
    if (number == 3) throw Error("lane", "the first");
    if (number > 3) gate.change([&] { ++after; });
    answer(jobs);
  };
  const auto produce = [&](const std::function<void(Item)>& emit) {
    try {
      producer(100000)(emit);
    } catch (const Error&) {
      gate.change([&] { caught = true; });
      throw;
    }
  };
  std::vector<uint32_t> seen;
  CHECK_THROWS_WITH_AS(
      run_pipeline<Item>({{lane, lane}, 1}, produce, [&](const Item& item) { seen.push_back(item.number); }),
      "the first", Error);
  CHECK(seen.empty());
  CHECK(after == 0);
}

TEST_CASE("an error while another lane waits for its turn ends both") {
  Gate gate;
  size_t done = 0;
  const auto lane = [&](Jobs jobs) {
    if (jobs.front()->tokens[0] == 0) {
      gate.wait([&] { return done >= 4; });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until the other waits
      throw Error("lane", "too late");
    }
    answer(jobs);
    gate.change([&] { ++done; });
  };
  CHECK_THROWS_WITH_AS(run_pipeline<Item>({{lane, lane}, 1}, producer(1000), [](const Item&) {}), "too late",
                       Error);
  CHECK(done == 4);
}

TEST_CASE("an error of the consumer or the producer ends every lane") {
  const auto lane = [](Jobs jobs) { answer(jobs); };
  CHECK_THROWS_WITH_AS(run_pipeline<Item>({{lane, lane, lane}, 1}, producer(1000),
                                          [](const Item& item) {
                                            if (item.number == 7) throw Error("consume", "disk full");
                                          }),
                       "disk full", Error);
  const auto broken = [](const std::function<void(Item)>& emit) {
    producer(10)(emit);
    throw Error("produce", "cut file");
  };
  CHECK_THROWS_WITH_AS(run_pipeline<Item>({{lane, lane, lane}, 1}, broken, [](const Item&) {}), "cut file",
                       Error);
}
