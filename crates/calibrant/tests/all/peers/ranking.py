"""Measures of rankings by pytrec_eval, and tests of differences by scipy."""

import numpy as np
import pytrec_eval
from scipy.stats import permutation_test, ttest_1samp
from sparse import answer, question

asked = question()


def by_trec_eval(case):
    """The values of every query, by the names of trec_eval."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        case["qrels"], pytrec_eval.supported_measures, relevance_level=case["relevant_from"]
    )
    return evaluator.evaluate(case["run"])


def mean(values, axis):
    return np.mean(values, axis=axis)


def swaps(differences):
    """The chance of a mean as far from zero, every way of swapping counted."""
    found = permutation_test((np.array(differences),), mean, permutation_type="samples", n_resamples=np.inf, vectorized=True)
    return float(found.pvalue)


answer(
    {
        "queries": [by_trec_eval(case) for case in asked["cases"]],
        "t": [float(ttest_1samp(np.array(case), 0.0).pvalue) for case in asked["differences"]],
        "swaps": [swaps(case) for case in asked["differences"] if len(case) <= 12],
    }
)
