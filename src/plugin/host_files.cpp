// The functions of carbon_api for records of variants, text and FASTA.

#include <cstring>

#include "src/base/words.hpp"
#include "src/plugin/host.hpp"

namespace carbon {

const char* api_record_contig(carbon_run*, const carbon_record* record) {
  return record->record.contig().c_str();
}

int64_t api_record_pos(carbon_run*, const carbon_record* record) {
  return record->record.pos();
}

const char* api_record_id(carbon_run* handle, const carbon_record* record) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.property = record->record.id();
        return run.property.c_str();
      },
      static_cast<const char*>(nullptr));
}

size_t api_record_allele_count(carbon_run*, const carbon_record* record) {
  return record->record.alts().size() + 1;
}

const char* api_record_allele(carbon_run*, const carbon_record* record, size_t index) {
  if (index == 0) return record->record.ref().c_str();
  const std::vector<std::string>& alts = record->record.alts();
  return index <= alts.size() ? alts[index - 1].c_str() : nullptr;
}

namespace {

int type_code(InfoType type) {
  switch (type) {
    case InfoType::none:
      return CARBON_TYPE_NONE;
    case InfoType::flag:
      return CARBON_TYPE_FLAG;
    case InfoType::integer:
      return CARBON_TYPE_INTEGER;
    case InfoType::real:
      return CARBON_TYPE_FLOAT;
    case InfoType::text:
      break;
  }
  return CARBON_TYPE_STRING;
}

int number_code(InfoNumber number) {
  switch (number) {
    case InfoNumber::alt:
      return CARBON_PER_ALT;
    case InfoNumber::allele:
      return CARBON_PER_ALLELE;
    case InfoNumber::genotype:
      return CARBON_PER_GENOTYPE;
    case InfoNumber::other:
      break;
  }
  return CARBON_PER_OTHER;
}

}  // namespace

int api_record_info(carbon_run* handle, const carbon_record* record, const char* tag, carbon_values* values) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.info = record->reader->info(record->record, tag);
        run.info_texts.clear();
        for (const std::string& text : run.info.texts)
          run.info_texts.push_back(text == "." ? nullptr : text.c_str());
        const bool is_text = run.info.type == InfoType::text;
        *values = {type_code(run.info.type), number_code(run.info.number),
                   is_text ? run.info_texts.size() : run.info.numbers.size(), run.info.numbers.data(),
                   run.info_texts.data()};
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_info_type(carbon_run* handle, const char* tag) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return type_code(run.reader().info_type(tag)); }, int{CARBON_ERROR});
}

int api_header_line(carbon_run* handle, const char* key, size_t index, const char** line) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const std::vector<std::string> lines = run.reader().header_lines(key);
        *line = nullptr;
        if (index < lines.size()) {
          run.header_line = lines[index];
          *line = run.header_line.c_str();
        }
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

const char* api_record_filter(carbon_run* handle, const carbon_record* record) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.filter = record->reader->filter(record->record);
        return run.filter.c_str();
      },
      static_cast<const char*>(nullptr));
}

namespace {

void check_alleles(const carbon_record& record, const Genotypes& genotypes,
                   const std::vector<std::string>& names) {
  const auto count = static_cast<int64_t>(record.record.alts().size()) + 1;
  for (size_t i = 0; i < genotypes.alleles.size(); ++i)
    if (genotypes.alleles[i] >= count)
      throw Error("plugin", record.record.contig() + ":" + std::to_string(record.record.pos() + 1) +
                                ": the genotype of sample " + names[i / genotypes.ploidy] +
                                " names an allele that the record does not have; correct the genotype");
}

}  // namespace

int api_record_genotypes(carbon_run* handle, const carbon_record* record, carbon_genotypes* genotypes) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        const VcfReader& reader = record ? *record->reader : run.reader();
        GenotypesView& view = run.genotypes;
        view.read_from(reader);
        *genotypes = {view.names.size(), view.name_views.data(), 0, nullptr, nullptr, nullptr};
        if (!record) return int{CARBON_DONE};
        Genotypes& found = view.genotypes;
        reader.genotypes(record->record, found);
        check_alleles(*record, found, view.names);
        view.set_views.clear();
        for (const std::string& set : found.phase_sets)
          view.set_views.push_back(set.empty() ? nullptr : set.c_str());
        genotypes->ploidy = found.ploidy;
        genotypes->alleles = found.alleles.data();
        genotypes->phased = found.phased.data();
        genotypes->phase_sets = view.set_views.empty() ? nullptr : view.set_views.data();
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_record_write(carbon_run* handle, carbon_record* record, const char* line) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        if (!record == !line)
          throw Error("plugin",
                      "+" + run.options().name + " writes a record and a line, or neither, in one call");
        record ? run.write_record(*record) : run.write_line(line);
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

carbon_records* api_records_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] { return &run.records.emplace_back(path, run.options().selection, *run.options().log); },
      static_cast<carbon_records*>(nullptr));
}

int api_records_next(carbon_run* run, carbon_records* records, const carbon_record** record) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!records->reader.next(records->current.record)) return 0;
        *record = &records->current;
        return 1;
      },
      int{CARBON_ERROR});
}

int api_records_info_type(carbon_run* run, carbon_records* records, const char* tag) {
  return PluginRun::of(run).guarded([&] { return type_code(records->reader.info_type(tag)); },
                                    int{CARBON_ERROR});
}

int api_info_declare(carbon_run* handle, const char* tag, const char* description) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.declare_tag({tag, "A", "Float", description});
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_info_set(carbon_run* handle, carbon_record* record, const char* tag, const double* values,
                 size_t count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.set_tag(*record, tag, std::vector<float>(values, values + count));
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

// ---- text and FASTA

carbon_text* api_text_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.texts.emplace_back(path); }, static_cast<carbon_text*>(nullptr));
}

int api_text_line(carbon_run* run, carbon_text* text, const char** line, size_t* length) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!text->input.line(text->line)) return 0;
        *line = text->line.c_str();
        *length = text->line.size();
        return 1;
      },
      int{CARBON_ERROR});
}

const char* api_text_where(carbon_run* run, carbon_text* text) {
  return PluginRun::of(run).guarded(
      [&] {
        text->where = text->input.where();
        return text->where.c_str();
      },
      static_cast<const char*>(nullptr));
}

carbon_sequences* api_sequences_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.sequences.emplace_back(path, *run.options().log); },
                     static_cast<carbon_sequences*>(nullptr));
}

int api_sequences_next(carbon_run* run, carbon_sequences* sequences, const char** name, const char** bases,
                       size_t* length) {
  return PluginRun::of(run).guarded(
      [&] {
        if (!sequences->reader.next(sequences->record)) return 0;
        *name = sequences->record.name.c_str();
        *bases = sequences->record.sequence.c_str();
        *length = sequences->record.sequence.size();
        return 1;
      },
      int{CARBON_ERROR});
}

carbon_indexed_fasta* api_fasta_open(carbon_run* handle, const char* path) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded([&] { return &run.fastas.emplace_back(path, *run.options().log); },
                     static_cast<carbon_indexed_fasta*>(nullptr));
}

const char* api_fasta_contig(carbon_run*, carbon_indexed_fasta* fasta, size_t index) {
  const std::vector<std::string>& names = fasta->fasta.names();
  return index < names.size() ? names[index].c_str() : nullptr;
}

int64_t api_fasta_length(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig) {
  return PluginRun::of(run).guarded([&] { return fasta->fasta.length(contig); }, int64_t{-1});
}

int api_fasta_fetch(carbon_run* run, carbon_indexed_fasta* fasta, const char* contig, int64_t begin,
                    int64_t end, char* bases) {
  return PluginRun::of(run).guarded(
      [&] {
        const int64_t length = fasta->fasta.length(contig);
        if (begin < 0 || begin > end || end > length)
          throw Error("plugin", fasta->fasta.path() + " has no bases " + contig + ":" +
                                    std::to_string(begin + 1) + "-" + std::to_string(end));
        const std::string fetched = fasta->fasta.fetch(contig, begin, end);
        std::memcpy(bases, fetched.data(), fetched.size());
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

int api_fasta_regions(carbon_run* run, carbon_indexed_fasta* fasta, const char* text, int is_file,
                      const carbon_region** regions, size_t* count) {
  return PluginRun::of(run).guarded(
      [&] {
        fasta->regions = is_file ? read_regions(text, fasta->fasta)
                                 : std::vector<Region>{parse_region(text, fasta->fasta)};
        fasta->region_views.clear();
        for (const Region& region : fasta->regions)
          fasta->region_views.push_back({region.contig.c_str(), region.begin, region.end});
        *regions = fasta->region_views.data();
        *count = fasta->region_views.size();
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

namespace {

std::vector<std::string> words_of(const char* list) {
  if (!list) return {};
  const std::vector<std::string_view> words = split(list, ',');
  return {words.begin(), words.end()};
}

}  // namespace

int api_regions_read(carbon_run* handle, const char* path, const char* features, const char* names,
                     const carbon_named_region** regions, size_t* count) {
  PluginRun& run = PluginRun::of(handle);
  return run.guarded(
      [&] {
        run.regions.clear();
        run.region_views.clear();
        const RegionRules rules = {.features = words_of(features), .names = words_of(names)};
        read_region_file(path, rules, *run.options().log,
                         [&](WrittenRegion& region, auto&) { run.regions.push_back(std::move(region)); });
        for (const auto& [contig, begin, end, name, strand] : run.regions)
          run.region_views.push_back(
              {{contig.c_str(), begin, end == kOpenEnd ? INT64_MAX : end}, name.c_str(), strand});
        *regions = run.region_views.data();
        *count = run.region_views.size();
        return int{CARBON_DONE};
      },
      int{CARBON_ERROR});
}

}  // namespace carbon
