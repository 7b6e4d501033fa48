// What a door adds to the message of an Error or a warning.
#include "src/base/error.hpp"

#include <doctest/doctest.h>

#include "src/verbs/verb.hpp"

using carbon::Advice;
using carbon::Door;

TEST_CASE("advice names options as the command line has them, with the values of the error") {
  CHECK(Advice().for_commands() == "");
  CHECK(Advice{"use {--dtype} bf16, f32 or int8"}.for_commands() == "use --dtype bf16, f32 or int8");
  CHECK(Advice{"add {--unify-chr-names 0}", {"chr,{-0}"}}.for_commands() == "add --unify-chr-names chr,{-0}");
  CHECK(Advice{"name it with {-o} {0}", {""}}.for_commands() == "name it with -o ");
}

TEST_CASE("advice at other doors names settings that they take, or is left out") {
  const carbon::Error window("score", "a window of 7 bp cannot be used", {"set it with {--window}"});
  const carbon::Error chrom("vep", "names differ", {"add {--unify-chr-names 0}", {"chr,-"}});
  const carbon::Error output("open", "cannot replace a.vcf", {"name another output with {-o}"});
  const carbon::Error half("x", "both", {"set {--window}, or {--batch-tokens}"});
  const carbon::Error command("x", "no model", {"'carbon models' shows labels"});
  for (const Door door : {Door::http, Door::library, Door::mcp}) {
    CHECK(carbon::told_at(door, window) == "a window of 7 bp cannot be used; set it with window");
    CHECK(carbon::told_at(door, chrom) == "names differ; add unify_chr_names=\"chr,-\"");
    for (const carbon::Error* const other : {&output, &half, &command})
      CHECK(carbon::told_at(door, *other) == other->what());
  }
}
