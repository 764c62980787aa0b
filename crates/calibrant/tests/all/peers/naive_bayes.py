"""Joint log-probabilities of scikit-learn's naive Bayes on the rows that it learned from."""

import numpy as np
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sparse import answer, matrix, question

KINDS = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB, "complement": ComplementNB}

asked = question()
rows = matrix(asked["rows"])
answers = []
for case in asked["cases"]:
    labels = np.array(case["labels"])
    settings = {"alpha": case["alpha"]}
    if case["prior"] is not None:
        settings["class_prior"] = case["prior"]
    model = KINDS[case["kind"]](**settings)
    model.fit(rows, labels, sample_weight=np.array(asked["weights"]))
    # The public way: BernoulliNB makes zeros and ones of counts on it.
    answers.append(model.predict_joint_log_proba(rows).ravel().tolist())
answer(answers)
