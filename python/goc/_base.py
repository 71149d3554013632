"""What all estimators share: X in, settings together, the fit in Rust, attributes out.

Settings have the command's defaults (`_settings`), so that a fit from Python and ``goc cluster``
give the same bytes.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _goc
from ._candidates import CANDIDATE_NAMES, OBJECT_NAMES, Candidates, check_dimensions, is_ragged, numbers, ragged
from ._display import picture
from ._old_names import OF_ORACLES, renewed
from ._oracle import NAMED, adapt, told_of
from ._progress import bar
from ._report import write
from ._settings import DEFAULTS, Keyword, _is_whole

if TYPE_CHECKING:
    from typing_extensions import Self

# Keywords that are no settings of the method, with their defaults and what they do.
COMMON = {
    "random_state": (1, "int, RandomState or None, default 1", "An int is the command's ``--seed``: the same int, the same bytes."),
    "n_jobs": (None, "int or None", "Threads; None is all cores. The result does not depend on it."),
    "verbose": (0, "int, default 0", "1 shows a bar (needs tqdm)."),
}

class Clusterer(ClusterMixin, BaseEstimator):
    """Common base of methods for uncertain objects and of oracles; not for direct use."""

    _method: str = ""
    # Its keywords and the settings they stand for; the signature of __init__ is made of them.
    _keywords: dict[str, Keyword] = {}
    _common: tuple[str, ...] = tuple(COMMON)
    # Keywords of earlier versions: another name, with words that changed; without effect.
    _renamed: dict[str, tuple[str, dict[str, str] | None]] = {}
    _idle: tuple[str, ...] = ()
    _steps = "steps"

    labels_: NDArray[np.int64]
    n_clusters_: int
    n_features_in_: int

    @classmethod
    def _old(cls) -> set[str]:
        """All keywords of earlier versions that it understands."""
        return {*cls._renamed, *cls._idle, *(OF_ORACLES if "oracle" in cls._keywords else ())} - {*cls._keywords}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``oracle__name`` sets one of the oracle.

        Parameters
        ----------
        **params

        Returns
        -------
        self
        """
        old = {name: params.pop(name) for name in [*params] if name in self._old()}
        oracle = params.get("oracle", getattr(self, "oracle", None))
        if isinstance(oracle, str) and oracle in NAMED and any(name.startswith("oracle__") for name in params):
            params["oracle"] = NAMED[oracle]()
        super().set_params(**params)
        if old:
            for name, value in renewed(type(self), self.get_params(deep=False), old, NAMED).items():
                setattr(self, name, value)
        return self

    def _fit(self, X: Any, penalty: Any, weight: Any, sample_weight: Any = None) -> Self:
        candidates, kept = self._candidates(X, penalty, weight, reset=True)
        settings = self._settings(candidates.n_objects)
        settings["sample_weight"] = self._object_weights(sample_weight, candidates.n_objects, settings)
        with bar(getattr(self, "verbose", 0), _goc.steps(settings), self._steps) as progress:
            found = _goc.fit(candidates, settings, adapt(self._oracle_given()), _threads(getattr(self, "n_jobs", None)), progress)
        self._take(found, settings, kept)
        # As if from the line that called fit: this one, fit, and that.
        for said, category in self._remarks(found, settings):
            warnings.warn(said, category, stacklevel=3)
        return self

    def _oracle_given(self) -> Any:
        return getattr(self, "oracle", DEFAULTS["oracle"])

    def _remarks(self, found: Mapping[str, Any], settings: Mapping[str, Any]) -> list[tuple[str, type[Warning]]]:
        """What is said of a fit."""
        remarks: list[tuple[str, type[Warning]]] = [(text, UserWarning) for warning, text in found["said"] if warning]
        if not found["converged"]:
            said = self._unsettled(found["cycle"], settings["sample_weight"] is not None)
            remarks.append((f"{type(self).__name__} {said}", ConvergenceWarning))
        return remarks

    def _unsettled(self, cycle: bool, weighted: bool = False) -> str:
        """What is said of a fit that did not converge, after the name of the class."""
        known = self.get_params(deep=False)
        if cycle:
            every = known.get("oracle_every") or ("always" if known.get("preset") == "paper" else "first")
            advice = "; oracle_every='first' or another oracle may converge" if every == "always" else ""
            return f"did not converge: it runs in a cycle, whose best state is kept{advice}"
        if weighted and self._method in ("uk-means", "oracle"):  # the limit of that descent is no setting of theirs
            return f"did not converge in {self.n_iter_} iterations; other starts (random_state) may converge"
        if "max_iter" in known:
            limit = known["max_iter"]
            looser = ", or tol, the share of objects that may still change" if self._has("tol", "tolerance") else ""
            within = "the usual number of" if limit is None else f"max_iter={limit}"
            return f"did not converge in {within} iterations; raise max_iter{looser}"
        return "did not converge; raise max_iter of its oracle"

    def _has(self, keyword: str, setting: str) -> bool:
        return keyword in self._keywords and self._keywords[keyword].setting.name == setting

    def _object_weights(self, sample_weight: Any, n: int, settings: Mapping[str, Any]) -> list[float] | None:
        if sample_weight is None:
            return None
        sample_weight = np.asarray(sample_weight)
        weights = numbers(sample_weight, "sample_weight", sample_weight.ndim)
        if weights.shape != (n,):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
        if adapt(self._oracle_given()) is not None:
            raise ValueError(f"sample_weight needs oracle='k-means', not {self._oracle_given()!r}: only its centres take weights")
        if not (weights > 0).any():
            raise ValueError("sample_weight is zero for all objects; at least one must count")
        counts: list[float] = weights.tolist()
        return counts

    def _settings(self, n: int) -> dict[str, Any]:
        settings: dict[str, Any] = {**DEFAULTS, "method": self._method, "seed": _seed(getattr(self, "random_state", 1))}
        for keyword, known in self._keywords.items():
            if keyword != "oracle":
                settings[known.setting.name] = known.value(keyword, getattr(self, keyword))
        settings |= told_of(self._oracle_given())
        if "n_clusters" not in self._keywords:
            settings["k"] = 1  # of no account: it finds the number itself
        elif settings["k"] != "auto" and settings["k"] > n:
            raise ValueError(f"n_samples={n} should be >= n_clusters={settings['k']}: more clusters than objects")
        if settings["lambda"] != "auto" and not 0 <= settings["lambda"] < math.inf:
            # Rust would call it lambda.
            raise ValueError(f"penalty_weight is {settings['lambda']}, but must be a finite number not below 0")
        if settings["initial_labels"] is not None:
            settings["initial_labels"] = np.asarray(settings["initial_labels"], dtype=np.int64).tolist()
        return settings | {"penalty_scale": "max" if settings["penalty_scale"] else "none"}

    def _candidates(self, X: Any, penalty: Any, weight: Any, *, reset: bool) -> tuple[_goc.Candidates, Any]:
        """The candidates in Rust, and which of the candidates given are there."""
        given: Any
        if is_ragged(X):
            given = ragged(X)
            features = given.n_features if isinstance(given, Candidates) else given[0].shape[1]
            if reset:
                self.n_features_in_ = features
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            elif features != self.n_features_in_:
                raise ValueError(
                    f"X has {features} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
                )
        else:
            _refuse_candidate_table(X)
            check_dimensions(X)
            # Rust says which row is not finite.
            values = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
            features = values.shape[1]
            given = (values, np.arange(len(values) + 1, dtype=np.int64))
        if penalty is not None and weight is not None:
            raise ValueError("penalty and weight are alternatives; give one")
        whole = isinstance(given, Candidates)
        each: dict[str, Any] = {
            name: None if own is None else numbers(np.reshape(own, -1), name, 1)
            for name, own in (("penalty", penalty), ("weight", weight))
        }
        if whole and weight is None:
            return given._sets if penalty is None else given._sets.with_penalties(each["penalty"]), None
        values, offsets = (given.values, given.offsets) if whole else given
        names = given.features if whole else getattr(self, "feature_names_in_", None)
        strength = getattr(self, "strength", None)
        strength = {} if strength is None else {"strength": float(strength)}
        names = None if names is None else [str(name) for name in names]
        sets = _goc.Candidates(values, offsets, each["penalty"], each["weight"], features=names, **strength)
        kept = None if weight is None or (each["weight"] > 0).all() else each["weight"] > 0
        return sets, None if kept is None else (kept, offsets)

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        labels, noise = found["labels"], found["noise"]
        centres, scaled = found["centres"], found["scaled_centres"]
        if noise is not None:
            # In Rust each noise object is a cluster of its own; here it has the label -1 and no
            # centre.
            groups = np.unique(labels[~noise])
            place = np.full(len(centres), -1, np.int64)
            place[groups] = np.arange(len(groups))
            labels = np.where(noise, -1, place[labels])
            centres, scaled = centres[groups], scaled[groups]
        self.labels_ = labels
        self.n_clusters_ = len(centres)
        # For pictures and predictions: where each object was taken to be, and the means of the
        # clusters.
        self._places, self._centres, self._scaled_centres = found["representatives"], centres, scaled
        self._map = found["map"]

    def report(
        self, path: Any, X: Any = None, *, ids: Any = None, truth: Any = None, features: Any = None, title: str | None = None
    ) -> Path:
        """Write an interactive page of linked views: one HTML file that opens from disk.

        Parameters
        ----------
        path : path of the page, .html
        X : what was fitted, optional
            With it an object under the pointer shows its whole uncertainty set; `Candidates` also
            know ids, truth and features.
        ids : sequence of n names, optional
        truth : sequence of n true groups, optional
            With them the page shows scores and the confusion of clusters and groups.
        features : sequence of q names, optional
        title : str, optional
            Title of the page; by default the name of the file.

        Returns
        -------
        path : pathlib.Path
        """
        check_is_fitted(self)
        return write(self, path, X, ids, truth, features, title)

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + picture(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in shown:
            shown["text/html"] += picture(self)
        return shown

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


class UncertainClusterer(Clusterer):
    """Base of the methods for uncertain objects; not for direct use."""

    cluster_centers_: NDArray[np.float64]
    representatives_: NDArray[np.float64]
    chosen_: NDArray[np.int64] | None
    probabilities_: NDArray[np.float64] | None
    n_iter_: int
    history_: NDArray[Any]
    objective_: float | None
    converged_: bool
    cycle_: bool
    k_curve_: NDArray[Any]
    penalty_weight_: float
    stability_: NDArray[np.float64] | None
    cluster_stability_: NDArray[np.float64] | None
    p_values_: NDArray[np.float64] | None
    q_values_: NDArray[np.float64] | None
    log_odds_: NDArray[np.float64] | None
    recurrence_: NDArray[np.float64] | None

    def fit(self, X: Any, y: Any = None, penalty: Any = None, weight: Any = None) -> Self:
        """Cluster the objects of X.

        Parameters
        ----------
        X : array (n, m, q) or (n, q), list of arrays (m_i, q), (values, offsets), Arrow or Candidates
            The candidates of each object; (n, q) is one candidate each. Contiguous float64 is read
            in place.
        y : ignored
        penalty : array of n_candidates numbers, or (n, m), optional
            What each candidate costs, in the order of the candidates; replaces the penalties of X.
        weight : array of n_candidates numbers, or (n, m), optional
            Instead of penalties: the likelihood of each candidate, up to a factor for each object.
            Candidates of weight 0 are left out.

        Returns
        -------
        self
        """
        return self._fit(X, penalty, weight)

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        self.cluster_centers_ = self._centres
        self.representatives_ = self._places
        self.n_iter_ = max(int(found["iterations"]), 1)
        self.chosen_ = _unweighted(found["chosen"], kept)
        self.probabilities_ = found["confidence"]
        history = np.zeros(len(found["history_k"]), [("k", "i8"), ("objective", "f8"), ("changed", "i8")])
        for name in ("k", "objective", "changed"):
            history[name] = found[f"history_{name}"]
        self.history_ = history
        for name in ("objective", "converged", "cycle", "penalty_weight"):
            setattr(self, f"{name}_", found[name])
        self.k_curve_ = np.array(found["k_curve"], [("k", "i8"), ("value", "f8")])
        self._take_sureness(found)

    def _take_sureness(self, found: Mapping[str, Any]) -> None:
        """Numbers of clusters are of those that the method found; noise may have taken some away,
        and members of others.
        """
        self.stability_ = found.get("stability_objects")
        self.log_odds_ = found.get("log_odds")
        as_found = np.asarray(found.get("found_labels", found["labels"]))
        # The first member of each cluster that is left tells which of those it was.
        _, firsts = np.unique(self.labels_, return_index=True)
        firsts = firsts[self.labels_[firsts] >= 0]
        of_clusters = {"cluster_stability_": "stability_clusters", "p_values_": "p_values", "q_values_": "q_values", "recurrence_": "recurrence"}
        for attribute, key in of_clusters.items():
            values = found.get(key)
            setattr(self, attribute, None if values is None else np.asarray(values)[as_found[firsts]])


class Weightable:
    """Estimators whose objects may count more than others."""

    _fit: Any

    def fit(self, X: Any, y: Any = None, penalty: Any = None, weight: Any = None, sample_weight: Any = None) -> Self:
        """Cluster the objects of X.

        Parameters
        ----------
        X : array (n, m, q) or (n, q), list of arrays (m_i, q), (values, offsets), Arrow or Candidates
            The candidates of each object; (n, q) is one candidate each. Contiguous float64 is read
            in place.
        y : ignored
        penalty : array of n_candidates numbers, or (n, m), optional
            What each candidate costs, in the order of the candidates; replaces the penalties of X.
        weight : array of n_candidates numbers, or (n, m), optional
            Instead of penalties: the likelihood of each candidate, up to a factor for each object.
            Candidates of weight 0 are left out.
        sample_weight : array of n numbers, optional
            How much each object counts: 2 is like two objects in one place; 0 gets a label but
            moves no centre. With weights, centres are weighted means, and the first clustering is
            k-means with weights; k-means as the oracle only, K stays as it is unless a centre loses
            all its objects, and what searches further (n_init, swaps, search) is refused.

        Returns
        -------
        self
        """
        self._fit(X, penalty, weight, sample_weight)
        return self


class PredictsByCandidates:
    """New objects take the candidate and the centre with the least distance + penalty_weight *
    penalty, as in step (III).
    """

    _candidates: Any
    _scaled_centres: Any
    _map: Any
    preset: str
    distance: str | None
    penalty_weight_: float
    n_jobs: int | None

    def predict(self, X: Any, penalty: Any = None, weight: Any = None) -> NDArray[np.int64]:
        """The cluster of each new object.

        Parameters
        ----------
        X, penalty, weight
            As in `fit`.

        Returns
        -------
        labels : array of n whole numbers
        """
        check_is_fitted(self)
        candidates, _ = self._candidates(X, penalty, weight, reset=False)
        own = "euclidean-f32" if self.preset == "authors" else "squared"
        centres, weight = np.ascontiguousarray(self._scaled_centres), float(self.penalty_weight_)
        return _goc.select(candidates, centres, self.distance or own, weight, self._map, threads=_threads(self.n_jobs))[1]


class PredictsByMeans:
    """New objects belong to the centre that is nearest to the mean of their candidates."""

    _candidates: Any
    _scaled_centres: Any
    _map: Any
    n_jobs: int | None

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The cluster of each new object.

        Parameters
        ----------
        X
            As in `fit`.

        Returns
        -------
        labels : array of n whole numbers
        """
        check_is_fitted(self)
        candidates, _ = self._candidates(X, None, None, reset=False)
        centres = np.ascontiguousarray(self._scaled_centres)
        return _goc.select(candidates, centres, "squared", 0.0, self._map, means=True, threads=_threads(self.n_jobs))[1]


def equip(cls: Any, keywords: dict[str, Keyword], head: str, attributes: str, example: str = "") -> Any:
    """Gives an estimator its keywords: ``__init__`` as scikit-learn reads it, and the
    documentation.
    """
    cls._keywords = keywords
    cls.__module__ = "goc"
    cls.__init__ = _initialiser({name: known.default for name, known in keywords.items()} | {n: COMMON[n][0] for n in cls._common})
    told = [known.documentation(name) for name, known in keywords.items()]
    told += [f"{name} : {what}\n        {says}" for name, (_, what, says) in COMMON.items() if name in cls._common]
    text = f"{head}\n\n    Parameters\n    ----------\n    " + "\n    ".join(told) + f"\n{attributes}"
    cls.__doc__ = text + (f"\n    Examples\n    --------\n{example}" if example else "")
    return cls


def _initialiser(defaults: dict[str, Any]) -> Any:
    """An ``__init__`` with these keywords; the first may be given by position. It also takes those
    of earlier versions.
    """
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    for name, default in defaults.items():
        first = name in ("n_clusters", "penalty_weight", "oracle")
        first = first and all(p.kind is not kinds.KEYWORD_ONLY for p in parameters)
        kind = kinds.POSITIONAL_OR_KEYWORD if first else kinds.KEYWORD_ONLY
        parameters.append(kinds(name, kind, default=default))
    signature = inspect.Signature(parameters)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        old = {name: kwargs.pop(name) for name in [*kwargs] if name in self._old()}
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        values = {name: given.arguments[name] for name in defaults}
        if old:
            values |= renewed(type(self), values, old, NAMED)
        for name, value in values.items():
            setattr(self, name, value)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _refuse_candidate_table(X: Any) -> None:
    """A long table, one row per candidate, would pass for points, its ids and truth for features.
    """
    names = [str(name) for name in getattr(X, "columns", getattr(X, "colnames", ()))]
    if any(name in names for name in CANDIDATE_NAMES) and any(name in names for name in OBJECT_NAMES):
        raise ValueError("X is a table with one row per candidate; give goc.Candidates.from_table(X)")


def _threads(n_jobs: int | None) -> int | None:
    """None and -1 are all cores; -2 all but one, as in joblib."""
    if n_jobs is None or n_jobs == -1:
        return None
    if not _is_whole(n_jobs) or n_jobs == 0:
        raise ValueError(f"n_jobs is {n_jobs!r}, but must be a whole number other than 0")
    if n_jobs > 0:
        return int(n_jobs)
    import os

    return max((os.cpu_count() or 1) + 1 + int(n_jobs), 1)


def _seed(random_state: Any) -> int:
    if _is_whole(random_state):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state is {random_state}, but must be from 0 to below 2**64")
        return int(random_state)
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


def _unweighted(chosen: NDArray[np.int64] | None, kept: Any) -> NDArray[np.int64] | None:
    """Chosen candidates counted among all that were given, those of weight 0 too."""
    if chosen is None or kept is None:
        return chosen
    there, offsets = kept
    before = np.concatenate([[0], np.cumsum(there)])[offsets[:-1]]
    again: NDArray[np.int64] = np.flatnonzero(there)[before + chosen] - offsets[:-1]
    return again
