"""What goes wrong is a kin of ValueError with the library's text and the next step in words of Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import calibrant
import pandas as pd
import pytest
from calibrant._progress import shown
from conftest import PARITY as DATA


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        calibrant.fit("nowhere.csv")
    with pytest.raises(FileNotFoundError):
        calibrant.predict("nowhere.calibrant", ["text"])


def test_a_field_that_is_not_there(tickets: list[dict[str, Any]]) -> None:
    with pytest.raises(calibrant.ReadError, match=r"label=…") as raised:
        calibrant.fit(tickets, label="topic")
    assert isinstance(raised.value, ValueError)
    assert "--" not in str(raised.value)
    with pytest.raises(calibrant.ReadError, match="the fields are `id`, `label`") as raised:
        calibrant.predict(calibrant.fit(tickets), tickets, text="body")
    assert "calibrant_row" not in str(raised.value)


def test_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"label":"a","text":"x"}\n{"label":\n')
    with pytest.raises(calibrant.ReadError, match=r"skip_bad_rows=True"):
        calibrant.fit(file)


def test_too_few_classes() -> None:
    with pytest.raises(calibrant.FitError, match="label=…"):
        calibrant.fit([{"label": "a", "text": "x"}] * 5)
    for empty in ([], pd.DataFrame({"text": [], "label": []})):
        with pytest.raises(calibrant.ReadError, match="the table has no rows"):
            calibrant.fit(empty)


def test_words_that_are_none(tickets: list[dict[str, Any]]) -> None:
    with pytest.raises(TypeError, match="did you mean 'classifier'"):
        calibrant.fit(tickets, clasifier="svm")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'labell'"):
        calibrant.predict("m", tickets, labell="x")  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="classifier: `svn` is not a learner"):
        calibrant.fit(tickets, classifier="svn")
    with pytest.raises(ValueError, match="rocchio"):
        calibrant.fit(tickets, classifier="rocchio", c=2.0)
    with pytest.raises(ValueError, match=r"^folds: invalid type"):
        calibrant.fit(tickets, folds="five")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="not a filter"):
        calibrant.fit(tickets, where="channel")


def test_what_does_not_go_together(model: calibrant.Model, new_tickets: list[dict[str, Any]]) -> None:
    for wrong in (
        {"prior": {"billing": 0.5}, "adapt_prior": True},
        {"prior": {"nobody": 0.5}},
        {"prior": "billing"},
        {"costs": "billing,praise"},
        {"max_error": 0.2, "costs": "*,ask,1"},
        {"calibration": new_tickets},
        {"per_class": True},
        {"answers": {"a": []}},
        {"f_beta": 1.0},
        {"top": 0},
    ):
        with pytest.raises(ValueError):  # noqa: PT011
            calibrant.predict(model, new_tickets, **wrong)
    with pytest.raises(ValueError, match="need a model"):
        calibrant.evaluate([{"a": 1.0}], [{"label": "a"}], other=0.1)
    with pytest.raises(TypeError):
        calibrant.predict(5, new_tickets)


def test_a_model_that_has_learned_from_the_documents(model: calibrant.Model, tickets: list[dict[str, Any]]) -> None:
    with pytest.raises(calibrant.CalibrantError, match=r"even_if_learned_from=True"):
        calibrant.recalibrate(model, tickets)


def test_rankings_that_have_nothing_in_common() -> None:
    qrels = [{"query": "q", "document": "a", "grade": 1}]
    with pytest.raises(calibrant.CalibrantError, match="judgements come first"):
        calibrant.evaluate_rankings(qrels, [{"query": "r", "document": "a", "score": 1.0}])
    with pytest.raises(ValueError, match="no column for the score"):
        calibrant.evaluate_rankings(qrels, qrels)
    with pytest.raises(TypeError, match="runs=…"):
        calibrant.RankModel.fit()


def test_progress_is_told_and_can_end_the_work(tickets: list[dict[str, Any]]) -> None:
    many = [{**row, "text": f"{row['text']} {n} {n * 7 % 1000}"} for n in range(150) for row in tickets]
    told: list[tuple[str, int, int | None]] = []
    calibrant.fit(many, progress=lambda *what: told.append(what))
    assert told, "work of a second is told of"
    assert {stage for stage, _, _ in told} - {""}

    def stop(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrant.fit(many, progress=stop)
    with shown(False) as nothing:
        assert nothing is None
    assert calibrant.fit(DATA / "two.csv", label="kind", progress=True).class_names


def test_reports_are_mappings(model: calibrant.Model) -> None:
    report = model.report
    assert report is not None
    assert report["rows"] == report.rows == len((DATA / "tickets.jsonl").read_text().splitlines())
    assert set(report) == set(report.to_dict())
    assert "rows" in dir(report)
    with pytest.raises(AttributeError, match="has no `nothing`"):
        _ = report.nothing
    assert "<table>" in report._repr_html_()
    assert list(report.to_frame("classes", kind="pandas")["label"]) == model.class_names
    assert len(report.to_frame(kind="polars")) == 1
