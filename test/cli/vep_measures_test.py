"""carbon vep --measure: CARBON_L2 and CARBON_JSD against float64; bytes in any company; headers, cache, resuming, tables, refusals."""

import os
import random
import re
import statistics
import sys

import numpy as np

from harness import (carbon, case, expect, expect_equal, expect_failure, fresh, genome, info_of, main, model, ok, read, records, to_fasta,
                     write)
from vep_reference_support import (DTYPE, SMALL, UNTIED, alleles_of, as_vcf, edge_genome, edge_variants, random_bases, reference_model,
                                   upper, variant_of, with_runs)
from vep_support import MINI, OTHER, WINDOW, reference, summary_of, values, vcf, vep

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import letter_reference  # noqa: E402
import measure_reference  # noqa: E402

ARGS = ("-w", WINDOW, "--no-version", "--max-ref-mismatch", 1)
ALL = ("--measure", "llr,l2,jsd")
TAGS = ("CARBON_L2", "CARBON_JSD")
RELATIVE = 1e-4  # of float32 sums of a few layers against float64
LETTERS = {"preset": "marin", "hidden": 48, "layers": 2, "heads": 3, "kv_heads": 3, "head_dim": 16, "intermediate": 96, "dtype": "f32",
           "tied": 0, "vocab": 0, "dna_start": -1, "max_positions": 256}
LONG = dict(DTYPE, hidden=32, heads=2, kv_heads=1, head_dim=16, layers=2, intermediate=64, max_positions=2048)


def tag(out, name):
    """The values of a tag, as printed, by line."""
    return [info_of(line).get(name) for line in records(out.decode())]


def header(out, name):
    return [line for line in out.decode().splitlines() if line.startswith("##carbon_vepModel=<ID=%s," % name)]


def measured(sizes, fasta, path, *args):
    return records(ok("vep", "-m", model(**sizes), "-f", fasta, *ALL, "--max-ref-mismatch", 1, "-q", "--no-version", *args,
                      path).out.decode("latin-1"))


def reference_of(sizes):
    return letter_reference.LetterModel(model(**sizes)) if sizes.get("preset") == "marin" else reference_model(**sizes)


def changed(bases, pos, size, rng):
    """Other bases for `size` of them from `pos` on, the first and the last different from those that are there."""
    ref = bases[pos - 1:pos - 1 + size].upper()
    alt = OTHER.get(ref[0], "A") + random_bases(rng, max(size - 2, 0)) + (OTHER.get(ref[-1], "A") if size > 1 else "")
    return ref, alt


class Compared:
    """Compares values with those of float64, and keeps the largest relative difference."""

    def __init__(self):
        self.worst, self.count, self.flags = {name: 0.0 for name in TAGS}, 0, set()

    def check(self, sizes, bases, lines, window, horizon, strand):
        wanted = iter(measure_reference.measures(reference_of(sizes), upper(bases), [variant_of(line) for line in lines], window, horizon,
                                                 strand))
        for line in lines:
            contig, pos, ref, alts = alleles_of(line)
            expected = [next(wanted) for _ in alts]
            found = {name: values(line, name) for name in (*TAGS, "CARBON_FLAG")}
            what = "%s:%d %s>%s, window %d, horizon %d, strand %s" % (contig, pos, ref, ",".join(alts), window, horizon, strand)
            flags = [one["FLAG"] for one in expected]
            expect_equal(found["CARBON_FLAG"], flags if any(flags) else None, "flags of " + what)
            self.flags.update(flag for flag in flags if flag)
            for i, one in enumerate(expected):
                for name in TAGS:
                    got, value = found[name][i], one[name[7:]]
                    expect((got is None) == (value is None), "%s of %s: %r, expected %r" % (name, what, got, value))
                    if value is None:
                        continue
                    expect(got >= 0, "%s of %s is %g" % (name, what, got))
                    difference = abs(got - value) / value if value else got
                    expect(difference <= RELATIVE, "%s of %s: %.9g, expected %.9g" % (name, what, got, value))
                    self.worst[name], self.count = max(self.worst[name], difference), self.count + 1

    def report(self, title, least):
        print("%s: %d values, largest relative difference of l2 %.2g, of jsd %.2g; flags %s" % (
            title, self.count, *self.worst.values(), ", ".join(sorted(self.flags))))
        expect(self.count > least, "%d values" % self.count)


@case
def every_kind_of_record_has_the_values_of_float64():
    bases = edge_genome()
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(bases.items())))
    path = write(d, "edge.vcf", as_vcf([row for row in edge_variants(bases) if row[3] != "."], [*bases, "absent"]))
    compared = Compared()
    for sizes, window, horizon, strand in ((SMALL, 96, 768, "both"), (SMALL, 96, 12, "-"), (UNTIED, 48, 6, "+")):
        lines = measured(sizes, fasta, path, "--dtype", "f32", "-w", window, "--horizon", horizon, "--strand", strand)
        compared.check(sizes, bases, lines, window, horizon, strand)
    compared.report("6 bases a token", 600)
    expect({"changes_length", "edge", "non_acgt", "too_long"} <= compared.flags, "flags %s" % compared.flags)


@case
def windows_of_8192_have_the_values_of_float64():
    rng = random.Random(5)
    bases = {"long": with_runs(random_bases(rng, 14000), (5200, "N" * 9), (9000, "RY"))}
    d = fresh()
    fasta = write(d, "long.fa", to_fasta(list(bases.items())))
    rows = [("long", pos, *changed(bases["long"], pos, size, rng))
            for pos, size in ((7, 1), (4096, 1), (5195, 1), (5230, 3), (7000, 9), (8994, 2), (13400, 1), (13999, 1))]
    path = write(d, "long.vcf", as_vcf(rows, bases))
    compared = Compared()
    for horizon in (768, 8190):
        compared.check(LONG, bases, measured(LONG, fasta, path, "--dtype", "f32", "--horizon", horizon), 8192, horizon, "both")
    compared.report("windows of 8,192", 24)


@case
def models_of_one_base_have_the_values_of_float64():
    rng = random.Random(6)
    bases = {"long": with_runs(random_bases(rng, 700), (300, "NNN"), (470, "N")), "short": random_bases(rng, 120)}
    d = fresh()
    fasta = write(d, "letters.fa", to_fasta(list(bases.items())))
    places = [("long", pos) for pos in (1, 2, 100, 128, 295, 300, 304, 400, 469, 699, 700)] + [("short", pos) for pos in (1, 60, 119, 120)]
    rows = [(contig, pos, *changed(bases[contig], pos, size, rng)) for contig, pos in places for size in (1, 2, 5)
            if set(bases[contig][pos - 1:pos - 1 + size]) <= set("ACGT") and pos - 1 + size <= len(bases[contig])]
    rows.append(("long", 200, bases["long"][199], bases["long"][199] + "GA"))
    path = write(d, "letters.vcf", as_vcf(rows, bases))
    compared = Compared()
    for window, horizon, strand in ((255, 768, "both"), (255, 5, "both"), (64, 20, "-"), (65, 1, "+")):
        lines = measured(LETTERS, fasta, path, "--dtype", "f32", "-w", window, "--horizon", horizon, "--strand", strand)
        compared.check(LETTERS, bases, lines, window, horizon, strand)
    compared.report("1 base a token", 200)


def ranks(numbers):
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    return [rank for _, rank in sorted(zip(order, range(len(order))))]


@case
def bf16_is_as_near_as_an_ordinary_bf16_program():
    sizes = dict(LONG, dtype="bf16")
    rng = random.Random(7)
    bases = {"c": random_bases(rng, 2400)}
    d = fresh()
    fasta = write(d, "c.fa", to_fasta(list(bases.items())))
    rows = [("c", pos, *changed(bases["c"], pos, 1, rng)) for pos in range(410, 2000, 17)]
    path = write(d, "c.vcf", as_vcf(rows, bases))
    exact = reference_model(**sizes)
    variants = [(contig, pos, ref, [alt]) for contig, pos, ref, alt in rows]
    args = ("-w", 804, "--horizon", 96, "--strand", "+")
    found = {dtype: measured(sizes, fasta, path, "--dtype", dtype, *args) for dtype in ("bf16", "f32")}
    wanted, usual = ([(one["L2"], one["JSD"]) for one in measure_reference.measures(of, bases, variants, 804, 96, "+")]
                     for of in (exact, measure_reference.Rounded(exact)))
    for i, name in enumerate(TAGS):
        ours, plain = ([values(line, name)[0] for line in found[dtype]] for dtype in ("bf16", "f32"))
        true = [pair[i] for pair in wanted]
        errors, theirs = (sorted(abs(got - value) / value for got, value in zip(those, true))
                          for those in (ours, [pair[i] for pair in usual]))
        spearman = np.corrcoef(ranks(ours), ranks(plain))[0, 1]
        print("%s in bf16: median error %.2g %%, worst %.2g %%; of a program that rounds every tensor %.2g and %.2g %%; Spearman with f32 %.4f"
              % (name, *(100 * value for those in (errors, theirs) for value in (statistics.median(those), those[-1])), spearman))
        expect(statistics.median(errors) <= 2 * statistics.median(theirs) and errors[-1] <= 2 * theirs[-1], "%s: larger errors" % name)
        expect(spearman > 0.9, "%s: Spearman %g" % (name, spearman))


@case
def exchanged_alleles_have_the_same_values_and_ref_has_0():
    rng = random.Random(8)
    before = random_bases(rng, 600)
    rows = [(pos, size) for pos, size in ((100, 1), (207, 1), (303, 2), (401, 6), (500, 3))]
    after, variants, back = before, [], []
    for pos, size in rows:
        ref, alt = changed(before, pos, size, rng)
        after = after[:pos - 1] + alt + after[pos - 1 + size:]
        variants.append((pos, ref, alt))
    d = fresh()
    for i, (pos, ref, alt) in enumerate(variants):
        sides = []
        for name, bases, r, a in (("x", before, ref, alt), ("y", before[:pos - 1] + alt + before[pos - 1 + len(ref):], alt, ref)):
            fasta = write(d, "%s%d.fa" % (name, i), ">c\n%s\n" % bases)
            path = write(d, "%s%d.vcf" % (name, i), as_vcf([("c", pos, r, "%s,%s" % (a, r))], ["c"]))
            sides.append([values(measured(SMALL, fasta, path, "--dtype", "f32", "-w", 240)[0], name) for name in TAGS])
        for (mine, zero), (other, nothing) in zip(*sides):
            expect_equal((zero, nothing), (0.0, 0.0), "the reference itself")
            expect(mine > 0 and abs(mine - other) < 1e-5 * mine, "%s: %.9g and %.9g" % (variants[i], mine, other))


@case
def values_do_not_depend_on_neighbours_batches_or_other_measures():
    whole = vep(*ARGS, *ALL, MINI).out
    plain = vep(*ARGS, MINI).out
    expect_equal(tag(whole, "CARBON_LLR"), tag(plain, "CARBON_LLR"), "CARBON_LLR beside measures")
    expect_equal(header(whole, "CARBON_LLR"), header(plain, "CARBON_LLR"), "model line of CARBON_LLR")
    expect_equal(vep(*ARGS, "--measure", "llr", MINI).out, plain, "measure llr")
    for more in (("--batch-tokens", 1), ("--batch-tokens", 50, "-@", 1), ("-@", 2)):
        expect_equal(vep(*ARGS, *ALL, *more, MINI).out, whole, "bytes, %s" % (more,))
    for name, words in (("CARBON_L2", "l2"), ("CARBON_JSD", "jsd")):
        alone = vep(*ARGS, "--measure", words, MINI).out
        expect_equal(tag(alone, name), tag(whole, name), name + " alone")
        expect_equal(header(alone, name), header(whole, name), "model line of %s alone" % name)
        expect(header(alone, name)[0].count(",Measure=%s,Horizon=768," % words) == 1, header(alone, name)[0])
        for other in {"CARBON_LLR", *TAGS} - {name}:
            expect_equal(set(tag(alone, other)), {None}, other + " that was not asked for")
    both = vep(*ARGS, *ALL, "--level", "bp,token", MINI).out
    for name in TAGS:
        expect_equal(tag(both, name), tag(whole, name), name + " beside two levels")
    lines = [line.split("\t")[7] for line in records(both.decode()) if "CARBON_JSD" in line]
    expect(all(re.search("CARBON_LLR=[^;]*;CARBON_LLR_TOKEN=[^;]*;CARBON_L2=[^;]*;CARBON_JSD=", line) for line in lines), "order of the tags")
    # Each record alone.
    text = read(MINI).decode()
    lines = [line for line in records(text) if not line.startswith("absent")]
    head = text[:text.index(lines[0])]
    for line in lines:
        one = vep(*ARGS, *ALL, write(fresh(), "one.vcf", head + line + "\n")).out
        expect_equal(records(one.decode()), [other for other in records(whole.decode()) if other.split("\t")[2] == line.split("\t")[2]],
                     "a record alone")


@case
def a_measure_alone_reads_no_more_than_its_horizon():
    bases = genome()["c1"]
    rows = [("c1", pos, bases[pos - 1], OTHER[bases[pos - 1]]) for pos in range(200, 260)]
    tokens = {}
    for words in ("llr", "llr,l2", "llr,l2,jsd", "l2,jsd", "jsd"):
        more = () if words == "llr" else ("--horizon", 12)
        result = vep("-w", 240, "-v", 4, "--measure", words, *more, vcf(rows))
        tokens[words] = int(re.search(r"([0-9]+) tokens in", result.err)[1])
    print("tokens: %s" % tokens)
    for words in ("llr,l2", "llr,l2,jsd"):  # a strand has two windows
        expect(tokens["llr"] <= tokens[words] <= tokens["llr"] + 4 * len(rows), "%s: %d tokens" % (words, tokens[words]))
    expect(tokens["l2,jsd"] <= 0.7 * tokens["llr"], "a horizon of 12 does not cut the windows")


@case
def alleles_of_another_length_have_a_flag():
    bases = genome()["c1"]
    ref = bases[299]
    rows = [("c1", 300, ref, ref + "GAT"), ("c1", 300, ref, OTHER[ref]), ("c1", 300, ref, "%s,%s,*" % (OTHER[ref], ref + "C"))]
    result = vep(*ARGS, *ALL, vcf(rows))
    expect_equal(tag(result.out, "CARBON_FLAG"), ["changes_length", None, ".,changes_length,star"], "flags")
    expect_equal([text.split(",").count(".") for text in tag(result.out, "CARBON_L2")], [1, 0, 2], "missing values of l2")
    expect_equal([text.split(",").count(".") for text in tag(result.out, "CARBON_LLR")], [0, 0, 1], "missing values of llr")
    expect_equal(summary_of(result)["changes_length"], 2, "the summary")
    only = vep(*ARGS, "--measure", "l2", vcf(rows))
    expect_equal(tag(only.out, "CARBON_FLAG"), tag(result.out, "CARBON_FLAG"), "flags of l2 alone")
    counts = summary_of(only)
    expect_equal((counts["total"], counts["scored"], counts["changes_length"]), (3, 2, 2), "the summary of l2 alone")


@case
def a_cache_has_each_measure_by_itself():
    path = os.path.join(fresh(), "cache")
    runs = [("llr", 768), ("llr,l2", 768), ("l2", 12), ("l2", 768), ("llr,l2,jsd", 768), ("jsd", 768)]
    found = []
    for words, horizon in runs:
        args = (*ARGS, "--measure", words, *(("--horizon", horizon) if words != "llr" else ()))
        result = vep(*args, "-v", 4, "--cache", path, MINI)
        expect_equal(result.out, vep(*args, MINI).out, "measures %s with a cache" % words)
        found.append([int(word) for word in re.search(r"cache: (\d+) of (\d+)", result.err).groups()])
    expect_equal(found[3][0], found[3][1], "found of l2, of those looked up")
    expect_equal(found[5][0], found[5][1], "found of jsd, of those looked up")
    expect_equal(found[0][0], 0, "found at first")
    expect_equal(found[2][0], 0, "found for another horizon")


@case
def shares_and_continued_runs_have_the_same_bytes():
    args = ARGS + ALL
    whole = vep(*args, MINI).out
    shares = [records(vep(*args, "--shard", "%d/3" % i, MINI).text) for i in (1, 2, 3)]
    expect_equal([line for share in shares for line in share], records(whole.decode()), "records of three shares")
    d = fresh()
    out, given = os.path.join(d, "out.vcf"), read(MINI).decode()
    broken = write(d, "in.vcf", "".join(given.splitlines(True)[:-12]) + "c1\tx\n")  # a run that ends with an error keeps its scores
    carbon("vep", "-m", model(), "-f", reference(), *args, "-o", out, broken)
    expect(os.path.exists(out + ".partial"), "no scores were kept")
    write(d, "in.vcf", given)
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "--resume", "-o", out, broken), "measure")
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *args, "--horizon", 12, "--resume", "-o", out, broken), "horizon")
    vep(*args, "--resume", "-o", out, broken)
    expect_equal(read(out), whole, "a continued run")


@case
def values_of_an_earlier_run_are_kept_or_computed_anew():
    d = fresh()
    first = os.path.join(d, "first.vcf")
    vep(*ARGS, "-o", first, MINI)
    both = vep(*ARGS, "--measure", "l2,jsd", first)
    whole = vep(*ARGS, *ALL, MINI).out
    for name in ("CARBON_LLR", *TAGS):
        expect_equal(tag(both.out, name), tag(whole, name), name + " of two runs")
    expect_equal(len(header(both.out, "CARBON_LLR")), 1, "model lines of a tag that is kept")
    second = write(d, "second.vcf", both.out.decode())
    again = vep(*ARGS, second)
    expect_equal(tag(again.out, "CARBON_JSD"), tag(whole, "CARBON_JSD"), "jsd that is kept")
    other = ok("vep", "-m", model(hidden=48, heads=3), "-f", reference(), *ARGS, second)
    expect_equal(set(tag(other.out, "CARBON_L2")), {None}, "l2 of another model")
    expect("CARBON_L2" in other.err, "no warning", other)


@case
def tables_histograms_and_other_outputs():
    lines = vep(*ARGS, *ALL, "-O", "t", MINI).text.splitlines()
    heading = next(line for line in lines if line.startswith("#CHROM"))
    expect_equal(heading.split("\t")[5:], ["CARBON_LLR", "CARBON_L2", "CARBON_JSD", "CARBON_FLAG"], "columns")
    path = os.path.join(fresh(), "h.tsv")
    vep(*ARGS, *ALL, "--histogram", path, MINI)
    alone = os.path.join(fresh(), "h.tsv")
    vep(*ARGS, "--histogram", alone, MINI)
    expect_equal(read(path), read(alone), "a histogram beside measures")
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "--measure", "l2", "--histogram", path, MINI), "only log-likelihood")
    d = fresh()
    scan = os.path.join(d, "scan.vcf.gz")
    ok("scan", "-m", model(), "-f", reference(), "-O", "z", "-o", scan, "-W")
    bases = genome()["c1"]
    rows = [("c1", pos, bases[pos - 1], alt) for pos in (40, 300, 301) for alt in (OTHER[bases[pos - 1]], bases[pos - 1] + "A")]
    result = vep(*ARGS, "--measure", "l2", "--table", scan, vcf(rows))
    alone = vep(*ARGS, "--measure", "l2", vcf(rows))
    expect_equal(tag(result.out, "CARBON_L2"), tag(alone.out, "CARBON_L2"), "l2 beside a table")
    expect(any(text for text in tag(result.out, "CARBON_SCAN") if text), "no score of the table")


@case
def rows_of_embeddings_do_not_depend_on_measures():
    stems = []
    for words in ("llr", "llr,l2,jsd", "l2"):
        stems.append(os.path.join(fresh(), "x"))
        vep(*ARGS, "--measure", words, "--embeddings", stems[-1] + ".npy", MINI)
    for stem in stems[1:]:
        expect_equal(read(stem + ".npy"), read(stems[0] + ".npy"), "rows")
        table = [[line for line in read(one + ".variants.tsv").decode().splitlines() if not line.startswith("##")] for one in (stem, stems[0])]
        expect_equal(*table, "alleles")


@case
def other_commands_know_the_direction():
    rng = random.Random(9)
    bases = random_bases(rng, 900)
    d = fresh()
    fasta = write(d, "c.fa", ">c\n%s\n" % bases)
    rows = [("c", pos, *changed(bases, pos, 1, rng)) for pos in range(100, 700, 5)]
    head = as_vcf([], ["c"]).replace("#CHROM", "##INFO=<ID=P,Number=A,Type=Float,Description=\"x\">\n#CHROM")
    path = write(d, "c.vcf", head + "".join("%s\t%d\t.\t%s\t%s\t.\t.\tP=%d\n" % (*row, i % 2) for i, row in enumerate(rows)))
    out = os.path.join(d, "out.vcf")
    ok("vep", "-m", model(), "-f", fasta, "-w", 120, *ALL, "-o", out, path)
    scores = [(values(line, "CARBON_L2")[0], values(line, "P")[0]) for line in records(read(out).decode())]
    wins = [(a > b) + (a == b) / 2 for a, p in scores if p == 1 for b, q in scores if q == 0]
    found = ok("+auroc", out, "--", "--score", "CARBON_L2", "--label", "P").text
    expect(abs(float(re.search(r"auroc\t(\S+)", found)[1]) - sum(wins) / len(wins)) < 1e-5, found)
    expect_failure(carbon("+auroc", out, "--", "--score", "CARBON_L2", "--label", "P", "--negate"), "high")
    combined = ok("+combine", out, "--", "--scores", "CARBON_LLR,CARBON_L2,CARBON_JSD").text
    expect('Scores="CARBON_LLR:low,CARBON_L2:high,CARBON_JSD:high"' in combined, combined[:2000])
    expect_failure(carbon("+combine", out, "--", "--scores", "CARBON_L2:low"), "high")
    overlap = ok("+concord", out, "--", "--tags", "CARBON_L2,CARBON_JSD").text
    l2, jsd = ({i for _, i in sorted(((-values(line, name)[0], i) for i, line in enumerate(records(read(out).decode()))))[:6]} for name in TAGS)
    expect(abs(float(re.search(r"overlap_5\t(\S+)", overlap)[1]) - len(l2 & jsd) / 6) < 1e-6, overlap)
    page = os.path.join(d, "r.html")
    ok("report", out, "--tag", "CARBON_L2", "-o", page)
    expect("Highest scores: CARBON_L2" in read(page).decode(), "the table of the highest scores")
    table = os.path.join(d, "t.tsv")
    ok("vep", "-m", model(), "-f", fasta, "-w", 120, "--measure", "jsd", "-O", "t", "-o", table, path)
    ok("report", table, "-o", page)
    expect("Highest scores: CARBON_JSD" in read(page).decode(), "the table of the highest scores, of a table")


@case
def what_has_no_such_measure_is_refused():
    for args, words in ((("--measure", "l2", "--recipe", "next-token"), "centered alone"),
                        (("--measure", "llr,jsd", "--recipe", "anchored,centered"), "alone"),
                        (("--measure", "l2", "--recipe", "centered,next-token"), "alone"), (("--measure", "l3"), "llr"),
                        (("--measure", "l2,l2"), "twice"), (("--measure", ""), "empty"), (("--measure", "l2", "--level", "bp"), "llr"),
                        (("--measure", "jsd", "--level", "token"), "llr"), (("--horizon", 96), "l2 and jsd"),
                        (("--measure", "l2", "--horizon", "6,12"), "single"), (("--measure", "l2", "--horizon", 100), "multiple of 6"),
                        (("--measure", "l2", "--horizon", 0), "at least 6")):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, *args, MINI), words)
    # The default changes nothing beside another recipe, and says so where there is nothing that it could mean.
    same = ("--no-version", "--max-ref-mismatch", 1, "--context", 60, "--recipe", "next-token", MINI)
    result = vep("--measure", "llr", *same)
    expect_equal(result.out, vep(*same).out, "measure llr beside next-token")
    expect("measure has no effect" in result.err, "no warning", result)


if __name__ == "__main__":
    main()
