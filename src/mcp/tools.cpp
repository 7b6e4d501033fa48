#include "src/mcp/mcp.hpp"

#include <algorithm>
#include <filesystem>

#include "src/base/json.hpp"
#include "src/base/words.hpp"
#include "src/files/output.hpp"
#include "src/model/model_summary.hpp"
#include "src/model/registry.hpp"
#include "src/scan/pieces.hpp"
#include "src/verbs/fields.hpp"

namespace carbon {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

// What an answer holds itself: a conversation is no place for more.
constexpr size_t kMostNumbers = 200, kMostLetters = 10'000, kMostResults = 1'000, kMostLines = 50,
                 kMostNotes = 3;
constexpr const char* kRegionHelp = "such as chr17:43094600-43094700";

// What the inputs of a verb are called here.
std::string inputs_of(const VerbEntry& verb) {
  const std::string name = verb.name;
  return name == "variants" ? "variants" : name == "scan" ? "sequences" : verb.inputs;
}

// A result in a line: what is a list or in a file is not shown.
std::string line_of(const ordered_json& result) {
  std::string line;
  for (const auto& [name, value] : result.items()) {
    line += (line.empty() ? "" : ", ") + name + " ";
    if (value.is_array()) line += "(a list of " + std::to_string(value.size()) + ")";
    if (value.is_object()) line += "in the file";
    if (!value.is_structured()) line += value.is_string() ? value.get<std::string>() : value.dump();
  }
  return line;
}

ordered_json as_result(std::string text, ordered_json content) {
  return {{"content", {{{"type", "text"}, {"text", std::move(text)}}}},
          {"structuredContent", std::move(content)},
          {"isError", false}};
}

ordered_json as_error(const std::string& text) {
  return {{"content", {{{"type", "text"}, {"text", text}}}}, {"isError", true}};
}

Result placed(Result result) {
  for (Array& array : result) array = named_place(std::move(array));
  return result;
}

// What an answer holds of the results of a call. If that is not everything, all of them go into a file.
class ResultList {
 public:
  explicit ResultList(std::function<std::string()> new_file) : new_file_(std::move(new_file)) {}

  void add(const Result& result) {
    ordered_json one = ordered_json::object();
    text_ += text_.empty() && !file_ ? "[{" : ",\n{";
    for (const Array& array : result) {
      const std::string name(array.name());
      std::string value;
      append_json(array, value);
      text_ += (text_.back() == '{' ? "\"" : ",\"") + name + "\":" + value;
      if (has_room(array)) {
        one[name] = ordered_json::parse(value);
      } else {
        one[name] = {{"shape", array.shape()}};
      }
    }
    text_ += '}';
    if (held_.size() < kMostResults) held_.push_back(std::move(one));
    whole_ = ++results_ <= kMostResults && whole_;
    if (!whole_) write();
  }
  size_t size() const { return results_; }
  /// Adds them to the answer. Returns the path of the file, "" if there is none.
  std::string finish(ordered_json& content) {
    content["results"] = std::move(held_);
    if (!file_) return "";
    text_ = "]\n";
    write();
    file_->close();
    content["file"] = path_;
    return path_;
  }

 private:
  bool has_room(const Array& array) {
    size_t count = array.shape().empty() ? 0 : 1;
    for (const int64_t length : array.shape()) count *= static_cast<size_t>(length);
    const bool is_text = std::holds_alternative<std::string>(array.data());
    size_t& room = is_text ? letters_ : numbers_;
    const bool fits = count <= room;
    room -= fits ? count : 0;
    whole_ = whole_ && fits;
    return fits;
  }
  void write() {
    if (!file_) file_.emplace(path_ = new_file_());
    file_->write(text_);
    text_.clear();
  }

  const std::function<std::string()> new_file_;
  ordered_json held_ = ordered_json::array();
  size_t numbers_ = kMostNumbers, letters_ = kMostLetters, results_ = 0;
  bool whole_ = true;
  std::string text_, path_;  // not written yet; of the file
  std::optional<TextOutput> file_;
};

}  // namespace

McpTools::McpTools(const ModelOptions& options, const std::string& fasta, const std::string& root, Log& log)
    : log_(log), model_(std::make_shared<api::OpenModel>(options, log)) {
  if (!fasta.empty()) reference_ = std::make_unique<SharedReference>(IndexedFasta(fasta, log_));
  if (root.empty()) return;
  std::error_code problem;
  root_ = std::filesystem::canonical(root, problem).string();
  if (problem || !std::filesystem::is_directory(root_))
    throw Error("mcp", "--root " + root + " is not a folder; name one whose files tools may read and write");
}

ordered_json McpTools::schema_of(const VerbEntry& verb) const {
  const std::string name = verb.name, inputs = inputs_of(verb);
  if (name == "variants")
    return request_schema(verb, Door::mcp, {{inputs, list_schema(variant_schema(), "")}}, {inputs});
  ordered_json properties = {{inputs, list_schema(text_schema("bases"), "")}};
  if (name == "scan" && reference_)
    properties["regions"] = list_schema(text_schema(kRegionHelp), "in the place of sequences");
  if (!root_.empty()) properties["fasta_file"] = text_schema("FASTA file below --root that has the inputs");
  return request_schema(verb, Door::mcp, std::move(properties));
}

ordered_json McpTools::list() const {
  ordered_json tools = ordered_json::array();
  const auto add = [&](const char* name, const std::string& about, ordered_json schema, bool only_reads) {
    tools.push_back({{"name", name},
                     {"description", about},
                     {"inputSchema", std::move(schema)},
                     {"annotations", {{"readOnlyHint", only_reads}, {"openWorldHint", false}}}});
  };
  for (const VerbEntry& verb : verb_table())
    if (has(verb.name))
      add(verb.name, std::string(verb.about) + " Unit: " + verb.units + ".", schema_of(verb), root_.empty());
  add("models", "The models that this machine has.", closed_schema(ordered_json::object()), true);
  if (reference_)
    add("reference", "The bases of a region of the reference.",
        closed_schema({{"region", text_schema(kRegionHelp)}}, {"region"}), root_.empty());
  return tools;
}

bool McpTools::has(const std::string& name) const {
  if (name == "models" || name == "reference") return name == "models" || reference_;
  const std::vector<std::string> names = verb_names(model_->served().model().checkpoint());
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The file that a path names, wherever symbolic links lead.
std::string McpTools::readable(const std::string& path) const {
  if (root_.empty()) throw Error("mcp", "no file may be read: start carbon mcp with --root DIR");
  std::error_code problem;
  const std::filesystem::path full = std::filesystem::canonical(std::filesystem::path(root_) / path, problem);
  const std::filesystem::path below = full.lexically_relative(root_);
  if (problem || path.find('\0') != std::string::npos || below.empty() || *below.begin() == ".." ||
      !std::filesystem::is_regular_file(full))
    throw Error("mcp",
                "there is no file " + printable(path) + " below " + root_ + ", where files may be read");
  return full.string();
}

std::vector<std::string> McpTools::read_inputs(const std::string& field, const Fields& arguments) const {
  std::vector<std::string> inputs;
  if (field != "variants" && arguments.has("fasta_file")) {
    if (arguments.has(field)) arguments.fail("fasta_file", "cannot be used with " + field);
    FastaReader reader(readable(arguments.required_text("fasta_file")), log_);
    for (FastaRecord record; reader.next(record);) inputs.push_back(record.sequence);
    return inputs;
  }
  if (field == "prompts" && !arguments.has(field)) return {""};
  const json& list = arguments.required(field);
  for (const json& one : list.is_array() ? list : json::array({nullptr})) {
    if (!one.is_string() && !(field == "variants" && one.is_object()))
      arguments.fail(field, "must be a list of texts");
    inputs.push_back(one.is_string() ? one.get<std::string>() : one.dump());
  }
  return inputs;
}

// Nothing that is there is replaced.
std::string McpTools::new_file(const std::string& tool) {
  if (root_.empty())
    throw Error("mcp",
                "the results are more than an answer holds: ask for fewer, or start "
                "carbon mcp with --root DIR, and they go into a file there");
  for (;;) {
    const std::string path = root_ + "/carbon-" + tool + "-" + std::to_string(++files_) + ".json";
    if (!std::filesystem::exists(std::filesystem::symlink_status(path))) return path;
  }
}

ordered_json McpTools::of_verb(const VerbEntry& verb, const Fields& arguments, ToolRun& run) {
  const std::string name = verb.name;
  const bool regions = name == "scan" && reference_ && arguments.has("regions");
  const std::vector<std::string> inputs = read_inputs(regions ? "regions" : inputs_of(verb), arguments);
  const bool on_reference = regions || (name == "variants" && !arguments.has("sequence"));
  std::string notes;
  size_t noted = 0;
  api::NamedVerb named(verb, *model_, arguments, Door::mcp, on_reference ? reference_.get() : nullptr,
                       [&](const std::string& note) {
                         if (++noted <= kMostNotes) notes += note + "\n";
                       });
  const json about = json::parse(model_->describe(true));
  ordered_json content = {{"model", {{"name", about["name"]}, {"sha256", about["sha256"]}}},
                          {"units", verb.units}};
  if (const auto labels = named.verb->labels(); !labels.empty()) content["labels"] = labels;
  ResultList results([&] { return new_file(name); });
  named.inputs = regions ? "regions" : inputs_of(verb);
  api::Call call(model_, std::move(named));
  call.compute(inputs, run.cancelled, run.progress,
               [&](const Result& result) { results.add(regions ? placed(result) : result); });
  const std::string file = results.finish(content);
  std::string text = "model " + model_->served().name() + ", SHA-256 " + about["sha256"].get<std::string>() +
                     "; " + verb.units + "\n" + notes;
  if (noted > kMostNotes) text += std::to_string(noted - kMostNotes) + " more notes are left out\n";
  if (about["demonstration"] == true) {
    content["warning"] = "this model is for demonstration: its numbers say nothing about biology";
    text += content["warning"].get<std::string>() + "\n";
  }
  if (!file.empty()) text += "all results are in " + file + "\n";
  const auto lines = static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const size_t shown = std::min(content["results"].size(), kMostLines - std::min(lines + 1, kMostLines));
  for (size_t i = 0; i < shown; ++i) text += std::to_string(i) + ": " + line_of(content["results"][i]) + "\n";
  if (shown < results.size())
    text += std::to_string(results.size() - shown) + " more results are in " +
            (file.empty() ? "structuredContent" : "the file") + "\n";
  return as_result(std::move(text), std::move(content));
}

ordered_json McpTools::of_region(const Fields& arguments) {
  ScanSelection selection;
  selection.regions = arguments.required_text("region");
  arguments.refuse_others();
  if (selection.regions.empty()) arguments.fail("region", "is empty; expected a region such as chr1:100-200");
  ordered_json content;
  reference_->read([&](const IndexedFasta& fasta) {
    const std::vector<ScanPiece> pieces = selected_pieces(fasta, selection);
    if (pieces.size() != 1) arguments.fail("region", "has several regions; ask for one after the other");
    const ScanPiece& piece = pieces.front();
    if (piece.end - piece.begin > static_cast<int64_t>(kMostLetters))
      arguments.fail("region",
                     "has more than " + std::to_string(kMostLetters) + " bases; ask for a shorter one");
    content = {{"chrom", piece.contig},
               {"pos", piece.begin + 1},
               {"bases", fasta.fetch(piece.contig, piece.begin, piece.end)}};
  });
  return as_result(line_of(content) + "\n", content);
}

ordered_json McpTools::call(const std::string& name, const json& arguments, ToolRun& run) {
  try {
    const Fields fields(arguments, "");
    if (name == "reference") return of_region(fields);
    if (name != "models") return of_verb(*find_verb(name), fields, run);
    fields.refuse_others();
    ordered_json models = ordered_json::array();
    for (const ListedModel& model : list_models()) models.push_back(to_json(look_at_model(model)));
    return as_result(count_of(models.size(), "model") + "\n", {{"models", models}});
  } catch (const api::Problem& problem) {
    if (run.cancelled) throw;
    return as_error(problem.what());
  } catch (const Error& error) {
    return as_error(told_at(Door::mcp, error));
  }
}

}  // namespace carbon
