#include "src/files/ordered_texts.hpp"

#include <utility>

#include "src/base/threads.hpp"

namespace carbon {
namespace {

// For each thread one text that it makes, and some that wait for the writer or for a thread.
constexpr size_t kAheadPerThread = 4;

}  // namespace

OrderedTexts::OrderedTexts(int threads, Write write)
    : write_(std::move(write)), most_ahead_(kAheadPerThread * static_cast<size_t>(threads)) {
  try {
    for (int i = 0; i < threads; ++i)
      threads_.push_back(start_thread([this] { make_texts(); }, "carbon-format"));
  } catch (...) {
    ends_ = true;
    added_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    throw;
  }
}

OrderedTexts::~OrderedTexts() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  added_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void OrderedTexts::add(Make make) {
  if (threads_.empty()) {
    Piece piece;
    piece.make = std::move(make);
    make_text(piece);
    return write(piece);
  }
  {
    const std::lock_guard lock(mutex_);
    Piece& piece = pieces_.emplace_back();
    piece.make = std::move(make);
    if (!spare_.empty()) {
      piece.text = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  added_.notify_one();
  write_down_to(most_ahead_);
}

void OrderedTexts::then(std::function<void()> step) {
  Piece piece;
  piece.step = std::move(step);
  piece.made = true;
  if (threads_.empty()) return write(piece);
  {
    const std::lock_guard lock(mutex_);
    pieces_.push_back(std::move(piece));
  }
  write_down_to(most_ahead_);
}

void OrderedTexts::write_all() {
  write_down_to(0);
}

// Writes pieces from the front: those that are made, and more until at most `most` are left.
void OrderedTexts::write_down_to(size_t most) {
  if (failure_) std::rethrow_exception(failure_);
  for (;;) {
    Piece piece;
    {
      std::unique_lock lock(mutex_);
      if (pieces_.empty() || (pieces_.size() <= most && !pieces_.front().made)) return;
      made_.wait(lock, [&] { return pieces_.front().made; });
      piece = std::move(pieces_.front());
      pieces_.pop_front();
      if (next_ > 0) --next_;  // otherwise it was a step, which no thread takes
    }
    write(piece);
  }
}

// What comes after a failure must not be written, because it would stand in the place of what is missing.
void OrderedTexts::write(Piece& piece) {
  if (!failure_) failure_ = piece.failure;
  if (failure_) std::rethrow_exception(failure_);
  try {
    if (piece.step) return piece.step();
    write_(piece.text);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  piece.text.clear();
  spare_.push_back(std::move(piece.text));
}

void OrderedTexts::make_text(Piece& piece) {
  try {
    piece.make(piece.text);
  } catch (...) {
    piece.failure = std::current_exception();
  }
  piece.make = nullptr;
}

void OrderedTexts::make_texts() {
  std::unique_lock lock(mutex_);
  for (;;) {
    added_.wait(lock, [&] { return ends_ || next_ < pieces_.size(); });
    if (ends_) return;
    Piece& piece = pieces_[next_++];  // stays where it is until it is made
    if (piece.made) continue;         // a step
    lock.unlock();
    make_text(piece);
    lock.lock();
    piece.made = true;
    made_.notify_one();
  }
}

}  // namespace carbon
