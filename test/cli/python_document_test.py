"""docs/python.md, whose blocks run one after the other; docs/python.ipynb, which is the same page; and the tools that check types.

The page needs pandas, matplotlib and scikit-learn, the notebook nbclient and ipykernel, and the tools mypy, ruff and pytest:
notebook_python.py says where they are looked for.
"""
# Left out while unchanged: build python include src/api src/verbs docs/python.md docs/python.ipynb test/cli/notebook_python.py

import json
import os
import sys

from harness import case, expect, expect_equal, fresh, main, read
from notebook_python import SOURCE, need, need_library, run

PAGE = os.path.join(SOURCE, "docs/python.md")
sys.path.insert(0, os.path.join(SOURCE, "python"))

from notebook import code_blocks, code_cells, notebook, without_outputs  # noqa: E402


@case
def the_blocks_of_the_page():
    need_library()
    need("numpy", "pandas", "matplotlib", "sklearn")
    folder = fresh()
    printed = run("-c", "\n".join(code_blocks(read(PAGE).decode())), cwd=folder)
    expect("333 bases" in printed and "input - sequences[1]" in printed, "printed " + printed)
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
    expect_equal(without_outputs(saved()), notebook(read(PAGE).decode()), "docs/python.ipynb (python3 python/notebook.py makes it)")


def saved():
    return json.loads(read(os.path.join(SOURCE, "docs/python.ipynb")))


def kinds_of_outputs(made):
    """Where each cell prints, and whether it has a value. The numbers depend on the CPU and on the packages."""
    return {cell["id"]: sorted({output.get("name", output["output_type"]) for output in cell["outputs"]}) for cell in code_cells(made)}


@case
def the_notebook_runs_and_its_saved_outputs_are_of_these_cells():
    need_library()
    need("numpy", "pandas", "matplotlib", "sklearn", "nbclient", "nbformat", "ipykernel")
    code = "import json, sys, notebook\n" \
           "with open(sys.argv[1]) as file:\n" \
           "    made = notebook.notebook(file.read())\n" \
           "print('MADE', json.dumps(notebook.run(made)), sep='')"
    printed = run("-c", code, PAGE, cwd=fresh())
    made = json.loads(printed.split("MADE")[1])
    expect_equal(kinds_of_outputs(saved()), kinds_of_outputs(made), "outputs in docs/python.ipynb (python3 python/notebook.py saves them)")
    expect(sum(bool(cell["outputs"]) for cell in code_cells(made)) > 8, "few outputs")
    for place in (SOURCE, os.path.expanduser("~/"), "/tmp/"):
        expect(place not in json.dumps(saved()), "docs/python.ipynb has the path " + place)


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
    tests = os.path.join(SOURCE, "python/tests")
    said = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", tests)
    expect("test_equality.py" in said and "test_hostile.py" in said, said)
    run("-m", "pytest", "-q", "-p", "no:cacheprovider", os.path.join(tests, "test_options.py"))


main()
