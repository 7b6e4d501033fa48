// VcfReader and VcfWriter: tags, headers, output types, damaged input, threads. Comparison with bcftools is
// in genome_bcftools_test.cpp.

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <algorithm>

#include <cmath>
#include <limits>
#include <thread>

#include "src/base/system.hpp"
#include "src/formats/vcf.hpp"
#include "src/formats/vcf_header.hpp"
#include "test/unit/genome_records.hpp"

using namespace carbon;
using namespace carbon_test;

namespace {

const float missing = std::numeric_limits<float>::quiet_NaN();

const std::string columns = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n";
const std::string header =
    "##fileformat=VCFv4.2\n##contig=<ID=1,length=1000>\n"
    "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"Depth\">\n" +
    columns;

VcfWriterOptions score_options(const std::string& path) {
  VcfWriterOptions options;
  options.path = path;
  options.tags = {{"LLR", "A", "Float", "Score"}, {"FLAG", "A", "String", "Why"}};
  return options;
}

std::string copy_error(const std::string& in, const std::string& out) {
  VcfWriterOptions options;
  options.path = out;
  return error_of([&] { copy_records(in, options); });
}

std::string records_of(const std::string& text) {
  const size_t chrom = text.find("#CHROM");
  return text.substr(text.find('\n', chrom) + 1);
}

std::string many_records(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i)
    text += "1\t" + std::to_string(i) + "\t.\tA\tC\t" + std::to_string(i * 37 % 991) +
            "\t.\tDP=" + std::to_string(i * 7919 % 10007) + "\n";
  return text;
}

}  // namespace

TEST_CASE("the tags of a header are listed, also if their numbers have gaps") {
  const TemporaryDirectory dir;
  const std::string in =
      dir.put("in.vcf",
              "##fileformat=VCFv4.2\n##FILTER=<ID=q,Description=\"x\",IDX=4>\n"
              "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"x\",IDX=9>\n##contig=<ID=1,IDX=3>\n"
              "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n");
  CHECK(VcfReader(in).info_tags() == std::vector<std::string>{"DP"});
}

TEST_CASE("records carry alleles as written, and tags print as specified") {
  const TemporaryDirectory dir;
  const std::string in = dir.put("in.vcf", header +
                                               "1\t0\t.\tN\t<DEL>\t.\t.\t.\n"
                                               "1\t10\tid\tac\tA,*,G\t5\tPASS\tDP=3\n"
                                               "1\t11\t.\tA\t.\t.\t.\t.\n"
                                               "1\t12\t.\tA\tC,G\t.\t.\tDP=1\n");
  const std::string out = dir.file("out.vcf");
  VcfReader reader(in);
  CHECK(reader.contigs() == std::vector<std::string>{"1"});
  const std::vector<std::string> tags = reader.info_tags();
  CHECK(std::count(tags.begin(), tags.end(), "DP") == 1);
  CHECK(std::count(tags.begin(), tags.end(), "LLR") == 0);
  VcfWriterOptions options = score_options(out);
  options.header_lines = {"##carbon_x=<ID=a,Value=b>", "##carbon_command=run it"};
  VcfWriter writer(reader, options);
  VcfRecord record;
  REQUIRE(reader.next(record));
  CHECK(record.pos() == -1);
  CHECK(record.contig() == "1");
  CHECK(record.alts() == std::vector<std::string>{"<DEL>"});
  writer.set_floats(record, "LLR", {missing});
  writer.set_strings(record, "FLAG", {"edge"});
  writer.write(record);
  REQUIRE(reader.next(record));
  CHECK(record.pos() == 9);
  CHECK(record.ref() == "ac");
  CHECK(record.alts() == std::vector<std::string>{"A", "*", "G"});
  CHECK(error_of([&] { writer.set_floats(record, "LLR", {1}); }) != "");
  CHECK(error_of([&] { writer.set_floats(record, "DP", {1, 2, 3}); }) != "");
  CHECK(error_of([&] { writer.set_floats(record, "LLR", {1, 2, INFINITY}); }) != "");
  writer.set_floats(record, "LLR", {-1.25f, missing, 1234567.0f});
  writer.set_strings(record, "FLAG", {"", "star", ""});
  writer.write(record);
  REQUIRE(reader.next(record));
  CHECK(record.alts().empty());
  writer.set_floats(record, "LLR", {});
  writer.write(record);
  REQUIRE(reader.next(record));
  writer.set_floats(record, "LLR", {1, 2});
  writer.set_floats(record, "LLR", {missing, missing});  // the later value counts
  writer.set_strings(record, "FLAG", {"", ""});
  writer.write(record);
  CHECK_FALSE(reader.next(record));
  CHECK_FALSE(reader.next(record));
  CHECK_FALSE(std::filesystem::exists(out));
  writer.close();
  const std::string text = read_bytes(out);
  CHECK(records_of(text) ==
        "1\t0\t.\tN\t<DEL>\t.\t.\tLLR=.;FLAG=edge\n"
        "1\t10\tid\tac\tA,*,G\t5\tPASS\tDP=3;LLR=-1.25,.,1.23457e+06;FLAG=.,star,.\n"
        "1\t11\t.\tA\t.\t.\t.\t.\n"
        "1\t12\t.\tA\tC,G\t.\t.\tDP=1;LLR=.,.;FLAG=.,.\n");
  CHECK(contains(text,
                 "Description=\"Depth\">\n##INFO=<ID=LLR,Number=A,Type=Float,Description=\"Score\">\n"
                 "##INFO=<ID=FLAG,Number=A,Type=String,Description=\"Why\">\n##carbon_x=<ID=a,Value=b>\n"
                 "##carbon_command=run it\n#CHROM"));
}

TEST_CASE("definitions and values of an earlier run are replaced or dropped") {
  const TemporaryDirectory dir;
  const std::string old =
      "##fileformat=VCFv4.2\n##contig=<ID=1>\n##carbon_model=<ID=old>\n##carbon_version=1\n##carbonate=kept\n"
      "##INFO=<ID=LLR,Number=1,Type=String,Description=\"Old\">\n"
      "##FORMAT=<ID=LLR,Number=1,Type=Integer,Description=\"Not INFO\">\n"
      "##INFO=<Number=A,ID=NT,Type=Float,Description=\"Old too\">\n"
      "##INFO=<ID=DP,Number=1,Type=Integer,Description=\"Depth\">\n"
      "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\ts\n"
      "1\t5\t.\tA\tC\t.\t.\tLLR=old;DP=2;NT=3;LLR=again\tLLR\t7\n"
      "1\t6\t.\tA\tC\t.\t.\tNT=3\tLLR\t8\n";
  const std::string in = dir.put("in.vcf", old);
  for (const char* type : {"v", "b"}) {
    CAPTURE(type);
    VcfWriterOptions options = score_options(dir.file(std::string("out.") + (*type == 'v' ? "vcf" : "bcf")));
    options.drop_infos = {"NT", "ABSENT"};
    options.drop_header_lines = {"##carbon_model=", "##carbon_version="};
    {
      VcfReader reader(in);
      VcfWriter writer(reader, options);
      VcfRecord record;
      REQUIRE(reader.next(record));
      writer.set_floats(record, "LLR", {0.5f});
      writer.write(record);
      REQUIRE(reader.next(record));
      writer.write(record);
      REQUIRE_FALSE(reader.next(record));
      writer.close();
    }
    VcfWriterOptions text = {};
    text.path = dir.file("text.vcf");
    const std::string result = copy_records(options.path, text);
    CHECK(records_of(result) ==
          "1\t5\t.\tA\tC\t.\t.\tLLR=0.5;DP=2\tLLR\t7\n"
          "1\t6\t.\tA\tC\t.\t.\t.\tLLR\t8\n");
    CHECK(contains(result, "##INFO=<ID=LLR,Number=A,Type=Float,Description=\"Score\">"));
    CHECK(contains(result, "##FORMAT=<ID=LLR,"));
    CHECK(contains(result, "##carbonate=kept"));
    for (const char* gone : {"Old", "ID=NT", "carbon_model", "carbon_version", "IDX"}) {
      CAPTURE(gone);
      CHECK_FALSE(contains(result, gone));
    }
  }
}

TEST_CASE("output types, suffixes and levels") {
  VcfWriterOptions options;
  parse_output_type("z9", options, "z, t");
  CHECK(options.type == 'z');
  CHECK(options.level == 9);
  parse_output_type("u", options, "z, t");
  CHECK(options.type == 'u');
  CHECK(options.level == -1);
  for (const char* bad : {"", "x", "u1", "v0", "zz", "z10", "t1"}) {
    CAPTURE(bad);
    CHECK(error_of([&] { parse_output_type(bad, options, "z, t"); }) != "");
  }
  CHECK(contains(error_of([&] { parse_output_type("x", options, "z, t"); }),
                 "'x' is not an output type; one of z, t"));
  const TemporaryDirectory dir;
  const std::string in = dir.put("in.vcf", header + many_records(3000));
  const auto first_bytes = [&](const char* name, const char* type) {
    VcfWriterOptions options = score_options(dir.file(name));
    if (*type) parse_output_type(type, options, "z, t");
    copy_records(in, options);
    const std::string bytes = read_bytes(options.path);
    VcfWriterOptions text;
    text.path = dir.file("back.vcf");
    CHECK(records_of(copy_records(options.path, text)) == many_records(3000));
    return bytes.substr(0, 3) == "BCF"                     ? "raw bcf"
           : bytes.substr(0, 2) != "\x1f\x8b"              ? "text"
           : read_text(options.path).substr(0, 3) == "BCF" ? "bcf"
                                                           : "vcf.gz";
  };
  CHECK(first_bytes("a.vcf", "") == std::string("text"));
  CHECK(first_bytes("b.vcf.gz", "") == std::string("vcf.gz"));
  CHECK(first_bytes("c.VCF.bgz", "v") == std::string("vcf.gz"));
  CHECK(first_bytes("d.bcf", "v") == std::string("bcf"));
  CHECK(first_bytes("e.vcf", "b") == std::string("text"));
  CHECK(first_bytes("f.txt", "") == std::string("text"));
  CHECK(first_bytes("g.txt", "b1") == std::string("bcf"));
  CHECK(first_bytes("h.txt", "z0") == std::string("vcf.gz"));
  const std::string uncompressed = first_bytes("i.bcf", "u");
  CHECK((uncompressed == "raw bcf" || uncompressed == "bcf"));
  CHECK(read_bytes(dir.file("i.bcf")).size() > 2 * read_bytes(dir.file("d.bcf")).size());
  VcfWriterOptions level = score_options(dir.file("k.vcf"));
  parse_output_type("z9", level, "z, t");
  CHECK(contains(error_of([&] { copy_records(in, level); }), "level"));
  CHECK_FALSE(std::filesystem::exists(dir.file("k.vcf")));
}

TEST_CASE("a table is a separate type, which VcfWriter refuses") {
  const auto type = [](const char* path, const char* given) {
    VcfWriterOptions options;
    options.path = path;
    if (*given) parse_output_type(given, options, "z, t");
    return output_type(options);
  };
  CHECK(type("-", "t") == 't');
  CHECK(type("a.tsv", "") == 't');
  CHECK(type("a.TSV.gz", "v") == 't');
  CHECK(type("a.tsv.bgz", "b") == 't');
  CHECK(type("a.vcf.gz", "t") == 'z');
  CHECK(type("a.bcf", "t") == 'b');
  CHECK(type("a.txt.gz", "t") == 't');
  CHECK(type("tsv", "") == 'v');
  const TemporaryDirectory dir;
  const std::string in = dir.put("in.vcf", header + many_records(1));
  CHECK(contains(error_of([&] { copy_records(in, score_options(dir.file("a.tsv"))); }), "output type"));
  CHECK_FALSE(std::filesystem::exists(dir.file("a.tsv")));
}

TEST_CASE("floats of a table are those of a VCF") {
  const auto text = [](float value) {
    std::string line = "=";
    append_vcf_float(value, line);
    return line;
  };
  CHECK(text(0) == "=0");
  CHECK(text(-1.5F) == "=-1.5");
  CHECK(text(-0.4394969F) == "=-0.439497");
  CHECK(text(1234567.F) == "=1.23457e+06");
  CHECK(text(3e-9F) == "=3e-09");
}

TEST_CASE("contigs and tags that the header lacks") {
  const TemporaryDirectory dir;
  const std::string in = dir.put("in.vcf", "##fileformat=VCFv4.2\n" + columns + "1\t5\t.\tA\tC\t.\tq\tX=1\n");
  CHECK(records_of(copy_records(in, score_options(dir.file("a.vcf")))) == "1\t5\t.\tA\tC\t.\tq\tX=1\n");
  CHECK(contains(error_of([&] { copy_records(in, score_options(dir.file("a.bcf"))); }), "1:5: the contig"));
  VcfWriterOptions options = score_options(dir.file("b.bcf"));
  options.contigs = {{"1", 100}, {"2", 200}, {"odd,name", 3}};
  CHECK(contains(error_of([&] { copy_records(in, options); }), "1:5: a FILTER, INFO"));
  const std::string plain =
      dir.put("plain.vcf", "##fileformat=VCFv4.2\n##contig=<ID=2>\n" + columns + "1\t5\t.\tA\tC\t.\t.\t.\n");
  copy_records(plain, options);
  VcfWriterOptions text;
  text.path = dir.file("b.vcf");
  const std::string result = copy_records(options.path, text);
  CHECK(contains(result, "##contig=<ID=2>\n##contig=<ID=1,length=100>\n"));
  CHECK(records_of(result) == "1\t5\t.\tA\tC\t.\t.\t.\n");
}

TEST_CASE("a header with impossible numbers or too many lines is refused, in text and in BCF") {
  const TemporaryDirectory directory;
  const auto refused = [&](const std::string& lines) {
    const std::string text = "##fileformat=VCFv4.2\n" + lines + columns;
    const std::string size = {static_cast<char>(text.size() & 0xff),
                              static_cast<char>(text.size() >> 8 & 0xff),
                              static_cast<char>(text.size() >> 16 & 0xff), 0};
    const std::string message = error_of([&] { VcfReader(directory.put("in.vcf", text)); });
    std::string of_bcf = error_of([&] { VcfReader(directory.put("in.bcf", "BCF\2\2" + size + text)); });
    if (const size_t name = of_bcf.find("in.bcf"); name != std::string::npos)
      of_bcf.replace(name, 6, "in.vcf");
    // In BCF a NUL byte is the end of the header.
    if (lines.find('\0') == std::string::npos) CHECK(of_bcf == message);
    return message;
  };
  CHECK(refused("") == "");
  CHECK(refused("##contig=<ID=a,IDX=7>\n##FILTER=<ID=q,Description=\"a\\\",IDX=99999999\">\n") == "");
  for (const std::string number : {"20000000", "+20000000", " 20000000", "99999999999999999999"}) {
    CAPTURE(number);
    CHECK(contains(refused("##contig=<ID=a>\n##FILTER=<ID=q,Description=\"x\", IDX=" + number + ">\n"),
                   "line 3"));
    CHECK(contains(refused("##INFO=<IDX=" + number + ",ID=a\"b>\n"), "IDX="));
  }
  std::string lines;
  for (int i = 0; i < 10001; ++i) lines += "##k" + std::to_string(i) + "=x\n##ALT=<ID=a>\n";
  CHECK(contains(refused(lines), "10000 places"));
  lines.clear();
  for (int i = 0; i < 20000; ++i) lines += "##contig=<ID=c" + std::to_string(i) + ">\n";
  CHECK(refused(lines) == "");
  CHECK(contains(refused(std::string("##k=\0\n", 7)), "NUL"));
  CHECK(refused("\n##k=x\n\n") == "");
  CHECK(contains(refused("k=x\n"), "malformed"));
  CHECK(contains(error_of([&] { VcfReader(directory.put("cut.bcf", "BCF\2\2\xff\xff\xff\xff##file")); }),
                 "malformed or cut"));
}

TEST_CASE("a header of many lines KEY=VALUE is what htslib makes of it, in little time") {
  std::string text = "##fileformat=VCFv4.2\n";
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    if (i % 50 == 49) text += "##contig=<ID=c" + n + ">\n##contig=<ID=c" + n + ">\n";
    text += "##k" + n + "=x y\n##k" + n + "=x\n##k7=x\n" + (i % 30 == 0 ? "##empty=\n##=x\n##k\n" : "");
  }
  text += "##fileformat=VCFv4.1\n" + columns;
  const auto formatted = [](const bcf_hdr_t* header) {
    kstring_t out = KS_INITIALIZE;
    REQUIRE(bcf_hdr_format(header, 1, &out) == 0);
    const std::string all(out.s, out.l);
    ks_free(&out);
    return all;
  };
  const VcfHeaderPtr expected(bcf_hdr_init("r"));
  std::string copy = text;
  REQUIRE(bcf_hdr_parse(expected.get(), copy.data()) == 0);
  const VcfHeaderPtr header = parse_vcf_header(text);
  REQUIRE(header);
  CHECK(formatted(header.get()) == formatted(expected.get()));

  const TemporaryDirectory directory;
  std::string lines;
  for (int i = 0; i < 200000; ++i) lines += "##made=of part" + std::to_string(i) + "\n";
  text = "##fileformat=VCFv4.2\n" + lines + "##contig=<ID=1>\n" + columns + "1\t5\t.\tA\tC\t.\t.\t.\n";
  const Stopwatch watch;
  for (const char* name : {"out.vcf", "out.bcf"}) {
    VcfWriterOptions options;
    options.path = directory.file(name);
    if (options.path.ends_with("bcf")) options.type = 'u';
    CHECK(contains(copy_records(directory.put("in.vcf", text), options), "\n" + lines + "##contig"));
  }
  // With the square of the lines it would take minutes.
  CHECK(watch.seconds() < 20);
}

TEST_CASE("a BCF header has its format first and its columns last") {
  const TemporaryDirectory directory;
  const auto message = [&](const std::string& text) {
    const std::string size = {static_cast<char>(text.size()), 0, 0, 0};
    return error_of([&] { VcfReader(directory.put("in.bcf", "BCF\2\2" + size + text)); });
  };
  const std::string format = "##fileformat=VCFv4.2\n";
  CHECK(message(format + columns) == "");
  CHECK(message(format + columns + "\n\n") == "");
  CHECK(message(format + columns + std::string(3, '\0') + "padding") == "");
  CHECK(contains(message("##contig=<ID=1>\n" + columns), "##fileformat"));
  CHECK(contains(message("##contig=<ID=1>\n" + format + columns), "##fileformat"));
  CHECK(contains(message(format + columns + "##contig=<ID=1>\n"), "after its #CHROM line"));
  CHECK(contains(message(format + columns + "\n1\t5\t.\tA\tC\t.\t.\t.\n"), "after its #CHROM line"));
}

TEST_CASE("the contigs of an index are taken if the header has none") {
  const TemporaryDirectory directory;
  const std::string path =
      directory.put_bgzf("in.vcf.gz", "##fileformat=VCFv4.2\n" + columns + "c7\t1\t.\tA\tC\t.\t.\t.\n");
  CHECK(VcfReader(path).contigs().empty());
  if (!have_command("tabix")) {
    MESSAGE("SKIPPED: tabix is not installed");
    return;
  }
  REQUIRE(run_command("tabix -p vcf " + path).status == 0);
  CHECK(VcfReader(path).contigs() == std::vector<std::string>{"c7"});
}

TEST_CASE("a header alone gives a header alone; other input gives an error") {
  const TemporaryDirectory dir;
  const std::string out = dir.file("out.vcf");
  CHECK(copy_error(dir.put("h.vcf", header), out) == "");
  CHECK(records_of(read_bytes(out)) == "");
  CHECK(copy_error(dir.put_bgzf("h.vcf.gz", header), out) == "");
  const auto error = [&](const std::string& text) { return copy_error(dir.put("bad.vcf", text), out); };
  CHECK(contains(error(""), "empty"));
  CHECK(contains(error(columns + "1\t5\t.\tA\tC\t.\t.\t.\n"), "no header"));
  CHECK(contains(error(">seq\nACGT\n"), "swapped"));
  CHECK(contains(error("##fileformat=VCFv4.2\n1\t5\t.\tA\tC\t.\t.\t.\n"), "header"));
  CHECK(error(header.substr(0, header.size() - 1)) == "");
  CHECK(error(header + "1\t5\t.\tA\tC\t.\t.\t.") == "");
  CHECK(records_of(read_bytes(out)) == "1\t5\t.\tA\tC\t.\t.\t.\n");
  CHECK(contains(error(header + "1\t5\t.\tA\tC\n"), "line 5 (1:5): fewer than 8"));
  CHECK(contains(error(header + "1\t5x\t.\tA\tC\t.\t.\t.\n"), "line 5 (1:5x): POS"));
  CHECK(contains(error(header + "1\t\t.\tA\tC\t.\t.\t.\n"), "POS"));
  CHECK(contains(error(header + "1\tx\t.\tA\tC\t.\t.\t.\n"), "line 5 (1:x)"));
  CHECK(error(header + "\n1\t5\t.\tA\tC\t.\t.\t.\n") != "");
  CHECK(error(header.substr(0, 40)) != "");
  CHECK(contains(copy_error(dir.file("absent.vcf"), out), "cannot open"));
  CHECK(copy_error(dir.path(), out) != "");
  CHECK(error(header + "1\t5\t.\tA\tC\t.\t.\tDP=1\r\n") == "");
  CHECK(records_of(read_bytes(out)) == "1\t5\t.\tA\tC\t.\t.\tDP=1\n");
}

TEST_CASE("cut and damaged compressed VCF and BCF are errors and leave no output") {
  const TemporaryDirectory dir;
  const std::string text = header + many_records(20000);
  const std::string out = dir.file("out.vcf");
  VcfWriterOptions bcf = score_options(dir.file("whole.bcf"));
  copy_records(dir.put("in.vcf", text), bcf);
  VcfWriterOptions raw = score_options(dir.file("raw.bcf"));
  raw.type = 'u';
  copy_records(dir.file("in.vcf"), raw);
  dir.put_bgzf("whole.vcf.gz", text);
  for (const char* name : {"whole.vcf.gz", "whole.bcf", "raw.bcf"}) {
    CAPTURE(name);
    const std::string whole = read_bytes(dir.file(name));
    CHECK(copy_error(dir.file(name), out) == "");
    std::filesystem::remove(out);
    const bool marked = whole.substr(0, 2) == "\x1f\x8b";
    for (size_t keep : {whole.size() - 27, whole.size() - 28, whole.size() - 30, whole.size() / 2 + 5,
                        size_t{500}, size_t{100}, size_t{30}}) {
      if (!marked && keep == whole.size() - 28)
        continue;  // perhaps cut between two records, which cannot be noticed
      CAPTURE(keep);
      CHECK(copy_error(dir.put("cut", whole.substr(0, keep)), out) != "");
      CHECK_FALSE(std::filesystem::remove(out));
    }
    if (!marked) continue;
    CHECK(
        contains(copy_error(dir.put("cut", whole.substr(0, whole.size() - 28)), out), "end-of-file marker"));
    std::string flipped = whole;
    for (size_t i = whole.size() / 2; i < whole.size() / 2 + 10; ++i) flipped[i] ^= 0x55;
    CHECK(contains(copy_error(dir.put("flipped", flipped), out), "damaged"));
    CHECK_FALSE(std::filesystem::exists(out));
  }
  REQUIRE(run_command("gzip -c " + dir.file("in.vcf") + " > " + dir.file("plain.gz")).status == 0);
  CHECK(copy_error(dir.file("plain.gz"), out) == "");
  std::filesystem::remove(out);
  const std::string gzipped = read_bytes(dir.file("plain.gz"));
  CHECK(copy_error(dir.put("cut", gzipped.substr(0, gzipped.size() / 2)), out) != "");
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("a pipe is read to its end, with or without a last newline") {
  const TemporaryDirectory dir;
  const std::string fifo = dir.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  const std::string text = header + many_records(5000);
  const std::string compressed = read_bytes(dir.put_bgzf("x.gz", text));
  const auto through_pipe = [&](const std::string& bytes) {
    std::thread feeder([&] { std::ofstream(fifo, std::ios::binary) << bytes; });
    const std::string error = copy_error(fifo, dir.file("out.vcf"));
    feeder.join();
    return error;
  };
  CHECK(through_pipe(text) == "");
  CHECK(records_of(read_bytes(dir.file("out.vcf"))) == many_records(5000));
  CHECK(through_pipe(text.substr(0, text.size() - 1)) == "");
  CHECK(records_of(read_bytes(dir.file("out.vcf"))) == many_records(5000));
  CHECK(through_pipe(compressed) == "");
  CHECK(contains(through_pipe(compressed.substr(0, compressed.size() - 28)), "end-of-file marker"));
}

TEST_CASE("output errors are found") {
  const TemporaryDirectory dir;
  const std::string in = dir.put("in.vcf", header + many_records(3000));
  if (access("/dev/full", W_OK) != 0) {
    MESSAGE("SKIPPED: no /dev/full");
    return;
  }
  for (const char type : {'v', 'z', 'b', 'u'}) {
    CAPTURE(type);
    VcfWriterOptions options = score_options("/dev/full");
    options.type = type;
    CHECK(contains(error_of([&] { copy_records(in, options); }), "/dev/full"));
  }
  CHECK(std::filesystem::is_character_file("/dev/full"));
}

TEST_CASE("one thread reads while another writes") {
  const TemporaryDirectory dir;
  const int count = 4000;
  std::string records, expected;
  for (int i = 1; i <= count; ++i) {
    // New tags and contigs in many records, so that the shared header grows while both threads use it.
    const std::string extra = i % 10 == 0 ? ";X" + std::to_string(i) + "=1" : "";
    const std::string contig = i % 25 == 0 ? "c" + std::to_string(i) : "1";
    const std::string line = contig + "\t" + std::to_string(i) + "\t.\tA\tC\t.\t.\tDP=1" + extra;
    records += line + "\n";
    expected += line + ";LLR=" + std::to_string(i) + "\n";
  }
  const std::string in = dir.put("in.vcf", header + records);
  VcfReader reader(in);
  VcfWriter writer(reader, score_options(dir.file("out.vcf")));
  std::vector<VcfRecord> batches[2];
  std::string error;
  const auto read_batch = [&](std::vector<VcfRecord>& batch) {
    batch.clear();
    for (int i = 0; i < 64; ++i) {
      VcfRecord record;
      if (!reader.next(record)) break;
      batch.push_back(std::move(record));
    }
  };
  read_batch(batches[0]);
  for (int turn = 0; !batches[turn % 2].empty(); ++turn) {
    std::thread ahead([&] { error += error_of([&] { read_batch(batches[(turn + 1) % 2]); }); });
    for (VcfRecord& record : batches[turn % 2]) {
      writer.set_floats(record, "LLR", {static_cast<float>(record.pos() + 1)});
      writer.write(record);
    }
    ahead.join();
  }
  writer.close();
  CHECK(error == "");
  CHECK(records_of(read_bytes(dir.file("out.vcf"))) == expected);
}
