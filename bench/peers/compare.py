"""The table of bench/peers.sh: compare.py DIR PROGRAM... reads DIR/PROGRAM.json, a line a run; the first program is compared with."""
import json
import os
import statistics
import sys

# Nats by which bf16 programs may differ in the log-probability of a 6-mer: that of a random model spreads over several.
TOLERANCE = 0.25
# The same of probabilities of bases, on average: far below what two other models differ by.
MEAN_TOLERANCE = 0.05


def read_runs(directory, programs):
    """{program: its runs, each as it was written}."""
    runs = {}
    for program in programs:
        with open(os.path.join(directory, program + ".json")) as f:
            runs[program] = [json.loads(line) for line in f]
    return runs


def check_probabilities(programs, runs):
    """How far the probabilities of each program lie from those of the last one."""
    last = runs[programs[-1]][0]["p"]
    for program in programs[:-1]:
        apart = [abs(p - q) for p, q in zip(runs[program][0]["p"], last, strict=True)]
        print("probabilities of %s and %s: worst difference %.2g, mean %.2g" % (program, programs[-1], max(apart), statistics.fmean(apart)))
        if statistics.fmean(apart) > MEAN_TOLERANCE:
            sys.exit("the programs do not compute the same")


def print_table(programs, runs, tests, shares, unit="tokens/s"):
    """A line for each test and program; `shares` are of the limit, by both."""
    print("%-18s %-16s %10s %22s %10s%s" % ("test", "program", unit, "lowest..highest", "carbon is", "   of limit" if shares else ""))
    for name, value in tests:
        first = statistics.median(map(value, runs[programs[0]]))
        for program in programs:
            rates = sorted(map(value, runs[program]))
            median = statistics.median(rates)
            times = "" if program == programs[0] else "%.2fx" % (first / median)
            share = "%10.1f%%" % (100 * shares[name, program]) if (name, program) in shares else ""
            print(("%-18s %-16s %10.2f %22s %10s%s" % (name, program, median, "%.2f..%.2f" % (rates[0], rates[-1]), times, share)).rstrip())


def main():
    directory, *programs = sys.argv[1:]
    runs = read_runs(directory, programs)
    if "annotate" in runs[programs[0]][0]:
        check_probabilities(programs, runs)
        windows = runs[programs[0]][0]["annotate"]
        tests = [("window of " + w, lambda run, w=w: run["annotate"][w]) for w in windows]
        shares = {("window of " + w, program): statistics.median(run["of_limit"][w] for run in of)
                  for program, of in runs.items() if "of_limit" in of[0] for w in windows}
        return print_table(programs, runs, tests, shares)
    if "products" in runs[programs[0]][0]:
        tests = [(shape, lambda run, shape=shape: run["products"][shape]) for shape in runs[programs[0]][0]["products"]]
        registers = statistics.median(run["registers"] for run in runs[programs[0]])
        print("multiply-adds on registers: %.0f GFLOP/s" % registers)
        shares = {(name, program): statistics.median(map(value, of)) / registers for program, of in runs.items() for name, value in tests}
        return print_table(programs, runs, tests, shares, "GFLOP/s")
    logps = {program: of[0]["logp"] for program, of in runs.items()}
    print("log-probability of one 6-mer: " + ", ".join("%s %.3f" % item for item in logps.items()))
    if max(logps.values()) - min(logps.values()) > TOLERANCE:
        sys.exit("the programs do not compute the same")

    tests = [("prefill", lambda run: run["prefill"])]
    tests += [("decode, batch " + b, lambda run, b=b: run["decode"][b]) for b in runs[programs[0]][0]["decode"]]
    print_table(programs, runs, tests, {})


if __name__ == "__main__":
    main()
