"""carbon generate: metadata before the sequence, and what is refused with one clear line."""

import json
import os
import shutil

import numpy as np

from generate_support import PROMPTS, Model, fasta, generate, joint, parse, prompts, random_bases, run
from harness import (SHARED, Skip, carbon, case, expect, expect_close, expect_equal, expect_failure, fresh, main, model, model_copy,
                     ok, read, refused, tree, write)


def released(**changes):
    """A small checkpoint with the vocabulary of the released ones."""
    return model(vocab=155776, dna_start=-1, **changes)


# ---- metadata ------------------------------------------------------------------------------------------------------


@case
def metadata_prefixes():
    path, checkpoint = fasta(PROMPTS[:2]), released()

    def bases(*args, m=checkpoint):
        return [(r.bases, r.logp) for r in generate("-m", m, "-l", 60, *args, path)]

    plain = bases()
    seen = [plain]
    for species, gene, grammar, text in (
            ("vertebrate_mammalian", "", "corpus", "<species>vertebrate_mammalian"),
            ("vertebrate_mammalian", "protein_coding_region", "card", "<vertebrate_mammalian><protein_coding_region>"),
            ("vertebrate_other", "", "eval", "<vertebrate_non_mammalian_species>"),
            ("", "pseudo_gene", "eval", "<pseudo_gene>"), ("fungi", "pseudo_gene", "eval", "<fungi_species><pseudo_gene>")):
        args = (["--species", species] if species else []) + (["--gene-type", gene] if gene else [])
        args += ["--tag-grammar", grammar] if grammar != "corpus" else []
        got = bases(*args)
        expect(got not in seen, "%s changes nothing" % text)
        seen.append(got)
        expect_equal(bases("--prefix", text), got, text)
        expect_equal(bases(*args, "--draft", checkpoint, "--draft-tokens", 3), got, text + " with a draft")
    reference = Model(checkpoint)
    record, = generate("-m", checkpoint, "-l", 6, "--greedy", "--dtype", "f32", "--species", "fungi", fasta([("p", "ACGTAC")]))
    ids = [27, 42490, 29, 78606, 72] + reference.ids("ACGTAC")
    p = joint(reference.logits(ids))
    expect_close(record.logp, np.log(p.max()), 1e-4, "the tag's ids stand before <dna>")


@case
def free_text_prefixes():
    if not os.path.isdir(os.path.join(SHARED, "qwen3")):
        raise Skip("no public tokenizer files in %s" % SHARED)
    checkpoint, path = os.path.join(fresh(), "model"), fasta(PROMPTS[:1])
    shutil.copytree(released(), checkpoint)
    expect_failure(carbon("generate", "-q", "-m", checkpoint, "-l", 6, "--prefix", "some words", path), "tokenizer files")
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(os.path.join(SHARED, "qwen3", name), checkpoint)
    one = ok("generate", "-q", "-m", checkpoint, "-l", 60, "--prefix", "some words", path)
    expect(one.out != ok("generate", "-q", "-m", checkpoint, "-l", 60, path).out, "the text changes nothing")


# ---- refused -------------------------------------------------------------------------------------------------------


@case
def refused_options():
    directory, path = fresh(), prompts()
    tiny, big = model(), released()
    several = fasta([("first", "ACGT"), ("other", "ACGT")])
    twice = fasta([("first", "ACGT"), ("first", "ACGT")])
    five_mers = model_copy()
    dna = json.loads(read(os.path.join(five_mers, "dna_config.json")))
    write(five_mers, "dna_config.json", json.dumps({**dna, "k": 5}))
    for args, *words in (
            (["-l", 0, path], "--length: expected"),
            (["-l", -5, path], "--length"),
            ([path], "--length"),
            (["-l", 6, "-n", 0, path], "--num"),
            (["-l", 6, "-T", 0, path], "--temperature 0:", "greedy takes the likeliest"),
            (["-l", 6, "-T", -1, path], "--temperature -1:"),
            (["-l", 6, "-T", "nan", path], "--temperature"),
            (["-l", 6, "--top-p", 0, path], "--top-p 0:"),
            (["-l", 6, "--top-p", 1.5, path], "--top-p 1.5"),
            (["-l", 6, "--top-k", 0, path], "--top-k"),
            (["-l", 6, "--greedy", "-T", 2, path], "--greedy"),
            (["-l", 6, "--top-k", 5, "--sampler", "chain", path], "--top-k 5", "4 bases"),
            (["-l", 6, "--top-k", 4096, "--sampler", "marginal", path], "--top-k 4096", "4 bases"),
            (["-l", 6, "--seed", -1, path], "--seed: expected a number from 0 to 18446744073709551615, not '-1'"),
            (["-l", 6, "--seed", 2 ** 64, path], "--seed: expected", "not '18446744073709551616'"),
            (["-l", 6, "--constraint-file", "-", "-"], "standard input"),
            (["-l", 6, "--sampler", "beam", path], "--sampler"),
            (["-l", 6, "--constraint", "ACG-T", path], "'-' at position 4 is not an IUPAC code"),
            (["-l", 6, "--constraint", "ACGJT", path], "'J' at position 4 is not an IUPAC code"),
            (["-l", 6, "--constraint", "ACGTACG", path], "the constraint has 7 bases, more than the 6 new bases", "--length"),
            (["-l", 6, "--constraint", "", path], "--constraint is empty"),
            (["-l", 6, "--constraint", "A", "--constraint-file", several, path], "--constraint"),
            (["-l", 6, "--constraint-file", several, path], "no record second"),
            (["-l", 6, "--constraint-file", twice, path], "record first", "second record"),
            (["-l", 3, "--constraint-file", several, path], "more than the 3 new bases", "--length"),
            (["-l", 6, "--constraint-file", fasta([("x", "AC*")]), path], "record x", "'*' at position 3 is not an IUPAC code"),
            (["-l", 6, "--constraint-file", directory + "/none.fa", path], "none.fa"),
            (["-l", 6, "--unconditional", path], "--unconditional"),
            (["-l", 6, "--unconditional", "--include-prompt"], "--include-prompt"),
            (["-l", 6, fasta([("n", "NNNNNNNN")])], "prompt n has no A, C, G or T"),
            (["-l", 6, fasta([("good", "ACGT"), ("n", "nn-")])], "prompt n has no A, C, G or T"),
            (["-l", 6, fasta([("void", "")])], "prompt void is empty", "--unconditional"),
            (["-l", 6, directory + "/none.fa"], "none.fa"),
            (["-l", 6, "--draft-tokens", 4, path], "--draft"),
            (["-l", 6, "--draft", tiny, "--draft-tokens", 0, path], "--draft-tokens 0"),
            (["-l", 6, "--draft", tiny, "--draft-tokens", "some", path], "--draft-tokens some"),
            (["-l", 6, "--draft", directory, path], directory),
            (["-l", 6, "--draft", five_mers, path], "k"),
            (["-l", 6, "--tag-grammar", "card", path], "--tag-grammar"),
            (["-l", 6, "--species", "fungi", path], "vocabulary of DNA alone"),
            (["-l", 6, "--prefix", "<mam>", path], "vocabulary of DNA alone"),
            (["-l", 6, "-m", big, "--species", "mouse", path], "mouse", "vertebrate_mammalian"),
            (["-l", 6, "-m", big, "--species", "fungi", "--gene-type", "pseudo_gene", path], "corpus", "card or eval"),
            (["-l", 6, "-m", big, "--gene-type", "exon", "--tag-grammar", "card", path], "exon"),
            (["-l", 6, "-m", big, "--species", "fungi", "--prefix", "<mam>", path], "--prefix"),
            (["-l", 6, "-m", big, "--prefix", "<mam><dna>", path], "<dna>", "--prefix"),
            (["-l", 6, "-m", big, "--prefix", "words", path], "tokenizer files"),
            (["-l", 6, "-m", big, "--prefix", "<mam>", "--draft", tiny, path], "text vocabulary")):
        model_args = [] if "-m" in args else ["-m", tiny]
        result = carbon("generate", "-v", 1, *model_args, *args, "-o", os.path.join(directory, "out.fa"))
        expect_failure(result, *words)
        out = os.path.join(directory, "out.fa")
        # Continuations of prompts before a bad one may be kept; kept_work_test.py holds which.
        kept = [name for name in (out + ".partial", out + ".partial.state") if os.path.exists(name)]
        expect_equal(tree(directory), kept, "files after the failure")
        for name in kept:
            os.remove(name)


@case
def a_context_that_does_not_fit():
    small, directory = model(max_positions=20), fresh()

    def fails(length, prompt, *words):
        refused(["generate", "-m", small, "-l", length, fasta([("p", prompt)])], *words, directory=directory)

    # 20 positions: <dna>, the prompt's whole 6-mers, all new ones but the last.
    for bases in (6, 10, 30, 35, 114):
        prompt, largest = random_bases(bases, bases), 6 * (20 - bases // 6) - bases % 6
        fails(largest + 1, prompt, "that fits is %d" % largest, "prompt p", "--length")
        record, = generate("-m", small, "-l", largest, fasta([("p", prompt)]))
        expect_equal(len(record.bases), largest, "the largest length")
    fails(1, random_bases(120, 1), "the longest prompt that fits has 119 bp")
    record, = generate("-m", small, "-l", 1, fasta([("p", random_bases(119, 1))]))
    expect_equal(len(record.bases), 1, "the longest prompt")


@case
def a_model_that_is_not_finite():
    directory = model_copy()
    path = os.path.join(directory, "model.safetensors")
    content = bytearray(read(path))
    at = int.from_bytes(content[:8], "little") + 8
    content[at:at + 2] = b"\xc0\x7f"  # a NaN in the embedding of <dna>
    write(directory, "model.safetensors", bytes(content))
    for args in (["-l", 6], ["-l", 600]):
        result = carbon("generate", "-m", directory, *args, fasta([("p", "ACGTACGT")]))
        expect_failure(result, "non-finite logits at new base 1 of p")


@case
def damaged_prompts():
    directory = fresh()
    import gzip
    packed = write(directory, "cut.fa.gz", gzip.compress(read(prompts()) * 50)[:-20])
    refused(["generate", "-m", model(), "-l", 6, packed], "cut", directory=directory)
    bad = write(directory, "bad.fa", ">p\nACGT\n>q\nAC1T\n")
    refused(["generate", "-m", model(), "-l", 6, bad], "bad.fa:4", directory=directory)
    expect_equal(parse(run("-l", 6, fasta(PROMPTS[:1])).text)[0].name, "first", "and a good one runs")


if __name__ == "__main__":
    main()
