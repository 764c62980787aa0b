"""Golden files of every kind open as what they are and say what they said; what is saved is what was opened."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import calibrant
import pytest
from conftest import ROOT
from parity import differences, plain

MODELS = sorted((ROOT / "testdata" / "models").glob("*.calibrant"))
SAVED = ROOT / "testdata" / "saved"


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_say_what_they_said(path: Path) -> None:
    model = calibrant.open(path)
    expected = json.loads(path.with_suffix(".json").read_text())
    assert isinstance(model, calibrant.Model)
    assert model.class_names == expected["classes"]
    for answer in expected["answers"]:
        found = list(model.probabilities(answer["text"]).values())
        assert found == pytest.approx(answer["probabilities"], rel=1e-12)


def lines(name: str) -> list[Any]:
    return [json.loads(line) for line in (SAVED / f"{name}.expected.jsonl").read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "ending", "kind"),
    [
        ("calibrator-4-two-classes", "csv", calibrant.ScoreCalibrator),
        ("calibrator-4-three-classes", "csv", calibrant.ScoreCalibrator),
        ("combination-4", "csv", calibrant.Model),
        ("ranking-4-plain", "letor", calibrant.RankModel),
        ("ranking-4-relevance", "letor", calibrant.RankModel),
    ],
)
def test_other_files_say_what_they_said(name: str, ending: str, kind: type) -> None:
    path = SAVED / f"{name}.calibrant"
    opened = calibrant.open(path)
    assert isinstance(opened, kind)
    for again in (opened, kind.from_bytes(path.read_bytes()), pickle.loads(pickle.dumps(opened))):
        assert again.to_bytes() == path.read_bytes()
        ask = again.apply if kind is calibrant.ScoreCalibrator else again.predict
        found = plain(ask(SAVED / f"{name}.input.{ending}", frame="json"))
        assert differences(lines(name), found) == []
    assert calibrant.inspect(path).kind == calibrant.inspect(opened).kind


def test_a_policy_opens(tmp_path: Path) -> None:
    policy = calibrant.open(SAVED / "policy-1.calibrant")
    assert isinstance(policy, calibrant.Policy)
    policy.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (SAVED / "policy-1.calibrant").read_bytes()


def test_an_index_says_what_it_said() -> None:
    index = calibrant.open(SAVED / "index-1")
    assert isinstance(index, calibrant.SearchIndex)
    for line in lines("index-1"):
        found = index.search(line["query"], function=line["function"], top=len(line["hits"]) or 1)
        assert [hit.id for hit in found.hits][: len(line["hits"])] == [hit["id"] for hit in line["hits"]]
        assert [hit.score for hit in found.hits] == pytest.approx([hit["score"] for hit in line["hits"]], rel=1e-12)


def test_a_file_of_another_kind_is_refused() -> None:
    with pytest.raises(calibrant.SavedFileError, match="RankModel, not a Model"):
        calibrant.Model.open(SAVED / "ranking-4-plain.calibrant")
    with pytest.raises(calibrant.SavedFileError):
        calibrant.open(ROOT / "README.md")
    with pytest.raises(FileNotFoundError):
        calibrant.open("no such file")
    damaged = bytearray(MODELS[0].read_bytes())
    damaged[-1] ^= 1
    with pytest.raises(calibrant.SavedFileError):
        calibrant.Model.from_bytes(bytes(damaged))
