// The table of the functions of carbon_api, and those that concern the run: its inputs, messages, progress
// and outputs. Each function passes the call on to the run or to a library function, and turns exceptions
// into error codes; host_files.cpp and host_engine.cpp have the others.

#include "src/plugin/host.hpp"

#include <cstring>

#include "src/formats/provenance.hpp"
#include "version.h"

namespace carbon {
namespace {

int api_fail(carbon_run* handle, const char* reason) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return run.fail(reason); }, int{CARBON_ERROR});
}

int api_unmet(carbon_run* handle, const char* text) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.unmet.emplace_back(text);
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

void api_message(carbon_run* handle, int level, const char* text) {
  PluginRun& run = PluginRun::of(handle);
  run.guarded(
      [&] {
        const std::string& name = run.options().name;
        Log& log = *run.options().log;
        level <= CARBON_WARNING ? log.warning(name, text) : log.info(name, text);
        return 0;
      },
      0);
}

const char* api_property(carbon_run* handle, int which) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        switch (which) {
          case CARBON_VERSION_TEXT:
            run.property = CARBON_VERSION;
            break;
          case CARBON_COMMAND_LINE:
            run.property = run.options().command_line;
            break;
          case CARBON_MODEL_ID:
            run.property = run.engine().model().checkpoint().id();
            break;
          case CARBON_MODEL_SHA256:
            run.property = run.engine().model().model_sha256();
            break;
          case CARBON_MODEL_DTYPE:
            run.property = run.engine().model().dtype();
            break;
          case CARBON_DEVICE_KIND:
            run.property = run.engine().model().device_kind();
            break;
          case CARBON_MODEL_POSITIONS:
            run.property = std::to_string(run.engine().config().max_positions);
            break;
          case CARBON_BASES_PER_TOKEN:
            run.property = std::to_string(run.engine().config().layout.bases());
            break;
          default:
            throw Error("plugin", "there is no property " + std::to_string(which));
        }
        return run.property.c_str();
      },
      static_cast<const char*>(nullptr));
}

const char* api_version_line(carbon_run* handle, size_t index) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&]() -> const char* {
        if (!run.options().version_lines) return nullptr;
        const std::vector<std::string> lines = version_lines("plugin", run.options().command_line);
        if (index >= lines.size()) return nullptr;
        run.property = lines[index];
        return run.property.c_str();
      },
      static_cast<const char*>(nullptr));
}

void api_progress(carbon_run* handle, uint64_t done, const char* unit, const char* where) {
  PluginRun& run = PluginRun::of(handle);
  run.guarded(
      [&] {
        run.show_progress(done, unit, where);
        run.flush_outputs_for_reader();
        return 0;
      },
      0);
}

const char* api_input(carbon_run* run, size_t index) {
  const std::vector<std::string>& inputs = PluginRun::of(run).options().inputs;
  return index < inputs.size() ? inputs[index].c_str() : nullptr;
}

carbon_output* api_output_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return run.open_output(path); }, static_cast<carbon_output*>(nullptr));
}

int api_output_write(carbon_run* run, carbon_output* output, const char* bytes, size_t count) {
  return PluginRun::of(run).guarded(
      [&] {
        output->text ? output->text->write({bytes, count}) : output->vcf->write({bytes, count});
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

size_t api_format_float(float value, char* text) {
  text[0] = '\0';
  try {
    std::string digits;
    append_vcf_float(value, digits);
    std::memcpy(text, digits.c_str(), digits.size() + 1);
    return digits.size();
  } catch (...) {
    return 0;  // out of memory; this function has no run to report it to
  }
}

}  // namespace

const carbon_api& plugin_api() {
  static constexpr carbon_api api = {
      sizeof(carbon_api),
      api_fail,
      api_message,
      api_property,
      api_progress,
      api_input,
      api_output_open,
      api_output_write,
      api_format_float,
      api_record_contig,
      api_record_pos,
      api_record_id,
      api_record_allele_count,
      api_record_allele,
      api_record_info,
      api_info_type,
      api_info_declare,
      api_info_set,
      api_text_open,
      api_text_line,
      api_text_where,
      api_sequences_open,
      api_sequences_next,
      api_fasta_open,
      api_fasta_contig,
      api_fasta_length,
      api_fasta_fetch,
      api_fasta_regions,
      api_score,
      api_score_ends,
      api_recipes_open,
      api_recipes_tag,
      api_recipes_text,
      api_score_variants,
      api_generate,
      api_header_line,
      api_records_open,
      api_records_next,
      api_records_info_type,
      api_record_filter,
      api_unmet,
      api_record_genotypes,
      api_record_write,
      api_regions_read,
      api_version_line,
  };
  return api;
}

}  // namespace carbon
