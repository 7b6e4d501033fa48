"""Random labelled scores on which +auroc is compared with scikit-learn. Not a test.

A case is a list of sites (chromosome, [(score, label)] an ALT); None is a missing value. Scores have three decimals, so
that single precision keeps their order and their ties.
"""

import random


def sites(seed, count, chromosomes, decimals, positive=0.3, missing=0.0, effect=1.0, one_class=()):
    rng = random.Random(seed)
    out = []
    for i in range(count):
        chromosome = "chr%d" % (i * chromosomes // count + 1)
        alleles = []
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            label = int(rng.random() < positive)
            if chromosome in one_class:
                label = one_class[chromosome]
            score = round(rng.gauss(effect * label, 1), decimals)
            alleles.append((None if rng.random() < missing else score, None if rng.random() < missing else label))
        out.append((chromosome, alleles))
    return out


CASES = {
    "no ties": sites(1, 150, 1, 3),
    "ties": sites(2, 400, 3, 1),
    "heavy ties": sites(3, 300, 2, 0, effect=2.0),
    "missing values": sites(4, 300, 4, 1, missing=0.2),
    "one class on some chromosomes": sites(5, 400, 5, 1, one_class={"chr2": 0, "chr4": 1}),
    "rare positives": sites(6, 900, 6, 2, positive=0.02),
    "no signal": sites(7, 200, 1, 1, effect=0.0),
    "one row of a class": sites(8, 40, 1, 0, one_class={"chr1": 0}) + [("chr1", [(1.0, 1)])],
}


def rows(case):
    """(chromosome, score, label) of the alleles that have both."""
    return [(chromosome, score, label) for chromosome, alleles in case for score, label in alleles
            if score is not None and label is not None]


def with_sklearn(case):
    """The metrics by scikit-learn and scipy, under +auroc's names."""
    import numpy as np
    from scipy.stats import spearmanr
    from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score

    table = rows(case)
    chromosomes = np.array([c for c, _, _ in table])
    scores = np.array([s for _, s, _ in table])
    labels = np.array([l for _, _, l in table])

    def trapezoid(y, s):
        precision, recall, _ = precision_recall_curve(y, s)
        return auc(recall, precision)

    measures = {"auroc": roc_auc_score, "auprc": trapezoid, "average_precision": average_precision_score}
    out = {name: float(f(labels, scores)) for name, f in measures.items()}
    parts = [chromosomes == c for c in dict.fromkeys(chromosomes)]
    parts = [p for p in parts if 0 < labels[p].sum() < p.sum()]
    for name, f in measures.items():
        weights = [p.sum() for p in parts]
        out[name + "_by_chrom"] = float(np.average([f(labels[p], scores[p]) for p in parts], weights=weights)) if parts else None
    out["spearman"] = float(spearmanr(scores, labels).statistic)
    return out
