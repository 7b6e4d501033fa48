"""What lies in files: the models that are found, and sequences."""

import os
from typing import Any, Dict, Iterator, List, NamedTuple, Union

from . import _library


class Record(NamedTuple):
    """A sequence of a FASTA file."""

    name: str
    seq: str


def models() -> List[Dict[str, Any]]:
    """The models that :class:`carbon_dna.Model` finds by name, as ``carbon models --json`` lists them. Reads no weights.

    Returns
    -------
    list of dict
        With name, path, place, family, layers, parameters, weights, licence, and others. What lies in one of the places and cannot be
        used has ``error`` instead, which says why.

    Examples
    --------
    >>> import carbon_dna
    >>> "carbon-tiny" in [model["name"] for model in carbon_dna.models() if "error" not in model]
    True
    """
    return _library.list_models()


def read_fasta(path: Union[str, "os.PathLike[str]"]) -> Iterator[Record]:
    """The records of a FASTA file, as the commands read it: plain, gzip or BGZF; ``"-"`` is standard input.

    Parameters
    ----------
    path : str or path

    Yields
    ------
    Record
        (name, seq): the name is what stands before the first white space. The methods of a model take records as sequences.

    Raises
    ------
    CarbonError
        Of the kind ``"input"``, with file and line, when the first record that cannot be read is asked for.
    FileNotFoundError
        When the first record is asked for.

    Examples
    --------
    >>> import carbon_dna, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "two.fa")
    >>> with open(path, "w") as file:
    ...     _ = file.write(">a first\\nACGTAC\\nGT\\n>b\\nTTTTTT\\n")
    >>> dict(carbon_dna.read_fasta(path))
    {'a': 'ACGTACGT', 'b': 'TTTTTT'}
    >>> [(score.name, score.n_scored) for score in carbon_dna.Model("carbon-tiny").score(carbon_dna.read_fasta(path))]
    [('a', 8), ('b', 6)]
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError("path is of the type %s; give the path of a FASTA file" % type(path).__name__)
    return (Record(name, seq) for name, seq in _library.fasta_records(path))
