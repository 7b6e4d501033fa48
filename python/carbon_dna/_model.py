"""A model that is open, and what it can be asked."""

import inspect
import itertools
import os
import threading
from types import TracebackType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Type, TypeVar, Union

import numpy as np
from numpy.typing import NDArray

from . import _library
from ._calls import results
from ._errors import CarbonError
from ._inputs import Bases, count_of, encoded_regions, encoded_sequences, optional_text, places_of, several
from ._library import Arrays, lib, read_json
from ._progress import Progress, Teller
from ._results import Coding, Sample, Scan, Score, VariantScore, VariantScores, variant_columns
from ._rows import Row, Rows, index_of, rows_of

Path = Union[str, "os.PathLike[str]"]
#: What the file of ``--label-scale`` holds, or its path.
LabelScale = Union[Mapping[str, Any], Path]
_Result = TypeVar("_Result")

#: Other spellings of dtypes, those of numpy and torch.
_DTYPES = {"bfloat16": "bf16", "float16": "f16", "float32": "f32"}


def _dtype(dtype: Any) -> Any:
    """The word for a dtype, which may also be one of numpy or torch."""
    name = dtype if isinstance(dtype, str) else getattr(dtype, "name", None) or getattr(dtype, "__name__", dtype)
    text = str(name)[len("torch."):] if str(name).startswith("torch.") else name
    return _DTYPES.get(text, text)


def _list(values: Optional[Iterable[Any]], name: str) -> Optional[List[Any]]:
    """The entries of an option that is a list."""
    return None if values is None else list(several(values, name))


def _scale(scale: Optional[LabelScale]) -> Optional[Mapping[str, Any]]:
    if scale is None or isinstance(scale, Mapping):
        return scale
    if not isinstance(scale, (str, os.PathLike)):
        raise TypeError("label_scale is of the type %s; give the path of a file, or a dict of what it holds" % type(scale).__name__)
    return read_json(scale)


class Model:
    """A DNA language model, ready to compute.

    All methods may be called from several threads, whose calls are computed together. Results never depend on that, on
    ``threads``, or on other sequences. A model cannot be used in a child of ``fork``: use ``multiprocessing`` with ``spawn``.

    Parameters
    ----------
    name : str or path, optional
        A directory, a GGUF file, or a name that ``carbon models`` lists. Default: ``$CARBON_MODEL``, else carbon-tiny, which
        is for demonstration.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:0,1"``; ``"auto"`` is the CPU.
    dtype : str
        ``"auto"``, ``"bf16"``, ``"f32"``, ``"int8"`` (on a CPU) or ``"f16"`` (on a GPU); also ``"bfloat16"``, ``"float16"``,
        ``"float32"``, and dtypes of numpy and torch.
    threads : int, optional
        Default: the CPUs that this process may use.
    lora : path, optional
        A folder with an adapter that PEFT has saved.
    rope_scaling : str, optional
        ``"yarn:4"`` for four times the model's context, or ``"none"``.
    prefix : str, optional
        Metadata that stands before every sequence, as the option ``--prefix`` has it.
    species, gene_type, tag_grammar : str, optional
        What the metadata says, in place of ``prefix``, such as ``species="fungi"``. An unknown word is an error that lists all that
        are known.
    batch_tokens : int, optional
        New tokens of one batch. No result depends on it; fewer take less memory.

    Raises
    ------
    CarbonError
        If there is no such model, or it cannot be used with these settings.
    FileNotFoundError
        If ``lora`` is not there, or ``name``, where that can be nothing but a path.

    Examples
    --------
    >>> import carbon_dna
    >>> model = carbon_dna.Model("carbon-tiny", threads=1)
    >>> model.name
    'carbon-tiny'
    >>> [score.n_scored for score in model.score(["ACGTACGTACGT", "ACGTN"])]
    [12, 4]
    >>> model.close()
    """

    _handle = 0  # also where __init__ was not reached

    def __init__(self, name: Optional[Path] = None, *, device: str = "auto", dtype: str = "auto", threads: Optional[int] = None,
                 lora: Optional[Path] = None, rope_scaling: Optional[str] = None, prefix: Optional[str] = None,
                 species: Optional[str] = None, gene_type: Optional[str] = None, tag_grammar: Optional[str] = None,
                 batch_tokens: Optional[int] = None) -> None:
        self._lock = threading.Lock()
        self._description: Dict[str, Any] = {}
        self._handle = _library.open_model({"model": name, "device": device, "dtype": _dtype(dtype), "threads": threads, "lora": lora,
                                            "rope_scaling": rope_scaling, "prefix": prefix, "species": species,
                                            "gene_type": gene_type, "tag_grammar": tag_grammar, "batch_tokens": batch_tokens})

    # ---- the model itself

    @property
    def description(self) -> Dict[str, Any]:
        """What is known of the model: name, path, family, dtype, device, threads, layers, hidden, max_bases, verbs, ...

        Examples
        --------
        >>> import carbon_dna
        >>> carbon_dna.Model("carbon-tiny").description["bases_per_token"]
        6
        """
        if not self._description:
            self._description = _library.describe(self._open(), False)
        return self._description

    @property
    def name(self) -> str:
        """The name of the model."""
        return str(self.description["name"])

    @property
    def labels(self) -> List[str]:
        """The labels of a model with a classification head; of another model none."""
        return list(self.description.get("labels", ()))

    @property
    def sha256(self) -> str:
        """The digest that the header lines of the commands have. All weights are read for it when it is first asked for."""
        return str(_library.describe(self._open(), True)["sha256"])

    def _open(self) -> int:
        """The handle of a model that is open."""
        if not self._handle:
            raise CarbonError("the model is closed", "closed")
        return self._handle

    def close(self) -> None:
        """Frees the memory of the model, which then cannot be used any more. Closing twice does nothing."""
        with self._lock:
            handle, self._handle = self._handle, 0
        if handle:
            lib.carbon_model_close(handle)

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    def __del__(self) -> None:
        if self._handle:
            self.close()

    def __repr__(self) -> str:
        if not self._handle:
            return "<carbon_dna.Model, closed>"
        return "<carbon_dna.Model %s, %s, %s>" % (self.name, self.description["dtype"], self.description["device"])

    def __reduce__(self) -> Any:
        raise TypeError("a Model cannot be pickled; open it in each process")

    # ---- one call

    def _of_sequences(self, verb: str, options: Dict[str, Any], sequences: Iterable[Bases], read: Callable[[Arrays, str], _Result],
                      progress: Progress, name: str = "sequences", each: int = 1) -> Iterator[_Result]:
        """The results of a call whose inputs are sequences, in order. `read` is given the name of the sequence."""
        several(sequences, name)
        count = count_of(sequences)
        teller = Teller(progress, None if count is None else count * each)
        return results(self._open, verb, options, encoded_sequences(sequences, places_of(name)), read, teller, each)

    # ---- score

    def iter_score(self, sequences: Iterable[Bases], *, strand: str = "+", level: str = "bp", probabilities: bool = False,
                   window: Optional[int] = None, stride: Optional[int] = None, progress: Progress = None) -> Iterator[Score]:
        """Like :meth:`score`, one result after the other, for inputs larger than memory.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> many = ("ACGT" * n for n in range(1, 100))
        >>> sum(score.n_scored for score in model.iter_score(many))
        19800
        """
        options = {"strand": strand, "level": level, "probabilities": probabilities, "window": window, "stride": stride}

        def read(arrays: Arrays, name: str) -> Score:
            letters = (arrays.get(b"probabilities"), arrays.get(b"entropy")) if probabilities else (None, None)
            return Score(int(arrays.get(b"n_scored")[()]), arrays.number(b"sum_logp"), arrays.number(b"mean_logp"), arrays.get(b"logp"),
                         *letters, name)

        return self._of_sequences("score", options, sequences, read, progress)

    def score(self, sequences: Iterable[Bases], *, strand: str = "+", level: str = "bp", probabilities: bool = False,
              window: Optional[int] = None, stride: Optional[int] = None, progress: Progress = None) -> List[Score]:
        """Log-probabilities of the bases of sequences, as ``carbon score`` computes them.

        Parameters
        ----------
        sequences : iterable of sequences
            Each is str or bytes, with bases of either case, or an object whose text is its bases, such as Bio.Seq, or which has them as
            ``seq`` with a name as ``id`` or ``name``, such as SeqRecord and the records of :func:`carbon_dna.read_fasta`.
        strand : {"+", "-", "both"}
            ``"both"`` is the mean of the two at each base.
        level : {"bp", "token"}
            A value for each base, or for each 6-mer as the published scripts have it.
        probabilities : bool
            Also the probabilities of A, C, G and T, and their entropy.
        window, stride : int, optional
            Longer sequences are scored in windows of so many bases; both are multiples of those of a token (6).
        progress : callable or bool, optional
            A function that is called with (done, total) ten times a second and at the end, or True for a bar of tqdm, where that is
            installed. Results are counted, of a single one its windows; total is None if it is not known. All methods have it.

        Returns
        -------
        list of Score

        Raises
        ------
        CarbonError
            For a sequence or an option that cannot be used.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> score, = model.score(["ACGTACGTNACGT"])
        >>> score.logp.shape, int(score.logp[8] == score.logp[8])
        ((13,), 0)
        """
        return list(self.iter_score(sequences, strand=strand, level=level, probabilities=probabilities, window=window,
                                    stride=stride, progress=progress))

    # ---- variants

    def iter_variants(self, fasta: Optional[Path], rows: Rows, *, sequence: Optional[Bases] = None, unify_chr_names: Optional[str] = None,
                      max_ref_mismatch: float = 0.05, recipe: str = "centered", level: Optional[str] = None,
                      measure: Optional[Sequence[str]] = None,
                      strand: Optional[str] = None, phases: Optional[str] = None, window: Optional[int] = None,
                      context: Optional[int] = None, horizon: Optional[int] = None, pool: Optional[str] = None,
                      pad_tail: Optional[bool] = None, labels: Optional[Sequence[str]] = None,
                      activation: Optional[str] = None, label_scale: Optional[LabelScale] = None,
                      progress: Progress = None) -> Iterator[VariantScore]:
        """Like :meth:`variants`, one row after the other, for inputs larger than memory.

        That the reference has the contig of no row is known, and raised, after the last row; that it differs from too many, after 1,000
        rows or the last.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> gene = "ACGTTAGCATCGATCGGCTAAGCTTAGCATTACGGA"
        >>> snvs = (("", i + 1, base, alt) for i, base in enumerate(gene) for alt in "ACGT" if alt != base)
        >>> sum(row.flag == "" for row in model.iter_variants(None, snvs, sequence=gene))
        108
        """
        # With a sequence it has no effect, which is worth a message where it was set.
        share = None if sequence is not None and max_ref_mismatch == 0.05 else max_ref_mismatch
        options: Dict[str, Any] = {
            "fasta_ref": fasta, "sequence": optional_text(sequence, "sequence"), "unify_chr_names": unify_chr_names,
            "max_ref_mismatch": share, "recipe": recipe, "level": level,
            "measure": _list(measure, "measure"), "strand": strand, "phases": phases, "window": window, "context": context,
            "horizon": horizon, "pool": pool, "pad_tail": pad_tail, "labels": _list(labels, "labels"), "activation": activation, "label_scale": _scale(label_scale)}
        measures = options["measure"] or ()
        inputs = ((row.text(sequence is not None), "rows[%d]" % i, row) for i, row in enumerate(rows_of(rows)))

        def read(arrays: Arrays, row: Row) -> VariantScore:
            values = arrays.get(b"values")
            l2, jsd = (arrays.number(name) if name.decode() in measures else None for name in (b"l2", b"jsd"))
            return VariantScore(*row[:4], float(values[0]) if len(values) else float("nan"), arrays.text(b"flag"), values, l2, jsd)

        total = None if isinstance(rows, (str, os.PathLike)) else count_of(rows)
        return results(self._open, "variants", options, inputs, read, Teller(progress, total))

    def variants(self, fasta: Optional[Path], rows: Rows, *, sequence: Optional[Bases] = None, unify_chr_names: Optional[str] = None,
                 max_ref_mismatch: float = 0.05, recipe: str = "centered", level: Optional[str] = None,
                 measure: Optional[Sequence[str]] = None,
                 strand: Optional[str] = None, phases: Optional[str] = None, window: Optional[int] = None,
                 context: Optional[int] = None, horizon: Optional[int] = None, pool: Optional[str] = None,
                 pad_tail: Optional[bool] = None, labels: Optional[Sequence[str]] = None, activation: Optional[str] = None,
                 label_scale: Optional[LabelScale] = None, progress: Progress = None) -> VariantScores:
        """Scores of variants, as ``carbon vep`` computes them: a row for each alternative allele.

        Parameters
        ----------
        fasta : path or None
            The reference; None with ``sequence``.
        rows : iterable of (chrom, pos, ref, alt), data frame, or path
            ``pos`` counts from 1. A frame of pandas or polars, or a row with names such as a dict, has these columns in either case,
            with or without the ``#`` of a VCF. A path is that of a VCF or BCF file, of which each ALT becomes a row. Of ``<DEL>``,
            ``<DUP>`` and ``<INV>`` a row with names also has ``end`` or ``svlen``, or ``info``, a dict of INFO tags; without, they are flagged
            ``symbolic``.
        unify_chr_names : str, optional
            As that option of ``carbon vep``: ``"-,chr"`` finds 17 as chr17.
        max_ref_mismatch : float
            If ``ref`` differs from ``fasta`` in a larger share of the rows, the assembly must be wrong, and that is an error; with 1 it
            never is. carbon-vep(1) has the rule, under this option: how many must differ of a few.
        sequence : str or another sequence, optional
            All variants are on this sequence; ``chrom`` is then not read.
        recipe : {"centered", "next-token", "anchored", "head"}
        measure : sequence of {"llr", "l2", "jsd"}, optional
            What is computed, by default ``["llr"]``; ``l2`` and ``jsd`` become columns beside ``score``.
        level, strand, phases, window, context, horizon, pool, pad_tail, labels, activation, label_scale : optional
            As the options of ``carbon vep`` with these names. ``label_scale`` is the path of such a file, or what it holds.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        VariantScores

        Raises
        ------
        CarbonError
            For a row, a file or an option that cannot be used. A variant that has no score is no error; its ``flag`` says why. But it
            is one if there are rows and the reference has the contig of none of them, so that all would be flagged ``no_contig``, or
            if their ``ref`` shows that it is another assembly.
        FileNotFoundError, TypeError
            As :class:`carbon_dna.CarbonError` explains.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> scores = model.variants(None, [("", 5, "T", "A"), ("", 6, "C", "G")], sequence="ACGTTAGCATCGATCGGCTAAG")
        >>> scores.flag.tolist()
        ['', 'ref_mismatch']
        """
        measure = _list(measure, "measure")
        scores = self.iter_variants(fasta, rows, sequence=sequence, unify_chr_names=unify_chr_names,
                                    max_ref_mismatch=max_ref_mismatch, recipe=recipe, level=level, measure=measure, strand=strand,
                                    phases=phases, window=window, context=context, horizon=horizon,
                                    pool=pool, pad_tail=pad_tail, labels=labels, activation=activation, label_scale=label_scale, progress=progress)
        return variant_columns(list(scores), index_of(rows), measure or ())

    # ---- scan

    def iter_scan(self, fasta: Optional[Path], regions: Iterable[Bases], *, strand: str = "both", level: str = "marginal",
                  frames: Optional[int] = None, context: Optional[int] = None, progress: Progress = None) -> Iterator[Scan]:
        """Like :meth:`scan`, for several regions, or for sequences if ``fasta`` is None.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> [scan.logp.shape for scan in model.iter_scan(None, ["ACGTAC", "ACGTACGTA"])]
        [(6, 4), (9, 4)]
        """
        several(regions, "regions")
        options = {"fasta_ref": fasta, "strand": strand, "level": level, "frames": frames, "context": context}
        return self._scans(options, regions, places_of("regions"), progress)

    def _scans(self, options: Dict[str, Any], regions: Iterable[Bases], places: Iterator[str], progress: Progress) -> Iterator[Scan]:
        def read(arrays: Arrays, name: str) -> Scan:
            return Scan(arrays.text(b"contig") or name, int(arrays.get(b"begin")[()]), arrays.text(b"bases"), arrays.get(b"logp"))

        encode = encoded_sequences if options["fasta_ref"] is None else encoded_regions
        return results(self._open, "scan", options, encode(regions, places), read, Teller(progress, count_of(regions)))

    def scan(self, fasta: Optional[Path], region: Bases, *, strand: str = "both", level: str = "marginal",
             frames: Optional[int] = None, context: Optional[int] = None, progress: Progress = None) -> Scan:
        """Log-probabilities of A, C, G and T at each base of a region, as ``carbon scan`` computes them.

        Windows lie on a grid of the contig, so that a value does not depend on the region. A region of n bases takes 32 n
        bytes; take large ones in parts.

        Parameters
        ----------
        fasta : path or None
            None: ``region`` is a sequence.
        region : str
            ``"chr1:1001-2000"``, counted from 1, or the name of a contig.
        strand : {"both", "+", "-"}
        level : {"marginal", "chain", "first"}
        frames, context : int, optional
            As the options of ``carbon scan`` with these names.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        Scan

        Raises
        ------
        CarbonError
            For a region, a file or an option that cannot be used.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> scan = model.scan(None, "ACGTACGTACGT")
        >>> scan.effects.shape, float(scan.effects[0, 0])
        ((12, 4), 0.0)
        """
        options = {"fasta_ref": fasta, "strand": strand, "level": level, "frames": frames, "context": context}
        scan, = self._scans(options, [region], iter(["region"]), progress)
        return scan

    # ---- embed

    def iter_embed(self, sequences: Iterable[Bases], *, pool: Optional[str] = None, layer: int = -1, strand: str = "+",
                   pad_tail: bool = False, progress: Progress = None) -> Iterator[NDArray[np.float32]]:
        """The rows of one sequence after the other: float32, shape (1, hidden), with ``pool="none"`` (6-mers, hidden).

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> [rows.shape[0] for rows in model.iter_embed(["ACGTAC" * 2, "ACGTAC" * 5], pool="none")]
        [2, 5]
        """
        options = {"pool": pool, "layer": layer, "strand": strand, "pad_tail": pad_tail}
        return self._of_sequences("embed", options, sequences, lambda arrays, _: arrays.get(b"embedding"), progress)

    def embed(self, sequences: Iterable[Bases], *, pool: Optional[str] = None, layer: int = -1, strand: str = "+",
              pad_tail: bool = False, progress: Progress = None) -> NDArray[np.float32]:
        """Hidden states of sequences, as ``carbon embed`` writes them.

        Parameters
        ----------
        sequences : iterable of sequences
            As of :meth:`score`.
        pool : {"separator", "last", "mean", "none"}, optional
            The row that stands for a sequence, or the rows of all its 6-mers, one sequence below the other. Default: the
            separator, or the mean for a model that has none.
        layer : int
            -1: after the final norm; else after so many blocks.
        strand : {"+", "-", "both"}
        pad_tail : bool
            Bases after the last whole 6-mer are padded with A; otherwise they are left out.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        ndarray of float32, shape (rows, hidden)

        Raises
        ------
        CarbonError
            For a sequence or an option that cannot be used.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> model.embed(["ACGTACGTACGT", "TTTTTT"]).shape == (2, model.description["hidden"])
        True
        """
        rows = list(self.iter_embed(sequences, pool=pool, layer=layer, strand=strand, pad_tail=pad_tail, progress=progress))
        return np.concatenate(rows) if rows else np.empty((0, self.description["hidden"]), dtype=np.float32)

    # ---- predict

    def iter_predict(self, sequences: Iterable[Bases], *, strand: str = "+", pool: str = "separator", pad_tail: bool = False,
                     labels: Optional[Sequence[str]] = None, activation: str = "auto",
                     label_scale: Optional[LabelScale] = None, progress: Progress = None) -> Iterator[NDArray[np.float64]]:
        """The values of one sequence after the other, shape (labels,)."""
        options: Dict[str, Any] = {"strand": strand, "pool": pool, "pad_tail": pad_tail, "labels": _list(labels, "labels"),
                                   "activation": activation, "label_scale": _scale(label_scale)}
        return self._of_sequences("predict", options, sequences, lambda arrays, _: arrays.get(b"values"), progress)

    def predict(self, sequences: Iterable[Bases], *, strand: str = "+", pool: str = "separator", pad_tail: bool = False,
                labels: Optional[Sequence[str]] = None, activation: str = "auto",
                label_scale: Optional[LabelScale] = None, progress: Progress = None) -> NDArray[np.float64]:
        """Values of the labels of a classification head, as ``carbon predict`` writes them.

        Parameters
        ----------
        sequences : iterable of sequences
            As of :meth:`score`.
        strand : {"+", "-", "both"}
        pool : {"separator", "last"}
        pad_tail : bool
        labels : sequence of str, optional
            Names in place of the model's, which :attr:`labels` has.
        activation : {"auto", "none", "sigmoid", "softmax"}
        label_scale : mapping or path, optional
            Values become value * std + mean, with the numbers of such a file or mapping:
            ``{"LABEL": {"mean": m, "std": s}, ...}``, or the ``run_config.json`` of the makers.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        ndarray of float64, shape (sequences, labels)

        Raises
        ------
        CarbonError
            Also for a model without a classification head.

        Examples
        --------
        >>> import carbon_dna
        >>> try:
        ...     carbon_dna.Model("carbon-tiny").predict(["ACGTAC"])
        ... except carbon_dna.CarbonError as error:
        ...     print(error.kind)
        model
        """
        rows = list(self.iter_predict(sequences, strand=strand, pool=pool, pad_tail=pad_tail, labels=labels, activation=activation,
                                      label_scale=label_scale, progress=progress))
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else len(labels or self.labels))

    # ---- annotate

    def iter_annotate(self, sequences: Iterable[Bases], *, window: Optional[int] = None, overlap: Optional[int] = None, gff3: bool = False,
                      genes: str = "model", gene_cost: float = 10.0, intron_cost: float = 10.0, start: str = "ATG", code: int = 1,
                      introns: str = "yes", min_intron: int = 20, max_intron: int = 0, min_cds: int = 60, min_score: float = 0.5,
                      preset: str = "eukaryote", stair_outward_shift: Optional[int] = None, stair_inward_shift: Optional[int] = None,
                      stair_stop_run: Optional[int] = None, stair_stop_ratio: float = 0.3, min_cds_length: Optional[int] = None,
                      min_gap_length: Optional[int] = None, progress: Progress = None) -> Iterator[Coding]:
        """Like :meth:`annotate`, one sequence after the other.

        Examples
        --------
        >>> import carbon_dna
        >>> try:
        ...     next(carbon_dna.Model("carbon-tiny").iter_annotate(["ACGTAC"]))
        ... except carbon_dna.CarbonError as error:
        ...     print(error.kind)
        model
        """
        values: Dict[str, Any] = {
            "gene_cost": gene_cost, "intron_cost": intron_cost, "start": start, "code": code, "introns": introns,
            "min_intron": min_intron, "max_intron": max_intron, "min_cds": min_cds, "min_score": min_score}
        runs: Dict[str, Any] = {
            "preset": preset, "stair_outward_shift": stair_outward_shift, "stair_inward_shift": stair_inward_shift,
            "stair_stop_run": stair_stop_run, "stair_stop_ratio": stair_stop_ratio, "min_cds_length": min_cds_length,
            "min_gap_length": min_gap_length}
        defaults = {name: parameter.default for name, parameter in inspect.signature(Model.iter_annotate).parameters.items()}
        # A setting that has no meaning beside the others is an error only where it was set.
        given = {name: value for name, value in {**values, **runs, "genes": genes}.items() if value != defaults[name]}
        options: Dict[str, Any] = {"window": window, "overlap": overlap, "gff3": gff3, **given}

        def read(arrays: Arrays, _: str) -> Coding:
            return Coding(arrays.get(b"plus"), arrays.get(b"minus"), arrays.text(b"gff3") if gff3 else None)

        return self._of_sequences("annotate", options, sequences, read, progress)

    def annotate(self, sequences: Iterable[Bases], *, window: Optional[int] = None, overlap: Optional[int] = None, gff3: bool = False,
                 genes: str = "model", gene_cost: float = 10.0, intron_cost: float = 10.0, start: str = "ATG", code: int = 1,
                 introns: str = "yes", min_intron: int = 20, max_intron: int = 0, min_cds: int = 60, min_score: float = 0.5,
                 preset: str = "eukaryote", stair_outward_shift: Optional[int] = None, stair_inward_shift: Optional[int] = None,
                 stair_stop_run: Optional[int] = None, stair_stop_ratio: float = 0.3, min_cds_length: Optional[int] = None,
                 min_gap_length: Optional[int] = None, progress: Progress = None) -> List[Coding]:
        """Probabilities of the bases of sequences to be coding, and genes, as ``carbon annotate`` computes them.

        Parameters
        ----------
        sequences : iterable of sequences
            As of :meth:`score`.
        window, overlap : int, optional
            Bases of a window, and by which windows overlap; multiples of 6.
        gff3 : bool
            Also genes, or runs, as lines of GFF3. The parameters after it need it.
        genes : {"model", "runs"}
        gene_cost, intron_cost, start, code, introns, min_intron, max_intron, min_cds, min_score
            Of genes, as the options of ``carbon annotate``; ``introns`` is "yes" or "no".
        preset, stair_outward_shift, stair_inward_shift, stair_stop_run, stair_stop_ratio, min_cds_length, min_gap_length
            Of runs, as the options of ``carbon annotate``.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        list of Coding

        Raises
        ------
        CarbonError
            Also for a model that does not annotate.

        Examples
        --------
        >>> import carbon_dna
        >>> try:
        ...     carbon_dna.Model("carbon-tiny").annotate(["ACGTAC"])
        ... except carbon_dna.CarbonError as error:
        ...     print(error.kind)
        model
        """
        return list(self.iter_annotate(
            sequences, window=window, overlap=overlap, gff3=gff3, genes=genes, gene_cost=gene_cost, intron_cost=intron_cost, start=start,
            code=code, introns=introns, min_intron=min_intron, max_intron=max_intron, min_cds=min_cds, min_score=min_score,
            preset=preset, stair_outward_shift=stair_outward_shift, stair_inward_shift=stair_inward_shift,
            stair_stop_run=stair_stop_run, stair_stop_ratio=stair_stop_ratio, min_cds_length=min_cds_length,
            min_gap_length=min_gap_length, progress=progress))

    # ---- generate

    def iter_generate(self, prompts: Optional[Iterable[Bases]], length: int, *, n: int = 1, seed: int = 0, sampler: str = "kmer",
                      temperature: Optional[float] = None, top_k: Optional[int] = None, top_p: Optional[float] = None,
                      greedy: bool = False, constraint: Optional[Bases] = None, gc: Optional[Sequence[float]] = None,
                      gc_window: Optional[int] = None, avoid: Optional[Sequence[Bases]] = None,
                      no_stop: Optional[Sequence[Union[int, str]]] = None, max_homopolymer: Optional[int] = None,
                      prefix: Optional[str] = None, probabilities: bool = False, progress: Progress = None) -> Iterator[Sample]:
        """Like :meth:`generate`, one sample after the other.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> [(s.prompt, s.number) for s in model.iter_generate(["ACGT", "TTT"], 12, n=2)]
        [(0, 0), (0, 1), (1, 0), (1, 1)]
        """
        motifs = _list(avoid, "avoid")
        options: Dict[str, Any] = {
            "length": length, "num": n, "seed": seed, "sampler": sampler, "temperature": temperature, "top_k": top_k, "top_p": top_p,
            "greedy": greedy, "constraint": optional_text(constraint, "constraint"), "gc": _list(gc, "gc"), "gc_window": gc_window,
            "avoid": motifs and [optional_text(motif, "avoid[%d]" % i) for i, motif in enumerate(motifs)],
            "no_stop": _list(no_stop, "no_stop"), "max_homopolymer": max_homopolymer, "prefix": prefix, "probabilities": probabilities}
        # Another n is refused by the library.
        each = int(n) if isinstance(n, (int, float, np.number)) and 1 <= n < 2 ** 53 else 1
        numbers = itertools.count()

        def read(arrays: Arrays, _name: str) -> Sample:
            prompt, number = divmod(next(numbers), each)
            return Sample(prompt, number, arrays.text(b"sequence"), arrays.number(b"logp"),
                          arrays.get(b"probabilities") if probabilities else None)

        return self._of_sequences("generate", options, [""] if prompts is None else prompts, read, progress, "prompts", each)

    def generate(self, prompts: Optional[Iterable[Bases]], length: int, *, n: int = 1, seed: int = 0, sampler: str = "kmer",
                 temperature: Optional[float] = None, top_k: Optional[int] = None, top_p: Optional[float] = None,
                 greedy: bool = False, constraint: Optional[Bases] = None, gc: Optional[Sequence[float]] = None,
                 gc_window: Optional[int] = None, avoid: Optional[Sequence[Bases]] = None,
                 no_stop: Optional[Sequence[Union[int, str]]] = None, max_homopolymer: Optional[int] = None,
                 prefix: Optional[str] = None, probabilities: bool = False, progress: Progress = None) -> List[Sample]:
        """Continues prompts, as ``carbon generate`` does; prompt i has the draws of record i of a FASTA.

        Parameters
        ----------
        prompts : iterable of sequences, or None
            As of :meth:`score`. None: one sample chain from the beginning of a sequence.
        length : int
            The exact number of new bases.
        n : int
            Samples of each prompt.
        seed : int
        sampler : {"kmer", "marginal", "chain"}
        temperature, top_k, top_p, greedy, constraint, gc, gc_window, avoid, no_stop, max_homopolymer, prefix : optional
            As the options of ``carbon generate`` with these names; ``gc`` is [lowest, highest] in per cent, ``avoid`` a list of
            motifs, ``no_stop`` a list of frames.
        probabilities : bool
            Also the probabilities of A, C, G and T at each new base.
        progress : callable or bool, optional
            As of :meth:`score`.

        Returns
        -------
        list of Sample
            The n samples of the first prompt, then those of the next.

        Raises
        ------
        CarbonError
            For a prompt or an option that cannot be used.

        Examples
        --------
        >>> import carbon_dna
        >>> model = carbon_dna.Model("carbon-tiny")
        >>> sample, = model.generate(["ACGTACGT"], 30, seed=1)
        >>> len(sample.sequence), sample == model.generate(["ACGTACGT"], 30, seed=1)[0]
        (30, True)
        """
        return list(self.iter_generate(
            prompts, length, n=n, seed=seed, sampler=sampler, temperature=temperature, top_k=top_k, top_p=top_p, greedy=greedy,
            constraint=constraint, gc=gc, gc_window=gc_window, avoid=avoid, no_stop=no_stop, max_homopolymer=max_homopolymer,
            prefix=prefix, probabilities=probabilities, progress=progress))
