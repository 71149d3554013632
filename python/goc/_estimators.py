"""The estimators.

Three are written out; the others, which differ in a few settings only, are made from one table.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _goc
from ._base import DEFAULTS, PredictsByCandidates, PredictsByMeans, UncertainClusterer, Weightable, _threads

_ATTRIBUTES = """
    Attributes
    ----------
    labels_ : array of n whole numbers
        The cluster of each object, from 0; -1: in none.
    cluster_centers_ : array (n_clusters_, q)
        Means of the representatives, in the units of X.
    n_clusters_ : int
    n_iter_ : int
    chosen_ : array of n whole numbers, or None
        The chosen candidate of each object, for methods that choose.
    representatives_ : array (n, q)
        Where each object was taken to be, in the units of X.
    history_ : structured array (k, objective, changed)
        A row an iteration, for methods that tell.
    probabilities_ : array of n numbers, or None
        How sure the method is of each label, where it says so.
    objective_ : float or None
    converged_, cycle_ : bool
        Whether it settled; whether it came back to a state it had been in (the best of the cycle is kept). A fit that did not
        settle also issues scikit-learn's ConvergenceWarning.
    k_curve_ : structured array (k, value)
        Every number of clusters that ``n_clusters="auto"`` looked at.
    penalty_weight_ : float
        As given, or as found.
"""

_COMMON = """
    scale : {{"standard", "robust", "none"}}, default "{scale}"
        How features are made comparable before distances are taken. Results are in the units of X.
    random_state : int, RandomState or None, default 1
        An int is the command's ``--seed``: the same int, the same bytes.
    n_jobs : int or None
        Threads; None is all cores. The result does not depend on it.
    verbose : int, default 0
        1 shows a bar (needs tqdm).
"""

PARAMETERS = {
    "n_clusters": 'n_clusters : int or "auto", default 8\n        Number of clusters to begin with; "auto" finds it, by `k_by`.',
    "k_by": 'k_by : {"marginal", "silhouette", "bic", "icl", "stability"}\n        How "auto" chooses.',
    "penalty_weight": 'penalty_weight : float or "auto", default 0.01\n        The weight of the penalties (lambda).',
    "oracle": (
        'oracle : str, callable or clusterer, default "k-means"\n'
        "        What clusters one point per object: a name (k-means, k-medoids, gmm-diag, mclust-eii, mclust-vii,\n"
        "        mclust-vvv, linkage, affinity, mean-shift, spectral, convex, hdbscan), a function\n"
        "        ``(points, k, seed) -> labels``, or a clusterer of scikit-learn."
    ),
    "preset": 'preset : {"paper", "authors"}\n        What the paper says, or what the authors\' code does.',
    "distance": 'distance : {"squared", "euclidean", "euclidean-f32"}, optional\n        Distance of step (III); overrides the preset.',
    "k_rule": 'k_rule : {"constant", "occupied", "plural"}, optional\n        How K follows from the clusters before; overrides the preset.',
    "oracle_every": 'oracle_every : {"first", "always"}, optional\n        When the oracle is used; overrides the preset.',
    "begin": 'begin : {"mean", "nearest-to-mean"}, optional\n        First representative of each object; overrides the preset.',
    "initial_labels": "initial_labels : array of n whole numbers, optional\n        Replaces the first clustering.",
    "scale_penalties": "scale_penalties : bool, default True\n        Divide the penalties by the largest.",
    "n_init": "n_init : int, default 1\n        Keep the best joint objective of so many starts.",
    "swaps": "swaps : int, default 0\n        Then try so many swap moves.",
    "search": 'search : {"plain", "thorough"}, optional\n        Search for a better minimum; thorough with n_clusters="auto".',
    "tol": "tol : float, default 0\n        Stop once no more than this share of the objects change.",
    "max_iter": "max_iter : int, default 200\n        Iterations at most.",
    "oracle_starts": "oracle_starts : int, optional\n        Starts of the oracle, or of a method without one.",
    "oracle_iterations": "oracle_iterations : int, optional\n        Iterations of the oracle at most.",
    "algorithm": 'algorithm : {"hartigan-wong", "lloyd"}\n        How k-means descends.',
    "seeding": 'seeding : {"random", "plus-plus"}\n        How k-means draws its starts.',
    "linkage": 'linkage : {"single", "complete", "average", "weighted", "ward", "centroid", "median"}\n        How clusters are joined.',
    "reading": 'reading : {"min-max", "max-max"}\n        What pessimism maximises.',
    "set_distance": 'set_distance : {"s1", "s2", "s3", "hausdorff", "kl", "kl-kernel"}\n        Distance between sets.',
    "box_distance": 'box_distance : {"min", "max"}\n        Which point of a box counts.',
    "worlds": "worlds : int, default 100\n        Worlds that are sampled.",
    "preference": "preference : float, default 0.5\n        Preference of affinity propagation: this quantile of the similarities.",
    "bandwidth": "bandwidth : float, optional\n        Of mean shift, in scaled features.",
    "min_cluster_size": "min_cluster_size : int, default 5\n        Least members of a cluster.",
    "min_points": "min_points : int, default 3\n        Objects within eps that make a core object.",
    "eps": "eps : float, optional\n        Radius, in scaled features; by a rule if not given.",
    "strength": (
        "strength : float, optional\n"
        "        What a penalty of 1 costs in log likelihood. By default what makes the penalties of :func:`goc.from_gaia` and\n"
        "        :func:`goc.propagate` a likelihood; else 2, which does so for the paper's."
    ),
    "chains": "chains : int, default 4\n        Chains.",
    "burn": "burn : int, default 40\n        Sweeps of each chain before draws are kept.",
    "keep": "keep : int, default 140\n        Draws kept of each chain.",
    "noise": (
        "noise : bool, default False\n"
        "        Expect many objects in no group and give those the label -1; `solitude_` says how alone each is. Such a fit has no\n"
        "        `predict`."
    ),
    "feature_map": (
        'feature_map : {"auto", "actions", "none"}\n'
        "        Square roots of the features Jr and Jz, in which groups of stars are round; auto: where the features have\n"
        "        those names."
    ),
}


def _documented(head: str, names: list[str], scale: str, example: str = "") -> str:
    parameters = "".join(f"\n    {PARAMETERS[name]}" for name in names)
    text = f"{head}\n\n    Parameters\n    ----------{parameters}{_COMMON.format(scale=scale)}{_ATTRIBUTES}"
    return text + (f"\n    Examples\n    --------\n{example}" if example else "")


class GreedyOptimisticClustering(Weightable, PredictsByCandidates, UncertainClusterer):
    _method = "goc"
    _steps = "iterations and moves"

    def __init__(
        self,
        n_clusters: int | str = 8,
        penalty_weight: float | str = 0.01,
        oracle: Any = "k-means",
        *,
        preset: str = "paper",
        distance: str | None = None,
        k_rule: str | None = None,
        oracle_every: str | None = None,
        begin: str | None = None,
        initial_labels: Any = None,
        scale: str = "standard",
        scale_penalties: bool = True,
        n_init: int = 1,
        swaps: int = 0,
        search: str | None = None,
        k_by: str = "marginal",
        tol: float = 0.0,
        max_iter: int = 200,
        oracle_starts: int | None = None,
        oracle_iterations: int | None = None,
        algorithm: str = "hartigan-wong",
        seeding: str = "random",
        linkage: str = "average",
        preference: float = 0.5,
        bandwidth: float | None = None,
        min_cluster_size: int = 5,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.penalty_weight = penalty_weight
        self.oracle = oracle
        self.preset = preset
        self.distance = distance
        self.k_rule = k_rule
        self.oracle_every = oracle_every
        self.begin = begin
        self.initial_labels = initial_labels
        self.scale = scale
        self.scale_penalties = scale_penalties
        self.n_init = n_init
        self.swaps = swaps
        self.search = search
        self.k_by = k_by
        self.tol = tol
        self.max_iter = max_iter
        self.oracle_starts = oracle_starts
        self.oracle_iterations = oracle_iterations
        self.algorithm = algorithm
        self.seeding = seeding
        self.linkage = linkage
        self.preference = preference
        self.bandwidth = bandwidth
        self.min_cluster_size = min_cluster_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


_GOC = [n for n in inspect.signature(GreedyOptimisticClustering.__init__).parameters if n in PARAMETERS]
GreedyOptimisticClustering.__doc__ = _documented(
    """Greedy optimistic clustering, GOC (Okuno & Hattori 2022).

    Every object is a set of candidates, the values its true features may have; the clustering may choose for each object the candidate
    that makes the clusters tightest.""",
    _GOC,
    "standard",
    """    The first object may be anywhere between 0 and 2; it joins the second.

    >>> import numpy as np
    >>> from goc import GreedyOptimisticClustering
    >>> X = [np.array([[0.0], [1.0], [2.0]]), np.array([[2.1]]), np.array([[9.0]])]
    >>> goc = GreedyOptimisticClustering(2, k_rule="constant", scale="none").fit(X)
    >>> (goc.labels_[0] == goc.labels_[1], goc.labels_[0] == goc.labels_[2])
    (np.True_, np.False_)
    >>> goc.chosen_
    array([2, 0, 0])

    Any clustering of plain points is an oracle:

    >>> from sklearn.cluster import AgglomerativeClustering
    >>> goc = GreedyOptimisticClustering(2, oracle=AgglomerativeClustering(), k_rule="constant").fit(X)
    >>> goc.n_clusters_
    2
    """,
)


class MarginalMixture(UncertainClusterer):
    _method = "marginal"
    _finds_k = True
    _steps = "sweeps"

    def __init__(
        self,
        *,
        scale: str = "robust",
        feature_map: str = "auto",
        strength: float | None = None,
        scale_penalties: bool = True,
        chains: int = 4,
        burn: int = 40,
        keep: int = 140,
        noise: bool = False,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.scale = scale
        self.feature_map = feature_map
        self.strength = strength
        self.scale_penalties = scale_penalties
        self.chains = chains
        self.burn = burn
        self.keep = keep
        self.noise = noise
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _take(self, found: dict[str, Any], settings: dict[str, Any], kept: Any) -> None:
        super()._take(found, settings, kept)
        from scipy.sparse import coo_array

        n = len(self.labels_)
        self.alone_ = found["alone"]
        self.runner_up_ = found["runner_up"]
        self.runner_up_probability_ = found["runner_up_probability"]
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
        self.agreement_ = found["agreement"]
        self.effective_draws_ = found["effective_draws"]
        self.solitude_ = found["solitude"]
        self._model = found["model"]

    def _unsettled(self) -> str:
        return (
            f"did not converge: the chains agree to {self.agreement_:.2f} and their K is worth {self.effective_draws_:.0f} independent "
            "draws, which is too far apart or too few to trust; raise burn, keep or chains"
        )

    def _predicted(self, X: Any, penalty: Any, weight: Any):
        check_is_fitted(self)
        if self._model is None:
            raise ValueError("noise=True takes members away from the clusters that new objects would be judged by: fit with noise=False to predict")
        candidates, _, _ = self._candidates(X, penalty, weight, reset=False)
        centre, spread = (part.tolist() for part in self._scale)
        return self._model.predict(candidates, centre, spread, self._penalty_divisor, _threads(self.n_jobs))

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
        return self._predicted(X, penalty, weight)[0]

    def predict_confidence(self, X: Any, penalty: Any = None, weight: Any = None):
        """How sure `predict` is.

        Returns
        -------
        probability, alone : arrays of n numbers
            Of the label, and of belonging to no known cluster.
        """
        return self._predicted(X, penalty, weight)[1:]


MarginalMixture.__doc__ = _documented(
    """The marginal mixture: sums over the candidates instead of choosing one, finds the number of clusters and says how sure it is.

    Beside the attributes below: `alone_` (probability of belonging to no group), `runner_up_` and `runner_up_probability_`,
    `k_posterior_` (k, probability), `together_` (sparse: probability that two objects are together),
    `candidate_probabilities_`, `agreement_` of the chains and `effective_draws_`; with `noise=True` also `solitude_`.""",
    ["scale_penalties", "feature_map", "strength", "chains", "burn", "keep", "noise"],
    "robust",
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
    """,
)


class UKMeans(Weightable, PredictsByMeans, UncertainClusterer):
    _method = "uk-means"

    def __init__(
        self,
        n_clusters: int | str = 8,
        oracle: Any = "k-means",
        *,
        scale: str = "standard",
        k_by: str = "marginal",
        oracle_starts: int | None = None,
        oracle_iterations: int | None = None,
        algorithm: str = "hartigan-wong",
        seeding: str = "random",
        linkage: str = "average",
        preference: float = 0.5,
        bandwidth: float | None = None,
        min_cluster_size: int = 5,
        random_state: Any = 1,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.oracle = oracle
        self.scale = scale
        self.k_by = k_by
        self.oracle_starts = oracle_starts
        self.oracle_iterations = oracle_iterations
        self.algorithm = algorithm
        self.seeding = seeding
        self.linkage = linkage
        self.preference = preference
        self.bandwidth = bandwidth
        self.min_cluster_size = min_cluster_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose


UKMeans.__doc__ = _documented(
    "The oracle on the mean of each object's candidates: UK-means, the paper's baseline.",
    [n for n in inspect.signature(UKMeans.__init__).parameters if n in PARAMETERS],
    "standard",
    """    >>> from goc import UKMeans
    >>> found = UKMeans(2).fit([[[0.0], [1.0]], [[0.4], [0.6]], [[9.0], [8.0]]])
    >>> sorted(found.cluster_centers_.ravel().round(6).tolist())
    [0.5, 8.5]
    """,
)

# What an oracle by a name may be told.
_ORACLE = ["oracle", "oracle_starts", "oracle_iterations", "algorithm", "seeding", "linkage", "preference", "bandwidth",
           "min_cluster_size"]  # fmt: skip
_GREEDY = [n for n in _GOC if n not in ("search", "k_by", "n_clusters")]

# Class, method, bases, what it is, its settings beside the common ones, settings of its own default.
_TABLE: list[tuple[str, str, tuple[type, ...], str, list[str], dict[str, Any]]] = [
    ("GreedyPessimisticClustering", "gpc", (), "Greedy pessimistic clustering, GPC: the worst candidate of each object.",
     ["n_clusters", "penalty_weight", "reading", "distance", "k_rule", "scale_penalties", "max_iter", *_ORACLE], {}),
    ("TreeOptimisticClustering", "goc-tree", (PredictsByCandidates,),
     "GOC with half as many clusters again, merged to n_clusters as a tree that lets members choose anew.",
     ["n_clusters", *_GREEDY, "search"], {}),
    ("HullOptimisticClustering", "goc-hull", (), "GOC over the convex hull of each set.", ["n_clusters", *_GREEDY], {}),
    ("BoxOptimisticClustering", "goc-box", (), "GOC over the bounding box of each set.", ["n_clusters", *_GREEDY], {}),
    ("UKMedians", "uk-medians", (), "Expected distance to geometric medians (Cormode & McGregor 2008).",
     ["n_clusters", "max_iter", "oracle_starts"], {}),
    ("ExpectedKMeans", "expected-k-means", (PredictsByMeans,),
     "k-means by expected squared distance, without the shortcut by means.", ["n_clusters", "max_iter", "oracle_starts"], {}),
    ("BoxKMeans", "boxes", (), "k-means by the distance to bounding boxes (Ngai et al. 2006).",
     ["n_clusters", "box_distance", "max_iter", "oracle_starts"], {}),
    ("RobustBoxKMeans", "robust-boxes", (), "k-means against the worst case within boxes (Vo et al.).",
     ["n_clusters", "max_iter", "oracle_starts"], {}),
    ("PossibleWorlds", "worlds", (), "The oracle on sampled worlds, then consensus (Volk et al. 2009).",
     ["n_clusters", "worlds", *_ORACLE], {}),
    ("RepresentativeWorlds", "representative-worlds", (), "The same on worlds chosen as representatives (Liu et al.).",
     ["n_clusters", "worlds", *_ORACLE], {}),
    ("FDBSCAN", "fdbscan", (), "DBSCAN with probabilities of distances (Kriegel & Pfeifle 2005). Finds the number of clusters.",
     ["min_points", "eps"], {}),
    ("SetAffinityPropagation", "affinity", (), "Affinity propagation on distances between sets. Finds the number of clusters.",
     ["set_distance", "preference", "oracle_iterations"], {}),
    ("SetKMedoids", "medoids", (), "k-medoids on distances between sets.",
     ["n_clusters", "set_distance", "oracle_starts", "oracle_iterations"], {}),
    ("SetLinkage", "linkage", (), "Agglomerative linkage on distances between sets.", ["n_clusters", "set_distance", "linkage"], {}),
]  # fmt: skip

# Oracles by themselves, on plain points: class, oracle, what it is, settings.
_ORACLES: list[tuple[str, str, str, list[str]]] = [
    ("KMeans", "k-means", "k-means with single transfers (Hartigan & Wong), as in R.",
     ["n_clusters", "oracle_starts", "oracle_iterations", "algorithm", "seeding"]),
    ("KMedoids", "k-medoids", "k-medoids by FasterPAM.", ["n_clusters", "oracle_starts", "oracle_iterations"]),
    ("DiagonalMixture", "gmm-diag", "Gaussian mixture with diagonal covariances, as in ClusterR.",
     ["n_clusters", "oracle_starts", "oracle_iterations"]),
    ("MclustEII", "mclust-eii", "Gaussian mixture, one sphere for all, at most n_clusters by BIC.", ["n_clusters", "oracle_iterations"]),
    ("MclustVII", "mclust-vii", "Gaussian mixture, a sphere each, at most n_clusters by BIC.", ["n_clusters", "oracle_iterations"]),
    ("MclustVVV", "mclust-vvv", "Gaussian mixture, any covariances, at most n_clusters by BIC.", ["n_clusters", "oracle_iterations"]),
    ("Linkage", "linkage", "Agglomerative linkage.", ["n_clusters", "linkage"]),
    ("Affinity", "affinity", "Affinity propagation. Finds the number of clusters.", ["preference", "oracle_iterations"]),
    ("MeanShift", "mean-shift", "Mean shift. Finds the number of clusters.", ["bandwidth", "oracle_iterations"]),
    ("SpectralClustering", "spectral", "Spectral clustering of the nearest-neighbour graph.", ["n_clusters"]),
    ("ConvexClustering", "convex", "Convex clustering (sum of norms).", ["n_clusters", "oracle_iterations"]),
    ("HDBSCAN", "hdbscan", "HDBSCAN. Finds the number of clusters; -1 is noise.", ["min_cluster_size"]),
]  # fmt: skip


def _initialiser(names: list[str], defaults: dict[str, Any]):
    """An ``__init__`` with these keywords, as scikit-learn reads it; the first may be given by position."""
    kinds = inspect.Parameter
    parameters = [kinds("self", kinds.POSITIONAL_OR_KEYWORD)]
    for name in names:
        first = name in ("n_clusters", "penalty_weight", "oracle")
        first = first and all(p.kind is not kinds.KEYWORD_ONLY for p in parameters)
        kind = kinds.POSITIONAL_OR_KEYWORD if first else kinds.KEYWORD_ONLY
        parameters.append(kinds(name, kind, default=defaults[name]))
    signature = inspect.Signature(parameters)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        for name in names:
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    return __init__


def _made(name: str, bases: tuple[type, ...], doc: str, names: list[str], own: dict[str, Any], inside: dict[str, Any]) -> type:
    names = list(dict.fromkeys(names))
    if "n_clusters" in names and inside["_method"] != "oracle":
        names.append("k_by")
    defaults = {**DEFAULTS, "n_clusters": 8, **own}
    every = [*names, "scale", "random_state", "n_jobs", "verbose"]
    body = {
        **inside,
        "__init__": _initialiser(every, defaults),
        "__doc__": _documented(doc, names, defaults["scale"]),
        "__module__": "goc",
        "__qualname__": name,
        "_finds_k": "n_clusters" not in names,
    }
    return type(name, (*bases, UncertainClusterer), body)


METHODS: dict[str, type] = {
    name: _made(name, bases, doc, names, own, {"_method": method}) for name, method, bases, doc, names, own in _TABLE
}
ORACLES: dict[str, type] = {
    name: _made(name, (Weightable, PredictsByMeans) if oracle == "k-means" else (), doc, names, {"scale": "none"},
                {"_method": "oracle", "_oracle": oracle})
    for name, oracle, doc, names in _ORACLES
}  # fmt: skip
for _class in ORACLES.values():
    _class.oracle = _class._oracle  # its own, by name: not a setting
for _class in (GreedyOptimisticClustering, MarginalMixture, UKMeans):
    _class.__module__ = "goc"
