// VCF or BCF on its way through carbon vep, without the model: the reader, also of genotypes, the planner
// with all three recipes, and the writer, of a type that the length of the input chooses. An output that was
// written must read back, with as many records; and alleles as libcarbon gives them, with what they stand
// for.
#include <cmath>
#include <iterator>

#include "src/vep/output.hpp"
#include "src/vep/planner.hpp"
#include "src/vep/structural.hpp"
#include "src/verbs/variant_input.hpp"
#include "test/fuzz/harness.hpp"

namespace carbon::fuzz {
namespace {

struct Genome {
  Folder folder;
  std::string path = folder.put("in.fa", kFasta);
};

// A model of 64 tokens, as far as the planner knows it.
ModelConfig model_config() {
  ModelConfig config;
  config.max_positions = 64;
  config.vocab = 4099;
  config.layout = {0, 4099, &kCarbonFamily};
  return config;
}

VepOptions vep_options(const std::string& fasta) {
  VepOptions options;
  options.fasta = fasta;
  options.scores.recipes = recipe_names();
  options.scores.window = 24;
  options.scores.context = 24;
  options.scores.horizons = {6, 12};
  options.max_ref_mismatch = 1;
  return options;
}

uint64_t count_of(const std::string& path) {
  VcfReader reader(path);
  uint64_t count = 0;
  for (VcfRecord record; reader.next(record);) ++count;
  return count;
}

// What libcarbon gives of a file is read by the verb: what is not refused has the alleles of the file.
void read_back(const std::string& path) {
  VcfReader reader(path);
  for (VcfRecord record; reader.next(record);) {
    std::vector<std::string> alts;
    for (const std::string& alt : record.alts()) alts.push_back(to_upper(alt));
    for (size_t i = 0; i < alts.size(); ++i) {
      const std::string text = variant_text(reader, record, i);
      const auto wanted = structural_alleles(
          record.pos(), alts, [&](const std::string& tag) { return reader.info(record, tag); })[i];
      std::optional<StructuralAllele> read;
      if (!attempt(
              [&] { read = read_variant("row", text, false, [](const auto&) {}).variant.structural[0]; }))
        continue;
      require(read.has_value() == wanted.has_value(), "an allele that reads back as another");
      require(!read || (read->kind == wanted->kind && read->length == wanted->length &&
                        read->inserted == wanted->inserted),
              "an allele that reads back otherwise");
    }
  }
}

// Writes the records with scores. Returns their number.
uint64_t annotate(const VepOptions& options, const SitePlanner& sites, const VcfWriterOptions& writing) {
  VepPlanner planner(options, sites);
  VcfReader reader(options.input);
  const auto output = make_site_output(reader, writing);
  NeighbourCount neighbours(reader);
  const RecordInput input{
      [&](VcfRecord& record) {
        if (!reader.next(record)) return false;
        neighbours.add(record);
        return true;
      },
      [&](const VcfRecord& record, const std::string& tag) { return reader.info(record, tag); },
      reader.contigs(), reader.contig_lengths()};
  uint64_t count = 0;
  planner.run(input, nullptr, [&](PlannedRecord planned) {
    const size_t alts = planned.record.alts().size();
    SiteScores scores;
    scores.values.assign(sites.tag_count(), std::vector<float>(alts, -0.25F));
    for (size_t i = 0; i < alts; ++i) {
      scores.flags.emplace_back(flag_name(planned.site.flag(i)));
      if (!scores.flags.back().empty())
        for (std::vector<float>& values : scores.values) values[i] = NAN;
    }
    output->write(planned.record, scores);
    ++count;
  });
  output->file().close();
  return count;
}

}  // namespace

void run(std::string_view input, const Folder& folder) {
  static const Genome genome;
  VepOptions options = vep_options(genome.path);
  const SitePlanner sites(make_recipes(options.scores, model_config()), model_config().layout, nullptr);
  options.input = folder.put("in.vcf", input);
  VcfWriterOptions writing;
  writing.tags = score_tags(sites.recipes(), options.tag_prefix);
  writing.tags.push_back({"CARBON_FLAG", "A", "String", "Why there is no score"});
  constexpr char kTypes[] = {'v', 'b', 'z', 't'};
  writing.type = kTypes[input.size() % std::size(kTypes)];
  writing.path = folder.file("out");
  attempt([&] { read_back(options.input); });
  uint64_t count = 0;
  if (!attempt([&] { count = annotate(options, sites, writing); }) || writing.type == 't') return;
  bool same = false;
  const bool read = attempt([&] { same = count_of(writing.path) == count; });
  require(read && same, "an output that does not read back");
}

}  // namespace carbon::fuzz
