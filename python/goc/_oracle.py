"""Any clustering of plain points as the oracle: a function, or a clusterer of scikit-learn."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Function = Callable[[NDArray[np.float64], int, int], NDArray[np.int64]]


def adapt(oracle: Any) -> Function | None:
    """The function ``(points, k, seed) -> labels`` behind `oracle`; None for one that goes by its name."""
    if isinstance(oracle, str):
        return None
    if hasattr(oracle, "fit_predict"):
        return _clusterer(oracle)
    if callable(oracle):
        return lambda points, k, seed: _whole(oracle(points, k, seed))
    raise ValueError(
        f"oracle is a {type(oracle).__name__}; give a name, a function of (points, k, seed), or a clusterer of scikit-learn"
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
        # Noise (-1) is in no group: each of its objects is a cluster by itself, as with our own HDBSCAN.
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
