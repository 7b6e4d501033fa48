"""carbon vep --table: scores of SNVs from outputs of carbon scan, beside a look-up of our own."""

import os
import random

from harness import (carbon, case, expect, expect_equal, expect_failure, fresh, genome, info_of, main, model, ok, read,
                     records, to_fasta, tool, write)
from vep_support import OTHER, reference, summary_of, values, vcf

FLAG, TAG = "CARBON_FLAG", "CARBON_SCAN"
_made = {}


def scanned(kind="tsv.gz", *args):
    """An indexed output of carbon scan of the small reference."""
    if (kind, args) not in _made:
        path = os.path.join(fresh(), "scan." + kind)
        ok("scan", "-m", model(), "-f", reference(), "--no-version", "-o", path, "-W", *args)
        _made[kind, args] = path
    return _made[kind, args]


def table():
    """{(contig, pos, alt): value as it is printed} of the whole reference."""
    if "table" not in _made:
        lines = [line.split("\t") for line in tool("bgzip", "-dc", scanned()).text.splitlines() if line[0] != "#"]
        _made["table"] = {(chrom, int(pos), alt): value for chrom, pos, _, alt, value in lines}
    return _made["table"]


def snvs(count, seed, order=True):
    rng, rows = random.Random(seed), []
    bases = {name: sequence.upper() for name, sequence in genome().items()}
    for _ in range(count):
        name = rng.choice(sorted(bases))
        pos = rng.randrange(len(bases[name])) + 1
        ref = bases[name][pos - 1]
        if ref in OTHER:
            alts = [letter for letter in "ACGT" if letter != ref]
            rng.shuffle(alts)
            rows.append((name, pos, ref, ",".join(alts[:rng.randint(1, 3)])))
    return sorted(rows, key=lambda row: (list(bases).index(row[0]), row[1])) if order else rows


def looked_up(*args, path=None, **options):
    return ok("vep", "--no-version", "--table", *args, *([path] if path else []), **options)


def expect_values(text, wanted=None):
    lines = records(text)
    for line in lines:
        chrom, pos, _, _, alts = line.split("\t")[:5]
        expected = [(wanted or table()).get((chrom, int(pos), alt)) for alt in alts.split(",")]
        got = info_of(line)[TAG].split(",")
        expect_equal(got, [value or "." for value in expected], "values of " + line)
    return lines


@case
def values_are_those_of_the_scan_from_every_kind_of_file():
    rows = snvs(300, 1)
    path = vcf(rows)
    texts = []
    for kind in ("tsv.gz", "vcf.gz", "bcf"):
        result = looked_up(scanned(kind), path=path)
        expect_equal(len(expect_values(result.text)), len(rows), "records")
        texts.append(records(result.text))
        expect_equal(summary_of(result), {"total": len(rows), "scored": len(rows)}, "counts")
        scan_line, = (line for line in result.lines() if line.startswith("##carbon_scanModel="))
        expect(scan_line.startswith("##carbon_scanModel=<ID=CARBON_SCAN,Model="), scan_line)
    expect(texts[0] == texts[1] == texts[2], "the kinds of tables differ")


@case
def any_order_gives_the_same():
    rows = snvs(300, 2, order=False)
    for kind in ("tsv.gz", "bcf"):
        expect_values(looked_up(scanned(kind), path=vcf(rows)).text)


@case
def spellings_and_what_is_no_snv():
    bases = genome()["c1"].upper()
    at = next(i for i in range(60, 200) if set(bases[i:i + 4]) <= set("ACGT") and bases[i] != bases[i + 1])
    ref, other = bases[at:at + 4], lambda i: OTHER[bases[at + i]]
    rows = [("c1", at + 1, ref, ref[:2] + other(2) + ref[3]), ("c1", at + 1, ref.lower(), ref[:3] + other(3)),
            ("c1", at + 1, ref, other(0) + ref[1:3] + other(3)), ("c1", at + 1, ref[0], ref[0] + "A"), ("c1", at + 1, ref[0], "*,<DEL>,N"),
            ("c1", at + 1, ref[0], "."), ("c1", at + 1, ref[0], ref[0]), ("absent", 5, "A", "C"), ("c1", 0, "A", "C"),
            ("c1", at + 1, ref[0], "%s,%s" % (other(0), ref[0] + "TT")), ("c1", len(bases) + 9, "A", "C")]
    result = looked_up(scanned(), path=vcf(rows))
    lines = records(result.text)
    value = lambda i: table()["c1", at + 1 + i, other(i)]
    expect_equal([info_of(line).get(TAG) for line in lines],
                 [value(2), value(3), ".", ".", ".,.,.", None, ".", ".", ".", value(0) + ",.", "."], "values")
    expect_equal([values(line, FLAG) for line in lines],
                 [None, None, ["multibase"], ["multibase"], ["star", "symbolic", "non_acgt"], None, ["not_in_table"], ["not_in_table"],
                  ["edge"], [None, "multibase"], ["not_in_table"]], "flags")
    expect_equal(summary_of(result), {"total": 11, "scored": 3, "multibase": 3, "star": 1, "symbolic": 1, "non_acgt": 1, "edge": 1,
                                      "not_in_table": 3}, "summary")


@case
def several_tables_are_one():
    parts = [scanned("tsv.gz", "-r", "c1"), scanned("bcf", "-r", "c2"), scanned("vcf.gz", "-r", "tiny")]
    path = vcf(snvs(200, 3))
    whole = looked_up(scanned(), path=path)
    expect_equal(looked_up(parts[0], "--table", parts[1], "--table",
                           parts[2], path=path).text, whole.text, "three tables")


@case
def tables_must_agree():
    base = scanned()
    path = vcf(snvs(5, 4))
    for args, field in ((("--level", "chain"), "Level"), (("--strand", "+"), "Strand"), (("--frames", 2), "Frames"), (("--context", 60), "Context"),
                        (("--dtype", "f32"), "Dtype")):
        expect_failure(carbon("vep", "--table", base, "--table", scanned("tsv.gz", *args), path), field, "different runs")
    expect_failure(carbon("vep", "--table", base, "--fill", "-f", reference(), "-m", other_model(), path), "SHA256")
    expect_failure(carbon("vep", "--table", base, "-m", other_model(), path), "SHA256")
    ok("vep", "--table", base, "-m", model(), path)


def other_model():
    return model(seed=2)


@case
def damaged_and_wrong_tables():
    path = vcf(snvs(20, 5))
    plain = tool("bgzip", "-dc", scanned()).text
    d = fresh()

    def remade(text, name="t.tsv.gz", index=True):
        target = os.path.join(d, name)
        write(d, name, tool("bgzip", "-c", stdin=text.encode()).out)
        if index:
            tool("tabix", "-f", "-s1", "-b2", "-e2", target)
        return target

    expect_failure(carbon("vep", "--table", remade(plain, index=False), path), "no index; make one with tabix")
    expect_failure(carbon("vep", "--table", write(fresh(), "t.tsv", plain), path), "no index; if it is not compressed, run bgzip, then tabix")
    headless = "".join(line for line in plain.splitlines(True) if not line.startswith("##"))
    expect_failure(carbon("vep", "--table", remade(headless), path), "scanModel")
    expect_failure(carbon("vep", "--table", remade(plain.replace("CARBON_SCAN\n", "OTHER\n", 1)), path), "CARBON_SCAN")
    lines = plain.splitlines(True)
    swapped = "".join(line if line[0] == "#" else "\t".join([*line.split("\t")[:2], OTHER[line.split("\t")[2]], *line.split("\t")[3:]])
                      for line in lines)
    expect_failure(carbon("vep", "--table", remade(swapped), path), "another assembly")
    broken = "".join(line if line[0] == "#" else line.rstrip("\n") + "x\n" for line in lines)
    expect_failure(carbon("vep", "--table", remade(broken), path), "no number", "t.tsv.gz")
    short = "".join(line if line[0] == "#" else line.rsplit("\t", 1)[0] + "\n" for line in lines)
    expect_failure(carbon("vep", "--table", remade(short), path), "too few columns")
    cut = remade(plain, "cut.tsv.gz")
    write(d, "cut.tsv.gz", read(cut)[:-28])
    expect_failure(carbon("vep", "--table", cut, path), "cut")
    for name in ("none.tsv.gz", "none.bcf"):
        expect_failure(carbon("vep", "--table", os.path.join(d, name), path), name)
    expect_failure(carbon("vep", "--table", path, path), "in.vcf")
    for contigs in (("zz",), ()):  # declared or not
        refused = carbon("vep", "--table", scanned(), vcf([("zz", 5, "A", "C")] * 3, contigs=contigs))
        expect_failure(refused, "no contig of the VCF", "zz")
        expect(not contigs or not records(refused.text), "records before the refusal", refused)


@case
def fill_computes_what_is_not_there():
    """As one scan of everything, to the bit; nothing that is there is computed again."""
    path = vcf(snvs(120, 6))
    whole = looked_up(scanned(), path=path)
    for kind in ("tsv.gz", "bcf"):
        part = scanned(kind, "-r", "c1:1-300")
        missing = looked_up(part, path=path)
        expect(summary_of(missing)["not_in_table"] > 20, "nothing is missing", missing)
        filled = looked_up(part, "--fill", "-m", model(), "-f", reference(), path=path)
        expect_equal(filled.text, whole.text, "filled " + kind)
        expect(any("that the tables lack are computed" in line for line in filled.err.splitlines()), "no message", filled)
    shares = [looked_up(part, "--fill", "-m", model(), "-f", reference(), "--shard", "%d/3" % i, path=path) for i in (1, 2, 3)]
    expect_equal(sum((records(share.text) for share in shares), []), records(whole.text), "shares")
    computed = [int(line.split()[1]) for share in shares for line in share.err.splitlines() if "that the tables lack are computed" in line]
    expect_equal(sum(computed), summary_of(missing)["not_in_table"], "SNVs that the shares compute: %r" % shares[0].err)
    lone = vcf([row for row in snvs(120, 6) if row[0] == "c2"])  # on no contig of the table
    expect_equal(records(looked_up(part, "--fill", "-m", model(), "-f", reference(), path=lone).text), records(looked_up(scanned(), path=lone).text), "another contig")
    full = looked_up(scanned(), "--fill", "-m", model(), "-f", reference(), path=path)
    expect_equal(full.text, whole.text, "nothing to fill")
    expect_failure(carbon("vep", "--table", part, "--fill", "-m", model(), "-f", reference(), "-", stdin=read(path)), "standard input")


@case
def fill_is_refused_before_it_computes():
    part, path = scanned("tsv.gz", "-r", "c1:1-300"), vcf(snvs(120, 6))
    fill = lambda *args: carbon("vep", "--table", part, "--fill", "-m", model(), path, *args)
    other = {name: sequence[1:] + "A" for name, sequence in genome().items()}
    renamed = {"x" + name: sequence for name, sequence in genome().items()}
    for args, words in ((("-f", reference(), "--dtype", "f32"), ("Dtype bf16", "with f32", "--dtype")),
                        (("-f", write(fresh(), "other.fa", to_fasta(other.items()))), ("differs from the FASTA", "another assembly?")),
                        (("-f", write(fresh(), "renamed.fa", to_fasta(renamed.items()))), ("no contig of the VCF",))):
        refused = fill(*args)
        expect_failure(refused, *words)
        expect("are computed" not in refused.err, "something was computed", refused)
    # Bases of which no scan has values, and contigs that neither has, are no reason to stop.
    letters = dict(genome(), c2=genome()["c2"][:39] + "NM" + genome()["c2"][41:])
    odd = vcf([("c2", 40, "A", "C"), ("c2", 41, "A", "C"), ("c2", 42, letters["c2"][41].upper(), OTHER[letters["c2"][41].upper()])])
    result = looked_up(part, "--fill", "-m", model(), "-f", write(fresh(), "letters.fa", to_fasta(letters.items())), path=odd)
    expect_equal([values(line, FLAG) for line in records(result.text)], [["not_in_table"], ["not_in_table"], None], "flags of N and M")
    rest = vcf([("c1", 70, genome()["c1"][69].upper(), OTHER[genome()["c1"][69].upper()]), ("zz", 5, "A", "C")], contigs=("c1", "zz"))
    result = looked_up(part, "--fill", "-m", model(), "-f", reference(), path=rest)
    expect_equal([values(line, FLAG) for line in records(result.text)], [None, ["not_in_table"]], "flags")
    expect(any("zz" in line and "not computed" in line for line in result.messages("W")), "no warning", result)
    share = looked_up(part, "--fill", "-m", model(), "-f", reference(), "--shard", "2/2", path=rest)
    expect_equal([values(line, FLAG) for line in records(share.text)], [["not_in_table"]], "a share of unknown contigs")


@case
def another_ref_ends_a_run_only_if_that_is_asked_for():
    letter = genome()["c1"][69].upper()
    path = vcf([("c1", 60, genome()["c1"][59].upper(), OTHER[genome()["c1"][59].upper()]), ("c1", 70, OTHER[letter], letter)])
    run = lambda *args: carbon("vep", "-m", model(), "-f", reference(), "--recipe", "centered", "-w", 48, "--max-ref-mismatch", 1, "--table", *args, path)
    for args in ((scanned(),), (scanned("tsv.gz", "-r", "c2"), "--fill")):
        for check, flags in (("w", [None, ["ref_mismatch"]]), ("x", [None])):
            result = run(*args, "-c", check)
            expect_equal(result.rc, 0, "exit status: " + result.err)
            expect_equal([values(line, FLAG) for line in records(result.text)], flags, "flags with -c " + check)
            expect(TAG in info_of(records(result.text)[0]), "no score of the table", result)
        expect_failure(run(*args, "-c", "e"), "differs from the FASTA")
    expect_failure(carbon("vep", "--table", scanned(), path), "another assembly")


@case
def a_reason_stays_as_long_as_the_score_is_missing():
    rows = [row for row in snvs(120, 6) if row[0] != "tiny"]
    path, part = vcf(rows), scanned("tsv.gz", "-r", "c1")
    scored = lambda at, *args: ok("vep", "--no-version", "-m", model(), "-f", reference(), *args, at)
    first = write(fresh(), "first.vcf", looked_up(part, path=path).out)
    second = scored(first, "-w", 48)  # the table first: its reasons are kept beside the recipe's scores
    reasons = [values(line, FLAG) for line in records(second.text)]
    expect_equal(reasons, [values(line, FLAG) for line in records(read(first).decode())], "reasons of the table")
    expect(any(reason and "not_in_table" in reason for reason in reasons), "nothing is missing", second)
    third = looked_up(scanned(), path=write(fresh(), "second.vcf", second.out))
    expect(not any(FLAG + "=" in line for line in records(third.text)), "a reason without a missing score", third)
    # The same of two recipes: too_long in the first window, scored in the second one.
    base = genome()["c2"][39].upper()
    long = vcf([("c2", 40, base, base + "AC" * 20)])
    short = write(fresh(), "short.vcf", scored(long, "-w", 48).out)
    expect_equal([values(line, FLAG) for line in records(read(short).decode())], [["too_long"]], "the first window")
    anchored = write(fresh(), "anchored.vcf", scored_by("anchored", short).out)
    last = scored(anchored, "-w", 480)
    expect_equal([values(line, FLAG) for line in records(last.text)], [None], "flags of both")


def scored_by(recipe, path):
    return ok("vep", "--no-version", "-m", model(), "-f", reference(), "--recipe", recipe, path)


@case
def beside_a_recipe():
    base = genome()["c2"][39].upper()
    path = vcf(snvs(60, 7) + [("c2", 40, base, base + "AC"), ("c2", 40, base, base + "AC" * 20)])
    args = ("vep", "-m", model(), "-f", reference(), "-w", 48, "--no-version", "--recipe", "centered")
    alone, both = ok(*args, path), ok(*args, "--table", scanned(), path)
    table_only = looked_up(scanned(), path=path)
    for a, b, c in zip(records(alone.text), records(both.text), records(table_only.text)):
        info = info_of(b)
        expect_equal(info.get("CARBON_LLR"), info_of(a).get("CARBON_LLR"), "the recipe's score")
        expect_equal(info.get(TAG), info_of(c).get(TAG), "the table's score")
    expect_equal([values(line, FLAG) for line in records(both.text)[-2:]], [["multibase"], ["too_long"]], "flags of insertions")
    for start, count in (("##carbon_vepModel=<ID=CARBON_LLR,", 1), ("##carbon_scanModel=<ID=CARBON_SCAN,", 1)):
        expect_equal(sum(line.startswith(start) for line in both.lines()), count, start)
    # One after the other, the table last: the same scores, and of two reasons the same one.
    after = looked_up(scanned(), path=write(fresh(), "alone.vcf", alone.out))
    pick = lambda text: [[info_of(line).get(tag) for tag in ("CARBON_LLR", TAG, FLAG)] for line in records(text)]
    expect_equal(pick(after.text), pick(both.text), "one after the other")
    again = looked_up(scanned(), path=write(fresh(), "after.vcf", after.out))
    expect_equal(records(again.text), records(after.text), "a second look-up")


@case
def outputs_shards_and_names():
    path = vcf(snvs(90, 8))
    whole = looked_up(scanned(), path=path)
    d = fresh()
    bcf = os.path.join(d, "o.bcf")
    looked_up(scanned(), "-o", bcf, "-W", path=path)
    expect_equal(records(tool("bcftools", "view", bcf).text), records(whole.text), "BCF")
    rows = [line.split("\t") for line in looked_up(scanned(), "-O", "t", path=path).text.splitlines() if line[0] != "#"]
    expect_equal([row[5] for row in rows], [value for line in records(whole.text) for value in info_of(line)[TAG].split(",")], "table")
    shards = [records(looked_up(scanned(), "--shard", "%d/3" % i, path=path).text) for i in (1, 2, 3)]
    expect_equal(sum(shards, []), records(whole.text), "shards")
    for contigs in (("c1", "zz"), ()):  # a share that has unknown contigs alone
        last = looked_up(scanned(), "--shard", "2/2", path=vcf([("c1", 70, "A", "."), ("zz", 5, "A", "C")], contigs=contigs))
        expect_equal([values(line, FLAG) for line in records(last.text)], [["not_in_table"]], "a share")
    prefixed = write(d, "chr.vcf", read(path).decode().replace("\nc", "\nchrc").replace("ID=c", "ID=chrc").replace("\ntiny", "\nchrtiny").replace("ID=tiny", "ID=chrtiny"))
    named = looked_up(scanned(), "--unify-chr-names", "chr,-", path=prefixed)
    expect_equal([info_of(line)[TAG] for line in records(named.text)], [info_of(line)[TAG] for line in records(whole.text)], "names")
    some = write(d, "some.vcf", read(path).decode().replace("\nc1\t", "\nchrc1\t").replace("ID=c1,", "ID=chrc1,"))
    told = [line for line in looked_up(scanned(), path=some).messages("W") if "the table calls chrc1 c1" in line]
    expect(len(told) == 1 and "--chr-map" in told[0], "no other spelling: %r" % told)
    own = looked_up(scanned(), "--tag-prefix", "MY", path=path)
    expect_equal([info_of(line)["MY_SCAN"] for line in records(own.text)], [info_of(line)[TAG] for line in records(whole.text)], "prefix")


@case
def options_without_effect_are_refused():
    path = vcf(snvs(3, 9))
    for args in (("-w", 48), ("--strand", "+"), ("--phases", 6), ("--cache", "c"), ("--resume", "-o", "x.vcf"), ("--estimate",), ("-c", "x"),
                 ("-f", reference()), ("--context", 60), ("--dtype", "f32"), ("--species", "fungi"), ("-m", model(), "--rope-scaling", "none"),
                 ("--lora", "adapter")):
        expect_failure(carbon("vep", "--table", scanned(), *args, path), "no effect")
    expect_failure(carbon("vep", "--fill", "-m", model(), "-f", reference(), path), "--table")
    expect_failure(carbon("vep", "--table", scanned(), "--fill", "-f", reference(), path), "-m")
    expect_failure(carbon("vep", "--table", scanned(), "--fill", "-m", model(), path), "-f")
    expect_failure(carbon("vep", "--recipe", "table", "-m", model(), "-f", reference(), path), "--table")
    expect_failure(carbon("vep", "-m", model(), path), "--fasta-ref")
    expect_equal(looked_up(scanned(), "--recipe", "table", path=path).text, looked_up(scanned(), path=path).text, "by name")


if __name__ == "__main__":
    main()
