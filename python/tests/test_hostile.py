"""Calls that are wrong, late, or from the wrong thread: an exception that says what is wrong, never a crash, and the model goes on."""

import collections
import gc
import pathlib
import sys
import threading

import numpy as np
from support import SHAPE, TINY, bases, checkpoint, child, fasta, raises, type_error, write
from support import vcf as support_vcf

import carbon_dna

CONTIG = bases(300, 1)
SNV = ("c1", 100, CONTIG[99], "A" if CONTIG[99] != "A" else "C")
HUGE = 10 ** 400


def refused(kinds, action, given):
    """`action` with this is refused; where it is not, the failure names it."""
    try:
        raises(kinds, action)
    except AssertionError as error:
        raise AssertionError("%r: %s" % (given, error)) from None


def goes_on(model):
    assert model.score(["ACGT"])[0].n_scored == 4


def test_a_text_is_no_list():
    with carbon_dna.Model(TINY) as model:
        for name, value in (("avoid", "GGTCTC"), ("no_stop", "prompt"), ("gc", "40-60")):
            type_error(lambda name=name, value=value: model.generate(["ACGT"], 10, **{name: value}), name, "list")
        type_error(lambda: model.predict(["ACGTAC"], labels="activity"), "labels", "list")
        type_error(lambda: model.variants(None, [SNV], sequence=CONTIG, recipe="head", labels=b"a"), "labels", "list")
        bounds = np.array([40, 60])
        assert model.generate(["ACGT"], 12, gc=bounds) == model.generate(["ACGT"], 12, gc=[40, 60])
        assert model.generate(["ACGT"], 12, avoid=("GAATTC",), n=np.int64(2))[1].number == 1
        goes_on(model)


class Seq:
    """As of Biopython: its text is its bases, its entries are its letters."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text

    def __len__(self):
        return len(self.text)

    def __iter__(self):
        return iter(self.text)

    def __getitem__(self, i):
        return self.text[i] if isinstance(i, int) else type(self)(self.text[i])


class SeqRecord:
    """As of Biopython."""

    def __init__(self, text, name):
        self.seq, self.id, self.name, self.description = Seq(text), name, "<unknown name>", "no bases"

    def __str__(self):
        return "ID: %s" % self.id

    def __len__(self):
        return len(self.seq)

    def __iter__(self):
        return iter(self.seq)


def kinds_of_seq():
    """The stand-ins, and Biopython's own where it is installed."""
    try:
        from Bio.Seq import MutableSeq
        from Bio.Seq import Seq as BioSeq
        from Bio.SeqRecord import SeqRecord as BioRecord
    except ImportError:
        return (Seq,), (SeqRecord,)
    return (Seq, BioSeq, MutableSeq), (SeqRecord, lambda text, name: BioRecord(BioSeq(text), id=name))


def test_objects_with_a_text_of_bases_are_sequences():
    text = "ACGTTAGCATCGATCGGCTAAG"
    seqs, records = kinds_of_seq()
    with carbon_dna.Model(TINY) as model:
        wanted, samples = model.score([text])[0], model.generate([text], 12, constraint="N" * 12, avoid=["GAATTC"])
        variants = model.variants(None, [("", 5, "T", "A")], sequence=text)
        for kind in seqs:
            seq = kind(text)
            assert model.score([seq]) == [wanted] and model.score(seq for seq in [seq]) == [wanted]
            assert model.scan(None, seq) == model.scan(None, text)
            assert model.generate([seq], 12, constraint=kind("N" * 12), avoid=[kind("GAATTC")]) == samples
            assert model.variants(None, [("", 5, kind("T"), b"A")], sequence=seq) == variants
        for kind in records:
            score, = model.score([kind(text, "chrM")])
            assert score.name == "chrM" and score.logp.tobytes() == wanted.logp.tobytes()
            assert model.scan(None, kind(text, "chrM")).chrom == "chrM"
            assert "sequences[1] (chrM) has '>'" in raises("input", lambda kind=kind: model.score([text, kind("AC>GT", "chrM")]))
        goes_on(model)


class Table:
    """A frame."""
    columns = ["name", "Sequence"]

    def __iter__(self):
        return iter(self.columns)

    def __getitem__(self, name):
        return ["ACGT"]


def test_what_is_no_list_of_sequences_says_what_to_write():
    text = "ACGTTAGCATCGATCGGCTAAG"
    seqs, records = kinds_of_seq()
    wrong = [(text, "list"), (text.encode(), "list"), (bytearray(b"ACGT"), "list"), ({"a": text}, "values()"),
             (Table(), "frame['Sequence']"), ({text}, "list"), (np.array(list(text)), "list"),
             (np.array(list(text.encode()), dtype="S1"), "list"), (4, "list"),
             (np.array("ACGT"), "list"), (pathlib.Path("a.fa"), "read_fasta")]
    wrong += [(kind(text), "list") for kind in seqs] + [(kind(text, "a"), "list") for kind in records]
    try:
        import pandas
        wrong += [(pandas.DataFrame({"seq": [text]}), "frame['seq']")]
    except ImportError:
        pass
    with carbon_dna.Model(TINY) as model:
        for given, advice in wrong:
            for call in (model.score, model.embed, model.predict, lambda seqs: model.generate(seqs, 6)):
                type_error(lambda call=call, given=given: call(given), "prompts" if "lambda" in call.__name__ else "sequences", advice)
            type_error(lambda given=given: model.iter_scan(None, given), "regions", advice)
        for entry in (4, None, [text], ("a", text), {"seq": text}, Table(), np.array(["ACGT"])):
            type_error(lambda entry=entry: model.score([text, entry]), "sequences[1]", type(entry).__name__)
        type_error(lambda: model.generate([text], 6, avoid=[4]), "avoid[0]", "int")
        for name, given in (("avoid", Seq("GAATTC")), ("avoid", {"GAATTC": 1}), ("gc", {40, 60}), ("no_stop", {1: "prompt"})):
            type_error(lambda name=name, given=given: model.generate([text], 6, **{name: given}), name, "list")
        type_error(lambda: model.predict([text], label_scale=3), "label_scale")
        goes_on(model)


def test_rows_with_names_are_read_by_them():
    one = {"#CHROM": "c1", "POS": SNV[1], "ALT": SNV[3], "REF": SNV[2], "other": 1}
    Named = collections.namedtuple("Named", ["pos", "alt", "ref", "chrom", "other"])
    rows = [one, Named(SNV[1], SNV[3], SNV[2], "c1", 1), np.array([(SNV[3], SNV[2], SNV[1], "c1")], dtype=[
        ("alt", "U1"), ("ref", "U1"), ("pos", int), ("chrom", "U2")])[0], np.array(SNV, dtype=object), list(SNV)]
    with carbon_dna.Model(TINY) as model:
        wanted = model.variants(None, [SNV], sequence=CONTIG)
        for row in rows:
            assert model.variants(None, [row], sequence=CONTIG) == wanted, row
        assert model.variants(None, wanted, sequence=CONTIG) == wanted
        columns = {"chrom": ["c1"], "pos": [1], "ref": ["A"], "alt": ["C"]}
        for names in (["chrom", "pos", "POS", "ref", "alt"], ["chrom", "#chrom", "pos", "ref", "alt"],
                      ["chrom", "pos", "ref", "alt", "alt"]):
            frame = Table()
            frame.columns = names
            type_error(lambda frame=frame: model.variants(None, frame, sequence=CONTIG), "several columns", "rename")
        type_error(lambda: model.variants(None, [{**one, "pos": 4}], sequence=CONTIG), "rows[0]", "'POS', 'pos'")
        type_error(lambda: model.variants(None, columns, sequence=CONTIG), "dict", "frame")
        type_error(lambda: model.variants(None, 4, sequence=CONTIG), "int")
        for wrong in (SNV, ["X5AC"], [set(SNV)]):
            type_error(lambda wrong=wrong: model.variants(None, wrong, sequence=CONTIG), "rows[0]")
        for wrong in ([("c1", True, "A", "C")], [(float("nan"), 5, "A", "C")], [(1.0, 5, "A", "C")],
                      [{"pos": 4}]):
            assert "rows[0]" in raises("input", lambda wrong=wrong: model.variants(None, wrong, sequence=CONTIG)), wrong
        goes_on(model)


def test_errors_have_the_words_of_python():
    label = checkpoint(*SHAPE, "--labels", "2", "--problem-type", "regression")
    with carbon_dna.Model(TINY) as model, carbon_dna.Model(label) as head:
        for words, action in ((("window is of the type str", "whole number"), lambda: model.score(["ACGT"], window="9")),
                              (("probabilities", "True or False"), lambda: model.score(["ACGT"], probabilities="yes")),
                              (("pad_tail", "True or False"), lambda: model.embed(["ACGTAC"], pad_tail=1)),
                              (("greedy", "True or False"), lambda: model.generate(["ACGT"], 6, greedy="no")),
                              (("n is of the type bool", "whole number"), lambda: model.generate(["ACGT"], 6, n=True)),
                              (("gc[1] is of the type str", "a number"), lambda: model.generate(["ACGT"], 6, gc=[40, "60"])),
                              (("fasta is of the type int", "a text"), lambda: model.variants(5, [])),
                              (("fasta is of the type bytes", "a text"), lambda: model.variants(b"ref.fa", [])),
                              (("rows is of the type bytes", "path of a VCF"), lambda: model.variants(None, b"ok.vcf", sequence=CONTIG)),
                              (("window is of the type object", "whole number"), lambda: model.score(["ACGT"], window=object())),
                              (("no_stop[0] is of the type object", "a text or a number"),
                               lambda: model.generate(["ACGT"], 6, no_stop=[object()])),
                              (("strand is of the type int", "a text"), lambda: model.score(["ACGT"], strand=5)),
                              (("level is of the type int", "a text"), lambda: model.variants(None, [SNV], sequence=CONTIG, level=6)),
                              (("name is of the type int", "a text"), lambda: carbon_dna.Model(5)),
                              (("species is of the type int", "a text"), lambda: carbon_dna.Model(TINY, species=4)),
                              (("threads is of the type bool", "whole number"), lambda: carbon_dna.Model(TINY, threads=True))):
            type_error(action, *words)
        cases = [(("n must be",), lambda: model.generate(["ACGT"], 6, n=0)),
                 (("temperature is nan",), lambda: model.generate(["ACGT"], 6, temperature=float("nan"))),
                 (("gc[0] is nan",), lambda: model.generate(["ACGT"], 6, gc=[float("nan"), 60])),
                 (("length is a number of", "too large"), lambda: model.generate(["ACGT"], HUGE)),
                 (("length is missing",), lambda: model.generate(["ACGT"], None)),
                 (("fasta or sequence is needed",), lambda: model.variants(None, [])),
                 (("label_scale: label",), lambda: head.predict(["ACGTAC"], labels=["a", "b"], label_scale={"a": {"mean": 0, "std": 0}})),
                 (("strand is 'x'",), lambda: model.score(["ACGT"], strand="x")),
                 (("strand is", "UTF-8"), lambda: model.score(["ACGT"], strand="\udcff")),
                 (("phases is '5'",), lambda: model.variants(None, [SNV], sequence=CONTIG, phases=5)),
                 (("name is empty",), lambda: carbon_dna.Model("")),
                 (("threads must be",), lambda: carbon_dna.Model(TINY, threads=0)),
                 (("device is empty",), lambda: carbon_dna.Model(TINY, device=""))]
        for words, action in cases:
            said = raises(("setting", "input"), action)
            assert said.startswith(words[0]) and all(word in said for word in words), said
            assert not any(word in said for word in ("JSON", "null", "true", "options.", "settings.", "fasta_ref", "--")), said


def test_numbers_that_are_none():
    kinds = ("setting", "input")
    with carbon_dna.Model(TINY) as model:
        for options in ({"length": HUGE}, {"length": -HUGE}, {"length": 0}, {"length": 12.5}, {"length": None},
                        {"n": HUGE}, {"n": 0}, {"n": -1}, {"n": 10 ** 9}, {"seed": -1}, {"seed": 2 ** 64}, {"seed": 0.5},
                        {"temperature": float("inf")}, {"temperature": float("nan")}, {"temperature": 0}, {"top_k": HUGE},
                        {"top_p": -0.1}, {"top_p": 1e400}, {"gc": [float("nan"), 60]}, {"gc": [60, 40]}, {"gc": []}, {"gc": [1, 2, 3]},
                        {"avoid": [""]}, {"no_stop": [0]},
                        {"max_homopolymer": -1}, {"constraint": "\0"}, {"constraint": "?"}, {"sampler": "\N{SNOWMAN}"},
                        {"prefix": "<dna>\0"}):
            refused(kinds, lambda options=options: model.generate(["ACGT"], **{"length": 12, **options}), options)
        for options in ({"window": -6}, {"window": HUGE}, {"window": float("nan")}, {"stride": 10 ** 30}, {"strand": ""}):
            refused(kinds, lambda options=options: model.score(["ACGT"], **options), options)
        for options in ({"layer": 10 ** 30}, {"layer": -2}, {"layer": 0}, {"pool": "\udcff"}):
            refused(kinds, lambda options=options: model.embed(["ACGTAC"], **options), options)
        for row in (("c1", HUGE, "A", "C"), ("c1", -1, "A", "C"), ("c1", 0, "A", ""), ("c1", 5, "\udcff", "C"), ("c1", 5, "A", "C,G"),
                    ("c1", float("inf"), "A", "C"), ("c1", 5, "A"), ("c1", 5, "A", "C", "G")):
            refused("input", lambda row=row: model.variants(None, [SNV, row], sequence=CONTIG), row)
        for row in ("c1", None, 4, {1, 2}):
            type_error(lambda row=row: model.variants(None, [SNV, row], sequence=CONTIG), "rows[1]")
        deletion = dict(chrom="c1", pos=100, ref=CONTIG[99], alt="<DEL>")
        for name, value in (("end", "abc"), ("end", ""), ("end", float("inf")), ("end", [110]), ("end", 110.5), ("end", True),
                            ("svlen", 2.5), ("info", {"END": float("nan")}), ("info", {"END": "\udcff"})):
            refused(kinds, lambda row={**deletion, name: value}: model.variants(None, [row], sequence=CONTIG), (name, value))
        type_error(lambda: model.variants(None, [{**deletion, "info": {"END": object()}}], sequence=CONTIG), "rows[0].info")
        whole = model.variants(None, [{**deletion, "end": 110}, {**deletion, "info": {"END": np.int64(110)}},
                                      {**deletion, "end": None, "svlen": float("nan"), "info": {"END": 110}}], sequence=CONTIG)
        assert len(set(whole.score)) == 1 and not np.isnan(whole.score).any(), whole
        raises(kinds, lambda: model.variants(None, [SNV], sequence=CONTIG, labels=[]))
        type_error(lambda: model.score(["ACGT"], window=object()), "object")
        goes_on(model)
    for settings in ({"threads": HUGE}, {"threads": 0}, {"threads": -2}, {"threads": 1.5}, {"batch_tokens": HUGE},
                     {"batch_tokens": 0}, {"dtype": ""}, {"dtype": None, "device": "cuda:-1"}, {"device": "\udcff"},
                     {"rope_scaling": "yarn:nan"}, {"prefix": "x\0"}, {"tag_grammar": "corpus"}):
        refused("setting", lambda settings=settings: carbon_dna.Model(TINY, **settings), settings)
    unraised = []
    hook, sys.unraisablehook = sys.unraisablehook, unraised.append
    try:
        type_error(lambda: carbon_dna.Model(TINY, treads=2), "treads")
        gc.collect()
    finally:
        sys.unraisablehook = hook
    assert not unraised, unraised[0].exc_value


def test_texts_with_a_zero_or_without_an_encoding():
    raises("setting", lambda: carbon_dna.Model(TINY + "\0x"))
    raises(("setting", "model"), lambda: carbon_dna.Model(TINY + "\udcff"))
    path = fasta([("c1", CONTIG)])
    with carbon_dna.Model(TINY) as model:
        assert model.variants(path, [SNV]).flag[0] == ""
        for wrong in (path + "\0", path + "\udcff"):
            raises(("setting", "input"), lambda wrong=wrong: model.variants(wrong, [SNV]))
            raises(("setting", "input"), lambda wrong=wrong: model.scan(wrong, "c1"))
        for wrong in (b"\xff\xfe", "AC\udcffGT", "AC\0GT", b"ACGT\0", "\N{SNOWMAN}"):
            raises("input", lambda wrong=wrong: model.score(["ACGT", wrong]))
            raises("input", lambda wrong=wrong: model.generate([wrong], 6))
        for wrong in ("", "c1\0", "c1:0-0", "c1:9-1", "c9", "c1:1-5,c1:8-9", "\udcff"):
            raises("input", lambda wrong=wrong: model.scan(path, wrong))
        # A VCF has descriptions in whatever encoding its maker had.
        vcf = write("in.vcf", "")
        with open(vcf, "wb") as file:
            file.write(b"##fileformat=VCFv4.2\n##source=caf\xe9\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
                       "\t".join(map(str, SNV[:2])).encode() + b"\t\xe9\t" + "\t".join(SNV[2:]).encode() + b"\t.\t.\t.\n")
        assert model.variants(path, vcf).score.tobytes() == model.variants(path, [SNV]).score.tobytes()
        line = "c1\t\N{SUPERSCRIPT TWO}\t.\tA\tC\t.\t.\t.\n"
        raises("input", lambda: model.variants(path, write("in.vcf", pathlib.Path(support_vcf([])).read_text() + line)))
        goes_on(model)


def test_inputs_that_end_badly():
    class Stop(Exception):
        pass

    def some(n, what):
        for i in range(n):
            yield bases(200, i)
        raise what

    with carbon_dna.Model(TINY) as model:
        for n in (0, 1, 300):
            for what in (Stop(), KeyboardInterrupt(), SystemExit(3), MemoryError()):
                try:
                    model.score(some(n, what))
                    raise AssertionError("no error")
                except type(what) as error:
                    assert error is what
        # The inputs of a call may be results of the same model, and of each other.
        inner = (sample.sequence for sample in model.iter_generate(["ACGT"] * 5, 30, n=2))
        assert [score.n_scored for score in model.iter_score(inner)] == [30] * 10
        left = model.iter_score(some(300, Stop()))
        next(left)
        del left
        goes_on(model)

        def closes():
            yield "ACGT"
            model.close()
            yield "ACGT"

        raises("closed", lambda: model.score(closes()))
    model = carbon_dna.Model(TINY)
    results = model.iter_score(bases(300, i) for i in range(1000))
    next(results)
    model.close()
    raises("closed", lambda: list(results))
    assert list(results) == []


def test_two_threads_close_one_model():
    for _ in range(20):
        model = carbon_dna.Model(checkpoint(*SHAPE), threads=1)
        results = model.iter_score(bases(3000, i) for i in range(50))
        next(results)
        start = threading.Barrier(4)
        kinds = []

        def close(model=model, start=start):
            start.wait()
            model.close()

        def use(model=model, start=start, kinds=kinds):
            start.wait()
            try:
                while True:
                    model.embed(["ACGTAC"])
            except carbon_dna.CarbonError as error:
                kinds.append(error.kind)

        threads = [threading.Thread(target=work) for work in (close, close, use, use)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert kinds == ["closed"] * 2
        raises("closed", lambda results=results: list(results))
        model.close()


def test_a_generator_is_not_for_two_threads():
    with carbon_dna.Model(TINY) as model:
        results = model.iter_score(bases(600, i) for i in range(200))
        got, errors = [], []

        def take():
            try:
                for score in results:
                    got.append(score.n_scored)
            except ValueError as error:  # Python's own: generator already executing
                errors.append(error)

        threads = [threading.Thread(target=take) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert got == [600] * 200
        goes_on(model)


# Since 3.12 Python warns of a fork of a process with several threads, which is what is done here.
FORKED = """
import logging, os, sys, warnings
import carbon_dna
logging.disable()
warnings.simplefilter("ignore", DeprecationWarning)
model = carbon_dna.Model(sys.argv[1])
calls = model.iter_score(["ACGT" * 100] * 50)
next(calls)
pid = os.fork()
if pid == 0:
    for action in (lambda: next(calls), lambda: model.embed(["ACGTAC"]), lambda: model.description):
        try:
            action()
            sys.exit("no error")
        except carbon_dna.CarbonError as error:
            assert error.kind == "forked", error.kind
    model.close()
    repr(model)
    with carbon_dna.Model(sys.argv[1], threads=2) as own:  # a child may open its own
        assert own.score(["ACGT"])[0].n_scored == 4
    sys.exit(5)  # not os._exit(): what runs at the end of a process runs here too
assert os.waitpid(pid, 0)[1] == 5 << 8
assert len(list(calls)) == 49
"""


def test_a_child_of_fork_opens_its_own_model_and_ends_as_others_do():
    done = child(FORKED, TINY)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b""), done.stderr.decode()
