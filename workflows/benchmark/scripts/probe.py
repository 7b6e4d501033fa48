"""probe.py [--undirected] [--blocks N] STEM LABELS: a linear probe on the states that `carbon vep --embeddings STEM.npy` wrote.

LABELS is a table of CHROM, POS, REF, ALT and 1 or 0, as bcftools query prints it. Each chromosome in turn is left out, a logistic
regression is trained on the others, and the variants of the one left out get their probability of 1, so that no variant is judged
by a probe that has seen it. How strongly the regression is held back is chosen within the chromosomes that are left. On standard
output: CHROM, POS, REF, ALT, PROBE, for bcftools annotate.

--undirected  for traits that do not say which allele matters: features that stay the same when REF and ALT are exchanged
--blocks N    for variants of one chromosome: N stretches of it with equally many variants stand for chromosomes

Needs numpy and scikit-learn (Debian: python3-numpy, python3-sklearn).
"""

import argparse
import csv
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

STRENGTHS = [10.0 ** power for power in range(-6, 1)]


def features(rows, undirected):
    """Of rows [n, 2 * hidden], REF first: the state of one allele and how the other one changes it."""
    ref, alt = np.split(rows.astype(np.float32), 2, axis=1)
    return np.hstack([ref + alt, np.abs(alt - ref)] if undirected else [ref, alt - ref])


def groups_of(places, blocks):
    """For each (chromosome, position) the number of what is left out together."""
    if not blocks:
        return np.unique([chrom for chrom, _ in places], return_inverse=True)[1]
    order = sorted(range(len(places)), key=lambda i: places[i])
    groups = np.empty(len(places), int)
    groups[order] = np.arange(len(places)) * blocks // len(places)
    return groups


def probabilities(x, y, groups):
    """P(1) of each row by a probe that has not seen its group."""
    found = np.full(len(y), np.nan)
    for seen, unseen in LeaveOneGroupOut().split(x, y, groups):
        probe = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced"))
        folds = GroupKFold(min(5, len(set(groups[seen]))))
        search = GridSearchCV(probe, {"logisticregression__C": STRENGTHS}, scoring="roc_auc", cv=folds)
        search.fit(x[seen], y[seen], groups=groups[seen])
        found[unseen] = search.predict_proba(x[unseen])[:, 1]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--undirected", action="store_true")
    parser.add_argument("--blocks", type=int, default=0)
    parser.add_argument("stem")
    parser.add_argument("labels")
    args = parser.parse_args()
    with open(args.labels, newline="") as lines:
        labels = {tuple(line[:4]): int(line[4]) for line in csv.reader(lines, delimiter="\t") if line[4] in "01"}
    with open(args.stem + ".variants.tsv", newline="") as lines:
        variants = [line for line in csv.DictReader(lines, delimiter="\t")]
    keys = [(v["#CHROM"], v["POS"], v["REF"], v["ALT"]) for v in variants]
    known = [i for i, key in enumerate(keys) if key in labels]
    places = [(keys[i][0], int(keys[i][1])) for i in known]
    groups = groups_of(places, args.blocks)
    if len(set(groups)) < 3:
        sys.exit("probe.py: at least three chromosomes with labels are needed, or --blocks")
    x = features(np.load(args.stem + ".npy", mmap_mode="r")[known], args.undirected)
    y = np.array([labels[keys[i]] for i in known])
    for i, p in sorted(zip(known, probabilities(x, y, groups)), key=lambda pair: (keys[pair[0]][0], int(keys[pair[0]][1]))):
        print(*keys[i], "%.6g" % p, sep="\t")


if __name__ == "__main__":
    main()
