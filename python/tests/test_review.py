"""What a reviewer found, held."""

import calibrant
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier


@pytest.mark.parametrize("values", [2, 5, 10])
@pytest.mark.parametrize("base", [LogisticRegression(), DecisionTreeClassifier()], ids=str)
def test_few_kinds_of_rows_are_observations_and_not_copies(values, base):
    """One-hot rows whose true probabilities alternate: held out by kind, they would come out the wrong way round."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, values, 4000)
    true = np.where(np.arange(values) % 2, 0.8, 0.2)
    y = (rng.random(4000) < true[kind]).astype(int)
    model = calibrant.CalibratedClassifier(base).fit(np.eye(values)[kind], y)
    np.testing.assert_allclose(model.predict_proba(np.eye(values))[:, 1], true, atol=0.07)


@pytest.mark.parametrize("of", ["float", "texts", "nullable", "object array"])
def test_copies_in_tables_of_any_kind_stay_together(of):
    """Labels drawn at random, every row twice: the nearest neighbour looks perfect only where copies are on both sides."""
    import pandas as pd

    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 1000, size=(300, 3)), 2, axis=0)
    y = np.repeat(rng.integers(0, 2, 300), 2)
    frame = pd.DataFrame(X, columns=list("abc")).astype(float)
    if of == "texts":
        frame["word"] = [f"w{row // 2}" for row in range(600)]
    if of == "nullable":
        frame["a"] = frame["a"].astype("Int64")
    rows = frame.to_numpy(dtype=object) if of == "object array" else frame
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline

    columns = [0, 1, 2] if of == "object array" else list("abc")
    base = make_pipeline(make_column_transformer(("passthrough", columns)), KNeighborsClassifier(1))
    model = calibrant.CalibratedClassifier(base).fit(rows, y)
    assert log_loss(y, model.calibrator_.cross_validated_) > 0.65


def test_an_ensemble_is_tried_by_a_curve_that_has_not_seen_the_fold():
    kept = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 100))
        y = (X[:, :5].sum(axis=1) + rng.normal(size=300) > 0).astype(int)
        kept += bool(calibrant.CalibratedClassifier(LinearSVC(), ensemble="auto").fit(X, y).ensemble_)
    assert kept >= 1


def test_unknown_labels_are_told(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    with pytest.raises(ValueError, match=r"previously unseen labels: \['eggs'\]"):
        model.evaluate(texts, ["eggs", *labels[1:]])
    numbers = calibrant.TextClassifier().fit(texts, np.array([1 if label == "spam" else 0 for label in labels]))
    assert numbers.evaluate(texts, [float(label == "spam") for label in labels]).documents == len(texts)


def test_several_labels_are_scored_by_the_models_classes():
    rng = np.random.default_rng(0)
    labels = [[word for word in ("b", "m", "s") if rng.random() < 0.5] for _ in range(200)]
    texts = [" ".join(own) + f" {number}" for number, own in enumerate(labels)]
    model = calibrant.TextClassifier().fit(texts, labels)
    only = [row for row, own in enumerate(labels) if own == ["b"]]
    assert model.score([texts[row] for row in only], [["b"]] * len(only)) > 0.9
    with pytest.raises(ValueError, match="unseen"):
        model.score(texts[:3], [["x"], ["y"], ["z"]])
    flags = np.array([[word in own for word in "bms"] for own in labels]).astype(int)
    assert model.score(texts, flags) > 0.9
    with pytest.raises(ValueError, match="column 2"):
        calibrant.TextClassifier().fit(texts, np.column_stack([flags[:, :2], np.zeros(200, dtype=int)]))


def test_a_fitted_classifier_keeps_its_classes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3))
    y = X.argmax(axis=1)
    base = LinearSVC().fit(X[:300], y[:300])
    with pytest.raises(ValueError, match="does not know"):
        calibrant.CalibratedClassifier(base, cv="prefit").fit(X[300:], y[300:] + 1)
    with pytest.raises(ValueError, match="pair of classes"):
        calibrant.CalibratedClassifier(SVC(decision_function_shape="ovo")).fit(X, y)
    from sklearn.model_selection import RepeatedStratifiedKFold

    with pytest.raises(ValueError, match="held out once"):
        calibrant.CalibratedClassifier(LinearSVC(), cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2)).fit(X, y)


def test_rows_of_weight_zero_are_not_there():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    weights = np.r_[np.ones(200), np.zeros(200)]
    some = calibrant.CalibratedClassifier(KNeighborsClassifier(1)).fit(X[:200], y[:200])
    noise = np.r_[y[:200], 1 - y[200:]]
    same = calibrant.CalibratedClassifier(KNeighborsClassifier(1)).fit(X, noise, sample_weight=weights)
    np.testing.assert_allclose(same.predict_proba(X), some.predict_proba(X))
    scores = calibrant.Calibrator("platt").fit(X[:, 0], noise, sample_weight=weights)
    assert scores.cross_validated_.shape == (400, 2)
    assert np.isnan(scores.cross_validated_[200:]).all()


def test_labels_of_two_types_are_refused():
    with pytest.raises(ValueError, match="mixes texts"):
        calibrant.TextClassifier().fit(["a", "b", "c"], [1, "1", 2])


def test_settings_may_be_numbers_of_numpy(mail):
    texts, labels = mail
    model = calibrant.TextClassifier(C=np.float32(1), folds=np.int64(3), min_df=np.int64(1)).fit(texts, labels)
    assert model.report_.folds == 3
    assert sum(action == "ask" for action in model.decide(texts, ask=np.float32(0.1))) == 20
    with pytest.raises(ValueError, match="finite"):
        calibrant.TextClassifier(C=float("nan")).fit(texts, labels)
    calibrant.TextVectorizer(min_df=np.int64(1)).fit(texts)
    assert calibrant.TextClassifier(random_state=np.random.default_rng(0)).fit(texts, labels).score(texts, labels) > 0.9


def test_what_needs_calibration_says_so():
    from sklearn.exceptions import ConvergenceWarning

    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (X[:, 0] + rng.normal(size=400) > 0).astype(int)
    model = calibrant.LinearSVM(calibrator=None).fit(X, y)
    for ask in (lambda: model.model_, lambda: model.report_, lambda: model.save("x"), lambda: model.evaluate(X, y)):
        with pytest.raises(AttributeError, match="calibrator=None"):
            ask()
    with pytest.warns(ConvergenceWarning):
        calibrant.LinearSVM(C=1e6, loss="hinge", calibrator=None, max_iter=1, tol=1e-12).fit(X, y)
    with pytest.raises(ValueError, match="entry per row"):
        calibrant.LinearSVM().fit(X, y, groups=[1, 2])


def test_star_import_leaves_open_alone():
    space = {}
    exec("from calibrant import *", space)
    assert "open" not in space
    assert calibrant.open


def test_categories_of_polars_and_pyarrow_are_texts(mail):
    import polars as pl
    import pyarrow as pa

    texts, labels = mail
    expected = calibrant.TextClassifier().fit(texts, labels).predict_proba(texts)
    for column in (
        pl.Series(texts, dtype=pl.Categorical),
        pa.array(texts).dictionary_encode(),
        pa.chunked_array([pa.array(texts).dictionary_encode()]),
    ):
        np.testing.assert_array_equal(calibrant.TextClassifier().fit(column, labels).predict_proba(column), expected)


def test_entries_that_come_twice_are_added_up():
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X = rng.random((200, 6)) * (rng.random((200, 6)) < 0.5)
    y = (X[:, 0] > 0.2).astype(int)
    whole = csr_matrix(X)
    twice = csr_matrix((np.repeat(whole.data / 2, 2), np.repeat(whole.indices, 2), whole.indptr * 2), shape=X.shape)
    np.testing.assert_allclose(
        calibrant.LinearSVM().fit(twice, y).predict_proba(twice), calibrant.LinearSVM().fit(whole, y).predict_proba(whole), rtol=1e-6
    )


def test_pools_of_threads_are_used_again():
    import threading

    before = calibrant.num_threads()
    for count in (1, 2, 1, 2, 1, 2):
        calibrant.set_num_threads(count)
        calibrant.num_threads()
    calibrant.set_num_threads(0)
    assert calibrant.num_threads() == before
    threads = [name for name in open_threads() if name.startswith("calibrant-")]
    # Other tests may have asked for three threads before.
    assert len(threads) <= 6 + before
    assert threading.active_count() < 50


def open_threads():
    from pathlib import Path

    return [(task / "comm").read_text().strip() for task in Path("/proc/self/task").iterdir()]
