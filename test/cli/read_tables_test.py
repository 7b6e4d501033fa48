"""The commands of the documents that read a table with pandas and polars: they run, and every column has one type.

With the Python that CARBON_PANDAS names, or the one that runs this, if it has both packages.
"""

import json
import os
import re
import sys

from harness import DATA, Skip, case, command, expect, expect_equal, fresh, main, model, ok, read, to_fasta, write
from generate_support import random_bases

SOURCE = os.path.dirname(os.path.dirname(DATA))
PYTHON = os.environ.get("CARBON_PANDAS", sys.executable)
TYPES = """
import json, sys
%s
table = %s
if hasattr(table, "to_dict") and hasattr(table, "iloc"):
    print(json.dumps({name: sorted({type(v).__name__ for v in table[name].dropna()}) for name in table.columns}))
else:
    print(json.dumps({name: sorted({type(v).__name__ for v in table[name].drop_nulls()}) for name in table.columns}))
"""


def need_packages():
    if command([PYTHON, "-c", "import pandas, polars"]).rc != 0:
        raise Skip("no pandas and polars; CARBON_PANDAS names a Python that has them")


def calls(page):
    """{package: the call} of a manual page, which may have several lines, or of a document."""
    text = read(os.path.join(SOURCE, page)).decode().replace("\\e", "\\")
    found = {}
    for package in ("pandas", "polars"):
        at = text.index(package + ".read_csv(")
        depth, end = 0, text.index("(", at)
        while True:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
            if depth == 0:
                break
        found[package] = re.sub(r"#\s*(pandas|polars)\s*$", "", text[at:end], flags=re.M)
    return found


def types_of(package, call, folder):
    done = command([PYTHON, "-c", TYPES % ("import " + package, call)], cwd=folder)
    expect(done.rc == 0, "%s fails: %s" % (package, call), done)
    return json.loads(done.text)


@case
def tables_of_vep():
    """Contigs that are numbers and words, and scores, flags and names that only late records have."""
    need_packages()
    folder = fresh()
    bases = {"1": random_bases(3000, 1), "X": random_bases(3000, 2)}
    fasta = write(folder, "g.fa", to_fasta(bases.items()))
    lines = []
    for contig, letters in bases.items():
        for i in range(100, 2900, 7):
            alt = "*" if contig == "1" and i < 2800 else "ACGT"["ACGT".index(letters[i - 1]) - 1]
            lines.append("%s\t%d\t%s\t%s\t%s\t.\t.\t.\n" % (contig, i, "." if i < 2000 else "rs%d" % i, letters[i - 1], alt))
    vcf = write(folder, "v.vcf", "##fileformat=VCFv4.2\n##contig=<ID=1>\n##contig=<ID=X>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n" + "".join(lines))
    ok("vep", "-m", model(), "-f", fasta, "-w", "24", "-O", "t", "--header", "plain", "-o", os.path.join(folder, "scores.tsv.gz"), vcf, timeout=300)
    for package, call in calls("man/carbon-vep.1").items():
        found = types_of(package, call, folder)
        expect_equal({name: found[name] for name in ("CHROM", "POS", "REF", "ALT", "CARBON_LLR")},
                     {"CHROM": ["str"], "POS": ["int"], "REF": ["str"], "ALT": ["str"], "CARBON_LLR": ["float"]}, package)
        expect_equal((found["ID"], found["CARBON_FLAG"]), (["str"], ["str"]), package + ": text that only some records have")


@case
def tables_of_score():
    """Names that are numbers and words, and a sequence without a value before the others."""
    need_packages()
    folder = fresh()
    records = [(str(i), "N" * 12) for i in range(1, 150)] + [("21", random_bases(60, 1)), ("X", random_bases(60, 2))]
    fasta = write(folder, "s.fa", to_fasta(records))
    ok("score", "-m", model(), "-o", os.path.join(folder, "scores.tsv"), fasta, dated=True)
    for page in ("man/carbon-score.1", "docs/usage.md"):
        for package, call in calls(page).items():
            found = types_of(package, call, folder)
            expect_equal((found["#name"], found["mean_logp"]), (["str"], ["float"]), page + ", " + package)


if __name__ == "__main__":
    main()
