"""carbon generate: what it promises on its command line (docs/conventions.md, "Generated sequence"), and that bytes depend on nothing but prompt,
options and place. Distributions are tested in generate_statistics_test.py, metadata and errors in
generate_inputs_test.py."""

import os
import re
import signal
import subprocess
import time

import numpy as np

from generate_support import (IUPAC, PROMPTS, SAMPLERS, Model, fasta, generate, joint, prompts, random_bases, run,
                              sampler_distribution)
from harness import (CARBON, ENV, carbon, case, decompress, expect, expect_close, expect_equal, expect_failure, fresh, is_bgzf,
                     main, model, ok, parse_fasta, peak_memory, read, write)


# ---- output --------------------------------------------------------------------------------------------------------


@case
def headers_names_and_lengths():
    records = generate("-m", model(), "-l", 100, "--seed", 42, prompts())
    expect_equal([r.name for r in records], [name for name, _ in PROMPTS], "names")
    for r in records:
        expect_equal(list(r.fields), ["sample", "seed", "length", "logp"], "fields")
        expect_equal((r.fields["sample"], r.fields["seed"], r.fields["length"]), ("1", "42", "100"), r.header)
        expect_equal(len(r.bases), 100, r.name)
        expect(set(r.bases) <= set("ACGT") and r.logp < 0, r.header)
    records = generate("-m", model(), "-l", 7, "-n", 3, prompts())
    expect_equal([r.name for r in records], ["%s/%d" % (name, i) for name, _ in PROMPTS for i in (1, 2, 3)], "names")
    expect_equal([r.fields["sample"] for r in records], ["1", "2", "3"] * len(PROMPTS), "samples")
    expect_equal({len(r.bases) for r in records}, {7}, "lengths")


@case
def every_length_is_exact():
    path = fasta([("p%d" % i, random_bases(i, i)) for i in range(1, 14)])
    for length in list(range(1, 14)) + [60, 61]:
        for sampler in SAMPLERS:
            for record in generate("-m", model(), "-l", length, "--sampler", sampler, path):
                expect_equal(len(record.bases), length, "%d bases behind %s, %s" % (length, record.name, sampler))
                expect(np.isfinite(record.logp) and record.logp < 0, record.header)


@case
def the_seven_prompts_of_the_published_benchmark():
    rng = np.random.RandomState(5)

    def draw(weights, length=1080):
        return "".join(rng.choice(list("ACGT"), size=length, p=weights))

    codons = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT" if a + b + c not in ("TAA", "TAG", "TGA")]
    kinds = {
        "balanced": draw([.25] * 4), "at_rich": draw([.4, .1, .1, .4]), "gc_rich": draw([.1, .4, .4, .1]),
        "cpg_rich": "".join(rng.choice(["CG", "GC", "CGCG", "AT", "TG"], size=1080))[:1080],
        "orf_like": "ATG" + "".join(rng.choice(codons, size=358)) + "TAA",
        "tata_box": draw([.25] * 4, 500) + "TATAAAAG" + draw([.25] * 4, 572), "cag_repeat": "CAG" * 360,
    }
    path = fasta(sorted(kinds.items()))
    for sampler in SAMPLERS:
        for more in ([], ["--greedy"]):
            records = generate("-m", model(), "-l", 1080, "--sampler", sampler, *more, path)
            expect_equal([(r.name, len(r.bases), set(r.bases) <= set("ACGT")) for r in records],
                         [(name, 1080, True) for name in sorted(kinds)], "%s %s" % (sampler, more))


@case
def lines_and_prompts_in_the_output():
    path = prompts()
    whole = parse_fasta(run("-l", 130, "-L", 0, path).text)
    for width in (60, 1, 7, 1000):
        text = run("-l", 130, "-L", width, path).text
        expect_equal(parse_fasta(text), whole, "width %d" % width)
        longest = max(len(line) for line in text.splitlines() if not line.startswith(">"))
        expect_equal(longest, min(width, 130), "longest line")
    expect_equal(run("-l", 130, path).out, run("-l", 130, "-L", 60, path).out, "default width")
    expect_equal(len(run("-l", 130, "-L", 0, path).lines()), 2 * len(PROMPTS), "lines of -L 0")
    both = parse_fasta(run("-l", 130, "--include-prompt", path).text)
    expect_equal(both, [(name, prompt + new) for (name, prompt), (_, new) in zip(PROMPTS, whole)], "with prompts")
    expect_equal([r.fields["length"] for r in generate("-m", model(), "-l", 130, "--include-prompt", path)],
                 ["130"] * len(PROMPTS), "length= counts new bases")


@case
def inputs_and_outputs():
    path, directory = prompts(), fresh()
    want = run("-l", 50, path).out
    expect_equal(run("-l", 50, "-", stdin=read(path)).out, want, "standard input")
    expect_equal(run("-l", 50, stdin=read(path)).out, want, "no file named")
    out = os.path.join(directory, "out.fa.gz")
    run("-l", 50, "-o", out, path)
    expect(is_bgzf(read(out)), "not BGZF")
    expect_equal(decompress(read(out)), want, "contents of out.fa.gz")
    failed = carbon("generate", "-m", model(), "-l", 50, "-o", "/dev/full", path)
    expect_failure(failed, "/dev/full")


@case
def output_comes_as_it_is_made():
    """One sample at a time, all of them smaller than a buffer: the first is out long before the last."""
    args = ["generate", "-q", "-m", model(), "-l", 3000, "-n", 12, "--batch-tokens", 1, fasta(PROMPTS[:1])]
    with subprocess.Popen([CARBON, *map(str, args)], env=ENV, stdout=subprocess.PIPE) as process:
        line = process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        os.set_blocking(process.stdout.fileno(), False)
        early = process.stdout.read() or b""
        os.set_blocking(process.stdout.fileno(), True)
        process.send_signal(signal.SIGCONT)
        rest = early + process.stdout.read()
    expect(line.startswith(b">first/1 ") and rest.count(b">") == 11 and process.returncode == 0, "records")
    expect(early.count(b">") < 11, "the first record came with the last")


@case
def progress_in_bases():
    """A line a minute in a log file is not for a test to wait for; a terminal is redrawn at once."""
    out = os.path.join(fresh(), "out.fa")
    args = ["generate", "-m", model(), "-l", 20000, "-n", 4, "-o", out, fasta(PROMPTS[:1])]
    terminal, other = os.openpty()
    with subprocess.Popen([CARBON, *map(str, args)], env=ENV, stderr=other) as process:
        os.close(other)
        shown = b""
        while True:
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
    os.close(terminal)
    expect_equal(process.returncode, 0, "status")
    done = [int(n) for n in re.findall(rb"\[generate\] (\d+) bp, [0-9.]+/s, \d+ s, first", shown)]
    expect(done and done == sorted(done) and done[0] > 0 and done[-1] <= 80000, "bases shown: %s" % done)


@case
def unconditional():
    record, = generate("-m", model(), "-l", 64, "--unconditional")
    expect_equal((record.name, len(record.bases)), ("unconditional", 64), "record")
    records = generate("-m", model(), "-l", 64, "--unconditional", "-n", 4)
    expect_equal([r.name for r in records], ["unconditional/%d" % i for i in (1, 2, 3, 4)], "names")
    expect_equal(records[0].bases, record.bases, "the first sample does not depend on the others")
    expect_equal(len({r.bases for r in records}), 4, "different samples")


# ---- what is drawn -------------------------------------------------------------------------------------------------


def walk(reference, prompt, length, sampler, constraint=""):
    """Greedy bases and logp by the definition, from full forward passes."""
    given = len(prompt) % 6
    whole, sets = prompt[:len(prompt) - given], prompt[len(prompt) - given:].upper() + constraint
    context, new, logp, drawn = whole, "", 0.0, 0
    while len(new) < length:
        allowed = (sets[6 * drawn:6 * drawn + 6] + "NNNNNN")[:6]
        p = joint(reference.next_logits(context), allowed)
        cube = p.reshape((4,) * 6)
        marginals = [cube.sum(axis=tuple(i for i in range(6) if i != j)) for j in range(6)]
        if sampler == "kmer":
            digits = np.unravel_index(int(p.argmax()), cube.shape)
        elif sampler == "marginal":
            digits = [int(m.argmax()) for m in marginals]
        else:
            digits = []
            for j in range(6):
                digits.append(int(cube[tuple(digits)].reshape(4, -1).sum(1).argmax()))
        first = given if drawn == 0 else 0
        last = min(6, first + length - len(new))
        if sampler == "marginal":
            logp += sum(np.log(marginals[j][digits[j]]) for j in range(first, last))
        else:  # the prompt's bases are fixed, or summed over where it leaves them open
            slices = tuple(slice(None) if j < first or j >= last else digits[j] for j in range(6))
            logp += np.log(cube[slices].sum())
        six = "".join("ATCG"[d] for d in digits)
        context, new, drawn = context + six, new + six[first:last], drawn + 1
    return new, logp


@case
def greedy_is_brute_force_on_full_forward_passes():
    checkpoint = model(seed=3, dtype="f32")
    reference = Model(checkpoint)
    cases = [("p", random_bases(60, 1), ""), ("q", random_bases(40, 2), ""), ("r", random_bases(29, 3), "RRNNCYS"),
             ("s", "ACGTNNNACGTACGTAN", "W")]
    for name, prompt, constraint in cases:
        for sampler in SAMPLERS:
            more = ["--constraint", constraint] if constraint else []
            record, = generate("-m", checkpoint, "-l", 50, "--greedy", "--sampler", sampler, *more, fasta([(name, prompt)]))
            bases, logp = walk(reference, prompt, 50, sampler, constraint)
            expect_equal(record.bases, bases, "%s %s" % (name, sampler))
            expect_close(record.logp, logp, 2e-3, "logp of %s %s" % (name, sampler))


@case
def logp_is_that_of_the_untempered_distribution():
    checkpoint = model(seed=3, dtype="f32")
    p = joint(Model(checkpoint).next_logits("ACGTACGGTTCA"), "NNNNNN")
    path = fasta([("p", "ACGTACGGTTCA")])
    for sampler in SAMPLERS:
        exact = sampler_distribution(p, sampler)
        for more in ([], ["-T", 3], ["--top-k", 2], ["--top-p", 0.5], ["--greedy"]):
            record, = generate("-m", checkpoint, "-l", 6, "--sampler", sampler, *more, path)
            index = sum("ATCG".index(c) * 4 ** (5 - j) for j, c in enumerate(record.bases))
            expect_close(record.logp, np.log(exact[index]), 1e-4, "%s %s" % (sampler, more))


@case
def constraints_hold_exactly():
    constraint = "NNNACGTRYSWKMBDHVNNACGTTTR" * 3
    for sampler in SAMPLERS:
        for more in ([], ["--greedy"], ["-T", 5], ["--top-k", 1], ["--top-p", 0.3]):
            for r in generate("-m", model(), "-l", 90, "-n", 2, "--sampler", sampler, "--constraint", constraint, *more, prompts()):
                bad = [i for i, (c, a) in enumerate(zip(r.bases, constraint)) if c not in IUPAC[a]]
                expect(not bad, "%s %s: %s breaks the constraint at %s" % (sampler, more, r.name, bad[:5]))
    fixed, = generate("-m", model(), "-l", 12, "--constraint", "acgtacgtacgt", fasta([("p", "ACGTA")]))
    expect_equal((fixed.bases, fixed.logp), ("ACGTACGTACGT", 0.0), "all bases fixed")
    expect_equal(run("-l", 20, "--constraint", "AUGuRNNU", prompts()).out, run("-l", 20, "--constraint", "ATGTRNNT", prompts()).out, "U is T")


@case
def constraint_files():
    common = write(fresh(), "one.fa", ">any\nGGGG\nCC\n")
    expect_equal(run("-l", 20, "--constraint-file", common, prompts()).out,
                 run("-l", 20, "--constraint", "GGGGCC", prompts()).out, "one record is for all prompts")
    each = fasta([(name, "ACGTRYN"[i:i + 2] + "TTT") for i, (name, _) in enumerate(reversed(PROMPTS))])
    together = run("-l", 20, "--constraint-file", each, prompts()).out
    single = b""
    for i, (name, _) in enumerate(PROMPTS):
        alone = run("-l", 20, "--constraint", "ACGTRYN"[4 - i:6 - i] + "TTT", prompts())
        lines = alone.text.split(">")[i + 1]
        single += (">" + lines).encode()
    expect_equal(together, single, "a record for each prompt")
    expect_equal(run("-l", 20, "--unconditional", "--constraint-file", common).text.splitlines()[1][:6], "GGGGCC", "unconditional")


@case
def letters_that_are_no_bases():
    """N and the like are <oov> as context; in the last, partial 6-mer they leave their place open."""
    first, second = "ACGTACGGNTCAACGTTT", "ACGTACGG-TCAACGTTT"
    a, b = generate("-m", model(), "-l", 30, "--greedy", fasta([("p", first), ("q", second)]))
    expect_equal(a.bases, b.bases, "any other letter is <oov>")
    lower, = generate("-m", model(), "-l", 30, "--greedy", fasta([("p", first.lower())]))
    expect_equal(lower.bases, a.bases, "lower case")
    u, t = generate("-m", model(), "-l", 30, "--greedy", fasta([("p", "ACGTACGGUTCAACGTTT"), ("q", "ACGTACGGTTCAACGTTT")]))
    expect_equal(u.bases, t.bases, "U is T")
    expect(t.bases != a.bases, "T is a base")


# ---- invariance ----------------------------------------------------------------------------------------------------

VARIANTS = [["--sampler", "kmer"], ["--sampler", "marginal", "-T", 0.8], ["--sampler", "chain", "--top-p", 0.9],
            ["--greedy"], ["--sampler", "kmer", "--top-k", 20, "--constraint", "NNRYNNACG"]]


@case
def same_bytes_for_threads_and_batches():
    path = prompts()
    for variant in VARIANTS:
        want = run("-l", 200, "-n", 3, *variant, path).out
        for more in (["-@", 1], ["-@", 3], ["--batch-tokens", 1], ["--batch-tokens", 7], ["--batch-tokens", 150],
                     ["-@", 1, "--batch-tokens", 1], ["--batch-tokens", 100000]):
            expect_equal(run("-l", 200, "-n", 3, *variant, *more, path).out, want, "%s with %s" % (variant, more))


@case
def same_bytes_alone_and_in_company():
    """A record's draws depend on its number and sample: other prompts, their order and -n do not matter."""
    order = [3, 0, 4, 2, 1]
    for variant in VARIANTS:
        together = {r.name: r for r in generate("-m", model(), "-l", 80, "--seed", 9, *variant, prompts())}
        if "--greedy" in variant:
            shuffled = generate("-m", model(), "-l", 80, "--seed", 9, *variant, fasta([PROMPTS[i] for i in order]))
            expect_equal([(r.header, r.bases) for r in shuffled],
                         [(together[PROMPTS[i][0]].header, together[PROMPTS[i][0]].bases) for i in order], "shuffled")
        for i, (name, bases) in enumerate(PROMPTS):
            others = [("other%d" % j, random_bases(13 * j + 5, 40 + j)) for j in range(5)]
            others[i] = (name, bases)
            found, = (r for r in generate("-m", model(), "-l", 80, "--seed", 9, *variant, fasta(others)) if r.name == name)
            expect_equal((found.header, found.bases), (together[name].header, together[name].bases), "%s %s" % (variant, name))
        many = generate("-m", model(), "-l", 80, "--seed", 9, "-n", 40, *variant, prompts())
        expect_equal([(r.bases, r.logp) for r in many[::40]], [(together[n].bases, together[n].logp) for n, _ in PROMPTS], "-n 40")


@case
def seeds_records_and_samples_differ():
    path = fasta([("p%d" % i, PROMPTS[0][1]) for i in range(3)])
    seen = {r.bases for seed in (0, 1, 2 ** 40) for r in generate("-m", model(), "-l", 60, "-n", 3, "--seed", seed, path)}
    expect_equal(len(seen), 27, "different sequences")


@case
def many_prompts_in_order():
    records = [("p%d" % i, random_bases(1 + i % 29, i)) for i in range(700)]
    got = generate("-m", model(), "-l", 9, "-n", 2, "--batch-tokens", 100, fasta(records))
    expect_equal([r.name for r in got], ["p%d/%d" % (i, s) for i in range(700) for s in (1, 2)], "order")


@case
def memory_does_not_grow_with_the_prompts():
    tiny = model(hidden=16, layers=1, heads=1, kv_heads=1, head_dim=16, intermediate=32, max_positions=128)
    source, peaks = random_bases(5000, 6), []
    for n in (1500, 9000):  # the larger one: 6 MB of prompts, and 4 MB of their tokens
        path = fasta([("p%d" % i, source[i % 4000:i % 4000 + 700]) for i in range(n)])
        peaks.append(peak_memory("generate", "-q", "-m", tiny, "-l", 8, "-@", 1, "--batch-tokens", 500, "--draft", tiny, path))
    expect(peaks[1] < peaks[0] + 4000, "%d KiB for 1,500 prompts, %d KiB for 9,000" % tuple(peaks))


# ---- drafting ------------------------------------------------------------------------------------------------------

PLANS = [[], ["-T", 0.7], ["--top-k", 3], ["--top-p", 0.7], ["-T", 1.5, "--top-k", 3, "--top-p", 0.9],
         ["--constraint", "NNNACGTRYSWKMNNNNNACG"], ["-T", 0.6, "--constraint", "NNNACGTRYSWKMNNNNNACG"], ["--greedy"]]


def same_with_drafts(sampler):
    # A shallow copy of the target, to agree sometimes; itself, to agree always; another model, hardly ever.
    target = model(layers=3)
    drafts = [target, model(layers=2), model(seed=8, dna_start=37, vocab=4352), model(max_positions=24)]
    path = prompts()
    for plan in PLANS:
        args = ["-l", 120, "-n", 2, "--sampler", sampler, "--seed", 4, *plan, path]
        want = ok("generate", "-v", 1, "-m", target, *args).out
        for draft, k in [(drafts[0], 4), (drafts[1], 1), (drafts[1], 5), (drafts[1], "auto"), (drafts[2], 3), (drafts[3], 4)]:
            got = ok("generate", "-v", 1, "-m", target, "--draft", draft, "--draft-tokens", k, *args)
            expect_equal(got.out, want, "%s %s, draft %d, %s at a time" % (sampler, plan, drafts.index(draft), k))


for _sampler in SAMPLERS:
    case(name="same_bytes_with_a_draft_" + _sampler)(lambda sampler=_sampler: same_with_drafts(sampler))


@case
def drafts_are_tested_and_reported():
    args = ["generate", "-m", model(), "-l", 300, fasta(PROMPTS[:1])]
    result = ok(*args, "--draft", model(), "--draft-tokens", 4)
    expect("49 6-mers drafted" not in result.err and "accepted (100.0 %)" in result.err and result.messages("M"), "report", result)
    poor = ok(*args, "--draft", model(seed=8), "--draft-tokens", 4)
    expect("accepted (100.0 %)" not in poor.err, "another model agrees always?", poor)
    off = ok("generate", "-m", model(), "-l", 3000, "--draft", model(seed=8), fasta(PROMPTS[:1]))
    expect(any("drafting is off" in line for line in off.messages("M")), "a useless draft stays on", off)
    expect_equal(off.out, ok("generate", "-m", model(), "-l", 3000, fasta(PROMPTS[:1])).out, "output")
    for batch in (1, 5, 64):
        got = ok(*args, "--draft", model(), "--draft-tokens", 4, "--batch-tokens", batch)
        expect_equal(got.out, result.out, "batch of %d tokens" % batch)


if __name__ == "__main__":
    main()
