"""Every method and every oracle on the same objects, one record each: what ``goc compare`` prints as a table."""

from __future__ import annotations

import time
import warnings
from typing import Any, Sequence

import numpy as np

from . import metrics
from ._base import _is_whole, _seed
from ._candidates import Candidates, is_ragged, numbers, ragged
from ._estimators import METHODS
from ._oracle import NAMED
from ._progress import bar
from ._settings import BY_KEYWORD

# The command's order, and what each method is varied by.
_ORDER = ("goc", "gpc", "uk-means", "uk-medians", "expected-k-means", "boxes", "robust-boxes", "worlds", "representative-worlds", "fdbscan",
          "affinity", "medoids", "linkage", "goc-hull", "goc-box", "marginal", "goc-tree")  # fmt: skip
_VARIED = {"goc": "oracle", "uk-means": "oracle", "gpc": "reading", "boxes": "box_distance", "affinity": "set_distance",
           "medoids": "set_distance", "linkage": "set_distance"}  # fmt: skip
# Methods and oracles whose answer does not depend on the seed (but for ties in the last digits).
_STILL = {"fdbscan", "affinity", "linkage"}
_STILL_ORACLES = {"mclust-eii", "mclust-vii", "mclust-vvv", "linkage", "affinity", "mean-shift", "convex", "hdbscan"}
_QUANTITIES = ("nmi", "f", "ari", "k", "iterations", "objective", "seconds")


def rows() -> list[tuple[str, type, dict[str, Any], bool]]:
    """Name, class, keywords and whether the answer depends on the seed, of all that is compared."""
    classes = {cls._method: cls for cls in METHODS.values()}
    made: list[tuple[str, type, dict[str, Any], bool]] = []
    for method in _ORDER:
        keyword, draws = _VARIED.get(method), method not in _STILL
        if keyword is None:
            made.append((method, classes[method], {}, draws))
            continue
        for word in NAMED if keyword == "oracle" else BY_KEYWORD[keyword].words:
            still = keyword == "oracle" and word in _STILL_ORACLES
            made.append((f"{method}/{word}", classes[method], {keyword: word}, draws and not still))
        if method == "goc":
            made.append(("goc-best-of-10", classes[method], {"k_rule": "constant", "n_init": 10, "swaps": 150}, True))
    return made


def compare(
    X: Any,
    n_clusters: int,
    *,
    truth: Any = None,
    penalty: Any = None,
    weight: Any = None,
    only: str | Sequence[str] | None = None,
    seeds: int = 1,
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
        Number of clusters to begin with; methods that find it themselves do not use it.
    truth : sequence of n true groups, optional
        By default that of X, if X is `Candidates`. None and "" are objects of unknown group, which are not scored.
    only : str or sequence of str, optional
        Names as in the records, or what stands before the slash: ``["goc", "uk-means/k-means"]``.
    seeds : int, default 1
        Runs with different seeds, from `random_state` on; a method that draws nothing runs once.
    scale : {"standard", "robust", "none"}, default "standard"
        The same for all.
    random_state, n_jobs, verbose
        As for the estimators.
    **settings
        Go to every method that has them: ``penalty_weight=0.1``, ``feature_map="actions"``, ``preset="authors"``, ``worlds=200``.

    Returns
    -------
    list of dict
        One record for each method, which ``pandas.DataFrame`` takes as it is: method, estimator, runs, failed, converged (runs that
        did), noise (objects, of all runs), error (why the first failed run failed), and of nmi, f, ari, k, iterations, objective and
        seconds the mean over the runs, with the standard deviation under ``nmi_sd`` and so on; None where there is no such number.

    Examples
    --------
    >>> import goc
    >>> X = [[[0.0], [1.0]], [[0.4], [0.6]], [[9.0], [8.0]]]
    >>> for row in goc.compare(X, 2, truth=["a", "a", "b"], only=["uk-means/k-means", "linkage/s1"]):
    ...     print(row["method"], row["k"], row["nmi"])
    uk-means/k-means 2.0 1.0
    linkage/s1 2.0 1.0
    """
    chosen = _chosen(only)
    known = {name for _, cls, _, _ in chosen for name in cls._keywords}
    for name in settings:
        if name not in known:
            raise ValueError(f"{name} is no setting of any of these methods")
    if not _is_whole(seeds) or seeds < 1:
        raise ValueError(f"seeds is {seeds!r}, but must be a whole number of at least 1")
    X = _shared(X, penalty)
    truth = X.truth if truth is None else np.asarray(truth, dtype=object)
    if truth is not None and len(truth) != len(X):
        raise ValueError(f"{len(truth)} truth where {len(X)} are needed")
    seed = _seed(random_state)
    records = []
    with bar(verbose, sum(seeds if draws else 1 for *_, draws in chosen), "runs") as progress:
        done = 0
        for name, cls, own, draws in chosen:
            told = {"n_clusters": n_clusters, "feature_map": "none", "scale": scale, "n_jobs": n_jobs, **settings, **own}
            estimator = cls(**{key: value for key, value in told.items() if key in cls._keywords or key == "n_jobs"})
            runs = []
            for number in range(seeds if draws else 1):
                runs.append(_run(estimator.set_params(random_state=seed + number), X, weight, truth))
                done += 1
                if progress is not None:
                    progress(done)
            records.append(_record(name, estimator, runs))
    return records


def _chosen(only: str | Sequence[str] | None) -> list[tuple[str, type, dict[str, Any], bool]]:
    every = rows()
    if only is None:
        return every
    names = [only] if isinstance(only, str) else list(only)
    called = lambda row, name: row[0] == name or row[0].startswith(f"{name}/")  # noqa: E731
    for name in names:
        if not any(called(row, name) for row in every):
            kinds = dict.fromkeys(row[0].split("/")[0] for row in every)
            raise ValueError(f"only={name!r}: no such method; there are {', '.join(kinds)}")
    return [row for row in every if any(called(row, name) for name in names)]


def _shared(X: Any, penalty: Any) -> Candidates:
    """X as candidates, checked and turned once for all methods."""
    if isinstance(X, Candidates) and penalty is None:
        return X
    penalty = None if penalty is None else numbers(np.reshape(penalty, -1), "penalty", 1)
    if isinstance(X, Candidates):
        return Candidates(X.values, X.offsets, penalty, ids=X.ids, features=X.features, truth=X.truth)
    if is_ragged(X):
        return Candidates(*ragged(X), penalty)
    features = getattr(X, "columns", None)
    values = numbers(X, "X", 2)
    return Candidates(values, np.arange(len(values) + 1), penalty, features=features)


def _run(estimator: Any, X: Candidates, weight: Any, truth: Any) -> dict[str, Any]:
    """What one fit gives, or why there is none."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the record says what did not converge
        try:
            estimator.fit(X, weight=weight)
        except ValueError as error:
            return {"error": str(error)}
    found = {"seconds": time.perf_counter() - began, "k": estimator.n_clusters_, "iterations": estimator.n_iter_}
    found |= {"objective": estimator.objective_, "converged": estimator.converged_, "noise": int((estimator.labels_ < 0).sum())}
    if truth is not None:
        scored = np.array([group is not None and str(group) != "" for group in truth])
        # An object in no group is a group of its own.
        labels = np.where(estimator.labels_ < 0, -1 - np.arange(len(scored)), estimator.labels_)
        if scored.any():
            found |= metrics.scores(labels[scored], np.array([str(group) for group in truth[scored]]))
    return found


def _record(name: str, estimator: Any, runs: list[dict[str, Any]]) -> dict[str, Any]:
    done = [run for run in runs if "error" not in run]
    record: dict[str, Any] = {"method": name, "estimator": repr(estimator), "runs": len(runs), "failed": len(runs) - len(done)}
    record |= {"converged": sum(run["converged"] for run in done), "noise": sum(run["noise"] for run in done)}
    record["error"] = next((run["error"] for run in runs if "error" in run), None)
    for quantity in _QUANTITIES:
        values = [float(run[quantity]) for run in done if run.get(quantity) is not None]
        record[quantity] = sum(values) / len(values) if values else None
        record[f"{quantity}_sd"] = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return record
