"""The bundled model knows something of DNA: what a checkpoint with random weights would not pass."""

import os
import random

from harness import carbon, case, expect, expect_equal, fresh, main, ok, write

MODEL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "models", "carbon-tiny")
# The consensus of human Alu repeats (AluY), and the coding sequence of human beta-globin (NM_000518).
ALU = (
    "GGCCGGGCGCGGTGGCTCACGCCTGTAATCCCAGCACTTTGGGAGGCCGAGGCGGGCGGATCACGAGGTCAGGAGATCGAGACCATCCCGGCTAAAACGGTGAAACCCCGTCTC"
    "TACTAAAAATACAAAAAATTAGCCGGGCGTGGTGGCGGGCGCCTGTAGTCCCAGCTACTCGGGAGGCTGAGGCAGGAGAATGGCGTGAACCCGGGAGGCGGAGCTTGCAGTGAG"
    "CCGAGATCGCGCCACTGCACTCCAGCCTGGGCGACAGAGCGAGACTCCGTCTCAAAAAAA")
GLOBIN = (
    "ATGGTGCATCTGACTCCTGAGGAGAAGTCTGCCGTTACTGCCCTGTGGGGCAAGGTGAACGTGGATGAAGTTGGTGGTGAGGCCCTGGGCAGGCTGCTGGTGGTCTACCCTTGG"
    "ACCCAGAGGTTCTTTGAGTCCTTTGGGGATCTGTCCACTCCTGATGCTGTTATGGGCAACCCTAAGGTGAAGGCTCATGGCAAGAAAGTGCTCGGTGCCTTTAGTGATGGCCTG"
    "GCTCACCTGGACAACCTCAAGGGCACCTTTGCCACACTGAGTGAGCTGCACTGTGACAAGCTGCACGTGGATCCTGAGAACTTCAGGCTCCTGGGCAACGTGCTGGTCTGTGTG"
    "CTGGCCCATCACTTTGGCAAAGAATTCACCCCACCAGTGCAGGCTGCCTATCAGAAAGTGGTGGCTGGTGTGGCTAATGCCCTGGCCCACAAGTATCACTAA")


def reverse_complement(bases):
    return bases[::-1].translate(str.maketrans("ACGT", "TGCA"))


def shuffled(bases, seed):
    letters = list(bases)
    random.Random(seed).shuffle(letters)
    return "".join(letters)


def mean_logp(sequences):
    """Nats a base of each sequence, mean of both strands."""
    fasta = "".join(">s%d\n%s\n" % item for item in enumerate(sequences))
    result = ok("score", "-m", MODEL, "--strand", "both", write(fresh(), "s.fa", fasta))
    return [float(line.split("\t")[6]) for line in result.table()[1:]]


@case
def an_alu_repeat_is_known():
    real, *others = mean_logp([ALU] + [shuffled(ALU, seed) for seed in range(5)])
    expect(real > max(others) + 0.2, "Alu %.3f, shuffled %s" % (real, others))
    one_strand = mean_logp([ALU, reverse_complement(ALU)])
    expect(abs(one_strand[0] - one_strand[1]) < 1e-4, "both strands were asked for: %s" % one_strand)


@case
def a_gene_is_likelier_than_its_bases_in_random_order():
    real, *others = mean_logp([GLOBIN] + [shuffled(GLOBIN, seed) for seed in range(5)])
    expect(real > max(others) + 0.01, "beta-globin %.4f, shuffled %s" % (real, others))


@case
def it_says_once_what_it_is():
    path = write(fresh(), "s.fa", ">a\nACGTACGTACGT\n")
    for arguments in (["-m", MODEL], ["-m", MODEL + "/"], ["-m", "carbon-tiny"]):
        result = carbon("score", *arguments, path, env={"CARBON_MODEL_PATH": os.path.dirname(os.path.abspath(MODEL))})
        expect_equal(result.rc, 0, "exit status")
        expect_equal([w for w in result.messages("W") if "demonstration model" in w], result.messages("W"), "warnings")
        expect_equal(len(result.messages("W")), 1, "warnings")


if __name__ == "__main__":
    main()
