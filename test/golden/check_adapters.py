"""`carbon score --lora` against PEFT (adapters.json, made by make_adapter_goldens.py).

In f32 every base is within 2e-4 nats of PEFT's model in double precision. Environment: CARBON, CARBON_MAKE_CHECKPOINT.
Prints the errors seen and `N passed, N failed, N skipped`.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(__file__))
import adapter_cases  # noqa: E402
import cases  # noqa: E402

CARBON = os.environ.get("CARBON", "build/carbon")
MAKE_CHECKPOINT = os.environ.get("CARBON_MAKE_CHECKPOINT", "build/make_checkpoint")
F32_BASE = 2e-4


def scores(*args):
    """sequence -> {start: logp}"""
    out = {}
    text = subprocess.run([CARBON, "score", "-O", "bedgraph", "--dtype", "f32", *args], check=True,
                          stdout=subprocess.PIPE).stdout.decode()
    for line in text.splitlines()[3:]:  # after the lines that say what made it
        name, start, _, logp = line.split("\t")
        out.setdefault(name, {})[int(start)] = float(logp)
    return out


def worst(got, want):
    assert sorted(got) == [i for i, v in enumerate(want) if v is not None], "other bases are scored"
    return max(abs(got[i] - v) for i, v in enumerate(want) if v is not None)


def main():
    with open(os.path.join(os.path.dirname(__file__), "adapters.json")) as file:
        goldens = json.load(file)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        fasta = os.path.join(folder, "in.fa")
        with open(fasta, "w") as out:
            for title, bases in adapter_cases.sequences().items():
                out.write(">%s\n%s\n" % (title, bases))
        for name, golden in goldens.items():
            checkpoint, adapter = (os.path.join(folder, name + kind) for kind in ("-model", "-adapter"))
            subprocess.run([MAKE_CHECKPOINT, *cases.checkpoint_args(golden["checkpoint"]), checkpoint], check=True)
            adapter_cases.write_adapter(adapter, golden["config"], golden["shapes"])
            got = scores("-m", checkpoint, "--lora", adapter, fasta)
            error = max(worst(got[title], want) for title, want in golden["sequences"].items())
            # An adapter that is not read must not pass.
            without = scores("-m", checkpoint, fasta)
            change = max(worst(without[title], want) for title, want in golden["sequences"].items())
            good = error <= F32_BASE and change > 0.01
            failed += not good
            print("%s %s: error %.2e, limit %.2e; without the adapter %.2e" %
                  ("ok    " if good else "FAILED", name, error, F32_BASE, change))
    print("%d passed, %d failed, 0 skipped" % (len(goldens) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
