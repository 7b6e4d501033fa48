"""Rows of the makers' data sets: Parquet files, or tables with the same columns and tabs between them."""

import csv
import hashlib
import sys


def fail(message):
    sys.exit("error: " + message)


def files_of(task):
    return task["data"] if isinstance(task["data"], list) else [task["data"]]


def names_in(path):
    """The names of the columns of a file."""
    if path.endswith(".parquet"):
        return parquet(path).schema_arrow.names
    with open(path, newline="") as lines:
        return next(csv.reader(lines, delimiter="\t"), [])


def parquet(path):
    try:
        import pyarrow.parquet
    except ImportError:
        fail(f"{path}: {sys.executable} has no pyarrow, which reads Parquet files; install it (pip install pyarrow) or let the "
             "setting python name a Python that has it")
    return pyarrow.parquet.ParquetFile(path)


def lines_of(path, names):
    """A dict of the columns `names` for each row."""
    if path.endswith(".parquet"):
        for batch in parquet(path).iter_batches(batch_size=256, columns=names):
            yield from batch.to_pylist()
    else:
        csv.field_size_limit(1 << 30)
        with open(path, newline="") as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                yield {name: row[name] for name in names}


def sample(numbers, n, seed):
    """`n` of the numbers, or all if n is 0. The same seed chooses the same rows on every machine."""
    if not n or n >= len(numbers):
        return set(numbers)
    return set(sorted(numbers, key=lambda i: hashlib.sha256(f"{seed} {i}".encode()).digest())[:n])


class Rows:
    """The rows of a task that are to be used: those that `where` of the task allows, or a sample of them.

    task: the settings data (a file or a list of files), where (column: value) and columns (the name here: the name in the file).
    """

    def __init__(self, task, required, optional, n, seed):
        self.files = files_of(task)
        theirs = task.get("columns", {})
        self.theirs = {name: theirs.get(name, name) for name in (*required, *optional)}
        self.where = task.get("where", {})
        for path in self.files:
            there = names_in(path)
            missing = [name for name in (*(self.theirs[r] for r in required), *self.where) if name not in there]
            if missing:
                fail(f"{path} has no column {', '.join(missing)}; its columns are {', '.join(there)}. The setting columns "
                     "says what a column is called in the file")
            for name in optional:
                if self.theirs.get(name) not in there:
                    self.theirs.pop(name, None)
        numbers = self.matching()
        self.total = len(numbers)
        self.chosen = sample(numbers, n, seed)

    def matching(self):
        """The numbers of the rows that `where` allows, counted over all files."""
        narrow = list(self.where) or [next(iter(self.theirs.values()))]
        rows = (row for path in self.files for row in lines_of(path, narrow))
        return [i for i, row in enumerate(rows) if all(str(row[k]) == str(v) for k, v in self.where.items())]

    def has(self, name):
        return name in self.theirs

    def __iter__(self):
        """(number of the row from 0, {name: value})"""
        rows = (row for path in self.files for row in lines_of(path, list(dict.fromkeys(self.theirs.values()))))
        for i, row in enumerate(rows):
            if i in self.chosen:
                yield i, {name: row[their] for name, their in self.theirs.items()}
