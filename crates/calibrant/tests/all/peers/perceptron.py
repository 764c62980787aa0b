"""The accuracy of scikit-learn's Perceptron, the mean of three seeds, for each problem."""

import numpy as np
from sklearn.linear_model import Perceptron
from sparse import answer, matrix, question

asked = question()
train, test = matrix(asked["train"]), matrix(asked["test"])
answers = []
for problem in asked["problems"]:
    models = [Perceptron(random_state=seed).fit(train, problem["train"]) for seed in range(3)]
    truth = np.array(problem["test"])
    answers.append(float(np.mean([(model.predict(test) == truth).mean() for model in models])))
answer(answers)
