#include "bench/gpu/marginals.hpp"

#include <fstream>
#include <random>
#include <vector>

#include "kernels/cuda/cuda_backend.hpp"
#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/transformer/decoder.hpp"
#include "src/transformer/head.hpp"

namespace carbon::gpu_bench {
namespace {

#ifdef CARBON_CUDA_EMULATION
constexpr size_t kTokens = 40;
#else
constexpr size_t kTokens = 512;
#endif

template <class T>
void write_array(const std::string& path, const std::vector<T>& values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!out.flush()) throw Error("bench_gpu", "cannot write " + path);
}

std::vector<double> marginals(std::unique_ptr<ops::Backend> backend, const Checkpoint& checkpoint,
                              const std::vector<uint32_t>& tokens) {
  Decoder decoder(*backend, checkpoint);
  Head head(*backend, checkpoint);
  Sequence sequence = decoder.kv().make_sequence();
  const Chunk chunk{&sequence, tokens, 0, tokens.size()};
  const HiddenRows rows = decoder.forward(std::span(&chunk, 1));
  std::vector<double> out(rows.count * ops::kMarginals);
  head.marginals(rows, out.data());
  return out;
}

}  // namespace

void write_marginals(const std::string& path, int device, const std::string& folder) {
  const Checkpoint checkpoint(path);
  const TokenLayout& layout = checkpoint.config().layout;
  std::mt19937 random(7);
  std::vector<uint32_t> tokens{layout.begin()};
  while (tokens.size() < kTokens) tokens.push_back(layout.kmer0() + random() % ops::kKmers);
  write_array(folder + "/tokens", tokens);
  write_array(folder + "/cpu_f32",
              marginals(ops::make_cpu_backend({DType::f32, available_cpus()}), checkpoint, tokens));
  for (const bool library : {true, false})
    write_array(folder + (library ? "/gpu_library" : "/gpu_own"),
                marginals(cuda::make_backend({DType::bf16, device, library}), checkpoint, tokens));
  write_array(folder + "/gpu_f16",
              marginals(cuda::make_backend({DType::f16, device, false}), checkpoint, tokens));
}

}  // namespace carbon::gpu_bench
