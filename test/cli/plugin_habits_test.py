"""What every plugin has in common with the commands: help that fits, options in their place, output while it is computed, and a
word when it is stopped."""

import os
import re
import signal
import subprocess
import time

from harness import CARBON, ENV, carbon, case, data, expect, expect_equal, expect_failure, fresh, main, model, ok, read, to_fasta, write
from plugin_compile import compiled, run

PLUGINS = [line.split()[0] for line in ok("plugin", "-l").lines() if line.startswith("    +")]


@case
def help_fits_a_terminal_and_ends_with_examples():
    expect(len(PLUGINS) >= 8, "plugins: %r" % PLUGINS)
    for name in PLUGINS:
        lines = ok(name, "--help").lines()
        wide = [line for line in lines if len(line) > 100]
        expect(not wide, "%s --help has a line of %d columns:\n%s" % (name, len(wide[0]) if wide else 0, wide[:1]))
        expect_equal(lines.count("Examples:"), 1, "headings of examples of " + name)
        examples = lines[lines.index("Examples:") + 1:]
        expect_equal([line[:4] for line in examples], ["  # ", "  ca"] * 2, "two examples of " + name)
        for line in examples[1::2]:
            # Each option after -- stands in the help, so that no example has one that there is not.
            expect(line.startswith("  carbon %s " % name), line)
            for word in line.split("|")[0].partition(" -- ")[2].split():
                if word.startswith("--"):
                    expect(any(other.startswith("  " + word) for other in lines), "%s: no option %s" % (name, word))
        expect_equal(ok(name, "--", "--help").lines()[-5:], lines[-5:], "help after -- of " + name)


@case
def an_option_of_both_needs_the_dashes():
    bed = write(fresh(), "x.bed", "c1\t0\t100\n")
    expect_failure(carbon("+gene-summary", data("mini.vcf"), "--regions-file", bed), "'carbon +gene-summary input -- --regions-file'", "-R")
    expect_failure(carbon("+gene-summary", "--regions-file=" + bed, data("mini.vcf")), "it comes after --")
    expect_failure(carbon("+gene-summary", "-R", bed, data("mini.vcf")), "'carbon +gene-summary input -- -R'")
    expect_failure(carbon("+mutagenesis", "-m", model(), "-f", data("mini.fa")), "-f is", "after --")
    # With the dashes it is carbon's, which needs an index.
    expect_failure(carbon("+gene-summary", "--regions", "c1", data("mini.vcf"), "--"), "index")


@case
def an_output_that_cannot_be_written_is_noticed_before_the_input_is_read():
    for name in ("+perturb", "+recovery", "+niah"):
        absent = os.path.join(fresh(), "none", "x.json")
        done = carbon(name, "-m", model(), write(fresh(), "in.fa", "no FASTA\n"), "--", "--json", absent)
        expect_failure(done, absent)


# ---- +mutagenesis, which writes its VCF as text


def first_records(process, seconds=60):
    """What has come from a running process when the first record is complete."""
    text, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        part = os.read(process.stdout.fileno(), 65536)
        if not part:
            break
        text += part
        if any(line and line[:1] != b"#" for line in text.split(b"\n")[:-1]):
            return text
    raise AssertionError("no record: %r" % text[-200:])


def long_fasta():
    return write(fresh(), "long.fa", to_fasta([("c1", "ACGTTGCAAC" * 2000)]))


def started(*before):
    return subprocess.Popen([CARBON, "+mutagenesis", "-m", model(), "-@", "1", "--no-version", *before, "--", "-f", long_fasta(), "--window", "600",
                             "-r", "c1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)


@case
def records_come_while_others_are_computed():
    process = started()
    try:
        begin = first_records(process)
        expect(process.poll() is None, "all was written at the end")
        expect_equal(begin.split(b"\n")[0], b"##fileformat=VCFv4.2", "the first line")
    finally:
        process.kill()
        process.communicate()


@case
def a_stopped_plugin_says_so():
    for number in (signal.SIGTERM, signal.SIGINT):
        process = started()
        first_records(process)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        last = err.decode().splitlines()[-1]
        expect(process.returncode in (128 + number, -number), "rc %d" % process.returncode)
        expect(last.startswith("[W::+mutagenesis] stopped by %s after " % signal.Signals(number).name)
               and re.search(r" after \d+ (positions|steps); the output is not complete$", last), last)
    directory = fresh()
    process = started("-o", os.path.join(directory, "out.vcf.gz"))
    deadline = time.monotonic() + 60
    while not os.listdir(directory):
        expect(time.monotonic() < deadline, "no file is begun")
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    expect("stopped by SIGTERM" in err.decode(), err.decode())
    expect_equal(os.listdir(directory), [], "files after SIGTERM")


# ---- text that is no VCF

HEADER = "##fileformat=VCFv4.2\n##contig=<ID=c1,length=100>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
RECORD = "c1\t5\t.\tA\tC\t.\t.\t.\n"


def text_writer(*pieces):
    """A directory with a plugin that writes these pieces as its VCF, one call for each."""
    calls = "".join(" if (run->api->output_write(run, out, %s, %d)) return CARBON_ERROR;" % (
        '"' + piece.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t").replace("\0", '\\0""') + '"', len(piece)) for piece in pieces)
    return compiled("text", uses="CARBON_WRITES_VCF",
                    finish="static int finish(carbon_run *run, void *state) { carbon_output *out; (void)state;"
                           " out = run->api->output_open(run, NULL); if (!out) return CARBON_ERROR;%s return CARBON_DONE; }" % calls)


@case
def a_vcf_in_pieces_of_any_size():
    text = HEADER + RECORD + RECORD.replace("\t5", "\t6")
    directory = text_writer(text)
    wanted = run(directory, "+text", "--no-version").out.decode()
    expect(wanted.endswith(RECORD + RECORD.replace("\t5", "\t6")), wanted)
    expect_equal(run(text_writer(*(text[i:i + 7] for i in range(0, len(text), 7))), "+text", "--no-version").out.decode(), wanted, "pieces")
    expect_equal(run(text_writer(text[:-1]), "+text", "--no-version").out.decode(), wanted, "no last newline")
    expect_equal(run(text_writer(text.replace("\n", "\r\n")), "+text", "--no-version").out.decode(), wanted, "\\r\\n")
    out = os.path.join(fresh(), "out.bcf")
    expect_equal(run(directory, "+text", "-o", out).rc, 0, "rc")
    expect_equal(read(out)[:2], b"\x1f\x8b", "compressed BCF")


@case
def text_that_is_no_vcf_is_refused():
    for text, words in (("", ("the VCF of +text", "#CHROM")), ("hello\n", ("fileformat",)), (HEADER.split("#CHROM")[0], ("#CHROM",)),
                        (HEADER.split("#CHROM")[0] + RECORD, ("header",)), (HEADER + "c1\t5\t.\tA\n", ("line 4 (c1:5)", "columns")),
                        (HEADER + RECORD + "c1\tx\t.\tA\tC\t.\t.\t.\n", ("line 5", "POS")), (HEADER + "c1\t5\t.\tC\0\tT\t.\t.\t.\n", ("NUL",)),
                        (HEADER.replace("INFO\n", "INFO\tFORMAT\t\ta\n"), ("sample 1",))):
        directory = fresh()
        out = os.path.join(directory, "out.vcf")
        expect_failure(run(text_writer(text), "+text", "-o", out), *words)
        expect_equal(os.listdir(directory), [], "files after %r" % text[-40:])


if __name__ == "__main__":
    main()
