#include "src/report/sections/embedding_points.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/base/error.hpp"
#include "src/base/random.hpp"
#include "src/base/system.hpp"
#include "src/base/threads.hpp"
#include "src/report/sources/embeddings.hpp"

namespace carbon {
namespace {

using Vector = std::vector<double>;

constexpr size_t kRowsAtOnce = 64;  // of the input, in one pass over the covariance
constexpr size_t kVectors = 64;     // that the iteration moves together
constexpr int kMostRounds = 300;
constexpr double kConverged = 1e-12;

// For few columns, the work takes less time than threads take to start.
int threads_for(size_t columns) {
  return columns > 256 ? available_cpus() : 1;
}

// The sums of products of all pairs of columns, from one reading: of the distances from the first row, so
// that a mean far from zero costs no digits. Every sum is added up in the order of the rows, by one thread.
class Covariance {
 public:
  Covariance(size_t columns, ThreadPool& pool)
      : n_(columns), pool_(pool), sums_(columns), products_(columns * columns) {}

  void add(std::span<const float> row) {
    if (rows_++ == 0) first_.assign(row.begin(), row.end());
    for (size_t i = 0; i < n_; ++i) {
      block_.push_back(static_cast<double>(row[i]) - first_[i]);
      sums_[i] += block_.back();
    }
    if (block_.size() == kRowsAtOnce * n_) add_block();
  }

  uint64_t rows() const { return rows_; }

  Vector means() const {
    Vector out(n_);
    for (size_t i = 0; i < n_ && rows_ > 0; ++i) out[i] = first_[i] + sums_[i] / static_cast<double>(rows_);
    return out;
  }

  /// The whole matrix, divided by rows - 1.
  Vector finish() {
    add_block();
    const auto count = static_cast<double>(rows_);
    for (size_t i = 0; i < n_; ++i)
      for (size_t j = i; j < n_; ++j)
        products_[j * n_ + i] = products_[i * n_ + j] =
            (products_[i * n_ + j] - sums_[i] * (sums_[j] / count)) / (count - 1);
    return std::move(products_);
  }

 private:
  void add_block() {
    pool_.run(n_, [&](size_t i, size_t) {
      double* const to = &products_[i * n_];
      for (const double* row = block_.data(); row != block_.data() + block_.size(); row += n_) {
#pragma omp simd
        for (size_t j = i; j < n_; ++j) to[j] += row[i] * row[j];
      }
    });
    block_.clear();
  }

  size_t n_;
  ThreadPool& pool_;
  uint64_t rows_ = 0;
  Vector first_, sums_, products_, block_;
};

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// matrix * vectors, four rows at a time, because the vectors take longer to read than to multiply.
std::vector<Vector> multiply(const Vector& matrix, const std::vector<Vector>& vectors, ThreadPool& pool) {
  const size_t n = vectors[0].size();
  std::vector<Vector> out(vectors.size(), Vector(n));
  pool.run((n + 3) / 4, [&](size_t four, size_t) {
    const size_t i = 4 * four;
    const auto row = [&](size_t r) { return &matrix[std::min(i + r, n - 1) * n]; };  // the last one again
    const double *const a = row(0), *const b = row(1), *const c = row(2), *const d = row(3);
    for (size_t v = 0; v < vectors.size(); ++v) {
      const double* const vector = vectors[v].data();
      double ta = 0, tb = 0, tc = 0, td = 0;
#pragma omp simd reduction(+ : ta, tb, tc, td)
      for (size_t j = 0; j < n; ++j) {
        ta += a[j] * vector[j];
        tb += b[j] * vector[j];
        tc += c[j] * vector[j];
        td += d[j] * vector[j];
      }
      const double sums[] = {ta, tb, tc, td};
      std::copy(sums, sums + std::min<size_t>(4, n - i), out[v].begin() + static_cast<ptrdiff_t>(i));
    }
  });
  return out;
}

// Turns vectors in the planes of all pairs of them until they stand at right angles (one-sided Jacobi), and
// gives them length 1, the longest first. Leaves out those that are nothing but rounding.
void make_orthogonal(std::vector<Vector>& vectors) {
  double longest = 0;
  for (const Vector& one : vectors) longest = std::max(longest, dot(one, one));
  const double nothing = 1e-28 * longest;
  bool turned = true;
  for (int sweep = 0; turned && sweep < 30; ++sweep) {
    turned = false;
    for (size_t p = 0; p + 1 < vectors.size(); ++p)
      for (size_t q = p + 1; q < vectors.size(); ++q) {
        const double pp = dot(vectors[p], vectors[p]), qq = dot(vectors[q], vectors[q]),
                     pq = dot(vectors[p], vectors[q]);
        if (std::min(pp, qq) <= nothing || std::abs(pq) <= 1e-14 * std::sqrt(pp * qq)) continue;
        turned = true;
        const double theta = (qq - pp) / (2 * pq);
        const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1));
        const double c = 1 / std::hypot(t, 1), s = t * c;
        for (size_t i = 0; i < vectors[p].size(); ++i) {
          const double a = vectors[p][i], b = vectors[q][i];
          vectors[p][i] = c * a - s * b;
          vectors[q][i] = s * a + c * b;
        }
      }
  }
  std::erase_if(vectors, [&](const Vector& one) { return dot(one, one) <= nothing; });
  std::stable_sort(vectors.begin(), vectors.end(),
                   [](const Vector& a, const Vector& b) { return dot(a, a) > dot(b, b); });
  for (Vector& one : vectors) {
    const double length = std::sqrt(dot(one, one));
    for (double& x : one) x /= length;
  }
}

// Random directions, the same for every run.
std::vector<Vector> first_directions(size_t n) {
  std::vector<Vector> out(std::min(n, kVectors), Vector(n));
  for (size_t v = 0; v < out.size(); ++v)
    for (size_t i = 0; i < n; ++i)
      out[v][i] =
          uniform32(philox({static_cast<uint32_t>(i), static_cast<uint32_t>(v), 0, 0}, {0x70636131, 0})[0]) -
          0.5;
  make_orthogonal(out);
  return out;
}

void make_largest_positive(Vector& vector) {
  const auto smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
  if (*std::max_element(vector.begin(), vector.end(), smaller) < 0)
    for (double& x : vector) x = -x;
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
  Pca out;
  ThreadPool pool(threads_for(columns));
  Covariance sums(columns, pool);
  read([&](std::span<const float> row) { sums.add(row); });
  out.rows = sums.rows();
  out.means = sums.means();
  if (out.rows < 2) return out;
  const Vector covariance = sums.finish();
  for (size_t i = 0; i < columns; ++i) out.total += covariance[i * columns + i];
  if (!(out.total > 0)) return out;

  const size_t wanted = std::min({most, columns, static_cast<size_t>(out.rows - 1)});
  std::vector<Vector> directions = first_directions(columns);
  for (int round = 0;; ++round) {
    std::vector<Vector> images = multiply(covariance, directions, pool);
    out.variances.clear();
    out.residual = 0;
    for (size_t k = 0; k < std::min(wanted, directions.size()); ++k) {
      const double variance = dot(directions[k], images[k]);
      out.variances.push_back(variance);
      Vector rest = images[k];
      for (size_t i = 0; i < columns; ++i) rest[i] -= variance * directions[k][i];
      out.residual = std::max(out.residual, std::sqrt(dot(rest, rest)) / out.variances[0]);
    }
    if (round > 0 && (out.residual <= kConverged || round == kMostRounds)) break;
    make_orthogonal(images);
    directions = std::move(images);
  }
  while (!out.variances.empty() && !(out.variances.back() > 1e-14 * out.total))
    out.variances.pop_back();  // nothing but rounding
  directions.resize(out.variances.size());
  for (Vector& direction : directions) make_largest_positive(direction);
  out.components = std::move(directions);
  return out;
}

EmbeddingPoints read_points(const std::string& path, const ReportOptions& options, size_t most_components,
                            size_t most_points) {
  const auto reader = open_embeddings(path);
  EmbeddingPoints out;
  out.format = reader->format();
  out.names_path = reader->names_path();
  out.header = reader->header();
  out.columns = reader->columns();
  PointReader points(options, most_points, out);  // first, because a wrong table shows at once
  out.pca = principal_components(
      [&](const std::function<void(std::span<const float>)>& use) {
        reader->read([&](const EmbeddingRow& row) { use(row.values); });
      },
      out.columns, most_components);
  reader->read([&](const EmbeddingRow& row) { points.add(row); });
  if (out.rows != out.pca.rows) throw Error("read_embeddings", path + ": the file changed while it was read");
  points.finish();
  return out;
}

}  // namespace carbon
