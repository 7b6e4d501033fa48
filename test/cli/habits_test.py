"""What somebody expects of a command line before reading a manual: help, names that are nearly right, and warnings where input
is not what it seems."""

import fcntl
import os
import pty
import re
import select
import shlex
import struct
import subprocess
import termios
import threading
import time

from harness import (CARBON, ENV, carbon, case, expect, expect_equal, expect_failure, fresh, main, model, ok, read,
                     tool, write)
from vep_support import HEAD, OTHER, reference, vcf, vep

COMMANDS = [line.split()[0] for line in ok("--help").lines() if re.match(r"    [a-z]+ ", line)]
BASES = "ACGTTGCAACGGTCATTACGGACTTGCACCATGAAATTTGGCA" * 8


def fasta(text, name="in.fa"):
    return write(fresh(), name, text)


# ---- help and names


@case
def help_fits_a_terminal_and_ends_with_examples():
    for name in COMMANDS:
        lines = ok(name, "--help").lines()
        wide = [line for line in lines if len(line) > 100]
        expect(not wide, "%s --help has a line of %d columns:\n%s" % (name, len(wide[0]) if wide else 0, wide[:1]))
        expect("Examples:" in lines, "no examples of " + name)
        examples = lines[lines.index("Examples:") + 1:]
        expect_equal([line[:4] for line in examples if line[2] != "#"], ["  ca"] * 2 if name != "tokenize" else ["  ec", "  ca"],
                     "two examples of " + name)
        for line in examples:
            if line[2] == "#":
                continue
            words = shlex.split(line.split("|")[-1].split(">")[0])
            # With --help nothing is run, but every option must exist.
            expect_equal(ok(*words[1:], "--help").lines()[0], lines[0] if words[1] == name else ok(words[1], "--help").lines()[0],
                         line)


@case
def the_bundled_model_is_the_default_of_commands_that_can_use_it():
    for name in COMMANDS:
        text = ok(name, "--help").text
        if "-m, --model" in text:
            defaults = [words in " ".join(text.split()) for words in ("(default: $CARBON_MODEL)", "(default: $CARBON_MODEL, else the bundled carbon-tiny)")]
            expect_equal(defaults, [True, False] if name in ("annotate", "predict") else [False, True], name)


@case
def options_by_the_beginning_of_their_names():
    path = fasta(">a\n%s\n" % BASES)
    wanted = ok("score", "-m", model(), "--strand", "both", "--output-type", "tsv", path).out
    for words in (("--stra", "both", "--output-t", "tsv"), ("--stra=both", "--output-t=tsv"), ("--s=both", "-Otsv")):
        if words[0].startswith("--s="):
            expect_failure(carbon("score", *words, path), "--s'", "--strand", "--stride")
        else:
            expect_equal(ok("score", "-m", model(), *words, path).out, wanted, " ".join(words))
    # A name that is the beginning of another is no other.
    expect_failure(carbon("vep", "--regions", "", "-f", "x", "y"), "--regions is empty")
    expect_failure(carbon("vep", "--reg", "1", "-f", "x", "y"), "--regions, --regions-file or --regions-overlap")
    # The word after an option is its value, whatever it looks like.
    expect_failure(carbon("score", "-o", "--strand", "--stran", "-", "/no/such.fa"), "/no/such.fa")


def valued_options(text):
    """[(short, long)] of a --help text: one blank and the name of the value follow; after a flag there are more blanks."""
    return re.findall(r"^  (-.,)?(--[a-z][a-z0-9-]*) (?!\[=)\S", text, re.M)


@case
def empty_values_are_refused():
    """By every option of every command and plugin that takes a value: an unset variable of a shell must not choose a default."""
    plugins = [line.split()[0] for line in ok("plugin", "-l").lines() if line.startswith("    +")]
    for name in COMMANDS + plugins:
        own = ok(name, "--help").text.split("\nPlugin options, after --:")[0]
        # "--" says that a plugin's options follow, of which some have the name of one of carbon's.
        end = ["--"] if name in plugins else []
        for short, long in valued_options(own):
            for given in [[long, ""], [long + "="]] + ([[short[:2], ""]] if short else []):
                expect_failure(carbon(name, *given, *end), "[E::main_%s] %s is empty: " % (name, given[0].rstrip("=")))
        if name in plugins:
            source = vcf([("c1", 2, "A", "C")]) if "<in.vcf" in own else fasta(">c1\n" + BASES + "\n")
            words = [name, *(["-m", model()] if "--model" in own else []), source, "--"]
            for _, long in valued_options(ok(name, "--", "--help").text):
                for given in ([long, ""], [long + "="]):
                    expect_failure(carbon(*words, *given), "[E::main_%s] %s is empty: " % (name, long))
    expect_failure(carbon("score", ""), "an argument is empty")
    expect_failure(carbon("score", "--", ""), "an argument is empty")


@case
def unknown_options_are_named():
    for words, wanted in ((("score", "--strnad", "+", "x.fa"), ("'--strnad'", "'--strand'")),
                          (("vep", "--wndow", "12"), ("'--wndow'", "'--window'")),
                          (("vep", "-Z", "x.vcf"), ("'-Z'",)), (("vep", "-qZ", "x.vcf"), ("'-Z'", "'-qZ'")),
                          (("score", "-window", "12", "x.fa"), ("'-w'", "'-window'", "'--window'")),
                          (("generate", "--unknown-thing"), ("'--unknown-thing'", "carbon generate --help")),
                          (("plugin", "-l", "--verbos3"), ("'--verbose'",)), (("+rank", "--outptu", "x"), ("'--output'",)),
                          (("scor",), ("'score'",)), (("rank", "x.vcf"), ("'+rank'",)), (("+rnak",), ("'rank'",)),
                          (("score", "-m", "carbon-tinny", "x.fa"), ("'carbon-tiny'",)),
                          (("score", "--dtype", "bf61", "x.fa"), ("expected auto, bf16, f16, f32 or int8, not 'bf61'",)),
                          (("bench", "--tests", "decoed"), ("'decode'",)), (("bench", "--synthetic", "1B"), ("expected 500M, 3B, 8B, marin or carbon-a",)),
                          (("scan", "--frames", "4", "-f", "x.fa"), ("expected 1, 2, 3 or 6",)),
                          (("vep", "-f", "x.fa", "y.fa", "z.vcf"), ("'z.vcf' is one argument too many, after 'y.fa'",)),
                          (("serve", "x"), ("'x' is one argument too many",))):
        expect_failure(carbon(*words), *wanted)


@case
def help_of_completion():
    for words in (("completion", "--help"), ("completion", "-h")):
        expect("Usage: carbon completion bash | zsh" in ok(*words).text, "help")
    expect_failure(carbon("completion", "fish"), "carbon completion bash")


# ---- input that is not what it seems


@case
def rna_is_read_as_dna():
    dna, rna = fasta(">a\n%s\n>b\n%s\n" % (BASES, BASES[::-1].lower())), fasta(">a\n%s\n>b\n%s\n" % (
        BASES.replace("T", "U"), BASES[::-1].lower().replace("t", "u")))
    for options in ((), ("-r", "a:3-40", "-r", "b")):
        wanted, got = ok("score", "-m", model(), "-O", "tsv", *options, dna), ok("score", "-m", model(), "-O", "tsv", *options, rna)
        expect_equal(got.out, wanted.out, "scores of RNA")
        expect(len([line for line in got.messages("W") if "letter U" in line]) == 1, "expected one warning", got)
    expect_equal(ok("generate", "-m", model(), "-l", "30", rna).out, ok("generate", "-m", model(), "-l", "30", dna).out, "generate")


@case
def proteins_are_refused():
    protein = fasta(">albumin\nMKWVTFISLLFLFSSAYSRGVFRRDAHKSEVAHRFKDLGEENFKALVLIAFAQYLQQCPFEDHVKLVNEVTEFAKTC\n")
    for args in (("score",), ("score", "-r", "albumin"), ("embed",), ("generate", "-l", "12")):
        expect_failure(carbon(*args[:1], "-m", model(), *args[1:], protein), "albumin", "protein", "N")
    # Some damaged letters are no protein.
    ok("score", "-m", model(), fasta(">a\n%sEFILP%s\n" % (BASES, BASES)))


@case
def text_that_is_no_json_and_names_that_are_no_motifs():
    expect_failure(carbon("tokenize", stdin=b"ACGT\n"), "not valid JSON", "in quotes")
    example = ok("tokenize", "--help").lines()[-3]
    expect_equal(tool("sh", "-c", example.replace("| carbon", "| " + shlex.quote(CARBON))).text,
                 ok("tokenize", stdin=b'"<dna>ACGTACGTACGT</dna>"\n').text, example)
    expect_failure(carbon("generate", "-m", model(), "-l", "6", "--unconditional", "--avoid", "EcoRI"), "'EcoRI' is neither motifs nor a file")


@case
def vep_regions_with_commas_in_numbers():
    path = vcf([("c1", pos, "A", "C") for pos in (100, 120)])
    zipped = path + ".gz"
    with open(zipped, "wb") as f:
        f.write(tool("bgzip", "-c", path).out)
    tool("tabix", "-p", "vcf", zipped)

    def positions(*options):
        out = vep("-w", "12", "-c", "w", "--max-ref-mismatch", "1", *options, zipped).lines()
        return [line.split("\t")[1] for line in out if not line.startswith("#")]
    expect_equal(positions("-r", "c1:1-1,000"), ["100", "120"], "one region")
    expect_equal(positions("-r", "c1:100-110,c1:120"), ["100", "120"], "two regions")
    expect_equal(positions("-t", "c1:1-110"), ["100"], "targets")
    expect_equal(positions("-t", "c1:1,100-2,000,c1:100"), ["100"], "grouped numbers, and a second region")
    expect_equal(positions("-t", "c1:100,c1"), ["100", "120"], "a contig after a comma")


@case
def tag_prefix_proposes_one():
    for prefix, wanted in (("Carbon-500M", "Carbon_500M"), ("500M", "_500M"), ("a b", "a_b")):
        expect_failure(carbon("vep", "--tag-prefix", prefix, "-f", "x.fa", "x.vcf"), "--tag-prefix", "write " + wanted)


# ---- a panel on the wrong assembly


def panel(wrong, right, length=None):
    with open(reference()) as f:
        bases = f.read().split(">c1")[1].split("\n", 1)[1].split(">")[0].replace("\n", "").upper()
    lines = []
    for i in range(wrong + right):
        ref = bases[60 + i]
        ref = OTHER[ref] if i < wrong else ref
        lines.append("c1\t%d\t.\t%s\t%s\t.\t.\t.\n" % (61 + i, ref, OTHER[ref]))
    head = HEAD % ("##contig=<ID=c1%s>\n" % (",length=%d" % length if length else ""))
    return write(fresh(), "panel.vcf", head + "".join(lines))


@case
def small_files_are_judged_by_their_share_of_mismatches():
    base = ("vep", "-m", model(), "-f", reference(), "-w", "12")
    directory = fresh()
    output = os.path.join(directory, "o.vcf")
    failed = carbon(*base, "-o", output, panel(7, 6))
    expect_failure(failed, "wrong assembly?", "7 of 13", "--max-ref-mismatch")
    expect("what was computed is kept" in failed.err and "continue with --resume, from " + output in failed.err, "what it keeps", failed)
    expect_equal(os.listdir(directory), ["o.vcf.partial"], "files")
    for wrong, right in ((2, 2), (3, 10), (1, 0)):
        expect("wrong assembly" not in ok(*base, panel(wrong, right)).err, "%d of %d" % (wrong, wrong + right))
    ok(*base, "--max-ref-mismatch", "1", panel(7, 6))


@case
def contig_lengths_are_compared():
    base = ("vep", "-m", model(), "-f", reference(), "-w", "12")
    result = ok(*base, panel(0, 5, 601))
    expect_equal(len([line for line in result.messages("W") if "601 bases" in line and "600" in line]), 1, "warnings")
    expect("bases by the header" not in ok(*base, panel(0, 5, 600)).err, "equal lengths")
    expect_failure(carbon(*base, panel(1, 5, 601)), "1 of 6", "length of c1")
    ok(*base, panel(1, 5, 600))


@case
def nothing_scored_is_said():
    base = ("vep", "-m", model(), "-f", fasta(">c1\n%s\n" % ("N" * 200)), "-w", "12")
    result = ok(*base, vcf([("c1", pos, "N", "A") for pos in range(50, 113)], contigs=("c1",)))
    expect(any("no record was scored" in line for line in result.messages("W")), "expected a warning", result)
    expect("63 non_acgt" in result.err.splitlines()[-2], "the summary", result)


# ---- bedGraph, streams, progress


@case
def bedgraph_regions_are_sorted_and_disjoint():
    path = fasta(">b\n%s\n>a\n%s\n" % (BASES, BASES))
    got = ok("score", "-m", model(), "-O", "bedgraph", "-r", "a:31-60", "-r", "b:101-130", "-r", "b:7-36", path).table()
    places = [(line.split("\t")[0], int(line.split("\t")[1])) for line in got]
    expect_equal(places, sorted(places, key=lambda place: (place[0] != "b", place[1])), "order of the file")
    expect_equal(len(places), 90, "lines")
    single = sum((ok("score", "-m", model(), "-O", "bedgraph", "-r", region, path).table() for region in ("b:7-36", "b:101-130", "a:31-60")), [])
    expect_equal(got, single, "values of each region alone")
    expect_failure(carbon("score", "-m", model(), "-O", "bedgraph", "-r", "b:1-60", "-r", "b:60-90", path), "b:1-60", "b:60-90", "-O tsv")
    ok("score", "-m", model(), "-O", "tsv", "-r", "b:1-60", "-r", "b:60-90", path)


def first_line(process, skip="#", seconds=30):
    """The first line of output that does not begin with `skip`, which the process writes while its input stays open."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([process.stdout], [], [], 0.2)[0]:
            part = os.read(process.stdout.fileno(), 65536)
            if not part:
                break
            text += part
            done = [line for line in text.decode().split("\n")[:-1] if not line.startswith(skip)]
            if done:
                return done[0]
    raise AssertionError("no line of output before the end of the input, only %r" % text[-200:])


@case
def output_does_not_wait_for_the_end_of_input():
    # Input is read in blocks of 64 KiB, so there are two of them.
    bases, records = ">a\n%s\n" % BASES * 300, HEAD % "##contig=<ID=c1>\n" + "c1\t100\t.\tG\tT\t.\t.\tDP=%s\n" % ("1" * 40) * 3000
    for args, text in ((["score", "-m", model(), "-"], bases), (["embed", "-m", model(), "-"], bases),
                       (["vep", "-m", model(), "-f", reference(), "-w", "12", "-"], records),
                       (["vep", "-m", model(), "-f", reference(), "-w", "12", "-O", "t", "-"], records)):
        process = subprocess.Popen([CARBON, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV)
        # Written by a thread, because the program stops reading when nobody reads its output.
        writer = threading.Thread(target=lambda: (process.stdin.write(text.encode()), process.stdin.flush()))
        writer.start()
        try:
            line = first_line(process)
            expect(line.startswith(("a\t", "c1\t100\t")), "%s: the line %r" % (args[0], line))
        finally:
            rest = threading.Thread(target=process.stdout.read)
            rest.start()
            writer.join()
            process.stdin.close()
            rest.join()
            expect_equal(process.wait(), 0, "rc of " + args[0])


@case
def progress_says_what_share_is_done():
    path = fasta(">a\n%s\n" % BASES)
    result = ok("score", "-m", model(), "--log-json", "--progress", "always", "-r", "a:1-60", "-r", "a:61-120", path)
    expect('"total":120' in result.err.replace(" ", ""), "no total", result)
    zipped = vcf([("c1", pos, "A", "C") for pos in (100, 120, 130)]) + ".gz"
    with open(zipped, "wb") as f:
        f.write(tool("bgzip", "-c", zipped[:-3]).out)
    tool("tabix", "-p", "vcf", zipped)
    options = ("-w", "12", "--log-json", "--progress", "always", "--max-ref-mismatch", "1")
    expect('"total":3' in vep(*options, zipped).err.replace(" ", ""), "no total from the index")


def on_a_terminal(*args, columns=0):
    """What a terminal gets of both streams of a command. With 0 columns it does not say how many it has."""
    near, far = pty.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen([CARBON, *args], stdin=subprocess.DEVNULL, stdout=far, stderr=far, env=ENV)
    os.close(far)
    seen = b""
    try:
        while True:
            seen += os.read(near, 65536)
    except OSError:  # the other end is closed
        pass
    os.close(near)
    expect_equal(process.wait(), 0, "rc of " + " ".join(args))
    return seen


@case
def no_bar_breaks_the_results_on_a_terminal():
    # A bar is drawn only for what takes longer than a moment.
    path = fasta("".join(">%d\n%s\n" % (i, BASES * 20) for i in range(8000)))
    args = ["score", "-m", model(), "-@", "1", path]
    bar = b"\r\033[K"
    for more in ((), ("-o", "-")):
        shown = on_a_terminal(*args, *more)
        expect(bar not in shown and shown.count(b"\r\n") > 40, "%s: %r" % (more, shown[-400:]))
    expect(bar in on_a_terminal(*args, "-o", os.path.join(fresh(), "out.tsv")), "no bar where the results go to a file")
    expect(bar not in on_a_terminal(*args, "-q", "-o", os.path.join(fresh(), "out.tsv")), "a bar with --quiet")


@case
def a_bar_shows_where_the_results_come_at_the_end():
    shown = on_a_terminal("bench", "-m", model(), "-@", "1", "--tests", "score", "--rounds", "2")
    expect(b"\r\033[K[bench] " in shown and b"score" in shown.split(b"\033[K")[-1], "the terminal of bench: %r" % shown[-400:])
    records = fasta("".join(">%d\n%s\n" % (i, BASES * 8) for i in range(600)))
    shown = on_a_terminal("+recovery", "-m", model(), "-@", "1", records)
    expect(b"\r\033[K[+recovery] " in shown, "the terminal of +recovery: %r" % shown[-400:])


@case
def a_bar_keeps_to_one_line_of_a_narrow_terminal():
    path = fasta("".join(">\xe4%d%s\n%s\n" % (i, "x" * 60, BASES * 20) for i in range(8000)))
    args = ["score", "-m", model(), "-@", "1", "-o", os.path.join(fresh(), "out.tsv"), path]
    for columns in (20, 60, 300):
        drawn = [line for line in on_a_terminal(*args, columns=columns).split(b"\r\033[K") if line.startswith(b"[score] ")]
        lengths = [len(line.decode()) for line in drawn]
        expect(drawn and max(lengths) < columns, "bars of %r columns of %d: %r" % (lengths, columns, drawn[:1]))
        expect(columns == 300 or max(lengths) == columns - 1, "more was cut off than needed: %r of %d" % (lengths, columns))


@case
def an_input_is_not_replaced_by_the_output():
    d = fresh()
    fasta = write(d, "in.fa", ">c1\nACGTACGTACGTACGTACGTACGTACGTACGTACGTACGT\n")
    vcf = write(d, "in.vcf", HEAD % "##contig=<ID=c1>\n" + "c1\t20\t.\tT\tA\t.\t.\t.\n")
    os.symlink(fasta, os.path.join(d, "link.fa"))
    for arguments, output in ((["score", fasta], fasta), (["embed", fasta], fasta), (["generate", "-l", "6", fasta], fasta),
                              (["scan", "-f", fasta], fasta), (["vep", "-f", fasta, "-w", "12", vcf], vcf),
                              (["vep", "-f", fasta, "-w", "12", vcf], fasta), (["score", os.path.join(d, "link.fa")], fasta)):
        before = read(output)
        expect_failure(carbon(*arguments, "-m", model(), "-o", output), "is an input of this run", "give the output another name")
        expect(read(output) == before, "%s has changed" % output)


if __name__ == "__main__":
    main()
