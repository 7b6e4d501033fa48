// Items come out once and in order, however many at a time they go in; the end and failures reach the other
// side.
#include "src/base/bounded_queue.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <stdexcept>
#include <thread>

using namespace carbon;

TEST_CASE("items come out in order, in any portions") {
  for (const size_t capacity : {1, 3, 64}) {
    for (const int portion : {1, 5, 100}) {
      CAPTURE(capacity);
      CAPTURE(portion);
      BoundedQueue<std::unique_ptr<int>> queue(capacity);
      constexpr int kItems = 1000;
      std::thread producer([&] {
        std::vector<std::unique_ptr<int>> ready;
        for (int i = 0; i < kItems; ++i) {
          ready.push_back(std::make_unique<int>(i));
          if (static_cast<int>(ready.size()) == portion) queue.push(ready);
        }
        queue.push(ready);
        queue.close();
      });
      int seen = 0;
      bool ordered = true, bounded = true;
      for (std::deque<std::unique_ptr<int>> items; queue.pop(items);) {
        bounded &= !items.empty() && items.size() <= capacity;
        for (; !items.empty(); items.pop_front()) ordered &= *items.front() == seen++;
      }
      producer.join();
      CHECK(ordered);
      CHECK(bounded);
      CHECK(seen == kItems);
    }
  }
}

TEST_CASE("what was pushed before the end is still popped") {
  BoundedQueue<int> queue(4);
  std::deque<int> items;
  CHECK_FALSE(queue.try_pop(items));
  std::vector<int> values{1, 2, 3};
  queue.push(values);
  CHECK(values.empty());
  queue.close();
  CHECK(queue.try_pop(items));
  CHECK(items == std::deque<int>{1, 2, 3});
  items.clear();
  CHECK_FALSE(queue.pop(items));
}

TEST_CASE("a failure reaches a waiting producer and the next pop") {
  BoundedQueue<int> queue(2);
  std::thread other([&] { queue.fail(std::make_exception_ptr(std::runtime_error("broken"))); });
  std::vector<int> values{1, 2, 3, 4, 5};
  CHECK_THROWS_WITH(queue.push(values), "broken");
  other.join();
  std::deque<int> items;
  CHECK_THROWS_WITH(queue.pop(items), "broken");
  CHECK_THROWS_WITH(queue.try_pop(items), "broken");
  CHECK(queue.failure() != nullptr);
}
