#include "src/pooling/label_scale.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/json.hpp"

namespace carbon {
namespace {

using nlohmann::json;

constexpr size_t kMaxBytes = size_t{16} << 20;
constexpr const char* kTransform = "label_transform";
constexpr const char* kStats = "label_stats";

[[noreturn]] void fail(const LabelScaleText& text, const std::string& what) {
  throw Error("label_scale", text.where + ": " + what);
}

const json* member(const json& object, const std::string& key) {
  if (!object.is_object()) return nullptr;
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

double number(const LabelScaleText& text, const std::string& label, const std::string& key, const json* value,
              bool is_factor) {
  const double found = value && value->is_number() ? value->get<double>() : std::nan("");
  if (!std::isfinite(found) || (is_factor && found <= 0))
    fail(text, "label " + printable(label) + ": " + printable(key) + " " +
                   (value ? printable(value->dump(-1, ' ', true, json::error_handler_t::replace)) + " must be"
                          : "is missing; it must be") +
                   (is_factor ? " a positive number" : " a number"));
  return found;
}

// The names under which the makers' scripts keep the numbers of a label.
std::vector<std::string> names_of(const std::string& label) {
  const std::string scaled = "_scaled";
  std::vector<std::string> names{label};
  if (label.size() > scaled.size() && label.ends_with(scaled))
    names.push_back(label.substr(0, label.size() - scaled.size()));
  return names;
}

std::optional<LabelScale> of_run_config(const LabelScaleText& text, const std::string& label) {
  const json& object = *text.object;
  for (const std::string& name : names_of(label)) {
    if (const json* const transform = member(object, kTransform))
      if (const json* const own = member(*transform, name))
        return LabelScale{number(text, label, "center", member(*own, "center"), false),
                          number(text, label, "scale", member(*own, "scale"), true)};
    if (const json* const stats = member(object, kStats))
      if (const json* const mean = member(*stats, name + "_mean"))
        return LabelScale{number(text, label, name + "_mean", mean, false),
                          number(text, label, name + "_std", member(*stats, name + "_std"), true)};
  }
  return std::nullopt;
}

std::optional<LabelScale> of_labels(const LabelScaleText& text, const std::string& label) {
  const json* const own = member(*text.object, label);
  if (!own) return std::nullopt;
  return LabelScale{number(text, label, "mean", member(*own, "mean"), false),
                    number(text, label, "std", member(*own, "std"), true)};
}

}  // namespace

LabelScaleText read_label_scale(const std::string& path) {
  LabelScaleText text{std::make_shared<const json>(read_json_file(path, kMaxBytes)), path};
  if (!text.object->is_object()) fail(text, "is not a JSON object");
  return text;
}

std::vector<LabelScale> label_scales(const LabelScaleText& text, const std::vector<std::string>& labels) {
  const bool run_config = member(*text.object, kTransform) || member(*text.object, kStats);
  std::vector<LabelScale> scales;
  for (const std::string& label : labels) {
    const auto scale = run_config ? of_run_config(text, label) : of_labels(text, label);
    if (!scale)
      fail(text, "has no scale for label " + printable(label) + "; expected " +
                     (run_config ? std::string(kTransform) + " or " + kStats + " with its numbers"
                                 : R"({"LABEL": {"mean": m, "std": s}} with all labels of the model)"));
    scales.push_back(*scale);
  }
  return scales;
}

}  // namespace carbon
