"""`carbon embed --dtype f32` against Hugging Face transformers (embeddings.json, made by make_goldens.py).

Every layer, every pool: each value within 1e-4 of the double-precision reference, and no row further off than twice what
transformers in float32 is, or 1e-5 where that is more. Environment: CARBON, CARBON_MAKE_CHECKPOINT.
Prints the errors seen and `N passed, N failed`.
"""
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
import cases  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
LIMIT = 1e-4


def embed(model, fasta, stem, layer, pool, pad_tail):
    """sequence -> rows"""
    subprocess.run([CARBON, "embed", "-m", model, "--dtype", "f32", "--layer", str(layer), "--pool", pool, "-o", stem + ".npy",
                    *(["--pad-tail"] if pad_tail else []), fasta], check=True)
    matrix = np.load(stem + ".npy")
    rows = {}
    with open(stem + ".names.tsv") as names:
        assert next(names) == "#name\tfirst_row\trows\n"
        for line in names:
            name, first, count = line.rstrip("\n").split("\t")
            rows[name] = matrix[int(first):int(first) + int(count)]
    return rows


def errors(name, entry, directory):
    """(layer, pool) -> largest error"""
    model, fasta = directory + "/model", directory + "/sequences.fa"
    subprocess.run([MAKE_CHECKPOINT, *cases.checkpoint_args(name), model], check=True)
    with open(fasta, "w") as out:
        for title, sequence in cases.embed_sequences().items():
            out.write(f">{title}\n{sequence}\n")
    runs, worst = {}, {}
    for (layer, pool, title, pad_tail), want in zip(cases.embed_cases(cases.CHECKPOINTS[name]["layers"]), entry["rows"], strict=True):
        if (layer, pool, pad_tail) not in runs:
            runs[layer, pool, pad_tail] = embed(model, fasta, directory + "/out", layer, pool, pad_tail)
        got, want = runs[layer, pool, pad_tail][title], np.array(want)
        assert got.shape == want.shape and got.dtype == np.float32, f"{title}: {got.shape} rows of {got.dtype}"
        worst[layer, pool] = max(worst.get((layer, pool), 0), np.abs(got - want).max())
    return worst


def main():
    passed = failed = 0
    goldens = json.load(open(os.path.join(os.path.dirname(__file__), "embeddings.json")))
    assert list(goldens["checkpoints"]) == cases.EMBED_CHECKPOINTS, "embeddings.json is of other checkpoints: make it again"
    for name, entry in goldens["checkpoints"].items():
        limit = min(LIMIT, max(1e-5, 2 * entry["f32_error"]))
        with tempfile.TemporaryDirectory() as directory:
            for (layer, pool), error in errors(name, entry, directory).items():
                good = error <= limit
                passed, failed = passed + good, failed + (not good)
                print(f"{'ok    ' if good else 'FAILED'} {name} layer {layer} {pool}: error {error:.2e}, limit {limit:.2e}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
