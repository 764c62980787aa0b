"""HTML reports shown inline in a notebook."""

from __future__ import annotations

import html
from os import PathLike
from pathlib import Path


class HtmlReport:
    """A page of HTML: shown in a notebook within a frame of its own, and written to a file by :meth:`save`.

    Parameters
    ----------
    html : str
        The whole page.
    height : int
        The height of the frame, in pixels.

    Examples
    --------
    >>> from calibrant._html import HtmlReport
    >>> page = HtmlReport("<!doctype html><title>Report</title><p>5 &lt; 6")
    >>> page
    HtmlReport(47 bytes)
    >>> page._repr_html_().startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    True
    """

    def __init__(self, html: str, *, height: int = 600) -> None:
        self.html = html
        self.height = height

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the page to a file."""
        Path(path).write_text(self.html, encoding="utf-8")

    def _repr_html_(self) -> str:
        # Sandboxed: the page may run its own scripts and open links, and sees nothing of the notebook.
        return (
            f'<iframe srcdoc="{html.escape(self.html, quote=True)}" sandbox="allow-scripts allow-popups" '
            f'style="width:100%;height:{self.height}px;border:1px solid #ccc"></iframe>'
        )

    def __repr__(self) -> str:
        return f"HtmlReport({len(self.html.encode())} bytes)"


__all__ = ["HtmlReport"]
