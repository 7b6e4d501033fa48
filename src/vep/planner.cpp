#include "src/vep/planner.hpp"

#include <algorithm>

#include "src/base/error.hpp"
#include "src/base/log.hpp"

namespace carbon {
namespace {

constexpr uint64_t kAssemblySample = 1000;       // checkable records after which the mismatch share is judged
constexpr uint64_t kAssemblyMinMismatches = 20;  // at the end of the input
constexpr uint64_t kShownWarnings = 10;

std::string place(const VcfRecord& record) {
  return record.contig() + ":" + std::to_string(record.pos() + 1);
}

/// Of what the scores of a record depend on besides the options of the run.
Sha256Bytes site_digest(const VcfRecord& record, const Variant& variant, const ReferenceSlice& slice) {
  std::string text = record.contig() + "\n" + std::to_string(variant.pos) + "\n" + variant.ref + "\n";
  for (const std::string& alt : variant.alts) text += alt + "\n";
  text += std::to_string(slice.begin) + "\n" + std::to_string(slice.contig_length) + "\n";
  return sha256_bytes(text + slice.bases);
}

ContigNames contig_names(const VepOptions& options) {
  if (!options.chr_map.empty()) return ContigNames::with_map(options.chr_map);
  if (!options.unify_chr_names.empty()) return ContigNames::with_prefixes(options.unify_chr_names);
  return ContigNames::exact();
}

}  // namespace

std::vector<Strand> strands_of(Recipe recipe, VepStrand option) {
  if (option == VepStrand::recipe_default)
    option = recipe == Recipe::centered ? VepStrand::both : VepStrand::forward;
  if (option == VepStrand::forward) return {Strand::forward};
  if (option == VepStrand::reverse) return {Strand::reverse};
  return {Strand::forward, Strand::reverse};
}

AlleleFlag VepSite::flag(size_t alt) const {
  if (!centered.empty() && centered[alt] != AlleleFlag::scored) return centered[alt];
  return next_token.empty() ? AlleleFlag::scored : next_token[alt];
}

ReferenceSlice fetch_reference(const VepOptions& options, const IndexedFasta& fasta,
                               const std::string& contig, int64_t length, const Variant& variant) {
  int64_t begin = variant.pos, end = variant.pos + static_cast<int64_t>(variant.ref.size());
  const auto cover = [&](int64_t from, int64_t to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  };
  if (options.wants(Recipe::centered))
    cover(centered_begin(variant.pos, options.window), centered_end(variant.pos, options.window));
  if (options.wants(Recipe::next_token))
    for (const Strand strand : strands_of(Recipe::next_token, options.strand))
      cover(next_token_begin(variant.pos, options.context, strand),
            next_token_end(variant.pos, options.context, strand));
  begin = std::clamp<int64_t>(begin, 0, length);
  end = std::clamp(end, begin, length);
  return {begin, length, to_upper(fasta.fetch(contig, begin, end))};
}

void classify_alleles(const Variant& variant, RecordCheck check, const VepOptions& options, VepSite& site) {
  for (size_t i = 0; i < variant.alts.size(); ++i) {
    const std::string& alt = variant.alts[i];
    const AlleleFlag common = classify_allele(alt, check);
    if (options.wants(Recipe::centered)) {
      const bool too_long =
          common == AlleleFlag::scored && centered_too_long(variant.ref, alt, options.window);
      site.centered.push_back(too_long ? AlleleFlag::too_long : common);
      if (site.centered.back() == AlleleFlag::scored) site.centered_alts.push_back(i);
    }
    if (options.wants(Recipe::next_token)) {
      const bool multibase = common == AlleleFlag::scored && (variant.ref.size() != 1 || alt.size() != 1);
      site.next_token.push_back(multibase ? AlleleFlag::multibase : common);
      if (site.next_token.back() == AlleleFlag::scored) site.next_token_alts.push_back(i);
    }
  }
}

void plan_alleles(const Variant& variant, const ReferenceSlice& slice, const VepOptions& options,
                  const TokenLayout& layout, ScoreCache* cache, VepSite& site) {
  const auto chosen = [&](const std::vector<size_t>& indices) {
    std::vector<std::string> alts;
    for (const size_t i : indices) alts.push_back(variant.alts[i]);
    return alts;
  };
  if (const auto alts = chosen(site.centered_alts); !alts.empty())
    for (const Strand strand : strands_of(Recipe::centered, options.strand))
      site.centered_plans.emplace_back(variant.pos, variant.ref, alts, slice, options.window, strand, layout,
                                       site.jobs, cache);
  if (const auto alts = chosen(site.next_token_alts); !alts.empty())
    for (const Strand strand : strands_of(Recipe::next_token, options.strand))
      site.next_token_plans.emplace_back(variant.pos, variant.ref, alts, slice, options.context, strand,
                                         layout, site.jobs, cache);
}

VepReader::VepReader(const VepOptions& options, const TokenLayout& layout, ScoreCache* cache)
    : options_(options),
      layout_(layout),
      cache_(cache),
      fasta_(options.fasta),
      names_(contig_names(options)) {}

void VepReader::run(const RecordSource& next, Journal* journal, const std::function<void(VepSite)>& emit) {
  for (VepSite site; next(site.record); site = VepSite()) {
    ++counts_.total;
    if (!plan(site, journal)) continue;
    emit(std::move(site));
  }
  if (journal) journal->check_replayed();
  check_share(true);
  if (!any_contig_found_ && !unknown_contigs_.empty()) no_names_match();
}

// Returns false for a record that is to be dropped.
bool VepReader::plan(VepSite& site, Journal* journal) {
  const VcfRecord& record = site.record;
  Variant variant{record.pos(), to_upper(record.ref()), {}};
  for (const std::string& alt : record.alts()) variant.alts.push_back(to_upper(alt));

  const auto& [contig, length] = find_contig(record.contig());
  const ReferenceSlice slice =
      length >= 0 ? fetch_reference(options_, fasta_, contig, length, variant) : ReferenceSlice{};
  const RecordCheck check = check_record(variant, length, slice);
  const bool checkable = check == RecordCheck::matches || check == RecordCheck::mismatch;
  if (checkable) ++checkable_;
  if (check == RecordCheck::mismatch)
    note_mismatch(
        record, std::string(slice.get(variant.pos, variant.pos + static_cast<int64_t>(variant.ref.size()))));
  if (checkable && checkable_ == kAssemblySample) check_share(false);
  if (check == RecordCheck::mismatch && options_.check_ref == CheckRef::exclude) return false;

  classify_alleles(variant, check, options_, site);
  for (size_t i = 0; i < variant.alts.size(); ++i) ++counts_.alleles[static_cast<size_t>(site.flag(i))];
  if (site.centered_alts.empty() && site.next_token_alts.empty()) return true;
  ++counts_.scored;
  if (journal) {
    site.digest = site_digest(record, variant, slice);
    site.saved = journal->replay(*site.digest, site.centered.size() + site.next_token.size(), place(record));
    if (site.saved) return true;
  }
  plan_alleles(variant, slice, options_, layout_, cache_, site);
  return true;
}

// Looks a name up once, and warns once of one that the FASTA lacks.
const VepReader::Contig& VepReader::find_contig(const std::string& vcf_name) {
  if (const auto known = contigs_.find(vcf_name); known != contigs_.end()) return known->second;
  const std::string name = names_.to_fasta(vcf_name, fasta_);
  const int64_t length = name.empty() ? -1 : fasta_.length(name);
  if (length >= 0) {
    any_contig_found_ = true;
  } else {
    unknown_contigs_.push_back(vcf_name);
    log::warning("vep",
                 "contig " + vcf_name + " is not in " + fasta_.path() + ": its records are not scored");
  }
  return contigs_.emplace(vcf_name, Contig{name, length}).first->second;
}

void VepReader::note_mismatch(const VcfRecord& record, const std::string& fasta_bases) {
  ++mismatches_;
  const std::string text =
      "REF " + record.ref() + " at " + place(record) + " differs from the FASTA (" + fasta_bases + ")";
  if (options_.check_ref == CheckRef::exit)
    throw Error("vep", text + "; use -c w to keep such records unscored, or the FASTA the VCF was made with");
  if (mismatches_ <= kShownWarnings) log::warning("vep", text);
  if (mismatches_ == kShownWarnings) log::warning("vep", "further reference mismatches are only counted");
}

void VepReader::check_share(bool at_end) const {
  if (at_end && mismatches_ < kAssemblyMinMismatches) return;
  const double share = static_cast<double>(mismatches_) / static_cast<double>(checkable_);
  if (share <= options_.max_ref_mismatch) return;
  throw Error("vep", "wrong assembly? REF differs from " + fasta_.path() + " in " +
                         std::to_string(mismatches_) + " of " + std::to_string(checkable_) +
                         " records checked; give the FASTA the VCF was made with, or raise " +
                         "--max-ref-mismatch");
}

void VepReader::no_names_match() const {
  std::string text = "no contig of the VCF (" + unknown_contigs_.front() +
                     (unknown_contigs_.size() > 1 ? ", ..." : "") + ") is in " + fasta_.path() + " (" +
                     (fasta_.names().empty() ? "" : fasta_.names().front()) +
                     (fasta_.names().size() > 1 ? ", ..." : "") + ")";
  const std::string advice = names_.suggestion(unknown_contigs_, fasta_.names());
  throw Error("vep", text + (advice.empty() ? "; give matching names with --chr-map FILE" : "; " + advice));
}

}  // namespace carbon
