"""Values of a scan in the hands of other programs: tabix finds the lines of a region, and bcftools and vcfanno put into a VCF
what the table has, by the commands of docs/recipes.md as they stand there.

On real variants if CARBON_SHARED has them, and on a made-up VCF with all kinds of alternatives."""

import os
import random
import re
import shutil

from documentation_support import SOURCE, environment, run_block
from harness import (SHARED, Skip, case, decompress, expect, expect_close, expect_equal, fresh, info_of, main, model, ok, read,
                     records, to_fasta, tool, write)

MODEL = dict(max_positions=64)  # windows of 378 bp
HEAD = "##fileformat=VCFv4.2\n%s##ALT=<ID=NON_REF,Description=\"any\">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def table(path):
    """{(contig, POS, REF, ALT): the value as text}"""
    return {tuple(fields[:4]): fields[4] for fields in (line.split("\t") for line in records(decompress(read(path)).decode()))}


# ---- tabix ---------------------------------------------------------------------------------------------------------


@case
def tabix_finds_the_lines_of_a_region():
    rng = random.Random(3)
    bases = "".join(rng.choice("ACGT") for _ in range(70000))
    fasta = write(fresh(), "ref.fa", to_fasta([("first", bases[:20000] + "N" * 100 + bases[20000:]), ("second", bases[:500])]))
    for option, suffix in (("-W", ".csi"), ("-W=tbi", ".tbi")):
        path = os.path.join(fresh(), "scan.tsv.gz")
        ok("scan", "-q", "-m", model(**MODEL), "-f", fasta, "--strand", "+", "-o", path, option)
        expect(os.path.exists(path + suffix), "no index " + suffix)
        lines = [(line, *line.split("\t")[:2]) for line in records(decompress(read(path)).decode())]
        expect_equal(len(lines), 3 * 70500, "lines of the table")
        # Beside Ns, across the end of a block at 65,536, to the end of a contig, and where there is nothing.
        for contig, begin, end in (("first", 1, 1), ("first", 19999, 20103), ("first", 20001, 20100), ("first", 65530, 65540),
                                   ("first", 69000, 70100), ("second", 1, 500), ("second", 300, 301)):
            wanted = [line for line, name, pos in lines if name == contig and begin <= int(pos) <= end]
            got = tool("tabix", path, "%s:%d-%d" % (contig, begin, end)).lines()
            expect_equal(got, wanted, "%s:%d-%d with %s" % (contig, begin, end, suffix))
        header = [line for line in decompress(read(path))[:5000].decode().splitlines() if line.startswith("#")]
        expect_equal(tool("tabix", "-H", path).lines(), header, "header with " + suffix)
        expect(any(line.startswith("##carbon_scanModel=") for line in header), "no line on the model")


# ---- the commands of the document ----------------------------------------------------------------------------------


def commands():
    """The blocks of the document's section, and whether each needs vcfanno."""
    section = read(os.path.join(SOURCE, "docs", "recipes.md")).decode().split("\n### Annotating a VCF from a scan\n")[1].split("\n### ")[0]
    found = re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)
    expect_equal(["vcfanno " in text for text in found], [False, False, False, True], "blocks that run vcfanno")
    return found


def annotated(directory, with_vcfanno):
    """Runs the blocks on ref.fa and cohort.bcf of the directory, and reads the table that they made."""
    for name in ("bcftools", "tabix"):
        tool(name, "--version")
    env = environment(**MODEL)
    os.symlink(os.path.join(SOURCE, "packaging/vcfanno/scan.toml"), os.path.join(directory, "scan.toml"))
    for text in commands():
        if with_vcfanno or "vcfanno " not in text:
            run_block("docs/recipes.md", text, directory, env)
    return table(os.path.join(directory, "scan.tsv.gz"))


def output(directory, name):
    """The records of a file, after a look at its header: the tag's definition and the scan's line on the model."""
    text = tool("bcftools", "view", "--no-version", os.path.join(directory, name)).text
    model_line, = [line for line in tool("bcftools", "view", "-h", os.path.join(directory, "scan.bcf")).lines()
                   if line.startswith("##carbon_scanModel=")]
    expect(model_line in text.splitlines(), "the line on the model is not in " + name)
    expect("##INFO=<ID=CARBON_SCAN,Number=A,Type=Float" in text, "no definition in " + name)
    return [line.split("\t") for line in records(text)]


def place(fields):
    return tuple(fields[:2])


def check(values, fields, what, same):
    """The record has the table's value of each alternative, and . or nothing for one that is no SNV; returns how many."""
    wanted = [values.get((*fields[:2], fields[3], alt)) for alt in fields[4].split(",")]
    found = info_of("\t".join(fields)).get("CARBON_SCAN", ".")
    found = found.split(",") if found != "." else ["."] * len(wanted)
    expect_equal(len(found), len(wanted), "%s: values of %s" % (what, fields))
    for one, value in zip(found, wanted):
        if value is None:
            expect_equal(one, ".", "%s: value of an alternative that is no SNV in %s" % (what, fields))
        else:
            same(one, value, "%s: value of %s" % (what, fields))
    return sum(value is not None for value in wanted)


def rounded(one, value, what):
    """As vcfanno writes it."""
    expect(one != ".", what + " is missing")
    expect_close(float(one), float(value), 5.1e-5, what)


def check_all(directory, with_vcfanno):
    """Every output against the table; returns the number of SNVs."""
    values = annotated(directory, with_vcfanno)
    given = [line.split("\t") for line in tool("bcftools", "view", "-H", os.path.join(directory, "cohort.bcf")).lines()]
    names = [("looked_up.bcf", expect_equal), ("annotated.bcf", expect_equal)] + ([("by_vcfanno.bcf", rounded)] if with_vcfanno else [])
    counts = []
    for name, same in names:
        lines = output(directory, name)
        # vcfanno may change the order of records at one position.
        expect_equal(sorted(fields[:5] for fields in lines), sorted(fields[:5] for fields in given), "records of " + name)
        counts.append(sum(check(values, fields, name, same) for fields in lines))
    lines = output(directory, "split.bcf")
    expect(all("," not in fields[4] for fields in lines), "split.bcf is not split")
    counts.append(sum(check(values, fields, "split.bcf", expect_equal) for fields in lines))
    expect_equal(counts, counts[:1] * len(counts), "SNVs")
    return counts[0]


# ---- made-up variants ----------------------------------------------------------------------------------------------


def made_up(directory):
    """Alternatives of all kinds and orders, twenty records of each."""
    rng = random.Random(5)
    bases = "".join(rng.choice("ACGT") for _ in range(3000))
    write(directory, "ref.fa", to_fasta([("c1", bases)]))
    lines = []
    for i in range(200):
        pos = 20 + 14 * i
        ref, after = bases[pos - 1], bases[pos]
        a, b, c = rng.sample("ACGT".replace(ref, ""), 3)
        alleles = ((ref, a), (ref, a + "," + b), (ref, ",".join((a, b, c))), (ref, "<NON_REF>"), (ref, a + ",<NON_REF>"),
                   (ref, "<NON_REF>," + a), (ref, "%s,%s,%s" % (b, ref + a, a)), (ref, "*," + a), (ref + after, ref), (ref, ref + a))
        lines.append((pos, *alleles[i % 10]))
        # An insertion and a deletion at the position of an SNV.
        if i % 10 == 0:
            lines.insert(-1 if i % 20 else len(lines), (pos, ref, ref + "GATTA"))
            lines.append((pos, ref + after, ref))
    text = HEAD % "##contig=<ID=c1,length=3000>\n" + "".join("c1\t%d\t.\t%s\t%s\t.\t.\t.\n" % line for line in lines)
    tool("bcftools", "view", "--no-version", "-Ob", "-o", os.path.join(directory, "cohort.bcf"), write(directory, "in.vcf", text))
    tool("bcftools", "index", os.path.join(directory, "cohort.bcf"))


def on_made_up_variants(with_vcfanno):
    d = fresh()
    made_up(d)
    expect_equal(check_all(d, with_vcfanno), 220, "SNVs")


@case
def bcftools_on_all_kinds_of_alternatives():
    on_made_up_variants(False)


@case
def missing_values_of_carbon_vep_stay_missing():
    """bcftools moves values and flags of `carbon vep`; vcfanno, for which the document says otherwise, writes 0."""
    d = fresh()
    made_up(d)
    scored, given = os.path.join(d, "scored.bcf"), os.path.join(d, "cohort.bcf")
    # Records with one position and REF could take each other's values.
    tool("bcftools", "norm", "-d", "all", "-Ob", "-o", os.path.join(d, "one.bcf"), given)
    tool("bcftools", "index", os.path.join(d, "one.bcf"))
    ok("vep", "-q", "-m", model(), "-f", os.path.join(d, "ref.fa"), "-w", 96, "-o", scored, "-W", os.path.join(d, "one.bcf"))
    columns = "%CHROM %POS %REF %ALT %CARBON_LLR %CARBON_FLAG\n"
    wanted = tool("bcftools", "query", "-f", columns, scored).lines()
    moved = tool("bcftools", "annotate", "-a", scored, "-c", "INFO/CARBON_LLR,INFO/CARBON_FLAG", os.path.join(d, "one.bcf")).out
    expect_equal(tool("bcftools", "query", "-f", columns, "-", stdin=moved).lines(), wanted, "scores and flags")
    expect(any(",." in line.split()[4] for line in wanted), "no value is missing beside another")
    if shutil.which("vcfanno") is not None:
        for name, source in (("scored", scored), ("one", os.path.join(d, "one.bcf"))):
            tool("bcftools", "view", "-Oz", "-o", os.path.join(d, name + ".vcf.gz"), source)
            tool("bcftools", "index", "-t", os.path.join(d, name + ".vcf.gz"))
        write(d, "vep.toml", '[[annotation]]\nfile = "scored.vcf.gz"\nfields = ["CARBON_LLR"]\nops = ["self"]\nnames = ["CARBON_LLR"]\n')
        text = tool("vcfanno", "vep.toml", "one.vcf.gz", cwd=d).text
        expect(any(value == "0" for line in records(text) for value in info_of(line).get("CARBON_LLR", "").split(",")),
               "vcfanno keeps missing values: say so in docs/recipes.md")


def need_vcfanno():
    if shutil.which("vcfanno") is None:
        raise Skip("vcfanno is not installed")


@case
def vcfanno_on_all_kinds_of_alternatives():
    need_vcfanno()
    on_made_up_variants(True)


# ---- real variants -------------------------------------------------------------------------------------------------


@case
def real_variants():
    """All SNVs of BRCA1 in the 1000 Genomes Project; its records without samples and INFO."""
    reference = os.path.join(SHARED, "data", "genome", "ref_brca1.fa.gz")
    variants = os.path.join(SHARED, "data", "vcf", "brca1", "brca1_1kgPhase3_variants.vcf")
    for path in (reference, variants):
        if not os.path.exists(path):
            raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % path)
    d = fresh()
    write(d, "ref.fa", decompress(read(reference)))
    lines = [line.split("\t")[:7] for line in records(read(variants).decode())]
    # A record that is an SNV once its common bases are taken away: bcftools gives it that SNV's value in the table's way.
    lines = [fields for fields in lines if (fields[3], fields[4]) != ("AAAAC", "CAAAC,A")]
    text = HEAD % "##contig=<ID=ref_brca1>\n" + "".join("\t".join(fields) + "\t.\n" for fields in lines)
    text = text.replace("##ALT", '##ALT=<ID=CN0,Description="none">\n##ALT=<ID=CN2,Description="two">\n##ALT', 1)
    tool("bcftools", "view", "--no-version", "-Ob", "-o", os.path.join(d, "cohort.bcf"), write(d, "in.vcf", text))
    tool("bcftools", "index", os.path.join(d, "cohort.bcf"))
    with_vcfanno = shutil.which("vcfanno") is not None
    count = check_all(d, with_vcfanno)
    expect_equal(count, 1961, "SNVs")
    if not with_vcfanno:
        raise Skip("bcftools moves %d values; vcfanno is not installed" % count)


if __name__ == "__main__":
    main()
