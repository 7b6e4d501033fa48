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
    {"compressed_output", "or choose a compressed type with -O z or -O b"},
    {"contig_map", "give the right names in pairs with --chr-map FILE"},
    {"contig_names_equal", "the names match without --unify-chr-names and --chr-map: leave them out"},
    {"contig_pairs", "name the pairs in a file (the VCF has {0}, the FASTA {1}) and add --chr-map FILE"},
    {"contig_prefixes", "add --unify-chr-names {0},{1}"},
    {"csi_index", "use --write-index=csi"},
    {"cuda_arch", "build carbon with ./configure --with-cuda-arch={0}, or use --device cpu"},
    {"device_cpu", "or use --device cpu"},
    {"dtype", "use --dtype bf16 or --dtype f32"},
    {"model", "choose a model with -m DIR, or set CARBON_MODEL"},
    {"no_index", "or leave out --write-index"},
    {"output_file", "name a file with -o"},
    {"targets", "or use --targets or --targets-file, which need no index"},
    {"tokenizer", "give them with --tokenizer PATH"},
    {"vcf_output", "or write VCF with -O z"},
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

std::string advice_for(const Error& error) {
  for (const Sentence& sentence : kSentences)
    if (error.advice().topic == sentence.topic) return filled(sentence.text, error.advice().values);
  return "";
}

}  // namespace carbon
