"""The table of bench/int8.sh: compare_int8.py DIR PROGRAM... reads DIR/PROGRAM.json, a line a run: what carbon bench --json writes
for bf16 and int8, and what bench/peers/workload.py reports for llama.cpp."""
import statistics
import sys

from compare import read_runs


def rates(run):
    """{test: tokens/s} of one run."""
    if "prefill" in run:
        return {"prefill": run["prefill"]} | {"decode, batch " + b: rate for b, rate in run["decode"].items()}
    named = {}
    for test in run["tests"]:
        name = {"prefill": "prefill", "decode": "decode, batch %s" % test.get("batch")}.get(test["test"])
        if name:
            named[name] = test["tokens_per_s"]["median"]
    return named


def shares(run):
    """{test: (share of the limit, which limit)} of one run of carbon bench."""
    return {("decode, batch %s" % t["batch"]) if t["test"] == "decode" else t["test"]: (t["of_limit"]["median"], t["limit"])
            for t in run["tests"] if t["test"] in ("prefill", "decode")}


def main():
    directory, *programs = sys.argv[1:]
    runs = read_runs(directory, programs)
    limits = runs["int8"][0]["limits"]
    for name, limit in limits.items():
        values = [run["limits"][name]["median"] / 1e9 for run in runs["int8"]]
        print("limit %-20s %10.1f %22s 1e9 %s" % (name, statistics.median(values),
                                                  "%.1f..%.1f" % (min(values), max(values)), limit["unit"]))
    print("%-18s %-10s %10s %22s %9s %s" % ("test", "program", "tokens/s", "lowest..highest", "int8 is", "of limit"))
    for test in rates(runs["int8"][0]):
        medians = {program: statistics.median(rates(run)[test] for run in of) for program, of in runs.items()}
        for program in programs:
            values = [rates(run)[test] for run in runs[program]]
            times = "" if program == "int8" else "%.2fx" % (medians["int8"] / medians[program])
            limit = ""
            if program != "llama.cpp":
                of = [shares(run)[test] for run in runs[program]]
                limit = "%.0f %% of %s" % (100 * statistics.median(share for share, _ in of), of[0][1])
            print("%-18s %-10s %10.2f %22s %9s %s" % (test, program, medians[program],
                                                      "%.2f..%.2f" % (min(values), max(values)), times, limit))


if __name__ == "__main__":
    main()
