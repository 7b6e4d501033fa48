// src/plugin/: the program's side of plugins, which are found, probed, loaded (loader) and run: the inputs
// of a run come in, and what the plugin asks for is computed and written.
//
// Here is one run of one plugin, by plugins/carbon_plugin.h; host_api.cpp, host_files.cpp and
// host_engine.cpp have the functions that it may call.
//
// loader.hpp finds, probes and loads a plugin. Here inputs go into its run, and outputs and what the plugin
// has found unmet come out; host_api.cpp, host_files.cpp and host_engine.cpp have the functions that it may
// call.
//
// The run owns the input, the outputs, the model and every handle that the plugin is given, and turns
// exceptions into the error codes of the C interface and back. It has no code for a particular plugin.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "plugins/carbon_plugin.h"
#include "src/base/error.hpp"
#include "src/base/log.hpp"
#include "src/base/long_run.hpp"
#include "src/base/progress.hpp"
#include "src/base/threads.hpp"
#include "src/engine/engine.hpp"
#include "src/files/output.hpp"
#include "src/files/text_input.hpp"
#include "src/formats/fasta.hpp"
#include "src/formats/sequence_inputs.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/site_planner.hpp"

// The opaque handles of the C interface.
struct carbon_record {
  const carbon::VcfReader* reader = nullptr;  // which has read it
  carbon::VcfRecord record;
  bool written = false;  // by record_write()
};
struct carbon_records {
  carbon_records(const std::string& path, const carbon::VcfReaderOptions& selection, carbon::Log& log)
      : reader(path, selection, log) {}
  carbon::VcfReader reader;
  carbon_record current{&reader, {}, false};
};
struct carbon_output {
  explicit carbon_output(const std::string& path) { text.emplace(path); }
  /// Of a plugin that writes VCF as text; `shown` is what messages call that text.
  carbon_output(const std::string& shown, const carbon::VcfWriterOptions& options) {
    vcf.emplace(shown, options);
  }
  // Exactly one of the two.
  std::optional<carbon::TextOutput> text;
  std::optional<carbon::VcfTextWriter> vcf;
};
struct carbon_text {
  explicit carbon_text(const std::string& path) : input(path, "read_text") {}
  carbon::TextInput input;
  std::string line, where;
};
struct carbon_sequences {
  carbon_sequences(const std::string& path, carbon::Log& log) : reader(path, log) {}
  carbon::FastaReader reader;
  carbon::FastaRecord record;
};
struct carbon_indexed_fasta {
  carbon_indexed_fasta(const std::string& path, carbon::Log& log) : fasta(path, log) {}
  carbon::IndexedFasta fasta;
  std::vector<carbon::Region> regions;
  std::vector<carbon_region> region_views;
};
struct carbon_recipes {
  carbon_recipes(const std::string& settings, const carbon::ModelConfig& config)
      : planner(carbon::make_recipes(carbon::read_recipe_settings([&](const carbon::SettingList& list) {
                                       return carbon::read_settings(settings, list);
                                     }),
                                     config),
                config.layout, nullptr),
        tags(carbon::score_tags(planner.recipes(), "CARBON")),
        settings(carbon::tag_settings(planner.recipes())) {}
  carbon::SitePlanner planner;
  std::vector<carbon::InfoTag> tags;
  std::vector<std::string> settings;  // of each tag
};

namespace carbon {

/// What record_genotypes() hands out.
struct GenotypesView {
  /// Takes the names of the samples, unless they are those of this reader.
  void read_from(const VcfReader& reader);

  const VcfReader* reader = nullptr;
  std::vector<std::string> names;
  Genotypes genotypes;
  std::vector<const char*> name_views, set_views;
};

/// Those of -O.
inline constexpr const char* kPluginOutputTypes = "u|b[0-9]|v|z[0-9]";

struct PluginRunOptions {
  std::string name;
  std::vector<std::string> inputs;     // for a plugin that reads records, the first is its VCF
  std::vector<std::string> arguments;  // options of the plugin
  std::string output = "-";
  std::string output_type;     // of records: "" or one of kPluginOutputTypes
  VcfReaderOptions selection;  // which records
  bool version_lines = true;
  std::string command_line;
  ModelOptions model;
  ProgressMode progress = ProgressMode::automatic;
  Log* log = &silent_log();
  StopRequests* stop = nullptr;  // may end the run early; nobody asks if null
};

/// Runs the plugin from init to destroy. Throws Error, also if the plugin fails; a named output file is then
/// not left behind. Returns what the plugin has found unmet: the outputs are complete, but the exit status is
/// to be 1 if there is anything.
std::vector<std::string> run_plugin(const carbon_plugin& plugin, const PluginRunOptions& options);

/// The plugin's description of its options.
std::string plugin_usage(const carbon_plugin& plugin, const std::string& name);

/// The run behind the handle carbon_run that the plugin is given.
class PluginRun : public carbon_run {
 public:
  PluginRun(const carbon_plugin& plugin, const PluginRunOptions& options);
  ~PluginRun();
  void run();

  static PluginRun& of(carbon_run* run) { return *static_cast<PluginRun*>(run); }

  /// Returns f(), which the plugin calls. If f throws, keeps the exception for check() and returns
  /// `otherwise`.
  template <class F, class T>
  T guarded(F f, T otherwise) noexcept {
    const OwnEnvironment own;
    try {
      return f();
    } catch (...) {
      failure_ = std::current_exception();
      return otherwise;
    }
  }
  /// Keeps `reason` as the run's failure; returns CARBON_ERROR.
  int fail(const std::string& reason);

  const carbon_plugin& plugin() const { return plugin_; }
  const PluginRunOptions& options() const { return options_; }
  /// The engine; the model is loaded by the first call. Throws Error if the plugin does not declare that it
  /// uses the model.
  Engine& engine();
  /// Throws Error if the plugin does not declare that it reads records.
  const VcfReader& reader() const;

  void show_progress(uint64_t done, const char* unit, const char* where);
  /// Passes what the plugin has written so far on to a pipe or a terminal.
  void flush_outputs_for_reader();
  carbon_output* open_output(const char* path);
  void declare_tag(const InfoTag& tag);
  void set_tag(carbon_record& record, const std::string& tag, const std::vector<float>& values);
  /// Writes the record at hand, or one that `process` has kept for later.
  void write_record(carbon_record& record);
  /// Writes a line of VCF; in init one of the header.
  void write_line(const std::string& line);

  std::vector<std::string> unmet;  // found by the plugin

  std::deque<carbon_records> records;
  std::deque<carbon_text> texts;
  std::deque<carbon_sequences> sequences;
  std::deque<carbon_indexed_fasta> fastas;
  std::vector<WrittenRegion> regions;  // of the last file of regions
  std::vector<carbon_named_region> region_views;
  std::deque<carbon_recipes> recipes;
  /// What the last record_info(), property(), header_line() and record_filter() returned. The plugin may read
  /// it until the next call.
  InfoValues info;
  std::vector<const char*> info_texts;
  std::string property, header_line, filter;
  GenotypesView genotypes;

 private:
  void check(int status);
  void process_records(void* state);
  void take_verdict(int verdict);
  void check_all_written() const;
  std::unique_ptr<carbon_record> new_record();
  VcfWriterOptions record_options() const;
  void open_writer();
  void close_outputs();
  void watch_for_stop();

  const carbon_plugin& plugin_;
  const PluginRunOptions& options_;
  std::exception_ptr failure_;
  std::unique_ptr<LoadedModels> models_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Progress> progress_;
  // What show_progress() was told last, for an early end, which another thread asks for.
  std::atomic<uint64_t> done_ = 0;
  std::string unit_;  // does not change after the first call
  std::unique_ptr<VcfReader> reader_;
  std::unique_ptr<VcfWriter> writer_;
  std::vector<InfoTag> tags_;
  std::vector<std::string> header_lines_;
  bool takes_lines_ = false;
  uint64_t lines_ = 0;  // of records that the plugin has written as text
  VcfRecord line_;      // the last of them
  std::unique_ptr<carbon_record> at_hand_;
  /// Records that the plugin writes later, by their handles, and some that are no longer in use.
  std::unordered_map<const carbon_record*, std::unique_ptr<carbon_record>> later_;
  std::vector<std::unique_ptr<carbon_record>> spare_;
  std::deque<carbon_output> outputs_;
  bool main_output_open_ = false;
};

/// The table of functions, one for all runs.
const carbon_api& plugin_api();

// The functions of that table which host_api.cpp takes from other files. plugins/carbon_plugin.h documents
// them.

// host_files.cpp: records of variants, text and FASTA
const char* api_record_contig(carbon_run*, const carbon_record* record);
int64_t api_record_pos(carbon_run*, const carbon_record* record);
const char* api_record_id(carbon_run* handle, const carbon_record* record);
size_t api_record_allele_count(carbon_run*, const carbon_record* record);
const char* api_record_allele(carbon_run*, const carbon_record* record, size_t index);
int api_record_info(carbon_run* handle, const carbon_record* record, const char* tag, carbon_values* values);
int api_info_type(carbon_run* handle, const char* tag);
int api_header_line(carbon_run* handle, const char* key, size_t index, const char** line);
const char* api_record_filter(carbon_run* handle, const carbon_record* record);
int api_record_genotypes(carbon_run* handle, const carbon_record* record, carbon_genotypes* genotypes);
int api_record_write(carbon_run* handle, carbon_record* record, const char* line);
carbon_records* api_records_open(carbon_run* handle, const char* path);
int api_records_next(carbon_run* run, carbon_records* records, const carbon_record** record);
int api_records_info_type(carbon_run* run, carbon_records* records, const char* tag);
int api_info_declare(carbon_run* handle, const char* tag, const char* description);
int api_info_set(carbon_run* handle, carbon_record* record, const char* tag, const double* values,
                 size_t count);
carbon_text* api_text_open(carbon_run* handle, const char* path);
int api_text_line(carbon_run* run, carbon_text* text, const char** line, size_t* length);
const char* api_text_where(carbon_run* run, carbon_text* text);
carbon_sequences* api_sequences_open(carbon_run* handle, const char* path);
int api_sequences_next(carbon_run* run, carbon_sequences* sequences, const char** name, const char** bases,
                       size_t* length);
carbon_indexed_fasta* api_fasta_open(carbon_run* handle, const char* path);
const char* api_fasta_contig(carbon_run*, carbon_indexed_fasta* fasta, size_t index);
int64_t api_fasta_length(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig);
int api_fasta_fetch(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig, int64_t begin,
                    int64_t end, char* bases);
int api_fasta_regions(carbon_run* run, carbon_indexed_fasta* fasta, const char* text, int is_file,
                      const carbon_region** regions, size_t* count);
int api_regions_read(carbon_run* handle, const char* path, const char* features, const char* names,
                     const carbon_named_region** regions, size_t* count);

// host_engine.cpp: what the model is asked
int api_score(carbon_run* handle, const char* settings, carbon_score_item* items, size_t count);
int api_score_ends(carbon_run* handle, const char* settings, carbon_score_item* items, const size_t* from,
                   size_t count);
carbon_recipes* api_recipes_open(carbon_run* handle, const char* settings);
const char* api_recipes_tag(carbon_run*, const carbon_recipes* recipes, size_t index,
                            const char** description);
const char* api_recipes_text(carbon_run*, const carbon_recipes* recipes, size_t index);
int api_score_variants(carbon_run* handle, const carbon_recipes* recipes, carbon_indexed_fasta* fasta,
                       carbon_variant* variants, size_t count);
int api_generate(carbon_run* handle, const char* settings, size_t new_bases, carbon_generate_item* items,
                 size_t count);

}  // namespace carbon
