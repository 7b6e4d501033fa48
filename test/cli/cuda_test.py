"""--device: what is said where there is no GPU, no driver or no library, and whole commands on an emulated GPU.

The emulated GPU (test/cuda_emulation) is a carbon-cuda.so of the same sources, in a folder of its own beside a copy of
the program, so that loading, choosing a device and running out of memory are the real thing."""
# Left out while unchanged: cuda

import os
import re
import shutil
import struct
import sys

from cuda_support import EMULATED, emulated, least_memory
from harness import (CARBON, DATA, MAKE_CHECKPOINT, Skip, carbon, case, command, data, expect, expect_close, expect_equal, expect_failure,
                     fresh, main, model, model_copy, read, to_fasta, write)

SEQUENCES = to_fasta([("s%d" % i, ("ACGTTGCAAC" * 40)[i:240 + 17 * i]) for i in range(4)])


def score(device, *more, run=carbon, env=None, **sizes):
    fasta = write(fresh(), "a.fa", SEQUENCES)
    return run("score", "-m", model(**sizes), "--device", device, *more, fasta, env=env)


def no_gpu_here():
    if os.path.exists("/dev/nvidiactl"):
        raise Skip("this machine has a GPU")


@case
def without_a_gpu_cuda_is_an_error():
    no_gpu_here()
    result = score("cuda")
    expect_failure(result, "--device cpu", ("driver", "GPU", "built without CUDA"))
    expect(result.out == b"", "nothing on stdout", result)


@case
def auto_is_the_cpu():
    result = score("auto", "-v", "4")
    expect(result.rc == 0, "expected rc 0", result)
    expect(any("--device cuda" in line for line in result.messages("I")), "a note on --device cuda", result)
    expect_equal(score("auto").out, score("cpu").out, "auto and cpu")


@case
def without_the_library():
    folder = fresh()
    shutil.copy(CARBON, folder)
    run = lambda *args, env=None: emulated(*args, env=env, folder=folder)
    expect_failure(score("cuda", run=run), "carbon-cuda.so", "built without CUDA", "--device cpu")
    expect(re.search(r"^CUDA no .*carbon-cuda.so", run("--version").text, re.M), "--version says so")
    write(folder, "carbon-cuda.so", b"no library")
    expect_failure(score("cuda", run=run), "cannot load", "carbon-cuda.so", "--device cpu")
    expect(run("--version").rc == 0, "--version works all the same")


@case
def with_the_library_of_another_build():
    folder = fresh()
    shutil.copy(CARBON, folder)
    with open(os.path.join(EMULATED, "carbon-cuda.so"), "rb") as f:
        library = f.read()
    changed, n = re.subn(rb"(\d+\.\d+\.\d+-\d+)-(\d+\.\d+\.\d+)\0", lambda m: m.group(1) + b"-" + b"9" * len(m.group(2)) + b"\0",
                         library)
    expect(n >= 1, "the stamp is in the library")
    write(folder, "carbon-cuda.so", changed)
    expect_failure(score("cuda", run=lambda *args, env=None: emulated(*args, env=env, folder=folder)), "another carbon")


@case
def names_of_devices():
    for name in ("gpu", "cuda:", "cuda:x", "cuda:-1", "cuda1", "CUDA"):
        expect_failure(score(name), name, "expected auto, cpu, cuda, cuda:N")
    expect_failure(score("cuda:1", run=emulated), "no GPU 1")


@case
def version_lists_gpus():
    text = emulated("--version", env={"CARBON_EMULATED_GPUS": "2"}).text
    expect(re.search(r"^CUDA 13\.0, sm_75 sm_80 sm_90$", text, re.M), "the library:\n" + text)
    expect_equal(re.findall(r"^GPU (cuda:\d) emulated GPU, sm_90", text, re.M), ["cuda:0", "cuda:1"], "GPUs")


@case
def switches():
    """Parts of the backend that the environment turns off: --version shows them, and the bytes stay unless the library goes."""
    text = emulated("--version", env={"CARBON_CUDA_GRAPHS": "0", "CARBON_CUDA_LIBRARY": "1", "CARBON_CUDA_OVERLAP": ""}).text
    expect(re.search(r"^CUDA 13\.0, sm_75 sm_80 sm_90, CARBON_CUDA_GRAPHS=0, CARBON_CUDA_LIBRARY=1$", text, re.M), "shown:\n" + text)
    whole = score("cuda", "-O", "tsv", run=emulated, head_dim=64)
    for name in ("CARBON_CUDA_OVERLAP", "CARBON_CUDA_GRAPHS"):
        expect_equal(score("cuda", "-O", "tsv", run=emulated, env={name: "0"}, head_dim=64).out, whole.out, name)
    # The emulated library is made to differ, so that the output would show its products.
    apart = {"CARBON_EMULATED_ERROR": "8192"}
    library = score("cuda", "-O", "tsv", run=emulated, env=apart, head_dim=64)
    own = score("cuda", "-O", "tsv", run=emulated, env={"CARBON_CUDA_LIBRARY": "0", **apart}, head_dim=64)
    expect(library.rc == 0 and own.rc == 0 and library.table() != own.table(), "products without the library", own)
    for value in ("2", "off", " 0"):
        wrong = {"CARBON_CUDA_GRAPHS": value}
        expect_failure(score("cuda", run=emulated, env=wrong), 'CARBON_CUDA_GRAPHS is "%s"' % value, "must be 0 (off) or 1 (on)")
        expect("must be 0 (off) or 1 (on)" in emulated("--version", env=wrong).text, "--version says so")


def expect_near(gpu, cpu, what, bound=0.1):
    """Tables of score -O tsv."""
    rows = [line.split("\t") for line in gpu.table()], [line.split("\t") for line in cpu.table()]
    expect_equal(len(rows[0]), len(rows[1]), "lines")
    for a, b in zip(*rows):
        expect_equal(a[:3], b[:3], "places")
        if not a[0].startswith("#"):
            # bf16 activations: a relative error of 2^-8 each, on logits of a few nats.
            expect_close(float(a[4]), float(b[4]), bound, what)


@case
def emulated_scores():
    cpu = score("cpu", "-O", "tsv", head_dim=64)
    for env in ({}, {"CARBON_EMULATED_SM": "75"}, {"CARBON_EMULATED_SM": "86"}):
        gpu = score("cuda", "-O", "tsv", run=emulated, env=env, head_dim=64)
        expect(gpu.rc == 0, "expected rc 0", gpu)
        warnings = [line for line in gpu.messages("W") if "checked by emulation only" in line]
        expect_equal(len(warnings), 1 if env else 0, "warnings that no GPU of this kind has run this yet")
        expect_near(gpu, cpu, "a score on sm %s" % env)


@case
def emulated_letters():
    """A model of one base a token."""
    sizes = dict(preset="marin", vocab=0, dna_start=-1, head_dim=64, layers=1, max_positions=256)
    gpu = score("cuda", "-O", "tsv", run=emulated, **sizes)
    expect(gpu.rc == 0, "expected rc 0", gpu)
    expect_near(gpu, score("cpu", "-O", "tsv", **sizes), "a score of letters")
    expect_equal(score("cuda", "-O", "tsv", "--batch-tokens", "50", run=emulated, **sizes).out, gpu.out, "--batch-tokens 50")
    fasta = write(fresh(), "a.fa", to_fasta([("s", "ACGTTGCAAC" * 3)]))
    drawn = [emulated("generate", "-m", model(**sizes), "--device", "cuda", "-l", "20", "-n", "3", "--seed", "5", "--batch-tokens", tokens,
                      fasta) for tokens in ("1", "100")]
    expect(drawn[0].rc == 0, "expected rc 0", drawn[0])
    expect_equal(drawn[0].out, drawn[1].out, "samples one by one")


@case
def f32_is_slow():
    for dtype, warned in (("f32", 1), ("bf16", 0)):
        result = score("cuda", "--dtype", dtype, run=emulated)
        warnings = [line for line in result.messages("W") if "without its tensor cores" in line and "--dtype bf16" in line]
        expect_equal(len(warnings), warned, "warnings of %s" % dtype)


@case
def f16():
    """On a GPU alone, nearer to f32 than bf16 may be, the same bytes for any batch, and named where bf16 is. It is never chosen, but
    recommended where bf16 is slow."""
    wide = score("cpu", "--dtype", "f32", "-O", "tsv", head_dim=64, layers=1)
    for sm in ("90", "75"):
        run = lambda *args, env=None, sm=sm: emulated(*args, env={"CARBON_EMULATED_SM": sm}, **({} if env is None else env))
        half = lambda *more: score("cuda", "--dtype", "f16", "-O", "tsv", *more, run=run, head_dim=64, layers=1)
        whole = half()
        expect(whole.rc == 0, "expected rc 0", whole)
        expect_near(whole, wide, "f16 on sm_" + sm, 0.1 / 8)
        expect_equal(half("--batch-tokens", "50").out, whole.out, "batches on sm_" + sm)
        for dtype, warned in (("f16", 0), ("auto", 1), ("f32", 1)):
            result = score("cuda", "--dtype", dtype, run=run, layers=1)
            told = [line for line in result.messages("W") if "f16 alone" in line and "--dtype f16" in line]
            expect_equal(len(told), warned if sm == "75" else 0, "recommendations for %s on sm_%s" % (dtype, sm))
        version = run("--version")
        expect_equal("tensor cores for --dtype f16 alone" in version.text, sm == "75", "--version on sm_" + sm)
    vcf = emulated("vep", "-m", model(), "--device", "cuda", "--dtype", "f16", "-w", "120", "-f", data("mini.fa"), data("mini.vcf"))
    expect(vcf.rc == 0 and "Dtype=f16,Device=\"cuda:sm_90x2:" in vcf.text, "the header names f16, and no library", vcf)
    for other in ("cpu", "auto"):
        expect_failure(score(other, "--dtype", "f16"), "cannot compute in f16", "--dtype bf16", "--device cuda")


@case
def emulated_batches():
    whole = score("cuda", "-O", "tsv", run=emulated, head_dim=64)
    expect(whole.rc == 0, "expected rc 0", whole)
    for tokens in ("1", "50", "100000"):
        expect_equal(score("cuda", "-O", "tsv", "--batch-tokens", tokens, run=emulated, head_dim=64).out, whole.out,
                     "--batch-tokens " + tokens)


@case
def emulated_embeddings():
    """The GPU adds states in their order and in double: a mean is exactly that of the states, however they are divided among passes."""
    fasta = write(fresh(), "a.fa", SEQUENCES)

    def embed(*more):
        result = emulated("embed", "-m", model(head_dim=64, layers=2), "--device", "cuda", "-O", "tsv", *more, fasta)
        expect(result.rc == 0, "expected rc 0", result)
        return [line.split("\t") for line in result.table() if not line.startswith("#")]

    exact = lambda x: struct.unpack("f", struct.pack("f", float(x)))[0]
    for layer in ([], ["--layer", "1"]):
        sums = {}
        for name, _, *states in embed("--pool", "none", *layer):
            n, before = sums.get(name, (0, [0.0] * len(states)))
            sums[name] = n + 1, [a + exact(b) for a, b in zip(before, states)]
        means = [[name] + [exact(a / n) for a in total] for name, (n, total) in sums.items()]
        for more in ([], ["--batch-tokens", "1"], ["--batch-tokens", "50"]):
            found = embed("--pool", "mean", *layer, *more)
            expect_equal([[row[0]] + [exact(x) for x in row[1:]] for row in found], means, " ".join(["means", *layer, *more]))


@case
def emulated_generation():
    fasta = write(fresh(), "a.fa", to_fasta([("s%d" % i, ("ACGTTGCAAC" * 9)[i:60 + 11 * i]) for i in range(2)]))
    sizes = dict(head_dim=64, hidden=64, layers=1)
    generate = lambda *more: emulated("generate", "-m", model(**sizes), "--device", "cuda", "-l", "40", "-n", "2", "--seed", "5",
                                      *more, fasta)
    alone = generate()
    expect(alone.rc == 0 and len(alone.lines()) >= 8, "four samples", alone)
    expect_equal(generate("--batch-tokens", "1").out, alone.out, "samples one by one")
    drafted = generate("--draft", model(**sizes), "--draft-tokens", "3")
    expect_equal(drafted.out, alone.out, "with a draft")
    expect(re.search(r"[1-9]\d* accepted", drafted.err), "accepted proposals", drafted)


@case
def emulated_draws():
    """What the device draws is what the host draws from the same logits. Top-k of all there are leaves everything in, but is
    the host's work."""
    sizes = dict(head_dim=64, hidden=64, layers=1)
    prompts = write(fresh(), "a.fa", to_fasta([("p%d" % i, ("ACGTTGCAAC" * 9)[i:30 + 7 * i]) for i in range(3)]
                                              + [("codes", "ACGTTGCAARYN")]))
    generate = lambda *more: emulated("generate", "-m", model(**sizes), "--device", "cuda", "-n", "2", "--seed", "5", *more, prompts)
    drafted = ("-l", "40", "--draft", model(seed=2, **sizes), "--draft-tokens", "2")
    codes = ("-l", "19", "--constraint", "RYNNKMWSACGTNNNNB", "--temperature", "0.8")
    for sampler, everything, runs in (("kmer", "4096", (("-l", "31"), ("-l", "2"), codes, drafted)), ("chain", "4", (codes,)),
                                      ("marginal", "4", (codes,))):
        for more in runs:
            more += ("--sampler", sampler)
            device = generate(*more)
            expect(device.rc == 0 and len(device.lines()) >= 16, "8 samples", device)
            expect_equal(device.out, generate("--top-k", everything, *more).out, "drawn by device and host: %s" % (more,))


@case
def emulated_draws_are_not_finite():
    broken = model_copy()
    content = bytearray(read(os.path.join(broken, "model.safetensors")))
    at = int.from_bytes(content[:8], "little") + 8
    content[at:at + 2] = b"\xc0\x7f"  # a NaN in the embedding of <dna>
    write(broken, "model.safetensors", bytes(content))
    prompt = write(fresh(), "a.fa", to_fasta([("s", "ACGTTGCAAC")]))
    for more in ((), ("--top-k", "4096")):
        result = emulated("generate", "-m", broken, "--device", "cuda", "-l", "40", *more, prompt)
        expect_failure(result, "non-finite logits", "new base 1 of s, sample 1")


@case
def devices_that_will_not_do():
    expect_failure(score("cuda", run=emulated, env={"CARBON_EMULATED_DRIVER": "0"}),
                   "there is no NVIDIA driver; install version 580 (CUDA 13.0) or newer", "--device cpu")
    expect_failure(score("cuda", run=emulated, env={"CARBON_EMULATED_DRIVER": "12040"}),
                   "the NVIDIA driver is one for CUDA 12.4, which is too old; install version 580 (CUDA 13.0) or newer", "--device cpu")
    expect_failure(score("cuda", run=emulated, env={"CARBON_EMULATED_GPUS": "0"}), "finds no GPU", "--device cpu")
    expect_failure(score("cuda", run=emulated, env={"CARBON_EMULATED_SM": "70"}), "sm_70", "--with-cuda-arch")
    expect(score("cuda", run=emulated, env={"CARBON_EMULATED_SM": "120"}).rc == 0, "PTX serves later kinds")


def bench(*args, env=None):
    return command([os.path.join(EMULATED, "bench_gpu"), *args], env={"CARBON_MAKE_CHECKPOINT": MAKE_CHECKPOINT,
                                                                      **(env or {})}, timeout=120)


@case
def bench_gpu_prints_a_table():
    result = bench("--model", "tiny", "--commit", "abc")
    expect(result.rc == 0, "expected rc 0", result)
    expect(re.search(r"^device: cuda:0 emulated GPU", result.text, re.M) and "commit: abc\n" in result.text, "heading", result)
    rows = [line.strip("| ").split(" | ") for line in result.lines() if line.startswith("| tiny")]
    expect_equal(len(rows), 8, "rows")
    # The tiny shape: a layer of width 64, 2 heads of 64 that share one of keys and values, 64 wide inside.
    weights = 64 * (2 * 128 + 2 * 64 + 3 * 64) + 4096 * 64
    sites = [row for row in rows if row[2].startswith("vep")]
    rows = [row for row in rows if not row[2].startswith("vep")]
    expect_equal([row[:2] for row in sites], [["tiny", "library"], ["tiny", "own"]], "rows of vep")
    # 2 sites on 2 strands: 20 tokens of which 11 go through the head, and 10 of the alternative behind 10 that are shared.
    keys, other, head = 64 * 2 * 64, 64 * (2 * 128 + 3 * 64), 4096 * 64
    operations = 4 * (2 * (30 * keys + 21 * (other + head)) + 4 * 128 * (sum(range(10, 21)) + sum(range(11, 21))))
    for row in sites:
        expect_close(float(row[3]) * 1e12 / operations, 1, 0.001, "operations of vep")
        expect_close(float(row[5]) * float(row[6]) / 1000 / 2, 1, 0.01, "variants a second")
    for row, (products, sequences, before, tokens) in zip(rows, [
            (products, *work) for products in ("library", "own") for work in ((4, 0, 20), (1, 64, 1), (3, 64, 1))]):
        expect_equal(row[:2], ["tiny", products], "which product")
        seen = sum(range(before + 1, before + tokens + 1))
        operations = sequences * (2 * weights * tokens + 4 * 128 * seen)
        expect_close(float(row[3]) * 1e12 / operations, 1, 0.001, "operations of " + row[2])
        moved = 2 * (weights + sequences * 2 * 64 * (before + tokens))
        expect_close(float(row[4]) * 1e9 / moved, 1, 0.001, "bytes of " + row[2])
        rate, ms, least, ratio = float(row[5]), float(row[6]), float(row[7]), float(row[8].split()[0])
        expect_close(rate * ms / 1000 / (sequences * tokens), 1, 0.01, "tokens a second")
        expect_close(ratio, least / ms, 0.01, "achieved / limit")


@case
def bench_gpu_in_f16_and_of_other_windows():
    works = lambda *args: [[cell.strip() for cell in line.split("|")[2:4]] for line in bench(*args, "--model", "tiny").lines()
                           if line.startswith("| tiny")]
    expect_equal(works("--dtype", "f16"), [["own, f16", work] for work in
                                           ("prefill, 4 windows of 20", "decode, batch 1", "decode, batch 3", "vep, windows of 20")], "f16")
    expect_equal(works("--window", "40"), [["library", "prefill, 2 windows of 40"], ["own", "prefill, 2 windows of 40"]], "windows")


@case
def bench_gpu_times_kernels():
    result = bench("--kernels", "--model", "tiny", env={"CARBON_CUDA_GRAPHS": "0"})
    expect(result.rc == 0 and "switches: CARBON_CUDA_GRAPHS=0\n" in result.text, "expected rc 0 and the switches", result)
    works = {}
    for line in result.lines():
        if line.startswith("| tiny"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            works.setdefault(cells[1], []).append(cells[2:])
    expect_equal([work.split(",")[0] for work in works], ["prefill", "decode", "decode"], "works")
    for work, rows in works.items():
        kernels, (everything, without) = rows[:-2], rows[-2:]
        expect_equal([everything[0], without[0]], ["all of them", "without events"], "the last rows of " + work)
        expect(len(kernels) >= 5 and all(float(row[1]) >= 1 for row in kernels), "kernels of " + work, result)
        expect_close(sum(float(row[2]) for row in kernels), float(everything[2]), 0.01 * float(everything[2]), "the sum of " + work)


@case
def bench_gpu_beside_transformers():
    # What a pipe ends in runs while it is written; the peer is to have the GPU for itself.
    python = write(fresh(), "python", '#!/bin/sh\ncase $1 in *peer_*) test -f /dev/stdin || echo together ;; esac\n'
                   'exec %s "$@"\n' % sys.executable)
    os.chmod(python, 0o755)
    run = lambda **env: command(["bench/gpu/run.sh", "--model", "tiny"], timeout=120, cwd=os.path.dirname(os.path.dirname(DATA)),
                                env={"BUILD": EMULATED, "CARBON_MAKE_CHECKPOINT": MAKE_CHECKPOINT, "PYTHON": python, **env})
    result = run()
    expect(result.rc == 0 and "together" not in result.text, "expected rc 0, and one program at a time", result)
    expect_equal(len([line for line in result.lines() if line.startswith("| tiny |")]), 8, "rows")
    errors = {line.split(" | ")[1]: float(line.split(" | ")[2]) for line in result.lines() if line.startswith("| tiny, 4 layers")}
    expect(0 < 2 * errors["carbon, f16"] < errors["carbon, bf16, own kernels"], "f16 is nearer to f32 than bf16", result)
    for what in ("transformers", "parity with transformers"):
        expect(re.search("^%s: SKIPPED: .*torch" % what, result.text, re.M), what + " is left out, and it says so", result)
    expect_equal(run(CARBON_EMULATED_GPUS="0").rc, 77, "exit status without a GPU")


@case
def bench_gpu_times_the_host():
    # No kernel is run, so that windows of the published length take no time here.
    result = bench("--host", "4", "--model", "tiny")
    expect(result.rc == 0, "expected rc 0", result)
    rows = [line.strip("| ").split(" | ") for line in result.lines() if line.startswith("| tiny")]
    expect_equal([row[1].split(", ")[0] for row in rows], ["prefill", "decode", "decode", "vep"], "rows")
    for row, (count, unit) in zip(rows, ((2, "window"), (1, "sequence"), (64, "sequence"), (1, "variant"))):
        expect(row[3].endswith(" a " + unit), "the unit of " + row[1])
        expect_close(float(row[2]) / float(row[3].split()[0]) / count, 1, 0.01, "times of " + row[1])


@case
def bench_gpu_refuses():
    expect_equal(bench(env={"CARBON_EMULATED_GPUS": "0"}).rc, 77, "exit status without a GPU")
    for args in (["--model", "7B"], ["--nonsense", "1"], ["--device"], ["--dtype", "f32"], ["--window", "0"]):
        result = bench(*args)
        expect(result.rc == 1 and args[-2 if args[-1] == "1" else -1] in result.err, "an error that names " + str(args), result)


def runs_out_of_memory(name):
    small = model(head_dim=64, hidden=64, layers=1)
    # Long enough to need more memory than the test of products while the model is loaded; and one sequence, because several are
    # one pass or another by when they were read.
    fasta = write(fresh(), "a.fa", to_fasta([("s", "ACGTTGCAAC" * 270)]))
    run = lambda env=None: emulated(name, "-m", small, "--device", "cuda", fasta, env=env)
    enough = run()
    expect(enough.rc == 0, "expected rc 0", enough)
    # With the least memory that will do a batch has been halved, and with less there is an error.
    _, _, least = least_memory(run, enough)
    expect(any(re.search(r"out of memory: going on with .* --batch-tokens \d+ ", line) for line in least.messages("W")), "a halved batch",
           least)
    expect(not any("out of memory" in line for line in enough.messages("W")), "no warning with enough", enough)


@case
def out_of_memory():
    runs_out_of_memory("score")
    runs_out_of_memory("embed")


@case
def out_of_memory_while_drawing():
    """Where memory is enough for all but the draws, the samples that were to be drawn are not forgotten."""
    small = model(head_dim=64, hidden=64, layers=1)
    prompt = write(fresh(), "a.fa", to_fasta([("s", "ACGTTG")]))
    run = lambda env=None: emulated("generate", "-m", small, "--device", "cuda", "--batch-tokens", "128", "-n", "500", "-l", "6",
                                    prompt, env=env)
    enough = run()
    expect(enough.rc == 0 and len(enough.lines()) == 1000, "500 samples", enough)
    least_memory(run, enough)


@case
def out_of_memory_while_generating():
    """Samples that do not fit beside the others give their keys and values up and go on later; and what is enough is enough
    with more memory, of which keys and values must not take what activations need. Prompts and what is drawn
    are computed in two classes, which are made to differ so much that the output would show one for the other."""
    large = model(hidden=32, layers=1, heads=8, kv_heads=8, head_dim=64, intermediate=16)  # 128 KiB a page of 64 tokens
    # 60 tokens: the page is full when four 6-mers have been drawn, and then every sample needs another.
    prompt = write(fresh(), "a.fa", to_fasta([("s", "ACGTTGCAACGG" * 29 + "ACGTTG")]))
    small = model(head_dim=64, hidden=64, layers=1)
    for more, memories in (((), (40, 49, 64, 76)), (("--draft", small, "--draft-tokens", "2"), (90, 94, 118, 150))):
        run = lambda env: emulated("generate", "-v", "4", "-m", large, "--device", "cuda", "--batch-tokens", "512", "-n", "12",
                                   "-l", "36", prompt, *more, env={"CARBON_EMULATED_ERROR": "8192", **env})
        enough = run({})
        expect(enough.rc == 0 and "wait for memory" not in enough.err, "all samples at a time", enough)
        waited = 0
        for memory in memories:
            result = run({"CARBON_EMULATED_MEMORY": str(memory << 16)})
            expect(result.rc == 0, "expected rc 0", result)
            expect_equal(result.out, enough.out, "with %d bytes" % (memory << 16))
            waited += "out of memory: going on with" in result.err and "wait for memory" in result.err
        expect(waited > 0, "samples that waited", result)


main()
