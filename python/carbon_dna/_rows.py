"""Variants as rows: tuples, rows with names, the columns of a data frame, or a VCF or BCF file."""

import json
import operator
import os
from typing import Any, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library
from ._errors import CarbonError
from ._inputs import text_form

#: What names variants: (chrom, pos, ref, alt), pos counted from 1; a frame of pandas or polars; the path of a VCF or BCF file.
Rows = Union[Iterable[Union[Tuple[str, int, str, str], Mapping[str, Any]]], str, "os.PathLike[str]", Any]
_NAMES = ("chrom", "pos", "ref", "alt")
#: What may say where <DEL>, <DUP> and <INV> end: END and SVLEN of a VCF, or a dict of INFO tags.
_ENDS = ("end", "svlen", "info")


class Row(NamedTuple):
    chrom: str
    pos: int
    ref: str
    alt: str
    ends: Optional[Mapping[str, Any]] = None

    def text(self, placed: bool) -> bytes:
        """The input of a call; `placed`: the variants are on a sequence, and not on contigs."""
        row = {"pos": self.pos, "ref": self.ref, "alt": self.alt}
        if not placed:
            row["chrom"] = self.chrom
        return json.dumps({**row, **(self.ends or {})}).encode()


def rows_of(rows: Rows) -> Iterator[Row]:
    """Each row, in order. Nothing is read ahead."""
    if isinstance(rows, (str, os.PathLike)):
        return _rows_of_vcf(os.fspath(rows))
    if hasattr(rows, "columns"):
        return _checked(zip(*_columns_of(rows)), _ends_among(rows.columns))
    if isinstance(rows, Mapping):
        raise TypeError("rows is of the type %s, whose keys would be read as rows; give a frame, such as pandas.DataFrame(rows), or a "
                        "list of (chrom, pos, ref, alt)" % type(rows).__name__)
    try:
        if isinstance(rows, (bytes, bytearray)):
            raise TypeError  # numbers, as far as Python knows
        return _checked(iter(rows))
    except TypeError:
        raise TypeError("rows is of the type %s; give a list of (chrom, pos, ref, alt), a frame, or the path of a VCF file as a text"
                        % type(rows).__name__) from None


def _columns_of(frame: Any) -> List[Any]:
    return [frame[name] for name in _chosen(frame.columns, "the frame") + list(_ends_among(frame.columns).values())]


def _ends_among(names: Iterable[Any]) -> Dict[str, Any]:
    """Which of the names say where a structural allele ends."""
    return {str(name).lower(): name for name in names if str(name).lower() in _ENDS}


def _is_missing(value: Any) -> bool:
    """Whether a value is none, as None, NaN and pandas.NA are, which alone does not say whether it equals itself."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True
    except ValueError:  # of an array
        return False


def _ends(alt: str, values: Iterable[Tuple[str, Any]], place: str) -> Optional[Dict[str, Any]]:
    """The ends of a structural allele; a missing value of a frame is none."""
    if not alt.startswith("<"):
        return None
    given = {name: value for name, value in values if not _is_missing(value)}
    return {name: _library.as_json(value, place + ".info", {}) if name == "info" else _whole(value, place, name)
            for name, value in given.items()} or None


def index_of(rows: Any) -> Any:
    """The index of a frame of pandas, which names its rows; else None."""
    return rows.index if hasattr(rows, "columns") and hasattr(rows, "iloc") else None


def _chosen(names: Iterable[Any], what: str) -> List[Any]:
    """Those of the names, in any case and with the # of a VCF, that are chrom, pos, ref and alt."""
    found: Dict[str, List[Any]] = {name: [] for name in _NAMES}
    given = list(names)
    for name in given:
        found.get(str(name).lower().lstrip("#"), []).append(name)
    missing = [name for name in _NAMES if not found[name]]
    if missing:
        raise CarbonError("%s has no column %s; it has %s" % (what, " and ".join(missing), ", ".join(map(str, given))), "input")
    for name in _NAMES:
        if len(found[name]) > 1:
            raise TypeError("%s has several columns for %s: %s; rename all but one" % (what, name, ", ".join(map(repr, found[name]))))
    return [found[name][0] for name in _NAMES]


def _names_of(row: Any) -> Optional[Sequence[Any]]:
    """The names of what a row has, if it has names."""
    if type(row) is tuple or isinstance(row, (str, bytes)):
        return None
    if hasattr(row, "keys"):  # a dict, or a row of pandas or sqlite3
        return tuple(row.keys())
    fields = getattr(row, "_fields", None)  # a named tuple
    if fields is not None and set(_NAMES) <= {field.lower() for field in fields}:
        return tuple(fields)
    return getattr(getattr(row, "dtype", None), "names", None)  # of a structured array


def _checked(rows: Iterable[Any], columns: Optional[Mapping[str, Any]] = None) -> Iterator[Row]:
    """Rows as given, whose chrom may also be a number. A missing value of a frame is no letter: str(nan) would be three."""
    known: Optional[Sequence[Any]] = None
    chosen: List[Any] = []
    ends: Dict[str, Any] = {}
    for number, row in enumerate(rows):
        place = "rows[%d]" % number
        names = _names_of(row)
        if names is not None and names != known:
            known, chosen, ends = names, _chosen(names, place), _ends_among(names)
        try:
            if isinstance(row, (str, bytes, set, frozenset)):
                raise TypeError  # letters, or values in no order
            more: Iterable[Tuple[str, Any]] = ()
            if columns is not None:
                chrom, pos, ref, alt, *others = row
                more = zip(columns, others)
            elif names is None:
                chrom, pos, ref, alt = row
            else:
                pick: Any = getattr if isinstance(row, tuple) else operator.getitem
                chrom, pos, ref, alt = (pick(row, name) for name in chosen)
                more = [(end, pick(row, name)) for end, name in ends.items()]
        except TypeError:
            raise TypeError("%s is %r; give (chrom, pos, ref, alt), and a list of them as rows" % (place, row)) from None
        except ValueError:
            raise CarbonError("%s is %r; expected (chrom, pos, ref, alt), and a list of them as rows" % (place, row), "input") from None
        allele = _allele(alt, place, "alt")
        yield Row(_contig(chrom, place), _whole(pos, place, "pos"), _allele(ref, place, "ref"), allele, _ends(allele, more, place))


def _contig(chrom: Any, place: str) -> str:
    if isinstance(chrom, (int, np.integer)) and not isinstance(chrom, bool):
        return str(chrom)
    return _allele(chrom, place, "chrom", "the name of a contig")


def _whole(value: Any, place: str, name: str) -> int:
    try:
        whole = int(value)
        if not isinstance(value, (bool, np.bool_)) and (whole == value or isinstance(value, str)):
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    raise CarbonError("%s: %s is %r; expected a whole number" % (place, name, value), "input")


def _allele(value: Any, place: str, name: str, expected: str = "letters") -> str:
    text = text_form(value)
    try:
        if isinstance(text, bytes):
            return text.decode("utf-8")
        if text is not None:
            text.encode("utf-8")
            return text
    except UnicodeError:
        pass
    raise CarbonError("%s: %s is %a; expected %s" % (place, name, value, expected), "input")


def _rows_of_vcf(path: str) -> Iterator[Row]:
    for variant in _library.vcf_variants(path):
        ends = {name: variant[name] for name in _ENDS if name in variant}
        yield Row(variant["chrom"], variant["pos"], variant["ref"], variant["alt"], ends)
