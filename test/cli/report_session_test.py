"""carbon report --session: an XML file that IGV reads, with the files of the report by paths relative to it.

What IGV accepts is in igvteam/igv, IGVSessionReader.java, and igvteam/igv.js, igvXmlSession.js: a root Session with `version`, `locus`
and perhaps `genome`, and within Resources a Resource with `path` for each file. A path is looked up from the folder of the session."""

import os
import shutil
import xml.etree.ElementTree as ET

from harness import bgzip, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, ok, own_errors, read, tool, write
from report_kinds import HEAD, scored
from report_page import Page

GFF3 = "##gff-version 3\n1\tx\tgene\t900\t1500\t.\t+\t.\tID=gene:g\n1\tx\tmRNA\t900\t1500\t.\t+\t.\tID=t;Parent=gene:g\n" \
       "1\tx\texon\t900\t1500\t.\t+\t.\tID=e;Parent=t\n"


def files_of(folder):
    """A VCF, genes, a bigWig as far as a report looks at it, and other tracks."""
    os.makedirs(folder, exist_ok=True)
    write(folder, "scored.vcf", scored(60, 1, plain=True))
    write(folder, "genes.gff3", GFF3)
    write(folder, "low.bw", "no bigWig, which only IGV would notice")
    write(folder, "regions.bed", "1\t100\t200\n")
    write(folder, "values.bedGraph", "1\t100\t101\t-1\n")
    shutil.copy(data("mini.fa"), os.path.join(folder, "ref.fa"))
    return lambda *names: [os.path.join(folder, name) for name in names]


def session_of(path):
    """The attributes of the session, and [(name, the file that the path leads to, the path)]."""
    root = ET.fromstring(read(path))
    expect_equal(root.tag, "Session", "root")
    expect(set(root.attrib) <= {"genome", "locus", "version"}, "attributes: %s" % root.attrib)
    expect_equal([child.tag for child in root], ["Resources"], "elements")
    found = []
    for one in root[0]:
        expect_equal((one.tag, sorted(one.attrib)), ("Resource", ["name", "path"]), "a resource")
        leads_to = os.path.normpath(os.path.join(os.path.dirname(os.path.realpath(path)), one.get("path")))
        found.append((one.get("name"), leads_to, one.get("path")))
    return root.attrib, found


def report(session, *args, **options):
    return ok("report", "--no-version", "--bootstrap", 0, "-o", os.path.join(fresh(), "r.html"), "--session", session, *args, **options)


@case
def paths_are_relative_to_the_session():
    top = fresh()
    at = files_of(os.path.join(top, "data"))
    names = ["scored.vcf", "low.bw", "regions.bed", "values.bedGraph"]
    for folder in ("data", "data/deep/er", "beside", "."):
        os.makedirs(os.path.join(top, folder), exist_ok=True)
        session = os.path.join(top, folder, "igv.xml")
        report(session, "--genes", *at("genes.gff3"), *at(*names[:2]), *at("ref.fa"), *at(*names[2:]))
        attributes, found = session_of(session)
        expect_equal([(name, leads_to) for name, leads_to, _ in found],
                     list(zip(names + ["genes.gff3"], at(*names, "genes.gff3"))), "resources from " + folder)
        expect(not any(os.path.isabs(path) for _, _, path in found), "an absolute path: %s" % found)
        genome = os.path.join(top, folder, attributes.pop("genome"))
        expect(os.path.samefile(genome, *at("ref.fa")), "the genome is " + genome)
        expect_equal(attributes, {"locus": "All", "version": "8"}, "attributes")
    # From another folder, by names that lead through it, and after all of it has moved.
    report("../beside/igv.xml", "scored.vcf", "low.bw", cwd=os.path.join(top, "data"))
    moved = os.path.join(fresh(), "moved")
    shutil.move(top, moved)
    attributes, found = session_of(os.path.join(moved, "beside", "igv.xml"))
    expect("genome" not in attributes, "a genome without a FASTA")
    for name, leads_to, _ in found:
        expect_equal(leads_to, os.path.join(moved, "data", name), "after the move")


@case
def a_link_to_a_folder_and_one_to_a_file():
    top = fresh()
    at = files_of(os.path.join(top, "data"))
    os.makedirs(os.path.join(top, "far", "away"))
    os.symlink(os.path.join(top, "far", "away"), os.path.join(top, "link"))
    os.symlink(os.path.join(top, "data", "scored.vcf"), os.path.join(top, "mine.vcf"))
    report(os.path.join(top, "link", "igv.xml"), os.path.join(top, "mine.vcf"), *at("low.bw"))
    _, found = session_of(os.path.join(top, "link", "igv.xml"))
    expect_equal([path for _, _, path in found], ["../../mine.vcf", "../../data/low.bw"], "paths")


@case
def an_index_in_another_folder():
    top = fresh()
    vcf = bgzip(files_of(top)("scored.vcf")[0])
    index = os.path.join(fresh(), "y.tbi")
    tool("bcftools", "index", "-t", "-o", index, vcf)
    session, page = os.path.join(top, "s.xml"), os.path.join(top, "r.html")
    ok("report", "--no-version", "--bootstrap", 0, "-o", page, "--session", session, vcf + "##idx##" + index)
    expect_equal([(name, leads_to) for name, leads_to, _ in session_of(session)[1]], [("scored.vcf.gz", vcf)], "resources")
    expect("scored.vcf.gz: scores of alleles" in Page(read(page).decode()).headings, "the title of the section")


@case
def the_page_is_that_of_the_drawn_files_alone():
    top = fresh()
    at = files_of(top)
    with_session, without = os.path.join(top, "a.html"), os.path.join(top, "b.html")
    args = ("report", "--no-version", "--bootstrap", 0)
    ok(*args, "-o", with_session, "--session", os.path.join(top, "s.xml"), *at("low.bw", "scored.vcf", "ref.fa"))
    ok(*args, "-o", without, *at("scored.vcf"))
    expect_equal(read(with_session), read(without), "page")
    expect_failure(carbon(*args, "-o", with_session, *at("scored.vcf", "ref.fa")), "FASTA")


@case
def the_first_region_is_the_locus():
    folder = fresh()
    table = write(folder, "bases.tsv", ok("score", "-O", "tsv", data("mini.fa"), "-r", "c1:1-60").out)
    at = files_of(folder)
    report(os.path.join(folder, "s.xml"), "-r", "c1:1-50", "-r", "c1:7-9", table, *at("low.bw"))
    attributes, found = session_of(os.path.join(folder, "s.xml"))
    expect_equal(attributes["locus"], "c1:1-50", "locus")
    expect_equal([name for name, _, _ in found], ["low.bw"], "a table is no track")


@case
def the_genome_is_the_fasta_or_the_assembly():
    folder = fresh()
    vcf, fasta = files_of(folder)("scored.vcf", "ref.fa")
    known = write(folder, "known.vcf", read(vcf).decode().replace("##contig=<ID=1>", "##reference=hg19.fa\n##contig=<ID=1>"))
    tool("bcftools", "view", "-Ob", "-o", known[:-3] + "bcf", known)
    session = os.path.join(folder, "s.xml")
    for args, genome in (((vcf,), None), ((vcf, known), "hg19"), ((vcf, known[:-3] + "bcf"), "hg19"), ((known, fasta), "ref.fa"),
                         (("--assembly", "GRCm39", known), "mm39"), (("--assembly", "none", known), None),
                         (("--assembly", "hg38", fasta, vcf), "ref.fa")):
        report(session, *args)
        expect_equal(session_of(session)[0].get("genome"), genome, "genome of %s" % (args,))


@case
def names_that_xml_escapes():
    folder = os.path.join(fresh(), "a&b \"c\" 'd' <e> \u00e4\u4e2d %41 #1")
    files_of(folder)
    name = "x'\"<&>]]> &amp; --.vcf"
    shutil.copy(os.path.join(folder, "scored.vcf"), os.path.join(folder, name))
    for session in (os.path.join(folder, "s.xml"), os.path.join(os.path.dirname(folder), "s.xml")):
        report(session, os.path.join(folder, name))
        (got, leads_to, _), = session_of(session)[1]
        expect_equal((got, leads_to), (name, os.path.join(folder, name)), "the file")


@case
def names_that_xml_cannot_hold():
    folder = fresh()
    for name in ("a\nb.vcf", "a\tb.vcf", "a\x01b.vcf", b"a\xffb.vcf".decode("utf-8", "surrogateescape")):
        path = os.path.join(folder, name)
        with open(path, "w") as f:
            f.write(scored(20, 3, plain=True))
        out = [os.path.join(folder, end) for end in ("r.html", "s.xml")]
        result = carbon("report", "-o", out[0], "--session", out[1], path)
        expect_failure(result, "rename")
        expect(not any(map(os.path.exists, out)), "a file was written")
        os.remove(path)


@case
def what_igv_does_not_read_is_left_out():
    top = fresh()
    at = files_of(top)
    bcf = os.path.join(top, "scored.bcf")
    tool("bcftools", "view", "-Ob", "-o", bcf, *at("scored.vcf"))
    result = report(os.path.join(top, "s.xml"), bcf, *at("scored.vcf"))
    expect("scored.bcf is left out of the session" in result.err, "no warning", result)
    expect_equal([name for name, _, _ in session_of(os.path.join(top, "s.xml"))[1]], ["scored.vcf"], "resources")


@case
def what_the_session_leaves_out_is_named():
    top = fresh()
    vcf, bigwig = files_of(top)("scored.vcf", "low.bw")
    plain = write(top, "plain.txt", read(vcf))
    session = os.path.join(top, "s.xml")
    result = report(session, "-r", "1:1000-1010", plain, vcf, bigwig)
    expect("plain.txt is left out of the session" in result.err, "no warning", result)
    attributes, found = session_of(session)
    expect_equal(([name for name, _, _ in found], attributes["locus"]), (["scored.vcf", "low.bw"], "1:1000-1010"), "the session")


@case
def what_makes_no_session_is_refused():
    top = fresh()
    at = files_of(top)
    vcf, bigwig, fasta = at("scored.vcf", "low.bw", "ref.fa")
    other = write(top, "other.fa.gz", "")
    page = os.path.join(top, "r.html")
    xml = os.path.join(top, "s.xml")
    for args, words in (
            (("--session", "-", vcf), (".xml",)), (("--session", os.path.join(top, "s.txt"), vcf), (".xml",)),
            (("--session", xml, bigwig), ("for the session alone",)), (("--session", xml, vcf, fasta, other), ("second FASTA",)),
            (("--session", xml, vcf, os.path.join(top, "absent.bw")), ("absent.bw",)),
            (("--session", os.path.join(top, "absent", "s.xml"), vcf), ("absent",)),
            (("--session", page, "-o", page, vcf), ("r.html",)),
            (("--session", xml, write(top, "variants.txt", HEAD)), ("--session",))):
        result = carbon("report", *(("-o", page) if "-o" not in args else ()), *args)
        expect(result.rc == 1 and len(own_errors(result)) == 1, "one error", result)
        expect_failure(result, *words)
        expect(not os.path.exists(page) and not os.path.exists(xml), "a file was written by %s" % (args,))


if __name__ == "__main__":
    main()
