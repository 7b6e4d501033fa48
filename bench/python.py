"""How much of the speed of `carbon score` is left when Python calls the library: python3 bench/python.py [MODEL] [SEQUENCES] [BASES]

Scores 10,000 sequences of 150 bp (by default with carbon-tiny) by the command and by carbon_dna.Model.score, in turn, and prints the
times of both, without those of loading the model. Then the memory of 1,000 calls, the time from the start of Python to a first score,
and how late Ctrl-C ends a call: until Python goes on, and until the model has given up its pass and computed a short score. From the
environment: CARBON (build/carbon), CARBON_DNA_LIBRARY (build/libcarbon.so.0), ROUNDS (5).
"""

import functools
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


def resident():
    """MiB of memory of this process."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS")) / 1024


FIRST = """
import sys, carbon_dna
carbon_dna.Model(sys.argv[1]).score(["ACGTACGTACGT"])
"""

INTERRUPTED = """
import os, random, signal, sys, threading, time
import carbon_dna
model = carbon_dna.Model(sys.argv[1])
sent = []
def send():
    time.sleep(float(sys.argv[2]))
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    # Not equal ones, whose results a model keeps.
    model.score("".join(random.choices("ACGT", k=24000)) for _ in range(100000))
except KeyboardInterrupt:
    late = time.perf_counter() - sent[0]
    model.score(["ACGT"])
    print(late, time.perf_counter() - sent[0])
"""


def child(code, *args):
    env = dict(os.environ, PYTHONPATH=os.path.join(SOURCE, "python"))
    return subprocess.run([sys.executable, "-c", code, *args], env=env, check=True, stdout=subprocess.PIPE).stdout


def middle(values, unit):
    return "median %.3f %s (%.3f to %.3f)" % (statistics.median(values), unit, min(values), max(values))


def of_a_process(name, rounds):
    """What is measured in processes of their own."""
    child(FIRST, name)
    print("start of Python to a first score: " + middle([seconds(lambda: child(FIRST, name)) for _ in range(rounds)], "s"))
    late = [[float(word) for word in child(INTERRUPTED, name, str(1 + 0.137 * i)).split()] for i in range(rounds)]
    print("Ctrl-C to the end of a call: " + middle([row[0] for row in late], "s"))
    print("Ctrl-C to the end of the next short call: " + middle([row[1] for row in late], "s"))


def main():
    name = sys.argv[1] if len(sys.argv) > 1 else os.path.join(SOURCE, "models/carbon-tiny")
    count, length = (int(word) for word in (sys.argv[2:] + ["10000", "150"][len(sys.argv[2:]):]))
    rounds = int(os.environ.get("ROUNDS", "5"))
    generator = random.Random(1)

    def fresh(n):
        # A model keeps its last results for equal sequences.
        return ["".join(generator.choices("ACGT", k=length)) for _ in range(n)]

    with tempfile.TemporaryDirectory() as folder, carbon_dna.Model(name) as model:
        path = os.path.join(folder, "in.fa")

        def command(sequences):
            with open(path, "w") as file:
                file.writelines(">s%d\n%s\n" % item for item in enumerate(sequences))
            subprocess.run([CARBON, "score", "-q", "-m", name, path], check=True, stdout=subprocess.DEVNULL)

        model.score(fresh(100))
        times = {"carbon score": [], "carbon_dna": []}
        for _ in range(rounds):
            start = seconds(functools.partial(command, fresh(1)))
            times["carbon score"].append(seconds(functools.partial(command, fresh(count))) - start)
            times["carbon_dna"].append(seconds(functools.partial(model.score, fresh(count))))
        before = resident()
        for _ in range(1000):
            model.score(fresh(3))
        grown = resident() - before
        print("model %s, %d threads, %s, %d sequences of %d bp, %d rounds" % (
            model.name, model.description["threads"], model.description["device"], count, length, rounds))
    for what, measured in times.items():
        print("%-14s %s" % (what, middle(measured, "s")))
    print("speed of carbon_dna: %.1f %% of that of the command" % (
        100 * statistics.median(times["carbon score"]) / statistics.median(times["carbon_dna"])))
    print("memory after 1,000 calls of 3 sequences: %+.2f MiB" % grown)
    of_a_process(name, rounds)


if __name__ == "__main__":
    main()
