"""The objective that LIBLINEAR reaches beside the objective at our weights, by one and the same formula."""

import numpy as np
import scipy.sparse
from liblinear.liblinearutil import train
from sparse import answer, matrix, question

# LIBLINEAR's numbers: dual and, where there is one, primal.
SOLVERS = {"hinge": [3], "squared_hinge": [1, 2], "logistic": [7, 0]}


def loss(kind, margins):
    if kind == "hinge":
        return np.maximum(0.0, 1.0 - margins)
    if kind == "squared_hinge":
        return np.maximum(0.0, 1.0 - margins) ** 2
    return np.logaddexp(0.0, -margins)


def objective(kind, rows, signs, costs, weights, bias):
    margins = signs * (rows @ weights + bias)
    return 0.5 * (weights @ weights + bias * bias) + costs @ loss(kind, margins)


asked = question()
rows = matrix(asked["rows"])
times = np.array(asked["weights"], dtype=int)  # LIBLINEAR knows no weights: rows are repeated
repeated = np.repeat(np.arange(len(times)), times)
many_rows = scipy.sparse.csr_matrix(rows[repeated])
answers = []
for case in asked["cases"]:
    kind, c = case["loss"], case["c"]
    signs = np.where(np.array(case["labels"]), 1.0, -1.0)
    ours = objective(kind, rows, signs, c * times, np.array(case["weights"]), case["bias"])
    theirs = []
    for solver in SOLVERS[kind]:
        model = train(signs[repeated], many_rows, f"-s {solver} -c {c} -B 1 -e {asked['tolerance']} -q")
        weights, bias = model.get_decfun()
        # The function decides for the label that came first.
        sign = 1.0 if model.get_labels()[0] == 1 else -1.0
        theirs.append(objective(kind, rows, signs, c * times, sign * np.array(weights), sign * bias))
    answers.append({"ours": ours, "theirs": theirs})
answer(answers)
