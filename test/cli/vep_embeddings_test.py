"""carbon vep --embeddings: mean states of both alleles against float64 and against carbon embed; bytes; refusals."""

import json
import os
import random
import re
import struct
import subprocess
import sys

import numpy as np

from harness import (DATA, Skip, carbon, case, expect, expect_equal, expect_failure, fresh, genome, main, model, ok, read, records, to_fasta,
                     write)
from vep_reference_support import (SMALL, UNTIED, alleles_of, as_vcf, edge_genome, edge_variants, reference_model, upper,
                                   vep_reference)
from vep_support import MINI, OTHER, WINDOW, reference, vcf, vep

import letter_reference
import measure_reference

ARGS = ("-w", WINDOW, "--no-version", "--max-ref-mismatch", 1)
PROBE = os.path.join(os.path.dirname(os.path.dirname(DATA)), "workflows", "benchmark", "scripts", "probe.py")
# Of states around 1: float32 sums of a few layers differ from float64 by far less.
TOLERANCE = 1e-4
LETTERS = {"preset": "marin", "hidden": 48, "layers": 2, "heads": 3, "kv_heads": 3, "head_dim": 16, "intermediate": 96, "dtype": "f32",
           "tied": 0, "vocab": 0, "dna_start": -1, "max_positions": 256}


def tensors(path):
    """{name: matrix} of a safetensors file, by the format's description, and its metadata."""
    content = read(path)
    length, = struct.unpack("<Q", content[:8])
    header, body = json.loads(content[8:8 + length]), content[8 + length:]
    metadata = header.pop("__metadata__", {})
    found = {name: np.frombuffer(body[slice(*entry["data_offsets"])], "<f4").reshape(entry["shape"])
             for name, entry in header.items()}
    expect_equal(sum(matrix.nbytes for matrix in found.values()), len(body), "bytes of the tensors")
    return found, metadata


def variants_of(stem):
    lines = [line.split("\t") for line in read(stem + ".variants.tsv").decode().splitlines()]
    expect_equal(lines[0], ["#CHROM", "POS", "ID", "REF", "ALT", "row"], "heading of the table")
    expect_equal([line[5] for line in lines[1:]], [str(i) for i in range(len(lines) - 1)], "rows")
    return [tuple(line[:5]) for line in lines[1:]]


def embedded(*args, suffix=".safetensors", **options):
    """The run's output, and ref, alt and the table of the files."""
    stem = os.path.join(fresh(), "out")
    result = vep(*args, "--embeddings", stem + suffix, **options)
    if suffix == ".npy":
        both = np.load(stem + suffix)
        width = both.shape[1] // 2
        return result.out, both[:, :width], both[:, width:], variants_of(stem)
    found, _ = tensors(stem + suffix)
    expect_equal(list(found), ["ref", "alt"], "tensors")
    return result.out, found["ref"], found["alt"], variants_of(stem)


def scored(out):
    """(contig, pos, ID, REF, ALT) of each ALT with a score."""
    found = []
    for line in records(out.decode()):
        fields = line.split("\t")
        match = re.search(r"(?:^|;)CARBON_LLR=([^;]*)", fields[7])
        for alt, text in zip(fields[4].split(","), match[1].split(",") if match else ()):
            if text != ".":
                found.append((*fields[:4], alt))
    return found


@case
def states_are_those_of_float64():
    bases = edge_genome()
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(bases.items())))
    path = write(d, "edge.vcf", as_vcf(edge_variants(bases), [*bases, "absent"]))
    worst, rows = 0.0, 0
    for sizes, window, strand, phases in ((SMALL, 96, "both", "auto"), (SMALL, 96, "-", "1"), (SMALL, 12, "both", "6"),
                                          (UNTIED, 192, "+", "auto"), (UNTIED, 1000, "-", "1")):
        stem = os.path.join(d, "out")
        out = ok("vep", "-m", model(**sizes), "--dtype", "f32", "-f", fasta, "-w", window, "--strand", strand, "--phases", phases,
                 "--max-ref-mismatch", 1, "-q", "--no-version", "--embeddings", stem + ".safetensors", path).out
        wanted = vep_reference.mean_states(reference_model(**sizes), upper(bases), [alleles_of(line) for line in records(out.decode())],
                                           window, strand, phases)
        alleles = [(contig, str(pos), ref, alt) for contig, pos, ref, alts in map(alleles_of, records(out.decode())) for alt in alts]
        wanted = [(allele, pair) for allele, pair in zip(alleles, wanted) if pair]
        expect_equal([(c, p, r, a) for c, p, _, r, a in variants_of(stem)], [allele for allele, _ in wanted], "alleles with rows")
        found, _ = tensors(stem + ".safetensors")
        for i, name in enumerate(("ref", "alt")):
            difference = np.abs(found[name] - np.array([pair[i] for _, pair in wanted])).max()
            expect(difference < TOLERANCE, "%s differs by %g" % (name, difference))
            worst = max(worst, difference)
        rows += len(wanted)
    print("%d rows, worst difference %.2g" % (rows, worst))
    expect(rows > 2000, "%d rows" % rows)


@case
def pooled_states_are_those_of_float64():
    bases = edge_genome()
    rng = random.Random(4)
    d = fresh()
    fasta = write(d, "edge.fa", to_fasta(list(bases.items())))
    rows = [row for row in edge_variants(bases) if row[3] != "." and rng.random() < 0.25]
    path = write(d, "edge.vcf", as_vcf(rows, [*bases, "absent"]))
    worst, count = 0.0, 0
    for sizes, window, strand, pool in ((SMALL, 96, "both", "variant"), (SMALL, 96, "-", "18"), (UNTIED, 48, "+", "6000"),
                                        (LETTERS, 65, "both", "variant"), (LETTERS, 64, "+", "20")):
        stem = os.path.join(d, "out")
        of_letters = sizes is LETTERS
        out = ok("vep", "-m", model(**sizes), "--dtype", "f32", "-f", fasta, "-w", window, "--strand", strand, "--pool", pool,
                 "--max-ref-mismatch", 1, "-q", "--no-version", "--embeddings", stem + ".safetensors", path).out
        lines = records(out.decode("latin-1"))
        reference = letter_reference.LetterModel(model(**sizes)) if of_letters else reference_model(**sizes)
        of_variant = 1 if of_letters else 6
        wanted = measure_reference.pooled_states(reference, upper(bases), [alleles_of(line) for line in lines],
                                                 of_variant if pool == "variant" else int(pool), window, strand)
        alleles = [(contig, str(pos), ref, alt) for contig, pos, ref, alts in map(alleles_of, lines) for alt in alts]
        wanted = [(allele, pair) for allele, pair in zip(alleles, wanted) if pair]
        expect_equal([(c, p, r, a) for c, p, _, r, a in variants_of(stem)], [allele for allele, _ in wanted], "alleles with rows")
        found, metadata = tensors(stem + ".safetensors")
        for i, name in enumerate(("ref", "alt")):
            difference = np.abs(found[name] - np.array([pair[i] for _, pair in wanted])).max()
            expect(difference < TOLERANCE, "%s differs by %g, pool %s" % (name, difference, pool))
            worst = max(worst, difference)
        expect(",Pool=%s>" % (of_variant if pool == "variant" else pool) in str(metadata), "Pool in the metadata: %s" % metadata)
        count += len(wanted)
    print("%d rows, worst difference %.2g" % (count, worst))
    expect(count > 350, "%d rows" % count)


@case
def pooled_states_depend_on_nothing_else():
    first = embedded(*ARGS, "--pool", 12, MINI)
    plain = vep(*ARGS, MINI).out
    expect_equal(first[0], plain, "output beside embeddings")
    scores = set(scored(plain))
    expect(set(first[3]) < scores, "alleles without a score have rows")
    windows = embedded(*ARGS, "--pool", "window", MINI)
    expect_equal([array.tobytes() for array in windows[1:3]], [array.tobytes() for array in embedded(*ARGS, MINI)[1:3]], "pool window")
    for more in (("--batch-tokens", 1), ("--batch-tokens", 50, "-@", 1), ("--measure", "l2,jsd"), ("--measure", "llr,l2", "--horizon", 6)):
        found = embedded(*ARGS, "--pool", 12, *more, MINI)
        expect_equal([array.tobytes() for array in found[1:3]], [array.tobytes() for array in first[1:3]], "bytes, " + str(more))
        expect_equal(found[3], first[3], "table")
    for measure in ("l2", "jsd"):  # of the other rows that are read, no value depends on the pool
        expect_equal(embedded(*ARGS, "--pool", 24, "--measure", measure, "--horizon", 12, MINI)[0],
                     vep(*ARGS, "--measure", measure, "--horizon", 12, MINI).out, measure)
    by_variant, by_bases = (embedded(*ARGS, "--pool", pool, MINI) for pool in ("variant", 6))
    expect_equal(by_variant[1].tobytes(), by_bases[1].tobytes(), "pool variant is that of 6")
    shares = [embedded(*ARGS, "--pool", 12, "--shard", "%d/3" % i, MINI) for i in (1, 2, 3)]
    expect_equal(b"".join(share[2].tobytes() for share in shares), first[2].tobytes(), "rows of three shares")
    d = fresh()
    out, stem, given = os.path.join(d, "out.vcf"), os.path.join(d, "rows"), read(MINI).decode()
    broken = write(d, "in.vcf", "".join(given.splitlines(True)[:-12]) + "c1\tx\n")
    args = ("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, "--embeddings", stem + ".safetensors")
    carbon(*args, "--pool", 12, broken)
    write(d, "in.vcf", given)
    expect_failure(carbon(*args, "--resume", broken), "pool")
    ok(*args, "--pool", 12, "--resume", broken)
    expect_equal(tensors(stem + ".safetensors")[0]["alt"].tobytes(), first[2].tobytes(), "a continued run")


@case
def pools_that_cannot_be_are_refused():
    path = os.path.join(fresh(), "x.npy")
    for args, words in ((("--pool", "variant"), "--embeddings"), (("--pool", 7, "--embeddings", path), "multiple of 6"),
                        (("--pool", "mean", "--embeddings", path), "variant"), (("--pool", 0, "--embeddings", path), "at least"),
                        (("--pool", "separator", "--embeddings", path), "variant"), (("--pool", "", "--embeddings", path), "empty")):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, *args, MINI), words)
        expect(not os.path.exists(path), "a file of a refused run")


@case
def states_are_those_of_embed_on_hand_made_windows():
    contig, pos, window = genome()["c1"], 300, 120
    ref, alt = contig[pos - 1], OTHER[contig[pos - 1]]
    begin = pos - 1 - window // 2
    r = contig[begin:begin + window]
    a = r[:window // 2] + alt + r[window // 2 + 1:]
    stem = os.path.join(fresh(), "by_hand")
    for strand in "+-":
        ok("embed", "-m", model(), "--pool", "mean", "--strand", strand, "-o", stem + ".npy",
           write(fresh(), "in.fa", to_fasta([("R", r), ("A", a)])))
        by_hand = np.load(stem + ".npy")
        _, refs, alts, table = embedded("-w", window, "--strand", strand, vcf([("c1", pos, ref, alt)]))
        expect_equal(table, [("c1", str(pos), ".", ref, alt)], "table")
        expect_equal(refs[0].tobytes(), by_hand[0].tobytes(), "bytes of the state of R")
        expect(np.abs(alts[0] - by_hand[1]).max() < 1e-6, "A differs by %g" % np.abs(alts[0] - by_hand[1]).max())


@case
def nothing_else_changes_and_nothing_else_matters():
    plain = vep(*ARGS, "--level", "bp,token", MINI).out
    first = embedded(*ARGS, "--level", "bp,token", MINI)
    expect_equal(first[0], plain, "output beside embeddings")
    bases_only = embedded(*ARGS, MINI)
    without = set(scored(bases_only[0])) - set(bases_only[3])  # a window of less than six bases has no row
    expect_equal({allele[0] for allele in without}, {"tiny"}, "contigs of alleles without rows")
    expect_equal(bases_only[3], [allele for allele in scored(bases_only[0]) if allele not in without], "alleles with rows")
    for more in (("--batch-tokens", 1), ("--batch-tokens", 50, "-@", 1), ("-@", 2)):
        for level in ((), ("--level", "bp,token")):
            found = embedded(*ARGS, *more, *level, MINI)
            expect_equal([array.tobytes() for array in found[1:3]], [array.tobytes() for array in first[1:3]], "bytes, " + str(more))
            expect_equal(found[3], first[3], "table")
    npy = embedded(*ARGS, MINI, suffix=".npy")
    expect_equal([array.tobytes() for array in npy[1:3]], [array.tobytes() for array in first[1:3]], "npy")
    # Each record alone.
    lines = [line for line in records(read(MINI).decode()) if not line.startswith("absent")]
    head = read(MINI).decode()[:read(MINI).decode().index(lines[0])]
    alone = [embedded(*ARGS, write(fresh(), "one.vcf", head + line + "\n")) for line in lines]
    for i in (1, 2):
        expect_equal(b"".join(one[i].tobytes() for one in alone), first[i].tobytes(), "records alone")


@case
def a_run_reads_at_most_one_token_more_a_window():
    bases = genome()["c1"]
    rows = [("c1", pos, bases[pos - 1], OTHER[bases[pos - 1]]) for pos in range(100, 160)]
    for window in (48, 50):
        counts = []
        for more in ((), ("--embeddings", os.path.join(fresh(), "x.npy"))):
            result = vep("-w", window, "-v", 4, *more, vcf(rows))
            counts.append(int(re.search(r"([0-9]+) tokens in", result.err)[1]))
        expect(0 <= counts[1] - counts[0] <= 4 * len(rows), "%d and %d tokens" % tuple(counts))


@case
def shares_and_continued_runs_have_the_same_rows():
    whole = embedded(*ARGS, MINI)
    shares = [embedded(*ARGS, "--shard", "%d/3" % i, MINI) for i in (1, 2, 3)]
    for i in (1, 2):
        expect_equal(b"".join(share[i].tobytes() for share in shares), whole[i].tobytes(), "rows of three shares")
    d = fresh()
    out, stem, given = os.path.join(d, "out.vcf"), os.path.join(d, "rows"), read(MINI).decode()
    broken = write(d, "in.vcf", "".join(given.splitlines(True)[:-12]) + "c1\tx\n")
    args = ("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, "--embeddings", stem + ".safetensors")
    carbon(*args, broken)
    expect_equal(sorted(os.listdir(d)), ["in.vcf", "out.vcf.partial"], "files of a failed run")
    write(d, "in.vcf", given)
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "-o", out, "--resume", broken), "embeddings")
    result = ok(*args, "--resume", "-v", 4, broken)
    expect("continuing" in result.err, "it began anew", result)
    found, _ = tensors(stem + ".safetensors")
    expect_equal([found[name].tobytes() for name in ("ref", "alt")], [array.tobytes() for array in whole[1:3]], "a continued run")
    expect_equal(read(out), whole[0], "output of a continued run")


@case
def files_say_what_made_them():
    stem = os.path.join(fresh(), "out")
    vep("-w", WINDOW, "--embeddings", stem + ".safetensors", MINI)
    _, metadata = tensors(stem + ".safetensors")
    expect("carbon_vepModel" in metadata and "carbon_vepCommand" in metadata, "metadata: %s" % sorted(metadata))
    vep("-w", WINDOW, "--no-version", "--embeddings", stem + ".npy", MINI)
    record = json.loads(read(stem + ".json"))
    expect_equal(list(record), ["carbon_vepModel"], "keys of the JSON")
    expect_equal(record["carbon_vepModel"]["Window"], str(WINDOW), "window")


@case
def the_documented_probe_judges_each_variant_by_the_others():
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise Skip("the Python package scikit-learn is not installed")
    rng = np.random.default_rng(5)
    d = fresh()
    stem, labels, n, hidden = os.path.join(d, "rows"), os.path.join(d, "labels.tsv"), 400, 6
    y = rng.integers(0, 2, n)
    ref = rng.normal(size=(n, hidden))
    alt = ref + rng.normal(size=(n, hidden)) + 2.0 * y[:, None] * np.eye(hidden)[1]  # the label is in one direction
    np.save(stem + ".npy", np.hstack([ref, alt]).astype("f4"))
    keys = [("c%d" % (i % 4), str(10 + i), "A", "C") for i in range(n)]
    write(d, "rows.variants.tsv", "#CHROM\tPOS\tID\tREF\tALT\trow\n" + "".join(
        "%s\t%s\t.\t%s\t%s\t%d\n" % (*key, i) for i, key in enumerate(keys)))
    write(d, "labels.tsv", "".join("\t".join(key) + "\t%d\n" % label for key, label in zip(keys, y) if key[1] != "17"))

    def auroc(*args):
        out = subprocess.run([sys.executable, PROBE, *args, stem, labels], capture_output=True, text=True, check=True).stdout
        found = {tuple(line.split("\t")[:4]): float(line.split("\t")[4]) for line in out.splitlines()}
        expect_equal(set(found), set(keys) - {("c3", "17", "A", "C")}, "variants with labels")
        ones, zeros = ([found[key] for key, label in zip(keys, y) if key in found and label == wanted] for wanted in (1, 0))
        return np.mean([(a > b) + (a == b) / 2 for a in ones for b in zeros])

    expect(auroc() > 0.85, "the probe does not find the direction")
    expect(0.5 < auroc("--undirected", "--blocks", "5") < 1, "a probe without direction")
    write(d, "labels.tsv", "".join("\t".join(key) + "\t%d\n" % label for key, label in zip(keys, rng.permutation(y)) if key[1] != "17"))
    expect(0.35 < auroc() < 0.65, "labels by chance are found: the probe has seen what it judges")


@case
def what_cannot_be_written_is_refused():
    d = fresh()
    taken = os.path.join(d, "out.npy")
    for args, words in ((("--embeddings", "out.txt"), ".safetensors or .npy"), (("--embeddings", ""), "empty"),
                        (("--embeddings", "x.npy", "--recipe", "next-token"), "centered"),
                        (("--embeddings", "x.npy", "--recipe", "centered,anchored"), "centered"),
                        (("--embeddings", os.path.join(d, "absent", "x.npy")), "x.npy"),
                        (("--embeddings", taken, "-o", taken, "-O", "v"), ("two outputs", "npy"))):
        expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, *args, MINI), words)
    expect_equal(os.listdir(d), [], "files that are left")
    other = fresh()
    rows, link = write(other, "rows.npy", ""), os.path.join(other, "out.vcf")
    os.symlink(rows, link)
    expect_failure(carbon("vep", "-m", model(), "-f", reference(), *ARGS, "--embeddings", rows, "-o", link, MINI), "two outputs")
    result = vep(*ARGS, "--embeddings", taken, "--cache", os.path.join(d, "cache"), MINI)
    expect("cache is not used" in result.err and not os.path.exists(os.path.join(d, "cache")), "a cache", result)
    vep(*ARGS, "--estimate", "--embeddings", os.path.join(d, "estimate.npy"), MINI)
    expect(not os.path.exists(os.path.join(d, "estimate.npy")), "an estimate wrote a file")


if __name__ == "__main__":
    main()
