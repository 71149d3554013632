"""The oracles by themselves: clusterings of plain points, named as in scikit-learn.

Each is made from a row of one table. Given to a method (``GreedyOptimisticClustering(50,
oracle=goc.KMeans(n_init=10))``) it holds the settings of that method's oracle, and Rust runs it.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._base import COMMON, Clusterer, PredictsByMeans, equip
from ._oracle import NAMED
from ._settings import Keyword, keyword, own_default

if TYPE_CHECKING:
    from typing_extensions import Self

# Of the oracle itself, not of how it is run by itself.
_NOT_TOLD = ("n_clusters", "scale")


class OracleEstimator(Clusterer):
    """Base of the oracles; not for direct use."""

    _method = "oracle"
    _oracle = ""

    def fit(self, X: Any, y: Any = None, *, penalty: Any = None, weight: Any = None) -> Self:
        """Cluster points.

        Parameters
        ----------
        X : array (n, q)
            Points. Sets of candidates, in all forms that the methods take, are clustered by their
            means.
        y : ignored
        penalty, weight : deprecated
            They belong to candidates; give them to methods for uncertain objects.

        Returns
        -------
        self
        """
        _warn_of_candidates(self, penalty, weight)
        return self._fit(X, penalty, weight)

    def _told(self) -> dict[str, Any]:
        """The settings that make it the oracle of a method."""
        own = {name: known for name, known in self._keywords.items() if name not in _NOT_TOLD}
        return {"oracle": self._oracle, **{known.setting.name: known.value(name, getattr(self, name)) for name, known in own.items()}}

    def _settings(self, n: int) -> dict[str, Any]:
        return super()._settings(n) | {"oracle": self._oracle}


class _WithMeans(OracleEstimator):
    """Clusters that have a mean."""

    cluster_centers_: NDArray[np.float64]

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        self.cluster_centers_ = self._centres


class _KMeans(PredictsByMeans, _WithMeans):
    inertia_: float
    n_iter_: int

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, penalty: Any = None, weight: Any = None) -> Self:
        """Cluster points.

        Parameters
        ----------
        X : array (n, q)
            Points. Sets of candidates, in all forms that the methods take, are clustered by their
            means.
        y : ignored
        sample_weight : array of n numbers, optional
            How much each point counts: 2 is like two points in one place; 0 gets a label but moves
            no centre. With weights, k-means++ and Lloyd's rounds are used, whatever `init`,
            `algorithm` and `max_iter` say.
        penalty, weight : deprecated
            They belong to candidates; give them to methods for uncertain objects.

        Returns
        -------
        self
        """
        _warn_of_candidates(self, penalty, weight)
        return self._fit(X, penalty, weight, sample_weight)

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        away = ((found["scaled_representatives"] - self._scaled_centres[self.labels_]) ** 2).sum(axis=1)
        weights = settings["sample_weight"]
        self.n_iter_ = found["iterations" if found["oracle_iterations"] is None else "oracle_iterations"]
        self.inertia_ = float(away.sum() if weights is None else away @ np.asarray(weights))


class _KMedoids(OracleEstimator):
    cluster_centers_: NDArray[np.float64]
    medoid_indices_: NDArray[np.int64]
    inertia_: float

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        points = found["scaled_representatives"]
        middle = [_medoid(points, np.flatnonzero(self.labels_ == label)) for label in range(self.n_clusters_)]
        self.medoid_indices_ = np.array([row for row, _ in middle], np.int64)
        self.inertia_ = float(sum(loss for _, loss in middle))
        self.cluster_centers_ = self._places[self.medoid_indices_]


def _medoid(points: NDArray[np.float64], members: NDArray[np.int64]) -> tuple[int, float]:
    """The member with the least sum of distances to the others, the first of several, and that sum.

    It is the medoid that the search ended with: a better one within its cluster would have been a
    swap to make.
    """
    own = points[members]
    sums = np.zeros(len(own))
    rows = max(2**22 // (own.size + 1), 1)  # of the matrix at a time, 32 MB
    for first in range(0, len(own), rows):
        gaps = own[first : first + rows, None, :] - own[None, :, :]
        sums[first : first + rows] = np.sqrt(np.einsum("abf,abf->ab", gaps, gaps)).sum(axis=1)
    least = int(sums.argmin())
    return int(members[least]), float(sums[least])


def _warn_of_candidates(estimator: OracleEstimator, penalty: Any, weight: Any) -> None:
    for name, given in (("penalty", penalty), ("weight", weight)):
        if given is not None:
            said = f"{type(estimator).__name__} clusters points, which have no {name}: {name}= will be refused; leave it out"
            warnings.warn(said, FutureWarning, stacklevel=3)


_FIRST = """
    Attributes
    ----------
    labels_ : array of n whole numbers
        The cluster of each point, from 0; -1 if it is in none.
    n_clusters_ : int
    n_features_in_ : int
"""
_ATTRIBUTES = {
    "means": "cluster_centers_ : array (n_clusters_, q)\n        Means of the members, in the units of X.",
    "k-means": (
        "inertia_ : float\n        Sum of the squared distances of the points from their centres, in scaled features; with weights, weighted.\n"
        "    n_iter_ : int\n        Iterations of the best start."
    ),
    "k-medoids": (
        "cluster_centers_ : array (n_clusters_, q)\n        The medoids, in the units of X.\n"
        "    medoid_indices_ : array of n_clusters_ whole numbers\n        Which points they are.\n"
        "    inertia_ : float\n        Sum of the distances of the points from their medoids, in scaled features."
    ),
}

_N_INIT = "Starts, of which the best is kept; {} if not given."
_MAX_ITER = "{} at most; {} if not given."
_STARTS = {"oracle_starts": ("n_init", None)}
_ROUNDS = {"oracle_iterations": ("max_iter", None)}
_SEEDING = {"seeding": ("init", {"plus-plus": "k-means++"})}


def _n_init(usual: int) -> Keyword:
    return keyword("n_init", "oracle_starts", _N_INIT.format(usual))


def _max_iter(what: str, usual: int) -> Keyword:
    return keyword("max_iter", "oracle_iterations", _MAX_ITER.format(what, usual))


def _tol(says: str) -> Keyword:
    return keyword("tol", "oracle_tolerance", says)


_MCLUST = {"max_iter": _max_iter("Iterations of each model", 100_000),
           "tol": _tol("EM stops once the log likelihood changes by less than this share; 1e-5 if not given.")}
# Class, name as an oracle, base, what it is, whether it is told the number of clusters, its other
# keywords, the common ones that do something, old names.
_TABLE: list[tuple[str, str, type, str, bool, dict[str, Keyword], tuple[str, ...], dict[str, Any]]] = [
    ("KMeans", "k-means", _KMeans, "k-means with single transfers (Hartigan & Wong), as in R.", True,
     {"n_init": _n_init(100), "max_iter": _max_iter("Iterations of each start", 10), "algorithm": keyword("algorithm"),
      "init": keyword("init", words={"random": "random", "k-means++": "plus-plus"})},
     ("random_state", "n_jobs"), _STARTS | _ROUNDS | _SEEDING),
    ("KMedoids", "k-medoids", _KMedoids, "k-medoids by FasterPAM.", True,
     {"n_init": _n_init(3), "max_iter": _max_iter("Rounds over all points", 100), "metric": keyword("metric")},
     ("random_state", "n_jobs"), _STARTS | _ROUNDS),
    ("DiagonalMixture", "gmm-diag", _WithMeans, "Gaussian mixture with diagonal covariances, as in ClusterR.", True,
     {"n_init": _n_init(1), "max_iter": _max_iter("Iterations of EM", 5)}, ("random_state", "n_jobs"), _STARTS | _ROUNDS),
    ("MclustEII", "mclust-eii", _WithMeans, "Gaussian mixture, equal spheres, at most n_clusters by BIC.", True, _MCLUST, (), _ROUNDS),
    ("MclustVII", "mclust-vii", _WithMeans, "Gaussian mixture, spheres of their own sizes, at most n_clusters by BIC.", True, _MCLUST, (), _ROUNDS),
    ("MclustVVV", "mclust-vvv", _WithMeans, "Gaussian mixture, any covariances, at most n_clusters by BIC.", True, _MCLUST, (), _ROUNDS),
    ("Linkage", "linkage", OracleEstimator, "Agglomerative linkage.", True, {"linkage": keyword("linkage")}, (), {}),
    ("Affinity", "affinity", OracleEstimator, "Affinity propagation; finds the number of clusters.", False,
     {"preference": keyword("preference"), "damping": keyword("damping"), "max_iter": _max_iter("Iterations", 1000)},
     ("random_state",), _ROUNDS),
    ("MeanShift", "mean-shift", OracleEstimator, "Mean shift; finds the number of clusters.", False,
     {"bandwidth": keyword("bandwidth"), "max_iter": _max_iter("Iterations of each seed", 300)}, ("n_jobs",), _ROUNDS),
    ("SpectralClustering", "spectral", OracleEstimator, "Spectral clustering of the nearest-neighbour graph.", True, {},
     ("random_state", "n_jobs"), {}),
    ("ConvexClustering", "convex", OracleEstimator, "Convex clustering (sum of norms).", True,
     {"max_iter": _max_iter("Iterations of each step of the path", 5000),
      "tol": _tol("The share of the objective by which a step of the path may miss its minimum; 1e-6 if not given.")}, ("n_jobs",), _ROUNDS),
    ("HDBSCAN", "hdbscan", OracleEstimator, "HDBSCAN; finds the number of clusters, and -1 is noise.", False,
     {"min_cluster_size": keyword("min_cluster_size"), "min_samples": keyword("min_samples")}, (), {}),
]  # fmt: skip


def _made(name: str, oracle: str, base: type, doc: str, counts: bool, own: dict[str, Keyword], common: Any, old: dict[str, Any]) -> Any:
    says = 'Number of clusters; "auto" finds it by the marginal mixture.'
    keywords = {"n_clusters": keyword("n_clusters", says=says, default=8)} if counts else {}
    keywords |= own | {"scale": keyword("scale", default=own_default("oracle", "scale"))}
    attributes = [_ATTRIBUTES["means"]] if issubclass(base, _WithMeans) else []
    attributes += [_ATTRIBUTES[oracle]] if oracle in _ATTRIBUTES else []
    body = {"_oracle": oracle, "_common": common, "_renamed": old, "_idle": tuple({*COMMON} - {*common}), "__qualname__": name}
    return equip(type(name, (base,), body), keywords, doc, _FIRST + "".join(f"    {text}\n" for text in attributes))


ORACLES: dict[str, type] = {row[0]: _made(*row) for row in _TABLE}
NAMED.update({row[1]: ORACLES[row[0]] for row in _TABLE})
