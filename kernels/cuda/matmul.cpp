#include "kernels/cuda/matmul.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/cuda/matmul_test.hpp"
#include "src/base/error.hpp"

namespace carbon::cuda {
namespace {

size_t round_up(size_t n, size_t step) {
  return (n + step - 1) / step * step;
}

/// Why algorithms were refused, with their numbers: "1, 3: it sums in pieces; 2: ...".
class Refusals {
 public:
  void add(size_t number, const std::string& why) {
    const auto same = std::ranges::find(reasons_, why, &Reason::why);
    if (same != reasons_.end())
      same->numbers += ", " + std::to_string(number);
    else
      reasons_.push_back({why, std::to_string(number)});
  }
  std::string text() const {
    std::string text;
    for (const Reason& reason : reasons_)
      text += (text.empty() ? "" : "; ") + reason.numbers + ": " + reason.why;
    return text;
  }

 private:
  struct Reason {
    std::string why, numbers;
  };
  std::vector<Reason> reasons_;
};

}  // namespace

Matmul::Matmul(std::shared_ptr<const Device> device, std::unique_ptr<MatmulLibrary> library, size_t rows)
    : device_(std::move(device)), library_(std::move(library)), rows_(rows), padding_(device_) {}

Matmul::~Matmul() = default;

bool Matmul::prepare(size_t outputs, size_t k, MatmulResult result) {
  const Shape shape{outputs, k, result};
  auto found = choices_.find(shape);
  if (found == choices_.end()) found = choices_.emplace(shape, choose(shape)).first;
  return found->second.padded != nullptr;
}

std::string Matmul::choice(size_t outputs, size_t k, MatmulResult result) const {
  const auto at = choices_.find({outputs, k, result});
  return at != choices_.end() ? at->second.text : "";
}

void Matmul::run(const MatmulCall& call) {
  const auto at = choices_.find({call.outputs, call.k, call.result});
  if (at == choices_.end() || !at->second.padded || call.ld_out * result_bytes(call.result) % 16 != 0)
    throw Error("linear", "no algorithm was prepared for this product");
  // Products of more rows were not tested.
  for (size_t first = 0; first < call.n; first += rows_) {
    const MatmulCall some = call.part(first, std::min(rows_, call.n - first));
    if (!multiply(*at->second.padded, some))
      throw Error("linear", name() + " does not support a product of " + std::to_string(some.n) + " x " +
                                std::to_string(call.outputs) + " x " + std::to_string(call.k) + " by " +
                                at->second.padded->algorithm->name());
  }
}

bool Matmul::multiply(Padded& padded, const MatmulCall& call) {
  const auto with_padding = [&](size_t rows) {
    return padding_.run(call, rows, [&](const MatmulCall& c) { return padded.algorithm->multiply(c); });
  };
  const auto known = padded.rows.find(call.n);
  if (known != padded.rows.end()) return with_padding(known->second);
  if (call.n >= padded.least_rows && padded.algorithm->multiply(call)) return true;
  for (size_t rows = round_up(call.n + 1, kPaddingStep); rows <= round_up(rows_, kPaddingStep);
       rows += kPaddingStep)
    if (with_padding(rows)) {
      padded.rows.emplace(call.n, rows);
      return true;
    }
  return false;
}

Matmul::Choice Matmul::choose(const Shape& shape) {
  const auto [outputs, k, result] = shape;
  if (k % 8 != 0 || outputs * result_bytes(result) % 16 != 0)
    return {nullptr, "the bytes of its rows are not a multiple of 16"};
  auto proposed = library_->propose(rows_, outputs, k, result);
  if (proposed.empty()) return {nullptr, "the library proposes no algorithm"};
  std::optional<MatmulTest> test;
  Refusals refusals;
  for (size_t i = 0; i < proposed.size(); ++i) {
    auto candidate = std::make_unique<Padded>(Padded{std::move(proposed[i])});
    std::string problem = candidate->algorithm->objection();
    if (problem.empty()) {
      if (!test) test.emplace(device_, rows_, outputs, k, result);
      problem = try_algorithm(*candidate, *test);
    }
    if (!problem.empty()) {
      refusals.add(i + 1, problem);
      continue;
    }
    std::string text = std::to_string(i + 1) + " of " + std::to_string(proposed.size()) + " (" +
                       candidate->algorithm->name() + ")";
    if (candidate->least_rows > 1)
      text += " with padding to " + std::to_string(candidate->least_rows) + " rows";
    else if (!candidate->rows.empty())
      text += " with padding where it does not support the number of rows";
    if (i > 0) text += "; refused " + refusals.text();
    return {std::move(candidate), text};
  }
  return {nullptr, "refused " + refusals.text()};
}

std::string Matmul::try_algorithm(Padded& candidate, const MatmulTest& test) {
  std::string problem;
  for (const size_t least_rows : {size_t{1}, kPaddingStep}) {
    candidate.least_rows = least_rows;
    candidate.rows.clear();
    const std::optional<MatmulTest::Failure> failure =
        test.run([&](const MatmulCall& call) { return multiply(candidate, call); });
    if (!failure) return "";
    problem += (problem.empty() ? "" : ", and with padding ") + failure->text;
    if (failure->rows >= kPaddingStep) break;
  }
  return problem;
}

}  // namespace carbon::cuda
