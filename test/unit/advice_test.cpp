// What the command line adds to the message of an Error or a warning.
#include "src/cli/advice.hpp"
#include "src/base/advice_topics.hpp"

#include <doctest/doctest.h>

using carbon::advice_text;
using carbon::AdviceTopic;

TEST_CASE("advice names the option, with the values of the error") {
  CHECK(advice_text({}) == "");
  CHECK(advice_text({AdviceTopic::dtype}) == "use --dtype bf16, f32 or int8");
  CHECK(advice_text({AdviceTopic::contig_prefixes, {"chr", "{0}"}}) == "add --unify-chr-names chr,{0}");
  const carbon::OutOfMemory error("f", "what is wrong", {AdviceTopic::batch_tokens});
  CHECK(advice_text(error.advice()).find("--batch-tokens") != std::string::npos);
}
