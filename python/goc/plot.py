"""Figures with matplotlib: each function draws on `ax` (by default the current axes) and returns
it.

Colours are Okabe & Ito's, which colour-blind readers can distinguish; there are more clusters than
colours, so neighbours in number differ.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._candidates import arrays
from ._display import COLOURS, GREY, usual

try:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import MaxNLocator
except ImportError:
    raise ImportError("pictures need matplotlib: pip install matplotlib") from None

__all__ = ["clusters", "history", "k_posterior", "together"]



def _axes(ax: Any) -> Any:
    return plt.gca() if ax is None else ax


def _fitted(estimator: Any, attribute: str) -> Any:
    value = getattr(estimator, attribute, None)
    if value is None or len(value) == 0:
        raise ValueError(f"{type(estimator).__name__} has no {attribute}: fit it first, with a method that gives it")
    return value


def clusters(
    estimator: Any, X: Any, *, features: tuple[int, int] | None = None, ax: Any = None, names: Any = None, whole: bool = False
) -> Any:
    """Clusters: a faint cloud for every object, its representative in the cluster's colour.

    Parameters
    ----------
    estimator : fitted estimator
    X
        What it was fitted to.
    features : two ints, optional
        Which features are drawn; by default Jphi and Jr where features have those names, else the
        first two.
    ax : matplotlib axes, optional
    names : sequence of str, optional
        Names of the features.
    whole : bool, default False
        Show everything. By default far outliers, beyond the inner 99 per cent of the
        representatives, do not squeeze the others; the title says how many objects lie beyond the
        edges.

    Returns
    -------
    ax

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> import goc, numpy as np
    >>> X = np.random.default_rng(1).normal(size=(20, 5, 2))
    >>> ax = goc.plot.clusters(goc.UKMeans(3).fit(X), X)
    >>> ax.get_xlabel()
    'feature 0'
    """
    ax = _axes(ax)
    labels = _fitted(estimator, "labels_")
    values, offsets, names = arrays(X, names)
    if len(offsets) - 1 != len(labels):
        raise ValueError(f"X has {len(offsets) - 1} objects, but {len(labels)} were fitted")
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    a, b = (range(values.shape[1])[f] for f in (usual(names) if features is None else features))
    colours = np.array([GREY if label < 0 else COLOURS[label % len(COLOURS)] for label in labels])
    each = np.repeat(colours, np.diff(offsets))
    ax.scatter(values[:, a], values[:, b], s=3, c=each, alpha=0.15, linewidths=0)
    places = estimator._places
    ax.scatter(places[:, a], places[:, b], s=18, c=colours, edgecolors="white", linewidths=0.5)
    centres = estimator._centres
    ax.scatter(centres[:, a], centres[:, b], marker="+", s=60, c="black", linewidths=1)
    for axis, f in ((ax.set_xlabel, a), (ax.set_ylabel, b)):
        axis(f"feature {f}" if names is None else str(names[f]))
    beyond = np.zeros(len(places), bool)
    if not whole:
        for limit, column in ((ax.set_xlim, places[:, a]), (ax.set_ylim, places[:, b])):
            low, high = _inner(column)
            if low < high:
                limit(low, high)
                beyond |= (column < low) | (column > high)
    rest = f", {beyond.sum()} beyond the edges" if beyond.any() else ""
    ax.set_title(f"{estimator.n_clusters_} clusters of {len(labels)} objects{rest}")
    return ax


def _inner(column: Any) -> tuple[float, float]:
    """Limits that show the inner 99 per cent, and what is beyond them but not far off."""
    low, high = np.quantile(column, 0.005, method="higher"), np.quantile(column, 0.995, method="lower")
    width = high - low
    # Among few the outermost are no outliers; nor is one that takes less room than the others
    # together.
    few = len(column) < 10 or width <= 0
    least, most = column.min(), column.max()
    low = least if few or low - least <= width else low
    high = most if few or most - high <= width else high
    margin = 0.05 * (high - low)
    return float(low - margin), float(high + margin)


def k_posterior(mixture: Any, *, ax: Any = None) -> Any:
    """The probability of each number of clusters that a marginal mixture found.

    Parameters
    ----------
    mixture : fitted MarginalMixture
    ax : matplotlib axes, optional

    Returns
    -------
    ax
    """
    ax = _axes(ax)
    posterior = _fitted(mixture, "k_posterior_")
    ax.bar(posterior["k"], posterior["probability"], color=COLOURS[0])
    ax.set_xlabel("number of clusters, singletons included")
    ax.set_ylabel("probability")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return ax


def together(mixture: Any, *, ax: Any = None) -> Any:
    """How likely two objects are together, as a heat map ordered by cluster.

    Parameters
    ----------
    mixture : fitted MarginalMixture
    ax : matplotlib axes, optional

    Returns
    -------
    ax
    """
    ax = _axes(ax)
    matrix = getattr(mixture, "together_", None)
    if matrix is None:
        raise ValueError(f"{type(mixture).__name__} has no together_: fit a MarginalMixture first")
    order = np.argsort(mixture.labels_, kind="stable")
    image = ax.imshow(matrix.toarray()[np.ix_(order, order)], vmin=0, vmax=1, cmap="cividis", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="probability of being together")
    ax.set_xlabel("objects, by cluster")
    ax.set_ylabel("objects, by cluster")
    return ax


def history(estimator: Any, *, ax: Any = None) -> Any:
    """The joint objective of each iteration, and how many objects changed their candidate.

    Parameters
    ----------
    estimator : fitted estimator with `history_`
    ax : matplotlib axes, optional

    Returns
    -------
    ax
        That of the objective; the changes are on a twin of it.
    """
    ax = _axes(ax)
    found = _fitted(estimator, "history_")
    steps = np.arange(1, len(found) + 1)
    ax.plot(steps, found["objective"], "o-", color=COLOURS[0])
    ax.set_xlabel("iteration")
    ax.set_ylabel("objective", color=COLOURS[0])
    twin = ax.twinx()
    twin.plot(steps, found["changed"], "s--", color=COLOURS[3])
    twin.set_ylabel("objects changed", color=COLOURS[3])
    return ax
