"""Densities as scipy fits them, and the best likelihoods that its optimiser finds."""

import numpy as np
from scipy import optimize, stats
from sparse import answer, question


def ln_asymmetric_laplace(x, mode, left, right):
    """From scipy's own density: left and right are the widths."""
    kappa = np.sqrt(left / right)
    return stats.laplace_asymmetric.logpdf(x, kappa, loc=mode, scale=np.sqrt(left * right))


def ln_sides(x, mode, left, right, left_loss, right_loss, area):
    distance = (x - mode) / np.where(x <= mode, left, right)
    return -np.where(x <= mode, left_loss(distance), right_loss(distance)) - np.log(area(left, right))


def square(z):
    return 0.5 * z * z


HALF = np.sqrt(np.pi / 2)


def ln_asymmetric_gauss(x, mode, left, right):
    return ln_sides(x, mode, left, right, square, square, lambda a, b: HALF * (a + b))


def ln_hybrid(x, mode, left, right):
    return ln_sides(x, mode, left, right, np.abs, square, lambda a, b: a + HALF * b)


def best(ln_pdf, scores, weights):
    """The greatest log-likelihood over many starts."""

    def loss(parameters):
        return -np.sum(weights * ln_pdf(scores, parameters[0], *np.exp(parameters[1:])))

    found = []
    for mode in np.quantile(scores, np.linspace(0.02, 0.98, 8)):
        start = [mode, np.log(np.std(scores)), np.log(np.std(scores))]
        options = {"xatol": 1e-10, "fatol": 1e-10, "maxiter": 4000}
        found.append(optimize.minimize(loss, start, method="Nelder-Mead", options=options).fun)
    return -min(found)


asked = question()
answers = []
for case in asked["cases"]:
    scores, weights = np.array(case["scores"]), np.array(case["weights"])
    repeated = np.repeat(scores, weights.astype(int))
    answers.append(
        {
            "gauss": [float(value) for value in stats.norm.fit(repeated)],
            "laplace": [float(value) for value in stats.laplace.fit(repeated)],
            "asymmetric_laplace": float(best(ln_asymmetric_laplace, scores, weights)),
            "asymmetric_gauss": float(best(ln_asymmetric_gauss, scores, weights)),
            "hybrid": float(best(ln_hybrid, scores, weights)),
        }
    )
answer(answers)
