"""The plugin door: finding, listing, loading and running plugins, those of others and bad ones included.

The plugins here are compiled by gcc as C99 against the header that `make install` puts down, as somebody else would.
"""

import os
import random
import re
import shutil

from harness import (CARBON, DATA, Skip, carbon, case, command, data, expect, expect_close, expect_equal, expect_failure, fresh,
                     info_of, main, model, ok, parse_fasta, read, records, tool, write)

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.dirname(CARBON)
MINI = os.path.join(DATA, "mini.vcf")
SHIPPED = sorted(name[:-4] for name in os.listdir(os.path.join(SOURCE, "plugins")) if name.endswith(".cpp"))

# A whole plugin; tests change its parts.
HEAD = '#include <carbon_plugin.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n'
PARTS = {
    "before": "",
    "usage": 'static const char *usage(void) { return "  --nothing  no options\\n"; }',
    "init": "static int init(carbon_run *run, int argc, char **argv, void **state)"
            " { (void)run; (void)argc; (void)argv; (void)state; return CARBON_OK; }",
    "process": "",
    "finish": 'static int finish(carbon_run *run, void *state) { carbon_output *out; (void)state;'
              ' out = run->api->output_open(run, NULL); if (!out) return CARBON_ERROR;'
              ' return run->api->output_write(run, out, "hello\\n", 6); }',
    "manifest": 'static const carbon_plugin plugin = { CARBON_PLUGIN_ABI, sizeof(carbon_plugin), "7.5", "a plugin of somebody",'
                ' %(uses)s, usage, init, %(process_name)s, finish, NULL };',
    "entry": "CARBON_EXPORT const carbon_plugin *carbon_plugin_entry(void) { return &plugin; }",
}
_include = []


def include():
    """The folder with the header, as installed."""
    if not _include:
        header = os.path.join(SOURCE, "plugins", "carbon_plugin.h")
        _include.append(fresh())
        shutil.copy(header, _include[0])
    return _include[0]


def compiled(name, directory=None, uses="0", compiler=("gcc", "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"), suffix=".c", **parts):
    """directory/NAME.so; returns the directory, for CARBON_PLUGINS."""
    directory = directory or fresh()
    text = {**PARTS, **parts}
    text["manifest"] = text["manifest"] % {"uses": uses, "process_name": "process" if text["process"] else "NULL"}
    source = write(directory, name + suffix, HEAD + "\n".join(text[part] for part in PARTS) + "\n")
    done = tool(*compiler, "-fPIC", "-shared", "-I", include(), "-o", os.path.join(directory, name + ".so"), source)
    expect(done.err == "", "the compiler complains", done)
    return directory


def cpp(name, **parts):
    return compiled(name, compiler=("g++", "-std=c++17", "-w"), suffix=".cpp", **parts)


def run(directory, *args, **options):
    return carbon(*args, env={"CARBON_PLUGINS": directory}, **options)


# ---- finding and listing


@case
def a_plugin_of_somebody_runs():
    directory = compiled("theirs")
    result = run(directory, "+theirs")
    expect(result.rc == 0 and result.text == "hello\n" and result.err == "", "expected its greeting", result)
    expect_equal(run(directory, "plugin", "theirs").text, "hello\n", "carbon plugin NAME")
    expect_equal(carbon("+" + os.path.join(directory, "theirs.so")).text, "hello\n", "by its path")
    out = os.path.join(fresh(), "out.gz")
    run(directory, "+theirs", "-o", out)
    expect_equal(tool("gzip", "-dc", out).text, "hello\n", "-o FILE.gz")


@case
def the_header_is_c99_and_cpp():
    header = os.path.join(SOURCE, "plugins", "carbon_plugin.h")
    for compiler in (("gcc", "-std=c99", "-pedantic", "-x", "c"), ("gcc", "-std=c11", "-x", "c"), ("g++", "-std=c++11", "-pedantic", "-x", "c++")):
        result = tool(*compiler, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", header)
        expect_equal(result.err, "", " ".join(compiler))


@case
def listing():
    result = ok("plugin", "-l")
    for name in SHIPPED:
        expect(re.search(r"^ +\+%s +\d+\.\d+\.\d+ +\S" % name, result.text, re.M), "no line of +" + name, result)
    expect(BUILD in result.text and result.err == "", "expected the directory", result)
    directory = compiled("theirs")
    compiled("auroc", directory)
    listed = run(directory, "plugin", "-l")
    expect(re.search(r"^ +\+theirs +7\.5 +a plugin of somebody$", listed.text, re.M), "no line of +theirs", listed)
    expect_equal(len(re.findall(r"\+auroc ", listed.text)), 1, "the first of a name alone")
    expect_equal(listed.lines()[0], directory, "first directory")
    long = run(directory, "plugin", "-l", "-v")
    for name in ("theirs", "auroc"):
        expect(os.path.join(directory, name + ".so") in long.text, "no path of +" + name, long)
    expect("hidden" in long.text, "the hidden +auroc is not shown", long)
    expect_equal(run(directory, "+auroc").text, "hello\n", "the first directory wins")


@case
def several_directories():
    first, second = compiled("one"), compiled("two")
    for name in ("one", "two"):
        result = run("%s::%s" % (first, second), "+" + name)
        expect(result.rc == 0 and result.text == "hello\n", "expected +%s to run" % name, result)


@case
def unknown_plugins():
    expect_failure(carbon("+nonsense"), "nonsense.so", "carbon plugin -l", "CARBON_PLUGINS")
    expect_failure(carbon("help", "+nonsense"), "nonsense.so")
    for name in ("+", "+../auroc", "+a b", "+./nonsense.so"):
        expect_failure(carbon(name), ("names no plugin", "no such file"))
    directory = fresh()
    write(directory, "text.so", "no library")
    expect_failure(run(directory, "+text"), "+text", "cannot be loaded")


@case
def help_and_usage():
    for name in SHIPPED:
        direct, helped, own = ok("+" + name, "--help"), ok("help", "+" + name), ok("+" + name, "--", "--help")
        expect("Usage: carbon +%s" % name in direct.text and direct.err == "", "expected usage on stdout", direct)
        expect_equal(helped.text, direct.text, "help +" + name)
        expect(own.text and direct.text.endswith(own.text + "\n"), "the plugin's own options are not at the end", direct)
    result = carbon("plugin")
    expect(result.rc == 1 and result.out == b"" and "carbon plugin -l" in result.err, "expected usage on stderr", result)
    expect_failure(carbon("+auroc", "--label", "X", MINI), "--label is an option of the plugin", "after --")


@case
def without_model_there_are_no_model_options():
    directory = compiled("theirs")
    expect_failure(run(directory, "+theirs", "-m", model()), "-m")
    expect_failure(run(directory, "+theirs", "file"), "file")
    expect("--model" not in run(directory, "+theirs", "--help").text, "--model is offered")


# ---- bad plugins


def refused(directory, name, *words):
    """By carbon +NAME with exit 1, and by the listing, which goes on."""
    out = os.path.join(fresh(), "out")
    result = run(directory, "+" + name, "-o", out)
    expect_failure(result, "[E::plugin] ", "+" + name, *words)
    expect(not os.path.exists(out), "an output appeared")
    listed = run(directory, "plugin", "-l")
    expect(listed.rc == 0 and any("+" + name in line for line in listed.messages("W")), "expected a warning", listed)
    expect("+auroc" in listed.text, "the listing stops at a bad plugin", listed)


@case
def a_wrong_abi():
    directory = compiled("older", manifest=PARTS["manifest"].replace("CARBON_PLUGIN_ABI", "CARBON_PLUGIN_ABI + 41"))
    refused(directory, "older", "interface version 42", "carbon_plugin.h")


CRASH = "static void __attribute__((constructor)) crash(void) { volatile int *nowhere = NULL; *nowhere = 1; }"


@case
def one_that_segfaults_on_load():
    refused(compiled("segv", before=CRASH), "segv", "crashes while it is loaded", "signal 11")


@case
def one_that_aborts_exits_or_hangs_up_on_load():
    refused(compiled("aborts", before=CRASH.replace("*nowhere = 1", "(void)nowhere; abort()")), "aborts", "crashes", "signal 6")
    refused(compiled("exits", before=CRASH.replace("*nowhere = 1", "(void)nowhere; exit(0)")), "exits", "ends the process")


@case
def one_that_throws_on_load():
    entry = PARTS["entry"].replace("{", '{ throw std::runtime_error("no licence");')
    entry = 'extern "C" ' + entry
    refused(cpp("throws", before="#include <stdexcept>", entry=entry), "throws", "throws an exception", "no licence")
    refused(cpp("constructor", before="struct T { T() { throw 5; } } t;", entry='extern "C" ' + PARTS["entry"]), "constructor",
            ("throws", "crashes"))


@case
def incomplete_ones():
    refused(compiled("empty", entry="const carbon_plugin *unused(void); const carbon_plugin *unused(void) { return &plugin; }"), "empty",
            "carbon_plugin_entry")
    refused(compiled("null", entry=PARTS["entry"].replace("&plugin", "NULL") + " const carbon_plugin *const unused = &plugin;"), "null",
            "returned null")
    refused(compiled("halves", manifest=PARTS["manifest"].replace("usage, init", "NULL, init"), usage=""), "halves", "incomplete")
    refused(compiled("small", manifest=PARTS["manifest"].replace("sizeof(carbon_plugin)", "8")), "small", "sizeof(carbon_plugin)")
    refused(compiled("future", uses="1024"), "future", "newer")
    refused(compiled("mixed", uses="CARBON_READS_RECORDS"), "mixed", "contradicts itself")
    refused(compiled("symbols", before="int not_there(void);", finish=PARTS["finish"].replace("(void)state;", "(void)state; not_there();")),
            "symbols", "cannot be loaded", "not_there")


THROWING = 'static int finish(carbon_run *run, void *) { run->api->output_open(run, 0); throw std::runtime_error("too late"); }'


@case
def one_that_throws_while_it_runs():
    for part in ("finish", "init"):
        text = THROWING if part == "finish" else PARTS["init"].replace("{", '{ throw std::runtime_error("too late");')
        directory = cpp("throws", before="#include <stdexcept>", entry='extern "C" ' + PARTS["entry"], **{part: text})
        out = os.path.join(fresh(), "out")
        expect_failure(run(directory, "+throws", "-o", out), "[E::plugin] +throws", "too late")
        expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")
    usage = 'static const char *usage() { throw 1; }'
    expect_failure(run(cpp("throws", usage=usage, entry='extern "C" ' + PARTS["entry"]), "+throws", "--help"), "+throws")


@case
def one_that_crashes_while_it_runs():
    bodies = {"segv": ("volatile int *nowhere = NULL; *nowhere = 1;", 11), "aborts": ("abort();", 6)}
    for name, (body, number) in bodies.items():
        finish = PARTS["finish"].replace("return run->api->output_write", body + " return run->api->output_write")
        out = os.path.join(fresh(), "out")
        result = run(compiled(name, finish=finish.replace("carbon_output *out;", "carbon_output *out;")
                              if name != "segv" else finish.replace(body, "{ " + body + " }")), "+" + name, "-o", out)
        expect_equal(result.rc, -number, "status")
        expect(re.search(r"^\[E::plugin\] \+%s crashed .*signal %02d" % (name, number), result.err, re.M), "no message", result)
        expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")


@case
def a_stack_that_overflows_is_reported_as_well():
    finish = ("static int deeper(volatile int *n) { volatile int here[4096]; here[0] = *n + 1; return deeper(here) + here[0]; }"
              "static int finish(carbon_run *run, void *state) { volatile int n = 0; (void)run; (void)state; return deeper(&n); }")
    directory = compiled("deep", finish=finish, compiler=("gcc", "-O0", "-w"))
    result = run(directory, "+deep")
    expect(result.rc == -11 and "+deep crashed" in result.err, "expected a report", result)


@case
def failures_have_a_reason():
    own = PARTS["finish"].replace("return run->api->output_write", 'if (out) return run->api->fail(run, "chr1:5: too odd; do not"); return run->api->output_write')
    out = os.path.join(fresh(), "out")
    result = run(compiled("fails", finish=own), "+fails", "-o", out)
    expect_failure(result, "[E::fails] chr1:5: too odd; do not")
    expect_equal(os.listdir(os.path.dirname(out)), [], "files left behind")
    silent = PARTS["init"].replace("CARBON_OK", "CARBON_ERROR")
    expect_failure(run(compiled("silent", init=silent), "+silent"), "+silent failed without giving a reason")
    program = PARTS["finish"].replace("run->api->output_open(run, NULL)", 'run->api->output_open(run, "/no/such/folder/x")')
    expect_failure(run(compiled("program", finish=program), "+program"), "/no/such/folder/x")
    model_less = PARTS["finish"].replace("(void)state;", "(void)state; if (!run->api->property(run, CARBON_MODEL_ID)) return CARBON_ERROR;")
    expect_failure(run(compiled("less", finish=model_less), "+less"), "CARBON_USES_MODEL")


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
  if (run->api->record_info(run, record, "CARBON_LLR", &values) != CARBON_OK) return CARBON_ERROR;
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
                         finish="static int finish(carbon_run *run, void *state) { (void)run; (void)state; return CARBON_OK; }")
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
    expect_failure(run(directory, "+halve", MINI, "--", "HALF"), "[E::halve] no scores in the input")
    expect_failure(run(directory, "+halve", "-O", "t", scored, "--", "HALF"), "VCF or BCF")


# ---- the engine

SCORE = """
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
    for (level = CARBON_LEVEL_BP; level <= CARBON_LEVEL_TOKEN; level++) {
      double *values = malloc((length + 1) * sizeof *values);
      carbon_score_item item;
      memset(&item, 0, sizeof item);
      item.bases = bases; item.length = length; item.values = values;
      if (api->score(run, level, &item, 1) != CARBON_OK) { free(values); return CARBON_ERROR; }
      sprintf(line, "%.100s\\t%d\\t%lu\\t%.10g\\t%.6g\\n", name, level, (unsigned long)item.scored, item.sum, values[0]);
      free(values);
      if (api->output_write(run, out, line, strlen(line)) != CARBON_OK) return CARBON_ERROR;
    }
  }
  if (!CARBON_HAS(api, score_variants)) return api->fail(run, "an old carbon");
  return more;
}
"""


@case
def the_engine_scores_as_carbon_score():
    directory = compiled("scorer", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=SCORE)
    fasta = data("mini.fa")
    for small in ((), ("--batch-tokens", "7")):
        result = run(directory, "+scorer", "-m", model(max_positions=32), *small, fasta)
        expect(result.rc == 0, "expected rc 0", result)
        found = [line.split("\t") for line in result.lines()]
        for level, name in ((0, "bp"), (1, "token")):
            wanted = [line.split("\t") for line in ok("score", "-m", model(max_positions=32), "--level", name, fasta).lines()[1:]]
            expect_equal([[f[0], f[2], f[3]] for f in found if f[1] == str(level)], [[w[0], w[4], w[5]] for w in wanted], "level " + name)
    first = ok("score", "-m", model(max_positions=32), "-O", "bedgraph", fasta).lines()[0].split("\t")
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
    if (api->score_ends(run, CARBON_LEVEL_BP, &item, &from, 1) != CARBON_OK) { free(values); return CARBON_ERROR; }
    for (i = 0; i < length - from; i++) {
      sprintf(line, "%.100s\\t%lu\\t%lu\\t%.6g\\n", name, (unsigned long)(from + i), (unsigned long)(from + i + 1), values[i]);
      if (values[i] == values[i] && api->output_write(run, out, line, strlen(line)) != CARBON_OK) { free(values); return CARBON_ERROR; }
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
    wanted = [line for line in ok("score", "-m", model(), "-O", "bedgraph", fasta).lines()
              if int(line.split("\t")[1]) >= {"a": 180, "b": 120}[line.split("\t")[0]]]
    expect_equal(len(wanted), 21, "values to compare")
    for small in ((), ("--batch-tokens", "1")):
        result = run(directory, "+ends", "-m", model(max_positions=32), *small, fasta)
        expect_equal(result.lines(), wanted, "values; " + result.err)
    split = ok("score", "-m", model(max_positions=32), "-O", "bedgraph", fasta).lines()
    expect(wanted[0] not in split, "windows do not matter here")
    long = write(fresh(), "l.fa", ">long\n" + "ACGTTGCATCGA" * 16 + "CATCATCATCATCATCA"[:11] + "\n")
    expect_failure(run(directory, "+ends", "-m", model(max_positions=32), long), "192 bp", "203 bp")
    odd = write(fresh(), "o.fa", ">odd\nACGTACGTACGTA\n")
    expect_failure(run(directory, "+ends", "-m", model(), odd), "a multiple of 6")


DRAW = """
static int finish(carbon_run *run, void *state) {
  const carbon_api *api = run->api;
  carbon_sequences *in = api->sequences_open(run, api->input(run, 0));
  carbon_output *out = api->output_open(run, NULL);
  const carbon_sampler sampler = { %s };
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
  if (more == CARBON_ERROR || api->generate(run, &sampler, 31, items, n) != CARBON_OK) return CARBON_ERROR;
  for (i = 0; i < n; i++) {
    sprintf(line, "%%s\\t%%.10g\\n", bases[i], items[i].logp);
    if (api->output_write(run, out, line, strlen(line)) != CARBON_OK) return CARBON_ERROR;
  }
  return CARBON_OK;
}
"""


@case
def the_engine_generates_as_carbon_generate():
    rng = random.Random(5)
    fasta = write(fresh(), "p.fa", "".join(">p%d\n%s\n" % (i, "".join(rng.choice("ACGTacgtN" if i == 3 else "ACGT") for _ in range(20 + 7 * i)))
                                           for i in range(7)))
    for fields, options in (("CARBON_SAMPLER_KMER, 0, 0.8, 50, 0.9, 7", ("-T", "0.8", "--top-k", "50", "--top-p", "0.9", "--seed", "7")),
                            ("CARBON_SAMPLER_CHAIN, 0, 1.5, 0, 1, 0", ("--sampler", "chain", "-T", "1.5")),
                            ("CARBON_SAMPLER_MARGINAL, 1, 1, 0, 1, 0", ("--sampler", "marginal", "--greedy"))):
        directory = compiled("draw", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=DRAW % fields)
        text = ok("generate", "-m", model(), "-l", "31", *options, fasta).text
        wanted = list(zip([bases for _, bases in parse_fasta(text)], re.findall(r"^>.* logp=(\S+)", text, re.M)))
        expect_equal(len(wanted), 7, "prompts")
        for small in ((), ("--batch-tokens", "1"), ("--batch-tokens", "12")):
            result = run(directory, "+draw", "-m", model(), *small, fasta)
            expect_equal([tuple(line.split("\t")) for line in result.lines()], wanted, "%s %s; %s" % (fields, small, result.err))
    for fields, words in (("3, 0, 1, 0, 1, 0", "no sampler 3"), ("CARBON_SAMPLER_KMER, 0, 0, 0, 1, 0", "temperature"),
                          ("CARBON_SAMPLER_KMER, 0, 1, 0, 0, 0", "top_p")):
        directory = compiled("draw", uses="CARBON_USES_MODEL | CARBON_READS_INPUTS", finish=DRAW % fields)
        expect_failure(run(directory, "+draw", "-m", model(), fasta), "[E::plugin]", words)


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


@case
def installed_and_used_from_there():
    """make install, a plugin compiled with nothing but what it put down, and make uninstall."""
    if shutil.which("make") is None or not os.path.exists(os.path.join(SOURCE, "carbon")):
        raise Skip("no make or no ./carbon")
    if "sanitize" in os.path.basename(BUILD):
        raise Skip("a program with sanitizers is not installed")
    root = fresh()
    settings = ["DESTDIR=" + root, "prefix=/usr", "BUILD=" + BUILD, "-o", "carbon"]
    names = [os.path.join(BUILD, "plugins", name + ".so") for name in SHIPPED]
    for name in names:
        settings += ["-o", name]
    done = command(["make", "-C", SOURCE, "install", *settings], env={"MAKEFLAGS": ""}, timeout=120)
    expect(done.rc == 0, "make install failed", done)
    include_dir = os.path.join(root, "usr", "include")
    for path in ["include/carbon_plugin.h", "share/man/man5/carbon-plugins.5"] + \
            ["libexec/carbon/%s.so" % n for n in SHIPPED] + ["share/man/man1/carbon-%s.1" % n for n in SHIPPED]:
        expect(os.path.isfile(os.path.join(root, "usr", path)), "not installed: " + path)
    directory = fresh()
    source = write(directory, "outside.c", HEAD + "\n".join(
        (PARTS[p] % {"uses": "0", "process_name": "NULL"}) if p == "manifest" else PARTS[p] for p in PARTS))
    tool("gcc", "-std=c99", "-pedantic", "-Wall", "-Werror", "-fPIC", "-shared", "-I", include_dir, "-o",
         os.path.join(directory, "outside.so"), source)
    installed = os.path.join(root, "usr", "bin", "carbon")
    env = {"CARBON_PLUGINS": directory + ":" + os.path.join(root, "usr", "libexec", "carbon")}
    expect_equal(command([installed, "+outside"], env=env).text, "hello\n", "a plugin from outside")
    listed = command([installed, "plugin", "-l"], env=env)
    for name in SHIPPED:
        expect("+" + name in listed.text, "not listed: " + name, listed)
    expect("cuda" not in listed.text + listed.err, "the program's own libraries are no plugins", listed)
    done = command(["make", "-C", SOURCE, "uninstall", *settings], env={"MAKEFLAGS": ""}, timeout=120)
    expect(done.rc == 0, "make uninstall failed", done)
    left = [os.path.join(where, name) for where, _, files in os.walk(root) for name in files]
    expect_equal(left, [], "left by make uninstall")


if __name__ == "__main__":
    main()
