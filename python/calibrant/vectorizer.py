"""Texts to weighted rows, for any learner of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from calibrant import _calibrant
from calibrant._base import plain_json
from calibrant._input import Array, text_column


class TextVectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts to a CSR matrix of weighted terms, by calibrant's words and on all threads.

    Parameters
    ----------
    weighting : str
        ``"log_tf_idf"``, ``"tf_idf"``, ``"tf"``, ``"log_tf"``, ``"binary"`` or ``"bm25"``.
    l2_norm : bool
        Scale rows to unit length.
    word_ngrams, char_ngrams : int or (int, int), optional
        Neighbouring words as terms, or characters instead of words.
    char_ngrams_across : bool
        Let character n-grams cross word boundaries.
    stem, stop_words : str, optional
        A language.
    keep_case, fold_accents, min_word_length, segmentation, emoji, signs
        As for :class:`TextClassifier`.
    hash_bits : int, optional
        Hash terms into ``2**hash_bits`` columns: no vocabulary.
    min_df : int
        Leave out terms in fewer documents.
    max_df : float
        Leave out terms in more than this share of documents.
    max_features : int, optional
        Keep at most this many terms, the most frequent by document.

    Attributes
    ----------
    vocabulary_ : dict
        The column of each term; the most frequent terms come first.

    Examples
    --------
    >>> from calibrant import TextVectorizer
    >>> vectorizer = TextVectorizer(weighting="tf", l2_norm=False)
    >>> vectorizer.fit_transform(["a late goal", "a goal, a match"]).toarray().tolist()
    [[1.0, 1.0, 1.0, 0.0], [2.0, 1.0, 0.0, 1.0]]
    >>> vectorizer.get_feature_names_out().tolist()
    ['a', 'goal', 'late', 'match']
    """

    vectorizer_: _calibrant.Vectorizer

    def __init__(
        self,
        *,
        weighting: str = "log_tf_idf",
        l2_norm: bool = True,
        word_ngrams: int | tuple[int, int] | None = None,
        char_ngrams: int | tuple[int, int] | None = None,
        char_ngrams_across: bool = False,
        stem: str | None = None,
        stop_words: str | None = None,
        keep_case: bool = False,
        fold_accents: bool = False,
        min_word_length: int | None = None,
        segmentation: str | None = None,
        emoji: bool = True,
        signs: bool = True,
        hash_bits: int | None = None,
        min_df: int = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
    ) -> None:
        self.weighting = weighting
        self.l2_norm = l2_norm
        self.word_ngrams = word_ngrams
        self.char_ngrams = char_ngrams
        self.char_ngrams_across = char_ngrams_across
        self.stem = stem
        self.stop_words = stop_words
        self.keep_case = keep_case
        self.fold_accents = fold_accents
        self.min_word_length = min_word_length
        self.segmentation = segmentation
        self.emoji = emoji
        self.signs = signs
        self.hash_bits = hash_bits
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features

    def _words(self) -> str:
        words = {name: value for name, value in self.get_params(deep=False).items() if name not in ("emoji", "signs")}
        words["no_emoji"], words["no_signs"] = not self.emoji, not self.signs
        return plain_json({name: value for name, value in words.items() if value is not None})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.no_validation = True
        tags.requires_fit = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learns terms and how many documents have them.

        Parameters
        ----------
        X : texts
            A list, an array or a column of texts.
        y : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        self
        """
        self.vectorizer_ = _calibrant.Vectorizer.fit(text_column(X), self._words())
        return self

    def transform(self, X: Any) -> Any:
        """Texts to a CSR matrix of float32; terms that were not learned have no column.

        Parameters
        ----------
        X : texts
            As for :meth:`fit`.

        Returns
        -------
        csr_matrix of shape (texts, terms)
        """
        from scipy.sparse import csr_matrix

        check_is_fitted(self)
        starts, columns, values, width = self.vectorizer_.transform(text_column(X))
        if len(values) <= np.iinfo(np.int32).max:
            starts = starts.astype(np.int32)
        return csr_matrix((values, columns, starts), shape=(len(starts) - 1, width), copy=False)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """Learns terms of texts, and gives their rows.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        **fit_params : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        csr_matrix of shape (texts, terms)
        """
        return self.fit(X, y).transform(X)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "vectorizer_")

    @property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each term."""
        return {term: column for column, term in enumerate(self.get_feature_names_out().tolist())}

    @property
    def document_frequencies_(self) -> npt.NDArray[np.uint32]:
        """In how many of the learned texts each term occurs."""
        check_is_fitted(self)
        return self.vectorizer_.document_frequencies

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The term of each column.

        Parameters
        ----------
        input_features : ignored
            For scikit-learn's pipelines.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        terms = self.vectorizer_.terms
        if terms is None:
            raise ValueError("hashed columns have no names")
        return np.array(terms, dtype=object)

    def analyze(self, text: str) -> list[str]:
        """The terms of a text, in order, as they are counted.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        return self.vectorizer_.analyze(text)
