#include "src/model/synthetic.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/system.hpp"
#include "src/base/threads.hpp"
#include "src/model/llama_tensors.hpp"
#include "src/model/tensor_buffer.hpp"

namespace carbon {
namespace {

// Bytes of distinct random numbers: a multiple of every page size, and more than every last-level cache
// holds.
constexpr uint64_t kBlock = uint64_t{1} << 30;
// Words of them that a thread makes at a time.
constexpr uint64_t kPiece = uint64_t{1} << 16;
// Tensors begin at multiples of this, and memory is mapped in multiples of it.
constexpr uint64_t kAlign = uint64_t{1} << 16;

struct Shape {
  const char* name;
  size_t hidden, layers, heads, kv_heads, head_dim, intermediate, max_positions;
  float rms_eps;
  double rope_theta;
  bool tied_head;
  bool letters = false;    // a MarinDNA
  bool annotates = false;  // a GENERanno
};

constexpr Shape kShapes[] = {
    {"500M", 1024, 28, 16, 8, 64, 3072, 8192, 1e-6f, 5e5, true},
    {"3B", 3072, 30, 32, 4, 96, 8448, 32768, 1e-6f, 5e6, true},
    {"8B", 4096, 32, 32, 8, 128, 14336, 32768, 1e-5f, 5e6, false},
    {"marin", 1920, 19, 15, 15, 128, 7680, 256, 1e-6f, 5e5, false, true},
    // Of Carbon-A-1.2B the hidden size, the vocabulary and the context are known. The other sizes are
    // assumed: 26 layers are those of a GENERator of the same makers and number of parameters.
    {"carbon-a", 2048, 26, 32, 4, 64, 5632, 16384, 1e-5f, 5e5, false, false, true},
};

/// What a MarinDNA has beside a Llama, with the ids of its tokenizer without [EOS]: [PAD], [UNK], [BOS], a,
/// c, g, t.
void add_letters(ModelConfig& c) {
  c.head_norm = true;
  c.llama3_rope = {8, 1, 4, 8192};
  c.layout = {0, 7, &kMarinFamily, {}, LetterVocabulary{2, 1, std::nullopt, {3, 6, 4, 5}}};
}

constexpr uint64_t round_up(uint64_t n, uint64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// The place of each tensor: first the vectors, then the matrices.
struct Plan {
  std::map<std::string, TensorInfo> tensors;
  uint64_t vectors = 0, total = 0;  // bytes, multiples of kAlign

  explicit Plan(const ModelConfig& config) {
    for (const size_t rank : {1, 2}) {
      for (const TensorShape& tensor : architecture(config)) {
        if (tensor.shape.size() != rank) continue;
        const uint64_t count = std::accumulate(tensor.shape.begin(), tensor.shape.end(), uint64_t{1},
                                               [](uint64_t a, uint64_t b) { return a * b; });
        tensors[tensor.name] = {"BF16", tensor.shape, total, total + count * sizeof(bf16)};
        total = round_up(total + count * sizeof(bf16), kAlign);
      }
      if (rank == 1) vectors = total;
    }
  }
  /// Bytes of the random numbers that the matrices repeat.
  uint64_t block() const { return std::min(total - vectors, kBlock); }
  uint64_t stored() const { return vectors + block(); }
};

uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

constexpr const char* kPurpose = "random weights";

class SyntheticTensors final : public TensorFile {
 public:
  SyntheticTensors(const std::string& name, const Plan& plan)
      : TensorFile(name), space_(kPurpose, plan.total) {
    tensors_ = plan.tensors;
    data_ = space_.data();
    size_ = plan.total;
    fill(space_.data(), plan);
  }

 private:
  static void fill(uint8_t* space, const Plan& plan) {
    const SharedMemory memory(kPurpose, plan.stored());
    memory.map(space, plan.stored(), 0, PROT_READ | PROT_WRITE);
    std::fill_n(reinterpret_cast<uint16_t*>(space), plan.vectors / sizeof(bf16), to_bf16(1.0f).bits);
    auto* const values = reinterpret_cast<uint64_t*>(space + plan.vectors);
    const uint64_t count = plan.block() / sizeof(uint64_t);
    ThreadPool(available_cpus()).run((count + kPiece - 1) / kPiece, [&](size_t piece, size_t) {
      for (uint64_t i = piece * kPiece; i < std::min(count, (piece + 1) * kPiece); ++i) {
        // Four bf16 numbers with random signs and mantissas and the exponent of 2^-6.
        constexpr uint64_t kRandom = 0x807f807f807f807fu, kExponent = 0x3c803c803c803c80u;
        values[i] = (mix(i * 0x9E3779B97F4A7C15u) & kRandom) | kExponent;
      }
    });
    memory.map(space, plan.stored(), 0, PROT_READ);
    for (uint64_t at = plan.stored(); at < plan.total; at += plan.block())
      memory.map(space + at, std::min(plan.block(), plan.total - at), plan.vectors, PROT_READ);
  }

  AddressSpace space_;
};

}  // namespace

std::vector<std::string> synthetic_shapes() {
  std::vector<std::string> names;
  for (const Shape& shape : kShapes) names.emplace_back(shape.name);
  return names;
}

ModelConfig synthetic_config(const std::string& shape) {
  for (const Shape& s : kShapes) {
    if (shape != s.name) continue;
    ModelConfig c;
    c.hidden = s.hidden;
    c.layers = s.layers;
    c.heads = s.heads;
    c.kv_heads = s.kv_heads;
    c.head_dim = s.head_dim;
    c.intermediate = s.intermediate;
    if (s.letters) add_letters(c);
    if (s.annotates) {
      c.annotator = AnnotatorConfig{};
      c.layout = {0, kGenerannoFamily.kmer0 + kKmerCount, &kGenerannoFamily};
    }
    c.vocab = c.layout.vocab_size;
    c.max_positions = s.max_positions;
    c.rms_eps = s.rms_eps;
    c.rope_theta = s.rope_theta;
    c.tied_head = s.tied_head;
    return c;
  }
  throw Error("synthetic_checkpoint",
              "unknown shape '" + shape + "'; expected 500M, 3B, 8B, marin or carbon-a");
}

uint64_t synthetic_bytes(const ModelConfig& config) {
  return Plan(config).stored();
}

Checkpoint synthetic_checkpoint(const std::string& shape, const std::optional<RopeScaling>& rope_scaling) {
  const ModelConfig config = synthetic_config(shape);
  const std::string name = "synthetic-" + shape;
  return {name, config, std::make_unique<SyntheticTensors>(name, Plan(config)), rope_scaling};
}

}  // namespace carbon
