"""What a run of carbon or bcftools on a hostile file has written, compared with the records that it should have written."""

import os

from harness import fresh, read, tool, write
from outcomes import SECONDS, clean, measured


def records_of(text):
    """CHROM, POS, ID, REF and ALT of each record, FORMAT and the samples."""
    rows_of_text = (line.split(b"\t") for line in text.splitlines() if line and not line.startswith(b"#"))
    return [columns[:5] + columns[8:] for columns in rows_of_text]


def compare(outcome, output, wanted):
    """Reads the output of a run that succeeded and compares it with the records that it should have."""
    if outcome.status:
        if os.path.exists(output) and not outcome.stopped:
            outcome.fault = "leaves an unfinished output"
        return outcome
    again = measured(["bcftools", "view", output])
    if again.status or "[E::" in again.text:
        outcome.fault = "but its output cannot be read again (%s)" % again.message
        return outcome
    found = records_of(read(output) if output.endswith(".vcf") else again.out)
    if len(found) != len(wanted):
        outcome.fault = "but the output has %d of %d records" % (len(found), len(wanted))
    for a, b in zip(found, wanted):
        if a != b:
            outcome.fault = "but %s became %s" % tuple(" ".join(clean(c.decode("latin-1")) for c in x) for x in (b, a))
            break
    return outcome


def input_of(args):
    """The records that a run of carbon should write."""
    path = next(a for a, before in zip(args[1:], args)
                if a.endswith((".vcf", ".vcf.gz", ".bcf", ".fa")) and before not in ("-f", "-o"))
    text = read(path)
    if text[:2] == b"\x1f\x8b":
        text = tool("bgzip", "-dc", path).out
    elif text[:3] == b"BCF":
        text = tool("bcftools", "view", path).out
    records = records_of(text)
    if "-r" in args:  # c1:40-60, always
        records = [r for r in records if r[0] == b"c1" and 40 <= int(r[1]) <= 60]
    return path, records


def view(path, wanted, *args, kind="b", seconds=SECONDS, **options):
    output = os.path.join(fresh(), "out." + {"b": "bcf", "v": "vcf", "z": "vcf.gz"}[kind])
    run = ["bcftools", "view", "--no-version", "-O" + kind, "-o", output, *args, path]
    return compare(measured(run, seconds=seconds, **options), output, wanted)


def own_output(outcome, wanted):
    """The same for carbon: what it wrote on standard output, if it was asked for no file."""
    args = outcome.args
    if args[1] != "vep" or "t" in args:
        return outcome
    output = args[args.index("-o") + 1] if "-o" in args else write(fresh(), "out.vcf", outcome.out)
    if outcome.status and "-o" not in args:
        return outcome
    return compare(outcome, output, wanted)
