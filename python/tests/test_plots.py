"""Displays: their numbers against numbers worked out otherwise, and every picture drawn once."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from calibrant import CalibratedClassifier, Calibrator, LinearSVM, TextClassifier  # noqa: E402
from calibrant.plots import (  # noqa: E402
    AnsweredDisplay,
    ConfusionDisplay,
    DecisionCurveDisplay,
    LearningCurveDisplay,
    LogOddsDisplay,
    ReliabilityDisplay,
    ScoreDensityDisplay,
)
from calibrant.plots._common import Forecasts  # noqa: E402
from calibrant.plots._densities import smooth_density  # noqa: E402
from calibrant.plots._learning import _sizes, _split  # noqa: E402
from calibrant.plots._scores import _equal_parts, scored_by  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import confusion_matrix  # noqa: E402


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def stated_and_truth(count=300, seed=0):
    rng = np.random.default_rng(seed)
    stated = rng.random(count)
    return stated, rng.random(count) < stated


def three_classes(count=400, seed=1):
    rng = np.random.default_rng(seed)
    stated = rng.dirichlet([1.0, 1.0, 1.0], count)
    return stated, np.array(["ham", "news", "spam"])[[rng.choice(3, p=row) for row in stated]]


def clouds(count=400, classes=3, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    return rng.normal(size=(count, 6)) + np.eye(6)[y] * 1.5, y


# Reliability.


def test_bins_are_those_of_numpy():
    stated, truth = stated_and_truth()
    display = ReliabilityDisplay.from_predictions(truth, stated)
    order = np.argsort(stated)
    bins = order.reshape(15, 20)
    np.testing.assert_allclose(display.stated, stated[bins].mean(axis=1))
    np.testing.assert_allclose(display.observed, truth[bins].mean(axis=1))
    share, z2 = truth[bins].mean(axis=1), 1.959963984540054**2 / 20
    half = np.sqrt(z2 * (share * (1 - share) + z2 / 4))
    np.testing.assert_allclose(display.lower, (share + z2 / 2 - half) / (1 + z2), atol=1e-9)
    np.testing.assert_allclose(display.upper, (share + z2 / 2 + half) / (1 + z2), atol=1e-9)
    np.testing.assert_allclose(display.ece, np.abs(stated[bins].mean(axis=1) - share).mean())
    assert display.counts.sum() == 300


def test_the_answer_is_the_most_probable_class_and_a_class_can_be_chosen():
    stated, truth = three_classes(450)
    display = ReliabilityDisplay.from_predictions(truth, stated)
    bins = np.argsort(stated.max(axis=1), kind="stable").reshape(15, 30)
    right = np.array(["ham", "news", "spam"])[stated.argmax(axis=1)] == truth
    np.testing.assert_allclose(display.observed, right[bins].mean(axis=1))
    news = ReliabilityDisplay.from_predictions(truth, stated, class_label="news")
    bins = np.argsort(stated[:, 1], kind="stable").reshape(15, 30)
    np.testing.assert_allclose(news.observed, (truth == "news")[bins].mean(axis=1))
    assert "news" in news.ax_.get_title()


def test_one_column_is_the_second_class_and_two_columns_are_the_answer():
    stated, truth = stated_and_truth()
    one = ReliabilityDisplay.from_predictions(truth, stated)
    both = np.column_stack([1 - stated, stated])
    second = ReliabilityDisplay.from_predictions(truth, both, class_label=True)
    np.testing.assert_allclose(one.observed, second.observed)
    assert ReliabilityDisplay.from_predictions(truth, both).stated.min() >= 0.5


def test_a_weight_of_two_is_the_row_twice():
    stated, truth = stated_and_truth(150)
    weighted = ReliabilityDisplay.from_predictions(truth, stated, sample_weight=np.full(150, 2.0))
    twice = ReliabilityDisplay.from_predictions(np.repeat(truth, 2), np.repeat(stated, 2))
    np.testing.assert_allclose(weighted.stated, twice.stated)
    np.testing.assert_allclose(weighted.observed, twice.observed)
    np.testing.assert_allclose(weighted.counts, twice.counts)


def test_the_curve_rises_and_its_band_holds_the_diagonal():
    stated, truth = stated_and_truth()
    display = ReliabilityDisplay.from_predictions(truth, stated, kind="curve")
    assert (np.diff(display.observed) >= 0).all()
    assert (display.band_lower <= display.stated + 1e-12).all()
    assert (display.stated <= display.band_upper + 1e-12).all()
    assert display.lower is None


def test_displays_share_axes_and_the_histogram():
    stated, truth = stated_and_truth()
    first = ReliabilityDisplay.from_predictions(truth, stated, name="one")
    second = ReliabilityDisplay.from_predictions(truth, stated**2, name="two", ax=first.ax_)
    assert second.figure_ is first.figure_
    assert second.histogram_ax_ is first.histogram_ax_
    colours = [line.get_color() for line in first.ax_.lines if line.get_gid() == "calibrant"]
    assert len(set(colours)) == 2
    third = first.plot(histogram=False, color="black")
    assert third is first
    assert first.figure_ is not second.figure_


def test_several_labels_are_all_pairs_of_document_and_label():
    rng = np.random.default_rng(3)
    stated = rng.random((200, 3))
    truth = (rng.random((200, 3)) < stated).astype(int)
    display = ReliabilityDisplay.from_predictions(truth, stated)
    assert display.counts.sum() == 600
    lists = [[label for label in range(3) if row[label]] for row in truth]
    same = ReliabilityDisplay.from_predictions(lists, stated)
    np.testing.assert_allclose(display.observed, same.observed)
    one = ReliabilityDisplay.from_predictions(truth, stated, class_label=2)
    alone = ReliabilityDisplay.from_predictions(truth[:, 2], stated[:, 2])
    np.testing.assert_allclose(one.observed, alone.observed)
    weights = rng.integers(1, 3, 200)
    weighted = ReliabilityDisplay.from_predictions(truth, stated, sample_weight=weights)
    assert weighted.counts.sum() == 3 * weights.sum()
    assert AnsweredDisplay.from_predictions(truth, stated).accuracy[-1] == (truth == (stated > 0.5)).all(axis=1).mean()


@pytest.mark.parametrize(
    ("truth", "stated", "more", "message"),
    [
        ([0, 1], [0.5, 1.5], {}, "between 0 and 1"),
        ([0, 1], [0.5, np.nan], {}, "NaN"),
        ([0, 1, 1], [0.5, 0.5], {}, "inconsistent numbers of samples"),
        ([0, 1, 2], [0.5, 0.5, 0.5], {}, "labels="),
        ([0, 1], [0.5, 0.5], {"labels": [0, 2]}, "label 1"),
        ([0, 1], [0.5, 0.5], {"class_label": 7}, "no class 7"),
        ([0, 1], [0.5, 0.5], {"kind": "pie"}, "'bins' or 'curve'"),
    ],
)
def test_what_cannot_be_drawn_is_refused(truth, stated, more, message):
    with pytest.raises(ValueError, match=message):
        ReliabilityDisplay.from_predictions(truth, stated, **more)


# Decisions.


def test_net_benefit_is_the_formula():
    stated, truth = stated_and_truth(500)
    display = DecisionCurveDisplay.from_predictions(truth, stated)
    for threshold, benefit, promised, always in zip(display.thresholds, display.benefit, display.expected, display.act_always, strict=True):
        acted, odds = stated >= threshold, threshold / (1 - threshold)
        assert benefit == pytest.approx((acted & truth).mean() - (acted & ~truth).mean() * odds)
        assert promised == pytest.approx((acted * stated).mean() - (acted * (1 - stated)).mean() * odds)
        assert always == pytest.approx(truth.mean() - (1 - truth.mean()) * odds)


def test_decision_curves_default_to_the_second_of_two_and_to_the_answer_of_many():
    stated, truth = stated_and_truth()
    both = np.column_stack([1 - stated, stated])
    assert "True" in DecisionCurveDisplay.from_predictions(truth, both).ax_.get_title()
    stated, truth = three_classes()
    display = DecisionCurveDisplay.from_predictions(truth, stated)
    right = np.array(["ham", "news", "spam"])[stated.argmax(axis=1)] == truth
    at_half = np.flatnonzero(np.isclose(display.thresholds, 0.5))[0]
    acted = stated.max(axis=1) >= 0.5
    assert display.benefit[at_half] == pytest.approx((acted & right).mean() - (acted & ~right).mean())


def test_the_surest_answers_are_counted_by_brute_force():
    stated, truth = three_classes()
    display = AnsweredDisplay.from_predictions(truth, stated)
    order = np.argsort(-stated.max(axis=1))
    right = (np.array(["ham", "news", "spam"])[stated.argmax(axis=1)] == truth)[order]
    for share, accuracy, said in zip(display.answered, display.accuracy, display.stated, strict=True):
        count = round(share * len(truth))
        assert accuracy == pytest.approx(right[:count].mean())
        assert said == pytest.approx(stated.max(axis=1)[order][:count].mean())
    assert ((display.lower <= display.accuracy) & (display.accuracy <= display.upper)).all()


# Scores.


@pytest.mark.parametrize("method", ["gauss", "asymmetric_gauss", "laplace", "asymmetric_laplace", "hybrid"])
@pytest.mark.parametrize("as_probability", [False, True])
def test_drawn_densities_are_those_that_the_calibrator_uses(method, as_probability):
    rng = np.random.default_rng(4)
    truth = rng.random(1500) < 0.3
    scores = rng.normal(np.where(truth, 1.0, -1.0), np.where(truth, 0.7, 1.2))
    given = 1 / (1 + np.exp(-scores)) if as_probability else scores
    calibrator = Calibrator(method).fit(given, truth)
    display = ScoreDensityDisplay.from_estimator(calibrator, given, truth)
    prior = calibrator.report_.to_dict()["calibrator"]["one_score"]["inner"]["ln_prior_odds"]
    by_bayes = np.log(display.positive_fit) - np.log(display.negative_fit) + prior
    within = (display.grid > scores.min()) & (display.grid < scores.max())
    grid = 1 / (1 + np.exp(-display.grid)) if as_probability else display.grid
    np.testing.assert_allclose(by_bayes[within], calibrator.decision_function(grid)[within], atol=1e-6)
    step = display.grid[1] - display.grid[0]
    assert 0.9 < display.positive_fit.sum() * step < 1.02
    flipped = ScoreDensityDisplay.from_estimator(calibrator, given, truth, class_label=False)
    np.testing.assert_allclose(flipped.positive_fit, display.negative_fit)
    assert ("log-odds" in display.unit) == as_probability


def test_smooth_densities_follow_weights():
    rng = np.random.default_rng(5)
    scores = np.concatenate([rng.normal(-2, 1, 4000), rng.normal(2, 1, 4000)])
    grid = np.linspace(-8, 8, 801)
    left = smooth_density(scores, np.repeat([1.0, 0.0], 4000), grid)
    assert left.sum() * 0.02 == pytest.approx(1.0, abs=1e-3)
    np.testing.assert_allclose(left, np.exp(-0.5 * (grid + 2) ** 2) / np.sqrt(2 * np.pi), atol=0.03)
    assert (smooth_density(np.ones(5), np.ones(5), grid) >= 0).all()
    assert not smooth_density(scores, np.zeros(8000), grid).any()


def test_histograms_are_densities_of_each_class():
    stated, truth = stated_and_truth(600)
    display = ScoreDensityDisplay.from_predictions(truth, stated * 4 - 2)
    for heights, own in ((display.positive, truth), (display.negative, ~truth)):
        counts, _ = np.histogram(stated[own] * 4 - 2, bins=display.edges)
        np.testing.assert_allclose(heights * np.diff(display.edges) * own.sum(), counts)
    assert display.positive_fit is None


def test_points_of_log_odds_are_counted_by_hand():
    scores = np.arange(40.0)
    truth = np.arange(40) % 4 == 3
    display = LogOddsDisplay.from_predictions(truth, scores, bins=2)
    np.testing.assert_allclose(display.scores, [9.5, 29.5])
    np.testing.assert_allclose(display.log_odds, np.log(5.5 / 15.5))
    np.testing.assert_allclose(display.errors, 1.96 * np.sqrt(1 / 5.5 + 1 / 15.5))
    assert display.curve_scores is None


def test_equal_scores_stay_in_one_bin():
    scores = np.repeat([0.0, 1.0, 2.0], [50, 25, 25])
    parts = _equal_parts(scores, 10)
    assert [len(np.unique(scores[part])) for part in parts] == [1] * len(parts)
    assert sorted(np.concatenate(parts)) == list(range(100))


def test_the_line_of_log_odds_is_the_calibrators():
    rng = np.random.default_rng(6)
    truth = rng.random(800) < 0.4
    scores = rng.normal(np.where(truth, 1.0, -1.0))
    calibrator = Calibrator("platt").fit(scores, truth)
    display = LogOddsDisplay.from_estimator(calibrator, scores, truth)
    np.testing.assert_allclose(display.curve_log_odds, calibrator.decision_function(display.curve_scores))
    opposite = LogOddsDisplay.from_estimator(calibrator, scores, truth, class_label=False)
    np.testing.assert_allclose(opposite.curve_log_odds, -display.curve_log_odds)
    np.testing.assert_allclose(opposite.log_odds, -display.log_odds)


def test_scores_of_all_kinds_of_classifiers():
    X, y = clouds()
    for model in (LinearSVM(), CalibratedClassifier(LogisticRegression()), LogisticRegression()):
        fitted = model.fit(X[:200], y[:200])
        for label in (None, 1):
            found = scored_by(fitted, X[200:], y[200:], label)
            assert found.scores.shape == found.truth.shape == (200,)
            assert (found.log_odds is None) == isinstance(model, LogisticRegression)
            ScoreDensityDisplay.from_estimator(fitted, X[200:], y[200:], class_label=label)
            LogOddsDisplay.from_estimator(fitted, X[200:], y[200:], class_label=label)
        if not isinstance(model, LogisticRegression):
            right = fitted.predict(X[200:]) == y[200:]
            np.testing.assert_array_equal(scored_by(fitted, X[200:], y[200:], None).truth, right)
    uncalibrated = scored_by(LinearSVM(calibrator=None).fit(X[:200], y[:200]), X[200:], y[200:], None)
    assert uncalibrated.log_odds is None
    two = LinearSVM().fit(X[:200], y[:200] == 0)
    found = scored_by(two, X[200:], y[200:] == 0, None)
    assert found.curve is not None
    assert (np.diff(found.curve[0]) >= 0).all()


# Confusion.


def test_confusion_is_that_of_scikit_learn_and_of_the_report():
    stated, truth = three_classes()
    labels = np.array(["ham", "news", "spam"])
    display = ConfusionDisplay.from_predictions(truth, labels[stated.argmax(axis=1)])
    np.testing.assert_array_equal(display.matrix, confusion_matrix(truth, labels[stated.argmax(axis=1)]))
    np.testing.assert_array_equal(display.matrix, ConfusionDisplay.from_predictions(truth, stated).matrix)
    for cell in Forecasts.of(truth, stated).report()["confusion"]:
        assert display.matrix[cell["truth"], cell["decision"]] == cell["documents"]
    np.testing.assert_allclose(display.shares("truth").sum(axis=1), 100)
    np.testing.assert_allclose(display.shares("decision").sum(axis=0), 100)
    np.testing.assert_allclose(display.shares("all").sum(), 100)
    with pytest.raises(ValueError, match="by must be"):
        display.plot(by="rows")


def test_actions_have_columns_of_their_own():
    display = ConfusionDisplay.from_predictions([0, 1, 1], np.array([0, "ask", 1], dtype=object), by="truth")
    assert display.decisions == [0, 1, "ask"]
    assert display.matrix.tolist() == [[1, 0, 0], [0, 1, 1]]
    with pytest.raises(ValueError, match="one label per example"):
        ConfusionDisplay.from_predictions([["a"], ["a", "b"]], ["a", "b"])
    with pytest.raises(ValueError, match="inconsistent"):
        ConfusionDisplay.from_predictions([0, 1, 1], [0, 1])


# Learning curves.


def test_growing_samples_are_nested_balanced_and_apart_from_what_is_held_out():
    from calibrant._input import encode

    y = np.repeat(["a", "b"], [80, 20])
    train, test = _split(encode(y), 100, None, 0.25, np.random.default_rng(0))
    assert sorted([*train, *test]) == list(range(100))
    assert len(test) == 25
    for count in (10, 20, 50):
        assert abs((y[train[:count]] == "b").mean() - 0.2) <= 1.0 / count + 1e-9
    groups = np.arange(100) // 7
    train, test = _split(encode(y), 100, groups, 0.25, np.random.default_rng(0))
    assert not set(groups[train]) & set(groups[test])
    assert len(test) >= 25
    with pytest.raises(ValueError, match="nothing to hold out"):
        _split(encode(y), 100, np.zeros(100, dtype=int), 0.25, np.random.default_rng(0))


def test_sizes_are_counts_or_shares():
    assert _sizes((0.5, 1.0), 300, 2) == [150, 300]
    assert _sizes((20, 300), 300, 2) == [20, 300]
    assert _sizes(3, 300, 2)[-1] == 300
    with pytest.raises(ValueError, match="between 1 and 300"):
        _sizes((20, 301), 300, 2)


def test_learning_curves_measure_held_out_rows():
    X, y = clouds(600)
    display = LearningCurveDisplay.from_estimator(LogisticRegression(), X, y, sizes=(40, 400), measure="ece", repeats=2)
    assert display.values.shape == display.of_perfect.shape == (2, 2)
    assert LearningCurveDisplay.from_estimator(
        LogisticRegression(), X, y, sizes=(0.05, 1.0), measure="accuracy", groups=np.arange(600) // 2
    ).values[-1].mean() == pytest.approx(0.6, abs=0.2)
    with pytest.raises(ValueError, match="measure must be"):
        LearningCurveDisplay.from_estimator(LogisticRegression(), X, y, measure="taste")


def test_a_sample_without_a_class_still_has_a_log_loss():
    X, y = clouds(200, classes=2)
    y[:4] = 2
    display = LearningCurveDisplay.from_estimator(LogisticRegression(), X, y, sizes=(6, 150), repeats=4)
    assert np.isfinite(display.values).all()


# All of them.


def test_every_display_draws_texts_of_two_classes_many_classes_and_several_labels():
    rng = np.random.default_rng(7)
    words = {"billing": "invoice charge refund", "sport": "goal match team", "travel": "train hotel ticket"}
    names = list(words)
    label = rng.integers(0, 3, 240)
    texts = [" ".join(rng.choice((words[names[k]] + " the a of to in " + words[names[(k + 1) % 3]]).split(), 8)) for k in label]
    y = np.array(names)[label]
    for kept in (label < 2, label < 3):
        X, own = [text for text, keep in zip(texts, kept, strict=True) if keep], y[kept]
        model = TextClassifier().fit(X[::2], own[::2])
        for display in (ReliabilityDisplay, DecisionCurveDisplay, AnsweredDisplay, ConfusionDisplay):
            assert display.from_estimator(model, X[1::2], own[1::2]).figure_ is not None
        for display in (ScoreDensityDisplay, LogOddsDisplay):
            display.from_estimator(model, X[1::2], own[1::2], class_label="sport").figure_.canvas.draw()
    several = [[one, "any"] if k % 2 else [one] for k, one in enumerate(y)]
    model = TextClassifier().fit(texts[:160], several[:160])
    ReliabilityDisplay.from_estimator(model, texts[160:], several[160:]).figure_.canvas.draw()
    AnsweredDisplay.from_estimator(model, texts[160:], several[160:])
    DecisionCurveDisplay.from_estimator(model, texts[160:], several[160:], class_label="any")
    LogOddsDisplay.from_estimator(model, texts[160:], several[160:], class_label="sport")
    with pytest.raises(ValueError, match="class_label"):
        LogOddsDisplay.from_estimator(model, texts[160:], several[160:])
    LearningCurveDisplay.from_estimator(TextClassifier(), texts, y, sizes=2, repeats=1).figure_.canvas.draw()


def test_matplotlib_is_imported_with_the_first_picture():
    code = (
        "import sys, calibrant, calibrant.plots as p; assert 'matplotlib' not in sys.modules; "
        "import os; os.environ['MPLBACKEND'] = 'Agg'; p.ConfusionDisplay.from_predictions([0, 1], [0, 1]); "
        "assert 'matplotlib' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_without_matplotlib_the_remedy_is_named():
    code = (
        "import sys; sys.modules['matplotlib'] = None; import calibrant.plots as p\n"
        "try: p.ConfusionDisplay.from_predictions([0, 1], [0, 1])\n"
        "except ImportError as error: assert 'pip install' in str(error)\n"
        "else: raise SystemExit(1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
