// src/bench/: carbon bench: a model comes in, and the times of its work go out, beside the highest rates of
// the machine (limits).
//
// Here is what is measured, each ready to be timed: the workloads, and the rates with which their speed is
// compared.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "src/engine/engine.hpp"
#include "src/engine/loaded_model.hpp"
#include "src/engine/request.hpp"
#include "src/model/work.hpp"

namespace carbon {

/// The work of two passes: one over the requests without a parent, and one over those with a parent.
inline PassWork requests_work(const ModelConfig& config, const WorkUnits& units,
                              std::span<const RequestPtr> requests) {
  std::vector<WorkChunk> chunks, suffixes;
  for (const RequestPtr& request : requests)
    (request->parent ? suffixes : chunks)
        .push_back({request->parent ? request->shared : 0, request->tokens.size(),
                    request->tokens.size() - request->want_begin});
  PassWork work = forward_work(config, units, chunks);
  if (!suffixes.empty()) work += forward_work(config, units, suffixes);
  return work;
}

struct BenchTest {
  std::string name;                            // one of bench_test_names()
  size_t batch = 1;                            // sequences at a time; for vep, alternative alleles per site;
                                               // for anchored, bp from one SNV to the next
  size_t tokens = 0, bases = 0, variants = 0;  // processed by one run
  PassWork work;                               // of one run
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

/// prefill, decode, score, scan, vep, anchored, which a model of one base a token does not have; annotate,
/// which an annotator has alone.
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
///           many as the model allows;
///  annotate one window of `prompt` tokens, of which every base is read on both strands.
/// `engine` must outlive them.
std::vector<BenchTest> bench_tests(Engine& engine, const BenchSizes& sizes);

/// What a limit bounds: reading memory, matrix products, or nothing that a workload is compared with.
enum class LimitKind { bandwidth, matrix, other };

struct BenchLimit {
  std::string name;  // in JSON
  std::string text;  // in the table
  LimitKind kind = LimitKind::other;
  std::function<double()> measure;  // bytes or operations per second
  std::string bound = {};           // the name of the limit that this one cannot pass; "": none is known
};

/// The limits of the model's device, each to be measured once per round. `model` must outlive them.
///  On a CPU: reading memory, copying memory, multiply-adds on registers, and the matrix product that the
///  decoder uses, all for its dtype; for int8 also both rates for bf16, and for int8 and bf16 those for f32.
///  On other devices: copying memory, and the product. If there are several limits of one kind, the largest
///  counts.
std::vector<BenchLimit> bench_limits(LoadedModel& model);

}  // namespace carbon
