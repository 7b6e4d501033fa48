// The topics of advice: an Error or a warning carries one where the user could do something that an option is
// for.
#pragma once

#include "src/base/error.hpp"

namespace carbon {

/// Which help there is. src/cli/advice.cpp has a sentence for each; the values that it names are listed here.
enum class AdviceTopic : int {
  none,  // no advice
  activation,
  base_model,
  batch_tokens,
  cache_file,
  check_ref,
  compare_devices,
  compressed_output,
  context,
  contig_map,
  contig_names_equal,
  contig_pairs,     // a name in the VCF, a name in the FASTA
  contig_prefixes,  // prefix in the VCF, prefix in the FASTA; - for none
  csi_index,
  cuda_arch,  // compute capability of the GPU, 90 for one
  device,
  device_cpu,
  dtype,
  equal_gpus,
  fewer_batch_tokens,  // how many tokens
  frames,
  gc_window,
  gpu_bf16,
  gpu_dtype,
  horizon,
  hub_genome,
  hub_output,  // the folder
  int8,
  label_model,
  labels,
  layer,
  length,
  lora,  // directory of the adapter
  matrix_file,
  max_ref_mismatch,
  model,
  new_output,
  new_tokens,
  no_dna_tags,
  no_index,
  no_level,
  no_metadata,
  no_pad_tail,
  no_shard,
  no_tag_grammar,
  one_gpu,
  other_cache,
  other_gpu,
  other_output,
  output_f32,
  output_file,
  pad_tail,
  pad_windows,
  plugin_list,
  pool_none_both,
  pool_separator,
  prefix,
  prompt_tokens,
  record_output,
  regions,
  released_model,
  report_consequences,
  report_genes,
  report_groups,
  report_label,
  report_negate,
  report_part,
  report_probabilities,
  report_regions,
  report_tags,
  restart,
  resume,  // the file with what was computed
  resume_file,
  resume_or_restart,
  resume_table,
  score_table,
  serve_keys,
  shard,
  skeleton,  // the directory of the model
  stride,
  synthetic,
  table_output,
  tag_prefix,
  targets,
  tokenizer,
  unconditional,
  vcf_output,
  window,
};

}  // namespace carbon
