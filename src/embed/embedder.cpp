#include "src/embed/embedder.hpp"

#include <algorithm>

namespace carbon {
namespace {

// Sums of the rows of one job.
void add_rows(std::vector<double>& sums, std::span<const float> rows, size_t width) {
  sums.resize(width);
  for (; !rows.empty(); rows = rows.subspan(width))
    for (size_t j = 0; j < width; ++j) sums[j] += double{rows[j]};
}

// Jobs that fit one forward, or a single one that runs in pieces.
class Group {
 public:
  Group(Engine& engine, int layer, std::span<EmbedJob* const> jobs)
      : engine_(engine), layer_(layer), jobs_(jobs), sums_(jobs.size()) {
    for (EmbedJob* job : jobs) {
      job->rows.clear();  // of an attempt that ran out of memory
      sequences_.push_back(engine.decoder().kv().make_sequence());
    }
  }

  void run() {
    size_t longest = 0;
    for (const EmbedJob* job : jobs_) longest = std::max(longest, job->tokens.size());
    for (size_t begin = 0; begin < longest; begin += engine_.batch_tokens()) run_piece(begin);
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const auto n = static_cast<double>(jobs_[i]->tokens.size() - jobs_[i]->want_begin);
      for (const double sum : sums_[i]) jobs_[i]->rows.push_back(static_cast<float>(sum / n));
    }
  }

 private:
  // Tokens from `begin` on, as many as a batch has, of every job.
  void run_piece(size_t begin) {
    std::vector<Chunk> chunks;
    std::vector<size_t> members;
    size_t wanted = 0;
    for (size_t i = 0; i < jobs_.size(); ++i) {
      const std::span<const uint32_t> tokens(jobs_[i]->tokens);
      if (tokens.size() <= begin) continue;
      const size_t n = std::min(engine_.batch_tokens(), tokens.size() - begin);
      const size_t want_begin = std::clamp(jobs_[i]->want_begin, begin, begin + n) - begin;
      chunks.push_back({&sequences_[i], tokens.subspan(begin, n), want_begin, n});
      members.push_back(i);
      wanted += n - want_begin;
    }
    const size_t width = engine_.config().hidden;
    rows_.resize(wanted * width);
    const bool normed = layer_ == kFinalNorm;
    engine_.decoder().residual(chunks, normed ? engine_.config().layers : static_cast<size_t>(layer_),
                               rows_.data());
    if (normed) engine_.decoder().final_norm(rows_.data(), wanted);
    std::span<const float> rest(rows_);
    for (size_t c = 0; c < chunks.size(); ++c) {
      const size_t n = (chunks[c].want_end - chunks[c].want_begin) * width;
      take(members[c], rest.first(n));
      rest = rest.subspan(n);
    }
  }

  void take(size_t i, std::span<const float> rows) {
    if (jobs_[i]->mean)
      add_rows(sums_[i], rows, engine_.config().hidden);
    else
      jobs_[i]->rows.insert(jobs_[i]->rows.end(), rows.begin(), rows.end());
  }

  Engine& engine_;
  int layer_;
  std::span<EmbedJob* const> jobs_;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<double>> sums_;  // of the jobs whose mean is wanted
  std::vector<float> rows_;                // of one piece
};

}  // namespace

bool EmbedJob::shares_with(const EmbedJob& other) const {
  // Only one row is worth keeping for repeats; copies of many would take memory without bound.
  const bool one_row = mean || want_begin + 1 == tokens.size();
  return one_row && mean == other.mean && want_begin == other.want_begin && tokens == other.tokens;
}

void embed_jobs(Engine& engine, int layer, std::span<EmbedJob* const> jobs) {
  run_jobs(engine, jobs, [&](std::span<EmbedJob* const> group) { Group(engine, layer, group).run(); });
}

}  // namespace carbon
