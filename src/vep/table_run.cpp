#include "src/vep/table_run.hpp"

#include <algorithm>

#include "src/base/progress.hpp"
#include "src/formats/table_output.hpp"
#include "src/vep/header.hpp"
#include "src/vep/neighbours.hpp"
#include "src/vep/output.hpp"
#include "src/vep/planner.hpp"
#include "src/vep/score_tables.hpp"

namespace carbon {
namespace {

RecordSource records_of(VcfReader& vcf, const VepOptions& options) {
  RecordSource next = [&vcf](VcfRecord& record) { return vcf.next(record); };
  if (!options.shard) return next;
  check_share_input(options.input);
  VcfReader all(options.input, options.selection, *options.log);
  const uint64_t count = count_records([&](VcfRecord& record) { return all.next(record); });
  return records_in(std::move(next), share_of(*options.shard, count));
}

}  // namespace

void run_vep_tables(const VepOptions& options, ScoreTables& tables) {
  VcfReader vcf(options.input, options.selection, *options.log);
  const RecordSource next = records_of(vcf, options);
  const ScoredTags scored = scored_tags(options.tag_prefix, tables);
  const EarlierScores earlier = earlier_scores(scored, options.tag_prefix, vcf);
  const VcfWriterOptions writing = writer_options(options, scored, earlier);
  if (output_type(writing) != 't') say_earlier(earlier, options.tag_prefix, *options.log);
  const auto output = make_site_output(vcf, writing, options.header);
  const bool keeps_flags = earlier.flag && !earlier.kept.empty();

  Progress progress(*options.log, options.progress, "vep", "records");
  VepCounts counts;
  NeighbourCount neighbours(vcf);
  for (VcfRecord record; next(record);) {
    neighbours.add(record);
    SiteScores scores;
    std::vector<AlleleFlag> flags(record.alts().size(), AlleleFlag::scored);
    add_table_scores(tables.look_up(record), scores, flags, counts.alleles);
    std::vector<std::string> before;
    if (keeps_flags) before = vcf.info(record, flag_tag(options.tag_prefix).id).texts;
    scores.flags = flag_texts(flags, before);
    ++counts.total;
    if (std::find(flags.begin(), flags.end(), AlleleFlag::scored) != flags.end()) ++counts.scored;
    output->write(record, scores);
    progress.update(counts.total, place_of(record));
  }
  tables.check_contigs(*options.log);
  output->file().close();
  progress.finish();
  counts.neighbours = neighbours.count();
  print_summary(counts, *options.log);
}

uint64_t write_missing(const VepOptions& options, ScoreTables& tables, const std::string& bed) {
  const IndexedFasta fasta(options.fasta, *options.log);
  const ContigNames names(options.unify_chr_names, options.chr_map);
  VcfReader vcf(options.input, options.selection, *options.log);
  TextOutput output(bed);
  uint64_t written = 0;
  for (VcfRecord record; vcf.next(record);)
    tables.find_missing(record, [&](const std::string& contig, int64_t pos) {
      const std::string name = names.to_fasta(contig, fasta);
      if (name.empty() || pos >= fasta.length(name)) return;
      output.write(name + "\t" + std::to_string(pos) + "\t" + std::to_string(pos + 1) + "\n");
      ++written;
    });
  output.close();
  return written;
}

}  // namespace carbon
