"""The API reference is what the docstrings say, and these describe everything."""

from __future__ import annotations

import inspect
import os
from pathlib import Path

import pytest
import reference
from reference import FAMILIES, MADE, PAGES, parameters, public, read

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "python" / "reference"
TEXTS, MISSING = reference.pages()


@pytest.mark.parametrize("name", TEXTS)
def test_the_page_is_what_the_docstrings_say(name):
    """With ``CALIBRANT_DOCS=write`` it is made so."""
    path = FOLDER / name
    if os.environ.get("CALIBRANT_DOCS") == "write":
        FOLDER.mkdir(exist_ok=True)
        path.write_text(TEXTS[name], encoding="utf-8")
    same = path.exists() and path.read_text(encoding="utf-8") == TEXTS[name]
    assert same, f"{name} is not what the docstrings say: CALIBRANT_DOCS=write with this test rewrites it"


def test_there_is_no_page_of_old():
    assert sorted(path.name for path in FOLDER.iterdir()) == sorted(TEXTS)


def test_every_public_name_is_on_one_page():
    named = [name for _, _, names in PAGES.values() for name in names]
    assert sorted(named) == sorted(public())


def test_every_argument_is_described():
    assert not MISSING, "\n".join(MISSING)


def is_error(thing):
    return inspect.isclass(thing) and issubclass(thing, (Exception, Warning))


@pytest.mark.parametrize("name", [name for name, thing in public().items() if not is_error(thing)])
def test_the_docstring_has_all_parts(name):
    thing = public()[name]
    sections = read(thing).sections
    native = not hasattr(thing, "__globals__") and not inspect.isclass(thing)
    assert native or "Examples" in sections
    if not inspect.isclass(thing):
        assert native or "Returns" in sections
    elif name not in MADE:
        assert "Parameters" in sections


def test_a_method_without_a_word_on_an_argument_is_found():
    class Strange:
        """Something."""

        def fit(self, X, depth=1):
            """Learns.

            Parameters
            ----------
            X : array
                Rows.
            deep : int
                No such thing.
            """

        def predict(self, X, wide):
            """Says."""

    Strange.__module__ = "calibrant.strange"
    writer = reference.Writer()
    writer.described("Strange.fit", Strange.fit, Strange)
    assert writer.missing == [
        "Strange.fit: the parameter `depth` is not described",
        "Strange.fit: there is no parameter `deep`",
    ]
    writer.missing.clear()
    # What goes in is as for `fit`; what is new must be described.
    writer.described("Strange.predict", Strange.predict, Strange)
    assert writer.missing == ["Strange.predict: the parameter `wide` is not described"]
    assert [one.name for one in parameters(Strange.predict)] == ["X", "wide"]


def test_families_are_not_called_by_users():
    assert not [cls for cls in FAMILIES if cls in public().values()]
