"""carbon +niah: its data sets against a restatement in Python, its values against carbon generate."""

import json
import os
import random
import re

from harness import (bgzip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, parse_fasta, read, to_fasta,
                     write)
from plugin_support import SplitMix64

# ---- the restatement


def piece(runs, length, rng):
    places = [(run, at) for run in runs for at in range(len(run) - length + 1)]
    if places:
        run, at = places[rng.below(len(places))]
        return run[at:at + length]
    joined = "".join(runs)
    at = rng.below(len(joined) - length + 1)
    return joined[at:at + length]


def row(sequences, number, context, changes, depth, seed):
    rng = SplitMix64(SplitMix64(SplitMix64(seed).next() + number).next())
    runs = [run for sequence in sequences for run in re.findall("[ACGT]+", sequence.upper())]
    pairs = 9 if changes else 1
    length = 6 * (context - 5) - 24 - 48 * pairs
    hay = piece(runs, length, rng)
    draw = lambda: "".join("ACGT"[rng.below(4)] for _ in range(24))
    key = draw()
    value = draw()
    needles = [(int(depth * (length // 6)), key + value)]
    for _ in range(pairs - 1):
        other, places = list(key), list(range(24))
        for i in range(changes):
            j = i + rng.below(24 - i)
            places[i], places[j] = places[j], places[i]
            other[places[i]] = [x for x in "ACGT" if x != other[places[i]]][rng.below(3)]
        pair = "".join(other) + draw()
        needles.append((rng.below(length // 6 + 1), pair))
    prompt = ""
    for slot in range(length // 6 + 1):
        prompt += "".join(pair for at, pair in needles if at == slot) + hay[6 * slot:6 * slot + 6]
    return key, value, draw(), prompt + key


def haystack(seed=1, runs=(700, 1300, 400)):
    rng = random.Random(seed)
    return ["NN".join("".join(rng.choice("ACGTacgt") for _ in range(length)) for length in runs), "ACGNNACGT"]


def fasta(sequences):
    return write(fresh(), "hay.fa", to_fasta([("s%d" % i, s) for i, s in enumerate(sequences)]))


def niah(path, *options, before=()):
    return ok("+niah", "-m", model(), *before, path, "--", *options)


def data_of(path, *options):
    out = os.path.join(fresh(), "data.tsv")
    niah(path, "--write-data", out, *options)
    lines = read(out).decode().splitlines()
    expect_equal(lines[0], "uid\tdepth\tkey\tvalue\tnegative\tprompt", "header")
    return [tuple(line.split("\t")) for line in lines[1:]]


DEPTHS = "0.1,0.25,0.5,0.75,0.9"  # the default, as published
for task, changes in (("niah", 0), ("neardup_d4", 4), ("neardup_d2", 2), ("neardup_d1", 1)):
    for context, seed, depths in ((150, 0, DEPTHS), (301, 99, "0,1,0.5")):
        @case(name="data set %s, context %d, seed %d" % (task, context, seed))
        def data_set(task=task, changes=changes, context=context, seed=seed, depths=depths):
            sequences = haystack()
            options = ["--task", task, "--context", context, "--seed", seed, "--rows", 7, "--depths", depths]
            names = depths.split(",")
            wanted = [(str(i), names[i % len(names)], *row(sequences, i, context, changes, float(names[i % len(names)]), seed))
                      for i in range(7)]
            found = data_of(fasta(sequences), *options)
            expect_equal(found, wanted, "rows")
            for _, _, key, value, negative, prompt in found:
                expect_equal(len(prompt), 6 * (context - 5), "prompt and value fill the context")
                expect(key + value in prompt and prompt.endswith(key), "no needle in " + prompt)
                expect(negative != value and negative not in prompt, "the wrong value is in the prompt")
                expect(prompt.index(key + value) % 6 == 0, "the needle is not between 6-mers")
                decoys = [prompt[i:i + 24] for i in range(0, len(prompt) - 47, 6)
                          if sum(a != b for a, b in zip(prompt[i:i + 24], key)) == changes]
                if changes:
                    expect(len(decoys) >= 8, "%d decoys" % len(decoys))


@case
def short_runs_are_strung_together():
    sequences = haystack(runs=(90, 120, 60, 150, 200))
    found = data_of(fasta(sequences), "--context", 95, "--rows", 3, "--depths", "0.5")
    expect_equal(found, [(str(i), "0.5", *row(sequences, i, 95, 0, 0.5, 0)) for i in range(3)], "rows")


@case
def the_values_are_those_of_carbon_generate():
    for sampler in ("kmer", "marginal"):
        details, document = os.path.join(fresh(), "d.tsv"), os.path.join(fresh(), "r.json")
        out = os.path.join(fresh(), "data.tsv")
        options = ["--context", 120, "--rows", 11, "--task", "neardup_d1", "--sampler", sampler]
        found = niah(fasta(haystack()), *options, "--write-data", out, "--details", details, "--json", document)
        rows = [line.split("\t") for line in read(out).decode().splitlines()[1:]]
        prompts = write(fresh(), "p.fa", to_fasta([(r[0], r[5]) for r in rows]))
        generated = [b for _, b in parse_fasta(ok("generate", "-m", model(), "-l", 24, "--greedy", "--sampler", sampler, prompts).text)]
        shown = [line.split("\t") for line in read(details).decode().splitlines()[1:]]
        expect_equal([line[5] for line in shown], generated, "what was generated")
        shares = [sum(a == b for a, b in zip(r[3], g)) / 24 for r, g in zip(rows, generated)]
        lines = [line.split("\t") for line in found.lines()]
        expect_equal(lines[0], ["#depth", "rows", "exact_match", "base_accuracy"], "header")
        expect_equal(lines[1][:3], ["all", "11", "%g" % (shares.count(1) / 11)], "all")
        expect_close(float(lines[1][3]), sum(shares) / 11, 1e-9, "accuracy of bases")
        expect_equal([(line[0], line[1]) for line in lines[2:]], [("0.1", "3")] + [(d, "2") for d in DEPTHS.split(",")[1:]], "depths")
        for depth, line in zip(DEPTHS.split(","), lines[2:]):
            own = [s for r, s in zip(rows, shares) if r[1] == depth]
            expect_close(float(line[3]), sum(own) / len(own), 1e-9, "depth " + depth)
        with open(document) as f:
            result = json.load(f)
        expect_close(result["base_accuracy"], sum(shares) / 11, 1e-12, "JSON")
        expect_equal((result["task"], result["context"], [d["depth"] for d in result["depths"]]), ("neardup_d1", 120, DEPTHS.split(",")), "JSON")


@case
def seeds_share_no_row():
    path = fasta(haystack())
    first, second = (data_of(path, "--context", 95, "--rows", 6, "--depths", "0.5", "--seed", seed) for seed in (0, 1))
    expect(not {row[5] for row in first} & {row[5] for row in second}, "two seeds have a prompt in common")


def token_means(sequences, last):
    """Of the last 6-mers of each sequence, whose beginning fits one window."""
    path = write(fresh(), "s.fa", to_fasta([(str(i), s) for i, s in enumerate(sequences)]))
    values = {}
    for line in ok("score", "-m", model(), "--level", "token", "-O", "bedgraph", "--window", 6 * 254, path).table():
        name, _, _, value = line.split("\t")
        values.setdefault(int(name), []).append(float(value))
    return [sum(values[i][-last:]) / last for i in range(len(sequences))]


@case
def likelihoods_are_those_of_carbon_score():
    # With 128 positions, carbon score would divide the sequences into windows; here all of them is context.
    small = model(max_positions=128)
    out, details, document = (os.path.join(fresh(), name) for name in ("data.tsv", "d.tsv", "r.json"))
    found = ok("+niah", "-m", small, fasta(haystack()), "--", "--context", 128, "--rows", 7, "--likelihood", "--task", "neardup_d1",
               "--write-data", out, "--details", details, "--json", document)
    rows = [line.split("\t") for line in read(out).decode().splitlines()[1:]]
    expect(all(len(r[5]) + 24 > 6 * 126 for r in rows), "a sequence that fits the default window")
    right, wrong = (token_means([r[5] + r[column] for r in rows], 4) for column in (3, 4))
    shown = [line.split("\t") for line in read(details).decode().splitlines()]
    expect_equal(shown[0][6:], ["value_ll", "ll_margin"], "header of the details")
    for line, a, b in zip(shown[1:], right, wrong):
        expect_close(float(line[6]), a, 1e-4, "likelihood of the value")
        expect_close(float(line[7]), a - b, 2e-4, "margin")
    lines = [line.split("\t") for line in found.lines()]
    expect_equal(lines[0][4:], ["ll_correct", "ll_margin"], "header")
    correct = sum(a > b for a, b in zip(right, wrong))
    expect(0 < correct < 7, "the choice of rows says little")
    expect_close(float(lines[1][4]), correct / 7, 1e-9, "ll_correct")
    expect_close(float(lines[1][5]), sum(right) / 7 - sum(wrong) / 7, 2e-4, "ll_margin")
    with open(document) as f:
        result = json.load(f)
    expect_close(result["ll_correct"], correct / 7, 1e-12, "JSON")
    expect_close(result["ll_margin"], sum(d["ll_margin"] * d["rows"] for d in result["depths"]) / 7, 1e-9, "depths")
    # A table as published, with whole sequences, gives the same.
    whole = write(fresh(), "w.tsv", "uid\tprompt\tnegative_sequence\tvalue\n" +
                  "".join("%s\t%s\t%s\t%s\n" % (r[0], r[5], r[5] + r[4], r[3]) for r in rows))
    for table in (out, whole):
        again = ok("+niah", "-m", small, "--batch-tokens", "1", table, "--", "--task", "given", "--likelihood").lines()
        expect_equal(again[1], found.lines()[1], "read back")


@case
def given_prompts_and_batches():
    out = os.path.join(fresh(), "data.tsv")
    plain = niah(fasta(haystack()), "--context", 100, "--rows", 9, "--write-data", out).text
    expect_equal(niah(out, "--task", "given").text, plain, "prompts read back")
    expect_equal(niah(bgzip(out), "--task", "given", before=("--batch-tokens", "1", "-@", "1")).text, plain, "other batches")
    rows = [line.split("\t") for line in read(out).decode().splitlines()[1:]]
    # A value that is what the model says is a match; values of several lengths may come in one table.
    prompts = write(fresh(), "p.fa", to_fasta([(r[0], r[5]) for r in rows[:4]]))
    said = [b for _, b in parse_fasta(ok("generate", "-m", model(), "-l", 24, "--greedy", prompts).text)]
    other = write(fresh(), "o.tsv", "value\tprompt\n" + "".join("%s\t%s\n" % (s[:24 - 6 * (i // 2)], r[5]) for i, (s, r) in enumerate(zip(said, rows))))
    lines = niah(other, "--task", "given").lines()
    expect_equal(lines[1:], ["all\t4\t1\t1", ".\t4\t1\t1"], "what the model says itself")


@case
def refusals():
    path = fasta(haystack())
    out = os.path.join(fresh(), "out")
    table = write(fresh(), "t.tsv", "prompt\tkey\nACGTAC\tACG\n")
    plain = write(fresh(), "p.tsv", "prompt\tvalue\nACGTAC\tACGTAC\n")
    unknown = write(fresh(), "u.tsv", "prompt\tvalue\nNNNNNN\tACGTAC\n")
    ragged = write(fresh(), "r.tsv", "prompt\tvalue\tnegative\nACGTACG\tACGTAC\tCCCCCC\n")
    foreign = write(fresh(), "f.tsv", "prompt\tvalue\tnegative_sequence\nACGTAC\tACGTAC\tCCCCCCCCCCCC\n")
    for given, args, words in ((path, ("--context", "4000"), "a smaller --context"), (path, ("--context", "20"), "--context: expected a number from 82"),
                               (path, ("--depths", "0.5,2"), "from 0 to 1"), (path, ("--task", "neardup_d3"), "neardup_d4"),
                               (table, ("--task", "given"), "no column value"), (unknown, ("--task", "given"), "u.tsv:2"),
                               (plain, ("--task", "given", "--likelihood"), "negative_sequence"),
                               (ragged, ("--task", "given", "--likelihood"), "r.tsv:2"),
                               (foreign, ("--task", "given"), "f.tsv:2")):
        expect_failure(carbon("+niah", "-m", model(), "-o", out, given, "--", *args), ("[E::niah]", "[E::main_+niah]"), words)
        expect(not os.path.exists(out), "an output appeared")
    long = fasta(haystack(runs=(4000,)))
    expect_failure(carbon("+niah", "-m", model(max_positions=256), long, "--", "--context", "400", "--rows", "1"), "context of 256 tokens")


if __name__ == "__main__":
    main()
