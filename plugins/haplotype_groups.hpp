// The rule of +haplotypes: which alleles of the samples are one change of a haplotype.
//
// Records come in order. For each haplotype of each sample the alleles that stand close together are a run; a
// run that has ended and has two alleles or more is a group. Knows neither files nor the reference.
//
// A call is what a genotype says of one haplotype at one record. A genotype with equal alleles (1/1, or a
// haploid 1) says the same of every haplotype of the sample, also of those that only other records have. So
// each sample has one run more than haplotypes, from which a new haplotype is copied: that of a haplotype of
// which no record has told yet.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "plugins/support.hpp"
#include "src/formats/haplotype.hpp"

namespace carbon_plugins {

/// An ALT that may be part of a group.
struct Part {
  int64_t begin = 0, end = 0;  // the bases that it replaces
  std::string bases;           // upper case
  std::string text;            // POS:REF>ALT of its record
  bool inserts() const { return begin == end; }
};
using PartPtr = std::shared_ptr<const Part>;

/// Parts of one haplotype, or of several that have the same parts.
struct Group {
  std::vector<PartPtr> parts;         // sorted, without overlaps; two or more
  uint64_t carriers = 0;              // haplotypes
  std::pair<size_t, size_t> first{};  // the first of them: number of the sample, number of the haplotype
  int64_t begin() const { return parts.front()->begin; }
  int64_t end() const { return parts.back()->end; }
};

/// What did not become part of a group, or ended one.
struct GroupCounts {
  uint64_t overlapping = 0;     // parts that were left out
  uint64_t ended_missing = 0;   // runs that a missing call ended
  uint64_t ended_unphased = 0;  // runs that a call out of phase ended
  uint64_t other_alts = 0;      // ALTs of samples that cannot be a part
};

/// One record. All positions are 0-based.
struct HaplotypeRecord {
  int64_t pos = 0;
  std::string ref;
  std::vector<std::string> alts;
};

/// Takes one contig after another, with finish() between them.
class HaplotypeGroups {
 public:
  HaplotypeGroups(size_t samples, int64_t distance) : distance_(distance), samples_(samples) {}

  /// Takes the records in order of their positions. `genotypes` has those of all samples of the file; sample
  /// i of the groups is number chosen[i] of the file. True if a sample carries a part.
  bool add(const HaplotypeRecord& record, const carbon_genotypes& genotypes,
           const std::vector<size_t>& chosen);
  /// Says that no further record begins before `pos`, and ends all runs that no such record can reach.
  void advance(int64_t pos);
  /// Ends all runs; the next record is on another contig.
  void finish() {
    advance(std::numeric_limits<int64_t>::max());
    passed_ = std::numeric_limits<int64_t>::min();
  }
  /// The groups that are complete since the last call. All groups that begin at the same base come together.
  std::vector<Group> take() { return std::exchange(complete_, {}); }
  /// No group that take() has not returned begins before this base.
  int64_t next_begin() const;

  const GroupCounts& counts() const { return counts_; }

 private:
  static constexpr size_t kEvery = static_cast<size_t>(-1);    // haplotypes, also those not known yet
  static constexpr size_t kUnknown = static_cast<size_t>(-2);  // the run of those not known yet

  struct Call {
    size_t sample = 0, haplotype = 0;  // kEvery, or kUnknown: all that the genotype does not have
    size_t ploidy = 0;                 // alleles of the genotype
    bool missing = false;
    PartPtr part;  // null for an allele that is none, such as REF
    carbon::GenotypePhase phase;
  };
  /// Calls are taken by begin, end and number of the record.
  using Place = std::tuple<int64_t, int64_t, uint64_t>;

  struct Run {
    std::vector<PartPtr> parts;  // none: there is no run
    int64_t end = 0;
    carbon::GenotypePhase phase;  // of all calls so far that have one
    size_t ploidy = 0;            // the largest of its calls: haplotypes from there on are not known to exist
  };
  struct Sample {
    std::vector<Run> haplotypes;
    Run unknown;
  };
  /// The runs that begin at one base.
  struct Begun {
    size_t open = 0;
    std::map<std::vector<PartPtr>, Group> groups;
  };

  /// What the alleles of a record are, as far as samples carry them.
  struct Alleles {
    const HaplotypeRecord& record;
    std::vector<std::optional<carbon::ChangedBases>> changed;  // of each ALT; nothing for no part
    std::vector<PartPtr> parts;                                // of each ALT; null until it is carried
    std::vector<bool> other;                                   // ALTs that are carried and no part
    int64_t begin = 0, end = 0;                                // of all that can be parts; else of REF
  };
  static Alleles alleles_of(const HaplotypeRecord& record);
  PartPtr part_of(Alleles& alleles, int32_t number);
  void add_genotype(Alleles& alleles, size_t sample, std::span<const int32_t> numbers,
                    std::span<const uint8_t> phased, const char* set);
  void add_call(const Alleles& alleles, Call call);

  void take_call(const Place& place, const Call& call);
  void take_call(const Place& place, const Call& call, Run& run, size_t haplotype);
  void begin_run(Run& run, size_t sample, size_t haplotype, const Call& call);
  void append(Run& run, size_t sample, size_t haplotype, const PartPtr& part);
  void end_run(Run& run, size_t sample, size_t haplotype);
  void know_haplotypes(size_t sample, size_t count);
  Run& run_of(size_t sample, size_t haplotype) {
    return haplotype == kUnknown ? samples_[sample].unknown : samples_[sample].haplotypes[haplotype];
  }

  int64_t distance_;
  std::vector<Sample> samples_;
  std::map<Place, std::vector<Call>> waiting_;
  std::map<int64_t, Begun> begun_;
  /// Runs by the end that they had once; the present one may be another.
  std::map<int64_t, std::vector<std::pair<size_t, size_t>>> ends_;
  int64_t passed_ = std::numeric_limits<int64_t>::min();  // calls before this base have been taken
  uint64_t records_ = 0;
  std::vector<Group> complete_;
  GroupCounts counts_;
};

// ---- from genotypes to calls

inline HaplotypeGroups::Alleles HaplotypeGroups::alleles_of(const HaplotypeRecord& record) {
  Alleles alleles{record,
                  {},
                  std::vector<PartPtr>(record.alts.size()),
                  std::vector<bool>(record.alts.size()),
                  record.pos,
                  record.pos + static_cast<int64_t>(record.ref.size())};
  bool any = false;
  for (const std::string& alt : record.alts) {
    const auto changed = carbon::changed_bases(record.pos, record.ref, alt);
    alleles.changed.push_back(changed);
    if (!changed) continue;
    alleles.begin = any ? std::min(alleles.begin, changed->begin) : changed->begin;
    alleles.end = any ? std::max(alleles.end, changed->end) : changed->end;
    any = true;
  }
  return alleles;
}

/// Null for REF and for an allele that can be no part.
inline PartPtr HaplotypeGroups::part_of(Alleles& alleles, int32_t number) {
  if (number <= 0) return nullptr;
  const auto alt = static_cast<size_t>(number) - 1;
  const std::string& letters = alleles.record.alts[alt];
  if (!alleles.changed[alt]) {
    if (!carbon::is_acgt(letters)) alleles.other[alt] = true;
    return nullptr;
  }
  PartPtr& part = alleles.parts[alt];
  if (!part) {
    const carbon::ChangedBases& changed = *alleles.changed[alt];
    part = std::make_shared<Part>(
        Part{changed.begin, changed.end, upper_case(std::string(changed.inserted)),
             std::to_string(alleles.record.pos + 1) + ":" + alleles.record.ref + ">" + letters});
  }
  return part;
}

inline void HaplotypeGroups::add_call(const Alleles& alleles, Call call) {
  const Place place = call.part ? Place{call.part->begin, call.part->end, records_}
                                : Place{alleles.begin, alleles.end, records_};
  waiting_[place].push_back(std::move(call));
}

inline void HaplotypeGroups::add_genotype(Alleles& alleles, size_t sample, std::span<const int32_t> numbers,
                                          std::span<const uint8_t> phased, const char* set) {
  const auto is = [](int32_t wanted) { return [wanted](int32_t number) { return number == wanted; }; };
  if (!numbers.empty() && std::all_of(numbers.begin(), numbers.end(), is(0))) return;
  const size_t ploidy = numbers.size();
  if (std::all_of(numbers.begin(), numbers.end(), is(carbon::kMissingAllele)))
    return add_call(alleles, {sample, kEvery, ploidy, true, nullptr, {}});
  const carbon::GenotypePhase phase = carbon::genotype_phase(numbers, phased, set ? set : "");
  if (phase.kind == carbon::GenotypePhase::with_all) {
    if (PartPtr part = part_of(alleles, numbers[0]))
      add_call(alleles, {sample, kEvery, ploidy, false, std::move(part), phase});
    return;
  }
  for (size_t i = 0; i < ploidy; ++i)
    add_call(alleles,
             {sample, i, ploidy, numbers[i] == carbon::kMissingAllele, part_of(alleles, numbers[i]), phase});
  add_call(alleles, {sample, kUnknown, ploidy, true, nullptr, {}});
}

inline bool HaplotypeGroups::add(const HaplotypeRecord& record, const carbon_genotypes& genotypes,
                                 const std::vector<size_t>& chosen) {
  Alleles alleles = alleles_of(record);
  ++records_;
  for (size_t i = 0; i < chosen.size(); ++i) {
    const size_t at = chosen[i] * genotypes.ploidy;
    size_t ploidy = 0;
    while (ploidy < genotypes.ploidy && genotypes.alleles[at + ploidy] != carbon::kNoAllele) ++ploidy;
    add_genotype(alleles, i, {genotypes.alleles + at, ploidy}, {genotypes.phased + at, ploidy},
                 genotypes.phase_sets ? genotypes.phase_sets[chosen[i]] : nullptr);
  }
  counts_.other_alts += static_cast<uint64_t>(std::count(alleles.other.begin(), alleles.other.end(), true));
  return std::any_of(alleles.parts.begin(), alleles.parts.end(),
                     [](const PartPtr& part) { return part != nullptr; });
}

// ---- from calls to runs

/// A haplotype that no genotype had before has the calls that every haplotype has.
inline void HaplotypeGroups::know_haplotypes(size_t sample, size_t count) {
  Sample& known = samples_[sample];
  while (known.haplotypes.size() < count) {
    known.haplotypes.push_back(known.unknown);
    if (known.unknown.parts.empty()) continue;
    ++begun_[known.unknown.parts.front()->begin].open;
    ends_[known.unknown.end].emplace_back(sample, known.haplotypes.size() - 1);
  }
}

inline void HaplotypeGroups::take_call(const Place& place, const Call& call) {
  know_haplotypes(call.sample, call.ploidy);
  Sample& sample = samples_[call.sample];
  if (call.haplotype < sample.haplotypes.size())
    return take_call(place, call, sample.haplotypes[call.haplotype], call.haplotype);
  for (size_t i = call.haplotype == kEvery ? 0 : call.ploidy; i < sample.haplotypes.size(); ++i)
    take_call(place, call, sample.haplotypes[i], i);
  take_call(place, call, sample.unknown, kUnknown);
}

inline void HaplotypeGroups::take_call(const Place& place, const Call& call, Run& run, size_t haplotype) {
  const bool known = haplotype < std::max(run.ploidy, call.ploidy);
  const bool near = !run.parts.empty() && std::get<0>(place) - run.end <= distance_;
  const bool goes_on = near && !call.missing && run.phase.in_phase(call.phase);
  if (!goes_on) {
    if (near && haplotype < run.ploidy) ++(call.missing ? counts_.ended_missing : counts_.ended_unphased);
    end_run(run, call.sample, haplotype);
    if (call.part) begin_run(run, call.sample, haplotype, call);
    return;
  }
  // Also an allele that is no part says on which of the haplotypes the run lies.
  if (run.phase.kind == carbon::GenotypePhase::with_all) run.phase = call.phase;
  run.ploidy = std::max(run.ploidy, call.ploidy);
  if (!call.part) return;
  const Part& last = *run.parts.back();
  const bool second_insertion = last.inserts() && call.part->inserts() && last.begin == call.part->begin;
  if (call.part->begin < run.end || second_insertion)
    counts_.overlapping += known ? 1 : 0;
  else
    append(run, call.sample, haplotype, call.part);
}

inline void HaplotypeGroups::begin_run(Run& run, size_t sample, size_t haplotype, const Call& call) {
  run.phase = call.phase;
  run.ploidy = call.ploidy;
  ++begun_[call.part->begin].open;
  append(run, sample, haplotype, call.part);
}

inline void HaplotypeGroups::append(Run& run, size_t sample, size_t haplotype, const PartPtr& part) {
  run.parts.push_back(part);
  run.end = part->end;
  ends_[run.end].emplace_back(sample, haplotype);
}

inline void HaplotypeGroups::end_run(Run& run, size_t sample, size_t haplotype) {
  if (run.parts.empty()) return;
  Begun& begun = begun_[run.parts.front()->begin];
  --begun.open;
  if (run.parts.size() > 1 && haplotype < run.ploidy) {
    const std::pair<size_t, size_t> carrier{sample, haplotype};
    Group& group = begun.groups.try_emplace(run.parts, Group{run.parts, 0, carrier}).first->second;
    ++group.carriers;
    group.first = std::min(group.first, carrier);
  }
  run = {};
}

inline void HaplotypeGroups::advance(int64_t pos) {
  passed_ = pos;
  while (!waiting_.empty() && std::get<0>(waiting_.begin()->first) < pos) {
    for (const Call& call : waiting_.begin()->second) take_call(waiting_.begin()->first, call);
    waiting_.erase(waiting_.begin());
  }
  while (!ends_.empty() && pos - ends_.begin()->first > distance_) {
    for (const auto& [sample, haplotype] : ends_.begin()->second)
      if (Run& run = run_of(sample, haplotype); !run.parts.empty() && run.end == ends_.begin()->first)
        end_run(run, sample, haplotype);
    ends_.erase(ends_.begin());
  }
  for (auto at = begun_.begin(); at != begun_.end() && at->first < pos;) {
    if (at->second.open > 0) {
      ++at;
      continue;
    }
    for (auto& [parts, group] : at->second.groups) complete_.push_back(std::move(group));
    at = begun_.erase(at);
  }
}

inline int64_t HaplotypeGroups::next_begin() const {
  int64_t next = passed_;
  if (!begun_.empty()) next = std::min(next, begun_.begin()->first);
  if (!waiting_.empty()) next = std::min(next, std::get<0>(waiting_.begin()->first));
  return next;
}

}  // namespace carbon_plugins
