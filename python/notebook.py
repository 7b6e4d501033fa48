"""Makes docs/python.ipynb of docs/python.md, with what its cells print: python3 python/notebook.py [--check]

Text becomes cells of Markdown, and each block of Python a cell of code. The cells are run, so that this needs nbclient, ipykernel, and
what the page uses. --check writes and runs nothing, and fails if the cells are not those of the page.
"""

import json
import os
import re
import sys
import tempfile

DOCS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs")
FENCE = re.compile(r"^```python\n(.*?)^```\n", re.M | re.S)


def cells(page):
    """(kind, text) of each cell."""
    at = 0
    for block in FENCE.finditer(page):
        yield "markdown", page[at:block.start()].strip("\n")
        yield "code", block.group(1).rstrip("\n")
        at = block.end()
    yield "markdown", page[at:].strip("\n")


def code_blocks(page):
    return [text for kind, text in cells(page) if kind == "code"]


def notebook(page):
    """The page as a notebook that was not run."""
    made = []
    for i, (kind, text) in enumerate(cells(page)):
        if not text:
            continue
        cell = {"cell_type": kind, "id": "cell-%d" % i, "metadata": {}, "source": text.splitlines(True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    return {"cells": made, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                        "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}


def code_cells(made):
    return [cell for cell in made["cells"] if cell["cell_type"] == "code"]


def without_outputs(made):
    for cell in code_cells(made):
        cell.update(execution_count=None, outputs=[])
    return made


def run(made):
    """The notebook with what its cells print, in an empty folder."""
    import nbclient
    import nbformat

    ran = nbformat.reads(json.dumps(made), 4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(ran, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    for cell, done in zip(code_cells(made), code_cells(ran)):
        cell.update(execution_count=done["execution_count"], outputs=done["outputs"])
    return made


def main():
    with open(os.path.join(DOCS, "python.md")) as file:
        made = notebook(file.read())
    path = os.path.join(DOCS, "python.ipynb")
    if sys.argv[1:] == ["--check"]:
        with open(path) as file:
            sys.exit(0 if without_outputs(json.load(file)) == made else
                     "docs/python.ipynb is not docs/python.md; run python3 python/notebook.py")
    text = json.dumps(run(made), indent=1, ensure_ascii=False, sort_keys=True)
    with open(path, "w") as file:
        file.write(text + "\n")


if __name__ == "__main__":
    main()
