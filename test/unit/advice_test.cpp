// What the command line adds to the message of an Error.
#include "src/cli/advice.hpp"

#include <doctest/doctest.h>

using carbon::advice_for;
using carbon::Error;

TEST_CASE("advice names the option, with the values of the error") {
  CHECK(advice_for(Error("f", "what is wrong")) == "");
  CHECK(advice_for(Error("f", "what is wrong", {"dtype"})) == "use --dtype bf16 or --dtype f32");
  CHECK(advice_for(Error("f", "what is wrong", {"contig_prefixes", {"chr", "{0}"}})) ==
        "add --unify-chr-names chr,{0}");
  CHECK(advice_for(carbon::OutOfMemory("f", "what is wrong", {"batch_tokens"})).find("--batch-tokens") !=
        std::string::npos);
}
