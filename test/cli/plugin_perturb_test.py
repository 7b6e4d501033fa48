"""carbon +perturb: its data sets against a restatement in Python, its metric against carbon score."""

import json
import os
import random

from harness import (bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, read, to_fasta, write)
from plugin_support import MASK, SplitMix64

# ---- the restatement

CODE = dict(zip((a + b + c for a in "TCAG" for b in "TCAG" for c in "TCAG"),
                "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"))


def triplet(sequence, motif="CAG", start_after=60, patch=30, cds_start=0, max_length=8192):
    begin = cds_start + start_after
    if len(sequence) < begin + patch:
        return None
    original = sequence[:begin + patch]
    perturbed = original[:begin] + (motif * patch)[:patch]
    return original[-max_length:], perturbed[-max_length:]


def at_random(sequence, record, seed=0, rate=1.0, cds_start=0, max_length=8192):
    rng = SplitMix64(SplitMix64(SplitMix64(seed).next() + record).next())
    sequence = sequence[:max_length]
    out = list(sequence)
    for i in range(cds_start + 3, len(sequence) - 2, 3):
        codon = sequence[i:i + 3]
        amino = CODE.get(codon, "*")
        others = sorted(c for c, a in CODE.items() if a == amino and a != "*" and c != codon)
        if others:
            chance, other = rng.unit(), others[rng.below(len(others))]
            if chance < rate:
                out[i:i + 3] = other
    return sequence, "".join(out)


# The commonest codon of each amino acid by the Codon Usage Database (Kazusa), taxa 9606 and 10090.
HUMAN = dict(A="GCC", C="TGC", D="GAC", E="GAG", F="TTC", G="GGC", H="CAC", I="ATC", K="AAG", L="CTG", M="ATG", N="AAC", P="CCC",
             Q="CAG", R="AGA", S="AGC", T="ACC", V="GTG", W="TGG", Y="TAC")
MOUSE = dict(HUMAN, P="CCT", R="AGG")


def commonest(sequence, table, cds_start=0, max_length=8192):
    sequence = sequence[:max_length]
    out = sequence[:cds_start]
    codons = [sequence[i:i + 3] for i in range(cds_start, len(sequence), 3)]
    stop = next((i for i, codon in enumerate(codons) if CODE.get(codon) == "*"), len(codons))
    out += "".join(table.get(CODE.get(codon), codon) for codon in codons[:stop]) + "".join(codons[stop:])
    return sequence, out


# ---- input


def cds(seed=3, count=40):
    rng = random.Random(seed)
    out = []
    for i in range(count):
        bases = "ATG" + "".join(rng.choice("ACGT") for _ in range(rng.randrange(20, 300)))
        if i % 7 == 0:
            bases = bases[:80] + "NNRY" + bases[84:]
        out.append(("cds%d" % i, bases.lower() if i % 5 == 0 else bases))
    return out


def perturb(path, *options, before=()):
    return ok("+perturb", "-m", model(), *before, path, "--", *options)


def pairs_of(path, *options):
    out = os.path.join(fresh(), "pairs.tsv")
    perturb(path, "--write-pairs", out, *options)
    lines = read(out).decode().splitlines()
    expect_equal(lines[0], "name\toriginal_sequence\tsequence", "header")
    return [tuple(line.split("\t")) for line in lines[1:]]


def table(text):
    lines = text.splitlines()
    expect_equal(lines[0], "#metric\tvalue", "header")
    return dict(line.split("\t") for line in lines[1:])


for options in ({}, {"motif": "GGC", "patch": 60}, {"start_after": 0, "patch": 9}, {"cds_start": 31}, {"max_length": 48}):
    @case(name="triplet data set %r" % options)
    def triplet_data(options=options):
        words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), str(v))]
        wanted = [(name, *pair) for name, bases in cds() for pair in [triplet(bases.upper(), **options)] if pair and pair[0] != pair[1]]
        expect(len(wanted) > 10, "too few pairs to compare")
        expect_equal(pairs_of(write(fresh(), "cds.fa", to_fasta(cds())), *words), wanted, "pairs")


for options in ({}, {"seed": 12345}, {"rate": 0.3, "seed": 7}, {"cds_start": 30}, {"max_length": 100, "seed": 1}, {"seed": MASK}):
    @case(name="syn_random data set %r" % options)
    def random_data(options=options):
        words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), str(v))]
        made = [(name, *at_random(bases.upper(), i, **options)) for i, (name, bases) in enumerate(cds())]
        found = pairs_of(write(fresh(), "cds.fa", to_fasta(cds())), "--task", "syn_random", *words)
        expect_equal(found, [pair for pair in made if pair[1] != pair[2]], "pairs")


for task, codons_of in (("syn_human", HUMAN), ("syn_mouse", MOUSE)):
    for options in ({}, {"cds_start": 30}, {"cds_start": 31}, {"max_length": 100}):
        @case(name="%s data set %r" % (task, options))
        def commonest_data(task=task, codons_of=codons_of, options=options):
            words = [w for k, v in options.items() for w in ("--" + k.replace("_", "-"), str(v))]
            made = [(name, *commonest(bases.upper(), codons_of, **options)) for name, bases in cds()]
            found = pairs_of(write(fresh(), "cds.fa", to_fasta(cds())), "--task", task, *words)
            expect_equal(found, [pair for pair in made if pair[1] != pair[2]], "pairs")
            expect(len(found) > 10, "too few pairs to compare")


@case
def every_codon_becomes_the_commonest():
    sense = sorted(codon for codon, amino in CODE.items() if amino != "*")
    for task, table in (("syn_human", HUMAN), ("syn_mouse", MOUSE)):
        sequences = [("all", "".join(sense)), ("again", "".join(reversed(sense)).lower()), ("stopped", "TTTCGGTGATTTCGG"),
                     ("taa", "TTATAATTA"), ("tag", "TTATAGTTA"), ("one_codon_each", "ATGTGGATGTGG"), ("best", "ATGGCCAAGTGA"),
                     ("partial", "TTATT"), ("unknown", "TTNTTATTRttaUUU")]
        found = {name: pair for name, *pair in pairs_of(write(fresh(), "all.fa", to_fasta(sequences)), "--task", task)}
        whole = "".join(table[CODE[codon]] for codon in sense)
        expect_equal(found["all"], ["".join(sense), whole], task + ", all codons")
        expect_equal(found["again"][1], "".join(table[CODE[codon]] for codon in reversed(sense)), "in lower case")
        expect_equal(found["stopped"][1], "TTC" + table["R"] + "TGATTTCGG", "what follows a stop")
        expect_equal((found["taa"][1], found["tag"][1]), ("CTGTAATTA", "CTGTAGTTA"), "the other stops")
        expect_equal(found["partial"][1], "CTGTT", "a codon that is cut")
        expect_equal(found["unknown"][1], "TTNCTGTTRCTGTTC", "codons with other letters, and U for T")
        expect_equal(sorted(set(dict(sequences)) - set(found)), ["best", "one_codon_each"], "records in which nothing changes")
        # An optimum is not changed again.
        perturbed = write(fresh(), "again.fa", to_fasta([("all", whole), ("more", "TTA")]))
        expect_equal([name for name, *_ in pairs_of(perturbed, "--task", task)], ["more"], "perturbed twice")


@case
def synonymous_pairs_code_for_the_same_protein():
    for task in ("syn_human", "syn_mouse"):
        for _, original, perturbed in pairs_of(write(fresh(), "cds.fa", to_fasta(cds())), "--task", task):
            codons = [(original[i:i + 3], perturbed[i:i + 3]) for i in range(0, len(original), 3)]
            expect(all(CODE.get(a, a) == CODE.get(b, b) for a, b in codons), "another protein: " + original)
    for _, original, perturbed in pairs_of(write(fresh(), "cds.fa", to_fasta(cds())), "--task", "syn_random"):
        codons = [(original[i:i + 3], perturbed[i:i + 3]) for i in range(0, len(original) - 2, 3)]
        expect(all(CODE.get(a, a) == CODE.get(b, b) for a, b in codons), "another protein: " + original)
        expect(codons[0][0] == codons[0][1] and len(original) == len(perturbed), "the start or the length changed")
        expect(all(a != b for a, b in codons[1:] if CODE.get(a, "*") not in "MW*"), "a codon kept at rate 1")


def by_score(pairs, level):
    """Mean log-likelihoods of carbon score."""
    fasta = write(fresh(), "all.fa", to_fasta([("%d_%d" % (i, k), pair[k]) for i, pair in enumerate(pairs) for k in (1, 2)]))
    lines = ok("score", "-m", model(), "--level", level, fasta).table()[1:]
    means = [float(line.split("\t")[6]) for line in lines]
    return list(zip(means[::2], means[1::2]))


@case
def the_metric_is_that_of_carbon_score():
    path = write(fresh(), "cds.fa", to_fasta(cds()))
    for task in ("triplet", "syn_human", "syn_random"):
        pairs = pairs_of(path, "--task", task)
        for level in ("bp", "token"):
            details, document = os.path.join(fresh(), "d.tsv"), os.path.join(fresh(), "r.json")
            found = table(perturb(path, "--task", task, "--level", level, "--details", details, "--json", document).text)
            wanted = by_score(pairs, level)
            correct = sum(a > b for a, b in wanted)
            expect_equal((found["pairs"], found["correct"], found["ties"]), (str(len(pairs)), str(correct), "0"), "counts")
            expect_close(float(found["accuracy"]), correct / len(pairs), 1e-9, "accuracy")
            expect(0 < correct, "no pair is right, so the comparison says little")
            rows = [line.split("\t") for line in read(details).decode().splitlines()[1:]]
            for row, pair, (a, b) in zip(rows, pairs, wanted):
                expect_equal((row[0], row[3]), (pair[0], str(int(a > b))), "details")
                expect_close(float(row[1]), a, 2e-9 * abs(a), "original")
                expect_close(float(row[2]), b, 2e-9 * abs(b), "perturbed")
            with open(document) as f:
                result = json.load(f)
            expect_equal((result["task"], result["level"], result["pairs"], result["correct"]), (task, level, len(pairs), correct), "JSON")
            expect_equal(len(result["sha256"]), 64, "SHA-256")


@case
def given_pairs():
    path, out = write(fresh(), "cds.fa", to_fasta(cds())), os.path.join(fresh(), "pairs.tsv")
    whole = perturb(path, "--write-pairs", out, "--task", "syn_random").text
    again = table(perturb(out, "--task", "given").text)
    expect_equal(again, {**table(whole), "skipped": "0"}, "pairs read back")
    rows = [line.split("\t") for line in read(out).decode().splitlines()[1:]]
    # As the public table has them: other columns, another order, no name.
    other = write(fresh(), "bench.tsv", "chr\tsequence\tframe\toriginal_sequence\n" +
                  "".join("chr1\t%s\t0\t%s\n" % (row[2], row[1]) for row in rows))
    expect_equal(table(perturb(bgzip(other), "--task", "given").text), again, "the columns of the public table")
    tie = write(fresh(), "tie.tsv", "original_sequence\tsequence\nACGTACGTAC\tACGTACGTAC\n")
    found = table(perturb(tie, "--task", "given").text)
    expect_equal((found["accuracy"], found["ties"]), ("0", "1"), "a tie is not correct")


@case
def batches_do_not_matter():
    path = write(fresh(), "cds.fa", to_fasta(cds()))
    plain = perturb(path, "--task", "syn_random").text
    for small in (("--batch-tokens", "1"), ("-@", "1")):
        expect_equal(perturb(path, "--task", "syn_random", before=small).text, plain, " ".join(small))
    # Records keep their pairs when others follow.
    head = pairs_of(write(fresh(), "head.fa", to_fasta(cds()[:5])), "--task", "syn_random")
    expect_equal(head, pairs_of(path, "--task", "syn_random")[:len(head)], "the first records' pairs")


@case
def refusals():
    path = write(fresh(), "cds.fa", to_fasta(cds()))
    short = write(fresh(), "short.fa", ">a\nATGAAA\n>b\n" + "ATG" * 20 + "CAG" * 10 + "\n")
    bad = write(fresh(), "bad.tsv", "name\tsequence\n")
    ragged = write(fresh(), "ragged.tsv", "original_sequence\tsequence\nACGTAC\n")
    empty = write(fresh(), "empty.tsv", "original_sequence\tsequence\nNNNNNN\tACGTAC\n")
    out = os.path.join(fresh(), "out")
    for given, args, words in ((path, ("--motif", "CAGC"), "three letters"), (path, ("--patch", "31"), "multiples of 3"),
                               (path, ("--cds-start", str((1 << 63) - 1)), "from 0 to"),
                               (path, ("--rate", "1.5"), "from 0 to 1"), (path, ("--task", "other"), "syn_human, syn_mouse"),
                               (short, (), "2 sequences"), (bad, ("--task", "given"), "original_sequence"),
                               (ragged, ("--task", "given"), "ragged.tsv:2"), (empty, ("--task", "given"), "pair 1"),
                               (path, ("--task", "syn_random", "--rate", "0"), "no pairs"),
                               (path, ("--task", "synonymous"), "syn_random"),
                               (short, ("--task", "syn_mouse", "--cds-start", "1000"), "no pairs")):
        expect_failure(carbon("+perturb", "-m", model(), "-o", out, given, "--", *args), ("[E::perturb]", "[E::main_+perturb]"), words)
        expect(not os.path.exists(out), "an output appeared")


if __name__ == "__main__":
    main()
