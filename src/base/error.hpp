// The one exception type of the program.
//
// A message says what went wrong, where (file, line, contig:pos, tensor) and which values would work. It
// names no command-line option, because the library does not know who calls it. Where an option would help,
// the Error carries an Advice, and the command line adds the sentence (src/cli/advice.hpp). main() catches
// the Error once, prints `[E::function] message; advice` and exits with status 1. Nothing else in the program
// calls exit().
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace carbon {

/// Which help there is. src/cli/advice.cpp has a sentence for each; the values that it names are listed here.
enum class AdviceTopic {
  none,  // no advice
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
  gpu_dtype,
  horizon,
  hub_genome,
  hub_output,  // the folder
  int8,
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
  plugin_list,
  pool_none_both,
  pool_separator,
  prefix,
  prompt_tokens,
  record_output,
  regions,
  report_consequences,
  report_genes,
  report_groups,
  report_label,
  report_negate,
  report_probabilities,
  report_regions,
  report_tags,
  restart,
  resume,  // the file with what was computed
  resume_file,
  resume_or_restart,
  resume_table,
  score_table,
  shard,
  stride,
  synthetic,
  tag_prefix,
  targets,
  tokenizer,
  unconditional,
  vcf_output,
  window,
};

/// What the user could do about an Error, as data that a program can turn into a sentence in its own terms.
struct Advice {
  AdviceTopic topic = AdviceTopic::none;
  std::vector<std::string> values = {};  // what the sentence names, in the order that the topic defines

  bool operator==(const Advice&) const = default;
};

class Error : public std::runtime_error {
 public:
  /// `function` is the name that goes into `[E::function]`, e.g. "load_config".
  Error(std::string function, const std::string& message, Advice advice = {})
      : std::runtime_error(message), function_(std::move(function)), advice_(std::move(advice)) {}
  const std::string& function() const { return function_; }
  const Advice& advice() const { return advice_; }

 private:
  std::string function_;
  Advice advice_;
};

/// The host or the device lacks the memory for what was asked. Nothing has been changed, and a smaller
/// request may still succeed.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// The value of a setting cannot be used: an option of a command, a field of a request, a word of a plugin.
/// The message names neither dashes nor fields; whoever has read the setting knows how it was given.
class SettingError : public Error {
 public:
  SettingError(std::string function, std::string setting, const std::string& message, Advice advice = {})
      : Error(std::move(function), message, std::move(advice)), setting_(std::move(setting)) {}
  /// Its name, as in the options of the command line without dashes.
  const std::string& setting() const { return setting_; }

 private:
  std::string setting_;
};

}  // namespace carbon
