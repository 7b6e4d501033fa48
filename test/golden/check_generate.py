"""`carbon generate --greedy` against Hugging Face transformers (generate.json, made by make_generate_goldens.py).

500 tokens in f32, to the base: sampler kmer against generate() restricted to 6-mers, sampler marginal against the published
base-level mode. Environment: CARBON, CARBON_MAKE_CHECKPOINT. Prints `N passed, N failed`.
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


def generate(golden, directory):
    model, prompt = directory + "/model", directory + "/prompt.fa"
    cases.write_generate_checkpoint([MAKE_CHECKPOINT], golden["checkpoint"], golden["seed"], model)
    with open(prompt, "w") as out:
        out.write(">prompt\n" + cases.GENERATE_PROMPT + "\n")
    run = [CARBON, "generate", "-q", "-m", model, "--dtype", "f32", "--greedy", "--sampler", golden["sampler"], "-L", "0",
           "-l", str(len(golden["bases"])), prompt]
    return subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()[1]


def main():
    goldens = json.load(open(os.path.join(os.path.dirname(__file__), "generate.json")))["cases"]
    assert [(g["checkpoint"], g["sampler"], g["seed"]) for g in goldens] == cases.GENERATE_CASES, "generate.json is of other cases"
    failed = 0
    for golden in goldens:
        with tempfile.TemporaryDirectory() as directory:
            bases = generate(golden, directory)
        same = sum(a == b for a, b in zip(bases, golden["bases"]))
        good = bases == golden["bases"]
        failed += not good
        print(f"{'ok    ' if good else 'FAILED'} {golden['checkpoint']} {golden['sampler']}: {same} of {len(golden['bases'])} "
              f"bases, narrowest decision {golden['margin']:.1e} nats")
    print(f"{len(goldens) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
