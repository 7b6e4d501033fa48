"""table.py KIND TASK N SEED OUT.tsv OUT.json: a data set becomes the table that +recovery, +perturb or +niah reads.

TASK is the task's part of the configuration, as JSON. The column name is the number of the row in the data, from 0.
"""

import json
import sys

from rows import Rows, fail

# The columns that a table must have, and those that are taken where they are there.
COLUMNS = {
    "recovery": (("sequence", "label"), ()),
    "perturb": (("original_sequence", "sequence"), ()),
    "niah": (("prompt", "value"), ("key", "depth", "negative", "negative_sequence")),
}


def main():
    kind, task, n, seed, table, report = sys.argv[1:]
    required, optional = COLUMNS[kind]
    rows = Rows(json.loads(task), required, optional, int(n), seed)
    names = [name for name in (*required, *optional) if rows.has(name)]
    written = empty = 0
    with open(table, "w") as out:
        print("uid" if kind == "niah" else "name", *names, sep="\t", file=out)
        for i, row in rows:
            if any(not row[name] for name in required):
                empty += 1
                continue
            print(i, *("" if row[name] is None else row[name] for name in names), sep="\t", file=out)
            written += 1
    sys.stderr.write(f"{written + empty} of {rows.total} rows were read and {written} are scored\n")
    if empty:
        sys.stderr.write(f"  {empty} rows without a sequence\n")
    if not written:
        fail("no row is left")
    with open(report, "w") as out:
        json.dump({"rows": rows.total, "read": written + empty, "no_sequence": empty, "scored": written}, out, indent=1)


if __name__ == "__main__":
    main()
