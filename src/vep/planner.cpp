#include "src/vep/planner.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "src/vep/shared_window.hpp"
#include "src/vep/structural.hpp"

namespace carbon {
namespace {

constexpr uint64_t kShownWarnings = 10;
constexpr size_t kShownLengths = 3, kShownNames = 3;
constexpr const char* kRightFasta = "give the FASTA that the VCF was made with";
// The records that share windows: so many that little is run again where the next ones begin.
constexpr size_t kBatchRecords = 2048, kBatchBytes = 16 << 20;

/// A hash of everything that the scores of a record depend on, besides the options of the run. `windows` says
/// what the bases of its windows are.
Sha256Bytes site_digest(const VcfRecord& record, const VepSite& site, const std::string& windows) {
  std::string text = record.contig() + "\n" + std::to_string(record.pos()) + "\n";
  for (const RecipeSite& recipe : site.recipes) {
    for (const auto& [alt, form, strands] : recipe.alleles)
      text +=
          std::to_string(alt) + "\t" + std::to_string(form.pos) + "\t" + form.ref + "\t" + form.alt + "\n";
    text += "\n";
  }
  return sha256_bytes(text + windows);
}

Variant variant_of(const VcfRecord& record, const RecordInput& input) {
  Variant variant{record.pos(), to_upper(record.ref()), {}};
  for (const std::string& alt : record.alts()) variant.alts.push_back(to_upper(alt));
  variant.structural = structural_alleles(variant.pos, variant.alts,
                                          [&](const std::string& tag) { return input.info(record, tag); });
  return variant;
}

constexpr size_t kMostSamples = 8;
constexpr int64_t kMostBases = 6;  // between neighbours, as carbon +haplotypes joins them by default

}  // namespace

std::string place_of(const VcfRecord& record) {
  return record.contig() + ":" + std::to_string(record.pos() + 1);
}

size_t PlannedRecord::bytes() const {
  return record.bytes() + requests.size() * sizeof(ForkedAllele);
}

std::string BlockDigests::text_of(const BaseRange& range, const ContigReference& reference) {
  if (contig_ != reference.contig || digests_.size() >= kMostBlocks) digests_.clear();
  contig_ = reference.contig;
  const int64_t begin = std::clamp<int64_t>(range.begin, 0, reference.length);
  const int64_t end = std::clamp(range.end, begin, reference.length);
  std::string text =
      std::to_string(begin) + "\n" + std::to_string(end) + "\n" + std::to_string(reference.length) + "\n";
  for (int64_t at = begin, next = 0; at < end; at = next) {
    const int64_t block = at / kBlockBases;
    next = std::min(end, (block + 1) * kBlockBases);
    if (next - at < kBlockBases) {
      text += reference.slice({at, next}).bases;
      continue;
    }
    const auto [known, is_new] = digests_.try_emplace(block);
    if (is_new) known->second = sha256_bytes(reference.slice({at, next}).bases);
    text.append(reinterpret_cast<const char*>(known->second.data()), known->second.size());
  }
  return text;
}

VepPlanner::VepPlanner(const VepOptions& options, const SitePlanner& sites, size_t embedding_values)
    : options_(options),
      sites_(sites),
      embedding_values_(embedding_values),
      fasta_(options.fasta, *options.log),
      reference_(fasta_),
      names_(options.unify_chr_names, options.chr_map),
      assembly_(options.max_ref_mismatch, "record", kRightFasta) {}

void VepPlanner::run(const RecordInput& input, Journal* journal,
                     const std::function<void(PlannedRecord)>& emit) {
  vcf_contigs_.declare(input.contigs);
  if (vcf_contigs_.none_to_come()) throw no_contig();
  const size_t most = sites_.shares_windows() ? kBatchRecords : 1;
  std::deque<Checked> records;
  size_t bytes = 0;
  try {
    for (Checked next; input.next(next.planned.record); next = Checked()) {
      ++counts_.total;
      if (!check(next, input, journal)) continue;
      bytes += next.planned.record.bytes();
      records.push_back(std::move(next));
      if (records.size() < most && bytes < kBatchBytes) continue;
      plan(records, emit);
      bytes = 0;
    }
  } catch (const Error&) {
    plan(records, emit);  // what was read before a malformed record is still computed
    throw;
  }
  plan(records, emit);
  if (journal) journal->check_replayed();
  assembly_.check(fasta_.path(), true);
  if (vcf_contigs_.none_known()) throw no_contig();
  warn_of_unknown_contigs();
}

// Compares a record with the FASTA, decides which alleles are scored, and takes their scores from the journal
// if it has them. Returns false if the record is to be dropped.
bool VepPlanner::check(Checked& checked, const RecordInput& input, Journal* journal) {
  PlannedRecord& planned = checked.planned;
  const VcfRecord& record = planned.record;
  const Variant variant = variant_of(record, input);
  planned.earlier_flags =
      kept_reasons(input.kept, [&](const std::string& tag) { return input.info(record, tag); });
  Contig& contig = find_contig(record.contig());
  compare_length(record.contig(), contig, input);
  checked.contig = &contig;
  if (contig.length < 0) {
    ++unknown_records_;
    if (vcf_contigs_.none_to_come()) throw no_contig();
  }
  const ContigReference reference = reference_of(*checked.contig);
  std::string fasta_bases;
  const RecordCheck check = check_reference(variant, reference, fasta_bases);
  const bool sample_complete = assembly_.add(check);
  if (check == RecordCheck::mismatch) note_mismatch(record, fasta_bases);
  if (sample_complete) assembly_.check(fasta_.path(), false);
  if (check == RecordCheck::mismatch && options_.check_ref == CheckRef::exclude) return false;

  const VepSite& site = planned.site = sites_.classify(variant, check, reference);
  if (!site.any_scored()) return true;
  ++counts_.scored;
  if (!journal) return true;
  planned.digest = site_digest(record, site, blocks_.text_of(sites_.reach(site, reference), reference));
  planned.saved = journal->replay(
      *planned.digest,
      variant.alts.size() * sites_.tag_count() + site.recipes.front().alleles.size() * embedding_values_,
      place_of(record));
  return true;
}

// Makes the requests of records whose scores are to be computed, and hands all of them over.
void VepPlanner::plan(std::deque<Checked>& waiting, const std::function<void(PlannedRecord)>& emit) {
  std::deque<Checked> records = std::exchange(waiting, {});
  std::vector<PlacedSite> sites;
  for (auto& [planned, contig] : records)
    if (!planned.saved) sites.push_back({&planned.site, reference_of(*contig)});
  auto next = records.begin();
  const auto hand_over = [&](Checked& checked) {
    checked.planned.requests = std::move(checked.planned.site.requests);
    emit(std::move(checked.planned));
  };
  sites_.plan(sites, [&](size_t) {
    while (next->planned.saved) hand_over(*next++);
    hand_over(*next++);
  });
  while (next != records.end()) hand_over(*next++);
}

// Looks up each name only once.
VepPlanner::Contig& VepPlanner::find_contig(const std::string& vcf_name) {
  if (const auto known = contigs_.find(vcf_name); known != contigs_.end()) return known->second;
  const std::string& name = vcf_contigs_.name(
      vcf_name, [this](const std::string& contig) { return names_.to_fasta(contig, fasta_); });
  const int64_t length = name.empty() ? -1 : fasta_.length(name);
  return contigs_.emplace(vcf_name, Contig{name, length}).first->second;
}

Error VepPlanner::no_contig() const {
  return names_.none_matches("vep", "the VCF", vcf_contigs_.unknown(), fasta_.path(), fasta_.names());
}

void VepPlanner::note_mismatch(const VcfRecord& record, const std::string& fasta_bases) {
  const std::string text =
      "REF " + record.ref() + " at " + place_of(record) + " differs from the FASTA (" + fasta_bases + ")";
  if (options_.check_ref == CheckRef::exit)
    throw Error("vep", text,
                {std::string(kRightFasta) + ", or keep such records without scores with {-c} w"});
  const uint64_t mismatches = assembly_.mismatches();
  if (mismatches <= kShownWarnings) options_.log->warning("vep", text);
  if (mismatches == kShownWarnings)
    options_.log->warning("vep", "further reference mismatches are only counted");
}

// A header that was copied from elsewhere is no reason to stop, but a hint.
void VepPlanner::compare_length(const std::string& vcf_name, Contig& contig, const RecordInput& input) {
  if (contig.length < 0 || std::exchange(contig.compared, true)) return;
  const auto declared = input.contig_lengths.find(vcf_name);
  if (declared == input.contig_lengths.end() || declared->second == contig.length) return;
  assembly_.add_other_length(vcf_name);
  if (assembly_.other_lengths() > kShownLengths) return;
  options_.log->warning("vep", "contig " + vcf_name + " has " + std::to_string(declared->second) +
                                   " bases by the header of the VCF, but " + std::to_string(contig.length) +
                                   " in " + fasta_.path() + ": is it the FASTA that the VCF was made with?");
}

// Once for all of them: an assembly's patches and decoys can be thousands.
void VepPlanner::warn_of_unknown_contigs() const {
  const std::vector<std::string>& unknown = vcf_contigs_.unknown();
  const size_t count = unknown.size();
  if (unknown_records_ == 0) return;
  std::vector<std::string> shown(unknown.begin(),
                                 unknown.begin() + static_cast<ptrdiff_t>(std::min(count, kShownNames)));
  if (count > shown.size()) shown.push_back(std::to_string(count - shown.size()) + " more");
  const Respelled other = respelled(unknown, fasta_.names(), "the FASTA");
  options_.log->warning("vep",
                        (count == 1 ? "contig " + shown[0] + " is"
                                    : std::to_string(count) + " contigs, " + and_list(shown) + ", are") +
                            " not in " + fasta_.path() + ": " + (count == 1 ? "its" : "their") +
                            " records, " + std::to_string(unknown_records_) + " in number, are not scored" +
                            other.words,
                        other.advice);
}

NeighbourCount::NeighbourCount(const VcfReader& vcf) : vcf_(vcf) {
  const size_t samples = vcf.samples().size();
  const bool joined = vcf.info_type("CARBON_PARTS") != InfoType::none;
  if (samples <= kMostSamples && !joined) samples_.resize(samples);
}

void NeighbourCount::add(const VcfRecord& record) {
  if (samples_.empty()) return;
  if (record.contig() != contig_) {
    contig_ = record.contig();
    for (std::vector<Last>& haplotypes : samples_) haplotypes.clear();
  }
  try {
    vcf_.genotypes(record, genotypes_);
  } catch (const Error&) {
    return samples_.clear();  // the scores do not depend on genotypes
  }
  bool any = false;
  for (size_t sample = 0; sample < samples_.size(); ++sample) any |= add_sample(record, sample);
  if (any) ++count_;
}

// A genotype with equal alleles, also a haploid one, speaks of every haplotype.
bool NeighbourCount::add_sample(const VcfRecord& record, size_t sample) {
  const std::span<const int32_t> all(genotypes_.alleles);
  const size_t begin = sample * genotypes_.ploidy;
  size_t ploidy = 0;
  while (ploidy < genotypes_.ploidy && all[begin + ploidy] != kNoAllele) ++ploidy;
  const GenotypePhase phase = genotype_phase(
      all.subspan(begin, ploidy), std::span<const uint8_t>(genotypes_.phased).subspan(begin, ploidy),
      genotypes_.phase_sets.empty() ? "" : genotypes_.phase_sets[sample]);
  std::vector<Last>& haplotypes = samples_[sample];
  if (haplotypes.size() < ploidy) haplotypes.resize(ploidy, haplotypes.empty() ? Last() : haplotypes.front());
  bool any = false;
  for (size_t i = 0; i < (phase.kind == GenotypePhase::with_all ? haplotypes.size() : ploidy); ++i) {
    const int32_t allele = ploidy == 0 ? 0 : all[begin + std::min(i, ploidy - 1)];
    if (allele <= 0 || static_cast<size_t>(allele) > record.alts().size()) continue;
    const std::string& alt = record.alts()[static_cast<size_t>(allele) - 1];
    if (const auto changed = changed_bases(record.pos(), record.ref(), alt))
      any |= add_allele(*changed, phase, haplotypes[i]);
  }
  return any;
}

bool NeighbourCount::add_allele(const ChangedBases& changed, const GenotypePhase& phase, Last& last) const {
  const int64_t between = changed.begin - last.end;
  const bool joins = last.any && between >= 0 && between <= kMostBases && phase.in_phase(last.phase);
  // What is in phase with everything says nothing of the haplotype that a neighbour before it is on.
  const bool keeps_phase = joins && phase.kind == GenotypePhase::with_all;
  last = {changed.end, keeps_phase ? last.phase : phase, true};
  return joins;
}

}  // namespace carbon
