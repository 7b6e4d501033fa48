"""What carbon vep writes is read back by others: bcftools, tabix and pysam see every record and every value."""

import collections
import concurrent.futures
import os
import struct
import subprocess

from harness import (SHARED, Skip, carbon, case, decompress, expect, expect_equal, fresh, genome, info_of, main, model,
                     own_errors, read, records, tool, write)
from vep_support import HEAD, MINI, OTHER, WINDOW, vep

try:
    import pysam
    pysam.set_verbosity(0)  # it says that an index is absent
except ImportError:
    pysam = None

ARGS = ("-w", WINDOW, "--recipe", "centered,next-token", "--context", "60")
KINDS = {"v": "vcf", "z": "vcf.gz", "u": "bcf", "b": "bcf"}
TAGS = ("CARBON_LLR", "CARBON_NT", "CARBON_FLAG")
ORDER = ["c1", "c2", "tiny", "absent"]

_outputs = {}


def outputs():
    """{type: path} of one annotated file in every type; its records, mini.vcf's, are sorted so that it can be indexed."""
    if not _outputs:
        lines = read(MINI).decode().splitlines(True)
        head, body = [line for line in lines if line[0] == "#"], [line for line in lines if line[0] != "#"]
        body.sort(key=lambda line: (ORDER.index(line.split("\t")[0]), int(line.split("\t")[1])))
        path = write(fresh(), "sorted.vcf", "".join(head + body))
        _outputs["input"] = path
        for kind, suffix in KINDS.items():
            _outputs[kind] = os.path.join(fresh(), "o." + suffix)
            # The suffix would turn -O u into -O b.
            write(os.path.dirname(_outputs[kind]), "o." + suffix, vep(*ARGS, "-O", kind, path).out)
    return _outputs


def by_kind():
    return [(kind, outputs()[kind]) for kind in KINDS]


def input_records():
    return records(read(outputs()["input"]).decode())


def text_records():
    """The records of the text output, of which the other types are compared as bcftools prints them."""
    return records(read(outputs()["v"]).decode())


def f32(text):
    return struct.unpack("f", struct.pack("f", float(text)))[0]


# ---- bcftools ------------------------------------------------------------------------------------------------------


@case
def bcftools_view():
    for kind, path in by_kind():
        shown = tool("bcftools", "view", "--no-version", path)
        expect_equal(records(shown.text), text_records(), "-O " + kind)
        expect_equal(shown.err, "", "what bcftools says of -O " + kind)
        expect_equal(len(records(shown.text)), len(input_records()), "number of records of -O " + kind)
        # htslib checks the header's types when it writes; a second pass through BCF keeps every value.
        again = tool("bcftools", "view", "-Ob", path).out
        expect_equal(records(tool("bcftools", "view", "-", stdin=again).text), text_records(), "through BCF, -O " + kind)


@case
def bcftools_query():
    for tag in TAGS:
        wanted = [info_of(line).get(tag, ".") for line in text_records()]
        expect(len(set(wanted)) > 3, "hardly a value of " + tag)
        for kind, path in by_kind():
            expect_equal(tool("bcftools", "query", "-f", "%" + tag + "\\n", path).lines(), wanted, tag + " of -O " + kind)
    below = tool("bcftools", "query", "-i", "CARBON_LLR<0", "-f", "%ID\\n", outputs()["b"]).lines()
    wanted = [line.split("\t")[2] for line in text_records()
              if any(v != "." and float(v) < 0 for v in info_of(line).get("CARBON_LLR", ".").split(","))]
    expect(0 < len(wanted) < len(input_records()), "an expression that selects all or nothing")
    expect_equal(below, wanted, "records by an expression")


def by_allele(lines):
    """How often each (contig, pos, REF, ALT, LLR, NT, FLAG) occurs."""
    found = collections.Counter()
    for line in lines:
        contig, pos, _, ref, alts = line.split("\t")[:5]
        alts = alts.split(",")
        columns = [info_of(line).get(tag, ".").split(",") for tag in TAGS]
        columns = [column if column != ["."] else column * len(alts) for column in columns]  # a tag that is absent
        expect_equal([len(column) for column in columns], [len(alts)] * len(TAGS), "number of values of " + line)
        found.update((contig, pos, ref, *values) for values in zip(alts, *columns))
    return found


@case
def bcftools_norm():
    for kind, path in by_kind():
        split = tool("bcftools", "norm", "--no-version", "-m-", path)
        lines = records(split.text)
        expect(all("," not in line.split("\t")[4] for line in lines), "an allele was not split")
        expect_equal(by_allele(lines), by_allele(text_records()), "values by allele after norm -m-, -O " + kind)
        joined = tool("bcftools", "norm", "--no-version", "-m+any", "-", stdin=split.out)
        expect_equal(set(by_allele(records(joined.text))), set(by_allele(lines)), "values by allele after norm -m+any")
    again = vep(*ARGS, "--no-version", write(fresh(), "split.vcf", split.out))
    expect_equal(by_allele(records(again.text)), by_allele(lines), "annotated after norm -m-")


@case
def indexes():
    for kind, path in by_kind():
        if kind in "vu":
            continue
        for option, suffix in (("-c", ".csi"),) + ((("-t", ".tbi"),) if kind == "z" else ()):
            tool("bcftools", "index", option, "-f", path)
            expect_equal(tool("bcftools", "index", "-n", path + suffix).text.strip(), str(len(input_records())), "records in the index")
            for contig, begin, end in (("c1", 100, 220), ("c2", 1, 180), ("tiny", 2, 3), ("absent", 5, 5)):
                region = "%s:%d-%d" % (contig, begin, end)
                wanted = [line for line in text_records()
                          if line.split("\t")[0] == contig and begin <= int(line.split("\t")[1]) <= end]
                got = records(tool("bcftools", "view", "--no-version", "--regions-overlap", "0", "-r", region, path).text)
                expect_equal(got, wanted, region)
                expect(got, "no record in " + region)
            os.remove(path + suffix)
    path = outputs()["z"]
    tool("tabix", "-p", "vcf", path)
    expect_equal(tool("tabix", path, *ORDER).lines()[-20:], text_records()[-20:], "records by tabix")


@case
def the_table_by_tabix():
    path = os.path.join(fresh(), "o.tsv.gz")
    vep(*ARGS, "-O", "t", "-o", path, outputs()["input"])
    tool("tabix", "-s1", "-b2", "-e2", path)
    got = [line.split("\t") for contig in ORDER for line in tool("tabix", path, contig).lines()]
    expect_equal(collections.Counter((c, p, r, *rest) for c, p, _, r, *rest in got), by_allele(text_records()), "lines by tabix")


# ---- pysam ---------------------------------------------------------------------------------------------------------


def needs_pysam():
    if pysam is None:
        raise Skip("python3-pysam is not installed")


@case
def pysam_reads_every_type():
    needs_pysam()
    for kind, path in by_kind():
        with pysam.VariantFile(path) as f:
            definitions = {tag: (f.header.info[tag].number, f.header.info[tag].type) for tag in TAGS}
            expect_equal(definitions, {"CARBON_LLR": ("A", "Float"), "CARBON_NT": ("A", "Float"), "CARBON_FLAG": ("A", "String")},
                         "definitions")
            found = list(f)
            expect_equal(len(found), len(input_records()), "number of records of -O " + kind)
            for got, line in zip(found, text_records()):
                info = info_of(line)
                expect_equal([got.contig, str(got.pos), got.ref], [line.split("\t")[i] for i in (0, 1, 3)], "record")
                expect_equal({tag: len(got.info[tag]) for tag in TAGS if tag in got.info},
                             {tag: len(got.alts) for tag in TAGS if tag in info}, "number of values of " + line)
                for tag in [tag for tag in TAGS if tag in info]:
                    wanted = [None if text == "." else text for text in info[tag].split(",")]
                    values = [None if v in (None, ".") else v for v in got.info[tag]]
                    if tag == "CARBON_FLAG":
                        expect_equal(values, wanted, "flags of " + line)
                        continue
                    expect_equal(["%g" % v if v is not None else v for v in values],
                                 ["%g" % f32(v) if v is not None else v for v in wanted], tag + " of " + line)


@case
def pysam_fetches_regions():
    needs_pysam()
    for kind in "zb":
        path = os.path.join(fresh(), "o." + KINDS[kind])
        vep(*ARGS, "-O", kind, "-W", "-o", path, outputs()["input"])
        with pysam.VariantFile(path) as f:
            got = [(r.pos, r.id) for r in f.fetch("c1", 300, 400)]
        wanted = [(int(line.split("\t")[1]), line.split("\t")[2]) for line in input_records()]
        expect_equal([x for x in got if x[0] > 300], [x for x in wanted if 300 < x[0] <= 400][:len(got)], "records by region")
        expect(len(got) > 5, "hardly a record")


# ---- annotated again -----------------------------------------------------------------------------------------------


@case
def annotating_again_replaces_in_every_type():
    for kind, path in by_kind():
        again = vep(*ARGS, "-O", kind, path)
        text = tool("bcftools", "view", "--no-version", "-", stdin=again.out).text
        expect_equal(records(text), text_records(), "records after the second run, -O " + kind)
        for tag in TAGS:
            expect_equal(sum(line.startswith("##INFO=<ID=%s," % tag) for line in text.splitlines()), 1, "definitions of " + tag)
        expect_equal(sum(line.startswith("##carbon_vepModel=") for line in text.splitlines()), len(TAGS) - 1, "model lines")
        expect(sum("earlier run" in line for line in again.messages("W")) == 1, "not one warning", again)

        # Another window: new values under the old name, and the other recipe's tag is kept.
        other = vep("-w", 96, "-O", kind, path)
        lines = records(tool("bcftools", "view", "-", stdin=other.out).text)
        fresh_run = records(vep("-w", 96, outputs()["input"]).text)
        for line, wanted, first in zip(lines, fresh_run, text_records()):
            info, kept = info_of(line), info_of(first)
            expect_equal(info.get("CARBON_LLR"), info_of(wanted).get("CARBON_LLR"), "the score of another window, -O " + kind)
            expect_equal(info.get("CARBON_NT"), kept.get("CARBON_NT"), "the score of the other recipe, -O " + kind)
        expect_equal(len(lines), len(fresh_run), "records")


@case
def another_prefix_is_kept_in_every_type():
    for kind, path in by_kind():
        again = vep("-w", 96, "--tag-prefix", "SECOND", "-O", kind, path)
        shown = tool("bcftools", "view", "--no-version", "-", stdin=again.out).text
        expect(not any("earlier run" in line for line in again.messages("W")), "a warning about another prefix", again)
        expect("##INFO=<ID=CARBON_LLR," in shown and "##INFO=<ID=SECOND_LLR," in shown, "a definition is missing")
        wanted = records(vep("-w", 96, "--tag-prefix", "SECOND", outputs()["input"]).text)
        for line, first, second in zip(records(shown), text_records(), wanted):
            expect_equal(info_of(line), {**info_of(first), **{k: v for k, v in info_of(second).items() if k != "."}}, "INFO of " + line)
        # bcftools takes one run out again and leaves the other.
        bare = tool("bcftools", "annotate", "--no-version", "-x", "INFO/SECOND_LLR,INFO/SECOND_FLAG", "-", stdin=again.out)
        expect_equal(records(bare.text), text_records(), "without the second run, -O " + kind)


# ---- counts --------------------------------------------------------------------------------------------------------


@case
def many_records():
    """Several BGZF blocks and batches, of which no record gets lost."""
    bases, rows = genome()["c1"].upper(), []
    for i in range(12000):
        pos = 1 + i // 20
        rows.append("c1\t%d\trs%d\t%s\t%s\t.\t.\t.\n" % (pos, i, bases[pos - 1], (OTHER[bases[pos - 1]], "<DEL>", "*")[i % 3]))
    path = write(fresh(), "many.vcf", HEAD % "##contig=<ID=c1>\n" + "".join(rows))
    names = [row.split("\t")[2] for row in rows]
    for kind in KINDS:
        out = vep("-w", 12, "--strand", "+", "-O", kind, path)
        expect_equal(tool("bcftools", "query", "-f", "%ID\\n", "-", stdin=out.out).lines(), names, "records of -O " + kind)
        expect(out.err.splitlines()[-1].startswith("Records 12000, scored 4000; "), "summary", out)


def every_vcf():
    top = os.path.join(SHARED, "data", "vcf")
    if not os.path.isdir(top):
        raise Skip("%s is absent: set CARBON_SHARED to the folder with data/" % top)
    return sorted(os.path.join(where, name) for where, _, files in os.walk(top) for name in files if name.endswith((".vcf", ".vcf.gz")))


def through_a_pipe(path, fasta):
    """What is wrong with a run from standard input to BCF, or ''; and its exit status."""
    content = read(path)
    try:
        result = carbon("vep", "-m", model(), "-f", fasta, "-w", 24, "--max-ref-mismatch", 1, "-O", "u", stdin=content, timeout=20)
    except subprocess.TimeoutExpired:
        return "hangs", None
    if result.rc == 1:
        return "" if len(own_errors(result)) == 1 else "no single message: " + result.err, 1
    if result.rc != 0:
        return "rc %d: %s" % (result.rc, result.err), result.rc
    # Counted in the file itself: bcftools could overlook what we overlook.
    lines = [line for line in decompress(content).split(b"\n") if line and not line.startswith(b"#")]
    found = tool("bcftools", "query", "-f", "%CHROM %POS %REF\\n", "-", stdin=result.out).out.split(b"\n")[:-1]
    if len(found) != len(lines):
        return "%d records, the file has %d lines" % (len(found), len(lines)), 0
    return "", 0


@case
def every_vcf_of_the_shared_folder_through_a_pipe():
    tool("bcftools", "--version")
    paths = every_vcf()
    names = {line.split(b"\t")[0] for path in paths for line in decompress(read(path)).splitlines() if line and line[:1] != b"#"}
    plain = sorted(name for name in names if name.isalnum() or name.startswith((b"chr", b"ref")))
    fasta = write(fresh(), "every.fa", b"".join(b">" + name + b"\n" + b"ACGTTGCATC" * 30 + b"\n" for name in plain))
    tool("samtools", "faidx", fasta)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(lambda path: through_a_pipe(path, fasta), paths))
    wrong = ["%s: %s" % (os.path.relpath(path, SHARED), text) for path, (text, _) in zip(paths, outcomes) if text]
    print("%d files: rc 0 for %d, rc 1 for %d" % (len(paths), *(sum(rc == status for _, rc in outcomes) for status in (0, 1))))
    expect(not wrong, "%d files:\n%s" % (len(wrong), "\n".join(wrong)))
    expect(sum(rc == 0 for _, rc in outcomes) > 150, "most files are refused")


if __name__ == "__main__":
    main()
