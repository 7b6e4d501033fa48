// +niah: a needle in a haystack of DNA. Does the model use what it read long ago?
//
// A pair of random key and value lies somewhere in real sequence, which ends in the key again; the value is
// to be generated. The harder tasks add eight pairs whose keys differ from the needle's in a few bases
// (docs/model.md, "Published evaluations").
#include <map>
#include <optional>

#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr size_t kNeedle = 24;  // bp, of a key and of a value
constexpr size_t kDecoys = 8;
constexpr size_t kRowsPerCall = 4;  // prompts are long
constexpr char kLetters[] = "ACGT";

struct Row {
  std::string name, key, value, prompt, depth;
  std::string negative;  // a wrong value; empty: none is known
};

/// A pair of key and value, and before which token of the haystack it stands.
struct Pair {
  uint64_t slot = 0;
  std::string key, value;
};

// ---- the data set

/// The runs of A, C, G, T of the input, and pieces of them.
class Haystack {
 public:
  void add(const std::string& sequence) {
    for (size_t begin = 0; begin < sequence.size();) {
      begin = std::min(sequence.find_first_of(kLetters, begin), sequence.size());
      const size_t end = std::min(sequence.find_first_not_of(kLetters, begin), sequence.size());
      if (end > begin) runs_.push_back(sequence.substr(begin, end - begin));
      begin = end;
    }
  }
  /// `length` bases from anywhere within one run, all places equally likely; from all runs strung together if
  /// none is long enough. Empty if these are too short as well.
  std::string piece(size_t length, Random& random) const {
    uint64_t places = 0, total = 0;
    for (const std::string& run : runs_) {
      places += run.size() >= length ? run.size() - length + 1 : 0;
      total += run.size();
    }
    if (places == 0) return total < length ? "" : strung(random.below(total - length + 1), length);
    uint64_t at = random.below(places);
    for (const std::string& run : runs_) {
      const uint64_t here = run.size() >= length ? run.size() - length + 1 : 0;
      if (at < here) return run.substr(at, length);
      at -= here;
    }
    return "";
  }

 private:
  std::string strung(uint64_t begin, size_t length) const {
    std::string out;
    for (const std::string& run : runs_) {
      if (begin < run.size()) out += run.substr(begin, length - out.size());
      begin -= std::min<uint64_t>(begin, run.size());
      if (out.size() == length) break;
    }
    return out;
  }

  std::vector<std::string> runs_;
};

std::string random_bases(Random& random) {
  std::string out;
  for (size_t i = 0; i < kNeedle; ++i) out += kLetters[random.below(4)];
  return out;
}

/// `key` with other letters at `changes` places.
std::string near_duplicate(std::string key, size_t changes, Random& random) {
  std::vector<size_t> places(kNeedle);
  for (size_t i = 0; i < kNeedle; ++i) places[i] = i;
  for (size_t i = 0; i < changes; ++i) {
    std::swap(places[i], places[i + random.below(kNeedle - i)]);
    char& letter = key[places[i]];
    const size_t other = random.below(3);  // among the three others, in order
    const size_t own = std::string_view(kLetters).find(letter);
    letter = kLetters[other + (other >= own)];
  }
  return key;
}

/// One prompt, which with the token that begins it and a value after it fills a context of `tokens` tokens of
/// `token` bases. Needles stand between tokens, so that a key has the same tokens wherever it is.
Row make_row(const Haystack& haystack, size_t tokens, size_t token, size_t changes, double depth,
             Random random) {
  const size_t pairs = 1 + (changes > 0 ? kDecoys : 0);
  const size_t room = token * (tokens - 1), needles = 2 * kNeedle + pairs * 2 * kNeedle;
  if (room <= needles)
    fail("--context " + std::to_string(tokens) + ": too few tokens of " + std::to_string(token) +
         " bp for keys and values of " + std::to_string(needles) + " bp");
  const size_t length = room - needles;
  Row row;
  const std::string hay = haystack.piece(length, random);
  if (hay.empty()) return row;
  row.key = random_bases(random);
  row.value = random_bases(random);
  const size_t kmers = length / token;
  std::vector<Pair> inserted = {
      {static_cast<uint64_t>(depth * static_cast<double>(kmers)), row.key, row.value}};
  for (size_t i = 1; i < pairs; ++i) {
    Pair pair;
    pair.key = near_duplicate(row.key, changes, random);
    pair.value = random_bases(random);
    pair.slot = random.below(kmers + 1);
    inserted.push_back(std::move(pair));
  }
  std::stable_sort(inserted.begin(), inserted.end(),
                   [](const Pair& a, const Pair& b) { return a.slot < b.slot; });
  size_t done = 0;
  for (const Pair& pair : inserted) {
    row.prompt += hay.substr(done, token * pair.slot - done) + pair.key + pair.value;
    done = token * pair.slot;
  }
  row.prompt += hay.substr(done) + row.key;
  row.negative = random_bases(random);
  return row;
}

// ---- the plugin

/// What was found for one prompt.
struct Outcome {
  bool exact = false;
  double share = 0;                 // of the value's bases that are right
  double value_ll = 0, margin = 0;  // nats a 6-mer: the value's, and how much that is above the wrong value's
};

struct Tally {
  uint64_t rows = 0, exact = 0, likelier = 0;
  double share_sum = 0, margin_sum = 0;
  void add(const Outcome& outcome) {
    ++rows;
    exact += outcome.exact;
    likelier += outcome.margin > 0;
    share_sum += outcome.share;
    margin_sum += outcome.margin;
  }
  double mean(double sum) const { return sum / static_cast<double>(rows); }
  double exact_match() const { return mean(static_cast<double>(exact)); }
  double accuracy() const { return mean(share_sum); }
  double ll_correct() const { return mean(static_cast<double>(likelier)); }
  double ll_margin() const { return mean(margin_sum); }
};

class Niah {
 public:
  explicit Niah(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options
        .choice("task", {"niah", "neardup_d4", "neardup_d2", "neardup_d1", "given"},
                "how near the keys of eight decoys are, or a table of prompts", task_)
        .shows_default();
    options
        .number("context", "TOKENS", "tokens of a prompt with its value and <dna>", context_,
                int64_t{5 + 4 + 8 * 9 + 1}, int64_t{1} << 24)
        .shows_default();
    options.text("depths", "LIST",
                 "where needles lie, as shares of the haystack (default: 0.1,0.25,0.5,0.75,0.9)", depths_);
    options.number("rows", "N", "prompts, the depths in turn", rows_, uint64_t{1}).shows_default();
    options.number("seed", "N", "seed of the data set", seed_, uint64_t{0}).shows_default();
    options
        .word("sampler", {"kmer", "marginal", "chain"}, "how to draw, as in carbon generate, greedy",
              sampler_)
        .shows_default();
    options.flag("likelihood", "compare the value's likelihood with that of a wrong value as well",
                 likelihood_);
    options.text("write-data", "FILE", "write the prompts as a table that --task given reads", data_path_);
    options.text("details", "FILE", "write what was generated for each prompt", details_path_);
    options.text("json", "FILE", "write the result as JSON as well", json_path_);
    options.example("retrieval over 16,384 tokens with keys that differ in two bases",
                    "carbon +niah chr20.fa -- --task neardup_d2 --context 16384 --rows 100");
    options.example("a short look, with what was generated",
                    "carbon +niah chr20.fa -- --context 512 --rows 20 --details needles.tsv");
  }

  void start() {
    for (const std::string& text : split(depths_, ',')) {
      double depth = 0;
      if (!parse_number(text, depth) || !(depth >= 0 && depth <= 1))
        fail("--depths " + depths_ + ": expected numbers from 0 to 1, separated by commas");
      depth_texts_.push_back(text);
      depth_values_.push_back(depth);
    }
    input_ = only_input(run_);
    results_.open(run_, json_path_);
  }

  void finish() {
    token_ = bases_per_token(run_);
    if (!data_path_.empty()) {
      data_.emplace(run_, data_path_.c_str());
      data_->write("uid\tdepth\tkey\tvalue\tnegative\tprompt\n");
    }
    if (!details_path_.empty()) {
      details_.emplace(run_, details_path_.c_str());
      details_->write(std::string("#uid\tdepth\texact_match\tbase_accuracy\tvalue\tgenerated") +
                      (likelihood_ ? "\tvalue_ll\tll_margin\n" : "\n"));
    }
    if (task_ == kGiven)
      read_table();
    else
      make_rows();
    generate();
    if (tallies_.empty()) fail(std::string(input_) + ": no prompts");
    results_.write(table(), [&] { return json(); });
  }

 private:
  static constexpr int kGiven = 4;

  void make_rows() {
    Haystack haystack;
    Sequences input(run_, input_);
    while (input.next()) haystack.add(upper_case(std::string(input.bases())));
    constexpr size_t changes[] = {0, 4, 2, 1};
    for (uint64_t i = 0; i < rows_; ++i) {
      const size_t depth = i % depth_values_.size();
      Row row = make_row(haystack, static_cast<size_t>(context_), token_, changes[task_],
                         depth_values_[depth], row_stream(seed_, i));
      if (row.prompt.empty())
        fail(std::string(input_) + ": fewer bases A, C, G, T than a context of " + std::to_string(context_) +
             " tokens takes; give a longer sequence or a smaller --context");
      row.name = std::to_string(i);
      row.depth = depth_texts_[depth];
      take(std::move(row));
    }
  }

  void read_table() {
    Table input(run_, input_);
    const size_t prompt = input.required("prompt"), value = input.required("value");
    const size_t name = input.column({"uid", "name", "id"}), depth = input.column({"depth"}),
                 key = input.column({"key"}), negative = input.column({"negative"}),
                 whole_negative = input.column({"negative_sequence"});
    if (likelihood_ && negative == Table::npos && whole_negative == Table::npos)
      fail(input.where() + ": --likelihood needs a column negative or negative_sequence");
    std::vector<std::string> fields;
    for (uint64_t row = 0; input.next(fields); ++row) {
      const auto field = [&](size_t column) {
        return column == Table::npos ? std::string(".") : fields[column];
      };
      Row next{name == Table::npos ? std::to_string(row) : fields[name],
               field(key),
               upper_case(fields[value]),
               upper_case(fields[prompt]),
               field(depth),
               ""};
      if (next.value.empty()) fail(input.where() + ": an empty value");
      if (next.prompt.find_first_of(kLetters) == std::string::npos)
        fail(input.where() + ": the prompt has no base A, C, G or T");
      if (negative != Table::npos)
        next.negative = upper_case(fields[negative]);
      else if (whole_negative != Table::npos)
        next.negative = after_prompt(next, upper_case(fields[whole_negative]), input);
      if (likelihood_) check_lengths(next, input);
      take(std::move(next));
    }
  }

  /// The wrong value of a published row, whose `negative_sequence` is the prompt with that value.
  static std::string after_prompt(const Row& row, const std::string& whole, const Table& input) {
    if (!whole.starts_with(row.prompt))
      fail(input.where() + ": negative_sequence does not begin with prompt");
    return whole.substr(row.prompt.size());
  }
  void check_lengths(const Row& row, const Table& input) const {
    if (row.prompt.size() % token_ != 0 || row.value.size() % token_ != 0 ||
        row.negative.size() != row.value.size())
      fail(input.where() +
           ": --likelihood needs whole tokens, and a value and a wrong value of the same length");
  }

  void take(Row row) {
    if (data_)
      data_->write(row.name + "\t" + row.depth + "\t" + row.key + "\t" + row.value + "\t" + row.negative +
                   "\t" + row.prompt + "\n");
    const bool other_length = !waiting_.empty() && waiting_.front().value.size() != row.value.size();
    if (other_length || waiting_.size() == kRowsPerCall) generate();
    waiting_.push_back(std::move(row));
  }

  void generate() {
    if (waiting_.empty()) return;
    const size_t length = waiting_.front().value.size();
    std::vector<std::string> bases(waiting_.size(), std::string(length + 1, '\0'));
    std::vector<carbon_generate_item> items;
    for (size_t i = 0; i < waiting_.size(); ++i)
      items.push_back(
          {waiting_[i].prompt.c_str(), waiting_[i].prompt.size(), all_.rows + i, bases[i].data(), 0});
    const std::string settings = "greedy sampler=" + sampler_;
    checked(run_->api->generate(run_, settings.c_str(), length, items.data(), items.size()));
    std::vector<Outcome> outcomes(waiting_.size());
    for (size_t i = 0; i < waiting_.size(); ++i) {
      size_t right = 0;
      for (size_t k = 0; k < length; ++k) right += waiting_[i].value[k] == bases[i][k];
      outcomes[i].exact = right == length;
      outcomes[i].share = static_cast<double>(right) / static_cast<double>(length);
    }
    if (likelihood_) compare_likelihoods(outcomes);
    for (size_t i = 0; i < waiting_.size(); ++i) count(waiting_[i], outcomes[i], bases[i].c_str());
    waiting_.clear();
  }

  /// Means of the log-probabilities of the tokens of a value, over the whole vocabulary, after the prompt.
  void compare_likelihoods(std::vector<Outcome>& outcomes) {
    std::vector<std::string> sequences;
    std::vector<size_t> from;
    for (const Row& row : waiting_)
      for (const std::string* value : {&row.value, &row.negative}) {
        sequences.push_back(row.prompt + *value);
        from.push_back(row.prompt.size());
      }
    std::vector<carbon_score_item> items;
    items.reserve(sequences.size());
    for (const std::string& sequence : sequences)
      items.push_back({sequence.c_str(), sequence.size(), nullptr, 0, 0});
    checked(run_->api->score_ends(run_, "level=token", items.data(), from.data(), items.size()));
    for (size_t i = 0; i < waiting_.size(); ++i) {
      const carbon_score_item &value = items[2 * i], &negative = items[2 * i + 1];
      if (value.scored == 0 || negative.scored == 0)
        fail("prompt " + waiting_[i].name + ": a value has no token of A, C, G and T");
      outcomes[i].value_ll = value.sum / static_cast<double>(value.scored);
      outcomes[i].margin = outcomes[i].value_ll - negative.sum / static_cast<double>(negative.scored);
    }
  }

  void count(const Row& row, const Outcome& outcome, const std::string& generated) {
    all_.add(outcome);
    tallies_[row.depth].add(outcome);
    if (details_) {
      std::string line = row.name + "\t" + row.depth + "\t" + (outcome.exact ? "1" : "0") + "\t" +
                         to_text(outcome.share) + "\t" + row.value + "\t" + generated;
      if (likelihood_) line += "\t" + to_text(outcome.value_ll) + "\t" + to_text(outcome.margin);
      details_->write(line + "\n");
    }
    run_->api->progress(run_, all_.rows, "prompts", row.name.c_str());
  }

  std::string line(const std::string& depth, const Tally& tally) const {
    std::string out = depth + "\t" + std::to_string(tally.rows) + "\t" + to_text(tally.exact_match()) + "\t" +
                      to_text(tally.accuracy());
    if (likelihood_) out += "\t" + to_text(tally.ll_correct()) + "\t" + to_text(tally.ll_margin());
    return out + "\n";
  }

  std::string table() const {
    std::string out = "#depth\trows\texact_match\tbase_accuracy";
    out += (likelihood_ ? "\tll_correct\tll_margin\n" : "\n") + line("all", all_);
    for (const auto& [depth, tally] : tallies_) out += line(depth, tally);
    return out;
  }

  std::string json() const {
    constexpr const char* tasks[] = {"niah", "neardup_d4", "neardup_d2", "neardup_d1", "given"};
    Json out;
    out.open('{').name("task").value(tasks[task_]).name("sampler").value(sampler_);
    if (task_ != kGiven) out.name("context").value(static_cast<uint64_t>(context_)).name("seed").value(seed_);
    add_model(out, run_);
    add(out, all_);
    out.name("depths").open('[');
    for (const auto& [depth, tally] : tallies_) {
      out.open('{').name("depth").value(depth);
      add(out, tally);
      out.close('}');
    }
    return out.close(']').close('}').text();
  }

  void add(Json& out, const Tally& tally) const {
    out.name("rows").value(tally.rows).name("exact_match").value(tally.exact_match());
    out.name("base_accuracy").value(tally.accuracy());
    if (likelihood_)
      out.name("ll_correct").value(tally.ll_correct()).name("ll_margin").value(tally.ll_margin());
  }

  carbon_run* run_;
  const char* input_ = nullptr;
  int task_ = 0;
  std::string sampler_ = "kmer";
  int64_t context_ = 4096;
  size_t token_ = 0;  // bases of one
  uint64_t rows_ = 500, seed_ = 0;
  bool likelihood_ = false;
  std::string depths_ = "0.1,0.25,0.5,0.75,0.9", data_path_, details_path_, json_path_;
  Results results_;
  std::vector<std::string> depth_texts_;
  std::vector<double> depth_values_;
  std::optional<Output> data_, details_;
  std::vector<Row> waiting_;
  Tally all_;
  std::map<std::string, Tally> tallies_;  // by depth
};

}  // namespace

CARBON_PLUGIN(Niah, "needle in a haystack: retrieval over long contexts",
              CARBON_USES_MODEL | CARBON_READS_INPUTS)
