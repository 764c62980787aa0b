"""Net benefit as the package dcurves computes it (version 1.1.7, dca.py): rates among those with and without the outcome, times
their share; written out here, since the package brings survival models and plots along."""

import numpy as np
from sparse import answer, question

asked = question()
stated, truth = np.array(asked["stated"]), np.array(asked["truth"])
prevalence = truth.mean()
benefit, everybody = [], []
for threshold in asked["thresholds"]:
    # dcurves counts risks at or above the threshold.
    true_positive = np.mean(stated[truth] >= threshold) * prevalence
    false_positive = np.mean(stated[~truth] >= threshold) * (1 - prevalence)
    odds = threshold / (1 - threshold)
    benefit.append(true_positive - odds * false_positive)
    everybody.append(prevalence - odds * (1 - prevalence))
answer({"benefit": benefit, "all": everybody})
