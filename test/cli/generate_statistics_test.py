"""The samplers of carbon generate against their exact distributions, computed by the formulas of the manual page from a
forward pass of our own in float64. In every one of these cases a draft changes no byte.

Each test draws 12,000 samples with a fixed seed and applies Pearson's chi-square to whole 6-mers (or what is written of
them) and to each base. A right program fails one such test with probability 2e-6 over the choice of seeds (about 400 are
made: 8e-4 for all together); with the seeds fixed it always passes or always fails. the_test_itself_notices shows that
they have the power to tell a temperature of 1.1 from 1.
"""
# Left out while unchanged: src/generate src/sampling test/cli/generate_support.py

import collections

import numpy as np

from generate_support import (KMERS, SAMPLERS, Model, by_bases, fasta, generate, goodness_of_fit, joint, kmer_index,
                              random_bases, sampler_distribution)
from harness import case, expect, expect_close, expect_equal, main, model, ok

DRAWS = 12000
CHECKPOINT = dict(seed=3, dtype="f32")
PROMPT = random_bases(36, 11)

# name -> (options of the program, options of the exact distribution); top-k differs in scale between samplers.
WARPS = {
    "plain": ([], [], {}, {}),
    "cold": (["-T", 0.7], ["-T", 0.7], dict(temperature=0.7), dict(temperature=0.7)),
    "hot": (["-T", 2.5], ["-T", 2.5], dict(temperature=2.5), dict(temperature=2.5)),
    "top_k": (["--top-k", 40], ["--top-k", 2], dict(top_k=40), dict(top_k=2)),
    "top_p": (["--top-p", 0.8], ["--top-p", 0.8], dict(top_p=0.8), dict(top_p=0.8)),
    "all": (["-T", 1.3, "--top-k", 300, "--top-p", 0.6], ["-T", 1.3, "--top-k", 3, "--top-p", 0.6],
            dict(temperature=1.3, top_k=300, top_p=0.6), dict(temperature=1.3, top_k=3, top_p=0.6)),
}

# name -> (bases of the prompt beyond a multiple of 6, constraint)
PLACES = {"free": ("", ""), "constraint": ("", "NRNYSN"), "partial": ("ACGT", ""), "partial_constraint": ("G", "NNWKV"),
          "open_prompt": ("ARN", "")}

_reference = []


def reference():
    if not _reference:
        _reference.append(Model(model(**CHECKPOINT)))
    return _reference[0]


def fits(records, exact, what):
    """Whole outputs and single bases against the distribution `exact` of the text."""
    counts = collections.Counter(r.bases for r in records)
    problem = goodness_of_fit(counts, exact, len(records))
    expect(not problem, "%s: %s" % (what, problem))
    for j in range(len(records[0].bases)):
        base_exact = collections.Counter()
        for text, p in exact.items():
            base_exact[text[j]] += p
        problem = goodness_of_fit(collections.Counter(r.bases[j] for r in records), base_exact, len(records))
        expect(not problem, "%s, base %d: %s" % (what, j + 1, problem))


def one_kmer(sampler, warp, place):
    tail, constraint = PLACES[place]
    options, exact_options = (WARPS[warp][0], WARPS[warp][2]) if sampler == "kmer" else (WARPS[warp][1], WARPS[warp][3])
    p = joint(reference().next_logits(PROMPT), (tail + constraint + "NNNNNN")[:6])
    written = by_bases(sampler_distribution(p, sampler, **exact_options), len(tail), 6)
    args = ["--constraint", constraint] if constraint else []
    records = generate("-m", model(**CHECKPOINT), "-l", 6 - len(tail), "-n", DRAWS, "--sampler", sampler, "--seed",
                       17, *options, *args, fasta([("p", PROMPT + tail)]))
    fits(records, written, "%s %s %s" % (sampler, warp, place))
    # Behind the same prompt, longer: a draft that agrees now and then changes no byte.
    more = ["generate", "-v", 1, "-m", model(**CHECKPOINT), "-l", 31, "-n", 6, "--sampler", sampler, *options, *args,
            fasta([("p", PROMPT + tail)])]
    expect_equal(ok(*more, "--draft", model(seed=3, dtype="f32", layers=1), "--draft-tokens", 3).out, ok(*more).out, "with a draft")
    untempered = by_bases(sampler_distribution(p, sampler), len(tail), 6)
    for r in records[:200]:
        expect_close(r.logp, np.log(untempered[r.bases]), 2e-4, "logp of %s" % r.bases)


for _sampler in SAMPLERS:
    for _warp in WARPS:
        for _place in PLACES:
            # Every warp where nothing is fixed, and where much is; the other places with two of them.
            if _place in ("free", "partial_constraint") or _warp in ("plain", "all"):
                case(name="%s_%s_%s" % (_sampler, _warp, _place))(
                    lambda a=_sampler, b=_warp, c=_place: one_kmer(a, b, c))


def later_kmer(sampler):
    """The second and the cut third 6-mer, behind a first one that the constraint fixes."""
    first = "GATTAC"
    p2 = joint(reference().next_logits(PROMPT + first))
    records = generate("-m", model(**CHECKPOINT), "-l", 14, "-n", DRAWS, "--sampler", sampler, "--constraint", first,
                       fasta([("p", PROMPT)]))
    counts = collections.Counter(r.bases[6:12] for r in records)
    problem = goodness_of_fit(counts, dict(zip(KMERS, sampler_distribution(p2, sampler))), len(records))
    expect(not problem, "second 6-mer: %s" % problem)
    # The third one's first two bases, behind the commonest second ones.
    for second, _ in counts.most_common(3):
        p3 = joint(reference().next_logits(PROMPT + first + second))
        behind = [r.bases[12:] for r in records if r.bases[6:12] == second]
        exact = by_bases(sampler_distribution(p3, sampler), 0, 2)
        problem = goodness_of_fit(collections.Counter(behind), exact, len(behind))
        expect(not problem, "bases behind %s: %s" % (second, problem))
        r = next(r for r in records if r.bases[6:12] == second)
        logp = np.log(sampler_distribution(p2, sampler)[kmer_index(second)]) + np.log(exact[r.bases[12:]])
        expect_close(r.logp, logp, 4e-4, "logp of " + r.bases)


for _sampler in SAMPLERS:
    case(name="later_kmers_" + _sampler)(lambda a=_sampler: later_kmer(a))


@case
def records_and_positions_are_independent():
    """The same prompt as 12,000 records; and pairs of neighbouring records, which share nothing."""
    p = joint(reference().next_logits(PROMPT), "NNNACG")
    exact = by_bases(sampler_distribution(p, "kmer"), 0, 3)
    records = generate("-m", model(**CHECKPOINT), "-l", 6, "--constraint", "NNNACG",
                       fasta([("p%d" % i, PROMPT) for i in range(DRAWS)]))
    texts = [r.bases[:3] for r in records]
    problem = goodness_of_fit(collections.Counter(texts), exact, len(texts))
    expect(not problem, "records: %s" % problem)
    pairs = collections.Counter(a[0] + b[0] for a, b in zip(texts[::2], texts[1::2]))
    first = by_bases(p, 0, 1)
    problem = goodness_of_fit(pairs, {a + b: first[a] * first[b] for a in "ACGT" for b in "ACGT"}, len(texts) // 2)
    expect(not problem, "pairs: %s" % problem)


@case
def the_test_itself_notices():
    """A distribution that is a little wrong is told from the right one."""
    p = joint(reference().next_logits(PROMPT))
    wrong = sampler_distribution(p, "kmer", temperature=1.1)
    records = generate("-m", model(**CHECKPOINT), "-l", 6, "-n", DRAWS, fasta([("p", PROMPT)]))
    counts = collections.Counter(r.bases for r in records)
    expect(goodness_of_fit(counts, dict(zip(KMERS, wrong)), DRAWS), "temperature 1.1 passes for 1")
    expect(goodness_of_fit(counts, dict(zip(KMERS, sampler_distribution(p, "marginal"))), DRAWS), "kmer passes for marginal")


if __name__ == "__main__":
    main()
