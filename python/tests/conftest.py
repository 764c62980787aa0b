"""Data that many tests share."""

import json
import os
from pathlib import Path
from typing import Any

import calibrant
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("CALIBRANT_DATA", ROOT.parent / "shared" / "data"))


PARITY = ROOT / "testdata" / "parity" / "data"


def read_lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (PARITY / name).read_text().splitlines()]


@pytest.fixture(scope="session")
def tickets() -> list[dict[str, Any]]:
    return read_lines("tickets.jsonl")


@pytest.fixture(scope="session")
def new_tickets() -> list[dict[str, Any]]:
    return read_lines("tickets-new.jsonl")


@pytest.fixture(scope="session")
def model() -> calibrant.Model:
    return calibrant.fit(PARITY / "tickets.jsonl")


@pytest.fixture(scope="session")
def mail():
    """Two hundred short messages of two kinds that share some words."""
    rng = np.random.default_rng(7)
    words = {"ham": ["lunch", "noon", "see", "you", "meeting"], "spam": ["win", "big", "money", "prize", "now"]}
    common = ["the", "a", "today", "please"]
    texts, labels = [], []
    for number in range(200):
        label = "ham" if number % 2 else "spam"
        own = rng.choice(words[label], 3).tolist()
        other = rng.choice(words["spam" if label == "ham" else "ham"], 1).tolist()
        texts.append(" ".join([*own, *other, *rng.choice(common, 2).tolist(), str(number)]))
        labels.append(label)
    return texts, labels


@pytest.fixture(scope="session")
def newsgroups():
    """Three thousand newsgroup articles of all groups in a drawn order, with their labels; a loud skip where they are missing."""
    path = DATA / "20newsgroups.jsonl.gz"
    if not path.exists():
        pytest.skip(f"SKIPPED: {path} is missing; set CALIBRANT_DATA")
    import gzip

    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for number, line in enumerate(lines) if number % 6 == 0]
    order = np.random.default_rng(0).permutation(len(rows))[:3000]
    rows = [rows[row] for row in order]
    labels = [row["label"] if isinstance(row["label"], str) else row["label"][0] for row in rows]
    return [row["text"] for row in rows], np.array(labels)
