"""What all estimators share: X in, settings together, the fit in Rust, attributes out.

Settings have the command's names and defaults, so that a fit from Python and ``goc cluster`` give the same bytes.
"""

from __future__ import annotations

import math
import numbers as number_types
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _goc
from ._candidates import ACTIONS, CANDIDATE_NAMES, OBJECT_NAMES, Candidates, check_dimensions, is_ragged, numbers, ragged
from ._oracle import adapt
from ._progress import bar
from ._report import write

# Every setting there is, with the command's default: what a class does not have it takes from here.
DEFAULTS: dict[str, Any] = {
    "oracle": "k-means",
    "preset": "paper",
    "n_clusters": None,
    "k_by": "marginal",
    "penalty_weight": 0.01,
    "scale_penalties": True,
    "scale": "standard",
    "distance": None,
    "k_rule": None,
    "oracle_every": None,
    "begin": None,
    "initial_labels": None,
    "n_init": 1,
    "swaps": 0,
    "search": None,
    "tol": 0.0,
    "max_iter": 200,
    "oracle_starts": None,
    "oracle_iterations": None,
    "algorithm": "hartigan-wong",
    "seeding": "random",
    "linkage": "average",
    "reading": "min-max",
    "set_distance": "s2",
    "box_distance": "min",
    "worlds": 100,
    "preference": 0.5,
    "bandwidth": None,
    "min_cluster_size": 5,
    "min_points": 3,
    "eps": None,
    "strength": None,
    "chains": 4,
    "burn": 40,
    "keep": 140,
    "noise": False,
    "feature_map": "none",
    "random_state": 1,
    "n_jobs": None,
    "verbose": 0,
}

# What scikit-learn calls otherwise than the command.
_RENAMED = {"n_clusters": "k", "n_init": "starts", "tol": "tolerance"}
# What is not the method's own, or needs a look.
_APART = {"random_state", "n_jobs", "verbose", "feature_map", "oracle", "penalty_weight", "initial_labels"}
_COUNTS = {
    "n_init": 1, "swaps": 0, "max_iter": 1, "oracle_starts": 1, "oracle_iterations": 1, "worlds": 1, "min_cluster_size": 1,
    "min_points": 1, "chains": 1, "burn": 0, "keep": 1,
}  # fmt: skip
_REALS = ("tol", "preference", "bandwidth", "eps", "strength")


def _is_whole(value: Any) -> bool:
    return isinstance(value, number_types.Integral) and not isinstance(value, bool)


class UncertainClusterer(ClusterMixin, BaseEstimator):
    """Base of all estimators here; not to be used itself."""

    _method: str = ""
    # The class finds the number of clusters itself.
    _finds_k = False
    # The number of steps is known beforehand.
    _steps = "steps"

    def fit(self, X: Any, y: Any = None, penalty: Any = None, weight: Any = None):
        """Cluster the objects of X.

        Parameters
        ----------
        X : array (n, m, q), list of (m_i, q) arrays, (values, offsets), Arrow list column, Candidates, or array (n, q)
            The candidates of each object; (n, q) is one candidate each. Contiguous float64 is read where it is.
        y : ignored
        penalty : array of n_candidates numbers, or (n, m), optional
            What each candidate costs, in the order of the candidates; in place of those X may have.
        weight : array of n_candidates numbers, or (n, m), optional
            Instead of penalties: the likelihood of each candidate, in any unit of the object's own. 0: no candidate.

        Returns
        -------
        self
        """
        return self._fit(X, penalty, weight)

    def _fit(self, X: Any, penalty: Any, weight: Any, sample_weight: Any = None):
        candidates, roots, kept = self._candidates(X, penalty, weight, reset=True)
        settings = self._settings(candidates.n_objects, roots)
        settings["sample_weight"] = self._object_weights(sample_weight, candidates.n_objects)
        total = settings["chains"] * (settings["burn"] + settings["keep"]) if self._method == "marginal" else None
        with bar(self.verbose, total, self._steps) as progress:
            found = _goc.fit(candidates, settings, adapt(settings_oracle(self)), _threads(self.n_jobs), progress)
        self._take(found, settings, kept)
        if not self.converged_:
            # As if from the line that called fit: this one, fit, and that.
            warnings.warn(f"{type(self).__name__} {self._unsettled()}", ConvergenceWarning, stacklevel=3)
        return self

    def _unsettled(self) -> str:
        """What is said of a fit that did not converge, after the name of the class."""
        known = self.get_params(deep=False)
        if self.cycle_:
            every = known.get("oracle_every") or ("always" if known.get("preset") == "paper" else "first")
            advice = "; oracle_every='first' or another oracle may settle" if every == "always" else ""
            return f"did not converge: it runs in a cycle, whose best state is kept{advice}"
        if "max_iter" in known:
            looser = ", or tol, the share of objects that may still change" if "tol" in known else ""
            return f"did not converge in max_iter={known['max_iter']} iterations; raise max_iter{looser}"
        if self._method in ("uk-means", "oracle"):  # with sample_weight, whose limit is no setting of theirs
            return f"did not converge in {self.n_iter_} iterations; other starts (random_state) may settle"
        limit = known.get("oracle_iterations")
        within = "the usual number of" if limit is None else f"oracle_iterations={limit}"
        return f"did not converge in {within} iterations; set oracle_iterations higher"

    def _object_weights(self, sample_weight: Any, n: int) -> list[float] | None:
        if sample_weight is None:
            return None
        sample_weight = np.asarray(sample_weight)
        weights = numbers(sample_weight, "sample_weight", sample_weight.ndim)
        if weights.shape != (n,):
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
        self._check_weightable()
        if not (weights > 0).any():
            raise ValueError("sample_weight is zero for all objects; at least one must count")
        return weights.tolist()

    def _check_weightable(self) -> None:
        if settings_oracle(self) != "k-means":
            raise ValueError(f"sample_weight needs oracle='k-means', not {settings_oracle(self)!r}: only its centres take weights")
        if self._get("n_clusters") == "auto" or self._get("penalty_weight") == "auto":
            raise ValueError("sample_weight needs n_clusters and penalty_weight as numbers")
        for name in ("preset", "k_rule", "oracle_every", "begin", "initial_labels", "n_init", "swaps", "search", "tol"):
            value = self._get(name)
            if value is not DEFAULTS[name] and value != DEFAULTS[name]:
                raise ValueError(f"sample_weight does not go with {name}={value!r}; leave it as it is by default")

    def _get(self, name: str) -> Any:
        return getattr(self, name, DEFAULTS[name])

    def _settings(self, n: int, roots: list[bool]) -> dict[str, Any]:
        settings: dict[str, Any] = {"method": self._method, "roots": roots, "seed": _seed(self.random_state)}
        for name in DEFAULTS:
            if name not in _APART:
                settings[_RENAMED.get(name, name)] = self._get(name)
        for name, least in _COUNTS.items():
            value = self._get(name)
            if not (value is None and DEFAULTS[name] is None) and not (_is_whole(value) and value >= least):
                raise ValueError(f"{name} is {value!r}, but must be a whole number of at least {least}")
        for name in _REALS:
            value = self._get(name)
            if not (value is None and DEFAULTS[name] is None) and not isinstance(value, number_types.Real):
                raise ValueError(f"{name} is {value!r}, but must be a number")
        oracle = self._get("oracle")
        settings["oracle"] = oracle if isinstance(oracle, str) else "k-means"
        settings["k"] = 1 if self._finds_k else _wish(self._get("n_clusters"), "n_clusters", _is_whole)
        if settings["k"] is not None and not self._finds_k:
            if settings["k"] < 1:
                raise ValueError(f"n_clusters is {settings['k']}, but must be at least 1")
            if settings["k"] > n:
                raise ValueError(f"n_samples={n} should be >= n_clusters={settings['k']}: more clusters than objects")
        real = lambda value: isinstance(value, number_types.Real)  # noqa: E731
        settings["penalty_weight"] = _wish(self._get("penalty_weight"), "penalty_weight", real)
        if settings["penalty_weight"] is None:
            self._check_auto_weight()
        elif not 0 <= settings["penalty_weight"] < math.inf:
            # Rust would call it lambda.
            raise ValueError(f"penalty_weight is {settings['penalty_weight']}, but must be a finite number not below 0")
        labels = self._get("initial_labels")
        settings["initial_labels"] = None if labels is None else np.asarray(labels, dtype=np.int64).tolist()
        return settings

    def _check_auto_weight(self) -> None:
        own = "squared" if self._get("preset") == "paper" or self._method not in ("goc", "goc-tree") else "euclidean-f32"
        if (self._get("distance") or own) != "squared":
            raise ValueError("penalty_weight='auto' is the weight that the squared distance has in a likelihood; add distance='squared'")

    def _candidates(self, X: Any, penalty: Any, weight: Any, *, reset: bool):
        """The candidates in Rust, the features that were rooted, and which of the candidates given are there."""
        if is_ragged(X):
            made = ragged(X)
            values, offsets = (made.values, made.offsets) if isinstance(made, Candidates) else made
            if reset:
                self.n_features_in_ = values.shape[1]
                if hasattr(self, "feature_names_in_"):
                    del self.feature_names_in_
            elif values.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"X has {values.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features as input"
                )
        else:
            made = None
            _refuse_candidate_table(X)
            check_dimensions(X)
            # Rust says which row is not finite.
            values = validate_data(self, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False)
            offsets = np.arange(len(values) + 1, dtype=np.int64)
        if penalty is not None and weight is not None:
            raise ValueError("penalty and weight are two ways to say the same; give one")
        names = made.features if isinstance(made, Candidates) else getattr(self, "feature_names_in_", None)
        roots = self._roots(names, values.shape[1])
        log_density = False
        if isinstance(made, Candidates) and penalty is None and weight is None:
            if reset and self._method == "marginal" and made.log_density and made.metadata.get("goc_sampler") == "density":
                # As if from the line that called fit.
                warnings.warn(
                    "the candidates were drawn from the errors, and their penalties weigh them by the errors once more: make them "
                    "with penalty='none'",
                    stacklevel=4,
                )
            if not any(roots):
                return made._sets, roots, None
            penalty, log_density = made.penalties, made.log_density
        if any(roots):
            values = _rooted(values, roots, offsets)
        each = {
            name: None if given is None else numbers(np.reshape(given, -1), name, 1)
            for name, given in (("penalty", penalty), ("weight", weight))
        }
        strength = self._get("strength")
        strength = 2.0 if strength is None else float(strength)
        sets = _goc.Candidates(values, offsets, each["penalty"], each["weight"], strength, log_density=log_density)
        kept = None if weight is None or (each["weight"] > 0).all() else each["weight"] > 0
        return sets, roots, None if kept is None else (kept, offsets)

    def _roots(self, names: Any, q: int) -> list[bool]:
        wanted = self._get("feature_map")
        if wanted not in ("none", "auto", "actions"):
            raise ValueError(f"feature_map={wanted!r} is not known; give none, auto or actions")
        known = [] if names is None else [str(name).lower() for name in names]
        low = [name.lower() for name in ACTIONS]
        if wanted == "none" or (wanted == "auto" and not all(name in known for name in low)):
            return []
        if not known and q == 3:
            known = low  # unnamed, in the order of the paper
        if not {"jr", "jz"} <= set(known):
            raise ValueError("feature_map='actions' needs features Jr, Jz (and Jphi); name them, or give three in that order")
        return [name in ("jr", "jz") for name in known]

    def _take(self, found: dict[str, Any], settings: dict[str, Any], kept: Any) -> None:
        labels, noise = found["labels"], found["noise"]
        centres, scaled = found["centres"], found["scaled_centres"]
        if noise is not None:
            # In Rust each noise object is a cluster of its own; here it has the label -1 and no centre.
            groups = np.unique(labels[~noise])
            place = np.full(len(centres), -1, np.int64)
            place[groups] = np.arange(len(groups))
            labels = np.where(noise, -1, place[labels])
            centres, scaled = centres[groups], scaled[groups]
        self.labels_ = labels
        self.cluster_centers_ = centres
        self.n_clusters_ = len(centres)
        self.n_iter_ = max(int(found["iterations"]), 1)
        self.chosen_ = _unweighted(found["chosen"], kept)
        self.representatives_ = found["representatives"]
        self.probabilities_ = found["confidence"]
        history = np.zeros(len(found["history_k"]), [("k", "i8"), ("objective", "f8"), ("changed", "i8")])
        for name in history.dtype.names:
            history[name] = found[f"history_{name}"]
        self.history_ = history
        self.objective_ = found["objective"]
        self.converged_ = found["converged"]
        self.cycle_ = found["cycle"]
        self.penalty_weight_ = found["penalty_weight_found"] or settings["penalty_weight"]
        self.k_curve_ = np.array(found["k_curve"], [("k", "i8"), ("value", "f8")])
        self._scaled_centres = scaled
        self._scale = (found["scale_centre"], found["scale_spread"])
        self._penalty_divisor = found["penalty_divisor"]

    def report(
        self, path: Any, X: Any = None, *, ids: Any = None, truth: Any = None, features: Any = None, title: str | None = None
    ):
        """Write a page to look at: linked views, clusters in a table, one HTML file that opens from disk.

        Parameters
        ----------
        path : path of the page, .html
        X : what was fitted, optional
            With it an object under the pointer shows its whole uncertainty set; `Candidates` also know ids, truth and
            features.
        ids : sequence of n names, optional
        truth : sequence of n true groups, optional
            With them the page shows scores and the confusion of clusters and groups.
        features : sequence of q names, optional
        title : str, optional
            What stands at the head of the page; by default the name of the file.

        Returns
        -------
        path : pathlib.Path
        """
        check_is_fitted(self)
        return write(self, path, X, ids, truth, features, title)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = True
        return tags


class Weightable:
    """Estimators whose objects may count more than others."""

    def fit(self, X: Any, y: Any = None, penalty: Any = None, weight: Any = None, sample_weight: Any = None):
        """Cluster the objects of X.

        Parameters
        ----------
        X : array (n, m, q), list of (m_i, q) arrays, (values, offsets), Arrow list column, Candidates, or array (n, q)
            The candidates of each object; (n, q) is one candidate each. Contiguous float64 is read where it is.
        y : ignored
        penalty : array of n_candidates numbers, or (n, m), optional
            What each candidate costs, in the order of the candidates; in place of those X may have.
        weight : array of n_candidates numbers, or (n, m), optional
            Instead of penalties: the likelihood of each candidate, in any unit of the object's own. 0: no candidate.
        sample_weight : array of n numbers, optional
            How much each object counts: 2 is two objects in one place, 0 has a label and moves no centre. With it centres are
            weighted means, and the first clustering is k-means with weights; oracle="k-means" only, K stays as it is
            unless a centre loses all its objects, and what searches further (n_init, swaps, search) is refused.

        Returns
        -------
        self
        """
        return self._fit(X, penalty, weight, sample_weight)


class PredictsByCandidates:
    """New objects take the candidate and the centre with the least distance + penalty_weight * penalty, as in step (III)."""

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
        candidates, _, _ = self._candidates(X, penalty, weight, reset=False)
        own = "euclidean-f32" if self._get("preset") == "authors" else "squared"
        centre, spread = (part.tolist() for part in self._scale)
        _, labels, _ = _goc.select(
            candidates,
            np.ascontiguousarray(self._scaled_centres),
            self._get("distance") or own,
            float(self.penalty_weight_),
            centre,
            spread,
            self._penalty_divisor,
            _threads(self.n_jobs),
        )
        return labels


class PredictsByMeans:
    """New objects belong to the centre that is nearest to the mean of their candidates."""

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
        candidates, _, _ = self._candidates(X, None, None, reset=False)
        values, offsets = candidates.values, candidates.offsets
        means = np.add.reduceat(values, offsets[:-1], axis=0) / np.diff(offsets)[:, None]
        points = _goc.Candidates(means, np.arange(len(means) + 1, dtype=np.int64))
        centre, spread = (part.tolist() for part in self._scale)
        centres = np.ascontiguousarray(self._scaled_centres)
        return _goc.select(points, centres, "squared", 0.0, centre, spread, 1.0, _threads(self.n_jobs))[1]


def _refuse_candidate_table(X: Any) -> None:
    """A long table, a row a candidate, would pass for points, its ids and truth for features."""
    names = [str(name) for name in getattr(X, "columns", getattr(X, "colnames", ()))]
    if any(name in names for name in CANDIDATE_NAMES) and any(name in names for name in OBJECT_NAMES):
        raise ValueError("X is a table with a row a candidate; give goc.Candidates.from_table(X)")


def settings_oracle(estimator: UncertainClusterer) -> Any:
    return estimator._get("oracle")


def _wish(value: Any, name: str, good: Any) -> Any:
    """A number, or None for "auto"."""
    if isinstance(value, str) and value == "auto":
        return None
    if not good(value) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, but must be a number or 'auto'")
    return value


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


def _rooted(values: NDArray[np.float64], roots: list[bool], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    values = values.copy()
    for f in np.flatnonzero(roots):
        column = values[:, f]
        below = np.flatnonzero(column < 0)
        if below.size:
            row = int(below[0])
            i = int(np.searchsorted(offsets, row, side="right")) - 1
            raise ValueError(
                f"object {i}, candidate {row - int(offsets[i])}, feature {f}: {column[row]} is negative and has no square root; "
                "mend it, or use feature_map='none'"
            )
        with np.errstate(invalid="ignore"):
            values[:, f] = np.sqrt(column)
    return values


def _unweighted(chosen: NDArray[np.int64] | None, kept: Any) -> NDArray[np.int64] | None:
    """Chosen candidates counted among all that were given, those of weight 0 too."""
    if chosen is None or kept is None:
        return chosen
    there, offsets = kept
    before = np.concatenate([[0], np.cumsum(there)])[offsets[:-1]]
    return np.flatnonzero(there)[before + chosen] - offsets[:-1]
