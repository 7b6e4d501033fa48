#include "src/verbs/verb.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/verbs/fields.hpp"
#include "src/verbs/generate.hpp"
#include "src/verbs/variants.hpp"

namespace carbon {

// Each stands in the file of its name.
std::unique_ptr<Verb> make_score_verb(const VerbContext& context, const ReadSettings& read);
std::unique_ptr<Verb> make_scan_verb(const VerbContext& context, const ReadSettings& read);
std::unique_ptr<Verb> make_embed_verb(const VerbContext& context, const ReadSettings& read);
std::unique_ptr<Verb> make_predict_verb(const VerbContext& context, const ReadSettings& read);
std::unique_ptr<Verb> make_annotate_verb(const VerbContext& context, const ReadSettings& read);
using See = std::function<void(const SettingList&)>;
void describe_score(const See& see);
void describe_variants(const See& see);
void describe_scan(const See& see);
void describe_embed(const See& see);
void describe_predict(const See& see);
void describe_generate(const See& see);
void describe_annotate(const See& see);

const std::vector<VerbEntry>& verb_table() {
  static const std::vector<VerbEntry> table = {
      {"score", "Log-probabilities of the bases of sequences.", "nats (natural logarithms of probabilities)",
       ModelUse::bases, "sequences", make_score_verb, describe_score},
      {"variants",
       "Log-likelihood ratios of variants, alternative minus reference: negative means that the model finds "
       "the alternative less likely. With measure also how far states (l2) and predictions (jsd) lie apart.",
       "nats, alternative minus reference; l2 without a unit, jsd in nats", ModelUse::states, "rows",
       make_variants_verb, describe_variants},
      {"scan", "Log-probabilities of the four letters at each base.", "nats, of A, C, G and T",
       ModelUse::bases, "regions", make_scan_verb, describe_scan},
      {"embed", "Hidden states of sequences.", "hidden states, without a unit", ModelUse::states, "sequences",
       make_embed_verb, describe_embed},
      {"predict", "Values of the labels of a fine-tuned model.", "as the head of the model was trained",
       ModelUse::labels, "sequences", make_predict_verb, describe_predict},
      {"generate", "New bases after prompts.", "logp in nats; probabilities of A, C, G and T",
       ModelUse::bases, "prompts", make_generate_verb, describe_generate},
      {"annotate", "Probabilities of bases to be coding on either strand, and genes made of them.",
       "probabilities; scores in gff3 are mean probabilities", ModelUse::coding, "sequences",
       make_annotate_verb, describe_annotate},
  };
  return table;
}

const VerbEntry* find_verb(std::string_view name) {
  for (const VerbEntry& entry : verb_table())
    if (name == entry.name) return &entry;
  return nullptr;
}

std::vector<std::string> verb_names(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const VerbEntry& entry : verb_table()) {
    try {
      check_use(checkpoint, entry.use);
      names.emplace_back(entry.name);
    } catch (const Error&) {
      continue;  // this model has no use for it
    }
  }
  return names;
}

std::unique_ptr<Verb> make_verb(const VerbEntry& entry, const VerbContext& context, const Fields& fields,
                                Door door) {
  try {
    return entry.make(context, [&](const SettingList& settings) {
      std::vector<std::string> given = fields.read(settings, door);
      fields.refuse_others();
      return given;
    });
  } catch (const SettingError& error) {
    throw fields.error_of(error);
  }
}

std::string told_at(Door door, const Error& error) {
  if (error.advice().text.find("{-") == std::string::npos) return error.what();
  std::set<std::string> taken;
  for (const VerbEntry& verb : verb_table())
    verb.describe([&](const SettingList& settings) {
      for (const Setting& setting : settings)
        if (!setting.missing_at(door)) taken.insert("--" + setting.name);
    });
  const std::string words = error.advice().words([&](const std::string& option, const std::string& value) {
    if (!taken.contains(option)) return std::string();
    return field_name(option.substr(2)) + (value.empty() ? "" : "=\"" + value + '"');
  });
  return error.what() + (words.empty() ? "" : "; " + words);
}

void check_fasta(const char* function, const std::vector<std::string>& given, const std::string& fasta) {
  if (fasta.empty() && std::find(given.begin(), given.end(), "fasta-ref") != given.end())
    throw SettingError(function, "fasta-ref", "fasta-ref is empty; give the path of a FASTA file");
}

namespace {

using nlohmann::json;

// Appends values[begin..] as lists of the dimensions from `at` on; returns where the next value stands.
template <class T>
size_t append_values(const std::vector<T>& values, size_t begin, const std::vector<int64_t>& shape, size_t at,
                     std::string& text) {
  if (at == shape.size()) {
    append_json(static_cast<double>(values[begin]), text);
    return begin + 1;
  }
  const auto length = static_cast<size_t>(shape[at]);
  const auto first = values.begin() + static_cast<ptrdiff_t>(begin);
  const bool is_row = at > 0 && at + 1 == shape.size();
  if (is_row && std::all_of(first, first + shape[at], [](T value) { return std::isnan(value); })) {
    text += "null";
    return begin + length;
  }
  text += '[';
  for (size_t i = 0; i < length; ++i) {
    if (i > 0) text += ',';
    begin = append_values(values, begin, shape, at + 1, text);
  }
  text += ']';
  return begin;
}

}  // namespace

Array named_place(Array array) {
  if (array.name() == "contig") return {"chrom", std::get<std::string>(array.data())};
  if (array.name() == "begin") return {"pos", std::get<std::vector<int64_t>>(array.data()).front() + 1};
  return array;
}

void append_json(double number, std::string& text) {
  if (std::isfinite(number))
    append_shortest(number, text);
  else
    text += "null";
}

void append_json(const Array& array, std::string& text) {
  if (const auto* const letters = std::get_if<std::string>(&array.data())) {
    text += json(*letters).dump();
  } else if (const auto* const wholes = std::get_if<std::vector<int64_t>>(&array.data())) {
    append_integer(wholes->front(), text);
  } else if (const auto* const floats = std::get_if<std::vector<float>>(&array.data())) {
    append_values(*floats, 0, array.shape(), 0, text);
  } else {
    append_values(std::get<std::vector<double>>(array.data()), 0, array.shape(), 0, text);
  }
}

}  // namespace carbon
