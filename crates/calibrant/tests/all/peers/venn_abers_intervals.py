"""Venn-Abers prediction as the package venn-abers does it."""

import numpy as np
from sparse import answer, question
from venn_abers import VennAbers
from venn_abers.venn_abers import geo_mean


def two_columns(scores):
    scores = np.array(scores)
    return np.column_stack((1 - scores, scores))


answers = []
for case in question()["cases"]:
    folds = np.array(case["folds"])
    scores, labels = two_columns(case["scores"]), np.array(case["labels"], dtype=int)
    lower, upper = [], []
    for fold in np.unique(folds):
        part = folds == fold
        peer = VennAbers()
        peer.fit(scores[part], labels[part])
        merged, ends = peer.predict_proba(two_columns(case["asked"]))
        lower.append(ends[:, 0])
        upper.append(ends[:, 1])
    if len(lower) > 1:
        below, above = geo_mean(1 - np.column_stack(lower)), geo_mean(np.column_stack(upper))
        answers.append({"merged": (above / (below + above)).tolist()})
    else:
        answers.append({"merged": merged[:, 1].tolist(), "lower": lower[0].tolist(), "upper": upper[0].tolist()})
answer(answers)
