#include "src/serve/dna_request.hpp"

#include <cmath>
#include <memory>

#include "src/base/error.hpp"
#include "src/base/numbers.hpp"
#include "src/serve/prompts.hpp"

namespace carbon {
namespace {

void check_bases(size_t bases, const std::string& field, const RequestLimits& limits) {
  if (bases <= limits.bases) return;
  throw ApiError(400,
                 field + " has " + std::to_string(bases) + " bases; the server's limit for one request is " +
                     std::to_string(limits.bases),
                 field);
}

}  // namespace

std::string sent_sequence(const Fields& fields, const RequestLimits& limits) {
  std::string bases = checked_bases(fields, fields.required_text("sequence"), "sequence");
  check_bases(bases.size(), "sequence", limits);
  return bases;
}

std::vector<std::string> sent_sequences(const Fields& fields, const RequestLimits& limits) {
  const std::string name = "sequences";
  const nlohmann::json& list = fields.required(name);
  if (!list.is_array()) fields.fail(name, "must be a list of strings");
  if (list.size() > limits.items)
    fields.fail(name, "has " + std::to_string(list.size()) + " entries; the server's limit is " +
                          std::to_string(limits.items));
  std::vector<std::string> sequences;
  size_t sum = 0;
  for (const nlohmann::json& one : list) {
    const std::string field = name + "[" + std::to_string(sequences.size()) + "]";
    if (!one.is_string()) throw ApiError(400, field + " must be a string", field);
    sequences.push_back(checked_bases(fields, one.get_ref<const std::string&>(), field));
    sum += sequences.back().size();
  }
  check_bases(sum, name, limits);
  return sequences;
}

StrandChoice read_strand(const Fields& fields, StrandChoice otherwise) {
  return fields.choice("strand", otherwise, kStrandWords);
}

size_t read_bp(const Fields& fields, const std::string& name) {
  return static_cast<size_t>(fields.whole(name, 0, 1, 1'000'000'000));
}

Pooling read_pooling(const Fields& fields) {
  return {fields.choice("pool", Pool::separator, kRowPoolWords), fields.flag("pad_tail", false)};
}

LabelSettings read_label_settings(const Fields& fields) {
  LabelSettings settings;
  settings.activation = fields.choice("activation", settings.activation, kActivationWords);
  if (const nlohmann::json* const scale = fields.find("label_scale")) {
    if (!scale->is_object()) fields.fail("label_scale", "must be an object with the scale of each label");
    settings.scale = {std::make_shared<const nlohmann::json>(*scale), fields.full_name("label_scale")};
  }
  const nlohmann::json* const labels = fields.find("labels");
  if (!labels) return settings;
  if (!labels->is_array() || labels->empty()) fields.fail("labels", "must be a list of names");
  for (const nlohmann::json& label : *labels) {
    if (!label.is_string()) fields.fail("labels", "must be a list of names");
    settings.labels.push_back(label.get<std::string>());
  }
  return settings;
}

void check_reads(size_t bases, const RequestLimits& limits, const std::string& field) {
  if (bases <= kMostReads * limits.bases) return;
  throw ApiError(400,
                 field + " gives windows of " + std::to_string(bases) +
                     " bases in all; the server's limit for one request is " +
                     std::to_string(kMostReads * limits.bases),
                 field);
}

void append_json(double number, std::string& text) {
  if (!std::isfinite(number)) {
    text += "null";
    return;
  }
  append_shortest(number, text);
}

}  // namespace carbon
