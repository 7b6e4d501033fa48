// A checkpoint made by the generator program, for tests that need a whole model.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "test/unit/model_fixture.hpp"

namespace carbon::test {

/// Runs $CARBON_MAKE_CHECKPOINT (default build/make_checkpoint) with `options` into a directory of its own.
class GeneratedCheckpoint {
 public:
  explicit GeneratedCheckpoint(const std::string& options) {
    const char* program = std::getenv("CARBON_MAKE_CHECKPOINT");
    const std::string command =
        std::string(program ? program : "build/make_checkpoint") + " " + options + " " + dir_.str();
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
  }
  std::string dir() const { return dir_.str(); }

 private:
  model_test::TempDir dir_;
};

/// Small models: a DNA-only vocabulary, and the shapes that tests need to differ.
inline std::string tiny(const std::string& more = "") {
  return "--vocab 4224 --dna-start 0 --hidden 64 --layers 3 --heads 4 --kv-heads 2 --head-dim 32 "
         "--intermediate 128 "
         "--max-positions 4096 --dtype bf16 " +
         more;
}

}  // namespace carbon::test
