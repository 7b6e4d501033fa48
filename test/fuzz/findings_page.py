"""The page FINDINGS.md, from what compare_tools.py has measured."""

import collections
import time

import harness
from harness import tool

NONE = "no counterpart"

INTRODUCTION = """# What hostile files do to carbon, and to bcftools and samtools

Fuzzing found groups of files that made an earlier carbon crash, hang, lose data or fill the memory. They were mended
(`test/cli/hostile_files_test.py` and unit tests). This page shows what carbon does with each of these files today, and
beside it what bcftools, samtools or tabix do with the same file.

`test/fuzz/compare_tools.py` made the files, ran the programs and wrote this page, on %(date)s, with:

%(versions)s

carbon used the bundled model, `models/carbon-tiny`. The CPU had two cores and other work, so the seconds are only a rough
measure. Every run had %(seconds)d seconds (`timeout`), or %(few)d with an index of records or a damaged plugin, and
%(gigabytes)d GB of address space (`ulimit -v`). Memory is the largest resident size.

`carbon vep` reads the file, scores its records and writes VCF. `bcftools view -Ob` reads it and writes BCF; `-Ov` writes
VCF. If a run succeeds, its output is read again with `bcftools view`, and CHROM, POS, ID, REF, ALT, FORMAT and the samples
are compared with the input. Of `samtools faidx`, the bases of one region are compared with those of the FASTA. "Exit 0"
without more means that this comparison found no difference. "No counterpart" means that the other programs read no such
file.

A row may stand for several files that differ in one number or one byte. Then it says how many of them ended in which way,
gives the longest time and the largest memory, and one of the messages.
"""


def cell(outcomes):
    ends = collections.Counter(o.end for o in outcomes)
    if len(ends) == 1 and len(outcomes) == 1:
        text = next(iter(ends))
    else:
        text = "; ".join("%d × %s" % (n, end) for end, n in ends.most_common(6))
        if len(ends) > 6:
            text += "; %d × other" % sum(n for _, n in ends.most_common()[6:])
    text += "; %.1f s" % max(o.seconds for o in outcomes)
    if all(o.megabytes for o in outcomes):
        text += ", %.0f MB" % max(o.megabytes for o in outcomes)
    messages = [o.message for o in outcomes if o.message and o.status]
    if messages:
        text += "; `%s`" % collections.Counter(messages).most_common(1)[0][0].replace("`", "'")
    return text.replace("|", "\\|")


TITLES = {
    1: "A NUL byte in a VCF",
    2: "JSON that takes long to read",
    3: "An index of FASTA with wrong numbers",
    4: "A cut or crafted index of records",
    5: "A contig that no index can hold",
    6: "A cache that is not only a cache",
    7: "Headers, lines and tables that take too much",
    8: "Undefined behaviour",
    9: "Names that read as something else",
    10: "Special files, limits and plugins",
    11: "Samples that do not fit the header",
    12: "Names that the header does not define",
    13: "A file that names other files",
}
NOTES = {
    4: "These indices are compressed correctly, so that no checksum is wrong. A changed number that is still possible, for "
       "example that of a bin, is not always noticed by either side, and then records are missing.",
    11: "Three more findings are not files of this table, because no other program reads such files: a line feed in the name of "
        "a shard divided a message, a gene that ended at the largest number overflowed in `carbon report`, and an index of "
        "records may contradict itself (section 4).",
    13: "htslib follows an answer of an htsget server to the URLs in it, those of files on this machine included, and reads what "
        "is there in its place.",
    8: "Two more findings of this group are not files: a copy of nothing from null in `--resume`, and an addition to null in "
       "attention. The programs of `make fuzz` and `make check-sanitized` would report them.",
}


def print_page(rows, limits):
    """Prints rows of files, which compare_tools.py measured under these limits, as Markdown."""
    versions = ["carbon " + harness.carbon("--version").lines()[0].split()[-1]]
    versions += [tool(name, "--version").out.split(b"\n")[0].decode().replace("(htslib) ", "")
                 for name in ("bcftools", "samtools", "tabix")]
    print(INTRODUCTION % {"date": time.strftime("%Y-%m-%d"), "versions": "\n".join("- " + v for v in versions), **limits})
    kinds = {kind: [0, 0] for kind in (
        "refused the file", "exit 0, and the output is right", "exit 0, but the output is wrong or cannot be read again",
        "killed by a signal, after a message", "killed by a signal", "did not end")}
    for r in rows:
        for o in r.carbon if r.others else ():
            kinds[o.kind][0] += 1
        for outcomes in r.others.values():
            for o in outcomes:
                kinds[o.kind][1] += 1
    print("All runs on files that both sides read; for some files two or three commands of bcftools were run:\n")
    print("| How a run ended | carbon | the others |\n|---|---|---|")
    for kind, (ours, other) in kinds.items():
        print("| %s | %d | %d |" % (kind, ours, other))
    for finding, title in TITLES.items():
        print("\n## %d. %s\n" % (finding, title))
        print("| File | What is wrong with it | carbon | bcftools, samtools, tabix |\n|---|---|---|---|")
        for r in rows:
            if r.finding == finding:
                others = "<br>".join("`%s`: %s" % (name, cell(outcomes)) for name, outcomes in r.others.items()) or NONE
                print("| %s | %s | %s | %s |" % (r.file, r.wrong, cell(r.carbon), others))
        if finding in NOTES:
            print("\n" + NOTES[finding])
