"""Makes docs/python.ipynb of docs/python.md: python3 python/notebook.py [--check]

Text becomes cells of Markdown, and each block of Python a cell of code. --check writes nothing, and fails if the notebook is not the
page.
"""

import json
import os
import re
import sys

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
    made = []
    for i, (kind, text) in enumerate(cells(page)):
        if not text:
            continue
        cell = {"cell_type": kind, "id": "cell-%d" % i, "metadata": {}, "source": text.splitlines(True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    whole = {"cells": made, "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                                         "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def main():
    with open(os.path.join(DOCS, "python.md")) as file:
        made = notebook(file.read())
    path = os.path.join(DOCS, "python.ipynb")
    if sys.argv[1:] == ["--check"]:
        with open(path) as file:
            sys.exit(0 if file.read() == made else "docs/python.ipynb is not docs/python.md; run python3 python/notebook.py")
    with open(path, "w") as file:
        file.write(made)


if __name__ == "__main__":
    main()
