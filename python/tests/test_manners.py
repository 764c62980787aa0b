"""What people do by mistake is told, and what they mean is done."""

import calibrant
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def _missing_labels():
    texts = ["a", "b", "a", None]
    yield "list", texts
    yield "NaN in a list", ["a", "b", "a", float("nan")]
    yield "objects", np.array(["a", "b", "a", np.nan], dtype=object)
    yield "pandas", pd.Series(["a", "b", "a", np.nan], dtype=object)
    yield "pandas strings", pd.Series(texts, dtype="string")
    yield "categories", pd.Series(texts, dtype="category")
    yield "nullable", pd.Series([1, 0, 1, None], dtype="Int64")
    yield "polars", pl.Series(texts)
    yield "numbers", np.array([0.0, 1.0, 0.0, np.nan])


@pytest.mark.parametrize(("kind", "y"), list(_missing_labels()), ids=lambda value: value if isinstance(value, str) else "")
@pytest.mark.filterwarnings("error")
def test_a_missing_label_is_named(kind, y):
    X = np.arange(8.0).reshape(4, 2)
    for fit in (
        lambda: calibrant.LinearSVM().fit(X, y),
        lambda: calibrant.TextClassifier().fit(["one", "two", "three", "four"], y),
        lambda: calibrant.Calibrator().fit(X[:, 0], y),
        lambda: calibrant.CalibratedClassifier(LinearSVC()).fit(X, y),
    ):
        with pytest.raises(ValueError, match="Input y contains NaN"):
            fit()


def test_rows_without_a_group_stand_for_themselves(mail):
    texts, labels = mail
    named = [f"g{row}" if row % 10 == 0 else missing for row, missing in enumerate([None, float("nan"), "", pd.NA] * len(texts))][
        : len(texts)
    ]
    alone = [f"g{row}" for row in range(len(texts))]
    expected = calibrant.TextClassifier().fit(texts, labels, groups=alone).report_.held_out.log_loss
    assert calibrant.TextClassifier().fit(texts, labels, groups=named).report_.held_out.log_loss == pytest.approx(expected)
    X = TfidfVectorizer().fit_transform(texts)
    for estimator in (calibrant.LinearSVM(), calibrant.CalibratedClassifier(LinearSVC(random_state=0))):
        both = [type(estimator)(**estimator.get_params(deep=False)).fit(X, labels, groups=groups) for groups in (named, alone)]
        np.testing.assert_allclose(both[0].predict_proba(X), both[1].predict_proba(X), rtol=1e-6)


def test_vectors_of_another_length_are_refused():
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[rng.integers(0, 2, 200)]
    vectors = rng.normal(size=(200, 8)) + 2 * (y == "yes")[:, None]
    table = pd.DataFrame({"text": [f"text {row}" for row in range(200)], "emb": list(vectors.astype(np.float32)), "y": y})
    model = calibrant.TextClassifier(text="text", vector="emb").fit(table, "y")
    assert model.score(table, "y") > 0.9
    shorter = table.assign(emb=[vector[:5] for vector in table["emb"]])
    for call in (model.predict, lambda X: model.evaluate(X, "y"), lambda X: model.decide(X, {("*", "*"): 1})):
        with pytest.raises(ValueError, match="have 5 numbers, and those that the model learned from 8"):
            call(shorter)


def test_shares_that_are_known_count_without_costs(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    prior = {"spam": 0.9999, "ham": 0.0001}
    decided = model.decide(texts, prior=prior)
    assert decided.tolist() == model.decide(texts, {("*", "*"): 1}, prior=prior).tolist()
    assert (decided == "spam").sum() >= (model.predict(texts) == "spam").sum()
    with pytest.raises(ValueError, match="spm"):
        model.decide(texts, prior={"spm": 1.0})


def test_tables_of_costs_go_by_their_names(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    costs = pd.DataFrame([[0.0, 100.0], [1.0, 0.0]], index=["ham", "spam"], columns=["ham", "spam"])
    expected = model.decide(texts, costs.to_numpy()).tolist()
    assert model.decide(texts, costs).tolist() == expected
    assert model.decide(texts, costs.loc[["spam", "ham"], ["spam", "ham"]]).tolist() == expected
    assert model.decide(texts, costs.loc[["spam", "ham"]]).tolist() == expected
    rows = {"truth": ["ham", "spam"], "decision": ["spam", "ham"], "cost": [100.0, 1.0]}
    for table in (pd.DataFrame(rows), pl.DataFrame(rows)):
        assert model.decide(texts, table).tolist() == expected
    with pytest.raises(ValueError, match="named for each of the classes"):
        model.decide(texts, costs.rename(columns={"spam": "spma"}))


def test_columns_of_scores_go_by_their_names():
    rng = np.random.default_rng(1)
    y = np.array(["cat", "dog", "owl"])[rng.integers(0, 3, 900)]
    scores = pd.DataFrame(rng.normal(size=(900, 3)) + 2 * (y[:, None] == np.array(["cat", "dog", "owl"])), columns=["cat", "dog", "owl"])
    model = calibrant.Calibrator().fit(scores, y)
    expected = model.predict_proba(scores)
    other = scores[["owl", "cat", "dog"]]
    np.testing.assert_array_equal(model.predict_proba(other), expected)
    np.testing.assert_array_equal(model.predict_proba(pl.from_pandas(other)), expected)
    np.testing.assert_array_equal(calibrant.Calibrator().fit(other, y).predict_proba(scores), expected)
    with pytest.raises(ValueError, match="the calibrator was fitted to"):
        model.predict_proba(scores.rename(columns={"owl": "fox"}))


def test_probabilities_stay_between_zero_and_one():
    rng = np.random.default_rng(2)
    truth = rng.random(400) < 0.4
    logits = rng.normal(np.where(truth, 1.0, -1.0))
    with pytest.raises(ValueError, match="from 0 to 1"):
        calibrant.Calibrator(score_is="probability").fit(logits, truth)
    model = calibrant.Calibrator().fit(1 / (1 + np.exp(-logits)), truth)
    with pytest.raises(ValueError, match="from 0 to 1"):
        model.predict_proba(logits)


def test_queries_to_choose_by_are_others():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    grades = (X[:, 0] + 0.5 * rng.normal(size=600) > 1).astype(int)
    qid = np.repeat(np.arange(60), 10)
    train, other = (X[:400], grades[:400]), (X[400:], grades[400:])
    first = calibrant.Ranker().fit(*train, qid=qid[:400], eval_set=other, eval_qid=qid[400:])
    second = calibrant.Ranker().fit(*train, group=[10] * 40, eval_set=[other], eval_group=[10] * 20)
    np.testing.assert_allclose(first.predict(X), second.predict(X), rtol=1e-6)
    assert np.corrcoef(first.predict(X), X[:, 0])[0, 1] > 0.8
    with pytest.raises(ValueError, match="must not be learned from"):
        calibrant.Ranker().fit(*train, qid=qid[:400], eval_set=other, eval_qid=qid[200:400])


def test_copies_are_found_however_they_are_stored():
    from calibrant._keys import content_groups
    from scipy.sparse import csr_matrix

    # By hand: rows 0 and 1 are (1, 2), the second with its columns backwards and one as two halves.
    untidy = csr_matrix(([1.0, 2.0, 2.0, 0.5, 0.5, 3.0, 4.0], [0, 1, 1, 0, 0, 0, 1], [0, 2, 5, 6, 7]), shape=(4, 2))
    groups = content_groups(untidy, None)
    assert groups[0] == groups[1]
    assert len(set(groups.tolist())) == 3
    assert untidy.nnz == 7


def test_weights_that_a_classifier_does_not_take_are_told(mail):
    texts, labels = mail
    pipeline = make_pipeline(TfidfVectorizer(), LinearSVC(random_state=0))
    with pytest.warns(calibrant.CalibrantWarning, match="takes no sample_weight"):
        calibrant.CalibratedClassifier(pipeline).fit(texts, labels, sample_weight=np.ones(len(texts)))


def test_a_solver_that_gave_up_is_told():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 30))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="stopped before its tolerance"):
        calibrant.LinearSVM(C=100.0, max_iter=1).fit(X, y)
