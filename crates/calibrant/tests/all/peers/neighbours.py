"""scikit-learn's neighbours by cosine: similarities of the first few, and accuracy by two kinds of votes."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from sparse import answer, matrix, question

asked = question()
train, test = matrix(asked["train"]), matrix(asked["test"])
truth = np.array(asked["test_classes"])
model = KNeighborsClassifier(asked["k"], metric="cosine", algorithm="brute").fit(train, asked["train_classes"])
distances, neighbours = model.kneighbors(test)
classes = np.array(asked["train_classes"])[neighbours]


def accuracy(votes):
    table = np.zeros((len(truth), classes.max() + 1))
    for place in range(classes.shape[1]):
        np.add.at(table, (np.arange(len(truth)), classes[:, place]), votes[:, place])
    return float((table.argmax(axis=1) == truth).mean())


uniform = accuracy(np.ones_like(distances))
assert abs(uniform - (model.predict(test) == truth).mean()) < 1e-9
answer(
    {
        "similarities": (1.0 - distances[: asked["listed"]]).tolist(),
        "uniform": uniform,
        "similarity": accuracy(1.0 - distances),
    }
)
