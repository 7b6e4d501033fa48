"""The table of bench/peers.sh: compare.py DIR PROGRAM... reads DIR/PROGRAM.json, a line a run; the first program is compared with."""
import json
import os
import statistics
import sys

# Nats by which bf16 programs may differ in the log-probability of a 6-mer: that of a random model spreads over several.
TOLERANCE = 0.25


def read_runs(directory, programs):
    """{program: its runs, each as it was written}."""
    runs = {}
    for program in programs:
        with open(os.path.join(directory, program + ".json")) as f:
            runs[program] = [json.loads(line) for line in f]
    return runs


def main():
    directory, *programs = sys.argv[1:]
    runs = read_runs(directory, programs)
    logps = {program: of[0]["logp"] for program, of in runs.items()}
    print("log-probability of one 6-mer: " + ", ".join("%s %.3f" % item for item in logps.items()))
    if max(logps.values()) - min(logps.values()) > TOLERANCE:
        sys.exit("the programs do not compute the same")

    tests = [("prefill", lambda run: run["prefill"])]
    tests += [("decode, batch " + b, lambda run, b=b: run["decode"][b]) for b in runs[programs[0]][0]["decode"]]
    print("%-18s %-14s %10s %22s %10s" % ("test", "program", "tokens/s", "lowest..highest", "carbon is"))
    for name, value in tests:
        first = statistics.median(map(value, runs[programs[0]]))
        for program in programs:
            rates = sorted(map(value, runs[program]))
            median = statistics.median(rates)
            times = "" if program == programs[0] else "%.2fx" % (first / median)
            print("%-18s %-14s %10.2f %22s %10s" % (name, program, median, "%.2f..%.2f" % (rates[0], rates[-1]), times))


if __name__ == "__main__":
    main()
