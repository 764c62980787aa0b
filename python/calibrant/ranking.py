"""Rankings learned from judged documents: SVM-MAP and its kin, with the probability that a document is relevant."""

from __future__ import annotations

import json
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant import _calibrant
from calibrant._base import plain_json, seed_of
from calibrant._input import Floats
from calibrant._progress import shown
from calibrant._report import Report


def query_sizes(rows: int, qid: Any = None, group: Any = None) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows of one query after the other: the order of the rows, and how many each query has.

    `qid` has a query per row, in any order; `group` has the number of rows of each query, as LightGBM's rankers take it.
    """
    if (qid is None) == (group is None):
        raise ValueError("give either qid (a query per row) or group (the number of rows of each query)")
    if group is not None:
        sizes = np.asarray(group, dtype=np.int64)
        if sizes.ndim != 1 or sizes.sum() != rows or (sizes < 1).any():
            raise ValueError(f"group must have the numbers of rows of all queries; they sum to {sizes.sum()}, not {rows}")
        return np.arange(rows), sizes
    queries = np.asarray(qid)
    if queries.shape != (rows,):
        raise ValueError(f"qid must have an entry per row; its shape is {queries.shape}, there are {rows} rows")
    _, first, number = np.unique(queries, return_index=True, return_inverse=True)
    order = np.argsort(first[number], kind="stable")
    sizes = np.bincount(number)[np.argsort(first, kind="stable")]
    return order, sizes.astype(np.int64)


class Ranker(BaseEstimator):  # type: ignore[misc]
    """Learns to rank: SVM-MAP by default, which optimises average precision itself.

    Parameters
    ----------
    loss : str
        What the ranking is to be good at: ``"map"``, ``"ndcg"``, ``"ndcg@10"``, ``"roc"``, ``"rr"``, ``"pairs"``, ``"acc"``, …
    C : float or list of float, optional
        The cost of errors, or several to choose from by mean average precision on held-out queries.
    bins : int or "auto"
        Cut each column at so many thresholds and learn a step function of it; 0 learns one slope per column.
    scale : str
        How values are scaled first: ``"as-given"``, ``"standard"``, ``"percentile"`` or ``"min-max"``.
    grades : {"auto", "one", "every"}
        How grades above the smallest relevant one are used: not at all, or each as a question of its own.
    relevant_from : int
        The smallest grade that is relevant.
    tol : float
        The relative gap at which learning ends.
    folds : int, optional
        Folds of queries for cross-validated choices.
    calibrator : str
        How scores become probabilities of relevance; ``"none"`` for no probabilities.
    random_state : int or RandomState
        The seed.
    progress : None, bool or callable
        Whether progress is shown.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import Ranker
    >>> rng = np.random.default_rng(0)
    >>> qid = np.repeat(np.arange(30), 10)
    >>> X = rng.normal(size=(300, 3)).astype(np.float32)
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=300) > 1).astype(int)
    >>> ranker = Ranker().fit(X, y, qid=qid)
    >>> scores = ranker.predict(X)
    >>> bool(np.corrcoef(scores, X[:, 0])[0, 1] > 0.9)
    True
    """

    ranking_: _calibrant.Ranking

    def __init__(
        self,
        loss: str = "map",
        *,
        C: float | list[float] | None = None,
        bins: int | str = "auto",
        scale: str = "as-given",
        grades: str = "auto",
        relevant_from: int = 1,
        tol: float = 1e-3,
        folds: int | None = None,
        calibrator: str = "auto",
        random_state: Any = 0,
        progress: Any = False,
    ) -> None:
        self.loss = loss
        self.C = C
        self.bins = bins
        self.scale = scale
        self.grades = grades
        self.relevant_from = relevant_from
        self.tol = tol
        self.folds = folds
        self.calibrator = calibrator
        self.random_state = random_state
        self.progress = progress

    def _settings(self) -> str:
        costs = [] if self.C is None else [float(c) for c in np.atleast_1d(self.C)]
        words = {
            "loss": self.loss,
            "c": costs,
            "bins": self.bins,
            "scale": self.scale,
            "grades": self.grades,
            "relevant_from": self.relevant_from,
            "tolerance": self.tol,
            "folds": self.folds,
            "seed": seed_of(self.random_state),
            "calibrator": self.calibrator,
        }
        return plain_json({name: value for name, value in words.items() if value is not None})

    def _checked(self, X: Any, *, reset: bool) -> npt.NDArray[np.float32]:
        # Missing values are NaN, which the learner knows how to treat.
        checked = validate_data(self, X, dtype=np.float32, order="C", reset=reset, ensure_all_finite="allow-nan")
        return cast("npt.NDArray[np.float32]", checked)

    def _names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [str(number) for number in range(1, self.n_features_in_ + 1)]

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        qid: Any = None,
        group: Any = None,
        eval_set: tuple[Any, Any] | None = None,
        eval_qid: Any = None,
        eval_group: Any = None,
    ) -> Self:
        """Learns the ranking.

        Parameters
        ----------
        X : array of shape (rows, columns)
            Features of documents; NaN marks a missing one.
        y : array of shape (rows,)
            Grades; from `relevant_from` on a document is relevant.
        qid : array of shape (rows,)
            The query of each row, in any order.
        group : array
            Instead of `qid`: how many rows each query has, one query after the other.
        eval_set : (X, y), optional
            Judged rows of other queries to choose C, bins and grades by; never learned from.
        eval_qid, eval_group
            Their queries, as `qid` or `group`.

        Returns
        -------
        self
        """
        X = self._checked(X, reset=True)
        values, sizes, grades = self._rows(X, y, qid, group)
        validation = None
        if eval_set is not None:
            if isinstance(eval_set, list) and len(eval_set) == 1:  # As LightGBM's rankers take it.
                (eval_set,) = eval_set
            other, other_y = eval_set
            if qid is not None and eval_qid is not None and set(np.asarray(qid).tolist()) & set(np.asarray(eval_qid).tolist()):
                raise ValueError("a query of eval_qid is among those of qid: what chooses must not be learned from")
            validation = self._rows(self._checked(other, reset=False), other_y, eval_qid, eval_group)
        with shown(self.progress) as show:
            self.ranking_ = _calibrant.fit_ranking_rows(values, self._names(), sizes, grades, validation, self._settings(), show)
        return self

    def _rows(
        self, X: npt.NDArray[np.float32], y: Any, qid: Any, group: Any
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], list[int]]:
        grades = np.asarray(y)
        if grades.shape != (len(X),):
            raise ValueError(f"y must have a grade per row; its shape is {grades.shape}, there are {len(X)} rows")
        whole = grades.astype(np.int64)
        if (whole != grades).any():
            raise ValueError("grades must be whole numbers")
        order, sizes = query_sizes(len(X), qid, group)
        return np.ascontiguousarray(X[order]), sizes, cast("list[int]", whole[order].tolist())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "ranking_")

    def predict(self, X: Any) -> Floats:
        """The score of each row: within a query, larger ones are to be listed first.

        Parameters
        ----------
        X : array of shape (rows, columns)
            As for :meth:`fit`.

        Returns
        -------
        ndarray of shape (rows,)
        """
        check_is_fitted(self)
        return self.ranking_.scores(self._checked(X, reset=False), self._names())

    def predict_relevance(self, X: Any, *, qid: Any = None, group: Any = None) -> Floats:
        """The probability that each row is relevant to its query, calibrated on held-out queries.

        Parameters
        ----------
        X, qid, group
            As for :meth:`fit`: scores are scaled within each query.

        Returns
        -------
        ndarray of shape (rows,)
        """
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        order, sizes = query_sizes(len(X), qid, group)
        said = self.ranking_.probabilities(np.ascontiguousarray(X[order]), self._names(), sizes)
        found = np.empty_like(said)
        found[order] = said
        return found

    @property
    def report_(self) -> Report:
        """How the ranking was learned: what was tried, mean average precision, the curve from scores to probabilities."""
        check_is_fitted(self)
        return Report(json.loads(self.ranking_.summary()))

    def save(self, path: Any) -> None:
        """Writes the ranking to a file that the program and :func:`calibrant.open` read.

        Parameters
        ----------
        path : path
            Where to.
        """
        check_is_fitted(self)
        self.ranking_.save(path)
