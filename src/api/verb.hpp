// What a call does: from an input to requests to the model, and from their results to arrays. A verb reads
// its options and plans as the endpoint of `carbon serve` with its name does.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/api/array.hpp"
#include "src/base/log.hpp"
#include "src/engine/request.hpp"
#include "src/serve/fields.hpp"
#include "src/serve/served_model.hpp"

namespace carbon::api {

class Findings;

/// Requests that are computed, and what is then made of them.
struct Piece {
  std::vector<RequestPtr> requests;
  /// Called when all requests are finished and none was refused, for one piece after the other in their
  /// order. What it throws ends the call.
  std::function<void(Findings&)> take;
  /// The requests may have parents in the piece before it, so that the two go to the engine together.
  bool linked = false;
};

/// What the taking of a piece gives.
class Findings {
 public:
  std::vector<Result> results;
  std::vector<Piece> next;  // taken before all others
};

using Emit = std::function<void(Piece)>;

/// Not thread-safe. The model outlives it.
class Verb {
 public:
  virtual ~Verb() = default;
  /// Plans an input, whose number from 0 is `index`. Throws Error or ApiError for one that cannot be used, of
  /// which then nothing is emitted.
  virtual void add(size_t index, std::string_view text, const Emit& emit) = 0;
  /// Plans inputs that add() has only kept. A result of one of them is waited for, or there are no more.
  virtual void flush(const Emit& /*emit*/) {}
};

/// `options` are read, but not yet for others: see Fields::refuse_others().
using MakeVerb = std::unique_ptr<Verb> (*)(const ServedModel& served, const Fields& options, Log& log);

// Each throws Error or ApiError for options that cannot be used.
std::unique_ptr<Verb> make_score_verb(const ServedModel& served, const Fields& options, Log& log);
std::unique_ptr<Verb> make_variants_verb(const ServedModel& served, const Fields& options, Log& log);
std::unique_ptr<Verb> make_scan_verb(const ServedModel& served, const Fields& options, Log& log);
std::unique_ptr<Verb> make_embed_verb(const ServedModel& served, const Fields& options, Log& log);
std::unique_ptr<Verb> make_predict_verb(const ServedModel& served, const Fields& options, Log& log);
std::unique_ptr<Verb> make_generate_verb(const ServedModel& served, const Fields& options, Log& log);

/// The verb of this name, with its options. Throws Problem for an unknown one, for a model that cannot be
/// used so, and for options.
std::unique_ptr<Verb> make_verb(const std::string& name, const ServedModel& served, const Fields& options,
                                Log& log);
/// The verbs that a model can be used for.
std::vector<std::string> verb_names(const Checkpoint& checkpoint);

/// How errors call an input: "sequences[3]", where `inputs` is "sequences".
std::string input_name(const char* inputs, size_t index);
/// The bases of the input `name`, in which white space is left out. Throws ApiError for what is no sequence.
std::string input_bases(const std::string& name, std::string_view text, Log& log);

}  // namespace carbon::api
