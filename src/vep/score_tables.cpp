#include "src/vep/score_tables.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "src/base/error.hpp"
#include "src/base/words.hpp"
#include "tokenizer/kmer.hpp"

namespace carbon {
namespace {

constexpr const char* kKey = "##carbon_scanModel=";
constexpr std::string_view kLetters = "ACGT";

// What the values of a scan depend on besides the FASTA; the device changes only last bits.
constexpr const char* kEqualFields[] = {"SHA256",  "Dtype",  "Level",       "Frames",
                                        "Context", "Strand", "RopeScaling", "Metadata"};

HeaderFields model_fields(const SnvTable& table) {
  const std::vector<std::string>& lines = table.header_lines();
  const auto is_model = [](const std::string& line) { return line.starts_with(kKey); };
  const auto line = std::find_if(lines.begin(), lines.end(), is_model);
  if (line == lines.end())
    throw Error("vep", table.path() + ": the header has no line " + kKey +
                           "..., so it is not known which model computed it; give a table of carbon scan");
  return header_fields(*line);
}

void add_device(std::string& devices, const std::string& device) {
  if (devices.find(device) == std::string::npos) devices += (devices.empty() ? "" : "; ") + device;
}

}  // namespace

ScoreTables::ScoreTables(const std::vector<std::string>& paths, ContigNames names)
    : names_(std::move(names)) {
  std::string devices;
  for (const std::string& path : paths) {
    tables_.emplace_back(path, "CARBON_SCAN");
    const HeaderFields fields = model_fields(tables_.back());
    if (fields_.empty()) fields_ = fields;
    for (const char* const name : kEqualFields)
      if (header_field(fields, name) != header_field(fields_, name))
        throw Error("vep", path + " and " + paths.front() + " are tables of different runs: " + name +
                               " is " + header_field(fields, name) + " in the one and " +
                               header_field(fields_, name) + " in the other");
    add_device(devices, header_field(fields, "Device"));
  }
  for (auto& [name, value] : fields_)
    if (name == "Device") value = devices;
}

std::string ScoreTables::model_line(const std::string& id) const {
  std::string line;
  for (const auto& [name, value] : fields_) {
    const bool quoted = name == "Model" || name == "Device" || name == "Metadata";
    const std::string text = name == "ID" ? id : value;
    line += (line.empty() ? "" : ",") + name + "=" + (quoted ? quoted_value(text) : text);
  }
  return kKey + ("<" + line + ">");
}

InfoTag ScoreTables::tag(const std::string& prefix) const {
  return {
      prefix + "_SCAN", "A", "Float",
      "Carbon ln(P(ALT)/P(REF)) of this SNV from a table of carbon scan; negative = the alternative is less "
      "likely"};
}

ScoreTables::Snv ScoreTables::snv_of(const VcfRecord& record, const std::string& alternative) {
  const std::string ref = to_upper(record.ref()), alt = to_upper(alternative);
  Snv snv;
  snv.flag = classify_allele(alt, record.pos() < 0 ? RecordCheck::edge : RecordCheck::matches);
  if (snv.flag != AlleleFlag::scored) return snv;
  const auto differ = std::mismatch(ref.begin(), ref.end(), alt.begin(), alt.end());
  const bool one = ref.size() == alt.size() && differ.first != ref.end() &&
                   std::equal(differ.first + 1, ref.end(), differ.second + 1);
  if (ref == alt) {
    snv.flag = AlleleFlag::not_in_table;
  } else if (!one) {
    snv.flag = AlleleFlag::multibase;
  } else if (!is_acgt({differ.first, differ.first + 1})) {
    snv.flag = AlleleFlag::non_acgt;
  } else {
    snv.pos = record.pos() + (differ.first - ref.begin());
    snv.ref = *differ.first;
    snv.alt = *differ.second;
  }
  return snv;
}

std::string ScoreTables::find_name(const std::string& contig) const {
  const auto has = [&](const std::string& name) {
    return std::any_of(tables_.begin(), tables_.end(),
                       [&](const SnvTable& table) { return table.has_contig(name); });
  };
  return names_.find(contig, has, tables_.front().path());
}

const std::string& ScoreTables::name_of(const std::string& contig) {
  const std::string& name = contigs_.name(contig, [this](const std::string& one) { return find_name(one); });
  if (contigs_.none_to_come()) throw no_contig();
  return name;
}

float ScoreTables::value_of(const std::string& contig, const Snv& snv) {
  float value = std::numeric_limits<float>::quiet_NaN();
  if (const std::string& name = name_of(contig); !name.empty())
    for (SnvTable& table : tables_) {
      const SnvValues* const found = table.has_contig(name) ? table.at(name, snv.pos) : nullptr;
      if (!found) continue;
      if (found->ref != snv.ref)
        throw Error("vep", "REF " + std::string(1, snv.ref) + " at " + contig + ":" +
                               std::to_string(snv.pos + 1) + " differs from " + table.path() + " (" +
                               std::string(1, found->ref) +
                               "): another assembly? give tables of the FASTA that the VCF was made with");
      value = found->values[kLetters.find(snv.alt)];
      if (!std::isnan(value)) break;
    }
  return value;
}

void ScoreTables::declare_contigs(std::vector<std::string> names) {
  contigs_.declare(std::move(names));
  if (contigs_.none_to_come()) throw no_contig();
}

TableScores ScoreTables::look_up(const VcfRecord& record) {
  TableScores scores;
  for (const std::string& alt : record.alts()) {
    const Snv snv = snv_of(record, alt);
    const bool asked = snv.flag == AlleleFlag::scored;
    const float value = asked ? value_of(record.contig(), snv) : std::numeric_limits<float>::quiet_NaN();
    scores.values.push_back(value);
    scores.flags.push_back(asked && std::isnan(value) ? AlleleFlag::not_in_table : snv.flag);
  }
  return scores;
}

void ScoreTables::find_missing(const VcfRecord& record,
                               const std::function<void(const std::string&, int64_t, char)>& missing) {
  for (const std::string& alt : record.alts())
    if (const Snv snv = snv_of(record, alt);
        snv.flag == AlleleFlag::scored && std::isnan(value_of(record.contig(), snv)))
      missing(record.contig(), snv.pos, snv.ref);
}

void add_table_scores(TableScores found, SiteScores& scores, std::vector<AlleleFlag>& flags) {
  scores.values.push_back(std::move(found.values));
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i] == AlleleFlag::scored) flags[i] = found.flags[i];
}

Respelled ScoreTables::respelled_unknown() const {
  std::set<std::string> theirs;
  for (const SnvTable& table : tables_)
    for (std::string& name : table.contigs()) theirs.insert(std::move(name));
  return respelled(contigs_.unknown(), {theirs.begin(), theirs.end()}, "the table");
}

std::string ScoreTables::where() const {
  return tables_.front().path() + (tables_.size() > 1 ? " or another table" : "");
}

Error ScoreTables::no_contig() const {
  return {"vep",
          "no contig of the VCF (" + first_of_list(contigs_.unknown()) + ") is in " + where() +
              respelled_unknown().words,
          {"give the right names in pairs with {--chr-map} FILE"}};
}

void ScoreTables::check_contigs(Log& log) const {
  if (contigs_.unknown().empty()) return;
  if (contigs_.none_known()) throw no_contig();
  const Respelled other = respelled_unknown();
  if (!other.words.empty())
    log.warning(
        "vep",
        "contigs of the VCF (" + first_of_list(contigs_.unknown()) + ") are not in " + where() + other.words,
        other.advice);
}

}  // namespace carbon
