"""The matrix estimators keep scikit-learn's manners."""

import pickle

import calibrant
import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

# What is expected to fail, and why.
BY_DESIGN = {
    "check_class_weight_classifiers": "class weights count in training alone: probabilities refer to the rows as they are",
}
TO_A_GAP = {
    "check_sample_weight_equivalence_on_dense_data": "solved to a relative gap of 1e-4, and the check asks for seven digits",
    "check_sample_weight_equivalence_on_sparse_data": "solved to a relative gap of 1e-4, and the check asks for seven digits",
}
OF_COUNTS = {
    "check_decision_proba_consistency": "the check draws negative numbers, and naive Bayes needs counts",
}
OF_PRESENCE = {
    **OF_COUNTS,
    "check_sample_weight_equivalence_on_dense_data": "all rows look alike to a model of presence: nothing can be held out",
    "check_sample_weight_equivalence_on_sparse_data": "all rows look alike to a model of presence: nothing can be held out",
}


def expected_failures(estimator):
    if isinstance(estimator, calibrant.NaiveBayes):
        return OF_PRESENCE if estimator.kind == "bernoulli" else OF_COUNTS
    if isinstance(estimator, (calibrant.LinearSVM, calibrant.LogisticRegression)):
        return TO_A_GAP if estimator.calibrator is None else BY_DESIGN
    return {}


ALL = [
    calibrant.LinearSVM(),
    calibrant.LogisticRegression(),
    calibrant.LinearSVM(calibrator=None),
    calibrant.LogisticRegression(calibrator=None),
    calibrant.NaiveBayes(),
    calibrant.NaiveBayes("bernoulli"),
    calibrant.NaiveBayes("complement"),
    calibrant.Rocchio(),
    calibrant.NearestNeighbours(),
    calibrant.AdaBoostStumps(rounds=10),
    calibrant.Perceptron(),
    calibrant.OutputCode(),
]


@parametrize_with_checks(ALL, expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    return make_classification(600, 12, n_informative=6, n_classes=3, flip_y=0.1, random_state=3)


CALIBRATED = [estimator for estimator in ALL if estimator.calibrator is not None]


@pytest.mark.parametrize("estimator", CALIBRATED, ids=str)
def test_probabilities_beat_the_shares_of_classes(estimator, problem):
    X, y = problem
    X = X - X.min()
    model = clone(estimator).fit(X[:400], y[:400])
    said = model.predict_proba(X[400:])
    assert said.shape == (200, 3)
    np.testing.assert_allclose(said.sum(axis=1), 1.0, atol=1e-12)
    assert (said > 0).all()
    assert (said < 1).all()
    if not isinstance(estimator, calibrant.NaiveBayes):
        assert log_loss(y[400:], said) < np.log(3)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X[400:])), said, rtol=1e-9)


def test_rows_may_be_dense_or_sparse_and_of_any_width_of_numbers(problem):
    X, y = problem
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    expected = calibrant.LinearSVM().fit(X, y).predict_proba(X)
    sparse = csr_matrix(X)
    wide = sparse.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for other in (X.astype(np.float64), sparse, sparse.astype(np.float64), wide, csr_array(sparse), np.asfortranarray(X), X.tolist()):
        # Dense rows are solved in the primal and sparse ones in the dual, both to a small gap.
        np.testing.assert_allclose(calibrant.LinearSVM().fit(other, y).predict_proba(other), expected, atol=0.01)


@pytest.mark.parametrize("estimator", [*CALIBRATED, calibrant.LinearSVM(calibrator=None)], ids=str)
def test_columns_may_stand_in_any_order_and_come_twice(estimator, problem):
    X, y = problem
    tidy = csr_matrix(np.where(X > 0.5, np.round(X * 8) / 8, 0.0))
    starts, columns, values = [0], [], []
    for row in range(len(y)):
        own = slice(tidy.indptr[row], tidy.indptr[row + 1])
        # Backwards, each number as two halves.
        columns += [column for column in reversed(tidy.indices[own].tolist()) for _ in range(2)]
        values += [value / 2 for value in reversed(tidy.data[own].tolist()) for _ in range(2)]
        starts.append(len(columns))
    untidy = csr_matrix((values, columns, starts), shape=tidy.shape)
    before = untidy.indices.copy()
    said, expected = (clone(estimator).fit(rows, y).decision_function(rows) for rows in (untidy, tidy))
    # Solvers end at a gap, and sums in another order may end them at another pass.
    np.testing.assert_allclose(said, expected, rtol=0.02, atol=0.02)
    np.testing.assert_array_equal(untidy.indices, before)
    np.testing.assert_allclose(clone(estimator).fit(tidy, y).decision_function(untidy), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("estimator", CALIBRATED, ids=str)
def test_pickles_and_copies_say_the_same(estimator, problem):
    X, y = problem
    X = X - X.min()
    model = clone(estimator).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert calibrant.Model.from_bytes(model.model_.to_bytes()).class_names == ["0", "1", "2"]


def test_a_weight_of_two_is_the_row_twice(problem):
    X, y = problem
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 4, len(y))
    once = calibrant.LinearSVM().fit(X, y, sample_weight=weights)
    often = calibrant.LinearSVM().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(once.predict_proba(X), often.predict_proba(X), rtol=1e-7)


def test_the_order_of_rows_and_the_number_of_threads_make_no_difference(problem):
    X, y = problem
    order = np.random.default_rng(1).permutation(len(y))
    before = calibrant.num_threads()
    try:
        calibrant.set_num_threads(1)
        one = calibrant.LinearSVM().fit(X, y)
        calibrant.set_num_threads(3)
        three = calibrant.LinearSVM().fit(X[order], y[order])
    finally:
        calibrant.set_num_threads(0)
    assert calibrant.num_threads() == before
    np.testing.assert_allclose(one.predict_proba(X), three.predict_proba(X), rtol=1e-6)


def test_labels_of_any_kind_come_back_as_they_were(problem):
    X, y = problem
    for labels in (np.array(["b", "a", "c"])[y], y * 10 + 5, y.astype(float), np.array([True, False])[(y > 0).astype(int)]):
        model = calibrant.LinearSVM().fit(X, labels)
        assert model.classes_.dtype == np.asarray(labels).dtype
        assert set(model.predict(X)) <= set(labels.tolist())
        # Ten comes before nine in the order of names, not in that of numbers.
        assert model.score(X, labels) > 0.6


def test_several_labels_as_indicators_or_lists(problem):
    X, y = problem
    flags = np.column_stack([y == 0, y < 2, X[:, 0] > 0]).astype(int)
    model = calibrant.LinearSVM().fit(X, flags)
    assert model.predict_proba(X).shape == (len(y), 3)
    assert model.predict(X).shape == flags.shape
    assert (model.predict(X) == flags).mean() > 0.8
    lists = [[name for name, flag in zip("abc", row, strict=True) if flag] for row in flags]
    # Other names, other folds: the same but for those.
    np.testing.assert_allclose(calibrant.LinearSVM().fit(X, lists).predict_proba(X), model.predict_proba(X), atol=0.05)


def test_it_is_at_home_in_searches_pipelines_and_tables(problem):
    import pandas as pd

    X, y = problem
    grid = GridSearchCV(calibrant.LinearSVM(), {"C": [0.1, 1.0]}, scoring="neg_log_loss", cv=3).fit(X, y)
    assert grid.best_params_["C"] in (0.1, 1.0)
    assert cross_val_score(make_pipeline(StandardScaler(), calibrant.LogisticRegression()), X, y, cv=3).mean() > 0.5
    frame = pd.DataFrame(X, columns=[f"f{number}" for number in range(12)])
    model = calibrant.LinearSVM().fit(frame, y)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    explanation = model.explain(frame[:1])[0]
    assert {term["term"] for term in explanation.terms} <= set(frame.columns)
    total = explanation.base_log_odds + sum(term["log_odds"] for term in explanation.terms)
    assert abs(total - explanation.calibrated_log_odds) < 1e-9


def test_groups_are_never_divided():
    """Rows that all repeat their group's own label can be told apart only by the group: held-out forecasts know nothing."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(60), 10)
    y = rng.integers(0, 2, 60)[group]
    X = np.eye(60)[group] + 0.01 * rng.normal(size=(600, 60))
    alone = calibrant.LinearSVM().fit(X, y).report_.held_out.log_loss
    together = calibrant.LinearSVM().fit(X, y, groups=group).report_.held_out.log_loss
    assert alone < 0.1
    assert together > 0.6


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("classes", [2, 3])
def test_without_calibration_the_problem_of_liblinear_is_solved(problem, loss, classes):
    from sklearn.svm import LinearSVC

    X, y = problem
    X, y = X[y < classes], y[y < classes]
    peer = LinearSVC(C=0.5, loss=loss, dual=True, tol=1e-8, max_iter=200_000, random_state=0).fit(X, y)
    for rows in (X, csr_matrix(X), X.astype(np.float32)):
        own = calibrant.LinearSVM(C=0.5, loss=loss, calibrator=None, tol=1e-8, max_iter=20_000).fit(rows, y)
        np.testing.assert_allclose(own.coef_, peer.coef_, atol=2e-3)
        np.testing.assert_allclose(own.intercept_, peer.intercept_, atol=2e-3)
        assert (own.predict(X) == peer.predict(X)).mean() > 0.995
        assert not hasattr(own, "predict_proba")
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(again.decision_function(X), own.decision_function(X))


def test_without_calibration_logistic_regression_is_scikit_learns(problem):
    from sklearn.linear_model import LogisticRegression

    X, y = problem
    X, y = X[y < 2], y[y < 2]
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    peer = LogisticRegression(C=0.3, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weights)
    for rows in (X, csr_matrix(X), X.astype(np.float32)):
        own = calibrant.LogisticRegression(C=0.3, calibrator=None, tol=1e-10).fit(rows, y, sample_weight=weights)
        np.testing.assert_allclose(own.coef_, peer.coef_, atol=2e-3)
        np.testing.assert_allclose(own.intercept_, peer.intercept_, atol=2e-3)


def test_metadata_is_routed(problem):
    import sklearn
    from sklearn.model_selection import GroupKFold, cross_validate

    X, y = problem
    groups = np.arange(len(y)) // 3
    with sklearn.config_context(enable_metadata_routing=True):
        model = calibrant.LinearSVM().set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
        found = cross_validate(model, X, y, cv=GroupKFold(3), params={"sample_weight": np.ones(len(y)), "groups": groups})
    assert found["test_score"].mean() > 0.5


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda X, y: (X[:, :0], y), ValueError, "0 feature"),
        (lambda X, y: (X[:-1], y), ValueError, "inconsistent numbers of samples"),
        (lambda X, y: (np.where(X.max() == X, np.nan, X), y), ValueError, "NaN"),
        (lambda X, y: (np.where(X.max() == X, 1e300, X), y), ValueError, "too large"),
        (lambda X, y: (X, np.zeros_like(y)), ValueError, "class"),
        (lambda X, y: (X, X[:, 0]), ValueError, "continuous"),
        (lambda X, y: (X, [None, *y[1:]]), ValueError, "None|NaN|unknown"),
        (lambda X, y: ([[1.0], [2.0, 3.0]], [0, 1]), ValueError, "inhomogeneous|sequence"),
        (lambda X, y: (X.astype(complex), y), ValueError, "omplex"),
        (lambda X, y: (np.full(X.shape, "a"), y), ValueError, "convert"),
    ],
)
def test_wrong_input_gets_the_error_that_scikit_learn_gives(problem, change, error, words):
    X, y = change(*problem)
    with pytest.raises(error, match=words):
        calibrant.LinearSVM().fit(X, y)


def test_settings_that_make_no_sense_name_themselves(problem):
    X, y = problem
    for settings, words in [
        ({"calibrator": "plat"}, "`plat` is not a calibration method; it must be one of auto"),
        ({"C": -1.0}, "must be a positive number"),
        ({"folds": 1}, "2 to 255"),
        ({"loss": "log"}, "`log` is not a loss"),
    ]:
        with pytest.raises(calibrant.CalibrantError, match=words):
            calibrant.LinearSVM(**settings).fit(X, y)
    with pytest.raises(ValueError, match="multinomial, bernoulli, complement"):
        calibrant.NaiveBayes("gauss").fit(abs(X), y)
