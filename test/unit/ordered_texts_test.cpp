// Texts are written in the order in which they were added, whatever the number of threads that make them;
// steps come after the texts before them, and errors reach the one who writes.
#include "src/files/ordered_texts.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "src/base/error.hpp"

using namespace carbon;

namespace {

// Texts of very different cost, with a step after every fifth.
std::string written_by(int threads, int count) {
  std::string all;
  OrderedTexts texts(threads, [&](std::string_view text) { all += text; });
  for (int i = 0; i < count; ++i) {
    texts.add([i](std::string& text) {
      if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
      text += std::to_string(i) + ",";
    });
    if (i % 5 == 0) texts.then([&all, i] { all += "after " + std::to_string(i) + ";"; });
  }
  texts.write_all();
  return all;
}

}  // namespace

TEST_CASE("texts and steps come in order with any number of threads") {
  const std::string expected = written_by(0, 500);
  CHECK(expected.starts_with("0,after 0;1,2,3,4,5,after 5;6,"));
  for (const int threads : {1, 2, 7}) CHECK(written_by(threads, 500) == expected);
}

TEST_CASE("a step without texts before it is taken at once, also before any text") {
  for (const int threads : {0, 3}) {
    std::string all;
    OrderedTexts texts(threads, [&](std::string_view text) { all += text; });
    for (int i = 0; i < 100; ++i) texts.then([&] { all += "s"; });
    CHECK(all == std::string(100, 's'));
    texts.add([](std::string& text) { text = "t"; });
    texts.write_all();
    CHECK(all.back() == 't');
  }
}

TEST_CASE("only so many texts wait for the writer") {
  std::atomic<int> made{0};
  int written = 0, most = 0;
  OrderedTexts texts(2, [&](std::string_view) { ++written; });
  for (int i = 0; i < 200; ++i) {
    texts.add([&](std::string&) { ++made; });
    most = std::max(most, i + 1 - written);
  }
  CHECK(most <= 8);
  texts.write_all();
  CHECK(made == 200);
  CHECK(written == 200);
}

TEST_CASE("after an error of who makes, writes or takes a step, only the texts before it are written") {
  const auto text_of = [](const char* words) { return [words](std::string& text) { text = words; }; };
  const std::function<void(OrderedTexts&)> failing[] = {
      [](OrderedTexts& texts) { texts.add([](std::string&) { throw Error("test", "cannot make"); }); },
      [&](OrderedTexts& texts) { texts.add(text_of("bad")); },
      [](OrderedTexts& texts) { texts.then([] { throw Error("test", "no step"); }); }};
  for (const int threads : {0, 1, 4})
    for (const auto& fail : failing) {
      std::string all;
      OrderedTexts texts(threads, [&](std::string_view text) {
        if (text == "bad") throw Error("test", "cannot write");
        all += text;
      });
      texts.add(text_of("a"));
      const auto both = [&] {
        fail(texts);
        texts.add(text_of("b"));
        texts.write_all();
      };
      CHECK_THROWS_AS(both(), Error);
      CHECK_THROWS_AS(texts.then([&] { all += "step"; }), Error);
      CHECK_THROWS_AS(texts.write_all(), Error);
      CHECK(all == "a");
    }
}

TEST_CASE("what is not written is left out in the end, with its threads at work or not") {
  std::string all;
  {
    OrderedTexts texts(3, [&](std::string_view text) { all += text; });
    for (int i = 0; i < 10; ++i)
      texts.add([](std::string& text) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        text = "x";
      });
  }
  CHECK(all.size() <= 10);
}
