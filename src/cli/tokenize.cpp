// `carbon tokenize`: JSON Lines of text to token ids, or back (docs/conventions.md, "Token conversion").
// Runs no model.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/output.hpp"
#include "src/files/text_input.hpp"
#include "src/model/model_files.hpp"
#include "src/model/registry.hpp"
#include "tokenizer/hybrid.hpp"

namespace carbon {

namespace {

using nlohmann::json;

constexpr char kFunction[] = "main_tokenize";

struct TokenizeOptions {
  std::string model, tokenizer, output = "-", input;
  bool auto_dna_tags = false, decode = false, skip_special = false;
};

HybridTokenizer make_tokenizer(const TokenizeOptions& options) {
  TokenLayout layout;
  std::shared_ptr<const Bpe> bpe;
  const std::string& files = options.tokenizer;
  if (!options.model.empty()) {
    const std::string dir = resolve_model(options.model, program_log());
    layout = load_model_config(dir).layout;
    if (files.empty() && layout.metadata() == MetadataKind::text) bpe = load_text_tokenizer(dir);
  }
  if (!files.empty()) bpe = std::make_shared<const Bpe>(Bpe::load(files));
  return {layout, std::move(bpe)};
}

json parse_line(const std::string& line, const std::string& where) {
  if (line.find_first_not_of(" \t\r") == std::string::npos)
    throw Error(kFunction, where + ": blank line; every line holds one JSON value");
  try {
    return json::parse(line);
  } catch (const json::exception& e) {
    // The library's text is "[its own name] line count (always 1) - reason; last read: what may be the whole
    // line". The reason says, for one, which surrogate is missing.
    std::string reason = e.what();
    for (const char* before : {"] ", " - "}) {
      const size_t place = reason.find(before);
      if (place != std::string::npos) reason.erase(0, place + std::string_view(before).size());
    }
    reason.resize(std::min(reason.size(), reason.find("; last read")));
    const bool bare = line.find_first_of("\"[{") == std::string::npos;
    throw Error(kFunction,
                where + ": not valid JSON: " + printable(reason) +
                    (bare ? "; every line is a JSON text in quotes, such as \"<dna>ACGT</dna>\", or "
                            "with --decode an array of ids"
                          : ""));
  }
}

std::string encode_line(const HybridTokenizer& tokenizer, const json& value, bool auto_dna_tags) {
  if (!value.is_string())
    throw Error(kFunction, "expected a JSON string of text; use --decode for arrays of ids");
  const Encoding encoding = tokenizer.encode(value.get_ref<const std::string&>(), auto_dna_tags);
  return json{{"ids", encoding.ids}, {"mask", encoding.mask}}.dump();
}

std::string decode_line(const HybridTokenizer& tokenizer, const json& value, bool skip_special) {
  if (!value.is_array()) throw Error(kFunction, "expected a JSON array of token ids, as --decode takes them");
  std::vector<uint32_t> ids;
  ids.reserve(value.size());
  for (const json& element : value) {
    if (!element.is_number_unsigned() || element.get<uint64_t>() > UINT32_MAX)
      throw Error(kFunction, "element " + std::to_string(ids.size() + 1) +
                                 " is not a token id (a whole number from 0 to " +
                                 std::to_string(UINT32_MAX) + ")");
    ids.push_back(element.get<uint32_t>());
  }
  return json(tokenizer.decode(ids, skip_special)).dump();
}

void run(const TokenizeOptions& options) {
  const HybridTokenizer tokenizer = make_tokenizer(options);
  TextInput in(options.input, kFunction);
  TextOutput out(options.output);
  for (std::string line; in.line(line);) {
    const json value = parse_line(line, in.where());
    std::string result;
    try {
      result = options.decode ? decode_line(tokenizer, value, options.skip_special)
                              : encode_line(tokenizer, value, options.auto_dna_tags);
    } catch (const Error& e) {
      throw Error(kFunction, in.where() + ": " + e.what(), e.advice());
    }
    out.write(result + '\n');
  }
  out.close();
}

}  // namespace

Run declare_tokenize(CommandLine& line) {
  const auto command = std::make_shared<TokenizeOptions>();
  TokenizeOptions& options = *command;
  line.describe("Convert text with DNA to token ids, or back: JSON Lines in, JSON Lines out",
                "carbon tokenize [options] [in.jsonl | -]",
                {{"token ids of a text", "echo '\"<dna>ACGTACGTACGT</dna>\"' | carbon tokenize"},
                 {"texts of token ids", "carbon tokenize --decode ids.jsonl"}});
  line.argument("input", options.input);
  OptionGroup group = line.options();
  group
      .option(
          {'m', "model", kModel, "use the token ids of this model, and its tokenizer files if it has any"},
          options.model)
      .shows_default("the ids of the released models");
  group
      .option({"tokenizer",
               {"PATH", Names::input},
               "BPE files for text outside DNA regions: tokenizer.json, or a directory"},
              options.tokenizer)
      .shows_default("the model's");
  group.flag("auto-dna-tags", "put <dna> before and </dna> after a text that has no <dna>",
             options.auto_dna_tags);
  group.flag("decode", "read arrays of ids, one per line, and write text", options.decode)
      .excludes("auto-dna-tags");
  group
      .flag("skip-special", "with --decode: leave out the tags and other special tokens",
            options.skip_special)
      .needs("decode");
  add_text_output_option(line, options.output);
  add_verbosity_options(line);
  return [command](const CommandLine& parsed) {
    if (command->input.empty()) command->input = default_input(parsed);
    if (command->input.empty()) return 1;
    run(*command);
    return 0;
  };
}

}  // namespace carbon
