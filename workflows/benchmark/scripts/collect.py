"""collect.py CONFIG OUT.tsv OUT.json [BENCH.json]: the results of all tasks and recipes as one table, beside the published numbers.

CONFIG is what the Snakefile knows, as JSON. The table and the JSON hold no paths of this machine, so that they can be sent.
"""

import csv
import glob
import json
import math
import os
import re
import subprocess
import sys

COLUMNS = ("task", "recipe", "metric", "value", "lower", "upper", "published", "variants_per_s")
VARIANT_METRICS = ("auroc", "auprc", "average_precision_by_chrom")
# The metric of each other kind, and the column of its details that has the value of a row.
ROW_METRICS = {"recovery": ("accuracy", "accuracy"), "perturb": ("accuracy", "correct"), "niah": ("exact_match", "exact_match")}


def load(path):
    with open(path) as text:
        return json.load(text)


def read(path):
    with open(path) as text:
        return text.read()


def size_of(name):
    """The column of published.tsv for a model's name, such as 3B for Carbon-3B, or None."""
    found = re.search(r"(?<![0-9.])(500M|3B|8B)(?![A-Za-z0-9])", name, re.IGNORECASE)
    return found and found.group(1).upper()


def published(path, size):
    """{(task, recipe, metric): number}"""
    with open(path, newline="") as lines:
        return {(row["task"], row["recipe"], row["metric"]): float(row[size]) for row in csv.DictReader(lines, delimiter="\t")
                if row.get(size)}


def interval(values):
    """A 95 % interval of the mean: Wilson's for shares of rows, else that of the normal distribution."""
    n, mean, z = len(values), sum(values) / len(values), 1.959963984540054
    if set(values) <= {0.0, 1.0}:
        middle, scale = (mean + z * z / (2 * n)), 1 + z * z / n
        half = z * math.sqrt(mean * (1 - mean) / n + z * z / (4 * n * n))
        return (0.0 if mean == 0 else (middle - half) / scale), (1.0 if mean == 1 else (middle + half) / scale)
    half = z * math.sqrt(sum((v - mean) ** 2 for v in values) / max(1, n - 1) / n)
    return mean - half, mean + half


def speed(stem, rows):
    """(rows per second, tokens per row) of the run that wrote STEM, None for what is not known.

    The time is that of the last attempt. If this went on from the scores of an earlier one, it says nothing about the speed.
    """
    log = read(stem + ".log")
    if "continuing: " in log:
        return None, None
    with open(stem + ".time.tsv", newline="") as lines:
        seconds = float(next(csv.DictReader(lines, delimiter="\t"))["s"])
    tokens = re.search(r"engine\] (\d+) tokens in ", log)
    return (rows / seconds if seconds > 0 else None), (int(tokens.group(1)) / rows if tokens else None)


def variant_rows(stem):
    """The rows of a recipe that scored variants, each without its task and recipe; and the lines on the model."""
    for path in sorted(glob.glob(stem + ".auroc/*.json")):
        found = load(path)
        counts = found["counts"]
        rate, tokens = speed(stem, counts["alleles"])
        for metric in VARIANT_METRICS:
            value = found["metrics"][metric]
            yield {"tag": found["score"].partition("_")[2], "metric": metric, "value": value["value"], "lower": value["low"],
                   "upper": value["high"], "used": counts["used"], "without_score": counts["missing_score"],
                   "rows_per_s": rate, "tokens_per_row": tokens}


def plugin_rows(stem, kind):
    metric, column = ROW_METRICS[kind]
    with open(stem + ".details.tsv", newline="") as lines:
        values = [float(row[column]) for row in csv.DictReader(lines, delimiter="\t")]
    found = load(stem + ".json")
    rate, tokens = speed(stem, len(values))
    lower, upper = interval(values)
    yield {"metric": metric, "value": found[metric], "lower": lower, "upper": upper, "used": len(values),
           "without_score": found.get("skipped", 0), "rows_per_s": rate, "tokens_per_row": tokens}


def compared(row, number):
    """The row with the published number beside it. A row "differs" only if that number is outside of the interval."""
    row["published"] = number
    known = number is not None and None not in (row["value"], row["lower"], row["upper"])
    row["difference"] = row["value"] - number if known else None
    row["verdict"] = None if not known else "within the interval" if row["lower"] <= number <= row["upper"] else "differs"
    return row


def main():
    config, table, report, *bench = sys.argv[1:]
    config = json.loads(config)
    name = os.path.basename(config["model"].rstrip("/"))
    size = config["published"] or size_of(name)
    numbers = published(config["table"], size)
    rows, made, tasks = [], [], {}
    for task, settings in config["tasks"].items():
        tasks[task] = {"kind": settings["kind"], "counts": load(f"{config['data']}/{task}.counts.json")}
        for recipe, words in settings["recipes"].items():
            stem = f"{config['out']}/{task}/{recipe}"
            of_variants = settings["kind"] == "variants"
            if of_variants:
                made += [line for line in read(stem + ".auroc/header.txt").splitlines() if re.match("##carbon_[a-z]+Model=", line)]
            for row in variant_rows(stem) if of_variants else plugin_rows(stem, settings["kind"]):
                tag = row.pop("tag", None)
                full = f"{recipe}:{tag}" if tag else recipe
                rows.append({"task": task, "recipe": full, "settings": words, **compared(row, numbers.get((task, full, row["metric"])))})
    version = subprocess.run(["carbon", "--version"], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    version = [line for line in version if "/" not in line]  # a line names folders in which the CUDA backend was sought
    with open(report, "w") as out:
        json.dump({"carbon": version, "model": name, "published": size,
                   **{key: config[key] for key in ("device", "dtype", "n", "seed", "bootstrap")},
                   "made_by": sorted(set(made)), "tasks": tasks, "rows": rows, "bench": load(bench[0]) if bench else None}, out, indent=1)
        out.write("\n")
    with open(table, "w") as out:
        print(*COLUMNS, sep="\t", file=out)
        for row in rows:
            cells = [row["rows_per_s" if column == "variants_per_s" else column] for column in COLUMNS]
            print(*("." if c is None else "%.6g" % c if isinstance(c, float) else c for c in cells), sep="\t", file=out)


if __name__ == "__main__":
    main()
