"""What plugins are given: records, the engine, and the example of carbon-plugins(5)."""

import os
import random
import re

from harness import (DATA, case, data, expect, expect_close, expect_equal, expect_failure, fresh, genome, info_of, main, model, ok,
                     parse_fasta, read, records, tool, write)
from plugin_compile import SOURCE, compiled, include, run

MINI = os.path.join(DATA, "mini.vcf")


# ---- records

SPLIT = """
#define DROPPED 19
static int init(carbon_run *run, int argc, char **argv, void **state) {
  (void)state;
  if (argc != 2 || strcmp(argv[0], "halve")) return run->api->fail(run, "one word, please");
  if (run->api->info_type(run, "CARBON_LLR") != CARBON_TYPE_FLOAT) return run->api->fail(run, "no scores in the input");
  return run->api->info_declare(run, argv[1], "half of CARBON_LLR");
}
static int process(carbon_run *run, void *state, carbon_record *record) {
  carbon_values values;
  double halves[16];
  size_t i;
  (void)state;
  if (run->api->record_pos(run, record) == DROPPED) return CARBON_DROP;
  if (run->api->record_info(run, record, "CARBON_LLR", &values) != CARBON_DONE) return CARBON_ERROR;
  if (values.type == CARBON_TYPE_NONE || values.per != CARBON_PER_ALT) return CARBON_KEEP;
  if (values.count + 1 != run->api->record_allele_count(run, record)) return CARBON_KEEP;
  for (i = 0; i < values.count; i++) halves[i] = values.numbers[i] / 2;
  return run->api->info_set(run, record, "HALF", halves, values.count);
}
"""


@case
def records_are_read_changed_and_dropped():
    fasta = data("mini.fa")
    scored = write(fresh(), "scored.vcf", ok("vep", "-m", model(), "-f", fasta, "-w", "48", MINI).out)
    directory = compiled("halve", uses="CARBON_READS_RECORDS | CARBON_WRITES_RECORDS", init="", process=SPLIT,
                         finish="static int finish(carbon_run *run, void *state) { (void)run; (void)state; return CARBON_DONE; }")
    result = run(directory, "+halve", scored, "--", "HALF")
    expect(result.rc == 0, "expected rc 0", result)
    given = [line for line in records(read(scored).decode()) if line.split("\t")[1] != "20"]
    found = records(result.text)
    expect(len(found) == len(given) < len(records(read(scored).decode())), "expected one site less", result)
    for before, after in zip(given, found):
        info, old = info_of(after), info_of(before)
        expect_equal({k: v for k, v in info.items() if k != "HALF"}, old, "the other tags")
        if "HALF" in info and info["HALF"] != ".":
            for a, b in zip(info["HALF"].split(","), old["CARBON_LLR"].split(",")):
                expect((a == ".") == (b == "."), "missing values differ: " + after)
                if a != ".":
                    expect_close(float(a), float(b) / 2, 1e-5 * abs(float(b)) + 1e-9, after)
    expect('##INFO=<ID=HALF,Number=A,Type=Float,Description="half of CARBON_LLR">' in result.text, "no definition", result)
    expect("##carbon_pluginCommand=+halve " in result.text, "no command line", result)
    quiet = run(directory, "+halve", "--no-version", "-O", "b", scored, "--", "HALF")
    viewed = tool("bcftools", "view", "--no-version", "-", stdin=quiet.out)
    expect_equal(records(viewed.text), found, "as BCF")
    expect("carbon_plugin" not in viewed.text, "--no-version leaves lines", viewed)
    chosen = run(directory, "+halve", "-t", "c2", scored, "--", "HALF")
    expect_equal(records(chosen.text), [line for line in found if line.startswith("c2\t")], "-t")
    expect_failure(run(directory, "+halve", MINI, "--", "HALF"), "[E::halve]", "no scores")
    expect_failure(run(directory, "+halve", "-O", "t", scored, "--", "HALF"), "VCF or BCF")


HEADER = """
static int init(carbon_run *run, int argc, char **argv, void **state) {
  char text[512];
  int i;
  (void)state;
  if (!CARBON_HAS(run->api, header_line)) return run->api->fail(run, "an old carbon");
  for (i = 1; i < argc; i++) {
    const char *line;
    size_t index = 0;
    for (;; index++) {
      if (run->api->header_line(run, argv[i], index, &line) != CARBON_DONE) return CARBON_ERROR;
      if (!line) break;
      sprintf(text, "line %lu %.400s", (unsigned long)index, line);
      run->api->message(run, CARBON_WARNING, text);
    }
    sprintf(text, "%lu of %.100s", (unsigned long)index, argv[i]);
    run->api->message(run, CARBON_WARNING, text);
  }
  return CARBON_DONE;
}
"""
NOTHING = ("static int process(carbon_run *run, void *state, carbon_record *record)"
           " { (void)run; (void)state; (void)record; return CARBON_KEEP; }")


@case
def lines_of_the_header_are_read():
    directory = compiled("header", uses="CARBON_READS_RECORDS", init=HEADER, process=NOTHING)
    lines = ['##x=<ID=a,Text="b, \\"c\\" > d">', "##x=<ID=b>", "##x=plain words, =<>", "##xy=1", "##contig=<ID=c,length=9>",
             '##INFO=<ID=DP,Number=1,Type=Integer,Description="depth">']
    path = write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n" + "\n".join(lines) + "\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
    keys = ("x", "xy", "X", "", "contig", "INFO", "fileformat", "ALT")
    wanted = ["line 0 " + lines[0], "line 1 " + lines[1], "line 2 " + lines[2], "3 of x", "line 0 ##xy=1", "1 of xy", "0 of X", "0 of ",
              "line 0 " + lines[4], "1 of contig", "line 0 " + lines[5], "1 of INFO", "line 0 ##fileformat=VCFv4.2", "1 of fileformat",
              "0 of ALT"]
    binary = tool("bcftools", "view", "--no-version", "-Ob", path).out
    for result in (run(directory, "+header", path, "--", *keys), run(directory, "+header", "-", "--", *keys, stdin=binary)):
        expect(result.rc == 0, "expected rc 0", result)
        expect_equal(result.err.splitlines(), ["[W::header] " + text for text in wanted], "messages")
    blind = compiled("blind", uses="CARBON_READS_INPUTS", init=HEADER)
    expect_failure(run(blind, "+blind", path, "--", "x"), "[E::plugin]", "without CARBON_READS_RECORDS")


MORE = """
static carbon_records *more;
static int init(carbon_run *run, int argc, char **argv, void **state) {
  const carbon_api *api = run->api;
  (void)argc; (void)argv; (void)state;
  if (!CARBON_HAS(api, unmet) || !api->input(run, 1) || api->input(run, 2)) return api->fail(run, "two inputs, please");
  more = api->records_open(run, api->input(run, 1));
  if (!more) return CARBON_ERROR;
  return api->records_info_type(run, more, "DP") == CARBON_TYPE_INTEGER && api->info_type(run, "DP") == CARBON_TYPE_NONE
      ? CARBON_DONE : api->fail(run, "DP is not where it should be");
}
static int process(carbon_run *run, void *state, carbon_record *record) {
  const carbon_record *other;
  carbon_values values;
  char text[200];
  int found = run->api->records_next(run, more, &other);
  (void)state;
  if (found == CARBON_ERROR) return CARBON_ERROR;
  if (found == 0) return run->api->unmet(run, "the second file is shorter");
  if (run->api->record_info(run, other, "DP", &values) != CARBON_DONE) return CARBON_ERROR;
  sprintf(text, "%s %s", run->api->record_contig(run, record), run->api->record_filter(run, record));
  sprintf(text + strlen(text), " %s %s DP %g", run->api->record_contig(run, other), run->api->record_filter(run, other),
          values.count ? values.numbers[0] : -1);
  return run->api->unmet(run, text);
}
"""


@case
def further_records_are_read_and_a_complete_run_may_fail():
    head = '##fileformat=VCFv4.2\n%s##FILTER=<ID=q10,Description="x">\n##contig=<ID=%s>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    first = write(fresh(), "a.vcf", head % ("", "a") + "".join("a\t%d\t.\tA\tC\t.\t%s\t.\n" % (i, f) for i, f in ((1, "PASS"), (2, "q10"), (3, "."))))
    dp = '##INFO=<ID=DP,Number=1,Type=Integer,Description="x">\n'
    second = write(fresh(), "b.vcf", head % (dp, "b") + "b\t7\t.\tA\tC\t.\tq10\tDP=5\nb\t8\t.\tA\tC\t.\tPASS\t.\n")
    directory = compiled("more", uses="CARBON_READS_RECORDS | CARBON_READS_MORE", init="", process=MORE)
    out = os.path.join(fresh(), "out")
    result = run(directory, "+more", "-o", out, first, second)
    expect(result.rc == 1, "expected rc 1", result)
    expect_equal(result.err.splitlines(), ["[E::more] a PASS b q10 DP 5", "[E::more] a q10 b PASS DP -1", "[E::more] the second file is shorter"],
                 "messages")
    expect_equal(read(out), b"hello\n", "the output is complete")
    failed = os.path.join(fresh(), "out")
    broken = write(fresh(), "broken.vcf", read(second).decode() + "b\tx\n")
    expect_failure(run(directory, "+more", "-o", failed, first, broken), "broken.vcf")
    expect(not os.path.exists(failed), "an output of a run that failed")
    expect_failure(run(directory, "+more", first), "[E::more] two inputs, please")
    expect_failure(run(directory, "+more", first, "nowhere.vcf"), "nowhere.vcf")
    expect("<in.vcf[.gz] | in.bcf | ->..." in run(directory, "+more", "--help").text, "the usage line")
    without = compiled("without", uses="CARBON_READS_MORE")
    expect_failure(run(without, "+without", first), "[E::plugin] ", "contradicts itself", "CARBON_READS_MORE")


GENOTYPES = """
static int init(carbon_run *run, int argc, char **argv, void **state) {
  carbon_genotypes header;
  size_t i;
  (void)argc; (void)argv; (void)state;
  if (!CARBON_HAS(run->api, record_genotypes)) return run->api->fail(run, "an old carbon");
  if (run->api->record_genotypes(run, NULL, &header) != CARBON_DONE) return CARBON_ERROR;
  for (i = 0; i < header.samples; i++) run->api->message(run, CARBON_WARNING, header.names[i]);
  return header.ploidy == 0 && !header.alleles ? CARBON_DONE : run->api->fail(run, "genotypes without a record");
}
static int process(carbon_run *run, void *state, carbon_record *record) {
  carbon_genotypes g;
  char text[512];
  size_t s, i;
  (void)state;
  if (run->api->record_genotypes(run, record, &g) != CARBON_DONE) return CARBON_ERROR;
  sprintf(text, "%lu:", (unsigned long)g.ploidy);
  for (s = 0; s < g.samples; s++) {
    for (i = 0; i < g.ploidy; i++)
      sprintf(text + strlen(text), " %d%c", (int)g.alleles[s * g.ploidy + i], g.phased[s * g.ploidy + i] ? '|' : '/');
    sprintf(text + strlen(text), " %s;", !g.phase_sets ? "none" : g.phase_sets[s] ? g.phase_sets[s] : "-");
  }
  run->api->message(run, CARBON_WARNING, text);
  return CARBON_KEEP;
}
"""
FORMATS = ('##FORMAT=<ID=GT,Number=1,Type=String,Description="g">\n##FORMAT=<ID=PS,Number=1,Type=Integer,Description="p">\n'
           '##FORMAT=<ID=DP,Number=1,Type=Integer,Description="d">\n')
SAMPLES = "##fileformat=VCFv4.2\n" + FORMATS + "##contig=<ID=c,length=99>\n" + "\t".join(
    "#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT a b".split()) + "\n"


@case
def genotypes_are_read():
    directory = compiled("genotypes", uses="CARBON_READS_RECORDS", init="", process=GENOTYPES)
    rows = (("GT", "0|1", "1/1", "2: 0| 1| none; 1/ 1/ none;"), ("GT:PS", "0|1:7", "1:.", "2: 0| 1| 7; 1| -2/ -;"),
            ("GT:PS", ".:5", "./.|2", "3: -1| -2/ -2/ 5; -1/ -1/ 2| -;"), ("GT", "0|2|1", ".|.", "3: 0| 2| 1| none; -1| -1| -2/ none;"),
            ("DP", "1", "2", "0: none; none;"), ("DP:GT", "1:1|0", "2:0/2", "2: 1| 0| none; 0/ 2/ none;"),
            ("GT:PS", "0/1:99999", "1|0:4", "2: 0/ 1/ 99999; 1| 0| 4;"))
    text = SAMPLES + "".join("c\t%d\t.\tA\tC,G\t.\t.\t.\t%s\t%s\t%s\n" % (i + 1, *row[:3]) for i, row in enumerate(rows))
    path = write(fresh(), "in.vcf", text)
    binary = tool("bcftools", "view", "-Ob", path).out
    for result in (run(directory, "+genotypes", path), run(directory, "+genotypes", "-", stdin=binary)):
        expect(result.rc == 0, "expected rc 0", result)
        expect_equal(result.err.splitlines(), ["[W::genotypes] " + text for text in ["a", "b"] + [row[3] for row in rows]], "genotypes")
    many = SAMPLES + "c\t5\t.\tA\tC\t.\t.\t.\tGT\t0|1\t0|2\n"
    expect_failure(run(directory, "+genotypes", write(fresh(), "in.vcf", many)), "c:5:", "sample b")
    bare = b"".join(b"\t".join(line.rstrip(b"\n").split(b"\t")[:8]) + b"\n" for line in read(MINI).splitlines())
    result = run(directory, "+genotypes", write(fresh(), "in.vcf", bare))
    expect(result.rc == 0, "a file without samples", result)
    expect_equal(set(result.err.splitlines()), {"[W::genotypes] 0:"}, "a file without samples")


WRITER = """
static carbon_record *kept[8];
static size_t held;
static const char *how;
static int init(carbon_run *run, int argc, char **argv, void **state) {
  (void)state;
  how = argc > 1 ? argv[1] : "";
  if (!CARBON_HAS(run->api, record_write)) return run->api->fail(run, "an old carbon");
  if (!strcmp(how, "early")) return run->api->record_write(run, NULL, "c\\t1\\t.\\tA\\tC\\t.\\t.\\t.\\tGT\\t.\\t.");
  if (run->api->record_write(run, NULL, "##writer=hello") != CARBON_DONE) return CARBON_ERROR;
  return run->api->record_write(run, NULL, "##INFO=<ID=OWN,Number=1,Type=String,Description=\\"a word\\">");
}
static int process(carbon_run *run, void *state, carbon_record *record) {
  const carbon_api *api = run->api;
  char line[256];
  (void)state;
  sprintf(line, "c\\t%ld\\tnew\\tA\\tT\\t.\\t.\\tOWN=w%lu\\tGT\\t0|1\\t.", (long)api->record_pos(run, record) + 1, (unsigned long)held);
  if (!strcmp(how, "header")) return api->record_write(run, NULL, "##late=1");
  if (!strcmp(how, "bad")) return api->record_write(run, NULL, "c\\tx\\t.");
  if (!strcmp(how, "two")) { strcat(line, "\\n#"); return api->record_write(run, NULL, line); }
  if (!strcmp(how, "both")) return api->record_write(run, record, line);
  if (!strcmp(how, "neither")) return api->record_write(run, NULL, NULL);
  if (!strcmp(how, "twice")) {
    if (api->record_write(run, record, NULL) != CARBON_DONE) return CARBON_ERROR;
    return api->record_write(run, record, NULL) == CARBON_DONE ? CARBON_LATER : CARBON_ERROR;
  }
  if (!strcmp(how, "keep")) return api->record_write(run, record, NULL) == CARBON_DONE ? CARBON_KEEP : CARBON_ERROR;
  if (api->record_write(run, NULL, line) != CARBON_DONE) return CARBON_ERROR;
  if (held == 1) { /* this one now, and the first one after it */
    if (api->record_write(run, record, NULL) != CARBON_DONE) return CARBON_ERROR;
    if (api->record_write(run, kept[0], NULL) != CARBON_DONE) return CARBON_ERROR;
    held = 8;
    return CARBON_LATER;
  }
  if (held == 8) return CARBON_KEEP;
  kept[held++] = record;
  return CARBON_LATER;
}
static int finish(carbon_run *run, void *state) {
  (void)state;
  return run->api->record_write(run, NULL, "c\\t90\\t.\\tA\\tG\\t.\\t.\\t.\\tGT\\t.\\t1");
}
"""


@case
def records_are_written_in_any_order_and_new_ones_added():
    directory = compiled("writer", uses="CARBON_READS_RECORDS | CARBON_WRITES_RECORDS", init="", process=WRITER, finish="")
    own = '##INFO=<ID=OWN,Number=.,Type=Integer,Description="of the input">\n'
    row = "c\t%d\tr%d\tA\tC\t.\t.\tOWN=%d\tGT\t0|1\t1|1\n"
    path = write(fresh(), "in.vcf", SAMPLES.replace("##contig", own + "##contig") + "".join(row % (i, i, i) for i in (10, 20, 30)))
    new = "c\t%d\tnew\tA\tT\t.\t.\tOWN=%s\tGT\t0|1\t."
    old = "c\t%d\tr%d\tA\tC\t.\t.\t.\tGT\t0|1\t1|1"
    wanted = [new % (10, "w0"), new % (20, "w1"), old % (20, 20), old % (10, 10), new % (30, "w8"), old % (30, 30), "c\t90\t.\tA\tG\t.\t.\t.\tGT\t.\t1"]
    text = run(directory, "+writer", "--no-version", path)
    expect(text.rc == 0, "expected rc 0", text)
    expect_equal(records(text.text), wanted, "records")
    expect_equal([line for line in text.lines() if "OWN" in line and line.startswith("##")],
                 ['##INFO=<ID=OWN,Number=1,Type=String,Description="a word">'], "the definition")
    expect("\n##writer=hello\n" in text.text, "a line of the header", text)
    binary = run(directory, "+writer", "-O", "b", path)
    expect_equal(records(tool("bcftools", "view", "-", stdin=binary.out).text), wanted, "as BCF")
    for how, words in (("early", ("a line", "no records")), ("header", ("header", "init")),
                       ("bad", ("the VCF of +writer", "line 1", "columns")), ("two", ("several lines",)), ("both", ("record", "line")),
                       ("neither", ("or neither",)), ("twice", ("a record that is not",)), ("keep", ("CARBON_LATER",))):
        d = fresh()
        expect_failure(run(directory, "+writer", "-o", os.path.join(d, "out.vcf"), path, "--", how), *words)
        expect_equal(os.listdir(d), [], "files after the failure, " + how)
    one = write(fresh(), "in.vcf", SAMPLES.replace("##contig", own + "##contig") + row % (10, 10, 10))
    expect_failure(run(directory, "+writer", one), "+writer", "1 record")
    reader = compiled("reader", uses="CARBON_READS_RECORDS", process=WRITER, init="", finish="")
    expect_failure(run(reader, "+reader", path), "no records are being written")


# ---- the engine

SCORE = """
static const char *settings[4] = {"", "level=token", "strand=both", "strand=- window=48 stride=12"};
static int finish(carbon_run *run, void *state) {
  const carbon_api *api = run->api;
  carbon_sequences *in = api->sequences_open(run, api->input(run, 0));
  carbon_output *out = api->output_open(run, NULL);
  const char *name, *bases;
  size_t length;
  int more;
  char line[512];
  (void)state;
  if (!in || !out) return CARBON_ERROR;
  while ((more = api->sequences_next(run, in, &name, &bases, &length)) == 1) {
    int level;
    for (level = 0; level < 4; level++) {
      double *values = malloc((length + 1) * sizeof *values);
      carbon_score_item item;
      memset(&item, 0, sizeof item);
      item.bases = bases; item.length = length; item.values = values;
      if (api->score(run, settings[level], &item, 1) != CARBON_DONE) { free(values); return CARBON_ERROR; }
      sprintf(line, "%.100s\\t%d\\t%lu\\t%.10g\\t%.6g\\n", name, level, (unsigned long)item.scored, item.sum, values[0]);
      free(values);
      if (api->output_write(run, out, line, strlen(line)) != CARBON_DONE) return CARBON_ERROR;
    }
  }
  if (!CARBON_HAS(api, score_variants)) return api->fail(run, "an old carbon");
  return more;
}
"""


RNA = """
static int finish(carbon_run *run, void *state) {
  const char *texts[2] = {"AUGGCCuAAGGACAUGGCC", "ATGGCCtAAGGACATGGCC"};
  carbon_score_item items[2];
  carbon_generate_item prompts[2];
  char bases[2][32];
  int i;
  (void)state;
  memset(items, 0, sizeof items);
  memset(prompts, 0, sizeof prompts);
  for (i = 0; i < 2; i++) {
    items[i].bases = prompts[i].prompt = texts[i];
    items[i].length = prompts[i].length = strlen(texts[i]);
    prompts[i].bases = bases[i];
  }
  if (run->api->score(run, "level=bp", items, 2) != CARBON_DONE) return CARBON_ERROR;
  if (run->api->generate(run, "", 31, prompts, 2) != CARBON_DONE) return CARBON_ERROR;
  if (items[0].scored != items[1].scored || items[0].sum != items[1].sum || strcmp(bases[0], bases[1]))
    return run->api->fail(run, "U is not T");
  return CARBON_DONE;
}
"""


@case
def rna_of_a_plugin_is_dna():
    directory = compiled("rna", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=RNA)
    result = run(directory, "+rna", "-m", model(), data("mini.fa"))
    expect(result.rc == 0, "expected rc 0", result)


@case
def the_engine_scores_as_carbon_score():
    directory = compiled("scorer", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=SCORE)
    fasta = data("mini.fa")
    for small in ((), ("--batch-tokens", "7")):
        result = run(directory, "+scorer", "-m", model(max_positions=32), *small, fasta)
        expect(result.rc == 0, "expected rc 0", result)
        found = [line.split("\t") for line in result.lines()]
        for which, options in enumerate(((), ("--level", "token"), ("--strand", "both"), ("--strand", "-", "--window", "48", "--stride", "12"))):
            wanted = [line.split("\t") for line in ok("score", "-m", model(max_positions=32), *options, fasta).table()[1:]]
            expect_equal([[f[0], f[2], f[3]] for f in found if f[1] == str(which)], [[w[0], w[4], w[5]] for w in wanted], options)
    first = ok("score", "-m", model(max_positions=32), "-O", "bedgraph", fasta).table()[0].split("\t")
    if first[1] == "0":
        expect_equal(found[0][4], first[3], "the first value")


ENDS = """
static int finish(carbon_run *run, void *state) {
  const carbon_api *api = run->api;
  carbon_sequences *in = api->sequences_open(run, api->input(run, 0));
  carbon_output *out = api->output_open(run, NULL);
  const char *name, *bases;
  size_t length, i, from;
  int more;
  char line[512];
  (void)state;
  if (!in || !out) return CARBON_ERROR;
  if (!CARBON_HAS(api, score_ends)) return api->fail(run, "an old carbon");
  while ((more = api->sequences_next(run, in, &name, &bases, &length)) == 1) {
    double *values = malloc(length * sizeof *values);
    carbon_score_item item;
    memset(&item, 0, sizeof item);
    item.bases = bases; item.length = length; item.values = values;
    from = length - 11;
    if (api->score_ends(run, "level=bp", &item, &from, 1) != CARBON_DONE) { free(values); return CARBON_ERROR; }
    for (i = 0; i < length - from; i++) {
      sprintf(line, "%.100s\\t%lu\\t%lu\\t%.6g\\n", name, (unsigned long)(from + i), (unsigned long)(from + i + 1), values[i]);
      if (values[i] == values[i] && api->output_write(run, out, line, strlen(line)) != CARBON_DONE) { free(values); return CARBON_ERROR; }
    }
    free(values);
  }
  return more;
}
"""


@case
def the_ends_of_sequences_have_all_before_them_as_context():
    directory = compiled("ends", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=ENDS)
    # 32 6-mers, the last of which is never an input. The windows of carbon score hold 30.
    fasta = write(fresh(), "s.fa", ">a\n%s\n>b\n%s\n" % ("ACGTTGCATCGN" * 15 + "AAGCTTACTGA", "GATTACCA" * 15 + "GCNGATAGCTA"))
    wanted = [line for line in ok("score", "-m", model(), "-O", "bedgraph", fasta).table()
              if int(line.split("\t")[1]) >= {"a": 180, "b": 120}[line.split("\t")[0]]]
    expect_equal(len(wanted), 21, "values to compare")
    for small in ((), ("--batch-tokens", "1")):
        result = run(directory, "+ends", "-m", model(max_positions=32), *small, fasta)
        expect_equal(result.lines(), wanted, "values; " + result.err)
    split = ok("score", "-m", model(max_positions=32), "-O", "bedgraph", fasta).table()
    expect(wanted[0] not in split, "windows do not matter here")
    long = write(fresh(), "l.fa", ">long\n" + "ACGTTGCATCGA" * 16 + "CATCATCATCATCATCA"[:11] + "\n")
    expect_failure(run(directory, "+ends", "-m", model(max_positions=32), long), "192 bp", "203 bp")
    odd = write(fresh(), "o.fa", ">odd\nACGTACGTACGTA\n")
    expect_failure(run(directory, "+ends", "-m", model(), odd), "a multiple of 6")


RECIPES = """
static carbon_indexed_fasta *fasta;
static const carbon_recipes *recipes;
static const char *names[8];
static size_t tags;
static int init(carbon_run *run, int argc, char **argv, void **state) {
  const carbon_api *api = run->api;
  const char *description;
  (void)state;
  if (argc != 3 || !CARBON_HAS(api, recipes_open)) return api->fail(run, "a FASTA, settings and a new carbon, please");
  fasta = api->fasta_open(run, argv[1]);
  recipes = api->recipes_open(run, argv[2]);
  if (!fasta || !recipes) return CARBON_ERROR;
  if (api->recipes_text(run, recipes, 63)) return api->fail(run, "the settings of a tag past the last");
  for (; (names[tags] = api->recipes_tag(run, recipes, tags, &description)); tags++) {
    char own[64];
    sprintf(own, "MY_%.50s", names[tags]);
    if (api->info_declare(run, own, description) != CARBON_DONE) return CARBON_ERROR;
  }
  api->message(run, CARBON_WARNING, api->recipes_text(run, recipes, 0));
  return CARBON_DONE;
}
static int process(carbon_run *run, void *state, carbon_record *record) {
  const carbon_api *api = run->api;
  const char *alts[8], *flags[8], *written;
  double values[64];
  carbon_variant variant;
  carbon_values flag;
  size_t a, t;
  (void)state;
  memset(&variant, 0, sizeof variant);
  variant.contig = api->record_contig(run, record);
  variant.pos = api->record_pos(run, record);
  variant.ref = api->record_allele(run, record, 0);
  variant.alt_count = api->record_allele_count(run, record) - 1;
  for (a = 0; a < variant.alt_count; a++) alts[a] = api->record_allele(run, record, a + 1);
  variant.alts = alts; variant.values = values; variant.flags = flags;
  if (api->score_variants(run, recipes, fasta, &variant, 1) != CARBON_DONE) return CARBON_ERROR;
  if (api->record_info(run, record, "CARBON_FLAG", &flag) != CARBON_DONE) return CARBON_ERROR;
  for (a = 0; a < variant.alt_count; a++) {
    written = flag.count > a ? flag.texts[a] : NULL;
    if (!written != !flags[a] || (written && strcmp(written, flags[a]))) return api->fail(run, "other flags");
  }
  for (t = 0; t < tags; t++) {
    char own[64];
    sprintf(own, "MY_%.50s", names[t]);
    if (api->info_set(run, record, own, values + t * variant.alt_count, variant.alt_count) != CARBON_DONE) return CARBON_ERROR;
  }
  return CARBON_KEEP;
}
"""


@case
def the_engine_scores_variants_by_every_recipe():
    directory = compiled("recipes", uses="CARBON_USES_MODEL | CARBON_READS_RECORDS | CARBON_WRITES_RECORDS", init="", process=RECIPES,
                         finish="static int finish(carbon_run *run, void *state) { (void)run; (void)state; return CARBON_DONE; }")
    fasta, bases = data("mini.fa"), genome()["c1"].upper()
    rows = [(p, bases[p - 1], alts) for p, alts in ((7, "*"), (40, "TT,*,<DUP>"), *((p, ",".join("ACGT".replace(bases[p - 1], "") + "N"))
                                                                                    for p in range(100, 140)))]
    given = write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
                  "".join("c1\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows))
    for settings, options in (
            ("", ()), ("window=48 phases=6 strand=both", ("-w", "48", "--phases", "6", "--strand", "both")),
            ("recipe=next-token context=60", ("--recipe", "next-token", "--context", "60")),
            ("recipe=anchored context=60 horizon=96,6", ("--recipe", "anchored", "--context", "60", "--horizon", "6,96")),
            ("recipe=anchored strand=+", ("--recipe", "anchored", "--strand", "+")),
            (" strand=-  recipe=anchored,centered,next-token  window=48", ("--recipe", "centered,next-token,anchored", "-w", "48", "--strand", "-"))):
        scored = write(fresh(), "scored.vcf", ok("vep", "-m", model(), "-f", fasta, *options, given).out)
        result = run(directory, "+recipes", "-m", model(), scored, "--", fasta, settings)
        expect(result.rc == 0, "expected rc 0", result)
        text = re.search(r"^##carbon_vepModel=.*,(Recipe=.*)>$", read(scored).decode(), re.M).group(1)
        expect_equal(result.err, "[W::recipes] %s\n" % text, "the text of the recipes")
        lines = records(result.text)
        expect_equal(len(lines), len(rows), "records")
        definitions = dict(re.findall(r"^##INFO=<ID=((?:MY_)?CARBON_[A-Z0-9_]+),.*Description=(.*)>$", result.text, re.M))
        for line in lines:
            info = info_of(line)
            wanted = {tag: value for tag, value in info.items() if tag.startswith("CARBON_") and tag != "CARBON_FLAG"}
            expect_equal({tag: info["MY_" + tag] for tag in wanted}, wanted, "values of " + line)
            expect_equal({tag: definitions["MY_" + tag] for tag in wanted}, {tag: definitions[tag] for tag in wanted}, "descriptions")
    for settings, words in (("recipe=anchored horizon=6,6", "a horizon twice"), ("recipe=anchored horizon=-6", "0 or more"),
                            ("strand=4", "strand '4'"), ("recipe=anchored context=61", "a multiple of 6"),
                            ("recipe=anchored horizon=99999", "largest that fits"), ("recipe=best", "expected centered, next-token"),
                            ("horizon=6", "recipe anchored"), ("windows=6", "no setting"), ("window", "a number of bases"),
                            ("recipe=anchored,next-token context=60", "something else")):
        expect_failure(run(directory, "+recipes", "-m", model(), given, "--", fasta, settings), words)


DRAW = """
static int finish(carbon_run *run, void *state) {
  const carbon_api *api = run->api;
  carbon_sequences *in = api->sequences_open(run, api->input(run, 0));
  carbon_output *out = api->output_open(run, NULL);
  carbon_generate_item items[8];
  char texts[8][256], bases[8][64], line[512];
  const char *name, *letters;
  size_t length, n = 0, i;
  int more;
  (void)state;
  if (!in || !out) return CARBON_ERROR;
  while ((more = api->sequences_next(run, in, &name, &letters, &length)) == 1) {
    sprintf(texts[n], "%%.255s", letters);
    items[n].prompt = texts[n]; items[n].length = length; items[n].record = n; items[n].bases = bases[n];
    n++;
  }
  if (more == CARBON_ERROR || api->generate(run, "%s", 31, items, n) != CARBON_DONE) return CARBON_ERROR;
  for (i = 0; i < n; i++) {
    sprintf(line, "%%s\\t%%.10g\\n", bases[i], items[i].logp);
    if (api->output_write(run, out, line, strlen(line)) != CARBON_DONE) return CARBON_ERROR;
  }
  return CARBON_DONE;
}
"""


@case
def the_engine_generates_as_carbon_generate():
    rng = random.Random(5)
    fasta = write(fresh(), "p.fa", "".join(">p%d\n%s\n" % (i, "".join(rng.choice("ACGTacgtN" if i == 3 else "ACGT") for _ in range(20 + 7 * i)))
                                           for i in range(7)))
    for fields, options in (("temperature=0.8 top-k=50 top-p=0.9 seed=7", ("-T", "0.8", "--top-k", "50", "--top-p", "0.9", "--seed", "7")),
                            ("sampler=chain temperature=1.5", ("--sampler", "chain", "-T", "1.5")),
                            ("gc=40-60 avoid=GAATTC,GGTCTC constraint=WWNNS", ("--gc", "40-60", "--avoid", "GAATTC,GGTCTC", "--constraint", "WWNNS")),
                            ("sampler=marginal greedy", ("--sampler", "marginal", "--greedy"))):
        directory = compiled("draw", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=DRAW % fields)
        text = ok("generate", "-m", model(), "-l", "31", *options, fasta).text
        wanted = list(zip([bases for _, bases in parse_fasta(text)], re.findall(r"^>.* logp=(\S+)", text, re.M)))
        expect_equal(len(wanted), 7, "prompts")
        for small in ((), ("--batch-tokens", "1"), ("--batch-tokens", "12")):
            result = run(directory, "+draw", "-m", model(), *small, fasta)
            expect_equal([tuple(line.split("\t")) for line in result.lines()], wanted, "%s %s; %s" % (fields, small, result.err))
    for fields, words in (("sampler=best", "kmer, marginal or chain"), ("temperature=0", "temperature 0"), ("top-p=0", "top-p 0"),
                          ("top-k=0", "from 1 to 4096"), ("sampler=chain top-k=5", "4 bases"), ("seed=-1", "seed '-1'"),
                          ("greedy=no", "takes no value"), ("kmer", "no setting"), ("length=6", "no setting"), ("gc=60-40", "gc")):
        directory = compiled("draw", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=DRAW % fields)
        expect_failure(run(directory, "+draw", "-m", model(), fasta), words)


@case
def the_example_of_the_manual_page_works():
    with open(os.path.join(SOURCE, "man", "carbon-plugins.5")) as f:
        page = f.read()
    source = re.search(r"^\.EX\n(#include.*?)^\.EE", page, re.M | re.S).group(1).replace("\\-", "-").replace("\\e", "\\")
    directory = fresh()
    write(directory, "count-tag.c", source)
    result = tool("gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-fPIC", "-shared", "-I", include(), "-o",
                  os.path.join(directory, "count-tag.so"), os.path.join(directory, "count-tag.c"))
    expect_equal(result.err, "", "compiler's messages")
    with_depth = sum("DP" in info_of(line) for line in records(read(MINI).decode()))
    expect_equal(run(directory, "+count-tag", MINI, "--", "DP").text, "%d\n" % with_depth, "count")
    expect_failure(run(directory, "+count-tag", MINI), "[E::count-tag] one tag is expected")


if __name__ == "__main__":
    main()
