// POST /v1/dna/VERB: a verb of src/verbs over HTTP. The inputs of a request are planned and computed in
// batches, so that the results that are in memory together stay small: those of a million bases may take
// gigabytes. Arrays become JSON by their names.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/serve/run.hpp"
#include "src/serve/work.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {

/// Throws ApiError if there are more bases in a field than one request may have.
void check_bases(size_t bases, const std::string& field, const RequestLimits& limits);
/// The same of other items.
void check_items(size_t items, const Fields& fields, const std::string& field, const RequestLimits& limits);

class VerbWork : public ModelWork {
 public:
  VerbWork(const char* verb, const ServedModel& served, SharedReference* reference, HttpExchangePtr exchange)
      : ModelWork(served, std::move(exchange)), entry_(*find_verb(verb)), reference_(reference) {}

 protected:
  // What an endpoint may do in its own way. By default, the field `sequences` is a list of texts, and the
  // answer is {"results": [...]}, an object of arrays for each.
  virtual void read_inputs(const Fields& fields);
  virtual size_t inputs() const { return sequences_.size(); }
  virtual void add_input(size_t index, const Emit& emit);
  /// Looks at a piece before its requests run.
  virtual void prepare(Piece& /*piece*/) {}
  /// Called when the inputs are read, before anything is computed.
  virtual void begin_answer();
  virtual void add_result(size_t index, const Result& result);
  virtual void complete() { answer_read(tokens_, std::move(answer_) + "]}"); }

  void finished() override;

  /// The bases of a field. Throws FieldError.
  std::string sent_bases(const std::string& field, const std::string& text);
  /// Tells the client the first of several things.
  void note(const std::string& text) {
    if (first_note_.empty()) first_note_ = text;
  }
  Verb& verb() { return *verb_; }
  SharedReference* reference() const { return reference_; }
  /// The inputs do not lie on it.
  void drop_reference() { reference_ = nullptr; }
  void set_sequences(std::string field, std::vector<std::string> sequences) {
    field_ = std::move(field);
    sequences_ = std::move(sequences);
  }
  /// Opens an object of the answer behind others of its list.
  void begin_object() { answer_ += answer_.back() == '[' ? "{" : ",{"; }
  void append_arrays(const Result& result);

  std::string answer_;  // as far as it is known
  size_t tokens_ = 0;   // of the requests so far

 private:
  // A piece that was planned, what has been made of it, and what is to be computed for that.
  struct Slot {
    std::vector<Piece> pieces;
    std::vector<Result> results = {};
  };
  // What there is to do while the model does not run: to plan a batch, to take its pieces, to write results.
  enum class Stage { plan, take, write };

  void begin(const Fields& fields) override;
  void more() override;
  void check_windows();
  bool step();
  bool plan_step();
  bool take_step();
  bool write_step();
  void begin_slot(Piece piece);
  void plan_next();
  void run_slots();

  const VerbEntry& entry_;
  SharedReference* reference_;  // null: the server has none
  std::unique_ptr<Verb> verb_;
  std::string field_ = "sequences", first_note_;
  std::vector<std::string> sequences_;
  std::deque<Piece> planned_;
  std::vector<Slot> slots_;  // of the batch that runs
  Stage stage_ = Stage::plan;
  size_t next_slot_ = 0;  // to be taken, or written
  size_t next_input_ = 0, answered_ = 0, batch_bytes_ = 0;
  bool all_planned_ = false;
};

}  // namespace carbon
