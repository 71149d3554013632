"""Scores of labels against a known truth.

Labels may be of any type. Each object with the label -1 counts as a group of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _goc

__all__ = ["ami", "ari", "completeness", "f", "homogeneity", "nmi", "purity", "scores", "v_measure"]


def _whole(labels: Any) -> list[int]:
    labels = np.asarray(labels)
    if labels.ndim != 1:
        raise ValueError(f"labels have {labels.ndim} dimensions, but need 1")
    if labels.dtype.kind not in "iu":
        apart = labels.astype(str) == "-1"  # in no group, as the number says
        _, labels = np.unique(labels, return_inverse=True)
        labels = np.where(apart, -1, labels)
    whole: list[int] = labels.astype(np.int64).tolist()
    return whole


def scores(predicted: Any, truth: Any) -> dict[str, float]:
    """Every score of `predicted` against `truth`.

    Parameters
    ----------
    predicted, truth : sequences of n labels
        -1 is in no group: each such object counts as a group of its own.

    Returns
    -------
    dict
        nmi, f (the paper's F-measure), ari, ami, homogeneity, completeness, v_measure, purity.

    Examples
    --------
    >>> import goc
    >>> round(goc.metrics.scores([0, 0, 1, 1], ["a", "a", "b", "c"])["nmi"], 3)
    0.8
    """
    return _goc.scores(_whole(predicted), _whole(truth))


def _one(name: str, what: str) -> Callable[[Any, Any], float]:
    def score(predicted: Any, truth: Any) -> float:
        return scores(predicted, truth)[name]

    score.__name__ = score.__qualname__ = name
    score.__doc__ = f"""{what}

    Parameters
    ----------
    predicted, truth : sequences of n labels

    Returns
    -------
    float
    """
    return score


nmi = _one("nmi", "Normalised mutual information, 2 I / (H1 + H2).")
f = _one("f", "The paper's F-measure.")
ari = _one("ari", "Adjusted Rand index.")
ami = _one("ami", "Adjusted mutual information, arithmetic mean of the entropies.")
homogeneity = _one("homogeneity", "1 when each predicted cluster holds members of one true cluster only.")
completeness = _one("completeness", "1 when each true cluster lies in one predicted cluster.")
v_measure = _one("v_measure", "Harmonic mean of homogeneity and completeness.")
purity = _one("purity", "Share of objects in the commonest true cluster of their predicted cluster.")
