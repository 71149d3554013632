# Made by make_stubs.py; do not edit.
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import UncertainClusterer
from ._candidates import Candidates as Candidates
from ._compare import compare as compare
from ._oracle_estimators import OracleEstimator
from ._stars import from_gaia as from_gaia
from .uncertainty import propagate as propagate

__version__: str

class GreedyOptimisticClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        penalty_weight: float | str = ...,
        oracle: Any = ...,
        *,
        preset: str = ...,
        distance: str | None = ...,
        k_rule: str | None = ...,
        oracle_every: str | None = ...,
        begin: str | None = ...,
        initial_labels: Any = ...,
        scale_penalties: bool = ...,
        n_init: int = ...,
        swaps: int = ...,
        tol: float = ...,
        max_iter: int = ...,
        search: str | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ..., sample_weight: Any = ...) -> Self: ...
    def predict(self, X: Any, penalty: Any = ..., weight: Any = ...) -> NDArray[np.int64]: ...

class MarginalMixture(UncertainClusterer):
    def __init__(
        self,
        *,
        scale: str = ...,
        feature_map: str = ...,
        strength: float | None = ...,
        scale_penalties: bool = ...,
        chains: int = ...,
        burn: int = ...,
        keep: int = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any, penalty: Any = ..., weight: Any = ...) -> NDArray[np.int64]: ...
    def predict_confidence(self, X: Any, penalty: Any = ..., weight: Any = ...) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    alone_: NDArray[np.float64]
    runner_up_: NDArray[np.int64]
    runner_up_probability_: NDArray[np.float64]
    k_posterior_: NDArray[Any]
    together_: Any
    candidate_probabilities_: NDArray[np.float64]
    agreement_: float
    effective_draws_: float

class UKMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        oracle: Any = ...,
        *,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ..., sample_weight: Any = ...) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.int64]: ...

class GreedyPessimisticClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        penalty_weight: float | str = ...,
        *,
        reading: str = ...,
        distance: str | None = ...,
        k_rule: str | None = ...,
        scale_penalties: bool = ...,
        max_iter: int = ...,
        oracle: Any = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class TreeOptimisticClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        penalty_weight: float | str = ...,
        oracle: Any = ...,
        *,
        preset: str = ...,
        distance: str | None = ...,
        k_rule: str | None = ...,
        oracle_every: str | None = ...,
        begin: str | None = ...,
        initial_labels: Any = ...,
        scale_penalties: bool = ...,
        n_init: int = ...,
        swaps: int = ...,
        tol: float = ...,
        max_iter: int = ...,
        search: str | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any, penalty: Any = ..., weight: Any = ...) -> NDArray[np.int64]: ...
    def newick(self, X: Any = ..., *, ids: Sequence[Any] | None = ...) -> str: ...
    tree_: NDArray[np.float64] | None

class HullOptimisticClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        penalty_weight: float | str = ...,
        oracle: Any = ...,
        *,
        preset: str = ...,
        distance: str | None = ...,
        k_rule: str | None = ...,
        oracle_every: str | None = ...,
        begin: str | None = ...,
        initial_labels: Any = ...,
        scale_penalties: bool = ...,
        n_init: int = ...,
        swaps: int = ...,
        tol: float = ...,
        max_iter: int = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class BoxOptimisticClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        penalty_weight: float | str = ...,
        oracle: Any = ...,
        *,
        preset: str = ...,
        distance: str | None = ...,
        k_rule: str | None = ...,
        oracle_every: str | None = ...,
        begin: str | None = ...,
        initial_labels: Any = ...,
        scale_penalties: bool = ...,
        n_init: int = ...,
        swaps: int = ...,
        tol: float = ...,
        max_iter: int = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class UKMedians(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int = ...,
        n_init: int | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class ExpectedKMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int = ...,
        n_init: int | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.int64]: ...

class BoxKMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        box_distance: str = ...,
        max_iter: int = ...,
        n_init: int | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class RobustBoxKMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int = ...,
        n_init: int | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class PossibleWorlds(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        worlds: int = ...,
        oracle: Any = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class RepresentativeWorlds(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        worlds: int = ...,
        oracle: Any = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class FDBSCAN(UncertainClusterer):
    def __init__(
        self,
        *,
        min_points: int = ...,
        eps: float | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class SetAffinityPropagation(UncertainClusterer):
    def __init__(
        self,
        *,
        set_distance: str = ...,
        preference: float = ...,
        damping: float | None = ...,
        max_iter: int | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class SetKMedoids(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        set_distance: str = ...,
        n_init: int | None = ...,
        max_iter: int | None = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class SetLinkage(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        set_distance: str = ...,
        linkage: str = ...,
        k_by: str | None = ...,
        scale: str = ...,
        feature_map: str = ...,
        stability: int | None = ...,
        significance: int | None = ...,
        background: str = ...,
        noise: bool = ...,
        fdr: float = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class KMeans(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        n_init: int | None = ...,
        max_iter: int | None = ...,
        algorithm: str = ...,
        init: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., sample_weight: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.int64]: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]
    inertia_: float

class KMedoids(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        n_init: int | None = ...,
        max_iter: int | None = ...,
        metric: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]
    medoid_indices_: NDArray[np.int64]
    inertia_: float

class DiagonalMixture(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        n_init: int | None = ...,
        max_iter: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]

class MclustEII(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int | None = ...,
        tol: float | None = ...,
        scale: str = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]

class MclustVII(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int | None = ...,
        tol: float | None = ...,
        scale: str = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]

class MclustVVV(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int | None = ...,
        tol: float | None = ...,
        scale: str = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int
    cluster_centers_: NDArray[np.float64]

class Linkage(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        linkage: str = ...,
        scale: str = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...

class Affinity(OracleEstimator):
    def __init__(
        self,
        *,
        preference: float = ...,
        damping: float | None = ...,
        max_iter: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int

class MeanShift(OracleEstimator):
    def __init__(
        self,
        *,
        bandwidth: float | None = ...,
        max_iter: int | None = ...,
        scale: str = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int

class SpectralClustering(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...

class ConvexClustering(OracleEstimator):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        max_iter: int | None = ...,
        tol: float | None = ...,
        scale: str = ...,
        n_jobs: int | None = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
    n_iter_: int

class HDBSCAN(OracleEstimator):
    def __init__(
        self,
        *,
        min_cluster_size: int = ...,
        min_samples: int | None = ...,
        scale: str = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., *, penalty: Any = ..., weight: Any = ...) -> Self: ...
