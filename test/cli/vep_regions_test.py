"""carbon vep: -r -R -t -T and their overlap modes select the records that bcftools view selects; -W indexes."""

import os
import random

from harness import (CARBON, bgzip, carbon, case, expect, expect_equal, expect_failure, fresh, main, model, read,
                     records, to_fasta, tool, without_tags, write)

BASES = "ACGT"
CONTIGS = (("c1", 3000), ("c2", 1200), ("h:1", 900))
_files = {}


def files():
    """A reference and one VCF as .vcf, .vcf.gz with .tbi, .vcf.gz with .csi, and .bcf with .csi."""
    if _files:
        return _files
    rng = random.Random(20)
    d = fresh()
    genome = [(name, "".join(rng.choice(BASES) for _ in range(length))) for name, length in CONTIGS]
    lines = []
    for name, bases in genome:
        rows = [(0, "N", "T")]
        for _ in range(40):
            pos = rng.randrange(1, len(bases) - 60)
            ref = bases[pos - 1:pos - 1 + rng.choice((1, 1, 1, 2, 5, 40))]
            alt = rng.choice((ref[0], ref[0] + rng.choice(BASES), rng.choice(BASES) + ref[1:], "<DEL>",
                              rng.choice(BASES) + "," + ref[0] + "TT", ref[:-1] + rng.choice(BASES)))
            rows += [(pos, ref, alt)] * rng.choice((1, 1, 1, 2, 3))
        for pos, ref in ((100, bases[99:104]), (104, bases[103]), (105, bases[104]), (200, bases[199])):
            rows += [(pos, ref, ref[0]) if len(ref) > 1 else (pos, ref, ref + "A"), (pos, ref, "."), (pos, ref, "*")]
        for i, (pos, ref, alt) in enumerate(sorted(rows, key=lambda row: row[0])):
            end = "END=%d" % (pos + 25) if alt == "<DEL>" and i % 2 else "."
            lines.append("%s\t%d\t%s_%d\t%s\t%s\t.\t.\t%s\n" % (name, pos, name, i, ref, alt, end))
    text = ("##fileformat=VCFv4.2\n##INFO=<ID=END,Number=1,Type=Integer,Description=\"End\">\n"
            + "".join("##contig=<ID=%s,length=%d>\n" % contig for contig in CONTIGS + (("unused", 10),))
            + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines))
    _files["fasta"] = write(d, "ref.fa", to_fasta(genome))
    _files["vcf"] = write(d, "in.vcf", text)
    for name, kind, index in (("tbi", "z", "-t"), ("csi", "z", "-c"), ("bcf", "b", "-c")):
        path = os.path.join(d, name + (".bcf" if kind == "b" else ".vcf.gz"))
        tool("bcftools", "view", "-O" + kind, "-o", path, _files["vcf"])
        tool("bcftools", "index", index, path)
        _files[name] = path
    return _files


def vep(*args, **options):
    # Large shares of these records are no match for the reference by design.
    return carbon("vep", "-m", model(), "-f", files()["fasta"], "-w", "12", "--strand", "+", "-c", "w",
                  "--max-ref-mismatch", "1", "--no-version", *args, **options)


def unbraced(args):
    """The arguments for a bcftools before 1.17, which knows no braces: the list as a file."""
    option, regions, *rest = args
    if "{" not in regions:
        return args
    caret, rows = "^" * regions.startswith("^"), []
    for item in regions.lstrip("^").split(","):
        name, _, places = item[1:].partition("}:") if item[0] == "{" else item.partition(":")
        begin, dash, end = places.partition("-")
        rows.append((name.rstrip("}"), begin or "1", (end or "100000000") if dash or not begin else begin))
    return [option.upper(), caret + write(fresh(), "list.txt", "".join("%s\t%s\t%s\n" % row for row in rows)), *rest]


def same_as_bcftools(path, *args, stdin=b""):
    """Runs both with the same options; returns how many records came."""
    wanted = records(tool("bcftools", "view", "--no-version", *unbraced(args), path, stdin=stdin).text)
    result = vep(*args, path, stdin=stdin)
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal([without_tags(line) for line in records(result.text)], wanted,
                 "%s of %s" % (" ".join(args), os.path.basename(path)))
    return len(wanted)


LISTS = ("c1", "c2,c1", "c1:105", "c1:101-103", "c1:105-200,c1:100", "c1:2000-", "c2:1-104,c2:105-400,c1:300-700",
         "{h:1}", "{h:1}:105-600,c2:105", "c1:200-500,c1:400-900,c1:450-460", "unused,c2", "absent,c1:201", "c1:0-150",
         "c1:0.1k-2e2", "c1:106-106,c1:107-120,c1:121-140")
OVERLAPS = ((), ("pos",), ("record",), ("variant",), ("0",), ("1",), ("2",))


def region_files():
    d = fresh()
    ranges = [("c2", 1, 104), ("c1", 400, 900), ("c1", 105, 200), ("c1", 850, 860), ("h:1", 106, 400), ("c2", 105, 300)]
    lines = "".join("%s\t%d\t%d\n" % row for row in ranges)
    ordered = sorted(ranges, key=lambda row: (row[0] != "h:1", row[0], row[1]))
    out = [write(d, "ranges.txt", lines), write(d, "ranges.bed", lines),
           write(d, "named.BED", lines.replace("\n", "\tname\t0\n")),
           write(d, "points.txt", "".join("%s\t%d\n" % (c, p) for c, p in (("c2", 105), ("c1", 200), ("c1", 100)))),
           write(d, "alleles.tsv", "c1\t105\tA\tC\nc1\t104\tA\tC\n"), files()["vcf"],
           bgzip(write(d, "plain.bed", lines)),
           bgzip(write(d, "plain.txt", lines))]
    for name, options in (("indexed.bed", ["-p", "bed"]), ("indexed.txt", ["-s1", "-b2", "-e3"]),
                          ("zero.txt", ["-0", "-s1", "-b2", "-e3"])):
        path = bgzip(write(d, name, "".join("%s\t%d\t%d\n" % row for row in ordered)))
        tool("tabix", *options, path)
        out.append(path)
    return out


@case
def regions_are_those_of_bcftools():
    found = 0
    for i, regions in enumerate(LISTS):
        for j, kind in enumerate(("tbi", "csi", "bcf")):
            overlap = OVERLAPS[(i + 3 * j) % len(OVERLAPS)]
            found += same_as_bcftools(files()[kind], "-r", regions, *(["--regions-overlap", *overlap] if overlap else []))
    expect(found > 300, "only %d records were selected" % found)


@case
def targets_are_those_of_bcftools():
    found = 0
    for i, targets in enumerate(LISTS):
        for j, kind in enumerate(("vcf", "tbi", "bcf")):
            overlap = OVERLAPS[(i + 3 * j) % len(OVERLAPS)]
            found += same_as_bcftools(files()[kind], "-t", ("^" if (i + j) % 2 else "") + targets,
                                      *(["--targets-overlap", *overlap] if overlap else []))
    expect(found > 300, "only %d records were selected" % found)


@case
def overlap_modes_differ_where_a_deletion_spans_the_boundary():
    for kind in ("tbi", "bcf"):
        counts = [same_as_bcftools(files()[kind], "-r", "c1:103-103", "--regions-overlap", mode) for mode in "012"]
        expect(counts[0] < counts[2] <= counts[1], "records by mode: %r" % counts)
        counts = [same_as_bcftools(files()[kind], "-t", "c1:100-100", "--targets-overlap", mode) for mode in "012"]
        expect(counts[2] < counts[0], "records by mode: %r" % counts)


@case
def region_files_are_read_as_bcftools_reads_them():
    for i, path in enumerate(region_files()):
        for kind in ("tbi", "bcf"):
            found = same_as_bcftools(files()[kind], "-R", path, "--regions-overlap", str((i + 1) % 3))
            expect(found > 0, "no records with -R " + path)
        expect(same_as_bcftools(files()["vcf"], "-T", path) > 0, "no records with -T " + path)
        same_as_bcftools(files()["tbi"], "-T", "^" + path, "--targets-overlap", str(i % 3))


def indexed(contigs):
    """A compressed VCF with an index; one record a contig."""
    path = os.path.join(fresh(), "in.vcf.gz")
    head = "##fileformat=VCFv4.2\n" + "".join("##contig=<ID=%s,length=100>\n" % name for name in contigs)
    rows = "".join("%s\t5\t.\tA\tC\t.\t.\t.\n" % name for name in contigs)
    tool("bcftools", "view", "-Oz", "-o", path, "-", stdin=(head + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + rows).encode())
    tool("bcftools", "index", path)
    return path


@case
def the_kind_of_an_index_stands_behind_the_option():
    for words in (("-W", "tbi"), ("--write-index", "csi"), ("-W", "csi")):
        expect_failure(vep("-o", "x.vcf.gz", *words, files()["vcf"]), "--write-index=" + words[1])


@case
def a_contig_in_another_spelling_is_named():
    """Nothing is selected, as in bcftools, but a warning says which name the file has."""
    for known, asked in (("17", "chr17"), ("chr17", "17"), ("chr17", "Chr17"), ("MT", "chrM"), ("chrM", "MT"), ("X", "chrx")):
        path = indexed((known, "c1"))
        for option in ("-r", "-t"):
            result = vep(option, asked, path)
            expect_equal(records(result.text), [], "records of %s %s" % (option, asked))
            told = [line for line in result.messages("W") if "calls " + known in line and "contig " + asked in line]
            expect_equal(len(told), 1, "warnings about %s: %r" % (asked, result.err))
            expect("of the regions is not in" not in result.err, "the same is said twice", result)
            expect(not any("calls" in line for line in vep(option, "c1," + known, path).messages("W")), "a warning without a reason")
    path = indexed(("17", "chr17", "c1"))
    for asked in ("17", "chr17", "Chr17", "c2"):
        expect(not any("calls" in line for line in vep("-r", asked + ",c1", path).messages("W")), "a guess about " + asked)


@case
def a_contig_that_the_file_does_not_have_is_named():
    """Of regions by the index, of targets at the end of the file, which need not define its contigs."""
    path = indexed(("c1", "c2"))
    bare = write(fresh(), "bare.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
                 "c1\t5\t.\tA\tC\t.\t.\t.\n")
    bed = write(fresh(), "t.bed", "".join("%s\t0\t100\n" % name for name in ("c9", "c8", "c1", "c7", "c6", "c5")))
    several = "contigs c9, c8, c7 and 2 more of the "
    for options, given, told in ((("-r", "c9:1-100"), path, "contig c9 of the regions is not in " + path),
                                 (("-t", "c9:1-100"), path, "contig c9 of the targets is not in " + path),
                                 (("-t", "^c9"), path, "contig c9 of the targets is not in " + path),
                                 (("-R", bed), path, several + "regions are not in " + path),
                                 (("-T", bed), path, several + "targets are not in " + path),
                                 (("-t", "chrc1"), bare, "contig chrc1 of the targets is not in %s; the file calls chrc1 c1" % bare),
                                 (("-t", "c1,c9"), bare, "contig c9 of the targets is not in " + bare),
                                 (("-t", "c1,c2"), path, None), (("-t", "c1"), bare, None)):
        result = vep(*options, given)
        expect_equal(result.rc, 0, "status with %s" % (options,))
        warnings = [line.split("] ")[-1] for line in result.messages("W") if " of the regions " in line or " of the targets " in line]
        expect_equal(warnings, [told] if told else [], "warnings with %s" % (options,))


@case
def regions_and_targets_together():
    bed = region_files()[1]
    expect(same_as_bcftools(files()["tbi"], "-r", "c1:100-1500", "-T", bed) > 0, "no records")
    expect(same_as_bcftools(files()["bcf"], "-R", bed, "-t", "^c2,c1:150-500") > 0, "no records")


@case
def random_intervals():
    rng = random.Random(7)
    found = 0
    for i in range(30):
        items = []
        for _ in range(rng.randrange(1, 6)):
            name, length = rng.choice(CONTIGS)
            begin = rng.randrange(1, length)
            items.append("{%s}:%d-%d" % (name, begin, begin + rng.randrange(0, 300)))
        option = rng.choice("rt")
        found += same_as_bcftools(files()[rng.choice(("tbi", "bcf"))], "-" + option, ",".join(items),
                                  "--%s-overlap" % {"r": "regions", "t": "targets"}[option], rng.choice("012"))
    expect(found > 100, "only %d records were selected" % found)


@case
def targets_work_on_a_pipe():
    for kind in ("vcf", "tbi", "bcf"):
        same_as_bcftools("-", "-t", "c1:100-900", stdin=read(files()[kind]))


@case
def long_names_of_the_options():
    path = files()["tbi"]
    expect_equal(vep("--regions=c1:105", path).out, vep("-r", "c1:105", path).out, "--regions")
    expect_equal(vep("--targets", "^c1", path).out, vep("-t", "^c1", path).out, "--targets")
    bed = region_files()[1]
    expect_equal(vep("--regions-file", bed, path).out, vep("-R" + bed, path).out, "--regions-file")
    expect_equal(vep("--targets-file=^" + bed, path).out, vep("-T", "^" + bed, path).out, "--targets-file")


@case
def a_position_from_the_start_of_the_contig():
    # bcftools 1.16 stops in an assertion here.
    got = records(vep("-r", "c1:-150", files()["tbi"]).text)
    expect_equal(got, records(vep("-r", "c1:1-150", files()["tbi"]).text), "-r c1:-150")


@case
def mistakes_are_named():
    d, path, bed = fresh(), files()["tbi"], region_files()[1]
    copied = write(d, "copied.vcf.gz", read(path))
    expect_failure(vep("-r", "c1:5", copied), "copied.vcf.gz", "index", "--targets")
    expect_failure(vep("-r", "c1:5", write(d, "copied.bcf", read(files()["bcf"]))), "copied.bcf", "index")
    expect_failure(vep("-r", "c1:5", files()["vcf"]), "in.vcf", "BGZF")
    expect_failure(vep("-r", "c1:5", "-", stdin=read(path)), "standard input", "--targets")
    for option in ("-r", "-t"):
        expect_failure(vep(option, "h:2:5-6", path), "h:2:5-6", "{")
        expect_equal(vep(option, "h:1:105-600", path).out, vep(option, "{h:1}:105-600", path).out, "a name that the file has")
        expect_failure(vep(option, "c1:20-10", path), "c1:20-10")
        expect_failure(vep(option, "", path), "empty")
        expect_failure(vep(option, "c1", option.upper(), bed, path), "exclude")
        expect_failure(vep(option.upper(), os.path.join(d, "absent.bed"), path), "absent.bed")
        expect_failure(vep(option.upper(), write(d, "none.bed", "#nothing\n"), path), "none.bed")
        expect_failure(vep(option.upper(), write(d, "bad.bed", "c1\t1\t2\nc1\t5\n"), path), "bad.bed:2")
    expect_failure(vep("-t", "^", path), "^")
    expect_failure(vep("-T", "-", "-", stdin=read(path)), "standard input")
    for option in ("--regions-overlap", "--targets-overlap"):
        expect_failure(vep(option, "3", "-r", "c1", path), option, "pos, record or variant")
    result = vep("-r", "chr1,c1:105", path)
    expect(result.rc == 0 and any("chr1" in line for line in result.messages("W")), "no warning of an unknown contig", result)


@case
def damage_in_the_blocks_that_are_read_is_an_error():
    d = fresh()
    rng = random.Random(3)
    head = "##fileformat=VCFv4.2\n##contig=<ID=c1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    rows = "".join("c1\t%d\t%d\tA\tT\t.\t.\t.\n" % (i // 20 + 1, rng.getrandbits(200)) for i in range(20000))
    plain = write(d, "many.vcf", head + rows)
    for kind, name in (("z", "many.vcf.gz"), ("b", "many.bcf")):
        path = os.path.join(d, name)
        tool("bcftools", "view", "-O" + kind, "-o", path, plain)
        tool("bcftools", "index", path)
        good, index = read(path), read(path + ".csi")
        middle = len(good) // 2
        flipped = good[:middle] + bytes(b ^ 255 for b in good[middle:middle + 40]) + good[middle + 40:]
        for what, content in (("flipped", flipped), ("cut", good[:middle]), ("without its end", good[:-28]),
                              ("cut before its end", good[:middle] + good[-28:])):
            bad = write(d, "bad" + name[4:], content)
            write(d, "bad" + name[4:] + ".csi", index)
            out = os.path.join(d, "out.vcf")
            # What an earlier one has left is discarded.
            expect_failure(vep("-r", "c1:5,c1:300-1000", "--restart", "-o", out, bad), os.path.basename(bad))
            expect(not os.path.exists(out), "an output of an input that is " + what)


# ---- indexes -------------------------------------------------------------------------------------------------------


@case
def index_is_written_and_used():
    spellings = {"csi": (["-W"], ["-W=csi"], ["-Wcsi"], ["--write-index"], ["--write-index=csi"]),
                 "tbi": (["-W=tbi"], ["-Wtbi"], ["--write-index=tbi"])}
    for kind, options in spellings.items():
        for number, option in enumerate(options):
            for suffix in (".vcf.gz", ".bcf") if kind == "csi" else (".vcf.gz",):
                d = fresh()
                out = os.path.join(d, "o" + suffix)
                # The input right after the option is not its argument.
                args = [*option, files()["tbi"], "-o", out] if number % 2 else ["-o", out, *option, files()["tbi"]]
                result = vep(*args)
                expect(result.rc == 0, "expected rc 0", result)
                expect_equal(sorted(os.listdir(d)), ["o" + suffix, "o%s.%s" % (suffix, kind)], "files of %r" % option)
                expect_equal(tool("bcftools", "index", "-s", out).text, tool("bcftools", "index", "-s", files()["tbi"]).text,
                             "bcftools index -s with %r" % option)
                whole = records(tool("bcftools", "view", out).text)
                part = records(tool("bcftools", "view", "-r", "c2:100-400", "--regions-overlap", "0", out).text)
                expect(part and part == [line for line in whole if line.startswith("c2\t")
                                         and 100 <= int(line.split("\t")[1]) <= 400], "bcftools view -r: %r" % part)
                expect(os.stat(out).st_mtime <= os.stat(out + "." + kind).st_mtime, "the index is older than the file")


@case
def index_replaces_an_older_one():
    d = fresh()
    out = os.path.join(d, "o.vcf.gz")
    for path in (out, out + ".csi", out + ".tbi"):
        write(d, path, "of an earlier run")
    expect(vep("-W", "-o", out, files()["tbi"]).rc == 0, "-W over an older index")
    expect(records(tool("bcftools", "view", "-r", "c2", out).text), "no records by the new index")
    result = vep("-W=tbi", "-o", out, files()["tbi"])
    expect(any("o.vcf.gz.csi" in line for line in result.messages("W")), "no warning of the .csi that wins", result)
    expect_equal(sorted(os.listdir(d)), ["o.vcf.gz", "o.vcf.gz.csi", "o.vcf.gz.tbi"], "files")


@case
def index_of_a_selection_and_of_no_records():
    for regions, count in (("c1:105-300", None), ("unused", 0)):
        out = os.path.join(fresh(), "o.vcf.gz")
        result = vep("-r", regions, "-W", "-o", out, files()["bcf"])
        expect(result.rc == 0, "expected rc 0", result)
        tool("bcftools", "view", "-r", "c1", out)
        got = len(records(tool("bcftools", "view", out).text))
        expect(got == 0 if count == 0 else got > 0, "%d records" % got)


@case
def what_an_output_cannot_hold_is_refused():
    """At the start if a contig of the header is too long, and else at the record."""
    d = fresh()

    def annotate(pos, length, *args):
        line = "##contig=<ID=c1%s>\n" % (",length=%d" % length if length else "")
        path = write(d, "in.vcf", "##fileformat=VCFv4.2\n" + line + "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
                     + "c1\t%d\t.\tA\tC\t.\t.\t.\n" % pos)
        return vep(*args, path, cwd=d)

    long = 3000000000
    for pos, length, args, words in ((1, long, ("-o", "o.bcf"), ("contig c1", str(long), "2147483647", "-O z")),
                                     (1, long, ("-Ou",), ("contig c1", "2147483647")),
                                     (1, long, ("-o", "o.vcf.gz", "-W=tbi"), ("contig c1", "512 Mb", "csi")),
                                     (2147483648, 0, ("-o", "o.bcf"), ("c1:2147483648", "2147483647", "-O z")),
                                     (536870913, 0, ("-o", "o.vcf.gz", "-W=tbi"), ("c1:536870913", "csi")),
                                     (40000000000, long, ("-o", "o.vcf.gz", "-W"), ("c1:40000000000", "reheader"))):
        expect_failure(annotate(pos, length, *args), *words)
        expect_equal([name for name in os.listdir(d) if not name.endswith(".partial")], ["in.vcf"], "files after %r" % (args,))
    for pos, length, args in ((1, long, ("-o", "o.bcf", "-t", "c1:1-100")), (2147483647, 0, ("-Ob",)),
                              (2147483648, long, ("-o", "o.vcf.gz", "-W")), (536870912, 536870912, ("-o", "p.vcf.gz", "-W=tbi"))):
        result = annotate(pos, length, *args)
        expect(result.rc == 0, "%d %r" % (pos, args), result)
    expect_equal(len(records(tool("bcftools", "view", "-r", "c1:2147483648", os.path.join(d, "o.vcf.gz")).text)), 1, "found")


@case
def index_that_cannot_be_is_refused_first():
    for args, words in ((["-W", "-O", "z"], ["standard output"]), (["-W", "-Oz", "-o", "-"], ["standard output"]),
                        (["-W", "-o", "o.vcf"], ["o.vcf", "compressed"]), (["-W", "-Ou", "-o", "o.bcf"], ["compressed"]),
                        (["-W=tbi", "-o", "o.bcf"], ["BCF", "csi"]), (["-W=bai", "-o", "o.bcf"], ["bai", "csi or tbi"]),
                        (["--write-index=", "-o", "o.bcf"], ["csi or tbi"]),
                        (["-W", "-Oz", "-o", "/dev/stdout"], ["/dev/stdout"])):
        d = fresh()
        result = vep(*args, files()["tbi"], cwd=d)
        expect_failure(result, *words)
        expect_equal((result.out, os.listdir(d)), (b"", []), "what %r leaves" % args)
    d = fresh()
    os.mkdir(os.path.join(d, "o.bcf.csi"))
    expect_failure(vep("-W", "-o", "o.bcf", files()["tbi"], cwd=d), "o.bcf.csi")
    expect_equal(os.listdir(d), ["o.bcf.csi"], "files beside a directory of the index's name")
    # Before the model, even.
    expect_failure(carbon("vep", "-m", "absent", "-f", "absent.fa", "-W", files()["vcf"]), "standard output")


@case
def unsorted_records_are_an_error_with_an_index_only():
    head = "##fileformat=VCFv4.2\n##contig=<ID=c1>\n##contig=<ID=c2>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    for rows, where in (([("c1", 9), ("c1", 8)], "c1:8"), ([("c1", 9), ("c2", 8), ("c1", 10)], "c1:10")):
        d = fresh()
        path = write(d, "in.vcf", head + "".join("%s\t%d\t.\tA\tT\t.\t.\t.\n" % row for row in rows))
        out = os.path.join(d, "o.vcf.gz")
        expect_failure(vep("-W", "-o", out, path), where, "sort")
        expect_equal(sorted(os.listdir(d)), ["in.vcf", "o.vcf.gz.partial"], "files")
        expect(vep("--resume", "-o", out, path).rc == 0, "an unsorted input without -W fails")


if __name__ == "__main__":
    main()
