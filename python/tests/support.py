"""What the tests of carbon_dna share: the program, models, sequences. Environment as for test/cli: CARBON, CARBON_MAKE_CHECKPOINT.

The tests are functions that pytest finds; test/cli/python_package_test.py runs them where there is no pytest. They import nothing
of pytest.
"""

import atexit
import functools
import os
import random
import shutil
import subprocess
import sys
import tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CARBON = os.path.abspath(os.environ.get("CARBON", os.path.join(SOURCE, "build/carbon")))
MAKE_CHECKPOINT = os.path.abspath(os.environ.get("CARBON_MAKE_CHECKPOINT", os.path.join(SOURCE, "build/make_checkpoint")))
ROOT = tempfile.mkdtemp(prefix="carbon-python-")
atexit.register(shutil.rmtree, ROOT, ignore_errors=True)

# A build tree has library and package apart.
_built = os.path.join(os.path.dirname(CARBON), "libcarbon.so.0")
if os.path.exists(_built):
    os.environ.setdefault("CARBON_DNA_LIBRARY", _built)
if os.path.join(SOURCE, "python") not in sys.path:
    sys.path.insert(0, os.path.join(SOURCE, "python"))

TINY = os.path.join(SOURCE, "models/carbon-tiny")
SHAPE = ("--vocab 4224 --dna-start 0 --hidden 64 --heads 4 --kv-heads 2 --head-dim 16 --intermediate 128 --max-positions 2048 "
         "--layers 2 --dtype f32").split()
ANNOTATOR = ("--preset generanno --vocab 4128 --dna-start -1 --hidden 64 --heads 4 --kv-heads 2 --head-dim 16 --max-positions 128 "
             "--layers 2 --dtype f32").split()
GENERATOR = "--preset generator --layers 1".split()
LETTERS = ("--preset marin --hidden 48 --heads 3 --kv-heads 3 --head-dim 16 --intermediate 96 --layers 2 --dtype f32 --tied 0 "
           "--max-positions 256").split()


@functools.cache
def checkpoint(*options):
    """A generated model."""
    folder = tempfile.mkdtemp(dir=ROOT)
    subprocess.run([MAKE_CHECKPOINT, *options, folder], check=True, stdout=subprocess.DEVNULL)
    return folder


def models():
    """carbon-tiny and generated checkpoints of the families, the last one of one base a token."""
    return [TINY, checkpoint(*SHAPE), checkpoint(*GENERATOR), checkpoint(*LETTERS)]


def of_letters(folder):
    return folder == checkpoint(*LETTERS)


def embeddable(folder):
    """The sequences that have a token and fit the model's context."""
    longest = 255 if of_letters(folder) else 10000
    return [text for text in sequences() if 6 <= len(text) <= longest]


def bases(n, seed, letters="ACGT"):
    return "".join(random.Random(seed).choices(letters, k=n))


def sequences():
    """Of many lengths, with other letters, in both cases."""
    some = [bases(n, n) for n in (1, 5, 6, 7, 12, 150, 700, 3001)]
    return some + [bases(400, 1, "ACGTacgt"), "NNNNNNN", bases(50, 2) + "N" * 9 + bases(70, 3)]


def write(name, text):
    path = os.path.join(tempfile.mkdtemp(dir=ROOT), name)
    with open(path, "w") as file:
        file.write(text)
    return path


def fasta(records):
    return write("in.fa", "".join(">%s\n%s\n" % record for record in records))


def vcf(rows):
    return write("in.vcf", "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" +
                 "".join("%s\t%d\t.\t%s\t%s\t.\t.\t.\n" % row for row in rows))


def carbon(*args):
    """The output of a command that must succeed, without the lines that say what made it."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("CARBON")}
    done = subprocess.run([CARBON, *map(str, args)], capture_output=True, env=env)
    assert done.returncode == 0, done.stderr.decode()
    return "".join(line for line in done.stdout.decode().splitlines(True) if not line.startswith("##"))


def missing(action, name):
    """That `action` raises a FileNotFoundError of this file."""
    try:
        action()
    except FileNotFoundError as error:
        assert error.filename == name and name in str(error), error
        return
    raise AssertionError("no FileNotFoundError")


def type_error(action, *words):
    """That `action` raises a TypeError whose message has these words."""
    try:
        action()
    except TypeError as error:
        assert all(word in str(error) for word in words), str(error)
        return
    raise AssertionError("no TypeError")


def raises(kind, action):
    """The message of the CarbonError that `action` raises, which is of this kind, or of one of these."""
    import carbon_dna

    try:
        action()
    except carbon_dna.CarbonError as error:
        assert error.kind in ((kind,) if isinstance(kind, str) else kind), (error.kind, str(error))
        return str(error)
    raise AssertionError("nothing was raised")


def child(code, *args, **options):
    """Runs code in another Python that has the package on its path."""
    env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"))
    return subprocess.run([sys.executable, "-c", code, *map(str, args)], capture_output=True, env=env,
                          timeout=120, **options)
