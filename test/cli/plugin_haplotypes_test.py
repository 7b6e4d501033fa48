"""carbon +haplotypes: every group against a restatement of the rule, against bcftools consensus and carbon score, and --compare."""

import os
import random
import re
import struct

from harness import (bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, model, ok, peak_memory,
                     read, records, to_fasta, tool, write)
from plugin_haplotypes_support import vcf_text, with_groups


def haplotypes(path, fasta, *options, before=(), **more):
    return ok("+haplotypes", *before, path, "--", "-f", fasta, *options, **more)


def reference(genome):
    return write(fresh(), "ref.fa", to_fasta(list(genome.items())))


def vcf(genome, rows, samples, ps_type="Integer"):
    return write(fresh(), "in.vcf", vcf_text([(name, len(bases)) for name, bases in genome.items()], rows, samples, ps_type))


# ---- random files


def random_alt(rng, ref):
    kind = rng.random()
    bases = "".join(rng.choice("ACGT") for _ in range(rng.choice((1, 1, 2, 3))))
    if kind < 0.5:
        at = rng.randrange(len(ref))
        return ref[:at] + rng.choice([b for b in "ACGT" if b != ref[at].upper()]) + ref[at + 1:]
    if kind < 0.65:
        return ref[0] + bases + ref[1:]
    if kind < 0.78:
        return ref[:1] if len(ref) > 1 else ref + bases
    if kind < 0.86:
        return bases
    return rng.choice(("*", "<DEL>", "]c:5]A", "N", "<*>", ref, ref.lower() + "A", "A" + ref))


def random_call(rng, alts, phased, sets):
    ploidy = rng.choices((1, 2, 3), (1, 12, 1))[0]
    alleles = [rng.choices((".", "0", str(rng.randint(1, alts)) if alts else "0"), (1, 7, 9))[0] for _ in range(ploidy)]
    if rng.random() < 0.25:
        alleles = alleles[:1] * ploidy
    gt = alleles[0]
    for allele in alleles[1:]:
        gt += ("|" if rng.random() < phased else "/") + allele
    return gt, rng.choice((None, *sets)) if sets else None


def random_case(rng, contig, samples, sets):
    """Bases and sorted records of one contig."""
    bases = "".join(rng.choice("ACGTACGTACGTacgtNM" if rng.random() < 0.3 else "ACGT") for _ in range(rng.choice((1, 3, 8, 25, 60))))
    phased, rows = rng.choice((0.5, 0.95, 1)), []
    for pos in sorted(rng.randrange(1, len(bases) + 1) for _ in range(rng.randrange(12))):
        ref = re.sub("[^ACGTacgt]", "N", bases[pos - 1:pos - 1 + rng.choice((1, 1, 1, 2, 4))])
        if rng.random() < 0.2:
            ref = ref.upper()
        alts = list(dict.fromkeys(random_alt(rng, ref) for _ in range(rng.choices((0, 1, 2, 3), (1, 12, 4, 1))[0])))
        rows.append((contig, pos, ref, alts, [random_call(rng, len(alts), phased, sets) for _ in range(samples)]))
    return bases, rows


@case
def every_group_of_random_files():
    total = 0
    for seed in range(24):
        rng = random.Random(seed)
        samples = ["S%d" % i for i in range(rng.choice((1, 1, 2, 5)))]
        ps_type, sets = rng.choice((("Integer", ()), ("Integer", (7, 100000)), ("String", ("a", "0|1")), ("Float", ("0.5", "1e+10"))))
        genome, rows = {}, []
        for i in range(170):
            contig = "c%d" % i
            genome[contig], own = random_case(rng, contig, len(samples), sets)
            rows += own
            total += 1
        path, fasta = vcf(genome, rows, samples, ps_type), reference(genome)
        distance = (0, 1, 2, 6, 6, 15, 1000)[seed % 7]
        result = haplotypes(path, fasta, "--distance", distance, before=("--no-version",))
        lines, message = with_groups(genome, rows, samples, distance)
        # The records that are not new are compared with what bcftools makes of them.
        viewed = records(tool("bcftools", "view", "--no-version", path).text)
        found = records(result.text)
        expect_equal([line for line in found if "CARBON_PARTS=" not in line], viewed, "input records of seed %d" % seed)
        wanted = iter(viewed)
        wanted = [line if "CARBON_PARTS=" in line else next(wanted) for line in lines]
        expect_equal(found, wanted, "seed %d, distance %d" % (seed, distance))
        expect_equal([line for line in result.messages("W") if line.startswith("[W::haplotypes]")],
                     ["[W::haplotypes] " + message] if message else [], "message of seed %d" % seed)
        expect(len(found) > len(viewed) or distance == 0, "no groups with seed %d" % seed)
        if len(samples) > 1:
            chosen = [1, 0] if seed % 2 else [len(samples) - 1]
            names = ",".join(samples[i] for i in chosen)
            some = haplotypes(path, fasta, "--distance=%d" % distance, "--samples", names)
            some_lines, _ = with_groups(genome, rows, samples, distance, sorted(chosen))
            expect_equal([line for line in records(some.text) if "CARBON_PARTS=" in line],
                         [line for line in some_lines if "CARBON_PARTS=" in line], "groups of %s, seed %d" % (names, seed))
            listed = write(fresh(), "names.txt", "\n".join(samples[i] for i in chosen) + "\n")
            from_file = haplotypes(path, fasta, "--distance=%d" % distance, "--samples", listed)
            expect_equal(records(from_file.text), records(some.text), "--samples FILE")
    expect(total >= 4000, "%d cases" % total)


BASES = "ACGTTGCATCGATTACAGGCATGCATCCGATAGGCTTAACGATCGTACGTTAGC"


def added(rows, *options, samples=("S",), bases=BASES, **more):
    """[(POS, REF, ALT, parts, carriers)] of the new records, and the run. Rows are (POS, REF, ALTs, GT[:PS] ...)."""
    genome = {"c": bases}
    full = [("c", pos, ref, alts.split(","), [tuple((call + ":").split(":")[:2]) for call in calls]) for pos, ref, alts, *calls in rows]
    full = [(c, p, r, a, [(gt, ps or None) for gt, ps in calls]) for c, p, r, a, calls in full]
    result = haplotypes(vcf(genome, full, list(samples)), reference(genome), *options, **more)
    found = []
    for line in records(result.text):
        info = info_of(line)
        if "CARBON_PARTS" in info:
            fields = line.split("\t")
            expect_equal(fields[2], ".", "ID")
            expect_equal(fields[5:7] + fields[8:], [".", ".", "GT"] + ["."] * len(samples), "columns of a group")
            found.append((int(fields[1]), fields[3], fields[4], info["CARBON_PARTS"], int(info["CARBON_CARRIERS"])))
    return found, result


def base(pos):
    return BASES[pos - 1]


def snv(pos, *calls):
    return (pos, base(pos), {"A": "C", "C": "G", "G": "T", "T": "A"}[base(pos)], *calls)


@case
def two_snvs_of_a_codon():
    found, result = added([snv(10, "0|1"), snv(12, "0|1")])
    expect_equal(found, [(10, "CGA", "GGC", "10:C>G|12:A>C", 1)], "groups")
    expect_equal(result.messages("W"), [], "warnings")
    for line in ('##INFO=<ID=CARBON_PARTS,Number=1,Type=String,', '##INFO=<ID=CARBON_CARRIERS,Number=1,Type=Integer,'):
        expect_equal(result.text.count(line), 1, line)
    expect_equal(added([snv(10, "0|1"), snv(12, "1|0")])[0], [], "on two haplotypes")
    told = added([snv(10, "0|1"), snv(12, "0|1")], before=("-v", "4"))[1]
    expect("[I::haplotypes] 1 group added, carried by 1 haplotype\n" in told.err, "counts", told)


@case
def which_genotypes_are_in_phase():
    for first, second, carriers, ended in (
            ("0|1", "0|1", 1, 0), ("0/1", "0/1", 0, 1), ("0/1", "0|1", 0, 1), ("0/1", "1/1", 1, 0), ("1/1", "1/1", 2, 0), ("1/1", "0|1", 1, 0),
            ("0|1:5", "0|1:5", 1, 0), ("0|1:5", "0|1:6", 0, 1), ("0|1:5", "0|1", 0, 1), ("0|1:.", "0|1", 1, 0), ("0/1:5", "0/1:5", 0, 1),
            ("1/1:5", "0|1:6", 1, 0), ("1", "1", 1, 0), ("1", "0|1", 1, 0), ("1", "1|0", 1, 0), ("1", "1/1", 2, 0), ("1", "0/1", 1, 0),
            ("1|1|1", "1|1|1", 3, 0), ("0|1|1", "0|1|1", 2, 0), ("0|1|0", "0|1", 1, 0), ("0|0|1", "0|1", 0, 1), ("0|1", "0|0", 0, 0),
            ("0|1", ".|.", 0, 1), ("0|1", ".", 0, 1), (".|1", "0|1", 1, 0), ("./1", "0|1", 0, 1), (".|1", ".|1", 1, 0), ("1|.", "1|.", 1, 0)):
        found, result = added([snv(10, first), snv(12, second)])
        expect_equal(sum(group[4] for group in found), carriers, "carriers of %s and %s" % (first, second))
        expect_equal(sum(int(n) for n in re.findall(r"(\d+) runs? of alleles end", result.err)), ended, "ended by %s after %s" % (second, first))


@case
def a_call_that_the_haplotype_passes_is_in_phase_too():
    """A group says which allele the haplotype has at each record that it spans, also where that is the reference."""
    between = [snv(10, "1/1"), snv(12, "0/1"), snv(13, "0/1"), snv(14, "1/1")]
    found, _ = added(between)
    expect_equal([group[3] for group in found], ["10:C>G|12:A>C", "13:T>A|14:T>A"], "of two genotypes without phase")
    phased = [(p, r, a, gt.replace("/", "|")) for p, r, a, gt in between]
    expect_equal([(group[3], group[4]) for group in added(phased)[0]], [("10:C>G|14:T>A", 1), ("10:C>G|12:A>C|13:T>A|14:T>A", 1)], "phased")
    other_sets = [snv(10, "1/1"), snv(12, "0|1:5"), snv(13, "0|1:6"), snv(14, "1/1")]
    expect_equal([group[3] for group in added(other_sets)[0]], ["10:C>G|12:A>C", "13:T>A|14:T>A"], "of two sets")


@case
def distances():
    pair = [snv(10, "0|1"), snv(17, "0|1")]
    expect_equal(len(added(pair)[0]), 1, "six bases between")
    expect_equal(len(added(pair, "--distance", "5")[0]), 0, "five are allowed")
    expect_equal(len(added([snv(10, "0|1"), snv(18, "0|1")])[0]), 0, "seven bases between")
    expect_equal(len(added([snv(10, "0|1"), snv(11, "0|1")], "--distance", "0")[0]), 1, "neighbours")
    # The distance is from the end of a deletion, and from what an ALT changes and not from POS.
    deletion = (10, BASES[9:14], base(10), "0|1")
    expect_equal([g[3] for g in added([deletion, snv(16, "0|1")], "--distance", "1")[0]], ["10:CGATT>C|16:C>G"], "after a deletion")
    padded = (8, BASES[7:11], BASES[7:10] + "T", "0|1")
    expect_equal([g[3] for g in added([padded, snv(9, "0|1")], "--distance", "1")[0]], ["9:T>A|8:ATCG>ATCT"], "sorted by what they change")
    for wrong in ("-1", "1001", "x", "1.5"):
        expect_failure(carbon("+haplotypes", vcf({"c": BASES}, [], ["S"]), "--", "-f", reference({"c": BASES}), "--distance=" + wrong), "--distance", "1000", "'%s'" % wrong)


@case
def overlapping_parts_are_left_out():
    deletion = (10, BASES[9:14], base(10), "0|1")
    found, result = added([deletion, snv(12, "0|1"), snv(15, "0|1")])
    expect_equal([g[3] for g in found], ["10:CGATT>C|15:A>C"], "groups")
    expect("; 1 allele overlaps another one of its haplotype and is left out" in result.err, "the count", result)
    twice = [(10, base(10), base(10) + "T", "0|1"), (10, base(10), base(10) + "GG", "0|1"), snv(12, "0|1")]
    found, result = added(twice)
    expect_equal([g[3] for g in found], ["10:C>CT|12:A>C"], "of two insertions at one place the first")
    expect("; 1 allele overlaps" in result.err, "the count", result)
    both = [snv(10, "0|1"), (10, base(10), base(10) + "T", "0|1")]
    expect_equal([(g[1], g[2]) for g in added(both)[0]], [("C", "GT")], "an insertion after a changed base")


@case
def empty_alleles_get_the_base_before():
    two = [(10, BASES[9:11], base(10), "0|1"), (11, BASES[10:12], base(11), "0|1")]
    expect_equal(added(two)[0], [(10, "CGA", "C", "10:CG>C|11:GA>G", 1)], "two deletions side by side")
    start = [(1, "AC", "C", "0|1"), (2, "CG", "G", "0|1")]
    expect_equal(added(start)[0], [(1, "ACG", "G", "1:AC>C|2:CG>G", 1)], "at the start of the contig the base after")
    # Between two records of the same place and one before it.
    order = [snv(9, "0|0"), *two]
    _, result = added(order)
    expect_equal([line.split("\t")[1] + line.split("\t")[3] for line in records(result.text)], ["9T", "10CG", "10CGA", "11GA"], "order")
    # A group that ends early waits for a shorter one that still goes on.
    early = [snv(10, "0|1", "0|0"), (10, "CG", "C", "0|0", "0|1"), (11, "GA", "G", "0|0", "0|1"), snv(15, "0|1", "0|0"),
             snv(17, "./.", "0|0"), snv(18, "0|0", "0|0"), snv(30, "0|0", "0|0")]
    expect_equal([(g[0], g[1]) for g in added(early, samples=("S", "T"))[0]], [(10, "CGA"), (10, BASES[9:15])], "by the length of REF")
    gone = [(1, "ACGT", "A", "0|1"), (1, "A", "<DEL>", "0|0")]
    expect_equal(added(gone, bases="ACGT")[0], [], "one part is no group")


@case
def groups_without_a_change_have_no_record():
    found, result = added([(10, "C", "CG", "0|1"), (11, "GA", "A", "0|1")])
    expect_equal(found, [], "an insertion and a deletion of the same base")
    expect("; 1 group leaves the reference as it is" in result.err, "the count", result)


@case
def equal_sequences_are_one_record():
    # An insertion of G and an SNV, or the other way round: the same sequence from other parts.
    rows = [(10, "C", "CA", "0|1", "0|0"), snv(11, "0|0", "0|1"), (11, "G", "T", "0|1", "0|0"), (11, "G", "GT", "0|0", "0|0"), (10, "C", "CA", "0|0", "0|1")]
    rows = sorted(rows, key=lambda row: row[0])
    found, _ = added(rows, samples=("S", "T"))
    expect_equal([(g[1], g[2], g[4]) for g in found], [("G", "AT", 2)], "added up")
    expect_equal(found[0][3], "10:C>CA|11:G>T", "the parts of the first")


@case
def alleles_that_are_no_parts():
    for alt in ("*", "<DEL>", "<INS>", "G]c:30]", ".", "N", "R"):
        rows = [snv(10, "0|1"), (11, base(11), alt, "0|1" if alt != "." else "0|0"), snv(12, "0|1")]
        found, result = added(rows)
        expect_equal([g[3] for g in found], ["10:C>G|12:A>C"], "groups around " + alt)
        expect_equal("; 1 ALT of the samples is not of A, C, G and T" in result.err, alt != ".", "the count of " + alt)
    several = [snv(10, "1|2"), (12, base(12), "*,C,G", "2|3")]
    several[0] = (10, base(10), "G,T", "1|2")
    expect_equal([(g[2], g[3]) for g in added(several)[0]], [("GGC", "10:C>G|12:A>C"), ("TGG", "10:C>T|12:A>G")], "several ALTs")


# ---- bcftools and score


@case
def the_sequence_is_that_of_bcftools_consensus():
    rng = random.Random(11)
    bases = "".join(rng.choice("ACGT") for _ in range(3000))
    fasta = reference({"c": bases})
    rows, at = [], 30
    while at < 2900:
        ref = bases[at - 1:at - 1 + rng.choice((1, 1, 2, 3))]
        alt = rng.choice([b for b in "ACGT" if b != ref[0]]) + ref[1:] if rng.random() < 0.7 else ref[0] + ("" if len(ref) > 1 else "TTG")
        rows.append(("c", at, ref, [alt], [(rng.choice(("0|1", "1|0", "1|1", "1|1")), None)]))
        at += len(ref) + rng.choice((0, 1, 2, 5, 30))
    path = vcf({"c": bases}, rows, ["S"])
    groups = [line.split("\t") for line in records(haplotypes(path, fasta).text) if "CARBON_PARTS=" in line]
    expect(len(groups) > 100, "%d groups" % len(groups))
    for fields in groups[:60]:
        pos, ref, alt, parts = int(fields[1]), fields[3], fields[4], info_of("\t".join(fields))["CARBON_PARTS"]
        only = [("c", int(p), r, [a], [("1|1", None)]) for p, r, a in re.findall(r"(\d+):(\w+)>(\w+)", parts)]
        alone = bgzip(vcf({"c": bases}, sorted(only, key=lambda row: row[1]), ["S"]))
        tool("bcftools", "index", alone)
        begin, end = pos - 20, pos + len(ref) + 20
        piece = tool("samtools", "faidx", fasta, "c:%d-%d" % (begin, end)).out
        applied = tool("bcftools", "consensus", "-H", "1", alone, stdin=piece).text
        wanted = bases[begin - 1:pos - 1] + alt + bases[pos - 1 + len(ref):end]
        expect_equal("".join(applied.split("\n")[1:]), wanted, "%d %s" % (pos, parts))


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


@case
def the_score_of_a_group_is_that_of_the_two_sequences():
    """The identity of the manual page: bcftools consensus over the forward window of `centered`, and score of both."""
    rng = random.Random(5)
    bases = "".join(rng.choice("ACGT") for _ in range(900))
    fasta, window = reference({"c": bases}), 96
    checked = 0
    for at in (3, 20, 150, 301, 452, 700, 860, 893):
        offsets = sorted(rng.sample(range(7), rng.choice((2, 3))))
        rows = [("c", at + o, bases[at + o - 1], [rng.choice([b for b in "ACGT" if b != bases[at + o - 1]])], [("0|1", None)]) for o in offsets]
        path = bgzip(vcf({"c": bases}, rows, ["S"]))
        tool("bcftools", "index", path)
        joined = write(fresh(), "joined.vcf", haplotypes(path, fasta).out)
        scored = ok("vep", "-m", model(), "-f", fasta, "-w", window, "--strand", "+", "--phases", "1", joined).text
        line, = [line for line in records(scored) if "CARBON_PARTS=" in line]
        fields = line.split("\t")
        p = int(fields[1]) - 1
        begin, end = max(0, p - window // 2), min(len(bases), p + window // 2)
        piece = tool("samtools", "faidx", fasta, "c:%d-%d" % (begin + 1, end)).out
        applied = tool("bcftools", "consensus", "-H", "2", path, stdin=piece).out
        sums = []
        for text in (applied, piece):
            slice_ = write(fresh(), "slice.fa", text)
            row, = records(ok("score", "-m", model(), "--window", window, slice_).text)
            sums.append(float(row.split("\t")[5]))
        llr = float(info_of(line)["CARBON_LLR"])
        # %.10g of each sum, and six digits of the ratio.
        tolerance = 5e-10 * (abs(sums[0]) + abs(sums[1])) + 5.1e-6 * abs(llr) + 6e-8 * abs(llr)
        expect_close(llr, sums[0] - sums[1], tolerance, "group at %d" % at)
        checked += 1
    expect_equal(checked, 8, "groups")


# ---- --compare


def scored_groups(phases="6", prefix=(), extra=()):
    rng = random.Random(3)
    bases = "".join(rng.choice("ACGT") for _ in range(600))
    rows = []
    for at in range(20, 560, 11):
        for o in rng.sample(range(7), rng.choice((1, 2, 3))):
            pos = at + o
            rows.append(("c", pos, bases[pos - 1], [rng.choice([b for b in "ACGT" if b != bases[pos - 1]])], [(rng.choice(("0|1", "1|1")), None)]))
    rows.append(("c", 10, bases[9:16], [bases[9:15] + {"A": "C", "C": "G", "G": "T", "T": "A"}[bases[15]], "<DEL>"], [("1|1", None)]))
    rows.append(("c", 17, bases[16], [{"A": "C", "C": "G", "G": "T", "T": "A"}[bases[16]]], [("1|1", None)]))
    rows.sort(key=lambda row: row[1])
    fasta = reference({"c": bases})
    joined = write(fresh(), "joined.vcf", haplotypes(vcf({"c": bases}, rows, ["S"]), fasta).out)
    return write(fresh(), "scored.vcf", ok("vep", "-m", model(), "-f", fasta, "-w", "96", "--phases", phases, *prefix, joined).out), fasta


def excesses(text):
    """{(POS, REF, ALT): CARBON_JOINT_EXCESS or None} of the groups; other records must not have it."""
    found = {}
    for line in records(text):
        info = info_of(line)
        if "CARBON_PARTS" not in info:
            expect("CARBON_JOINT_EXCESS" not in info, "not a group: " + line)
            continue
        fields = line.split("\t")
        found[int(fields[1]), fields[3], fields[4]] = info.get("CARBON_JOINT_EXCESS")
    return found


def wanted_excesses(text):
    scores, groups = {}, {}
    for line in records(text):
        fields, info = line.split("\t"), info_of(line)
        if "CARBON_PARTS" in info:
            groups[int(fields[1]), fields[3], fields[4]] = info
            continue
        for alt, value in zip(fields[4].split(","), info.get("CARBON_LLR", ".").split(",")):
            scores[fields[1], fields[3], alt] = value
    wanted = {}
    for key, info in groups.items():
        parts = [scores.get(part, ".") for part in re.findall(r"(\d+):(\w+)>(\w+)", info["CARBON_PARTS"])]
        own = info.get("CARBON_LLR", ".")
        wanted[key] = "." if "." in [own, *parts] else f32(f32(float(own)) - sum(f32(float(part)) for part in parts))
    return wanted


def expect_excesses(found, wanted, what):
    expect_equal(sorted(found), sorted(wanted), "groups, " + what)
    for key, value in wanted.items():
        if value == ".":
            expect_equal(found[key], ".", "%s, %s" % (key, what))
        else:
            expect_equal(found[key], "%.6g" % value, "%s, %s" % (key, what))


@case
def compare_subtracts_the_scores_of_the_parts():
    scored, _ = scored_groups()
    text = read(scored).decode()
    result = ok("+haplotypes", scored, "--", "--compare")
    wanted = wanted_excesses(text)
    expect(len(wanted) > 30 and "." not in wanted.values(), "%d groups" % len(wanted))
    expect_excesses(excesses(result.text), wanted, "all scored")
    expect_equal(result.messages("W"), [], "warnings")
    expect_equal([re.sub(";CARBON_JOINT_EXCESS=[^;\t]*", "", line) for line in records(result.text)], records(text), "the other columns")
    expect('##INFO=<ID=CARBON_JOINT_EXCESS,Number=A,Type=Float,Description="' in result.text, "the definition", result)
    # Again: the values are replaced.
    again = ok("+haplotypes", "-", "--", "--compare", stdin=result.out.replace(b"CARBON_JOINT_EXCESS=", b"CARBON_JOINT_EXCESS=9"))
    expect_equal(records(again.text), records(result.text), "--compare again")
    # vep leaves all of it.
    kept = info_of([line for line in records(result.text) if "CARBON_PARTS" in line][0])
    expect(set(kept) >= {"CARBON_PARTS", "CARBON_CARRIERS", "CARBON_LLR", "CARBON_JOINT_EXCESS"}, "tags: %r" % kept)


@case
def vep_keeps_the_tags_of_groups_and_ranks():
    scored, fasta = scored_groups()
    compared = ok("+haplotypes", scored, "--", "--compare").text
    ranks = "".join('##INFO=<ID=%s,Number=A,Type=Float,Description="rank">\n' % tag for tag in ("CARBON_PHRED", "CARBON_LLR_PHRED"))
    text = re.sub("CARBON_CARRIERS=", "CARBON_PHRED=7;CARBON_LLR_PHRED=8;CARBON_CARRIERS=", compared.replace("#CHROM", ranks + "#CHROM"))
    again = ok("vep", "-m", model(dtype="f32"), "-f", fasta, "-w", "96", "--recipe", "next-token", write(fresh(), "in.vcf", text))
    expect(re.search(r"CARBON_LLR of \S+ \(bf16\) is removed", again.err), "another model's score is removed", again)
    for line in records(again.text):
        if "CARBON_PARTS" in line:
            expect(set(info_of(line)) >= {"CARBON_PARTS", "CARBON_CARRIERS", "CARBON_JOINT_EXCESS", "CARBON_PHRED", "CARBON_LLR_PHRED"}, line)
            expect("CARBON_LLR" not in info_of(line), line)


@case
def compare_has_a_point_where_a_score_is_missing():
    scored, _ = scored_groups()
    rng, lines = random.Random(9), read(scored).decode().split("\n")
    for how in ("value", "tag", "record", "spelling"):
        changed_lines = []
        for line in lines:
            if line.startswith("#") or not line or rng.random() > 0.15:
                changed_lines.append(line)
            elif how == "value":
                changed_lines.append(re.sub("CARBON_LLR=[^;\t]*", lambda m: "CARBON_LLR=" + ",".join("." for _ in m.group().split(",")), line))
            elif how == "tag":
                changed_lines.append(re.sub("CARBON_LLR=[^;\t]*;?", "", line).replace(";\t", "\t").replace("\t\t", "\t.\t"))
            elif how == "spelling" and "CARBON_PARTS" not in line:
                fields = line.split("\t")
                changed_lines.append("\t".join(fields[:3] + [fields[3] + "A", ",".join(a if a[0] == "<" else a + "A" for a in fields[4].split(","))] + fields[5:]))
            elif how == "record" and "CARBON_PARTS" not in line:
                continue
            else:
                changed_lines.append(line)
        text = "\n".join(changed_lines)
        result = ok("+haplotypes", write(fresh(), "in.vcf", text), "--", "--compare")
        wanted = wanted_excesses(text)
        missing = sum(value == "." for value in wanted.values())
        expect(0 < missing < len(wanted), "%d missing" % missing)
        expect_excesses(excesses(result.text), wanted, how)
        expect("[W::haplotypes] %d of %d groups have CARBON_JOINT_EXCESS; " % (len(wanted) - missing, len(wanted)) in result.err, "counts", result)


@case
def compare_needs_six_phases():
    sentence = "--compare needs scores that are means over six phases"
    for phases in ("1", "auto"):
        expect_failure(carbon("+haplotypes", scored_groups(phases)[0], "--", "--compare"), "[E::haplotypes] " + sentence, "Phases=" + phases,
                       "carbon vep --phases 6")
    scored, fasta = scored_groups()
    text = read(scored).decode()
    line = re.search("^##carbon_vepModel=.*\n", text, re.M).group()
    for name, changed_text, words in (
            ("no line", text.replace(line, ""), (sentence, "no line ##carbon_vepModel")),
            ("no phases", text.replace("Phases=6,", ""), (sentence, "Phases=nothing")),
            ("two lines", text.replace(line, line + line.replace("Phases=6", "Phases=1")), (sentence, "Phases=1")),
            ("another tag", text.replace("<ID=CARBON_LLR,Model", "<ID=X_LLR,Model"), (sentence,)),
            ("no groups", re.sub("##INFO=<ID=CARBON_PARTS.*\n", "", text).replace("CARBON_PARTS", "OTHER"), ("CARBON_PARTS", "+haplotypes")),
            ("no score", re.sub("##INFO=<ID=CARBON_LLR.*\n", "", text), ("CARBON_LLR", "vep --phases 6")),
            ("damaged parts", text.replace("CARBON_PARTS=", "CARBON_PARTS=x"), ("CARBON_PARTS", "damaged")),
            ("a type", text.replace("CARBON_PARTS,Number=1,Type=String", "CARBON_PARTS,Number=1,Type=Integer").replace("CARBON_PARTS=", "X="), ("another type",))):
        d = fresh()
        result = carbon("+haplotypes", "-o", os.path.join(d, "out.vcf"), write(fresh(), "in.vcf", changed_text), "--", "--compare")
        expect_failure(result, *words)
        expect_equal(os.listdir(d), [], "files after the failure, " + name)
    for option in (("-f", fasta), ("--samples", "S"), ("--distance", "5")):
        expect_failure(carbon("+haplotypes", scored, "--", "--compare", *option), option[0].replace("-f", "--fasta-ref"), "--compare")


# ---- input that is not as expected


@case
def unsorted_input_is_refused():
    genome = {"c": BASES, "d": BASES}
    fasta = reference(genome)
    call = [("0|1", None)]
    a, b, c = ("c", 12, base(12), ["C"], call), ("c", 10, base(10), ["G"], call), ("d", 5, base(5), ["A"], call)
    for rows, where in (([a, b], "c:10"), ([a, c, b], "c:10"), ([b, c, a], "c:12")):
        d = fresh()
        result = carbon("+haplotypes", "-o", os.path.join(d, "out.vcf"), vcf(genome, rows, ["S"]), "--", "-f", fasta)
        expect_failure(result, "[E::haplotypes] " + where, "not sorted", "bcftools sort")
        expect_equal(os.listdir(d), [], "files after the failure")
    scored, _ = scored_groups()
    lines = read(scored).decode().rstrip("\n").split("\n")
    swapped = "\n".join(lines[:-2] + [lines[-1], lines[-2]]) + "\n"
    if lines[-1].split("\t")[1] != lines[-2].split("\t")[1]:
        expect_failure(carbon("+haplotypes", write(fresh(), "in.vcf", swapped), "--", "--compare"), "not sorted")


@case
def the_reference_must_be_that_of_the_file():
    fasta = reference({"c": BASES})
    for row, words in ((("c", 12, "G", ["C"], [("0|1", None)]), ("c:12: REF", "A at")),
                       (("d", 12, "A", ["C"], [("0|1", None)]), ("d:12", "no contig d")),
                       (("c", len(BASES), base(len(BASES)) + "A", ["C"], [("0|1", None)]), ("c:%d" % len(BASES), "beyond the end")),
                       (("c", 0, "N", ["A"], [("0|1", None)]), ("c:0", "beyond the end"))):
        path = vcf({"c": BASES, "d": BASES}, [row], ["S"])
        expect_failure(carbon("+haplotypes", path, "--", "-f", fasta), "[E::haplotypes] ", *words)
        quiet = vcf({"c": BASES, "d": BASES}, [(*row[:4], [("0|0", None)])], ["S"])
        expect_equal(len(records(haplotypes(quiet, fasta).text)), 1, "a record that no sample has")
    before = [("c", 0, "A", ["ATT"], [("1", None)]), ("c", 1, "A", ["C"], [("1", None)])]
    line = [line for line in records(haplotypes(vcf({"c": BASES}, before, ["S"]), fasta).text) if "PARTS" in line]
    expect_equal([field for field in line[0].split("\t")[1:5]], ["1", ".", "A", "TTC"], "bases before the contig")
    expect_failure(carbon("+haplotypes", vcf({"c": BASES}, [], ["S"])), "--fasta-ref is missing")
    expect_failure(carbon("+haplotypes", vcf({"c": BASES}, [], []), "--", "-f", fasta), "no samples")
    listed = "bcftools query -l"
    for wanted, words in (("X", ("neither samples", listed)), ("S,X", ("neither samples", listed)),
                          (write(fresh(), "n", "S\nX\n"), ("no sample 'X'", listed)),
                          (write(fresh(), "n", "\n"), ("names no sample",))):
        expect_failure(carbon("+haplotypes", vcf({"c": BASES}, [], ["S"]), "--", "-f", fasta, "--samples", wanted), *words)


@case
def groups_of_an_earlier_run_are_refused():
    path, fasta = vcf({"c": BASES}, [("c", 10, base(10), ["G"], [("0|1", None)]), ("c", 12, base(12), ["C"], [("0|1", None)])], ["S"]), reference({"c": BASES})
    first = haplotypes(path, fasta)
    again = carbon("+haplotypes", "-", "--", "-f", fasta, stdin=first.out)
    expect_failure(again, "c:10: ", "bcftools view -e")
    without = tool("bcftools", "view", "-e", 'CARBON_PARTS!="."', "-", stdin=first.out)
    expect_equal(records(haplotypes("-", fasta, stdin=without.out).text), records(first.text), "made anew")


@case
def hostile_genotypes():
    fasta = reference({"c": BASES})
    plain = vcf_text([("c", len(BASES))], [("c", 10, base(10), ["G"], [("0|1", 4)]), ("c", 12, base(12), ["C"], [("0|1", 4)])], ["S"])
    wanted = "10:C>G|12:A>C"

    def parts(text, **more):
        found = ok("+haplotypes", write(fresh(), "in.vcf", text), "--", "-f", fasta, **more)
        return [info_of(line)["CARBON_PARTS"] for line in records(found.text) if "CARBON_PARTS" in line]

    expect_equal(parts(plain), [wanted], "as it should be")
    expect_equal(parts(plain.replace("GT:PS\t0|1:4", "PS:GT\t4:0|1")), [wanted], "GT is not first")
    expect_equal(parts(plain.replace("GT:PS\t0|1:4", "PS:GT\t4:0|1", 1)), [wanted], "GT is not first in one record")
    for ps_type in ("String", "Float", "Character"):
        expect_equal(parts(plain.replace("PS,Number=1,Type=Integer", "PS,Number=1,Type=" + ps_type)), [wanted], "PS of type " + ps_type)
        other = plain.replace("PS,Number=1,Type=Integer", "PS,Number=1,Type=" + ps_type).replace("0|1:4\n", "0|1:5\n", 1)
        expect_equal(parts(other), [], "other PS of type " + ps_type)
    several = plain.replace("PS,Number=1", "PS,Number=.")
    expect_equal(parts(several.replace("0|1:4", "0|1:4,7")), [wanted], "two values of PS")
    expect_equal(parts(several.replace("0|1:4", "0|1:4,7", 1)), [], "one and two values of PS")
    bare = re.sub("##FORMAT=.*\n", "", plain)
    expect_equal(parts(bare), [wanted], "without definitions")
    result = carbon("+haplotypes", write(fresh(), "in.vcf", plain.replace("GT,Number=1,Type=String", "GT,Number=1,Type=Integer")), "--", "-f", fasta)
    expect(result.rc == 1 and "c:10" in result.err, "GT of type Integer", result)
    result = carbon("+haplotypes", write(fresh(), "in.vcf", plain.replace("0|1:4", "0|7:4")), "--", "-f", fasta)
    expect_failure(result, "c:10", "sample S")
    without = ok("+haplotypes", write(fresh(), "in.vcf", plain.replace("GT:PS\t0|1:4", "PS\t4")), "--", "-f", fasta)
    expect("no record has genotypes (FORMAT GT)" in without.err, "a warning", without)
    for other in ("PGT:PID\t0|1:4", "GT:PGT:PID\t0/1:0|1:4", "GT:PSL\t0/1:x"):
        expect_equal(parts(plain.replace("GT:PS\t0|1:4", other)), [], "what is not read: " + other)


@case
def integer_genotypes_of_bcf_are_refused():
    """htslib 1.16 writes BCF whose header says Integer of GT, where the text would not be read."""
    fasta = reference({"c": BASES})
    plain = vcf_text([("c", len(BASES))], [("c", 10, base(10), ["G"], [("0|1", None)])], ["S"])
    binary = tool("bcftools", "view", "-Ou", "-", stdin=plain.encode()).out
    integer = binary.replace(b'ID=GT,Number=1,Type=String,Description="genotype"', b'ID=GT,Number=1,Type=Integer,Description="genotyp"')
    expect(integer != binary and len(integer) == len(binary), "the header did not change")
    result = carbon("+haplotypes", write(fresh(), "in.bcf", integer), "--", "-f", fasta)
    if "header cannot be read" in result.err:  # htslib 1.21 refuses such a file
        return expect_failure(result, "in.bcf")
    expect_failure(result, "c:10", "type String")
    # vep does not need them.
    scored = ok("vep", "-m", model(), "-f", fasta, "-w", "48", write(fresh(), "in.bcf", integer))
    expect_equal(len(records(scored.text)), 1, "records")


@case
def a_phase_before_the_first_allele():
    """Read where htslib reads it, from version 1.22 on; older ones refuse it, as bcftools does."""
    fasta = reference({"c": BASES})
    text = vcf_text([("c", len(BASES))], [("c", 10, base(10), ["G"], [("/0|1", None)]), ("c", 12, base(12), ["C"], [("|0|1", None)])], ["S"])
    result = carbon("+haplotypes", write(fresh(), "in.vcf", text.replace("VCFv4.2", "VCFv4.4")), "--", "-f", fasta)
    version = tuple(int(n) for n in re.search(r"htslib (\d+)\.(\d+)", ok("--version").text).groups())
    if version < (1, 22):
        expect_failure(result, "genotype", "| or /")
    else:
        expect_equal([line for line in records(result.text) if "CARBON_PARTS" in line], [], "a genotype that is not wholly phased")
    plain = text.replace("/0|1", "0|1").replace("|0|1", "0|1").replace("VCFv4.2", "VCFv4.4")
    found = ok("+haplotypes", write(fresh(), "in.vcf", plain), "--", "-f", fasta)
    expect_equal(sum("CARBON_PARTS" in line for line in records(found.text)), 1, "VCF 4.4 without signs before genotypes")


# ---- output


def big_file(count, samples=3, seed=1):
    rng = random.Random(seed)
    bases = "".join(rng.choice("ACGT") for _ in range(5 * count + 100))
    rows = []
    for i in range(count):
        pos = 5 * i + rng.randrange(1, 6)
        ref = bases[pos - 1:pos - 1 + rng.choice((1, 1, 1, 3))]
        alt = rng.choice([b for b in "ACGT" if b != ref[0]]) if len(ref) == 1 else ref[0]
        rows.append(("c", pos, ref, [alt], [(rng.choice(("0|1", "1|0", "1|1", "0|0", "./.", "0/1")), None) for _ in range(samples)]))
    return vcf({"c": bases}, rows, ["S%d" % i for i in range(samples)]), reference({"c": bases})


@case
def bcftools_reads_the_output():
    path, fasta = big_file(3000)
    wanted = records(haplotypes(path, fasta, before=("--no-version",)).text)
    groups = sum("CARBON_PARTS=" in line for line in wanted)
    expect(groups > 500, "%d groups" % groups)
    positions = [int(line.split("\t")[1]) for line in wanted]
    expect_equal(positions, sorted(positions), "positions")
    binary = write(fresh(), "in.bcf", tool("bcftools", "view", "-Ob", path).out)
    for given in (path, binary, bgzip(path)):
        for kind, name in (("u", "o.bcf"), ("b", "o.bcf"), ("v", "o.vcf"), ("z", "o.vcf.gz"), ("", "o.bcf"), ("", "o.vcf.gz")):
            out = os.path.join(fresh(), name)
            ok("+haplotypes", "--no-version", *(("-O", kind) if kind else ()), "-o", out, given, "--", "-f", fasta)
            expect_equal(records(tool("bcftools", "view", out).text), wanted, "-O%s of %s" % (kind, given))
            if kind in ("b", "z"):
                tool("bcftools", "index", out)
                expect_equal(tool("bcftools", "index", "-n", out).text, "%d\n" % len(wanted), "indexed records")
            norm = tool("bcftools", "norm", "-f", fasta, "-c", "x", out)
            expect_equal(len(records(norm.text)), len(wanted), "bcftools norm")
            # Sorted: bcftools sort changes nothing but the order within one position.
            expect_equal(sorted(records(tool("bcftools", "sort", out).text)), sorted(wanted), "bcftools sort")
    expect_equal(records(ok("+haplotypes", "-", "--", "-f", fasta, stdin=read(path)).text), wanted, "from a pipe")


@case
def many_samples():
    rng = random.Random(2)
    samples = ["N%d" % i for i in range(700)]
    genome, rows = {}, []
    for i in range(4):
        genome["c%d" % i], own = random_case(rng, "c%d" % i, len(samples), (3, 4))
        rows += own
    genome["last"] = BASES
    rows += [("last", p, base(p), [snv(p)[2]], [(rng.choice(("0|1", "1|1", "0|0", "1|0")), None) for _ in samples]) for p in (10, 12, 13)]
    result = haplotypes(vcf(genome, rows, samples), reference(genome), before=("--no-version",))
    lines, message = with_groups(genome, rows, samples, 6)
    expect_equal([line for line in records(result.text) if "CARBON_PARTS=" in line], [line for line in lines if "CARBON_PARTS=" in line], "groups")
    expect_equal(result.messages("W"), ["[W::haplotypes] " + message] if message else [], "message")


@case
def memory_does_not_grow_with_the_file():
    peaks = []
    for count in (5000, 60000):
        path, fasta = big_file(count)
        peaks.append(peak_memory("+haplotypes", path, "--", "-f", fasta))
    expect(peaks[1] < peaks[0] + 4096, "KiB in use: %r" % peaks)


# ---- what vep says of neighbours


def neighbours(rows, samples=("S",), bases=BASES * 4):
    full = [("c", pos, ref, alts.split(","), [(gt, None) for gt in calls]) for pos, ref, alts, *calls in rows]
    result = ok("vep", "-m", model(), "-f", reference({"c": bases}), "-w", "48", vcf({"c": bases}, full, list(samples)))
    lines = result.err.splitlines()
    said = [int(n) for n in re.findall(r"^\[W::vep\] (\d+) records? follows? another one on the same haplotype within 6 bases", result.err, re.M)]
    if said:
        expect("follow" in lines[-2] and lines[-1].startswith("Records "), "before the last line", result)
        expect("carbon +haplotypes" in lines[-2], "what to do", result)
    return said[0] if said else 0


@case
def vep_counts_phased_neighbours():
    for calls, wanted in ((("0|1", "0|1"), 1), (("0|1", "1|0"), 0), (("0/1", "0/1"), 0), (("1/1", "0/1"), 1), (("1/1", "1/1"), 1), (("1", "1"), 1),
                          (("0|1", "0|0"), 0), (("./.", "0|1"), 0), (("1|1", "1|1"), 1)):
        expect_equal(neighbours([snv(10, calls[0]), snv(12, calls[1])]), wanted, "neighbours %s %s" % calls)
    expect_equal(neighbours([snv(10, "0|1"), snv(17, "0|1")]), 1, "six bases between")
    expect_equal(neighbours([snv(10, "0|1"), snv(18, "0|1")]), 0, "seven bases between")
    expect_equal(neighbours([snv(10, "0|1"), snv(12, "0|1"), snv(14, "0|1")]), 2, "three in a row")
    eight = ["S%d" % i for i in range(8)]
    expect_equal(neighbours([snv(10, *["0|1"] * 8), snv(12, *["0|1"] * 8)], eight), 1, "eight samples")
    expect_equal(neighbours([snv(10, *["0|1"] * 9), snv(12, *["0|1"] * 9)], [*eight, "S8"]), 0, "nine samples")
    path, fasta = vcf({"c": BASES}, [("c", p, base(p), [snv(p)[2]], [("0|1", None)]) for p in (10, 12)], ["S"]), reference({"c": BASES})
    joined = haplotypes(path, fasta)
    quiet = ok("vep", "-m", model(), "-f", fasta, "-w", "48", "-", stdin=joined.out)
    expect("follow" not in quiet.err, "neighbours that are joined", quiet)


if __name__ == "__main__":
    main()
