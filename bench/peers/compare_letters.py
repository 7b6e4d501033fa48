"""The table of bench/letters.sh: FOLDER PROGRAM..., with a line of JSON per run in PROGRAM.json, and scores.vcf."""
import json
import os
import statistics
import sys

NAMES = {"letters": "carbon vep, one base a token", "kmers": "carbon vep, 6-mers", "peer": "transformers, one base a token"}


def scores_of(vcf):
    with open(vcf, encoding="utf-8") as f:
        infos = [line.rstrip("\n").split("\t")[7] for line in f if not line.startswith("#")]
    return [float(field.split("=")[1]) for info in infos for field in info.split(";") if field.startswith("CARBON_LLR=")]


def main():
    folder, programs = sys.argv[1], sys.argv[2:]
    runs = {}
    for program in programs:
        with open(os.path.join(folder, program + ".json"), encoding="utf-8") as f:
            runs[program] = [json.loads(line) for line in f]
    if "peer" in runs:
        ours, theirs = scores_of(os.path.join(folder, "scores.vcf")), runs["peer"][0]["scores"]
        print("scores, both in bf16: correlation %.6f, root mean square %.4g, of the differences %.4g" % (
            statistics.correlation(ours, theirs), statistics.fmean(x * x for x in ours) ** 0.5,
            statistics.fmean((x - y) ** 2 for x, y in zip(ours, theirs)) ** 0.5))
    rates = {program: [run["variants_per_s"] for run in lines] for program, lines in runs.items()}
    first = statistics.median(rates["letters"])
    print("\n| | variants/s, median | lowest | highest | carbon with letters is so many times as fast |\n|---|---|---|---|---|")
    for program, values in rates.items():
        median = statistics.median(values)
        print("| %s | %.3g | %.3g | %.3g | %.2f |" % (NAMES[program], median, min(values), max(values), first / median))
    print()


if __name__ == "__main__":
    main()
