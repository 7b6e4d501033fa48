"""packaging/ensembl-vep/Carbon.pm: the fields that the plugin gives Ensembl VEP are the values of the table.

Debian has no Ensembl VEP. test/ensembl_vep runs the plugin as VEP runs it, with a stand-in for Ensembl's class that reads
tables; the tables are read by the real module Bio::DB::HTS::Tabix and by the real program tabix. $CARBON_ENSEMBL_PERL names
folders of Ensembl's own Perl modules (separated by colons), which then take the place of the stand-in."""
# Left out while unchanged: packaging/ensembl-vep test/ensembl_vep src/formats/vcf_output.cpp

import os
import random
import re

from harness import (Skip, case, command, decompress, expect, expect_equal, fresh, main, model, ok, read, records, to_fasta, tool,
                     write)

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGINS = os.path.join(SOURCE, "packaging", "ensembl-vep")
STAND_IN = os.path.join(SOURCE, "test", "ensembl_vep")
ENSEMBL = os.environ.get("CARBON_ENSEMBL_PERL")
HEAD = '##fileformat=VCFv4.2\n%s##ALT=<ID=NON_REF,Description="any">\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'


def vep(parameters, variants, *, by="module", rc=0):
    """What VEP would say: ({field: description}, [(CHROM, POS, REF, ALT, {field: value})])."""
    tool("tabix", "--version")
    modules = ENSEMBL.split(":") if ENSEMBL else [STAND_IN]
    if by == "module" and command(["perl", "-MBio::DB::HTS::Tabix", "-e", "1"]).rc:
        raise Skip("no Bio::DB::HTS::Tabix (Debian package libbio-db-hts-perl)")
    result = command(["perl", *["-I" + m for m in modules], os.path.join(STAND_IN, "annotate.pl"), PLUGINS,
                      ",".join(["Carbon", *parameters])], stdin=variants.encode(),
                     env={"STAND_IN_TABIX_PROGRAM": "1" if by == "program" else ""})
    if rc:
        expect(result.rc != 0 and not result.out, "expected a failure", result)
        return result
    expect(result.rc == 0 and "at " + PLUGINS not in result.err, "the plugin failed or warned", result)
    fields = dict(line[2:].split(": ", 1) for line in result.lines() if line.startswith("# "))
    lines = [line.split("\t") for line in result.lines() if not line.startswith("#")]
    return fields, [(*line[:4], dict(item.split("=", 1) for item in line[4:])) for line in lines]


def table(path):
    """The names of the columns of scores, and {(contig, POS, REF, ALT): {name: value}} without what is missing."""
    text = decompress(read(path)).decode()
    names = re.search(r"^#CHROM\t.*", text, re.M).group().split("\t")
    scores = names[names.index("ALT") + 1:]
    found = {}
    for line in records(text):
        line = dict(zip(names, line.split("\t")))
        found[tuple(line[name] for name in ("#CHROM", "POS", "REF", "ALT"))] = {n: line[n] for n in scores if line[n] != "."}
    return scores, found


def place(length=3000):
    """A reference with contigs chr1 and 2, and a VCF with alternatives of all kinds on them, in order."""
    rng = random.Random(5)
    d = fresh()
    bases = {name: "".join(rng.choice("ACGT") for _ in range(length)) for name in ("chr1", "2")}
    write(d, "ref.fa", to_fasta(bases.items()))
    lines = []
    for name, sequence in bases.items():
        for i in range(length // 14 - 2):
            pos = 1 + 14 * i
            ref, after = sequence[pos - 1], sequence[pos]
            a, b, c = rng.sample("ACGT".replace(ref, ""), 3)
            other = "ACGT".replace(after, "")[i % 3]
            alleles = ((ref, a), (ref, ",".join((a, b, c))), (ref, "<NON_REF>"), (ref, a + ",<NON_REF>"), (ref, "*," + a),
                       (ref, "%s,%s,%s" % (b, ref + a, a)), (ref + after, ref), (ref, ref + a), (ref + after, ref + other),
                       (ref + after, "%s,%s,%s" % (ref, ref + other, ref + after + "GG")))
            lines.append("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % (name, pos, *alleles[i % 10]))
    text = HEAD % "".join("##contig=<ID=%s,length=%d>\n" % (name, length) for name in bases) + "".join(lines)
    write(d, "in.vcf", text)
    return d, text


def scan(d, *options):
    path = os.path.join(d, "scan.tsv.gz")
    ok("scan", "-q", "-m", model(max_positions=64), "-f", os.path.join(d, "ref.fa"), "-o", path, "-W=tbi", *options)
    return path


def snv(pos, ref, alt):
    """Position, REF and ALT of the SNV that an allele is once the bases at its ends that both have are removed, or None."""
    pos = int(pos)
    if len(ref) != len(alt) or not set(alt) <= set("ACGT"):
        return None
    changed = [i for i in range(len(ref)) if ref[i] != alt[i]]
    return (str(pos + changed[0]), ref[changed[0]], alt[changed[0]]) if len(changed) == 1 else None


def check_scan(text, path, **options):
    scores, values = table(path)
    fields, found = vep(["file=" + path], text, **options)
    expect_equal(list(fields), ["CARBON_SCAN"], "fields")
    expect(re.fullmatch(r"from scan.tsv.gz, carbon_scanModel=.+", fields["CARBON_SCAN"]), "description: %r" % fields)
    count = 0
    for contig, pos, ref, alt, given in found:
        wanted = values.get((contig, *snv(pos, ref, alt)), {}) if snv(pos, ref, alt) else {}
        expect_equal(given, wanted, "fields of %s" % [contig, pos, ref, alt])
        count += len(given)
    return count


@case
def every_snv_has_its_value():
    d, text = place()
    path = scan(d)
    for by in ("program", "module"):
        expect_equal(check_scan(text, path, by=by), 428, "values")


@case
def the_values_are_those_that_bcftools_finds():
    d, text = place()
    path = scan(d)
    header = write(d, "header.txt", '##INFO=<ID=CARBON_SCAN,Number=A,Type=Float,Description="x">\n')
    # Of an SNV with a base beside it bcftools looks for the allele as it is spelled.
    plain = "".join(line + "\n" for line in text.splitlines() if line.startswith("#") or len(line.split("\t")[3]) == 1)
    split = tool("bcftools", "norm", "-m", "-any", "-Ou", stdin=plain.encode()).out
    lines = tool("bcftools", "annotate", "-a", path, "-c", "CHROM,POS,REF,ALT,CARBON_SCAN", "-h", header, stdin=split).text
    wanted = {tuple(line.split("\t")[i] for i in (0, 1, 3, 4)): line.split("CARBON_SCAN=")[1:] for line in records(lines)}
    _, found = vep([path], plain, by="program")
    expect(len(found) > 300, "alleles")
    for *allele, given in found:
        if allele[3] != "*":
            got = ["%.6g" % float(v) for v in given.values()]
            expect_equal(got, ["%.6g" % float(v) for v in wanted[tuple(allele)]], "value of %s" % allele)


@case
def names_with_and_without_chr():
    d, text = place(300)
    path = scan(d)
    _, wanted = vep([path], text)
    renamed = re.sub(r"^2\t", "chr2\t", re.sub("^chr1\t", "1\t", text, flags=re.M), flags=re.M)
    for by in ("module", "program"):
        _, found = vep([path], renamed, by=by)
        expect_equal([line[1:] for line in found], [line[1:] for line in wanted], "with other names")
    _, found = vep([path], "other\t3\t.\tA\tC\nchr1\t299999\t.\tA\tC\n")
    expect_equal([line[4] for line in found], [{}, {}], "where the table has nothing")


@case
def variants_given_on_the_reverse_strand():
    d, text = place(300)
    path = scan(d)
    _, wanted = vep([path], text)
    reverse = re.sub(r"^(\w+\t\d+\t)\.", r"\1-1", text, flags=re.M)
    _, found = vep([path], reverse)
    expect_equal(found, wanted, "on the reverse strand")
    expect(any(line[4] for line in found), "no values")


@case
def scores_of_carbon_vep():
    """A table of carbon vep: insertions and deletions, the flag, and several tags."""
    d, text = place(600)
    path = os.path.join(d, "scored.tsv.gz")
    ok("vep", "-q", "-m", model(), "-f", os.path.join(d, "ref.fa"), "-w", 96, "-o", path, write(d, "in.vcf", text))
    tool("tabix", "-s1", "-b2", "-e2", path)
    scores, values = table(path)
    expect_equal(scores, ["CARBON_LLR", "CARBON_FLAG"], "columns")
    for by in ("program", "module"):
        fields, found = vep(["file=" + path, "expand_right=100", "cache_size=2"], text, by=by)
        expect_equal(sorted(fields), sorted(scores), "fields")
        expect(all("from scored.tsv.gz, carbon_vepModel=" in text for text in fields.values()), "descriptions: %r" % fields)
        for *allele, given in found:
            expect_equal(given, values[tuple(allele)] if allele[3] != "*" else {}, "fields of %s" % allele)
        lengths = [len(ref) - len(alt) for _, _, ref, alt, given in found if "CARBON_LLR" in given]
        expect(min(lengths) < 0 < max(lengths), "no insertion or deletion has a score")


@case
def what_is_wrong_is_said():
    d, text = place(300)
    path = scan(d)
    os.rename(path + ".tbi", path + ".other")
    other = os.path.join(d, "other.tsv.gz")
    write(d, "other.tsv", "#CHROM\tPOS\tREF\nchr1\t1\tA\n")
    write(d, "other.tsv.gz", tool("bgzip", "-c", os.path.join(d, "other.tsv")).out)
    tool("tabix", "-s1", "-b2", "-e2", other)
    for parameters, words in (([], "no table given; use --plugin Carbon,file="), (["cache_size=1"], "no table given"),
                              (["file=" + path], path + ".tbi not found"), (["file=/no/such.gz"], "/no/such.gz not found"),
                              (["file=" + other], "its header has no column ALT")):
        result = vep(parameters, text, by="program", rc=1)
        expect(words in result.err, "the message does not say %r" % words, result)


@case
def the_plugin_compiles_and_its_manual_is_whole():
    result = command(["perl", "-I" + STAND_IN, "-wc", os.path.join(PLUGINS, "Carbon.pm")])
    expect_equal((result.rc, result.err), (0, os.path.join(PLUGINS, "Carbon.pm") + " syntax OK\n"), "perl -wc")
    result = tool("podchecker", "-warnings", os.path.join(PLUGINS, "Carbon.pm"))
    # Which of the two it writes to depends on the version of Perl.
    expect("pod syntax OK" in result.text + result.err, "podchecker", result)


@case
def ensembl_s_own_classes():
    if not ENSEMBL:
        raise Skip("CARBON_ENSEMBL_PERL names no folders of Ensembl's modules; the cases of this file use a stand-in")
    where = command(["perl", *["-I" + m for m in ENSEMBL.split(":")], "-MBio::EnsEMBL::Variation::Utils::BaseVepTabixPlugin", "-e",
                     "print $INC{'Bio/EnsEMBL/Variation/Utils/BaseVepTabixPlugin.pm'}"])
    expect(where.rc == 0 and STAND_IN not in where.text, "the class of Ensembl does not load", where)


if __name__ == "__main__":
    main()
