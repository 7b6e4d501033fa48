// What one client wants, from the arrival of its request to the end of its answer. An endpoint derives from
// Work, or from ModelWork if it reads a JSON object, and says how the request is planned and answered;
// service.hpp runs it. A SampleFeed brings what is drawn meanwhile.
//
// Workers call begin(), more(), look() and finished(), never two at a time for one Work, and each call is a
// turn, after which other works that wait have theirs. Its other functions say who may call them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/engine/request.hpp"
#include "src/serve/api_error.hpp"
#include "src/serve/http.hpp"

namespace carbon {

class Fields;
class Metrics;
class ServedModel;
class Service;

class Work : public std::enable_shared_from_this<Work> {
 public:
  explicit Work(HttpExchangePtr exchange) : exchange_(std::move(exchange)) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Any thread: look() is wanted.
  void wake() { schedule(kLook); }
  /// Any thread: ends the work. Its requests are cancelled, and `reason` is told to the client if it is still
  /// there. Further calls have no effect, nor has one after the end of the answer.
  void stop(const ApiError& reason);

 protected:
  /// Plans the request; answers it, or gives requests to run(). What it throws becomes the answer.
  virtual void begin() = 0;
  /// Called after again(), for the next part of what takes longer than a turn. What it throws becomes the
  /// answer.
  virtual void more() {}
  /// Called at some time after wake(), but not after finished(). What it throws becomes the answer.
  virtual void look() {}
  /// Called when all requests given to run() are finished; none was refused. They are then kept by nobody but
  /// the endpoint. Answers, or calls run() again.
  /// What it throws becomes the answer.
  virtual void finished() = 0;
  /// The text that tells an error in a stream that has begun.
  virtual std::string error_piece(const ApiError& error) const;

  // For begin(), more(), look() and finished().
  const HttpRequest& request() const { return exchange_->request(); }
  Service& service() { return *service_; }
  std::chrono::steady_clock::time_point arrived() const { return arrived_; }
  /// Seconds since then.
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - arrived_).count();
  }
  /// Says in the log which fields of a request were ignored, and in a header of the answer. To be called
  /// before the answer begins, as tell().
  void report_ignored(const Fields& fields);
  /// Sends a note, "" for none, in that header.
  void tell(const std::string& note);
  /// Asks for a call of more(), once works that wait have had a turn.
  void again() { schedule(kMore); }
  /// Has this turn lasted so long that the rest is for another?
  bool turn_is_over() const { return std::chrono::steady_clock::now() >= turn_end_; }
  /// Gives requests to the engine. Parents come before their children. With none, finished() is called soon.
  void run(const std::vector<RequestPtr>& requests);
  /// Sends a whole answer, which ends the work. Requests that still run are cancelled.
  void answer(HttpAnswer answer);
  void answer_json(std::string body);
  /// Begins an answer in pieces; end_stream() ends the work, as answer() does.
  void start_stream(std::string content_type);
  void send(std::string piece);
  void end_stream();

 private:
  friend class Service;
  enum Todo : unsigned { kBegin = 1, kMore = 2, kLook = 4, kFinished = 8 };

  void add_note(const std::string& text);
  void schedule(unsigned todo);
  void schedule_locked(unsigned todo);
  void post();
  void drive();
  void do_one(unsigned todo);
  void request_finished();
  void cancel_requests();
  void end();
  void fail(const ApiError& error);
  void check_requests() const;
  void forget_requests();

  HttpExchangePtr exchange_;
  Service* service_ = nullptr;
  uint64_t owner_ = 0;  // of its requests to the model, which has it in turn with those of others
  std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now(), turn_end_;
  bool streaming_ = false;
  std::string note_;

  std::mutex mutex_;  // guards what follows
  std::vector<RequestPtr> requests_;
  size_t pending_ = 0;      // requests that are not finished
  unsigned todo_ = 0;       // what a worker is to do
  bool scheduled_ = false;  // a worker does it, or will
  bool ended_ = false;      // the answer is complete
  std::optional<ApiError> stopped_;
};

using WorkPtr = std::shared_ptr<Work>;

/// A work for the model that is served, whose request is a JSON object.
class ModelWork : public Work {
 public:
  ModelWork(const ServedModel& served, HttpExchangePtr exchange)
      : Work(std::move(exchange)), served_(served) {}

 protected:
  /// begin() of a request, of which the field `model` is read.
  virtual void begin(const Fields& fields) = 0;
  const ServedModel& served() const { return served_; }
  /// Ends the request of one that has read `tokens` and drawn none.
  void answer_read(size_t tokens, std::string body);

 private:
  void begin() override;
  void check_name(const Fields& fields) const;

  const ServedModel& served_;
};

/// What a sample has drawn, on its way from the scheduler's thread to a worker's.
class SampleFeed {
 public:
  /// 6-mers in the order in which they were drawn, and for each the row of its ranks if the sample has them.
  struct News {
    std::vector<uint16_t> kmers;
    std::vector<double> ranks;  // [kmers, kRankWidth], or empty
    double logp = 0;            // Request::logp with the last of them
  };

  /// Attaches a feed to a request that is not running yet. If `work` is not null, it is woken for each 6-mer.
  /// Times go to `metrics`, counted from `arrived`. The work must outlive the request.
  static std::shared_ptr<SampleFeed> attach(Request& sample, Work* work, Metrics& metrics,
                                            std::chrono::steady_clock::time_point arrived);

  /// What has come since the last call.
  News take();

 private:
  void drawn(const Request& sample, size_t added, Metrics& metrics);

  std::mutex mutex_;
  News news_;
  std::chrono::steady_clock::time_point arrived_;
  std::optional<std::chrono::steady_clock::time_point> last_;  // when a 6-mer was drawn
};

}  // namespace carbon
