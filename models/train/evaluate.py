#!/usr/bin/env python3
"""Measures a checkpoint with `carbon score` on held-out sequence: bits a base of each kind, codons, coding sequence, Alu.

K-mer level is -sum_logp / (6 n_scored ln 2) of `carbon score --level token`; base level is -sum_logp / (n_scored ln 2)
of `--level bp`, whose marginals do not see the bases of their own 6-mer. Window and stride are the defaults.
"""
import argparse
import json
import math
import os
import subprocess
import tempfile

import numpy as np

import corpus as corpora

BASES = "TCAG"
AMINO = "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"
CODE = {a + b + c: AMINO[16 * i + 4 * j + k] for i, a in enumerate(BASES) for j, b in enumerate(BASES)
        for k, c in enumerate(BASES)}
MIN_ORF = 600
# The consensus of the Alu family (AluY).
ALU = ("GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACGAGGTCAGGAGATCGAGACCATCCCGGCTAAAACGGTGAAACCCCGTCTC"
       "TACTAAAAATACAAAAAATTAGCCGGGCGTGGTGGCGGGCGCCTGTAGTCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATGGCGTGAACCCGGGAGGCGGAGCTTGCAGTGAG"
       "CCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAAAA")


def text(bases):
    return corpora.LETTERS[bases].tobytes().decode()


def reverse_complement(sequence):
    return sequence[::-1].translate(str.maketrans("ACGT", "TGCA"))


class Scorer:
    def __init__(self, program, model, threads):
        self.command = [program, "score", "-q", "-m", model, "-@", str(threads)]

    def _run(self, records, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.fa")
            with open(path, "w") as out:
                for name, sequence in records:
                    out.write(f">{name}\n{sequence}\n")
            done = subprocess.run([*self.command, *options, path], check=True, stdout=subprocess.PIPE, text=True)
        return [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("##")]

    def sums(self, records, level):
        """(values scored, sum of their log-probabilities) of each sequence."""
        return [(int(f[4]), float(f[5])) for f in self._run(records, "--level", level)[1:]]

    def bits(self, records, level):
        scored = self.sums(records, level)
        width = corpora.K if level == "token" else 1
        return -sum(s for _, s in scored) / (width * sum(n for n, _ in scored) * math.log(2))

    def values(self, records):
        """(name, first base, log-probability) of each 6-mer."""
        return [(f[0], int(f[1]), float(f[3])) for f in self._run(records, "--level", "token", "-O", "bedgraph")]


def wilson(successes, n):
    """95 % confidence interval of a proportion."""
    z = 1.959964
    p = successes / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return [round(middle - half, 4), round(middle + half, 4)]


def open_frames(sequence):
    """(first, end, strand) of the longest ATG...stop reading frames of at least MIN_ORF bases, the longer of two that
    overlap, in forward coordinates."""
    found = []
    for strand in "+-":
        s = sequence if strand == "+" else reverse_complement(sequence)
        for frame in range(3):
            start = None
            for at in range(frame, len(s) - 2, 3):
                codon = s[at:at + 3]
                if start is None and codon == "ATG":
                    start = at
                if start is not None and CODE[codon] == "*":
                    if at + 3 - start >= MIN_ORF:
                        first, end = (start, at + 3) if strand == "+" else (len(s) - at - 3, len(s) - start)
                        found.append((first, end, strand))
                    start = None
    chosen = []
    for orf in sorted(found, key=lambda o: o[0] - o[1]):
        if all(orf[1] <= other[0] or orf[0] >= other[1] for other in chosen):
            chosen.append(orf)
    return sorted(chosen)


def coding_sequences(sequences):
    orfs = []
    for sequence in sequences:
        for first, end, strand in open_frames(sequence):
            s = sequence[first:end]
            orfs.append(s if strand == "+" else reverse_complement(s))
    return orfs


def codon_test(scorer, orfs, weighted, seed=1):
    """Share of reading frames that score higher than a recoding with synonymous codons, at k-mer level. Codons are drawn
    evenly or, weighted, as often as the frames themselves use them. The start codon and the stop stay."""
    rng = np.random.default_rng(seed)
    usage = {codon: 1.0 for codon in CODE}
    if weighted:
        usage = {codon: 0.0 for codon in CODE}
        for s in orfs:
            for at in range(0, len(s), 3):
                usage[s[at:at + 3]] += 1
    choices = {}
    for amino in set(AMINO):
        codons = [c for c in CODE if CODE[c] == amino]
        total = sum(usage[c] for c in codons)
        if total:
            choices[amino] = codons, [usage[c] / total for c in codons]
    records = []
    for i, s in enumerate(orfs):
        recoded = [s[:3]]
        for at in range(3, len(s) - 3, 3):
            codons, p = choices[CODE[s[at:at + 3]]]
            recoded.append(codons[rng.choice(len(codons), p=p)])
        records += [(f"n{i}", s), (f"r{i}", "".join(recoded) + s[-3:])]
    sums = [s for _, s in scorer.sums(records, "token")]
    wins = sum(native > recoded for native, recoded in zip(sums[::2], sums[1::2]))
    return {"frames": len(orfs), "accuracy": round(wins / len(orfs), 4), "ci95": wilson(wins, len(orfs))}


def split_bits(scorer, sequences, labels):
    """Bits a base of the 6-mers that lie wholly in bases of one label. `labels`: an array of strings a sequence."""
    records = [(f"s{i}", s) for i, s in enumerate(sequences)]
    sums = {}
    for name, first, logp in scorer.values(records):
        label = labels[int(name[1:])][first:first + corpora.K]
        if (label == label[0]).all() and label[0]:
            n, total = sums.get(label[0], (0, 0.0))
            sums[label[0]] = n + 1, total + logp
    return {str(k): {"kmers": n, "bits": round(-t / (n * corpora.K * math.log(2)), 4)} for k, (n, t) in sums.items()}


def coding_labels(sequence):
    label = np.full(len(sequence), "intergenic", object)
    short = MIN_ORF // 2
    for strand in (sequence, reverse_complement(sequence)):  # a frame of half the length may be a gene: neither
        for frame in range(3):
            last = frame
            for at in range(frame, len(strand) - 2, 3):
                if CODE[strand[at:at + 3]] == "*":
                    if at - last >= short:
                        place = slice(last, at) if strand is sequence else slice(len(strand) - at, len(strand) - last)
                        label[place] = ""
                    last = at + 3
    for first, end, _ in open_frames(sequence):
        label[first:end] = "coding"
    return label


def alu_labels(sequence, width=100, word=12, least=20):
    words = {ALU[i:i + word] for i in range(len(ALU) - word + 1)}
    words |= {reverse_complement(w) for w in words}
    hit = np.array([sequence[i:i + word] in words for i in range(len(sequence))])
    label = np.full(len(sequence), "other", object)
    for at in range(0, len(sequence), width):
        n = hit[at:at + width].sum()
        label[at:at + width] = "Alu" if n >= least else "other" if n == 0 else ""
    return label


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", required=True, help="folder of the nine KIND.fa.gz files")
    parser.add_argument("--holdout", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "holdout.txt"))
    parser.add_argument("--carbon", default="./carbon", help="the program")
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("-@", "--threads", type=int, default=2)
    parser.add_argument("--also", nargs="*", default=[], metavar="NAME=FASTA", help="further sequence to judge")
    parser.add_argument("--only-bits", action="store_true", help="leave out codons, coding sequence and Alu")
    parser.add_argument("-o", "--output", required=True, help="JSON")
    args = parser.parse_args()
    holdout = corpora.load_holdout(args.corpus, args.holdout)
    judged = {kind: [text(r.bases) for r in records] for kind, records in holdout.items()}
    for item in args.also:
        name, _, path = item.partition("=")
        judged[name] = [text(bases) for _, bases in corpora.read_fasta(path)]
    scorer = Scorer(args.carbon, args.model, args.threads)
    results = {"bits": {}}
    for name, sequences in judged.items():
        records = [(f"s{i}", s) for i, s in enumerate(sequences)]
        results["bits"][name] = {"bases": sum(map(len, sequences)),
                                 "kmer": round(scorer.bits(records, "token"), 4),
                                 "base": round(scorer.bits(records, "bp"), 4)}
        print(name, results["bits"][name], flush=True)
    if not args.only_bits:
        prokaryote, human = judged["prokaryote"], judged["human"]
        orfs = coding_sequences(prokaryote)
        results["codons_even"] = codon_test(scorer, orfs, weighted=False)
        results["codons_by_usage"] = codon_test(scorer, orfs, weighted=True)
        results["prokaryote"] = split_bits(scorer, prokaryote, [coding_labels(s) for s in prokaryote])
        results["human"] = split_bits(scorer, human, [alu_labels(s) for s in human])
        for key in ("codons_even", "codons_by_usage", "prokaryote", "human"):
            print(key, results[key])
    with open(args.output, "w") as out:
        json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
