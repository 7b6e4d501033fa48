#include "src/api/open_model.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/api/problem.hpp"
#include "src/base/threads.hpp"
#include "src/engine/ordered_writer.hpp"
#include "src/model/config.hpp"
#include "src/model/registry.hpp"
#include "src/verbs/verb.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon::api {
namespace {

// As on the command line, an empty text is not the same as none: it is a variable that nobody has set.
std::string read_text(const Fields& settings, const std::string& name, const std::string& otherwise = "") {
  if (!settings.has(name)) return otherwise;
  std::string text = settings.required_text(name);
  if (text.empty()) settings.fail(name, "is empty; leave it out for the default");
  return text;
}

MetadataChoice read_metadata(const Fields& settings) {
  MetadataChoice metadata;
  metadata.text = read_text(settings, "prefix");
  metadata.names.species = read_text(settings, "species");
  metadata.names.gene = read_text(settings, "gene_type");
  for (const char* name : {"species", "gene_type"})
    if (settings.has("prefix") && settings.has(name)) settings.fail(name, "cannot be used with prefix");
  if (settings.has("tag_grammar")) {
    metadata.names.grammar = settings.choice("tag_grammar", TagGrammar::corpus, kTagGrammarWords);
    if (!settings.has("species") && !settings.has("gene_type"))
      settings.fail("tag_grammar", "says how to write species and gene_type; give one of them");
  }
  check_metadata_names(metadata.names);
  return metadata;
}

ModelOptions read_options(const Fields& settings, Log& log) {
  return or_code(CARBON_E_SETTING, [&] {
    ModelOptions options;
    options.model = read_text(settings, "model");
    options.device = read_text(settings, "device", options.device);
    options.dtype = settings.choice("dtype", "auto", kModelDtypeWords);
    options.threads = static_cast<int>(settings.whole("threads", 0, 1, 4096));
    options.batch_tokens = static_cast<size_t>(settings.whole("batch_tokens", 0, 1, 1 << 24));
    options.lora = read_text(settings, "lora");
    if (settings.has("rope_scaling"))
      options.rope_scaling = parse_rope_scaling(settings.required_text("rope_scaling"));
    options.metadata = read_metadata(settings);
    settings.refuse_others();
    options.use = ModelUse::any;  // which verbs can be used, each call finds out
    options.log = &log;
    gpu_numbers(options.device);
    return options;
  });
}

}  // namespace

OpenModel::OpenModel(const Fields& settings, Log& log) : OpenModel(read_options(settings, log), log) {}

OpenModel::OpenModel(const ModelOptions& options, Log& log)
    : log_(log),
      models_(or_code(CARBON_E_MODEL, [&] { return LoadedModels(options); })),
      served_(or_code(CARBON_E_MODEL, [&] { return ServedModel(models_, nullptr, {}, false); })),
      engine_(models_.all(), {}, {.draft_tokens = {}, .scheduler = {.shared = true}}),
      most_bytes_(bytes_under_way(engine_)),
      thread_(start_thread([this] {
        try {
          engine_.run(queue_);
        } catch (...) {
          queue_.fail(std::current_exception());
        }
      })) {}

OpenModel::~OpenModel() {
  queue_.stop();
  queue_.close();
  thread_.join();
}

void OpenModel::check() const {
  if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
}

std::string OpenModel::describe(bool digest) const {
  using nlohmann::ordered_json;
  const LoadedModel& model = served_.model();
  const ModelConfig& config = model.config();
  const std::string& path = model.checkpoint().dir();
  ordered_json json = {{"name", served_.name()},
                       {"path", path},
                       {"family", config.layout.family->name},
                       {"dtype", model.dtype()},
                       {"device", model.device_kind()},
                       {"threads", model.threads()},
                       {"layers", config.layers},
                       {"hidden", config.hidden},
                       {"max_positions", config.max_positions},
                       {"bases_per_token", config.layout.bases()},
                       {"max_bases", config.layout.bases() * (config.max_positions - 1)},
                       {"demonstration", is_demonstration_model(path)},
                       {"verbs", verb_names(model.checkpoint())}};
  if (config.classifier) json["labels"] = config.classifier->labels;
  if (digest) {
    const std::lock_guard lock(digest_mutex_);
    json["sha256"] = model.model_sha256();
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace carbon::api
