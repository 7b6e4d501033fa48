"""What a notebook does to a model: errors, Ctrl-C, threads, fork, endless inputs, closing, messages; and the examples."""

import doctest
import importlib
import itertools
import logging
import os
import pickle
import threading
import time

import numpy as np
from support import SHAPE, TINY, bases, checkpoint, child, fasta, raises, write

import carbon_dna


def test_errors_name_what_is_wrong():
    assert "treads" in raises("setting", lambda: carbon_dna.Model(TINY, dtype="treads"))
    assert "no-such" in raises("model", lambda: carbon_dna.Model("no-such"))
    assert "empty" in raises("setting", lambda: carbon_dna.Model(""))
    with carbon_dna.Model(TINY) as model:
        assert "input 1" in raises("input", lambda: model.score(["ACGT", "AC>GT"]))
        assert "character 3" in raises("input", lambda: model.score(["AC\0GT"]))
        assert "window" in raises("setting", lambda: model.score(["ACGT"], window=7))
        raises("input", lambda: model.score(["ACGT\N{SNOWMAN}"]))
        raises("input", lambda: model.variants("/no/such.fa", []))
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
    raises("closed", lambda: model.score(["ACGT"]))
    model.close()
    assert "closed" in repr(model)


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
    vcf = write("in.vcf", "#CHROM\tPOS\tID\tREF\tALT\n" + "".join("%s\t%d\t.\t%s\t%s\n" % (*site, ",".join(alts))
                                                               for site, alts in lines.items()))
    with carbon_dna.Model(TINY) as model:
        scores = model.variants(path, rows)
        for given in (Frame(), vcf, iter(rows)):
            assert model.variants(path, given).score.tobytes() == scores.score.tobytes()
        assert list(scores)[3].pos == 201
        raises("input", lambda: model.variants(path, write("bad.vcf", "nonsense\n")))
        assert "bcftools" in raises("input", lambda: model.variants(path, write("in.bcf", "BCF\2\2")))

        class Wrong:
            columns = ["pos"]

        assert "chrom" in raises("input", lambda: model.variants(path, Wrong()))
        for wrong in (1.5, float("nan"), None, "x"):
            assert "row 1: pos is" in raises("input", lambda wrong=wrong: model.variants(path, [rows[0], ("c1", wrong, "A", "C")]))
        for wrong in (float("nan"), None, 4):
            assert "row 0: alt is" in raises("input", lambda wrong=wrong: model.variants(path, [("c1", 5, "A", wrong)]))
        assert model.variants(path, [("c1", float(rows[0][1]), *rows[0][2:])]).score[0] == scores.score[0]


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
    said.append("soon" if time.monotonic() - begin < 1 else "late")
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
            model.variants(None, [("", 3, "G", "A")], sequence="ACGTACGT", recipe="next-token", window=48)
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    assert any("U" in text for _, text in records), records
    assert any(level == logging.WARNING and "window has no effect" in text for level, text in records), records


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
    for name in ("carbon_dna", "carbon_dna._errors", "carbon_dna._model"):
        result = doctest.testmod(importlib.import_module(name))
        assert result.attempted > 0 and result.failed == 0, name


def test_every_public_method_has_a_docstring_with_an_example():
    for name, value in vars(carbon_dna.Model).items():
        if name.startswith("_") or not callable(value) or name in ("close", "iter_predict"):
            continue
        assert ">>>" in (value.__doc__ or ""), name
