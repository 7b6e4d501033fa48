// +recovery: how many of the bases that follow a sequence does the model restore?
//
// The published sequence recovery: the rightmost 6,144 bp as prompt, 30 bases generated greedily, the share
// of them that is right, averaged over sequences (docs/model.md, "Published evaluations").
#include <map>
#include <optional>

#include "plugins/support.hpp"

namespace {

using namespace carbon_plugins;

constexpr size_t kRowsPerCall = 32;
constexpr const char* kLetters = "ACGT";

struct Row {
  std::string name, group, prompt, label;
};

struct Tally {
  uint64_t rows = 0, exact = 0;
  double sum = 0;  // of the rows' shares
  void add(double share) {
    ++rows;
    exact += share == 1;
    sum += share;
  }
  double accuracy() const { return sum / static_cast<double>(rows); }
  double exact_share() const { return static_cast<double>(exact) / static_cast<double>(rows); }
};

class Recovery {
 public:
  explicit Recovery(carbon_run* run) : run_(run) {}

  void declare(Options& options) {
    options
        .choice("task", {"fasta", "given"}, "hold out the last bases of FASTA records, or read a table",
                task_)
        .shows_default();
    options.number("context", "BP", "bases of the prompt at most, whole tokens", context_, int64_t{1})
        .shows_default();
    options.number("length", "BP", "bases to restore", length_, int64_t{1}, int64_t{100000}).shows_default();
    options
        .word("sampler", {"kmer", "marginal", "chain"}, "how to draw, as in carbon generate, greedy",
              sampler_)
        .shows_default();
    options.text("group", "COLUMN", "given: a line for each value of this column as well", group_column_);
    options.text("details", "FILE", "write what was generated for each sequence", details_path_);
    options.text("json", "FILE", "write the result as JSON as well", json_path_);
    options.example("the last 30 bases of each sequence", "carbon +recovery genes.fa");
    options.example("a table of prompts, a line for each value of its column type",
                    "carbon +recovery eukaryote.tsv -- --task given --group type");
  }

  void start() {
    if (!group_column_.empty() && task_ == 0) fail("--group names a column: it goes with --task given");
    input_ = only_input(run_);
    results_.open(run_, json_path_);
  }

  void finish() {
    token_ = bases_per_token(run_);
    if (static_cast<size_t>(context_) % token_ != 0)
      fail("--context " + std::to_string(context_) + ": expected a multiple of " + std::to_string(token_));
    if (!details_path_.empty()) {
      details_.emplace(run_, details_path_.c_str());
      details_->write("#name\tgroup\taccuracy\tlabel\tgenerated\n");
    }
    if (task_ == 0)
      read_fasta();
    else
      read_table();
    generate();
    if (all_.rows == 0)
      fail(std::string(input_) + ": nothing to restore; " + std::to_string(skipped_) +
           " sequences were left out, too short or without bases A, C, G and T at their end");
    results_.write(table(), [&] { return json(); });
  }

 private:
  void read_fasta() {
    Sequences input(run_, input_);
    const auto held_out = static_cast<size_t>(length_);
    while (input.next()) {
      const std::string_view bases = input.bases();
      const size_t cut = bases.size() - std::min(bases.size(), held_out);
      Row row{input.name(), "", prompt_of(bases.substr(0, cut)), upper_case(std::string(bases.substr(cut)))};
      // The end of a chromosome is often all N.
      if (row.prompt.empty() || row.label.find_first_not_of(kLetters) != std::string::npos)
        ++skipped_;
      else
        take(std::move(row));
    }
  }

  /// The right end in whole tokens, at most the context; empty if that holds no base.
  std::string prompt_of(std::string_view sequence) const {
    const size_t kept = std::min(static_cast<size_t>(context_), sequence.size() / token_ * token_);
    std::string prompt = upper_case(std::string(sequence.substr(sequence.size() - kept)));
    if (prompt.find_first_of(kLetters) == std::string::npos) prompt.clear();
    return prompt;
  }

  void read_table() {
    Table input(run_, input_);
    const size_t sequence = input.required("sequence"), label = input.required("label");
    const size_t name = input.column({"name", "id", "uid"});
    const size_t group = group_column_.empty() ? Table::npos : input.required(group_column_);
    std::vector<std::string> fields;
    for (uint64_t row = 1; input.next(fields); ++row) {
      if (fields[label].size() < static_cast<size_t>(length_))
        fail(input.where() + ": a label of " + std::to_string(fields[label].size()) +
             " bp; give --length to restore fewer bases");
      std::string prompt = prompt_of(fields[sequence]);
      if (prompt.empty())
        fail(input.where() + ": no base A, C, G or T in the whole tokens at the end of the sequence");
      take({name == Table::npos ? std::to_string(row) : fields[name],
            group == Table::npos ? "" : fields[group], std::move(prompt),
            upper_case(fields[label].substr(0, static_cast<size_t>(length_)))});
    }
  }

  void take(Row row) {
    waiting_.push_back(std::move(row));
    if (waiting_.size() == kRowsPerCall) generate();
  }

  void generate() {
    std::vector<std::string> bases(waiting_.size(), std::string(static_cast<size_t>(length_) + 1, '\0'));
    std::vector<carbon_generate_item> items;
    for (size_t i = 0; i < waiting_.size(); ++i)
      items.push_back(
          {waiting_[i].prompt.c_str(), waiting_[i].prompt.size(), all_.rows + i, bases[i].data(), 0});
    const std::string settings = "greedy sampler=" + sampler_;
    checked(run_->api->generate(run_, settings.c_str(), static_cast<size_t>(length_), items.data(),
                                items.size()));
    for (size_t i = 0; i < waiting_.size(); ++i) compare(waiting_[i], bases[i]);
    waiting_.clear();
  }

  void compare(const Row& row, const std::string& generated) {
    int64_t right = 0;
    for (size_t i = 0; i < row.label.size(); ++i) right += row.label[i] == generated[i];
    const double share = static_cast<double>(right) / static_cast<double>(length_);
    all_.add(share);
    if (!group_column_.empty()) groups_[row.group].add(share);
    if (details_)
      details_->write(row.name + "\t" + (row.group.empty() ? "." : row.group) + "\t" + to_text(share) + "\t" +
                      row.label + "\t" + generated.c_str() + "\n");
    run_->api->progress(run_, all_.rows, "sequences", row.name.c_str());
  }

  static std::string line(const std::string& group, const Tally& tally) {
    return group + "\t" + std::to_string(tally.rows) + "\t" + to_text(tally.accuracy()) + "\t" +
           to_text(tally.exact_share()) + "\n";
  }
  std::string table() const {
    std::string out = "#group\trows\taccuracy\texact\n" + line("all", all_);
    for (const auto& [group, tally] : groups_) out += line(group, tally);
    return out;
  }

  std::string json() const {
    Json out;
    out.open('{').name("sampler").value(sampler_);
    out.name("context").value(static_cast<uint64_t>(context_));
    out.name("length").value(static_cast<uint64_t>(length_));
    add_model(out, run_);
    out.name("rows").value(all_.rows).name("skipped").value(skipped_);
    out.name("accuracy").value(all_.accuracy()).name("exact").value(all_.exact_share());
    out.name("groups").open('[');
    for (const auto& [group, tally] : groups_) {
      out.open('{').name("group").value(group).name("rows").value(tally.rows);
      out.name("accuracy").value(tally.accuracy()).name("exact").value(tally.exact_share()).close('}');
    }
    return out.close(']').close('}').text();
  }

  carbon_run* run_;
  const char* input_ = nullptr;
  int task_ = 0;
  std::string sampler_ = "kmer";
  int64_t context_ = 6144, length_ = 30;
  size_t token_ = 0;  // bases
  std::string group_column_, details_path_, json_path_;
  Results results_;
  std::optional<Output> details_;
  std::vector<Row> waiting_;
  Tally all_;
  std::map<std::string, Tally> groups_;
  uint64_t skipped_ = 0;
};

}  // namespace

CARBON_PLUGIN(Recovery, "sequence recovery: how many of the next bases are restored",
              CARBON_USES_MODEL | CARBON_READS_INPUTS)
