"""The methods for uncertain objects.

They differ in a few settings, so their keywords come from one table; what a class does besides
fitting is written out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _goc
from ._base import PredictsByCandidates, PredictsByMeans, UncertainClusterer, Weightable, _threads, equip
from ._oracle_estimators import ORACLES
from ._settings import Keyword, keyword, own_default

__all__ = ["METHODS", "ORACLES", "GreedyOptimisticClustering", "MarginalMixture", "TreeOptimisticClustering", "UKMeans"]

_ATTRIBUTES = """
    Attributes
    ----------
    labels_ : array of n whole numbers
        The cluster of each object, from 0; -1 if it is in none.
    cluster_centers_ : array (n_clusters_, q)
        Means of the representatives, in the units of X.
    n_clusters_ : int
    n_iter_ : int
    chosen_ : array of n whole numbers, or None
        The chosen candidate of each object, for methods that choose.
    representatives_ : array (n, q)
        Where each object was taken to be, in the units of X.
    history_ : structured array (k, objective, changed)
        One row per iteration, for methods that record it.
    probabilities_ : array of n numbers, or None
        The probability of each label, for methods that give one.
    objective_ : float or None
    converged_, cycle_ : bool
        Whether it converged; whether it returned to an earlier state (the best of the cycle is kept). A fit that
        did not
        converge also issues scikit-learn's ConvergenceWarning.
    k_curve_ : structured array (k, value)
        Every number of clusters that ``n_clusters="auto"`` tried.
    penalty_weight_ : float
        As given, or as found.
    stability_, cluster_stability_ : arrays of n and n_clusters_ numbers, or None
        With `stability`: the share of its fellow members that an object keeps, and how well a cluster comes back, from 0 to 1.
    p_values_, q_values_ : arrays of n_clusters_ numbers, or None
        With `significance`: of the clusters as they were found, against backgrounds without groups; NaN for a cluster of one.
    log_odds_ : array of n numbers, or None
        With `significance`: how much likelier an object is next to its fellow members than in the smooth distribution of all.
    recurrence_ : array of n_clusters_ numbers, or None
        Of the marginal mixture: how well each cluster comes back from draw to draw, from 0 to 1.
"""

class GreedyOptimisticClustering(Weightable, PredictsByCandidates, UncertainClusterer):
    _method = "goc"
    _steps = "iterations and moves"


class MarginalMixture(UncertainClusterer):
    _method = "marginal"
    _steps = "sweeps"

    alone_: NDArray[np.float64]
    field_: NDArray[np.float64]
    runner_up_: NDArray[np.int64]
    runner_up_probability_: NDArray[np.float64]
    k_posterior_: NDArray[Any]
    together_: Any
    candidate_probabilities_: NDArray[np.float64]
    agreement_: float
    effective_draws_: float
    error_factor_: float | None
    bad_errors_: float | None

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        from scipy.sparse import coo_array

        n = len(self.labels_)
        for name in ("alone", "field", "runner_up", "runner_up_probability", "agreement", "effective_draws", "error_factor", "bad_errors"):
            setattr(self, f"{name}_", found[name])
        self.k_posterior_ = np.zeros(len(found["k_values"]), [("k", "i8"), ("probability", "f8")])
        self.k_posterior_["k"] = found["k_values"]
        self.k_posterior_["probability"] = found["k_probabilities"]
        a, b, p = found["together_a"], found["together_b"], found["together_probability"]
        each = np.arange(n)
        entries = np.concatenate([p, p, np.ones(n)])
        places = (np.concatenate([a, b, each]), np.concatenate([b, a, each]))
        self.together_ = coo_array((entries, places), shape=(n, n)).tocsr()
        self.candidate_probabilities_ = found["candidate_probabilities"]
        if kept is not None:
            self.candidate_probabilities_ = np.zeros(len(kept[0]))
            self.candidate_probabilities_[kept[0]] = found["candidate_probabilities"]
        self._model = found["model"]

    def _unsettled(self, cycle: bool, weighted: bool = False) -> str:
        return (
            f"did not converge: the chains agree to {self.agreement_:.2f}, with {self.effective_draws_:.0f} "
            "effective draws of K, which is too little to trust; raise burn, keep or chains"
        )

    def _predicted(self, X: Any, penalty: Any, weight: Any) -> tuple[Any, ...]:
        check_is_fitted(self)
        if self._model is None:
            raise ValueError("noise=True with significance removes members from the clusters that predict needs: fit with noise=False to predict")
        candidates, _ = self._candidates(X, penalty, weight, reset=False)
        predicted: tuple[Any, ...] = self._model.predict(candidates, _threads(self.n_jobs))
        return predicted

    def predict(self, X: Any, penalty: Any = None, weight: Any = None) -> NDArray[np.int64]:
        """The cluster of each new object, -1 where it most likely belongs to none.

        Parameters
        ----------
        X, penalty, weight
            As in `fit`.

        Returns
        -------
        labels : array of n whole numbers
        """
        labels: NDArray[np.int64] = self._predicted(X, penalty, weight)[0]
        return labels

    def predict_confidence(
        self, X: Any, penalty: Any = None, weight: Any = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The probabilities of what `predict` returns.

        Returns
        -------
        probability, alone : arrays of n numbers
            Of the label, and of belonging to no known cluster, in the field or not.
        """
        _, probability, alone = self._predicted(X, penalty, weight)
        return probability, alone


class UKMeans(Weightable, PredictsByMeans, UncertainClusterer):
    _method = "uk-means"


class TreeOptimisticClustering(PredictsByCandidates, UncertainClusterer):
    _method = "goc-tree"

    tree_: NDArray[np.float64]

    def _take(self, found: Mapping[str, Any], settings: Mapping[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        self.tree_ = found["tree"]

    def newick(self, X: Any = None, *, ids: Sequence[Any] | None = None) -> str:
        """The tree in Newick format with objects as leaves, as ``goc cluster --tree`` writes it.

        Parameters
        ----------
        X : Candidates, optional
            What was fitted: its ids name the leaves.
        ids : sequence of n names, optional
            By default the positions of the objects.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        ids = getattr(X, "ids", None) if ids is None else ids
        return _goc.newick(self.tree_, [str(name) for name in (range(len(self.labels_)) if ids is None else ids)])


# What many methods share, in the order in which it stands in the signatures.
_NUMBER = {"n_clusters": keyword("n_clusters", default=8)}
_WEIGHT = {"penalty_weight": keyword("penalty_weight")}
_ORACLE = {"oracle": keyword("oracle")}
_AUTO = {"k_by": keyword("k_by")}
_GREEDY = {name: keyword(name) for name in ("preset", "distance", "k_rule", "oracle_every", "begin", "initial_labels", "scale_penalties",
                                            "n_init", "swaps", "tol", "max_iter")}  # fmt: skip
_SEARCH = {"search": keyword("search")}
_SURE = {name: keyword(name) for name in ("stability", "significance", "background", "noise", "fdr")}
_ROUNDS = {"max_iter": keyword("max_iter"), "n_init": keyword("n_init", "oracle_starts", "Starts, of which the best is kept; 10 if not given.")}
_RENAMED = {"oracle_starts": ("n_init", None), "oracle_iterations": ("max_iter", None)}
_MAX_ITER = "Maximum number of iterations; {} if not given."
_FIELD = (
    "With `significance`: members of clusters that are not significant have the label -1 too, as those in the field have anyway. Such a fit "
    "has no `predict`."
)

# Class (or its name), method, bases, what it is, its keywords, example.
_TABLE: list[tuple[Any, str, tuple[type, ...], str, dict[str, Keyword], str]] = [
    (GreedyOptimisticClustering, "goc", (),
     """Greedy optimistic clustering, GOC (Okuno & Hattori 2022).

    Every object is a set of candidates, the values its true features may have. The clustering
    chooses for each object the candidate that makes the clusters tightest.""",
     {**_NUMBER, **_WEIGHT, **_ORACLE, **_GREEDY, **_SEARCH, **_AUTO, "trim": keyword("trim")},
     """    The first object may be anywhere between 0 and 2; it joins the second.

    >>> import numpy as np
    >>> from goc import GreedyOptimisticClustering
    >>> X = [np.array([[0.0], [1.0], [2.0]]), np.array([[2.1]]), np.array([[9.0]])]
    >>> goc = GreedyOptimisticClustering(2, k_rule="constant", scale="none").fit(X)
    >>> (goc.labels_[0] == goc.labels_[1], goc.labels_[0] == goc.labels_[2])
    (np.True_, np.False_)
    >>> goc.chosen_
    array([2, 0, 0])

    The oracle can have settings of its own, and any clusterer of plain points can be the oracle:

    >>> from goc import KMeans
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> GreedyOptimisticClustering(2, oracle=KMeans(n_init=10), k_rule="constant").fit(X).n_clusters_
    2
    >>> GreedyOptimisticClustering(2, oracle=AgglomerativeClustering(), k_rule="constant").fit(X).n_clusters_
    2
    """),
    (MarginalMixture, "marginal", (),
     """The marginal mixture: finds the groups, their number, and the probability of each label.

    It sums over the candidates instead of choosing one. Objects in the field, which belong to no
    group, have the label -1. Attributes besides those below: `field_` and `alone_` (probability of
    being in the field, and of being a group of one), `recurrence_` (how well each cluster comes
    back, from 0 to 1), `runner_up_` and `runner_up_probability_`, `k_posterior_` (k, probability),
    `together_` (sparse: probability that two objects are together), `candidate_probabilities_`,
    `agreement_` of the chains and `effective_draws_`; `error_factor_` and `bad_errors_`, what was
    learned about the errors, if candidates were drawn with `sampler="tails"` (else None).""",
     {"scale": keyword("scale", default=own_default("marginal", "scale")),
      "feature_map": keyword("feature_map", default=own_default("marginal", "feature_map")),
      **{name: keyword(name) for name in ("strength", "scale_penalties", "chains", "burn", "keep",
                                      "field_prior", "alpha", "power", "singleton_weight", "nu")},
      **_SURE, "noise": keyword("noise", says=_FIELD)},
     """    >>> import numpy as np
    >>> from goc import MarginalMixture
    >>> rng = np.random.default_rng(1)
    >>> places = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + rng.normal(0, 0.3, (40, 2))
    >>> X = places[:, None, :] + rng.normal(0, 0.2, (40, 15, 2))
    >>> mixture = MarginalMixture().fit(X)
    >>> mixture.n_clusters_
    2
    >>> mixture.predict(X[:3]) == mixture.labels_[:3]
    array([ True,  True,  True])
    """),
    (UKMeans, "uk-means", (), "The oracle on the mean of each object's candidates: UK-means, the paper's baseline.",
     {**_NUMBER, **_ORACLE, **_AUTO},
     """    >>> from goc import UKMeans
    >>> found = UKMeans(2).fit([[[0.0], [1.0]], [[0.4], [0.6]], [[9.0], [8.0]]])
    >>> sorted(found.cluster_centers_.ravel().round(6).tolist())
    [0.5, 8.5]
    """),
    ("GreedyPessimisticClustering", "gpc", (), "Greedy pessimistic clustering, GPC: the worst candidate of each object.",
     {**_NUMBER, **_WEIGHT, **{name: keyword(name) for name in ("reading", "distance", "k_rule", "scale_penalties", "max_iter")},
      **_ORACLE, **_AUTO}, ""),
    (TreeOptimisticClustering, "goc-tree", (),
     """Hierarchical GOC: more clusters than asked for, merged by a tree.

    It begins with 1.5 n_clusters clusters. Members choose their candidates again at every merge.
    Besides the attributes below: `tree_`, the whole tree as scipy's linkage table, objects as
    leaves; `newick` writes it.""",
     {**_NUMBER, **_WEIGHT, **_ORACLE, **_GREEDY, **_SEARCH, **_AUTO}, ""),
    ("HullOptimisticClustering", "goc-hull", (), "GOC over the convex hull of each set.",
     {**_NUMBER, **_WEIGHT, **_ORACLE, **_GREEDY, **_AUTO}, ""),
    ("BoxOptimisticClustering", "goc-box", (), "GOC over the bounding box of each set.",
     {**_NUMBER, **_WEIGHT, **_ORACLE, **_GREEDY, **_AUTO}, ""),
    ("UKMedians", "uk-medians", (), "Clusters around geometric medians by expected distance (Cormode & McGregor 2008).",
     {**_NUMBER, **_ROUNDS, **_AUTO}, ""),
    ("ExpectedKMeans", "expected-k-means", (PredictsByMeans,), "k-means by the expected squared distance to all candidates.",
     {**_NUMBER, **_ROUNDS, **_AUTO}, ""),
    ("BoxKMeans", "boxes", (), "k-means by the distance to bounding boxes (Ngai et al. 2006).",
     {**_NUMBER, "box_distance": keyword("box_distance"), **_ROUNDS, **_AUTO}, ""),
    ("RobustBoxKMeans", "robust-boxes", (), "k-means against the worst case within boxes (Vo et al.).",
     {**_NUMBER, **_ROUNDS, **_AUTO}, ""),
    ("PossibleWorlds", "worlds", (), "The oracle on sampled worlds, then consensus (Volk et al. 2009).",
     {**_NUMBER, "worlds": keyword("worlds"), **_ORACLE, **_AUTO}, ""),
    ("RepresentativeWorlds", "representative-worlds", (), "The oracle on representative worlds, then consensus (after Liu et al. 2021).",
     {**_NUMBER, "worlds": keyword("worlds"), **_ORACLE, **_AUTO}, ""),
    ("ConsistentWorlds", "consistent-worlds", (),
     "Representative worlds in one spectral clustering of them all (after Liu et al. 2021).",
     {**_NUMBER, "worlds": keyword("worlds"), **_AUTO}, ""),
    ("HDBSCANDraws", "hdbscan-draws", (),
     """HDBSCAN on draws from the errors, combined by consensus.

    Finds the number of clusters. Objects that are together in less than half of the draws with any other have the label -1.""",
     {name: keyword(name) for name in ("min_cluster_size", "min_samples", "worlds")}, ""),
    ("FDBSCAN", "fdbscan", (), """DBSCAN with probabilities of distances (Kriegel & Pfeifle 2005).

    Finds the number of clusters; objects near no dense one have the label -1.""",
     {"min_points": keyword("min_points"), "eps": keyword("eps")}, ""),
    ("FOPTICS", "foptics", (),
     """OPTICS by expected distances, cut at eps (Fuentes et al. 2017).

    Finds the number of clusters; objects that no cluster reaches have the label -1. The expected
    distances are those of Kriegel & Pfeifle (2005).""",
     {name: keyword(name) for name in ("min_points", "eps", "worlds")}, ""),
    ("SignificantLinkage", "significant-linkage", (),
     """Single linkage that keeps what stands out from a background (Lövdal et al. 2022).

    It links the means of the sets and finds the number of clusters. `background` says how the
    backgrounds are made. Objects in no significant cluster have the label -1.""",
     {"least_members": keyword("least_members")}, ""),
    ("ExtremeDeconvolution", "extreme-deconvolution", (),
     """A Gaussian mixture convolved with the errors (Bovy, Hogg & Roweis 2011).

    The errors of an object are the weighted covariance of its candidates; `representatives_` are
    the objects' places according to the mixture.""",
     {"n_clusters": keyword("n_clusters", default="auto", says='Number of components; "auto" finds it, by BIC.'),
      **{name: keyword(name) for name in ("strength", "scale_penalties")}},
     """    >>> import numpy as np
    >>> from goc import ExtremeDeconvolution
    >>> rng = np.random.default_rng(1)
    >>> places = np.repeat([[0.0, 0.0], [9.0, 9.0]], 20, axis=0) + rng.normal(0, 0.3, (40, 2))
    >>> X = places[:, None, :] + rng.normal(0, 0.2, (40, 15, 2))
    >>> ExtremeDeconvolution().fit(X).n_clusters_
    2
    """),
    ("SetAffinityPropagation", "affinity", (), "Affinity propagation on distances between sets; finds the number of clusters.",
     {"set_distance": keyword("set_distance"), "preference": keyword("preference"), "damping": keyword("damping"),
      "max_iter": keyword("max_iter", "oracle_iterations", _MAX_ITER.format(1000))}, ""),
    ("SetKMedoids", "medoids", (), "k-medoids on distances between sets.",
     {**_NUMBER, "set_distance": keyword("set_distance"),
      "n_init": keyword("n_init", "oracle_starts", "Starts, of which the best is kept; 3 if not given."),
      "max_iter": keyword("max_iter", "oracle_iterations", _MAX_ITER.format(100)), **_AUTO}, ""),
    ("SetLinkage", "linkage", (), "Agglomerative linkage on distances between sets.",
     {**_NUMBER, "set_distance": keyword("set_distance"), "linkage": keyword("linkage"), **_AUTO}, ""),
]  # fmt: skip


def _made(cls: Any, method: str, bases: tuple[type, ...], doc: str, keywords: dict[str, Keyword], example: str) -> Any:
    if isinstance(cls, str):
        cls = type(cls, (*bases, UncertainClusterer), {"_method": method, "__qualname__": cls})
    # An earlier version of a method without an oracle called them by the oracle's names.
    cls._renamed = {} if "oracle" in keywords else {old: new for old, new in _RENAMED.items() if new[0] in keywords}
    every = {"scale": keyword("scale"), "feature_map": keyword("feature_map")}
    every = {name: known for name, known in {**every, **_SURE}.items() if name not in keywords}
    return equip(cls, keywords | every, doc, _ATTRIBUTES, example)


METHODS: dict[str, type] = {cls.__name__: cls for cls in (_made(*row) for row in _TABLE)}
