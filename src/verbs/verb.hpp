// src/verbs/: the verbs, for the doors that give arrays to their clients: settings and inputs come in,
// requests to the model are made of them, and arrays of their results go out.
//
// These doors are the endpoints /v1/dna/* of carbon serve, libcarbon and carbon mcp. A door reads settings
// and inputs in its own form, and lets the engine compute. The command line writes files, and so has runs in
// the rooms of its commands. What a plugin asks for goes into room of its own: a value for each byte of a
// sequence as it is, for each ALT of a record, a draw for a numbered prompt. It reads the same settings, and
// calls score_sequences(), score_variants() and generate_bases() of those rooms, on whose planners the verbs
// stand.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/base/log.hpp"
#include "src/base/settings.hpp"
#include "src/engine/request.hpp"
#include "src/model/model_use.hpp"
#include "src/verbs/served_model.hpp"

namespace carbon {

class Fields;
class Findings;

/// The arrays of which the result of a verb consists: elements in row-major order, with a shape whose product
/// is their number; {} for a single one.
class Array {
 public:
  using Data = std::variant<std::vector<double>, std::vector<float>, std::vector<int64_t>, std::string>;

  Array(std::string_view name, Data data, std::initializer_list<size_t> shape)
      : name_(name), data_(std::move(data)), shape_(shape.begin(), shape.end()) {
    int64_t bytes = size();
    strides_.resize(shape_.size());
    for (size_t i = shape_.size(); i-- > 0; bytes *= shape_[i]) strides_[i] = bytes;
  }
  /// One number, and letters.
  Array(std::string_view name, double number) : Array(name, std::vector<double>{number}, {}) {}
  Array(std::string_view name, int64_t number) : Array(name, std::vector<int64_t>{number}, {}) {}
  Array(std::string_view name, std::string letters) : Array(name, Data(), {letters.size()}) {
    data_ = std::move(letters);
    strides_ = {1};
  }

  std::string_view name() const { return name_; }
  /// Numbers or letters, by their type.
  const Data& data() const { return data_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  /// In bytes.
  const std::vector<int64_t>& strides() const { return strides_; }

 private:
  int64_t size() const {
    return std::visit([](const auto& all) { return static_cast<int64_t>(sizeof(all[0])); }, data_);
  }

  std::string_view name_;  // a text of the program
  Data data_;
  std::vector<int64_t> shape_, strides_;
};

using Result = std::vector<Array>;

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

/// How many bases the windows of an input have in all, and the setting that says how they overlap.
struct WindowBases {
  size_t bases = 0;
  const char* setting = "";  // "": each base is read once
};

/// Not thread-safe. The model outlives it.
class Verb {
 public:
  virtual ~Verb() = default;
  /// Plans an input, which messages call `name`. Throws Error for one that cannot be used, of which then
  /// nothing is emitted. A result comes for each input, in their order.
  virtual void add(size_t index, const std::string& name, std::string_view text, const Emit& emit) = 0;
  /// Plans inputs that add() has only kept. A result of one of them is waited for, or there are no more.
  virtual void flush(const Emit& /*emit*/) {}
  /// Called when there are no more inputs and all of them are planned. Throws Error if none can be used.
  virtual void end() {}
  /// How many bases an input is.
  virtual size_t bases_of(const std::string& /*name*/, std::string_view text) const { return text.size(); }
  /// What add() would plan for so many bases.
  virtual WindowBases windows(size_t /*bases*/) const { return {}; }
  /// The labels that the values of a result have; none: they have no labels.
  virtual std::vector<std::string> labels() const { return {}; }
};

/// What a verb is planned with.
struct VerbContext {
  const ServedModel& served;
  SharedReference* reference;                      // the FASTA that the door has; null: none
  std::function<void(const std::string&)> note;    // takes what users should know of an input
  std::function<void(const std::string&)> advise;  // and of a setting
  Log& log;
};

/// Each throws Error for settings that cannot be used.
using MakeVerb = std::unique_ptr<Verb> (*)(const VerbContext& context, const ReadSettings& read);

/// Shows the settings of a verb. What they set is gone afterwards.
using DescribeVerb = void (*)(const std::function<void(const SettingList&)>& see);

struct VerbEntry {
  const char* name;
  const char* about;   // a sentence
  const char* units;   // of its results
  ModelUse use;        // what it needs of the model; what variants need, their recipe says
  const char* inputs;  // what its inputs are called, in the plural
  MakeVerb make;
  DescribeVerb describe;
};

/// All verbs.
const std::vector<VerbEntry>& verb_table();
/// The verb of this name; null if there is none.
const VerbEntry* find_verb(std::string_view name);
/// The names of those that a model can be used for.
std::vector<std::string> verb_names(const Checkpoint& checkpoint);

/// A verb with the settings that a door takes of these fields, which may have no others than those that were
/// asked for. Throws Error, for a setting FieldError.
std::unique_ptr<Verb> make_verb(const VerbEntry& entry, const VerbContext& context, const Fields& fields,
                                Door door);

/// What is wrong, and the advice if the door takes all settings that it names, and it names some.
std::string told_at(Door door, const Error& error);

/// Throws SettingError if fasta-ref is among the settings that are given, but names no file.
void check_fasta(const char* function, const std::vector<std::string>& given, const std::string& fasta);

/// The arrays `contig` and `begin` of the bases of a region as JSON has them: `chrom` and `pos`, counted
/// from 1. Another array is as it was.
Array named_place(Array array);

/// Appends a number so that it reads back exactly; null if it is not finite. The tree of a JSON library would
/// take gigabytes for a list of some million numbers.
void append_json(double number, std::string& text);
/// Appends an array: a number, a text, or lists. A row of several values of which none is there is null.
void append_json(const Array& array, std::string& text);

}  // namespace carbon
