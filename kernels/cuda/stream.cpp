#include "kernels/cuda/stream.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace carbon::cuda {
namespace {

constexpr const char* kLibrary = "CARBON_CUDA_LIBRARY";
constexpr struct {
  const char* name;
  bool Switches::*part;
} kVariables[] = {{"CARBON_CUDA_OVERLAP", &Switches::overlap},
                  {"CARBON_CUDA_GRAPHS", &Switches::graphs},
                  {kLibrary, &Switches::library}};

/// "0", "1", or "" if the variable is not set.
std::string value_of(const char* name) {
  const char* const text = std::getenv(name);
  const std::string value = text != nullptr ? text : "";
  if (value != "" && value != "0" && value != "1")
    throw Error("cuda", std::string(name) + " is \"" + value + "\"; it must be 0 (off) or 1 (on)");
  return value;
}

// The kernels of shorter lists are launched one by one, because a graph has a cost too.
constexpr size_t kGraphKernels = 8;
// The number of lists that are remembered. Generation has a few lists in turn: those of the model and of the
// draft model, for each number of samples that are not finished.
constexpr size_t kGraphs = 16, kSeen = 64;
// One failure may have a cause that passes, such as a lack of memory. After so many in a row no graph is
// tried any more, because an attempt costs more time than the launches.
constexpr size_t kGraphFailures = 8;
// The oldest kind of device on which a kernel itself can wait for the previous kernel.
constexpr int kOverlaps = 90;
// The oldest version of CUDA whose graphs support that.
constexpr int kOverlapVersion = 12030;
// Bytes of shared memory that a block may use without a request.
constexpr size_t kFreeShared = size_t{48} * 1024;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

bool overlap_in(const std::vector<KernelCall>& calls) {
  return std::ranges::any_of(calls, [](const KernelCall& call) { return call.overlaps != 0; });
}

/// Records what is launched on a stream, instead of running it.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "recording kernels");
  }
  // The recording must end in any case, so that the stream can be used again.
  ~Capture() {
    if (!ended_) cudaStreamEndCapture(stream_, &graph_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    static_cast<void>(cudaGetLastError());  // clears an error, so that a later call does not report it
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  cudaGraphExec_t instantiate() {
    ended_ = true;
    check(cudaStreamEndCapture(stream_, &graph_), "recording kernels");
    cudaGraphExec_t executable = nullptr;
    check(cudaGraphInstantiate(&executable, graph_, 0), "making a graph of kernels");
    return executable;
  }

 private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  bool ended_ = false;
};

}  // namespace

Switches read_switches() {
  Switches switches;
  for (const auto& [name, part] : kVariables) switches.*part = value_of(name) != "0";
  switches.library_required = value_of(kLibrary) == "1";
  return switches;
}

std::string describe_switches() {
  std::string text;
  for (const auto& [name, part] : kVariables)
    if (const std::string value = value_of(name); !value.empty())
      text += (text.empty() ? "" : ", ") + std::string(name) + "=" + value;
  return text;
}

Stream::Stream() {
  const Switches switches = read_switches();
  int driver = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  overlap_ = switches.overlap && std::min(driver, CUDART_VERSION) >= kOverlapVersion;
  graphs_ = switches.graphs;
  check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "starting work on the GPU");
}

Stream::~Stream() {
  for (const Graph& graph : kept_) cudaGraphExecDestroy(graph.executable);
  cudaStreamDestroy(handle_);
}

// Only code for these devices contains the wait for the previous kernel. The code that runs on a newer device
// may be older, if the driver compiled it from PTX.
//
// Every kernel gets the same division of the memory that a multiprocessor has for its cache and for shared
// memory. To change it, a multiprocessor must be empty, so kernels with different divisions could not
// overlap.
Stream::Kernel& Stream::kernel(const void* function) {
  const auto found = kernels_.find(function);
  if (found != kernels_.end()) return found->second;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, function), "looking at a kernel");
  check(cudaFuncSetAttribute(function, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared),
        "dividing the memory of a multiprocessor");
  const bool overlaps = overlap_ && attributes.ptxVersion >= kOverlaps;
  return kernels_.emplace(function, Kernel{kFreeShared, overlaps}).first->second;
}

void put(Stream& stream, const KernelCall& call, const std::byte* arguments, size_t bytes) {
  stream.put(call, arguments, bytes);
}

void Stream::put(KernelCall call, const std::byte* arguments, size_t bytes) {
  Kernel& known = kernel(call.kernel);
  if (call.shared > known.shared) {
    check(cudaFuncSetAttribute(call.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(call.shared)),
          "shared memory of a kernel");
    known.shared = call.shared;
  }
  call.overlaps = known.overlaps ? 1 : 0;
  call.arguments = noted_.arguments.size();
  noted_.arguments.insert(noted_.arguments.end(), arguments, arguments + bytes);
  noted_.calls.push_back(call);
}

void Stream::flush() {
  if (noted_.calls.empty()) return;
  std::swap(noted_, leaving_);
  noted_.clear();
  const bool wanted = graphs_ && watcher_ == nullptr && leaving_.calls.size() >= kGraphKernels;
  const cudaGraphExec_t graph = wanted ? find_graph(leaving_) : cudaGraphExec_t{nullptr};
  if (graph == nullptr) return start(leaving_, watcher_ == nullptr);
  check(cudaGraphLaunch(graph, handle_), "launching a graph of kernels");
  ++replays_;
}

void Stream::start(const List& list, bool overlap) const {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.stream = handle_;
  config.attrs = &attribute;
  for (const KernelCall& call : list.calls) {
    config.gridDim = dim3(call.grid[0], call.grid[1], call.grid[2]);
    config.blockDim = dim3(call.threads);
    config.dynamicSmemBytes = call.shared;
    config.numAttrs = overlap ? call.overlaps : 0;
    if (watcher_ != nullptr) watcher_->begin(handle_, call.kernel);
    check(call.start(config, call.kernel, list.arguments.data() + call.arguments), "launching a kernel");
    if (watcher_ != nullptr) watcher_->end(handle_);
  }
}

/// The graph of an equal list. It is made when a list occurs for the second time. Null for the first time,
/// and if the driver cannot make it; then the list counts as new.
cudaGraphExec_t Stream::find_graph(const List& list) {
  const auto found = std::ranges::find(kept_, list, &Graph::list);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return found->executable;
  }
  if (!seen_before(list)) return nullptr;
  const cudaGraphExec_t made = make_graph(list);
  if (made == nullptr) return nullptr;
  kept_.push_front({list, made});
  if (kept_.size() > kGraphs) {
    cudaGraphExecDestroy(kept_.back().executable);
    kept_.pop_back();
  }
  return made;
}

/// Null if the driver cannot make a graph. If a kernel is the cause, its separate launch will report the
/// error. A driver may be able to make graphs, but not of kernels that overlap. Then this graph and all later
/// ones are made without overlap.
cudaGraphExec_t Stream::make_graph(const List& list) {
  cudaGraphExec_t made = capture(list, graphs_overlap_);
  if (made == nullptr) ++graph_failures_;
  if (made == nullptr && graphs_overlap_ && overlap_in(list.calls)) {
    made = capture(list, false);
    if (made != nullptr) {
      graphs_overlap_ = false;
      graph_problem_ += "; made without overlap";
    }
  }
  failures_in_a_row_ = made != nullptr ? 0 : failures_in_a_row_ + 1;
  graphs_ = failures_in_a_row_ < kGraphFailures;
  return made;
}

/// Null if that failed; then graph_problem_ says why.
cudaGraphExec_t Stream::capture(const List& list, bool overlap) {
  try {
    Capture capture(handle_);
    start(list, overlap);
    return capture.instantiate();
  } catch (const Error& error) {
    graph_problem_ = error.what();
    return nullptr;
  }
}

bool Stream::seen_before(const List& list) {
  const uint64_t hash = list.hash();
  const auto found = std::ranges::find(seen_, hash);
  if (found != seen_.end()) {
    seen_.erase(found);
    return true;
  }
  if (seen_.size() == kSeen) seen_.erase(seen_.begin());
  seen_.push_back(hash);
  return false;
}

bool Stream::List::operator==(const List& other) const {
  return calls.size() == other.calls.size() && arguments.size() == other.arguments.size() &&
         std::memcmp(calls.data(), other.calls.data(), calls.size() * sizeof(KernelCall)) == 0 &&
         std::memcmp(arguments.data(), other.arguments.data(), arguments.size()) == 0;
}

void Stream::List::clear() {
  calls.clear();
  arguments.clear();
}

uint64_t Stream::List::hash() const {
  uint64_t result = calls.size();
  for (const KernelCall& call : calls) {
    result = mix(result, reinterpret_cast<uintptr_t>(call.kernel));
    for (const unsigned blocks : call.grid) result = mix(result, blocks);
  }
  for (size_t at = 0; at < arguments.size(); at += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, arguments.data() + at, sizeof word);
    result = mix(result, word);
  }
  return result;
}

}  // namespace carbon::cuda
