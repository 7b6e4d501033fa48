"""carbon_dna in one process with libraries that have threads, OpenMP or htslib of their own: no crash, and the same bits.

Each neighbour works before carbon_dna is loaded, while it computes, and after it. Those that are not installed are skipped.
"""
# Left out while unchanged: build python include src/api src/base test/cli/notebook_python.py

import functools
import os

from harness import Skip, case, expect_equal, main
from notebook_python import SOURCE, missing, need, need_library, run

NEIGHBOURS = ["scipy", "torch", "sklearn", "pysam"]

# The digest of all that carbon_dna computes, at each step that argv[1] names, beside the modules argv[2:].
CODE = """
import hashlib, importlib, logging, os, random, sys, tempfile, threading
logging.disable()
bases = "".join(random.Random(1).choices("ACGT", k=600))

def digest():
    import carbon_dna
    with carbon_dna.Model(sys.argv[2], threads=2) as model:
        score, = model.score([bases], strand="both", probabilities=True)
        rows = [("", i + 1, bases[i], alt) for i in range(100, 106) for alt in "ACGT" if alt != bases[i]]
        parts = [score.logp, score.probabilities, model.variants(None, rows, sequence=bases[:300]).score, model.scan(None, bases).logp,
                 model.embed([bases], pool="none"), *(s.sequence.encode() for s in model.generate([bases[:99]], 60, n=3))]
    return hashlib.sha256(b"".join(bytes(part) for part in parts)).hexdigest()

def work(name):
    import numpy as np
    square = np.random.default_rng(0).normal(size=(400, 400))
    if name == "scipy":
        import scipy.linalg
        scipy.linalg.eigh(square + square.T)
    elif name == "torch":
        import torch
        there = torch.from_numpy(square)
        (there @ there).softmax(1).sum()
    elif name == "sklearn":
        import sklearn.cluster
        sklearn.cluster.KMeans(3, n_init=2).fit(square)
    elif name == "pysam":
        import pysam
        path = os.path.join(tempfile.mkdtemp(), "in.fa")
        with open(path, "w") as file:
            file.write(">s\\n%s\\n" % bases)
        with pysam.FastaFile(path) as file:
            assert file.fetch("s", 100, 200) == bases[100:200]

def work_all():
    for name in sys.argv[3:]:
        work(name)

if sys.argv[1] == "before":
    work_all()
print(digest())
worker = threading.Thread(target=work_all)
worker.start()
print(digest())
worker.join()
work_all()
print(digest())
"""


def digests(order, *names):
    return set(run("-c", CODE, order, os.path.join(SOURCE, "models/carbon-tiny"), *names).split())


@functools.lru_cache(maxsize=None)
def alone():
    found = digests("after")
    expect_equal(len(found), 1, "digests of carbon_dna alone")
    return found


def beside(*names):
    for order in ("before", "after"):
        expect_equal(digests(order, *names), alone(), "%s, loaded %s carbon_dna" % (", ".join(names), order))


def register(name):
    def one():
        need_library()
        need("numpy", name)
        beside(name)
    case(one, name=name)


for neighbour in NEIGHBOURS:
    register(neighbour)


@case
def all_of_them_together():
    need_library()
    need("numpy")
    names = [name for name in NEIGHBOURS if name not in missing(*NEIGHBOURS)]
    if len(names) < 2:
        raise Skip("fewer than two of %s are installed" % ", ".join(NEIGHBOURS))
    beside(*names)


main()
