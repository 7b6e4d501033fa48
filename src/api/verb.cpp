#include "src/api/verb.hpp"

#include "src/api/problem.hpp"
#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/lists.hpp"
#include "src/model/model_use.hpp"
#include "src/serve/prompts.hpp"

namespace carbon::api {
namespace {

struct VerbEntry {
  const char* name;
  ModelUse use;
  MakeVerb make;
};

constexpr VerbEntry kVerbs[] = {
    {"score", ModelUse::bases, make_score_verb},
    // What variants need, their recipe says.
    {"variants", ModelUse::states, make_variants_verb},
    {"scan", ModelUse::bases, make_scan_verb},
    {"embed", ModelUse::states, make_embed_verb},
    {"predict", ModelUse::labels, make_predict_verb},
    {"generate", ModelUse::bases, make_generate_verb},
};

bool can(const Checkpoint& checkpoint, ModelUse use) {
  try {
    check_use(checkpoint, use);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::unique_ptr<Verb> make_verb(const std::string& name, const ServedModel& served, const Fields& options,
                                Log& log) {
  for (const VerbEntry& entry : kVerbs) {
    if (name != entry.name) continue;
    or_code(CARBON_E_MODEL, [&] { check_use(served.model().checkpoint(), entry.use); });
    return or_code(CARBON_E_SETTING, [&] {
      std::unique_ptr<Verb> verb = entry.make(served, options, log);
      options.refuse_others();
      if (const std::string& note = options.noted(); !note.empty()) log.warning("carbon", note);
      return verb;
    });
  }
  std::vector<std::string> names;
  for (const VerbEntry& entry : kVerbs) names.emplace_back(entry.name);
  throw Problem(CARBON_E_ARGUMENT, "'" + printable(name) + "' is not a verb; it must be " + or_list(names));
}

std::vector<std::string> verb_names(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const VerbEntry& entry : kVerbs)
    if (can(checkpoint, entry.use)) names.emplace_back(entry.name);
  return names;
}

std::string input_name(const char* inputs, size_t index) {
  return inputs + ("[" + std::to_string(index) + "]");
}

std::string input_bases(const std::string& name, std::string_view text, Log& log) {
  const Fields noting(nlohmann::json::object(), "");
  std::string bases = checked_bases(noting, text, name);
  if (const std::string& note = noting.noted(); !note.empty()) log.info("carbon", note);
  return bases;
}

}  // namespace carbon::api
