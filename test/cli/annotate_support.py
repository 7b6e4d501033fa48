"""What the tests of carbon annotate share: tracks that pyBigWig writes, and GFF3 as Python reads it."""

import math
import os
from urllib.parse import unquote

from harness import fresh, model, ok, open_bigwig, to_fasta, write

# A small model that annotates.
ANNOTATOR = dict(preset="generanno", vocab=4128, dna_start=-1, hidden=64, heads=4, kv_heads=2, head_dim=16, max_positions=128, dtype="f32")


def sigmoid(logit):
    return 1 / (1 + math.exp(-logit))


def write_track(path, contigs, values, style="fixed"):
    """`values`: {contig: [float or None]}; None: the base has no value. Runs become blocks of a kind."""
    track = open_bigwig(path, "w")
    track.addHeader(contigs)
    for name, _ in contigs:
        row = values[name]
        begin = 0
        while begin < len(row):
            end = begin
            while end < len(row) and (row[end] is None) == (row[begin] is None):
                end += 1
            numbers = row[begin:end]
            if row[begin] is not None:
                if style == "fixed":
                    track.addEntries(name, begin, values=numbers, span=1, step=1)
                elif style == "variable":
                    track.addEntries(name, list(range(begin, end)), values=numbers, span=1)
                else:
                    starts = [i for i in range(begin, end) if i == begin or row[i] != row[i - 1]]
                    track.addEntries([name] * len(starts), starts, ends=starts[1:] + [end], values=[row[i] for i in starts])
            begin = end
    track.close()


def tracks(contigs, plus, minus, style="fixed"):
    """The prefix of the tracks of sequences [(name, bases)]; contigs without bases are left out."""
    prefix = os.path.join(fresh(), "in")
    lengths = [(name, len(bases)) for name, bases in contigs if bases]
    for strand, values in (("plus", plus), ("minus", minus)):
        write_track("%s.%s.bw" % (prefix, strand), lengths, values, style)
    return prefix


def annotator(**changes):
    return model(**dict(ANNOTATOR, **changes))


def fasta(contigs, name="in.fa"):
    return write(fresh(), name, to_fasta(contigs))


def annotate(contigs, plus, minus, *options, style="fixed", **more):
    return ok("annotate", "--no-version", "--from-tracks", tracks(contigs, plus, minus, style), *options, fasta(contigs), **more)


def features(text):
    """[{contig, type, begin (0-based), end, score, strand, phase, attributes}] of GFF3."""
    found = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        contig, source, kind, begin, end, score, strand, phase, attributes = line.split("\t")
        assert source == "carbon", line
        found.append(dict(contig=unquote(contig), type=kind, begin=int(begin) - 1, end=int(end), score=float(score), strand=strand,
                          phase=phase, attributes=dict((key, unquote(value)) for key, value in
                                                       (item.split("=") for item in attributes.split(";")))))
    return found


def genes(text):
    """[(gene, [CDS])] in the order of the file."""
    found = []
    for feature in features(text):
        if feature["type"] == "gene":
            found.append((feature, []))
        elif feature["type"] == "CDS":
            found[-1][1].append(feature)
    return found
