"""The bounds of carbon generate: what is drawn keeps them, with the probabilities that the manual page describes.

The exact distribution is a brute force over all continuations: a 6-mer is allowed if some completion by plain search keeps every
bound, and it has the probability of a float64 forward pass, scaled over the allowed ones.
"""
# Left out while unchanged: src/generate src/sampling test/cli/generate_support.py

import collections
import functools
import itertools
import re

import numpy as np

from generate_support import (IUPAC, KMERS, Model, fasta, generate, goodness_of_fit, joint, random_bases)
from harness import carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, ok, write

DRAWS = 12000
CHECKPOINT = dict(seed=3, dtype="f32")
PROMPT = random_bases(36, 11)
LENGTH = 8  # one 6-mer and a cut one
COMPLEMENT = dict(zip("ACGTRYSWKMBDHVN", "TGCAYRSWMKVHDBN"))


@functools.lru_cache(maxsize=None)
def reference():
    return Model(model(**CHECKPOINT))


def regular(motif):
    """A motif and its reverse complement, with overlaps, as a regular expression."""
    both = motif, "".join(COMPLEMENT[c] for c in reversed(motif))
    return re.compile("(?=%s)" % "|".join("".join("[%s]" % IUPAC[c] for c in m) for m in both))


def gc(low, high, window):
    def keeps(prompt, new):
        size = min(window or len(new), len(new))
        starts = range(0, len(new) - size + 1, size)
        parts = [new[at:len(new) if at == starts[-1] else at + size] for at in starts]
        return all(low <= 100 * sum(c in "GC" for c in part) / len(part) <= high for part in parts)
    return keeps


def avoid(*motifs):
    found = [(regular(m), len(m)) for m in motifs]
    return lambda prompt, new: not any(m.start() + size > len(prompt) for pattern, size in found for m in pattern.finditer(prompt + new))


def no_stop(frame):
    """`frame`: new base that begins a codon, from 0."""
    def keeps(prompt, new):
        text, first = prompt + new, (len(prompt) + frame) % 3
        return not any(text[at:at + 3] in ("TAA", "TAG", "TGA") and at + 3 > len(prompt) for at in range(first, len(text), 3))
    return keeps


def max_homopolymer(n):
    return avoid("A" * (n + 1), "C" * (n + 1))


# name -> (options, what they ask for)
BOUNDS = {
    "gc": (["--gc", "40-60"], [gc(40, 60, 0)]),
    "gc_window": (["--gc", "20-50", "--gc-window", 4], [gc(20, 50, 4)]),
    "avoid": (["--avoid", "CA,RNGT"], [avoid("CA", "RNGT")]),
    "no_stop": (["--no-stop", "2,3"], [no_stop(1), no_stop(2)]),
    "max_homopolymer": (["--max-homopolymer", 1], [max_homopolymer(1)]),
    "three": (["--gc", "30-70", "--gc-window", 3, "--avoid", "CGA", "--max-homopolymer", 2],
              [gc(30, 70, 3), avoid("CGA"), max_homopolymer(2)]),
    "with_constraint": (["--no-stop", "prompt", "--max-homopolymer", 2, "--constraint", "NNRTNAAN"],
                        [no_stop(0), max_homopolymer(2)]),
}


def continuations(prompt, keeps, constraint):
    """All new sequences that keep everything."""
    choices = [IUPAC[c] for c in (constraint + "N" * LENGTH)[:LENGTH]]
    texts = ("".join(t) for t in itertools.product(*choices))
    return [t for t in texts if all(k(prompt, t) for k in keeps)]


def exact_distribution(texts, sampler_prompt):
    """text -> probability: each 6-mer among those that begin a text, by the model's probabilities."""
    out = {}
    firsts = sorted({t[:6] for t in texts})
    p = joint(reference().next_logits(sampler_prompt))
    share = {six: p[KMERS.index(six)] for six in firsts}
    total = sum(share.values())
    for six in firsts:
        q = joint(reference().next_logits(sampler_prompt + six))
        ends = sorted({t[6:] for t in texts if t.startswith(six)})
        weight = {end: sum(q[v] for v in range(4096) if KMERS[v].startswith(end)) for end in ends}
        for end in ends:
            out[six + end] = share[six] / total * weight[end] / sum(weight.values())
    return out


def check(name, sampler):
    options, keeps = BOUNDS[name]
    constraint = options[options.index("--constraint") + 1] if "--constraint" in options else ""
    texts = continuations(PROMPT, keeps, constraint)
    expect(0 < len(texts) < 4 ** LENGTH, "%s leaves %d texts" % (name, len(texts)))
    arguments = ["-m", model(**CHECKPOINT), "-l", LENGTH, "--sampler", sampler, *options, fasta([("p", PROMPT)])]
    records = generate(*arguments, "-n", DRAWS, "--seed", 5)
    outside = {r.bases for r in records} - set(texts)
    expect(not outside, "%s: drawn against the bounds: %s" % (name, sorted(outside)[:5]))
    counts = collections.Counter(r.bases[:6] for r in records)
    # Forward passes of the commonest first 6-mers alone; each second one is compared behind its own first one.
    p = joint(reference().next_logits(PROMPT))
    firsts = {six: p[KMERS.index(six)] for six in {t[:6] for t in texts}}
    total = sum(firsts.values())
    problem = goodness_of_fit(counts, {six: v / total for six, v in firsts.items()}, len(records))
    expect(not problem, "%s, first 6-mer: %s" % (name, problem))
    for six, _ in counts.most_common(3):
        exact = exact_distribution([t for t in texts if t.startswith(six)], PROMPT)
        behind = [r for r in records if r.bases.startswith(six)]
        problem = goodness_of_fit(collections.Counter(r.bases for r in behind), exact, len(behind))
        expect(not problem, "%s, bases after %s: %s" % (name, six, problem))
        r = behind[0]
        expect_close(r.logp, np.log(firsts[six] / total * exact[r.bases]), 4e-4, "logp of " + r.bases)


for _name in BOUNDS:
    for _sampler in ("kmer", "chain") if _name in ("three", "with_constraint") else ("kmer",):
        case(name="%s_%s" % (_name, _sampler))(lambda a=_name, b=_sampler: check(a, b))


@case
def the_test_itself_notices():
    """Draws without a bound do not fit the distribution with it."""
    texts = continuations(PROMPT, BOUNDS["no_stop"][1], "")
    p = joint(reference().next_logits(PROMPT))
    firsts = {six: p[KMERS.index(six)] for six in {t[:6] for t in texts}}
    records = generate("-m", model(**CHECKPOINT), "-l", LENGTH, "-n", DRAWS, fasta([("p", PROMPT)]))
    total = sum(firsts.values())
    inside = [r.bases[:6] for r in records if r.bases[:6] in firsts]
    expect(len(inside) < len(records), "nothing is drawn against the bounds")
    wrong = {six: 1 / len(firsts) for six in firsts}
    expect(goodness_of_fit(collections.Counter(inside), wrong, len(inside)), "equal shares pass")
    expect(not goodness_of_fit(collections.Counter(inside), {s: v / total for s, v in firsts.items()}, len(inside)),
           "the share of first 6-mers that keep the bounds")


LONG = ["--gc", "45-55", "--gc-window", 50, "--avoid", "GGTCTC,GAAGAC,CCWGG", "--no-stop", "prompt", "--max-homopolymer", 4]


@case
def long_sequences_keep_all_bounds():
    prompts = [("a", random_bases(61, 2)), ("b", random_bases(120, 3) + "AAAA"), ("c", "ATGNNRYACG"), ("d", "G")]
    for r in generate("-m", model(**CHECKPOINT), "-l", 601, "-n", 3, *LONG, fasta(prompts)):
        prompt = dict(prompts)[r.name.split("/")[0]]
        expect_equal(len(r.bases), 601, "length of " + r.name)
        bounds = [gc(45, 55, 50), avoid("GGTCTC", "GAAGAC", "CCWGG"), no_stop(-len(prompt) % 3), max_homopolymer(4)]
        for i, keeps in enumerate(bounds):
            expect(keeps(re.sub("[^ACGT]", "-", prompt), r.bases), "bound %d of %s" % (i, r.name))


@case
def draft_threads_and_neighbours_change_no_byte():
    prompts = [("a", random_bases(61, 2)), ("b", random_bases(124, 3)), ("c", "ATGNNRYACG")]
    arguments = ["generate", "-v", 1, "-m", model(**CHECKPOINT), "-l", 200, "-n", 3, *LONG]
    alone = ok(*arguments, fasta(prompts)).out
    expect_equal(ok(*arguments, "--threads", 1, "--batch-tokens", 7, fasta(prompts)).out, alone, "one thread, small batches")
    drafted = ok(*arguments, "--draft", model(seed=3, dtype="f32", layers=1), "--draft-tokens", 3, fasta(prompts))
    expect_equal(drafted.out, alone, "with a draft")
    expect_equal(ok(*arguments, "--draft", model(**CHECKPOINT), "--draft-tokens", 4, fasta(prompts)).out, alone, "with itself as draft")
    for greedy in ([], ["--greedy"]):
        first = ok(*arguments, *greedy, fasta(prompts[:1])).out
        expect(ok(*arguments, *greedy, fasta(prompts)).out.startswith(first), "neighbours")


@case
def motifs_in_files():
    d = fresh()
    plain = write(d, "sites.txt", "# BsaI, BbsI\nGGTCTC\n\nGAAGAC  \n")
    records = write(d, "sites.fa", ">BsaI\nGGTC\nTC\n>BbsI\nGAAGAC\n")
    arguments = ["generate", "-v", 1, "-m", model(), "-l", 300, fasta([("p", PROMPT)])]
    expected = ok(*arguments, "--avoid", "GGTCTC,GAAGAC").out
    for motifs in (plain, records, "GGUCuC,GAAGAC", write(d, "rna.txt", "GGUCUC\nGAAGAC\n")):
        expect_equal(ok(*arguments, "--avoid", motifs).out, expected, motifs)


@case
def what_cannot_be_kept_is_refused_before_the_first_draw():
    def run(*options):
        return carbon("generate", "-m", model(), *options, fasta([("p", PROMPT)]))
    expect_failure(run("-l", 600, "--avoid", "S,GGTCTC", "--gc", "40-60", "--max-homopolymer", 3),
                   "no 600 new bases after prompt p keep the bounds on GC content, motifs, runs of one base",
                   "; without that on GC content, or without that on motifs, there are some")
    expect_failure(run("-l", 10, "--gc", "11-19"), "keep the bound on GC content; allow more")
    expect_failure(run("-l", 60, "--avoid", "GAATTC", "--constraint", "NNNGAATTC"), "keep the bound on motifs and the constraint")


@case
def values_that_mean_nothing_are_refused():
    prompt = fasta([("p", PROMPT)])
    empty = write(fresh(), "empty.txt", "# nothing\n")
    for options, message in ((["--gc", "60-40"], "--gc 60-40: expected the lowest and the highest"),
                             (["--gc", "0.4-0.6"], "per cent, such as 40-60"),
                             (["--gc", "50"], "expected the lowest and the highest"),
                             (["--gc", "40-101"], "expected the lowest and the highest"),
                             (["--gc-window", 50], "--gc"),
                             (["--avoid", ""], "--avoid is empty"),
                             (["--avoid", "GGTC,"], "motif 2 of GGTC, is empty"),
                             (["--avoid", "GGTX"], "GGTX"),
                             (["--avoid", empty], "has no motif"),
                             (["--no-stop", "0"], "--no-stop 0: expected prompt"),
                             (["--no-stop", "1,4"], "--no-stop 1,4: expected prompt"),
                             (["--max-homopolymer", 0], "--max-homopolymer"),
                             (["--max-homopolymer", 3, "--sampler", "marginal"], "cannot keep bounds")):
        expect_failure(carbon("generate", "-m", model(), "-l", 60, *options, prompt), message)


if __name__ == "__main__":
    main()
