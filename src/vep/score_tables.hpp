// Scores of SNVs that `carbon scan` has computed: looked up, not computed.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "src/formats/carbon_scores.hpp"
#include "src/formats/contig_names.hpp"
#include "src/formats/snv_table.hpp"
#include "src/formats/vcf.hpp"
#include "src/vep/output.hpp"

namespace carbon {

/// For each ALT of a record its score, NaN where it has none, and why.
struct TableScores {
  std::vector<float> values;
  std::vector<AlleleFlag> flags;
};

class ScoreTables {
 public:
  /// Opens the tables; there is at least one. Throws Error if one cannot be read, and if they are not of one
  /// model, data type, level, number of frames, context and strand.
  ScoreTables(const std::vector<std::string>& paths, ContigNames names);

  /// A field of the line ##carbon_scanModel, such as SHA256; "" if it has none.
  std::string field(std::string_view name) const { return header_field(fields_, name); }
  /// That line, with another ID and the devices of all tables.
  std::string model_line(const std::string& id) const;
  InfoTag tag(const std::string& prefix) const;

  /// The contigs that the header of the VCF declares. If the tables have none of them, Error is thrown: here
  /// where contigs of records are noted, else by the first record.
  void declare_contigs(std::vector<std::string> names);
  /// Notes a contig of the file, of which a run may see only a share; before declare_contigs().
  void note_contig(const std::string& contig) { name_of(contig); }
  /// The scores of the ALTs that are SNVs, however REF and ALT spell them. Throws Error, naming the place, if
  /// a table has another REF.
  TableScores look_up(const VcfRecord& record);
  /// Calls `missing` with the contig's name in the VCF, the position and the REF of each SNV that no table
  /// has.
  void find_missing(const VcfRecord& record,
                    const std::function<void(const std::string&, int64_t, char)>& missing);
  /// Throws Error if records were looked up, and the tables have no contig of any of them.
  /// Warns if they have some in another spelling.
  void check_contigs(Log& log) const;

 private:
  /// Where the one base is that REF and an ALT differ in, if it is one.
  struct Snv {
    AlleleFlag flag = AlleleFlag::scored;
    int64_t pos = 0;
    char ref = 0, alt = 0;
  };
  static Snv snv_of(const VcfRecord& record, const std::string& alt);
  float value_of(const std::string& contig, const Snv& snv);
  std::string find_name(const std::string& contig) const;
  const std::string& name_of(const std::string& contig);
  Error no_contig() const;
  std::string where() const;
  Respelled respelled_unknown() const;

  std::vector<SnvTable> tables_;
  ContigNames names_;
  HeaderFields fields_;
  VcfContigs contigs_;
};

/// Adds what the tables have to the scores of a record. `flags` says why other scores of an allele are
/// missing; where none is, it becomes why that of the tables is.
void add_table_scores(TableScores found, SiteScores& scores, std::vector<AlleleFlag>& flags);

}  // namespace carbon
