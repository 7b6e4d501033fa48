"""workflows/benchmark: its example in small. The numbers are those of the makers' formulas on the scores, the scores those of lone
commands; a run that was killed goes on; rows that do not fit are counted.

$CARBON_PYARROW names a Python with pyarrow and scikit-learn, if that on PATH lacks them: Parquet and a probe need them. The other cases
use tables with tabs.
"""
# Left out while unchanged: parts src/vep

import bisect
import json
import os
import re
import shutil

from harness import Skip, case, command, expect, expect_close, expect_equal, fresh, main, model, ok, read, tool, write
from workflow_support import WORKFLOWS, Snakemake, each_snakemake, environment

BENCHMARK = os.path.join(WORKFLOWS, "benchmark")
EXAMPLE = os.path.join(BENCHMARK, "example")
TINY = os.path.join(os.path.dirname(WORKFLOWS), "models", "carbon-tiny")
PYTHON = shutil.which("python3")
COMPLEMENT = {"A": "C", "C": "G", "G": "T", "T": "A"}


def script(name, *args, python=PYTHON, rc=0, cwd=None):
    result = command([python, os.path.join(BENCHMARK, name), *args], cwd=cwd)
    expect(result.rc == rc, "expected rc %d" % rc, result)
    return result


def made_up(directory, *args, rows=40, python=PYTHON):
    script("example/make_data.py", "--rows", rows, *args, os.path.join(directory, "made_up"), python=python)


def configuration(directory, *changes):
    """The example's, with tables and what `changes` replace."""
    text = read(os.path.join(EXAMPLE, "config.yaml")).decode()
    for old, new in ((".parquet", ".tsv"), ("[carbon-tiny]", "[%s]" % TINY), *changes):
        expect(old in text, "the example's configuration has no %r" % old)
        text = text.replace(old, new)
    return write(directory, "my.yaml", text)


def run(snakemake, directory, **options):
    return snakemake(directory, "-s", os.path.join(BENCHMARK, "Snakefile"), "--configfile", "my.yaml", "--config", "python=" + PYTHON,
                     **options)


def python_with(*modules):
    python = os.environ.get("CARBON_PYARROW", PYTHON)
    if command([python, "-c", "import " + ", ".join(modules)]).rc:
        raise Skip("%s lacks %s; CARBON_PYARROW can name a Python that has it" % (python, " or ".join(modules)))
    return python


# ---- the makers' formulas, restated -----------------------------------------------------------------------------------------------


def auroc(scores, labels):
    """The share of pairs of a positive and a negative row in which the positive one is higher; ties count one half."""
    negative = sorted(s for s, l in zip(scores, labels) if not l)
    wins = sum(bisect.bisect_left(negative, s) + bisect.bisect_right(negative, s) for s, l in zip(scores, labels) if l)
    return wins / (2 * len(negative) * (len(labels) - len(negative)))


def precision_recall(scores, labels):
    """(recall, precision) at each threshold, from the highest score down."""
    points, found, taken = [], 0, 0
    order = sorted(zip(scores, labels), reverse=True)
    for i, (score, label) in enumerate(order):
        found, taken = found + label, taken + 1
        if i + 1 == len(order) or order[i + 1][0] != score:
            points.append((found / sum(labels), found / taken))
    return points


def auprc(scores, labels):
    """auc(recall, precision): trapezoids, from recall 0 with precision 1."""
    points = [(0.0, 1.0), *precision_recall(scores, labels)]
    return sum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in zip(points, points[1:]))


def average_precision(scores, labels):
    points = [(0.0, 1.0), *precision_recall(scores, labels)]
    return sum((r1 - r0) * p1 for (r0, _), (r1, p1) in zip(points, points[1:]))


def average_precision_by_chrom(scores, labels, chroms):
    """The mean over chromosomes with both classes, weighted by their rows."""
    total = weight = 0
    for chrom in set(chroms):
        own = [i for i, c in enumerate(chroms) if c == chrom]
        of = [labels[i] for i in own]
        if 0 < sum(of) < len(of):
            total += len(own) * average_precision([scores[i] for i in own], of)
            weight += len(own)
    return total / weight


def by_scikit_learn(scores, labels):
    try:
        from sklearn import metrics
    except ImportError:
        return {}
    precision, recall, _ = metrics.precision_recall_curve(labels, scores)
    return {"auroc": metrics.roc_auc_score(labels, scores), "auprc": metrics.auc(recall, precision)}


# ---- the cases --------------------------------------------------------------------------------------------------------------------


def query(path, tag):
    """(CHROM, POS, REF, ALT) and score and label of each record, as text."""
    lines = tool("bcftools", "query", "-f", "%CHROM\t%POS\t%REF\t%ALT\t%INFO/" + tag + "\t%LABEL\n", path).lines()
    return [line.split("\t") for line in lines]


def lone_scores(d, words, task):
    """{variant: score as text} for each tag, by one command of carbon."""
    name, options = words.split(maxsplit=1)
    genome, out = os.path.join(d, "made_up", "genome.fa"), os.path.join(fresh(), "lone.vcf.gz")
    if name == "scan":  # of the whole genome
        lines = ok("scan", "-q", "-m", TINY, "-f", genome, *options.split(), timeout=240).table()[1:]
        return {"CARBON_SCAN": {tuple(line.split("\t")[:4]): line.split("\t")[4] for line in lines}}
    ok("vep", "-q", "-m", TINY, "-f", genome, *options.split(), "-o", out, os.path.join(d, "results", "data", task + ".vcf.gz"))
    tags = re.findall(r"ID=(CARBON_[A-Z_0-9]+),Number=A,Type=Float", tool("bcftools", "view", "-h", out).text)
    return {tag: {tuple(row[:4]): row[4] for row in query(out, tag)} for tag in tags}


def expect_numbers_of_variants(d, found, task, recipe):
    path = os.path.join(d, "results", task, recipe + ".vcf.gz")
    of_recipe = [row for row in found["rows"] if row["task"] == task and row["recipe"].split(":")[0] == recipe]
    lone = lone_scores(d, of_recipe[0]["settings"], task)
    expect_equal({row["recipe"] for row in of_recipe}, {recipe + ":" + tag[len("CARBON_"):] for tag in lone}, "scores of " + recipe)
    for tag, wanted in lone.items():
        rows = query(path, tag)
        expect_equal(len(rows), 40, "records of " + path)
        for row in rows:
            expect_equal(row[4], wanted[tuple(row[:4])], "%s of %s" % (tag, row[:4]))
        sign = 1 if tag in ("CARBON_L2", "CARBON_JSD") else -1
        scores, labels, chroms = [sign * float(row[4]) for row in rows], [int(row[5]) for row in rows], [row[0] for row in rows]
        numbers = {row["metric"]: row["value"] for row in of_recipe if row["recipe"].endswith(":" + tag[len("CARBON_"):])}
        formulas = {"auroc": auroc(scores, labels), "auprc": auprc(scores, labels),
                    "average_precision_by_chrom": average_precision_by_chrom(scores, labels, chroms)}
        expect_equal(set(numbers), set(formulas), "metrics")
        for metric, value in [*formulas.items(), *by_scikit_learn(scores, labels).items()]:
            expect_close(numbers[metric], value, 1e-9, "%s of %s %s" % (metric, recipe, tag))


def expect_numbers_of_sequences(d, found):
    """Of each row in the data, and with sequences scored by a lone command."""
    def table(*path):
        lines = [line.split("\t") for line in read(os.path.join(d, *path)).decode().splitlines()]
        return [dict(zip((name.lstrip("#") for name in lines[0]), line)) for line in lines[1:]]

    def number(task, recipe):
        row, = (row for row in found["rows"] if (row["task"], row["recipe"]) == (task, recipe))
        return row["value"]

    labels = {row["name"]: row["label"] for row in table("results", "data", "recovery.tsv")}
    expect_equal(list(labels.values()), [row["label"] for row in table("made_up", "recovery.tsv")], "labels")
    for sampler in ("kmer", "marginal"):
        rows = table("results", "recovery", sampler + ".details.tsv")
        right = [sum(a == b for a, b in zip(row["generated"], labels[row["name"]])) / 30 for row in rows]
        expect_close(number("recovery", sampler), sum(right) / 40, 1e-9, "recovery, " + sampler)
    pairs = [row for row in table("made_up", "perturbation.tsv") if row["task"] == "syn_human"]
    fasta = write(fresh(), "pairs.fa", "".join(">%d\n%s\n>%d\n%s\n" % (i, row["original_sequence"], i, row["sequence"])
                                                for i, row in enumerate(pairs)))
    for level in ("bp", "token"):
        means = [float(line.split("\t")[6]) for line in ok("score", "-q", "-m", TINY, "--level", level, fasta).table()[1:]]
        right = [a > b for a, b in zip(means[::2], means[1::2])]
        expect_close(number("synonymous", level), sum(right) / 20, 1e-9, "synonymous, " + level)
    rows, values = table("results", "niah_tiny", "kmer.details.tsv"), [row["value"] for row in table("made_up", "niah.tsv")]
    expect_close(number("niah_tiny", "kmer"), sum(row["generated"] == value for row, value in zip(rows, values)) / len(values), 1e-9, "niah")


@each_snakemake
def the_example_in_small(snakemake):
    d = fresh()
    made_up(d, "--tables")
    configuration(d, ("n: 0", "published: 3B"))
    run(snakemake, d)
    found = json.loads(read(os.path.join(d, "results", "benchmark.json")))
    for task in ("brca2", "traitgym"):
        expect_equal(found["tasks"][task]["counts"]["scored"], 40, "variants of " + task)
        for recipe in sorted({row["recipe"].split(":")[0] for row in found["rows"] if row["task"] == task}):
            expect_numbers_of_variants(d, found, task, recipe)
    expect_numbers_of_sequences(d, found)
    # Published numbers, and the table and the page that say the same.
    verdicts = {(row["task"], row["recipe"], row["metric"]): row["verdict"] for row in found["rows"]}
    for row in found["rows"]:
        number = row["published"]
        outside = number is not None and not row["lower"] <= number <= row["upper"]
        expect_equal(row["verdict"], None if number is None else "differs" if outside else "within the interval", "verdict of %r" % row)
        expect(row["rows_per_s"] > 0, "no speed of %r" % row)
    expect_equal(sum(verdict is not None for verdict in verdicts.values()), 10, "rows with a published number")
    expect_equal(verdicts["recovery", "kmer", "accuracy"], "differs", "what cannot be 0.6154")
    lines = [line.split("\t") for line in read(os.path.join(d, "results", "benchmark.tsv")).decode().splitlines()]
    expect_equal(lines[0], ["task", "recipe", "metric", "value", "lower", "upper", "published", "variants_per_s"], "columns")
    expect_equal([line[:4] + line[6:7] for line in lines[1:]],
                 [[row["task"], row["recipe"], row["metric"], "%.6g" % row["value"],
                   "." if row["published"] is None else "%.6g" % row["published"]] for row in found["rows"]], "the table")
    page = read(os.path.join(d, "results", "report.html")).decode()
    for text in ("All tasks and recipes", "<td>differs</td>", "traitgym.centered_both.vcf.gz", "brca2: 40 of 40 rows read"):
        expect(text in page, "the page has no %r" % text)
    expect(d not in json.dumps(found["made_by"] + found["carbon"]) and "bench" in found, "a path of this machine")


@case
def a_run_that_is_killed_goes_on():
    d = fresh()
    made_up(d, "--tables", rows=200)
    # Small passes: the job lasts until it is killed.
    text = re.sub(r"recipes:.*\ntasks:", "recipes:\n  centered_plus: vep -w 600 --strand + --batch-tokens 32 --no-version\n\ntasks:",
                  read(configuration(d)).decode(), flags=re.S)
    text = re.sub(r"    recipes: \[.*\]\n", "", text[:text.index("  traitgym:")])
    write(d, "my.yaml", text)
    snakemake = Snakemake("snakemake")
    env = environment(ONCE=os.path.join(d, "stopped"), SIGNAL="KILL")
    run(snakemake, d, env=env, rc=1)
    expect(not os.path.exists(os.path.join(d, "results", "brca2", "centered_plus.vcf.gz")), "an output after a failure")
    run(snakemake, d, env=env)
    expect("continuing: " in read(os.path.join(d, "results", "brca2", "centered_plus.log")).decode(), "the job began again")
    wanted = lone_scores(d, "vep -w 600 --strand + --no-version", "brca2")["CARBON_LLR"]
    rows = query(os.path.join(d, "results", "brca2", "centered_plus.vcf.gz"), "CARBON_LLR")
    expect_equal({tuple(row[:4]): row[4] for row in rows}, wanted, "scores")
    found = json.loads(read(os.path.join(d, "results", "benchmark.json")))
    expect_equal({row["rows_per_s"] for row in found["rows"]}, {None}, "a speed that nobody measured")


def small_run(models, recipe, python=PYTHON):
    """A run of one recipe on 40 variants, without carbon bench: its directory, and {(recipe, metric): value}."""
    d = fresh()
    made_up(d, "--tables")
    write(d, "my.yaml", "models: [%s]\nbench: false\npython: %s\nbootstrap: 20\nrecipes: {own: %s}\ntasks: {brca2: {kind: variants, "
                        "data: made_up/brca2.tsv, fasta: made_up/genome.fa, positive: [LOF], window: 600}}\n" % (models, python, recipe))
    Snakemake("snakemake")(d, "-s", os.path.join(BENCHMARK, "Snakefile"), "--configfile", "my.yaml")
    found = json.loads(read(os.path.join(d, "results", "benchmark.json")))
    return d, {(row["recipe"], row["metric"]): row["value"] for row in found["rows"]}


@case
def a_classification_head_is_judged_as_it_stands():
    tuned = model(labels=1, label_names="activity", problem_type="regression")
    d, numbers = small_run(tuned, "vep --recipe head --window 120")
    rows = query(os.path.join(d, "results", "brca2", "own.vcf.gz"), "CARBON_HEAD_activity")
    scores, labels = [float(row[4]) for row in rows], [int(row[5]) for row in rows]
    expect_close(numbers["own:HEAD_activity", "auroc"], auroc(scores, labels), 1e-9, "AUROC")


@case
def a_probe_is_judged_by_chromosomes_that_it_has_not_seen():
    python = python_with("sklearn", "numpy")
    d, numbers = small_run(TINY, "probe --recipe centered -w 120", python)
    stem = os.path.join(d, "results", "brca2", "own")
    rows = query(stem + ".vcf.gz", "CARBON_PROBE")
    alone = command([python, os.path.join(WORKFLOWS, "benchmark", "scripts", "probe.py"), stem, stem + ".labels.tsv"])
    expect_equal({tuple(row[:5]) for row in rows}, {tuple(line.split("\t")) for line in alone.lines()}, "probabilities")
    scores, labels = [float(row[4]) for row in rows], [int(row[5]) for row in rows]
    expect_close(numbers["own:PROBE", "auroc"], auroc(scores, labels), 1e-9, "AUROC")
    expect("own:LLR" in {recipe for recipe, _ in numbers}, "no score beside it")


def data_set(d, change=lambda rows: rows, **settings):
    """Runs variants.py on 40 made-up rows, changed by `change`: its result, the VCF's records and the counts."""
    if not os.path.exists(os.path.join(d, "made_up")):
        made_up(d, "--tables")
    lines = [line.split("\t") for line in read(os.path.join(d, "made_up", "brca2.tsv")).decode().splitlines()]
    rows = change([dict(zip(lines[0], line)) for line in lines[1:]])
    path = write(d, "rows.tsv", "".join("\t".join(line) + "\n" for line in [rows[0].keys(), *(row.values() for row in rows)]))
    task = {"data": path, "fasta": os.path.join(d, "made_up", "genome.fa"), "positive": ["LOF"], "window": 600, **settings}
    outputs = [os.path.join(d, name) for name in ("out.vcf.gz", "out.positions", "out.json")]
    for output in filter(os.path.exists, outputs):
        os.remove(output)
    n = settings.pop("n", 0)
    result = command([PYTHON, os.path.join(BENCHMARK, "scripts", "variants.py"), json.dumps(task), n, 0, *outputs])
    if result.rc:
        expect(not any(map(os.path.exists, outputs)), "an output after a failure", result)
        return result, None, None
    records = tool("bcftools", "query", "-f", "%CHROM %POS %REF %ALT %LABEL %ROW\n", outputs[0]).lines()
    return result, records, json.loads(read(outputs[2]))


@case
def rows_that_fit_become_sorted_records():
    d = fresh()
    result, records, counts = data_set(d)
    rows = [line.split("\t") for line in read(os.path.join(d, "rows.tsv")).decode().splitlines()[1:]]
    expect_equal(sorted(records), sorted("chr%s %s %s %s %d %d" % (*row[:4], row[5] == "LOF", i) for i, row in enumerate(rows)), "records")
    expect_equal([r.split()[:2] for r in records], sorted((r.split()[:2] for r in records), key=lambda p: (p[0], int(p[1]))), "their order")
    expect_equal((counts["rows"], counts["read"], counts["scored"]), (40, 40, 40), "counts")
    expect("40 of 40 rows were read and 40 are scored" in result.err, "no word of it", result)
    # The same seed chooses the same rows.
    some = data_set(d, n=10)[1]
    expect(len(some) == 10 and set(some) < set(records) and some == data_set(d, n=10)[1], "a sample: %r" % some)


@case
def missing_columns_are_named():
    d = fresh()
    for name in ("class", "pos"):
        result = data_set(d, lambda rows: [{k: v for k, v in row.items() if k != name} for row in rows])[0]
        expect(result.rc == 1 and "has no column %s; its columns are " % name in result.err, "the message", result)
    result, _, counts = data_set(d, lambda rows: [{k: v for k, v in row.items() if k not in ("ref_seq", "var_seq")} for row in rows])
    expect("no column ref_seq: only ref was compared" in result.err and counts["scored"] == 40, "without windows", result)
    result, records, _ = data_set(d, lambda rows: [{"function" if k == "class" else k: v for k, v in row.items()} for row in rows],
                                  columns={"class": "function"})
    expect_equal(len(records), 40, "a column with another name")


@case
def another_assembly_ends_the_run():
    d = fresh()
    for change in (lambda row: row.update(pos=str(int(row["pos"]) + 7)), lambda row: row.update(chrom="77"),
                   lambda row: row.update(ref_seq=row["ref_seq"][:-1] + COMPLEMENT[row["ref_seq"][-1]]),
                   lambda row: row.update(pos=str(int(row["pos"]) - 1))):
        result = data_set(d, lambda rows: [change(row) or row for row in rows])[0]
        said = re.search(r"error: (\d+) of 40 rows differ from .*genome.fa: another assembly", result.err)
        expect(result.rc == 1 and said and int(said.group(1)) > 20, "the message", result)


@case
def rows_that_do_not_fit_are_left_out_and_counted():
    d = fresh()
    made_up(d, "--tables")

    def spoil(rows):
        rows[0]["ref"] = rows[0]["alt"]
        rows[1]["ref_seq"] = COMPLEMENT[rows[1]["ref_seq"][0]] + rows[1]["ref_seq"][1:]
        rows[2]["var_seq"] = rows[2]["ref_seq"]
        rows[3]["class"] = ""
        rows[4]["chrom"] = "unheard"
        rows[5]["pos"] = "99999999"
        rows[6]["alt"] = "N"
        return rows

    result, records, counts = data_set(d, spoil, max_mismatch=0.5)
    for why in ("ref_mismatch", "ref_seq_mismatch", "var_seq_mismatch", "no_class", "no_contig", "outside", "not_acgt"):
        expect_equal(counts[why], 1, why)
    expect_equal(sorted(int(record.split()[5]) for record in records), list(range(7, 40)), "what is left")
    for i, words in enumerate(("whose ref is not in the FASTA", "whose ref_seq is not the window", "whose var_seq is not that window",
                               "without a class", "on a contig that the FASTA does not have", "with a position outside",
                               "of other letters")):
        expect(re.search(r"1 rows .*%s.*; the first is row %d," % (words, i), result.err), "no word of row %d" % i, result)
    expect(data_set(d, spoil)[0].rc == 1, "5 of 40 rows are more than a twentieth")


@case
def ends_of_contigs_and_duplicates_are_kept_and_counted():
    d = fresh()
    made_up(d, "--tables")
    genome = dict(re.findall(r">(\S+)\n([^>]+)", read(os.path.join(d, "made_up", "genome.fa")).decode()))
    bases = genome["chr1"].replace("\n", "")

    def at(position, padded):
        """A row near an end, its window either cut there or filled up with N."""
        p, ref = position - 1, bases[position - 1]
        window = bases[max(0, p - 300):p + 300]
        place = min(p, 300)
        if padded:
            window, place = (("N" * (300 - place)) + window).ljust(600, "N"), 300
        alt = COMPLEMENT[ref]
        return {"chrom": "1", "pos": str(position), "ref": ref, "alt": alt, "score": "0", "class": "INT", "ref_seq": window,
                "var_seq": window[:place] + alt + window[place + 1:]}

    edges = [at(position, padded) for position in (1, 5, len(bases) - 3, len(bases)) for padded in (False, True)]
    result, records, counts = data_set(d, lambda rows: rows + edges + [dict(rows[0]), {**rows[1], "class": "LOF" if
                                                                                       rows[1]["class"] != "LOF" else "INT"}])
    expect_equal((counts["contig_end"], counts["duplicate"], counts["other_label"], counts["scored"]), (8, 6, 1, 50), "counts")
    expect_equal(len(records), 50, "records")
    for words in ("8 rows whose window is cut at an end", "6 rows that repeat the variant", "1 rows that repeat a variant with another"):
        expect(words in result.err, "no word of %r" % words, result)
    # carbon vep scores what is there, and repeated records alike.
    out = os.path.join(d, "scored.vcf.gz")
    ok("vep", "-q", "-m", TINY, "-w", "600", "-f", os.path.join(d, "made_up", "genome.fa"), "-o", out, os.path.join(d, "out.vcf.gz"))
    scores = {}
    for *variant, score, _ in query(out, "CARBON_LLR"):
        expect(score != "." and scores.setdefault(tuple(variant), score) == score, "the score of %r" % variant)
    expect_equal(len(scores), 44, "different variants")


@case
def parquet_files_give_what_tables_give():
    python = python_with("pyarrow.parquet")
    d = fresh()
    made_up(d, python=python)
    made_up(d, "--tables", python=python)
    folder = os.path.join(d, "made_up")

    def outputs(suffix):
        given = {"fasta": os.path.join(folder, "genome.fa"), "window": 600}
        names = [os.path.join(d, suffix + end) for end in (".vcf.gz", ".positions", ".json", ".tsv", ".tsv.json")]
        for i, (name, task) in enumerate((("brca2", {**given, "positive": ["LOF"]}), ("traitgym", {**given, "columns": {"class": "label"}}))):
            script("scripts/variants.py", json.dumps({"data": os.path.join(folder, name + suffix), **task}), 30, 0, *names[:3], python=python)
            yield from (tool("bcftools", "view", "-H", names[0]).text, read(names[2]))
        for kind, name, more in (("recovery", "recovery", {}), ("perturb", "perturbation", {"where": {"task": "triplet"}}), ("niah", "niah", {})):
            script("scripts/table.py", kind, json.dumps({"data": os.path.join(folder, name + suffix), **more}), 5, 0, *names[3:], python=python)
            yield from (read(names[3]), read(names[4]))

    for parquet, table in zip(outputs(".parquet"), outputs(".tsv")):
        expect(parquet, "nothing")
        expect_equal(parquet, table, "Parquet and table")


@each_snakemake
def settings_that_are_wrong_are_refused(snakemake):
    d = fresh()
    for change, words in ((("n: 0", "rows: 5"), "'rows', which is no setting"), (("window: 600", "windows: 600"), "'windows', which is no setting"),
                          (("kind: niah", "kind: nia"), "kind is one of"), (("[centered_both, scan_marginal]", "[scan]"), "no recipe 'scan'"),
                          (("scan_first: scan", "scan_first: score"), "begins with none of vep, scan and probe")):
        configuration(d, change)
        result = snakemake(d, "-n", "-s", os.path.join(BENCHMARK, "Snakefile"), "--configfile", "my.yaml", rc=1)
        expect(words in result.err + result.text, "no word of %r" % words, result)


@each_snakemake
def without_variants_there_is_no_page(snakemake):
    d = fresh()
    made_up(d, "--tables")
    write(d, "my.yaml", "models: [%s]\ntasks: {niah: {kind: niah, data: made_up/niah.tsv}}\n" % TINY)
    result = snakemake(d, "-n", "-s", os.path.join(BENCHMARK, "Snakefile"), "--configfile", "my.yaml")
    said = result.err + result.text
    expect("results/benchmark.json" in said and "report.html" not in said, "what is planned", result)


if __name__ == "__main__":
    main()
