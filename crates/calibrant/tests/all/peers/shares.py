"""Shares by labels and predictions, by ppi-python."""

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from sparse import answer, question


def one(case):
    labels, predictions, others = (np.array(case[key]) for key in ("labels", "predictions", "others"))
    found = []
    for weight in [None, 0.0, 0.5, 1.0]:
        mean = ppi_mean_pointestimate(labels, predictions, others, lam=weight)
        low, high = ppi_mean_ci(labels, predictions, others, alpha=0.05, lam=weight)
        found.append([float(np.squeeze(number)) for number in (mean, low, high)])
    return found


answer([one(case) for case in question()])
