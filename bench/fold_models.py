"""Would the mean of the fold models serve better than one model of all documents?

    OMP_NUM_THREADS=1 python bench/fold_models.py [--sizes 300,1000] [--draws N]

Linear SVMs over log tf-idf, five folds whose vocabulary and document frequencies are their own, as `calibrant fit` has them. One
temperature and ridge-shrunk intercepts are fitted to the held-out scores. They are applied to the scores of one model of all
documents, and to the mean of the five fold models' scores. A last pair of columns gives both the best temperature in hindsight, on
the test documents: what the scores themselves are worth, however well they are calibrated. Corpora that choose constants alone.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from defaults_splits import Corpus

CORPORA = ["imdb", "sms_spam", "newsgroups", "debian_sections", "r52"]
FOLDS, RIDGE = 5, 0.05


def fitted(texts, labels, class_count):
    """Scores of texts, one a class, by a model of some of them."""
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    model = LinearSVC(C=0.5, random_state=0).fit(vectorizer.fit_transform(texts), labels)

    def scores(others):
        margins = model.decision_function(vectorizer.transform(others))
        if margins.ndim == 1:
            margins = np.column_stack([-margins / 2, margins / 2])
        # A class that the fold does not know is as unlikely as a margin of -1 says.
        table = np.full((len(others), class_count), -1.0)
        table[:, model.classes_] = margins
        return table

    return scores


def log_loss(weights, labels):
    return np.mean(logsumexp(weights, axis=1) - weights[np.arange(len(labels)), labels])


def calibrated(scores, labels):
    """A temperature and intercepts of least log loss, the intercepts held to zero."""

    def loss(parameters):
        weights = np.exp(parameters[0]) * scores + parameters[1:]
        return log_loss(weights, labels) + RIDGE * np.sum(parameters[1:] ** 2) / len(labels)

    return minimize(loss, np.zeros(1 + scores.shape[1]), method="L-BFGS-B").x


def cell(corpus, size, draw):
    training, test = corpus.split(size, draw)
    texts = [corpus.texts[row] for row in training]
    names, labels = np.unique([corpus.labels[row] for row in training], return_inverse=True)
    number = {name: place for place, name in enumerate(names)}
    test = [row for row in test if corpus.labels[row] in number]
    truths = np.array([number[corpus.labels[row]] for row in test])
    others = [corpus.texts[row] for row in test]
    held_out, of_folds = np.empty((len(texts), len(names))), []
    for learned, left_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(texts, labels):
        scores = fitted([texts[row] for row in learned], labels[learned], len(names))
        held_out[left_out] = scores([texts[row] for row in left_out])
        of_folds.append(scores(others))
    parameters = calibrated(held_out, labels)
    outcomes = []
    for scores in [fitted(texts, labels, len(names))(others), np.mean(of_folds, axis=0)]:
        weights = np.exp(parameters[0]) * scores + parameters[1:]
        hindsight = minimize_scalar(lambda z: log_loss(np.exp(z) * weights, truths), bounds=(-1, 1), method="bounded")
        outcomes += [log_loss(weights, truths), hindsight.fun]
    return outcomes


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--prepared", default="target/corpora", type=Path)
    arguments.add_argument("--release", help="unused: nothing of ours is run")
    arguments.add_argument("--sizes", default="300,1000")
    arguments.add_argument("--draws", default=5, type=int)
    options = arguments.parse_args()
    warnings.filterwarnings("ignore")
    print("| corpus | training | one model | mean of folds | ratio | in hindsight: one | mean | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in CORPORA:
        corpus = Corpus(options.prepared, name)
        for size in map(int, options.sizes.split(",")):
            draws = np.array([cell(corpus, size, draw) for draw in range(options.draws)])
            one, best_one, mean, best_mean = draws.mean(axis=0)
            ratio, best_ratio = (draws[:, 2] / draws[:, 0]).mean(), (draws[:, 3] / draws[:, 1]).mean()
            print(f"| {name} | {size} | {one:.4f} | {mean:.4f} | {ratio:.3f} | {best_one:.4f} | {best_mean:.4f} | {best_ratio:.3f} |", flush=True)


if __name__ == "__main__":
    main()
