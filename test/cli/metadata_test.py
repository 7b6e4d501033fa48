"""--species, --gene-type and --prefix of score, vep, scan and embed: the model reads the same tokens as with carbon generate, whose
log-probabilities and a float64 forward pass are what the values are compared with.
"""

import os

import numpy as np

from generate_support import LETTERS, Model, fasta, generate, joint, random_bases
from harness import (carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, info_of, main, model, ok, records, write)

FUNGI = [27, 42490, 29, 78606, 72]  # <species>fungi in the released vocabulary
SEQUENCE = random_bases(61, 4)
TAG = ["--species", "fungi"]


def released(**changes):
    """A small checkpoint with the vocabulary of the released ones."""
    return model(vocab=155776, dna_start=-1, **changes)


def generator():
    return model(preset="generator", vocab=4128, dna_start=-1, dtype="f32", layers=2, hidden=64, heads=4, kv_heads=2, head_dim=16,
                 intermediate=96)


def table(*args):
    """Rows of a table as lists of texts."""
    return [line.split("\t") for line in ok(*args).text.splitlines() if not line.startswith("#")]


def scores(checkpoint, *options, bases=SEQUENCE):
    rows = table("score", "-v", 1, "-O", "tsv", "-m", checkpoint, "--dtype", "f32", *options, fasta([("s", bases)]))
    return [float(row[3]) for row in rows]


@case
def score_reads_the_tag_before_the_bases():
    checkpoint = released()
    reference = Model(checkpoint)
    got = scores(checkpoint, *TAG)
    expect_equal(len(got), len(SEQUENCE), "lines")
    for row in range(0, len(SEQUENCE), 6):
        cube = joint(reference.logits(FUNGI + reference.ids(SEQUENCE[:row]))).reshape((4,) * 6)
        for j, base in enumerate(SEQUENCE[row:row + 6]):
            p = cube.sum(axis=tuple(i for i in range(6) if i != j))[LETTERS.index(base)]
            expect_close(got[row + j], np.log(p), 1e-4, "base %d" % (row + j + 1))
    expect(got != scores(checkpoint), "the tag changes nothing")


@case
def all_families_agree_with_generate():
    """Bases drawn from their marginals have the log-probability that score gives them."""
    for checkpoint, options in ((released(), TAG), (released(), ["--gene-type", "pseudo_gene", "--tag-grammar", "card"]),
                                (generator(), ["--prefix", "<mam><cds>"])):
        drawn, = generate("-m", checkpoint, "--dtype", "f32", "-l", 9, "--sampler", "marginal", *options, fasta([("s", SEQUENCE[:36])]))
        got = scores(checkpoint, *options, bases=SEQUENCE[:36] + drawn.bases)
        expect_close(sum(got[36:]), drawn.logp, 1e-4, "%s" % options)


@case
def windows_share_the_tag():
    """Small windows: each begins with the tag, and gives what its bases give alone."""
    checkpoint = released()
    got = scores(checkpoint, *TAG, "--window", 24, "--stride", 12)
    expect_equal(got[24:36], scores(checkpoint, *TAG, bases=SEQUENCE[12:36])[12:], "second window")
    expect_equal(scores(checkpoint, *TAG, "--batch-tokens", 7, "--threads", 1, "--window", 24, "--stride", 12), got, "small batches")


def variants(checkpoint, *options):
    """Scores by recipe of some variants of a small genome, and the header."""
    d = fresh()
    bases = random_bases(300, 8)
    write(d, "g.fa", ">c\n%s\n" % bases)
    text = "##fileformat=VCFv4.3\n##contig=<ID=c>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
    for at in (100, 131, 170):
        ref = bases[at - 1]
        text += "c\t%d\t.\t%s\t%s\t.\t.\t.\n" % (at, ref, "ACGT"["ACGT".index(ref) - 1])
    text += "c\t150\t.\t%s\t%s\t.\t.\t.\n" % (bases[149:152], bases[149])
    out = ok("vep", "-v", 1, "-f", os.path.join(d, "g.fa"), "-m", checkpoint, "--dtype", "f32", *options, write(d, "v.vcf", text)).text
    return bases, records(out), out


def with_and_without_tag(checkpoint, *options):
    """Bases, then records with their values with and without the tag, which must differ everywhere."""
    bases, got, text = variants(checkpoint, *TAG, *options)
    lines = [line for line in text.splitlines() if line.startswith("##carbon_vepModel=")]
    expect(lines and all(line.endswith(',Metadata="<species>fungi">') for line in lines), "header: %r" % lines)
    _, plain, plain_text = variants(checkpoint, *options)
    expect("Metadata" not in plain_text, "a header without metadata names some")
    expect_equal(variants(checkpoint, *TAG, *options, "--batch-tokens", 7, "--threads", 1)[1], got, "small batches")
    pairs = []
    for record, without in zip(got, plain):
        values, others = ({k: float(v) for k, v in info_of(line).items() if k != "CARBON_FLAG" and v != "."} for line in (record, without))
        expect(all(others[tag] != value for tag, value in values.items()), "the tag changes nothing in " + record)
        pairs.append((record.split("\t"), values))
    return bases, pairs


@case
def vep_reads_the_tag_in_every_recipe():
    checkpoint = released()
    reference = Model(checkpoint)
    one_strand = ["--strand", "+", "--phases", 1]
    bases, pairs = with_and_without_tag(checkpoint, "--recipe", "centered,next-token", "-w", 48, "--context", 36, *one_strand)
    for (_, position, _, ref, alt, *_), values in pairs:
        position = int(position)
        if len(ref) > 1:
            continue
        window = bases[position - 25:position + 23]
        expected = sum(scores(checkpoint, *TAG, bases=window[:24] + alt + window[25:])) - sum(scores(checkpoint, *TAG, bases=window))
        expect_close(values["CARBON_LLR"], expected, 2e-4, "centered at %d" % position)
        p = joint(reference.logits(FUNGI + reference.ids(bases[position - 37:position - 1]))).reshape(4, -1).sum(axis=1)
        expect_close(values["CARBON_NT"], np.log(p[LETTERS.index(alt)] / p[LETTERS.index(ref)]), 1e-4, "next-token at %d" % position)
    with_and_without_tag(checkpoint, "--recipe", "anchored", "--context", 36, "--horizon", "12,24", *one_strand)


@case
def a_cache_keeps_metadata_apart():
    checkpoint = released()
    cache = os.path.join(fresh(), "scores")
    fresh_runs = [variants(checkpoint, "-w", 48, *tag)[1] for tag in ([], TAG, ["--species", "plant"])]
    for _ in range(2):
        for tag, expected in zip(([], TAG, ["--species", "plant"]), fresh_runs):
            expect_equal(variants(checkpoint, "-w", 48, "--cache", cache, *tag)[1], expected, "with the cache, %s" % tag)


@case
def scan_and_score_agree():
    checkpoint = released()
    d = fresh()
    write(d, "g.fa", ">c\n%s\n" % SEQUENCE)
    path = os.path.join(d, "g.fa")
    out = ok("scan", "-v", 1, "-m", checkpoint, "--dtype", "f32", "--frames", 1, "--strand", "+", *TAG, "-f", path).text
    expect('Metadata="<species>fungi">' in out, "the header names no metadata")
    columns = [dict(zip("ACGT", map(float, row[5:9]))) for row in
               table("score", "-v", 1, "-O", "tsv", "-m", checkpoint, "--dtype", "f32", *TAG, path)]
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("#")]
    expect_equal(len(rows), 3 * len(columns), "SNVs")
    for _, position, ref, alt, value in rows:
        p = columns[int(position) - 1]
        expect_close(float(value), np.log(p[alt] / p[ref]), 1e-4, "%s to %s at %s" % (ref, alt, position))


@case
def embed_gives_the_state_after_the_tag():
    checkpoint = released()
    reference = Model(checkpoint)
    head = reference.weights.get("lm_head.weight", reference.weights["model.embed_tokens.weight"])[reference.first + 3:][:4096]
    options = ["-v", 1, "-m", checkpoint, "--dtype", "f32", *TAG, fasta([("s", SEQUENCE[:36])])]
    state = np.array([float(x) for x in table("embed", "--pool", "last", *options)[0][1:]])
    difference = np.abs(head @ state - reference.logits(FUNGI + reference.ids(SEQUENCE[:36]))).max()
    expect(difference < 1e-3, "logits of the state differ by %g" % difference)
    expect_equal(len(table("embed", "--pool", "none", *options)), 6, "rows of 6-mers")


@case
def refused():
    tiny = model()
    d = fresh()
    write(d, "g.fa", ">c\n%s\n" % SEQUENCE)
    path = os.path.join(d, "g.fa")
    for command in (["score"], ["scan", "-f"], ["embed"]):
        run = [command[0], "-m", tiny, *command[1:], path]
        expect_failure(carbon(*run, *TAG), "has a vocabulary of DNA alone", "leave out --prefix, --species and --gene-type")
        expect_failure(carbon(*run, "--species", "mouse"), "unknown species 'mouse'")
        expect_failure(carbon(*run, "--species", ""), "--species is empty")
        expect_failure(carbon(*run, "--tag-grammar", "card"), "give one of them")
        expect_failure(carbon(*run, *TAG, "--prefix", "x"), "--prefix")


if __name__ == "__main__":
    main()
