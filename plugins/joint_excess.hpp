// +haplotypes --compare: how far the score of a group is from the sum of the scores of its parts.
//
// The parts are records of the same file, some before the group and some after it. Records wait until the
// scores of all parts of the groups among them are known.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugins/alleles.hpp"
#include "plugins/support.hpp"
#include "src/formats/carbon_scores.hpp"

namespace carbon_plugins {

inline constexpr const char* kPartsTag = "CARBON_PARTS";

class JointExcess {
 public:
  /// Declares the tag. Fails unless the scores of the input are means over six phases.
  explicit JointExcess(carbon_run* run) : run_(run) {
    check_tag(kPartsTag, CARBON_TYPE_STRING, "run carbon +haplotypes with the reference first");
    check_tag(kScore, CARBON_TYPE_FLOAT,
              "score the output of carbon +haplotypes with carbon vep --phases 6 first");
    check_phases();
    checked(
        run->api->info_declare(run, kExcess,
                               "CARBON_LLR of the alleles of CARBON_PARTS as one change, minus the sum of "
                               "CARBON_LLR over them one by one"));
  }

  /// Takes the next record, which is written later. Records of a contig come together, in order.
  void add(carbon_record* record) {
    const int64_t pos = run_->api->record_pos(run_, record);
    resolve(pos);
    carbon_values values = info(run_, record, kPartsTag);
    if (values.type == CARBON_TYPE_NONE) {
      note_scores(record, pos);
      waiting_.push_back({record, pos, {}});
      return;
    }
    waiting_.push_back({record, pos, parts_of(record, values)});
    ++groups_;
    write_resolved();
  }

  /// Writes all that is waiting: the contig or the file has ended.
  void finish_contig() {
    resolve(std::numeric_limits<int64_t>::max());
    scores_.clear();
  }

  void report() const {
    const uint64_t compared = groups_ - without_score_ - without_part_;
    std::string text =
        std::to_string(compared) + " of " + std::to_string(groups_) + " groups have " + kExcess;
    if (without_score_ > 0) text += "; " + std::to_string(without_score_) + " have no score themselves";
    if (without_part_ > 0)
      text +=
          "; of " + std::to_string(without_part_) + " a part has no score, or is not in the file as it was";
    run_->api->message(run_, compared == groups_ ? CARBON_INFO : CARBON_WARNING, text.c_str());
  }

 private:
  static constexpr const char* kScore = "CARBON_LLR";
  static constexpr const char* kExcess = "CARBON_JOINT_EXCESS";

  /// REF and ALT of a record, in upper case.
  using Alleles = std::pair<std::string, std::string>;
  struct PartName {
    int64_t pos = 0;
    Alleles alleles;
  };
  struct Waiting {
    carbon_record* record;
    int64_t pos;
    std::vector<PartName> parts;  // of a group that is not resolved
  };

  // ---- the header

  void check_tag(const char* tag, int wanted, const std::string& advice) const {
    const int type = checked(run_->api->info_type(run_, tag));
    if (type == CARBON_TYPE_NONE) fail(std::string("the header has no INFO tag ") + tag + ": " + advice);
    if (type != wanted)
      fail(std::string("the header gives the INFO tag ") + tag + " another type than carbon does");
  }

  /// In a single phase the difference would be mostly that of the grid of 6-mers.
  void check_phases() const {
    const std::string advice = "; score the file with carbon vep --phases 6";
    bool found = false;
    for (size_t i = 0;; ++i) {
      const char* line = nullptr;
      checked(run_->api->header_line(run_, "carbon_vepModel", i, &line));
      if (!line) break;
      const carbon::HeaderFields fields = carbon::header_fields(line);
      if (carbon::header_field(fields, "ID") != kScore) continue;
      found = true;
      const std::string phases = carbon::header_field(fields, "Phases");
      if (phases != "6")
        fail("--compare needs scores that are means over six phases, but the header says Phases=" +
             (phases.empty() ? "nothing" : phases) + " of " + kScore + advice);
    }
    if (!found)
      fail(std::string("--compare needs scores that are means over six phases, but the header has no line "
                       "##carbon_vepModel of ") +
           kScore + advice);
  }

  // ---- records

  void note_scores(carbon_record* record, int64_t pos) {
    const carbon_values values = info(run_, record, kScore);
    if (values.type == CARBON_TYPE_NONE) return;
    const std::string ref = allele_text(run_, record, 0);
    for (size_t i = 0; i < alt_count(run_, record); ++i) {
      const std::optional<double> score = number_of(run_, record, values, kScore, i);
      if (score && !std::isnan(*score))
        scores_[pos].try_emplace({ref, allele_text(run_, record, i + 1)}, *score);
    }
  }

  /// POS:REF>ALT|...
  std::vector<PartName> parts_of(carbon_record* record, const carbon_values& values) const {
    std::vector<PartName> parts;
    const std::string text = values.count == 1 && values.texts[0] ? values.texts[0] : "";
    for (const std::string& part : split(text, '|')) {
      const size_t colon = part.find(':'), arrow = part.find('>');
      PartName name;
      if (colon == std::string::npos || arrow == std::string::npos || arrow < colon ||
          !parse_number(part.substr(0, colon), name.pos))
        fail(place(run_, record) + ": " + kPartsTag + " is not a list of POS:REF>ALT; it is damaged");
      --name.pos;
      name.alleles = {upper_case(part.substr(colon + 1, arrow - colon - 1)),
                      upper_case(part.substr(arrow + 1))};
      parts.push_back(std::move(name));
    }
    return parts;
  }

  /// Says that no record before `pos` follows. Writes what does not wait for another one.
  void resolve(int64_t pos) {
    for (Waiting& waiting : waiting_) {
      const auto follows = [&](const PartName& part) { return part.pos >= pos; };
      if (waiting.parts.empty() || std::any_of(waiting.parts.begin(), waiting.parts.end(), follows)) continue;
      const double excess = excess_of(waiting);
      checked(run_->api->info_set(run_, waiting.record, kExcess, &excess, 1));
      waiting.parts.clear();
    }
    write_resolved();
    forget_before(waiting_.empty() ? pos : std::min(pos, waiting_.front().pos));
  }

  void write_resolved() {
    while (!waiting_.empty() && waiting_.front().parts.empty()) {
      checked(run_->api->record_write(run_, waiting_.front().record, nullptr));
      waiting_.pop_front();
    }
  }

  double excess_of(const Waiting& group) {
    constexpr double missing = std::numeric_limits<double>::quiet_NaN();
    const carbon_values values = info(run_, group.record, kScore);
    const std::optional<double> score =
        alt_count(run_, group.record) == 1 ? number_of(run_, group.record, values, kScore, 0) : std::nullopt;
    if (!score || std::isnan(*score)) return ++without_score_, missing;
    double sum = 0;
    for (const PartName& part : group.parts) {
      const auto at = scores_.find(part.pos);
      if (at == scores_.end() || !at->second.contains(part.alleles)) return ++without_part_, missing;
      sum += at->second.at(part.alleles);
    }
    return *score - sum;
  }

  /// Forgets scores of records that no group at `pos` or after it has as a part.
  void forget_before(int64_t pos) {
    for (auto at = scores_.begin(); at != scores_.end(); at = scores_.erase(at)) {
      size_t longest = 0;
      for (const auto& [alleles, score] : at->second) longest = std::max(longest, alleles.first.size());
      if (at->first + static_cast<int64_t>(longest) >= pos) return;
    }
  }

  carbon_run* run_;
  std::deque<Waiting> waiting_;
  std::map<int64_t, std::map<Alleles, double>> scores_;
  uint64_t groups_ = 0, without_score_ = 0, without_part_ = 0;
};

}  // namespace carbon_plugins
