#include "src/verbs/schema.hpp"

#include <utility>

#include "src/verbs/fields.hpp"

namespace carbon {

using nlohmann::ordered_json;

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

}  // namespace carbon
