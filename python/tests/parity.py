"""The cases of testdata/parity through the functions of the package: how they are run and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import calibrant

FOLDER = Path(__file__).parents[2] / "testdata" / "parity"
RELATIVE = 1e-12
ABSOLUTE = 1e-15

# What says something of a file, of a version or in prose, but nothing of what was computed; as
# crates/calibrant/tests/all/common/parity.rs.
NOT_COMPARED = {
    "brier_definition",
    "bytes",
    "calibrant_version",
    "file_bytes",
    "format_version",
    "ledger",
    "model",
    "model_bytes",
    "notes",
    "seconds",
    "snippet",
    "warnings",
}


def stripped(value: Any, leave_out: set[str]) -> Any:
    if isinstance(value, dict):
        kept = {key: one for key, one in value.items() if key not in leave_out}
        return {key: stripped(one, leave_out) for key, one in kept.items()}
    if isinstance(value, list):
        return [stripped(one, leave_out) for one in value]
    return value


def differences(expected: Any, found: Any, path: str = "") -> list[str]:
    """Every expected key and element must be there; an answer may have keys that are new."""
    is_number = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (expected, found))
    if is_number:
        near = abs(expected - found) <= RELATIVE * max(abs(expected), abs(found)) + ABSOLUTE
        return [] if near else [f"{path}: {expected} expected, {found} found"]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        return [said for n, (a, b) in pairs for said in differences(a, b, f"{path}[{n}]")]
    if isinstance(expected, dict) and isinstance(found, dict):
        return [said for key, one in expected.items() for said in differences(one, found.get(key), f"{path}.{key}")]
    if expected == found and isinstance(expected, bool) == isinstance(found, bool):
        return []
    return [f"{path}: {str(expected)[:100]} expected, {str(found)[:100]} found"]


def names(value: Any) -> list[str]:
    """One name or several, where there are any."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def listed(value: Any) -> list[str]:
    return str(value).split(",")


class Case:
    """Steps in one folder, the working directory: files of the cases are linked there, so that they have bare names."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for file in (FOLDER / "data").iterdir():
            (folder / file.name).symlink_to(file)

    def run(self, step: dict[str, Any]) -> Any:
        settings = {name.replace("-", "_"): value for name, value in step.get("settings", {}).items()}
        for name in ("text", "numeric", "categorical", "classes"):
            if name in settings:
                settings[name] = listed(settings[name])
        job = getattr(self, step["job"].replace(" ", "_"))
        return plain(job(step.get("in", {}), step.get("out"), settings))

    def fit(self, given: Any, out: str, settings: dict[str, Any]) -> Any:
        return calibrant.fit(given["documents"], output=out, **settings).report

    def predict(self, given: Any, out: str | None, settings: dict[str, Any]) -> Any:
        if settings.get("other") not in (None, "balanced", "cost"):
            settings["other"] = float(settings["other"])
        frame = None if out else "json"
        return calibrant.predict(given["model"], given["documents"], output=out, frame=frame, **settings)

    def explain(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        classes = names(settings.pop("class", None))
        return calibrant.explain(given["model"], given.get("text"), classes=classes, **settings)

    def evaluate(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        return calibrant.evaluate(given["system"], given["documents"], **settings)

    def compare(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        return calibrant.compare(given["documents"], names(given["systems"]), **settings)

    def combine(self, given: Any, out: str, settings: dict[str, Any]) -> Any:
        return calibrant.combine(names(given["models"]), given["documents"], output=out, **settings).report

    def inspect(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        found = calibrant.inspect(given["model"], **settings)
        opened = calibrant.open(given["model"])
        assert differences(plain(found), plain(calibrant.inspect(opened, **settings))) == []
        return found

    def rules_check(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        return calibrant.check_rules(given["rules"], given["documents"], **settings)

    def calibrate(self, given: Any, out: str, settings: dict[str, Any]) -> Any:
        score = listed(settings.pop("score"))
        return calibrant.calibrate(given["scores"], score, output=out, **settings).report

    def apply(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        return calibrant.open(given["calibrator"]).apply(given["scores"], frame="json", **settings)

    def index(self, given: Any, out: str, settings: dict[str, Any]) -> Any:
        return calibrant.SearchIndex.build(names(given["documents"]), out, **settings).report

    def search(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        index = calibrant.SearchIndex.open(given["index"])
        if "query" in given:
            return index.search(given["query"], **settings)
        queries = settings.pop("queries")
        if "run" in settings:
            return index.run(queries, output=settings.pop("run"), **settings)
        return index.features(queries, output=settings.pop("features"), **settings)

    def rank_fit(self, given: Any, out: str, settings: dict[str, Any]) -> Any:
        settings["runs"] = names(settings.pop("from_run", None)) or None
        if isinstance(settings.get("c"), str):
            settings["c"] = [float(one) for one in listed(settings["c"])]
        train = names(given.get("tables")) or None
        return calibrant.RankModel.fit(train, output=out, **settings).report

    def rank_predict(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        runs = names(settings.pop("from_run", None)) or None
        model = calibrant.RankModel.open(given["model"])
        return model.predict(names(given.get("tables")), runs=runs, frame="json", **settings)

    def rank_evaluate(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        return calibrant.evaluate_rankings(given["judgements"], names(given["rankings"]), **settings)

    def rank_outlook(self, given: Any, out: None, settings: dict[str, Any]) -> Any:
        if "at" in settings:
            settings["at"] = [int(rank) for rank in listed(settings["at"])]
        return calibrant.rank_outlook(given["run"], **settings)


def plain(answer: Any) -> Any:
    if isinstance(answer, calibrant.Report):
        return answer.to_dict()
    return [plain(one) for one in answer] if isinstance(answer, list) else answer


def check(path: Path, folder: Path) -> list[str]:
    """What differs from the expected answers, step by step."""
    case = json.loads(path.read_text())
    runner = Case(folder)
    wrong = []
    for number, step in enumerate(case["steps"], 1):
        found = stripped(runner.run(step), NOT_COMPARED | set(step.get("leave_out", ())))
        said = differences(step.get("expected"), found)
        wrong += [f"step {number}, {step['job']}: {one}" for one in said[:5]]
    return wrong
