"""Fitted models of texts, as values."""

from __future__ import annotations

import json
import os
from functools import cached_property
from typing import Any, Self

from calibrant import _calibrant
from calibrant._report import Report, report_of


class Saved:
    """Something that is saved in a file of calibrant's; the base of all such.

    Pickling goes through the bytes of the same file, which are checked when they are read.

    Attributes
    ----------
    report : Report or None
        What the job that made it found; ``None`` where it was opened.
    """

    _native: Any

    def __init__(self, native: Any, report: Report | None = None) -> None:
        self._native = native
        #: What the job that made it found; ``None`` where it was opened.
        self.report = report

    @property
    def native(self) -> Any:
        """The object of the native module."""
        return self._native

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a file.

        Parameters
        ----------
        path : path
            A file that the program, the library or this package wrote; of another kind it is refused.

        Returns
        -------
        self
        """
        return cls._checked(_calibrant.open_saved(os.fspath(path)), os.fspath(path))

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Make it of the bytes of a file.

        Parameters
        ----------
        data : bytes
            What :meth:`to_bytes` gave.

        Returns
        -------
        self
        """
        return cls._checked(_calibrant.open_saved_bytes(data), "the bytes")

    @classmethod
    def _checked(cls, native: Any, what: str) -> Self:
        opened = wrap(native)
        if not isinstance(opened, cls):
            raise _calibrant.SavedFileError(f"{what}: holds a {type(opened).__name__}, not a {cls.__name__}")
        return opened

    def to_bytes(self) -> bytes:
        """Give the bytes of the file that :meth:`save` writes."""
        data: bytes = self._native.to_bytes()
        return data

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, as a whole or not at all; every front end of calibrant opens it.

        Parameters
        ----------
        path : path
            Where to.
        """
        self._native.save(os.fspath(path))

    def inspect(self) -> Report:
        """Show what is in it, as ``calibrant inspect --json`` does."""
        return report_of(self._native.inspect())

    def __reduce__(self) -> Any:
        return (_restored, (self.to_bytes(), self.report))


class Model(Saved):
    """A calibrated classifier of texts, or several combined.

    Made by :func:`calibrant.fit`, :func:`calibrant.combine` and :func:`calibrant.recalibrate`, or opened by
    :func:`calibrant.open`.

    Examples
    --------
    >>> import calibrant
    >>> mail = [{"label": "ham", "text": f"lunch at noon {i}"} for i in range(20)]
    >>> mail += [{"label": "spam", "text": f"win big money {i}"} for i in range(20)]
    >>> model = calibrant.fit(mail)
    >>> model
    Model(classes=['ham', 'spam'], documents=40)
    >>> model.class_names, model.several_labels
    (['ham', 'spam'], False)
    >>> bool(model.probabilities("win money")["spam"] > 0.9)
    True
    """

    @property
    def class_names(self) -> list[str]:
        """The classes, in order."""
        return list(self._names)

    @cached_property
    def _names(self) -> list[str]:
        return list(self._native.class_names)

    @property
    def several_labels(self) -> bool:
        """Whether a document may have several labels."""
        return bool(self._native.several_labels)

    @property
    def is_combination(self) -> bool:
        """Whether it is made of several models."""
        return bool(self._native.is_combination)

    @property
    def priors(self) -> dict[str, float]:
        """The shares of the classes in training."""
        return dict(zip(self.class_names, self._native.priors, strict=True))

    @property
    def summary(self) -> Report:
        """What the model remembers of its training."""
        return report_of(self._native.summary())

    @property
    def fields(self) -> Report:
        """Which fields of a file it reads."""
        return report_of(self._native.fields())

    def inspect(self, terms: int | None = None) -> Report:
        """Show what is in it, as ``calibrant inspect --json`` does.

        Parameters
        ----------
        terms : int, optional
            Also show so many of the strongest terms of each class.

        Returns
        -------
        Report
        """
        return report_of(self._native.inspect(terms))

    def probabilities(self, text: str) -> dict[str, float]:
        """Give the probability of every class for one text.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        dict
            Probabilities by class.
        """
        return dict(zip(self._names, self._native.predict_one(text), strict=True))

    def predict(self, documents: Any, **settings: Any) -> Any:
        """Predict the documents of a file or a table.

        Parameters
        ----------
        documents : path, table or list of str
            The documents.
        **settings
            All else as for :func:`calibrant.predict`.

        Returns
        -------
        table
        """
        from calibrant._predict import predict

        return predict(self, documents, **settings)

    def evaluate(self, documents: Any, **settings: Any) -> Report:
        """Measure it on labelled documents.

        Parameters
        ----------
        documents : path or table
            The documents.
        **settings
            All else as for :func:`calibrant.evaluate`.

        Returns
        -------
        Report
        """
        from calibrant._evaluate import evaluate

        return evaluate(self, documents, **settings)

    def explain(self, document: Any, **settings: Any) -> Any:
        """Say which terms moved a document's log-odds.

        Parameters
        ----------
        document : str
            The text.
        **settings
            All else as for :func:`calibrant.explain`.

        Returns
        -------
        list of Explanation
        """
        from calibrant._explain import explain

        return explain(self, document, **settings)

    def __repr__(self) -> str:
        documents = json.loads(self._native.summary()).get("documents")
        return f"Model(classes={self.class_names!r}, documents={documents})"


def wrap(native: Any, report: Report | None = None) -> Any:
    """Give the class of the package for an object of the native module."""
    from calibrant._policy import Policy
    from calibrant._ranking import RankModel
    from calibrant._scores import ScoreCalibrator
    from calibrant._search import SearchIndex

    if isinstance(native, _calibrant.SearchIndex):
        return SearchIndex(native)
    classes: dict[Any, type[Saved]] = {
        _calibrant.Model: Model,
        _calibrant.ScoreCalibrator: ScoreCalibrator,
        _calibrant.Policy: Policy,
        _calibrant.RankModel: RankModel,
    }
    return classes[type(native)](native, report)


def _restored(data: bytes, report: Report | None) -> Any:
    return wrap(_calibrant.open_saved_bytes(data), report)


def _native(given: Any) -> Any:
    """Give the native model of a :class:`Model` or of a fitted estimator; ``None`` of anything else."""
    model = getattr(given, "model_", given)
    native = getattr(model, "native", model)
    return native if isinstance(native, _calibrant.Model) else None


def is_model(given: Any) -> bool:
    """Whether something is a model, or an estimator that has one."""
    return _native(given) is not None


def model_of(given: Any) -> Any:
    """Give the native model of a :class:`Model`, of something fitted that has one, or of a file."""
    if isinstance(given, (str, os.PathLike)):
        return Model.open(given).native
    native = _native(given)
    if native is None:
        raise TypeError(f"a model or the path of one is needed, not {type(given).__name__}")
    return native


def name_of(given: Any) -> str:
    """Give what a model or a table is called in reports."""
    if isinstance(given, (str, os.PathLike)):
        return os.path.basename(os.fspath(given))
    return "the model" if is_model(given) else "the table"
