"""Rows of variants on the page of carbon report: their addresses, and their links to databases."""

import re

from harness import carbon, case, expect, expect_equal, expect_failure, fresh, main, ok, write
from report_page import Page

HEAD = """##fileformat=VCFv4.2
%s##INFO=<ID=CARBON_LLR,Number=A,Type=Float,Description="Carbon log-likelihood ratio">
#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO
"""
BRCA1 = ("chr17", 43094692, "G", "T")


def vcf(alleles=(BRCA1,), header="", name="in.vcf"):
    lines = ["%s\t%d\t.\t%s\t%s\t.\t.\tCARBON_LLR=%d\n" % (*allele, i) for i, allele in enumerate(alleles)]
    return write(fresh(), name, HEAD % (header or "".join("##contig=<ID=%s>\n" % c for c in sorted({a[0] for a in alleles}))) + "".join(lines))


def page_of(*args):
    return Page(ok("report", "--no-version", *args).text)


def addresses(page):
    return [a["id"] for name, a in page.elements if name == "tr" and "id" in a]


def links(page):
    """The addresses of other sites, in the order of the page."""
    out = [a for name, a in page.elements if name == "a" and not a["href"].startswith("#")]
    for one in out:
        expect_equal((one["rel"], one["target"]), ("noopener noreferrer", "_blank"), "how %s is opened" % one["href"])
    return [one["href"] for one in out]


@case
def every_row_has_an_address():
    """Contig, POS, REF and ALT of the file; POS is a link to it."""
    page = page_of(vcf([BRCA1, ("chr17", 43094692, "G", "A"), ("X", 5, "GA", "G"), ("HLA-A*01:01", 7, "A", "<DEL>"), ("1", 9, "A", "C" * 41)]))
    wanted = ["chr17-43094692-G-T", "chr17-43094692-G-A", "X-5-GA-G", "HLA_A*01:01-7-A-_DEL_", "1-9-A-41bp"]
    expect_equal(addresses(page), wanted, "addresses")
    hrefs = [a["href"] for name, a in page.elements if name == "a" and a["href"][1:] in wanted]
    expect_equal(hrefs, ["#" + w for w in wanted], "links of the rows to themselves")
    expect_equal(page.table("Lowest scores")[0]["POS"], "43094692", "the text of the link")


@case
def an_address_leads_to_one_row():
    """The same allele in two files, or twice in one."""
    page = page_of(vcf([BRCA1, BRCA1]), vcf(name="other.vcf"))
    expect_equal(addresses(page), ["chr17-43094692-G-T", "chr17-43094692-G-T-2", "chr17-43094692-G-T-3"], "addresses")


@case
def links_of_each_assembly():
    """As the databases publish them; only those that have the assembly."""
    gnomad, clinvar = "https://gnomad.broadinstitute.org/variant/17-43094692-G-T?dataset=", "https://www.ncbi.nlm.nih.gov/clinvar/?term="
    ucsc, place = "https://genome.ucsc.edu/cgi-bin/hgTracks?db=%s&position=chr17:43094667-43094718", "/Location/View?r=17:43094667-43094718"
    wanted = {
        "GRCh38": [gnomad + "gnomad_r4", clinvar + "17%5Bchr%5D+AND+43094692%5Bchrpos38%5D", ucsc % "hg38", "https://www.ensembl.org/Homo_sapiens" + place],
        "GRCh37": [gnomad + "gnomad_r2_1", clinvar + "17%5Bchr%5D+AND+43094692%5Bchrpos37%5D", ucsc % "hg19", "https://grch37.ensembl.org/Homo_sapiens" + place],
        "T2T": [ucsc % "hs1"], "mm39": [ucsc % "mm39", "https://www.ensembl.org/Mus_musculus" + place], "mm10": [ucsc % "mm10"], "none": []}
    for contig in "chr17", "17":
        for assembly, urls in wanted.items():
            page = page_of("--assembly", assembly, vcf([(contig, *BRCA1[1:])]))
            expect_equal(links(page), urls, assembly)
            names = [next(name for name in ("gnomAD", "ClinVar", "UCSC", "Ensembl") if name.lower() in url) for url in urls]
            expect_equal(page.table("Lowest scores")[0].get("Links", "").split(), names, "names of " + assembly)


@case
def links_of_other_alleles():
    """ClinVar places what a deletion removes behind POS. Named and long alleles are in no address, and other contigs have none."""
    def of(*allele):
        return {re.sub(r"^https://(?:www\.)?(?:genome\.)?(\w+).*", r"\1", url): url for url in links(page_of("--assembly", "hg38", vcf([allele])))}
    found = of("chr2", 100, "GAA", "G")
    expect(found["gnomad"].endswith("/2-100-GAA-G?dataset=gnomad_r4"), "a deletion in gnomAD")
    expect(found["ncbi"].endswith("2%5Bchr%5D+AND+100:103%5Bchrpos38%5D"), "a deletion in ClinVar: " + found["ncbi"])
    for alt in "<DEL>", "C" * 51, "*", "G]17:198982]":
        expect_equal(list(of("chr2", 100, "G", alt)), ["ncbi", "ucsc", "ensembl"], "links of " + alt[:9])
    expect_equal(list(of("chrM", 100, "G", "A")), ["ncbi", "ucsc", "ensembl"], "the mitochondrion")
    for contig in "chr23", "chr0", "chr17_KI270909v1_alt", "chrUn", "017", "+17", 'x"&b', "chr":
        expect_equal(of(contig, 100, "G", "A"), {}, contig)
    expect_equal(links(page_of("--assembly", "mm39", vcf([("chr20", 5, "A", "C")]))), [], "a mouse has 19 autosomes")
    expect(links(page_of("--assembly", "hg19", vcf([("chrM", 5, "A", "C")])))[-1].endswith("Homo_sapiens/Location/View?r=MT:1-31"),
           "chrM of GRCh37")


@case
def a_header_may_say_its_assembly():
    """If all that it says is of one."""
    contig = "##contig=<ID=chr17%s>\n"
    for header, wanted in (("##reference=file:///data/GRCh38.p14.fa\n" + contig % "", "hg38"),
                           ("##reference=GCA_000001405.15_GRCh38_no_alt.fna\n" + contig % "", "hg38"),
                           (contig % ",assembly=b37", "hg19"), (contig % "" + "##contig=<ID=1,length=249250621>\n", "hg19"),
                           (contig % "" + "##contig=<ID=chr1,length=248387328>\n", "hs1"), (contig % ",assembly=mm39", "mm39"),
                           ("##reference=GRCh38.fa\n" + contig % ",assembly=hg19", None), ("##reference=hg38x.fa\n" + contig % "", None),
                           ("##reference=GRCh38.fa\n" + contig % "" + "##contig=<ID=chr1,length=249250621>\n", None), (contig % ",length=83257441", None)):
        found = {m[1] for m in (re.search(r"db=(\w+)", url) for url in links(page_of(vcf(header=header)))) if m}
        expect_equal(found, {wanted} - {None}, header)
    header = "##reference=GRCh38.fa\n" + contig % ""
    expect_equal(links(page_of("--assembly", "none", vcf(header=header))), [], "links that are not wanted")
    for args, wanted in (([], ["GRCh38, as the header says"]), (["--assembly", "hg19"], ["GRCh37"]), (["--assembly", "none"], [])):
        expect_equal([value for name, value in page_of(*args, vcf(header=header)).facts if name == "Assembly of links"], wanted, "the foot with %r" % args)
    expect(all("hg19" in u or "ucsc" not in u for u in links(page_of("--assembly", "GRCh37", vcf(header=header)))), "the option comes before the header")


@case
def a_table_of_vep_has_links_too():
    table = write(fresh(), "t.tsv", "#CHROM\tPOS\tID\tREF\tALT\tCARBON_LLR\n17\t5\t.\tA\tC\t-1\n\"><b>\t6\t.\t\"\t<b>\t0\n")
    expect_equal(addresses(page_of(table)), ["17-5-A-C", "___b_-6-_-_b_"], "addresses")
    for pos in "9223372036854775807", "-1", "x":
        wrong = write(fresh(), "t.tsv", "#CHROM\tPOS\tID\tREF\tALT\tCARBON_LLR\n17\t%s\t.\tA\tC\t-1\n" % pos)
        expect_failure(carbon("report", "--assembly", "hg38", wrong), "t.tsv:2", "POS '%s' is not a position" % pos)
    expect_equal((len(links(page_of(table))), len(links(page_of("--assembly", "hg38", table)))), (0, 4), "links")


@case
def unknown_assemblies_are_errors():
    expect_failure(carbon("report", "--assembly", "GRCh39", vcf()), "the assembly GRCh39 is not one of GRCh38, GRCh37, T2T, GRCm39, GRCm38 and none")
    bases = write(fresh(), "b.tsv", "#name\tpos\tbase\tlogp\tentropy\tA\tC\tG\tT\ns\t1\tA\t-0.69\t1.2\t0.5\t0.25\t0.125\t0.125\n")
    expect_failure(carbon("report", "--assembly", "hg38", bases), "an assembly is named, but no file has variants")


if __name__ == "__main__":
    main()
