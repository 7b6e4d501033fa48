// The functions of carbon_api that host_api.cpp takes from other files. plugins/carbon_plugin.h documents
// them.
#pragma once

#include "plugins/carbon_plugin.h"

namespace carbon {

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
carbon_fasta* api_fasta_open(carbon_run* handle, const char* path);
const char* api_fasta_contig(carbon_run*, carbon_fasta* fasta, size_t index);
int64_t api_fasta_length(carbon_run* run, carbon_fasta* fasta, const char* contig);
int api_fasta_fetch(carbon_run* run, carbon_fasta* fasta, const char* contig, int64_t begin, int64_t end,
                    char* bases);
int api_fasta_regions(carbon_run* run, carbon_fasta* fasta, const char* text, int is_file,
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
int api_score_variants(carbon_run* handle, const carbon_recipes* recipes, carbon_fasta* fasta,
                       carbon_variant* variants, size_t count);
int api_generate(carbon_run* handle, const char* settings, size_t new_bases, carbon_generate_item* items,
                 size_t count);

}  // namespace carbon
