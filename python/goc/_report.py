"""The report page: from an estimator's attributes to one HTML file that opens from disk
(docs/howto/report.md).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _goc
from ._candidates import Candidates, is_ragged, ragged


def write(
    estimator: Any, path: str | os.PathLike[str], X: Any, ids: Any, truth: Any, features: Sequence[str] | None, title: str | None
) -> Path:
    path = Path(path)
    if path.suffix not in (".html", ".htm"):
        raise ValueError(f"{path}: the page is an HTML file; name it .html")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no folder {path.parent}; make it first")
    html = page(estimator, X, ids, truth, features, path.stem if title is None else str(title))
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_text(html, encoding="utf-8", newline="")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path


def page(
    estimator: Any, X: Any, ids: Any, truth: Any, features: Sequence[str] | None, title: str
) -> str:
    """The page as text."""
    check_is_fitted(estimator)
    places = np.ascontiguousarray(estimator._places, dtype=np.float64)
    n, q = places.shape
    made = ragged(X) if X is not None and is_ragged(X) else None
    sets = made._sets if isinstance(made, Candidates) else None if made is None else _goc.Candidates(*made)
    if sets is not None and sets.n_objects != n:
        raise ValueError(f"X has {sets.n_objects} objects, but {n} were clustered")
    if isinstance(made, Candidates):
        ids = made.ids if ids is None else ids
        truth = made.truth if truth is None else truth
        features = made.features if features is None else features
    ids = range(n) if ids is None else ids
    if features is None:
        features = getattr(estimator, "feature_names_in_", [f"x{f}" for f in range(q)])
    for what, given, wanted in (("ids", ids, n), ("truth", truth, n), ("features", features, q)):
        if given is not None and len(given) != wanted:
            raise ValueError(f"{len(given)} {what} where {wanted} are needed")
    names = [str(name) for name in ids]
    told = {
        "ids": names,
        "labels": estimator.labels_.tolist(),
        "features": [str(name) for name in features],
        "title": title,
        "probability": _list(getattr(estimator, "probabilities_", None)),
        "truth": None if truth is None else ["" if group is None else str(group) for group in np.asarray(truth).tolist()],
        "history": [(int(s["k"]), float(s["objective"]), int(s["changed"])) for s in getattr(estimator, "history_", ())],
        "facts": [("Clustering", _facts(estimator))],
    }
    if hasattr(estimator, "runner_up_"):
        told["runner_up"] = (estimator.runner_up_.tolist(), estimator.runner_up_probability_.tolist())
    if hasattr(estimator, "together_"):
        pairs = estimator.together_.tocoo()
        told["together"] = [
            (a, b, p) for a, b, p in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist()) if a < b
        ]
    if sets is not None:
        told["chosen"] = _list(getattr(estimator, "chosen_", None))
    html: str = _goc.page(told, places, sets)
    return html


def _list(values: Any) -> Any:
    return None if values is None else np.asarray(values).tolist()


def _facts(estimator: Any) -> list[tuple[str, str]]:
    """Settings and findings, for people."""
    facts = [("method", type(estimator).__name__), ("version", _goc.__version__)]
    facts += [(name.replace("_", " "), str(value)) for name, value in sorted(estimator.get_params(deep=False).items())]
    facts.append(("k", str(estimator.n_clusters_)))
    if getattr(estimator, "objective_", None) is not None:
        facts.append(("objective", f"{estimator.objective_:.6g}"))
    return facts
