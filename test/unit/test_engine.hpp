// An engine on a generated checkpoint, for tests of what runs on it.
#pragma once

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "src/engine/engine.hpp"
#include "test/unit/generated_checkpoint.hpp"

namespace carbon::test {

class TestEngine {
 public:
  TestEngine(const std::string& dir, size_t batch_tokens, const std::string& dtype = "auto", int threads = 2)
      : model_(options(dir, batch_tokens, dtype, threads)), engine_({&model_}) {}

  Engine& get() { return engine_; }
  LoadedModel& model() { return model_; }

 private:
  static ModelOptions options(const std::string& dir, size_t batch_tokens, const std::string& dtype,
                              int threads) {
    ModelOptions options;
    options.model = dir;
    options.dtype = dtype;
    options.threads = threads;
    options.batch_tokens = batch_tokens;
    options.use = ModelUse::any;
    return options;
  }

  LoadedModel model_;
  Engine engine_;
};

/// <dna> and random 6-mers, `n` tokens in all.
inline std::vector<uint32_t> random_tokens(const TokenLayout& layout, size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> tokens{layout.begin()};
  while (tokens.size() < n) tokens.push_back(layout.kmer0() + random() % kKmerCount);
  return tokens;
}

}  // namespace carbon::test
