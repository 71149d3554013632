# Made by make_stubs.py; do not edit.
from typing import Any

from . import _estimators
from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import PredictsByMeans, UncertainClusterer
from ._candidates import Candidates as Candidates
from ._compare import compare as compare
from ._display import view as view
from ._oracle_estimators import OracleEstimator, _KMeans, _KMedoids, _WithMeans
from ._stars import from_gaia as from_gaia
from ._validate import validate as validate
from .uncertainty import propagate as propagate

__version__: str

class GreedyOptimisticClustering(_estimators.GreedyOptimisticClustering):
    def __init__(
        self, n_clusters: int | str = ..., penalty_weight: float | str = ..., oracle: Any = ..., *,
        preset: str = ..., distance: str | None = ..., k_rule: str | None = ...,
        oracle_every: str | None = ..., begin: str | None = ..., initial_labels: Any = ...,
        scale_penalties: bool = ..., n_init: int = ..., swaps: int = ..., tol: float = ...,
        max_iter: int = ..., search: str | None = ..., k_by: str | None = ...,
        trim: float | str = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class MarginalMixture(_estimators.MarginalMixture):
    def __init__(
        self, *, scale: str = ..., feature_map: str = ..., strength: float | None = ...,
        scale_penalties: bool = ..., chains: int = ..., burn: int | None = ..., keep: int = ...,
        field_prior: float = ..., alpha: float | str | None = ..., power: float | str | None = ...,
        singleton_weight: float | str = ..., nu: int | None = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class UKMeans(_estimators.UKMeans):
    def __init__(
        self, n_clusters: int | str = ..., oracle: Any = ..., *, k_by: str | None = ...,
        scale: str | None = ..., feature_map: str = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class GreedyPessimisticClustering(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., penalty_weight: float | str = ..., *, reading: str = ...,
        distance: str | None = ..., k_rule: str | None = ..., scale_penalties: bool = ...,
        max_iter: int = ..., oracle: Any = ..., k_by: str | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class TreeOptimisticClustering(_estimators.TreeOptimisticClustering):
    def __init__(
        self, n_clusters: int | str = ..., penalty_weight: float | str = ..., oracle: Any = ..., *,
        preset: str = ..., distance: str | None = ..., k_rule: str | None = ...,
        oracle_every: str | None = ..., begin: str | None = ..., initial_labels: Any = ...,
        scale_penalties: bool = ..., n_init: int = ..., swaps: int = ..., tol: float = ...,
        max_iter: int = ..., search: str | None = ..., k_by: str | None = ...,
        scale: str | None = ..., feature_map: str = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class HullOptimisticClustering(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., penalty_weight: float | str = ..., oracle: Any = ..., *,
        preset: str = ..., distance: str | None = ..., k_rule: str | None = ...,
        oracle_every: str | None = ..., begin: str | None = ..., initial_labels: Any = ...,
        scale_penalties: bool = ..., n_init: int = ..., swaps: int = ..., tol: float = ...,
        max_iter: int = ..., k_by: str | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class BoxOptimisticClustering(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., penalty_weight: float | str = ..., oracle: Any = ..., *,
        preset: str = ..., distance: str | None = ..., k_rule: str | None = ...,
        oracle_every: str | None = ..., begin: str | None = ..., initial_labels: Any = ...,
        scale_penalties: bool = ..., n_init: int = ..., swaps: int = ..., tol: float = ...,
        max_iter: int = ..., k_by: str | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class UKMedians(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int = ..., n_init: int | None = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class ExpectedKMeans(PredictsByMeans, UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int = ..., n_init: int | None = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class BoxKMeans(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, box_distance: str = ..., max_iter: int = ...,
        n_init: int | None = ..., k_by: str | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class RobustBoxKMeans(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int = ..., n_init: int | None = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class PossibleWorlds(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, worlds: int = ..., oracle: Any = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class RepresentativeWorlds(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, worlds: int = ..., oracle: Any = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class ConsistentWorlds(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, worlds: int = ..., k_by: str | None = ...,
        scale: str | None = ..., feature_map: str = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class HDBSCANDraws(UncertainClusterer):
    def __init__(
        self, *, min_cluster_size: int = ..., min_samples: int | None = ..., worlds: int = ...,
        scale: str | None = ..., feature_map: str = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class FDBSCAN(UncertainClusterer):
    def __init__(
        self, *, min_points: int = ..., eps: float | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class FOPTICS(UncertainClusterer):
    def __init__(
        self, *, min_points: int = ..., eps: float | None = ..., worlds: int = ...,
        scale: str | None = ..., feature_map: str = ..., stability: int | None = ...,
        significance: int | None = ..., background: str = ..., noise: bool = ..., fdr: float = ...,
        random_state: Any = ..., n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class SignificantLinkage(UncertainClusterer):
    def __init__(
        self, *, least_members: int = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class ExtremeDeconvolution(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, strength: float | None = ...,
        scale_penalties: bool = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class SetAffinityPropagation(UncertainClusterer):
    def __init__(
        self, *, set_distance: str = ..., preference: float = ..., damping: float | None = ...,
        max_iter: int | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class SetKMedoids(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, set_distance: str = ..., n_init: int | None = ...,
        max_iter: int | None = ..., k_by: str | None = ..., scale: str | None = ...,
        feature_map: str = ..., stability: int | None = ..., significance: int | None = ...,
        background: str = ..., noise: bool = ..., fdr: float = ..., random_state: Any = ...,
        n_jobs: int | None = ..., verbose: int = ...
    ) -> None: ...

class SetLinkage(UncertainClusterer):
    def __init__(
        self, n_clusters: int | str = ..., *, set_distance: str = ..., linkage: str = ...,
        k_by: str | None = ..., scale: str | None = ..., feature_map: str = ...,
        stability: int | None = ..., significance: int | None = ..., background: str = ...,
        noise: bool = ..., fdr: float = ..., random_state: Any = ..., n_jobs: int | None = ...,
        verbose: int = ...
    ) -> None: ...

class KMeans(_KMeans):
    def __init__(
        self, n_clusters: int | str = ..., *, n_init: int | None = ..., max_iter: int | None = ...,
        algorithm: str = ..., init: str = ..., scale: str = ..., random_state: Any = ...,
        n_jobs: int | None = ...
    ) -> None: ...

class KMedoids(_KMedoids):
    def __init__(
        self, n_clusters: int | str = ..., *, n_init: int | None = ..., max_iter: int | None = ...,
        metric: str = ..., scale: str = ..., random_state: Any = ..., n_jobs: int | None = ...
    ) -> None: ...

class DiagonalMixture(_WithMeans):
    def __init__(
        self, n_clusters: int | str = ..., *, n_init: int | None = ..., max_iter: int | None = ...,
        scale: str = ..., random_state: Any = ..., n_jobs: int | None = ...
    ) -> None: ...

class MclustEII(_WithMeans):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int | None = ..., tol: float | None = ...,
        scale: str = ...
    ) -> None: ...

class MclustVII(_WithMeans):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int | None = ..., tol: float | None = ...,
        scale: str = ...
    ) -> None: ...

class MclustVVV(_WithMeans):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int | None = ..., tol: float | None = ...,
        scale: str = ...
    ) -> None: ...

class Linkage(OracleEstimator):
    def __init__(
        self, n_clusters: int | str = ..., *, linkage: str = ..., scale: str = ...
    ) -> None: ...

class Affinity(OracleEstimator):
    def __init__(
        self, *, preference: float = ..., damping: float | None = ..., max_iter: int | None = ...,
        scale: str = ..., random_state: Any = ...
    ) -> None: ...

class MeanShift(OracleEstimator):
    def __init__(
        self, *, bandwidth: float | None = ..., max_iter: int | None = ..., scale: str = ...,
        n_jobs: int | None = ...
    ) -> None: ...

class SpectralClustering(OracleEstimator):
    def __init__(
        self, n_clusters: int | str = ..., *, scale: str = ..., random_state: Any = ...,
        n_jobs: int | None = ...
    ) -> None: ...

class ConvexClustering(OracleEstimator):
    def __init__(
        self, n_clusters: int | str = ..., *, max_iter: int | None = ..., tol: float | None = ...,
        scale: str = ..., n_jobs: int | None = ...
    ) -> None: ...

class HDBSCAN(OracleEstimator):
    def __init__(
        self, *, min_cluster_size: int = ..., min_samples: int | None = ..., scale: str = ...
    ) -> None: ...
