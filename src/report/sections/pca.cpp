// Principal components: the covariance of the columns in double, and its largest eigenvalues by a block
// Krylov method that is begun anew from the best vectors until nothing changes.
//
// A basis of a few blocks of vectors is multiplied by the matrix again and again; the problem within the
// basis is small and is solved by rotations of Jacobi. Blocks, unlike single vectors, also find equal
// eigenvalues.
#include "src/report/sections/pca.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/cpus.hpp"
#include "src/base/random.hpp"

namespace carbon {
namespace {

using Vector = std::vector<double>;

constexpr size_t kRowsAtOnce = 64;  // of the input, in one pass over the covariance
constexpr size_t kUnrolled = 8;     // of these, in one pass over a row of the covariance
constexpr size_t kBlock = 16;       // vectors that are multiplied together
constexpr size_t kBasis = 8 * kBlock, kKept = 3 * kBlock;
constexpr size_t kMostRounds = 200;
constexpr double kConverged = 1e-12;

int threads_for(size_t columns) {
  constexpr size_t kFewColumns = 256;  // threads take longer to start than the work takes
  return columns > kFewColumns ? available_cpus() : 1;
}

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

void add_multiple(Vector& to, double factor, const Vector& of) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += factor * of[i];
}

// The sums of products of all pairs of columns. Every sum is added up in the order of the rows, by one
// thread.
class Covariance {
 public:
  Covariance(std::span<const double> means)
      : columns_(means.size()), means_(means), sums_(columns_ * columns_), block_(kRowsAtOnce * columns_) {}

  void add(std::span<const float> row) {
    double* const to = &block_[held_ * columns_];
    for (size_t i = 0; i < columns_; ++i) to[i] = static_cast<double>(row[i]) - means_[i];
    if (++held_ == kRowsAtOnce) add_block();
  }

  /// The whole matrix, divided.
  Vector finish(double divisor) {
    std::fill(block_.begin() + static_cast<ptrdiff_t>(held_ * columns_), block_.end(), 0.0);
    add_block();
    for (size_t i = 0; i < columns_; ++i)
      for (size_t j = i; j < columns_; ++j)
        sums_[j * columns_ + i] = sums_[i * columns_ + j] = sums_[i * columns_ + j] / divisor;
    return std::move(sums_);
  }

 private:
  void add_block() {
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads_) if (threads_ > 1)
    for (size_t i = 0; i < columns_; ++i)
      for (size_t r = 0; r < held_; r += kUnrolled) add_products(i, &block_[r * columns_]);
    held_ = 0;
  }

  // Row i of the upper triangle, for kUnrolled rows of the input.
  void add_products(size_t i, const double* rows) {
    const size_t n = columns_;
    double* const sums = &sums_[i * n];
    const double *const a = rows, *const b = a + n, *const c = b + n, *const d = c + n, *const e = d + n,
                        *const f = e + n, *const g = f + n, *const h = g + n;
    const double ai = a[i], bi = b[i], ci = c[i], di = d[i], ei = e[i], fi = f[i], gi = g[i], hi = h[i];
#pragma omp simd
    for (size_t j = i; j < n; ++j)
      sums[j] += ((ai * a[j] + bi * b[j]) + (ci * c[j] + di * d[j])) +
                 ((ei * e[j] + fi * f[j]) + (gi * g[j] + hi * h[j]));
  }

  size_t columns_, held_ = 0;
  int threads_ = threads_for(columns_);
  std::span<const double> means_;
  Vector sums_, block_;
};

// matrix * vectors, for at most kBlock vectors.
std::vector<Vector> multiply(const Vector& matrix, std::span<const Vector> vectors, int threads) {
  const size_t n = vectors[0].size();
  Vector lanes(n * kBlock);  // the vectors' numbers beside one another; lanes without a vector are 0
  for (size_t v = 0; v < vectors.size(); ++v)
    for (size_t i = 0; i < n; ++i) lanes[i * kBlock + v] = vectors[v][i];
  std::vector<Vector> out(vectors.size(), Vector(n));
#pragma omp parallel for num_threads(threads) if (threads > 1)
  for (size_t i = 0; i < n; ++i) {
    double sums[kBlock] = {};
    const double* const row = &matrix[i * n];
    for (size_t j = 0; j < n; ++j) {
      const double* const lane = &lanes[j * kBlock];
#pragma omp simd
      for (size_t v = 0; v < kBlock; ++v) sums[v] += row[j] * lane[v];
    }
    for (size_t v = 0; v < out.size(); ++v) out[v][i] = sums[v];
  }
  return out;
}

struct Eigen {
  Vector values;                // largest first
  std::vector<Vector> vectors;  // one for each value
};

// All eigenvalues of a small symmetric matrix [n, n], by rotations that make its entries zero one after the
// other.
Eigen jacobi(Vector a, size_t n) {
  std::vector<Vector> vectors(n, Vector(n));
  for (size_t i = 0; i < n; ++i) vectors[i][i] = 1;
  for (int sweep = 0; sweep < 60; ++sweep) {
    double off = 0, all = 0;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) (i == j ? all : off) += a[i * n + j] * a[i * n + j];
    if (off <= 1e-34 * all) break;
    for (size_t p = 0; p + 1 < n; ++p)
      for (size_t q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        if (apq == 0) continue;
        const double theta = (a[q * n + q] - a[p * n + p]) / (2 * apq);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1));
        const double c = 1 / std::hypot(t, 1), s = t * c;
        for (size_t k = 0; k < n; ++k) {
          const double akp = a[k * n + p], akq = a[k * n + q];
          a[k * n + p] = c * akp - s * akq;
          a[k * n + q] = s * akp + c * akq;
        }
        for (size_t k = 0; k < n; ++k) {
          const double apk = a[p * n + k], aqk = a[q * n + k];
          a[p * n + k] = c * apk - s * aqk;
          a[q * n + k] = s * apk + c * aqk;
        }
        a[p * n + q] = a[q * n + p] = 0;
        for (size_t k = 0; k < n; ++k) {
          const double vp = vectors[p][k], vq = vectors[q][k];
          vectors[p][k] = c * vp - s * vq;
          vectors[q][k] = s * vp + c * vq;
        }
      }
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t x, size_t y) { return a[x * n + x] > a[y * n + y]; });
  Eigen out;
  for (const size_t i : order) {
    out.values.push_back(a[i * n + i]);
    out.vectors.push_back(std::move(vectors[i]));
  }
  return out;
}

// The largest eigenvalues of a covariance matrix [n, n] and their vectors.
class LargestEigen {
 public:
  LargestEigen(const Vector& matrix, size_t n) : matrix_(matrix), n_(n) {}

  /// `residual` is set to the largest distance that is left, as a share of the largest value.
  Eigen find(size_t most, double& residual) {
    for (size_t i = 0; i < std::min(n_, kBlock); ++i) add(random_vector(i));
    Eigen best;
    for (size_t round = 0; round < kMostRounds; ++round) {
      grow();
      best = within_basis(std::min(n_, std::max(most, kKept)));
      residual = largest_residual(best, most);
      if (residual <= kConverged || basis_.size() == n_) break;
      basis_ = best.vectors;  // the images have been turned along with them
    }
    return best;
  }

 private:
  // The same for every run.
  Vector random_vector(size_t number) const {
    Vector out(n_);
    for (size_t i = 0; i < n_; ++i) {
      const PhiloxBlock bits =
          philox({static_cast<uint32_t>(i), static_cast<uint32_t>(number), 0, 0}, {0x70636131, 0});
      out[i] = uniform32(bits[0]) - 0.5;
    }
    return out;
  }

  // Adds what of a vector is outside of the basis, unless it is nothing but rounding.
  void add(Vector vector) {
    const double before = std::sqrt(dot(vector, vector));
    for (int pass = 0; pass < 2; ++pass)  // the second time removes what rounding has left
      for (const Vector& one : basis_) add_multiple(vector, -dot(one, vector), one);
    const double after = std::sqrt(dot(vector, vector));
    if (!(after > 1e-13 * before)) return;
    for (double& x : vector) x /= after;
    basis_.push_back(std::move(vector));
  }

  // Extends the basis by images of its newest vectors; those of the best come first after a new beginning.
  void grow() {
    for (size_t i = 0; i < std::min(kBlock, images_.size()); ++i) add(images_[i]);
    while (images_.size() < basis_.size()) {
      const size_t from = images_.size();
      const size_t count = std::min(kBlock, basis_.size() - from);
      for (Vector& image : multiply(matrix_, std::span(basis_).subspan(from, count), threads_)) {
        images_.push_back(std::move(image));
        if (basis_.size() < std::min(n_, kBasis)) add(images_.back());
      }
    }
  }

  // The best that combinations of the basis can do. Turns the images along.
  Eigen within_basis(size_t wanted) {
    const size_t m = basis_.size();
    Vector small(m * m);
    for (size_t i = 0; i < m; ++i)
      for (size_t j = i; j < m; ++j) {
        const double one = dot(basis_[i], images_[j]), other = dot(basis_[j], images_[i]);
        small[i * m + j] = small[j * m + i] = (one + other) / 2;
      }
    const Eigen inside = jacobi(std::move(small), m);
    Eigen out;
    std::vector<Vector> images;
    for (size_t k = 0; k < std::min(wanted, m); ++k) {
      Vector vector(n_), image(n_);
      for (size_t i = 0; i < m; ++i) {
        add_multiple(vector, inside.vectors[k][i], basis_[i]);
        add_multiple(image, inside.vectors[k][i], images_[i]);
      }
      out.values.push_back(inside.values[k]);
      out.vectors.push_back(std::move(vector));
      images.push_back(std::move(image));
    }
    images_ = std::move(images);
    return out;
  }

  double largest_residual(const Eigen& eigen, size_t most) const {
    double largest = 0;
    for (size_t k = 0; k < std::min(most, eigen.values.size()); ++k) {
      Vector rest = images_[k];
      add_multiple(rest, -eigen.values[k], eigen.vectors[k]);
      largest = std::max(largest, std::sqrt(dot(rest, rest)));
    }
    return largest / eigen.values[0];
  }

  const Vector& matrix_;
  size_t n_;
  int threads_ = threads_for(n_);
  std::vector<Vector> basis_, images_;  // the matrix times each vector of the basis
};

void make_largest_positive(Vector& vector) {
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  if (*std::max_element(vector.begin(), vector.end(), smaller) < 0)
    for (double& x : vector) x = -x;
}

}  // namespace

double Pca::score(std::span<const float> row, size_t component) const {
  const std::vector<double>& direction = components[component];
  double sum = 0;
  for (size_t i = 0; i < row.size(); ++i) sum += (static_cast<double>(row[i]) - means[i]) * direction[i];
  return sum;
}

Pca principal_components(const ReadRows& read, size_t columns, size_t most) {
  Pca out;
  out.means.assign(columns, 0);
  read([&](std::span<const float> row) {
    ++out.rows;
    for (size_t i = 0; i < columns; ++i) out.means[i] += static_cast<double>(row[i]);
  });
  if (out.rows < 2) return out;
  for (double& mean : out.means) mean /= static_cast<double>(out.rows);

  Covariance sums(out.means);
  read([&](std::span<const float> row) { sums.add(row); });
  const Vector covariance = sums.finish(static_cast<double>(out.rows - 1));
  for (size_t i = 0; i < columns; ++i) out.total += covariance[i * columns + i];
  if (!(out.total > 0)) return out;

  const size_t wanted = std::min({most, columns, static_cast<size_t>(out.rows - 1)});
  Eigen eigen = LargestEigen(covariance, columns).find(wanted, out.residual);
  for (size_t k = 0; k < std::min(wanted, eigen.values.size()); ++k) {
    if (!(eigen.values[k] > 1e-14 * out.total)) break;  // nothing but rounding
    make_largest_positive(eigen.vectors[k]);
    out.variances.push_back(eigen.values[k]);
    out.components.push_back(std::move(eigen.vectors[k]));
  }
  return out;
}

}  // namespace carbon
