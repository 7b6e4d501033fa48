"""--estimate of vep, score and scan: what a run would take, without its output. How long is not tested, because machines differ."""

import os
import re
import shlex
import shutil

from harness import (CARBON, ENV, carbon, case, command, decompress, expect, expect_equal, expect_failure, fresh, main, model, ok, read, records,
                     to_fasta, write)
from generate_support import random_bases
from vep_support import MINI, reference

SPEED = re.compile(r"at ([0-9.e+]+) tokens per second, measured with (\d+) of them, the run takes about [0-9.]+ (s|min|h|days)$")


def estimate(*args):
    """The sentence before the one on the speed, of a run that leaves nothing behind."""
    d = fresh()
    result = ok(*args, "--estimate", "-q", "-o", os.path.join(d, "out"))
    expect_equal((result.err, os.listdir(d)), ("", []), "messages and files")
    said = result.lines()
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
    expect("no tokens, so that the model has nothing to compute" in result.text, "an empty VCF", result)
    expect_failure(carbon("score", "-m", model(), "--estimate", os.path.join(fresh(), "absent.fa")), "absent.fa")


@case
def a_dry_run_is_a_result():
    fasta = write(fresh(), "s.fa", to_fasta([("a", random_bases(600, 1))]))
    result = ok("scan", "-m", model(), "-f", fasta, "--dry-run", "-q")
    expect_equal(result.err, "", "messages")
    expect("600 bases in 2 windows" in result.text and result.text.startswith("windows of "), "the work", result)


@case
def a_time_gives_shares_and_their_command():
    """The command that is printed runs as it stands, for each share, and its outputs are those of the whole run."""
    d = fresh()
    shutil.copy(MINI, os.path.join(d, "my in.vcf"))
    run = ["vep", "-m", model(), "-f", reference(), "-w", "60", "--no-version", "-qo", "out.vcf.gz", "--histogram=h.tsv", "my in.vcf"]
    said = ok(*run, "--estimate=1d", cwd=d).lines()
    expect_equal(said[-1], "this is within 24.0 h, so no shares are needed", "a run that needs no shares")
    said = ok(*run, "--estimate=0.001s", cwd=d).lines()
    found = re.search(r"^(\d+) shares take about \S+ \S+ each on such machines; run this for every I from 1 to (\d+):$", said[-2])
    expect(found and found[1] == found[2], "how many shares", "\n".join(said))
    expect_equal(os.listdir(d), ["my in.vcf"], "files of an estimate")
    words = shlex.split(said[-1])
    expect_equal(words, ["carbon", "vep", "--shard", "$I/" + found[1], "-m", model(), "-f", reference(), "-w", "60", "--no-version", "-qo", "out.$I.vcf.gz",
                         "--histogram=h.$I.tsv", "my in.vcf"], "the command")
    line = said[-1].replace("$I/" + found[1], "$I/2").replace("carbon vep", CARBON + " vep", 1)
    for share in (1, 2):
        expect(command(["sh", "-c", line], env={**ENV, "I": str(share)}, cwd=d).rc == 0, "share %d" % share)
    ok(*run, cwd=d)
    shares = [records(decompress(read(os.path.join(d, "out.%d.vcf.gz" % share))).decode()) for share in (1, 2)]
    expect_equal(shares[0] + shares[1], records(decompress(read(os.path.join(d, "out.vcf.gz"))).decode()), "records")


@case
def times_and_shares_that_cannot_be():
    run = ["vep", "-m", model(), "-f", reference(), MINI]
    for bad in ("8", "h", "8x", "-1h", "0h"):
        expect_failure(carbon(*run, "--estimate=" + bad), "--estimate=" + bad, "8h")
    expect_failure(carbon(*run, "--estimate="), "is empty")
    expect_failure(carbon(*run[:-1], "--estimate", "8h", MINI), "stands directly behind it: --estimate=8h")
    expect_failure(carbon(*run, "--estimate=8h", "--shard", "1/2"), "leave out --shard")
    expect_failure(carbon(*run[:-1], "-", "--estimate=8h", stdin=b""), "standard input")
    expect_failure(carbon("scan", "-m", model(), "-f", reference(), "-O", "bigwig", "-o", os.path.join(fresh(), "x"), "--estimate=8h"), "put together")
    said = ok("scan", "-m", model(), "-f", reference(), "--estimate=1e-6s".replace("1e-6", "0.001")).lines()
    expect(said[-1].startswith("carbon scan --shard $I/") and said[-1].endswith(" > share.$I"), said[-1])
    expect("no shares are needed" in ok(*run, "--estimate=1h30m").text, "a time in two units")


if __name__ == "__main__":
    main()
