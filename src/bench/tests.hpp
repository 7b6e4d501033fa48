// The workloads of `carbon bench`, each ready to be timed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "src/bench/work.hpp"
#include "src/engine/engine.hpp"

namespace carbon {

struct BenchTest {
  std::string name;                            // one of bench_test_names()
  size_t batch = 1;                            // sequences at a time; for vep, alternative alleles per site;
                                               // for anchored, bp from one SNV to the next
  size_t tokens = 0, bases = 0, variants = 0;  // processed by one run
  Work work;                                   // of one run
  // Returns the seconds that were measured, when the results are in host memory.
  std::function<double()> run;
  size_t horizon = 0;  // bp, of anchored
};

struct BenchSizes {
  size_t prompt = 0;                         // tokens of a window; 0: 1366, or what a short context holds
  size_t steps = 32;                         // decode steps
  std::vector<size_t> batches = {1, 4, 16};  // sequences decoded at a time
};

/// The sizes with the default of those that are 0. Throws Error for sizes that do not fit the model's
/// context.
BenchSizes complete_bench_sizes(BenchSizes sizes, const ModelConfig& config);

/// prefill, decode, score, scan, vep, anchored, which a model of one base a token does not have.
std::vector<std::string> bench_test_names();

/// The workloads, on random bases that are the same in every run of the program:
///  prefill  one sequence of `prompt` tokens, of which the last row goes through the head;
///  decode   `steps` k-mers per sequence, greedy, one after the other. The time begins when every sequence
///           has a first k-mer, because the pass over the prompt is no decode step;
///  score    marginals of every base of as many windows as make a batch (LoadedModel::batch_tokens());
///  scan     marginals of the last two thirds of windows, as many as make a batch, half of them for the other
///           strand: scores of three SNVs per base;
///  vep      the centered recipe on both strands, as many sites as make a batch, with one and with three
///           alternative alleles; the window has `prompt` tokens;
///  anchored the anchored recipe on both strands, with horizons of 96 and 768 bp: SNVs 50 bp apart in one
///           window, and one SNV in the middle of each window. Its longest prefix has `prompt` tokens, or as
///           many as the model allows.
/// `engine` must outlive them.
std::vector<BenchTest> bench_tests(Engine& engine, const BenchSizes& sizes);

}  // namespace carbon
