"""--device cuda:N,N...: the bytes of one GPU on two and three emulated ones, stopped and resumed, and what is refused."""
# Left out while unchanged: cuda src/vep/run.cpp src/serve

import concurrent.futures
import os
import signal
import subprocess
import threading
import time

from cuda_support import EMULATED, emulated, least_memory
from harness import (ENV, case, data, expect, expect_equal, expect_failure, fresh, genome, main, model,
                     read, to_fasta, write)
from serve_support import Server
from vep_support import HEAD, MINI, OTHER

SIZES = dict(head_dim=64, hidden=64, layers=1)
SEQUENCES = to_fasta([("s%d" % i, ("ACGTTGCAACGGATC" * 40)[i:30 + 37 * i]) for i in range(8)])
VEP = ("--recipe", "centered,next-token", "-w", "48", "--context", "60", "--no-version")


def run(name, device, *args, env=None):
    """One that must succeed; small batches, so that there are many."""
    result = emulated(name, "-m", model(**SIZES), "--device", device, "--batch-tokens", "40", *args,
                      env={"CARBON_EMULATED_GPUS": "3", **(env or {})})
    expect(result.rc == 0, "expected rc 0", result)
    return result


def several(device, name="score", env=None):
    fasta = (write(fresh(), "a.fa", SEQUENCES),) if name == "score" else ()
    return emulated(name, "-m", model(**SIZES), "--device", device, *fasta, env={"CARBON_EMULATED_GPUS": "2", **(env or {})})


@case
def sequences_have_the_bytes_of_one_gpu():
    fasta = write(fresh(), "a.fa", SEQUENCES)
    for name, *args in (("score", "-O", "tsv", "--strand", "both", "--window", "120", "--stride", "60"), ("embed",),
                           ("embed", "--pool", "none")):
        one = run(name, "cuda", *args, fasta)
        for device in ("cuda:0,1", "cuda:2,0,1"):
            result = run(name, device, "-v", "4", *args, fasta)
            expect_equal(result.out, one.out, "%s on %s" % (name, device))
            loaded = [line for line in result.messages("I") if "of them" in line]
            expect(len(loaded) == 1 and "%d of them" % device.count(",") not in loaded[0], "how many GPUs", result)
            expect_equal(result.messages("W"), [], "warnings of GPUs of a kind that has been checked")


@case
def samples_have_the_bytes_of_one_gpu():
    fasta = write(fresh(), "a.fa", SEQUENCES)
    for samples in ("1", "3"):
        args = ("-l", "20", "-n", samples, "--seed", "5", fasta)
        one = run("generate", "cuda", *args).out
        expect_equal(one.count(b">"), 8 * int(samples), "samples")
        for more in ((), ("--draft", model(**SIZES), "--draft-tokens", "2")):
            expect_equal(run("generate", "cuda:0,1", *more, *args).out, one, "%s samples, %s" % (samples, more))
    one = run("generate", "cuda", "--unconditional", "-l", "20", "-n", "7").out
    expect_equal(run("generate", "cuda:0,1,2", "--unconditional", "-l", "20", "-n", "7").out, one, "--unconditional")


@case
def variants_and_their_cache_have_the_bytes_of_one_gpu():
    fasta, cache = data("mini.fa"), os.path.join(fresh(), "cache")
    one = run("vep", "cuda", *VEP, "-f", fasta, MINI).out
    for attempt in ("no cache", "empty cache", "full cache"):
        more = () if attempt == "no cache" else ("--cache", cache)
        result = run("vep", "cuda:0,1", "-v", "4", *more, *VEP, "-f", fasta, MINI)
        expect_equal(result.out, one, attempt)
    words = [line for line in result.messages("I") if "cache: " in line][0].split("cache: ")[1].split()
    expect(words[0] == words[2] != "0", "two GPUs find what two GPUs have left", result)
    result = run("vep", "cuda", "-v", "4", "--cache", cache, *VEP, "-f", fasta, MINI)
    expect_equal(result.out, one, "one GPU with the cache of two")
    expect(any("cache: %s of %s" % (words[0], words[0]) in line for line in result.messages("I")), "all found", result)


@case
def a_server_has_the_answers_of_one_gpu():
    """Requests that arrive together, so that both GPUs have some."""
    dna = ["ACGTTGCAACGGATC"[i:] * (2 + i) for i in range(4)]
    asked = [("/v1/completions", {"prompt": "<dna>" + s, "max_tokens": 3, "seed": i, "logprobs": 2, "n": 1 + i % 2}) for i, s in enumerate(dna)]
    asked += [("/v1/dna/score", {"sequences": [s]}) for s in dna] + [("/v1/embeddings", {"input": "<dna>" + s}) for s in dna]

    def answers(device):
        with Server("-m", model(**SIZES), "--device", device, "--batch-tokens", "40", env={"CARBON_EMULATED_GPUS": "2"},
                    program=os.path.join(EMULATED, "carbon")) as server:
            with concurrent.futures.ThreadPoolExecutor(len(asked)) as pool:
                found = list(pool.map(lambda request: server.ask("POST", *request, timeout=110), asked))
        for answer, request in zip(found, asked):
            expect(answer.status == 200, "%s: %d %s" % (request, answer.status, answer.body))
        return [{k: v for k, v in answer.json.items() if k not in ("id", "created")} for answer in found]

    one, two = answers("cuda"), answers("cuda:0,1")
    for request, a, b in zip(asked, one, two):
        expect_equal(b, a, "%s %s" % request)


def scored(path):
    """Bytes behind the first line of FILE.partial."""
    content = read(path) if os.path.exists(path) else b""
    return len(content) - content.find(b"\n") if b"\n" in content else 0


def feed(pipe, content):
    """Until the reader ends."""
    try:
        pipe.write(content)
    except BrokenPipeError:
        pass


def stopped_run(directory, fasta, vcf):
    """Starts vep on two GPUs, on a pipe that stays open, and stops it when some records are scored."""
    out = os.path.join(directory, "out.vcf")
    process = subprocess.Popen(
        [os.path.join(EMULATED, "carbon"), "vep", "-m", model(**SIZES), "--device", "cuda:0,1", "--batch-tokens", "40", "-q",
         *VEP, "-f", fasta, "-o", out, "-"],
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, env={**ENV, "CARBON_EMULATED_GPUS": "2"})
    threading.Thread(target=feed, args=(process.stdin, read(vcf)), daemon=True).start()
    deadline = time.monotonic() + 60
    while scored(out + ".partial") < 5 * 44:  # an entry has 44 bytes or more
        expect(process.poll() is None and time.monotonic() < deadline, "no records were scored: rc %r" % process.poll())
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    err = process.stderr.read().decode()
    expect_equal(process.wait(timeout=60), 143, "exit status\n" + err)
    process.stdin.close()
    process.stderr.close()
    return out


@case
def stopped_on_two_and_resumed_on_one_or_three():
    fasta, bases = data("mini.fa"), genome()["c1"]
    # Long, so that a part of the records comes out of a pipe that stays open.
    lines = ["c1\t%d\t%s\t%s\t%s\t.\t.\t.\n" % (pos, "x" * 10000, bases[pos - 1], OTHER[bases[pos - 1]])
             for pos in range(100, 140)]
    vcf = write(fresh(), "in.vcf", HEAD % "##contig=<ID=c1>\n" + "".join(lines))
    one = os.path.join(fresh(), "out.vcf")
    run("vep", "cuda", *VEP, "-f", fasta, "-o", one, vcf)
    for device in ("cuda", "cuda:0,1,2"):
        directory = fresh()
        out = stopped_run(directory, fasta, vcf)
        expect_equal(os.listdir(directory), ["out.vcf.partial"], "files after SIGTERM")
        result = run("vep", device, *VEP, "--resume", "-f", fasta, "-o", out, vcf)
        expect("continuing" in result.err, "scores of the first run are used", result)
        expect_equal(read(out), read(one), "resumed on " + device)
        expect_equal(os.listdir(directory), ["out.vcf"], "files at the end")


@case
def memory_that_runs_out_on_one_gpu():
    """The second one has just enough for single sequences; then not even for the probe that compares the GPUs before a run."""
    fasta = write(fresh(), "a.fa", to_fasta([("s%d" % i, ("ACGTTGCAACGGATC" * 50)[i:600 + i]) for i in range(6)]))
    args = ("score", "-m", model(**SIZES), "--batch-tokens", "200")

    def on_two(env, *more):
        memory = "%d,%s" % (1 << 30, env["CARBON_EMULATED_MEMORY"])
        return emulated(*args, "--device", "cuda:0,1", *more, fasta,
                        env={"CARBON_EMULATED_GPUS": "2", "CARBON_EMULATED_MEMORY": memory})

    enough = emulated(*args, "--device", "cuda", fasta)
    fails, _, least = least_memory(on_two, enough, tolerance=1 << 16)
    expect("out of memory: going on with" in least.err, "a halved batch", least)
    out = os.path.join(fresh(), "out.tsv")
    result = on_two({"CARBON_EMULATED_MEMORY": str(fails)}, "-o", out)
    expect_failure(result, "out of memory", "GPU memory")
    left = os.listdir(os.path.dirname(out))
    expect("out.tsv" not in left, "an output", result)
    # What one GPU had computed before the other failed is kept, if there was anything.
    expect_equal(bool(left), "what was computed is kept" in result.err, "whether files are left, and said")


@case
def lists_that_are_refused():
    expect_failure(several("cuda:0,2"), "no GPU 2", "there are 2")
    expect_failure(several("cuda:1,0,1"), "cuda:1,0,1", "GPU 1 twice")
    expect_failure(several("cpu:0,1"), "cpu:0,1", "expected auto, cpu")
    expect_failure(several("cuda:0,1", env={"CARBON_EMULATED_SM": "90,80"}), "cuda:0,1", "different kinds", "sm_90", "sm_80")
    expect_failure(several("cuda:0,1", env={"CARBON_EMULATED_ERROR": "0,1"}), "cuda:0,1", "other bits")
    # The library chooses by the card, where it computes.
    cards = {"CARBON_EMULATED_NAME": "NVIDIA H100 80GB HBM3,NVIDIA H200"}
    expect_failure(several("cuda:0,1", env=cards), "different kinds", "cuda:sm_90x2+emulated@NVIDIA_H100_80GB_HBM3:", "@NVIDIA_H200:")
    expect_equal(several("cuda:0,1", env={"CARBON_CUDA_LIBRARY": "0", **cards}).rc, 0, "without the library")
    expect_failure(several("cuda:0,1", name="bench"), "cuda:0,1", "one GPU")


main()
