"""Every golden case gives the same numbers from Python as from the program and the library."""

from __future__ import annotations

from pathlib import Path

import pytest
from parity import FOLDER, check, differences

CASES = sorted((FOLDER / "cases").glob("*/*.json"))


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_case(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = check(path, tmp_path)
    assert not wrong, "\n".join(wrong)


def test_a_number_that_moved_by_more_than_rounding_is_found() -> None:
    assert not differences({"p": 0.25, "n": 3, "none": None}, {"p": 0.25 * (1 + 1e-13), "n": 3.0, "new": 1})
    assert differences({"p": 0.25}, {"p": 0.25 * (1 + 1e-11)})
    for wrong in ({"t": "true"}, {"t": 1}, {}):
        assert differences({"t": True}, wrong)
