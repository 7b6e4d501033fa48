"""What the name of an output says: it chooses the format, or is refused; and files that are given for one another."""

import os
import re

from harness import (carbon, case, data, decompress, expect, expect_equal, expect_failure, fresh, is_bgzf, main, model, ok, read,
                     tool)
from vep_support import MINI, reference

COMMANDS = {
    "vep": ("-f", reference, "-w", 48, MINI), "scan": ("-f", reference, "-r", "c2:20-60"), "score": (reference,), "embed": (reference,),
    "generate": ("-l", 12, reference),
}
# By command: names that are refused, and a word that says what to do.
REFUSED = {
    "vep": (("x.csv", ".tsv.gz"), ("x.json", ".tsv.gz"), ("x.wig", ".tsv.gz"), ("x.fa.gz", ".tsv.gz"), ("x.npy", ".tsv.gz"), ("x.xls", ".tsv.gz")),
    "scan": (("x.csv", "-O t"), ("x.wig", "bedgraph"), ("x.npy", "bigwig"), ("x.html", "-O"), ("x.bed.gz", "bedgraph")),
    "score": (("x.csv", ".tsv"), ("x.bw", "-O bedgraph"), ("x.vcf", ".tsv"), ("x.npy", ".tsv")),
    "embed": (("x.csv", "npy"), ("x.parquet", "safetensors"), ("x.npy.gz", "npy"), ("x.npz", "npy"), ("x.pt", "npy"), ("x.h5", "npy")),
    "generate": (("x.csv", ".fa"), ("x.vcf.gz", ".fa"), ("x.tsv", ".fa")),
}


def run(command, *args):
    given = [one() if callable(one) else one for one in COMMANDS[command]]
    return carbon(command, "-m", model(), *args, *given)


@case
def a_name_of_another_format_is_refused():
    for command, names in REFUSED.items():
        for name, way_out in names:
            d = fresh()
            expect_failure(run(command, "-o", os.path.join(d, name)), name, way_out)
            expect_equal(os.listdir(d), [], "files of %s -o %s" % (command, name))
    expect_failure(carbon("report", "-o", "x.json", MINI), "x.json", ".html")


@case
def an_output_type_that_the_name_contradicts_is_refused():
    for command, type_, name in (("scan", "bedgraph", "x.tsv"), ("scan", "bedgraph", "x.vcf.gz"), ("scan", "bigwig", "x.tsv.gz"),
                                 ("scan", "t", "x.bedgraph"), ("scan", "z", "x.bw"), ("score", "bedgraph", "x.tsv"), ("score", "tsv", "x.bedgraph"),
                                 ("embed", "tsv", "x.npy"), ("embed", "npy", "x.tsv"), ("embed", "safetensors", "x.npy")):
        expect_failure(run(command, "-O", type_, "-o", os.path.join(fresh(), name)), name, "-O")


@case
def a_wrong_output_type_is_answered_with_those_that_help_shows():
    fasta = reference()
    for name, args in (("vep", ("-f", fasta, MINI)), ("scan", ("-f", fasta)), ("+haplotypes", (MINI, "--", "-f", fasta))):
        shown = re.search(r"-O,--output-type (\S+)", ok(name, "--help").text)[1]
        for wrong in ("x", "t5", "v0x"):
            expect_failure(carbon(name, "-O", wrong, *args), "'%s' is not an output type; one of %s" % (wrong, shown))


@case
def a_name_chooses_the_format():
    """The bytes are those of the same run with -O."""
    for command, name, type_ in (("scan", "x.bedGraph", "bedgraph"), ("scan", "x.bg.gz", "bedgraph"), ("score", "x.bedgraph", "bedgraph"),
                                 ("score", "x.bdg.gz", "bedgraph"), ("embed", "x.npy", "npy"), ("embed", "x.safetensors", "safetensors")):
        d = fresh()
        paths = [os.path.join(d, name), os.path.join(d, "explicit_" + name)]
        for path, args in zip(paths, ((), ("-O", type_))):
            result = run(command, "--no-version", *args, "-o", path)
            expect(result.rc == 0, "expected rc 0", result)
        expect_equal(read(paths[0]), read(paths[1]), "%s -o %s" % (command, name))
        plain = tool("gzip", "-dc", paths[0]).out if name.endswith(".gz") else read(paths[0])
        expect(len(plain) > 0 and not plain.startswith(b"#CHROM"), "the format of " + name)
    d = fresh()
    for name, args in (("x.bw", ()), ("y", ("-O", "bigwig"))):
        result = run("scan", *args, "-o", os.path.join(d, name))
        expect(result.rc == 0, "expected rc 0", result)
    expect_equal(sorted(os.listdir(d)), sorted("%s.%s.bw" % (p, b) for p in "xy" for b in [*"ACGT", "lowest"]), "bigWig files")
    for base in [*"ACGT", "lowest"]:
        expect_equal(read(os.path.join(d, "x.%s.bw" % base)), read(os.path.join(d, "y.%s.bw" % base)), "bigWig of " + base)


@case
def capital_letters_and_suffixes_of_compression_mean_the_same():
    d = fresh()
    wanted = run("vep", "--no-version").out
    for name in ("x.gvcf.gz", "x.g.vcf.gz", "x.VCF.GZ", "x.vcf.bgzf", "x.gz"):
        result = run("vep", "--no-version", "-o", os.path.join(d, name))
        expect(result.rc == 0, "expected rc 0", result)
        expect(is_bgzf(read(os.path.join(d, name))), name + " is not compressed")
        expect_equal(decompress(read(os.path.join(d, name))), wanted, name)
    array = run("embed", "-o", os.path.join(d, "E.NPY"))
    expect(array.rc == 0, "expected rc 0", array)
    expect_equal(sorted(name for name in os.listdir(d) if name[0] == "E"), ["E.NPY", "E.json", "E.names.tsv"], "files beside an array")
    ok("report", "-o", os.path.join(d, "r.html"), os.path.join(d, "E.NPY"))
    table = run("scan", "--no-version", "-o", os.path.join(d, "s.TSV.BGZ"), "-W")
    expect(table.rc == 0 and is_bgzf(read(os.path.join(d, "s.TSV.BGZ"))), "a table", table)


@case
def a_name_that_says_nothing_changes_nothing():
    for command in COMMANDS:
        wanted = run(command, *(("--no-version",) if command in ("vep", "scan") else ())).out
        path = os.path.join(fresh(), "out.result")
        result = run(command, "-o", path, *(("--no-version",) if command in ("vep", "scan") else ()))
        expect(result.rc == 0, "expected rc 0", result)
        expect_equal(read(path), wanted, command)


@case
def settings_of_recipes_that_are_not_chosen_are_refused():
    args = ("vep", "-m", model(), "-f", reference())
    result = ok(*args, "--recipe", "next-token", "-w", 48, MINI)
    expect(any("--window has no effect" in line for line in result.messages("W")), "no warning", result)
    for options, word in ((("--recipe", "anchored", "-w", 48), "window"), (("--recipe", "anchored,next-token", "-w", 48), "window"),
                          (("--context", 60), "context"), (("--recipe", "centered", "--horizon", 6), "horizon")):
        expect_failure(carbon(*args, *options, MINI), "--" + word, "chosen")
    ok(*args, "--recipe", "centered,anchored", "-w", 48, "--context", 60, MINI)


@case
def swapped_files_are_named():
    fasta, d = data("mini.fa"), fresh()
    expect_failure(carbon("vep", "-m", model(), "-f", fasta, fasta), "FASTA", "swapped")
    for vcf in (MINI, os.path.join(d, "in.vcf.gz")):
        if not os.path.exists(vcf):
            tool("bcftools", "view", "-Oz", "-o", vcf, MINI)
        expect_failure(carbon("vep", "-m", model(), "-f", vcf, MINI), "VCF, and not FASTA", "swapped")
        expect_failure(carbon("scan", "-m", model(), "-f", vcf), "VCF, and not FASTA")
    text = os.path.join(d, "notes.txt")
    with open(text, "w") as f:
        f.write("dear reader\nACGT\n")
    expect_failure(carbon("scan", "-m", model(), "-f", text), "'dear reader' before the first '>'")


if __name__ == "__main__":
    main()
