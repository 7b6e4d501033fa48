"""carbon embed: what it writes, read back by numpy and by others, against its own definition."""

import json
import os
import signal
import struct
import subprocess

import numpy as np

from harness import (CARBON, ENV, Skip, bgzip, carbon, case, data, decompress, expect, expect_equal, expect_failure, fresh,
                     genome, is_bgzf, main, model, model_copy, ok, own_errors, peak_memory, read, reverse_complement,
                     to_fasta, tree, write)

HIDDEN, LAYERS = 32, 2
NAMES = "#name\tfirst_row\trows"
POOLS = ("separator", "last", "mean", "none")


def fasta(*records):
    return write(fresh(), "in.fa", to_fasta(records))


def parse_safetensors(content):
    """The only tensor of a file, by the format's description."""
    length, = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    expect_equal(list(header), ["__metadata__", "embeddings"], "tensors")
    entry, body = header["embeddings"], content[8 + length:]
    expect_equal(entry["data_offsets"], [0, len(body)], "offsets")
    expect((8 + length) % 8 == 0 and content[8:9] == b"{", "the header's place")
    return np.frombuffer(body, {"F32": "<f4", "F16": "<f2"}[entry["dtype"]]).reshape(entry["shape"])


def names_of(stem):
    lines = read(stem + ".names.tsv").decode().splitlines()
    expect_equal(lines[0], NAMES, "header of the names")
    return [(name, int(first), int(count)) for name, first, count in (line.split("\t") for line in lines[1:])]


def embed(*args, **options):
    """Names and matrix of a run that writes npy."""
    stem = os.path.join(fresh(), "out")
    ok("embed", "-m", model(), "-O", "npy", "-o", stem, *args, **options)
    return names_of(stem), np.load(stem + ".npy")


def table(*args, **options):
    """Header, and rows as (key columns, values), of a run that writes a table."""
    lines = [line.split("\t") for line in ok("embed", "-m", model(), *args, **options).table()]
    keys = 2 if lines[0][1] == "kmer" else 1
    expect_equal(lines[0][keys:], ["e%d" % i for i in range(HIDDEN)], "columns")
    return [(tuple(line[:keys]), np.array(line[keys:], "f4")) for line in lines[1:]]


def same(got, wanted, what):
    expect(got.shape == wanted.shape and got.dtype == wanted.dtype, "%s: %s and %s" % (what, got.shape, wanted.shape))
    expect(got.tobytes() == wanted.tobytes(), what + ": other bytes")


@case
def every_format_holds_the_same_numbers():
    path = data("mini.fa")
    for pool in POOLS:
        for dtype in ("f32", "f16"):
            args = ("--pool", pool, "--dtype-out", dtype, path)
            names, matrix = embed(*args)
            expect_equal(matrix.dtype, np.dtype("<f4" if dtype == "f32" else "<f2"), "type")
            expect_equal(matrix.shape[1], HIDDEN, "columns")
            out = os.path.join(fresh(), "x.safetensors")
            ok("embed", "-m", model(), "-o", out, *args)
            same(parse_safetensors(read(out)), matrix, "safetensors, " + pool)
            expect_equal(names_of(out[:-len(".safetensors")]), names, "names")
            rows = table(*args)
            same(np.array([values for _, values in rows]).astype(matrix.dtype), matrix, "table, " + pool)
            keys = [(name, str(i)) if pool == "none" else (name,) for name, _, count in names for i in range(count)]
            expect_equal([key for key, _ in rows], keys, "names of the table")


@case
def numpy_maps_the_file():
    stem = os.path.join(fresh(), "out")
    ok("embed", "-m", model(), "-o", stem + ".npy", "--pool", "none", data("mini.fa"))
    mapped = np.load(stem + ".npy", mmap_mode="r")
    expect(isinstance(mapped, np.memmap) and mapped.flags["C_CONTIGUOUS"] and mapped.flags["ALIGNED"], "the layout")
    same(np.asarray(mapped), np.load(stem + ".npy"), "mapped")
    expect_equal(os.path.getsize(stem + ".npy"), 128 + mapped.nbytes, "size of the file")


@case
def the_safetensors_package_reads_the_file():
    try:
        from safetensors.numpy import load_file
    except ImportError:
        raise Skip("the Python package safetensors is not installed")
    out = os.path.join(fresh(), "x.safetensors")
    for dtype in ("f32", "f16"):
        ok("embed", "-m", model(), "-o", out, "--dtype-out", dtype, data("mini.fa"))
        tensors = load_file(out)
        expect_equal(list(tensors), ["embeddings"], "tensors")
        same(tensors["embeddings"], parse_safetensors(read(out)), dtype)


@case
def pandas_reads_the_tables():
    try:
        import pandas
    except ImportError:
        raise Skip("the Python package pandas is not installed")
    d, (names, matrix) = fresh(), embed(data("mini.fa"))
    ok("embed", "-m", model(), "-o", d + "/x.tsv", data("mini.fa"))
    frame = pandas.read_csv(d + "/x.tsv", sep="\t", skiprows=1, index_col=0, dtype={"e%d" % i: "f4" for i in range(HIDDEN)},
                            float_precision="round_trip")
    expect_equal(list(frame.index), [name for name, _, _ in names], "index")
    same(frame.to_numpy(), matrix, "values")
    ok("embed", "-m", model(), "-o", d + "/x.npy", data("mini.fa"))
    frame = pandas.read_csv(d + "/x.names.tsv", sep="\t")
    expect_equal([tuple(row) for row in frame.itertuples(index=False)], names, "names")


@case
def pools_are_of_the_same_rows():
    g = genome()
    for layer in ("-1", "1", "2"):
        every_names, every = embed("--layer", layer, "--pool", "none", data("mini.fa"))
        expect_equal(every_names, [("c1", 0, 100), ("c2", 100, 30), ("tiny", 130, 1)], "a row for each 6-mer")
        names, last = embed("--layer", layer, "--pool", "last", data("mini.fa"))
        expect_equal(names, [(name, i, 1) for i, name in enumerate(g)], "a row for each sequence")
        same(last, every[[99, 129, 130]], "last")
        _, mean = embed("--layer", layer, "--pool", "mean", data("mini.fa"))
        for row, (_, first, count) in zip(mean, every_names):
            total = np.zeros(HIDDEN)
            for values in every[first:first + count]:
                total += values
            same(row, (total / count).astype("f4"), "mean")
        _, separator = embed("--layer", layer, data("mini.fa"))
        expect(not np.array_equal(separator, last), "the separator's row is the last 6-mer's")


@case
def layers_differ_and_the_default_is_the_last_norm():
    rows = {layer: embed("--layer", layer, data("mini.fa"))[1] for layer in ("-1", "1", "2")}
    same(embed(data("mini.fa"))[1], rows["-1"], "default")
    same(embed("--layer=-1", "--pool", "separator", data("mini.fa"))[1], rows["-1"], "default, said")
    expect(len({matrix.tobytes() for matrix in rows.values()}) == 3, "layers hardly differ")
    # The final norm of the residual stream: rows of mean square 1 before its weights, which are 1 within a tenth.
    scaled = rows["2"] / np.sqrt(np.mean(rows["2"].astype("f8") ** 2, axis=1, keepdims=True))
    weights = rows["-1"] / scaled
    expect(np.ptp(weights, axis=0).max() < 1e-3 and 0.85 < weights.min() and weights.max() < 1.15, "no RMS norm")
    for layer in ("0", "3", "-2"):
        expect_failure(carbon("embed", "-m", model(), "--layer", layer, data("mini.fa")), "layer " + layer, "1 to 2", "--layer")


@case
def tails_are_cut_or_padded():
    bases = genome()["c1"]
    for length in (6, 11, 12, 13, 17):
        _, cut = embed(fasta(("a", bases[:length])))
        same(cut, embed(fasta(("a", bases[:length // 6 * 6])))[1], "%d bases" % length)
        whole = bases[:length] + "A" * (-length % 6)
        _, padded = embed("--pad-tail", fasta(("a", bases[:length])))
        same(padded, embed(fasta(("a", whole)))[1], "%d bases, padded" % length)
        expect_equal(embed("--pad-tail", "--pool", "none", fasta(("a", bases[:length])))[0], [("a", 0, len(whole) // 6)], "rows")
    same(embed(fasta(("a", "acgtRnACGTAC")))[1], embed(fasta(("a", "ACGTNNACGTAC")))[1], "case and foreign letters")


@case
def sequences_without_a_6mer():
    for bases in ("", "ACGTA"):
        path = write(fresh(), "in.fa", ">good\nACGTAC\n>bad\n%s\n>other\nACGTAC\n" % bases)
        names, matrix = embed(path)
        expect_equal([name for name, _, _ in names], ["good", "bad", "other"], "names")
        expect(np.isfinite(matrix).all(), "the row of <dna></dna>")
        expect_equal(embed("--pool", "none", path)[0], [("good", 0, 1), ("bad", 1, 0), ("other", 1, 1)], "rows")
        for pool in ("last", "mean"):
            expect_failure(carbon("embed", "-m", model(), "--pool", pool, path), "sequence bad of %d bp" % len(bases))
    names, matrix = embed("--pool", "none", write(fresh(), "in.fa", ">a\n>b\nACG\n"))
    expect_equal((names, matrix.shape), ([("a", 0, 0), ("b", 0, 0)], (0, HIDDEN)), "no rows at all")
    expect_equal(embed("--pool", "mean", "--pad-tail", fasta(("a", "ACGTA")))[0], [("a", 0, 1)], "padded")


@case
def strands():
    path, g = data("mini.fa"), genome()
    turned = fasta(*[(name, reverse_complement(bases)) for name, bases in g.items()])
    for pool in POOLS:
        for tail in ([], ["--pad-tail"]):
            _, forward = embed("--pool", pool, *tail, path)
            _, reverse = embed("--pool", pool, *tail, "--strand", "-", path)
            same(reverse, embed("--pool", pool, *tail, turned)[1], "the reverse complement, " + pool)
            if pool != "none":
                names, both = embed("--pool", pool, *tail, "--strand", "both", path)
                same(both, ((forward.astype("f8") + reverse) / 2).astype("f4"), "mean of the strands, " + pool)
                expect_equal([count for _, _, count in names], [1, 1, 1], "rows")
    expect_failure(carbon("embed", "-m", model(), "--pool", "none", "--strand", "both", path), "--strand both", "--pool none")


@case
def regions():
    path, g = data("mini.fa"), genome()
    d = os.path.dirname(path)
    wanted_names, wanted = embed(fasta(("a", g["c1"][100:200]), ("b", g["tiny"]), ("c", g["c1"][0:12])))
    names, matrix = embed("-r", "c1:101-200", "-r", "tiny", "-r", "c1:-12", path)
    expect_equal([name for name, _, _ in names], ["c1:101-200", "tiny:1-7", "c1:1-12"], "names")
    expect_equal([n[1:] for n in names], [n[1:] for n in wanted_names], "rows")
    same(matrix, wanted, "regions")
    bed = write(d, "r.bed", "c1\t100\t200\ntiny\t0\t7\nc1\t0\t12\n")
    same(embed("-R", bed, path)[1], wanted, "BED")
    same(embed("-R", bed, bgzip(path))[1], wanted, "BED and bgzip")
    expect_failure(carbon("embed", "-m", model(), "-r", "c1", path, path), "one indexed FASTA")
    expect_failure(carbon("embed", "-m", model(), "-r", "nowhere", path), "nowhere")


@case
def names_are_kept():
    path = fasta(("x", "ACGTAC"), ("x", "ACGTAC"), ("y;z|1", "TTTTTT"), ("x", "GGGGGG"))
    names, matrix = embed(path, data("mini.fa"))
    expect_equal([name for name, _, _ in names], ["x", "x", "y;z|1", "x", "c1", "c2", "tiny"], "names")
    same(matrix[0], matrix[1], "equal sequences")
    expect(not np.array_equal(matrix[0], matrix[3]), "different sequences of one name")


@case
def ways_in():
    path = data("mini.fa")
    wanted = ok("embed", "-m", model(), path).out
    expect_equal(ok("embed", "-m", model(), bgzip(path)).out, wanted, "bgzip")
    for args in (["-"], []):
        expect_equal(ok("embed", "-m", model(), *args, stdin=read(path)).out, wanted, "standard input")


@case
def memory_layout_changes_nothing():
    records = [("r%d" % i, genome()["c1"][i * 7:i * 7 + 5 + i * 13]) for i in range(30)]
    path = fasta(*records)
    for args in (["--pool", "mean"], ["--pool", "none", "--layer", "1"], ["--dtype", "f32"], ["--strand", "both", "--layer", "2"]):
        args = ["--pad-tail", *args]
        names, wanted = embed(*args, path)
        for threads in ("1", "2"):
            for tokens in ("1", "50", "4096"):
                more = ("-@", threads, "--batch-tokens", tokens)
                got = embed(*args, *more, path)
                expect_equal(got[0], names, "names, " + " ".join(more))
                same(got[1], wanted, " ".join(args) + " " + " ".join(more))
        backwards = embed(*args, fasta(*records[::-1]))
        for name, first, count in names:
            at = next(n for n in backwards[0] if n[0] == name)
            same(backwards[1][at[1]:at[1] + at[2]], wanted[first:first + count], "among other neighbours: " + name)
    for name, bases in (records[3], records[29]):
        at = [n for n, _ in records].index(name)
        same(embed("--pad-tail", fasta((name, bases)))[1][0], embed("--pad-tail", path)[1][at], "alone: " + name)


@case
def half_precision_is_numpys():
    for pool in POOLS:
        full, half = (embed("--pool", pool, "--dtype-out", dtype, data("mini.fa"))[1] for dtype in ("f32", "f16"))
        same(half, full.astype("<f2"), pool)


def checkpoint_with_embedding(value):
    """The harness's checkpoint with one element of every 6-mer's embedding set."""
    path = model_copy()
    content = bytearray(read(path + "/model.safetensors"))
    length, = struct.unpack("<Q", content[:8])
    entry = json.loads(content[8:8 + length])["model.embed_tokens.weight"]
    begin = 8 + length + entry["data_offsets"][0]
    bits = struct.pack("<f", value)[2:]  # bfloat16
    for row in range(entry["shape"][0]):
        at = begin + 2 * HIDDEN * row
        content[at:at + 2] = bits
    write(path, "model.safetensors", content)
    return path


@case
def numbers_that_no_file_should_hold():
    d, path = fresh(), fasta(("first", "ACGTAC"))
    before = tree(d)
    for value, args, words in ((float("nan"), [], ["non-finite", "first"]), (1e30, ["--layer", "1", "--dtype-out", "f16"], ["f16", "first"])):
        checkpoint = checkpoint_with_embedding(value)
        for kind in ("tsv", "npy", "safetensors"):
            expect_failure(carbon("embed", "-m", checkpoint, *args, "-O", kind, "-o", d + "/x", path), *words)
            expect_equal(tree(d), before, "files after the failure")


@case
def the_context_is_a_limit():
    small = model(max_positions=12)
    fits, too_long = "ACGTAC" * 10, "ACGTAC" * 11
    for pool in POOLS:
        ok("embed", "-m", small, "--pool", pool, fasta(("a", fits + "ACGTA")))
        expect_failure(carbon("embed", "-m", small, "--pool", pool, fasta(("a", fits), ("long", too_long))), "sequence long of 66 bp",
                       "context has 12", "60 bp")
    expect_failure(carbon("embed", "-m", small, "--pad-tail", fasta(("a", fits + "A"))), "sequence a of 61 bp")
    ok("embed", "-m", small, "--rope-scaling", "yarn:2", fasta(("a", too_long)))
    _, pieces = embed("--pool", "mean", "--batch-tokens", "64", fasta(("a", genome()["c1"] * 40)))
    same(pieces, embed("--pool", "mean", fasta(("a", genome()["c1"] * 40)))[1], "a long one in pieces")


@case
def suffixes_and_kinds():
    path, d = data("mini.fa"), fresh()
    for args, wanted in ((["-O", "npy", "-o", "a"], ["a.json", "a.names.tsv", "a.npy"]), (["-O", "npy", "-o", "a.npy"], ["a.json", "a.names.tsv", "a.npy"]),
                         (["-o", "a.npy"], ["a.json", "a.names.tsv", "a.npy"]), (["-O", "safetensors", "-o", "a.b"], ["a.b.names.tsv", "a.b.safetensors"]),
                         (["-o", "a.safetensors"], ["a.names.tsv", "a.safetensors"]), (["-o", "a.txt"], ["a.txt"]),
                         (["-O", "tsv", "-o", "a.tsv"], ["a.tsv"]), (["-O", "npy", "-o", "a.txt"], ["a.txt.json", "a.txt.names.tsv", "a.txt.npy"])):
        d = fresh()
        ok("embed", "-m", model(), *args, path, cwd=d)
        expect_equal(sorted(os.listdir(d)), wanted, " ".join(args))
    d = fresh()
    ok("embed", "-m", model(), "-o", d + "/a.tsv.gz", path)
    expect(is_bgzf(read(d + "/a.tsv.gz")), "the .gz table is not BGZF")
    expect_equal(decompress(read(d + "/a.tsv.gz")), ok("embed", "-m", model(), path).out, "compressed table")


@case
def outputs_without_a_beginning():
    path, d = data("mini.fa"), fresh()
    os.mkfifo(d + "/fifo")
    os.symlink("/dev/full", d + "/link.npy")
    before = tree(d)
    for args in (["-O", "npy"], ["-O", "npy", "-o", "-"], ["-O", "npy", "-o", "/dev/stdout"], ["-O", "safetensors", "-o", d + "/fifo"],
                 ["-o", d + "/link.npy"], ["-O", "npy", "-o", "/dev/null"], ["-O", "npy", "-o", d + "/"]):
        expect_failure(carbon("embed", "-m", model(), *args, path), "-O tsv")
    expect_equal(tree(d), before, "files")
    expect_failure(carbon("embed", "-m", model(), "-o", "/dev/full", path), "No space left")
    expect_failure(carbon("embed", "-m", model(), "-O", "npy", "-o", d + "/no/such/x", path), "No such file")


@case
def a_failed_run_leaves_what_was_there():
    d, path = fresh(), write(fresh(), "in.fa", ">bad\nACG!AC\n>a\nACGTAC\n")  # what comes before a bad one is kept
    ok("embed", "-m", model(), "-o", d + "/x.npy", data("mini.fa"))  # the table of names is one of embed
    os.remove(d + "/x.json")
    for name in ("x.npy", "y.tsv"):
        write(d, name, "old\n")
    before, names = tree(d), read(d + "/x.names.tsv")
    expect_failure(carbon("embed", "-m", model(), "-o", d + "/x.npy", path), "in.fa:2")
    expect_failure(carbon("embed", "-m", model(), "-o", d + "/y.tsv", path), "in.fa:2")
    expect_equal(tree(d), before, "files")
    expect_equal({read(d + "/" + name) for name in ("x.npy", "y.tsv")}, {b"old\n"}, "contents")
    expect_equal(read(d + "/x.names.tsv"), names, "the names")
    # A directory in the way of the names: the matrix does not appear either.
    os.remove(d + "/x.names.tsv")
    os.mkdir(d + "/x.names.tsv")
    expect_failure(carbon("embed", "-m", model(), "-o", d + "/x.npy", data("mini.fa")), "x.names.tsv")
    expect_equal(read(d + "/x.npy"), b"old\n", "the matrix")
    expect_equal(sorted(os.listdir(d)), ["x.names.tsv", "x.npy", "y.tsv"], "files")


@case
def a_disk_that_is_full():
    d, path = fresh(), fasta(*[("r%d" % i, genome()["c1"]) for i in range(40)])
    for kind in ("npy", "safetensors", "tsv"):
        def limited():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        done = subprocess.run([CARBON, "embed", "-m", model(), "--pool", "none", "-O", kind, "-o", d + "/x", path], env=ENV,
                              stderr=subprocess.PIPE, preexec_fn=limited, restore_signals=False)
        expect(done.returncode == 1 and b"File too large" in done.stderr, "rc %d: %r" % (done.returncode, done.stderr))
        # A table has a sequence that is complete by then.
        left = ["x.partial", "x.partial.state"] if kind == "tsv" and b"continue with --resume" in done.stderr else []
        expect_equal(sorted(os.listdir(d)), left, "files")
        for name in left:
            os.remove(os.path.join(d, name))


@case
def memory_does_not_grow_with_the_number_of_sequences():
    rng = np.random.RandomState(1)
    bases = "".join(np.array(list("ACGT"))[rng.randint(0, 4, 60000)])
    peaks = []
    for count in (2000, 20000):
        path = fasta(*[("read%d" % i, bases[i:i + 12]) for i in range(count)])
        out = os.path.join(fresh(), "x.npy")
        peaks.append(peak_memory("embed", "-q", "-m", model(layers=1), "-o", out, path))
        expect_equal(np.load(out, mmap_mode="r").shape, (count, HIDDEN), "shape")
    expect(peaks[1] < peaks[0] + 6000, "%d KiB for 2,000 sequences, %d KiB for 20,000" % tuple(peaks))


@case
def progress_is_on_stderr():
    result = ok("embed", "-m", model(), "--progress", "always", data("mini.fa"))
    expect(result.out == ok("embed", "-m", model(), data("mini.fa")).out and not own_errors(result), "output", result)


if __name__ == "__main__":
    main()
