"""From measured values with errors to candidates (paper, eqs. 1 to 5).

A set holds the values that the truth may have; points of it, mapped by a function f, are the
candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _goc
from ._base import _seed, _threads
from ._candidates import Candidates, numbers

__all__ = ["Sets", "ball", "box", "ellipsoid", "l1", "propagate"]

# Objects worked on at a time: their points are in memory together.
_PART = 8192


class Sets:
    """The uncertainty sets of many objects; made by :func:`box`, :func:`ball`, :func:`ellipsoid`
    and :func:`l1`.

    Attributes
    ----------
    centres : array (n, d)
        What was measured.
    """

    def __init__(self, shape: str, values: Any, spread: NDArray[np.float64], size: tuple[str, float], keys: Any) -> None:
        centres = numbers(values, "values", 2)
        n = len(centres)
        if keys is None:
            stream_keys = np.arange(n, dtype=np.uint64)
        else:
            keys = np.asarray(keys)
            if keys.dtype.kind in "iu":
                stream_keys = keys.astype(np.int64).astype(np.uint64)
            else:
                stream_keys = np.array([_goc.key_of_text(str(key)) for key in keys], dtype=np.uint64)
            if stream_keys.shape != (n,):
                raise ValueError(f"{len(stream_keys)} keys for {n} objects")
        self.keys = keys
        self._sets = _goc.Sets(shape, centres, np.ascontiguousarray(spread), size, stream_keys)

    def __len__(self) -> int:
        return len(self._sets)

    def __repr__(self) -> str:
        return f"Sets({len(self)} objects, {self._sets.dimension} values)"

    @property
    def centres(self) -> NDArray[np.float64]:
        return self._sets.centres

    def sample(
        self, m: int = _goc.DRAWS, *, sampler: str = "uniform", random_state: Any = 1, n_jobs: int | None = None
    ) -> NDArray[np.float64]:
        """Points of each set.

        Parameters
        ----------
        m : int
            Points of each object.
        sampler : {"uniform", "sobol", "density", "tails", "grid:C"}
            Uniform over the set; evenly spread; from the error distribution, not cut off; the same,
            some with heavy tails; value C in even steps, the others uniform.
        random_state : int, RandomState or None
        n_jobs : int or None

        Returns
        -------
        points : array (n, m, d)
            An object's points depend on the seed and its key only, not on the other objects.
        """
        points = self._draw(m, sampler, _seed(random_state), 0, len(self), n_jobs)
        return points.reshape(len(self), m, -1)

    def _draw(self, m: int, sampler: str, seed: int, first: int, last: int, n_jobs: int | None) -> NDArray[np.float64]:
        name, _, coordinate = sampler.partition(":")
        if (name == "grid") != bool(coordinate) or (coordinate and not coordinate.isdigit()):
            raise ValueError(f"sampler='{sampler}' is not known; give uniform, sobol, density, tails or grid:C with C a number from 0")
        return self._sets.sample(m, name, int(coordinate or 0), seed, first, last, _threads(n_jobs))


def _size(sigmas: float | None, eta: float | None, radius: float | None) -> tuple[str, float]:
    said = {"sigmas": sigmas, "eta": eta, "radius": radius}
    given = {name: float(value) for name, value in said.items() if value is not None}
    if len(given) > 1:
        raise ValueError(f"{' and '.join(given)} are different ways to say how large a set is; give one")
    return next(iter(given.items()), ("sigmas", 2.0))


def _errors(values: Any, errors: Any) -> NDArray[np.float64]:
    return np.array(_fitting(errors, np.shape(values), "errors", "(n, d), or a number for all"))


def _fitting(spread: Any, shape: tuple[int, ...], name: str, wanted: str) -> NDArray[np.float64]:
    """Broadcast to what the values ask for."""
    spread = np.asarray(spread, dtype=np.float64)
    if spread.ndim == len(shape) and spread.shape[0] not in (1, shape[0]):
        raise ValueError(f"{name} has {spread.shape[0]} rows, but values has {shape[0]}: one for each object is needed")
    try:
        return np.broadcast_to(spread, shape)
    except ValueError:
        raise ValueError(f"{name} has the shape {spread.shape}, but values asks for {shape}; give {wanted}") from None


def box(
    values: ArrayLike, errors: ArrayLike, *, sigmas: float | None = None, eta: float | None = None, radius: float | None = None,
    keys: Sequence[Any] | None = None,
) -> Sets:  # fmt: skip
    """Boxes: one half-width for each value.

    Parameters
    ----------
    values : array (n, d)
        What was measured.
    errors : array (n, d), or anything that broadcasts to it
        Standard errors; 0 means exact.
    sigmas, eta, radius : float, optional
        The size: in standard errors (2 by default), by the probability that the truth lies outside,
        or by the half-width of the widest value.
    keys : sequence of n whole numbers or texts, optional
        Names of the objects, which determine their random streams; by default their positions.

    Examples
    --------
    >>> import goc
    >>> sets = goc.uncertainty.box([[5.0, 1.0]], [[0.5, 0.1]])
    >>> sets.sample(5, sampler="grid:0")[0, :, 0]
    array([4. , 4.5, 5. , 5.5, 6. ])
    """
    return Sets("box", values, _errors(values, errors), _size(sigmas, eta, radius), keys)


def l1(
    values: ArrayLike, scales: ArrayLike, *, sigmas: float | None = None, eta: float | None = None, radius: float | None = None,
    keys: Sequence[Any] | None = None,
) -> Sets:  # fmt: skip
    """Level sets of Laplace errors; parameters as those of :func:`box`."""
    return Sets("l1", values, _errors(values, scales), _size(sigmas, eta, radius), keys)


def ball(
    values: ArrayLike, error: ArrayLike, *, sigmas: float | None = None, eta: float | None = None, radius: float | None = None,
    keys: Sequence[Any] | None = None,
) -> Sets:  # fmt: skip
    """Balls: one error for all values of an object.

    Parameters
    ----------
    values : array (n, d)
    error : float, or array of n numbers
    sigmas, eta, radius, keys
        As for :func:`box`.

    Examples
    --------
    >>> import goc, numpy as np
    >>> points = goc.uncertainty.ball([[0.0, 0.0]], 1.0, sigmas=1).sample(50)[0]
    >>> bool((np.linalg.norm(points, axis=1) <= 1).all())
    True
    """
    n = len(numbers(values, "values", 2))
    spread = np.array(_fitting(error, (n,), "error", "n numbers, or one for all")).reshape(n, 1)
    return Sets("ball", values, spread, _size(sigmas, eta, radius), keys)


def ellipsoid(
    values: ArrayLike, covariance: ArrayLike, *, sigmas: float | None = None, eta: float | None = None, radius: float | None = None,
    keys: Sequence[Any] | None = None,
) -> Sets:  # fmt: skip
    """Ellipsoids from normal errors with covariances.

    Parameters
    ----------
    values : array (n, d)
    covariance : array (n, d, d), or (d, d) for all
    sigmas, eta, radius, keys
        As for :func:`box`.

    Examples
    --------
    >>> import goc
    >>> sets = goc.uncertainty.ellipsoid([[0.5, 3.0]], [[0.01, 0.002], [0.002, 0.04]], eta=0.05)
    >>> sets.sample(8).shape
    (1, 8, 2)
    """
    n, d = numbers(values, "values", 2).shape
    matrices = _fitting(covariance, (n, d, d), "covariance", "(n, d, d), or (d, d) for all")
    return Sets("ellipsoid", values, matrices.reshape(n, d * d), _size(sigmas, eta, radius), keys)


def propagate(
    sets: Sets,
    f: Callable[[NDArray[np.float64]], Any] | None = None,
    *,
    m: int = _goc.DRAWS,
    sampler: str = "uniform",
    penalty: str = "density",
    random_state: Any = 1,
    on_empty: str = "raise",
    features: Sequence[str] | None = None,
    n_jobs: int | None = None,
) -> Candidates:
    """Sample sets and map their points by f: the candidates.

    Parameters
    ----------
    sets : Sets
    f : callable, optional
        Takes points (N, d), gives features (N, q), or (N,) for one; a row with NaN or infinity is a
        point without features, which is left out. None: the values themselves.
    m, sampler, random_state, n_jobs
        As in :meth:`Sets.sample`.
    penalty : {"density", "none", "distance", "density:C[,C]"}
        What a candidate costs: minus its log density (of the values C only), nothing, or the
        squared distance from the features of what was measured.
    on_empty : {"raise", "drop"}
        An object none of whose points has features.
    features : sequence of str, optional
        Names of the features.

    Returns
    -------
    Candidates

    Examples
    --------
    Distance and tangential velocity from parallax and proper motion; the second star has no
    distance.

    >>> import goc, numpy as np
    >>> sets = goc.uncertainty.box([[0.5, 3.0], [-3.0, 0.5]], [[0.05, 0.1], [0.1, 0.1]])
    >>> def f(z):
    ...     distance = np.where(z[:, 0] > 0, 1 / z[:, 0], np.nan)
    ...     return np.column_stack([distance, 4.74047 * z[:, 1] * distance])
    >>> goc.propagate(sets, f, on_empty="drop")
    Candidates(1 objects, 101 candidates, 2 features)
    """
    if on_empty not in ("raise", "drop"):
        raise ValueError(f"on_empty='{on_empty}' is not known; give raise or drop")
    kind, _, some = penalty.partition(":")
    if kind not in ("none", "density", "distance") or (some and kind != "density"):
        raise ValueError(f"penalty='{penalty}' is not known; give none, density, density:C[,C] or distance")
    coordinates = [int(c) for c in some.split(",")] if some else None
    seed, n = _seed(random_state), len(sets)
    centres = sets.centres
    values, penalties, counts = [], [], np.zeros(n, np.int64)
    for first in range(0, n, _PART):
        last = min(first + _PART, n)
        points = sets._draw(m, sampler, seed, first, last, n_jobs)
        x = _mapped(f, points)
        good = np.isfinite(x).all(axis=1)
        if kind == "density":
            cost = sets._sets.surprise(points, m, first, coordinates)
        elif kind == "distance":
            measured = np.repeat(_mapped(f, centres[first:last]), m, axis=0)
            good &= np.isfinite(measured).all(axis=1)
            cost = ((x - measured) ** 2).sum(axis=1)
        values.append(x[good])
        if kind != "none":
            penalties.append(cost[good])
        counts[first:last] = good.reshape(-1, m).sum(axis=1)
    empty = np.flatnonzero(counts == 0)
    if empty.size and (on_empty == "raise" or empty.size == n):
        i = int(empty[0])
        name = i if sets.keys is None else sets.keys[i]
        raise ValueError(f"object {name}: f gives no finite features for any of its {m} points; fix it, or use on_empty='drop'")
    left = counts > 0
    ids: Any = (np.arange(n) if sets.keys is None else np.asarray(sets.keys))[left]
    metadata: dict[str, Any] = {"goc_sampler": sampler, "goc_m": m, "goc_penalty": penalty, "goc_seed": seed}
    if sampler == "tails":
        metadata["goc_measured"] = centres.shape[1]
    return Candidates(
        np.concatenate(values),
        np.concatenate([[0], np.cumsum(counts[left])]),
        np.concatenate(penalties) if penalties else None,
        ids=ids,
        features=features,
        metadata=metadata,
    )


def _mapped(f: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    if f is None:
        return points
    x = np.asarray(f(points), dtype=np.float64)
    if x.ndim == 1:
        x = x[:, None]
    if x.ndim != 2 or len(x) != len(points):
        raise ValueError(f"f gave an array of shape {x.shape} for {len(points)} points; it must give one row per point")
    return x
