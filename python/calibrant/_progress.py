"""Progress of long work: shown by tqdm where there is one and somebody looks."""

from __future__ import annotations

import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

Show = Callable[[str, int, "int | None"], None]

_PATIENCE = 1.0


def _somebody_looks() -> bool:
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar:
    """A bar by tqdm, which appears when the work has taken a second."""

    def __init__(self) -> None:
        self._begun = time.monotonic()
        self._bar: Any = None
        self._stage = ""

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._begun < _PATIENCE or not stage:
            return
        if stage != self._stage:
            self.close()
            with warnings.catch_warnings():
                # Without ipywidgets tqdm says so, and draws a bar of characters: which will do.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm

            self._stage = stage
            self._bar = tqdm(total=total, desc=stage, leave=False)
        self._bar.n = done
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


class Watcher:
    """What is told about progress while a job runs; a context that takes the bar away at its end.

    Parameters
    ----------
    progress : None, bool or callable
        ``None`` shows a bar by tqdm if it is installed and somebody looks (a terminal or a notebook), ``True`` always, ``False`` never;
        a callable is called with the stage, how much is done, and the total or ``None``.
    """

    def __init__(self, progress: Show | bool | None = None) -> None:
        self._bar: _Bar | None = None
        self.show: Show | None = None
        if callable(progress):
            self.show = progress
        elif progress or (progress is None and _somebody_looks()):
            if importlib.util.find_spec("tqdm") is None:
                return
            self._bar = _Bar()
            self.show = self._bar

    def __enter__(self) -> Show | None:
        return self.show

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
