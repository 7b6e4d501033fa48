"""Calls that are wrong, late, or from the wrong thread: an exception that says what is wrong, never a crash, and the model goes on."""

import gc
import sys
import threading

import numpy as np
from support import SHAPE, TINY, bases, checkpoint, child, fasta, raises, write

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


def type_error(action, *words):
    try:
        action()
    except TypeError as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError("no TypeError")


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


def test_numbers_that_are_none():
    kinds = ("setting", "input")
    with carbon_dna.Model(TINY) as model:
        for options in ({"length": HUGE}, {"length": -HUGE}, {"length": 0}, {"length": 12.5}, {"length": "12"}, {"length": None},
                        {"n": HUGE}, {"n": 0}, {"n": -1}, {"n": 10 ** 9}, {"seed": -1}, {"seed": 2 ** 64}, {"seed": 0.5},
                        {"temperature": float("inf")}, {"temperature": float("nan")}, {"temperature": 0}, {"top_k": HUGE},
                        {"top_p": -0.1}, {"top_p": 1e400}, {"gc": [float("nan"), 60]}, {"gc": [60, 40]}, {"gc": []}, {"gc": [1, 2, 3]},
                        {"gc": [[]]}, {"avoid": [4]}, {"avoid": [""]}, {"no_stop": [0]},
                        {"max_homopolymer": -1}, {"constraint": "\0"}, {"constraint": "?"}, {"sampler": "\N{SNOWMAN}"},
                        {"prefix": "<dna>\0"}):
            refused(kinds, lambda options=options: model.generate(["ACGT"], **{"length": 12, **options}), options)
        for options in ({"window": -6}, {"window": HUGE}, {"window": float("nan")}, {"stride": 10 ** 30}, {"strand": None, "level": 3},
                        {"strand": ""}, {"probabilities": "yes"}, {"window": True}):
            refused(kinds, lambda options=options: model.score(["ACGT"], **options), options)
        for options in ({"layer": 10 ** 30}, {"layer": -2}, {"layer": 0}, {"pool": "\udcff"}, {"pad_tail": 1}):
            refused(kinds, lambda options=options: model.embed(["ACGTAC"], **options), options)
        for row in (("c1", HUGE, "A", "C"), ("c1", -1, "A", "C"), ("c1", 0, "A", ""), ("c1", 5, "\udcff", "C"), ("c1", 5, "A", "C,G"),
                    ("c1", float("inf"), "A", "C"), ("c1", 5, "A"), "c1", None, 4, ("c1", 5, "A", "C", "G")):
            refused("input", lambda row=row: model.variants(None, [SNV, row], sequence=CONTIG), row)
        raises(kinds, lambda: model.variants(None, [SNV], sequence=CONTIG, labels=[]))
        type_error(lambda: model.score(["ACGT"], window=object()), "object")
        goes_on(model)
    for settings in ({"threads": HUGE}, {"threads": 0}, {"threads": -2}, {"threads": 1.5}, {"threads": True}, {"batch_tokens": HUGE},
                     {"batch_tokens": 0}, {"dtype": ""}, {"dtype": None, "device": "cuda:-1"}, {"device": "\udcff"},
                     {"rope_scaling": "yarn:nan"}, {"prefix": "x\0"}, {"tag_grammar": "corpus"}, {"species": 4}):
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
            file.write(b"##source=caf\xe9\n#CHROM\tPOS\tID\tREF\tALT\n" + "\t".join(map(str, SNV[:2])).encode() +
                       b"\t\xe9\t" + "\t".join(SNV[2:]).encode() + b"\n")
        assert model.variants(path, vcf).score.tobytes() == model.variants(path, [SNV]).score.tobytes()
        raises("input", lambda: model.variants(path, write("in.vcf", "c1\t\N{SUPERSCRIPT TWO}\t.\tA\tC\n")))
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
