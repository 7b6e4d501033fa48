"""What the methods of a model return."""

import itertools
import math
import operator
from dataclasses import dataclass, field, fields
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Sequence, Tuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_Tuple = TypeVar("_Tuple", bound=type)

#: The order of columns of four.
LETTERS = "ACGT"
#: Letters of a text that a result shows of itself.
_SHOWN = 40


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, of arrays all elements; a missing value equals a missing one."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray)) or one.shape != other.shape:
            return False
        if one.dtype.kind == "f" and other.dtype.kind == "f":
            return np.array_equal(one, other, equal_nan=True)
        return np.array_equal(one, other)
    return bool(one == other or (one != one and other != other))


def _all_same(ones: Iterable[Any], others: Iterable[Any]) -> bool:
    return all(_same(one, other) for one, other in zip(ones, others))


def _pandas() -> Any:
    """The package pandas, which the wheel does not bring."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas() needs the package pandas (pip install pandas): %s" % error) from error
    return pandas


def _shown(value: Any) -> str:
    """A value in one line: of an array its type and shape, of a long text its beginning."""
    if isinstance(value, np.ndarray):
        return "<%s %s>" % ("str" if value.dtype == object else value.dtype, value.shape)
    if isinstance(value, str) and len(value) > _SHOWN:
        return "%r... (%d letters)" % (value[:_SHOWN], len(value))
    return repr(value)


def _all_shown(result: Any, named: Iterable[Tuple[str, Any]]) -> str:
    return "%s(%s)" % (type(result).__name__, ", ".join("%s=%s" % (name, _shown(value)) for name, value in named if value is not None))


@dataclass(frozen=True, eq=False, repr=False)
class _Data:
    """What the data classes below share: they are equal if all that they hold is, and say in one line what they hold."""

    def _values(self) -> List[Any]:
        return [getattr(self, f.name) for f in fields(self) if f.compare]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return _all_same(self._values(), other._values())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        named = ((f.name, getattr(self, f.name), f.default) for f in fields(self))
        return _all_shown(self, ((name, value) for name, value, default in named if value is not default))


@dataclass(frozen=True, eq=False, repr=False)
class Coding(_Data):
    """Probabilities of the bases of a sequence to be coding, as ``carbon annotate`` writes them.

    Attributes
    ----------
    plus, minus : ndarray of float32, shape (n,)
        Of each base on the forward and on the reverse strand, both in the order of the sequence.
    gff3 : str or None
        Lines of GFF3 with the genes or runs, if they were asked for, without the lines that begin a file. Names that are no texts
        of the caller are those of messages.
    """

    plus: NDArray[np.float32]
    minus: NDArray[np.float32]
    gff3: Optional[str] = None


@dataclass(frozen=True, eq=False, repr=False)
class Score(_Data):
    """Log-probabilities of the bases of a sequence, as ``carbon score`` prints them.

    Attributes
    ----------
    n_scored : int
        Number of bases (with ``level="token"``: of 6-mers) that have a value.
    sum_logp, mean_logp : float
        Natural logarithms: the sum of the values, and their mean, which is NaN if there are none.
    logp : ndarray of float64, shape (n,)
        A value for each base, NaN where the letter is not A, C, G or T; with ``level="token"`` one for each whole 6-mer.
    probabilities : ndarray of float64, shape (n, 4), or None
        Of A, C, G and T at each base, if they were asked for.
    entropy : ndarray of float64, shape (n,), or None
        Of these, as ``carbon score -O tsv`` prints it.
    name : str
        Of a sequence that has one, such as a record of :func:`carbon_dna.read_fasta`; else ``""``.
    """

    n_scored: int
    sum_logp: float
    mean_logp: float
    logp: Floats
    probabilities: Optional[Floats] = None
    entropy: Optional[Floats] = None
    name: str = ""

    @property
    def perplexity(self) -> float:
        """exp(-mean_logp)."""
        return math.exp(-self.mean_logp) if self.n_scored else math.nan


def _compared_as_data(kind: _Tuple) -> _Tuple:
    """Lets a named tuple be equal, and shown, as the data classes are."""

    def equal(one: Any, other: object) -> bool:
        return isinstance(other, tuple) and len(one) == len(other) and _all_same(one, other)

    for name, method in (("__eq__", equal), ("__ne__", lambda one, other: not equal(one, other)),
                         ("__repr__", lambda one: _all_shown(one, one._asdict().items()))):
        setattr(kind, name, method)
    return kind


@_compared_as_data
class VariantScore(NamedTuple):
    """The score of one alternative allele.

    ``score`` is in nats, the alternative minus the reference, and NaN where ``flag`` says why there is none. A model with a
    classification head gives ``values`` of its labels instead, and ``score`` is the first of them. ``l2`` and ``jsd``
    are None unless ``measure`` asked for them.
    """

    chrom: str
    pos: int
    ref: str
    alt: str
    score: float
    flag: str
    values: Floats
    l2: Optional[float] = None
    jsd: Optional[float] = None


@dataclass(frozen=True, eq=False, repr=False)
class VariantScores(_Data):
    """Scores of alternative alleles, a row for each, as columns.

    Attributes
    ----------
    chrom, ref, alt : ndarray of object (str), shape (n,)
    pos : ndarray of int64, shape (n,)
        1-based, as in VCF.
    score : ndarray of float64, shape (n,)
        Nats, alternative minus reference: negative where the model finds the alternative less likely. NaN if there is none.
    flag : ndarray of object (str), shape (n,)
        Why there is none (``CARBON_FLAG`` of ``carbon vep``), else ``""``.
    values : ndarray of float64, shape (n, tags)
        All values of a row but ``l2`` and ``jsd``; of a classification head one for each label.
    l2, jsd : ndarray of float64, shape (n,), or None
        How far the hidden states, and the predictions, after the variant lie apart: 0 or more, NaN if there is none. None where
        ``measure`` did not ask for it.
    index : pandas.Index or None
        That of the frame of pandas that was given as rows. It is no part of the scores, so that ``==`` does not read it.
    """

    chrom: NDArray[Any]
    pos: NDArray[np.int64]
    ref: NDArray[Any]
    alt: NDArray[Any]
    score: Floats
    flag: NDArray[Any]
    values: Floats
    l2: Optional[Floats] = None
    jsd: Optional[Floats] = None
    index: Any = field(default=None, compare=False)

    def __len__(self) -> int:
        return len(self.pos)

    def __getitem__(self, i: int) -> VariantScore:
        i = operator.index(i)  # a slice is one of a column, or of the frame of to_pandas()
        return VariantScore(self.chrom[i], int(self.pos[i]), self.ref[i], self.alt[i], float(self.score[i]), self.flag[i],
                            self.values[i], *(None if column is None else float(column[i]) for column in (self.l2, self.jsd)))

    def __iter__(self) -> Iterator[VariantScore]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        columns = [column for column in (self.score, self.l2, self.jsd) if column is not None]
        scored = np.count_nonzero(~np.isnan(columns).all(axis=0))
        first = ["%.20s:%d %.10s>%.10s %s" % (row.chrom, row.pos, row.ref, row.alt, row.flag or "%.6g" % row.score)
                 for row in itertools.islice(self, 3)]
        return "VariantScores(rows=%d, with a score=%d, [%s])" % (len(self), scored, ", ".join(first + ["..."] * (len(self) > 3)))

    def to_pandas(self) -> Any:
        """The columns but ``values`` as a pandas.DataFrame, with the index of the frame that was given; pandas has to be installed."""
        names = ["chrom", "pos", "ref", "alt", "score"] + [name for name in ("l2", "jsd") if getattr(self, name) is not None] + ["flag"]
        return _pandas().DataFrame({name: getattr(self, name) for name in names}, index=self.index)


def variant_columns(rows: List[VariantScore], index: Any, measures: Sequence[str]) -> VariantScores:
    """The rows as columns, also those of measures."""
    def texts(values: List[str]) -> NDArray[Any]:
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    def measured(name: str) -> Optional[Floats]:
        return np.array([getattr(row, name) for row in rows], dtype=np.float64) if name in measures else None

    return VariantScores(
        texts([row.chrom for row in rows]), np.array([row.pos for row in rows], dtype=np.int64), texts([row.ref for row in rows]),
        texts([row.alt for row in rows]), np.array([row.score for row in rows], dtype=np.float64),
        texts([row.flag for row in rows]), np.array([row.values for row in rows], dtype=np.float64).reshape(len(rows), -1 if rows else 1),
        measured("l2"), measured("jsd"), index)


@dataclass(frozen=True, eq=False, repr=False)
class Scan(_Data):
    """What a model says of each base of a region, as ``carbon scan`` writes it.

    Attributes
    ----------
    chrom : str
        The contig; of a sequence its name, if it has one, else ``""``.
    begin : int
        0-based position of the first base on the contig.
    bases : str
        The letters, in upper case.
    logp : ndarray of float64, shape (n, 4)
        Natural logarithms of the probabilities of A, C, G and T; NaN where the letter is not one of them.
    """

    chrom: str
    begin: int
    bases: str
    logp: Floats

    @property
    def effects(self) -> Floats:
        """Shape (n, 4): the value of each letter minus that of the base itself, 0 for the base; rounded to float32, ``CARBON_SCAN``."""
        index = np.frombuffer(self.bases.encode("ascii"), dtype=np.uint8)
        columns = np.zeros(256, dtype=np.intp)
        for i, letter in enumerate(LETTERS):
            columns[ord(letter)] = i
        own: Floats = self.logp[np.arange(len(index)), columns[index]]
        effects: Floats = self.logp - own[:, None]
        return effects

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each base; pandas has to be installed.

        The columns are chrom, pos (from 1, as in VCF), ref, logp_A to logp_T, and effect_A to effect_T, those of :attr:`effects`.
        """
        pos = np.arange(self.begin + 1, self.begin + 1 + len(self.bases))
        columns: Dict[str, Any] = {"chrom": self.chrom, "pos": pos, "ref": list(self.bases)}
        for name, values in (("logp", self.logp), ("effect", self.effects)):
            columns.update(("%s_%s" % (name, letter), values[:, i]) for i, letter in enumerate(LETTERS))
        return _pandas().DataFrame(columns)


@_compared_as_data
class Sample(NamedTuple):
    """New bases after a prompt, as ``carbon generate`` draws them.

    ``prompt`` and ``number`` count from 0; ``logp`` is the natural logarithm of the probability of the new bases, and
    ``probabilities`` (new bases, 4), if asked for, those of A, C, G and T at each of them.
    """

    prompt: int
    number: int
    sequence: str
    logp: float
    probabilities: Optional[Floats]
