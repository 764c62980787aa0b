"""Calibrators against the library's own methods and against scikit-learn; any classifier wrapped honestly."""

import pickle
import warnings

import calibrant
import numpy as np
import pytest
from calibrant._input import encode
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC


@pytest.fixture(scope="module")
def scored():
    """Scores whose true log-odds are known: 2 s + ln(0.3 / 0.7)."""
    rng = np.random.default_rng(5)
    truth = rng.random(5000) < 0.3
    return rng.normal(np.where(truth, 1.0, -1.0)), truth


def test_platt_is_scikit_learns_sigmoid(scored):
    scores, truth = scored
    ours = calibrant.Calibrator("platt").fit(scores, truth)
    theirs = _SigmoidCalibration().fit(scores, truth)
    grid = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(ours.predict_proba(grid)[:, 1], theirs.predict(grid), atol=1e-4)


def test_isotonic_is_scikit_learns_where_it_is_not_at_an_end(scored):
    scores, truth = scored
    ours = calibrant.Calibrator("isotonic").fit(scores, truth).transform(scores)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, truth).predict(scores)
    inside = (theirs > 0.05) & (theirs < 0.95)
    assert np.abs(ours - theirs)[inside].mean() < 0.01


def test_auto_finds_the_true_curve(scored):
    scores, truth = scored
    model = calibrant.Calibrator().fit(scores, truth)
    grid = np.linspace(-2, 2, 21)
    np.testing.assert_allclose(model.decision_function(grid), 2 * grid + np.log(0.3 / 0.7), atol=0.25)
    assert model.method_ in {name for name, _ in calibrant.names("calibrator")}
    assert model.report_.to_dict()["tried"]
    said = model.cross_validated_
    assert said.shape == (5000, 2)
    assert log_loss(truth, said) < 0.35


@pytest.mark.parametrize("method", [name for name, _ in calibrant.names("calibrator")])
def test_every_method_is_finite_and_survives_a_pickle(method, scored):
    scores, truth = scored[0][:400], scored[1][:400]
    model = calibrant.Calibrator(method).fit(scores, truth)
    far = np.array([-1e6, -10.0, 0.0, 10.0, 1e6])
    said = model.predict_proba(far)
    assert ((said > 0) & (said < 1)).all()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(far), said)


def test_classes_are_calibrated_together():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 3000)
    scores = 3 * (rng.normal(size=(3000, 4)) + 1.5 * np.eye(4)[y])
    labels = np.array(["a", "b", "c", "d"])[y]
    model = calibrant.Calibrator().fit(scores[:2000], labels[:2000])
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    assert log_loss(labels[2000:], model.predict_proba(scores[2000:])) < log_loss(labels[2000:], softmax[2000:]) - 0.1
    with pytest.raises(ValueError, match="3 columns"):
        model.predict_proba(scores[:, :3])


def test_venn_abers_states_an_interval(scored):
    scores, truth = scored[0][:500], scored[1][:500]
    model = calibrant.Calibrator("venn_abers").fit(scores, truth)
    low, high = model.predict_interval([0.0, 1.0]).T
    said = model.transform([0.0, 1.0])
    assert (low < said).all()
    assert (said < high).all()
    with pytest.raises(ValueError, match="no interval"):
        calibrant.Calibrator("platt").fit(scores, truth).predict_interval([0.0])


@pytest.mark.parametrize(
    ("scores", "labels", "words"),
    [
        ([0.1, np.nan, 0.3], [0, 1, 0], "NaN"),
        ([0.1, 0.2], [0, 1, 0], "inconsistent"),
        ([0.1, 0.2, 0.3], [0, 0, 0], "class"),
        ([0.1, 0.2, 0.3], [0, 1, 2], "two classes"),
        (np.zeros((3, 4)), [0, 1, 2], "4 columns and y has 3"),
        (np.zeros((3, 1, 1)), [0, 1, 2], "shape"),
    ],
)
def test_wrong_scores_are_told(scores, labels, words):
    with pytest.raises(ValueError, match=words):
        calibrant.Calibrator().fit(scores, labels)


@pytest.mark.parametrize("base", [LinearSVC(random_state=0), SGDClassifier(random_state=0), RidgeClassifier()], ids=str)
@pytest.mark.parametrize("classes", [2, 3])
def test_of_linear_classifiers_the_mean_of_the_folds_is_kept_as_one(base, classes):
    X, y = make_classification(900, 20, n_informative=8, n_classes=classes, flip_y=0.15, random_state=classes)
    labels = np.array(["no", "yes", "perhaps"])[y]
    mean = calibrant.CalibratedClassifier(base).fit(X[:600], labels[:600])
    folds = calibrant.CalibratedClassifier(base, ensemble=True).fit(X[:600], labels[:600])
    assert mean.ensemble_ == []
    assert len(folds.ensemble_) == 5
    expected = np.mean([model.coef_ for model in folds.ensemble_], axis=0)
    np.testing.assert_allclose(mean.estimator_.coef_, expected)
    np.testing.assert_allclose(mean.predict_proba(X[600:]), folds.predict_proba(X[600:]), rtol=1e-9)
    assert type(mean.estimator_) is type(base)
    # One that is fitted to all rows where the mean is none of its kind, or of too few folds.
    for other in (
        calibrant.CalibratedClassifier(base, cv=3),
        calibrant.CalibratedClassifier(base, ensemble=False),
        calibrant.CalibratedClassifier(make_pipeline(StandardScaler(), base)),
        calibrant.CalibratedClassifier(LogisticRegression()),
    ):
        other.fit(X[:600], labels[:600])
        assert other.ensemble_ == []
        final = clone(other.estimator).fit(X[:600], labels[:600])
        np.testing.assert_allclose(other.estimator_.decision_function(X), final.decision_function(X))


@pytest.mark.parametrize(
    "base", [LinearSVC(), GaussianNB(), SGDClassifier(random_state=0), RandomForestClassifier(30, random_state=0)], ids=str
)
@pytest.mark.parametrize("classes", [2, 4])
def test_any_classifier_becomes_honest(base, classes):
    X, y = make_classification(3000, 20, n_informative=8, n_classes=classes, flip_y=0.15, random_state=classes)
    model = calibrant.CalibratedClassifier(base).fit(X[:1500], y[:1500])
    said = model.predict_proba(X[1500:])
    np.testing.assert_allclose(said.sum(axis=1), 1.0)
    loss = log_loss(y[1500:], said)
    sigmoid = CalibratedClassifierCV(base, ensemble=False).fit(X[:1500], y[:1500])
    assert loss < log_loss(y[1500:], sigmoid.predict_proba(X[1500:])) + 0.02
    held_out = model.report_.to_dict()["measures"] if "measures" in model.report_ else None
    assert held_out is None or held_out
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X[1500:]), said)


def test_copies_and_groups_are_not_on_both_sides():
    """Labels that are drawn at random, of rows that each come four times: only copies on both sides could look predictable."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(150, 40)), 4, axis=0)
    y = np.repeat(rng.integers(0, 2, 150), 4)
    order = rng.permutation(600)
    X, y, group = X[order], y[order], np.repeat(np.arange(150), 4)[order]
    forest = RandomForestClassifier(20, random_state=0)
    honest = calibrant.CalibratedClassifier(forest).fit(X, y)
    assert log_loss(y, honest.calibrator_.cross_validated_) > 0.65
    noisy = X + 1e-3 * rng.normal(size=X.shape)
    fooled = calibrant.CalibratedClassifier(forest).fit(noisy, y)
    grouped = calibrant.CalibratedClassifier(forest).fit(noisy, y, groups=group)
    assert log_loss(y, fooled.calibrator_.cross_validated_) < 0.3
    assert log_loss(y, grouped.calibrator_.cross_validated_) > 0.65


def test_prefit_and_splitters(scored):
    from sklearn.model_selection import KFold, ShuffleSplit

    X, y = make_classification(900, random_state=0)
    base = LinearSVC().fit(X[:300], y[:300])
    model = calibrant.CalibratedClassifier(base, cv="prefit").fit(X[300:600], y[300:600])
    assert model.estimator_ is base
    assert log_loss(y[600:], model.predict_proba(X[600:])) < 0.5
    calibrant.CalibratedClassifier(LinearSVC(), cv=KFold(4)).fit(X, y)
    with pytest.raises(ValueError, match="held out once"):
        calibrant.CalibratedClassifier(LinearSVC(), cv=ShuffleSplit(3)).fit(X, y)


def test_an_ensemble_is_kept_where_it_helps():
    from sklearn.tree import DecisionTreeClassifier

    X, y = make_classification(4000, 20, n_informative=10, flip_y=0.1, random_state=1)
    tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
    several = calibrant.CalibratedClassifier(tree, ensemble="auto").fit(X[:2000], y[:2000])
    one = calibrant.CalibratedClassifier(tree, ensemble=False).fit(X[:2000], y[:2000])
    assert len(several.ensemble_) == 5
    assert log_loss(y[2000:], several.predict_proba(X[2000:])) < log_loss(y[2000:], one.predict_proba(X[2000:]))
    assert not calibrant.CalibratedClassifier(LinearSVC(), ensemble="auto").fit(X[:2000], y[:2000]).ensemble_
    with pytest.raises(ValueError, match="True, False, 'auto' or None"):
        calibrant.CalibratedClassifier(LinearSVC(), ensemble="yes").fit(X, y)


def test_texts_can_be_wrapped_in_a_pipeline(mail):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.pipeline import make_pipeline

    texts, labels = mail
    model = calibrant.CalibratedClassifier(make_pipeline(TfidfVectorizer(), LinearSVC())).fit(texts, labels)
    assert model.predict(["win money"]).tolist() == ["spam"]
    assert model.classes_.tolist() == ["ham", "spam"]


def test_weights_are_handed_on():
    X, y = make_classification(600, flip_y=0.2, random_state=0)
    weights = np.where(y == 1, 5.0, 1.0)
    plain = calibrant.CalibratedClassifier(LinearSVC()).fit(X, y).predict_proba(X)[:, 1].mean()
    weighted = calibrant.CalibratedClassifier(LinearSVC()).fit(X, y, sample_weight=weights).predict_proba(X)[:, 1].mean()
    assert weighted > plain + 0.15


def _kinds_of_labels():
    import pandas as pd

    rng = np.random.default_rng(3)
    two, four = rng.integers(0, 2, 300), rng.integers(0, 4, 300)
    words = np.array(["pear", "apple", "fig", "apple pie"])
    yield "bool", two.astype(bool)
    yield "list of bool", two.astype(bool).tolist()
    yield "int", two
    yield "list of int", four.tolist()
    yield "negative", four - 2
    yield "two far apart", 900 * two - 7
    yield "very far apart", two * 10**12
    yield "uint8", (two + 254).astype(np.uint8)
    yield "int8", (two - 128).astype(np.int8)
    yield "whole floats", four.astype(np.float32) - 1
    yield "one class", np.ones(300)
    yield "fixed texts", words[four]
    yield "texts", words[four].tolist()
    yield "objects", words[four].astype(object)
    yield "series", pd.Series(words[four], index=np.arange(300) + 7)
    yield "series of int", pd.Series(four)
    yield "categories", pd.Series(pd.Categorical(words[four], categories=["unused", *words]))
    yield "ordered numbers", pd.Series(pd.Categorical(four, categories=[3, 1, 0, 2, 9], ordered=True))
    yield "zeros at the end", np.array(["a", "a\0"], dtype=object)[two]


@pytest.mark.parametrize(("kind", "y"), list(_kinds_of_labels()), ids=lambda value: value if isinstance(value, str) else "")
def test_labels_are_numbered_as_numpy_does(kind, y):
    labels = encode(y)
    classes, numbers = np.unique(np.asarray(y), return_inverse=True)
    np.testing.assert_array_equal(labels.classes, classes)
    assert labels.classes.dtype == classes.dtype
    np.testing.assert_array_equal(labels.numbers, numbers)
    assert labels.numbers.dtype == np.uint32
    assert labels.numbers.flags.c_contiguous
    assert labels.names == [str(label) for label in classes.tolist()]
    assert labels.starts is None


@pytest.mark.parametrize(
    "y",
    [
        [None, "a", "b"] * 10,
        np.array(["a", None, "b"] * 10, dtype=object),
        np.array([0.0, 1.0, np.nan] * 10),
        np.array([0.0, 1.0, np.inf] * 10),
        np.array([0.5, 1.0, 2.0] * 10),
        ["a", 1, "b"] * 10,
    ],
)
def test_rows_without_a_label_are_refused(y):
    with pytest.raises(ValueError, match=r"(?i)nan|none|infinity|continuous|mixes"):
        calibrant.Calibrator().fit(np.arange(30.0), y)


def test_a_missing_category_is_refused():
    import pandas as pd

    y = pd.Series(pd.Categorical(["a", "b", None] * 10))
    with pytest.raises(ValueError, match="NaN or None"):
        calibrant.Calibrator().fit(np.arange(30.0), y)


def test_what_is_wrong_with_scores_is_a_warning(scored):
    scores, truth = scored
    with pytest.warns(calibrant.CalibrantWarning, match="run backwards"):
        backwards = calibrant.Calibrator().fit(-scores, truth)
    assert "run backwards" in backwards.report_.to_dict()["notes"][0]
    with pytest.warns(calibrant.CalibrantWarning, match="carries no information"):
        calibrant.Calibrator("platt").fit(np.ones(len(truth)), truth)
    rare = np.arange(len(truth)) < 4
    with pytest.warns(calibrant.CalibrantWarning, match="only 4 examples of `True`"):
        calibrant.Calibrator("platt").fit(scores + rare, rare)
    with pytest.warns(calibrant.CalibrantWarning, match="held out together"):
        calibrant.Calibrator().fit(scores[:400], truth[:400], groups=np.where(truth[:400], -1, np.arange(400)))
    X, y = make_classification(400, weights=[0.99], flip_y=0, random_state=0)
    with pytest.warns(calibrant.CalibrantWarning, match="examples? of `1`"):
        calibrant.CalibratedClassifier(GaussianNB()).fit(X, y)


def test_sound_scores_and_little_tables_are_no_reason_to_warn(scored):
    scores, truth = scored
    with warnings.catch_warnings():
        warnings.simplefilter("error", calibrant.CalibrantWarning)
        for method in ("auto", "platt", "isotonic"):
            calibrant.Calibrator(method).fit(scores, truth)
            calibrant.Calibrator(method).fit(scores[:20], np.arange(20) % 3 == 0)
        calibrant.CalibratedClassifier().fit(scores[:30, None], truth[:30])


@pytest.mark.parametrize("method", ["platt", "isotonic", "auto"])
def test_very_many_scores_have_the_curve_of_all_and_held_out_forecasts(method):
    rng = np.random.default_rng(1)
    truth = rng.random(250_000) < 0.3
    scores = rng.normal(np.where(truth, 1.0, -1.0), 1.5)
    model = calibrant.Calibrator(method).fit(scores, truth)
    grid = np.linspace(-3, 3, 13)
    # The true log-odds: two normals of one variance.
    np.testing.assert_allclose(model.decision_function(grid), 2 * grid / 1.5**2 + np.log(0.3 / 0.7), atol=0.15)
    report = model.report_.to_dict()
    assert report["examples"] == 250_000
    assert report["measured"] == (125_000 if method == "auto" else 50_000)
    said = model.cross_validated_
    np.testing.assert_allclose(said.sum(axis=1), 1, atol=1e-12)
    assert abs(log_loss(truth, said) - log_loss(truth, model.predict_proba(scores))) < 1e-3
    if method == "platt":
        theirs = _SigmoidCalibration().fit(scores, truth)
        np.testing.assert_allclose(model.transform(grid), theirs.predict(grid), atol=1e-4)
