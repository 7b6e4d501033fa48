"""Public data as it is: real VCFs on their FASTA, and hundreds of odd files through carbon vep.

Needs the folder named by CARBON_SHARED; every case is skipped, visibly, without it.
"""

import concurrent.futures
import os
import random
import subprocess

from harness import (ROOT, SHARED, carbon, case, command, decompress, expect, expect_equal, expect_failure, fresh,
                     info_of, is_bgzf, main, model, ok, own_errors, parse_fasta, read, records, Skip, to_fasta, tool,
                     without_tags, write)
from vep_support import summary_of

TIMEOUT = 20  # seconds for one file


def shared(path):
    full = os.path.join(SHARED, "data", path)
    if not os.path.exists(full):
        raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % full)
    return full


def vep(fasta, path, *args, **options):
    return ok("vep", "-m", model(), "-f", shared("genome/" + fasta), *args, path, **options)


def checked(path, result):
    """The records, after comparing all but the new tags with what bcftools prints."""
    lines = records(result.text)
    wanted = records(tool("bcftools", "view", "--no-version", path).text)
    expect_equal([without_tags(line) for line in lines], wanted, "records beside bcftools")
    return lines


def head(path, n):
    """The header and the first n records as a file of its own."""
    lines = decompress(read(path)).splitlines(True)
    body = [line for line in lines if not line.startswith(b"#")][:n]
    return write(fresh(), "head.vcf", b"".join([line for line in lines if line.startswith(b"#")] + body))


@case
def brca1():
    path = head(shared("vcf/brca1/brca1_1kgPhase3_variants.vcf"), 30)
    result = vep("ref_brca1.fa.gz", path, "--window", "96")
    lines = checked(path, result)
    expect_equal((len(lines), summary_of(result)["scored"], summary_of(result)["ref_mismatch"]), (30, 30, 0), "counts")
    expect(len({info_of(line)["CARBON_LLR"] for line in lines}) > 25, "the scores hardly differ")


@case
def brca1_all_records_in_a_small_window():
    path = shared("vcf/brca1/brca1_1kgPhase3_variants.vcf")
    out = os.path.join(fresh(), "o.vcf.gz")
    result = vep("ref_brca1.fa.gz", path, "--window", "12", "--strand", "+", "-o", out)
    expect_equal((summary_of(result)["total"], summary_of(result)["ref_mismatch"], summary_of(result)["no_contig"]), (2052, 0, 0), "counts")
    expect(is_bgzf(read(out)), "not BGZF")
    tool("tabix", "-p", "vcf", out)
    wanted = records(tool("bcftools", "view", "--no-version", path).text)
    expect_equal([without_tags(line) for line in records(tool("bcftools", "view", out).text)], wanted, "records")
    same = vep("ref_brca1.fa.gz", path + ".gz", "--window", "12", "--strand", "+")
    expect_equal(records(same.text), records(tool("bcftools", "view", out).text), "from the bgzip file")


@case
def giab_chr20():
    path = shared("vcf/nist/test_nist.b37_chr20_100kbp_at_10mb.vcf.gz")
    result = vep("hg19_chr20_slice.fa.gz", path, "--window", "96")
    checked(path, result)
    expect_equal((summary_of(result)["total"], summary_of(result)["scored"], summary_of(result)["ref_mismatch"]), (221, 221, 0), "counts")


@case
def giab_under_other_names():
    path = shared("vcf/nist/test_nist.b37_chr20_100kbp_at_10mb.vcf.gz")
    text = decompress(read(path)).replace(b"\nchr20\t", b"\n20\t").replace(b"##contig=<ID=chr", b"##contig=<ID=")
    bare = write(fresh(), "bare.vcf", text)
    fasta = shared("genome/hg19_chr20_slice.fa.gz")
    args = ["vep", "-m", model(), "-f", fasta, "--window", "24", bare]
    expect_failure(carbon(*args), "--unify-chr-names -,chr")
    wanted = [info_of(line).get("CARBON_LLR") for line in records(vep("hg19_chr20_slice.fa.gz", path, "--window", "24").text)]
    got = ok(*args, "--unify-chr-names", "-,chr")
    expect_equal([info_of(line).get("CARBON_LLR") for line in records(got.text)], wanted, "scores")


@case
def clinvar_on_a_part_of_chr20():
    # Ten of 551 records lie on the slice's contig, eight of them where it is N.
    path = shared("vcf/clinvar/clinvar_alleles.multi.b37.vcf.gz")
    result = vep("hg19_chr20_slice.fa.gz", path, "--window", "96", "--unify-chr-names", "-,chr")
    checked(path, result)
    found = summary_of(result)
    expect_equal((found["total"], found["scored"], found["ref_mismatch"]), (551, 2, 0), "counts")
    expect(len(result.messages("W")) < 120, "more warnings than contigs", result)


@case
def sars_cov_2():
    for name in ("simple.vcf", "ribosomal-slippage.vcf"):
        path = shared("vcf/sars_cov_2/" + name)
        result = vep("sars_cov_2.fa.gz", path, "--window", "96")
        checked(path, result)
        expect_equal((summary_of(result)["total"], summary_of(result)["scored"]), (1, 1), "counts of " + name)


@case
def bcftools_pairs():
    # (VCF, FASTA, records, records whose REF letters differ from the FASTA's)
    for name, fasta, total, wrong in (("norm.split.vcf", "norm.fa", 19, 0), ("fixref.2b.vcf", "norm.fa", 6, 0),
                                      ("fixref.2a.vcf", "norm.fa", 6, 3), ("fixref.3.vcf", "fixref.3.fa", 8, 0),
                                      ("norm.check-ref.vcf", "norm.check-ref.fa", 1, 1),
                                      ("norm.symbolic.vcf", "norm.symbolic.fa", 4, 0),
                                      ("norm.right-align.vcf", "norm.right-align.fa", 2, 0), ("norm.6.vcf", "norm.2.fa", 4, 0)):
        path = shared("vcf/bcftools/" + name)
        copy = write(fresh(), fasta, read(shared("vcf/bcftools/" + fasta)))
        # Half of the records of fixref.2a are wrong on purpose.
        result = ok("vep", "-m", model(), "-f", copy, "--window", "96", "--max-ref-mismatch", "1", path)
        checked(path, result)
        expect_equal(summary_of(result)["total"], total, "records of " + name)
        expect_equal(len({line.split("\t")[1] for line in records(result.text) if "ref_mismatch" in line}), wrong,
                     "mismatches of " + name)


@case
def regions_of_awkward_names():
    fasta = shared("genome/brca2_hg38.fa.gz")
    name = "ref|NC_000013.11|:32306558-32408787"
    bases = parse_fasta(decompress(read(fasta)).decode())[0][1]
    wanted = ok("score", "-m", model(), write(fresh(), "a.fa", to_fasta([(name, bases[1000:1100])]))).table()[1].split("\t")
    got = ok("score", "-m", model(), "-r", "{%s}:1001-1100" % name, fasta).table()[1].split("\t")
    expect_equal(got, [name, "1000", "1100"] + wanted[3:], "a name that looks like a region")
    ok("score", "-m", model(), "-r", name, "--window", "600", fasta)


# ---- every VCF -----------------------------------------------------------------------------------------------------


def every_vcf():
    top = shared("vcf")
    found = [os.path.join(where, name) for where, _, files in os.walk(top) for name in files
             if name.endswith((".vcf", ".vcf.gz"))]
    expect(len(found) > 250, "only %d VCF files" % len(found))
    return sorted(found)


def made_up_reference(paths):
    """A FASTA with a contig for every plausible name of the files, so that records reach the model."""
    names = {}
    for path in paths:
        for line in decompress(read(path)).splitlines():
            name = line.split(b"\t")[0].decode("latin-1")
            if line and not line.startswith(b"#") and name.isascii() and name.isprintable() and " " not in name and name:
                names[name] = None
    bases = "".join(random.Random(2).choice("ACGT") for _ in range(300))
    return write(ROOT, "every.fa", to_fasta([(name, bases) for name in names]))


def run_one(path, fasta):
    """A line about what is wrong, or '' and the exit status."""
    out = os.path.join(fresh(), "o.vcf.gz")
    try:
        result = carbon("vep", "-m", model(), "-f", fasta, "-w", "24", "--max-ref-mismatch", "1", "--no-version", "-o", out, path,
                        timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return "hangs", None
    left = os.listdir(os.path.dirname(out))
    if result.rc == 1:
        if len(own_errors(result)) != 1:
            return "no single message: " + result.err, 1
        kept = ["o.vcf.gz.partial"] if "what was computed is kept" in result.err else []
        return ("leaves %r" % left, 1) if left != kept else ("", 1)
    if result.rc != 0:
        return "rc %d: %s" % (result.rc, result.err), result.rc
    # Their locale is the same, so that both print numbers alike.
    theirs = command(["bcftools", "view", "--no-version", path], timeout=TIMEOUT)
    if theirs.rc != 0:
        return "rc 0, but bcftools refuses it: " + theirs.err.splitlines()[-1], 0
    ours = records(tool("bcftools", "view", "--no-version", out).out.decode("latin-1"))
    wanted = records(theirs.out.decode("latin-1"))
    if len(ours) != len(wanted):
        return "%d records, bcftools has %d" % (len(ours), len(wanted)), 0
    for a, b in zip(ours, wanted):
        if without_tags(a) != b:
            return "a record is\n%s, bcftools has\n%s" % (a, b), 0
    return "", 0


@case
def every_vcf_ends_well():
    tool("bcftools", "--version")
    paths = every_vcf()
    fasta = made_up_reference(paths)
    tool("samtools", "faidx", fasta)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda path: run_one(path, fasta), paths))
    wrong = ["%s: %s" % (os.path.relpath(path, SHARED), text) for path, (text, _) in zip(paths, outcomes) if text]
    done = {rc: sum(status == rc for _, status in outcomes) for rc in (0, 1)}
    print("%d files: rc 0 for %d, rc 1 for %d" % (len(paths), done[0], done[1]))
    expect(not wrong, "%d files:\n%s" % (len(wrong), "\n".join(wrong)))
    refused = {os.path.relpath(path, SHARED) for path, (_, status) in zip(paths, outcomes) if status == 1}
    passed = [path for path in refused if "/passed/" in path]
    expect(not passed, "valid files are refused: %s" % passed)
    expect("data/vcf/gpn/example.vcf" in refused, "a VCF without a header is accepted")


if __name__ == "__main__":
    main()
