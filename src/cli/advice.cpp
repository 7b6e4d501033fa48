#include "src/cli/advice.hpp"

#include <vector>

namespace carbon {
namespace {

struct Sentence {
  const char* topic;
  const char* text;  // {0} and {1} stand for the values of the Advice
};

constexpr Sentence kSentences[] = {
    {"batch_tokens", "a smaller --batch-tokens needs less memory"},
    {"cache_file", "name another file with --cache"},
    {"check_ref", "or keep such records without scores with -c w"},
    {"compare_devices", "run with --device cpu for these"},
    {"compressed_output", "or choose a compressed type with -O z or -O b"},
    {"context", "set it with --context"},
    {"contig_map", "give the right names in pairs with --chr-map FILE"},
    {"contig_names_equal", "the names match without --unify-chr-names and --chr-map: leave them out"},
    {"contig_pairs", "name the pairs in a file (the VCF has {0}, the FASTA {1}) and add --chr-map FILE"},
    {"contig_prefixes", "add --unify-chr-names {0},{1}"},
    {"csi_index", "use -W (--write-index=csi)"},
    {"cuda_arch", "build carbon with ./configure --with-cuda-arch={0}, or use --device cpu"},
    {"device", "correct --device"},
    {"device_cpu", "or use --device cpu"},
    {"dtype", "use --dtype bf16, f32 or int8"},
    {"dtype_f32", "try --dtype f32"},
    {"equal_gpus", "name GPUs of one kind with --device"},
    {"fewer_batch_tokens", "--batch-tokens {0} avoids the attempt"},
    {"frames", "leave out --frames, or choose another --level"},
    {"gpu_dtype", "use --device cpu, or --dtype bf16 on a GPU"},
    {"horizon", "set it with --horizon"},
    {"hub_genome", "give the browser's name of the genome with --hub-genome"},
    {"hub_output", "name them with -o {0}/NAME"},
    {"int8", "--dtype int8 computes with them as they are"},
    {"layer", "set it with --layer"},
    {"length", "set the number of new bases with --length"},
    {"lora", "and add the adapter to it with --lora {0}"},
    {"matrix_file", "name a regular file with -o, or use -O tsv"},
    {"max_ref_mismatch", "or raise --max-ref-mismatch"},
    {"model", "choose a model with -m DIR, or set CARBON_MODEL"},
    {"new_tokens", "set it with -n"},
    {"new_output", "name another output with -o"},
    {"no_dna_tags", "leave out --auto-dna-tags"},
    {"no_index", "or leave out --write-index"},
    {"no_level", "leave out the digit of -O"},
    {"no_metadata", "leave out --prefix, --species and --gene-type"},
    {"no_pad_tail", "leave out --pad-tail"},
    {"no_shard", "or leave out --shard"},
    {"no_tag_grammar", "leave out --tag-grammar"},
    {"one_gpu", "name one with --device"},
    {"other_cache", "or name another file with --cache"},
    {"other_gpu", "and leave it out of --device"},
    {"other_output", "or name another output with -o"},
    {"output_f32", "use --dtype-out f32"},
    {"output_file", "name a file with -o"},
    {"pad_tail", "or use --pad-tail"},
    {"plugin_list", "'carbon plugin -l' lists the plugins"},
    {"pool_none_both",
     "use --strand both with another --pool, or --pool none with --strand + and with --strand -"},
    {"pool_separator", "or use --pool separator"},
    {"prefix", "correct --prefix"},
    {"prompt_tokens", "set it with -p"},
    {"record_output", "choose VCF or BCF with -O u, b, v or z"},
    {"regions", "name regions of it with -R"},
    {"report_consequences", "correct --consequence-tag, or leave it out"},
    {"report_genes", "leave out --genes, or add a table of score, scan or +mutagenesis"},
    {"report_groups", "leave out --groups and --colour, or add a file of embed"},
    {"report_label", "leave out --label, or add a file of vep"},
    {"report_probabilities", "leave out --probabilities, or add a file of vep"},
    {"report_regions", "leave out --regions, or add a table of score, scan or +mutagenesis"},
    {"report_tags", "leave out --tags, or add a file of vep"},
    {"resume", "continue with --resume, from {0}"},
    {"resume_file", "--resume needs a regular file: name one with -o"},
    {"resume_table", "write a table with -O tsv, or leave out --resume"},
    {"resume_or_restart", "continue it with --resume, or discard it with --restart"},
    {"restart", "or discard it with --restart"},
    {"score_table", "or write a table with -O tsv"},
    {"shard", "correct --shard"},
    {"stride", "set it with --stride"},
    {"synthetic", "or choose a smaller shape with --synthetic"},
    {"targets", "or use --targets or --targets-file, which need no index"},
    {"tokenizer", "give them with --tokenizer PATH"},
    {"gc_window", "or bound the GC content of shorter windows with --gc-window"},
    {"unconditional", "or use --unconditional to start without a prompt"},
    {"vcf_output", "or write VCF with -O z"},
    {"window", "set it with --window"},
};

std::string filled(const char* text, const std::vector<std::string>& values) {
  std::string out;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at != '{') {
      out += *at;
      continue;
    }
    out += values.at(static_cast<size_t>(at[1] - '0'));
    at += 2;  // the digit and '}'
  }
  return out;
}

}  // namespace

std::string advice_text(const Advice& advice) {
  for (const Sentence& sentence : kSentences)
    if (advice.topic == sentence.topic) return filled(sentence.text, advice.values);
  return "";
}

}  // namespace carbon
