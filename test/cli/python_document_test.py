"""docs/python.md, whose blocks run one after the other; docs/python.ipynb, which is the same page; and the tools that check types.

The page needs pandas, matplotlib and scikit-learn, and the notebook nbclient and ipykernel. They are looked for in the Python that
CARBON_NOTEBOOK names, else in this one; so are mypy and ruff.
"""

import os
import subprocess
import sys

from harness import CARBON, ENV, Skip, case, expect, expect_equal, fresh, main, read

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIBRARY = os.path.join(os.path.dirname(CARBON), "libcarbon.so.0")
PYTHON = os.environ.get("CARBON_NOTEBOOK", sys.executable)
PAGE = os.path.join(SOURCE, "docs/python.md")
sys.path.insert(0, os.path.join(SOURCE, "python"))

from notebook import code_blocks, notebook  # noqa: E402


def need(*modules):
    code = "import importlib.util, sys; print(' '.join(m for m in sys.argv[1:] if importlib.util.find_spec(m) is None))"
    missing = subprocess.run([PYTHON, "-c", code, *modules], stdout=subprocess.PIPE, check=True).stdout.decode().split()
    if missing:
        raise Skip("%s has no %s; CARBON_NOTEBOOK may name a Python that has" % (PYTHON, ", ".join(missing)))


def run(*args, cwd=None, timeout=600):
    env = dict(ENV, CARBON_DNA_LIBRARY=LIBRARY, PYTHONPATH=os.path.join(SOURCE, "python"), MPLCONFIGDIR=fresh(), PYTHONDONTWRITEBYTECODE="1",
               HOME=fresh())
    done = subprocess.run([PYTHON, *args], cwd=cwd or SOURCE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout)
    expect(done.returncode == 0, "expected rc 0:\n" + done.stdout.decode()[-3000:])
    return done.stdout.decode()


def need_library():
    if not os.path.exists(LIBRARY):
        raise Skip("no %s; make library builds it" % LIBRARY)


@case
def the_blocks_of_the_page():
    need_library()
    need("numpy", "pandas", "matplotlib", "sklearn")
    folder = fresh()
    printed = run("-c", "\n".join(code_blocks(read(PAGE).decode())), cwd=folder)
    expect("333 bases" in printed and "input - input 1" in printed, "printed " + printed)
    picture = read(os.path.join(folder, "insulin.png"))
    expect(picture.startswith(b"\x89PNG\r\n") and len(picture) > 5000, "insulin.png: %d bytes" % len(picture))


@case
def the_blocks_that_need_numpy_alone():
    need_library()
    need("numpy")
    others = ("pandas", "matplotlib", "sklearn", "snvs")
    blocks = [text for text in code_blocks(read(PAGE).decode()) if not any(word in text for word in others)]
    expect(len(blocks) >= 6, "%d blocks" % len(blocks))
    run("-c", "\n".join(blocks), cwd=fresh())


@case
def the_sequence_of_the_page_is_that_of_a_protein():
    """Human proinsulin with its signal peptide, 110 amino acids."""
    block = next(text for text in code_blocks(read(PAGE).decode()) if text.startswith("insulin = "))
    found = {}
    exec(block.split("score,")[0], found)
    codons = dict(zip((a + b + c for a in "TCAG" for b in "TCAG" for c in "TCAG"),
                      "FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG"))
    protein = "".join(codons[found["insulin"][i:i + 3]] for i in range(0, len(found["insulin"]), 3))
    expect_equal(protein, "MALWMRLLPLLALLALWGPDPAAAFVNQHLCGSHLVEALYLVCGERGFFYTPKTRREAEDLQVGQVELGGGPGAGSLQPLALEGSLQKRGIVEQCCTSICSLYQLENYCN*",
                 "protein")


@case
def the_notebook_is_the_page():
    expect_equal(read(os.path.join(SOURCE, "docs/python.ipynb")).decode(), notebook(read(PAGE).decode()),
                 "docs/python.ipynb (python3 python/notebook.py makes it)")


@case
def the_notebook_runs():
    need_library()
    need("numpy", "pandas", "matplotlib", "sklearn", "nbclient", "nbformat", "ipykernel")
    code = "import nbclient, nbformat, sys\n" \
           "nbclient.NotebookClient(nbformat.read(sys.argv[1], 4), timeout=600, kernel_name='python3').execute()"
    run("-c", code, os.path.join(SOURCE, "docs/python.ipynb"), cwd=fresh())


@case
def types():
    need("numpy", "mypy")
    run("-m", "mypy", "--config-file", os.path.join(SOURCE, "python/pyproject.toml"), "--cache-dir", fresh(), "--strict", "carbon_dna",
        "carbon_dna_program.py", cwd=os.path.join(SOURCE, "python"))


@case
def style():
    need("ruff")
    run("-m", "ruff", "check", "--no-cache", os.path.join(SOURCE, "python"))


@case
def pytest_runs_the_tests_too():
    need_library()
    need("numpy", "pytest")
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(SOURCE, "python/tests/test_behaviour.py"))


main()
