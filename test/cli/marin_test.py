"""MarinDNA, a model of one base a token: every command against the definitions in float64, its defaults, and what it lacks
(docs/model.md, "Families").

The decoder against transformers is in test/golden; here test/reference/letter_reference.py computes the same weights again.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

from harness import (CARBON, ENV, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, model, ok, parse_fasta,
                     read, records, write)
from serve_support import Server, need_server

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "reference"))
import letter_reference  # noqa: E402
from vep_reference import rc  # noqa: E402

SHAPE = {"preset": "marin", "hidden": 48, "layers": 2, "heads": 3, "kv_heads": 3, "head_dim": 16, "intermediate": 96, "dtype": "f32",
         "tied": 0, "vocab": 0, "dna_start": -1, "max_positions": 256}
LEFT = "##fileformat=VCFv4.3\n%s#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"


def marin(**more):
    return model(**{**SHAPE, **more})


_reference = {}


def reference(path):
    if path not in _reference:
        _reference[path] = letter_reference.LetterModel(path)
    return _reference[path]


def random_bases(length, seed):
    rng = random.Random(seed)
    return "".join(rng.choice("ACGT") for _ in range(length))


def contigs():
    """A contig of several windows with letters that are no bases, and one that a window holds."""
    long = list(random_bases(700, 1))
    for at in (300, 301, 302, 470):
        long[at] = "N"
    return {"long": "".join(long), "short": random_bases(200, 2)}


def fasta():
    return write(fresh(), "ref.fa", "".join(">%s\n%s\n" % pair for pair in contigs().items()))


def vcf(rows):
    """(contig, pos, ref, alt), one record each."""
    head = "".join("##contig=<ID=%s>\n" % name for name in contigs())
    return write(fresh(), "v.vcf", LEFT % head + "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows))


def snvs(contig, places):
    bases = contigs()[contig]
    return [(contig, pos, bases[pos - 1], "ACGT"["ACGT".index(bases[pos - 1]) - 1 - pos % 3]) for pos in places if bases[pos - 1] in "ACGT"]


def tag(path, *args, name="CARBON_LLR", rows=None, of=None):
    """The values of a tag, one per record."""
    text = ok("vep", "-m", of or marin(), "--dtype", "f32", "-f", fasta(), "--no-version", *args, path or vcf(rows)).text
    return [float(info_of(line)[name]) for line in records(text)]


# ---- vep -----------------------------------------------------------------------------------------------------------


@case
def snvs_have_the_published_score():
    rows = snvs("long", (128, 145, 160, 172, 380))
    for path in (marin(), marin(tied=1, kv_heads=1, eos=1)):
        for row, got in zip(rows, tag(None, rows=rows, of=path)):
            around = contigs()["long"][row[1] - 128:row[1] + 127]
            if set(around) <= set("ACGT"):
                expect_close(got, letter_reference.published_llr(reference(path), contigs()["long"], *row[1:]), 5e-4, "%s %d" % row[:2])
    expect(sum(set(contigs()["long"][row[1] - 128:row[1] + 127]) <= set("ACGT") for row in rows) >= 2, "no window without N")


@case
def every_window_is_that_of_the_definition():
    rows = snvs("long", (1, 2, 60, 127, 128, 129, 290, 304, 420, 573, 574, 690, 700)) + snvs("short", (1, 100, 200))
    long = contigs()["long"]
    rows += [("long", 90, long[89], long[89] + "GAT"), ("long", 400, long[399:404], long[399]), ("long", 650, long[649:651], long[649])]
    for options, window in (((), 255), (("-w", 64), 64), (("-w", 65), 65), (("-w", 3), 3)):
        for strand in "+-":
            got = tag(None, *options, "--strand", strand, rows=[row for row in rows if max(map(len, row[2:])) <= window // 2])
            kept = [row for row in rows if max(map(len, row[2:])) <= window // 2]
            for row, value in zip(kept, got):
                form = letter_reference.vep_reference.normalise(contigs()[row[0]], row[1] - 1, *row[2:])
                wanted = letter_reference.centered(reference(marin()), contigs()[row[0]], form[0] + 1, *form[1:], window, strand)
                expect_close(value, wanted, 5e-4, "window %d, strand %s, %s %d %s>%s" % (window, strand, *row))
    header = ok("vep", "-m", marin(), "-f", fasta(), vcf(rows)).text
    expect("Window=255,Phases=auto," in header, "the header has another window")
    small = ok("vep", "-m", marin(max_positions=129), "-f", fasta(), vcf(rows)).text
    expect("Window=127," in small, "the largest odd window of a context of 129 is another")


@case
def next_token_is_the_row_before():
    rows = snvs("long", (2, 100, 256, 257, 304, 700))
    got = tag(None, "--recipe", "next-token", name="CARBON_NT", rows=rows)
    bases = contigs()["long"]
    for (_, pos, ref, alt), value in zip(rows, got):
        context = bases[max(0, pos - 1 - 255):pos - 1].lstrip("N")
        logs = reference(marin()).letter_logs(context + ref)
        expect_close(value, logs[alt][-1] - logs[ref][-1], 5e-4, "position %d" % pos)


@case
def bytes_depend_on_nothing_else():
    rows = snvs("long", range(3, 698, 11)) + snvs("short", range(1, 200, 17))
    path, ref = vcf(rows), fasta()
    for dtype in ("f32", "bf16", "int8"):
        command = ["vep", "-q", "-m", marin(), "--dtype", dtype, "-f", ref, "--no-version", "--recipe", "centered,next-token"]
        whole = ok(*command, "-@", "1", path).out
        cache = os.path.join(fresh(), "scores.cache")
        for more in (("-@", "2"), ("--batch-tokens", "70"), ("--cache", cache), ("--cache", cache)):
            expect_equal(ok(*command, *more, path).out, whole, "with %s" % (more,))
        parts = [records(ok(*command, "--shard", "%d/3" % i, path).text) for i in (1, 2, 3)]
        expect_equal(sum(parts, []), records(whole.decode()), "shards")
        alone = records(ok(*command, vcf(rows[20:21])).text)
        expect_equal(alone, records(whole.decode())[20:21], "a record alone")


@case
def a_stopped_run_is_continued():
    rows = snvs("long", list(range(3, 698)) * 2)
    path, out = vcf(rows), os.path.join(fresh(), "out.vcf")
    args = ["-q", "-m", marin(), "-f", fasta(), "--no-version", "-@", "1", "-o", out]
    ok("vep", *args, path)
    whole = read(out)
    os.remove(out)
    # The pipe stays open, so that the run cannot end by itself.
    with subprocess.Popen([CARBON, "vep", *args, "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=ENV) as process:
        process.stdin.write(read(path))
        process.stdin.flush()
        deadline = time.monotonic() + 60
        while not os.path.exists(out + ".partial") or os.path.getsize(out + ".partial") < 20000:
            expect(process.poll() is None and time.monotonic() < deadline, "no partial output")
            time.sleep(0.002)
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=60)
    expect_equal(128 - status if status < 0 else status, 128 + signal.SIGTERM, "status")
    expect(not os.path.exists(out), "the output has its name before it is complete")
    ok("vep", *args, "--resume", path)
    expect(read(out) == whole, "a resumed run has other bytes")


@case
def int8_is_near():
    rows, ref, outputs = snvs("long", range(140, 290, 2)), fasta(), []
    for dtype in ("f32", "int8"):
        outputs.append(os.path.join(fresh(), "out.vcf.gz"))
        ok("vep", "-q", "-m", marin(), "--dtype", dtype, "-f", ref, "-o", outputs[-1], vcf(rows))
    ok("+concord", *outputs, "--", "--tags", "CARBON_LLR", "--min-spearman", "0.95")
    expect_failure(carbon("+concord", *outputs, "--", "--tags", "CARBON_LLR", "--min-spearman", "1"), "Spearman")


# ---- scan and score ------------------------------------------------------------------------------------------------


@case
def a_scan_of_one_window_is_next_token():
    bases = contigs()["short"]
    rows = [("short", pos, base, alt) for pos, base in enumerate(bases, 1) for alt in "ACGT" if alt != base]
    lines = records(ok("scan", "-m", marin(), "--dtype", "f32", "--strand", "+", "-f", fasta(), "-r", "short", "-O", "v").text)
    scanned = {}
    for line in lines:
        fields = line.split("\t")
        for alt, value in zip(fields[4].split(","), info_of(line)["CARBON_SCAN"].split(",")):
            scanned[int(fields[1]), alt] = value
    text = ok("vep", "-m", marin(), "--dtype", "f32", "-f", fasta(), "--recipe", "next-token", vcf(rows)).text
    for line in records(text):
        fields = line.split("\t")
        expect_equal(info_of(line)["CARBON_NT"], scanned[int(fields[1]), fields[4]], "%s>%s" % (fields[1], fields[4]))
    plan = ok("scan", "-m", marin(), "-f", fasta(), "--dry-run").text
    expect("windows of 255 bp every 170 bp; each base gets at least 85 bp" in plan, plan)


@case
def scores_are_those_of_the_reference():
    bases = contigs()["short"]
    lines = [line.split("\t") for line in ok("score", "-m", marin(), "--dtype", "f32", "-O", "tsv", "-r", "short", fasta()).table()
             if not line.startswith("#")]
    logs = reference(marin()).letter_logs(bases)
    for i, line in enumerate(lines):
        expect_close(float(line[3]), logs[bases[i]][i], 2e-4, "base %d" % (i + 1))
    windows = ok("score", "-m", marin(), "-O", "tsv", "--no-version", fasta()).text
    expect_equal(ok("score", "-m", marin(), "-O", "tsv", "--no-version", "--window", "255", "--stride", "127", fasta()).text, windows,
                 "the default windows")
    ok("score", "-m", marin(), "--strand", "both", "--window", "31", "--stride", "7", fasta())


# ---- states and samples --------------------------------------------------------------------------------------------


@case
def embeddings_are_means_over_letters():
    bases = random_bases(255, 5)
    path = write(fresh(), "e.fa", ">a\n%s\n" % bases)
    row = [float(v) for v in ok("embed", "-m", marin(), "--dtype", "f32", "--strand", "both", path).table()[-1].split("\t")[-48:]]
    states = [reference(marin()).states(strand)[1:].mean(axis=0) for strand in (bases, rc(bases))]
    expect(np.allclose(row, np.mean(states, axis=0), atol=2e-4), "another mean")
    expect_failure(carbon("embed", "-m", marin(), write(fresh(), "e.fa", ">a\n%sA\n" % bases)), "the longest that fits is 255 bp")


@case
def samples_are_letters():
    prompt = random_bases(40, 7)
    path = write(fresh(), "p.fa", ">a\n%s\n" % prompt)
    drawn = parse_fasta(ok("generate", "-m", marin(), "--dtype", "f32", "-l", "30", "--greedy", path).text)[0][1]
    text = prompt
    for _ in range(30):
        logs = reference(marin()).letter_logs(text + "A")
        text += max("ATCG", key=lambda base: logs[base][-1])
    expect_equal(drawn, text[len(prompt):], "greedy letters")
    one = ok("generate", "-m", marin(), "-l", "50", "-n", "3", "--seed", "4", path).text
    expect_equal(ok("generate", "-m", marin(), "-l", "50", "-n", "3", "--seed", "4", "--batch-tokens", "9", path).text, one, "batches")
    expect_equal(ok("generate", "-m", marin(), "-l", "50", "-n", "3", "--seed", "4", "--draft", marin(seed=3), path).text, one, "a draft")
    bound = parse_fasta(ok("generate", "-m", marin(), "-l", "60", "--constraint", "ATGNNR", "--max-homopolymer", "2", "--gc", "40-60",
                           "--top-k", "3", path).text)[0][1]
    expect(bound.startswith("ATG") and bound[5] in "AG", "the constraint is broken: " + bound)
    expect(all(base * 3 not in bound for base in "ACGT") and 24 <= sum(base in "CG" for base in bound) <= 36, "a bound is broken: " + bound)
    ok("generate", "-m", marin(), "-l", "215", path)
    expect_failure(carbon("generate", "-m", marin(), "-l", "216", path), "the largest number of new bases that fits is 215")
    expect_equal(len(parse_fasta(ok("generate", "-m", marin(), "-l", "255", "--unconditional").text)[0][1]), 255, "letters without a prompt")


# ---- what there is not ---------------------------------------------------------------------------------------------


@case
def what_has_no_meaning_is_refused_by_name():
    ref, path, prompt = fasta(), vcf(snvs("short", (100,))), write(fresh(), "p.fa", ">a\nACGT\n")
    vep = ["vep", "-m", marin(), "-f", ref]
    for args, words in (
            ([*vep, "--recipe", "anchored", path], "recipe anchored cannot be used with a model of one base a token"),
            ([*vep, "--level", "token", path], "level token cannot be used with a model of one base a token"),
            ([*vep, "--phases", "6", path], "phases 6 cannot be used with a model of one base a token"),
            ([*vep, "-w", "2", path], "expected a number of at least 3"),
            ([*vep, "-w", "256", path], "the largest that fits is 255 bp"),
            (["scan", "-m", marin(), "-f", ref, "--level", "chain"], "level chain cannot be used"),
            (["scan", "-m", marin(), "-f", ref, "--level", "first"], "level first cannot be used"),
            (["scan", "-m", marin(), "-f", ref, "--frames", "2"], "expected 1"),
            (["score", "-m", marin(), "--level", "token", ref], "level token cannot be used"),
            (["embed", "-m", marin(), "--pool", "separator", prompt], "no token after a sequence"),
            (["embed", "-m", marin(), "--pad-tail", prompt], "pads no letter"),
            (["generate", "-m", marin(), "-l", "4", "--sampler", "marginal", prompt], "sampler marginal cannot be used"),
            (["generate", "-m", marin(), "-l", "4", "--sampler", "chain", prompt], "sampler chain cannot be used"),
            (["generate", "-m", marin(), "-l", "4", "--draft", model(), prompt], "tokens of 6 bases"),
            (["generate", "-m", model(), "-l", "4", "--draft", marin(), prompt], "tokens of 1 base"),
            (["generate", "-m", marin(), "-l", "4", "--prefix", "<mam>", prompt], "cannot read metadata"),
            (["predict", "-m", marin(), prompt], "head")):
        expect_failure(carbon(*args), words)
    ok(*vep, "--phases", "1", path)
    ok("scan", "-m", marin(), "-f", ref, "--frames", "1", "-r", "short:1-9")
    ok("generate", "-m", marin(), "-l", "4", "--sampler", "kmer", prompt)


@case
def the_tokenizer_is_that_of_the_file():
    path = write(fresh(), "t.jsonl", '"ACgtN"\n"a-\u00e9\u0130"\n')
    ids = [json.loads(line)["ids"] for line in ok("tokenize", "-m", marin(), path).lines()]
    expect_equal(ids, [[2, 3, 4, 5, 6, 1], [2, 3, 1, 1, 1, 1]], "ids without [EOS]")
    first = json.loads(ok("tokenize", "-m", marin(eos=1), path).lines()[0])
    expect_equal(first, {"ids": [2, 4, 5, 6, 7, 1, 3], "mask": [0, 1, 1, 1, 1, 0, 0]}, "with [EOS]")
    back = write(fresh(), "ids.jsonl", "[2,3,4,5,6,1]\n")
    expect_equal(ok("tokenize", "-m", marin(), "--decode", back).text, '"[BOS]acgt[UNK]"\n', "text")
    expect_equal(ok("tokenize", "-m", marin(), "--decode", "--skip-special", back).text, '"acgt"\n', "text without")
    expect_failure(carbon("tokenize", "-m", marin(), "--auto-dna-tags", path), "has no <dna> tags")


# ---- server, bench, plugins ----------------------------------------------------------------------------------------


@case
def the_server_counts_letters():
    need_server()
    with Server("-m", marin(), "--dtype", "f32") as server:
        listed = server.get("/v1/models").json["data"][0]
        expect_equal([listed["family"], listed["bases_per_token"], listed["max_bases"]], ["MarinDNA", 1, 255], "the model")
        got = server.good("/v1/completions", {"prompt": "ACGTAC", "max_tokens": 5, "temperature": 0, "logprobs": 4, "echo": True,
                                              "return_token_ids": True})["choices"][0]
        expect_equal(len(got["text"]), 11, "letters of prompt and answer")
        expect_equal(got["prompt_token_ids"], [2, 3, 4, 5, 6, 3, 4], "ids")
        expect_equal(got["logprobs"]["tokens"][1:7], list("ACGTAC"), "tokens")
        expect_equal(sorted(got["logprobs"]["top_logprobs"][-1]), list("ACGT"), "likeliest letters")
        drawn = parse_fasta(ok("generate", "-m", marin(), "--dtype", "f32", "-l", "5", "--greedy",
                               write(fresh(), "p.fa", ">a\nACGTAC\n")).text)[0][1]
        expect_equal(got["text"][6:], drawn, "greedy letters")
        by_ids = server.good("/v1/completions", {"prompt": [2, 3, 4, 5, 6, 3, 4], "max_tokens": 5, "temperature": 0})["choices"][0]
        expect_equal(by_ids["text"], drawn, "a prompt of ids")
        for wrong in ("<dna>ACGT", "[BOS]ACGT", "<s>ACGT"):
            expect_equal(server.post("/v1/completions", {"prompt": wrong, "max_tokens": 1}).status, 400, wrong)
        expect_equal(server.post("/v1/completions", {"prompt": "ACGT", "max_tokens": 252}).status, 400, "more than the context")
        embedding = server.good("/v1/embeddings", {"input": "ACGTAC"})["data"][0]["embedding"]
        expect(np.allclose(embedding, reference(marin()).states("ACGTAC")[1:].mean(axis=0), atol=2e-4), "another embedding")
        expect(np.allclose(server.good("/v1/embeddings", {"input": [2, 3, 4, 5, 6, 3, 4]})["data"][0]["embedding"], embedding, atol=1e-6),
               "another embedding of ids")
        score = server.good("/v1/dna/score", {"sequences": ["ACGTAC"]})["results"][0]
        expect(np.allclose(score["logp"], reference(marin()).logps("ACGTAC"), atol=2e-4), "another score")
        for name, fields in (("score", {"sequences": ["ACGT"], "level": "token"}), ("scan", {"sequence": "ACGT", "frames": 2}),
                             ("generate", {"prompt": "ACGT", "length": 3, "sampler": "chain"})):
            expect_equal(server.post("/v1/dna/" + name, fields).status, 400, name)
        expect_equal(len(server.good("/v1/dna/generate", {"prompt": "ACGT", "length": 7})["samples"][0]["sequence"]), 7, "/v1/dna/generate")


@case
def bench_and_plugins_run():
    table = ok("bench", "-m", marin(), "-p", "128", "-n", "4", "-b", "1", "--rounds", "1").text
    expect("vep" in table and "anchored" not in table, table)
    path = write(fresh(), "p.fa", ">a\n%s\n" % random_bases(300, 5))
    ok("+recovery", "-m", marin(), path, "--", "--context", "100", "--length", "12")
    ok("+mutagenesis", "-m", marin(), "--", "-f", path, "-r", "a:140-145")
    expect_failure(carbon("+niah", "-m", marin(), path, "--", "--context", "90", "--rows", "1"), "too few tokens of 1 bp")


if __name__ == "__main__":
    main()
