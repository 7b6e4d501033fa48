"""variants.py TASK N SEED OUT.vcf.gz OUT.positions OUT.json: a data set of labelled variants becomes a sorted VCF.

TASK is the task's part of the configuration, as JSON. Columns: chrom, pos (from 1), ref, alt, class; and, where they are there,
ref_seq and var_seq, the window around the variant with either allele. Each row is compared with the FASTA. What does not fit is
counted and left out; if it is too much, the FASTA is taken for another assembly, and nothing is written.

INFO/LABEL is 1 for the classes that the setting positive lists (default: 1, true), and 0 for all others or those of the setting
negative. INFO/ROW is the number of the row in the data, from 0. OUT.positions has a line for each position, for carbon scan -R.
"""

import itertools
import json
import os
import subprocess
import sys
import tempfile

from rows import Rows, fail

# What is counted, and what it means. Rows of the first group are left out.
LEFT_OUT = {
    "no_class": "rows without a class, or with one that neither positive nor negative lists",
    "no_contig": "rows on a contig that the FASTA does not have",
    "outside": "rows with a position outside of the contig",
    "not_acgt": "rows with an allele of other letters than A, C, G and T",
    "ref_mismatch": "rows whose ref is not in the FASTA at this position",
    "ref_seq_mismatch": "rows whose ref_seq is not the window of the FASTA",
    "var_seq_mismatch": "rows whose var_seq is not that window with alt",
}
KEPT = {
    "contig_end": "rows whose window is cut at an end of the contig (scored with what is there)",
    "duplicate": "rows that repeat the variant of an earlier row (scored, and counted again, as in the data)",
    "other_label": "rows that repeat a variant with another class",
}
COMPARED = ("ref_mismatch", "ref_seq_mismatch", "var_seq_mismatch", "outside", "no_contig")


class Reference:
    """A FASTA that samtools reads."""

    def __init__(self, path):
        self.path = path
        if not os.path.exists(path + ".fai"):
            # Tasks that start at the same time may all get here: the index appears when it is complete.
            mine = f"{path}.{os.getpid()}"
            compressed = ["--gzi-idx", mine + ".gzi"] if path.endswith(".gz") else []
            subprocess.run(["samtools", "faidx", "--fai-idx", mine + ".fai", *compressed, path], check=True)
            for suffix in (["gzi"] if compressed else []) + ["fai"]:
                os.replace(f"{mine}.{suffix}", f"{path}.{suffix}")
        with open(path + ".fai") as lines:
            self.lengths = {f[0]: int(f[1]) for f in (line.split("\t") for line in lines)}

    def name_of(self, chrom):
        """The contig's name in the FASTA, with or without chr, or None."""
        names = (chrom, "chr" + chrom, chrom[3:] if chrom.startswith("chr") else chrom)
        return next((name for name in names if name in self.lengths), None)

    def bases(self, places):
        """The bases of each (contig, start, end), in capitals."""
        if not places:
            return []
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as regions:
            regions.writelines(f"{name}:{start + 1}-{end}\n" for name, start, end in places)
            regions.flush()
            text = subprocess.run(["samtools", "faidx", "-r", regions.name, self.path], check=True, stdout=subprocess.PIPE, text=True)
        return ["".join(record.split("\n")[1:]).upper() for record in text.stdout.split("\n>")]


def truth(value):
    """A class as the configuration writes it: 1.0, True and "true" are the same."""
    word = str(value).strip().lower()
    return {"1.0": "1", "true": "1", "0.0": "0", "false": "0"}.get(word, word)


class Labels:
    def __init__(self, task):
        self.positive = {truth(word) for word in task.get("positive", [1])}
        self.negative = {truth(word) for word in task["negative"]} if "negative" in task else None

    def __call__(self, value):
        word = truth(value)
        if value is None or word in ("", "nan", "none"):
            return None
        if word in self.positive:
            return 1
        return 0 if self.negative is None or word in self.negative else None


def number(value):
    """A position; 0, which is outside of every contig, for what is no number."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return 0


def fault(row, place, there, window):
    """Why a row cannot be scored as it is meant, or None. `there` has the bases of `place` (start, end): the window, or a longer ref."""
    p, ref, given, changed = row["pos"] - 1, row["ref"], row.get("ref_seq"), row.get("var_seq")
    left = place[0]
    if there[p - left:p - left + len(ref)] != ref:
        return "ref_mismatch"
    if given is None:
        return None
    given, wanted, at = given.upper(), there[:p + window // 2 - left], p - left
    # At the end of a contig a window is either cut or filled up with N.
    if len(given) == window > len(wanted):
        wanted = ("N" * (window // 2 - at) + wanted).ljust(window, "N")
        at = window // 2
    if given != wanted:
        return "ref_seq_mismatch"
    if changed is not None:
        # After an insertion or deletion, the window may have been cut or filled up again.
        both = list(zip(changed.upper(), given[:at] + row["alt"] + given[at + len(ref):]))
        if len(both) <= at or any(x != y for x, y in both):
            return "var_seq_mismatch"
    return None


class Selection:
    """The variants that are to be scored, and what was counted on the way to them."""

    def __init__(self, task, rows):
        self.reference, self.label_of, self.rows = Reference(task["fasta"]), Labels(task), rows
        self.window = int(task.get("window", 8192))
        self.counts = {"rows": rows.total, "read": 0, **dict.fromkeys([*LEFT_OUT, *KEPT], 0)}
        self.first = {}  # of each kind of row that is left out
        self.order = {name: i for i, name in enumerate(self.reference.lengths)}
        self.variants, self.labels = [], {}
        iterator = iter(rows)
        while chunk := list(itertools.islice(iterator, 512)):
            self.add(chunk)
        self.variants.sort()

    def leave_out(self, why, i, row):
        self.counts[why] += 1
        self.first.setdefault(why, f"row {i}, {row['chrom']}:{row['pos']} {row['ref']}>{row['alt']}")

    def unusable(self, row, contig, label):
        """Why a row cannot be compared with the FASTA, or None."""
        if label is None:
            return "no_class"
        if contig is None:
            return "no_contig"
        if not 1 <= row["pos"] <= self.reference.lengths[contig] - len(row["ref"]) + 1:
            return "outside"
        return "not_acgt" if not row["ref"] or not row["alt"] or set(row["ref"] + row["alt"]) - set("ACGT") else None

    def add(self, chunk):
        known, half = [], self.window // 2
        for i, row in chunk:
            self.counts["read"] += 1
            row.update(pos=number(row["pos"]), ref=str(row["ref"]).upper(), alt=str(row["alt"]).upper())
            contig, label = self.reference.name_of(str(row["chrom"])), self.label_of(row["class"])
            if why := self.unusable(row, contig, label):
                self.leave_out(why, i, row)
                continue
            p = row["pos"] - 1
            place = (max(0, p - half), min(self.reference.lengths[contig], p + max(half, len(row["ref"]))))
            known.append((i, row, contig, label, place))
        bases = self.reference.bases([(contig, *place) for _, _, contig, _, place in known])
        for (i, row, contig, label, place), there in zip(known, bases):
            if why := fault(row, place, there, self.window):
                self.leave_out(why, i, row)
                continue
            p = row["pos"] - 1
            self.counts["contig_end"] += p < half or p + half > self.reference.lengths[contig]
            key = (self.order[contig], p, row["ref"], row["alt"])
            self.counts["duplicate"] += key in self.labels
            self.counts["other_label"] += self.labels.setdefault(key, label) != label
            self.variants.append((*key, i, contig, label))

    def say(self):
        """Writes the counts to standard error."""
        counts = self.counts
        print(f"{counts['read']} of {counts['rows']} rows were read and {len(self.variants)} are scored", file=sys.stderr)
        for why, meaning in {**LEFT_OUT, **KEPT}.items():
            if counts[why]:
                first = f"; the first is {self.first[why]}" if why in self.first else ""
                print(f"  {counts[why]} {meaning}{first}", file=sys.stderr)
        if not self.rows.has("ref_seq"):
            print("there is no column ref_seq: only ref was compared with the FASTA", file=sys.stderr)

    def end_if_too_few(self, most):
        """`most`: the share of rows that may differ from the FASTA."""
        wrong, read = sum(self.counts[why] for why in COMPARED), self.counts["read"]
        if wrong > most * read:
            fail(f"{wrong} of {read} rows differ from {self.reference.path}: another assembly, or positions from 0, or another window "
                 f"than {self.window} bp (setting window)? The setting max_mismatch is the share that is allowed")
        if not self.variants:
            fail("no row is left")

    def vcf(self):
        """The variants as VCF."""
        yield "##fileformat=VCFv4.2\n"
        for name, length in self.reference.lengths.items():
            yield f"##contig=<ID={name},length={length}>\n"
        yield '##INFO=<ID=LABEL,Number=1,Type=Integer,Description="1 for the class that the score should find, else 0">\n'
        yield '##INFO=<ID=ROW,Number=1,Type=Integer,Description="Number of the row in the data, from 0">\n'
        yield "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
        for _, p, ref, alt, i, contig, label in self.variants:
            yield f"{contig}\t{p + 1}\t.\t{ref}\t{alt}\t.\t.\tLABEL={label};ROW={i}\n"


def main():
    task, n, seed, vcf, positions, report = sys.argv[1:]
    task = json.loads(task)
    selection = Selection(task, Rows(task, ("chrom", "pos", "ref", "alt", "class"), ("ref_seq", "var_seq"), int(n), seed))
    selection.say()
    selection.end_if_too_few(float(task.get("max_mismatch", 0.05)))
    variants = selection.variants
    with open(vcf, "wb") as out:
        subprocess.run(["bgzip", "-c"], input="".join(selection.vcf()).encode(), stdout=out, check=True)
    with open(positions, "w") as out:
        out.writelines(f"{contig}\t{p + 1}\n" for contig, p in dict.fromkeys((v[5], v[1]) for v in variants))
    with open(report, "w") as out:
        json.dump({**selection.counts, "scored": len(variants), "positive": sum(v[-1] for v in variants)}, out, indent=1)


if __name__ == "__main__":
    main()
