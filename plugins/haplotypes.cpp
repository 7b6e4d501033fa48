// +haplotypes: adds a record for alleles that stand close together on one haplotype, so that they can be
// scored as one change.
//
// All input records come out. A group can only be written when the records that may belong to it have been
// read, and stands before records that have been read by then: records wait for as long as a group that may
// begin before them is not complete.
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "plugins/haplotype_groups.hpp"
#include "plugins/joint_excess.hpp"
#include "plugins/reference.hpp"
#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr const char* kCarriersTag = "CARBON_CARRIERS";
constexpr int64_t kDistanceByDefault = 6;

/// A record to add. They are sorted by their members from top to bottom.
struct NewRecord {
  int64_t pos = 0;  // 0-based
  size_t ref_length = 0;
  std::string alt, ref, parts;
  uint64_t carriers = 0;
  auto operator<=>(const NewRecord&) const = default;
};

class Haplotypes {
 public:
  explicit Haplotypes(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.text("fasta-ref", "FILE", "the reference, plain or BGZF; required without --compare", fasta_path_)
        .letter('f');
    options
        .number("distance", "BP", "the most bases between two neighbours of a group, 0 to 1000", distance_,
                int64_t{0}, int64_t{1000})
        .shows_default();
    options.text("samples", "LIST|FILE",
                 "samples whose haplotypes are read, or a file with one per line (default: all)", samples_);
    options.flag("compare", "compare the scores of groups with the sums over their parts", compare_);
    options.example(
        "the alleles of each haplotype that stand close together, as one change, with a score",
        "carbon +haplotypes phased.vcf.gz -- -f ref.fa | carbon vep --phases 6 -f ref.fa -o joint.bcf -");
    options.example("how far the score of each group is from the sum over its parts",
                    "carbon +haplotypes -o compared.bcf joint.bcf -- --compare");
  }

  void start() {
    if (compare_) {
      const char* const unused = !fasta_path_.empty()              ? "--fasta-ref"
                                 : !samples_.empty()               ? "--samples"
                                 : distance_ != kDistanceByDefault ? "--distance"
                                                                   : nullptr;
      if (unused)
        fail(std::string(unused) + " is of no use with --compare, which reads the groups of the input");
      excess_.emplace(run_);
      return;
    }
    if (fasta_path_.empty())
      fail("--fasta-ref is missing: name the FASTA that the VCF was made with, or give --compare");
    choose_samples();
    reference_.emplace(run_, fasta_path_);
    groups_.emplace(chosen_.size(), distance_);
    may_have_groups_ = checked(run_->api->info_type(run_, kPartsTag)) != CARBON_TYPE_NONE;
    declare_tag(kPartsTag, "String",
                "The alleles of one haplotype that this record joins, as POS:REF>ALT of their records");
    declare_tag(kCarriersTag, "Integer", "How many haplotypes of the samples have these alleles");
  }

  int record(carbon_record* record) {
    const std::string contig = run_->api->record_contig(run_, record);
    const int64_t pos = run_->api->record_pos(run_, record);
    check_order(contig, pos);
    if (excess_)
      excess_->add(record);
    else
      add(record, pos);
    return CARBON_LATER;
  }

  void finish() {
    leave_contig();
    if (excess_)
      excess_->report();
    else
      report();
  }

 private:
  void declare_tag(const std::string& tag, const std::string& type, const std::string& description) {
    const std::string line =
        "##INFO=<ID=" + tag + ",Number=1,Type=" + type + ",Description=\"" + description + "\">";
    checked(run_->api->record_write(run_, nullptr, line.c_str()));
  }

  // ---- samples

  void choose_samples() {
    carbon_genotypes header{};
    checked(run_->api->record_genotypes(run_, nullptr, &header));
    const std::vector<std::string> names(header.names, header.names + header.samples);
    if (names.empty()) fail("the input has no samples, and so no haplotypes: give a VCF with genotypes");
    std::vector<std::string> wanted = samples_.empty() ? names : split(samples_, ',');
    const std::set<std::string> known(names.begin(), names.end());
    const auto unknown = [&](const std::string& name) { return !known.contains(name); };
    if (std::any_of(wanted.begin(), wanted.end(), unknown)) wanted = read_samples();
    for (const std::string& name : wanted)
      if (unknown(name))
        fail("--samples " + samples_ + ": the input has no sample '" + name + "'; see bcftools query -l");
    const std::set<std::string> read(wanted.begin(), wanted.end());
    for (size_t i = 0; i < names.size(); ++i) {
      if (read.contains(names[i])) chosen_.push_back(i);
      no_calls_ += "\t.";
    }
  }

  std::vector<std::string> read_samples() {
    carbon_text* const text = run_->api->text_open(run_, samples_.c_str());
    if (!text)
      fail("--samples " + samples_ +
           ": neither samples of the input nor a file that can be read; see bcftools query -l");
    std::vector<std::string> names;
    const char* line = nullptr;
    size_t length = 0;
    while (checked(run_->api->text_line(run_, text, &line, &length)) == 1)
      if (length > 0) names.emplace_back(line, length);
    if (names.empty()) fail("--samples " + samples_ + ": the file names no sample");
    return names;
  }

  // ---- input

  void check_order(const std::string& contig, int64_t pos) {
    const bool same = contig == contig_;
    if (same ? pos < last_pos_ : !seen_.insert(contig).second)
      fail(contig + ":" + std::to_string(pos + 1) +
           ": the records are not sorted; sort the input with bcftools sort");
    if (!same) {
      leave_contig();
      if (reference_) reference_->enter(contig);
    }
    contig_ = contig;
    last_pos_ = pos;
  }

  void leave_contig() {
    if (excess_) return excess_->finish_contig();
    groups_->finish();
    make_records();
    write_up_to(std::numeric_limits<int64_t>::max());
  }

  void add(carbon_record* record, int64_t pos) {
    groups_->advance(pos);
    make_records();
    if (may_have_groups_ && info(run_, record, kPartsTag).type != CARBON_TYPE_NONE)
      fail(place(run_, record) + ": the input has groups of an earlier run (" + kPartsTag +
           "); leave them out with bcftools view -e 'CARBON_PARTS!=\".\"'");
    HaplotypeRecord read{pos, checked(run_->api->record_allele(run_, record, 0)), {}};
    for (size_t i = 0; i < alt_count(run_, record); ++i)
      read.alts.emplace_back(checked(run_->api->record_allele(run_, record, i + 1)));
    carbon_genotypes genotypes{};
    checked(run_->api->record_genotypes(run_, record, &genotypes));
    ++records_;
    with_genotypes_ += genotypes.ploidy > 0 ? 1 : 0;
    if (groups_->add(read, genotypes, chosen_)) check_reference(record, read);
    waiting_.emplace_back(record, pos);
    write_up_to(std::max<int64_t>(groups_->next_begin() - 1, 0));
  }

  /// A record whose alleles are written as bases of the reference must agree with it.
  void check_reference(carbon_record* record, const HaplotypeRecord& read) {
    const std::string where = place(run_, record) + ": ";
    const std::string advice = "; give the FASTA that the VCF was made with";
    const int64_t end = read.pos + static_cast<int64_t>(read.ref.size());
    const auto before_contig = [&](const std::string& alt) {
      const auto changed = carbon::changed_bases(read.pos, read.ref, alt);
      return changed && changed->begin < 0;
    };
    if (reference_->length() < 0) fail(where + reference_->lacks(contig_) + advice);
    if (end > reference_->length() || std::any_of(read.alts.begin(), read.alts.end(), before_contig))
      fail(where + "REF lies beyond the end of contig " + contig_ + " in " + reference_->path() + advice);
    const int64_t begin = std::max<int64_t>(read.pos, 0);
    const std::string ref = upper_case(read.ref.substr(static_cast<size_t>(begin - read.pos)));
    const std::string bases = reference_->bases(begin, end);
    for (size_t i = 0; i < ref.size(); ++i)
      if (ref[i] != bases[i] && carbon::is_acgt({&ref[i], 1}) && bases[i] != 'N')
        fail(where + "REF differs from " + reference_->path() + ", which has " + bases[i] + " at " + contig_ +
             ":" + std::to_string(begin + static_cast<int64_t>(i) + 1) + advice);
  }

  // ---- output

  static std::string joined(const std::vector<PartPtr>& parts) {
    std::string text;
    for (const PartPtr& part : parts) text += (text.empty() ? "" : "|") + part->text;
    return text;
  }

  std::string sequence_of(const Group& group) {
    std::string bases;
    int64_t at = group.begin();
    for (const PartPtr& part : group.parts) {
      bases += reference_->bases(at, part->begin) + part->bases;
      at = part->end;
    }
    return bases;
  }

  /// Takes the groups that are complete, and joins those with one sequence.
  void make_records() {
    std::map<std::tuple<int64_t, int64_t, std::string>, Group> distinct;
    for (Group& group : groups_->take()) {
      carriers_ += group.carriers;
      const auto [at, is_new] = distinct.try_emplace({group.begin(), group.end(), sequence_of(group)}, group);
      Group& known = at->second;
      if (is_new) continue;
      const uint64_t carriers = known.carriers + group.carriers;
      if (group.first < known.first) known = std::move(group);
      known.carriers = carriers;
    }
    for (const auto& [key, group] : distinct)
      make_record(std::get<0>(key), std::get<1>(key), std::get<2>(key), group);
  }

  void make_record(int64_t begin, int64_t end, std::string alt, const Group& group) {
    std::string ref = reference_->bases(begin, end);
    const bool empty = ref.empty() || alt.empty();
    if (ref == alt || (empty && begin == 0 && end == reference_->length())) {
      ++without_record_;
      return;
    }
    if (empty && begin > 0) {
      --begin;
      const std::string before = reference_->bases(begin, begin + 1);
      ref = before + ref;
      alt = before + alt;
    } else if (empty) {
      const std::string after = reference_->bases(end, end + 1);
      ref += after;
      alt += after;
    }
    ready_.insert({begin, ref.size(), std::move(alt), ref, joined(group.parts), group.carriers});
  }

  /// Writes the records and groups that no other group can precede: records up to `pos`, groups before it.
  void write_up_to(int64_t pos) {
    for (;;) {
      const bool group_next =
          !ready_.empty() && (waiting_.empty() || ready_.begin()->pos < waiting_.front().second);
      if (group_next && ready_.begin()->pos < pos) {
        write_group(*ready_.begin());
        ready_.erase(ready_.begin());
      } else if (!group_next && !waiting_.empty() && waiting_.front().second <= pos) {
        checked(run_->api->record_write(run_, waiting_.front().first, nullptr));
        waiting_.pop_front();
      } else {
        return;
      }
    }
  }

  void write_group(const NewRecord& group) {
    const std::string line = contig_ + "\t" + std::to_string(group.pos + 1) + "\t.\t" + group.ref + "\t" +
                             group.alt + "\t.\t.\t" + kPartsTag + "=" + group.parts + ";" + kCarriersTag +
                             "=" + std::to_string(group.carriers) + "\tGT" + no_calls_;
    checked(run_->api->record_write(run_, nullptr, line.c_str()));
    ++written_;
  }

  void report() const {
    const GroupCounts& counts = groups_->counts();
    std::string text = count_of(written_, "group") + " added, carried by " + count_of(carriers_, "haplotype");
    const size_t plain = text.size();
    const auto add = [&](uint64_t count, const std::string& one, const std::string& many) {
      if (count > 0) text += "; " + std::to_string(count) + (count == 1 ? one : many);
    };
    add(counts.overlapping, " allele overlaps another one of its haplotype and is left out",
        " alleles overlap others of their haplotype and are left out");
    add(counts.ended_missing, " run of alleles ends at a missing genotype",
        " runs of alleles end at a missing genotype");
    add(counts.ended_unphased, " run of alleles ends at a heterozygous genotype that is not in phase with it",
        " runs of alleles end at a heterozygous genotype that is not in phase with them");
    add(without_record_, " group leaves the reference as it is, or nothing of the contig, and gets no record",
        " groups leave the reference as it is, or nothing of the contig, and get no record");
    add(counts.other_alts, " ALT of the samples is not of A, C, G and T and belongs to no group",
        " ALTs of the samples are not of A, C, G and T and belong to no group");
    if (records_ > 0 && with_genotypes_ == 0) text += "; no record has genotypes (FORMAT GT)";
    run_->api->message(run_, text.size() == plain ? CARBON_INFO : CARBON_WARNING, text.c_str());
  }

  static std::string count_of(uint64_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
  }

  carbon_run* run_;
  std::string fasta_path_, samples_;
  int64_t distance_ = kDistanceByDefault;
  bool compare_ = false;
  std::optional<JointExcess> excess_;  // with --compare

  std::vector<size_t> chosen_;  // numbers of samples
  std::string no_calls_;        // the samples' columns of a group
  std::optional<Reference> reference_;
  std::optional<HaplotypeGroups> groups_;
  bool may_have_groups_ = false;
  std::set<std::string> seen_;  // contigs
  std::string contig_;
  int64_t last_pos_ = -1;
  std::deque<std::pair<carbon_record*, int64_t>> waiting_;  // input records with their positions
  std::multiset<NewRecord> ready_;
  uint64_t records_ = 0, with_genotypes_ = 0, written_ = 0, carriers_ = 0, without_record_ = 0;
};

}  // namespace

CARBON_PLUGIN(Haplotypes, "join the alleles of a haplotype that stand close together",
              CARBON_READS_RECORDS | CARBON_WRITES_RECORDS)
