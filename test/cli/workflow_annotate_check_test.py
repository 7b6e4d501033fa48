"""workflows/annotate-check/compare.py on generated models: carbon annotate beside the Llama layers of transformers without a mask."""

import os
import random
import shutil
import sys

from harness import CARBON, Skip, case, command, expect, main, model, to_fasta, write, fresh

SCRIPT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "workflows/annotate-check/compare.py")
SIZES = dict(preset="generanno", vocab=4128, dna_start=-1, hidden=64, heads=4, kv_heads=2, head_dim=16, intermediate=160, max_positions=2048)


def python():
    """One that has torch and transformers: CARBON_TORCH_PYTHON, or this one."""
    program = os.environ.get("CARBON_TORCH_PYTHON", sys.executable)
    if not shutil.which(program) or command([program, "-c", "import torch, transformers, safetensors"], timeout=120).rc:
        raise Skip("no torch and transformers; CARBON_TORCH_PYTHON may name a Python that has them")
    return program


def compare(directory, *args, bases=6000):
    rng = random.Random(bases)
    text = "".join(rng.choice("ACGT" if rng.random() < 0.995 else "NacgtR") for _ in range(bases))
    result = command([python(), SCRIPT, directory, write(fresh(), "in.fa", to_fasta([("a", text)])), "--carbon", CARBON, *args], timeout=300)
    print(result.out.decode().split("\n}\n")[-1])
    return result


def numbers_after(text, words, name):
    """The numbers that follow each `name` after `words`."""
    found = text.split(words)[1].replace(",", "").replace(";", "").split()
    return [float(found[i + 1]) for i, word in enumerate(found) if word == name]


@case
def the_layers_of_transformers_give_the_same_probabilities():
    for changes in (dict(dtype="f32"), dict(dtype="f32", mlp_heads=1, kv_heads=1), dict(layers=6)):
        result = compare(model(**dict(SIZES, **changes)))
        expect(result.rc == 0, "a probability differs", result)
        expect("not known to carbon" not in result.text, "a key of config.json is not known", result)


@case
def bf16_is_as_far_from_f32_as_pythons_bf16():
    result = compare(model(**SIZES), "--dtype", "bf16")
    expect(result.rc == 0, "a probability differs", result)
    worst, mean = (numbers_after(result.text, "against f32: ", name) for name in ("worst", "mean"))
    expect(worst[1] <= 2 * worst[0] and mean[1] <= 2 * mean[0], "carbon's bf16 is further from f32: %r, %r" % (worst, mean), result)


@case
def the_longest_window_of_the_released_models():
    directory = model(**dict(SIZES, max_positions=16384))
    result = compare(directory, bases=98304)
    expect(result.rc == 0 and "\n16384 tokens, restated, f32" in result.text, "f32", result)
    worst = numbers_after(result.text, "between -8 and 2", "worst")[0]
    expect(worst < 2e-4, "a logit differs by %g" % worst, result)
    result = compare(directory, "--dtype", "bf16", bases=98304)
    expect(result.rc == 0 and "\n16384 tokens, restated, bf16" in result.text, "bf16", result)


@case
def what_differs_is_an_error():
    result = compare(model(**SIZES), "--most", "1e-12", bases=600)
    expect(result.rc == 1 and "differs by more than 1e-12" in result.err, "no error", result)


if __name__ == "__main__":
    main()
