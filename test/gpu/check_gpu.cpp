// check_gpu: every operation of the CUDA backend and the decoder on it, on the first GPU or the one named.
//
//   check_gpu [plan|stream|rows|linear|attention|heads|draw|decoder|letters|memory]... [--device N] [--small]
//   check_emulated [emulation|plan|...]...
//
// --small: in the sizes of emulation, for tools that slow the GPU down as much.
// Exit status 0 when all is well, 1 when a check failed or a switch of the environment
// (kernels/cuda/stream.hpp) has a wrong value, 77 without a GPU that it can run on.
#include <cstdlib>

#include "kernels/cuda/stream.hpp"
#include "test/gpu/check.hpp"

namespace {

using carbon::gpu_test::Checks;
using carbon::gpu_test::Machine;

struct Part {
  const char* name;
  void (*run)(Checks&, const Machine&);
};
constexpr Part kParts[] = {
#ifdef CARBON_EMULATION_WATCHES
    {"emulation", carbon::gpu_test::check_emulation},
#endif
    {"plan", carbon::gpu_test::check_plan},           {"stream", carbon::gpu_test::check_stream},
    {"rows", carbon::gpu_test::check_rows},           {"linear", carbon::gpu_test::check_linear},
    {"attention", carbon::gpu_test::check_attention}, {"heads", carbon::gpu_test::check_heads},
    {"draw", carbon::gpu_test::check_draw},           {"decoder", carbon::gpu_test::check_decoder},
    {"letters", carbon::gpu_test::check_letters},     {"memory", carbon::gpu_test::check_memory}};

}  // namespace

int main(int argc, char** argv) {
  Machine machine;
#ifdef CARBON_CUDA_EMULATION
  machine.emulated = true;
#endif
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--device" && i + 1 < argc)
      machine.device = std::atoi(argv[++i]);
    else if (std::string(argv[i]) == "--small")
      machine.emulated = true;
    else
      wanted.emplace_back(argv[i]);
  }
  std::string switches;
  try {
    switches = carbon::cuda::describe_switches();
  } catch (const carbon::Error& error) {
    std::fprintf(stderr, "check_gpu: %s\n", error.what());
    return 1;
  }
  try {
    const auto backend = carbon::gpu_test::make(machine, carbon::gpu_test::kWays[2]);
    std::printf("device kind %s\n", backend->device_kind().c_str());
  } catch (const carbon::Error& error) {
    std::printf("SKIPPED: %s\n", error.what());
    return 77;
  }
  if (!switches.empty()) std::printf("switches %s\n", switches.c_str());
  Checks checks;
  for (const Part& part : kParts)
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), part.name) != wanted.end())
      part.run(checks, machine);
  std::printf("%d passed, %d failed\n", checks.passed(), checks.failed());
  return checks.failed() == 0 ? 0 : 1;
}
