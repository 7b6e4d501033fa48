"""`carbon score` and `carbon vep` against Hugging Face transformers (parity.json, made by make_goldens.py).

f32 mode: every base and k-mer within 2e-4 nats of the double-precision reference, sums over a window within 2e-3.
bf16 mode: no worse than twice the error of transformers in bfloat16 on the same checkpoint, against double precision.
Environment: CARBON, CARBON_MAKE_CHECKPOINT, CARBON_SHARED. Prints the errors seen and `N passed, N failed, N skipped`.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import cases  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
F32_BASE, F32_WINDOW = 2e-4, 2e-3
BF16_FACTOR = 2

passed = failed = skipped = 0


def check(name, error, limit):
    global passed, failed
    good = error <= limit
    passed, failed = passed + good, failed + (not good)
    print(f"{'ok    ' if good else 'FAILED'} {name}: error {error:.2e}, limit {limit:.2e}")


def carbon(*args):
    return subprocess.run([CARBON, *args], check=True, stdout=subprocess.PIPE).stdout.decode()


def scores(model, fasta, dtype, level):
    """sequence -> {start: logp}"""
    out = {}
    for line in carbon("score", "-m", model, "--dtype", dtype, "--level", level, "-O", "bedgraph", fasta).splitlines()[3:]:
        name, start, _, logp = line.split("\t")
        out.setdefault(name, {})[int(start)] = float(logp)
    return out


def base_error(got, want):
    assert sorted(got) == [i for i, v in enumerate(want) if v is not None], "other bases are scored"
    return max((abs(got[i] - v) for i, v in enumerate(want) if v is not None), default=0)


def check_sequences(name, entry, model, fasta):
    for dtype in ("f32", "bf16"):
        base, token = scores(model, fasta, dtype, "bp"), scores(model, fasta, dtype, "token")
        worst, naive = [0, 0], [0, 0]
        for title, slot in entry["sequences"].items():
            got = [token.get(title, {})[k] for k in sorted(token.get(title, {}))]
            assert len(got) == len(slot["token"]), "other k-mers are scored"
            errors = base_error(base[title], slot["base"]), max((abs(a - b) for a, b in zip(got, slot["token"])), default=0)
            worst = [max(pair) for pair in zip(worst, errors)]
            naive = [max(pair) for pair in zip(naive, slot["bf16_error"])]
        for level in (0, 1):
            limit = F32_BASE if dtype == "f32" else BF16_FACTOR * naive[level]
            check(f"{name} {('bp', 'token')[level]} {dtype}", worst[level], limit)


def vep(model, contig, vcf, dtype, *more):
    out = carbon("vep", "-v", "0", "-m", model, "--dtype", dtype, "-f", contig, "--no-version", *more, vcf)
    values = []
    for line in out.splitlines():
        if not line.startswith("#"):
            values.append({k: float(v) for k, _, v in (f.partition("=") for f in line.split("\t")[7].split(";"))})
    return values


def check_windows(name, entry, model, directory, bases):
    contig, vcf = directory + "/brca1.fa", directory + "/windows.vcf"
    with open(contig, "w") as out:
        out.write(">ref_brca1\n" + bases + "\n")
    with open(vcf, "w") as out:
        out.write("##fileformat=VCFv4.3\n##contig=<ID=ref_brca1>\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n")
        for w in entry["windows"]:
            out.write(f"ref_brca1\t{w['pos'] + 1}\t.\t{w['ref']}\t{w['alt']}\t.\t.\t.\n")
    tags = ["CARBON_LLR", "CARBON_NT"]
    for dtype in ("f32", "bf16"):
        columns = vep(model, contig, vcf, dtype, "--recipe", "centered,next-token")
        if name == cases.WINDOW_CHECKPOINTS[0]:  # the other strand of next-token, once
            tags = ["CARBON_LLR", "CARBON_NT", "CARBON_NT reverse"]
            for row, reverse in zip(columns, vep(model, contig, vcf, dtype, "--recipe", "next-token", "--strand", "-")):
                row["CARBON_NT reverse"] = reverse["CARBON_NT"]
        for column, tag in enumerate(tags):
            error = max(abs(g[tag] - w["f64"][column]) for g, w in zip(columns, entry["windows"]))
            naive = max(abs(w["bf16"][column] - w["f64"][column]) for w in entry["windows"])
            limit = (F32_WINDOW if column == 0 else F32_BASE) if dtype == "f32" else BF16_FACTOR * naive
            check(f"{name} {tag} {dtype}", error, limit)


def main():
    global skipped
    goldens = json.load(open(os.path.join(os.path.dirname(__file__), "parity.json")))
    assert sorted(goldens["checkpoints"]) == sorted(cases.CHECKPOINTS), "parity.json is of other checkpoints: make it again"
    shared = cases.shared_dir()
    bases = cases.window_cases(shared)[0] if os.path.isdir(shared) else None
    for name, entry in goldens["checkpoints"].items():
        with tempfile.TemporaryDirectory() as directory:
            model, fasta = directory + "/model", directory + "/sequences.fa"
            subprocess.run([MAKE_CHECKPOINT, *cases.checkpoint_args(name), model], check=True)
            with open(fasta, "w") as out:
                for title, sequence in cases.sequences().items():
                    out.write(f">{title}\n{sequence}\n")
            check_sequences(name, entry, model, fasta)
            if "windows" not in entry:
                continue
            if bases is None:
                skipped += 1
                print(f"SKIPPED {name} windows: {shared} is absent")
            else:
                check_windows(name, entry, model, directory, bases)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
