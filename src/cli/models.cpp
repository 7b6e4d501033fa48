// `carbon models`: what models are there, where, and why a folder is not one. Reads no weights unless digests
// are asked for.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/numbers.hpp"
#include "src/base/system.hpp"
#include "src/base/words.hpp"
#include "src/cli/commands.hpp"
#include "src/cli/options.hpp"
#include "src/cli/stderr_log.hpp"
#include "src/files/output.hpp"
#include "src/model/checkpoint.hpp"
#include "src/model/model_summary.hpp"
#include "src/model/registry.hpp"
#include "src/model/vocabulary_files.hpp"

namespace carbon {
namespace {

struct ModelsOptions {
  std::vector<std::string> models;
  bool digest = false, as_json = false;
  int threads = 0;
  std::string skeleton;  // directory of a model that lacks dna_config.json; "": none
};

/// The models that were named, or all that are found.
std::vector<ListedModel> chosen_models(const std::vector<std::string>& names) {
  if (names.empty()) return list_models();
  std::vector<ListedModel> list;
  for (const std::string& name : names) {
    try {
      list.push_back({name, resolve_model(name), "named", ""});
    } catch (const Error& e) {
      list.push_back({name, name, "named", e.what()});
    }
  }
  return list;
}

ModelRow look_at(const ListedModel& model, const ModelsOptions& options) {
  ModelRow row = look_at_model(model);
  try {
    if (row.summary && options.digest)
      row.sha256 = Checkpoint(model.path, std::nullopt, silent_log(), Alignment::as_stored)
                       .sha256(options.threads > 0 ? options.threads : available_cpus());
  } catch (const Error& e) {
    row.model.why = e.what();
    row.advice = e.advice();
    row.summary.reset();
  }
  const std::string advice = row.advice.for_commands();
  if (!advice.empty()) row.model.why += "; " + advice;
  return row;
}

/// 511894528 as "512M"; three digits are enough to tell models apart.
std::string short_count(uint64_t count, uint64_t step, const std::vector<const char*>& units) {
  double value = static_cast<double>(count);
  size_t unit = 0;
  while (value >= static_cast<double>(step) * 0.9995 && unit + 1 < units.size()) {
    value /= static_cast<double>(step);
    ++unit;
  }
  return fixed_text(value, value < 9.995 && unit > 0 ? 2 : value < 99.95 && unit > 0 ? 1 : 0) + units[unit];
}

void print_table(const std::vector<std::vector<std::string>>& table) {
  std::vector<size_t> widths;
  for (const auto& row : table) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : table) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
    }
    std::printf("%s\n", line.c_str());
  }
}

/// The labels of a classification head; "-" for a model without one.
std::string labels_text(const ModelSummary& summary) {
  const std::vector<std::string> labels = labels_of(summary.config);
  return labels.empty() ? "-" : printable(joined(labels, ","));
}

void print_text(const std::vector<ModelRow>& rows, bool digest) {
  std::vector<std::vector<std::string>> table{
      {"NAME", "FAMILY", "LAYERS", "HIDDEN", "PARAMETERS", "WEIGHTS", "SIZE", "LICENCE", "PLACE", "PATH"}};
  const bool labels = std::any_of(rows.begin(), rows.end(), [](const ModelRow& row) {
    return row.summary && !labels_of(row.summary->config).empty();
  });
  if (labels) table.front().insert(table.front().end() - 1, "LABELS");
  if (digest) table.front().insert(table.front().end() - 1, "SHA256");
  for (const ModelRow& row : rows) {
    if (!row.summary) continue;
    const ModelSummary& s = *row.summary;
    table.push_back({printable(row.model.name), s.family, std::to_string(s.config.layers),
                     std::to_string(s.config.hidden),
                     short_count(s.parameters, 1000, {"", "K", "M", "G", "T"}), joined(s.dtypes, "+"),
                     short_count(s.bytes, 1024, {" B", " KiB", " MiB", " GiB", " TiB"}),
                     s.licence.empty() ? "-" : s.licence, row.model.place, printable(row.model.path)});
    if (labels) table.back().insert(table.back().end() - 1, labels_text(s));
    if (digest) table.back().insert(table.back().end() - 1, row.sha256);
  }
  if (table.size() > 1) print_table(table);
  bool first = true;
  for (const ModelRow& row : rows) {
    if (row.summary) continue;
    if (first) std::printf("%sNot models:\n", table.size() > 1 ? "\n" : "");
    first = false;
    // Most reasons begin with the path.
    const bool named = row.model.why.starts_with(row.model.path) || row.model.why.starts_with("model '");
    std::printf("%s  %s%s\n", printable(row.model.name).c_str(),
                named ? "" : (printable(row.model.path) + ": ").c_str(), row.model.why.c_str());
  }
}

void print_json(const std::vector<ModelRow>& rows) {
  using json = nlohmann::ordered_json;
  json list = json::array();
  for (const ModelRow& row : rows) list.push_back(to_json(row));
  // A path may hold bytes that are not UTF-8, which JSON cannot.
  std::printf("%s\n", list.dump(2, ' ', false, json::error_handler_t::replace).c_str());
}

/// Writes a dna_config.json for a model, of which only its makers know the vocabulary.
int write_skeleton(const std::string& dir) {
  const std::string path = dir + "/dna_config.json";
  const DnaConfigSkeleton skeleton = dna_config_skeleton(dir);
  TextOutput file(path);
  file.write(skeleton.text);
  file.close();
  program_log().message("models", "wrote " + path + "; " + skeleton.what_to_do);
  return 0;
}

int run(const ModelsOptions& options) {
  if (!options.skeleton.empty()) {
    if (!options.models.empty())
      throw Error("models", "--skeleton names the model by itself; leave out the others");
    return write_skeleton(options.skeleton);
  }
  std::vector<ModelRow> rows;
  for (const ListedModel& model : chosen_models(options.models)) rows.push_back(look_at(model, options));
  options.as_json ? print_json(rows) : print_text(rows, options.digest);
  if (rows.empty() && !options.as_json)
    program_log().warning(
        "models",
        "no models found; carbon does not download models, so fetch one first (for example with hf download)",
        {"choose a model with {-m} DIR, or set CARBON_MODEL"});
  // Of what was asked for by name, all must be models.
  const bool failed = !options.models.empty() &&
                      std::any_of(rows.begin(), rows.end(), [](const ModelRow& row) { return !row.summary; });
  if (failed) throw Error("models", "not all that were named are models; the reasons are in the output");
  return 0;
}

}  // namespace

Run declare_models(CommandLine& line) {
  const auto options = std::make_shared<ModelsOptions>();
  line.describe(
      "List the models that are found, with their shape, size and licence, and why a folder is not a model",
      "carbon models [options] [name|dir|file.gguf]...",
      {{"all models that are found", "carbon models"},
       {"one model as JSON, with the digest that outputs name",
        "carbon models --json --digest carbon-tiny"}});
  OptionGroup group = line.options();
  group.flag("digest", "also compute the SHA-256 of each model; reads all its weights once", options->digest);
  group.flag("json", "write JSON instead of a table", options->as_json);
  group.option({'@', "threads", "INT", "number of threads for --digest"}, options->threads)
      .range(1, 4096)
      .shows_default("the CPUs that this process may use");
  group
      .option({"skeleton", kDirectory,
               "write a dna_config.json to fill in into this directory of a model that lacks one"},
              options->skeleton)
      .excludes("digest")
      .excludes("json");
  line.arguments("models", options->models);
  add_verbosity_options(line);
  return [options](const CommandLine&) { return run(*options); };
}

}  // namespace carbon
