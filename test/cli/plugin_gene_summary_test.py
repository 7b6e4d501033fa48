"""carbon +gene-summary: sums over regions of a BED or GFF3 against a plain count of every pair."""

import gzip
import json
import os
import random

from harness import bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, ok, read, write

HEAD = """##fileformat=VCFv4.2
##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="score">
##INFO=<ID=DP,Number=1,Type=Integer,Description="one number">
##INFO=<ID=R,Number=R,Type=Float,Description="of every allele">
##INFO=<ID=W,Number=1,Type=String,Description="a word">
##contig=<ID=c1>
##contig=<ID=c2>
##contig=<ID=c3>
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
COLUMNS = "#contig\tstart\tend\tname\tstrand\tcount\tmissing\tmin\tmean\tmax"


def vcf(lines):
    """`lines` are (contig, pos, ref, ALTs, INFO)."""
    return write(fresh(), "in.vcf", HEAD + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t%s\n" % line for line in lines))


def summary(path, regions, *options, **more):
    lines = ok("+gene-summary", path, "--", "-R", regions, *options, **more).lines()
    expect_equal(lines[0], COLUMNS, "header")
    return [line.split("\t") for line in lines[1:]]


def random_input(seed):
    """Sorted records, with long deletions and several alleles, and regions that nest, overlap and touch."""
    rng = random.Random(seed)
    records = []
    for contig in ("c1", "c2"):
        for pos in sorted(rng.randrange(1, 600) for _ in range(150)):
            alts = rng.choice((1, 1, 2, 3))
            values = [None if rng.random() < 0.15 else rng.randrange(-400, 400) / 64 for _ in range(alts)]
            ref = "A" * rng.choice((1, 1, 1, 2, 30))
            records.append((contig, pos, ref, values))
    regions = []
    for i in range(60):
        begin = rng.randrange(0, 590)
        regions.append((rng.choice(("c1", "c2", "c3")), begin, begin + rng.choice((0, 1, 5, 40, 300)), "r%d" % i))
    return records, regions


def record_line(contig, pos, ref, values):
    shown = ",".join("." if v is None else repr(v) for v in values)
    return contig, pos, ref, ",".join("CGT"[:len(values)]), "CARBON_LLR=" + shown


def counted(records, contig, begin, end):
    """Every pair looked at: count, missing, and the values."""
    values = [v for c, pos, ref, vs in records if c == contig and pos - 1 < end and pos - 1 + len(ref) > begin for v in vs]
    present = [v for v in values if v is not None]
    return len(present), len(values) - len(present), present


@case
def random_regions_as_counted_one_by_one():
    for seed in range(5):
        records, regions = random_input(seed)
        bed = write(fresh(), "r.bed", "".join("%s\t%d\t%d\t%s\n" % region for region in regions))
        found = summary(vcf([record_line(*record) for record in records]), bed)
        expect_equal(len(found), len(regions), "lines")
        for line, (contig, begin, end, name) in zip(found, regions):
            # Without bases there is nothing to overlap.
            count, missing, values = counted(records, contig, begin, end) if end > begin else (0, 0, [])
            expect_equal(line[:7], [contig, str(begin), str(end), name, ".", str(count), str(missing)], name)
            if count == 0:
                expect_equal(line[7:], [".", ".", "."], name)
            else:
                expect_equal((line[7], line[9]), ("%.6g" % min(values), "%.6g" % max(values)), name)
                expect_close(float(line[8]), sum(values) / count, 5.1e-6 * abs(sum(values) / count), name)  # six digits


LINES = [("c1", 10, "A", "C", "CARBON_LLR=-1;DP=7"), ("c1", 20, "AAAA", "A,C", "CARBON_LLR=-2,.;DP=9"),
         ("c1", 30, "A", "C", "DP=11"), ("c1", 31, "A", ".", "."), ("c2", 5, "A", "C", "CARBON_LLR=4")]
GFF = """##gff-version 3
##FASTADVSQKLE a peptide, as MetaGeneMark writes them
c1\tx\tgene\t10\t22\t.\t+\t.\tID=gene:1;Name=ALPHA
c1\tx\tmRNA\t10\t15\t.\t+\t.\tID=t1;Parent=gene:1
c1\tx\tgene\t23\t40\t.\t-\t.\tID=gene:2;gene=be%2Cta
c2\tx\tgene\t1\t5\t.\t.\t.\tID=gene:3
###
##FASTA
>c1
ACGT
"""


@case
def gff3_names_and_types():
    path, gff = vcf(LINES), write(fresh(), "genes.gff3", GFF)
    wanted = [["c1", "9", "22", "ALPHA", "+", "2", "1", "-2", "-1.5", "-1"], ["c1", "22", "40", "be,ta", "-", "1", "2", "-2", "-2", "-2"],
              ["c2", "0", "5", "gene:3", ".", "1", "0", "4", "4", "4"]]
    expect_equal(summary(path, gff), wanted, "genes")
    expect_equal([line[3] for line in summary(path, gff, "--name", "ID")], ["gene:1", "gene:2", "gene:3"], "by ID")
    expect_equal([line[3] for line in summary(path, gff, "--feature", "all")], ["ALPHA", "t1", "be,ta", "gene:3"], "all")
    expect_equal([line[3] for line in summary(path, gff, "--feature", "mRNA,exon")], ["t1"], "a type")
    expect_equal(summary(path, bgzip(gff)), wanted, "BGZF")
    with gzip.open(gff + ".gz", "wb") as f:
        f.write(GFF.encode())
    expect_equal(summary(path, gff + ".gz"), wanted, "gzip")
    expect_failure(carbon("+gene-summary", path, "--", "--genes", gff, "--feature", "CDS"), "type CDS", "gene and mRNA")


GTF = """#!genome-build x
c1\tx\tgene\t10\t22\t.\t+\t.\tgene_id "G1"; gene_version "2"; gene_name "ALPHA";
c1\tx\ttranscript\t10\t15\t.\t+\t.\tgene_id "G1"; transcript_id "T1"; gene_name "ALPHA";
c1\tx\tgene\t23\t40\t.\t-\t.\tgene_id "be,ta"; transcript_id ""; gbkey "a; b"; gene "be,ta";
c2\tx\tgene\t1\t5\t.\t.\t.\tgene_id "gene:3"; level 2;
"""


@case
def gtf_is_known_by_its_lines():
    """Whatever the file is called; the same genes as in GFF3."""
    wanted = summary(vcf(LINES), write(fresh(), "genes.gff3", GFF))
    for name, text in (("genes.gtf", GTF), ("genes.gff", GTF), ("genes", GTF), ("GENES.GFF3", GFF), ("genes.txt", GFF)):
        expect_equal(summary(vcf(LINES), write(fresh(), name, text)), wanted, name)
    gtf = write(fresh(), "genes.GTF", GTF)
    expect_equal(summary(vcf(LINES), bgzip(gtf)), wanted, "BGZF")
    by_id = summary(vcf(LINES), gtf, "--name", "transcript_id,gene_id", "--feature", "gene,transcript")
    expect_equal([line[3] for line in by_id], ["G1", "T1", "be,ta", "gene:3"], "--name and --feature")


@case
def contigs_in_another_spelling_are_named():
    lines = [("MT", 10, "A", "C", "CARBON_LLR=-1"), ("c1", 10, "A", "C", "CARBON_LLR=-1")]
    bed = write(fresh(), "r.bed", "chrM\t0\t20\nc1\t0\t20\n")
    result = ok("+gene-summary", vcf(lines), "--", "-R", bed)
    told = [line for line in result.messages("W") if "MT (chrM in " in line and "--rename-chrs" in line]
    expect_equal(len(told), 1, "warnings")
    expect("c1 (" not in result.err, "a warning without a reason", result)


@case
def bed_columns():
    bed = write(fresh(), "r.bed", "track name=x\n#c\nc1\t0\t100\nc1\t0\t15\tfirst\t0\t-\nc9\t0\t9\t.\n")
    found = summary(vcf(LINES), bed)
    expect_equal([line[3:5] for line in found], [["c1:1-100", "."], ["first", "-"], ["c9:1-9", "."]], "names and strands")
    expect_equal([line[5] for line in found], ["2", "1", "0"], "counts")


@case
def contigs_named_like_header_lines():
    lines = [(contig, 10, "A", "C", "CARBON_LLR=-1") for contig in ("track1", "browser_2", "track")]
    bed = write(fresh(), "r.bed", "browser position c1\ntrack\ntrack name=x\ntrack1\t0\t20\nbrowser_2\t0\t20\ntrack\t0\t20\n")
    expect_equal([line[0] for line in summary(vcf(lines), bed)], ["track1", "browser_2", "track"], "BED")
    gff = write(fresh(), "r.gff", "track1\tx\tgene\t1\t20\t.\t+\t.\tID=a\ntrack\tx\tgene\t1\t20\t.\t+\t.\tID=b\n##FASTA \t\nACGT\n")
    expect_equal([line[3] for line in summary(vcf(lines), gff)], ["a", "b"], "GFF3")
    heads = "track\tname=x\tdescription=y\n"
    headed = write(fresh(), "s.bed", heads + "track\t0\t20\n")
    expect_equal([line[0] for line in summary(vcf(lines), headed)], ["track"], "settings between tabs")
    spaced = write(fresh(), "b.bed", heads + "track 0 20\n")
    expect_equal([line[:3] for line in summary(vcf(lines), spaced)], [["track", "0", "20"]], "columns between spaces")
    bed = write(fresh(), "b.bed", heads + "browser\t5\n")
    expect_failure(carbon("+gene-summary", vcf(lines), "--", "-R", bed), "b.bed:2:")
    headless = write(fresh(), "h.gff", "track1\tx\tgene\t1\t20\t.\t+\t.\tID=a\n>track1\nACGT\n")
    expect_equal(len(summary(vcf(lines), headless)), 1, "sequences without the directive")


@case
def other_tags():
    bed = write(fresh(), "r.bed", "c1\t0\t100\tall\n")
    expect_equal(summary(vcf(LINES), bed, "--tag", "DP")[0][5:], ["3", "0", "7", "9", "11"], "a number of the record")
    lines = [("c1", 3, "A", "C,G", "R=100,1,2"), ("c1", 4, "A", "C", "R=.")]
    expect_equal(summary(vcf(lines), bed, "--tag", "R")[0][5:], ["2", "1", "1", "1.5", "2"], "Number=R leaves out the reference")
    expect_failure(carbon("+gene-summary", vcf(LINES), "--", "-R", bed, "--tag", "W"), "--tag W")


@case
def json_has_the_same_numbers():
    path, bed, out = vcf(LINES), write(fresh(), "r.bed", 'c1\t0\t100\tn"1\nc3\t0\t9\tempty\n'), os.path.join(fresh(), "r.json")
    found = summary(path, bed, "--json", out)
    with open(out) as f:
        regions = json.load(f)["regions"]
    for line, region in zip(found, regions):
        shown = [region[k] for k in ("contig", "start", "end", "name", "strand", "count", "missing", "min", "mean", "max")]
        expect_equal(["." if v is None else "%g" % v if isinstance(v, float) else str(v) for v in shown], line, "region")


@case
def selection_is_carbons():
    bed = write(fresh(), "r.bed", "c1\t0\t100\tall\n")
    lines = ok("+gene-summary", "-t", "c1:10", vcf(LINES), "--", "-R", bed).lines()
    expect_equal(lines[1].split("\t")[5], "1", "count")


@case
def order_is_checked():
    bed = write(fresh(), "r.bed", "c1\t0\t100\tall\n")
    for lines, where in (([LINES[1], LINES[0]], "c1:10"), ([LINES[0], LINES[4], LINES[1]], "c1:20")):
        expect_failure(carbon("+gene-summary", vcf(lines), "--", "-R", bed), where, "not sorted")


@case
def refusals():
    path = vcf(LINES)
    for name, text, words in (("r.bed", "c1\t5\n", "r.bed:1"), ("r.bed", "c1\tx\t9\n", "'x'"),
                              ("r.txt", "c1\n", "no end"), ("r.txt", "c1\t0\t9\n", "before position 1"),
                              ("r.bed", "#\nc1\t9\t5\n", "r.bed:2"), ("r.gff", "c1\t0\t5\tn\n", "nine columns"),
                              ("r.bed", "", "no regions")):
        expect_failure(carbon("+gene-summary", path, "--", "-R", write(fresh(), name, text)), words)
    expect_failure(carbon("+gene-summary", path), "--genes", "--regions-file")
    other = ok("+gene-summary", path, "--", "-R", write(fresh(), "r.bed", "chr1\t0\t9\n"))
    expect(other.messages("W") and "chr1" in other.err, "expected a warning", other)


@case
def spellings():
    bed = write(fresh(), "r.bed", "c1\t0\t20\tone\n")
    gff = write(fresh(), "g.gff3", "##gff-version 3\nc1\tx\tgene\t1\t20\t.\t+\t.\tName=one\n")
    wanted = ok("+gene-summary", vcf(LINES), "--", "-R", bed)
    expect_equal(wanted.messages("W"), [], "warnings")
    expect_equal(ok("+gene-summary", vcf(LINES), "--", "--regions", bed).text, wanted.text, "the spelling before 0.3, a beginning of the name")
    genes = ok("+gene-summary", vcf(LINES), "--", "--genes", gff).lines()
    expect_equal([line.split("\t")[5:] for line in genes], [line.split("\t")[5:] for line in wanted.lines()], "genes of the same place")
    expect_failure(carbon("+gene-summary", vcf(LINES), "--", "-R", bed, "--genes", gff), "exclude each other")
    other = write(fresh(), "other.vcf", read(vcf(LINES)).decode().replace("CARBON_LLR", "SCORE"))
    expect_failure(carbon("+gene-summary", other, "--", "-R", bed), "--tag is missing", "no scores of carbon", "SCORE")


if __name__ == "__main__":
    main()
