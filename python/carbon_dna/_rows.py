"""Variants as rows: tuples, the columns of a data frame, or a VCF file."""

import gzip
import json
import os
from typing import Any, Iterable, Iterator, NamedTuple, Tuple, Union

from ._errors import CarbonError

#: What names variants: (chrom, pos, ref, alt), pos counted from 1; a frame of pandas or polars; the path of a VCF file.
Rows = Union[Iterable[Tuple[str, int, str, str]], str, "os.PathLike[str]", Any]


class Row(NamedTuple):
    chrom: str
    pos: int
    ref: str
    alt: str

    def text(self, placed: bool) -> bytes:
        """The input of a call; `placed`: the variants are on a sequence, and not on contigs."""
        row = {"pos": self.pos, "ref": self.ref, "alt": self.alt}
        if not placed:
            row["chrom"] = self.chrom
        return json.dumps(row).encode()


def rows_of(rows: Rows) -> Iterator[Row]:
    """Each row, in order. Nothing is read ahead."""
    if isinstance(rows, (str, os.PathLike)):
        return _rows_of_vcf(os.fspath(rows))
    if hasattr(rows, "columns"):
        return _rows_of_frame(rows)
    return _checked(rows)


def _rows_of_frame(frame: Any) -> Iterator[Row]:
    names = {str(name).lower().lstrip("#"): name for name in frame.columns}
    missing = [name for name in ("chrom", "pos", "ref", "alt") if name not in names]
    if missing:
        raise CarbonError("the frame has no column %s; it has %s" % (" and ".join(missing), ", ".join(map(str, frame.columns))),
                          "input")
    columns = [frame[names[name]] for name in ("chrom", "pos", "ref", "alt")]
    return _checked(zip(*columns))


def _checked(rows: Iterable[Any]) -> Iterator[Row]:
    """Rows as given, whose chrom may also be a number. A missing value of a frame is no letter: str(nan) would be three."""
    for number, row in enumerate(rows):
        try:
            chrom, pos, ref, alt = row
        except (TypeError, ValueError):
            raise CarbonError("row %d is %r; expected (chrom, pos, ref, alt)" % (number, row), "input") from None
        try:
            place = int(pos)
            whole = place == pos or isinstance(pos, str)
        except (TypeError, ValueError, OverflowError):
            whole = False
        if not whole:
            raise CarbonError("row %d: pos is %r; expected a whole number" % (number, pos), "input")
        for name, value in (("ref", ref), ("alt", alt)):
            if not isinstance(value, str):
                raise CarbonError("row %d: %s is %r; expected letters" % (number, name, value), "input")
        yield Row(str(chrom), place, ref, alt)


def _rows_of_vcf(path: str) -> Iterator[Row]:
    with open(path, "rb") as file:
        start = file.read(5)
        zipped = start[:2] == b"\x1f\x8b"
    if zipped:
        with gzip.open(path) as unzipped:
            start = unzipped.read(5)
    if start[:3] == b"BCF":
        raise CarbonError("%s is a BCF file; convert it first: bcftools view -Oz -o variants.vcf.gz %s" % (path, path), "input")
    return _lines_of_vcf(path, zipped)


def _lines_of_vcf(path: str, zipped: bool) -> Iterator[Row]:
    # A description may be in another encoding; the first five columns are ASCII.
    with (gzip.open(path, "rt", encoding="utf-8", errors="replace") if zipped
          else open(path, encoding="utf-8", errors="replace")) as file:
        for number, line in enumerate(file, 1):
            if line.startswith("#"):
                continue
            fields = line.rstrip("\r\n").split("\t")
            if len(fields) < 5 or not (fields[1].isascii() and fields[1].isdigit()):
                raise CarbonError("%s:%d: not a line of a VCF file" % (path, number), "input")
            for alt in fields[4].split(","):
                if alt != ".":
                    yield Row(fields[0], int(fields[1]), fields[3], alt)
