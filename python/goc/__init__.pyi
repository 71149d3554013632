# Made by make_stubs.py; do not edit.
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import UncertainClusterer
from ._candidates import Candidates as Candidates
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
        scale: str = ...,
        scale_penalties: bool = ...,
        n_init: int = ...,
        swaps: int = ...,
        search: str | None = ...,
        k_by: str = ...,
        tol: float = ...,
        max_iter: int = ...,
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
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
        noise: bool = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any, penalty: Any = ..., weight: Any = ...) -> NDArray[np.int64]: ...
    def predict_confidence(self, X: Any, penalty: Any = ..., weight: Any = ...) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...
    alone_: NDArray[np.float64]
    runner_up_probability_: NDArray[np.float64]
    candidate_probabilities_: NDArray[np.float64]
    solitude_: NDArray[np.float64] | None
    runner_up_: NDArray[np.int64]
    k_posterior_: NDArray[Any]
    together_: Any
    agreement_: float
    effective_draws_: float

class UKMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        oracle: Any = ...,
        *,
        scale: str = ...,
        k_by: str = ...,
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        search: str | None = ...,
        k_by: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
    def predict(self, X: Any, penalty: Any = ..., weight: Any = ...) -> NDArray[np.int64]: ...

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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        linkage: str = ...,
        preference: float = ...,
        bandwidth: float | None = ...,
        min_cluster_size: int = ...,
        k_by: str = ...,
        scale: str = ...,
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
        oracle_iterations: int | None = ...,
        scale: str = ...,
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
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        k_by: str = ...,
        scale: str = ...,
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
        k_by: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class KMeans(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        algorithm: str = ...,
        seeding: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ..., sample_weight: Any = ...) -> Self: ...
    def predict(self, X: Any) -> NDArray[np.int64]: ...

class KMedoids(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class DiagonalMixture(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_starts: int | None = ...,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class MclustEII(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class MclustVII(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class MclustVVV(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class Linkage(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        linkage: str = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class Affinity(UncertainClusterer):
    def __init__(
        self,
        *,
        preference: float = ...,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class MeanShift(UncertainClusterer):
    def __init__(
        self,
        *,
        bandwidth: float | None = ...,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class SpectralClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class ConvexClustering(UncertainClusterer):
    def __init__(
        self,
        n_clusters: int | str = ...,
        *,
        oracle_iterations: int | None = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...

class HDBSCAN(UncertainClusterer):
    def __init__(
        self,
        *,
        min_cluster_size: int = ...,
        scale: str = ...,
        random_state: Any = ...,
        n_jobs: int | None = ...,
        verbose: int = ...,
    ) -> None: ...
    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...) -> Self: ...
