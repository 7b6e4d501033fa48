#include "src/cli/draft_options.hpp"

#include "src/base/error.hpp"

namespace carbon {

void add_draft_options(CLI::App& app, DraftChoice& draft, const std::string& what) {
  const std::string group = "Speculative decoding";
  CLI::Option* const model =
      app.add_option("--draft", draft.model,
                     "faster model that proposes 6-mers; changes the speed, never " + what)
          ->type_name("DIR|FILE|NAME")
          ->group(group);
  app.add_option("--draft-tokens", draft.tokens, "number of 6-mers proposed at a time, or auto (default)")
      ->type_name("INT|auto")
      ->needs(model)
      ->group(group);
}

std::optional<size_t> draft_tokens(const DraftChoice& draft) {
  const std::string& text = draft.tokens;
  if (text == "auto") return std::nullopt;
  const bool digits =
      !text.empty() && text.size() <= 3 && text.find_first_not_of("0123456789") == std::string::npos;
  const size_t k = digits ? std::stoul(text) : 0;
  if (k < 1 || k > 64)
    throw Error("main_draft", "--draft-tokens " + text + ": expected auto or a number from 1 to 64");
  return k;
}

std::optional<LoadedModels> load_draft(const DraftChoice& draft, ModelOptions model) {
  if (draft.model.empty()) return std::nullopt;
  model.model = draft.model;
  // These speak of the model. A short draft just ends early.
  model.rope_scaling.reset();
  model.lora.clear();
  model.metadata = {};
  return std::make_optional<LoadedModels>(model);
}

}  // namespace carbon
