"""The same file gives the same numbers from the program and from Python, to the last bit; the same documents the same file."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import calibrant
import numpy as np
import pandas
import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS, CASES = ROOT / "testdata" / "docs", ROOT / "testdata" / "parity" / "data"


@pytest.fixture(scope="module")
def program():
    """Runs the program in a folder and gives what it prints. `./test.sh` names it; else it is looked for where cargo builds it."""
    asked = os.environ.get("CALIBRANT_PROGRAM")
    path = Path(asked) if asked else ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "debug" / "calibrant"
    if not asked and not path.exists():
        pytest.skip(f"SKIPPED: the program was NOT compared with Python: {path} is missing; build it, or set CALIBRANT_PROGRAM")

    def run(*arguments: object) -> str:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def rows(printed: str) -> list[dict[str, Any]]:
    """Numbers are printed with as many digits as tell them from all others: reading gives the same bits."""
    return [json.loads(line) for line in printed.splitlines()]


def by_class(said: list[dict[str, Any]], key: str, classes: Any) -> np.ndarray:
    tables = [{one["label"]: one[key] for one in document["classes"]} for document in said]
    return np.array([[table[str(name)] for name in classes] for table in tables])


# What is learned from, the options, and the documents to predict.
MODELS = {
    "one label": (CASES / "tickets.jsonl", {}, CASES / "tickets-new.jsonl"),
    "logistic regression of pairs of words": (
        CASES / "tickets.jsonl",
        {"classifier": "logistic", "word_ngrams": 2, "stem": "english", "calibrator": "beta"},
        CASES / "tickets-new.jsonl",
    ),
    "naive Bayes": (CASES / "tickets.jsonl", {"classifier": "naive-bayes"}, CASES / "tickets-new.jsonl"),
    "several labels": (CASES / "several.jsonl", {"label": "labels"}, CASES / "several-new.jsonl"),
    "numbers beside text": (
        DOCS / "accounts.csv",
        {"text": ["subject", "body"], "label": "queue", "numeric": ["age_days"], "categorical": ["plan", "country"], "seed": 3},
        DOCS / "accounts.csv",
    ),
    "vectors": (DOCS / "embedded.jsonl", {"vector": ["embedding"], "label": "queue"}, DOCS / "embedded.jsonl"),
}


def options(settings: dict[str, Any]) -> list[str]:
    words = {name: ",".join(value) if isinstance(value, list) else str(value) for name, value in settings.items()}
    return [word for name, value in words.items() for word in (f"--{name.replace('_', '-')}", value)]


def table_of(path: Path) -> pandas.DataFrame:
    """A file as a table. (`read_json` of pandas reads some numbers one bit away.)"""
    if path.suffix == ".jsonl":
        return pandas.DataFrame(rows(path.read_text(encoding="utf-8")))
    return pandas.read_csv(path)


def read_by(estimator: calibrant.TextClassifier, table: pandas.DataFrame) -> Any:
    """What an estimator reads: a table where it names columns."""
    return table if estimator.text or estimator.numeric or estimator.vector else table["text"]


@pytest.fixture(scope="module", params=MODELS)
def fitted(request, program, tmp_path_factory):
    """A model that the program has fitted, with what it was fitted to."""
    documents, settings, new = MODELS[request.param]
    path = tmp_path_factory.mktemp("models") / "m.calibrant"
    program("fit", documents, *options(settings), "-o", path)
    return path, documents, settings, new


def test_a_fit_of_python_is_the_program_s_file_byte_for_byte(fitted, tmp_path):
    path, documents, settings, _ = fitted
    expected = path.read_bytes()
    assert calibrant.fit(documents, **settings).to_bytes() == expected
    assert calibrant.fit(table_of(documents), **settings).to_bytes() == expected
    # With another seed it is another file: the comparison can fail.
    assert calibrant.fit(documents, **{**settings, "seed": 77}).to_bytes() != expected


def test_predictions_are_equal_to_the_last_bit(fitted, program):
    path, _, _, new = fitted
    expected = rows(program("predict", path, new, "--json", "--scores"))
    found = calibrant.predict(path, new, scores=True, frame="json")
    assert [one.to_dict() for one in found] == expected
    model = calibrant.Model.open(path)
    of_table = calibrant.predict(model, table_of(new), wide=True, frame="dicts")
    classes = model.class_names
    probabilities = by_class(expected, "probability", classes)
    assert [[row[name] for name in classes] for row in of_table] == probabilities.tolist()
    estimator = calibrant.TextClassifier.load(path)
    texts = read_by(estimator, table_of(new))
    assert estimator.predict_proba(texts).tolist() == by_class(expected, "probability", estimator.classes_).tolist()
    assert estimator.scores(texts).tolist() == by_class(expected, "score", estimator.classes_).tolist()


def test_log_odds_are_equal_to_the_last_bit(fitted, program):
    path, _, _, new = fitted
    classes = calibrant.Model.open(path).class_names
    estimator = calibrant.TextClassifier.load(path)
    log_odds = estimator.decision_function(read_by(estimator, table_of(new).head(5)))
    for row in range(5):
        asked = [word for name in classes for word in ("--class", name)]
        expected = json.loads(program("explain", path, "--file", new, "--row", row + 1, *asked, "--json"))
        found = calibrant.explain(path, file=new, row=row + 1, classes=classes)
        assert [one.to_dict() for one in found] == expected
        said = {one["label"]: one["log_odds"] for one in expected}
        wanted = [said[str(name)] for name in estimator.classes_]
        assert np.atleast_1d(log_odds[row]).tolist() == (wanted if log_odds.ndim == 2 else wanted[1:])


@pytest.mark.parametrize(
    ("scores", "new", "score", "settings"),
    [
        (DOCS / "scores.csv", DOCS / "later.csv", "margin", {"label": "truth"}),
        (DOCS / "scores.csv", DOCS / "later.csv", "margin", {"label": "truth", "method": "venn_abers"}),
        (CASES / "colours-stated.jsonl", CASES / "colours-stated-new.jsonl", "red,green,blue", {"label": "truth"}),
    ],
)
def test_a_calibrator_is_the_same_file_and_gives_the_same_probabilities(program, tmp_path, scores, new, score, settings):
    path, applied = tmp_path / "c", tmp_path / "applied.jsonl"
    program("calibrate", scores, "--score", score, *options(settings), "-o", path, "--apply", new, "--predictions", applied)
    fields = score.split(",")
    made = calibrant.calibrate(scores, fields, **settings)
    assert made.to_bytes() == path.read_bytes()
    assert calibrant.calibrate(table_of(scores), fields, **settings).to_bytes() == path.read_bytes()
    expected = rows(applied.read_text(encoding="utf-8"))
    assert [one.to_dict() for one in calibrant.open(path).apply(new, frame="json")] == expected
    of_table = calibrant.open(path).apply(table_of(new), frame="json")
    assert [one.to_dict() for one in of_table] == expected


def test_a_ranking_is_the_same_file_and_gives_the_same_scores(program, tmp_path):
    train, new, path = CASES / "judged.letor", CASES / "judged-new.letor", tmp_path / "r"
    program("rank", "fit", train, "--c", "0.1,1", "--bins", "5", "-o", path)
    made = calibrant.RankModel.fit(train, c=[0.1, 1.0], bins=5)
    assert made.to_bytes() == path.read_bytes()
    expected = rows(program("rank", "predict", path, new, "--json"))
    assert "probability" in expected[0]
    assert [one.to_dict() for one in calibrant.open(path).predict(new, frame="json")] == expected
    made = calibrant.RankModel.fit(letor(train), c=[0.1, 1.0], bins=5)
    assert made.to_bytes() == path.read_bytes()
    said = {(row["query"], row["document"]): (row["score"], row["probability"]) for row in expected}
    for row in made.predict(letor(new)):
        assert (row["score"], row["probability"]) == said[row["query"], row["document"]]


PAGES = {
    "measures": ([], {}),
    "costs": (["--costs", "*,*,5; outage,*,50; *,ask,2"], {"costs": "*,*,5; outage,*,50; *,ask,2"}),
    "other shares": (["--adapt-prior=always"], {"adapt_prior": "always"}),
    "without texts": (["--no-texts"], {"no_texts": True}),
}


@pytest.fixture(scope="module")
def tickets_model(program, tmp_path_factory):
    path = tmp_path_factory.mktemp("pages") / "tickets.calibrant"
    program("fit", DOCS / "tickets.csv", "--text", "subject,body", "--label", "queue", "-o", path)
    return path


@pytest.mark.parametrize("case", PAGES)
def test_the_page_of_an_evaluation_is_the_program_s(program, tickets_model, tmp_path, case):
    words, settings = PAGES[case]
    page, test = tmp_path / "page.html", DOCS / "tickets-march.csv"
    program("evaluate", tickets_model, test, "--html", page, "--no-ledger", *words)
    assert calibrant.evaluate(tickets_model, test, html=True, **settings).html == page.read_text(encoding="utf-8")


def test_the_page_of_what_to_expect_is_the_program_s(program, tickets_model, tmp_path):
    page, new = tmp_path / "page.html", DOCS / "new.csv"
    program("evaluate", tickets_model, new, "--without-labels", "--html", page)
    assert calibrant.expect(tickets_model, new, html=True).html == page.read_text(encoding="utf-8")


def test_the_page_of_a_table_is_the_program_s(program, tmp_path):
    page, stated, test = tmp_path / "page.html", CASES / "colours-stated.jsonl", CASES / "colours-stated.jsonl"
    program("evaluate", stated, test, "--label", "truth", "--html", page, "--no-ledger")
    assert calibrant.evaluate(stated, test, label="truth", html=True).html == page.read_text(encoding="utf-8")


def letor(path: Path) -> list[dict[str, Any]]:
    """The rows of a file with four columns; what is not written is zero."""
    found = []
    for line in path.read_text().splitlines():
        numbers, _, about = line.partition("#docid = ")
        grade, query, *cells = numbers.split()
        values = dict.fromkeys("1234", 0.0) | {name: float(value) for name, _, value in (cell.partition(":") for cell in cells)}
        found.append({"query": query.removeprefix("qid:"), "document": about.strip(), "grade": int(grade), **values})
    return found
