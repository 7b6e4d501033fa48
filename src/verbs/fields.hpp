// What a door takes of a verb as JSON. Reads the fields of an object, the request of a server or the options
// of a call of libcarbon, with their types and bounds; each error names its field. Describes the same
// settings as JSON Schema, for the doors that describe themselves: openapi.json and the tools of carbon mcp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/settings.hpp"
#include "src/base/words.hpp"

namespace carbon {

struct VerbEntry;

/// pad_tail for the setting pad-tail.
std::string field_name(std::string setting);

/// What is wrong with a field, "" where it is the object itself. The message begins with its name.
class FieldError : public Error {
 public:
  FieldError(std::string field, const std::string& message, Advice advice = {})
      : Error("fields", message, std::move(advice)), field_(std::move(field)) {}
  const std::string& field() const { return field_; }

 private:
  std::string field_;
};

/// A JSON object. A field that is null counts as missing. All functions throw FieldError.
class Fields {
 public:
  /// The body of a request, which must be one JSON object.
  static Fields of_body(std::string_view body);
  /// `where` is what errors call it, e.g. "variants[3]"; "" for the request itself.
  Fields(nlohmann::json object, std::string where);

  bool has(const std::string& name) const { return find(name) != nullptr; }
  std::string text(const std::string& name, const std::string& otherwise) const;
  std::string required_text(const std::string& name) const;
  bool flag(const std::string& name, bool otherwise) const;
  /// A whole number from `least` to `most`. A number with a fraction of zero counts as whole.
  int64_t whole(const std::string& name, int64_t otherwise, int64_t least, int64_t most) const;
  /// A number from `least` to `most`.
  double number(const std::string& name, double otherwise, double least, double most) const;
  /// The value that a text names by one of `words`.
  template <class T, size_t N>
  T choice(const std::string& name, T otherwise, const Word<T> (&words)[N]) const {
    if (!find(name)) return otherwise;
    const std::string chosen = text(name, "");
    if (const std::optional<T> value = value_of(words, chosen)) return *value;
    fail_choice(name, chosen, all_words(words));
  }
  /// The same where a missing field may have no value.
  template <class T, size_t N>
  std::optional<T> choice(const std::string& name, std::optional<T> otherwise,
                          const Word<T> (&words)[N]) const {
    return find(name) ? choice(name, T(), words) : otherwise;
  }
  /// Any value; null if it is missing.
  const nlohmann::json* find(const std::string& name) const;
  /// A missing field is an error.
  const nlohmann::json& required(const std::string& name) const;
  /// A list of objects, each with its place in its name.
  std::vector<Fields> objects(const std::string& name) const;

  /// Reads the settings that a door takes, of which "pad-tail" is the field pad_tail, and returns the names
  /// of those that are given.
  std::vector<std::string> read(const SettingList& settings, Door door) const;

  /// Throws for a field that none of the functions above was asked for.
  void refuse_others() const;
  /// The names of these fields, for a line in the log.
  std::vector<std::string> others() const;

  /// Keeps what the client is told beside the answer, for example how a letter is read: the first note of the
  /// request and of the objects in it. "" if there is none.
  void note(const std::string& text) const;
  const std::string& noted() const { return *note_; }

  /// The error of a setting, by the name of its field.
  FieldError error_of(const SettingError& error) const;
  /// "strand", or "variants[3].ref".
  std::string full_name(const std::string& name) const;
  [[noreturn]] void fail(const std::string& name, const std::string& problem) const;
  /// For a text that is none of the words it must be.
  [[noreturn]] void fail_choice(const std::string& name, const std::string& chosen,
                                const std::vector<std::string>& words) const;

 private:
  nlohmann::json object_;
  std::string where_;
  mutable std::set<std::string> asked_;
  std::shared_ptr<std::string> note_ = std::make_shared<std::string>();
};

// JSON Schemas of what verbs take.

nlohmann::ordered_json text_schema(const char* about);
nlohmann::ordered_json list_schema(nlohmann::ordered_json items, const char* about);
nlohmann::ordered_json object_schema(
    nlohmann::ordered_json properties,
    const nlohmann::ordered_json& required = nlohmann::ordered_json::array());
/// Of an object that has no other members.
nlohmann::ordered_json closed_schema(
    nlohmann::ordered_json properties,
    const nlohmann::ordered_json& required = nlohmann::ordered_json::array());
/// What read_variant() reads.
nlohmann::ordered_json variant_schema();
/// Of what a door takes of a verb: its inputs, of which some are required, and the settings.
nlohmann::ordered_json request_schema(const VerbEntry& verb, Door door, nlohmann::ordered_json inputs,
                                      nlohmann::ordered_json required = nlohmann::ordered_json::array());

/// The bases of the input `name`, in which white space is left out and U becomes T, as the commands read it.
/// Throws FieldError for what is not a letter, with its place, and for a protein.
std::string checked_bases(const std::string& name, std::string_view text,
                          const std::function<void(const std::string&)>& note);

}  // namespace carbon
