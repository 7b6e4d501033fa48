#include "src/serve/verb_work.hpp"

#include <algorithm>
#include <utility>

#include "src/base/json.hpp"
#include "src/serve/api_error.hpp"
#include "src/serve/service.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {
namespace {

using nlohmann::json;

// Of results that are in memory together: enough to keep a GPU busy for a while.
constexpr size_t kBatchBytes = size_t{64} << 20;
// Windows that overlap read bases again and again. So often at most, on the mean.
constexpr size_t kMostReads = 10;

}  // namespace

void check_bases(size_t bases, const std::string& field, const RequestLimits& limits) {
  if (bases <= limits.bases) return;
  throw ApiError(400,
                 field + " has " + std::to_string(bases) + " bases; the server's limit for one request is " +
                     std::to_string(limits.bases),
                 field);
}

void check_items(size_t items, const Fields& fields, const std::string& field, const RequestLimits& limits) {
  if (items > limits.items)
    fields.fail(field, "has " + std::to_string(items) + " entries; the server's limit is " +
                           std::to_string(limits.items));
}

std::string VerbWork::sent_bases(const std::string& field, const std::string& text) {
  return checked_bases(field, text, [this](const std::string& what) { note(what); });
}

void VerbWork::read_inputs(const Fields& fields) {
  const json& list = fields.required(field_);
  if (!list.is_array()) fields.fail(field_, "must be a list of strings");
  check_items(list.size(), fields, field_, service().limits());
  size_t sum = 0;
  for (const json& one : list) {
    const std::string field = field_ + "[" + std::to_string(sequences_.size()) + "]";
    if (!one.is_string()) throw FieldError(field, field + " must be a string");
    sequences_.push_back(sent_bases(field, one.get_ref<const std::string&>()));
    sum += sequences_.back().size();
  }
  check_bases(sum, field_, service().limits());
}

void VerbWork::add_input(size_t index, const Emit& emit) {
  const bool many = field_ == "sequences";
  verb_->add(index, many ? field_ + "[" + std::to_string(index) + "]" : field_, sequences_[index], emit);
}

void VerbWork::begin(const Fields& fields) {
  read_inputs(fields);
  const auto tell_later = [this](const std::string& what) { note(what); };
  verb_ = make_verb(entry_, {served(), reference_, tell_later, tell_later, silent_log()}, fields, Door::http);
  check_windows();
  begin_answer();
  tell(std::exchange(first_note_, ""));
  more();
}

void VerbWork::finished() {
  stage_ = Stage::take;
  next_slot_ = 0;
  more();
}

// As many steps as a turn has time for. The input of a step, and the result of one, are not divided.
void VerbWork::more() {
  while (step())
    if (turn_is_over()) return again();
}

// Returns false if the model runs now, or the answer is complete.
bool VerbWork::step() {
  if (stage_ == Stage::plan) return plan_step();
  return stage_ == Stage::take ? take_step() : write_step();
}

void VerbWork::check_windows() {
  WindowBases all;
  size_t bases = 0;
  for (const std::string& sequence : sequences_) {
    const size_t length = verb_->bases_of(field_, sequence);
    bases += length;
    const WindowBases one = verb_->windows(length);
    all = {all.bases + one.bases, one.setting};
  }
  check_bases(bases, field_, service().limits());
  const size_t most = kMostReads * service().limits().bases;
  if (all.bases <= most) return;
  throw ApiError(400,
                 std::string(all.setting) + " gives windows of " + std::to_string(all.bases) +
                     " bases in all; the server's limit for one request is " + std::to_string(most),
                 all.setting);
}

void VerbWork::begin_answer() {
  const std::vector<std::string> labels = verb_->labels();
  answer_ = labels.empty() ? "{" : "{\"labels\":" + json(labels).dump() + ",";
  answer_ += "\"results\":[";
}

void VerbWork::plan_next() {
  const Emit emit = [this](Piece piece) { planned_.push_back(std::move(piece)); };
  if (next_input_ < inputs()) return add_input(next_input_++, emit);
  verb_->flush(emit);
  verb_->end();
  all_planned_ = true;
}

void VerbWork::begin_slot(Piece piece) {
  for (const RequestPtr& request : piece.requests) {
    batch_bytes_ += request->bytes(result_sizes(served().config()));
    tokens_ += request->tokens.size();
  }
  slots_.emplace_back();
  slots_.back().pieces.push_back(std::move(piece));
}

// Runs the next pieces when they are planned; ends the answer if there are none.
bool VerbWork::plan_step() {
  if (planned_.empty() && !all_planned_) {
    plan_next();
    return true;
  }
  if (!planned_.empty() && (batch_bytes_ < kBatchBytes || planned_.front().linked)) {
    begin_slot(std::move(planned_.front()));
    planned_.pop_front();
    return true;
  }
  tell(std::exchange(first_note_, ""));  // of what was planned
  slots_.empty() ? complete() : run_slots();
  return false;
}

void VerbWork::run_slots() {
  std::vector<RequestPtr> requests;
  for (Slot& slot : slots_)
    for (Piece& piece : slot.pieces) {
      prepare(piece);
      requests.insert(requests.end(), piece.requests.begin(), piece.requests.end());
    }
  run(requests);
}

// What was taken of all slots may ask for more of the model.
bool VerbWork::take_step() {
  if (next_slot_ < slots_.size()) {
    Slot& slot = slots_[next_slot_++];
    Findings findings;
    for (const Piece& piece : std::exchange(slot.pieces, {})) piece.take(findings);
    for (Result& result : findings.results) slot.results.push_back(std::move(result));
    slot.pieces = std::move(findings.next);
    return true;
  }
  if (std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return !slot.pieces.empty(); })) {
    run_slots();
    return false;
  }
  stage_ = Stage::write;
  next_slot_ = 0;
  return true;
}

bool VerbWork::write_step() {
  if (next_slot_ < slots_.size()) {
    for (const Result& result : std::exchange(slots_[next_slot_++].results, {}))
      add_result(answered_++, result);
    return true;
  }
  slots_.clear();
  stage_ = Stage::plan;
  batch_bytes_ = 0;
  return true;
}

void VerbWork::append_arrays(const Result& result) {
  for (const Array& array : result) {
    if (answer_.back() != '{') answer_ += ',';
    answer_ += '"' + std::string(array.name()) + "\":";
    append_json(array, answer_);
  }
}

void VerbWork::add_result(size_t /*index*/, const Result& result) {
  begin_object();
  append_arrays(result);
  answer_ += '}';
}

}  // namespace carbon
