"""The documentation of the package runs: pages under docs/python, the README's lines, and the examples of docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import re
import shutil
from pathlib import Path

import calibrant
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "python").glob("*.md"))
# What stands for omitted text in an expected output.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FENCE = re.compile(r"^```(\w*)$")


def modules():
    found = ["calibrant"]
    for module in pkgutil.walk_packages(calibrant.__path__, "calibrant."):
        if not module.name.endswith("._calibrant"):
            found.append(module.name)
    return found


def blocks(page):
    """The blocks of code of a page: their language, the line of their first line, and their lines."""
    language, start, lines = None, 0, []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if fence and language is None:
            language, start, lines = fence.group(1), number + 1, []
        elif line == "```" and language is not None:
            yield language, start, lines
            language = None
        elif language is not None:
            lines.append(line)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the files of testdata/docs, as the console blocks of the guides have it."""
    for path in (ROOT / "testdata" / "docs").iterdir():
        if path.suffix not in (".py", ".md"):
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    yield tmp_path
    if "matplotlib.pyplot" in list(__import__("sys").modules):
        importlib.import_module("matplotlib.pyplot").close("all")


def run(test):
    printed = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    runner.run(test, out=printed.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(printed)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_says_what_happens(page, desk):
    parser, examples = doctest.DocTestParser(), []
    for language, start, lines in blocks(page):
        if language != "python":
            continue
        found = parser.get_examples("\n".join(lines) + "\n")
        assert found, f"{page.name}:{start}: a block of Python without >>> is not run"
        for example in found:
            example.lineno += start - 1
        examples += found
    run(doctest.DocTest(examples, {}, page.name, str(page), 0, None))


@pytest.mark.parametrize("name", modules())
def test_examples_of_docstrings_run(name, desk):
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        if test.examples:
            run(test)


def test_public_names_have_docstrings():
    for name in calibrant.__all__:
        if name != "__version__":
            assert (getattr(calibrant, name).__doc__ or "").strip(), name


def test_the_lines_of_the_readme_run(desk):
    code = ["\n".join(lines) for language, _, lines in blocks(ROOT / "README.md") if language == "python"]
    assert code
    for block in code:
        exec(compile(block, "README.md", "exec"), {})


def test_every_page_is_linked_from_the_index():
    index = (ROOT / "docs" / "python" / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        assert page.name == "README.md" or f"({page.name}" in index, page.name
    for notebook in (ROOT / "docs" / "notebooks").glob("*.ipynb"):
        assert f"(../notebooks/{notebook.name})" in (ROOT / "docs" / "python" / "tutorials.md").read_text(encoding="utf-8")


def test_relative_links_lead_somewhere():
    reference = (ROOT / "docs" / "python" / "reference").glob("*.md")
    for page in [*PAGES, *reference, ROOT / "docs" / "README.md"]:
        text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
        for target in re.findall(r"\]\(([^)]+)\)", text):
            path = target.partition("#")[0]
            if path and "://" not in path:
                assert os.path.exists(page.parent / path), f"{page.name}: {target}"
