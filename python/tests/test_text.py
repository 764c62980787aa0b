"""Texts from wherever they lie, and what can be asked of a text classifier."""

import pickle

import calibrant
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC


def kinds(texts):
    """The same texts in every kind of column."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    return {
        "list": texts,
        "tuple": tuple(texts),
        "generator": (text for text in texts),
        "numpy str": np.array(texts),
        "numpy object": np.array(texts, dtype=object),
        "numpy StringDType": np.array(texts, dtype=np.dtypes.StringDType()),
        "numpy column": np.array(texts, dtype=object)[:, None],
        "pandas str": pd.Series(texts),
        "pandas object": pd.Series(texts, dtype=object),
        "pandas arrow": pd.Series(texts, dtype="string[pyarrow]"),
        "pandas categories": pd.Series(texts, dtype="category"),
        "pandas frame": pd.DataFrame({"text": texts}),
        "polars": pl.Series(texts),
        "polars frame": pl.DataFrame({"text": texts}),
        "pyarrow": pa.array(texts),
        "pyarrow large": pa.array(texts, type=pa.large_string()),
        "pyarrow view": pa.array(texts, type=pa.string_view()),
        "pyarrow chunks": pa.chunked_array([texts[:7], [], texts[7:]]),
        "pyarrow slice": pa.array(["", *texts, ""])[1:-1],
        "pyarrow table": pa.table({"text": texts}),
    }


def test_every_kind_of_column_gives_the_same_answers(mail):
    texts, labels = mail
    expected = calibrant.TextClassifier().fit(texts, labels).predict_proba(texts)
    for kind, column in kinds(texts).items():
        model = calibrant.TextClassifier().fit(column, labels)
        again = kinds(texts)[kind]
        np.testing.assert_array_equal(model.predict_proba(again), expected, err_msg=kind)


def test_labels_may_come_in_every_kind_of_column(mail):
    texts, labels = mail
    expected = calibrant.TextClassifier().fit(texts, labels).predict_proba(texts)
    for kind, column in kinds(labels).items():
        if kind in ("generator", "pandas frame", "polars frame", "pyarrow table", "numpy column"):
            continue
        model = calibrant.TextClassifier().fit(texts, column)
        np.testing.assert_array_equal(model.predict_proba(texts), expected, err_msg=kind)


def test_columns_of_a_table_stand_beside_the_text(mail):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    texts, labels = mail
    rng = np.random.default_rng(0)
    amounts = np.where(np.array(labels) == "spam", 5.0, 1.0) + rng.normal(size=len(texts))
    amounts[3] = np.nan
    table = {
        "subject": [text[:10] for text in texts],
        "body": texts,
        "amount": amounts,
        "country": [None if number == 5 else "DE" if number % 3 else "FR" for number in range(len(texts))],
        "queue": labels,
    }
    settings = {"text": ["subject", "body"], "numeric": "amount", "categorical": ["country"]}
    said = []
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        model = calibrant.TextClassifier(**settings).fit(frame, "queue")
        said.append(model.predict_proba(frame))
    np.testing.assert_array_equal(said[0], said[1])
    np.testing.assert_array_equal(said[0], said[2])
    alone = calibrant.TextClassifier(numeric="amount").fit(pd.DataFrame(table), labels)
    assert 0.05 < alone.report_.held_out.log_loss < 0.6
    with pytest.raises(ValueError, match="no column `text`; it has subject, body"):
        calibrant.TextClassifier(text="text").fit(pd.DataFrame(table), labels)
    with pytest.raises(ValueError, match="Name the columns"):
        calibrant.TextClassifier().fit(pd.DataFrame(table), labels)


def test_vectors_stand_beside_the_text_or_alone(mail):
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    texts, labels = mail
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(texts), 8)) + 2.0 * (np.array(labels) == "spam")[:, None]
    table = {"words": ["same"] * len(texts), "embedding": [row.astype(np.float32).tolist() for row in vectors]}
    said = []
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table)):
        alone = calibrant.TextClassifier(vector="embedding").fit(frame, labels)
        beside = calibrant.TextClassifier(text="words", vector="embedding").fit(frame, labels)
        assert alone.score(frame, labels) > 0.95
        said.append((alone.predict_proba(frame), beside.predict_proba(frame)))
    for other in said[1:]:
        np.testing.assert_array_equal(other[0], said[0][0])
        np.testing.assert_array_equal(other[1], said[0][1])
    ragged = pd.DataFrame({**table, "embedding": [[1.0], *table["embedding"][1:]]})
    with pytest.raises(ValueError, match="differ in length"):
        calibrant.TextClassifier(vector="embedding").fit(ragged, labels)
    with pytest.raises(ValueError, match="naive Bayes"):
        calibrant.TextClassifier("naive-bayes", vector="embedding").fit(frame, labels)


def test_a_file_opens_as_an_estimator(mail, tmp_path):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    model.save(tmp_path / "mail.calibrant")
    again = calibrant.TextClassifier.load(tmp_path / "mail.calibrant")
    np.testing.assert_array_equal(again.predict_proba(texts), model.predict_proba(texts))
    assert again.predict(texts[:5]).tolist() == model.predict(texts[:5]).tolist()
    assert again.decide(texts[:5], {("*", "*"): 1.0}).tolist() == model.decide(texts[:5], {("*", "*"): 1.0}).tolist()


def test_documents_that_were_learned_from_are_told(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    with pytest.warns(calibrant.CalibrantWarning, match="too good"):
        model.evaluate(texts, labels)


def test_a_wrong_setting_is_named(mail):
    texts, labels = mail
    wrong = [({"min_df": 0.01}, "min_df"), ({"stop_words": ["the"]}, "stop_words"), ({"C": "big"}, "c: "), ({"stem": True}, "stem")]
    for settings, word in wrong:
        with pytest.raises(calibrant.CalibrantError, match=word):
            calibrant.TextClassifier(**settings).fit(texts, labels)


@pytest.mark.parametrize(
    ("texts", "labels", "error", "words"),
    [
        ("one text", ["a"], ValueError, "string object received"),
        (["a", None, "b"], ["x", "y", "x"], calibrant.CalibrantError, "row 1 is missing"),
        (["a", float("nan"), "b"], ["x", "y", "x"], calibrant.CalibrantError, "row 1 is missing"),
        (["a", 7, "b"], ["x", "y", "x"], TypeError, "row 1 is no text but of type int"),
        ([b"a", b"b"], ["x", "y"], TypeError, "of type bytes"),
        ([], [], ValueError, "0 sample"),
        (["a", "b"], ["x"], ValueError, "inconsistent numbers of samples"),
        (["a", "b"], None, ValueError, "y is None"),
        (["a", "b"], ["x", None], ValueError, "label"),
        (["a", "b"], ["x", "x"], calibrant.FitError, "at least two classes"),
        (7, ["x"], TypeError, "not int"),
        (np.zeros((2, 2)), ["x", "y"], ValueError, "one-dimensional"),
        (np.zeros(2), ["x", "y"], TypeError, "float64"),
    ],
)
def test_wrong_texts_and_labels_are_told(texts, labels, error, words):
    with pytest.raises(error, match=words):
        calibrant.TextClassifier().fit(texts, labels)


def test_before_fit_nothing_is_said():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        calibrant.TextClassifier().predict(["a"])


def test_copies_pickles_and_files_say_the_same(mail, tmp_path):
    texts, labels = mail
    model = calibrant.TextClassifier("naive-bayes", stem="english", word_ngrams=2).fit(texts, labels)
    expected = model.predict_proba(texts)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(texts), expected)
    np.testing.assert_array_equal(clone(model).fit(texts, labels).predict_proba(texts), expected)
    model.save(tmp_path / "mail.calibrant")
    opened = calibrant.Model.open(tmp_path / "mail.calibrant")
    said = opened.native.predict({"rows": len(texts), "texts": [texts]}, "probability")
    np.testing.assert_array_equal(said, expected)
    assert opened.to_bytes() == (tmp_path / "mail.calibrant").read_bytes()
    with pytest.raises(calibrant.SavedFileError):
        calibrant.Model.from_bytes(b"not a model")
    with pytest.raises(calibrant.SavedFileError):
        calibrant.Model.from_bytes(opened.to_bytes()[:-9])


def test_one_text_is_many_texts_of_one(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    together = model.predict_proba(texts)
    for row, text in enumerate(texts[:20]):
        np.testing.assert_array_equal(model.predict_proba([text])[0], together[row])
        assert model.model_.native.predict_one(text) == together[row].tolist()


def test_it_is_at_home_in_searches(mail):
    texts, labels = mail
    grid = GridSearchCV(calibrant.TextClassifier(), {"C": [0.1, 1.0], "word_ngrams": [1, (1, 2)]}, scoring="neg_log_loss", cv=3)
    assert grid.fit(texts, labels).best_score_ > -0.69
    said = cross_val_predict(calibrant.TextClassifier(), texts, labels, cv=3, method="predict_proba")
    assert said.shape == (len(texts), 2)


def test_decisions_are_those_of_least_expected_cost(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    said = model.predict_proba(texts)
    costs = {("spam", "ham"): 3.0, ("ham", "spam"): 40.0, ("*", "ask"): 1.0}
    by_hand = np.column_stack([said[:, 1] * 3.0, said[:, 0] * 40.0, np.ones(len(texts))])
    expected = np.array(["ham", "spam", "ask"])[np.argmin(by_hand, axis=1)]
    assert set(expected) == {"ham", "spam", "ask"}
    assert model.decide(texts, costs).tolist() == expected.tolist()
    assert model.decide(texts, "spam,ham,3; ham,spam,40; *,ask,1").tolist() == expected.tolist()
    matrix = [[0.0, 40.0], [3.0, 0.0]]
    assert model.decide(texts, matrix).tolist() == np.array(["ham", "spam"])[np.argmin(by_hand[:, :2], axis=1)].tolist()
    assert sum(action == "ask" for action in model.decide(texts, ask=7)) == 7
    least_sure = np.argsort(said.max(axis=1))[:7]
    assert {row for row, action in enumerate(model.decide(texts, ask=7)) if action == "ask"} == set(least_sure.tolist())
    with pytest.raises(ValueError, match="pairs"):
        model.decide(texts, {"spam": 3.0})


def test_sets_hold_the_true_label_as_often_as_promised(newsgroups):
    texts, labels = newsgroups
    model = calibrant.TextClassifier().fit(texts[:1500], labels[:1500])
    sets = model.predict_sets(texts[2000:], 0.9, calibration=(texts[1500:2000], labels[1500:2000]))
    held = np.mean([truth in some for truth, some in zip(labels[2000:], sets, strict=True)])
    assert 0.86 < held < 0.96
    assert 1.0 < np.mean([len(some) for some in sets]) < 6.0


def test_answers_with_a_certified_error_rate(newsgroups):
    texts, labels = newsgroups
    model = calibrant.TextClassifier().fit(texts[:1500], labels[:1500])
    answers = model.decide(texts[1500:], max_error=0.1)
    given = answers != "ask"
    assert 0.1 < given.mean() < 1.0
    assert (answers[given] != labels[1500:][given]).mean() < 0.12
    # The threshold is kept; answers are those of the program's own way, which looks for it anew.
    said = calibrant.predict(model.model_, [{"text": text} for text in texts[1500:]], max_error=0.1)
    assert answers.tolist() == model.decide(texts[1500:], max_error=0.1).tolist() == [row["decision"] for row in said]
    stricter = model.decide(texts[1500:], max_error=0.05, certainty=0.9)
    assert (stricter != "ask").mean() < given.mean()
    with pytest.raises(calibrant.CalibrantError, match="max_error"):
        model.decide(texts[1500:], max_error=1.5)


def test_an_explanation_adds_up_and_shows_itself(mail):
    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts, labels)
    (one,) = model.explain(["win money at noon"])
    assert one.label == "spam"
    total = one.base_log_odds + sum(term["log_odds"] for term in one.terms)
    assert abs(total - one.calibrated_log_odds) < 1e-9
    assert "money" in one._repr_html_()
    assert list(one.to_frame().columns) == ["term", "count", "value", "score", "log_odds"]
    (other,) = model.explain(["win money at noon"], "ham")
    assert abs(one.probability + other.probability - 1.0) < 1e-12
    assert model._repr_html_()


def test_an_evaluation_agrees_with_scikit_learn(mail):
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

    texts, labels = mail
    model = calibrant.TextClassifier().fit(texts[:100], labels[:100])
    report = model.evaluate(texts[100:], labels[100:])
    said = model.predict_proba(texts[100:])
    truth = np.array(labels[100:])
    assert abs(report.log_loss - log_loss(truth, said)) < 1e-12
    assert abs(report.accuracy - accuracy_score(truth, model.predict(texts[100:]))) < 1e-12
    assert abs(report.brier - brier_score_loss(truth == "spam", said[:, 1])) < 1e-12
    spam = next(one for one in report.to_dict()["classes"] if one["label"] == "spam")
    assert abs(spam["auc"] - roc_auc_score(truth == "spam", said[:, 1])) < 1e-12


def test_several_labels_per_text():
    rng = np.random.default_rng(0)
    words = ["wheat", "oil", "ships"]
    labels = [[word for word in words if rng.random() < 0.4] for _ in range(300)]
    texts = [" ".join([*own, *rng.choice(["market", "price", "today"], 3)]) + f" {number}" for number, own in enumerate(labels)]
    model = calibrant.TextClassifier().fit(texts, labels)
    assert model.classes_.tolist() == sorted(words)
    flags = np.array([[word in own for word in sorted(words)] for own in labels]).astype(int)
    assert (model.predict(texts) == flags).mean() > 0.99
    assert model.score(texts, labels) > 0.98
    again = calibrant.TextClassifier().fit(texts, flags)
    # Other names, other folds: the same but for those.
    np.testing.assert_allclose(again.predict_proba(texts), model.predict_proba(texts), atol=0.01)
    with pytest.raises(ValueError, match="one label per document"):
        model.decide(texts)
    with pytest.raises(ValueError, match="several labels per document, y has one label"):
        model.evaluate(texts, ["oil"] * 300)


def test_the_vectorizer_agrees_with_scikit_learns(mail):
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = mail
    ours = calibrant.TextVectorizer()
    theirs = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")
    rows, expected = ours.fit_transform(texts), theirs.fit_transform(texts)
    assert rows.dtype == np.float32
    assert ours.vocabulary_.keys() == theirs.vocabulary_.keys()
    columns = [ours.vocabulary_[term] for term in theirs.get_feature_names_out()]
    np.testing.assert_allclose(rows.toarray()[:, columns], expected.toarray(), rtol=1e-5, atol=1e-7)
    again = pickle.loads(pickle.dumps(ours))
    assert (again.transform(texts[:3]) != rows[:3]).nnz == 0
    assert make_pipeline(calibrant.TextVectorizer(), LinearSVC()).fit(texts, labels).score(texts, labels) > 0.9
    assert calibrant.TextVectorizer(hash_bits=10).fit_transform(texts).shape == (200, 1024)
    with pytest.raises(calibrant.FitError, match="empty vocabulary"):
        calibrant.TextVectorizer(min_df=1000).fit(texts)
