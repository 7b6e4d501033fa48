"""`carbon predict --dtype f32` against transformers and PEFT (heads.json, made by make_head_goldens.py).

Both pools, both tails, all activations and strands, and adapters that bring a head: each value within 2e-4 of the
double-precision reference. Environment: CARBON, CARBON_MAKE_CHECKPOINT. Prints the errors seen and
`N passed, N failed, N skipped`.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import cases  # noqa: E402
import head_cases  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
LIMIT = 2e-4


def predicted(fasta, pool, pad, reverse, *model):
    """sequence -> values"""
    text = subprocess.run([CARBON, "predict", *model, "--dtype", "f32", "--pool", pool, "--strand", "-" if reverse else "+",
                           *(["--pad-tail"] if pad else []), fasta], check=True, stdout=subprocess.PIPE).stdout.decode()
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {row[0]: [float(value) for value in row[1:]] for row in rows}


def error_of(entry, fasta, *model):
    titles, runs = list(head_cases.sequences()), list(head_cases.runs())
    worst = 0
    for r, (pool, pad, reverse) in enumerate(runs):
        got = predicted(fasta, pool, pad, reverse, *model)
        for t, title in enumerate(titles):
            want = entry["rows"][t * len(runs) + r]
            assert len(got[title]) == len(want), "%s: %d labels" % (title, len(got[title]))
            worst = max(worst, max(abs(a - b) for a, b in zip(got[title], want)))
    return worst


def main():
    goldens = head_cases.load("heads.json")
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        fasta = os.path.join(folder, "in.fa")
        with open(fasta, "w") as out:
            for title, bases in head_cases.sequences().items():
                out.write(">%s\n%s\n" % (title, bases))
        errors = {}
        for name, entry in goldens["heads"].items():
            model = os.path.join(folder, name)
            subprocess.run([MAKE_CHECKPOINT, *head_cases.head_args(name), model], check=True)
            errors[name] = error_of(entry, fasta, "-m", model)
        for name, entry in goldens["adapters"].items():
            model, adapter = os.path.join(folder, name + "-model"), os.path.join(folder, name)
            subprocess.run([MAKE_CHECKPOINT, *cases.checkpoint_args(head_cases.ADAPTERS[name][0]), model], check=True)
            head_cases.write_adapter(adapter, entry["config"], entry["shapes"])
            errors[name] = error_of(entry, fasta, "-m", model, "--lora", adapter, "--activation", "none")
        for name, error in errors.items():
            good = error <= LIMIT
            passed, failed = passed + good, failed + (not good)
            print("%s %s: error %.2e, limit %.2e" % ("ok    " if good else "FAILED", name, error, LIMIT))
    print("%d passed, %d failed, 0 skipped" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
