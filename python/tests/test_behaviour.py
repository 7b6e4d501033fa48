"""What a notebook does to a model: errors, Ctrl-C, threads, fork, endless inputs, closing, messages; and the examples."""

import doctest
import gzip
import importlib.util
import itertools
import json
import logging
import os
import pathlib
import pickle
import re
import struct
import sys
import threading
import time
import unittest
import zlib
from unittest import mock

import numpy as np
import support
from support import GENERATOR, SHAPE, TINY, bases, carbon, checkpoint, child, fasta, missing, raises, type_error, write

import carbon_dna


def test_errors_name_what_is_wrong():
    assert "treads" in raises("setting", lambda: carbon_dna.Model(TINY, dtype="treads"))
    assert "no-such" in raises("model", lambda: carbon_dna.Model("no-such"))
    assert "empty" in raises("setting", lambda: carbon_dna.Model(""))
    with carbon_dna.Model(TINY) as model:
        assert "sequences[1] has" in raises("input", lambda: model.score(["ACGT", "AC>GT"]))
        assert "prompts[1]" in raises("input", lambda: model.generate(["ACGT", "AC>GT"], 6))
        assert "prompts[1]" in raises("input", lambda: model.generate(["ACGT", "NNN"], 6))
        assert "regions[1]" in raises("input", lambda: list(model.iter_scan(None, ["ACGT", "AC>GT"])))
        assert "rows[1].alt" in raises("input", lambda: model.variants(None, [("", 1, "A", "C"), ("", 1, "A", "")], sequence="ACGT"))
        assert "character 3" in raises("input", lambda: model.score(["AC\0GT"]))
        assert "window" in raises("setting", lambda: model.score(["ACGT"], window=7))
        raises("input", lambda: model.score(["ACGT\N{SNOWMAN}"]))
        missing(lambda: model.variants("/no/such.fa", []), "/no/such.fa")
        raises("setting", lambda: model.variants(None, []))
        raises("model", lambda: model.predict(["ACGT"]))
        raises("setting", lambda: model.generate(["ACGT"], 10, temperature=float("nan")))
        raises("setting", lambda: model.generate(["ACGT"], -1))
        for wrong in ("ACGT", b"ACGT"):
            try:
                model.score(wrong)
                raise AssertionError("a single sequence was taken for several")
            except TypeError as error:
                assert "list" in str(error)
        try:
            model.score([4])
            raise AssertionError("a number was taken for a sequence")
        except TypeError as error:
            assert "int" in str(error)
        # None of it has harmed the model.
        assert model.score(["ACGT"])[0].n_scored == 4
    for action in (lambda: model.score(["ACGT"]), lambda: model.sha256, lambda: carbon_dna.Model.description.fget(model)):
        assert "the model is closed" == raises("closed", action)
    model.close()
    assert "closed" in repr(model)


def test_an_unknown_word_of_the_metadata_is_told_all_that_are_known():
    folder = checkpoint(*GENERATOR)
    for name in ("species", "gene_type"):
        message = raises("setting", lambda name=name: carbon_dna.Model(folder, **{name: "no-such-word"}))
        known = message.split("names are ")[1].split(", ")
        assert len(known) > 2, message
        for word in known:
            try:
                carbon_dna.Model(folder, **{name: word}).close()
            except carbon_dna.CarbonError as error:
                assert "unknown" not in str(error), error  # of some words this model has no token
    message = raises("setting", lambda: carbon_dna.Model(folder, species="fungi", tag_grammar="no-such-word"))
    assert message.endswith("it must be 'corpus', 'card' or 'eval'"), message


def test_errors_of_scan_name_its_parameter():
    path = fasta([("c1", bases(60, 1))])
    with carbon_dna.Model(TINY) as model:
        for given, region in ((path, "cX:5-10"), (path, ""), (path, "c1:9-5"), (path, "c1:1-5,c1:9-10"), (None, "AC>GT")):
            listed = raises("input", lambda given=given, region=region: list(model.iter_scan(given, [region])))
            message = raises("input", lambda given=given, region=region: model.scan(given, region))
            assert listed.startswith("regions[0]") and message.startswith("region "), (listed, message)
            assert not listed.startswith("regions[0]: region "), listed
            assert listed[len("regions[0]"):].lstrip(": ") in (message, message[len("region "):]), (listed, message)
        record = carbon_dna.Record("one", "AC>GT")
        assert raises("input", lambda: model.scan(None, record)).startswith("region ")
        for wrong in (5, None, ("c1", 0, 100)):
            type_error(lambda wrong=wrong: model.scan(path, wrong), "region is of the type %s; give a region as text" % type(wrong).__name__)
            type_error(lambda wrong=wrong: list(model.iter_scan(path, ["c1:1-5", wrong])), "regions[1] is of the type", "chr1:1001-2000")
        type_error(lambda: model.scan(None, 5), "region is of the type int, which is no sequence")


def test_results_of_nothing():
    with carbon_dna.Model(TINY) as model:
        assert model.score([]) == []
        assert model.embed([]).shape == (0, model.description["hidden"])
        scores = model.variants(None, [], sequence="ACGT")
        assert len(scores) == 0 and scores.score.dtype == np.float64
        assert model.scan(None, "").logp.shape == (0, 4)
        score = model.score([""])[0]
        assert score.logp.shape == (0,) and np.isnan(score.mean_logp) and np.isnan(score.perplexity)
        assert len(model.generate(None, 12)) == 1


def test_rows_of_variants():
    contig = bases(600, 1)
    path = fasta([("c1", contig)])
    rows = [("c1", i + 1, contig[i], alt) for i in (100, 200) for alt in "ACGT" if alt != contig[i]]

    class Frame:
        """As pandas and polars have it."""
        columns = ["#CHROM", "POS", "REF", "ALT", "other"]

        def __getitem__(self, name):
            return np.array([row[self.columns.index(name)] for row in rows], dtype=object)

    lines = {}
    for row in rows:
        lines.setdefault(row[:3], []).append(row[3])
    vcf = support.vcf([(*site, ",".join(alts)) for site, alts in lines.items()])
    with carbon_dna.Model(TINY) as model:
        scores = model.variants(path, rows)
        for given in (Frame(), vcf, iter(rows)):
            assert model.variants(path, given).score.tobytes() == scores.score.tobytes()
        assert list(scores)[3].pos == 201
        raises("input", lambda: model.variants(path, write("bad.vcf", "nonsense\n")))
        assert "in.bcf" in raises("input", lambda: model.variants(path, write("in.bcf", "BCF\2\2")))

        class Wrong:
            columns = ["pos"]

        assert "chrom" in raises("input", lambda: model.variants(path, Wrong()))
        for wrong in (1.5, float("nan"), None, "x"):
            assert "rows[1]: pos is" in raises("input", lambda wrong=wrong: model.variants(path, [rows[0], ("c1", wrong, "A", "C")]))
        for wrong in (float("nan"), None, 4):
            assert "rows[0]: alt is" in raises("input", lambda wrong=wrong: model.variants(path, [("c1", 5, "A", wrong)]))
        assert model.variants(path, [("c1", float(rows[0][1]), *rows[0][2:])]).score[0] == scores.score[0]


def test_rows_of_which_no_contig_is_in_the_reference():
    contig, alts = bases(60, 1), {"A": "C", "C": "G", "G": "T", "T": "A"}

    def rows(*names):
        return [(name, 20, contig[19], alts[contig[19]]) for name in names]

    bare, prefixed = fasta([("17", contig), ("18", contig)]), fasta([("chr17", contig)])
    vcf = support.vcf(rows("17"))
    with carbon_dna.Model(TINY) as model:
        def refused(path, given, **options):
            message = raises("input", lambda: model.variants(path, given, **options))
            one_by_one = model.iter_variants(path, given, **options)
            flags = []
            assert message == raises("input", lambda: flags.extend(row.flag for row in one_by_one))
            assert flags and set(flags) == {"no_contig"}
            return message

        assert refused(prefixed, vcf) == "no contig of the variants (17) is in %s (chr17); add unify_chr_names=\"-,chr\"" % prefixed
        assert refused(pathlib.Path(prefixed), pathlib.Path(vcf)) == refused(prefixed, vcf)
        assert refused(bare, rows("chr5", "chr17")) == ("no contig of the variants (chr17, ...) is in %s (17, ...); "
                                                        "add unify_chr_names=\"chr,-\"" % bare)
        assert refused(bare, rows("X")) == "no contig of the variants (X) is in %s (17, ...)" % bare
        assert refused(prefixed, rows("chr17"), unify_chr_names="chr,-").endswith("the names match without unify_chr_names: leave it out")
        # An index that is not beside the FASTA.
        index = write("other.fai", pathlib.Path(bare + ".fai").read_text())
        os.remove(bare + ".fai")
        assert "(17, ...)" in refused(bare + "##idx##" + index, rows("X"))
        assert model.variants(prefixed, vcf, unify_chr_names="-,chr").flag.tolist() == [""]
        # One contig that is there is enough, wherever it stands, and also where its variant has no score.
        assert model.variants(prefixed, rows("17", "chr17", "17")).flag.tolist() == ["no_contig", "", "no_contig"]
        assert model.variants(prefixed, [*rows("17"), ("chr17", 99, "A", "C")]).flag.tolist() == ["no_contig", "edge"]
        assert len(model.variants(prefixed, [])) == 0
        # What was read of the iterator is no error.
        assert next(model.iter_variants(prefixed, rows("17", "17"))).flag == "no_contig"


def test_results_are_equal_if_all_they_hold_is():
    gene, other = "ACGTTAGCATCGATCGGCNAAG", "ACGTTAGCATCGATCGGCNAAT"
    rows = [("", 5, "T", "A"), ("", 6, "A", "C")]  # the second is not what the gene has: NaN
    with carbon_dna.Model(TINY) as model:
        for one in (lambda bases: model.score([bases], probabilities=True)[0], lambda bases: model.scan(None, bases),
                    lambda bases: model.variants(None, rows, sequence=bases),
                    lambda bases: list(model.iter_variants(None, rows, sequence=bases))[1],
                    lambda bases: model.generate([bases], 12, probabilities=True)[0]):
            first, again = one(gene), one(gene)
            assert first == again and not first != again and again in [first]
            assert first != 4 and not first == 4
            assert repr(first).startswith(type(first).__name__ + "(") and len(repr(first)) < 250 and "\n" not in repr(first), repr(first)
        for one in (lambda bases: model.score([bases])[0], lambda bases: model.scan(None, bases),
                    lambda bases: model.generate([bases], 12)[0], lambda bases: model.variants(None, rows, sequence=bases)):
            assert one(gene) != one(other) and not one(gene) == one(other)
        assert model.score([gene])[0] != model.score([gene + "A"])[0]


def test_rows_with_any_measure_have_a_score():
    gene = bases(60, 1)
    rows = [("", 20, gene[19], "A" if gene[19] != "A" else "C"), ("", 20, gene[18] + "N", "A"), ("", 1, "N", "A")]
    with carbon_dna.Model(TINY) as model:
        for measure in (None, ["l2"], ["jsd"], ["l2", "llr"], ["jsd", "l2", "llr"]):
            scores = model.variants(None, rows, sequence=gene, measure=measure)
            assert [flag == "" for flag in scores.flag] == [True, False, False]
            shown = repr(scores)
            assert shown.startswith("VariantScores(rows=3, with a score=1, [:20 %s>%s " % rows[0][2:]), (measure, shown)
            assert shown.endswith(", :20 %s>A non_acgt, :1 N>A non_acgt])" % rows[1][2]), (measure, shown)
            assert scores[0] == next(iter(scores)) and scores[-1].flag == "non_acgt" and [scores[i] for i in range(3)] == list(scores)
            for wrong in (3, -4):
                try:
                    scores[wrong]
                    raise AssertionError("row %d of 3" % wrong)
                except IndexError:
                    pass
            type_error(lambda scores=scores: scores[0:1])
        assert "%.6g" % model.variants(None, rows[:1], sequence=gene)[0].score in repr(model.variants(None, rows * 2, sequence=gene))
        assert repr(model.variants(None, rows * 2, sequence=gene)).endswith(", ...])")
        assert repr(model.variants(None, [], sequence=gene, measure=["l2"])) == "VariantScores(rows=0, with a score=0, [])"


def test_a_vcf_is_read_by_the_rules_of_carbon_vep():
    contig, alts = bases(600, 1), {"A": "C", "C": "G", "G": "T", "T": "A"}
    path = fasta([("c1", contig)])
    right = [("c1", i + 1, contig[i], alts[contig[i]]) for i in range(100, 130)]
    # No REF is that of the FASTA, as with another assembly.
    wrong = [(chrom, pos, alt, ref) for chrom, pos, ref, alt in right]
    given = support.vcf(right)
    with open(given, "rb") as file:
        text = file.read()
    with gzip.open(given + ".gz", "wb") as zipped:
        zipped.write(text)
    ended = given.replace("in.vcf", "whole.vcf.gz")
    block = zlib.compressobj(6, zlib.DEFLATED, -15)
    data = block.compress(text) + block.flush()
    with open(ended, "wb") as file:
        file.write(b"\x1f\x8b\x08\x04\0\0\0\0\0\xff\6\0BC\2\0" + struct.pack("<H", len(data) + 25) + data +
                   struct.pack("<II", zlib.crc32(text), len(text)))
    with carbon_dna.Model(TINY) as model:
        scores = model.variants(path, right)
        assert model.variants(path, given) == scores and model.variants(path, given + ".gz") == scores
        bcf = given.replace("in.vcf", "in.bcf")
        carbon("vep", "-m", TINY, "-f", path, "-o", bcf, given)
        assert model.variants(path, bcf) == scores
        for rows in (wrong, support.vcf(wrong), right[:20] + wrong[:10]):
            said = raises("input", lambda rows=rows: model.variants(path, rows))
            assert "wrong assembly? REF differs from " + path in said and "raise max_ref_mismatch" in said, said
            flags = model.variants(path, rows, max_ref_mismatch=1).flag.tolist()
            assert flags.count("ref_mismatch") == (10 if rows is not wrong and isinstance(rows, list) else 30), flags
        # The first thousand tell; what comes after them is not computed.
        many = [(*row[:3], "*") for row in wrong] * 2 + [("c1", 1 + i % 600, contig[i % 600], "*") for i in range(1500)]
        flags = []
        raises("input", lambda: flags.extend(row.flag for row in model.iter_variants(path, many)))
        assert len(flags) == 1000, len(flags)
        one_by_one = model.iter_variants(path, wrong)
        assert [next(one_by_one).flag for _ in wrong] == ["ref_mismatch"] * 30
        raises("input", lambda: next(one_by_one))
        # Two are too few to say so, and a sequence that is given with its rows is of no assembly.
        assert model.variants(path, wrong[:2]).flag.tolist() == ["ref_mismatch"] * 2
        assert model.variants(None, wrong, sequence=contig).flag.tolist() == ["ref_mismatch"] * 30
        for refused, words in ((2, "from 0 to 1"), (-0.1, "from 0 to 1"), (float("nan"), "finite")):
            assert words in raises("setting", lambda refused=refused: model.variants(path, right, max_ref_mismatch=refused))
        for broken, words in ((ended, "end-of-file marker is missing"), (write("empty.vcf", ""), "the file is empty"),
                              (write("headless.vcf", "".join(line + "\n" for line in text.decode().splitlines() if line[0] != "#")),
                               "no header"), (path, "swapped")):
            said = raises("input", lambda broken=broken: model.variants(path, broken))
            assert broken in said and words in said, said
        missing(lambda: model.variants(path, "/no/such.vcf"), "/no/such.vcf")
        missing(lambda: model.scan("/no/such.fa", "c1:1-5"), "/no/such.fa")
        missing(lambda: carbon_dna.Model(TINY, lora="/no/such"), "/no/such")
        for path_of_model in ("/no/such", "./no-such", "no/such/folder", "x.gguf", "no-such/"):
            missing(lambda path_of_model=path_of_model: carbon_dna.Model(path_of_model), path_of_model)
        missing(lambda: carbon_dna.Model(pathlib.Path("no-such")), "no-such")
        for name in ("no-such", "ORG/no-such"):
            assert "not found" in raises("model", lambda name=name: carbon_dna.Model(name))
        dangling = os.path.join(os.path.dirname(write("x", "")), "link")
        os.symlink("/no/such", dangling)
        for action in (lambda: model.variants(path, dangling), lambda: model.variants(dangling, right),
                       lambda: list(carbon_dna.read_fasta(dangling)), lambda: carbon_dna.Model(TINY, lora=dangling)):
            missing(action, dangling)
        for action in (lambda: list(carbon_dna.read_fasta("")), lambda: model.variants(path, "")):
            assert "the path is empty" in raises("input", action)
        for action in (lambda: model.variants("", []), lambda: model.scan("", "c1")):
            assert raises("setting", action).startswith("fasta is empty"), raises("setting", action)
        assert raises("setting", lambda: model.predict(["ACGTAC"], label_scale=TINY)) == "cannot read %s: Is a directory" % TINY
        missing(lambda: model.predict(["ACGTAC"], label_scale="/no/such.json"), "/no/such.json")
        assert TINY in raises("setting", lambda: model.predict(["ACGTAC"], label_scale=TINY))


def frames():
    """pandas, or the test is skipped."""
    try:
        import pandas
    except ImportError:
        raise unittest.SkipTest("no pandas") from None
    return pandas


def test_results_as_frames():
    pandas = frames()
    gene = "ACGTTAGCATCGATCGGCNAAG"
    rows = pandas.DataFrame({"chrom": "", "pos": [5, 2, 3], "ref": ["T", "C", "G"], "alt": "A"}, index=["rs5", "rs2", "rs3"])
    with carbon_dna.Model(TINY) as model:
        scores = model.variants(None, rows, sequence=gene)
        frame = scores.to_pandas()
        assert list(frame.index) == ["rs5", "rs2", "rs3"] and list(frame["score"]) == list(scores.score)
        assert list(rows.assign(score=frame["score"])["score"]) == list(scores.score)
        assert list(model.variants(None, list(rows.itertuples(index=False, name=None)), sequence=gene).to_pandas().index) == [0, 1, 2]
        scan = model.scan(None, gene)
        frame = scan.to_pandas()
        assert list(frame.columns) == ["chrom", "pos", "ref", *("%s_%s" % (what, base) for what in ("logp", "effect") for base in "ACGT")]
        assert "".join(frame["ref"]) == gene and list(frame["pos"]) == list(range(1, 23))
        assert frame.loc[3, "logp_G"] == scan.logp[3, 2] and frame.loc[3, "effect_G"] == scan.effects[3, 2]
        assert model.scan(None, "").to_pandas().shape == (0, 11)


def test_results_without_pandas():
    gene = "ACGTTAGCATCG"
    with carbon_dna.Model(TINY) as model, mock.patch.dict(sys.modules, pandas=None):
        for result in (model.variants(None, [("", 2, "C", "A")], sequence=gene), model.scan(None, gene)):
            try:
                result.to_pandas()
            except ImportError as error:
                assert "pip install pandas" in str(error)
            else:
                raise AssertionError("a frame without pandas")


def test_progress():
    with carbon_dna.Model(TINY) as model:
        def told(call, *args, **options):
            steps = []
            call(*args, progress=lambda *step: steps.append(step), **options)
            assert all(one[0] <= other[0] for one, other in zip(steps, steps[1:])), steps
            return steps[-1]

        many = [bases(50, i) for i in range(20)]
        snvs = [("", i + 1, "A", "C") for i in range(9)]
        assert told(model.score, many) == (20, 20)
        assert told(model.score, iter(many)) == (20, None)
        assert told(model.score, []) == (0, 0)
        assert told(model.embed, many) == (20, 20)
        assert told(model.generate, many[:3], 12, n=4) == (12, 12)
        assert told(model.generate, None, 12, n=4) == (4, 4)
        assert told(model.variants, None, snvs, sequence="A" * 9) == (9, 9)
        done, total = told(model.scan, None, bases(3000, 1))  # a single result: its windows
        assert done == total > 1
        for wrong in ("yes", 3):
            try:
                model.iter_score(many, progress=wrong)
                raise AssertionError("taken")
            except TypeError as error:
                assert "progress" in str(error)

        def stops(done, total):
            raise KeyError("enough")

        try:
            model.score(many, progress=stops)
            raise AssertionError("went on")
        except KeyError:
            pass
        assert model.score(["ACGT"], progress=False)[0].n_scored == 4


BAR = """
import logging, sys
import carbon_dna
if sys.argv[2] == "without":
    sys.modules["tqdm.auto"] = None
with carbon_dna.Model(sys.argv[1]) as model:
    assert len(model.score(["ACGT"] * 7, progress=True)) == 7
"""


def test_progress_as_a_bar():
    said = child(BAR, TINY, "without")
    assert said.returncode == 0 and b"tqdm is not installed" in said.stderr, said.stderr.decode()
    if importlib.util.find_spec("tqdm") is None:
        raise unittest.SkipTest("no tqdm")
    said = child(BAR, TINY, "with")
    assert said.returncode == 0 and b"7/7" in said.stderr, said.stderr.decode()


def test_a_fasta_is_read_as_the_commands_read_it():
    path = fasta([("one first", "ACGTacgtNN"), ("two", "TTTTTT\n  GG"), ("three", "")])
    records = list(carbon_dna.read_fasta(path))
    assert records == [("one", "ACGTacgtNN"), ("two", "TTTTTTGG"), ("three", "")] and records[1].seq == "TTTTTTGG"
    with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as zipped:
        zipped.write(file.read())
    assert list(carbon_dna.read_fasta(pathlib.Path(path + ".gz"))) == records
    with carbon_dna.Model(TINY) as model:
        scores = model.score(carbon_dna.read_fasta(path))
        assert [score.name for score in scores] == ["one", "two", "three"]
        assert scores[0].logp.tobytes() == model.score([records[0].seq])[0].logp.tobytes()
        assert model.scan(None, records[1]).chrom == "two"
    left = carbon_dna.read_fasta(path)
    next(left)
    del left
    with open(path + ".gz", "rb") as file:
        cut = write("cut.fa.gz", "")
        with open(cut, "wb") as out:
            out.write(file.read()[:-12])
    missing(lambda: list(carbon_dna.read_fasta("/no/such.fa")), "/no/such.fa")
    for wrong in (write("in.fq", "@r\nACGT\n+\nIIII\n"), write("in.txt", "ACGT\n"), write("empty.fa", ""), cut, path + "\0"):
        assert os.path.basename(wrong.rstrip("\0")) in raises("input", lambda wrong=wrong: list(carbon_dna.read_fasta(wrong))), wrong
    for wrong in (4, None, ["a.fa"]):
        try:
            carbon_dna.read_fasta(wrong)
            raise AssertionError("taken")
        except TypeError as error:
            assert "path" in str(error)


def test_models_are_those_of_the_command():
    before = os.environ.pop("CARBON_MODEL_PATH", None)  # which the command does not get either
    try:
        found = carbon_dna.models()
    finally:
        if before is not None:
            os.environ["CARBON_MODEL_PATH"] = before
    assert found == json.loads(carbon("models", "--json"))
    assert next(model for model in found if model["name"] == "carbon-tiny")["layers"] > 0


def test_dtypes_have_the_names_of_others_too():
    for dtype, wanted in (("float32", "f32"), ("bfloat16", "bf16"), (np.float32, "f32"), (np.dtype("float32"), "f32"),
                          ("torch.bfloat16", "bf16"), ("torch.float32", "f32"), ("int8", "int8"), (np.int8, "int8")):
        with carbon_dna.Model(TINY, dtype=dtype) as model:
            assert model.description["dtype"] == wanted, dtype
    for half in ("f16", "float16", np.float16, "torch.float16"):
        assert "cannot compute in f16" in raises(("setting", "model"), lambda half=half: carbon_dna.Model(TINY, dtype=half)), half
    type_error(lambda: carbon_dna.Model(TINY, dtype=4), "dtype is of the type int; give a text")
    for wrong in ("float8", np.float64):
        assert raises("setting", lambda wrong=wrong: carbon_dna.Model(TINY, dtype=wrong)).startswith("dtype "), wrong


def resident():
    """KiB of memory of this process."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_memory_stays_flat_over_a_thousand_calls():
    with carbon_dna.Model(checkpoint(*SHAPE), threads=1) as model:
        def some(n):
            for i in range(n):
                text = bases(120, i)  # not the same, because a model keeps its last results
                model.score([text, text[:50]], probabilities=True)
                model.variants(None, [("", 60, text[59], "A" if text[59] != "A" else "C")], sequence=text)
                next(model.iter_score(itertools.repeat(text)))  # left before its end
                for action in (lambda: model.score(["AC>GT"]), lambda: model.score(["A"], strand="?")):
                    try:
                        action()
                        raise AssertionError("no error")
                    except carbon_dna.CarbonError:
                        pass

        some(60)
        before = resident()
        some(200)  # 1,000 calls
        grown = resident() - before
        assert grown < 4096, "%d KiB more after 1,000 calls" % grown


def test_an_endless_input_is_read_as_results_are_taken():
    read = 0

    def endless():
        nonlocal read
        while True:
            read += 1
            yield bases(300, 5)

    with carbon_dna.Model(TINY) as model:
        results = model.iter_score(endless())
        for _ in range(50):
            next(results)
        assert read < 5000
        results.close()
        assert model.score(["ACGT"])[0].n_scored == 4


def test_an_error_of_the_input_is_passed_on():
    def broken():
        yield "ACGT"
        raise OSError("the disk is gone")

    with carbon_dna.Model(TINY) as model:
        try:
            model.score(broken())
            raise AssertionError("no error")
        except OSError as error:
            assert "disk" in str(error)


INTERRUPTED = """
import signal, sys, threading, time, os
import carbon_dna
model = carbon_dna.Model(sys.argv[1], threads=1)
model.score(["ACGT"])
sent, begun = [], []
def send():
    while not begun:
        time.sleep(0.01)
    time.sleep(0.5)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
# Signals are seen between two waits, each of which takes a tenth of a second at most.
library = carbon_dna._library.lib
wait = library.carbon_call_next
library.carbon_call_next = lambda *given: (begun.append((time.monotonic(), given[1])), wait(*given))[1]
threading.Thread(target=send).start()
try:
    model.score(["ACGT" * 6000] * 2000)
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    assert model.score(["ACGT"])[0].n_scored == 4
    print(late, sum(begin > sent[0] for begin, _ in begun), max(ms for _, ms in begun))
"""


def test_ctrl_c_ends_a_call():
    done = child(INTERRUPTED, checkpoint(*SHAPE))
    assert done.returncode == 0, done.stderr.decode()
    late, waits_begun, longest_ms = done.stdout.split()
    # 0.2 s on a machine that does nothing else (bench/python.py); the tests run beside others.
    assert float(late) < 20 and int(waits_begun) <= 5 and int(longest_ms) <= 100, done.stdout


FORKED = """
import os, sys, time
import carbon_dna
model = carbon_dna.Model(sys.argv[1])
calls = model.iter_score(["ACGT" * 100] * 5)
next(calls)
read, write = os.pipe()
if os.fork() == 0:
    begin = time.monotonic()
    said = []
    for action in (lambda: next(calls), lambda: model.score(["ACGT"])):
        try:
            action()
        except carbon_dna.CarbonError as error:
            said.append(error.kind + ("" if "spawn" in str(error) else " without advice"))
    said.append("soon" if time.monotonic() - begin < 20 else "late")
    os.write(write, " ".join(said).encode())
    os._exit(0)
os.wait()
print(os.read(read, 100).decode())
assert len(list(calls)) == 4
"""


def test_a_child_of_fork_is_told_so():
    done = child(FORKED, TINY)
    assert (done.returncode, done.stdout) == (0, b"forked forked soon\n"), (done.stdout, done.stderr.decode())


def test_a_model_is_not_pickled():
    with carbon_dna.Model(TINY) as model:
        try:
            pickle.dumps(model)
            raise AssertionError("pickled")
        except TypeError as error:
            assert "process" in str(error)


def test_messages_go_to_logging():
    records = []

    class Keep(logging.Handler):
        def emit(self, record):
            records.append((record.levelno, record.getMessage()))

    logger = logging.getLogger("carbon_dna")
    handler = Keep(logging.DEBUG)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with carbon_dna.Model(TINY) as model:
            model.score(["ACGU"])
            model.variants(None, [("", 3, "G", "A")], sequence="ACGTACGT")
            assert not any("no effect" in text for _, text in records), records
            model.variants(None, [("", 3, "G", "A")], sequence="ACGTACGT", unify_chr_names="-,chr", max_ref_mismatch=1)
            model.variants(None, [("", 3, "G", "A")], sequence="ACGTACGT", recipe="next-token", window=48)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert any("U" in text for _, text in records), records
    for idle in ("window", "unify_chr_names", "max_ref_mismatch"):
        assert any(level == logging.WARNING and idle + " has no effect" in text for level, text in records), (idle, records)


def test_closing_while_others_compute():
    for _ in range(5):
        model = carbon_dna.Model(checkpoint(*SHAPE), threads=2)
        kinds = []

        def work(model=model, kinds=kinds):
            try:
                while True:
                    model.score([bases(3000, 1)] * 20)
            except carbon_dna.CarbonError as error:
                kinds.append(error.kind)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        model.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert kinds == ["closed"] * 3


def test_a_program_may_end_without_closing():
    threads = ["import threading; threading.Thread(target=lambda: list(calls), daemon=%s).start()" % daemon for daemon in (False, True)]
    for end in ("", "raise SystemExit(7)", *threads):
        done = child("import carbon_dna, logging, sys\nlogging.disable()\nmodel = carbon_dna.Model(sys.argv[1])\n"
                     "calls = model.iter_score(['ACGT' * 500] * 50)\nnext(calls)\n" + end, TINY)
        assert done.returncode == (7 if "7" in end else 0) and done.stderr == b"", done.stderr.decode()


def test_the_examples_are_right():
    os.environ.setdefault("CARBON_MODEL_PATH", os.path.dirname(TINY))
    for name in ("carbon_dna", "carbon_dna._errors", "carbon_dna._files", "carbon_dna._model"):
        result = doctest.testmod(importlib.import_module(name))
        assert result.attempted > 0 and result.failed == 0, name


def test_the_description_of_the_wheel_runs():
    frames()
    text = pathlib.Path(support.SOURCE, "python/README.md").read_text()
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    folder = os.path.dirname(write("ref.fa", ">c1\n%s\n" % ("ACGT" * 20)))
    pathlib.Path(folder, "my.vcf").write_text("##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\nc1\t21\t.\tA\tC,G\t.\t.\t.\n")
    os.environ.setdefault("CARBON_MODEL_PATH", os.path.dirname(TINY))
    done = child(code, cwd=folder)
    assert done.returncode == 0, done.stderr.decode()
    assert ["score" in line and "flag" in line for line in done.stdout.decode().splitlines()[2:]] == [True, False, False], done.stdout


def test_every_public_method_has_a_docstring_with_an_example():
    for name, value in vars(carbon_dna.Model).items():
        if name.startswith("_") or not callable(value) or name in ("close", "iter_predict"):
            continue
        assert ">>>" in (value.__doc__ or ""), name
