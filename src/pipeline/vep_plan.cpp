#include "src/pipeline/vep_plan.hpp"

#include <algorithm>

#include "src/fns/base_scores.hpp"

namespace carbon {
namespace {

// <dna> and 6-mers [0, n - 1): row i then predicts 6-mer i, the last one included.
std::vector<uint32_t> window_tokens(const std::vector<uint32_t>& kmers, const TokenLayout& layout) {
  std::vector<uint32_t> tokens{layout.dna_begin()};
  tokens.insert(tokens.end(), kmers.begin(), kmers.end() - 1);
  return tokens;
}

}  // namespace

CenteredPlan::CenteredPlan(int64_t pos, const std::string& ref, const std::vector<std::string>& alts,
                           const ReferenceSlice& slice, int64_t window, Strand strand,
                           const TokenLayout& layout, std::vector<ScoreJob>& jobs)
    : windows_(centered_windows(pos, ref, alts, slice, window, strand)), job_(jobs.size()) {
  ScoreJob job;
  bool any = false;
  for (const std::string& alternative : windows_.alternatives) {
    Allele& allele = alleles_.emplace_back();
    const auto [a, r] = std::mismatch(alternative.begin(), alternative.end(), windows_.reference.begin());
    if (a == alternative.end()) continue;
    allele.differs = true;
    allele.diverge = static_cast<size_t>(a - alternative.begin()) / kKmerLength;
    first_row_ = any ? std::min(first_row_, allele.diverge) : allele.diverge;
    any = true;
    const std::vector<uint32_t> kmers = encode_kmers(alternative, layout);
    // Inputs up to and including 6-mer diverge - 1 are the reference's; its row `diverge` serves both.
    if (allele.diverge + 1 < kmers.size()) {
      allele.has_suffix = true;
      allele.suffix = job.suffixes.size();
      job.suffixes.push_back(
          {allele.diverge + 1, {kmers.begin() + static_cast<ptrdiff_t>(allele.diverge), kmers.end() - 1}});
    }
  }
  if (!any) return;
  job.tokens = window_tokens(encode_kmers(windows_.reference, layout), layout);
  job.want_begin = first_row_;
  jobs.push_back(std::move(job));
}

double CenteredPlan::llr(size_t i, const std::vector<ScoreJob>& jobs) const {
  const Allele& allele = alleles_[i];
  if (!allele.differs) return 0;
  const ScoreJob& job = jobs[job_];
  const std::string& alternative = windows_.alternatives[i];
  const size_t end = alternative.size(), shared_end = std::min(end, (allele.diverge + 1) * kKmerLength);
  const auto from_diverge = std::span(job.rows).subspan((allele.diverge - first_row_) * ops::kMarginals);
  std::vector<double> ref_logps, alt_logps;
  append_base_logprobs(windows_.reference, allele.diverge, end, from_diverge, ref_logps);
  append_base_logprobs(alternative, allele.diverge, shared_end, from_diverge, alt_logps);
  if (allele.has_suffix)
    append_base_logprobs(alternative, allele.diverge + 1, end, job.suffix_rows[allele.suffix], alt_logps);
  return log_likelihood_ratio(alt_logps, ref_logps);
}

NextTokenPlan::NextTokenPlan(int64_t pos, const ReferenceSlice& slice, int64_t context, Strand strand,
                             const TokenLayout& layout, std::vector<ScoreJob>& jobs)
    : strand_(strand), job_(jobs.size()) {
  ScoreJob job;
  job.tokens.push_back(layout.dna_begin());
  const std::vector<uint32_t> kmers = encode_kmers(next_token_context(pos, slice, context, strand), layout);
  job.tokens.insert(job.tokens.end(), kmers.begin(), kmers.end());
  job.want_begin = job.tokens.size() - 1;
  jobs.push_back(std::move(job));
}

double NextTokenPlan::llr(char ref, char alt, const std::vector<ScoreJob>& jobs) const {
  const double* row = jobs[job_].rows.data();
  const auto digit = [this](char base) {
    return strand_ == Strand::forward ? base_digit(base) : complement_digit(base_digit(base));
  };
  return row[digit(alt)] - row[digit(ref)];
}

}  // namespace carbon
