// Tables of bases: what is read from them, which pieces of them are drawn, genes beside them, small logos.

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/base/error.hpp"
#include "src/report/drawing/track.hpp"
#include "src/report/sections/bases.hpp"
#include "src/report/sections/variant_parts.hpp"
#include "src/report/sources/bases.hpp"
#include "src/report/sources/genes.hpp"
#include "test/unit/genome_files.hpp"
#include "test/unit/test_log.hpp"

using namespace carbon;
using carbon_test::TemporaryDirectory;

namespace {

const std::string kScoreHead = "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\n";
const std::string kScanHead =
    "##carbon_scanVersion=1\n##carbon_scanModel=<ID=CARBON_SCAN>\n#CHROM\tPOS\tREF\tALT\tCARBON_SCAN\n";
const std::string kMatrixHead = "#CHROM\tPOS\tREF\tA\tC\tG\tT\n";

std::string score_line(const std::string& name, int64_t pos) {
  return name + "\t" + std::to_string(pos) + "\tA\t-0.693147\t1.2\t0.5\t0.25\t0.125\t0.125\n";
}

std::string scan_lines(const std::string& name, int64_t pos) {
  const std::string start = name + "\t" + std::to_string(pos) + "\tC\t";
  return start + "A\t-1\n" + start + "G\t-2\n" + start + "T\t0.5\n";
}

std::string message_of(const std::string& path) {
  try {
    BaseTable table(path);
    TableBase base;
    while (table.next(base)) continue;
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TablePieces pieces_of(const std::string& path, std::vector<std::string> regions = {}) {
  ReportOptions options;
  options.regions = std::move(regions);
  return read_pieces(path, options);
}

std::vector<std::string> places(const TablePieces& table) {
  std::vector<std::string> out;
  for (const TablePiece& piece : table.pieces) out.push_back(piece.place());
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("report: probabilities are those of the table") {
  const TemporaryDirectory folder;
  BaseTable score(folder.put("a.tsv", kScoreHead + score_line("s", 7)));
  TableBase base;
  REQUIRE(score.next(base));
  CHECK(base.sequence == "s");
  CHECK(base.position == 7);
  CHECK(base.letter == 'A');
  CHECK(base.letters[0] == -0.693147);
  CHECK(base.letters[1] == doctest::Approx(std::log(0.25)));
  CHECK_FALSE(score.next(base));

  BaseTable scan(folder.put("b.tsv", kScanHead + scan_lines("chr1", 3)));
  CHECK(scan.header().size() == 2);
  REQUIRE(scan.next(base));
  const double sum = std::exp(-1) + 1 + std::exp(-2) + std::exp(0.5);
  CHECK(base.letters[1] == doctest::Approx(std::log(1 / sum)));
  CHECK(base.letters[3] == doctest::Approx(std::log(std::exp(0.5) / sum)));
  double total = 0;
  for (const double v : base.letters) total += std::exp(v);
  CHECK(total == doctest::Approx(1));
  CHECK_FALSE(scan.next(base));

  BaseTable matrix(folder.put("c.tsv", kMatrixHead + "c\t1\tG\t-1\t-2.5\t0\t.\n"));
  REQUIRE(matrix.next(base));
  CHECK(base.letters[1] == -2.5);
  CHECK(std::isnan(base.letters[3]));
}

TEST_CASE("report: ratios of any size give probabilities") {
  const TemporaryDirectory folder;
  BaseTable scan(folder.put("b.tsv", kScanHead + "c\t1\tA\tC\t900\nc\t1\tA\tG\t-900\nc\t1\tA\tT\t-inf\n"));
  TableBase base;
  REQUIRE(scan.next(base));
  CHECK(base.letters[0] == -900);
  CHECK(base.letters[1] == 0);
  CHECK(base.letters[3] == -INFINITY);
}

TEST_CASE("report: a malformed table is an error that names the line") {
  const TemporaryDirectory folder;
  const auto score = [&](const std::string& line) {
    return message_of(folder.put("s.tsv", kScoreHead + line));
  };
  const auto scan = [&](const std::string& lines) {
    return message_of(folder.put("t.tsv", kScanHead + lines));
  };
  const auto matrix = [&](const std::string& line) {
    return message_of(folder.put("m.tsv", kMatrixHead + line));
  };
  const auto says = [](const std::string& message, const std::string& part) {
    CAPTURE(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says(score("s\t1\tA\t-1\n"), "s.tsv:2: this line does not have the 9 columns");
  says(score("s\t0\tA\t-0.7\t1\t0.5\t0.2\t0.2\t0.1\n"), "s.tsv:2: '0' is not a position");
  says(score("s\t1x\tA\t-0.7\t1\t0.5\t0.2\t0.2\t0.1\n"), "'1x' is not a position");
  says(score("s\t99999999999999999999\tA\t-0.7\t1\t0.5\t0.2\t0.2\t0.1\n"), "is not a position");
  says(score("s\t1\tX\t-0.7\t1\t0.5\t0.2\t0.2\t0.1\n"), "'X' is not one of the bases");
  says(score("s\t1\tA\t-0.7\t1\t0.5\t1.2\t0.2\t0.1\n"), "'1.2' is not a probability");
  says(score("s\t1\tA\t-0.7\t1\tnan\t0.2\t0.2\t0.1\n"), "'nan' is not a number");
  says(score("s\t1\tA\t-0.7\t1\t0.5\t0.4\t0.4\t0.4\n"), "more than one");
  // The mean of the logarithms of two strands may be lower than the logarithm of the probability, never
  // higher.
  const std::string lower = "s\t1\tA\t-2\t1\t0.5\t0.2\t0.2\t0.1\n",
                    higher = "s\t1\tA\t-0.5\t1\t0.5\t0.2\t0.2\t0.1\n";
  for (const char* const strand : {"+", "-", "both"}) {
    const std::string head =
        std::string("##carbon_scoreModel=<ID=logp,Strand=") + strand + ">\n" + kScoreHead;
    says(message_of(folder.put("s.tsv", head + lower)),
         strand == std::string_view("both") ? "no error" : "not the logarithm");
    says(message_of(folder.put("s.tsv", head + higher)), "not the logarithm");
  }
  says(score("\t1\tA\t-2\t1\t0.5\t0.2\t0.2\t0.1\n"), "the name of the sequence is missing");
  says(scan("c\t1\tA\tC\t-1\nc\t1\tA\tG\t-1\n"), "ends before the third line");
  says(scan("c\t1\tA\tC\t-1\nc\t1\tA\tG\t-1\nc\t2\tA\tT\t-1\n"),
       "t.tsv:6: position 1 of 'c' does not have three lines");
  says(scan("c\t1\tA\tC\t-1\nc\t1\tA\tC\t-1\nc\t1\tA\tT\t-1\n"), "comes twice");
  says(scan("c\t1\tA\tA\t-1\nc\t1\tA\tC\t-1\nc\t1\tA\tT\t-1\n"), "or is none");
  says(scan("c\t1\tA\tC\tinf\nc\t1\tA\tG\t-1\nc\t1\tA\tT\t-1\n"), "'inf' is not a number");
  says(matrix("c\t1\tA\t0.5\t1\t1\t1\n"), "m.tsv:2: the value of 'A', which is the reference, is not 0");
  says(matrix("c\t1\tA\t0\t1\t1\t1\t2\n"), "7 columns");
  says(message_of(
           folder.put("v.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")),
       "not a table of bases");
}

TEST_CASE("report: small gaps are joined, large ones begin a piece") {
  const TemporaryDirectory folder;
  std::string text = kScoreHead;
  for (const int64_t pos : {5, 6, 17, 29, 30}) text += score_line("s", pos);
  text += score_line("t", 31);
  text += score_line("t", 3);
  const TablePieces table = pieces_of(folder.put("a.tsv", text));
  CHECK(places(table) == Texts{"s:5-17", "s:29-30", "t:31-31", "t:3-3"});
  CHECK(table.pieces[0].letters == "AANNNNNNNNNNA");
  CHECK(std::isnan(table.pieces[0].values[2][0]));
  CHECK(table.notes.empty());
  CHECK_THROWS_AS(pieces_of(folder.put("b.tsv", kScoreHead + score_line("s", 5) + score_line("s", 5))),
                  Error);
}

TEST_CASE("report: regions choose parts, by an index where there is one") {
  const TemporaryDirectory folder;
  std::string text = kScanHead;
  for (int64_t pos = 1; pos <= 2000; ++pos) text += scan_lines("chr1", pos);
  for (int64_t pos = 1; pos <= 50; ++pos) text += scan_lines("a:b,c", pos);
  const std::string plain = folder.put("a.tsv", text), packed = folder.put_bgzf("b.tsv.gz", text);
  REQUIRE(std::system(("tabix -s 1 -b 2 -e 2 " + packed).c_str()) == 0);
  for (const std::string& path : {plain, packed}) {
    CAPTURE(path);
    CHECK(places(pieces_of(path, {"chr1:1,001-1,020", "chr1:1990", "chr1:-3"})) ==
          Texts{"chr1:1-3", "chr1:1,001-1,020", "chr1:1,990-2,000"});
    CHECK(places(pieces_of(path, {"{a:b,c}:7-9"})) == Texts{"a:b,c:7-9"});
    CHECK(places(pieces_of(path, {"chr1:5-6", "chr1:8"})) == Texts{"chr1:5-6", "chr1:8-2,000"});
    CHECK(places(pieces_of(path, {"a:b,c"})) == Texts{"a:b,c:1-50"});
    const TablePieces none = pieces_of(path, {"chr2"});
    CHECK(none.pieces.empty());
    CHECK(none.notes.size() == 1);
    CHECK_THROWS_AS(pieces_of(path, {"chr1:9-3"}), Error);
  }
}

TEST_CASE("report: a table without end is read as far as it is drawn") {
  const TemporaryDirectory folder;
  std::string text = kScoreHead;
  for (int64_t n = 0; n < 30; ++n) text += score_line("s", 1 + 100 * n);
  const TablePieces table = pieces_of(folder.put("a.tsv", text));
  CHECK(table.pieces.size() == 20);
  REQUIRE(table.notes.size() == 1);
  CHECK(table.notes[0].find("s:2,001") != std::string::npos);
  std::string many = kScoreHead;
  for (int64_t n = 1; n <= 200'001; ++n) many += score_line("s", n);
  const TablePieces cut = pieces_of(folder.put("b.tsv", many));
  CHECK(places(cut) == Texts{"s:1-200,000"});
  CHECK(cut.notes.size() == 1);
}

TEST_CASE("report: exons of a GFF3 with its escapes, parents and faults") {
  const TemporaryDirectory folder;
  const std::string gff =
      "##gff-version 3\n#!comment\n##FASTADVSQ\nbrowser position c:1-9\ntrack name=x\n"
      "c%3B1\tx\tgene\t100\t900\t.\t-\t.\tID=g1;Name=%3Cscript%3E%26;x=y\n"
      "c%3B1\tx\tmRNA\t100\t900\t.\t-\t.\tID=t1;Parent=g1\n"
      "c%3B1\tx\texon\t100\t200\t.\t-\t.\tParent=t1;Name=exon1\n"
      "c%3B1\tx\texon\t150\t250\t.\t-\t.\tParent=t1\n"
      "c%3B1\tx\tCDS\t180\t250\t.\t-\t0\tID=cds;Parent=t1\n"
      "c%3B1\tx\texon\t800\t900\t.\t-\t.\tParent=t1\n"
      "c%3B1\tx\texon\t300\t310\t.\t+\t.\tParent=missing;gene=ABC\n"
      "c%3B1\tx\tloop\t300\t310\t.\t+\t.\tID=l;Parent=l\n"
      "c%3B1\tx\tregion\t1\t9000\t.\t+\t.\tID=whole;Name=whole\n"
      "track\tx\texon\t1\t9000\t.\t+\t.\tID=no\n"
      "##FASTA \nACGT\n";
  const std::string path = folder.put_bgzf("a.gff3.gz", gff);
  const GeneFile file = read_genes(path, {{"c;1", 120, 500}, {"c;1", 901, 950}});
  CHECK(file.known_sequence);
  REQUIRE(file.genes.size() == 2);
  REQUIRE(file.genes[0].size() == 2);
  const Gene& gene = file.genes[0][0];
  CHECK(gene.name == "<script>&");
  CHECK(gene.strand == '-');
  CHECK(gene.start == 100);
  CHECK(gene.end == 900);
  REQUIRE(gene.exons.size() == 1);  // the last one lies outside of the area
  CHECK(gene.exons[0].start == 100);
  CHECK(gene.exons[0].end == 250);
  REQUIRE(gene.coding.size() == 1);
  CHECK(gene.coding[0].start == 180);
  CHECK(file.genes[0][1].name == "ABC");
  CHECK(file.genes[1].empty());
  // Areas that lie in one another, in any order, have what each of them has alone.
  const std::vector<GeneArea> areas = {{"c;1", 300, 305}, {"c;1", 1, 9000},  {"chr1", 1, 9000},
                                       {"c;1", 100, 100}, {"c;1", 240, 260}, {"c;1", 300, 305}};
  const GeneFile all = read_genes(path, areas);
  for (size_t i = 0; i < areas.size(); ++i) {
    const std::vector<Gene> alone = read_genes(path, {areas[i]}).genes[0];
    CHECK(alone.empty() == (areas[i].sequence == "chr1"));
    REQUIRE(all.genes[i].size() == alone.size());
    for (size_t g = 0; g < alone.size(); ++g) {
      CHECK(all.genes[i][g].name == alone[g].name);
      CHECK(all.genes[i][g].exons.size() == alone[g].exons.size());
    }
  }
  TrackStack with(rows_of(381)), without(rows_of(50)), nothing(rows_of(50));
  with.add_genes(file.genes[0], 120, {0, 381});
  CHECK(with.picture("").find("&lt;script&gt;&amp;</text>") != std::string::npos);
  CHECK(with.picture("").find("<script>") == std::string::npos);
  without.add_genes(file.genes[1], 901, {0, 50});
  CHECK(without.picture("") == nothing.picture(""));

  const GeneFile spelled = read_genes(path, {{"chrC;1", 1, 1000}, {"c;1", 1, 2}});
  CHECK(spelled.known_sequence);
  CHECK(spelled.other_names == "chrC;1 (called c;1 there)");
  const GeneFile other = read_genes(path, {{"chr1", 1, 1000}});
  CHECK_FALSE(other.known_sequence);
  CHECK(other.other == "c;1");
  const auto fails = [&](const std::string& line, const std::string& part) {
    try {
      read_genes(folder.put("b.gff3", "##gff-version 3\n" + line + "\n"), {{"c", 1, 10}});
      FAIL("no error");
    } catch (const Error& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  };
  fails("c\tx\texon\t1\t2", "b.gff3:2: a line of GFF3 or GTF has nine columns");
  fails("c\tx\texon\ta\t2\t.\t+\t.\tID=x", "'a' is not a position");
  fails("c\tx\texon\t1\t9223372036854775807\t.\t+\t.\tID=x", "'9223372036854775807' is not a position");
  fails("c\tx\texon\t3\t2\t.\t+\t.\tID=x", "the start lies after the end");
}

// The same gene as Ensembl, GENCODE and RefSeq write it, and as GFF3: a GTF leaves the stop codon out of the
// CDS, and may lack lines of genes.
TEST_CASE("genes of GTF are those of GFF3") {
  const TemporaryDirectory folder;
  const auto lines = [](const std::vector<std::vector<std::string>>& rows) {
    std::string text = "#!genome-build x\n";
    for (const auto& row : rows)
      text += "c\tx\t" + row[0] + "\t" + row[1] + "\t" + row[2] + "\t.\t-\t.\t" + row[3] + "\n";
    return text;
  };
  const auto shown = [&](const std::string& name, const std::string& text) {
    const GeneFile file = read_genes(folder.put(name, text), {{"c", 1, 2000}});
    std::string out;
    for (const Gene& gene : file.genes[0]) {
      out += gene.name + gene.strand + std::to_string(gene.start) + "-" + std::to_string(gene.end);
      for (const auto* parts : {&gene.exons, &gene.coding})
        for (const GenePart& part : *parts)
          out += (parts == &gene.exons ? " e" : " c") + std::to_string(part.start) + "-" +
                 std::to_string(part.end);
      out += ";";
    }
    return out;
  };
  const std::string wanted = "AB-100-900 e100-250 e800-900 c180-250 c800-820;";
  CHECK(shown("a.gff3", lines({{"gene", "100", "900", "ID=g;Name=AB"},
                               {"mRNA", "100", "900", "ID=t;Parent=g;Name=AB-201"},
                               {"exon", "100", "250", "Parent=t"},
                               {"exon", "800", "900", "Parent=t"},
                               {"CDS", "180", "250", "Parent=t"},
                               {"CDS", "800", "820", "Parent=t"}})) == wanted);
  const std::string ensembl =
      "gene_id \"ENSG1\"; transcript_id \"ENST1\"; gene_name \"AB\"; transcript_name \"AB-201\";";
  const std::string refseq = "gene_id \"AB_1\"; transcript_id \"NM_1\"; gene \"AB\"; note \"x; y\";";
  for (const std::string& attributes : {ensembl, refseq}) {
    std::vector<std::vector<std::string>> rows = {
        {"gene", "100", "900", attributes},      {"transcript", "100", "900", attributes},
        {"exon", "800", "900", attributes},      {"exon", "100", "250", attributes},
        {"CDS", "800", "820", attributes},       {"CDS", "183", "250", attributes},
        {"stop_codon", "180", "182", attributes}};
    CHECK(shown("a.gtf", lines(rows)) == wanted);
    CHECK(shown("gtf.gff3", lines(rows)) == wanted);  // its name does not matter
    rows.erase(rows.begin());                         // as UCSC writes it
    CHECK(shown("b.gtf", lines(rows)) == wanted);
  }
}

TEST_CASE("report: small logos, one for each place") {
  const TemporaryDirectory folder;
  std::string text = kScanHead;
  for (int64_t pos = 1; pos <= 100; ++pos) text += scan_lines("<b>", pos);
  const std::string plain = folder.put("a.tsv", text), packed = folder.put_bgzf("b.tsv.gz", text);
  REQUIRE(std::system(("tabix -s 1 -b 2 -e 2 " + packed).c_str()) == 0);
  const std::vector<BasePlace> where = {{"<b>", 49}, {"<b>", 0}, {"x", 3},   {"<b>", 500},
                                        {"<b>", 49}, {"", 1},    {"<b>", -1}};
  const auto logos_of = [](const std::string& table, const std::vector<BasePlace>& places, size_t read) {
    std::vector<std::string> logos;
    for (const TablePiece& around : read_surroundings(table, places, read))
      logos.push_back(small_logo(around, 7));
    return logos;
  };
  const std::vector<std::string> logos = logos_of(plain, where, 7);
  REQUIRE(logos.size() == where.size());
  CHECK(logos[0].starts_with("<svg "));
  CHECK(logos[0].find("<title>Probabilities around &lt;b&gt;:50, reference CCCCCCCCCCCCCCC</title>") !=
        std::string::npos);
  CHECK(logos[1].find("reference NNNNNNNCCCCCCCC<") != std::string::npos);
  CHECK(logos[2].empty());
  CHECK(logos[3].empty());
  CHECK(logos[4] == logos[0]);
  CHECK(logos[5].empty());
  CHECK(logos_of(plain, where, 30) == logos);
  CHECK(logos_of(packed, {{"<b>", 49}, {"<b>", 500}}, 7) == std::vector<std::string>{logos[0], ""});
  CHECK(logos_of(packed, {}, 7).empty());
  CHECK_THROWS_AS(read_surroundings(folder.put("m.tsv", kMatrixHead), where, 7), Error);
}

TEST_CASE("report: the viewer's data are the table's") {
  const std::vector<LetterLogs> rows = {{-1.23456789, -0.5, -3, -INFINITY}, {NAN, NAN, NAN, NAN}};
  const BaseTrack track = make_track("AN", rows, 41'196'313);
  const std::vector<TrackMark> marks = {{1, 2, "</script>\"\xff"}};
  const nlohmann::json data = nlohmann::json::parse(viewer_data("c\\\"1", track, marks, "fig_map"));
  CHECK(data["name"] == "c\\\"1");
  CHECK(data["start"] == 41'196'313);
  CHECK(data["sequence"] == "AN");
  CHECK(data["logp"][0][0] == -1.2346);
  CHECK(data["logp"][0][3].is_null());
  CHECK(data["logp"][1].is_null());
  CHECK(data["marks"][0]["name"] == "</script>\"\uFFFD");
  CHECK(data["replaces"][0] == "fig_map");
}

TEST_CASE("report: a piece is drawn in rows while its letters can be read") {
  CHECK(rows_of(1).views.size() == 1);
  CHECK(rows_of(100).views.size() == 1);
  CHECK(rows_of(301).views.size() == 4);
  CHECK(rows_of(301).views[3].start == 228);
  CHECK(rows_of(401).views.size() == 1);
  CHECK_FALSE(rows_of(401).letters);
  TablePiece piece;
  for (const auto& [length, rows, words] : {std::tuple(500, 500, ""), std::tuple(501, 251, "; one base of 2"),
                                            std::tuple(6000, 500, "; one base of 12")}) {
    piece.letters.assign(static_cast<size_t>(length), 'A');
    const Chart chart = base_chart(piece, "", "", {});
    CHECK(chart.columns[0].numbers.size() == static_cast<size_t>(rows));
    CHECK(chart.table_title == piece.place() + words);
  }
}
