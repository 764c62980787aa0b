"""How far long work has come: shown by tqdm, or told to a function."""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Told of a stage, how much of it is done and how much there is (``None`` where nobody knows).
Progress = Callable[[str, int, int | None], object]

#: Work that takes no longer than this is not shown.
PATIENCE = 1.0


class _Bar:
    """A bar of tqdm for one stage after the other, once the work takes longer than a moment."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._begun < PATIENCE:
            return
        if self._bar is None or stage != self._stage:
            self.close()
            with warnings.catch_warnings():
                # Without ipywidgets tqdm says so, and draws a bar of characters: which will do.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._stage = stage
            self._bar = tqdm(total=total, desc=stage or "working", leave=False, unit_scale=True)
        if total is not None:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _somebody_looks() -> bool:
    """Whether standard error is a terminal, or this is a notebook."""
    return "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())


@contextmanager
def shown(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Give what the native module tells of its progress, for as long as the work lasts.

    Parameters
    ----------
    progress : callable, bool or None
        ``None`` shows tqdm's bar where tqdm is installed, somebody looks (a terminal or a notebook) and the work takes
        more than a second; ``True`` shows it whoever looks; ``False`` shows nothing. A function is called with the
        name of the
        stage, how much is done, and how much there is or ``None``.
    """
    if callable(progress):
        yield progress
        return
    wanted = progress if progress is not None else _somebody_looks()
    if not wanted or importlib.util.find_spec("tqdm") is None:
        yield None
        return
    bar = _Bar()
    try:
        yield bar
    finally:
        bar.close()
