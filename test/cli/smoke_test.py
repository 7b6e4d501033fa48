"""One ordinary run of every command and plugin on small inputs: what `make quick` runs beside the unit tests.

The other files test what each command promises. This one shows in seconds that all of them still start, read, compute and write.
"""

import json
import os

from annotate_support import tracks
from harness import (carbon, case, expect, expect_equal, expect_failure, fresh, info_of, main, model, ok, parse_fasta,
                     records, to_fasta, write)
from serve_support import Server

GENOME = {"c1": "ACGTTGCAACGGTCATTACGGACTTGCACCATGAAATTTGGCA" * 12, "c2": "GGCATTACGATCCATGGTACCTTAGACCATTGA" * 9}
POSITIONS = (60, 121, 250)
LABELS = ("good", "bad", "good")

runs = {}  # by the name of a command, or +NAME of a plugin


def run(name):
    def register(function):
        runs[name] = function
        return function
    return register


def reference():
    return write(fresh(), "ref.fa", to_fasta(list(GENOME.items())))


def variants():
    """SNVs of c1, one for each of POSITIONS, with labels."""
    lines = ["##fileformat=VCFv4.2", '##INFO=<ID=CLASS,Number=1,Type=String,Description="class">']
    lines += ["##contig=<ID=%s,length=%d>" % (name, len(bases)) for name, bases in GENOME.items()]
    lines.append("\t".join("#CHROM POS ID REF ALT QUAL FILTER INFO".split()))
    for position, label in zip(POSITIONS, LABELS):
        base = GENOME["c1"][position - 1]
        lines.append("c1\t%d\t.\t%s\t%s\t.\t.\tCLASS=%s" % (position, base, "A" if base != "A" else "C", label))
    return write(fresh(), "in.vcf", "\n".join(lines) + "\n")


def scored(*args):
    """The VCF of variants() with scores."""
    path = os.path.join(fresh(), "scored.vcf")
    ok("vep", "-m", model(), "-f", reference(), "-w", 96, *args, "-o", path, variants())
    return path


def lines_of(path):
    with open(path) as file:
        return file.read().splitlines()


# ---- commands


@run("vep")
def vep():
    lines = records("\n".join(lines_of(scored())))
    expect_equal([int(line.split("\t")[1]) for line in lines], list(POSITIONS), "positions")
    expect(all(abs(float(info_of(line)["CARBON_LLR"])) > 0 for line in lines), "a variant without a score")


@run("scan")
def scan():
    table = records(ok("scan", "-m", model(), "-f", reference(), "-r", "c1:61-90").text)
    expect_equal(len(table), 90, "one line per SNV")


@run("score")
def score():
    table = records(ok("score", "-m", model(), reference()).text)
    expect_equal([line.split("\t")[0] for line in table], list(GENOME), "one line per sequence")
    expect(all(-1.6 < float(line.split("\t")[6]) < -1.2 for line in table), "the mean of a random model is near -ln 4: %s" % table)


@run("embed")
def embed():
    table = records(ok("embed", "-m", model(), "--pool", "mean", reference()).text)
    expect_equal([len(line.split("\t")) for line in table], [len(table[0].split("\t"))] * 2, "columns")
    expect(len(table[0].split("\t")) > 32, "32 numbers and a name")


@run("predict")
def predict():
    tuned = model(labels=2, label_names="liver,muscle", problem_type="regression")
    table = records(ok("predict", "-m", tuned, reference()).text)
    expect_equal([(line.split("\t")[0], len(line.split("\t"))) for line in table], [(name, 3) for name in GENOME], "two labels")


@run("annotate")
def annotate():
    bases = "CC" * 20 + "ATG" + "GCC" * 30 + "TAA" + "CC" * 20
    genome, values = [("c", bases)], [0.01] * 40 + [0.99] * 96 + [0.01] * 40
    prefix = tracks(genome, {"c": values}, {"c": [0.01] * len(bases)})
    found = records(ok("annotate", "--from-tracks", prefix, write(fresh(), "in.fa", to_fasta(genome))).text)
    expect_equal([line.split("\t")[2:5] for line in found[:1]], [["gene", "41", "136"]], "the gene")


@run("generate")
def generate():
    made = parse_fasta(ok("generate", "-m", model(), "-l", 20, "-n", 2, "--seed", 1, reference()).text)
    expect_equal([len(bases) for _, bases in made], [20] * 4, "lengths of the continuations")


@run("mcp")
def mcp():
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "score", "arguments": {"sequences": ["ACGTAC"]}}}
    answer = json.loads(ok("mcp", "-m", model(), stdin=json.dumps(call).encode() + b"\n").text)
    expect_equal(answer["result"]["structuredContent"]["results"][0]["n_scored"], 6, "bases")


@run("serve")
def serve():
    with Server() as server:
        answer = server.ask("POST", "/v1/completions", {"prompt": "<dna>ACGTAC", "max_tokens": 4, "seed": 1})
        expect_equal((answer.status, len(answer.json["choices"][0]["text"])), (200, 24), "four 6-mers")


@run("tokenize")
def tokenize():
    ids = ok("tokenize", "-m", model(), stdin=b'"<dna>ACGTACGGTTAA</dna>"\n')
    expect_equal(json.loads(ids.text)["mask"], [0, 6, 6, 0], "two 6-mers between their tags")


@run("report")
def report():
    page = os.path.join(fresh(), "report.html")
    ok("report", "-o", page, scored())
    expect("<svg" in "\n".join(lines_of(page)), "the report has a figure")


@run("models")
def models():
    expect("carbon-tiny" in ok("models").text, "the bundled model is listed")


@run("bench")
def bench():
    result = json.loads(ok("bench", "-m", model(), "--tests", "score", "--rounds", 1, "--json").text)
    expect_equal([test["test"] for test in result["tests"]], ["score"], "tests")


@run("plugin")
def plugin():
    expect("+auroc" in ok("plugin", "-l").text, "the plugins are listed")


# ---- plugins


@run("+auroc")
def auroc():
    expect("AUROC" in ok("+auroc", scored(), "--", "--label", "CLASS=bad/good").text.upper(), "a table with AUROC")


@run("+concord")
def concord():
    out = ok("+concord", scored("--recipe", "centered,anchored"), "--", "--tags", "CARBON_LLR,CARBON_ALLR").text
    expect("spearman" in out.lower(), "a table with Spearman's correlation")


@run("+combine")
def combine():
    ranked = records(ok("+combine", scored("--recipe", "centered,anchored"), "--", "--scores", "CARBON_LLR,CARBON_ALLR").text)
    expect(ranked and all("CARBON_RANKMEAN=" in line for line in ranked), "a rank for each record")


@run("+gene-summary")
def gene_summary():
    regions = write(fresh(), "genes.bed", "c1\t50\t130\tfirst\nc1\t200\t300\tsecond\n")
    out = ok("+gene-summary", scored(), "--", "-R", regions).text
    expect("first" in out and "second" in out, "a line for each region")


@run("+genes")
def genes():
    line = "c1\tx\tCDS\t11\t40\t.\t+\t0\tID=c;Parent=t\n"
    out = ok("+genes", write(fresh(), "a.gff3", line), "--", "--truth", write(fresh(), "b.gff3", line)).text
    expect("genes\t1\t1\t1\t" in out, "an equal gene")


@run("+haplotypes")
def haplotypes():
    ref, alts = GENOME["c1"][59:62], {"A": "C", "C": "G", "G": "T", "T": "A"}
    lines = ["##fileformat=VCFv4.2", "##contig=<ID=c1>", '##FORMAT=<ID=GT,Number=1,Type=String,Description="genotype">',
             "\t".join("#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT S1".split())]
    lines += ["c1\t%d\t.\t%s\t%s\t.\t.\t.\tGT\t0|1" % (60 + i, ref[i], alts[ref[i]]) for i in (0, 2)]
    joined = ok("+haplotypes", write(fresh(), "in.vcf", "\n".join(lines) + "\n"), "--", "-f", reference())
    scored = ok("vep", "-m", model(), "-f", reference(), "-w", 96, "--phases", 6, "-", stdin=joined.out)
    compared = records(ok("+haplotypes", "-", "--", "--compare", stdin=scored.out).text)
    expect_equal(["CARBON_JOINT_EXCESS" in info_of(line) for line in compared], [False, True, False], "one group of two parts")


@run("+mutagenesis")
def mutagenesis():
    out = ok("+mutagenesis", "-m", model(), "--", "-f", reference(), "-r", "c1:100-109").text
    expect_equal(sum(len(line.split("\t")[4].split(",")) for line in records(out)), 30, "three SNVs of each of ten bases")


@run("+rank")
def rank():
    directory = fresh()
    scan, histogram = os.path.join(directory, "scan.vcf"), os.path.join(directory, "scan.hist")
    ok("scan", "-m", model(), "-f", reference(), "-r", "c1:61-120", "-Ov", "-o", scan, "--histogram", histogram)
    ranked = records(ok("+rank", scan, "--", "--background", histogram).text)
    expect_equal(sum("CARBON_PHRED=" in line for line in ranked), 60, "ranked positions")


@run("+recovery")
def recovery():
    ok("+recovery", "-m", model(), reference())


@run("+perturb")
def perturb():
    genes = write(fresh(), "cds.fa", to_fasta([("g%d" % i, "ATG" + "GCCAAGGACCTTGAA" * (20 + i) + "TAA") for i in range(3)]))
    ok("+perturb", "-m", model(), genes)


@run("+niah")
def niah():
    ok("+niah", "-m", model(), reference(), "--", "--context", 96, "--rows", 2)


# ---- cases


COMMANDS = [line.split()[0] for line in ok("--help").lines() if line.startswith("    ") and line[4:5].isalpha()]
PLUGINS = [line.split()[0] for line in ok("plugin", "-l").lines() if line.startswith("    +")]

for name, function in runs.items():
    case(function, name=name)


@case
def every_command_and_plugin_has_a_run_here():
    expect_equal(sorted(runs), sorted(COMMANDS + PLUGINS), "commands and plugins")


@case
def an_unknown_command_is_refused():
    expect_failure(carbon("nonsense"), "nonsense")


main()
