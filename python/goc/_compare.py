"""Every method and every oracle on the same objects, one record each: the table of ``goc compare``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _goc
from ._base import _seed, _threads
from ._candidates import Candidates, arrays, is_ragged, numbers
from ._progress import bar
from ._settings import BY_KEYWORD, _is_whole

_QUANTITIES = ("nmi", "f", "ari", "ami", "k", "iterations", "objective")


def compare(
    X: Any,
    n_clusters: int,
    *,
    truth: Any = None,
    penalty: Any = None,
    weight: Any = None,
    only: str | Sequence[str] | None = None,
    seeds: int = 1,
    times: bool = False,
    scale: str = "standard",
    random_state: Any = 1,
    n_jobs: int | None = None,
    verbose: int = 0,
    **settings: Any,
) -> list[dict[str, Any]]:
    """Run every method and every oracle on the same objects.

    Parameters
    ----------
    X, penalty, weight
        As in `fit`.
    n_clusters : int
        Initial number of clusters; methods that find K ignore it.
    truth : sequence of n true groups, optional
        By default that of X, if X is `Candidates`. None and "" are objects of unknown group, which
        are not scored.
    only : str or sequence of str, optional
        Names as in the records, or the part before the slash: ``["goc", "uk-means/k-means"]``.
    seeds : int, default 1
        Runs with different seeds, from `random_state` on; deterministic methods run once.
    times : bool, default False
        Whether the wall-clock seconds of the methods are given too; they differ from run to run.
    scale : {"standard", "robust", "none"}, default "standard"
        The same for all.
    random_state, n_jobs, verbose
        As for the estimators.
    **settings
        Go to every method that has them: ``penalty_weight=0.1``, ``feature_map="actions"``,
        ``preset="authors"``, ``worlds=200``.

    Returns
    -------
    list of dict
        One record for each method, which ``pandas.DataFrame`` takes as it is: method, runs, failed,
        converged (runs that did), noise (objects, of all runs), error (why the first failed run
        failed), and of nmi, f, ari, ami, k, iterations and objective (and seconds) the mean over
        the runs, with the standard deviation under ``nmi_sd`` and so on; None where there is no
        such number.

    Examples
    --------
    >>> import goc
    >>> X = [[[0.0], [1.0]], [[0.4], [0.6]], [[9.0], [8.0]]]
    >>> for row in goc.compare(X, 2, truth=["a", "a", "b"], only=["uk-means/k-means", "linkage/s1"]):
    ...     print(row["method"], row["k"], row["nmi"])
    uk-means/k-means 2.0 1.0
    linkage/s1 2.0 1.0
    """
    if not _is_whole(seeds) or seeds < 1:
        raise ValueError(f"seeds is {seeds!r}, but must be a whole number of at least 1")
    told: dict[str, Any] = {"k": n_clusters, "scale": scale, "feature_map": "none", "seed": _seed(random_state)}
    for name, value in settings.items():
        if name not in BY_KEYWORD:
            raise ValueError(f"{name} is no setting of any of these methods")
        BY_KEYWORD[name].check(name, value)
        told[BY_KEYWORD[name].name] = value
    if "penalty_scale" in told:
        told["penalty_scale"] = "max" if told["penalty_scale"] else "none"
    X = _shared(X, penalty, weight)
    if not _is_whole(n_clusters) or not 1 <= n_clusters <= len(X):
        raise ValueError(f"n_clusters is {n_clusters!r}, but must be from 1 to the {len(X)} objects there are")
    truth = X.truth if truth is None else np.asarray(truth, dtype=object)
    if truth is not None and len(truth) != len(X):
        raise ValueError(f"{len(truth)} truth where {len(X)} are needed")
    groups = None if truth is None else ["" if group is None else str(group) for group in truth]
    only = [only] if isinstance(only, str) else None if only is None else [str(name) for name in only]
    with bar(verbose, None, "runs") as progress:
        runs = _goc.compare(X._sets, told, groups, only, seeds, _threads(n_jobs), progress)
    names = dict.fromkeys(run["method"] for run in runs)
    return [_record(name, [run for run in runs if run["method"] == name], times) for name in names]


def _shared(X: Any, penalty: Any, weight: Any) -> Candidates:
    """X as candidates, checked and turned once for all methods."""
    if penalty is not None and weight is not None:
        raise ValueError("penalty and weight are alternatives; give one")
    if isinstance(X, Candidates) and penalty is None and weight is None:
        return X
    penalties, weights = (
        None if own is None else numbers(np.reshape(own, -1), name, 1) for own, name in ((penalty, "penalty"), (weight, "weight"))
    )
    if isinstance(X, Candidates):
        known = {"ids": X.ids, "features": X.features, "truth": X.truth}
        return Candidates._of(_goc.Candidates(X.values, X.offsets, penalties, weights, features=X.features), **known)
    names = None if is_ragged(X) else getattr(X, "columns", None)
    values, offsets, names = arrays(X, None if names is None else [str(name) for name in names])
    return Candidates._of(_goc.Candidates(values, offsets, penalties, weights, features=names))


def _record(name: str, runs: list[dict[str, Any]], times: bool) -> dict[str, Any]:
    done = [run for run in runs if run["failure"] is None]
    record: dict[str, Any] = {"method": name, "runs": len(runs), "failed": len(runs) - len(done)}
    record |= {"converged": sum(run["converged"] for run in done), "noise": sum(run["noise"] for run in done)}
    record["error"] = next((run["failure"] for run in runs if run["failure"] is not None), None)
    for quantity in _QUANTITIES + (("seconds",) if times else ()):
        values = [float(run[quantity]) for run in done if run.get(quantity) is not None]
        record[quantity] = sum(values) / len(values) if values else None
        record[f"{quantity}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return record
