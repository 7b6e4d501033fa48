"""The same regions in every spelling select the same in every command and plugin that takes regions: one reader for all."""

import os

from harness import (bgzip, carbon, case, data, expect, expect_equal, expect_failure, fresh, genome, main, model, ok, read, records, write)

REGIONS = [("c1", 31, 44), ("c1", 90, 90), ("c2", 20, 33)]  # from 1, both ends included
POINTS = [("c1", 31, 31), ("c1", 90, 90), ("c2", 33, 33)]
GENOME = {name: bases.upper() for name, bases in genome().items()}
FASTA = data("mini.fa")


def lines(regions, form):
    return "".join(form(*region) + "\n" for region in regions)


def bed(contig, begin, end):
    return "%s\t%d\t%d" % (contig, begin - 1, end)


def interval(contig, begin, end):
    return "%s\t%d\t%d" % (contig, begin, end)


def position(contig, begin, _):
    return "%s\t%d" % (contig, begin)


def string(contig, begin, end):
    return "%s:%d-%d" % (contig, begin, end)


def mixed(contig, begin, end):
    return position(contig, begin, end) if begin == end else string(contig, begin, end) if contig == "c2" else interval(contig, begin, end)


def spellings(regions):
    """{name: path} of files of regions; positions only where every region is one."""
    d = fresh()
    files = {"intervals": write(d, "intervals.txt", lines(regions, interval)), "strings": write(d, "strings.txt", lines(regions, string)),
             "mixed": write(d, "mixed.txt", "#\n\n" + lines(regions[1:] + regions[:1], mixed)),
             "spaces": write(d, "spaces.list", lines(regions, interval).replace("\t", " "))}
    text = lines(regions, bed)
    for name in ("r.bed", "r.BED", "r.Bed.bgz", "r.bed.BGZF"):
        path = write(d, name, text)
        if name.lower() != "r.bed":
            with open(bgzip(write(d, "packed", text)), "rb") as packed:
                write(d, name, packed.read())
        files[name] = path
    files["r.bed.gz"] = bgzip(write(d, "z.bed", text))
    files["gff3"] = write(d, "r.GFF3", lines(regions, lambda c, b, e: "%s\tx\tgene\t%d\t%d\t.\t+\t.\tID=a" % (c, b, e)))
    files["gtf"] = write(d, "r", lines(regions, lambda c, b, e: '%s\tx\tgene\t%d\t%d\t.\t+\t.\tgene_id "a";' % (c, b, e)))
    if all(begin == end for _, begin, end in regions):
        files["positions"] = write(d, "positions.txt", lines(regions, position))
        files["VCF"] = write(d, "r.VCF", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\n" +
                             lines(regions, lambda c, b, e: "%s\t%d\t7\tACG\tA" % (c, b)))
    return files


SCAN = '##carbon_scanModel=<ID=CARBON_SCAN,Model="x">\n'


def snvs():
    """A record at every base, with a value, a class and a phased genotype."""
    rows = "".join("%s\t%d\t.\t%s\t%s\t.\t.\tX=%d;CARBON_SCAN=%d;CLASS=%s\tGT\t0|1\n"
                   % (name, i + 1, base, "C" if base == "A" else "A", 7 * i % 120, -i, "ab"[i % 2])
                   for name in ("c1", "c2") for i, base in enumerate(GENOME[name]) if base in "ACGT" and i < 120)
    return write(fresh(), "in.vcf", "##fileformat=VCFv4.2\n" + SCAN + "##INFO=<ID=X,Number=A,Type=Float,Description=\"x\">\n"
                 "##INFO=<ID=CARBON_SCAN,Number=A,Type=Float,Description=\"x\">\n"
                 "##INFO=<ID=CLASS,Number=1,Type=String,Description=\"class\">\n##FORMAT=<ID=GT,Number=1,Type=String,Description=\"genotype\">\n"
                 "##contig=<ID=c1>\n##contig=<ID=c2>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\tS1\n" + rows)


def commands():
    """{name: function of a file that gives sorted records}; names of rows are no part of what is selected."""
    vcf, packed = snvs(), bgzip(snvs())
    ok("vep", "-q", "-m", model(), "-f", FASTA, "-w", 12, "--strand", "+", "-O", "z", "-W", "-o", packed + ".vcf.gz", vcf)
    vep = ("vep", "-m", model(), "-f", FASTA, "-w", 12, "--strand", "+", "--no-version")
    fields = lambda result: sorted(line for line in result.lines() if line and line[0] != "#")
    labelled = model(labels=1, label_names="activity", problem_type="regression")
    background = write(fresh(), "h.hist", SCAN + "#TRI\tALT\tBIN\tCOUNT\nAAA\tC\t0\t1\n")
    genes = write(fresh(), "genes.bed", "c1\t0\t200\tone\nc2\t0\t200\ttwo\n")
    # What reads records does so for all plugins alike, with -T, and of an indexed file with -R.
    plugins = {
        "+auroc": (1, ["--score", "X", "--label", "CLASS=b/a", "--bootstrap", "0"], fields),
        "+combine": (1, ["--scores", "X:high"], lambda result: sorted(records(result.text))),
        "+concord": (2, ["--tags", "X", "--bootstrap", "0"], fields),
        "+gene-summary": (1, ["--tag", "X", "-R", genes], fields),
        "+haplotypes": (1, ["-f", FASTA], fields),
        "+rank": (1, ["--background", background], lambda result: sorted(records(result.text))),
    }
    of_records = lambda name, option, source: lambda path: plugins[name][2](
        ok(name, option, path, *[source] * plugins[name][0], "--", *plugins[name][1]))
    return {
        "vep -T": lambda path: sorted(records(ok(*vep, "-T", path, vcf).text)),
        "vep -R": lambda path: sorted(records(ok(*vep, "-R", path, packed + ".vcf.gz").text)),
        "scan -R": lambda path: fields(ok("scan", "-m", model(), "-f", FASTA, "-R", path, "--no-version")),
        "scan -T": lambda path: fields(ok("scan", "-m", model(), "-f", FASTA, "-T", path, "--no-version")),
        "score": lambda path: fields(ok("score", "-m", model(), "-R", path, FASTA)),
        "embed": lambda path: fields(ok("embed", "-m", model(), "-R", path, FASTA)),
        "predict": lambda path: fields(ok("predict", "-m", labelled, "-R", path, FASTA)),
        **{"%s %s" % (name, option): of_records(name, option, source)
           for name in plugins for option, source in (("-T", vcf), ("-R", packed + ".vcf.gz"))},
        "+mutagenesis": lambda path: sorted(records(ok("+mutagenesis", "-m", model(), "--", "-f", FASTA, "--window", 12, "-R", path).text)),
        "+gene-summary": lambda path: sorted(
            line.split("\t")[:3] + line.split("\t")[5:] for line in ok("+gene-summary", vcf, "--", "--tag", "X", "--regions", path).lines()[1:]),
    }


@case
def every_spelling_selects_the_same_everywhere():
    found = commands()
    whole = write(fresh(), "whole.bed", "c1\t0\t120\nc2\t0\t120\n")
    for regions in (REGIONS, POINTS):
        files = spellings(regions)
        for name, select in found.items():
            wanted = select(files["r.bed"])
            expect(wanted and wanted != select(whole), "%s selects nothing, or everything" % name)
            for spelling in files if regions == REGIONS else ("positions", "VCF", "mixed"):
                expect_equal(select(files[spelling]), wanted, "%s with %s" % (name, spelling))
        expect_equal([(row.split("\t")[0], int(row.split("\t")[1])) for row in found["vep -T"](files["mixed"])],
                     [(c, p) for c, b, e in regions for p in range(b, e + 1) if GENOME[c][p - 1] in "ACGT"], "records of vep")


@case
def options_and_files_mean_the_same():
    vep = ("vep", "-m", model(), "-f", FASTA, "-w", 12, "--strand", "+", "--no-version")
    vcf, path = snvs(), spellings(REGIONS)["strings"]
    text = ",".join(string(*region) for region in REGIONS)
    expect_equal(ok(*vep, "-t", text, vcf).out, ok(*vep, "-T", path, vcf).out, "vep -t")
    expect_equal(ok("scan", "-m", model(), "-f", FASTA, "-r", text, "--no-version").out,
                 ok("scan", "-m", model(), "-f", FASTA, "-R", path, "--no-version").out, "scan -r")
    each = [word for region in REGIONS for word in ("-r", string(*region))]
    expect_equal(ok("score", "-m", model(), "--no-version", *each, FASTA).out,
                 ok("score", "-m", model(), "--no-version", "-R", path, FASTA).out, "score -r")
    table = write(fresh(), "s.tsv", ok("score", "-m", model(), "-O", "tsv", FASTA).out)
    pages = []
    for one in ("c1:31-44", "{c1}:31-44", "c1:3.1e1-44", "c1:0,031-0,044"):
        out = os.path.join(fresh(), "r.html")
        ok("report", "--no-version", "-r", one, "-o", out, table)
        pages.append(read(out))
    expect(all(page == pages[0] for page in pages), "pages of spellings of one region differ")


@case
def what_selects_nothing_is_said():
    d = fresh()
    empty = write(d, "some.bed", "c1\t30\t30\nc1\t30\t44\nc2\t5\t5\n")
    only = write(d, "only.bed", "c1\t30\t30\n")
    unclear = write(d, "unclear.txt", "c1\t31\t44\nc1\t50\tA\n")
    vcf = snvs()
    for args in (("vep", "-m", model(), "-f", FASTA, "-w", 12, vcf, "-T"), ("scan", "-m", model(), "-f", FASTA, "-R"),
                 ("score", "-m", model(), FASTA, "-R"), ("+gene-summary", vcf, "--", "--tag", "X", "--regions")):
        result = ok(*args, empty)
        told = [line for line in result.messages("W") if "some.bed:1: BEG is END" in line and "1 further line" in line]
        expect_equal(len(told), 1, "warnings of %s: %s" % (args[0], result.err))
        expect_failure(carbon(*args, only), "only.bed", "has a base")
        expect_failure(carbon(*args, write(d, "none.bed", "#\n")), "none.bed", "no regions")
        expect_failure(carbon(*args, unclear), "unclear.txt:2", "'A'", "unclear.txt:1")
    expect_failure(carbon("score", "-m", model(), "-r", "chrc1:5-9", FASTA), "region 'chrc1:5-9': no sequence chrc1", "which calls it c1")
    expect_failure(carbon("scan", "-m", model(), "-f", FASTA, "-r", "chrc1:5-9"), "region 'chrc1:5-9': no sequence chrc1", "which calls it c1")


if __name__ == "__main__":
    main()
