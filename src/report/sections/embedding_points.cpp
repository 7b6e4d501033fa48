#include "src/report/sections/embedding_points.hpp"

#include <algorithm>
#include <numeric>

#include "src/base/error.hpp"
#include "src/report/sources/embeddings.hpp"

namespace carbon {
namespace {

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

EmbeddingPoints read_points(const std::string& path, const ReportOptions& options, size_t most_components,
                            size_t most_points) {
  const auto reader = open_embeddings(path);
  EmbeddingPoints out;
  out.format = reader->format();
  out.names_path = reader->names_path();
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
