"""Gives hostile files to carbon and to bcftools, samtools or tabix, and prints what each does as Markdown.

Run by hand in the root of the repository; not part of make check; takes some minutes:

    CARBON=./carbon python3 test/fuzz/compare_tools.py > test/fuzz/FINDINGS.md

The files are those of test/cli/hostile_files_test.py, whose cases run here with another way of starting programs, and some
that are too large or too slow for a test. CARBON is the program (default build/carbon); its plugins are in the
folder `plugins` beside it. Every run has a limit of time (`timeout`) and of memory (`ulimit -v`).
"""

import glob
import os
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, os.pardir, "cli"), HERE]

import harness  # noqa: E402
import hostile_files_test as hostile  # noqa: E402
import seeds  # noqa: E402
from findings_page import print_page  # noqa: E402
from harness import CARBON, command, data, fresh, genome, model, model_copy, read, tool, workplace, write  # noqa: E402
from outcomes import GIGABYTES, SECONDS, TINY, Outcome, measured  # noqa: E402
from vep_support import HEAD, MINI, WINDOW, vcf  # noqa: E402
from written import compare, input_of, own_output, records_of, view  # noqa: E402

FEW_SECONDS = 10  # for rows that stand for many files, some of which do not end

# ---- the table -----------------------------------------------------------------------------------------------------

class Row:
    """One file, or several that differ in little; `others` are (command, outcomes)."""

    def __init__(self, finding, file, wrong):
        self.finding, self.file, self.wrong = finding, file, wrong
        self.carbon, self.command, self.others = [], "", {}

    def other(self, name, outcome):
        self.others.setdefault(name, []).append(outcome)


rows = []


def row(finding, file, wrong):
    rows.append(Row(finding, file, wrong))
    print("%s: %s" % (file, wrong), file=sys.stderr)
    return rows[-1]


# ---- the cases of hostile_files_test.py ----------------------------------------------------------------------------

def recorded(name, choose, counterpart=None, seconds=SECONDS, wanted=None):
    """Runs a case of hostile_files_test.py. `choose(args, number, options)` says to which row a run of carbon belongs, or
    None, and `counterpart(row, args)` runs the other programs on the same file, as long as it exists. `wanted` has the
    records that a run should write, if they are not those of its input."""
    number = 0

    def instead(args, stdin=b"", cwd=None, env=None, timeout=60):
        nonlocal number
        if args[0] != CARBON or args[1] == "--version":
            return command(args, stdin, cwd, env, timeout)
        given = [str(a) for a in args]
        where = choose(given, number, timeout)
        number += 1
        if where is None:
            return command(args, stdin, cwd, env, timeout)
        records = wanted if wanted is not None else input_of(given)[1] if given[1] == "vep" else []
        outcome = measured(given, stdin, cwd, env, seconds)
        if "--cache" not in given:
            own_output(outcome, records)
        where.carbon.append(outcome)
        if counterpart:
            counterpart(where, given)
        return harness.Result(args, outcome.status, outcome.out, outcome.text.encode())

    harness.command = instead
    try:
        getattr(hostile, name)()
    except AssertionError as e:
        print("NOT AS THE TEST DEMANDS %s: %s" % (name, e), file=sys.stderr)
    finally:
        harness.command = command


def in_turn(*made):
    """The runs of a case belong to these rows, one after the other."""
    return lambda args, number, timeout: made[number] if number < len(made) else None


def with_view(row_, args):
    path, wanted = input_of(args)
    row_.other("bcftools view -Ob", view(path, wanted))


def with_both_views(row_, args):
    path, wanted = input_of(args)
    row_.other("bcftools view -Ob", view(path, wanted))
    row_.other("bcftools view -Ov", view(path, wanted, kind="v"))


def nul_bytes():
    first, second = (row(1, "VCF", "a NUL byte in %s of a record without samples" % x) for x in ("REF", "ALT"))
    recorded("a_nul_byte_in_a_record", in_turn(first, second), with_both_views)
    recorded("a_nul_byte_in_a_header", in_turn(row(1, "VCF", "a NUL byte in a line of the header")), with_view)


def json():
    checkpoint = model_copy()
    write(checkpoint, "config.json", '{"x":[%s]}' % ",".join(["{}"] * 100000))
    row(2, "config.json", "an array of 100,000 objects (300 kB)").carbon.append(
        measured([CARBON, "score", "-m", checkpoint, data("mini.fa")]))
    made = (row(2, "config.json", "an array of 1,000,000 objects"), row(2, "dna_config.json", "200,000 objects"),
            row(2, "model.safetensors", "a header with 200,000 empty tensors"))
    recorded("json_that_takes_the_square_of_its_length_to_read_elsewhere", in_turn(*made))
    text = dict(seeds.bpe_seeds())
    tokenizer = seeds.json.loads(next(iter(text.values())).split(seeds.BETWEEN)[0])
    top = 1 + max(list(tokenizer["model"]["vocab"].values()) + [t["id"] for t in tokenizer.get("added_tokens", [])])
    model_token = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer["added_tokens"] = tokenizer.get("added_tokens", []) + [
        {"id": top + i, "content": "<more%d>" % i, **model_token} for i in range(40000)]
    path = write(fresh(), "tokenizer.json", seeds.compact(tokenizer))
    row(2, "tokenizer.json", "40,000 added tokens").carbon.append(
        measured([CARBON, "tokenize", "--tokenizer", path, "-"], b'"aaa"\n'))


def fasta_index():
    directory = fresh()
    fasta = write(directory, "in.fa", ">c\nACGTACGT\n")
    write(directory, "in.fa.fai", "c\t8\t3\t0\t0\n")
    zero = row(3, ".fai", "lines of length 0 (`c 8 3 0 0`)")
    zero.carbon.append(measured([CARBON, "score", "-m", model(), "-r", "c:1-4", "-o", directory + "/out", fasta]))
    zero.other("samtools faidx", bases(fasta, "c:1-4", b"ACGT"))
    impossible = row(3, ".fai", "numbers that no FASTA can have: negative, too large, 4 or 6 columns, no number")
    others = row(3, ".fai", "numbers that do not match the FASTA")

    def choose(args, number, timeout):
        if "-o" not in args:
            return None
        return impossible if len(impossible.carbon) < 7 else others

    def counterpart(row_, args):
        row_.other("samtools faidx", bases(input_of(args)[0], "a:1-12", b"ACGTACGTACAC"))
    recorded("an_index_of_fasta_with_wrong_numbers", choose, counterpart)


def block_index():
    directory = fresh()
    random_bases = genome()["c1"] * 700  # several blocks
    fasta = write(directory, "in.fa", ">c1\n" + "\n".join(random_bases[i:i + 60] for i in range(0, len(random_bases), 60)) + "\n")
    zipped = write(directory, "in.fa.gz", tool("bgzip", "-c", fasta).out)
    tool("samtools", "faidx", zipped)
    index, content, right = read(zipped + ".gzi"), read(zipped), random_bases[300000:300060].encode()
    cases = ((row(3, ".gzi", "one byte inverted, at every place"), ".gzi",
              [index[:i] + bytes((index[i] ^ 255,)) + index[i + 1:] for i in range(len(index))]),
             (row(3, ".fa.gz with .fai and .gzi", "cut at 12 places"), "",
              [content[:len(content) * i // 12] for i in range(12)]),
             (row(3, ".fa.gz with .fai and .gzi", "one byte inverted, at 40 places"), "",
              [content[:i] + bytes((content[i] ^ 255,)) + content[i + 1:] for i in range(0, len(content), len(content) // 40 + 1)]))
    for made, suffix, damaged in cases:
        for text in damaged:
            write(directory, "in.fa.gz" + suffix, text)
            outcome = measured([CARBON, "score", "-m", model(), "-r", "c1:300001-300060", "-O", "tsv", zipped])
            found = b"".join(line.split(b"\t")[2] for line in outcome.out.splitlines() if not line.startswith(b"#"))
            if not outcome.status and found != right:
                outcome.fault = "but wrong bases"
            made.carbon.append(outcome)
            made.other("samtools faidx", bases(zipped, "c1:300001-300060", right))
        write(directory, "in.fa.gz", content)
        write(directory, "in.fa.gz.gzi", index)


def bases(fasta, region, right):
    outcome = measured(["samtools", "faidx", fasta, region])
    if not outcome.status:
        found = b"".join(outcome.out.split(b"\n")[1:])
        if found != right:
            outcome.fault = "but wrong bases" if found else "but no bases"
    return outcome


def record_index():
    directory, path, contents = hostile.indexed()
    write(directory, "raw", contents["csi"][:8] + struct.pack("<i", 0) + contents["csi"][12:])
    write(directory, "in.vcf.gz.csi", tool("bgzip", "-c", directory + "/raw").out)
    zero = row(4, ".csi", "`n_lvls` is 0, and the index is used (`-r`)")
    run = [CARBON, "vep", "-m", model(), "-f", directory + "/mini.fa", "-w", WINDOW, "-r", "c1:40-60", "-o",
           directory + "/out.vcf", path]
    zero.carbon.append(measured(run))
    wanted = [r for r in records_of(tool("bgzip", "-dc", path).out) if r[1] == b"50"]
    zero.other("bcftools view -r", view(path, wanted, "-r", "c1:40-60", seconds=FEW_SECONDS))

    made = {}
    for kind in ("csi", "tbi"):
        made[kind, "bad"] = row(4, "." + kind, "cut at many places, or with impossible numbers, and the index is used (`-r`)")
        made[kind, "unused"] = row(4, "." + kind, "the same files, but nothing needs the index (no `-r`)")
        made[kind, "flip"] = row(4, "." + kind, "one byte inverted, at many places, and the index is used (`-r`)")

    def choose(args, number, timeout):
        kind = "csi" if os.path.exists(args[args.index("-w") + 2] + ".csi") else "tbi"
        what = "unused" if "-r" not in args else "bad" if "-o" in args else "flip" if timeout == 20 else None
        return made.get((kind, what))

    def counterpart(row_, args):
        path = args[args.index("-w") + 2]
        wanted = records_of(tool("bgzip", "-dc", path).out)
        region = ("-r", "c1:40-60") if "-r" in args else ()
        if region:
            wanted = [r for r in wanted if 40 <= int(r[1]) <= 60]
        row_.other("bcftools view -r" if region else "bcftools view", view(path, wanted, *region, seconds=FEW_SECONDS))
    recorded("a_cut_or_crafted_index_of_records", choose, counterpart)


def contig_length():
    def counterpart(row_, args):
        path, wanted = input_of(args)
        for run in (["bcftools", "index", "-c"], ["tabix", "-p", "vcf"]):
            zipped = os.path.join(fresh(), "out.vcf.gz")
            tool("bcftools", "view", "--no-version", "-Oz", "-o", zipped, path)
            outcome = measured([*run, zipped])
            if not outcome.status and measured(["bcftools", "view", "-r", wanted[0][0].decode(), zipped]).status:
                outcome.fault = "but the index cannot be used"
            row_.other(" ".join(run), outcome)
    recorded("a_contig_that_no_index_can_hold", in_turn(row(
        5, "VCF", "`##contig=<ID=c1,length=4611686018427387904>`, and an index of the output is wanted (`-W`)")), counterpart)


def caches():
    made = [row(6, "--cache", "a database with another %s" % x) for x in ("table", "view", "trigger", "index")]
    made.append(row(6, "--cache", "a generated column of 1 GB for each row"))

    def choose(args, number, timeout):
        if not os.path.exists(args[args.index("--cache") + 1]):
            return None
        return next(r for r in made if not r.carbon)
    recorded("a_cache_with_more_than_the_table", choose)
    same = row(6, "--cache", "the cache is also the output (`--cache X -o X`)")
    recorded("a_cache_that_is_also_the_output", lambda args, number, timeout: same if number else None)

    both = row(6, "VCF", "the input is also the output (`-o in.vcf in.vcf`)")
    for run in (lambda path: [CARBON, "vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "-o", path, path],
                lambda path: ["bcftools", "view", "--no-version", "-o", path, path]):
        path = write(fresh(), "in.vcf", HEAD % hostile.CONTIG + hostile.line(2))
        before = records_of(read(path))
        outcome = measured(run(path))
        if records_of(read(path)) != before:
            outcome.fault = "and the input is destroyed"
        if outcome.args[0] == CARBON:
            both.carbon.append(outcome)
        else:
            both.other("bcftools view -o", outcome)


def headers():
    recorded("a_sample_without_a_name", in_turn(row(7, "VCF", "the second of three samples has an empty name")),
             with_both_views)
    recorded("a_header_that_would_fill_the_memory", in_turn(*[row(7, "VCF", x) for x in (
        "`##FILTER` with IDX=20000000", "`##contig` with IDX=4000000000", "`##INFO` with a quote in its ID and IDX=20000000",
        "IDX=20000000 inside the text of a Description, which is no fault")]), with_view)
    recorded("a_header_that_would_take_minutes", in_turn(row(7, "VCF", "50,000 lines `##k1=x`, `##k2=x`, ... in the header")),
             with_view)

    long = row(7, "VCF on standard input",
               "one record of 4.3 GB without an end of line (here the limits are 120 seconds and 8 GB)")
    head = write(fresh(), "head", HEAD % hostile.CONTIG + "c1\t2\t.\tA\t")
    for run in ([CARBON, "vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "-o", fresh() + "/out.vcf", "-"],
                ["bcftools", "view", "--no-version", "-Ob", "-o", fresh() + "/out.bcf", "-"]):
        with subprocess.Popen(["bash", "-c", 'cat "$1"; head -c 4300000000 /dev/zero | tr "\\0" A', "-", head],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source:
            outcome = measured(run, source.stdout, seconds=120, gigabytes=8)
            source.stdout.close()
        compare(outcome, run[-2], [["c1", "2", "."]])
        if run[0] == CARBON:
            long.carbon.append(outcome)
        else:
            long.other("bcftools view -Ob", outcome)

    endless = row(7, "table of contig names", "`/dev/full`, which never ends (`--chr-map`, `--rename-chrs`)")
    path = vcf([("c1", 2, "A", "C")])
    endless.carbon.append(measured([CARBON, "vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "--chr-map",
                                    "/dev/full", path]))
    theirs = measured(["bcftools", "annotate", "--rename-chrs", "/dev/full", path])
    if not theirs.status:
        theirs.fault = "but it reads until the limit of the memory, and takes this for the end of the table"
    endless.other("bcftools annotate --rename-chrs", theirs)


def samples():
    made = [row(11, "VCF", "a name in FORMAT is empty")] * 4 + [
        row(11, "VCF", "more or fewer columns than the header names samples, or a sample without text")] * 6
    recorded("samples_that_do_not_fit_the_header", in_turn(*made), with_both_views)


def undefined():
    """Each row is one way of choosing records; the files of a row have the wrong name in different columns."""
    made = {"-r": row(12, "BCF", "a record has the number of a contig, FILTER, INFO or FORMAT name that the header does not "
                                 "define, and is read by the index (`-r`)"),
            "": row(12, "BCF", "the same files, read whole")}
    lines = [[b"c1", b"%d" % p, b".", genome()["c1"][p - 1].encode(), b"N", b"GT", b"0/1"] for p in (100, 200, 300)]
    region = ("-r", "c1:1-1000")

    def choose(args, number, timeout):  # the first two runs have the right file, and some ask for a table
        return made["-r" if "-r" in args else ""] if number > 1 and "t" not in args and "b" not in args else None

    def counterpart(row_, args):
        path = args[args.index("-w") + 2]
        chosen = region if "-r" in args else ()
        row_.other("bcftools view" + (" -r" if chosen else ""), view(path, lines, *chosen, kind="v"))
    recorded("numbers_that_the_header_of_bcf_does_not_define", choose, counterpart, wanted=lines)

    names = row(12, "VCF", "two records have a FILTER, INFO or FORMAT name that the header does not define, the second of "
                           "them is chosen (`-t`, `-r`), and BCF is wanted (`-O u`, `-O b`)")

    def chosen(args, number, timeout):
        return names if ("-t" in args or "-r" in args) and ("u" in args or "b" in args) else None

    def chosen_by_bcftools(row_, args):
        option = "-r" if "-r" in args else "-t"
        path = args[args.index(option) + 2]
        wanted = [r for r in input_of(["vep", path])[1] if r[1] == b"60"]
        row_.other("bcftools view " + option, view(path, wanted, option, args[args.index(option) + 1]))
    recorded("undefined_names_that_records_before_had_too", chosen, chosen_by_bcftools, wanted=[])

    gaps = row(12, "BCF", "the contigs have the numbers 3 and 5, which is no fault, and a region without records is read (`-r`)")
    directory = fresh()
    text = HEAD % "##contig=<ID=c1,IDX=3>\n##contig=<ID=c2,IDX=5>\n" + hostile.line(2, genome()["c1"][1], "N")
    path = os.path.join(directory, "in.bcf")
    tool("bcftools", "view", "--no-version", "-Ob", "-o", path, write(directory, "in.vcf", text))
    tool("bcftools", "index", path)
    for place in ("c1:40-60", "c2"):
        run = [CARBON, "vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, "-r", place, path]
        gaps.carbon.append(own_output(measured(run), []))
        gaps.other("bcftools view -r", view(path, [], "-r", place))


def other_files():
    made = row(13, "VCF", "it is an answer of an htsget server, with the path of another VCF on this machine (plain, `file://`, and "
                          "compressed) or the address of a server")

    def counterpart(row_, args):
        outcome = view(input_of(args)[0], [], kind="v")
        outcome.fault = "but with the records of another file" if not outcome.status else outcome.fault
        row_.other("bcftools view", outcome)
    # The last run reads standard input.
    recorded("a_file_that_names_another", lambda args, number, timeout: None if "-" in args else made, counterpart, wanted=[])


def positions():
    one = row(8, "VCF", "POS 9223372036854775807 (recipes `centered`, `next-token` and `anchored`)")

    def counterpart(row_, args):
        if len(row_.carbon) > 1:
            return
        with_both_views(row_, args)
        path, wanted = input_of(args)
        output = os.path.join(fresh(), "out.vcf")
        norm = measured(["bcftools", "norm", "--no-version", "-f", data("mini.fa"), "-o", output, path])
        row_.other("bcftools norm -f", compare(norm, output, wanted))
    recorded("the_largest_position", lambda args, number, timeout: one, counterpart)


def names():
    recorded("a_model_in_a_folder_with_an_odd_name", in_turn(*[row(
        9, "model", "its folder is named `a\"b\\nc\\t\\\\d`; output as %s" % x) for x in ("VCF", "a table")]))

    def counterpart(row_, args):
        path = input_of(args)[0]
        row_.other("bcftools view -Ov", view(path, [[b"#c"]], kind="v"))
        query = measured(["bcftools", "query", "-f", "%CHROM\\t%POS\\n", path])
        if not query.status and query.out.startswith(b"#"):
            query.fault = "but the row begins with # and reads as a comment"
        row_.other("bcftools query", query)
    recorded("a_contig_that_reads_as_a_comment",
             in_turn(row(9, "BCF and FASTA", "a contig named `#c`; a table or text is wanted")), counterpart)

    odd = row(9, "VCF", "the file is named `a\\n##injected=1\\nb.vcf`, and the header records the command line")
    directory = fresh()
    path = write(directory, "a\n##injected=1\nb.vcf", read(vcf([("c1", 2, genome()["c1"][1], "N")])))
    for run in ([CARBON, "vep", "-m", model(), "-f", data("mini.fa"), "-w", WINDOW, path], ["bcftools", "view", path]):
        outcome = measured(run)
        if not outcome.status and (b"\n##injected=1" in outcome.out or b"\nb.vcf" in outcome.out):
            outcome.fault = "but the name adds lines to the header"
        if run[0] == CARBON:
            odd.carbon.append(outcome)
        else:
            odd.other("bcftools view", outcome)


def special_files():
    recorded("a_fifo_in_place_of_a_file_of_the_model",
             in_turn(*[row(10, name, "a FIFO that nobody writes") for name in ("config.json", "model.safetensors")]))

    cut = row(10, "model.safetensors", "cut to nothing while the run uses it")
    began = time.monotonic()
    try:
        hostile.a_model_that_is_cut_during_the_run()
        outcome = Outcome([CARBON], 1, time.monotonic() - began, 0, b"", "[E::main] a model file was truncated")
    except AssertionError as e:
        outcome = Outcome([CARBON], 0, time.monotonic() - began, 0, b"", str(e))
        outcome.fault = "but the test fails"
    cut.carbon.append(outcome)

    full = row(10, "output", "larger than the limit on the size of files (`ulimit -f 1`: SIGXFSZ)")
    directory = workplace()
    lines = "".join(hostile.line(p, genome()["c1"][p - 1], "N") for p in range(1, 301))
    many = write(directory, "in.vcf", HEAD % hostile.CONTIG + lines)
    for run in ([CARBON, "vep", "-m", model(), "-f", directory + "/mini.fa", "-w", WINDOW, "-o"],
                ["bcftools", "view", "--no-version", "-Ov", "-o"]):
        output = directory + "/out.vcf"
        before = set(os.listdir(directory))
        outcome = measured([*run, output, many], kilobytes_of_file=1)
        if set(os.listdir(directory)) - before:
            outcome.fault = "leaves an unfinished output"
            for name in set(os.listdir(directory)) - before:
                os.remove(os.path.join(directory, name))
        if run[0] == CARBON:
            full.carbon.append(outcome)
        else:
            full.other("bcftools view -Ov -o", outcome)

    cuts = row(10, "plugin", "cut at 8 places")
    zeros = row(10, "plugin", "a sixteenth of it filled with zeros, at 16 places")
    theirs = glob.glob("/usr/lib/*/bcftools/counts.so")[:1]
    for path, run, variable in ((os.path.join(os.path.dirname(CARBON), "plugins", "auroc.so"),
                                 [CARBON, "+auroc", MINI, "--", "--score", "DP", "--label", "DP>11"], "CARBON_PLUGINS"),
                                *[(p, ["bcftools", "+counts", MINI], "BCFTOOLS_PLUGINS") for p in theirs]):
        content = read(path)
        step = len(content) // 16
        right = measured(run, env={variable: os.path.dirname(path)})
        if right.status:
            raise RuntimeError(right.text)
        damaged = [(cuts, content[:len(content) * i // 8]) for i in range(8)]
        damaged += [(zeros, content[:step * i] + bytes(step) + content[step * (i + 1):]) for i in range(16)]
        for where, text in damaged:
            directory = fresh()
            write(directory, os.path.basename(path), text)
            os.chmod(os.path.join(directory, os.path.basename(path)), 0o755)
            outcome = measured(run, env={variable: directory}, seconds=FEW_SECONDS)
            if not outcome.status and outcome.out != right.out:
                outcome.fault = "but another output"
            if run[0] == CARBON:
                where.carbon.append(outcome)
            else:
                where.other("bcftools +counts", outcome)


# ---- the page ------------------------------------------------------------------------------------------------------

def main():
    harness._models[tuple(sorted(harness.SIZES.items()))] = os.path.realpath(TINY)
    chosen = sys.argv[1:]
    for part in (nul_bytes, json, fasta_index, block_index, record_index, contig_length, caches, headers, positions, names,
                 special_files, samples, undefined, other_files):
        if not chosen or part.__name__ in chosen:
            part()
    print_page(rows, {"seconds": SECONDS, "few": FEW_SECONDS, "gigabytes": GIGABYTES})


if __name__ == "__main__":
    main()
