"""carbon annotate with a model: probabilities as the published rules give them, every output, the same bytes however a run is divided,
stopped and continued, and what is refused."""

import json
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import numpy as np  # noqa: E402

from annotate_support import annotator, fasta, write_track  # noqa: E402
from annotator_reference import AnnotatorModel  # noqa: E402
from harness import (CARBON, ENV, carbon, case, decompress, expect, expect_close, expect_equal, expect_failure, fresh, main, model,  # noqa: E402
                     ok, open_bigwig, peak_memory, read, reverse_complement, tool, write)

WINDOW, OVERLAP = 360, 90


def bases_of(n, seed):
    rng = random.Random(seed)
    return "".join(rng.choice("ACGT" if rng.random() < 0.99 else "NacgtRN") for _ in range(n))


def contigs():
    """Of every length that windows treat in a way of their own, with capital and small letters, N and other codes."""
    lengths = [0, 1, 5, 6, 7, 11, 12, 100, WINDOW - 1, WINDOW, WINDOW + 1, WINDOW + 5, WINDOW + 6, 2 * WINDOW - OVERLAP - 1,
               2 * WINDOW - OVERLAP, 2 * WINDOW - OVERLAP + 1, 3 * WINDOW + 50]
    return [("c%d" % n, bases_of(n, n)) for n in lengths]


def annotate(*args, directory=None, **options):
    return ok("annotate", "-m", directory or annotator(), "--no-version", "--window", WINDOW, "--overlap", OVERLAP, *args, **options)


def lines_of(content):
    return [line for line in decompress(content).decode().splitlines() if not line.startswith("#")]


def table(text):
    """{contig: ([P of +], [P of -], bases)}"""
    found = {}
    for line in lines_of(text if isinstance(text, bytes) else text.encode()):
        name, pos, base, plus, minus = line.split("\t")
        row = found.setdefault(name, ([], [], []))
        expect_equal(int(pos), len(row[0]) + 1, "position")
        row[0].append(float(plus))
        row[1].append(float(minus))
        row[2].append(base)
    return found


@case
def probabilities_are_those_of_the_published_rules():
    given = contigs()
    path = fasta(given)
    for changes in (dict(), dict(mlp_heads=1, kv_heads=1), dict(heads=2, kv_heads=2, head_dim=32, layers=3)):
        directory = annotator(**changes)
        reference = AnnotatorModel(directory)
        for overlap in (OVERLAP, 0, WINDOW - 6):
            found = table(ok("annotate", "-m", directory, "--window", WINDOW, "--overlap", overlap, "-O", "tsv", path).out)
            expect_equal(sorted(found), sorted(name for name, bases in given if bases), "contigs")
            worst = 0
            for name, bases in given:
                if not bases:
                    continue
                wanted = reference.probabilities(bases, WINDOW, overlap)
                expect_equal("".join(found[name][2]), bases, "bases of " + name)
                worst = max(worst, np.abs(np.array(found[name][:2]) - wanted).max())
                if len(bases) < 6:
                    expect_equal(found[name][0] + found[name][1], [0.0] * 2 * len(bases), "P of " + name)
            print("%r, overlap %d: worst probability differs by %.2g" % (changes, overlap, worst))
            expect(worst < 1e-4, "P differs by %g" % worst)


@case
def defaults_of_windows():
    text = ok("annotate", "-m", annotator(), "-O", "tsv", "--no-version", fasta([("a", bases_of(50, 1))])).text
    expect("##carbon_annotateModel=<ID=coding,Model=" in text and ",Window=768,Overlap=48>" in text, text.splitlines()[0])
    large = ok("annotate", "-m", annotator(max_positions=20000), "-O", "tsv", "--no-version", fasta([("a", bases_of(50, 1))])).text
    expect(",Window=98304,Overlap=6144>" in large, large.splitlines()[0])


@case
def the_same_bytes_however_a_run_is_divided():
    given = [(name, bases) for name, bases in contigs() if bases]
    path = fasta(given)
    for dtype in ("f32", "bf16"):
        whole = annotate("-O", "tsv", "--dtype", dtype, path).out
        for args in (["-@", "1"], ["-@", "3"], ["--batch-tokens", "1"], ["--batch-tokens", "70"], ["--batch-tokens", "100000"]):
            expect(annotate("-O", "tsv", "--dtype", dtype, *args, path).out == whole, "other bytes with %r" % args)
        turned = annotate("-O", "tsv", "--dtype", dtype, fasta(given[::-1])).out
        expect_equal(sorted(lines_of(turned)), sorted(lines_of(whole)), "lines of contigs in another order")
        for n in (2, 3, 40):
            shares = [lines_of(annotate("-O", "tsv", "--dtype", dtype, "--shard", "%d/%d" % (i, n), path).out) for i in range(1, n + 1)]
            expect_equal(sum(shares, []), lines_of(whole), "lines of %d shares" % n)
    piped = annotate("-O", "tsv", "--dtype", "f32", "-", stdin=read(path)).out
    expect(piped == annotate("-O", "tsv", "--dtype", "f32", path).out, "other bytes from standard input")


@case
def regions_have_the_values_of_the_whole_run():
    tool("samtools", "--version")
    given = [(name, bases) for name, bases in contigs() if bases]
    path = fasta(given)
    whole = lines_of(annotate("-O", "tsv", path).out)
    n = 3 * WINDOW + 50
    bed = write(fresh(), "r.bed", "c%d\t700\t760\nc7\t0\t7\nc%d\t10\t20\nc%d\t15\t40\n" % (n, n, n))
    for args, wanted in ((["-r", "c%d:1-1" % n], [("c%d" % n, 1, 1)]), (["-r", "c%d:300-400" % n], [("c%d" % n, 300, 400)]),
                         (["-r", "c5"], [("c5", 1, 5)]),
                         (["-R", bed], [("c7", 1, 7), ("c%d" % n, 11, 40), ("c%d" % n, 701, 760)])):
        chosen = [line for name, begin, end in wanted for line in whole
                  if line.split("\t")[0] == name and begin <= int(line.split("\t")[1]) <= end]
        expect_equal(lines_of(annotate("-O", "tsv", *args, path).out), chosen, "lines of %r" % args)


@case
def memory_does_not_grow_with_the_place_of_a_region():
    n = 3000000
    path = fasta([("n", "N" * (n - 600) + bases_of(600, 8))])
    last, first = (peak_memory("annotate", "-q", "-m", annotator(), "-O", "tsv", "-r", "n:%d-%d" % (end - 99, end), path)
                   for end in (n, 100))
    expect(last < first + 20000, "%d KiB at the end, %d KiB at the beginning" % (last, first))


@case
def bedgraph_and_tracks_have_the_same_values():
    given = [(name, bases) for name, bases in contigs() if bases]
    path, folder = fasta(given), fresh()
    rows = table(annotate("-O", "tsv", path).out)
    for strand, column in (("+", 0), ("-", 1)):
        out = os.path.join(folder, "x.bedgraph.gz")
        annotate("--strand", strand, "-o", out, path)
        wanted = ["%s\t%d\t%d\t%.6g" % (name, i, i + 1, p) for name, _ in given for i, p in enumerate(rows[name][column])]
        expect_equal(lines_of(read(out)), wanted, "bedGraph of " + strand)
    os.remove(out)
    annotate("-O", "bigwig", "-o", os.path.join(folder, "x"), path)
    expect_equal(sorted(os.listdir(folder)), ["x.minus.bw", "x.plus.bw"], "files")
    for name, column in (("plus", 0), ("minus", 1)):
        track = open_bigwig(os.path.join(folder, "x.%s.bw" % name))
        expect_equal(track.chroms(), {name: len(bases) for name, bases in given}, "contigs of a track")
        for contig, bases in given:
            expect_equal(["%.6g" % p for p in track.values(contig, 0, len(bases))], ["%.6g" % p for p in rows[contig][column]], contig)


def without_header(content):
    return [line for line in content.decode().splitlines() if not line.startswith("#!")]


@case
def genes_of_tracks_are_those_of_the_direct_run():
    given = [(name, bases) for name, bases in contigs() if bases] + [("long", bases_of(6000, 77))]
    path, folder = fasta(given), fresh()
    prefix = os.path.join(folder, "t")
    total = 0
    for args in (["--genes", "runs"], ["--genes", "runs", "--stair-inward-shift", "20", "--min-cds-length", "9"],
                 ["--gene-cost", "0", "--intron-cost", "0", "--min-cds", "0", "--min-score", "0", "--max-intron", "200"]):
        direct = annotate("--tracks", prefix, *args, path).out
        again = ok("annotate", "--no-version", "--from-tracks", prefix, *args, path).out
        expect_equal(without_header(again), without_header(direct), "records with %r" % args)
        total += len(lines_of(direct))
    expect(total > 100, "only %d lines" % total)


def arguments(out, path, *args, overlap=OVERLAP):
    return [CARBON, "annotate", "-m", annotator(layers=4, intermediate=256), "--no-version", "-q", "-@", "1", "--window", str(WINDOW),
            "--overlap", str(overlap), "-o", out, *args, path]


def state_of(out):
    try:
        return json.loads(read(out + ".partial.p.state"))
    except FileNotFoundError:
        return {"done": 0}


def visible(folder):
    """Without the temporary file of an output, which a run cannot remove that SIGKILL ends, and the next one replaces."""
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


# With these kernels a run lasts until it is killed.
SLOW = {**ENV, "CARBON_FORCE_ISA": "generic"}
_rate = []


def bases_in(seconds):
    """So many bases that a run lasts about so long, because marks are a second apart on any machine."""
    if not _rate:
        path, started = fasta([("a", bases_of(100000, 1))]), time.monotonic()
        subprocess.run(arguments(os.path.join(fresh(), "out"), path), check=True, env=SLOW)
        _rate.append(100000 / (time.monotonic() - started))
    return min(4000000, int(seconds * _rate[0]))


@case
def killed_inside_a_contig_and_continued():
    folder = fresh()
    out, whole = os.path.join(folder, "out.gff3"), os.path.join(folder, "whole.gff3")
    more = ["--genes", "runs"]
    long = bases_in(10)  # three runs have to get a mark each
    total = 2000 + long + 3 + 3000

    def inputs(seed):
        return fasta([("first", bases_of(2000, 1)), ("long", bases_of(long, seed)), ("tiny", "ACG"), ("last", bases_of(3000, 3))])
    path = inputs(2)
    subprocess.run(arguments(whole, path, *more), check=True, env=SLOW)
    marks = []
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        before = state_of(out)["done"]
        process = subprocess.Popen(arguments(out, path, *more, "--resume"), env=SLOW, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while state_of(out)["done"] <= before:
            expect(process.poll() is None and time.monotonic() < deadline, "no mark came: rc %r" % process.poll())
            time.sleep(0.002)
        process.send_signal(number)
        process.communicate()
        marks.append(state_of(out)["done"])
        expect_equal(visible(folder), ["out.gff3.partial.p", "out.gff3.partial.p.state", "whole.gff3"], "files")
        expect(os.path.getsize(out + ".partial.p") >= 8 * marks[-1], "too small")
    print("continued at %r of %d bases" % (marks, total))
    expect(marks == sorted(set(marks)) and marks[-1] < total and any(2000 < mark < 2000 + long for mark in marks), "stopped at %r" % marks)
    expect_failure(carbon(*arguments(out, path, *more)[1:], env=SLOW), "--resume", "interrupted run")
    expect_failure(carbon(*arguments(out, inputs(5), *more, "--resume")[1:], env=SLOW), "input")
    expect_failure(carbon(*arguments(out, path, *more, "--resume", overlap=96)[1:], env=SLOW), "overlap 90, now 96")
    subprocess.run(arguments(out, path, *more, "--resume"), check=True, env=SLOW)
    expect(read(out) == read(whole), "other bytes")
    expect_equal(visible(folder), ["out.gff3", "whole.gff3"], "files at the end")


@case
def what_outputs_depend_on_may_change_when_a_run_is_continued():
    path = fasta([("long", bases_of(bases_in(4), 9))])
    folder = fresh()
    out = os.path.join(folder, "out")
    process = subprocess.Popen(arguments(out, path), env=SLOW, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while state_of(out)["done"] == 0:
        expect(process.poll() is None and time.monotonic() < deadline, "no mark came")
        time.sleep(0.002)
    process.kill()
    process.communicate()
    subprocess.run(arguments(out, path, "-O", "tsv", "--resume"), check=True, env=SLOW)
    other = os.path.join(folder, "other")
    subprocess.run(arguments(other, path, "-O", "tsv"), check=True, env=SLOW)
    expect(read(out) == read(other), "other bytes")


@case
def windows_of_unknown_bases_are_computed_once():
    bases = bases_of(900, 1) + "N" * 20000 + bases_of(900, 2)
    directory = annotator()
    wanted = AnnotatorModel(directory).probabilities(bases, WINDOW, OVERLAP)
    found = table(annotate("-O", "tsv", "--batch-tokens", "64", fasta([("n", bases), ("m", "N" * 800)])).out)
    expect(np.abs(np.array(found["n"][:2]) - wanted).max() < 1e-4, "P differs")
    expect(np.abs(np.array(found["m"][:2]) - AnnotatorModel(directory).probabilities("N" * 800, WINDOW, OVERLAP)).max() < 1e-4, "P differs")


@case
def strands_have_heads_of_their_own():
    bases = bases_of(600, 4)
    found = table(annotate("-O", "tsv", fasta([("a", bases), ("b", reverse_complement(bases.upper()))])).out)
    expect(found["a"][0] != found["a"][1] and found["a"][0] != found["b"][1][::-1], "a strand is the reverse complement of the other")


@case
def refusals():
    path, folder = fasta([("a", bases_of(100, 1))]), fresh()
    good = annotator()

    def fails(*args, words, env=None):
        expect_failure(carbon("annotate", *args, path, env=env), *words)

    fails(words=["no model is named"], env={"CARBON_MODEL": ""})
    fails("-m", model(), words=["does not say which bases are coding"])
    fails(words=["does not say which bases are coding"], env={"CARBON_MODEL": model()})
    fails("-m", good, "--window", "100", words=["window of 100", "multiple of 6 up to 768"])
    fails("-m", good, "--window", "774", words=["window of 774", "128 tokens"])
    fails("-m", good, "--overlap", "7", words=["overlap of 7"])
    fails("-m", good, "--window", "60", "--overlap", "60", words=["overlap of 60", "below the window of 60"])
    fails("-m", good, "-O", "bedgraph", words=["--strand +"])
    fails("-m", good, "-O", "tsv", "--strand", "+", words=["--strand is for"])
    fails("-m", good, "-O", "tsv", "--genes", "runs", words=["--genes has no meaning"])
    fails("-m", good, "-O", "bigwig", words=["-o PREFIX"])
    fails("-m", good, "-r", "a:1-10", words=["leave out -r"])
    fails("-m", good, "-O", "tsv", "-r", "a:1-10", "--resume", "-o", os.path.join(folder, "x"), words=["--resume"])
    fails("-m", good, "--from-tracks", "x", words=["--from-tracks", "--model"])
    fails("-m", good, "--lora", folder, words=["adapter"])
    fails("-m", good, "--rope-scaling", "yarn:2", words=["--rope-scaling"])
    fails("-m", good, "-o", os.path.join(folder, "x.vcf"), words=["GFF3"])
    fails("-m", good, "--resume", words=["standard output"])
    fails("-m", good, "--device", "cuda", words=["not done on a GPU", "--device cpu"])
    expect_failure(carbon("annotate", "-m", good, "--shard", "1/2", "-", stdin=read(path)), "standard input")
    expect_failure(carbon("annotate", "-m", good, fasta([("a", "ACGT"), ("a", "ACGT")])), "two sequences are called a")
    for command in (["score"], ["embed"], ["predict"], ["generate", "--length", "9"], ["scan", "-f"]):
        expect_failure(carbon(command[0], "-m", good, *command[1:], path), "says which bases are coding", "carbon annotate")
    expect_equal(os.listdir(folder), [], "files")


@case
def a_model_that_is_not_finite_names_the_place():
    folder = annotator(seed=5)
    path = os.path.join(folder, "model.safetensors")
    content = bytearray(read(path))
    header = json.loads(content[8:8 + int.from_bytes(content[:8], "little")])
    at = 8 + int.from_bytes(content[:8], "little") + header["model.norm.weight"]["data_offsets"][0]
    content[at:at + 4] = b"\x00\x00\xc0\x7f"
    with open(path, "wb") as f:
        f.write(content)
    out = os.path.join(fresh(), "x.tsv")
    expect_failure(carbon("annotate", "-m", folder, "-O", "tsv", "-o", out, fasta([("odd", bases_of(100, 1))])), "odd:1-96")
    expect(not os.path.exists(out), "an output is there")


@case
def models_and_tokens():
    text = ok("models", annotator()).text
    expect("GENERanno" in text, text)
    listed = json.loads(ok("models", "--json", annotator()).text)[0]
    expect_equal((listed["family"], listed["labels"]), ("GENERanno", ["NON_CODING", "CDS"]), "of carbon models")
    ids = json.loads(ok("tokenize", "-m", annotator(), stdin=b'"AAAAAAAAAAATACGNNN"\n').text)["ids"]
    expect_equal(ids, [32, 33, 0], "ids")


if __name__ == "__main__":
    main()
