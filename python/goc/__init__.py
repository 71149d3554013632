"""Clustering of objects whose measurements have error bars.

The estimators take X as an array (n, m, q) of candidates, a list of (m_i, q) arrays, (values,
offsets), an Arrow list column, :class:`Candidates`, or plain points (n, q). `goc.uncertainty` makes
candidates from values with errors, :func:`from_gaia` from a star catalogue; `goc.galaxy` models the
Milky Way, `goc.metrics` scores labels, `goc.plot` draws figures.
"""

from __future__ import annotations

from . import _goc, galaxy, metrics, uncertainty
from ._candidates import Candidates
from ._compare import compare
from ._display import view
from ._estimators import METHODS, ORACLES
from ._stars import from_gaia
from ._validate import validate
from .uncertainty import propagate

__version__: str = _goc.__version__

globals().update(METHODS)
globals().update(ORACLES)

__all__ = [
    "Candidates",
    "compare",
    "from_gaia",
    "galaxy",
    "metrics",
    "plot",
    "propagate",
    "uncertainty",
    "validate",
    "view",
    *METHODS,
    *ORACLES,
]


def __getattr__(name: str):
    # matplotlib only for those who draw, Dask for those who have a cluster.
    if name in ("plot", "dask"):
        import importlib

        return importlib.import_module(f"goc.{name}")
    raise AttributeError(f"module 'goc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "plot", "dask"})
