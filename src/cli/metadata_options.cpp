#include "src/cli/metadata_options.hpp"

#include "src/base/error.hpp"
#include "src/cli/options.hpp"

namespace carbon {
namespace {

constexpr const char* kFunction = "main_metadata";

}  // namespace

void add_metadata_options(CLI::App& app, MetadataChoice& metadata, const std::string& group) {
  CLI::Option* const prefix =
      app.add_option("--prefix", metadata.text,
                     "metadata: text to put before <dna>, or tokens to put after <s>, e.g. <mam><cds>")
          ->type_name("TEXT")
          ->group(group);
  CLI::Option* const species =
      app.add_option("--species", metadata.names.species, "species tag, e.g. vertebrate_mammalian or fungi")
          ->type_name("NAME")
          ->excludes(prefix)
          ->group(group);
  CLI::Option* const gene =
      app.add_option("--gene-type", metadata.names.gene, "gene-type tag, e.g. protein_coding_region")
          ->type_name("NAME")
          ->excludes(prefix)
          ->group(group);
  app.add_option_function<TagGrammar>(
         "--tag-grammar",
         [&metadata, species, gene](const TagGrammar& grammar) {
           if (species->count() + gene->count() == 0)
             throw Error(kFunction,
                         "--tag-grammar says how to write --species and --gene-type; give one of them");
           metadata.names.grammar = grammar;
         },
         "spelling of the tags: corpus, card or eval (default: corpus)")
      ->type_name("NAME")
      ->transform(choice_of(kTagGrammarWords))
      ->group(group);
}

}  // namespace carbon
