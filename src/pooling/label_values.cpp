#include "src/pooling/label_values.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/base/words.hpp"
#include "src/model/digest.hpp"
#include "src/model/model_use.hpp"

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

namespace {

const Checkpoint& with_head(const Checkpoint& checkpoint) {
  check_use(checkpoint, ModelUse::labels);
  return checkpoint;
}

// Throws Error for two names that are equal; `labels` are what they were made of.
void check_distinct(const std::vector<std::string>& names, const std::vector<std::string>& labels,
                    const std::string& place) {
  std::map<std::string, size_t> seen;
  for (size_t i = 0; i < names.size(); ++i) {
    const auto [at, is_new] = seen.emplace(names[i], i);
    if (!is_new)
      throw Error("labels",
                  "labels " + printable(labels[at->second]) + " and " + printable(labels[i]) + " are both " +
                      printable(names[i]) + " in " + place,
                  {"name them with {--labels} A,B,..."});
  }
}

void set_labels(const std::vector<std::string>& names, LabelSettings& settings) {
  const auto empty = [](const std::string& name) { return name.empty(); };
  if (std::any_of(names.begin(), names.end(), empty))
    throw SettingError("labels", "labels",
                       "labels '" + printable(joined(names, ",")) +
                           "': expected names joined by commas, none of them empty");
  settings.labels = names;
}

std::vector<std::string> table_names(std::vector<std::string> labels) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].empty())
      throw Error("labels", "label number " + std::to_string(i) + " of the model has no name",
                  {"name them with {--labels} A,B,..."});
    std::replace_if(
        labels[i].begin(), labels[i].end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, '_');
  }
  return labels;
}

std::vector<std::string> chosen_labels(const Checkpoint& checkpoint, const LabelSettings& settings) {
  const std::vector<std::string>& own = checkpoint.config().classifier->labels;
  if (settings.labels.empty()) return own;
  if (settings.labels.size() != own.size())
    throw Error("labels",
                std::to_string(settings.labels.size()) +
                    " labels are named, but the classification head of " + checkpoint.id() + " has " +
                    std::to_string(own.size()),
                {"name them with {--labels} A,B,..."});
  return settings.labels;
}

Activation chosen_activation(const Checkpoint& checkpoint, Activation choice, Log& log) {
  if (choice != Activation::automatic) return choice;
  const std::string& problem = checkpoint.config().classifier->problem_type;
  if (problem == "single_label_classification") return Activation::softmax;
  if (problem == "multi_label_classification") return Activation::sigmoid;
  if (problem.empty())
    log.warning("labels",
                "nothing says what the values of " + checkpoint.id() +
                    " mean (no problem_type in config.json), so they are written without an activation",
                {"choose one with {--activation} none, sigmoid or softmax"});
  return Activation::none;
}

void softmax(std::vector<double>& values) {
  const double largest = *std::max_element(values.begin(), values.end());
  double sum = 0;
  for (double& value : values) {
    value = std::exp(value - largest);
    sum += value;
  }
  for (double& value : values) value /= sum;
}

}  // namespace

SettingList label_settings(Pooling& pooling, LabelSettings& labels) {
  return {
      Setting(
          "pool", "POOL",
          "the row that is read: separator (of </dna> or a last <s>; default) or last (of the last 6-mer)",
          pooling.pool, kRowPoolWords),
      Setting("pad-tail", "pad a partial 6-mer at the end with A (default: leave it out)", pooling.pad_tail),
      Setting("labels", "LIST", "names of the labels, with commas",
              Setting::List{[&labels](const Setting::Parts& names) { set_labels(names, labels); }})
          .otherwise("as config.json has them"),
      Setting(
          "label-scale", "FILE",
          "JSON file with mean and std of each label, or the run_config.json of the training: write "
          "value * std + mean",
          Setting::Object{[&labels](std::shared_ptr<const nlohmann::json> scale, const std::string& where) {
            labels.scale = {std::move(scale), where};
          }}),
      Setting("activation", "NAME",
              "what becomes of the head's products: auto (by problem_type of config.json; default), none, "
              "sigmoid or softmax (over all labels)",
              labels.activation, kActivationWords)};
}

LabelValues::LabelValues(const Checkpoint& checkpoint, const LabelSettings& settings, Log& log)
    : head_(with_head(checkpoint)), activation_(chosen_activation(checkpoint, settings.activation, log)) {
  const std::vector<std::string> labels = chosen_labels(checkpoint, settings);
  names_ = table_names(labels);
  check_distinct(names_, labels, "the names of columns");
  if (!settings.scale.object) return;
  if (activation_ != Activation::none)
    throw Error("labels",
                settings.scale.where + ": a scale belongs to values without an activation, and these have " +
                    word_of(kActivationWords, activation_),
                {"choose one with {--activation} none, sigmoid or softmax"});
  scales_ = label_scales(settings.scale, labels);
}

std::vector<double> LabelValues::values(std::span<const float> state) const {
  std::vector<double> values = head_.values(state);
  if (activation_ == Activation::softmax) softmax(values);
  if (activation_ == Activation::sigmoid)
    for (double& value : values) value = 1 / (1 + std::exp(-value));
  for (size_t i = 0; i < scales_.size(); ++i) values[i] = values[i] * scales_[i].std + scales_[i].mean;
  return values;
}

Settings LabelValues::settings() const {
  std::string numbers;
  for (const LabelScale& scale : scales_)
    numbers += exact_text(scale.mean) + " " + exact_text(scale.std) + "\n";
  return {{"activation", word_of(kActivationWords, activation_)},
          {"scale", scales_.empty() ? "none" : sha256_hex(numbers)}};
}

std::vector<std::string> tag_labels(const std::vector<std::string>& labels) {
  std::vector<std::string> tags;
  for (const std::string& label : labels) {
    std::string& tag = tags.emplace_back();
    for (const char c : label) {
      const auto byte = static_cast<unsigned char>(c);
      if ((byte & 0xc0) == 0x80) continue;  // a character of several bytes becomes one _
      tag += is_letter_or_digit(c) || c == '.' ? c : '_';
    }
  }
  check_distinct(tags, labels, "the names of tags");
  return tags;
}

}  // namespace carbon
