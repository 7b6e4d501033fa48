"""Variants and a reference that have no contig in common."""

import os
from typing import Any, Dict, Iterable, Iterator, List

from ._errors import CarbonError
from ._results import VariantScore

#: How a contig that the reference lacks is flagged.
_LACKING = "no_contig"


def on_some_contig(scores: Iterator[VariantScore], fasta: Any, rows: Any) -> Iterator[VariantScore]:
    """The scores. After the last one, an error if the reference has the contig of none of them."""
    lacking: Dict[str, None] = {}
    for score in scores:
        yield score
        if score.flag != _LACKING:
            yield from scores
            return
        lacking[score.chrom] = None
    if lacking:
        what = os.fsdecode(rows) if isinstance(rows, (str, os.PathLike)) else "the rows"
        raise CarbonError(_no_common_contig(what, list(lacking), os.fsdecode(fasta)), "input")


def _no_common_contig(what: str, ours: List[str], fasta: str) -> str:
    theirs = _names_of_fasta(fasta)
    there = " (%s)" % _first(theirs) if theirs else ""
    return "no contig of %s (%s) is in %s%s; %s" % (what, _first(ours), fasta, there, _advice(ours, theirs))


def _first(names: List[str]) -> str:
    return "%r%s" % (names[0], ", ..." if len(names) > 1 else "")


def _names_of_fasta(path: str) -> List[str]:
    """The contigs, of which the index is a list; none if the index could not be written."""
    fasta, _, index = path.partition("##idx##")
    try:
        with open(index or fasta + ".fai", encoding="utf-8", errors="replace") as file:
            return [line.split("\t")[0] for line in file]
    except OSError:
        return []


def _advice(ours: List[str], theirs: Iterable[str]) -> str:
    known = set(theirs)
    if known.intersection("chr" + name for name in ours):
        return 'give unify_chr_names="-,chr"'
    if known.intersection(name[len("chr"):] for name in ours if name.startswith("chr")):
        return 'give unify_chr_names="chr,-"'
    return 'change the names in the rows, or give prefixes to ignore, such as unify_chr_names="-,chr", which finds 17 as chr17'
