"""What is given as sequences, and as lists of other things. What is no sequence, or could be read in two ways, is a TypeError that says
what to write: the letters of a sequence, and the names of a frame's columns, are sequences too, as far as letters go."""

import itertools
import os
from typing import Any, Iterable, Iterator, Mapping, Optional, Protocol, Tuple, TypeVar, Union

import numpy as np


class HasText(Protocol):
    """An object whose text is its bases, such as a Seq of Biopython."""

    def __str__(self) -> str: ...

    def __len__(self) -> int: ...


class HasSeq(Protocol):
    """A record with bases and, as ``id`` or ``name``, a name: a SeqRecord of Biopython, or what read_fasta() gives."""

    @property
    def seq(self) -> Any: ...


#: One sequence.
Bases = Union[str, bytes, HasText, HasSeq]
_Entry = TypeVar("_Entry")


def _own_text(value: Any) -> Optional[Union[str, bytes]]:
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, bytearray):
        return bytes(value)
    kind: Any = type(value)
    if isinstance(value, np.ndarray) or kind.__str__ is object.__str__ or not hasattr(kind, "__len__"):
        return None
    # Other objects have a text as well, which describes them.
    text = str(value)
    return text if len(text) == len(value) and len(text.split(None, 1)) <= 1 else None


def text_form(value: Any) -> Optional[Union[str, bytes]]:
    """The text of one sequence; None for what is not one."""
    if isinstance(value, Mapping) or hasattr(value, "iloc"):
        return None  # where seq would be the name of a column
    text = _own_text(value)
    for name in ("seq", "sequence"):
        if text is None:
            text = _own_text(getattr(value, name, None))
    return text


def name_of(value: Any) -> str:
    """The name of a record, else ``""``."""
    if not isinstance(value, (str, bytes, bytearray)):
        for attribute in ("id", "name"):
            name = getattr(value, attribute, None)
            if isinstance(name, str) and not name.startswith("<unknown"):  # what Biopython writes where there is none
                return name
    return ""


def encoded(value: Any, what: str) -> bytes:
    """Bases as bytes."""
    text = text_form(value)
    if text is None:
        raise TypeError("%s is of the type %s, which is no sequence; give str, bytes, or an object whose text is its bases, such as Bio.Seq"
                        % (what, type(value).__name__))
    # A letter that is not ASCII is refused by the library with its place.
    return text if isinstance(text, bytes) else text.encode("utf-8", "replace")


def optional_text(value: Optional[Bases], name: str) -> Optional[str]:
    """An option that is a sequence."""
    return None if value is None else encoded(value, name).decode("utf-8", "replace")


def several(values: Iterable[_Entry], name: str) -> Iterable[_Entry]:
    """Values that are several in an order."""
    kind = type(values).__name__
    if text_form(values) is not None:
        raise TypeError("%s is one value of the type %s, whose letters would be read as the entries; give a list, [value]" % (name, kind))
    if isinstance(values, os.PathLike):
        raise TypeError("%s is a path; give carbon_dna.read_fasta(path) for the sequences of a FASTA file" % name)
    if isinstance(values, Mapping):
        raise TypeError("%s is of the type %s, whose keys would be read as the entries; give a list of its values, list(x.values())"
                        % (name, kind))
    if hasattr(values, "columns"):
        columns = [str(column) for column in values.columns]
        column = next((column for column in columns if "seq" in column.lower()), "sequence")
        raise TypeError("%s is of the type %s, whose column names would be read as the entries (%s); give one column, such as frame[%r]"
                        % (name, kind, ", ".join(columns), column))
    if isinstance(values, (set, frozenset)):
        raise TypeError("%s is of the type %s, which has no order; give a list" % (name, kind))
    if isinstance(values, np.ndarray) and values.size > 1 and values.dtype in (np.dtype("S1"), np.dtype("U1")):
        raise TypeError("%s is an array of single letters, which may be one sequence or many; give a list of texts" % name)
    try:
        iter(values)
    except TypeError:
        raise TypeError("%s is of the type %s; give a list" % (name, kind)) from None
    return values


def count_of(values: Any) -> Optional[int]:
    """How many they are, if that is known before they are read."""
    try:
        return len(values)
    except TypeError:
        return None


def encoded_regions(regions: Iterable[Any], places: Iterator[str]) -> Iterator[Tuple[bytes, str, str]]:
    """Regions of a FASTA, what errors call them, and no names."""
    for region, place in zip(regions, places):
        if not isinstance(region, (str, bytes)):
            raise TypeError('%s is of the type %s; give a region as text, such as "chr1:1001-2000", counted from 1'
                            % (place, type(region).__name__))
        yield encoded(region, place), place, ""


def places_of(name: str) -> Iterator[str]:
    """What errors call the entries of a list."""
    return ("%s[%d]" % (name, number) for number in itertools.count())


def encoded_sequences(sequences: Iterable[Bases], places: Iterator[str]) -> Iterator[Tuple[bytes, str, str]]:
    """Bases, what errors call them, and the names of records."""
    for bases, place in zip(sequences, places):
        yield encoded(bases, place), place, name_of(bases)
