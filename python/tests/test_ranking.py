"""The ranker: queries by number or by size, choices on held-out queries, probabilities of relevance."""

import pickle

import calibrant
import numpy as np
import pytest


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(4)
    qid = np.repeat(np.arange(60), 12)
    X = rng.normal(size=(720, 4)).astype(np.float32)
    y = (X[:, 0] - 0.5 * X[:, 1] + rng.normal(size=720) > 1.2).astype(int)
    return X, y, qid


def average_precision(scores, y, qid):
    found = []
    for query in np.unique(qid):
        own = np.flatnonzero(qid == query)
        relevant = y[own][np.argsort(-scores[own], kind="stable")]
        if relevant.any():
            ranks = np.flatnonzero(relevant) + 1
            found.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return np.mean(found)


def test_it_ranks_better_than_the_best_column(judged):
    X, y, qid = judged
    train = qid < 40
    ranker = calibrant.Ranker().fit(X[train], y[train], qid=qid[train])
    ours = average_precision(ranker.predict(X[~train]), y[~train], qid[~train])
    assert ours > average_precision(X[~train][:, 0], y[~train], qid[~train]) + 0.02
    assert ranker.report_.training_map > 0.5


def test_queries_by_number_in_any_order_or_by_size(judged):
    X, y, qid = judged
    expected = calibrant.Ranker(C=0.1, bins=0).fit(X, y, qid=qid)
    by_size = calibrant.Ranker(C=0.1, bins=0).fit(X, y, group=np.full(60, 12))
    np.testing.assert_array_equal(by_size.predict(X), expected.predict(X))
    said = expected.predict_relevance(X, qid=qid)
    assert ((said > 0) & (said < 1)).all()
    assert abs(said.mean() - y.mean()) < 0.05
    order = np.random.default_rng(0).permutation(len(y))
    np.testing.assert_allclose(expected.predict_relevance(X[order], qid=qid[order]), said[order], rtol=1e-12)


def test_pickles_files_and_losses(judged, tmp_path):
    X, y, qid = judged
    for loss in ("map", "ndcg@5", "roc", "pairs"):
        ranker = calibrant.Ranker(loss, C=0.1, bins=0).fit(X, y, qid=qid)
        assert average_precision(ranker.predict(X), y, qid) > 0.5
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))
    ranker.save(tmp_path / "ranking.calibrant")
    assert (tmp_path / "ranking.calibrant").stat().st_size > 100


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y, qid: {"qid": qid, "group": [12] * 60}, "either qid"),
        (lambda X, y, qid: {}, "either qid"),
        (lambda X, y, qid: {"group": [12] * 59}, "sum to 708, not 720"),
        (lambda X, y, qid: {"qid": qid[:-1]}, "entry per row"),
    ],
)
def test_queries_that_do_not_fit_are_told(judged, change, words):
    X, y, qid = judged
    with pytest.raises(ValueError, match=words):
        calibrant.Ranker().fit(X, y, **change(X, y, qid))
    with pytest.raises(ValueError, match="whole numbers"):
        calibrant.Ranker().fit(X, y + 0.5, qid=qid)
    with pytest.raises(calibrant.CalibrantError):
        calibrant.Ranker("best").fit(X, y, qid=qid)
