"""--dtype int8: where outputs name it, that nothing but the numbers changes a byte, how near it is to f32, and what it refuses."""

import math
import os

from harness import carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, write

FASTA = data("mini.fa")


def totals(*args):
    """{(name, strand): (log-probability, bases)} of carbon score."""
    rows = [line.split("\t") for line in ok("score", *args).table() if not line.startswith("#")]
    return {(row[0], row[3]): (float(row[5]), int(row[4])) for row in rows}


def variants():
    """SNVs of the first contig of mini.fa, far enough from its ends."""
    with open(FASTA) as f:
        name = f.readline()[1:].split()[0]
        bases = ""
        for line in f:
            if line.startswith(">"):
                break
            bases += line.strip().upper()
    lines = ["##fileformat=VCFv4.2", "##contig=<ID=%s>" % name, "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO"]
    for at in range(70, len(bases) - 70, 9):
        if bases[at] in "ACGT":
            lines.append("%s\t%d\t.\t%s\t%s\t.\t.\t." % (name, at + 1, bases[at], "ACGT"[("ACGT".index(bases[at]) + 1) % 4]))
    return write(fresh(), "in.vcf", "\n".join(lines) + "\n")


@case
def outputs_name_it():
    header = [line for line in ok("vep", "--dtype", "int8", "-m", model(), "-w", "120", "-f", FASTA, variants()).lines()
              if line.startswith("##carbon_vepModel")]
    expect_equal(len(header), 1, "lines of provenance")
    expect("Dtype=int8," in header[0] and "+int8.1:" in header[0], header[0])
    expect("int8" not in ok("vep", "-m", model(), "-w", "120", "-f", FASTA, variants()).text, "int8 was chosen by auto")


@case
def bytes_depend_on_nothing_else():
    common = ("--dtype", "int8", "-m", model(), "-q")
    vep = ("vep", "--no-version", *common, "-w", "120", "-f", FASTA)
    path = variants()
    cache = os.path.join(fresh(), "scores.cache")
    one = ok(*vep, "-@", "1", path).out
    for more in (("-@", "2"), ("--batch-tokens", "50"), ("--cache", cache), ("--cache", cache)):
        expect_equal(ok(*vep, *more, path).out, one, "with %s" % (more,))
    prompt = write(fresh(), "p.fa", ">p\nACGTACGTTGCA\n")
    generate = ("generate", *common, "-l", "120", "-n", "3", "--seed", "5")
    alone = ok(*generate, prompt).out
    expect_equal(ok(*generate, "-@", "1", "--batch-tokens", "7", prompt).out, alone, "generate in other batches")
    expect_equal(ok(*generate, "--draft", model(seed=4), prompt).out, alone, "generate with a draft")


@case
def scores_are_near_those_of_f32():
    # The bundled model. An error of a base is about 1e-3 nats and has no preferred sign: docs/exactness.md.
    wide, narrow = totals(FASTA, "--dtype", "f32"), totals(FASTA, "--dtype", "int8")
    expect_equal(wide.keys(), narrow.keys(), "sequences")
    for key, (total, bases) in wide.items():
        if bases:
            difference = abs(narrow[key][0] - total)
            expect(0 < difference < 0.02 * math.sqrt(bases), "%s: %g nats over %d bases" % (key, difference, bases))


@case
def refusals():
    expect_failure(carbon("score", "--device", "cuda", "--dtype", "int8", FASTA), "int8", "--device cpu")
    expect_failure(carbon("score", "--dtype", "int16", FASTA), "--dtype")


if __name__ == "__main__":
    main()
