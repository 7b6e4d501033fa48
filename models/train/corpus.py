"""The training corpus: reading, holding out, sampling.

Bases are digits A=0 T=1 C=2 G=3, as in the tokenizer; the complement of a digit is digit ^ 1. What a batch holds is a
function of (seed, step) alone, so a resumed run sees the sequence that an uninterrupted one would have seen.
"""
import gzip
import os
from dataclasses import dataclass, field

import numpy as np

KINDS = ["yeast", "human", "vertebrate", "drosophila", "celegans", "plant", "protist", "prokaryote", "mrna"]
K = 6
KMERS = 4096
DNA, END, OOV, FIRST_KMER = 0, 1, 2, 3  # ids with dna_start_id 0
MIN_SEGMENT = 300
_DIGIT = np.full(256, 255, np.uint8)
for _i, _b in enumerate(b"ATCG"):
    _DIGIT[_b] = _DIGIT[_b + 32] = _i
LETTERS = np.frombuffer(b"ATCG", np.uint8)


@dataclass
class Record:
    kind: str
    name: str
    bases: np.ndarray


@dataclass
class Corpus:
    """Training sequence of each kind, held-out records, and what was cut to keep the two apart."""
    segments: dict = field(default_factory=dict)  # kind -> list of digit arrays
    holdout: dict = field(default_factory=dict)   # kind -> list of Record
    cut: dict = field(default_factory=dict)       # kind -> bases removed from training

    def bases(self, kind):
        return sum(len(s) for s in self.segments[kind])


def read_fasta(path):
    """(header without '>', digits) of each record; letters other than ACGT are not expected."""
    opener = gzip.open if path.endswith(".gz") else open
    name, parts = None, []
    with opener(path, "rb") as lines:
        for line in lines:
            if line.startswith(b">"):
                if name is not None:
                    yield name, _DIGIT[np.frombuffer(b"".join(parts), np.uint8)]
                name, parts = line[1:].decode().strip(), []
            else:
                parts.append(line.strip())
    if name is not None:
        yield name, _DIGIT[np.frombuffer(b"".join(parts), np.uint8)]


def write_fasta(path, records):
    with open(path, "wb") as out:
        for name, bases in records:
            out.write(b">" + name.encode() + b"\n")
            text = LETTERS[bases].tobytes()
            for at in range(0, len(text), 100):
                out.write(text[at:at + 100] + b"\n")


def reverse_complement(bases):
    return bases[::-1] ^ 1


def _holdout_rules(path):
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines if line.strip() and line[0] != "#"]


def _held_out(kind, names, rules):
    """Indices of the records of one file that the list holds out. Every rule must match something."""
    chosen = set()
    for rule_kind, rule in rules:
        if rule_kind != kind:
            continue
        species, _, which = rule.rpartition("|")
        of_species = [i for i, n in enumerate(names) if not species or n.startswith(species + "|")]
        if which == "*":
            found = of_species
        elif which.startswith("every "):
            found = of_species[::int(which[6:])]
        else:
            found = [i for i in of_species if names[i].endswith("|" + which)]
        if not found:
            raise SystemExit(f"holdout: no record of {kind} matches '{rule}'")
        chosen.update(found)
    return chosen


def _words(bases, k=31):
    """The k-mers at every place as integers; the smaller of the two strands."""
    if len(bases) < k:
        return np.empty(0, np.uint64)
    n = len(bases) - k + 1
    forward = np.zeros(n, np.uint64)
    backward = np.zeros(n, np.uint64)
    for i in range(k):
        digit = bases[i:i + n].astype(np.uint64)
        forward = (forward << np.uint64(2)) | digit
        backward |= (digit ^ np.uint64(1)) << np.uint64(2 * i)
    return np.minimum(forward, backward)


class _WordSet:
    """Membership of many words at once: a bit table first, a sorted list for what passes."""

    def __init__(self, arrays):
        self.sorted = np.unique(np.concatenate([_words(a) for a in arrays]))
        self.table = np.zeros(1 << 26, bool)
        self.table[self._slot(self.sorted)] = True

    @staticmethod
    def _slot(words):
        return (words * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(38)

    def contains(self, words):
        found = self.table[self._slot(words)]
        at = np.flatnonzero(found)
        place = np.minimum(np.searchsorted(self.sorted, words[at]), len(self.sorted) - 1)
        found[at] = self.sorted[place] == words[at]
        return found


def _keep_apart(bases, words, window):
    """Pieces of a training record outside windows that share half their 31-mers with held-out sequence."""
    hits = words.contains(_words(bases))
    keep = np.ones(len(bases), bool)
    for at in range(0, len(hits), window // 2):
        piece = hits[at:at + window]
        if piece.mean() >= 0.5:
            keep[at:at + len(piece) + 30] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[False], keep, [False]]).astype(np.int8)))
    pieces = [bases[a:b] for a, b in zip(edges[::2], edges[1::2])]
    return pieces, int(len(bases) - keep.sum())


def load_holdout(directory, holdout_list):
    """The held-out records of each kind."""
    rules = _holdout_rules(holdout_list)
    holdout = {}
    for kind in KINDS:
        records = list(read_fasta(os.path.join(directory, kind + ".fa.gz")))
        held = _held_out(kind, [name for name, _ in records], rules)
        holdout[kind] = [Record(kind, *records[i]) for i in sorted(held)]
    return holdout


def load(directory, holdout_list, exclude=()):
    """The corpus, split. `exclude`: FASTA files whose sequence must not be trained on either."""
    rules = _holdout_rules(holdout_list)
    corpus = Corpus()
    training = {}
    for kind in KINDS:
        records = list(read_fasta(os.path.join(directory, kind + ".fa.gz")))
        held = _held_out(kind, [name for name, _ in records], rules)
        corpus.holdout[kind] = [Record(kind, *records[i]) for i in sorted(held)]
        training[kind] = [bases for i, (_, bases) in enumerate(records) if i not in held]
    genomic = [r.bases for kind in KINDS if kind != "mrna" for r in corpus.holdout[kind]]
    for path in exclude:
        for _, bases in read_fasta(path):
            known = np.concatenate([[False], bases < 4, [False]]).astype(np.int8)
            edges = np.flatnonzero(np.diff(known))
            genomic += [bases[a:b] for a, b in zip(edges[::2], edges[1::2])]
    # A transcript repeats short exons, a genome repeats whole elements: an Alu of 300 bases that resembles a held-out
    # one is no leak, an exon of 200 is. So the window is short where a transcript is on either side.
    of_genomes = _WordSet(genomic)
    of_mrna = _WordSet([r.bases for r in corpus.holdout["mrna"]])
    for kind in KINDS:
        segments, cut = [], 0
        for bases in training[kind]:
            pieces, n = _keep_apart(bases, of_genomes, 200 if kind == "mrna" else 1000)
            cut += n
            for piece in pieces:
                rest, n = _keep_apart(piece, of_mrna, 200)
                cut += n
                segments += [s for s in rest if len(s) >= MIN_SEGMENT]
        corpus.segments[kind] = segments
        corpus.cut[kind] = cut
    return corpus


def kmers(bases):
    """Consecutive 6-mers as numbers 0..4095; a shorter tail is left out."""
    n = len(bases) // K
    digits = bases[:n * K].reshape(n, K).astype(np.int64)
    return digits @ (4 ** np.arange(K - 1, -1, -1))


class Sampler:
    """Rows of tokens: kinds in proportion to weight * bases ** `power`, places uniform within a kind, both strands, all
    frames.

    A record shorter than the row is followed by another of its kind after a new <dna>. A share `repeats` of the rows
    goes on from some place with copies of what precedes it.
    """

    def __init__(self, corpus, power, seed, weights=None, repeats=0.0, oov_rate=0.002):
        self.seed, self.repeats, self.oov_rate = seed, repeats, oov_rate
        self.segments = [corpus.segments[kind] for kind in KINDS]
        self.ends = [np.cumsum([len(s) for s in segments]) for segments in self.segments]
        share = np.array([ends[-1] for ends in self.ends], float) ** power
        share *= [(weights or {}).get(kind, 1.0) for kind in KINDS]
        self.share = share / share.sum()

    def _document(self, rng, kind, tokens):
        at = int(rng.integers(self.ends[kind][-1]))
        segment = self.segments[kind][int(np.searchsorted(self.ends[kind], at, side="right"))]
        room = len(segment) - tokens * K
        start = int(rng.integers(room + 1)) if room > 0 else int(rng.integers(K))
        bases = segment[start:start + tokens * K]
        if rng.integers(2):
            bases = reverse_complement(bases)
        return kmers(bases)

    def _repeat(self, rng, row):
        """Fills a row from some place on with copies of the unit before it, each copy a little worse than the last.

        Tandem repeats are too rare in a small corpus to teach a model to look back for them. One of a period that is no
        multiple of 6 repeats its 6-mers all the same, after two, three or six periods.
        """
        unit = int(np.exp(rng.uniform(np.log(4), np.log(min(200, len(row) // 3)))))
        start = int(rng.integers(1, len(row) - 2 * unit + 1))
        for at in range(start + unit, len(row), unit):
            copy = row[at - unit:at][:len(row) - at].copy()
            changed = np.flatnonzero((rng.random(len(copy)) < 0.03) & (copy >= FIRST_KMER))
            place = 4 ** rng.integers(K, size=len(changed))
            codes = copy[changed] - FIRST_KMER
            digit = codes // place % 4
            copy[changed] = FIRST_KMER + codes + ((digit + rng.integers(1, 4, size=len(changed))) % 4 - digit) * place
            row[at:at + len(copy)] = copy

    def batch(self, step, rows, tokens):
        """ids (rows, tokens): the inputs; targets (rows, tokens): the k-mer that follows, -1 where none; kinds."""
        rng = np.random.Generator(np.random.Philox(key=[self.seed, step]))
        kinds = rng.choice(len(KINDS), size=rows, p=self.share)
        ids = np.empty((rows, tokens + 1), np.int64)
        for row, kind in enumerate(kinds):
            filled = 0
            while filled < tokens + 1:
                ids[row, filled] = DNA
                found = self._document(rng, kind, tokens)[:tokens - filled]
                ids[row, filled + 1:filled + 1 + len(found)] = found + FIRST_KMER
                filled += 1 + len(found)
            if rng.random() < self.repeats:
                self._repeat(rng, ids[row])
        targets = ids[:, 1:] - FIRST_KMER
        targets[targets < 0] = -1
        inputs = ids[:, :-1].copy()
        # Real sequence has N; a model that never saw <oov> would treat it as noise.
        inputs[(rng.random(inputs.shape) < self.oov_rate) & (inputs >= FIRST_KMER)] = OOV
        return inputs, targets, kinds


def holdout_rows(corpus, kind, rows, tokens):
    """Fixed held-out rows of a kind, spread evenly; shorter records are left out. For watching a run."""
    bases = [r.bases for r in corpus.holdout[kind]]
    cut = [b[at:at + tokens * K] for b in bases for at in range(0, len(b) - tokens * K + 1, tokens * K)]
    if not cut:  # transcripts: one after another
        joined = np.concatenate(bases)
        cut = [joined[at:at + tokens * K] for at in range(0, len(joined) - tokens * K, tokens * K)]
    chosen = [cut[i] for i in np.linspace(0, len(cut) - 1, min(rows, len(cut))).astype(int)]
    targets = np.stack([kmers(c) for c in chosen])
    inputs = np.concatenate([np.full((len(targets), 1), DNA), targets[:, :-1] + FIRST_KMER], axis=1)
    return inputs, targets
