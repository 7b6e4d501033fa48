"""carbon +genes: counts of bases, intervals, exons and genes against a plain count of every base and every pair."""

import json
import os
import random

from harness import bgzip, carbon, case, expect, expect_equal, expect_failure, fresh, main, ok, read, write

COLUMNS = "#measure\tprecision\trecall\tf1\tpredicted\tright\ttrue\tfound"


def measures(predicted, truth, *options, **more):
    lines = ok("+genes", predicted, "--", "--truth", truth, *options, **more).lines()
    expect_equal(lines[0], COLUMNS, "header")
    return {line.split("\t")[0]: line.split("\t")[1:] for line in lines[1:]}


def counts(found):
    return {name: tuple(map(int, row[3:])) for name, row in found.items()}


def gff3(genes):
    """`genes`: {gene: {transcript: (contig, strand, [(begin, end)])}}, as Ensembl and carbon write them."""
    text = "##gff-version 3\n"
    for gene, transcripts in genes.items():
        for transcript, (contig, strand, exons) in transcripts.items():
            place = "%s\tx\t%%s\t%%d\t%%d\t.\t%s\t.\t" % (contig, strand)
            whole = (exons[0][0] + 1, exons[-1][1])
            text += place % ("gene", *whole) + "ID=gene:%s\n" % gene
            text += place % ("mRNA", *whole) + "ID=transcript:%s;Parent=gene:%s\n" % (transcript, gene)
            text += "".join(place % ("CDS", a + 1, b) + "ID=CDS:%s;Parent=transcript:%s\n" % (transcript, transcript) for a, b in exons)
    return write(fresh(), "genes.gff3", text)


def gtf(genes):
    """The same as RefSeq and Ensembl write GTF: the last three coding bases are those of the stop codon, on a line of its own."""
    text = ""
    for gene, transcripts in genes.items():
        for transcript, (contig, strand, exons) in transcripts.items():
            names = 'gene_id "%s"; transcript_id "%s";' % (gene, transcript)
            exons = [list(exon) for exon in exons]
            if strand == "+":
                exons[-1][1] -= 3
                stop = (exons[-1][1], exons[-1][1] + 3)
            else:
                exons[0][0] += 3
                stop = (exons[0][0] - 3, exons[0][0])
            for kind, parts in (("CDS", exons), ("stop_codon", [stop])):
                text += "".join("%s\tx\t%s\t%d\t%d\t.\t%s\t0\t%s\n" % (contig, kind, a + 1, b, strand, names) for a, b in parts)
    return write(fresh(), "genes.gtf", text)


def random_genes(rng, like=None):
    """Random genes; with `like`, some of them are those, whole or changed."""
    genes = {}
    for i in range(rng.randrange(1, 12)):
        transcripts = {}
        for j in range(rng.choice((1, 1, 2))):
            kept = [t for g in (like or {}).values() for t in g.values()]
            if kept and rng.random() < 0.7:
                contig, strand, exons = rng.choice(kept)
                exons = [list(exon) for exon in exons]
                if rng.random() < 0.4:
                    exons[rng.randrange(len(exons))][1] += rng.choice((1, 2))
                exons = [tuple(exon) for exon in exons]
            else:
                contig, strand = rng.choice(("c1", "c2")), rng.choice("+-")
                at, exons = rng.randrange(300), []
                for _ in range(rng.choice((1, 2, 3))):
                    length = rng.randrange(5, 30)
                    exons.append((at, at + length))
                    at += length + rng.randrange(3, 40)
            transcripts["t%d.%d" % (i, j)] = (contig, strand, exons)
        genes["g%d" % i] = transcripts
    return genes


def runs_of(genes):
    """{(contig, strand): [(begin, end)]} by marking every base."""
    marked = {}
    for transcripts in genes.values():
        for contig, strand, exons in transcripts.values():
            marked.setdefault((contig, strand), set()).update(i for a, b in exons for i in range(a, b))
    found = {}
    for key, bases in marked.items():
        begins = sorted(i for i in bases if i - 1 not in bases)
        ends = sorted(i + 1 for i in bases if i + 1 not in bases)
        found[key] = list(zip(begins, ends))
    return marked, found


def counted(predicted, truth):
    (our_bases, ours), (their_bases, theirs) = runs_of(predicted), runs_of(truth)
    flat = lambda runs: [(key, run) for key, all_of in runs.items() for run in all_of]  # noqa: E731
    size = lambda bases: sum(map(len, bases.values()))  # noqa: E731
    both = sum(len(bases & their_bases.get(key, set())) for key, bases in our_bases.items())
    found = {"bases": (size(our_bases), both, size(their_bases), both)}
    for name, part in (("starts", 0), ("ends", 1)):
        a, b = {(k, r[part]) for k, r in flat(ours)}, {(k, r[part]) for k, r in flat(theirs)}
        found[name] = (len(a), len(a & b), len(b), len(a & b))
    def with_ends(runs, others):
        return sum(any(k == o and r[0] == s[0] for o, s in flat(others)) and any(k == o and r[1] == s[1] for o, s in flat(others))
                   for k, r in flat(runs))
    found["boundaries"] = (len(flat(ours)), with_ends(ours, theirs), len(flat(theirs)), with_ends(theirs, ours))
    a, b = set(flat(ours)), set(flat(theirs))
    found["intervals"] = (len(a), len(a & b), len(b), len(a & b))
    exons = [{(c, s, e) for t in genes.values() for c, s, all_of in t.values() for e in all_of} for genes in (predicted, truth)]
    found["exons"] = (len(exons[0]), len(exons[0] & exons[1]), len(exons[1]), len(exons[0] & exons[1]))
    chains = [[{(c, s, tuple(e)) for c, s, e in t.values()} for t in genes.values()] for genes in (predicted, truth)]
    all_of = [set().union(*genes) for genes in chains]
    found["genes"] = (len(predicted), sum(bool(g & all_of[1]) for g in chains[0]), len(truth), sum(bool(g & all_of[0]) for g in chains[1]))
    return found


@case
def counts_are_those_of_every_base_and_pair():
    rng = random.Random(4)
    for _ in range(60):
        truth = random_genes(rng)
        predicted = random_genes(rng, truth)
        wanted = counted(predicted, truth)
        found = measures(gff3(predicted), rng.choice((gff3, gtf))(truth))
        expect_equal(counts(found), wanted, "counts")
        for name, (all_ours, right, all_theirs, seen) in wanted.items():
            precision, recall = right / all_ours, seen / all_theirs
            f1 = 2 * precision * recall / (precision + recall) if right + seen else 0
            expect_equal(found[name][:3], ["%.4g" % x for x in (precision, recall, f1)], "shares of " + name)


@case
def a_gene_is_right_if_one_transcript_is():
    one, two = ("c1", "+", [(10, 40), (60, 90)]), ("c1", "+", [(10, 40), (70, 90)])
    truth = {"g": {"a": one, "b": two}}
    expect_equal(counts(measures(gff3({"x": {"x": two}}), gff3(truth)))["genes"], (1, 1, 1, 1), "one of two")
    expect_equal(counts(measures(gff3({"x": {"x": one}, "y": {"y": two}}), gff3(truth)))["genes"], (2, 2, 1, 1), "both, as two genes")
    expect_equal(counts(measures(gff3({"x": {"x": ("c1", "-", one[2])}}), gff3(truth)))["genes"], (1, 0, 1, 0), "the other strand")


@case
def features_with_several_parents_and_odd_names():
    truth = write(fresh(), "a.gff3", "c1\tx\tmRNA\t11\t40\t.\t+\t.\tID=t1;Parent=g\nc1\tx\tmRNA\t11\t90\t.\t+\t.\tID=t2;Parent=g\n"
                                     "c1\tx\tCDS\t11\t40\t.\t+\t0\tParent=t1,t2\nc1\tx\tCDS\t61\t90\t.\t+\t0\tParent=t2\n")
    own = gff3({"g": {"t": ("c1", "+", [(10, 40), (60, 90)])}, "h%2C": {"t%2Cx": ("c1", "+", [(10, 40)])}})
    expect_equal(counts(measures(own, truth))["genes"], (2, 2, 1, 1), "genes")


@case
def runs_have_no_genes():
    runs = write(fresh(), "runs.gff3", "##gff-version 3\nc1\tcarbon\tcoding_region_of_exon\t11\t40\t0.9\t+\t.\tID=run:c1_000001\n")
    found = measures(runs, gff3({"g": {"t": ("c1", "+", [(10, 40), (60, 90)])}}))
    expect_equal(list(found), ["bases", "starts", "ends", "boundaries", "intervals"], "lines")
    expect_equal(counts(found)["intervals"], (1, 1, 2, 1), "intervals")


@case
def nothing_predicted_and_json():
    truth = gff3({"g": {"t": ("c1", "+", [(10, 40)])}})
    empty = write(fresh(), "none.gff3", "##gff-version 3\n##sequence-region c1 1 100\n")
    out = os.path.join(fresh(), "out.json")
    found = measures(empty, truth, "--json", out)
    expect_equal(found["genes"], [".", "0", ".", "0", "0", "1", "0"], "genes")
    line = next(m for m in json.loads(read(out))["measures"] if m["measure"] == "genes")
    expect_equal(line, {"measure": "genes", "precision": None, "recall": 0.0, "f1": None, "predicted": 0, "right": 0, "true": 1, "found": 0}, "JSON")
    expect_equal(counts(measures(bgzip(truth), truth))["genes"], (1, 1, 1, 1), "compressed")
    expect_failure(carbon("+genes", "-", "--", "--truth", truth, stdin=read(truth)), "standard input can be read only once")


@case
def what_is_refused_and_what_is_warned_of():
    truth = gff3({"g": {"t": ("chr1", "+", [(10, 40)])}})
    expect_failure(carbon("+genes", truth), "--truth is missing")
    expect_failure(carbon("+genes", truth, truth, "--", "--truth", truth), "one input")
    none = write(fresh(), "none.gff3", "##gff-version 3\nc1\tx\tgene\t1\t9\t.\t+\t.\tID=g\n")
    expect_failure(carbon("+genes", truth, "--", "--truth", none), "none.gff3", "CDS")
    expect_failure(carbon("+genes", truth, "--", "--truth", write(fresh(), "empty.gff3", "##gff-version 3\n")), "empty.gff3", "no coding region")
    result = ok("+genes", gff3({"g": {"t": ("1", "+", [(10, 40)])}}), "--", "--truth", truth)
    expect("calls it chr1" in result.err, "no warning", result)


if __name__ == "__main__":
    main()
