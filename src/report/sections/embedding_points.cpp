#include "src/report/sections/embedding_points.hpp"

#include <algorithm>
#include <cmath>
#include <eigen3/Eigen/Eigenvalues>
#include <eigen3/Eigen/QR>
#include <numeric>
#include <optional>

#include "src/base/error.hpp"
#include "src/base/random.hpp"
#include "src/base/system.hpp"
#include "src/base/threads.hpp"

namespace carbon {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Index = Eigen::Index;

constexpr Index kRowsAtOnce = 128;  // of the input, in one pass over the covariance
constexpr Index kPanel = 128;       // columns of the covariance that a thread takes at once
constexpr Index kVectors = 64;      // that the iteration moves together
constexpr int kMostRounds = 300;
constexpr double kConverged = 1e-12;

// Calls f(first column, number of columns) for panels of all columns.
void for_panels(Index columns, ThreadPool& pool, const std::function<void(Index, Index)>& f) {
  pool.run(static_cast<size_t>((columns + kPanel - 1) / kPanel), [&](size_t panel, size_t) {
    const Index begin = static_cast<Index>(panel) * kPanel;
    f(begin, std::min(kPanel, columns - begin));
  });
}

// The sums of products of all pairs of columns, from one reading: of the distances from the first row, so
// that a mean far from zero costs no digits. The order of a sum does not depend on the number of threads.
class Covariance {
 public:
  Covariance(Index columns, ThreadPool& pool)
      : n_(columns),
        pool_(pool),
        first_(Vector::Zero(n_)),
        sums_(Vector::Zero(n_)),
        block_(n_, kRowsAtOnce),
        products_(Matrix::Zero(n_, n_)) {}

  void add(std::span<const float> row) {
    const Vector values = Eigen::Map<const Eigen::VectorXf>(row.data(), n_).cast<double>();
    if (rows_++ == 0) first_ = values;
    block_.col(held_++) = values - first_;
    sums_ += values - first_;
    if (held_ == kRowsAtOnce) add_block();
  }

  uint64_t rows() const { return rows_; }
  Vector means() const { return first_ + sums_ / std::max(1.0, static_cast<double>(rows_)); }

  /// The whole matrix, divided by rows - 1.
  Matrix finish() {
    add_block();
    const auto count = static_cast<double>(rows_);
    for (Index i = 0; i < n_; ++i) {
      auto below = products_.col(i).tail(n_ - i);
      below = (below - sums_.tail(n_ - i) * (sums_(i) / count)) / (count - 1);
      products_.row(i).tail(n_ - i) = below.transpose();
    }
    return std::move(products_);
  }

 private:
  void add_block() {
    const auto block = block_.leftCols(held_);
    for_panels(n_, pool_, [&](Index begin, Index count) {
      products_.block(begin, begin, n_ - begin, count).noalias() +=
          block.bottomRows(n_ - begin) * block.middleRows(begin, count).transpose();
    });
    held_ = 0;
  }

  Index n_;
  ThreadPool& pool_;
  uint64_t rows_ = 0;
  Vector first_, sums_;
  Matrix block_;  // a row of the input in each column, the first `held_` of them
  Index held_ = 0;
  Matrix products_;  // below the diagonal
};

// Directions of length 1 at right angles that span the same space.
Matrix orthonormal(const Matrix& vectors) {
  return Eigen::HouseholderQR<Matrix>(vectors).householderQ() *
         Matrix::Identity(vectors.rows(), vectors.cols());
}

// Random directions, the same for every run.
Matrix first_directions(Index n) {
  Matrix out(n, std::min(n, kVectors));
  for (Index v = 0; v < out.cols(); ++v)
    for (Index i = 0; i < n; ++i)
      out(i, v) =
          uniform32(philox({static_cast<uint32_t>(i), static_cast<uint32_t>(v), 0, 0}, {0x70636131, 0})[0]) -
          0.5;
  return orthonormal(out);
}

std::vector<double> with_largest_positive(const Vector& vector) {
  Index largest = 0;
  vector.cwiseAbs().maxCoeff(&largest);
  const Vector turned = vector(largest) < 0 ? Vector(-vector) : vector;
  return {turned.begin(), turned.end()};
}

// Whether row number `row` of `rows` belongs to an even sample of `most`.
bool sampled(uint64_t row, uint64_t rows, uint64_t most) {
  if (rows <= most) return true;
  const auto before = [&](uint64_t r) { return static_cast<unsigned __int128>(r) * most / rows; };
  return before(row) != before(row + 1);
}

// Sorts groups by the number of their sequences, and equal ones as they stand in the table.
void sort_groups(EmbeddingPoints& out) {
  std::vector<size_t> order(out.groups.size()), place(out.groups.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return out.groups[a].sequences > out.groups[b].sequences; });
  std::vector<EmbeddingGroup> sorted;
  for (const size_t i : order) {
    place[i] = sorted.size();
    if (out.groups[i].sequences > 0) sorted.push_back(std::move(out.groups[i]));
  }
  out.groups = std::move(sorted);
  for (EmbeddingPoint& point : out.points)
    if (point.group != kNoGroup) point.group = place[point.group];
}

// The last reading of the file: where rows lie, and how many belong to each group.
class PointReader {
 public:
  PointReader(const ReportOptions& options, size_t most_points, EmbeddingPoints& out)
      : most_(most_points), out_(out) {
    if (options.colour.empty()) return;
    table_.emplace(options.groups, options.colour);
    out_.coloured = true;
    out_.numeric = !table_->numbers().empty();
    for (const std::string& value : table_->values()) out_.groups.push_back({value});
  }

  void add(const EmbeddingRow& row) {
    if (out_.rows == 0 || row.sequence != sequence_) begin(row);
    if (EmbeddingGroup* group = group_of_sequence()) ++group->rows;
    if (sampled(out_.rows, out_.pca.rows, most_)) out_.points.push_back(point(row));
    ++out_.rows;
  }

  void finish() {
    if (table_) out_.unused = table_->unused();
    if (!out_.numeric) sort_groups(out_);
  }

 private:
  EmbeddingGroup* group_of_sequence() {
    if (!table_) return nullptr;
    return value_ ? &out_.groups[*value_] : &out_.without;
  }

  void begin(const EmbeddingRow& row) {
    sequence_ = row.sequence;
    ++out_.sequences;
    if (table_) value_ = table_->find(row.name);
    if (EmbeddingGroup* group = group_of_sequence()) ++group->sequences;
  }

  EmbeddingPoint point(const EmbeddingRow& row) const {
    EmbeddingPoint point;
    point.name = row.name;
    for (size_t c = 0; c < std::min(point.at.size(), out_.pca.components.size()); ++c)
      point.at[c] = out_.pca.score(row.values, c);
    if (value_) {
      point.group = *value_;
      if (out_.numeric) point.number = table_->numbers()[*value_];
    }
    return point;
  }

  size_t most_;
  EmbeddingPoints& out_;
  std::optional<GroupTable> table_;
  std::optional<size_t> value_;  // of the sequence at hand
  uint64_t sequence_ = 0;
};

}  // namespace

double Pca::score(std::span<const float> row, size_t component) const {
  const std::vector<double>& direction = components[component];
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum += (static_cast<double>(row[i]) - means[i]) * direction[i];
  return sum;
}

// Subspace iteration: the covariance moves a set of directions at once, which turn towards those of its
// largest eigenvalues. A set, unlike a single vector, also finds equal eigenvalues.
Pca principal_components(const ReadRows& read, size_t columns, size_t most) {
  // Else the order of sums would depend on the caches of the machine.
  Eigen::setCpuCacheSizes(Index{32} << 10, Index{512} << 10, Index{4} << 20);
  Pca out;
  const auto n = static_cast<Index>(columns);
  // For few columns, the work takes less time than threads take to start.
  ThreadPool pool(columns > 256 ? available_cpus() : 1);
  Covariance sums(n, pool);
  read([&](std::span<const float> row) { sums.add(row); });
  out.rows = sums.rows();
  const Vector means = sums.means();
  out.means.assign(means.begin(), means.end());
  if (out.rows < 2) return out;
  const Matrix covariance = sums.finish();
  out.total = covariance.trace();
  if (!(out.total > 0)) return out;

  Matrix directions = first_directions(n), images(n, directions.cols()), found;
  const Index wanted = std::min({static_cast<Index>(most), directions.cols(),
                                 static_cast<Index>(std::min<uint64_t>(out.rows - 1, most))});
  Vector variances;
  for (int round = 0;; ++round) {
    for_panels(n, pool, [&](Index begin, Index count) {
      images.middleRows(begin, count).noalias() =
          covariance.middleCols(begin, count).transpose() * directions;
    });
    // What the set says of the largest: the eigenvectors of the covariance within it, in ascending order.
    const Eigen::SelfAdjointEigenSolver<Matrix> within(directions.transpose() * images);
    const Matrix turns = within.eigenvectors().rightCols(wanted).rowwise().reverse();
    variances = within.eigenvalues().tail(wanted).reverse();
    found = directions * turns;
    out.residual =
        (images * turns - found * variances.asDiagonal()).colwise().norm().maxCoeff() / variances(0);
    if (out.residual <= kConverged || round == kMostRounds) break;
    directions = orthonormal(images);
  }
  // What is left after these is nothing but rounding.
  for (Index k = 0; k < wanted && variances(k) > 1e-14 * out.total; ++k) {
    out.variances.push_back(variances(k));
    out.components.push_back(with_largest_positive(found.col(k)));
  }
  return out;
}

EmbeddingPoints read_points(const std::string& path, const ReportOptions& options, size_t most_components,
                            size_t most_points) {
  EmbeddingPoints out;
  out.file = open_embeddings(path);
  PointReader points(options, most_points, out);  // first, because a wrong table shows at once
  out.pca = principal_components(
      [&](const std::function<void(std::span<const float>)>& use) {
        out.file.read([&](const EmbeddingRow& row) { use(row.values); });
      },
      out.file.columns, most_components);
  out.file.read([&](const EmbeddingRow& row) { points.add(row); });
  if (out.rows != out.pca.rows) throw Error("read_embeddings", path + ": the file changed while it was read");
  points.finish();
  return out;
}

}  // namespace carbon
