// The implementation of matmul.hpp with cuBLASLt.
//
// Row-major act . weight^T is, for the column-major library, D = A^T B with A = weight [k x outputs] and
// B = act [k x n], without copies. The library usually chooses an algorithm by the number of rows. Here one
// algorithm without split-K is chosen for a shape and used for every number of rows. A test at start-up
// checks that its rows always have the same bits; algorithms that split the sum by the number of tiles fail
// it and are not used. An algorithm that fails it only because products of few rows differ is used with
// padding.
#include "kernels/cuda/matmul.hpp"

#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/cublaslt.hpp"
#include "kernels/cuda/row_padding.hpp"
#include "kernels/cuda/selftest.hpp"

namespace carbon::cuda {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;
constexpr int kCandidates = 16;
/// (First row, number of rows) of parts of a product of `rows` rows. Computed alone they must have the same
/// bits.
std::vector<std::pair<size_t, size_t>> test_parts(size_t rows) {
  return {{0, 1},         {rows - 1, 1},      {5, 2},     {3, 17},   {40, 64},      {9, 100},
          {128, 256},     {100, 683},         {42, 1366}, {0, 1024}, {7, rows - 7}, {1, rows / 2},
          {13, rows / 4}, {rows - 1407, 1407}};
}

/// The algorithms that sum in one piece, for operands aligned to 16 bytes.
BlasPreference one_piece_preference() {
  BlasPreference preference = make_blas_preference(kWorkspace);
  set_blas_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                      uint32_t{CUBLASLT_REDUCTION_SCHEME_NONE});
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set_blas_preference(preference, attribute, uint32_t{16});
  return preference;
}

/// What an algorithm says of itself; -1 if it does not.
int32_t configured(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  int32_t value = -1;
  size_t written = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return status == CUBLAS_STATUS_SUCCESS ? value : -1;
}

// An algorithm that does not say how it sums is not used.
bool sums_in_one_piece(const cublasLtMatmulAlgo_t& algorithm) {
  const int32_t pieces = configured(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
  return (pieces == 0 || pieces == 1) &&
         configured(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) == CUBLASLT_REDUCTION_SCHEME_NONE;
}

std::string describe(const cublasLtMatmulAlgo_t& algorithm) {
  return "algorithm " + std::to_string(configured(algorithm, CUBLASLT_ALGO_CONFIG_ID)) + ", tile " +
         std::to_string(configured(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID)) + ", stages " +
         std::to_string(configured(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID));
}

std::string describe_rows(size_t first, size_t count) {
  return std::to_string(count) + " rows from " + std::to_string(first);
}

class CublasLt final : public Matmul {
 public:
  CublasLt(std::shared_ptr<const Device> device, size_t pass_rows)
      : device_(std::move(device)),
        pass_rows_(pass_rows),
        operation_(make_blas_operation()),
        workspace_(device_, kWorkspace, "cuBLASLt"),
        padding_(device_),
        handle_(make_blas_handle()) {}

  std::string name() const override { return "cublaslt" + std::to_string(cublasLtGetVersion()); }

  bool prepare(const void* weight, size_t outputs, size_t k, Result result) override {
    const Shape shape{outputs, k, result};
    const auto found = choices_.find(shape);
    if (found != choices_.end()) return found->second.algorithm.has_value();
    return choices_.emplace(shape, choose(weight, shape)).first->second.algorithm.has_value();
  }

  std::vector<std::string> choice(size_t outputs, size_t k, Result result) const override {
    const auto at = choices_.find({outputs, k, result});
    return at != choices_.end() ? at->second.lines : std::vector<std::string>();
  }

  void run(const Call& call) override {
    const auto at = choices_.find({call.outputs, call.k, call.result});
    if (at == choices_.end() || !at->second.algorithm || call.ld_out * result_bytes(call.result) % 16 != 0)
      throw Error("linear", "no algorithm was prepared for this product");
    check_blas(multiply(call, *at->second.algorithm), "a matrix product");
  }

 private:
  struct Algorithm {
    cublasLtMatmulAlgo_t algorithm;
    size_t least_rows;  // products of fewer are padded
  };
  struct Choice {
    std::optional<Algorithm> algorithm;
    std::vector<std::string> lines;  // of choice()
  };
  using Candidates = std::array<cublasLtMatmulHeuristicResult_t, kCandidates>;
  using Shape = std::tuple<size_t, size_t, Result>;  // outputs and k

  static cudaDataType blas_type(Result result) { return result == Result::bf16 ? CUDA_R_16BF : CUDA_R_32F; }

  cublasStatus_t multiply(const Call& call, const Algorithm& algorithm) {
    if (call.n >= algorithm.least_rows) return multiply_whole(call, algorithm.algorithm);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    padding_.run(call, [&](const Call& padded) { status = multiply_whole(padded, algorithm.algorithm); });
    return status;
  }

  cublasStatus_t multiply_whole(const Call& c, const cublasLtMatmulAlgo_t& algorithm) {
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, c.k, c.outputs, c.k),
                     b = make_blas_layout(CUDA_R_16BF, c.k, c.n, c.k),
                     d = make_blas_layout(blas_type(c.result), c.outputs, c.n, c.ld_out);
    const float one = 1.0f, before = c.result == Result::added ? 1.0f : 0.0f;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    device_->stream().run_library([&](cudaStream_t stream) {
      status =
          cublasLtMatmul(handle_.get(), operation_.get(), &one, c.weight, a.get(), c.act, b.get(), &before,
                         c.out, d.get(), c.out, d.get(), &algorithm, workspace_.get(), kWorkspace, stream);
    });
    return status;
  }

  /// The algorithms that the library proposes for a full pass; returns how many there are.
  int propose(const Shape& shape, Candidates& found) {
    const auto [outputs, k, result] = shape;
    const BlasLayout a = make_blas_layout(CUDA_R_16BF, k, outputs, k),
                     b = make_blas_layout(CUDA_R_16BF, k, pass_rows_, k),
                     d = make_blas_layout(blas_type(result), outputs, pass_rows_, outputs);
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_.get(), operation_.get(), a.get(), b.get(), d.get(), d.get(),
                                       one_piece_preference().get(), kCandidates, found.data(), &count);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return 0;
    check_blas(status, "choosing an algorithm");
    return count;
  }

  Choice choose(const void* weight, const Shape& shape) {
    const auto [outputs, k, result] = shape;
    if (k % 8 != 0 || outputs * result_bytes(result) % 16 != 0)
      return {std::nullopt, {"refused: the bytes of its rows are not a multiple of 16"}};
    Candidates found{};
    const int count = propose(shape, found);
    if (count == 0) return {std::nullopt, {"refused: the library has no algorithm that sums in one piece"}};
    const Test test(device_, weight, pass_rows_, shape);
    Choice choice;
    for (int i = 0; i < count && !choice.algorithm; ++i)
      try_algorithm(found[i], std::to_string(i + 1) + " of " + std::to_string(count), test, choice);
    return choice;
  }

  /// The operands of a test, and the values to which its products are added, if they are added.
  struct Test {
    Test(const std::shared_ptr<const Device>& device, const void* weight, size_t rows, const Shape& shape) {
      const auto [outputs, k, result] = shape;
      const auto memory = [&](size_t bytes) { return Memory(device, bytes, "the self-test of a product"); };
      const size_t bytes = rows * outputs * result_bytes(result);
      act = memory(rows * k * sizeof(bf16));
      whole = memory(bytes);
      part = memory(bytes);
      fill_random(*device, act.get(), rows * k);
      if (result == Result::added) {
        before = memory(bytes);
        // Two random bf16 together are a random f32 in the same range.
        fill_random(*device, before.get(), bytes / sizeof(bf16));
      }
      all = {act.get(), weight, rows, outputs, k, whole.get(), outputs, result};
    }
    Memory act, whole, part, before;
    Call all;
  };

  /// Chooses the algorithm if no rule refuses it. Padding is tried if it fails for few rows only.
  void try_algorithm(const cublasLtMatmulHeuristicResult_t& found, const std::string& number,
                     const Test& test, Choice& choice) {
    const std::string name = number + " (" + describe(found.algo) + ")";
    const auto refuse = [&](const std::string& why) {
      choice.lines.push_back("refused: " + name + ": " + why);
    };
    if (found.state != CUBLAS_STATUS_SUCCESS) return refuse("the library says that it does not run");
    if (!sums_in_one_piece(found.algo)) return refuse("it sums in pieces, or does not say how it sums");
    for (const size_t least_rows : {size_t{1}, kPaddedRows}) {
      const std::string padded =
          least_rows > 1 ? ", with padding to " + std::to_string(least_rows) + " rows" : "";
      const std::optional<Failure> failure = run_test(test, {found.algo, least_rows});
      if (!failure) {
        choice.algorithm = {found.algo, least_rows};
        choice.lines.push_back("chosen: " + name + padded);
        return;
      }
      refuse(failure->text + padded);
      if (failure->rows >= kPaddedRows) return;
    }
  }

  /// Why parts of a product, computed alone, do not have the bits that they have in the whole.
  struct Failure {
    size_t rows;
    std::string text;
  };
  std::optional<Failure> run_test(const Test& test, const Algorithm& algorithm) {
    const Call& all = test.all;
    const size_t row_bytes = all.outputs * result_bytes(all.result);
    const auto start_from = [&](void* out, size_t first, size_t count) {
      if (all.result == Result::added)
        device_->copy(out, test.before.as<char>() + first * row_bytes, count * row_bytes);
    };
    start_from(all.out, 0, all.n);
    if (multiply(all, algorithm) != CUBLAS_STATUS_SUCCESS)
      return Failure{all.n, "it does not run for " + describe_rows(0, all.n)};
    for (const auto& [first, count] : test_parts(all.n)) {
      Call some = all;
      some.act = test.act.as<bf16>() + first * all.k;
      some.n = count;
      some.out = test.part.get();
      start_from(some.out, first, count);
      if (multiply(some, algorithm) != CUBLAS_STATUS_SUCCESS)
        return Failure{count, "it does not run for " + describe_rows(first, count)};
      if (differ(device_, some.out, test.whole.as<char>() + first * row_bytes, count * row_bytes))
        return Failure{
            count, describe_rows(first, count) + " differ from the same rows of " + std::to_string(all.n)};
    }
    return std::nullopt;
  }

  std::shared_ptr<const Device> device_;
  size_t pass_rows_;  // rows for which algorithms are chosen and tested
  BlasOperation operation_;
  Memory workspace_;
  RowPadding padding_;
  BlasHandle handle_;
  std::map<Shape, Choice> choices_;
};

}  // namespace

std::unique_ptr<Matmul> make_matmul(std::shared_ptr<const Device> device, size_t pass_rows) {
  return std::make_unique<CublasLt>(std::move(device), pass_rows);
}

}  // namespace carbon::cuda
