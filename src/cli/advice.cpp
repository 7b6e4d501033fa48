#include "src/cli/advice.hpp"

#include "src/base/advice_topics.hpp"

#include <vector>

namespace carbon {
namespace {

// A topic without its sentence does not compile.
#pragma GCC diagnostic error "-Wswitch"

// {0} and {1} stand for the values of the Advice.
const char* sentence(AdviceTopic topic) {
  using enum AdviceTopic;
  switch (topic) {
    case none:
      break;
    case activation:
      return "choose one with --activation none, sigmoid or softmax";
    case base_model:
      return "name a fine-tuned model with --model, or its adapter with --lora; 'carbon models' shows labels";
    case batch_tokens:
      return "a smaller --batch-tokens needs less memory";
    case cache_file:
      return "name another file with --cache";
    case check_ref:
      return "or keep such records without scores with -c w";
    case compare_devices:
      return "run with --device cpu for these";
    case compressed_output:
      return "or choose a compressed type with -O z or -O b";
    case context:
      return "set it with --context";
    case contig_map:
      return "give the right names in pairs with --chr-map FILE";
    case contig_names_equal:
      return "the names match without --unify-chr-names and --chr-map: leave them out";
    case contig_pairs:
      return "name the pairs in a file (the VCF has {0}, the FASTA {1}) and add --chr-map FILE";
    case contig_prefixes:
      return "add --unify-chr-names {0},{1}";
    case csi_index:
      return "use -W (--write-index=csi)";
    case cuda_arch:
      return "build carbon with ./configure --with-cuda-arch={0}, or use --device cpu";
    case device:
      return "correct --device";
    case device_cpu:
      return "or use --device cpu";
    case dtype:
      return "use --dtype bf16, f32 or int8";
    case equal_gpus:
      return "name GPUs of one kind with --device";
    case fewer_batch_tokens:
      return "--batch-tokens {0} avoids the attempt";
    case frames:
      return "leave out --frames, or choose another --level";
    case gc_window:
      return "or bound the GC content of shorter windows with --gc-window";
    case gpu_bf16:
      return "use --dtype bf16 unless scores in f32 are needed";
    case gpu_dtype:
      return "use --device cpu, or --dtype bf16 on a GPU";
    case horizon:
      return "set it with --horizon";
    case hub_genome:
      return "give the browser's name of the genome with --hub-genome";
    case hub_output:
      return "name them with -o {0}/NAME";
    case int8:
      return "--dtype int8 computes with them as they are";
    case label_model:
      return "use 'carbon predict', 'carbon embed' or 'carbon vep --recipe head'";
    case labels:
      return "name them with --labels A,B,...";
    case layer:
      return "set it with --layer";
    case length:
      return "set the number of new bases with --length";
    case lora:
      return "and add the adapter to it with --lora {0}";
    case matrix_file:
      return "name a regular file with -o, or use -O tsv";
    case max_ref_mismatch:
      return "or raise --max-ref-mismatch";
    case model:
      return "choose a model with -m DIR, or set CARBON_MODEL";
    case new_output:
      return "name another output with -o";
    case new_tokens:
      return "set it with -n";
    case no_dna_tags:
      return "leave out --auto-dna-tags";
    case no_index:
      return "or leave out --write-index";
    case no_level:
      return "leave out the digit of -O";
    case no_metadata:
      return "leave out --prefix, --species and --gene-type";
    case no_pad_tail:
      return "leave out --pad-tail";
    case no_shard:
      return "or leave out --shard";
    case no_tag_grammar:
      return "leave out --tag-grammar";
    case one_gpu:
      return "name one with --device";
    case other_cache:
      return "or name another file with --cache";
    case other_gpu:
      return "and leave it out of --device";
    case other_output:
      return "or name another output with -o";
    case output_f32:
      return "use --dtype-out f32";
    case output_file:
      return "name a file with -o";
    case pad_tail:
      return "or use --pad-tail";
    case pad_windows:
      return "--pad-tail reads them, with A for the bases that lack";
    case plugin_list:
      return "'carbon plugin -l' lists the plugins";
    case pool_none_both:
      return "use --strand both with another --pool, or --pool none with --strand + and with --strand -";
    case pool_separator:
      return "or use --pool separator";
    case prefix:
      return "correct --prefix";
    case prompt_tokens:
      return "set it with -p";
    case record_output:
      return "choose VCF or BCF with -O u, b, v or z";
    case regions:
      return "name regions of it with -R";
    case released_model:
      return "for others, hf download HuggingFaceBio/Carbon-500M and add -m HuggingFaceBio/Carbon-500M";
    case report_consequences:
      return "correct --consequence-tag, or leave it out";
    case report_genes:
      return "leave out --genes, or add variants or a table of score, scan or +mutagenesis";
    case report_groups:
      return "leave out --groups and --colour, or add a file of embed";
    case report_label:
      return "leave out --label, or add a file of vep";
    case report_negate:
      return "leave out --negate, which is for other tags";
    case report_part:
      return "draw a part of them with letters with -r REGION";
    case report_probabilities:
      return "leave out --probabilities, or add a file of vep";
    case report_regions:
      return "leave out --regions, or add a table of score, scan or +mutagenesis";
    case report_tags:
      return "leave out --tags, or add a file of vep";
    case restart:
      return "or discard it with --restart";
    case resume:
      return "continue with --resume, from {0}";
    case resume_file:
      return "--resume needs a regular file: name one with -o";
    case resume_or_restart:
      return "continue it with --resume, or discard it with --restart";
    case resume_table:
      return "write a table with -O tsv, or leave out --resume";
    case score_table:
      return "or write a table with -O tsv";
    case serve_keys:
      return "name a file of keys with --api-key, or listen on 127.0.0.1 with --host";
    case shard:
      return "correct --shard";
    case skeleton:
      return "'carbon models --skeleton {0}' writes one to fill in";
    case stride:
      return "set it with --stride";
    case synthetic:
      return "or choose a smaller shape with --synthetic";
    case table_output:
      return "add -O t, or leave out --header plain";
    case tag_prefix:
      return "to keep both, run again with another --tag-prefix";
    case targets:
      return "or use --targets or --targets-file, which need no index";
    case tokenizer:
      return "give them with --tokenizer PATH";
    case unconditional:
      return "or use --unconditional to start without a prompt";
    case vcf_output:
      return "or write VCF with -O z";
    case window:
      return "set it with --window";
  }
  return "";
}

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
  return filled(sentence(advice.topic), advice.values);
}

}  // namespace carbon
