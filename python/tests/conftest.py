from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import calibrant
import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT / "testdata" / "parity" / "data"


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.fixture(scope="session")
def tickets() -> list[dict[str, Any]]:
    return read_lines("tickets.jsonl")


@pytest.fixture(scope="session")
def new_tickets() -> list[dict[str, Any]]:
    return read_lines("tickets-new.jsonl")


@pytest.fixture(scope="session")
def model() -> calibrant.Model:
    return calibrant.fit(DATA / "tickets.jsonl")
