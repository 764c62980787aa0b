"""Tables of every kind give what the file gives, and come back as the caller's kind."""

from __future__ import annotations

import datetime
import io
import json
from typing import Any

import calibrant
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from calibrant._frames import beside, columns_of, source_of
from conftest import PARITY as DATA

KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.Table.from_pylist,
    "dicts": list,
    "columns": lambda rows: {name: [row[name] for row in rows] for name in rows[0]},
    "lazy": lambda rows: pl.DataFrame(rows).lazy(),
    "batch": lambda rows: pa.RecordBatch.from_pylist(rows),
    "generator": iter,
    "objects": lambda rows: pd.DataFrame(rows).astype(object),
    "categories": lambda rows: pd.DataFrame(rows).astype({"label": "category"}),
}


def cells(table: Any, name: str) -> list[Any]:
    return columns_of(table)[name]


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_gives_what_its_file_gives(
    kind: str, tickets: list[dict[str, Any]], new_tickets: list[dict[str, Any]], model: calibrant.Model
) -> None:
    fitted = calibrant.fit(KINDS[kind](tickets))
    assert fitted.to_bytes() == model.to_bytes()
    expected = calibrant.predict(model, DATA / "tickets-new.jsonl", frame="dicts")
    found = calibrant.predict(model, KINDS[kind](new_tickets))
    for name, own in (("calibrant_label", "label"), ("probability", "probability")):
        assert cells(found, name) == [row[own] for row in expected]
    measured = calibrant.evaluate(model, KINDS[kind](new_tickets), bootstrap=0)
    assert measured.log_loss == calibrant.evaluate(model, DATA / "tickets-new.jsonl", bootstrap=0).log_loss


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dicts"])
def test_predictions_stand_beside_the_caller_s_columns(kind: str, new_tickets: list[dict[str, Any]], model: calibrant.Model) -> None:
    given = KINDS[kind](new_tickets)
    found = calibrant.predict(model, given, wide=True, sets=0.9)
    assert type(found) is type(given)
    columns = columns_of(found)
    names = [*new_tickets[0], "calibrant_label", "probability", "set", *model.class_names]
    assert list(columns) == names
    assert columns["text"] == [row["text"] for row in new_tickets]
    sums = np.sum([columns[name] for name in model.class_names], axis=0)
    assert np.allclose(sums, 1.0)
    assert all(isinstance(one, list) for one in columns["set"])


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dicts"])
def test_rows_that_are_filtered_are_not_among_the_results(kind: str, new_tickets: list[dict[str, Any]], model: calibrant.Model) -> None:
    found = calibrant.predict(model, KINDS[kind](new_tickets), where="channel=web")
    expected = [row["id"] for row in new_tickets if row["channel"] == "web"]
    assert 0 < len(expected) < len(new_tickets)
    assert cells(found, "id") == expected
    alone = calibrant.predict(model, [row for row in new_tickets if row["channel"] == "web"])
    assert cells(found, "probability") == cells(alone, "probability")


def test_an_index_of_pandas_is_kept(new_tickets: list[dict[str, Any]], model: calibrant.Model) -> None:
    given = pd.DataFrame(new_tickets).set_index("id")
    found = calibrant.predict(model, given)
    assert found.index.equals(given.index)
    assert "calibrant_label" not in given.columns, "the caller's table is left alone"


def test_texts_alone_can_be_asked(model: calibrant.Model, new_tickets: list[dict[str, Any]]) -> None:
    texts = [row["text"] for row in new_tickets]
    expected = [row["probability"] for row in calibrant.predict(model, new_tickets)]
    for given in (texts, tuple(texts), pd.Series(texts), pl.Series(texts)):
        found = calibrant.predict(model, given)
        assert cells(found, "probability") == expected
    assert model.probabilities(texts[0]) == pytest.approx(
        calibrant.predict(model, texts[:1], wide=True, frame="pandas").iloc[0][model.class_names].to_dict(), rel=1e-15
    )


def test_another_kind_can_be_asked_for(new_tickets: list[dict[str, Any]], model: calibrant.Model) -> None:
    found = calibrant.predict(model, new_tickets, frame="polars")
    assert isinstance(found, pl.DataFrame)
    assert found["probability"].to_list() == [row["probability"] for row in calibrant.predict(model, new_tickets)]
    assert isinstance(calibrant.predict(model, DATA / "tickets-new.jsonl", frame="pyarrow"), pa.Table)


def test_cells_become_json() -> None:
    table = pd.DataFrame(
        {
            "whole": [1, 2],
            "real": [0.1, float("nan")],
            "small": np.array([0.5, 0.1], dtype=np.float32),
            "truth": [True, False],
            "text": ["é", None],
            "day": [datetime.date(2024, 2, 29), None],
            "moment": pd.to_datetime(["2024-02-29T12:00", None]),
            "several": [["a", "b"], np.array([1, 2])],
            "gap": pd.array([1, None], dtype="Int64"),
            "of": pd.Categorical(["x", None]),
        }
    )
    source = source_of(table)
    assert isinstance(source, tuple)
    first, second = (json.loads(line) for line in source[1].splitlines())
    assert first == {
        "whole": 1,
        "real": 0.1,
        "small": 0.5,
        "truth": True,
        "text": "é",
        "day": "2024-02-29",
        "moment": "2024-02-29T12:00:00",
        "several": ["a", "b"],
        "gap": 1,
        "of": "x",
    }
    assert second == {
        "whole": 2,
        "real": None,
        "small": float(np.float32(0.1)),
        "truth": False,
        "text": None,
        "day": None,
        "moment": None,
        "several": [1, 2],
        "gap": None,
        "of": None,
    }


def test_numbers_keep_every_bit() -> None:
    numbers = np.random.default_rng(3).normal(size=200) * 10.0 ** np.arange(-100, 100)
    for table in (pd.DataFrame({"n": numbers}), pl.DataFrame({"n": numbers}), pa.table({"n": numbers})):
        source = source_of(table)
        assert [json.loads(line)["n"] for line in source[1].splitlines()] == numbers.tolist()


def test_open_files_and_bytes_are_read(model: calibrant.Model) -> None:
    path = DATA / "tickets.jsonl"
    with path.open("rb") as file:
        assert calibrant.fit(file).to_bytes() == model.to_bytes()
    for given in (("tickets.jsonl", path.read_bytes()), io.BytesIO(path.read_bytes()), path.read_bytes()):
        assert calibrant.fit(given).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("wrong", [5, [1, 2], [{"text": "a"}, "b"], {"a": [1], "b": [1, 2]}, pd.DataFrame([[1, 2]], columns=["a", "a"])])
def test_what_is_no_table_is_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        calibrant.fit(wrong)


def test_taken_names_are_left_alone() -> None:
    found = beside([{"label": 1, "calibrant_label": 2}], [{"label": 3}])
    assert found == [{"label": 1, "calibrant_label": 2, "calibrant_calibrant_label": 3}]
