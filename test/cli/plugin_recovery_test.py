"""carbon +recovery: prompts cut as published, bases against carbon generate --greedy."""

import json
import os
import random

from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, parse_fasta, read, to_fasta, write


def sequences(seed=4, count=25):
    rng = random.Random(seed)
    return [("s%d" % i, "".join(rng.choice("ACGT") for _ in range(rng.randrange(20, 400)))) for i in range(count)]


def recovery(path, *options, before=()):
    return ok("+recovery", "-m", model(), *before, path, "--", *options)


def generated(prompts, length, sampler="kmer"):
    path = write(fresh(), "p.fa", to_fasta([(str(i), p) for i, p in enumerate(prompts)]))
    return [b for _, b in parse_fasta(ok("generate", "-m", model(), "-l", length, "--greedy", "--sampler", sampler, path).text)]


def table(text):
    lines = text.splitlines()
    expect_equal(lines[0], "#group\trows\taccuracy\texact", "header")
    return {f[0]: (int(f[1]), float(f[2]), float(f[3])) for f in (line.split("\t") for line in lines[1:])}


def right_end(bases, context):
    kept = min(context, len(bases) // 6 * 6)
    return bases[len(bases) - kept:]


def share(label, bases):
    return sum(a == b for a, b in zip(label, bases)) / len(label)


@case
def held_out_bases_of_a_fasta():
    path = write(fresh(), "s.fa", to_fasta([(n, b.lower() if i % 3 == 0 else b) for i, (n, b) in enumerate(sequences())]))
    for context, length, sampler in ((6144, 30, "kmer"), (60, 30, "marginal"), (120, 7, "kmer"), (6, 13, "chain")):
        kept = [(n, b) for n, b in sequences() if len(b) >= length + 6]
        prompts = [right_end(b[:-length], context) for _, b in kept]
        expect(all(len(p) % 6 == 0 for p in prompts), "a prompt of broken 6-mers")
        wanted = generated(prompts, length, sampler)
        details, document = os.path.join(fresh(), "d.tsv"), os.path.join(fresh(), "r.json")
        found = recovery(path, "--context", context, "--length", length, "--sampler", sampler, "--details", details, "--json", document)
        rows = [line.split("\t") for line in read(details).decode().splitlines()[1:]]
        expect_equal([(r[0], r[3], r[4]) for r in rows], [(n, b[-length:], g) for (n, b), g in zip(kept, wanted)], "details")
        shares = [share(b[-length:], g) for (_, b), g in zip(kept, wanted)]
        rows_, accuracy, exact = table(found.text)["all"]
        expect_equal((rows_, exact), (len(kept), shares.count(1) / len(kept)), "rows and exact")
        expect_close(accuracy, sum(shares) / len(shares), 1e-9, "accuracy")
        with open(document) as f:
            result = json.load(f)
        expect_equal((result["rows"], result["skipped"], result["sampler"]), (len(kept), len(sequences()) - len(kept), sampler), "JSON")
        expect_close(result["accuracy"], accuracy, 1e-9, "JSON")


@case
def ends_that_are_no_bases_are_left_out():
    kept = [(n, b) for n, b in sequences() if len(b) >= 120][:4]
    bad = [("label", kept[0][1][:-9] + "N" * 9), ("prompt", kept[1][1] + "N" * 66 + "ACGT" * 2), ("short", "ACGT")]
    details = os.path.join(fresh(), "d.tsv")
    options = ("--context", 60, "--length", 8)
    found = recovery(write(fresh(), "s.fa", to_fasta([kept[0], bad[0], kept[1], bad[1], kept[2], bad[2], kept[3]])), *options, "--details", details)
    expect_equal(found.text, recovery(write(fresh(), "k.fa", to_fasta(kept)), *options).text, "the others")
    expect_equal([line.split("\t")[0] for line in read(details).decode().splitlines()[1:]], [n for n, _ in kept], "names")


@case
def a_table_with_groups():
    rng = random.Random(8)
    rows = [(rng.choice(("fungi", "plant")), b[:-10], b[-10:]) for _, b in sequences() if len(b) > 40]
    prompts = [right_end(b, 48) for _, b, _ in rows]
    said = generated(prompts, 6)
    # Half of the labels are what the model says.
    rows = [(g, b, s + "ACGT" if i % 2 else l) for i, ((g, b, l), s) in enumerate(zip(rows, said))]
    path = write(fresh(), "t.tsv", "type\tsequence\tx\tlabel\n" + "".join("%s\t%s\t0\t%s\n" % row for row in rows))
    found = table(recovery(path, "--task", "given", "--context", 48, "--length", 6, "--group", "type").text)
    for group in ("all", "fungi", "plant"):
        shares = [share(l[:6], s) for (g, _, l), s in zip(rows, said) if group in ("all", g)]
        expect_equal((found[group][0], round(found[group][2], 9)), (len(shares), round(shares.count(1) / len(shares), 9)), group)
        expect_close(found[group][1], sum(shares) / len(shares), 1e-9, group)
    expect(found["all"][2] >= 0.4, "the model does not say what it says")
    small = table(recovery(path, "--task", "given", "--context", 48, "--length", 6, "--group", "type", before=("--batch-tokens", "1")).text)
    expect_equal(small, found, "other batches")


@case
def refusals():
    path = write(fresh(), "s.fa", to_fasta(sequences()))
    tiny = write(fresh(), "tiny.fa", ">a\nACGTACGT\n")
    missing = write(fresh(), "m.tsv", "sequence\ttarget\nACGTACGT\tACG\n")
    short = write(fresh(), "s.tsv", "sequence\tlabel\nACGTACGT\tACG\n")
    unknown = write(fresh(), "u.tsv", "sequence\tlabel\nACGTNNNNNN\t%s\n" % ("ACGTAC" * 5))
    out = os.path.join(fresh(), "out")
    for given, args, words in ((path, ("--context", "100"), "multiple of 6"), (path, ("--group", "type"), "--task given"), (tiny, (), "too short"), (unknown, ("--task", "given", "--context", "6"), "u.tsv:2"),
                               (missing, ("--task", "given"), "no column label"), (short, ("--task", "given"), "s.tsv:2"),
                               (short, ("--task", "given", "--group", "type"), "no column type"), (path, ("--length", "0"), "from 1 to 100000")):
        result = carbon("+recovery", "-m", model(), "-o", out, given, "--", *args)
        expect_failure(result, ("[E::recovery]", "[E::main_+recovery]"), words)
        expect(not os.path.exists(out), "an output appeared")


if __name__ == "__main__":
    main()
