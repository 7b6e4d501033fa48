"""carbon serve: every endpoint, compared with the command that computes the same, and what is refused."""

import base64
import json
import math
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

from harness import case, data, expect, expect_equal, fresh, info_of, main, model, ok, parse_fasta, records, tool, write
from serve_support import Server, need_server


def bases(n, seed):
    rng = random.Random(seed)
    return "".join(rng.choice("ACGT") for _ in range(n))


def fasta(*sequences):
    return write(fresh(), "in.fa", "".join(">s%d\n%s\n" % item for item in enumerate(sequences)))


def single(value):
    """As a float of 32 bits."""
    return struct.unpack("f", struct.pack("f", value))[0]


def refused(server, path, body, status, param, *words):
    answer = server.post(path, body)
    what = "%s %s: %d %s" % (path, str(body)[:200], answer.status, answer.body[:300])
    expect(answer.status == status, what)
    error = answer.json["error"]
    expect(set(error) == {"message", "type", "param", "code"}, what)
    expect(error["param"] == param, what)
    for word in words:
        expect(word in error["message"], what)


@case
def what_is_said_about_the_server():
    with Server("--served-model-name", "dna", "--served-model-name", "other") as server:
        expect_equal(server.get("/health").json, {"status": "ok"}, "health")
        models = server.get("/v1/models").json
        expect_equal([m["id"] for m in models["data"]], ["dna", "other"], "names")
        expect_equal(models["data"][0]["max_model_len"], 4096, "context")
        expect("version" in server.get("/version").json, "version")
        expect_equal(server.get("/v1/models/other").json, models["data"][1], "one model")
        for name in ("dna", "other"):
            server.good("/v1/completions", {"model": name, "prompt": "<dna>ACGTACGT", "max_tokens": 1})
        refused(server, "/v1/completions", {"model": "x", "prompt": "<dna>ACGTAC"}, 404, "model", "'x'", "'dna'")
        expect_equal(server.get("/nothing").status, 404, "unknown path")
        expect_equal(server.get("/v1/models/x").json["error"]["code"], "model_not_found", "unknown model")
        expect_equal(server.get("/v1/completions").status, 405, "method")
        expect_equal(server.get("/v1/completions").headers["Allow"], "POST", "Allow")
        text = server.get("/metrics").body.decode()
        for line in text.splitlines():
            expect(line.startswith("# ") or len(line.rsplit(" ", 1)) == 2 and math.isfinite(float(line.rsplit(" ", 1)[1])), line)
        expect_equal(server.metric("vllm:generation_tokens_total"), 2, "6-mers")
        expect_equal(server.ask("HEAD", "/health").body, b"", "HEAD")
        answer = server.get("/health", headers={"X-Request-Id": "a-b.1"})
        expect_equal(answer.headers["X-Request-Id"], "a-b.1", "id")
        expect_equal([m["demonstration"] for m in models["data"]], [False, False], "whether it is the bundled model")
    expect("path=/v1/completions" in server.err and "ACGTACGT" not in server.err, server.err)
    times = re.findall(r" seconds=(\S+)", server.err)
    expect(times and all(re.fullmatch(r"\d+(\.\d{1,3})?", time) for time in times), "times in the log: %s" % times)
    with Server("-m", "carbon-tiny") as server:
        expect_equal(server.get("/v1/models").json["data"][0]["demonstration"], True, "carbon-tiny is the demonstration model")


@case
def the_page_comes_from_this_host_alone():
    with Server() as server:
        page = server.get("/")
        expect_equal(page.status, 200, "status")
        expect("default-src 'self'" in page.headers["Content-Security-Policy"], "policy")
        text = page.body.decode()
        for word in ("src=\"", "href=\""):
            for part in text.split(word)[1:]:
                target = part.split('"')[0]
                expect(not target.startswith(("http", "//")), target)
                expect(not target.startswith("/"), target + " is not found behind a proxy that serves the page below a path")
                if target.endswith((".js", ".css", ".svg")):
                    file = server.get("/" + target)
                    expect_equal(file.status, 200, target)
                    kind = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}[target.rsplit(".")[-1]]
                    expect(file.headers["Content-Type"].startswith(kind), target)


@case
def completions_are_those_of_generate():
    prompt = bases(602, 1)
    path = fasta(prompt)
    with Server() as server:
        for seed, temperature, extra in ((0, 1, {}), (7, 0.8, {"top_k": 50}), (2**63, 1.3, {"top_p": 0.9}), (5, 0, {})):
            greedy = ["--greedy"] if temperature == 0 else ["-T", temperature]
            options = [x for name, value in extra.items() for x in ("--" + name.replace("_", "-"), value)]
            # 602 bases end in the middle of a 6-mer: the first of the new ones has four new bases.
            want = [s for _, s in parse_fasta(ok("generate", "-m", model(), "-l", 16, "-n", 3, "--seed", seed, *greedy, *options, path).text)]
            body = {"prompt": "<dna>" + prompt + "</dna>", "max_tokens": 3, "n": 3, "seed": seed, "temperature": temperature, **extra}
            got = server.good("/v1/completions", body)
            expect_equal([c["text"] for c in got["choices"]], want, "text")
            expect_equal(got["usage"], {"prompt_tokens": 101, "total_tokens": 110, "completion_tokens": 9}, "usage")
            expect_equal({c["finish_reason"] for c in got["choices"]}, {"length"}, "reason")
            expect_equal(got["carbon_seed"], seed, "seed")
        drawn = server.good("/v1/completions", {"prompt": "<dna>" + prompt, "max_tokens": 9})
        again = server.good("/v1/completions", {"prompt": "<dna>" + prompt, "max_tokens": 9, "seed": drawn["carbon_seed"]})
        expect_equal(again["choices"], drawn["choices"], "a seed that the server has drawn")


@case
def prompts_as_text_and_as_ids():
    one, two = bases(60, 1), bases(66, 2)
    path = fasta(one, two)
    want = [s for _, s in parse_fasta(ok("generate", "-m", model(), "-l", 24, "--seed", 3, path).text)]
    with Server() as server:
        tokens = [server.good("/tokenize", {"prompt": "<dna>" + s + "</dna>"})["tokens"] for s in (one, two)]
        expect_equal(server.good("/detokenize", {"tokens": tokens[0]})["prompt"], "<dna>" + one + "</dna>", "text")
        for prompts in (["<dna>" + one, "<dna>" + two], tokens, [tokens[0][:-1], tokens[1]]):
            got = server.good("/v1/completions", {"prompt": prompts, "max_tokens": 4, "seed": 3})
            expect_equal([c["text"] for c in got["choices"]], want, "texts")
            expect_equal([c["index"] for c in got["choices"]], [0, 1], "indices")
        got = server.good("/v1/completions", {"prompt": tokens[0], "max_tokens": 4, "seed": 3})
        expect_equal(got["choices"][0]["text"], want[0], "ids of one prompt")
        empty = server.good("/v1/completions", {"prompt": "<dna>", "max_tokens": 4, "seed": 3})
        free = ok("generate", "-m", model(), "-l", 24, "--seed", 3, "--unconditional")
        expect_equal(empty["choices"][0]["text"], parse_fasta(free.text)[0][1], "without a prompt")


def text_of(events, index=0):
    return "".join(c["text"] for e in events for c in e["choices"] if c["index"] == index)


def logprobs_of(events, index=0):
    whole = {}
    for event in events:
        for choice in event["choices"]:
            if choice["index"] == index and choice["logprobs"]:
                for name, values in choice["logprobs"].items():
                    whole.setdefault(name, []).extend(values)
    return whole


@case
def a_stream_is_the_whole_answer_in_pieces():
    prompt = "<dna>" + bases(64, 4)
    with Server() as server:
        for extra in ({}, {"n": 3}, {"logprobs": 3}, {"echo": True, "logprobs": 2, "n": 2}, {"stop": ["ACG", "TT"]},
                      {"stop": "GGG", "logprobs": 1}, {"max_tokens": 0, "echo": True, "logprobs": 0}):
            body = {"prompt": prompt, "max_tokens": 30, "seed": 4, **extra}
            whole = server.good("/v1/completions", body)
            answer = server.post("/v1/completions", {**body, "stream": True, "stream_options": {"include_usage": True}})
            expect(answer.headers["Content-Type"].startswith("text/event-stream"), "content type")
            *events, last = answer.events
            expect_equal((last["choices"], last["usage"]), ([], whole["usage"]), "usage of %s" % extra)
            expect(all(len(e["choices"]) == 1 and "usage" not in e for e in events), "usage only at the end")
            for choice in whole["choices"]:
                expect_equal(text_of(events, choice["index"]), choice["text"], "text of %s" % extra)
                if choice["logprobs"]:
                    expect_equal(logprobs_of(events, choice["index"]), choice["logprobs"], "logprobs of %s" % extra)
                reasons = [c["finish_reason"] for e in events for c in e["choices"] if c["index"] == choice["index"]]
                expect_equal(reasons[-1], choice["finish_reason"], "reason")
                expect(set(reasons[:-1]) <= {None}, "one reason")
        unasked = server.post("/v1/completions", {"prompt": prompt, "stream": True, "max_tokens": 2}).events
        expect_equal(len(unasked), 2, "one event for each 6-mer")


@case
def stop_strings_are_found_inside_6_mers():
    prompt = "<dna>" + bases(63, 5)
    with Server() as server:
        full = server.good("/v1/completions", {"prompt": prompt, "max_tokens": 40, "seed": 1})["choices"][0]["text"]
        expect_equal(len(full), 237, "40 6-mers, of which the prompt has 3 bases")
        for begin, length in ((0, 3), (1, 7), (20, 9), (100, 2), (3, 1), (150, 12)):
            stop = full[begin:begin + length]
            got = server.good("/v1/completions", {"prompt": prompt, "max_tokens": 40, "seed": 1, "stop": [stop.lower(), "\n", "</dna>"]})
            choice = got["choices"][0]
            at = full.index(stop)
            expect_equal((choice["text"], choice["finish_reason"], choice["stop_reason"]), (full[:at], "stop", stop), stop)
            expect_equal(got["usage"]["completion_tokens"], (3 + at + length + 5) // 6, "6-mers up to the end of " + stop)
        got = server.good("/v1/completions", {"prompt": prompt, "max_tokens": 40, "seed": 1, "stop": ["NNN"]})
        expect_equal((got["choices"][0]["text"], got["choices"][0]["finish_reason"]), (full, "length"), "never found")


@case
def logprobs_are_those_of_the_6_mers():
    sequence = bases(120, 6) + "N" * 6 + bases(12, 7)
    # Over the whole vocabulary, of which this model has little besides 6-mers: a lower bound.
    path = fasta(sequence)
    rows = [line.split("\t") for line in ok("score", "-m", model(), "--level", "token", "-O", "bedgraph", path).table()]
    vocabulary = {int(r[1]): float(r[3]) for r in rows}
    with Server() as server:
        got = server.good("/v1/completions", {"prompt": "<dna>" + sequence, "max_tokens": 0, "echo": True, "logprobs": 5, "prompt_logprobs": 2})
        choice = got["choices"][0]
        expect_equal(choice["text"], sequence, "echo")
        probs = choice["logprobs"]
        expect_equal({len(values) for values in probs.values()}, {got["usage"]["prompt_tokens"]}, "one entry a token of the prompt")
        expect_equal([values.pop(0) for values in probs.values()], ["<dna>", None, None, 0], "nothing comes before <dna>")
        expect_equal(probs["tokens"], [sequence[i:i + 6] for i in range(0, len(sequence), 6)], "tokens")
        expect_equal(probs["text_offset"], list(range(0, len(sequence), 6)), "offsets")
        for i, logp in enumerate(probs["token_logprobs"]):
            if "N" in probs["tokens"][i]:
                expect(logp is None and probs["top_logprobs"][i] is None, "an unknown 6-mer has none")
                continue
            expect(vocabulary[6 * i] <= logp + 1e-6 and logp < 0, "%d: %g, %g" % (i, vocabulary[6 * i], logp))
            top = probs["top_logprobs"][i]
            expect(len(top) in (5, 6) and top[probs["tokens"][i]] == logp, top)
            expect(sorted(top.values(), reverse=True)[0] == max(top.values()), top)
        entries = choice["prompt_logprobs"]
        expect_equal(len(entries), 1 + len(probs["tokens"]), "one entry per token, the first for <dna>")
        expect(entries[0] is None, "nothing comes before <dna>")
        for entry, token, logp in zip(entries[1:], probs["tokens"], probs["token_logprobs"]):
            if entry is not None:
                own = [e for e in entry.values() if e["decoded_token"] == token]
                expect(len(own) == 1 and own[0]["logprob"] == logp and own[0]["rank"] >= 1, entry)


@case
def scores_are_those_of_score():
    sequences = [bases(1000, 1), "ACGTN" + bases(40, 2).lower(), "ACG", "NNNN"]
    path = fasta(*sequences)
    with Server() as server:
        for strand in ("+", "-", "both"):
            got = server.good("/v1/dna/score", {"sequences": sequences, "strand": strand})["results"]
            for sequence, result, line in zip(sequences, got, ok("score", "-m", model(), "--strand", strand, path).table()[1:]):
                fields = line.split("\t")
                expect_equal(len(result["logp"]), len(sequence), "one value per base")
                expect_equal(str(result["n_scored"]), fields[4], "scored: " + line)
                for name, text in (("sum_logp", fields[5]), ("mean_logp", fields[6])):
                    if result[name] is None:
                        expect_equal((text, result["n_scored"]), (".", 0), line)
                    else:
                        expect_equal("%.10g" % result[name], text, name)
            rows = [r.split("\t") for r in ok("score", "-m", model(), "--strand", strand, "-O", "tsv", path).table()[1:]]
            shown = {(row[0], int(row[1])): row[3] for row in rows}
            for i, result in enumerate(got):
                for pos, value in enumerate(result["logp"], 1):
                    text = shown.get(("s%d" % i, pos), "NA")
                    expect_equal("NA" if value is None else "%.6g" % value, text, "base %d of s%d" % (pos, i))


@case
def variants_are_those_of_vep():
    directory = fresh()
    name, sequence = "s0", {"s0": bases(30000, 11)}
    reference = fasta(sequence[name])
    rng = random.Random(3)
    asked, lines = [], []
    for pos in sorted(rng.sample(range(1, len(sequence[name]) - 3), 40)):
        ref = sequence[name][pos - 1:pos - 1 + rng.choice((1, 1, 1, 2, 4))].upper()
        alt = rng.choice([rng.choice("ACGT"), ref[0] + bases(3, pos), ref[0], "<DUP>", "*"])
        if set(ref) <= set("ACGT") and alt != ref:
            asked.append({"chrom": name, "pos": pos, "ref": ref, "alt": alt})
            lines.append("%s\t%d\t.\t%s\t%s\t.\t.\t." % (name, pos, ref, alt))
    asked.append({"chrom": "none", "pos": 5, "ref": "A", "alt": "C"})
    lines.append("none\t5\t.\tA\tC\t.\t.\t.")
    header = "##fileformat=VCFv4.2\n##contig=<ID=%s>\n##contig=<ID=none>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" % name
    vcf = write(directory, "in.vcf", header + "\n".join(lines) + "\n")
    with Server("-f", reference) as server:
        for recipe, options, fields in (("centered", [], {}), ("centered", ["--window", 600, "--strand", "+"], {"window": 600, "strand": "+"}),
                                        ("anchored", ["--horizon", 48], {"horizon": 48}), ("next-token", [], {})):
            got = server.good("/v1/dna/variants", {"variants": asked, "recipe": recipe, **fields})["results"]
            out = records(ok("vep", "-m", model(), "-f", reference, "--recipe", recipe, *options, vcf).text)
            expect_equal(len(got), len(out), "variants")
            expect_equal([{k: result[k] for k in ("chrom", "pos", "ref", "alt")} for result in got], asked, "the variants in the answer")
            scored = 0
            for result, line in zip(got, out):
                info = info_of(line)
                text = [v for k, v in info.items() if k.startswith("CARBON_") and k != "CARBON_FLAG"]
                expect(len(text) <= 1, line)
                if result["score"] is None:
                    expect(not text or text[0] == ".", line)
                    expect(result["flag"] is not None and result["flag"] in info.get("CARBON_FLAG", ""), "%s %s" % (result, line))
                    continue
                scored += 1
                expect_equal("%g" % single(result["score"]), text[0], line)
            expect(scored >= 3, "%d scored" % scored)
        # The same on a sequence that is sent along.
        contig = [{k: v for k, v in variant.items() if k != "chrom"} for variant in asked[:-1]]
        got = server.good("/v1/dna/variants", {"variants": contig, "sequence": sequence[name]})["results"]
        expect_equal([{"chrom": name, **result} for result in got], server.good("/v1/dna/variants", {"variants": asked[:-1]})["results"],
                     "sequence sent along")
    with Server() as server:
        answer = server.post("/v1/dna/variants", {"variants": asked})
        expect(answer.status == 400 and "sequence" in answer.json["error"]["message"], str(answer.body))


@case
def a_scan_is_that_of_scan():
    sequence = bases(700, 8) + "NNNNN" + bases(100, 9)
    path = fasta(sequence)
    with Server() as server:
        for options, fields in (([], {}), (["--strand", "+"], {"strand": "+"}), (["--frames", 6, "--level", "first"], {"frames": 6, "level": "first"}),
                                (["--level", "chain", "--context", 300], {"level": "chain", "context": 300})):
            got = server.good("/v1/dna/scan", {"sequence": sequence, **fields})
            expect_equal((got["sequence_length"], got["letters"], len(got["logp"])), (len(sequence), "ACGT", len(sequence)), "shape")
            lines = ok("scan", "-m", model(), "-f", path, *options).lines()
            names = [line for line in lines if line.startswith("#")][-1].lstrip("#").split("\t")
            expect_equal(names, ["CHROM", "POS", "REF", "ALT", "CARBON_SCAN"], "columns")
            want, seen = [line.split("\t")[1:] for line in lines if not line.startswith("#")], []
            for i, values in enumerate(got["logp"]):
                if values:
                    logp = dict(zip("ACGT", values))
                    ref = sequence[i]
                    seen += [[str(i + 1), ref, alt, "%.6g" % single(logp[alt] - logp[ref])] for alt in "ACGT" if alt != ref]
            expect_equal(seen, want, "ratios with %s" % options)


@case
def embeddings_are_those_of_embed():
    sequences = [bases(600, 1), bases(45, 2)]
    path = fasta(*sequences)
    rows = [[float(x) for x in line.split("\t")[1:]] for line in ok("embed", "-m", model(), path).table() if not line.startswith("#")]
    rows = [r for r in rows if len(r) == 32]
    with Server() as server:
        for tags in ("<dna>%s", "<dna>%s</dna>"):
            got = server.good("/v1/embeddings", {"input": [tags % s for s in sequences]})
            for row, item in zip(rows, got["data"]):
                expect(max(abs(a - b) for a, b in zip(row, item["embedding"])) < 1e-5 * max(map(abs, row)), "embedding")
        expect_equal(got["usage"], {"prompt_tokens": 102 + 9, "total_tokens": 102 + 9}, "usage")
        packed = server.good("/v1/embeddings", {"input": "<dna>" + sequences[0], "encoding_format": "base64"})
        floats = struct.unpack("<32f", base64.b64decode(packed["data"][0]["embedding"]))
        expect_equal(list(floats), got["data"][0]["embedding"], "base64")
        short = server.good("/v1/embeddings", {"input": "<dna>" + sequences[0], "dimensions": 5})
        expect_equal(short["data"][0]["embedding"], got["data"][0]["embedding"][:5], "dimensions")


@case
def generation_in_bases():
    prompt = bases(100, 3)
    path = fasta(prompt)
    with Server() as server:
        for sampler in ("kmer", "marginal", "chain"):
            want = ok("generate", "-m", model(), "-l", 50, "-n", 2, "--seed", 9, "--sampler", sampler, "--constraint", "ACGNNR", path).text
            body = {"prompt": prompt, "length": 50, "n": 2, "seed": 9, "sampler": sampler, "constraint": "ACGNNR", "probabilities": True}
            got = server.good("/v1/dna/generate", body)
            expect_equal([s["sequence"] for s in got["samples"]], [s for _, s in parse_fasta(want)], sampler)
            for sample, line in zip(got["samples"], [x for x in want.splitlines() if x.startswith(">")]):
                text = line.split("logp=")[1].split()[0]
                expect(abs(sample["logp"] - float(text)) <= 1e-4 * abs(float(text)), line)
                table = ok("score", "-m", model(), "-O", "tsv", fasta(prompt + sample["sequence"])).table()
                names = table[0].lstrip("#").split("\t")
                columns = [names.index(n) for n in names if n in ("A", "C", "G", "T", "p_A", "p_C", "p_G", "p_T", "logp_A", "logp_C", "logp_G", "logp_T")]
                expect(len(columns) == 4, names)
                for probabilities, row in zip(sample["probabilities"], table[101:]):
                    fields = [float(row.split("\t")[c]) for c in columns]
                    if max(fields) < 0:
                        fields = [math.exp(x) for x in fields]
                    expect(max(abs(a - b) for a, b in zip(probabilities, fields)) < 1e-4, row)
            if sampler != "marginal":
                bounds = {"gc": [40, 60], "gc_window": 25, "avoid": ["GAATTC", "RGATCY"], "no_stop": ["prompt", 2], "max_homopolymer": 3}
                want = ok("generate", "-m", model(), "-l", 50, "-n", 2, "--seed", 9, "--sampler", sampler, "--gc", "40-60", "--gc-window", 25,
                          "--avoid", "GAATTC,RGATCY", "--no-stop", "prompt,2", "--max-homopolymer", 3, path).text
                bounded = {k: v for k, v in body.items() if k != "constraint"}
                got_bounded = server.good("/v1/dna/generate", {**bounded, **bounds})
                expect_equal([s["sequence"] for s in got_bounded["samples"]], [s for _, s in parse_fasta(want)], sampler + " with bounds")
            events = server.post("/v1/dna/generate", {**body, "stream": True}).events
            for i, sample in enumerate(got["samples"]):
                own = [e for e in events if e["index"] == i]
                expect_equal("".join(e.get("bases", "") for e in own), sample["sequence"], "stream")
                expect_equal((own[-1]["logp"], own[-1]["probabilities"]), (sample["logp"], sample["probabilities"]), "its end")


@case
def what_is_wrong_is_said():
    with Server("--max-bases", 2000, "--max-items", 8) as server:
        path = "/v1/completions"
        for body, param, *words in (
                ("{", None, "JSON"), ("[]", None, "object"), ('{"a":1,"a":2}', None, "twice"), ("[" * 100000, None, "nested"),
                ({}, "prompt", "missing"), ({"prompt": "ACGT"}, "prompt", "<dna>"), ({"prompt": 7}, "prompt"), ({"prompt": []}, "prompt"),
                ({"prompt": "<dna>AC GT!"}, "prompt", "'!'", "character 6"), ({"prompt": "<dna>A<dna>C"}, "prompt", "more than one"),
                ({"prompt": [1, 2]}, "prompt", "<dna>"), ({"prompt": ["<dna>A", 3]}, "prompt[1]"), ({"prompt": "<dna>ACG", "n": 0}, "n"),
                ({"prompt": "<dna>ACG", "n": 1.5}, "n"), ({"prompt": "<dna>ACG", "max_tokens": -1}, "max_tokens"),
                ({"prompt": "<dna>ACG", "temperature": -1}, "temperature"), ({"prompt": "<dna>ACG", "temperature": "hot"}, "temperature"),
                ({"prompt": "<dna>ACG", "top_p": 0}, "top_p"), ({"prompt": "<dna>ACG", "logprobs": 21}, "logprobs"),
                ({"prompt": "<dna>ACG", "suffix": "A"}, "suffix"), ({"prompt": "<dna>ACG", "logit_bias": {"1": 2}}, "logit_bias"),
                ({"prompt": "<dna>ACG", "best_of": 2}, "best_of"), ({"prompt": "<dna>ACG", "n": 2, "best_of": 3}, "best_of"),
                ({"prompt": "<dna>ACG", "suffix": 1}, "suffix"), ({"prompt": "<dna>ACG", "bad_words": ["A"]}, "bad_words"),
                ({"prompt": "<dna>ACG", "response_format": {"type": "json_object"}}, "response_format"), ({"prompt": "<dna>ACG", "repetition_penalty": 1.1}, "repetition_penalty"),
                ({"prompt": "<dna>ACG", "stream": 1}, "stream"), ({"prompt": "<dna>ACG", "stop": [1]}, "stop"),
                ({"prompt": "<dna>ACG", "seed": 0.5}, "seed"), ({"prompt": "<dna>ACG", "min_tokens": 20}, "min_tokens"),
                ({"prompt": "<dna>ACG", "structured_outputs": {}}, "structured_outputs"), ({"prompt": "<dna>ACG", "stop_token_ids": [1]}, "stop_token_ids"), ({"prompt": "<dna>ACG", "max_tokens": 400}, "max_tokens", "2000"),
                ({"prompt": ["<dna>A"] * 9}, "prompt", "8"), ({"prompt": "<dna>NNNNNN"}, "prompt", "A, C, G or T"),
                ({"prompt": "<species>x<dna>ACG"}, "prompt")):
            refused(server, path, body, 400, param, *words)
        for body in ({"best_of": 1}, {"repetition_penalty": 1.0}, {"logit_bias": {}}, {"suffix": None}, {"user": "me"}, {"min_p": 0},
                     {"presence_penalty": 0}, {"ignore_eos": True}, {"top_k": -1}, {"logprobs": None}, {"skip_special_tokens": True}, {"min_tokens": 1}, {"seed": 1.0},
                     {"n": 2, "best_of": 2}, {"n": 2, "best_of": 1}, {"suffix": ""}, {"bad_words": []}, {"logits_processors": []},
                     {"guided_choice": []}, {"guided_regex": ""}, {"stop_token_ids": []}, {"allowed_token_ids": []}, {"stop": []},
                     {"response_format": {"type": "text"}}, {"logit_bias": {"7": 0}}, {"logit_bias": []}, {"echo": False},
                     {"use_beam_search": False}, {"stream_options": None}, {"seed": None}, {"logprobs": False}):
            server.good(path, {"prompt": "<dna>ACGTAC", "max_tokens": 1, **body})
        refused(server, "/v1/dna/score", {"sequences": ["ACG"], "x": 1}, 400, "x", "not a field", "level, model, probabilities, sequences, strand, stride and window")
        refused(server, "/v1/dna/embed", {"sequences": ["ACG"], "layer": 2147483646}, 400, "layer", "there is no layer", "set it with layer")
        refused(server, "/v1/dna/variants", {"sequence": "ACG", "variants": [{"pos": 1, "ref": "A", "alt": "C", "alts": "C"}]}, 400, "variants[0].alts",
                "of variants[0]; the fields are alt", "pos, ref and svlen")
        bounded = {"prompt": "ACG", "length": 12}
        for fields, param, *words in (({"gc": 40}, "gc", "[40, 60]"), ({"gc": [60, 40]}, "gc", "[40, 60]"), ({"gc": [0.4, 0.6]}, "gc", "per cent"),
                                      ({"gc": ["a", 1]}, "gc"), ({"gc_window": 5}, "gc_window", "needs gc"), ({"avoid": "GAATTC"}, "avoid", "list"),
                                      ({"avoid": [""]}, "avoid"), ({"avoid": ["GAXTTC"]}, None, "motif 1", "X"), ({"no_stop": [4]}, "no_stop", "prompt"),
                                      ({"no_stop": "prompt"}, "no_stop", "list"), ({"max_homopolymer": 0}, "max_homopolymer"),
                                      ({"gc": [40, 60], "sampler": "marginal"}, "sampler", "cannot keep bounds"),
                                      ({"gc": [40, 60], "constraint": "AAAAAAAAAAAA"}, None, "GC content")):
            refused(server, "/v1/dna/generate", {**bounded, **fields}, 400, param, *words)
        refused(server, "/v1/dna/score", {"sequences": ["ACG"], "strand": "*"}, 400, "strand", "'both'")
        refused(server, "/v1/dna/score", {"sequences": ["A" * 3000]}, 400, "sequences", "2000")
        refused(server, "/v1/dna/generate", {"prompt": "ACG"}, 400, "length", "missing")
        refused(server, "/v1/dna/scan", {}, 400, "sequence", "missing")
    with Server() as server:
        answer = server.post("/v1/completions", {"prompt": "<dna>" + "A" * 24600, "max_tokens": 1})
        error = answer.json["error"]
        expect_equal((answer.status, error["param"]), (400, "prompt"), str(error))
        expect("context" in error["message"], str(error))
        too_many = {"prompt": "<dna>ACGT", "max_tokens": 5000}
        refused(server, "/v1/completions", too_many, 400, "max_tokens", "context")
        expect_equal(server.post("/v1/completions", too_many).json["error"]["code"], "context_length_exceeded", "code of too many new tokens")
        refused(server, "/v1/dna/generate", {"prompt": "ACGT", "length": 30000}, 400, "length", "context")


@case
def rna_is_dna_and_a_protein_is_refused():
    dna = bases(27, 8)
    rna = dna.replace("T", "U")
    note = " has the letter U; it is read as T"
    variants = [{"pos": i + 1, "ref": base, "alt": "T" if base != "T" else "A"} for i, base in enumerate(dna[:6])]
    rna_variants = [{**v, "ref": v["ref"].replace("T", "U"), "alt": v["alt"].replace("T", "u")} for v in variants]
    protein = "MKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQ"
    with Server() as server:
        for path, field, as_dna, as_rna in (
                ("/v1/dna/score", "sequences[0]", {"sequences": [dna]}, {"sequences": [rna]}),
                ("/v1/dna/scan", "sequence", {"sequence": dna}, {"sequence": rna.lower()}),
                ("/v1/dna/generate", "prompt", {"prompt": dna, "length": 9, "seed": 1, "constraint": "AUGN"},
                 {"prompt": rna, "length": 9, "seed": 1, "constraint": "ATGN"}),
                ("/v1/dna/variants", "sequence", {"sequence": dna, "variants": variants, "window": 24},
                 {"sequence": rna, "variants": rna_variants, "window": 24}),
                ("/v1/dna/variants", "variants[%d].%s" % next((i, k) for i, v in enumerate(rna_variants) for k in ("ref", "alt") if v[k] in "Uu"),
                 {"sequence": dna, "variants": variants, "window": 24}, {"sequence": dna, "variants": rna_variants, "window": 24}),
                ("/v1/completions", "prompt", {"prompt": "<dna>" + dna, "max_tokens": 9, "seed": 1, "stop": "TA"},
                 {"prompt": "<dna>" + rna, "max_tokens": 9, "seed": 1, "stop": "UA"}),
                ("/v1/embeddings", "input[1]", {"input": ["<dna>A", "<dna>" + dna]}, {"input": ["<dna>A", "<dna>" + rna]})):
            want, got = server.post(path, as_dna), server.post(path, as_rna)
            expect_equal((got.status, got.headers["X-Carbon-Note"]), (200, field + note), "%s: %s" % (path, got.body))
            expect("X-Carbon-Note" not in want.headers, path + " of DNA")
            same = [{k: v for k, v in a.json.items() if k not in ("id", "created")} for a in (want, got)]
            for result in same[1].get("results", []):  # a variant is named in the letters' own case
                result.update({k: v.upper() for k, v in result.items() if k == "alt"})
            expect_equal(same[1], same[0], path)
        stream = server.post("/v1/completions", {"prompt": "<dna>" + rna, "max_tokens": 1, "stream": True})
        expect_equal(stream.headers["X-Carbon-Note"], "prompt" + note, "stream")
        for path, body, field in (
                ("/v1/dna/score", {"sequences": ["ACG", protein]}, "sequences[1]"), ("/v1/dna/scan", {"sequence": protein}, "sequence"),
                ("/v1/dna/generate", {"prompt": protein, "length": 6}, "prompt"),
                ("/v1/dna/variants", {"sequence": protein, "variants": [{"pos": 1, "ref": "M", "alt": "A"}]}, "sequence"),
                ("/v1/completions", {"prompt": "<dna>" + protein, "max_tokens": 1}, "prompt"), ("/v1/embeddings", {"input": "<dna>" + protein}, "input")):
            refused(server, path, body, 400, field, "looks like a protein")


@case
def what_is_ignored_is_said_once():
    with Server("-v", 4) as server:
        server.good("/v1/embeddings", {"input": "<dna>ACGTAC", "normalize": True, "user": "me"})
        server.good("/v1/completions", {"prompt": "<dna>ACGTAC", "max_tokens": 1, "typical_p": 1})
        note = lambda **fields: server.post("/v1/completions", {"prompt": "<dna>ACGTAC", "max_tokens": 1, **fields}).headers["X-Carbon-Note"]
        expect_equal(note(typical_q=1, Temp=2), "ignored fields: Temp, typical_q", "the header")
        expect_equal(note(user="me", temperature=1), None, "no field is ignored")
        expect_equal(note(**{"x%d" % i: 1 for i in range(20)}).count(","), 8, "a long list")
        expect_equal(note(**{"a\r\nX-Other: 1": 1}), "ignored fields: a\\x0d\\x0aX-Other: 1", "a field with control characters")
    for path, field in (("/v1/embeddings", "normalize"), ("/v1/completions", "typical_p")):
        expect_equal(server.err.count("%s: ignored fields: %s\n" % (path, field)), 1, server.err)


@case
def names_of_models_in_addresses():
    odd = "my lab/50% \u00e9"
    with Server("--served-model-name", "LAB/tiny", "--served-model-name", odd) as server:
        for path, name in (("LAB/tiny", "LAB/tiny"), ("LAB%2Ftiny", "LAB/tiny"), ("LAB%2ftiny", "LAB/tiny"), ("my%20lab/50%25%20%C3%A9", odd)):
            answer = server.get("/v1/models/" + path)
            expect_equal((answer.status, answer.json.get("id")), (200, name), path)
        for path in ("LAB%252Ftiny", "LAB%2tiny", "tiny", "%0A%FF", "LAB%"):
            answer = server.get("/v1/models/" + path)
            expect_equal((answer.status, answer.json["error"]["code"]), (404, "model_not_found"), path)
        expect_equal(server.get("/%76ersion").status, 200, "another path")
        paths = [line for line in server.get("/metrics").body.decode().splitlines() if "LAB" in line and "http_requests" in line]
        expect_equal(len(paths), 1, "one series a path: %s" % paths)


@case
def a_model_has_one_name_in_every_place():
    places, cache = fresh(), fresh()
    shutil.copytree(model(), os.path.join(places, "LAB", "small"))
    revision = os.path.join(cache, "models--LAB--small", "snapshots", "0" * 40)
    shutil.copytree(model(), revision)
    os.makedirs(os.path.join(cache, "models--LAB--small", "refs"))
    write(os.path.join(cache, "models--LAB--small", "refs"), "main", "0" * 40)
    for variable, folder in (("CARBON_MODEL_PATH", places), ("CARBON_MODEL_PATH", places + "/"), ("HF_HUB_CACHE", cache)):
        with Server("-m", "LAB/small", env={variable: folder}) as server:
            expect_equal([m["id"] for m in server.get("/v1/models").json["data"]], ["LAB/small"], variable)


@case
def hosts_of_ipv6():
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return
    for host in ("::1", "[::1]"):
        with Server("--host", host) as server:
            checked = ok("serve", "--check", "--host", host, "--port", server.port)
            expect("[::1]:%d serves" % server.port in checked.text, "check", checked)
        expect("on http://[::1]:" in server.err, server.err)


@case
def keys_and_origins():
    keys = write(fresh(), "keys", "# for the lab\nabc123\n\nsecond-key\n")
    with Server("--api-key", keys, "--cors", "https://lab.example.org") as server:
        for path in ("/health", "/metrics", "/version", "/"):
            expect_equal(server.get(path).status, 200, path)
        expect_equal(server.get("/v1/models").status, 401, "without a key")
        for header in ("Bearer abc12", "Bearer abc1234", "abc123", "Basic abc123", "Bearer # for the lab", "Bearer", "Bearer  ", "Bearerabc123"):
            answer = server.post("/tokenize", {"prompt": "<dna>A"}, headers={"Authorization": header})
            expect_equal((answer.status, answer.json["error"]["code"]), (401, "invalid_api_key"), header)
        for header in ("bearer abc123", "Bearer  abc123", "BEARER \t abc123"):
            expect_equal(server.get("/v1/models", headers={"Authorization": header}).status, 200, header)
        for key in ("abc123", "second-key"):
            answer = server.post("/tokenize", {"prompt": "<dna>A"}, headers={"Authorization": "Bearer " + key})
            expect_equal(answer.status, 200, key)
            expect_equal(answer.headers["Access-Control-Allow-Origin"], "https://lab.example.org", "origin")
        ask = server.ask("OPTIONS", "/v1/completions", headers={"Origin": "https://lab.example.org"})
        expect_equal((ask.status, ask.headers["Access-Control-Allow-Methods"]), (204, "POST, OPTIONS"), "preflight")
        fixed = "authorization, content-type, x-request-id"
        openai = "authorization,content-type,x-stainless-arch,x-stainless-lang,x-stainless-os,x-stainless-package-version," \
                 "x-stainless-retry-count,x-stainless-runtime,x-stainless-runtime-version,x-stainless-timeout"
        for origin, asked, allowed in (("https://lab.example.org", openai, openai), ("https://lab.example.org", "a, B ,c-d", "a, B ,c-d"),
                                       ("https://lab.example.org", "a: b", fixed), ("https://lab.example.org", "a,,b", fixed),
                                       ("https://other.example.org", openai, fixed)):
            ask = server.ask("OPTIONS", "/v1/completions", headers={"Origin": origin, "Access-Control-Request-Method": "POST",
                                                                    "Access-Control-Request-Headers": asked})
            expect_equal((ask.status, ask.headers["Access-Control-Allow-Headers"], ask.headers["Access-Control-Allow-Origin"]),
                         (204, allowed, "https://lab.example.org"), origin + " asks for " + asked)
        checked = ok("serve", "--check", "--port", server.port, "--api-key", keys)
        expect("serves" in checked.text, "check", checked)
        # A hang-up reads the keys again; a file that cannot be used changes nothing.
        for text, count, new in (("third-key\n", 1, 200), ("# none\n", 1, 200), ("a-key\nabc123\n", 2, 401)):
            seen = server.messages().count("SIGHUP") + server.messages().count("the earlier keys stay")
            write(os.path.dirname(keys), "keys", text)
            server.process.send_signal(signal.SIGHUP)
            until = time.monotonic() + 30
            while server.messages().count("SIGHUP") + server.messages().count("the earlier keys stay") == seen:
                expect(time.monotonic() < until, "the keys were not read again: " + server.messages())
                time.sleep(0.01)
            expect_equal(server.get("/v1/models", headers={"Authorization": "Bearer third-key"}).status, new, text)
        expect_equal(server.get("/v1/models", headers={"Authorization": "Bearer abc123"}).status, 200, "a key that has come back")
    expect("SIGHUP: read 1 key of " in server.err and "SIGHUP: read 2 keys of " in server.err, server.err)
    expect("abc123" not in server.err and "second-key" not in server.err, "a key in the log")


@case
def a_hang_up_ends_a_server_without_keys():
    with Server() as server:
        expect_equal(server.stop(signal.SIGHUP), 0, "exit status")
    expect(not os.path.exists(server.port_file), "the port file is left")


@case
def who_can_reach_a_server_without_keys():
    keys = write(fresh(), "keys", "abc123\n")
    for args, warned in ((["--host", "0.0.0.0"], True), (["--host", "0.0.0.0", "--api-key", keys], False), (["--host", "127.0.0.2"], False)):
        with Server(*args) as server:
            pass
        expect_equal("can be reached from other machines" in server.err and "--api-key" in server.err, warned, str(args))


@case
def lines_of_the_log_have_their_time():
    with Server("-v", "4") as server:
        server.get("/health")
    lines = server.err.splitlines()
    odd = [line for line in lines if not re.match(r"\[[MIWE]::\w+\] 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S", line)]
    expect(len(lines) >= 4 and not odd, "lines without a time: %s" % odd)


@case
def a_signal_at_any_time_of_the_start_leaves_nothing():
    """Once the server listens, SIGTERM is a request to end, however soon it comes."""
    for delay in (0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06):
        server = Server("-v", "4")
        log = os.path.join(server.folder, "stderr")
        with open(log, "w") as file:
            process = subprocess.Popen(server.args, stdout=subprocess.DEVNULL, stderr=file, env=server.env)
        time.sleep(delay)
        process.send_signal(signal.SIGTERM)
        status = process.wait(60)
        listened = "listening on" in server.messages()
        expect(status == 0 or (not listened and status in (-signal.SIGTERM, 128 + signal.SIGTERM)),
               "status %d after %s s: %s" % (status, delay, server.messages()))
        expect_equal(os.listdir(server.folder), ["stderr"], "files that are left after %s s" % delay)


need_server()
main()
