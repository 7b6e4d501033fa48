"""--estimate of vep, score and scan: what a run would take, without its output. How long is not tested, because machines differ."""

import os
import re

from harness import case, expect, expect_equal, expect_failure, carbon, fresh, main, model, ok, to_fasta, write
from generate_support import random_bases
from vep_support import MINI, reference

SPEED = re.compile(r"at ([0-9.e+]+) tokens per second, measured with (\d+) of them, the run takes about [0-9.]+ (s|min|h|days)$")


def estimate(*args):
    """The sentence before the one on the speed, of a run that leaves nothing behind."""
    d = fresh()
    result = ok(*args, "--estimate", "-o", os.path.join(d, "out"))
    expect_equal((result.out, os.listdir(d)), (b"", []), "output and files")
    said = result.messages("M")
    found = SPEED.search(said[-1])
    expect(found and float(found[1]) > 0 and int(found[2]) > 0, "the speed", result)
    return said[-2]


@case
def vep_counts_records_and_windows():
    run = ["vep", "-m", model(), "-f", reference(), MINI]
    cache = os.path.join(fresh(), "cache")
    for recipe in (["-w", 60], ["--recipe", "next-token", "--context", 60], ["--recipe", "anchored", "--context", 60, "--horizon", 12]):
        total, scored = re.search(r"^Records (\d+), scored (\d+)", ok(*run, *recipe).err, re.M).groups()
        said = estimate(*run, *recipe, "--cache", cache)
        expect("%s records, of which %s get scores, from " % (total, scored) in said, said)
        expect(not os.path.exists(cache), "an estimate wrote a cache")

    def windows(*options):
        return int(re.search(r"from (\d+) windows", estimate(*run, "-w", 60, *options))[1])

    expect_equal(windows("--shard", "1/2") + windows("--shard", "2/2"), windows(), "windows of both shares")


@case
def alleles_that_share_windows_are_measured():
    """Enough variants that the speed is measured in two parts, which must not cut what shares a window."""
    bases = random_bases(6000, 5)
    d = fresh()
    fasta = write(d, "g.fa", to_fasta([("c", bases)]))
    lines = "".join("c\t%d\t.\t%s\t%s\t.\t.\t.\n" % (i, bases[i - 1], "ACGT"["ACGT".index(bases[i - 1]) - 1]) for i in range(100, 5900, 7))
    vcf = write(d, "v.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + lines)
    said = estimate("vep", "-m", model(), "-f", fasta, "--recipe", "anchored", "--context", 600, "--horizon", 60, vcf)
    expect("829 records, of which 829 get scores" in said, said)


@case
def score_and_scan_count_bases():
    fasta = write(fresh(), "s.fa", to_fasta([("a", random_bases(600, 1)), ("b", random_bases(61, 2))]))
    said = estimate("score", "-m", model(), fasta)
    expect("2 sequences of 661 bases in 2 windows with 111 tokens" in said, said)
    said = estimate("scan", "-m", model(), "--frames", 1, "--strand", "+", "-f", fasta)
    expect("661 bases in 2 windows" in said, said)


@case
def nothing_to_compute():
    vcf = write(fresh(), "v.vcf", "##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
    result = ok("vep", "-m", model(), "-f", reference(), "--estimate", vcf)
    expect("no tokens, so that the model has nothing to compute" in result.err, "an empty VCF", result)
    expect_failure(carbon("score", "-m", model(), "--estimate", os.path.join(fresh(), "absent.fa")), "absent.fa")


if __name__ == "__main__":
    main()
