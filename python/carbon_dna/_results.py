"""What the methods of a model return."""

import math
from dataclasses import dataclass
from typing import Any, Iterator, List, NamedTuple, Optional

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The order of columns of four.
LETTERS = "ACGT"


@dataclass(frozen=True)
class Score:
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
    """

    n_scored: int
    sum_logp: float
    mean_logp: float
    logp: Floats
    probabilities: Optional[Floats] = None
    entropy: Optional[Floats] = None

    @property
    def perplexity(self) -> float:
        """exp(-mean_logp)."""
        return math.exp(-self.mean_logp) if self.n_scored else math.nan


class VariantScore(NamedTuple):
    """The score of one alternative allele.

    ``score`` is in nats, the alternative minus the reference, and NaN where ``flag`` says why there is none. A model with a
    classification head gives ``values`` of its labels instead, and ``score`` is the first of them.
    """

    chrom: str
    pos: int
    ref: str
    alt: str
    score: float
    flag: str
    values: Floats


@dataclass(frozen=True)
class VariantScores:
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
        All values of a row; of a classification head one for each label.
    """

    chrom: NDArray[Any]
    pos: NDArray[np.int64]
    ref: NDArray[Any]
    alt: NDArray[Any]
    score: Floats
    flag: NDArray[Any]
    values: Floats

    def __len__(self) -> int:
        return len(self.pos)

    def __iter__(self) -> Iterator[VariantScore]:
        for i in range(len(self)):
            yield VariantScore(self.chrom[i], int(self.pos[i]), self.ref[i], self.alt[i], float(self.score[i]), self.flag[i],
                               self.values[i])

    def to_pandas(self) -> Any:
        """The columns but ``values`` as a pandas.DataFrame; pandas has to be installed."""
        import pandas

        names = ("chrom", "pos", "ref", "alt", "score", "flag")
        return pandas.DataFrame({name: getattr(self, name) for name in names})


def variant_columns(rows: List[VariantScore]) -> VariantScores:
    """The rows as columns."""
    def texts(values: List[str]) -> NDArray[Any]:
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column

    return VariantScores(
        texts([row.chrom for row in rows]), np.array([row.pos for row in rows], dtype=np.int64), texts([row.ref for row in rows]),
        texts([row.alt for row in rows]), np.array([row.score for row in rows], dtype=np.float64),
        texts([row.flag for row in rows]), np.array([row.values for row in rows], dtype=np.float64).reshape(len(rows), -1 if rows else 1))


@dataclass(frozen=True)
class Scan:
    """What a model says of each base of a region, as ``carbon scan`` writes it.

    Attributes
    ----------
    chrom : str
        The contig, or ``""`` for a sequence.
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
