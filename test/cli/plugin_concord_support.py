"""What the tests of +concord compare with: the definitions in plain Python, and scipy and scikit-learn. Not a test."""

import math

from harness import Skip


def average_ranks(values):
    return [sum(w < v for w in values) + (sum(w == v for w in values) + 1) / 2 for v in values]


def plain_pearson(x, y):
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    xx, yy = math.fsum((v - mx) ** 2 for v in x), math.fsum((v - my) ** 2 for v in y)
    return math.fsum((v - mx) * (w - my) for v, w in zip(x, y)) / math.sqrt(xx * yy)


def plain_overlap(x, y, percent):
    count = -(-len(x) * percent // 100)
    low = [set(sorted(range(len(v)), key=lambda i: v[i])[:count]) for v in (x, y)]  # sorted() keeps the order of ties
    return len(low[0] & low[1]) / count


def plain_auroc(scores, labels):
    positive, negative = [s for s, l in zip(scores, labels) if l], [s for s, l in zip(scores, labels) if not l]
    if not positive or not negative:
        return None
    return sum((p > n) + (p == n) / 2 for p in positive for n in negative) / (len(positive) * len(negative))


def plain_precision(scores, labels):
    """AUPRC by trapezoids and average precision."""
    auprc = average = 0.0
    recall, precision = 0.0, 1.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = [l for s, l in zip(scores, labels) if s >= threshold]
        new_recall, new_precision = sum(chosen) / sum(labels), sum(chosen) / len(chosen)
        auprc += (new_recall - recall) * (new_precision + precision) / 2
        average += (new_recall - recall) * new_precision
        recall, precision = new_recall, new_precision
    return auprc, average


def plain(a, b, labels=None):
    out = {"n": len(a), "pearson": plain_pearson(a, b), "spearman": plain_pearson(average_ranks(a), average_ranks(b)),
           "mean_abs_diff": math.fsum(abs(x - y) for x, y in zip(a, b)) / len(a), "max_abs_diff": max(abs(x - y) for x, y in zip(a, b)),
           "overlap_1": plain_overlap(a, b, 1), "overlap_5": plain_overlap(a, b, 5)}
    for name, scores in (("a", a), ("b", b)) if labels else ():
        out["auroc_" + name] = plain_auroc(scores, labels)
        out["auprc_" + name], out["average_precision_" + name] = plain_precision(scores, labels)
    return out


def by_libraries(a, b, labels):
    try:
        from scipy.stats import pearsonr, spearmanr
        from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score
    except ImportError:
        raise Skip("no scikit-learn; compared with the definitions in Python only")
    out = {"pearson": pearsonr(a, b)[0], "spearman": spearmanr(a, b)[0]}
    for name, scores in (("a", a), ("b", b)):
        precision, recall, _ = precision_recall_curve(labels, scores)
        out.update({"auroc_" + name: roc_auc_score(labels, scores), "auprc_" + name: auc(recall, precision),
                    "average_precision_" + name: average_precision_score(labels, scores)})
    return out


def quantile(values, share):
    at = share * (len(values) - 1)
    return values[int(at)] + (at - int(at)) * (values[min(int(at) + 1, len(values) - 1)] - values[int(at)])
