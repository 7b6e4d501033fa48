// Text that several threads make and one thread writes in order: what formats numbers faster than one thread
// can.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace carbon {

/// One thread calls all functions; `write` and the steps after a text run in it, in the order of the calls.
class OrderedTexts {
 public:
  using Write = std::function<void(std::string_view text)>;
  using Make = std::function<void(std::string& text)>;

  /// Starts `threads` threads; with 0 of them the caller makes the texts. Throws Error if the system gives
  /// too few.
  OrderedTexts(int threads, Write write);
  /// Leaves out what is not written yet.
  ~OrderedTexts();
  OrderedTexts(const OrderedTexts&) = delete;
  OrderedTexts& operator=(const OrderedTexts&) = delete;

  /// Has a text made, which `make` appends to an empty string, in another thread. Writes the earlier ones
  /// that are complete, and waits for some of them if many are not. Throws what making or writing one of
  /// them has thrown; nothing is written after that, and later calls throw it again.
  void add(Make make);
  /// Calls `step` when all texts that were added before are written. Throws as add() does.
  void then(std::function<void()> step);
  /// Writes all texts, for which it waits. Throws as add() does.
  void write_all();

 private:
  struct Piece {
    Make make;                   // of a text; null: a step
    std::function<void()> step;  // null: a text
    std::string text;
    std::exception_ptr failure;
    bool made = false;
  };

  static void make_text(Piece& piece);
  void make_texts();
  void write_down_to(size_t most);
  void write(Piece& piece);

  Write write_;
  size_t most_ahead_;  // pieces
  std::mutex mutex_;
  std::condition_variable added_, made_;
  std::deque<Piece> pieces_;  // in order; only their owner removes any
  size_t next_ = 0;           // the first of them that no thread has taken
  bool ends_ = false;
  std::exception_ptr failure_;      // the first; only their owner looks at it
  std::vector<std::string> spare_;  // written texts, whose memory is used again
  std::vector<std::thread> threads_;
};

}  // namespace carbon
