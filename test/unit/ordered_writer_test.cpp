// Items come out in the order they went in, with results; errors of any thread end the run; a wish to stop
// ends it with what is complete; memory between producer and consumer is bounded. A command's run says what
// it keeps.
#include "src/engine/ordered_writer.hpp"
#include "src/base/error.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "src/engine/output_run.hpp"
#include "test/unit/test_engine.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using carbon::test::GeneratedCheckpoint;
using carbon::test::random_tokens;
using carbon::test::TestEngine;
using carbon::test::tiny;

namespace {

struct Item {
  uint32_t number = 0;
  std::vector<RequestPtr> requests;

  size_t bytes() const { return sizeof(*this); }
};
using Emit = std::function<void(Item)>;

// Every third item has nothing to compute; the others ask for sequences of very different lengths.
Item make_item(uint32_t number, const TokenLayout& layout) {
  Item item{number, {}};
  if (number % 3 == 0) return item;
  const auto request = std::make_shared<Request>();
  request->tokens = random_tokens(layout, number % 7 == 0 ? 300 : 2 + number % 5, number);
  request->head = HeadKind::marginals;
  request->want_begin = request->tokens.size() - 1;
  item.requests = {request};
  return item;
}

// A test's producer ends, so that an exception may be used where a program ends the process.
struct Stopped {};

// A wish to stop that a test makes.
class Wish final : public StopRequests {
 public:
  void watch(std::function<void()> request) override { request_ = std::move(request); }
  void ignore() override { ignored = true; }
  std::string asked_by() const override { return "a test"; }
  [[noreturn]] void end() override { throw Stopped(); }
  void make() { request_(); }
  bool ignored = false;

 private:
  std::function<void()> request_;
};

// An output, or the progress, that says what is done to it.
struct Told {
  Log& log;
  bool file = true;

  bool to_file() const { return file; }
  std::string saved_in() const { return file ? "out.temporary" : ""; }
  void flush_finished() { log.message("test", "flushed"); }
  void close() { log.message("test", "closed"); }
  void finish() { log.message("test", "finished"); }
};

}  // namespace

TEST_CASE("items come in order, on one device and on several") {
  const GeneratedCheckpoint files(tiny());
  const auto checkpoint = std::make_shared<const Checkpoint>(files.dir());
  const TokenLayout& layout = checkpoint->config().layout;
  for (const size_t devices : {1u, 3u}) {
    std::vector<std::unique_ptr<ops::Backend>> backends;
    for (size_t i = 0; i < devices; ++i) backends.push_back(ops::make_cpu_backend({}));
    ModelOptions options;
    options.threads = 2;
    options.batch_tokens = 40;
    LoadedModels models(options, checkpoint, std::move(backends));
    Engine engine(models.all());
    std::vector<uint32_t> seen;
    bool complete = true;
    run_ordered<Item>(
        engine,
        [&](const Emit& emit) {
          for (uint32_t i = 0; i < 200; ++i) emit(make_item(i, layout));
        },
        [&](const Item& item) {
          seen.push_back(item.number);
          for (const RequestPtr& request : item.requests)
            complete =
                complete && request->outcome == Outcome::done && request->values().size() == ops::kMarginals;
        });
    CHECK(complete);
    REQUIRE(seen.size() == 200);
    for (uint32_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
  }
}

TEST_CASE("what waits between producer and consumer is bounded") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 16);
  const TokenLayout& layout = engine.get().config().layout;
  std::atomic<int> emitted = 0, consumed = 0, most = 0;
  run_ordered<Item>(
      engine.get(),
      [&](const Emit& emit) {
        for (uint32_t i = 0; i < 300; ++i) {
          emit(make_item(1, layout));
          most = std::max<int>(most, ++emitted - consumed);
        }
      },
      [&](const Item&) {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        ++consumed;
      });
  CHECK(consumed == 300);
  // Four passes of 16 rows, at least some 500 bytes an item.
  CHECK(most < 40);
}

TEST_CASE("items without requests make room when nothing else wakes the consumer") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 1);
  int consumed = 0;
  run_ordered<Item>(
      engine.get(),
      [&](const Emit& emit) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the consumer waits
        for (uint32_t i = 0; i < 100; ++i) emit({i, {}});
      },
      [&](const Item&) { ++consumed; });
  CHECK(consumed == 100);
}

TEST_CASE("the first error of any thread ends the run and is the caller's") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 40);
  const TokenLayout& layout = engine.get().config().layout;
  const auto endless = [&](const Emit& emit) {
    for (uint32_t i = 0;; ++i) emit(make_item(i % 1000, layout));
  };
  CHECK_THROWS_WITH_AS(run_ordered<Item>(engine.get(), endless,
                                         [](const Item& item) {
                                           if (item.number == 7) throw Error("consume", "disk full");
                                         }),
                       "disk full", Error);
  CHECK_THROWS_WITH_AS(run_ordered<Item>(
                           engine.get(),
                           [&](const Emit& emit) {
                             for (uint32_t i = 0; i < 10; ++i) emit(make_item(i, layout));
                             throw Error("produce", "cut file");
                           },
                           [](const Item&) {}),
                       "cut file", Error);
  const auto too_long = [&](const Emit& emit) {
    for (uint32_t i = 0;; ++i) {
      Item item = make_item(1, layout);
      if (i == 20) item.requests[0]->tokens = random_tokens(layout, 5000, 1);
      emit(std::move(item));
    }
  };
  CHECK_THROWS_WITH_AS(run_ordered<Item>(engine.get(), too_long, [](const Item&) {}),
                       doctest::Contains("does not fit the model's context"), Error);
  // The engine is as good as before.
  const RequestPtr request = make_item(1, layout).requests[0];
  run_requests(engine.get(), {request});
  CHECK(request->outcome == Outcome::done);
}

TEST_CASE("what was produced before an error is finished if the run keeps its work") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 40);
  const TokenLayout& layout = engine.get().config().layout;
  size_t consumed = 0, said = 0;
  OrderedRun run;
  run.finishing = [&] { ++said; };
  const auto produces = [&](uint32_t items) {
    return [&layout, items](const Emit& emit) {
      for (uint32_t i = 0; i < items; ++i) emit(make_item(i, layout));
      throw Error("produce", "cut file");
    };
  };
  CHECK_THROWS_WITH_AS(run_ordered<Item>(
                           engine.get(), produces(60), [&](const Item&) { ++consumed; }, run),
                       "cut file", Error);
  CHECK(consumed == 60);
  CHECK(said <= 1);
  // An error before the first item ends the run at once.
  said = 0;
  CHECK_THROWS_WITH_AS(run_ordered<Item>(
                           engine.get(), produces(0), [](const Item&) {}, run),
                       "cut file", Error);
  CHECK(said == 0);
  // The error of the consumer is the one that ends the run.
  CHECK_THROWS_WITH_AS(run_ordered<Item>(
                           engine.get(), produces(60),
                           [](const Item& item) {
                             if (item.number == 7) throw Error("consume", "disk full");
                           },
                           run),
                       "disk full", Error);
}

TEST_CASE("a wish to stop ends the run with the items that are complete") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 40);
  const TokenLayout& layout = engine.get().config().layout;
  Wish wish;
  std::vector<uint32_t> seen;
  size_t at_stop = 0;
  OrderedRun run;
  run.stop = &wish;
  run.stopped = [&](const std::exception_ptr& failure) {
    CHECK(failure == nullptr);
    at_stop = seen.size();
    throw Stopped();
  };
  std::atomic<bool> go_on = true;
  CHECK_THROWS_AS(run_ordered<Item>(
                      engine.get(),
                      [&](const Emit& emit) {
                        for (uint32_t i = 0; go_on; ++i) emit(make_item(i, layout));
                      },
                      [&](const Item& item) {
                        seen.push_back(item.number);
                        if (item.number == 50) {
                          go_on = false;
                          wish.make();
                        }
                      },
                      run),
                  Stopped);
  CHECK(at_stop >= 51);
  for (uint32_t i = 0; i < seen.size(); ++i) CHECK(seen[i] == i);
}

TEST_CASE("items without requests leave nothing to finish when reading ends early") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 40);
  OrderedRun run;
  bool finishing = false;
  uint32_t seen = 0;
  run.finishing = [&] { finishing = true; };
  CHECK_THROWS_WITH(run_ordered<Item>(
                        engine.get(),
                        [](const Emit& emit) {
                          for (uint32_t i = 0; i < 300; ++i) emit({i, {}});
                          throw Error("produce", "cut file");
                        },
                        [&](const Item&) { ++seen; }, run),
                    "cut file");
  CHECK_FALSE(finishing);
  CHECK(seen == 300);
}

TEST_CASE("a command's run completes its output, or says what is kept") {
  const GeneratedCheckpoint files(tiny());
  TestEngine engine(files.dir(), 40);
  const TokenLayout& layout = engine.get().config().layout;
  using Lines = std::vector<std::string>;
  Wish wish;
  // Runs over 60 items, and what `last` does after them. Returns what is said, and at its end the error.
  const auto said = [&](bool file, const std::function<void()>& last,
                        const std::function<void(Item&)>& consume) {
    test::TestLog log;
    Told told{log, file};
    std::string error;
    try {
      run_to_output<Item>(
          engine.get(), {"test", [] { return "some items"; }, log, &wish}, told, told,
          [&](const Emit& emit) {
            for (uint32_t i = 0; i < 60; ++i) emit(make_item(i, layout));
            last();
          },
          consume);
    } catch (const Error& failure) {
      error = failure.what();
    } catch (const Stopped&) {
      error = "stopped";
    }
    Lines lines = log.lines();
    if (!error.empty()) lines.push_back(error);
    return lines;
  };
  const auto end = [] {};
  const auto nothing = [](const Item&) {};
  const auto cut = [] { throw Error("produce", "cut file"); };
  const auto full = [](const Item&) {
    throw Error("consume", "disk full", {"choose a model with {-m} DIR, or set CARBON_MODEL"});
  };
  CHECK(said(true, end, nothing) == Lines{"M test: finished", "M test: closed"});
  CHECK(said(false, cut, nothing) == Lines{"M test: finished", "cut file"});
  // Whether items are left when reading ends depends on the speed.
  Lines lines = said(true, cut, nothing);
  if (lines.front() == "W test: reading ended early; what was read before is still computed")
    lines.erase(lines.begin());
  CHECK(lines == Lines{"M test: finished", "cut file; what was computed is kept"});
  CHECK(said(true, end, full) == Lines{"M test: finished", "disk full"});  // its advice says what is kept
  const auto stop = [&](const Item& item) {
    if (item.number == 30) wish.make();
  };
  lines = said(true, end, stop);
  lines.resize(4);  // a program has ended now
  const std::string stopping =
      "M test: a test: stopping; what is finished is written, and a second signal ends the run at once";
  CHECK(lines ==
        Lines{stopping, "M test: finished", "M test: flushed", "W test: stopped by a test after some items"});
  CHECK(said(false, end, stop) ==
        Lines{stopping, "M test: finished", "M test: flushed",
              "W test: stopped by a test after some items; the output is not complete", "M test: finished",
              "stopped"});
}
