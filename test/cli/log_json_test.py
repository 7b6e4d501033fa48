"""--log-json: every line on stderr is a JSON object, whatever happens to the run."""

import datetime
import json
import os
import pty
import re
import subprocess
import time

from harness import CARBON, ENV, carbon, case, expect, expect_equal, fresh, genome, main, model, ok, to_fasta, write
from plugin_compile import PARTS, compiled
from vep_support import HEAD, MINI, OTHER, WINDOW, reference, summary_of

LEVELS = {"error", "warning", "info", "message", "summary", "progress"}


def parsed(err):
    """The objects of stderr, each checked for what all of them have."""
    records = []
    for line in err.splitlines():
        record = json.loads(line)
        expect_equal(list(record)[:4], ["time", "level", "where", "message"], "members of " + line)
        expect(record["level"] in LEVELS and record["where"] and record["message"], "a member is wrong: " + line)
        age = datetime.datetime.now(datetime.timezone.utc) - datetime.datetime.strptime(record["time"] + "+0000", "%Y-%m-%dT%H:%M:%S.%fZ%z")
        expect(abs(age.total_seconds()) < 120, "the time is not now: " + line)
        records.append(record)
    return records


def of(records, level):
    return [record for record in records if record["level"] == level]


def vep(*args, **options):
    return carbon("vep", "-m", model(), "-f", reference(), "-w", WINDOW, *args, **options)


@case
def a_run_that_succeeds():
    plain, result = vep("--no-version", MINI), vep("--log-json", "--no-version", MINI)
    expect(result.rc == 0, "expected rc 0", result)
    expect_equal(result.out, plain.out, "the output")
    records = parsed(result.err)
    summary, = of(records, "summary")
    expect_equal(records[-1], summary, "the last line")
    expect_equal(summary["message"], plain.err.splitlines()[-1], "the summary")
    words = summary_of(plain)
    expect_equal({name: count for name, count in summary["counts"].items() if count > 0}, dict(words), "counts")
    expect({"no_contig", "edge", "multibase", "not_in_table"} <= set(summary["counts"]), "a count that is 0 is left out")
    expect(summary["counts"]["total"] > summary["counts"]["scored"] > 0, "counts: %r" % summary)


@case
def warnings_and_information():
    vep("-q", MINI)  # builds the index of the reference, which is worth a line
    plain, result = vep("-v", "4", MINI), vep("--log-json", "-v", "4", MINI)
    records = parsed(result.err)
    def without_numbers(lines):
        return [re.sub(r"\d+", "#", line) for line in lines]  # two runs differ in times and passes

    for level, letter in (("warning", "W"), ("info", "I")):
        wanted = [line for line in plain.messages(letter) if not re.match(r"\[.::(hts|vcf|bcf)_", line)]
        lines = ["[%s::%s] %s" % (letter, r["where"], r["message"]) for r in of(records, level)]
        expect_equal(without_numbers(lines), without_numbers(wanted), level)
        expect(wanted, "the run has no %s" % level, plain)
    expect_equal({r["level"] for r in parsed(vep("--log-json", "-q", MINI).err)}, {"summary"}, "levels of a quiet run")
    expect_equal(vep("--log-json", "-v", "0", MINI).err, "", "a silent run")


@case
def messages_of_htslib_are_left_out():
    undefined = write(fresh(), "in.vcf", HEAD % "##contig=<ID=c1>\n" + "c1\t5\t.\tA\tC\t.\t.\tXX=1\n")
    expect("[W::vcf_parse_info]" in vep("-v", "5", undefined).err, "htslib has nothing to say here")
    records = parsed(vep("-v", "5", "--log-json", undefined).err)
    expect(of(records, "info"), "no information: %r" % records)
    expect_equal(vep("--log-json", "-v", "5", undefined).rc, 0, "status")


def fails(*args, level="error", **options):
    result = carbon(*args, **options)
    expect(result.rc == 1 and result.out == b"", "expected rc 1", result)
    records = parsed(result.err)
    expect_equal(records[-1]["level"], level, "the last line")
    return records[-1]["message"]


@case
def errors():
    fasta = write(fresh(), "a.fa", ">a\nACGTAC\n")
    expect("a.fa.absent" in fails("score", "-m", model(), "--log-json", fasta + ".absent"), "no file name")
    # A file name that is no UTF-8 still gives a line that is.
    message = fails("score", "-m", model(), "--log-json", b"/no/such/\xff\"\n.fa".decode("utf-8", "surrogateescape"))
    expect("/no/such/\ufffd\"" in message, "the name is %r" % message)


@case
def wrong_options_wherever_they_stand():
    for args in (("score", "--log-json", "--nonsense", "x.fa"), ("score", "--nonsense", "--log-json", "x.fa"),
                 ("vep", "x.vcf", "--log-json"), ("score", "-O", "xml", "x.fa", "--log-json"), ("nonsense", "--log-json"),
                 ("+nonsense", "--log-json"), ("score", "-m", "no-such-model", "x.fa", "--log-json"), ("score", "--log-json=x", "--log-json")):
        fails(*args)
    expect(carbon("score", "-m", model(), "--", "--log-json").messages("E"), "a file of that name is no option")


@case
def nothing_to_read_from_a_terminal():
    near, far = pty.openpty()
    try:
        for args in (("score", "-m", model()), ("+auroc",)):
            with os.fdopen(os.dup(far)) as terminal:
                expect("--help" in fails(*args, "--log-json", stdin=terminal), "no hint")
                expect("Usage:" in carbon(*args, stdin=terminal).err, "no usage without --log-json")
    finally:
        os.close(near)
        os.close(far)


@case
def progress_where_there_is_no_terminal():
    fasta = write(fresh(), "s.fa", to_fasta([("s%d" % i, "ACGTTGCAAGTC" * 5) for i in range(9)]))
    for args, unit, done, at in ((("score", fasta), "bp", 540, "s8"), (("embed", fasta), "sequences", 9, "s8"),
                                 (("generate", "-l", "30", fasta), "bp", 270, "s8"),
                                 (("vep", "-f", reference(), "-w", WINDOW, MINI), "records", None, None)):
        result = ok(args[0], "-m", model(), "--log-json", *args[1:])
        last = of(parsed(result.err), "progress")
        expect_equal(len(last), 1, "progress of a short run")
        done = done or len([line for line in result.lines() if not line.startswith("#")])
        expect_equal([last[0][key] for key in ("where", "unit", "done")], [args[0], unit, done], "what it counts")
        expect(last[0]["rate"] > 0 and last[0]["seconds"] > 0 and "total" not in last[0], "progress is %r" % last)
        expect(at in (None, last[0]["at"]), "progress is %r" % last)
        for none in (("--progress", "never"), ("-q",)):
            expect_equal(of(parsed(ok(args[0], "-m", model(), "--log-json", *none, *args[1:]).err), "progress"), [], " ".join(none))


@case
def totals_where_they_are_known():
    share = of(parsed(vep("--log-json", "--shard", "1/2", MINI).err), "progress")[-1]
    expect_equal(share["done"], share["total"], "records of a share")
    bench = of(parsed(ok("bench", "-m", model(), "-p", "8", "-n", "2", "-b", "1", "--rounds", "1", "--log-json").err), "progress")[-1]
    expect_equal(bench["done"], bench["total"], "measurements")


def stopped(*args, given, when):
    """stderr of a run that gets SIGTERM when there is enough in the directory of its output."""
    directory = fresh()
    process = subprocess.Popen([CARBON, *args, "-m", model(), "--log-json", "-v", "4", "-o", os.path.join(directory, "out"), "-"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV)
    process.stdin.write(given)
    process.stdin.flush()
    deadline = time.monotonic() + 30

    def size(name):
        try:
            return os.path.getsize(os.path.join(directory, name))
        except FileNotFoundError:  # it has another name since
            return -1

    while not any(size(name) >= when for name in os.listdir(directory)):
        expect(process.poll() is None and time.monotonic() < deadline, "the run ended by itself, or writes nothing")
        time.sleep(0.02)
    process.terminate()
    err = process.communicate(timeout=60)[1].decode()
    expect(process.returncode in (143, -15), "status %d" % process.returncode)
    return parsed(err)


@case
def a_run_that_a_signal_stops():
    # Records of a length that fills the buffers of a pipe, which stays open.
    pad = "PAD=" + "x" * 1000
    given = HEAD % '##INFO=<ID=PAD,Number=1,Type=String,Description="x">\n##contig=<ID=c1>\n'
    for pos in range(40, 160):
        ref = genome()["c1"][pos - 1].upper()
        given += "c1\t%d\t.\t%s\t%s\t.\t.\t%s\n" % (pos, ref, OTHER[ref], pad)
    records = stopped("vep", "-f", reference(), "-w", str(WINDOW), given=given.encode(), when=2000)  # bytes of scores in out.partial
    expect_equal([r["level"] for r in records[-2:]], ["progress", "warning"], "levels of the last lines")
    expect(records[-1]["message"].startswith("stopped by SIGTERM after %d records; " % records[-2]["done"]), "it says %r" % records[-1])
    stopped("score", given=b">a\nACGTACGTAC\n>b\nACG", when=0)


@case
def plugins():
    directory = compiled("theirs", init=PARTS["init"].replace("return", 'run->api->message(run, CARBON_WARNING, "odd \\"input\\""); return'))
    env = {"CARBON_PLUGINS": directory}
    result = carbon("+theirs", "--log-json", env=env)
    expect_equal([(r["level"], r["where"], r["message"]) for r in parsed(result.err)], [("warning", "theirs", 'odd "input"')], "messages")
    expect_equal(carbon("plugin", "theirs", "--log-json", env=env).err.count('"level":"warning"'), 1, "carbon plugin NAME")
    crash = compiled("aborts", finish=PARTS["finish"].replace("return run->api->output_write", "abort(); return run->api->output_write"))
    result = carbon("+aborts", "--log-json", env={"CARBON_PLUGINS": crash})
    expect_equal(result.rc, -6, "status")
    record, = parsed(result.err)
    expect(record["level"] == "error" and "+aborts crashed" in record["message"] and "(signal 06)" in record["message"], "it says %r" % record)
    # What belongs to the plugin is the plugin's.
    expect("[W::theirs]" in carbon("+theirs", "--", "--log-json", env=env).err, "an option after -- is not carbon's")


@case
def every_command_has_it():
    for name in ("vep", "score", "embed", "predict", "generate", "serve", "tokenize", "bench", "+auroc"):
        expect("--log-json" in ok(name, "--help").text, "carbon %s --help does not list it" % name)
    fails("tokenize", "--log-json", stdin=b"nonsense\n")


if __name__ == "__main__":
    main()
