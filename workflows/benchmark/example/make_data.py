"""make_data.py [--rows N] [--window BP] [--tables] FOLDER [FASTA]: made-up data sets with the columns of the makers'.

The sequences are those of FASTA, or random ones. The variants, and the classes that they get, are random: no number of a benchmark
on them means anything. --tables writes tables with tabs (.tsv), for a Python without pyarrow.
"""

import argparse
import gzip
import os
import random


def sequences(path):
    """[(name, bases)]; the names of contigs are short ones, because those of other files may have any letters."""
    if not path:
        rng = random.Random(1)
        return [("chr%d" % (i + 1), "".join(rng.choices("ACGT", k=20000))) for i in range(3)]
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as text:
        parts = text.read().split(">")[1:]
    found = ["".join(part.split("\n")[1:]).upper()[:1000000] for part in parts]
    return [("chr%d" % (i + 1), bases) for i, bases in enumerate(found)]


def write(path, rows, tables):
    if tables:
        with open(path + ".tsv", "w") as out:
            for row in [rows[0].keys(), *(row.values() for row in rows)]:
                print(*row, sep="\t", file=out)
    else:
        import pyarrow
        import pyarrow.parquet
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path + ".parquet", row_group_size=100)


def plain(rng, genome, length):
    """A random piece of A, C, G and T: its contig, where it begins and its bases."""
    while True:
        name, bases = rng.choices(genome, [max(0, len(b) - length) for _, b in genome])[0]
        start = rng.randrange(len(bases) - length + 1)
        piece = bases[start:start + length]
        if not set(piece) - set("ACGT"):
            return name, start, piece


def variants(rng, genome, rows, window, classes):
    """Single bases with the window around them; no two rows have the same variant."""
    found = {}
    while len(found) < rows:
        name, start, piece = plain(rng, genome, window)
        at = window // 2
        alt = rng.choice([base for base in "ACGT" if base != piece[at]])
        found[name, start, alt] = {
            "chrom": name[3:], "pos": start + at + 1, "ref": piece[at], "alt": alt, "score": rng.gauss(0, 1), "class": rng.choice(classes),
            "ref_seq": piece, "var_seq": piece[:at] + alt + piece[at + 1:]}
    return list(found.values())


def pairs(rng, genome, rows):
    """Sequences beside others in which 30 bases are CAG, or every third base of a stretch is another."""
    for i in range(rows):
        task = ("triplet", "syn_human")[i % 2]
        original = plain(rng, genome, 240)[2]
        changed = original[:60] + "CAG" * 10 + original[90:] if task == "triplet" else \
            "".join("ATCG"["ACGT".index(base)] if 60 <= j < 180 and j % 3 == 2 else base for j, base in enumerate(original))
        yield {"benchmark_id": "pair%d" % i, "task": task, "original_sequence": original, "sequence": changed}


def needles(rng, genome, rows):
    """A key and its value in a piece of a sequence, and the key again at its end."""
    for i in range(rows):
        haystack = plain(rng, genome, 600)[2]
        key, value, wrong = ("".join(rng.choices("ACGT", k=24)) for _ in range(3))
        at = 6 * (10 + 20 * (i % 5))
        yield {"uid": "needle%d" % i, "depth": str((i % 5) / 5), "key": key, "value": value, "negative": wrong,
               "prompt": haystack[:at] + key + value + haystack[at:] + key}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--window", type=int, default=600)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("folder")
    parser.add_argument("fasta", nargs="?")
    args = parser.parse_args()
    rng, genome = random.Random(args.rows), sequences(args.fasta)
    os.makedirs(args.folder, exist_ok=True)
    with open(os.path.join(args.folder, "genome.fa"), "w") as out:
        for name, bases in genome:
            out.write(">%s\n%s\n" % (name, "\n".join(bases[i:i + 60] for i in range(0, len(bases), 60))))
    trait = [{"label" if name == "class" else name: value for name, value in row.items()}
             for row in variants(rng, genome, args.rows, args.window, [1] + 4 * [0])]
    recovery = [{"sequence": piece[:-30], "label": piece[-30:], "type": rng.choice(("plant", "fungi"))}
                for piece in (plain(rng, genome, 330)[2] for _ in range(args.rows))]
    sets = {"brca2": variants(rng, genome, args.rows, args.window, ["LOF", "FUNC", "FUNC", "INT"]), "traitgym": trait,
            "recovery": recovery, "perturbation": list(pairs(rng, genome, args.rows)),
            "niah": list(needles(rng, genome, max(10, args.rows // 10)))}
    for name, rows in sets.items():
        write(os.path.join(args.folder, name), rows, args.tables)


if __name__ == "__main__":
    main()
