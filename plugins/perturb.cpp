// +perturb: does the model find a real coding sequence likelier than one that was disturbed?
//
// Builds the pairs from coding sequences, by a triplet expansion or by synonymous codons, or reads them, and
// compares mean log-likelihoods: accuracy = share of pairs in which the real one's is greater
// (docs/model.md, "Published evaluations").
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr size_t kPairsPerCall = 32;
constexpr int64_t kLongest = int64_t{1} << 40;  // bp, of an option; sums of them do not overflow

// ---- codons

// The standard genetic code, and how often human and mouse genes use each codon.
//
// The counts are those of the Codon Usage Database of the Kazusa DNA Research Institute
// (https://www.kazusa.or.jp/codon/, from GenBank release 160.0 of June 2007; Nakamura, Gojobori and Ikemura,
// Nucleic Acids Research 28:292, 2000): Homo sapiens, taxon 9606, 40,662,582 codons of 93,487 coding
// sequences, and Mus musculus, taxon 10090, 24,533,776 codons of 53,036.

constexpr size_t kCodons = 64;

/// Amino acids of the codons in the order of their letters A, C, G, T; * for a stop.
constexpr char kAminoAcids[] = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";
constexpr std::string_view kCodonLetters = "ACGT";

std::string codon(size_t index) {
  return {kCodonLetters[index / 16], kCodonLetters[index / 4 % 4], kCodonLetters[index % 4]};
}

/// 0 to 63, of three letters A, C, G, T.
size_t codon_index(std::string_view bases) {
  size_t index = 0;
  for (const char base : bases) index = index * 4 + kCodonLetters.find(base);
  return index;
}

bool is_stop(size_t index) {
  return kAminoAcids[index] == '*';
}

/// The other codons of the same amino acid, in order; none for a stop.
std::vector<size_t> synonyms(size_t own) {
  std::vector<size_t> out;
  for (size_t i = 0; i < kCodons; ++i)
    if (i != own && kAminoAcids[i] == kAminoAcids[own] && !is_stop(own)) out.push_back(i);
  return out;
}

/// Counts in the same order.
using CodonCounts = std::array<uint32_t, kCodons>;

// One line for each first and second letter.
constexpr CodonCounts kHumanCodons = {
    993621,  776603,  1295568, 689701,  // AA
    614523,  768147,  246105,  533609,  // AC
    494682,  791383,  486463,  493429,  // AG
    304565,  846466,  896005,  650473,  // AT
    501911,  613713,  1391973, 441711,  // CA
    688038,  804620,  281570,  713233,  // CC
    250760,  423516,  464485,  184609,  // CG
    290751,  796638,  1611801, 536515,  // CT
    1177632, 1020595, 1609975, 885429,  // GA
    643471,  1127679, 299495,  750096,  // GC
    669873,  903565,  669768,  437126,  // GG
    287712,  588138,  1143534, 448607,  // GT
    40285,   622407,  32109,   495699,  // TA
    496448,  718892,  179419,  618711,  // TC
    63237,   513028,  535595,  430311,  // TG
    311881,  824692,  525688,  714298,  // TT
};
constexpr CodonCounts kMouseCodons = {
    537723, 499149, 825270, 382284,  // AA
    391437, 465115, 138180, 335039,  // AC
    297135, 483013, 299472, 311331,  // AG
    180467, 552184, 559953, 377698,  // AT
    293318, 375626, 836320, 260637,  // CA
    423707, 446868, 151521, 450637,  // CC
    161412, 229758, 250836, 114854,  // CG
    198032, 495018, 969515, 329757,  // CT
    661498, 638504, 965963, 515049,  // GA
    388723, 637878, 157124, 491093,  // GC
    411344, 520069, 372099, 280522,  // GG
    182733, 377902, 696158, 262535,  // GT
    23403,  394074, 19126,  298518,  // TA
    289799, 444041, 103815, 398250,  // TC
    40148,  301384, 306619, 279729,  // TG
    165150, 535439, 329668, 422153,  // TT
};

/// The codon of the same amino acid with the highest count, often `own` itself; a stop stays.
size_t commonest_synonym(size_t own, const CodonCounts& counts) {
  size_t best = own;
  for (const size_t other : synonyms(own))
    if (counts[other] > counts[best]) best = other;
  return best;
}

bool is_acgt(std::string_view bases) {
  return bases.find_first_not_of("ACGT") == std::string_view::npos;
}

// ---- pairs

struct Pair {
  std::string name, original, perturbed;
};

enum Task { kTriplet, kSynHuman, kSynMouse, kSynRandom, kGiven };
constexpr const char* kTasks[] = {"triplet", "syn_human", "syn_mouse", "syn_random", "given"};

struct Settings {
  int task = kTriplet;
  int64_t cds_start = 0, start_after = 60, patch = 30;
  std::string motif = "CAG";
  double rate = 1;
  uint64_t seed = 0;
  int64_t max_length = 8192;
};

/// The sequence up to the end of the patch, and the same with repeats of the motif in the patch. Both are cut
/// from the left, since the patch is at the right.
std::optional<Pair> expand_triplet(const std::string& name, const std::string& bases, const Settings& s) {
  const auto begin = static_cast<size_t>(s.cds_start + s.start_after), length = static_cast<size_t>(s.patch);
  if (bases.size() < begin + length) return std::nullopt;
  std::string original = bases.substr(0, begin + length), perturbed = original;
  for (size_t i = 0; i < length; ++i) perturbed[begin + i] = s.motif[i % s.motif.size()];
  const size_t cut = original.size() - std::min(original.size(), static_cast<size_t>(s.max_length));
  return Pair{name, original.substr(cut), perturbed.substr(cut)};
}

/// Every codon after the first that has synonyms is replaced by one of them with probability `rate`.
/// Sequences are cut from the right before that.
Pair replace_at_random(const std::string& name, const std::string& bases, const Settings& s, Random random) {
  const std::string original = bases.substr(0, static_cast<size_t>(s.max_length));
  std::string perturbed = original;
  for (size_t at = static_cast<size_t>(s.cds_start) + 3; at + 3 <= original.size(); at += 3) {
    const std::string_view own = std::string_view(original).substr(at, 3);
    if (!is_acgt(own)) continue;
    const std::vector<size_t> others = synonyms(codon_index(own));
    if (others.empty()) continue;
    // Both numbers are drawn for every such codon, so that a change at one does not move the draws of the
    // next.
    const double chance = random.unit();
    const size_t other = others[random.below(others.size())];
    if (chance < s.rate) perturbed.replace(at, 3, codon(other));
  }
  return {name, original, perturbed};
}

/// Every codon is replaced by the commonest of its amino acid, up to the first stop codon of the reading
/// frame; what follows a stop is no coding sequence. Sequences are cut from the right before that.
Pair replace_by_commonest(const std::string& name, const std::string& bases, const Settings& s,
                          const CodonCounts& counts) {
  const std::string original = bases.substr(0, static_cast<size_t>(s.max_length));
  std::string perturbed = original;
  for (size_t at = static_cast<size_t>(s.cds_start); at + 3 <= original.size(); at += 3) {
    const std::string_view own = std::string_view(original).substr(at, 3);
    if (!is_acgt(own)) continue;
    const size_t index = codon_index(own);
    if (is_stop(index)) break;
    perturbed.replace(at, 3, codon(commonest_synonym(index, counts)));
  }
  return {name, original, perturbed};
}

// ---- the plugin

class Perturb {
 public:
  explicit Perturb(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options.choice(
        "task", {std::begin(kTasks), std::end(kTasks)},
        "how pairs are made from a FASTA: triplet (default), each codon replaced by the commonest synonym of "
        "human (syn_human) or mouse (syn_mouse) or by a random one (syn_random); or given: the input is a "
        "table "
        "of pairs",
        settings_.task);
    options
        .number("cds-start", "BP", "where the coding sequence begins in each sequence", settings_.cds_start,
                int64_t{0}, kLongest)
        .shows_default();
    options.text("motif", "BASES", "triplet: what is repeated", settings_.motif).shows_default();
    options
        .number("start-after", "BP", "triplet: coding bases before the patch", settings_.start_after,
                int64_t{0}, kLongest)
        .shows_default();
    options
        .number("patch", "BP", "triplet: bases that the repeats replace", settings_.patch, int64_t{3},
                kLongest)
        .shows_default();
    options
        .number("rate", "SHARE", "syn_random: share of the codons with synonyms that are replaced",
                settings_.rate, 0.0, 1.0)
        .shows_default();
    options.number("seed", "N", "syn_random: seed of the choice of codons", settings_.seed, uint64_t{0})
        .shows_default();
    options.number("max-length", "BP", "longer sequences are cut", settings_.max_length, int64_t{6})
        .shows_default();
    options.word("level", {"bp", "token"}, "likelihood of bases or of 6-mers, as in carbon score", level_)
        .shows_default();
    options.text("write-pairs", "FILE", "write the pairs as a table that --task given reads", pairs_path_);
    options.text("details", "FILE", "write the likelihoods of each pair", details_path_);
    options.text("json", "FILE", "write the result as JSON as well", json_path_);
    options.example("triplet expansions in coding sequences", "carbon +perturb cds.fa");
    options.example("the commonest synonymous codons of human genes, as JSON as well",
                    "carbon +perturb cds.fa -- --task syn_human --json syn.json");
  }

  void start() {
    settings_.motif = upper_case(settings_.motif);
    if (settings_.motif.size() != 3 || !is_acgt(settings_.motif))
      fail("--motif " + settings_.motif + ": expected three letters A, C, G, T");
    if (settings_.start_after % 3 != 0 || settings_.patch % 3 != 0)
      fail("--start-after and --patch count whole codons: expected multiples of 3");
    input_ = only_input(run_);
    results_.open(run_, json_path_);
  }

  void finish() {
    if (!pairs_path_.empty()) {
      pairs_.emplace(run_, pairs_path_.c_str());
      pairs_->write("name\toriginal_sequence\tsequence\n");
    }
    if (!details_path_.empty()) {
      details_.emplace(run_, details_path_.c_str());
      details_->write("#name\toriginal_ll\tperturbed_ll\tcorrect\n");
    }
    if (settings_.task == kGiven)
      read_table();
    else
      read_fasta();
    score();
    if (compared_ == 0)
      fail(std::string(input_) + ": no pairs to compare; " + std::to_string(skipped_) +
           " sequences were left out, too short or nothing to change");
    results_.write(table(), [&] { return json(); });
  }

 private:
  // ---- input

  void read_fasta() {
    Sequences input(run_, input_);
    for (uint64_t record = 0; input.next(); ++record) {
      const std::string name = input.name(), sequence = upper_case(std::string(input.bases()));
      const std::optional<Pair> pair = make_pair(name, sequence, record);
      if (pair && pair->original != pair->perturbed)
        take(*pair);
      else
        ++skipped_;
    }
  }

  std::optional<Pair> make_pair(const std::string& name, const std::string& sequence, uint64_t record) const {
    switch (settings_.task) {
      case kSynHuman:
        return replace_by_commonest(name, sequence, settings_, kHumanCodons);
      case kSynMouse:
        return replace_by_commonest(name, sequence, settings_, kMouseCodons);
      case kSynRandom:
        return replace_at_random(name, sequence, settings_, row_stream(settings_.seed, record));
      default:
        return expand_triplet(name, sequence, settings_);
    }
  }

  void read_table() {
    Table input(run_, input_);
    const size_t original = input.required("original_sequence"), perturbed = input.required("sequence");
    const size_t name = input.column({"name", "benchmark_id", "id"});
    const auto cut = [&](const std::string& text) {
      return upper_case(text.substr(0, static_cast<size_t>(settings_.max_length)));
    };
    std::vector<std::string> fields;
    for (uint64_t row = 1; input.next(fields); ++row)
      take({name == Table::npos ? std::to_string(row) : fields[name], cut(fields[original]),
            cut(fields[perturbed])});
  }

  // ---- comparison

  void take(const Pair& pair) {
    if (pairs_) pairs_->write(pair.name + "\t" + pair.original + "\t" + pair.perturbed + "\n");
    waiting_.push_back(pair);
    if (waiting_.size() == kPairsPerCall) score();
  }

  void score() {
    std::vector<carbon_score_item> items;
    for (const Pair& pair : waiting_)
      for (const std::string* bases : {&pair.original, &pair.perturbed})
        items.push_back({bases->c_str(), bases->size(), nullptr, 0, 0});
    checked(run_->api->score(run_, ("level=" + level_).c_str(), items.data(), items.size()));
    for (size_t i = 0; i < waiting_.size(); ++i)
      compare(waiting_[i].name, mean(items[2 * i]), mean(items[2 * i + 1]));
    waiting_.clear();
  }

  static double mean(const carbon_score_item& item) {
    return item.scored == 0 ? std::numeric_limits<double>::quiet_NaN()
                            : item.sum / static_cast<double>(item.scored);
  }

  void compare(const std::string& name, double original, double perturbed) {
    if (std::isnan(original) || std::isnan(perturbed))
      fail("pair " + name + ": a sequence has nothing to score (no base A, C, G or T, or no whole 6-mer)");
    const bool correct = original > perturbed;
    ++compared_;
    correct_ += correct;
    ties_ += original == perturbed;
    original_sum_ += original;
    perturbed_sum_ += perturbed;
    if (details_)
      details_->write(name + "\t" + to_text(original) + "\t" + to_text(perturbed) + "\t" +
                      (correct ? "1" : "0") + "\n");
    run_->api->progress(run_, compared_, "pairs", name.c_str());
  }

  // ---- output

  double per_pair(double sum) const { return sum / static_cast<double>(compared_); }

  std::string table() const {
    return "#metric\tvalue\naccuracy\t" + to_text(per_pair(static_cast<double>(correct_))) + "\npairs\t" +
           std::to_string(compared_) + "\ncorrect\t" + std::to_string(correct_) + "\nties\t" +
           std::to_string(ties_) + "\nskipped\t" + std::to_string(skipped_) + "\nmean_original_ll\t" +
           to_text(per_pair(original_sum_)) + "\nmean_perturbed_ll\t" + to_text(per_pair(perturbed_sum_)) +
           "\n";
  }

  std::string json() const {
    Json out;
    out.open('{').name("task").value(kTasks[settings_.task]);
    out.name("level").value(level_);
    if (settings_.task == kTriplet) out.name("motif").value(settings_.motif);
    if (settings_.task == kSynRandom)
      out.name("rate").value(settings_.rate).name("seed").value(settings_.seed);
    add_model(out, run_);
    out.name("accuracy").value(per_pair(static_cast<double>(correct_)));
    out.name("pairs").value(compared_).name("correct").value(correct_).name("ties").value(ties_);
    out.name("skipped").value(skipped_);
    out.name("mean_original_ll").value(per_pair(original_sum_));
    out.name("mean_perturbed_ll").value(per_pair(perturbed_sum_));
    return out.close('}').text();
  }

  carbon_run* run_;
  const char* input_ = nullptr;
  Settings settings_;
  std::string level_ = "bp";
  std::string pairs_path_, details_path_, json_path_;
  Results results_;
  std::optional<Output> pairs_, details_;
  std::vector<Pair> waiting_;
  uint64_t compared_ = 0, correct_ = 0, ties_ = 0, skipped_ = 0;
  double original_sum_ = 0, perturbed_sum_ = 0;
};

}  // namespace

CARBON_PLUGIN(Perturb, "accuracy on triplet expansions and synonymous codons",
              CARBON_USES_MODEL | CARBON_READS_INPUTS)
