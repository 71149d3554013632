"""Oracles: a name, an estimator of this package, a function, or a clusterer of scikit-learn.

Names and our own estimators run in Rust; of those estimators only the settings are used, not their
number of clusters, scaling, seed or threads, which are the method's. The others are called back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Function = Callable[[NDArray[np.float64], int, int], NDArray[np.int64]]

# Our own, by the names that the command has for them; `_oracle_estimators` fills it.
NAMED: dict[str, type] = {}


def told_of(oracle: Any) -> dict[str, Any]:
    """What the compiled part needs to know of `oracle`; of one that is called back, only a name."""
    if isinstance(oracle, str):
        return {"oracle": oracle}
    return oracle._told() if type(oracle) in NAMED.values() else {}


def adapt(oracle: Any) -> Function | None:
    """The function ``(points, k, seed) -> labels`` behind `oracle`; None for one that runs in Rust.
    """
    if isinstance(oracle, str) or type(oracle) in NAMED.values():
        return None
    if isinstance(oracle, type):
        raise ValueError(f"oracle is the class {oracle.__name__}; give one of it, {oracle.__name__}()")
    if hasattr(oracle, "fit_predict"):
        return _clusterer(oracle)
    if callable(oracle):
        return lambda points, k, seed: _whole(oracle(points, k, seed))
    raise ValueError(
        f"oracle is a {type(oracle).__name__}; give a name, an estimator such as goc.KMeans(n_init=10), a function of "
        "(points, k, seed), or a clusterer of scikit-learn"
    )


def _clusterer(estimator: Any) -> Function:
    def cluster(points: NDArray[np.float64], k: int, seed: int) -> NDArray[np.int64]:
        own = clone(estimator)
        known = own.get_params(deep=False)
        if "n_clusters" in known and known.get("distance_threshold") is None:
            own.set_params(n_clusters=k)
        elif "n_components" in known and not hasattr(own, "n_clusters"):
            own.set_params(n_components=k)
        if "random_state" in known and known["random_state"] is None:
            own.set_params(random_state=seed)
        labels = _whole(own.fit_predict(points)).copy()
        # Noise (-1) is in no group: each of its objects is a cluster by itself, as with our own
        # HDBSCAN.
        noise = np.flatnonzero(labels < 0)
        labels[noise] = labels.max(initial=-1) + 1 + np.arange(len(noise))
        return labels

    return cluster


def _whole(labels: Any) -> NDArray[np.int64]:
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"the oracle's labels have {labels.ndim} dimensions, but need 1")
    if labels.dtype.kind not in "iub":
        _, labels = np.unique(labels, return_inverse=True)
    return np.ascontiguousarray(labels, dtype=np.int64)
