"""Groups judged by a column that was not used to find them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _goc
from ._base import _seed, _threads


@dataclass(frozen=True)
class Validation:
    """What :func:`validate` found: one entry per group, and the p-value of all together."""

    labels: NDArray[Any]
    members: NDArray[Any]
    n_values: NDArray[Any]
    medians: NDArray[Any]
    scatter: NDArray[Any]
    random: NDArray[Any]
    p_values: NDArray[Any]
    q_values: NDArray[Any]
    p_value: float


def validate(
    labels: Any,
    values: Any,
    errors: Any,
    features: Any,
    *,
    draws: int = _goc.VALIDATION_DRAWS,
    neighbours: int = _goc.VALIDATION_NEIGHBOURS,
    random_state: Any = 1,
    n_jobs: int | None = None,
) -> Validation:
    """Are groups tighter than chance in a quantity that was not used to find them?

    As ``goc validate``. Each group is compared with random groups of the same size, whose members
    are drawn from the stars nearest to its own.

    Parameters
    ----------
    labels : array of n numbers
        The group of each object; negative if it is in none, NaN if it was not clustered.
    values, errors : arrays of n numbers
        The quantity with its standard errors; NaN where it is missing, 0 where it is exact.
    features : mapping of names to arrays, table, or array (n, q)
        The features in which the groups were found. If there are columns Jr, Jz and Jphi, the
        square roots of Jr and Jz are used, as for clustering.
    draws : int
        Random groups for each group.
    neighbours : int
        Smallest number of nearest objects from which the replacement of a member is drawn.
    random_state, n_jobs
        As for the estimators.

    Returns
    -------
    Validation
        For each group ``labels``, ``members``, ``n_values``, ``medians``, ``scatter`` (beyond the
        errors), ``random`` (that of random groups: quantiles 0.05, 0.5, 0.95), ``p_values`` and
        ``q_values``; for all together ``p_value``. NaN means that a group could not be tested.

    Examples
    --------
    >>> import goc, numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, labels = rng.normal(size=(300, 2)), np.full(300, -1)
    >>> near = np.argsort(np.linalg.norm(x, axis=1))[:20]
    >>> labels[near] = 0
    >>> fe_h = rng.normal(-1.5, 0.5, 300)
    >>> fe_h[near] = rng.normal(-1.2, 0.05, 20)
    >>> goc.validate(labels, fe_h, np.full(300, 0.05), x).p_value
    0.001
    """
    if hasattr(features, "columns") and not isinstance(features, np.ndarray):
        columns = {str(name): np.asarray(features[name], dtype=float) for name in features.columns}
    elif isinstance(features, Mapping):
        columns = {str(name): np.asarray(column, dtype=float) for name, column in features.items()}
    else:
        array = np.asarray(features, dtype=float)
        if array.ndim != 2:
            raise ValueError(f"features of shape {array.shape}: give one row per object and one column per feature")
        columns = {f"x{f}": array[:, f] for f in range(array.shape[1])}
    label = np.asarray(labels, dtype=float)
    known = np.isfinite(label)
    if np.any(label[known] != np.floor(label[known])):
        raise ValueError("labels must be whole numbers; negative in no group, NaN not clustered")
    own = [int(value) if there else None for value, there in zip(label, known)]
    quantity, uncertain = (np.asarray(given, dtype=float).tolist() for given in (values, errors))
    found = _goc.validate(
        own, [(name, column.tolist()) for name, column in columns.items()], quantity, uncertain, int(draws), int(neighbours),
        _seed(random_state), _threads(n_jobs),
    )  # fmt: skip
    p_value = float(found.pop("p_value"))
    return Validation(p_value=p_value, **{name: np.asarray(column) for name, column in found.items()})
