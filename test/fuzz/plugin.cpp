// The options of the shipped plugins and the files that they name. An input has lines, the name of a plugin
// and its options, then three files: text, FASTA and VCF.
//
// Whatever path an option names, the plugin gets the file of that kind from the input, and its outputs stay
// in the folder of the target. The model is never loaded: the run ends where a plugin first needs it.
#include <algorithm>
#include <map>

#include "src/cli/commands.hpp"
#include "src/plugin/host.hpp"
#include "src/plugin/loader.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

// A file of the input that runs, which lies beside the output of the run.
std::string file_of(carbon_run* run, const char* name) {
  const std::string& output = PluginRun::of(run).options().output;
  return output.substr(0, output.rfind('/') + 1) + name;
}

carbon_text* open_text(carbon_run* run, const char* /*path*/) {
  return plugin_api().text_open(run, file_of(run, "in.txt").c_str());
}
carbon_sequences* open_sequences(carbon_run* run, const char* /*path*/) {
  return plugin_api().sequences_open(run, file_of(run, "in.fa").c_str());
}
carbon_indexed_fasta* open_fasta(carbon_run* run, const char* /*path*/) {
  return plugin_api().fasta_open(run, file_of(run, "in.fa").c_str());
}
carbon_records* open_records(carbon_run* run, const char* /*path*/) {
  return plugin_api().records_open(run, file_of(run, "in.vcf").c_str());
}
int read_regions(carbon_run* run, carbon_indexed_fasta* fasta, const char* text, int is_file,
                 const carbon_region** regions, size_t* count) {
  const std::string file = file_of(run, "in.bed");
  return plugin_api().fasta_regions(run, fasta, is_file != 0 ? file.c_str() : text, is_file, regions, count);
}
int read_region_file(carbon_run* run, const char* path, const char* features, const char* names,
                     const carbon_named_region** regions, size_t* count) {
  const bool bed = std::string_view(path).ends_with(".bed");
  const std::string file = file_of(run, bed ? "in.bed" : "in.txt");
  return plugin_api().regions_read(run, file.c_str(), features, names, regions, count);
}
carbon_output* open_output(carbon_run* run, const char* path) {
  return plugin_api().output_open(run, path ? file_of(run, "out.more").c_str() : nullptr);
}

carbon_api api_of_target() {
  carbon_api api = plugin_api();
  api.text_open = open_text;
  api.sequences_open = open_sequences;
  api.fasta_open = open_fasta;
  api.records_open = open_records;
  api.fasta_regions = read_regions;
  api.regions_read = read_region_file;
  api.output_open = open_output;
  return api;
}

// A plugin of the build by its name, loaded once; null for any other text.
const carbon_plugin* plugin_of(const std::string& name) {
  static const std::map<std::string, const carbon_plugin*> plugins = [] {
    std::map<std::string, const carbon_plugin*> loaded;
    for (const PluginFile& file : plugins_in(plugin_directories().front()))
      loaded.emplace(file.name, &load_plugin(file));
    require(!loaded.empty(), "the plugins of the build are missing");
    return loaded;
  }();
  const auto found = plugins.find(name);
  return found == plugins.end() ? nullptr : found->second;
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  static const carbon_api api = api_of_target();
  const auto files = split_files(input, 4);
  std::vector<std::string> words = split_lines(files[0]);
  const carbon_plugin* const plugin = words.empty() ? nullptr : plugin_of(words[0]);
  if (!plugin) return;
  folder.put("in.txt", files[1]);
  folder.put("in.bed", files[1]);
  folder.put("in.fa", files[2]);
  folder.put("in.vcf", files[3]);

  PluginRunOptions options;
  options.name = words[0];
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());  // an argument ends at its NUL
  PluginOptions theirs(*plugin, options.name);
  if (!theirs.read(static_cast<int>(argv.size()), argv.data())) return;
  options.arguments = theirs.words;
  options.inputs = {folder.file(plugin->uses & CARBON_READS_RECORDS ? "in.vcf" : "in.fa")};
  options.output = folder.file("out");
  options.model.model = folder.file("no-model");
  PluginRun run(*plugin, options);
  static_cast<carbon_run&>(run).api = &api;
  run.run();
}

}  // namespace carbon::fuzz
