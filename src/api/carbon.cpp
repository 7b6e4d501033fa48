// The functions of carbon.h.
#include "include/carbon/carbon.h"

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "src/api/handles.hpp"
#include "src/base/json.hpp"
#include "src/model/model_summary.hpp"
#include "src/verbs/fields.hpp"
#include "version.h"

using namespace carbon;
using namespace carbon::api;

namespace {

uintptr_t number_of(const void* handle) {
  return reinterpret_cast<uintptr_t>(handle);
}

template <class T>
T* handle_of(uintptr_t number) {
  return reinterpret_cast<T*>(number);
}

void require(const void* pointer, const char* what) {
  if (!pointer) throw Problem(CARBON_E_ARGUMENT, std::string(what) + " is a null pointer");
}

Fields read_object(const char* text, const char* name) {
  nlohmann::json object = or_code(CARBON_E_SETTING, [&] { return parse_json(text ? text : "{}", name); });
  // The system would read the name of a file only up to there.
  for (const auto& [key, value] : object.items())
    if (value.is_string() && value.get_ref<const std::string&>().find('\0') != std::string::npos)
      throw Problem(CARBON_E_SETTING,
                    std::string(name) + "." + printable(key) + " has a character of the code 0");
  return or_code(CARBON_E_SETTING, [&] { return Fields(std::move(object), name); });
}

// A copy that carbon_free() frees.
char* copy_of(const std::string& text) {
  char* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace

extern "C" {

int carbon_api_version(void) {
  return CARBON_API_VERSION;
}

const char* carbon_version(void) {
  return CARBON_VERSION;
}

const char* carbon_error_text(void) {
  return error_text();
}

void carbon_free(void* text) {
  std::free(text);
}

int carbon_model_open(const char* settings, carbon_model** model) {
  return guarded([&] {
    require(model, "where the model goes");
    *model = nullptr;
    Handles& handles = Handles::here();
    *model = handle_of<carbon_model>(
        handles.add(std::make_shared<OpenModel>(read_object(settings, "settings"), handles.log())));
    return CARBON_OK;
  });
}

int carbon_model_describe(carbon_model* model, int digest, char** json) {
  return guarded([&] {
    require(json, "where the description goes");
    *json = nullptr;
    const std::shared_ptr<OpenModel> open = Handles::here().model(number_of(model));
    *json = copy_of(or_code(CARBON_E_MODEL, [&] { return open->describe(digest != 0); }));
    return CARBON_OK;
  });
}

int carbon_model_close(carbon_model* model) {
  return guarded([&] {
    Handles::here().close_model(number_of(model));
    return CARBON_OK;
  });
}

int carbon_call_new(carbon_model* model, const char* verb, const char* options, carbon_call** call) {
  return guarded([&] {
    require(call, "where the call goes");
    *call = nullptr;
    Handles& handles = Handles::here();
    const std::shared_ptr<OpenModel> open = handles.model(number_of(model));
    require(verb, "the verb");
    const Fields fields = read_object(options, "options");
    *call = handle_of<carbon_call>(
        handles.add(number_of(model), std::make_shared<Call>(open, NamedVerb(verb, *open, fields))));
    return CARBON_OK;
  });
}

int carbon_call_add(carbon_call* call, const char* text, int64_t length) {
  return guarded([&] {
    const std::shared_ptr<Call> open = Handles::here().call(number_of(call));
    if (length < 0) throw Problem(CARBON_E_ARGUMENT, "the length of the input is negative");
    if (length > 0) require(text, "the input");
    return open->add({text, static_cast<size_t>(length)});
  });
}

int carbon_call_end(carbon_call* call) {
  return guarded([&] {
    Handles::here().call(number_of(call))->end();
    return CARBON_OK;
  });
}

int carbon_call_next(carbon_call* call, int timeout_ms) {
  return guarded([&] {
    const std::shared_ptr<Call> open = Handles::here().call(number_of(call));
    if (timeout_ms < 0) throw Problem(CARBON_E_ARGUMENT, "the time to wait is negative");
    return open->next(std::chrono::milliseconds(timeout_ms));
  });
}

int carbon_call_array(carbon_call* call, const char* name, const void** data, int* type, int* dimensions,
                      const int64_t** shape, const int64_t** strides) {
  return guarded([&] {
    const std::shared_ptr<Call> open = Handles::here().call(number_of(call));
    require(name, "the name of the array");
    require(data, "where the data goes");
    const Array& array = open->array(name);
    *data = std::visit([](const auto& all) -> const void* { return all.data(); }, array.data());
    constexpr int kTypes[] = {CARBON_F64, CARBON_F32, CARBON_I64, CARBON_U8};
    if (type) *type = kTypes[array.data().index()];
    if (dimensions) *dimensions = static_cast<int>(array.shape().size());
    if (shape) *shape = array.shape().data();
    if (strides) *strides = array.strides().data();
    return CARBON_OK;
  });
}

int carbon_call_cancel(carbon_call* call) {
  return guarded([&] {
    Handles::here().call(number_of(call))->stop(Problem(CARBON_E_CANCELLED, "the call was cancelled"));
    return CARBON_OK;
  });
}

int carbon_call_free(carbon_call* call) {
  return guarded([&] {
    Handles::here().free_call(number_of(call));
    return CARBON_OK;
  });
}

int carbon_call_progress(carbon_call* call, int64_t* done, int64_t* planned) {
  return guarded([&] {
    const std::shared_ptr<Call> open = Handles::here().call(number_of(call));
    require(done, "where the number of what is done goes");
    require(planned, "where the number of what is planned goes");
    const Call::Progress progress = open->progress();
    *done = static_cast<int64_t>(progress.done);
    *planned = static_cast<int64_t>(progress.planned);
    return CARBON_OK;
  });
}

int carbon_models(char** json) {
  return guarded([&] {
    require(json, "where the list goes");
    *json = nullptr;
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    for (const ListedModel& model : list_models()) list.push_back(to_json(look_at_model(model)));
    *json = copy_of(list.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
    return CARBON_OK;
  });
}

int carbon_verbs(char** json) {
  return guarded([&] {
    require(json, "where the list goes");
    *json = nullptr;
    using nlohmann::ordered_json;
    ordered_json list = ordered_json::array();
    for (const VerbEntry& verb : verb_table())
      list.push_back({{"name", verb.name},
                      {"about", verb.about},
                      {"inputs", verb.inputs},
                      {"options", request_schema(verb, Door::library, ordered_json::object())}});
    *json = copy_of(list.dump());
    return CARBON_OK;
  });
}

int carbon_fasta_open(const char* path, carbon_fasta** fasta) {
  return guarded([&] {
    require(fasta, "where the FASTA file goes");
    *fasta = nullptr;
    require(path, "the path");
    Handles& handles = Handles::here();
    *fasta = handle_of<carbon_fasta>(handles.add(or_code(
        CARBON_E_INPUT, [&] { return std::make_shared<FastaFile>(std::string(path), handles.log()); })));
    return CARBON_OK;
  });
}

int carbon_fasta_next(carbon_fasta* fasta, const char** name, const char** bases, int64_t* length) {
  return guarded([&] {
    const std::shared_ptr<FastaFile> open = Handles::here().fasta(number_of(fasta));
    require(name, "where the name goes");
    require(bases, "where the bases go");
    require(length, "where the number of bases goes");
    const FastaRecord* const record = or_code(CARBON_E_INPUT, [&] { return open->next(); });
    if (!record) return static_cast<int>(CARBON_E_END);
    *name = record->name.c_str();
    *bases = record->sequence.c_str();
    *length = static_cast<int64_t>(record->sequence.size());
    return static_cast<int>(CARBON_OK);
  });
}

int carbon_fasta_close(carbon_fasta* fasta) {
  return guarded([&] {
    Handles::here().close_fasta(number_of(fasta));
    return CARBON_OK;
  });
}

int carbon_vcf_open(const char* path, carbon_vcf** vcf) {
  return guarded([&] {
    require(vcf, "where the VCF file goes");
    *vcf = nullptr;
    require(path, "the path");
    Handles& handles = Handles::here();
    *vcf = handle_of<carbon_vcf>(handles.add(or_code(
        CARBON_E_INPUT, [&] { return std::make_shared<VcfFile>(std::string(path), handles.log()); })));
    return CARBON_OK;
  });
}

int carbon_vcf_next(carbon_vcf* vcf, const char** variant) {
  return guarded([&] {
    const std::shared_ptr<VcfFile> open = Handles::here().vcf(number_of(vcf));
    require(variant, "where the variant goes");
    *variant = or_code(CARBON_E_INPUT, [&] { return open->next(); });
    return static_cast<int>(*variant ? CARBON_OK : CARBON_E_END);
  });
}

int carbon_vcf_close(carbon_vcf* vcf) {
  return guarded([&] {
    Handles::here().close_vcf(number_of(vcf));
    return CARBON_OK;
  });
}

int carbon_log_next(char** json) {
  return guarded([&] {
    require(json, "where the message goes");
    *json = nullptr;
    const std::optional<std::string> message = Handles::here().log().take();
    if (!message) return static_cast<int>(CARBON_E_AGAIN);
    *json = copy_of(*message);
    return static_cast<int>(CARBON_OK);
  });
}

}  // extern "C"
