"""Class probabilities from the probabilities of a code's columns, by scipy's least squares with signs."""

import numpy as np
from scipy.optimize import minimize, nnls
from sparse import answer, question

asked = question()
answers = []
for case in asked["cases"]:
    code = np.array(case["code"]).reshape(case["class_count"], -1)
    equations = (code.T == 1).astype(float)
    by_nnls, by_slsqp = [], []
    for target in case["targets"]:
        target = np.array(target)
        # The sum is one because the equation that says so weighs far more than all others.
        heavy = 1e5
        stacked = np.vstack([equations, np.full((1, code.shape[0]), heavy)])
        solution, _ = nnls(stacked, np.append(target, heavy), maxiter=10_000)
        by_nnls.append((solution / solution.sum()).tolist())
        start = np.full(code.shape[0], 1 / code.shape[0])
        found = minimize(
            lambda z: ((equations @ z - target) ** 2).sum(),
            start,
            jac=lambda z: 2 * equations.T @ (equations @ z - target),
            bounds=[(0, 1)] * code.shape[0],
            constraints={"type": "eq", "fun": lambda z: z.sum() - 1, "jac": lambda z: np.ones_like(z)},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 1000},
        )
        by_slsqp.append(float(found.fun))
    answers.append({"solutions": by_nnls, "squared_errors": by_slsqp})
answer(answers)
