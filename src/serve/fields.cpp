#include "src/serve/fields.hpp"

#include <cmath>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/lists.hpp"

namespace carbon {

using nlohmann::json;

Fields Fields::of_body(std::string_view body) {
  json parsed;
  try {
    parsed = parse_json(body, "the body");
  } catch (const Error& error) {
    throw ApiError(400, error.what());
  }
  return {std::move(parsed), ""};
}

Fields::Fields(json object, std::string where) : object_(std::move(object)), where_(std::move(where)) {
  if (!object_.is_object())
    throw ApiError(400, (where_.empty() ? "the body" : where_) + " must be a JSON object", where_);
}

std::string Fields::full_name(const std::string& name) const {
  return where_.empty() ? name : where_ + "." + name;
}

void Fields::fail(const std::string& name, const std::string& problem) const {
  const std::string full = full_name(name);
  throw ApiError(400, full + " " + problem, full);
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

}  // namespace carbon
