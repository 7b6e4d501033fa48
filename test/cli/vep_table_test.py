"""carbon vep -O t: the table says what the VCF of the same run says, and tabix indexes it."""

import os
import shutil

from harness import (SHARED, Skip, carbon, case, command, decompress, expect, expect_equal, expect_failure, fresh, info_of,
                     is_bgzf, main, model, own_errors, read, records, to_fasta, tool, write)
from vep_support import MINI, WINDOW, reference, vcf, vep

BOTH = ("--recipe", "centered,next-token")


def rows(text, tags):
    """The lines of the table that a VCF with these tags stands for."""
    lines = []
    for line in records(text):
        contig, pos, name, ref, alts = line.split("\t")[:5]
        info = info_of(line)
        alts = alts.split(",")
        columns = [info.get(tag, ".").split(",") for tag in tags]
        columns = [column if len(column) == len(alts) else column * len(alts) for column in columns]
        lines += ["\t".join((contig, pos, name, ref) + row) for row in zip(alts, *columns)]
    return lines


def comments(text):
    return [line for line in text.splitlines() if line.startswith("#")]


@case
def the_table_has_the_values_of_the_vcf():
    window = ("-w", WINDOW)
    for args, tags in ((window, ["CARBON_LLR", "CARBON_FLAG"]),
                       (("--recipe", "next-token"), ["CARBON_NT", "CARBON_FLAG"]),
                       ((*BOTH, *window), ["CARBON_LLR", "CARBON_NT", "CARBON_FLAG"]),
                       ((*BOTH, *window, "--tag-prefix", "XY", "-c", "x"), ["XY_LLR", "XY_NT", "XY_FLAG"])):
        run = vep("--no-version", *args, MINI)
        table = vep("--no-version", "-O", "t", *args, MINI)
        expect_equal(records(table.text), rows(run.text, tags), "lines with %s" % " ".join(map(str, args)))
        expect_equal(comments(table.text)[-1], "\t".join(["#CHROM", "POS", "ID", "REF", "ALT"] + tags), "column names")
        expect_equal(table.err, run.err, "messages")


@case
def a_line_for_each_alternative():
    lines = [line.split("\t") for line in records(vep("-w", WINDOW, "-O", "t", MINI).text)]
    expect_equal(len(lines), 44, "number of lines")
    expect(all(len(line) == 7 for line in lines), "another number of columns than 7")
    of = lambda name: [line[4:] for line in lines if line[2] == name]
    expect_equal(of("monomorphic"), [[".", ".", "."]], "a record without ALT")
    expect_equal(of("no_contig"), [["C", ".", "no_contig"], ["G", ".", "no_contig"]], "unscored alleles")
    (first, second) = of("star")
    expect(first[2] == "." and float(first[1]) < 0 and second == ["*", ".", "star"], "%r %r" % (first, second))


@case
def readers_of_tables_take_it():
    """The calls that the manual page names, as far as they are installed; the lines before the columns in any case."""
    d = fresh()
    path = os.path.join(d, "scores.tsv.gz")
    expect_equal(vep("-w", WINDOW, "-O", "t", "-o", path, MINI).rc, 0, "rc")
    full = decompress(read(path)).decode().splitlines()
    lines = full
    expect([line.startswith("##carbon_vep") for line in lines[:4]] == [True] * 3 + [False], "three lines, then the columns")
    expect_equal(comments(vep("-w", WINDOW, "-O", "t", "--no-version", MINI).text)[1], lines[3], "one line, then the columns")
    expect_equal(vep("-w", WINDOW, "-O", "t", "--header", "plain", "-o", path, MINI).rc, 0, "rc")
    plain = decompress(read(path)).decode().splitlines()
    expect_equal(plain, [full[3].lstrip("#"), *full[4:]], "a plain header")
    scores = [line.split("\t")[5] for line in lines[4:]]
    total = sum(float(score) for score in scores if score != ".")
    calls = [(["python3", "-c"], module, code) for module, code in (
        ("pandas", 't = pandas.read_csv(%r, sep="\t", na_values="."); print(len(t), t["CARBON_LLR"].sum())'),
        ("polars", 't = polars.read_csv(%r, separator="\t", null_values="."); print(len(t), t["CARBON_LLR"].sum())'))]
    calls.append((["Rscript", "-e"], "", 't <- read.delim(%r, na.strings = "."); cat(nrow(t), sum(t$CARBON_LLR, na.rm = TRUE))'))
    tried = 0
    for program, module, code in calls:
        if shutil.which(program[0]) is None or (module and command([*program, "import " + module]).rc != 0):
            continue
        result = command([*program, ("import %s; " % module if module else "") + code % path])
        expect(result.rc == 0, "rc of %s" % (module or "R"), result)
        count, sum_read = result.text.split()
        expect_equal(int(count), len(scores), "rows for " + (module or "R"))
        expect(abs(float(sum_read) - total) < 1e-4, "sum of scores for %s: %s, expected %s" % (module or "R", sum_read, total))
        tried += 1
    if tried == 0:
        raise Skip("neither pandas nor polars nor R is installed; the lines before the columns were compared")


@case
def a_plain_header_is_for_tables():
    for args in ((), ("-O", "z"), ("-o", os.path.join(fresh(), "x.bcf"))):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, "--header", "plain", *args, MINI), "-O t")


@case
def names_of_a_record_stay_together():
    line = "c1\t100\trs1;rs2\tG\tT,C\t.\t.\t.\n"
    path = write(fresh(), "i.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + line)
    expect_equal([row.split("\t")[2] for row in records(vep("-w", WINDOW, "-O", "t", path).text)], ["rs1;rs2"] * 2, "ID")


@case
def header_lines():
    vcf_lines = [line for line in comments(vep("-w", WINDOW, MINI).text) if line.startswith("##carbon")]
    lines = comments(vep("-w", WINDOW, "-O", "t", MINI).text)
    expect_equal([line.split("=")[0] for line in lines[:-1]],
                 ["##carbon_vepVersion", "##carbon_vepCommand", "##carbon_vepModel"], "lines before the names")
    expect_equal(lines[2], vcf_lines[2], "model line")
    lines = comments(vep("-w", WINDOW, "-O", "t", "--no-version", MINI).text)
    expect_equal(lines[:-1], [vcf_lines[2]], "lines with --no-version")


@case
def input_in_every_format_and_output_by_suffix():
    wanted = vep("-w", WINDOW, "--no-version", "-O", "t", MINI).out
    bcf = write(fresh(), "in.bcf", tool("bcftools", "view", "-Ob", MINI).out)
    expect_equal(vep("-w", WINDOW, "--no-version", "-O", "t", bcf).out, wanted, "from BCF")
    expect_equal(vep("-w", WINDOW, "--no-version", "-O", "t", stdin=read(MINI)).out, wanted, "from stdin")
    for name, args in (("o.tsv", ()), ("o.tsv.gz", ()), ("o.TSV.GZ", ()), ("o.tsv.bgz", ("-O", "v")), ("o.txt", ("-O", "t")),
                       ("o.txt.gz", ("-O", "t"))):
        path = os.path.join(fresh(), name)
        vep("-w", WINDOW, "--no-version", *args, "-o", path, MINI)
        expect_equal(os.listdir(os.path.dirname(path)), [name], "files of -o " + name)
        expect_equal(is_bgzf(read(path)), name.lower().endswith("gz"), "BGZF of " + name)
        expect_equal(decompress(read(path)), wanted, "-o " + name)
    path = os.path.join(fresh(), "o.vcf.gz")
    vep("-w", WINDOW, "-O", "t", "-o", path, MINI)
    expect(decompress(read(path)).startswith(b"##fileformat=VCF"), "the suffix does not override -O t")


@case
def tabix_indexes_a_table_of_sorted_records():
    order = ["c1", "c2", "tiny"]
    lines = [line.split("\t") for line in records(read(MINI).decode())]
    lines = [tuple(line[i] for i in (0, 1, 3, 4)) for line in lines if line[0] in order and line[1] != "0"]
    lines.sort(key=lambda line: (order.index(line[0]), int(line[1])))
    path = os.path.join(fresh(), "o.tsv.gz")
    vep("-w", WINDOW, "-o", path, vcf(lines))
    tool("tabix", "-s1", "-b2", "-e2", path)
    table = decompress(read(path)).decode()
    for region, contig, begin, end in (("c1:120-220", "c1", 120, 220), ("c2", "c2", 1, 10**9), ("tiny:3", "tiny", 3, 10**9)):
        wanted = [row for row in records(table) if row.split("\t")[0] == contig and begin <= int(row.split("\t")[1]) <= end]
        expect(len(wanted) > 1, "the region %s is too empty to test" % region)
        expect_equal(tool("tabix", path, region).lines(), wanted, region)
    expect_equal(tool("tabix", "-H", path).lines(), comments(table), "header by tabix")


@case
def an_earlier_run_is_not_replaced_and_not_warned_of():
    once = vep("-w", WINDOW, "--no-version", MINI)
    again = vep("-w", WINDOW, "--no-version", "-O", "t", write(fresh(), "again.vcf", once.out))
    expect_equal(again.text, vep("-w", WINDOW, "--no-version", "-O", "t", MINI).text, "table of an annotated VCF")
    expect(not any("earlier run" in line for line in again.messages("W")), "a warning about a replacement", again)


@case
def input_without_records():
    head = "".join(line + "\n" for line in comments(read(MINI).decode()))
    table = vep("-w", WINDOW, "--no-version", "-O", "t", write(fresh(), "h.vcf", head)).text
    expect_equal([line.split("\t")[0].split("=")[0] for line in table.splitlines()], ["##carbon_vepModel", "#CHROM"], "lines")


@case
def failures_leave_no_output():
    base = ("vep", "-m", model(), "-f", reference(), "-w", WINDOW)
    directory = fresh()
    path = os.path.join(directory, "o.tsv.gz")
    cut = write(fresh(), "cut.vcf", read(MINI) + b"1\t2")
    expect_failure(carbon(*base, "-o", path, cut), "fewer columns")
    expect("o.tsv.gz" not in os.listdir(directory), "an output beside what is kept")
    directory = fresh()
    path = os.path.join(directory, "o.tsv.gz")
    expect_failure(carbon(*base, "-O", "z9", "-o", path, MINI), "level")
    expect_failure(carbon(*base, "-O", "t1", MINI), "output type")
    expect_equal(os.listdir(directory), [], "files after failures")


@case
def a_table_given_as_variants_is_refused():
    table = write(fresh(), "scores.tsv", vep("-w", WINDOW, "-O", "t", MINI).out)
    for run in (carbon("vep", "-m", model(), "-f", reference(), table), carbon("+auroc", table)):
        expect_failure(run, "this is a table that carbon wrote, and not VCF")


@case
def odd_files_have_the_same_rows():
    top = os.path.join(SHARED, "data", "vcf")
    if not os.path.isdir(top):
        raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % top)
    paths = sorted(os.path.join(where, name) for folder in ("bcftools", "hts-specs") for where, _, files in
                   os.walk(os.path.join(top, folder)) for name in files if name.endswith((".vcf", ".vcf.gz")))
    names = {line.split("\t")[0]: None for path in paths for line in records(decompress(read(path)).decode("latin-1"))}
    plain = [name for name in names if name.isascii() and name.isprintable() and name and " " not in name]
    fasta = write(fresh(), "odd.fa", to_fasta([(name, "ACGTTGCATC" * 30) for name in plain]))
    seen = 0
    for path in paths:
        args = ("vep", "-m", model(), "-f", fasta, "-w", 24, "--max-ref-mismatch", 1, "--no-version")
        plain, table = carbon(*args, path), carbon(*args, "-O", "t", path)
        expect_equal(table.rc, plain.rc, "exit status for " + path)
        if plain.rc != 0:
            expect_equal(own_errors(table), own_errors(plain), "message for " + path)
            continue
        decoded = [result.out.decode("latin-1") for result in (plain, table)]
        wanted = rows(decoded[0], ["CARBON_LLR", "CARBON_FLAG"])
        expect_equal(records(decoded[1]), wanted, path)
        seen += len(wanted)
    expect(seen > 500, "only %d lines compared" % seen)


if __name__ == "__main__":
    main()
