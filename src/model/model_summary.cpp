// Counts tensors and looks for a licence. See model_summary.hpp.
#include "src/model/model_summary.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/model/checkpoint.hpp"
#include "src/model/gguf_model.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/model_files.hpp"

namespace carbon {
namespace {

namespace fs = std::filesystem;

// Insertion order, so that JSON reads like the table.
using json = nlohmann::ordered_json;

/// The first bytes of a text file; empty if it is no regular file.
std::string beginning(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return "";
  std::string text(size_t{1} << 16, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

std::string trimmed(const std::string& text) {
  constexpr const char* kSpace = " \t\r\n\"'";
  const size_t first = text.find_first_not_of(kSpace);
  return first == text.npos ? "" : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

/// The line `license:` of the block between --- at the beginning of a model card.
std::string card_licence(const fs::path& dir) {
  std::istringstream card(beginning(dir / "README.md"));
  std::string line;
  if (!std::getline(card, line) || trimmed(line) != "---") return "";
  std::string licence, name;
  while (std::getline(card, line) && trimmed(line) != "---") {
    if (line.starts_with("license:")) licence = trimmed(line.substr(8));
    if (line.starts_with("license_name:")) name = trimmed(line.substr(13));
  }
  return licence == "other" && !name.empty() ? name : licence;
}

/// The first line of a licence text.
std::string licence_file(const fs::path& dir) {
  for (const char* name : {"LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "COPYING"}) {
    std::istringstream text(beginning(dir / name));
    for (std::string line; std::getline(text, line);)
      if (!trimmed(line).empty()) return trimmed(line);
  }
  return "";
}

std::string licence_of(const std::string& path) {
  std::string licence;
  if (is_gguf_model(path)) {
    const GgufFile file(gguf_first_part(path));
    for (const char* key : {"general.license", "general.license.name"})
      if (const GgufValue* const value = file.find(key); value && licence.empty())
        licence = std::string(value->text().value_or(""));
  }
  const fs::path dir = text_tokenizer_directory(path);
  if (licence.empty()) licence = card_licence(dir);
  if (licence.empty()) licence = licence_file(dir);
  return printable(licence.substr(0, 80));
}

void count_tensors(ModelSummary& summary,
                   const std::function<const TensorInfo*(const std::string& name)>& find) {
  std::map<std::string, uint64_t> numbers;
  for (const TensorShape& tensor : architecture(summary.config)) {
    uint64_t count = 1;
    for (const uint64_t n : tensor.shape) count *= n;
    summary.parameters += count;
    if (const TensorInfo* const info = find(tensor.name); info && tensor.shape.size() == 2)
      numbers[info->dtype] += count;
  }
  for (const auto& [dtype, count] : numbers) summary.dtypes.push_back(dtype);
  std::stable_sort(summary.dtypes.begin(), summary.dtypes.end(),
                   [&](const std::string& a, const std::string& b) { return numbers[a] > numbers[b]; });
}

}  // namespace

std::vector<std::string> labels_of(const ModelConfig& config) {
  if (config.annotator) return {std::begin(AnnotatorConfig::kLabels), std::end(AnnotatorConfig::kLabels)};
  return config.classifier ? config.classifier->labels : std::vector<std::string>();
}

ModelSummary summarise_model(const std::string& path) {
  ModelSummary summary;
  if (is_gguf_model(path)) {
    const GgufModel model = open_gguf_model(path, GgufRows::as_stored);
    summary.config = model.config;
    for (const auto& file : model.files) summary.bytes += file->size();
    count_tensors(summary, [&](const std::string& name) -> const TensorInfo* {
      for (const auto& file : model.files)
        if (const auto at = file->tensors().find(name); at != file->tensors().end()) return &at->second;
      return nullptr;
    });
  } else {
    const Checkpoint checkpoint(path, std::nullopt, silent_log(), Alignment::as_stored);
    summary.config = checkpoint.config();
    summary.bytes = checkpoint.file_bytes();
    count_tensors(summary, [&](const std::string& name) { return checkpoint.find(name); });
  }
  summary.family = std::string(summary.config.layout.family->name);
  summary.licence = licence_of(path);
  return summary;
}

ModelRow look_at_model(const ListedModel& model) {
  ModelRow row{.model = model};
  if (!model.why.empty()) return row;
  try {
    row.summary = summarise_model(model.path);
  } catch (const Error& e) {
    row.model.why = e.what();
    row.advice = e.advice();
  }
  return row;
}

json to_json(const ModelRow& row) {
  json object = {{"name", row.model.name}, {"path", row.model.path}, {"place", row.model.place}};
  if (!row.summary) {
    object["error"] = row.model.why;
    return object;
  }
  const ModelSummary& s = *row.summary;
  const ModelConfig& c = s.config;
  object.update({{"family", s.family},
                 {"layers", c.layers},
                 {"hidden", c.hidden},
                 {"heads", c.heads},
                 {"kv_heads", c.kv_heads},
                 {"head_dim", c.head_dim},
                 {"intermediate", c.intermediate},
                 {"vocabulary", c.vocab},
                 {"max_positions", c.max_positions},
                 {"parameters", s.parameters},
                 {"weights", s.dtypes},
                 {"bytes", s.bytes},
                 {"licence", s.licence.empty() ? json(nullptr) : json(s.licence)},
                 {"labels", labels_of(c).empty() ? json(nullptr) : json(labels_of(c))}});
  if (!row.sha256.empty()) object["sha256"] = row.sha256;
  return object;
}

}  // namespace carbon
