"""Text in, calibrated probabilities out: the whole path as one scikit-learn estimator."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from calibrant import _calibrant
from calibrant._base import ModelClassifier, class_weight_words, json_words, seed_of
from calibrant._explain import Explanation
from calibrant._input import (
    Floats,
    column_names,
    column_of,
    encode,
    group_texts,
    is_frame,
    row_count,
    text_column,
    weights_of,
)
from calibrant._progress import shown


def _as_list(names: str | Sequence[str] | None) -> list[str]:
    if names is None:
        return []
    return [names] if isinstance(names, str) else [str(name) for name in names]


def _numbers(column: Any) -> Floats:
    values = column.to_numpy(zero_copy_only=False) if hasattr(column, "null_count") and hasattr(column, "type") else column
    array = np.asarray(values)
    if array.dtype.kind == "O":
        array = np.array([np.nan if value is None else value for value in array.tolist()], dtype=np.float64)
    return np.ascontiguousarray(array, dtype=np.float64)


def _categories(column: Any) -> list[str | None]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if value is None or value != value else str(value) for value in values]


def _vectors(column: Any, name: str) -> npt.NDArray[np.float32]:
    values = column.to_pylist() if hasattr(column, "to_pylist") else column.to_list() if hasattr(column, "to_list") else list(column)
    lengths = {len(value) for value in values if value is not None}
    if len(lengths) > 1:
        raise ValueError(f"the vectors of column `{name}` differ in length: {sorted(lengths)[:5]}")
    if not lengths:
        raise ValueError(f"column `{name}` has no vector")
    missing = np.zeros(lengths.pop(), dtype=np.float32)
    table = np.array([missing if value is None else value for value in values], dtype=np.float32)
    if not np.isfinite(table).all():
        raise ValueError(f"the vectors of column `{name}` contain NaN or infinity")
    return np.ascontiguousarray(table)


def documents_table(
    X: Any, text: Sequence[str], numeric: Sequence[str] = (), categorical: Sequence[str] = (), vector: Sequence[str] = ()
) -> dict[str, Any]:
    """Texts, or the columns of a table that are asked for, as the native module takes them."""
    if not is_frame(X):
        if numeric or categorical or vector or len(text) > 1:
            raise ValueError("columns can be named only where X is a table (a DataFrame)")
        column = text_column(X)
        return {"rows": row_count(column), "texts": [column]}
    known = column_names(X)
    missing = [name for name in (*text, *numeric, *categorical, *vector) if name not in known]
    if missing:
        raise ValueError(f"the table has no column `{missing[0]}`; it has {', '.join(known[:20])}")
    if not (text or numeric or categorical or vector):
        return {"rows": len(X), "texts": [text_column(X)]}
    texts = [text_column(column_of(X, name)) for name in text]
    return {
        "rows": len(X),
        "texts": texts,
        "numbers": [_numbers(column_of(X, name)) for name in numeric],
        "categories": [_categories(column_of(X, name)) for name in categorical],
        "vectors": [_vectors(column_of(X, name), name) for name in vector],
    }


class TextClassifier(ModelClassifier):
    """Classifies texts with calibrated probabilities: words, weights, classifier and calibration in one estimator.

    `X` is a list of str, a NumPy array, a column of pandas, Polars or PyArrow (read without a copy through Arrow), or a whole table with
    the columns named by `text`, `numeric` and `categorical`. `y` has one label per text, or several (lists of labels or an indicator
    matrix). All settings have the program's words; what is ``None`` is as by default.

    Parameters
    ----------
    classifier : str
        The learner: ``"svm"``, ``"logistic"``, ``"naive-bayes"``, ``"knn"``, … (``calibrant.names("classifier")``). Settings of one
        learner that are given for another are refused.
    text : str or list of str, optional
        Columns of a table with texts, joined in this order.
    numeric, categorical : str or list of str, optional
        Columns with numbers, and with one of a set of values, as features beside the text or instead of it.
    vector : str or list of str, optional
        Columns with lists of numbers (embeddings), of one length for each column, as features beside the text or instead of it.
    C : float, optional
        The SVM and logistic regression: the cost of errors. By default 0.5 and 10; two or four times that if classes are easy to
        separate and the held-out log loss is lower.
    loss : {"squared_hinge", "hinge"}, optional
        The SVM: its loss.
    log_count_ratio : float, optional
        The SVM: scale terms by their log-count ratio (how much more often they occur with the class than without), smoothed by this.
    tol : float, optional
        The SVM and logistic regression: the relative duality gap at which they stop, 0.0001 by default.
    max_iter : int, optional
        The SVM and logistic regression: the most passes over the data, 1000 by default.
    alpha : float, optional
        Naive Bayes: additive smoothing, added to the count of every word; 1 by default.
    word_prior : float, optional
        Naive Bayes: smooth with this many extra words, distributed as in the whole corpus, instead of `alpha`.
    nearness : {"cosine", "euclidean"}, optional
        Rocchio: the similarity of a document and the centroid of a class.
    rounds : int, optional
        AdaBoost: the most stumps per class, 200 by default.
    boosting : {"real", "discrete", "shares"}, optional
        AdaBoost: the kind of stump. It says how sure it is on each side of its threshold; or yes or no, with one weight; or the same
        with scores that are shares of the votes.
    neighbours : int or "auto", optional
        Nearest neighbours: how many vote; ``"auto"``, the default, chooses by log loss among the training documents.
    vote : {"similarity", "majority"}, optional
        Nearest neighbours: how votes are weighted.
    approximate : bool, optional
        Nearest neighbours: search only part of the index; faster, and may miss some neighbours.
    epochs : int, optional
        The perceptron: passes over the documents.
    voted : bool, optional
        The perceptron: let all stages of learning vote, instead of averaging them.
    class_weight : "balanced" or mapping, optional
        Weights of classes in training; probabilities refer to the documents as they are all the same.
    calibrator : str
        How scores become probabilities; ``"auto"`` chooses for each class by held-out log loss (``calibrant.names("calibrator")`` lists
        all).
    multiclass : str
        With one label per document: how the classes are calibrated together (``calibrant.names("multiclass")``).
    monotone : bool
        Make every curve monotone: no class becomes less likely as its own score grows.
    folds : int
        Folds of the cross-fitting that gives calibration its held-out scores.
    stem : str, optional
        Reduce words to Snowball stems of this language, such as ``"english"``.
    stop_words : str, optional
        Leave out the stop words of this language.
    keep_case : bool
        Keep upper and lower case distinct.
    fold_accents : bool
        Fold accents: é becomes e.
    min_word_length : int, optional
        Leave out words with fewer characters (ideographs always stay).
    segmentation : {"pairs", "characters", "dictionary", "dictionary_pairs"}, optional
        What a word is in Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no spaces between words.
    emoji : bool
        Whether emoji are words.
    signs : bool
        Whether C++ and C# are other words than c.
    word_ngrams : int or (int, int), optional
        Neighbouring words as terms; ``2`` means one and two words.
    char_ngrams : int or (int, int), optional
        Characters within words as terms, instead of words; ``3`` means three characters, ``(3, 5)`` three to five.
    char_ngrams_across : bool
        Let character n-grams cross word boundaries.
    hash_bits : int, optional
        Hash terms into ``2**hash_bits`` columns: bounded memory, no vocabulary.
    min_df : int, optional
        Leave out terms in fewer documents. By default 1 below 10,000 documents, or 2 if that lowers the held-out log loss and no
        `weighting` is given; 2 from there on.
    max_df : float, optional
        Leave out terms in more than this share of documents.
    max_features : int, optional
        Keep at most this many terms, the most frequent by document.
    weighting : str, optional
        The weight of a term, one of ``calibrant.names("weighting")``. By default what the learner usually takes; for the SVM, logistic
        regression and the perceptron ``"log_tf_idf"``, unless ``"bm25"`` or ``"log_tf"`` has a held-out log loss that is lower by a
        standard error.
    bm25_k1, bm25_b : float, optional
        Constants of ``weighting="bm25"``: 1.2 and 0.75 by default.
    l2_norm : bool, optional
        Whether rows are scaled to unit length; by default for the SVM and logistic regression, not for naive Bayes.
    select : str, optional
        Keep only the terms that separate the classes best, by ``"mutual_information"``, ``"chi_square"``, ``"document_frequency"`` or
        ``"conditional_mutual_information"``.
    select_terms : int, optional
        How many terms to select.
    select_per_class : bool
        Select so many terms for each class.
    code : str, optional
        Learn the binary problems of an error-correcting output code instead of each class against the rest
        (``calibrant.names("code")`` lists the designs).
    code_length : int, optional
        Columns of the code, one binary problem for each; by default the design's usual number.
    decode : {"margin", "least_squares"}, optional
        How the columns' answers become scores of classes: how much nearer a class's code word is than the nearest other, or the class
        probabilities that best explain those of all columns.
    code_output : {"probability", "sign", "clip", "tanh"}, optional
        Which output of a binary problem is decoded.
    code_weights : {"accuracy", "equal"}, optional
        How columns are weighted.
    rules : str, optional
        The text of hand-written rules, a Boolean query for each category; how strongly each matches is a feature (or, with
        ``classifier="rules"``, the score).
    side_factor : float, optional
        The weight of numbers and categories relative to text of unit length, above 0 and at most 1. By default 1; for ``"knn"`` and
        ``"rocchio"`` the one of five with the least held-out log loss.
    vector_factor : float, optional
        The length that vectors are scaled to, where text has the length 1. By default 0.5; for ``"knn"`` and ``"rocchio"`` beside words
        the `side_factor`.
    random_state : int or RandomState
        The seed of folds and of the order in which learners visit rows.
    progress : None, bool or callable
        ``None`` shows a bar by tqdm where somebody looks; a function is called with stage, done and total.

    Examples
    --------
    >>> from calibrant import TextClassifier
    >>> texts = [f"invoice {i} and its payment" if i % 2 else f"match {i} and its only goal" for i in range(40)]
    >>> labels = ["billing" if i % 2 else "sport" for i in range(40)]
    >>> model = TextClassifier().fit(texts, labels)
    >>> model.predict(["a late goal decided the match"]).tolist()
    ['sport']
    >>> bool(model.predict_proba(["a late goal decided the match"])[0, 1] > 0.8)
    True
    """

    def __init__(
        self,
        classifier: str = "svm",
        *,
        text: str | Sequence[str] | None = None,
        numeric: str | Sequence[str] | None = None,
        categorical: str | Sequence[str] | None = None,
        vector: str | Sequence[str] | None = None,
        C: float | None = None,
        loss: str | None = None,
        log_count_ratio: float | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        alpha: float | None = None,
        word_prior: float | None = None,
        nearness: str | None = None,
        rounds: int | None = None,
        boosting: str | None = None,
        neighbours: int | str | None = None,
        vote: str | None = None,
        approximate: bool | None = None,
        epochs: int | None = None,
        voted: bool | None = None,
        class_weight: Any = None,
        calibrator: str = "auto",
        multiclass: str = "auto",
        monotone: bool = False,
        folds: int = 5,
        stem: str | None = None,
        stop_words: str | None = None,
        keep_case: bool = False,
        fold_accents: bool = False,
        min_word_length: int | None = None,
        segmentation: str | None = None,
        emoji: bool = True,
        signs: bool = True,
        word_ngrams: int | tuple[int, int] | None = None,
        char_ngrams: int | tuple[int, int] | None = None,
        char_ngrams_across: bool = False,
        hash_bits: int | None = None,
        min_df: int | None = None,
        max_df: float | None = None,
        max_features: int | None = None,
        weighting: str | None = None,
        bm25_k1: float | None = None,
        bm25_b: float | None = None,
        l2_norm: bool | None = None,
        select: str | None = None,
        select_terms: int | None = None,
        select_per_class: bool = False,
        code: str | None = None,
        code_length: int | None = None,
        decode: str | None = None,
        code_output: str | None = None,
        code_weights: str | None = None,
        rules: str | None = None,
        side_factor: float | None = None,
        vector_factor: float | None = None,
        random_state: Any = 0,
        progress: Any = None,
    ) -> None:
        self.classifier = classifier
        self.text = text
        self.numeric = numeric
        self.categorical = categorical
        self.vector = vector
        self.C = C
        self.loss = loss
        self.log_count_ratio = log_count_ratio
        self.tol = tol
        self.max_iter = max_iter
        self.alpha = alpha
        self.word_prior = word_prior
        self.nearness = nearness
        self.rounds = rounds
        self.boosting = boosting
        self.neighbours = neighbours
        self.vote = vote
        self.approximate = approximate
        self.epochs = epochs
        self.voted = voted
        self.class_weight = class_weight
        self.calibrator = calibrator
        self.multiclass = multiclass
        self.monotone = monotone
        self.folds = folds
        self.stem = stem
        self.stop_words = stop_words
        self.keep_case = keep_case
        self.fold_accents = fold_accents
        self.min_word_length = min_word_length
        self.segmentation = segmentation
        self.emoji = emoji
        self.signs = signs
        self.word_ngrams = word_ngrams
        self.char_ngrams = char_ngrams
        self.char_ngrams_across = char_ngrams_across
        self.hash_bits = hash_bits
        self.min_df = min_df
        self.max_df = max_df
        self.max_features = max_features
        self.weighting = weighting
        self.bm25_k1 = bm25_k1
        self.bm25_b = bm25_b
        self.l2_norm = l2_norm
        self.select = select
        self.select_terms = select_terms
        self.select_per_class = select_per_class
        self.code = code
        self.code_length = code_length
        self.decode = decode
        self.code_output = code_output
        self.code_weights = code_weights
        self.rules = rules
        self.side_factor = side_factor
        self.vector_factor = vector_factor
        self.random_state = random_state
        self.progress = progress

    # The same names in the program's words; all others are the same.
    _OTHER_WORDS: ClassVar[dict[str, str]] = {"C": "c", "tol": "tolerance", "max_iter": "max_passes"}
    _NOT_WORDS = ("text", "numeric", "categorical", "vector", "random_state", "progress", "emoji", "signs", "class_weight")

    def _words(self) -> dict[str, Any]:
        words = {
            self._OTHER_WORDS.get(name, name): value
            for name, value in self.get_params(deep=False).items()
            if name not in self._NOT_WORDS and value is not None and value is not False
        }
        # Options that some learners alone take are words of their own even where they say no.
        for name in ("approximate", "voted", "l2_norm"):
            if getattr(self, name) is not None:
                words[name] = bool(getattr(self, name))
        words["no_emoji"] = not self.emoji
        words["no_signs"] = not self.signs
        words["class_weight"] = class_weight_words(self.class_weight)
        words["seed"] = seed_of(self.random_state)
        return words

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.classifier_tags.multi_label = True
        tags.no_validation = True
        return tags

    def _take_fields(self, fields: dict[str, Any]) -> None:
        for name in ("text", "numeric", "categorical", "vector"):
            if fields.get(name):
                setattr(self, name, fields[name])
        if fields.get("text") == ["text"] and not (self.numeric or self.categorical or self.vector):
            self.text = None  # Any column of texts will do.

    def _table(self, X: Any, *, reset: bool = False) -> dict[str, Any]:
        columns = (self.text, self.numeric, self.categorical, self.vector)
        table = documents_table(X, *map(_as_list, columns))
        if not reset and table.get("vectors"):
            self._check_vectors(table["vectors"])
        return table

    def _check_vectors(self, vectors: list[npt.NDArray[np.float32]]) -> None:
        """Numbers of another embedding mean nothing to the model."""
        known = json.loads(self._model.fields()).get("vector_lengths") or []
        for name, length, found in zip(_as_list(self.vector), known, vectors, strict=False):
            if found.shape[1] != length:
                count = found.shape[1]
                raise ValueError(f"the vectors of column `{name}` have {count} numbers, and those that the model learned from {length}")

    def _predict(self, X: Any, wanted: str) -> Floats:
        return self._model.predict(self._table(X), wanted)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learns from texts, and calibrates on scores of texts that were held out.

        Parameters
        ----------
        X : texts or table
            See the class.
        y : labels
            One per text, or lists of labels, or an indicator matrix. With a table, the name of its label column will do.
        sample_weight : array of shape (texts,), optional
            How much each text counts: a weight of 2 is the text twice, a text of weight 0 is left out.
        groups : array of shape (texts,), optional
            What each text belongs to (a thread, a customer, an author): what belongs together is learned from and held out
            together. With a table, the name of a column will do.

        Returns
        -------
        self
        """
        if is_frame(X):
            if isinstance(y, str) and y not in column_names(X):
                raise ValueError(f"the table has no column `{y}`; it has {', '.join(column_names(X)[:20])}")
            y = column_of(X, y) if isinstance(y, str) else y
            groups = column_of(X, groups) if isinstance(groups, str) else groups
        table = self._table(X, reset=True)
        rows: int = table["rows"]
        labels = encode(y)
        count = len(labels.numbers) if labels.starts is None else len(labels.starts) - 1
        if count != rows:
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {count}]")
        if rows == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        table["labels"] = (labels.names, labels.numbers, labels.starts)
        table["weights"] = weights_of(sample_weight, rows)
        table["groups"] = group_texts(groups)
        fields = {
            "text": _as_list(self.text),
            "numeric": _as_list(self.numeric),
            "categorical": _as_list(self.categorical),
            "vector": _as_list(self.vector),
        }
        words = {**self._words(), "labels": "one" if labels.starts is None else "several"}
        with shown(self.progress) as show:
            model = _calibrant.fit_documents(table, json.dumps(fields), json_words(words), show)
        return self._take_model(model, labels)

    def explain(self, X: Any, label: Any = None) -> list[Explanation]:
        """Which terms moved the log-odds of a class, for every text: of the most probable class unless `label` is given.

        The parts add up exactly. In a notebook an explanation shows its words coloured.

        Parameters
        ----------
        X : texts or table
            As for :meth:`fit`.
        label : optional
            The class to explain.

        Returns
        -------
        list of Explanation
            One for each text.
        """
        check_is_fitted(self)
        classes = [] if label is None else [str(label)]
        table = self._table(X)
        found = []
        for row in range(table["rows"]):
            one: dict[str, Any] = {"rows": 1}
            for kind, columns in table.items():
                if kind != "rows":
                    one[kind] = [column[row : row + 1] for column in columns]
            found.extend(self._explanations(self._model.explain(one, classes)))
        return found
