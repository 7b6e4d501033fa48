"""How much of the speed of `carbon score` is left when Python calls the library: python3 bench/python.py [MODEL] [SEQUENCES] [BASES]

Scores 10,000 sequences of 150 bp (by default with carbon-tiny) by the command and by carbon_dna.Model.score, in turn, and prints the
times of both, without those of loading the model. From the environment: CARBON (build/carbon), CARBON_DNA_LIBRARY
(build/libcarbon.so.0), ROUNDS (5).
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CARBON = os.environ.get("CARBON", os.path.join(SOURCE, "build/carbon"))
os.environ.setdefault("CARBON_DNA_LIBRARY", os.path.join(SOURCE, "build/libcarbon.so.0"))
sys.path.insert(0, os.path.join(SOURCE, "python"))

import carbon_dna  # noqa: E402


def seconds(action):
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "models/carbon-tiny")
    count, length = (int(word) for word in (sys.argv[2:] + ["10000", "150"][len(sys.argv[2:]):]))
    rounds = int(os.environ.get("ROUNDS", "5"))
    generator = random.Random(1)
    sequences = ["".join(generator.choices("ACGT", k=length)) for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder, carbon_dna.Model(name) as model:
        paths = []
        for n in (1, count):
            paths.append(os.path.join(folder, "%d.fa" % n))
            with open(paths[-1], "w") as file:
                file.writelines(">s%d\n%s\n" % item for item in enumerate(sequences[:n]))

        def command(path):
            subprocess.run([CARBON, "score", "-q", "-m", name, path], check=True, stdout=subprocess.DEVNULL)

        model.score(sequences[:100])
        times = {"carbon score": [], "carbon_dna": []}
        for _ in range(rounds):
            start = seconds(lambda: command(paths[0]))
            times["carbon score"].append(seconds(lambda: command(paths[1])) - start)
            times["carbon_dna"].append(seconds(lambda: model.score(sequences)))
        print("model %s, %d threads, %s, %d sequences of %d bp, %d rounds" % (
            model.name, model.description["threads"], model.description["device"], count, length, rounds))
    for what, measured in times.items():
        print("%-14s median %.3f s (%.3f to %.3f)" % (what, statistics.median(measured), min(measured), max(measured)))
    print("speed of carbon_dna: %.1f %% of that of the command" % (
        100 * statistics.median(times["carbon score"]) / statistics.median(times["carbon_dna"])))


if __name__ == "__main__":
    main()
