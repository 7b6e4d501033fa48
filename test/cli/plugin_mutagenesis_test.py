"""carbon +mutagenesis: every change once, scored to the letter as carbon vep scores the same records."""

import os
import random

from harness import (carbon, case, data, expect, expect_equal, expect_failure, fresh, genome, info_of, is_bgzf, main, model, ok, parse_fasta,
                     read, records, tool, write)

SETTINGS = ("--window", "48")
ANCHORED = ("--recipe", "anchored", "--context", "60", "--horizon", "30")
GENOME = {name: bases.upper() for name, bases in genome().items()}


def mutagenesis(*args, before=(), fasta=None):
    window = SETTINGS if "--recipe" not in args else ()
    return ok("+mutagenesis", "-m", model(), "--no-version", *before, "--", "-f", fasta or data("mini.fa"), *window, *args)


def sites(text):
    """[(contig, pos, ref, [alt], [value])] of records with one tag."""
    out = []
    for line in records(text):
        fields = line.split("\t")
        info, = info_of(line).values()
        out.append((fields[0], int(fields[1]), fields[3], fields[4].split(","), info.split(",")))
    return out


def snvs(contig, begin, end):
    """What is expected for bases [begin, end)."""
    return [(contig, p + 1, GENOME[contig][p], [x for x in "ACGT" if x != GENOME[contig][p]]) for p in range(begin, end)
            if GENOME[contig][p] in "ACGT"]


def indels(contig, begin, end):
    bases, out = GENOME[contig], []
    for p in range(begin, end):
        if bases[p] not in "ACGT":
            continue
        if p > 0 and bases[p - 1] in "ACGT":
            out.append((contig, p, bases[p - 1:p + 1], [bases[p - 1]]))
        elif p == 0 and bases[1] in "ACGT":
            out.append((contig, 1, bases[:2], [bases[1]]))
        out.append((contig, p + 1, bases[p], [bases[p] + x for x in "ACGT"]))
    return out


def as_vep(text, *options):
    """The records with the scores of carbon vep."""
    fasta = data("mini.fa")
    path = write(fresh(), "m.vcf", text)
    return sites(ok("vep", "-m", model(), "-f", fasta, *options, path).text)


@case
def every_format_has_the_same_records():
    wanted = sites(mutagenesis("--regions", "c1:90-100").text)
    directory = fresh()
    for name, args in (("out.bcf", ()), ("out.vcf.gz", ()), ("out.vcf", ()), ("out", ("-O", "u")), ("out2", ("-O", "z1"))):
        path = os.path.join(directory, name)
        mutagenesis("--regions", "c1:90-100", before=("-o", path, *args))
        expect_equal(sites(tool("bcftools", "view", path).text), wanted, "records of " + name)
        expect_equal(read(path)[:2] == b"\x1f\x8b", "u" not in args and name != "out.vcf", "compression of " + name)
    header = ok("+mutagenesis", "-m", model(), "--", "-f", data("mini.fa"), *SETTINGS, "--regions", "c1:90-91").text
    expect("##carbon_pluginCommand=+mutagenesis " in header, "no command line in the header")
    before = sorted(os.listdir(directory))
    for args, words in ((("-O", "t"), "table"), (("-O", "x"), "'x'"), (("-o", os.path.join(directory, "no", "x.bcf")), "x.bcf")):
        expect_failure(carbon("+mutagenesis", "-m", model(), *args, "--", "-f", data("mini.fa"), *SETTINGS, "--regions", "c1:90-91"), words)
    expect_equal(sorted(os.listdir(directory)), before, "files after failures")


@case
def all_snvs_as_vep_scores_them():
    text = mutagenesis("--regions", "c1:90-130").text
    found = sites(text)
    expect_equal([site[:4] for site in found], snvs("c1", 89, 130), "sites")
    expect_equal(found, as_vep(text, "-w", "48"), "scores")
    expect(len({v for site in found for v in site[4]}) > 60, "the scores are all alike")


@case
def all_indels_as_vep_scores_them():
    for region, begin, end in (("c1:1-20", 0, 20), ("c2:30-60", 29, 60)):
        text = mutagenesis("--type", "indel", "--regions", region).text
        found = sites(text)
        expect_equal([site[:4] for site in found], indels(region[:2], begin, end), "sites")
        expect_equal(found, as_vep(text, "-w", "48"), "scores")


@case
def strands_recipes_and_batches():
    plain = mutagenesis("--regions", "c1:100-110")
    expect_equal(mutagenesis("--regions", "c1:100-110", "--strand", "both").text, plain.text, "the default strand")
    for strand in ("+", "-"):
        text = mutagenesis("--regions", "c1:100-110", "--strand", strand).text
        expect_equal(sites(text), as_vep(text, "-w", "48", "--strand", strand), "strand " + strand)
    text = mutagenesis("--regions", "c1:100-110", "--recipe", "next-token", "--context", "60").text
    expect_equal(sites(text), as_vep(text, "--recipe", "next-token", "--context", "60"), "next-token")
    for small in (("--batch-tokens", "1"), ("-@", "1")):
        expect_equal(mutagenesis("--regions", "c1:100-110", before=small).text, plain.text, " ".join(small))


# ---- recipe anchored


def header_lines(text, start):
    return [line.partition(start)[2] for line in text.splitlines() if line.startswith(start)]


def expect_as_vep_anchored(text, fasta, *options):
    """The records, and what the header says of them, have the bytes that carbon vep gives them."""
    bare = ["\t".join(line.split("\t")[:7] + ["."]) for line in records(text)]
    head = [line for line in text.splitlines() if line.startswith("#") and not line.startswith("##INFO")]
    path = write(fresh(), "m.vcf", "\n".join(head + bare) + "\n")
    wanted = ok("vep", "-m", model(), "-f", fasta, "--no-version", "--recipe", "anchored", *options, path).text
    expect_equal(records(text), records(wanted), "records with " + " ".join(options))
    scores = [[line for line in header_lines(t, "##INFO=<ID=CARBON_") if not line.startswith("FLAG,")] for t in (text, wanted)]
    expect_equal(scores[0], scores[1], "definitions")
    expect_equal(header_lines(text, "##carbon_mutagenesisModel="), header_lines(wanted, "##carbon_vepModel="), "the model line")


@case
def anchored_changes_have_the_bytes_of_carbon_vep():
    for kind, expected in (("snv", snvs), ("indel", indels)):
        for options in ((), ("--horizon", "30", "--context", "60"), ("--horizon", "96,0", "--context", "6", "--strand", "-"),
                        ("--horizon", "5,12,768", "--strand", "+"), ("--strand", "both", "--context", "12")):
            text = mutagenesis("--type", kind, "--recipe", "anchored", *options, "--regions", "c1:1-25", "--regions", "c1:580-600",
                               "--regions", "c2:30-60").text
            found = [tuple(line.split("\t")[i] for i in (0, 1, 3, 4)) for line in records(text)]
            wanted = expected("c1", 0, 25) + expected("c1", 579, 600) + expected("c2", 29, 60)
            expect_equal(found, [(contig, str(pos), ref, ",".join(alts)) for contig, pos, ref, alts in wanted], "changes")
            expect_as_vep_anchored(text, data("mini.fa"), *options)
            for small in (("--batch-tokens", "1"), ("-@", "1")):
                expect_equal(mutagenesis("--type", kind, "--recipe", "anchored", *options, "--regions", "c1:1-25", "--regions",
                                         "c1:580-600", "--regions", "c2:30-60", before=small).text, text, " ".join(small))


@case
def anchored_changes_of_a_region_that_takes_several_calls():
    rng = random.Random(11)
    fasta = write(fresh(), "long.fa", ">l\n%s\n" % "".join(rng.choice("ACGT") for _ in range(2200)))
    for kind, count in (("snv", 2200), ("indel", 4400)):
        text = mutagenesis("--type", kind, "--recipe", "anchored", "--context", "600", "--horizon", "0,6", "--regions", "l", fasta=fasta).text
        expect_equal(len(records(text)), count, "records")
        expect_as_vep_anchored(text, fasta, "--context", "600", "--horizon", "0,6")


# ---- the matrix and the regions


def table(path):
    lines = [line for line in read(path).decode().splitlines() if not line.startswith("##")]
    return lines[0].split("\t"), [line.split("\t") for line in lines[1:]]


@case
def the_matrix_has_the_same_numbers():
    for kind, recipe in (("snv", ()), ("indel", ()), ("snv", ANCHORED), ("indel", ANCHORED)):
        out = os.path.join(fresh(), "m.tsv")
        text = mutagenesis("--type", kind, "--regions", "c1:1-200", "--matrix", out, *recipe).text
        names, rows = table(out)
        expect_equal(names, ["#CHROM", "POS", "REF"] + (["del"] if kind == "indel" else []) + list("ACGT"), "header")
        expect_equal([row[:3] for row in rows], [["c1", str(p + 1), GENOME["c1"][p]] for p in range(200)], "positions")
        wanted = {(int(row[1]), name): "." for row in rows for name in names[3:]}
        for p in range(200):
            if kind == "snv" and GENOME["c1"][p] in "ACGT":
                wanted[p + 1, GENOME["c1"][p]] = "0"
        for i, (_, pos, ref, alts, values) in enumerate(sites(text)):
            for alt, value in zip(alts, values):
                # A deletion is anchored on the base before it, at the start of a contig on the one after it.
                wanted[(pos, alt[-1]) if len(ref) == 1 else (pos + (i > 0), "del")] = value
        found = {(int(row[1]), name): cell for row in rows for name, cell in zip(names[3:], row[3:])}
        expect_equal(found, wanted, "%s %s" % (kind, recipe))


@case
def regions_are_merged_and_sorted_as_the_fasta():
    bed = write(fresh(), "r.bed", "c2\t40\t44\nc1\t99\t104\n")
    found = sites(mutagenesis("--regions-file", bed, "--regions", "c1:103-110", "--regions", "c1:111").text)
    end = len(GENOME["c1"])
    expect_equal([site[:4] for site in found], snvs("c1", 99, end) + snvs("c2", 40, 44), "sites")


@case
def unknown_bases_are_left_out_and_counted():
    fasta = write(fresh(), "n.fa", ">n\nACGTNNACGTACGTTGCAACGT\n")
    out = os.path.join(fresh(), "m.tsv")
    result = ok("+mutagenesis", "-m", model(), "--", "-f", fasta, "--window", "12", "--regions", "n", "--matrix", out)
    expect_equal([site[1] for site in sites(result.text)], [1, 2, 3, 4] + list(range(7, 23)), "positions")
    expect(any("2 positions" in line for line in result.messages("W")), "expected a warning", result)
    expect_equal(table(out)[1][4], ["n", "5", "N", ".", ".", ".", "."], "row of an N")


@case
def the_vcf_is_one():
    out = os.path.join(fresh(), "m.vcf.gz")
    mutagenesis("--regions", "c1:100-105", "--regions", "c2:40-42", before=("-o", out))
    expect(is_bgzf(read(out)), "not BGZF")
    viewed = tool("bcftools", "view", "--no-version", out)
    expect_equal(viewed.err, "", "bcftools' messages")
    expect_equal(len(records(viewed.text)), 9, "records")
    tool("tabix", "-p", "vcf", out)
    expect("##carbon_mutagenesisModel=<ID=CARBON_LLR," in viewed.text, "no model line", viewed)


@case
def refusals():
    fasta = data("mini.fa")
    out = os.path.join(fresh(), "out")
    anchored = ("--regions", "c1:5-9", "--recipe", "anchored")
    for args, words in (((), "--regions"), (("--regions", "nope"), "nope"), (("--regions", "c1", "--window", "13"), "even"),
                        (("--regions", "c1:5-9", "--window", "60000"), "largest that fits"),
                        (("--regions", "c1", "--recipe", "next-token", "--type", "indel"), "--type snv"),
                        (("--regions", "c1", "--type", "deletions"), "snv or indel"),
                        (("--regions", "c1", "--horizon", "96"), "recipe anchored"),
                        (("--regions", "c1", "--horizon", "96", "--recipe", "next-token"), "recipe anchored"),
                        *(((*anchored, "--horizon", text), "horizon '" + text) for text in ("x", "-1", "96,", ",96", "96,,5", "5.5", "9 6")),
                        ((*anchored, "--horizon", "96,768,96"), "names a horizon twice"),
                        ((*anchored, "--horizon", "96,768", "--matrix", out), "one --horizon"),
                        ((*anchored, "--horizon", "16375"), "16374"), ((*anchored, "--context", "61"), "a multiple of 6"),
                        ((*anchored, "--context", "12288"), "largest that fits"), ((*anchored, "--context", "0"), "context of 0"), ((*anchored, "--strand", "x"), "strand 'x'"),
                        (("--regions", "c1", "--recipe", "best"), "expected centered, next-token")):
        expect_failure(carbon("+mutagenesis", "-m", model(), "-o", out, "--", "-f", fasta, *args), words)
        expect(not os.path.exists(out), "an output appeared")
    expect_failure(carbon("+mutagenesis", "-m", model(), fasta, fasta, "--", "--regions", "c1"), "one FASTA file")


@case
def no_output_appears_without_the_others():
    out = os.path.join(fresh(), "m.vcf.gz")
    full = carbon("+mutagenesis", "-m", model(), "-o", out, "--", *SETTINGS, "-f", data("mini.fa"), "-r", "c1:90-91", "--matrix", "/dev/full")
    expect_failure(full, "/dev/full")
    expect_equal(os.listdir(os.path.dirname(out)), [], "files")


@case
def the_matrix_says_what_made_it():
    """The lines of the VCF; --no-version leaves out those of version and command line."""
    for options, keys in (((), ["pluginVersion", "pluginCommand", "mutagenesisModel"]), (("--no-version",), ["mutagenesisModel"])):
        out = os.path.join(fresh(), "m.tsv")
        text = ok("+mutagenesis", "-m", model(), *options, "--", *SETTINGS, "-f", data("mini.fa"), "-r", "c1:90-91", "--matrix", out, dated=True).text
        lines = [line for line in read(out).decode().splitlines() if line.startswith("##")]
        expect_equal([line.split("=")[0] for line in lines], ["##carbon_" + key for key in keys], "header of the matrix")
        expect_equal(lines[-1], [line for line in text.splitlines() if line.startswith("##carbon_mutagenesisModel=")][0], "line of the model")


@case
def the_fasta_may_stand_where_it_stood():
    """In this version, with a warning."""
    wanted = ok("+mutagenesis", "-m", model(), "--no-version", "--", "-f", data("mini.fa"), *SETTINGS, "-r", "c1:90-91")
    old = ok("+mutagenesis", "-m", model(), "--no-version", data("mini.fa"), "--", *SETTINGS, "--regions", "c1:90-91")
    expect_equal(old.text, wanted.text, "records")
    expect(any("--fasta-ref" in line and "next version" in line for line in old.messages("W")), "no warning", old)
    expect(not any("next version" in line for line in wanted.messages("W")), "a warning of the new spelling", wanted)
    expect_failure(carbon("+mutagenesis", "-m", model(), "--", "-r", "c1:90-91"), "--fasta-ref is missing")
    expect_failure(carbon("+mutagenesis", "-m", model(), data("mini.fa"), "--", "-f", data("mini.fa"), "-r", "c1:90-91"), "one FASTA file")


if __name__ == "__main__":
    main()
