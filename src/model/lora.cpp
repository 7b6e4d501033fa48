// Reads adapter_config.json and the names in adapter_model.safetensors. See lora.hpp; lora_merge.cpp has the
// sums.
#include "src/model/lora.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <locale>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/files.hpp"
#include "src/base/json.hpp"
#include "src/base/letters.hpp"
#include "src/base/numbers.hpp"
#include "src/model/digest.hpp"
#include "src/model/llama_tensors.hpp"

namespace carbon {

namespace {

using json = nlohmann::ordered_json;  // of several keys of alpha_pattern the first one counts

constexpr size_t kMaxConfigBytes = size_t{1} << 18;
constexpr size_t kMaxPatterns = 4096;
constexpr std::string_view kPrefix = "base_model.model.";
constexpr uint64_t kMaxRank = 1 << 16;
constexpr size_t kLongestPattern = 300;

[[noreturn]] void fail(const std::string& what) {
  throw Error("load_adapter", what);
}

/// Whether a module has the name that a key of alpha_pattern means, which PEFT takes for a regular
/// expression: the whole name, or its end after a dot.
using ModulePattern = std::function<bool(const std::string& module)>;

/// Most keys are names: letters, digits, _ and dots. A dot stands for any character, as in an expression. The
/// name may begin with ^, and is then that of one module.
bool is_name(std::string_view key) {
  if (key.starts_with('^')) key.remove_prefix(1);
  return !key.empty() && std::all_of(key.begin(), key.end(),
                                     [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.'; });
}

bool has_name(std::string_view module, std::string_view name) {
  const bool whole = name.starts_with('^');
  if (whole) name.remove_prefix(1);
  if (module.size() < name.size() || (whole && module.size() != name.size())) return false;
  const size_t at = module.size() - name.size();
  if (at > 0 && module[at - 1] != '.') return false;
  return std::equal(name.begin(), name.end(), module.begin() + static_cast<ptrdiff_t>(at),
                    [](char wanted, char c) { return wanted == '.' || wanted == c; });
}

/// Goes through an expression and returns whether it consists of parts that mean the same in Python and in
/// ECMAScript, whose grammar std::regex has.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  bool reads_all() {
    while (good_ && at_ < text_.size()) part();
    return good_;
  }

 private:
  bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    const bool taken = next_is(c);
    at_ += taken;
    return taken;
  }

  void part() {
    const char c = text_[at_++];
    if (c == '\\') return escape();
    if (c == '[') return brackets();
    if (c == '(' && take('?')) {
      good_ = take(':');
    } else if (c == '*' || c == '+' || c == '?') {
      end_repetition();
    } else if (c == '{') {
      repetition();
    } else {
      good_ = c > ' ' && c < 0x7f && c != ']' && c != '}';
    }
  }

  // Behind a backslash a letter or digit means something, and not always the same.
  void escape() {
    const char c = at_ < text_.size() ? text_[at_++] : 'Z';
    good_ = std::string_view("dDwWsS").find(c) != std::string_view::npos ||
            (c > ' ' && c < 0x7f && !is_letter_or_digit(c) && c != '_');
  }

  void brackets() {
    take('^');
    if (next_is(']')) good_ = false;  // a letter of the set in Python
    while (good_ && !take(']')) {
      if (at_ == text_.size() || next_is('[')) {
        good_ = false;
      } else if (take('\\')) {
        escape();
      } else {
        ++at_;
      }
    }
  }

  bool number() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    return at_ > begin && at_ - begin <= 3;
  }
  void repetition() {
    good_ = number();
    if (good_ && take(',') && !next_is('}')) good_ = number();
    good_ = good_ && take('}');
    if (good_) end_repetition();
  }
  // One more would make it possessive in Python.
  void end_repetition() {
    take('?');
    good_ = !next_is('*') && !next_is('+') && !next_is('?') && !next_is('{');
  }

  std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
};

/// What `key` means. Throws Error, which begins with `where`, for an expression that Python and C++ could
/// read differently, for one that is wrong, and for one of more than 300 characters.
ModulePattern module_pattern(const std::string& where, const std::string& key) {
  if (is_name(key)) return [key](const std::string& module) { return has_name(module, key); };
  const auto refuse = [where, key](const std::string& what) {
    fail(where + ": alpha_pattern has the key '" + printable(key) + "', a regular expression " + what +
         "; write the names of the modules");
  };
  if (key.size() > kLongestPattern) refuse("of more than " + std::to_string(kLongestPattern) + " characters");
  if (!PatternReader(key).reads_all()) refuse("with parts that are not supported here");
    // Whatever the expression is, the time for a name is bounded: GNU's library is told to search in a time
    // that grows with its length only, and LLVM's gives up by itself after steps as the square of its length.
#ifdef __GLIBCXX__
  constexpr auto kGrammar = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
  constexpr auto kGrammar = std::regex_constants::ECMAScript;
#endif
  std::regex expression;
  expression.imbue(std::locale::classic());
  try {
    expression.assign("(?:.*\\.)?(?:" + key + ")", kGrammar);
  } catch (const std::regex_error&) {
    refuse("that is wrong or too long");
  }
  return [expression, refuse](const std::string& module) {
    try {
      return std::regex_match(module, expression);
    } catch (const std::regex_error&) {
      refuse("that takes too long to compare with " + printable(module));
      return false;
    }
  };
}

/// Scales of adapter_config.json.
struct Settings {
  double alpha = 0;
  bool rank_stabilised = false;  // alpha / sqrt(r) instead of alpha / r
  std::optional<uint64_t> rank;  // if it is the same for all modules
  std::vector<std::pair<ModulePattern, double>> module_alpha;
};

bool is_neutral(const json& value) {
  return value.is_null() || value == false || ((value.is_object() || value.is_array()) && value.empty());
}

double positive(const std::string& where, const std::string& key, const json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() <= 0)
    fail(where + ": " + key + " " + printable(value.dump()) + ": must be a positive number");
  return value.get<double>();
}

/// Keys that say how the adapter was trained, where it came from, or which modules it has. Its tensors say
/// the last, too.
const std::set<std::string>& keys_without_effect() {
  static const std::set<std::string> keys = {"auto_mapping",
                                             "base_model_name_or_path",
                                             "corda_config",
                                             "ensure_weight_tying",
                                             "eva_config",
                                             "exclude_modules",
                                             "inference_mode",
                                             "layers_pattern",
                                             "layers_to_transform",
                                             "lora_dropout",
                                             "megatron_config",
                                             "megatron_core",
                                             "modules_to_save",
                                             "peft_version",
                                             "qalora_group_size",
                                             "revision",
                                             "runtime_config",
                                             "target_modules",
                                             "task_type"};
  return keys;
}

/// Initialisations that change the base weights when an adapter is made, as PiSSA and OLoRA do, have adapters
/// that belong to the changed weights.
void check_initialisation(const std::string& where, const json& value) {
  static const std::set<std::string> harmless = {"gaussian", "eva", "orthogonal"};
  if (value.is_null() || value.is_boolean() ||
      (value.is_string() && harmless.contains(value.get<std::string>())))
    return;
  fail(where + ": init_lora_weights " + printable(value.dump()) +
       ": the adapter belongs to weights that its initialisation has changed; convert it to an ordinary "
       "LoRA adapter with PEFT (path_initial_model_for_weight_conversion)");
}

std::vector<std::pair<ModulePattern, double>> read_module_alpha(const std::string& where,
                                                                const json& object) {
  if (!object.is_object()) fail(where + ": alpha_pattern is not a JSON object");
  if (object.size() > kMaxPatterns)
    fail(where + ": alpha_pattern has more than " + std::to_string(kMaxPatterns) + " keys");
  std::vector<std::pair<ModulePattern, double>> scales;
  for (const auto& [name, value] : object.items())
    scales.emplace_back(module_pattern(where, name), positive(where, "alpha_pattern", value));
  return scales;
}

Settings read_settings(const std::string& path) {
  const json object = read_ordered_json_file(path, kMaxConfigBytes);
  if (!object.is_object()) fail(path + ": is not a JSON object");
  const auto given = [&](const char* key) { return object.contains(key) && !object[key].is_null(); };
  if (!given("peft_type") || object["peft_type"] != "LORA")
    fail(path + ": peft_type must be LORA; other kinds of adapters are not supported");
  Settings settings;
  for (const auto& [key, value] : object.items()) {
    if (key == "peft_type" || keys_without_effect().contains(key)) continue;
    if (key == "lora_alpha") {
      settings.alpha = positive(path, key, value);
    } else if (key == "r") {
      if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 || value.get<uint64_t>() > kMaxRank)
        fail(path + ": r " + printable(value.dump()) + ": must be an integer from 1 to " +
             std::to_string(kMaxRank));
      settings.rank = value.get<uint64_t>();
    } else if (key == "use_rslora") {
      if (!value.is_boolean()) fail(path + ": use_rslora must be true or false");
      settings.rank_stabilised = value.get<bool>();
    } else if (key == "bias") {
      if (value != "none") fail(path + ": bias " + printable(value.dump()) + ": biases are not supported");
    } else if (key == "init_lora_weights") {
      check_initialisation(path, value);
    } else if (key == "alpha_pattern" && !value.is_null()) {
      settings.module_alpha = read_module_alpha(path, value);
    } else if (key != "rank_pattern" && !is_neutral(value)) {
      fail(path + ": " + printable(key) + " " + printable(value.dump()) +
           ": not supported; merge the adapter into the model with PEFT and use the merged model");
    }
  }
  if (settings.alpha == 0) fail(path + ": lora_alpha is missing");
  if (!settings.rank) fail(path + ": r is missing");
  // With rank_pattern the ranks differ, and the tensors have them.
  if (given("rank_pattern") && !is_neutral(object["rank_pattern"])) settings.rank.reset();
  return settings;
}

/// Of several keys that mean the module, PEFT takes the first.
double alpha_of(const Settings& settings, const std::string& module) {
  for (const auto& [matches, alpha] : settings.module_alpha)
    if (matches(module)) return alpha;
  return settings.alpha;
}

/// The parts of "base_model.model.MODULE.KIND": the module as PEFT knows it, and which of its tensors this
/// is.
struct AdapterName {
  std::string module;
  enum { a, b, embedding_a, embedding_b, copy, whole } kind = whole;
};

AdapterName parse_name(const std::string& where, const std::string& stored) {
  const std::string name = without_wrappers(stored);
  if (!name.starts_with(kPrefix))
    fail(where + ": tensor '" + printable(stored) + "' does not begin with " + std::string(kPrefix) +
         "; save the adapter with PEFT's save_pretrained");
  const std::string_view rest = std::string_view(name).substr(kPrefix.size());
  static constexpr std::pair<std::string_view, decltype(AdapterName::kind)> kEnds[] = {
      {".lora_A.weight", AdapterName::a},
      {".lora_B.weight", AdapterName::b},
      {".lora_embedding_A", AdapterName::embedding_a},
      {".lora_embedding_B", AdapterName::embedding_b},
      {".base_layer.weight", AdapterName::copy},
      {".weight", AdapterName::whole}};
  for (const auto& [end, kind] : kEnds)
    if (rest.ends_with(end)) return {std::string(rest.substr(0, rest.size() - end.size())), kind};
  fail(where + ": tensor '" + printable(stored) + "' is not part of a plain LoRA adapter");
}

size_t rank_of(const TensorInfo& a) {
  return a.shape.empty() ? 0 : a.shape[0];
}

std::map<std::string, LoraChange> read_changes(const Settings& settings, const SafetensorsFile& file) {
  std::map<std::string, LoraChange> changes;
  std::map<std::string, std::string> modules;
  for (const auto& [name, info] : file.tensors()) {
    const AdapterName parts = parse_name(file.path(), name);
    // An adapter of a model that AutoModel has loaded knows its modules without `model.`.
    const std::string tensor = standard_name(parts.module + ".weight");
    LoraChange& change = changes[tensor];
    const auto [module, is_new] = modules.emplace(tensor, parts.module);
    if (module->second != parts.module)
      fail(file.path() + ": has tensors for " + printable(module->second) + " and for " +
           printable(parts.module) + ", which are one module; keep one");
    const bool embedding = parts.kind == AdapterName::embedding_a || parts.kind == AdapterName::embedding_b;
    if (embedding) change.transposed = true;
    std::string& place = parts.kind == AdapterName::whole  ? change.whole
                         : parts.kind == AdapterName::copy ? change.copy
                         : parts.kind == AdapterName::a || parts.kind == AdapterName::embedding_a ? change.a
                                                                                                  : change.b;
    if (!place.empty())
      fail(file.path() + ": tensors '" + printable(place) + "' and '" + printable(name) +
           "' are the same one; keep one");
    place = name;
  }
  if (changes.empty()) fail(file.path() + ": has no tensors");
  for (auto& [tensor, change] : changes) {
    const std::string where = file.path() + ": " + printable(modules[tensor]);
    if (!change.whole.empty()) {
      if (!change.a.empty() || !change.b.empty())
        fail(where + " has both a weight and a LoRA pair; merge the adapter with PEFT");
      continue;
    }
    if (change.a.empty() && change.b.empty()) continue;  // a copy alone
    if (change.a.empty() || change.b.empty())
      fail(where + " has only one of the two tensors of a LoRA pair; incomplete download?");
    const size_t rank = rank_of(file.tensors().at(change.a));
    if (rank == 0 || rank > kMaxRank || (settings.rank && rank != *settings.rank))
      fail(where + ": tensor " + printable(change.a) + " has rank " + std::to_string(rank) +
           ", which is not the r of adapter_config.json");
    const double divisor = settings.rank_stabilised ? std::sqrt(static_cast<double>(rank)) : double(rank);
    change.scale = alpha_of(settings, modules[tensor]) / divisor;
  }
  return changes;
}

}  // namespace

LoraAdapter::LoraAdapter(const std::string& dir)
    : dir_(dir), tensors_([&] {
        const std::string config = dir + "/adapter_config.json", file = dir + "/adapter_model.safetensors";
        if (!path_exists(config))
          fail(dir + ": there is no adapter_config.json, so this is not a PEFT adapter");
        if (!path_exists(file))
          fail(dir + ": there is no adapter_model.safetensors" +
               (path_exists(dir + "/adapter_model.bin") ? "; save the adapter again, as safetensors"
                                                        : "; incomplete download?"));
        return file;
      }()) {
  changes_ = read_changes(read_settings(dir + "/adapter_config.json"), tensors_);
}

std::string LoraAdapter::id() const {
  std::filesystem::path path = std::filesystem::absolute(dir_).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

const TensorInfo* LoraAdapter::whole(const std::string& tensor) const {
  const auto change = changes_.find(tensor);
  if (change == changes_.end() || change->second.whole.empty()) return nullptr;
  return &tensors_.tensors().at(change->second.whole);
}

std::string LoraAdapter::digest_lines(const TensorFile& merged) const {
  std::string lines;
  for (const auto& [tensor, change] : changes_) {
    if (!merged.tensors().contains(tensor)) continue;
    for (const std::string& name : {change.a, change.b, change.whole}) {
      if (name.empty()) continue;
      const TensorInfo& info = tensors_.tensors().at(name);
      lines += "adapter " + name + " " + info.dtype + " " + shape_text(info.shape) + " " +
               sha256_hex_of_mapping(tensors_.data() + info.begin, info.end - info.begin) + "\n";
    }
    if (!change.whole.empty()) continue;
    lines += "adapter " + tensor + " " + exact_text(change.scale) + "\n";
  }
  return lines;
}

}  // namespace carbon
