#include "src/verbs/fields.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/formats/fasta.hpp"
#include "src/verbs/verb.hpp"

namespace carbon {

using nlohmann::json;
using nlohmann::ordered_json;

Fields Fields::of_body(std::string_view body) {
  json parsed;
  try {
    parsed = parse_json(body, "the body");
  } catch (const Error& error) {
    throw FieldError("", error.what());
  }
  return {std::move(parsed), ""};
}

Fields::Fields(json object, std::string where) : object_(std::move(object)), where_(std::move(where)) {
  if (!object_.is_object())
    throw FieldError(where_, (where_.empty() ? "the body" : where_) + " must be a JSON object");
}

std::string Fields::full_name(const std::string& name) const {
  return where_.empty() ? name : where_ + "." + name;
}

void Fields::fail(const std::string& name, const std::string& problem) const {
  const std::string full = full_name(name);
  throw FieldError(full, full + " " + problem);
}

const json* Fields::find(const std::string& name) const {
  asked_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json& Fields::required(const std::string& name) const {
  const json* const value = find(name);
  if (!value) fail(name, "is missing");
  return *value;
}

std::string Fields::text(const std::string& name, const std::string& otherwise) const {
  const json* const value = find(name);
  if (!value) return otherwise;
  if (!value->is_string()) fail(name, "must be a string");
  return value->get<std::string>();
}

std::string Fields::required_text(const std::string& name) const {
  required(name);
  return text(name, "");
}

bool Fields::flag(const std::string& name, bool otherwise) const {
  const json* const value = find(name);
  if (!value) return otherwise;
  if (!value->is_boolean()) fail(name, "must be true or false");
  return value->get<bool>();
}

int64_t Fields::whole(const std::string& name, int64_t otherwise, int64_t least, int64_t most) const {
  const json* const value = find(name);
  if (!value) return otherwise;
  const std::string expected =
      "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  if (value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    fail(name, expected);
  int64_t number = 0;
  if (value->is_number_integer()) {
    number = value->get<int64_t>();
  } else {
    // Doubles of this size hold whole numbers exactly.
    const double real = value->is_number() ? value->get<double>() : NAN;
    if (!(std::fabs(real) < 0x1p53) || real != std::floor(real)) fail(name, expected);
    number = static_cast<int64_t>(real);
  }
  if (number < least || number > most) fail(name, expected);
  return number;
}

double Fields::number(const std::string& name, double otherwise, double least, double most) const {
  const json* const value = find(name);
  if (!value) return otherwise;
  const double real = value->is_number() ? value->get<double>() : NAN;
  if (!(real >= least && real <= most)) {
    const auto show = [](double bound) { return json(bound).dump(); };
    fail(name, "must be a number from " + show(least) + " to " + show(most));
  }
  return real;
}

void Fields::fail_choice(const std::string& name, const std::string& chosen,
                         const std::vector<std::string>& words) const {
  std::vector<std::string> quoted;
  for (const std::string& word : words) quoted.push_back("'" + word + "'");
  fail(name, "is '" + printable(chosen) + "'; it must be " + or_list(quoted));
}

std::vector<Fields> Fields::objects(const std::string& name) const {
  const json& list = required(name);
  if (!list.is_array()) fail(name, "must be a list of objects");
  std::vector<Fields> all;
  for (const json& object : list) {
    all.emplace_back(object, full_name(name) + "[" + std::to_string(all.size()) + "]");
    all.back().note_ = note_;
  }
  return all;
}

namespace {

// Sets the variable of a setting from a field, which is there.
class FieldReader {
 public:
  FieldReader(const Fields& fields, std::string name, const Setting& setting)
      : fields_(fields), name_(std::move(name)), value_(*fields.find(name_)), setting_(setting) {}

  void operator()(bool* flag) const { *flag = fields_.flag(name_, false); }
  void operator()(double* number) const {
    if (!value_.is_number()) fields_.fail(name_, "must be a number");
    *number = value_.get<double>();
  }
  void operator()(std::string* text) const { *text = fields_.text(name_, ""); }
  void operator()(std::optional<int64_t>* number) const { *number = whole(); }
  void operator()(size_t* number) const {
    if (setting_.bounds) {
      *number = static_cast<size_t>(whole());
    } else if (value_.is_number_unsigned()) {
      *number = value_.get<uint64_t>();
    } else if (const double real = value_.is_number() ? value_.get<double>() : NAN;
               real >= 0 && real < 0x1p53 && real == std::floor(real)) {
      *number = static_cast<size_t>(real);  // 5.0
    } else {
      fields_.fail(name_, "must be a whole number from 0 to " + std::to_string(UINT64_MAX));
    }
  }
  template <class Number>
  void operator()(Number* number) const {
    *number = static_cast<Number>(whole());
  }
  void operator()(const Setting::Choice& choice) const { choice.set(word(value_, choice.words)); }
  void operator()(const Setting::List& list) const {
    Setting::Parts parts;
    if (list.one_part) {
      parts.push_back(part(value_, list));
    } else {
      const std::string example = json_example(setting_, list);
      if (!value_.is_array())
        fields_.fail(name_, "must be a list" + (example.empty() ? "" : ", such as " + example));
      for (const json& one : value_) parts.push_back(part(one, list));
    }
    set_list(setting_, list, parts);
  }
  void operator()(const Setting::Object& object) const {
    if (!value_.is_object()) fields_.fail(name_, "must be an object");
    object.set(std::make_shared<const json>(value_), fields_.full_name(name_));
  }

 private:
  int64_t whole() const { return fields_.whole(name_, 0, setting_.bounds->first, setting_.bounds->second); }
  // A number may stand for a word, as 6 for "6".
  std::string word(const json& value, const Setting::Parts& words) const {
    if (!value.is_string() && !value.is_number_unsigned()) fields_.fail(name_, "must be a string");
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (std::find(words.begin(), words.end(), text) == words.end()) fields_.fail_choice(name_, text, words);
    return text;
  }
  std::string part(const json& value, const Setting::List& list) const {
    if (!list.words.empty()) return word(value, list.words);
    if (list.of_numbers && !value.is_number())
      fields_.fail(name_, list.one_part ? "must be a number" : "must be a list of numbers");
    if (!value.is_string() && !value.is_number()) fields_.fail(name_, "must be a list of texts");
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  const Fields& fields_;
  const std::string name_;
  const json& value_;
  const Setting& setting_;
};

}  // namespace

std::string field_name(std::string setting) {
  std::replace(setting.begin(), setting.end(), '-', '_');
  return setting;
}

FieldError Fields::error_of(const SettingError& error) const {
  const std::string name = full_name(field_name(error.setting())), message = error.what();
  return {name,
          message.starts_with(error.setting()) ? name + message.substr(error.setting().size()) : message,
          error.advice()};
}

std::vector<std::string> Fields::read(const SettingList& settings, Door door) const {
  std::vector<std::string> given;
  try {
    for (const Setting& setting : settings) {
      if (setting.missing_at(door)) continue;
      const std::string own = field_name(setting.name);
      const std::string name = !setting.alias.empty() && has(setting.alias) ? setting.alias : own;
      if (name != own && has(own)) fail(name, "and " + own + " are the same; give one of them");
      if (setting.is_required) required(name);
      if (!has(name)) continue;
      std::visit(FieldReader(*this, name, setting), setting.target);
      // A flag that says no is as none.
      const auto* const flag = std::get_if<bool*>(&setting.target);
      if (!flag || **flag) given.push_back(setting.name);
    }
    check_together(settings, given);
  } catch (const SettingError& error) {
    throw error_of(error);
  }
  return given;
}

void Fields::note(const std::string& text) const {
  if (note_->empty()) *note_ = text;
}

std::vector<std::string> Fields::others() const {
  std::vector<std::string> names;
  for (const auto& item : object_.items())
    if (!asked_.contains(item.key())) names.push_back(item.key());
  return names;
}

void Fields::refuse_others() const {
  const std::vector<std::string> names = others();
  if (names.empty()) return;
  fail(printable(names.front()), "is not a field of " + (where_.empty() ? "this request" : where_) +
                                     "; the fields are " + and_list({asked_.begin(), asked_.end()}));
}

ordered_json text_schema(const char* about) {
  return {{"type", "string"}, {"description", about}};
}
ordered_json list_schema(ordered_json items, const char* about) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", about}};
}
ordered_json object_schema(ordered_json properties, const ordered_json& required) {
  ordered_json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = required;
  return schema;
}
ordered_json closed_schema(ordered_json properties, const ordered_json& required) {
  ordered_json schema = object_schema(std::move(properties), required);
  schema["additionalProperties"] = false;
  return schema;
}

ordered_json variant_schema() {
  const auto whole = [](const char* about) {
    return ordered_json{{"type", "integer"}, {"description", about}};
  };
  const auto letters = [](const char* about) {
    return ordered_json{{"type", "string"}, {"minLength", 1}, {"description", about}};
  };
  ordered_json pos = whole("counted from 1");
  pos["minimum"] = 0;
  ordered_json schema =
      closed_schema({{"chrom", text_schema("contig of the FASTA; not with sequence")},
                     {"pos", std::move(pos)},
                     {"ref", letters("")},
                     {"alt", letters("bases, or <DEL>, <DUP> or <INV>")},
                     {"end", whole("of these three, as END of a VCF")},
                     {"svlen", whole("the same as a length")},
                     {"info", {{"type", "object"}, {"description", "other INFO tags of theirs"}}}},
                    {"pos", "ref", "alt"});
  return {{"oneOf", {std::move(schema), text_schema("such as chr17:43094692 G>T; on a sequence 120 G>T")}}};
}

namespace {

// The type of a setting's value with its bounds, words and default.
class SchemaOf {
 public:
  explicit SchemaOf(const Setting& setting) : setting_(setting) {}

  ordered_json operator()(const bool* flag) const { return {{"type", "boolean"}, {"default", *flag}}; }
  ordered_json operator()(const double* number) const { return {{"type", "number"}, {"default", *number}}; }
  ordered_json operator()(const std::string* /*text*/) const { return {{"type", "string"}}; }
  ordered_json operator()(const std::optional<int64_t>* /*number*/) const { return whole(); }
  ordered_json operator()(const Setting::Choice& choice) const {
    ordered_json type = {{"type", "string"}, {"enum", choice.words}};
    if (const std::string word = choice.get(); !word.empty()) type["default"] = word;
    return type;
  }
  ordered_json operator()(const Setting::List& list) const {
    ordered_json part = {{"type", list.of_numbers ? "number" : "string"}};
    if (!list.of_numbers && !setting_.words.empty()) part = ordered_json::object();  // words or numbers
    if (!list.words.empty()) part["enum"] = list.words;
    return list.one_part ? part : ordered_json{{"type", "array"}, {"items", part}};
  }
  ordered_json operator()(const Setting::Object& /*object*/) const { return {{"type", "object"}}; }
  template <class Whole>
  ordered_json operator()(const Whole* number) const {
    ordered_json type = whole();
    const bool holds = setting_.fallback.empty() && !setting_.is_required &&
                       (!setting_.bounds || !std::cmp_less(*number, setting_.bounds->first));
    if (holds) type["default"] = *number;
    return type;
  }

 private:
  ordered_json whole() const {
    ordered_json type = {{"type", "integer"}, {"minimum", 0}};
    if (setting_.bounds)
      type.update({{"minimum", setting_.bounds->first}, {"maximum", setting_.bounds->second}});
    return type;
  }

  const Setting& setting_;
};

}  // namespace

ordered_json request_schema(const VerbEntry& verb, Door door, ordered_json inputs, ordered_json required) {
  verb.describe([&](const SettingList& settings) {
    for (const Setting& setting : settings) {
      if (setting.missing_at(door)) continue;
      ordered_json type = std::visit(SchemaOf(setting), setting.target);
      type["description"] = setting.full_help();
      const std::string name = field_name(setting.name);
      inputs[name] = std::move(type);
      if (setting.is_required) required.push_back(name);
    }
  });
  return closed_schema(std::move(inputs), required);
}

std::string checked_bases(const std::string& name, std::string_view text,
                          const std::function<void(const std::string&)>& note) {
  std::string bases;
  bases.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (!is_sequence_byte(static_cast<unsigned char>(text[i])))
      throw FieldError(name, name + " has '" + printable(text.substr(i, 1)) + "' at character " +
                                 std::to_string(i + 1) + " of its sequence; a sequence has letters only");
    bases += text[i];
  }
  bool has_u = false;
  try {
    has_u = read_as_dna(bases, name, "verbs");
  } catch (const Error& error) {
    throw FieldError(name, error.what());
  }
  if (has_u) note(read_as_t(name));
  return bases;
}

}  // namespace carbon
