"""GOC on a Dask cluster: the partitions stay where they are, and only sums travel.

Every worker holds a few partitions as *shards* in Rust; one small *coordinator* on the client tells all shards
what to do next and combines their answers in the order of the partitions. The result is bit-identical to that of
one machine, for any number of workers and
any division into partitions: it is that of ``GreedyOptimisticClustering(...,
oracle=goc.KMeans(algorithm="lloyd"), oracle_every="always")``.

A shard is a pure function of its partition, so a worker may die, and a worker need not have room for all its shards: what is gone is
made again. What there is room for is made once, in the first pass over the partitions. Candidates never pass through the scheduler.

Needs dask, distributed, pandas and pyarrow (``pip install "goc[dask]"``). docs/howto/scale.md has the costs.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _dask_checkpoint as checkpoints
from . import _dask_tasks as tasks
from . import _goc
from ._candidates import Candidates
from ._dask_labels import Found, GreedyLabels
from ._dask_mixture import DaskMixture, fit_mixture
from ._dask_parts import Parts, Workers, partitions, refuse_stars, surveyed
from ._estimators import METHODS
from ._old_names import OF_ORACLES, renewed
from ._oracle import NAMED, adapt
from ._scaling import Moments

__all__ = ["DaskClustering", "DaskMixture", "candidates", "fit", "fit_mixture", "partitions"]

# What one machine can do and parts cannot.
_REFUSED = ("initial_labels", "n_init", "swaps", "search", "trim", "feature_map", "stability", "significance", "noise")
_Method: Any = METHODS["GreedyOptimisticClustering"]


class DaskClustering(Found):
    """What :func:`fit` found. Centres, history and counts are here; the labels stay with the partitions.

    Attributes
    ----------
    cluster_centers_ : array (n_clusters_, q), in the units of the data
    sizes_ : array, members of each cluster
    n_clusters_, n_iter_ : int
    objective_ : float
    converged_, cycle_ : bool
    history_ : structured array (k, objective, changed, passes)
        passes: Lloyd rounds and repairs over all partitions in that iteration.
    first_on_ : str
        ``"all"``, or ``"sample of N"``: what the oracle clustered.
    scale_ : (centre, spread), what the features were scaled by
    """

    def __init__(self, workers: Workers, run: dict[str, Any], parts: Parts, found: dict[str, Any], history: Any) -> None:
        super().__init__(workers, run, parts, GreedyLabels(found["last"]))
        centre, spread = np.asarray(run["centre"]), np.asarray(run["spread"])
        self.scale_ = (centre, spread)
        self.cluster_centers_: NDArray[np.float64] = found["centres"] * spread + centre
        self.sizes_: NDArray[np.int64] = found["sizes"]
        self.n_clusters_ = len(self.sizes_)
        self.n_iter_: int = found["iterations"]
        self.objective_: float = found["objective"]
        self.converged_, self.cycle_ = found["converged"], found["cycle"]
        self.first_on_ = "all" if found["first_on"] is None else f"sample of {found['first_on']}"
        kinds = [("k", "i8"), ("objective", "f8"), ("changed", "i8"), ("passes", "i8")]
        self.history_ = np.array(history, dtype=kinds)

    def __repr__(self) -> str:
        n, parts = int(self.sizes_.sum()), len(self._parts.names)
        ending = "" if self.converged_ else ", in a cycle" if self.cycle_ else ", stopped at the limit"
        return f"DaskClustering({n} objects in {parts} partitions, {self.n_clusters_} clusters, {self.n_iter_} iterations{ending})"


def fit(
    data: Any,
    n_clusters: int = 8,
    penalty_weight: float = 0.01,
    oracle: Any = "k-means",
    *,
    object: str | None = None,
    features: Sequence[str] | None = None,
    penalty: str | None = None,
    missing: float | None = -9999.0,
    candidates: Callable[[Any], Candidates] | None = None,
    scale: str | tuple[Any, Any] = "none",
    sample: int = 20_000,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    client: Any = None,
    cache: int | None = None,
    threads: int = 1,
    callback: Callable[[int, tuple[Any, ...]], Any] | None = None,
    **settings: Any,
) -> DaskClustering:
    """Cluster partitions on a Dask cluster.

    Parameters
    ----------
    data : Dask dataframe, folder or file, or list
        One row per candidate, all rows of an object in one partition; with `candidates`, whatever that function
        takes. A HATS collection, catalogue, its ``dataset/`` or an ``lsdb.Catalog`` is read by its own list of partitions, without its
        margins; another folder of Parquet files may be nested. A list has files, delayed tables or functions that return a table.
    n_clusters, penalty_weight, oracle, **settings
        As for :class:`goc.GreedyOptimisticClustering`, with ``oracle=goc.KMeans(algorithm="lloyd")`` and ``oracle_every="first"``: the
        oracle makes the first clustering, Lloyd's rounds over all partitions those after, as many as the oracle's ``max_iter`` (10 if it
        has none). n_init, swaps, search, trim, initial_labels, feature_map, stability, significance and noise need all objects in one place
        and are refused.
    object, features, penalty, missing
        Columns, as for :meth:`goc.Candidates.from_table`; with `candidates`, `object` names the column that labels are joined by. A table that looks like a star catalogue is refused unless `features` or
        `candidates` say what to do with it.
    candidates : function of a table, optional
        Makes the candidates of a partition, such as ``functools.partial(goc.from_gaia, m=101)``: they need not be stored. It is called once
        for a partition that fits into the `cache`; others are made again, the same, for every command. It must depend on the table alone.
    scale : "none", "standard" or (centre, spread), default "none"
        Standard takes mean and standard deviation of all candidates, by exact sums, which do not depend on the cut into partitions; they
        are the library's but for the last digit. (centre, spread) has a number for each feature.
    sample : int
        With more objects than this the oracle gets a random sample of about this size, and `first_on_` says so.
    checkpoint : path, optional
        Written after every iteration, under a temporary name and renamed.
    resume : bool
        Continue from `checkpoint` if it exists; one of another run is refused.
    client : distributed.Client, optional
        By default the current one.
    cache : int, optional
        Bytes of candidates and shards that a worker keeps; by default as many as leave it below 55 per cent of its memory limit. What does
        not fit is made again each time, so a worker needs room for a few times the candidates of one partition, not for all it is given.
    threads : int
        Threads of one task.
    callback : function, optional
        Called after every iteration with its number and (k, objective, changed, passes).

    Returns
    -------
    DaskClustering
    """
    for name in _REFUSED:
        if name in settings and settings[name] != _Method._keywords[name].default:
            raise ValueError(f"{name}={settings[name]!r} needs all objects in one place; leave it out, or cluster on one machine")
    given: tuple[Any, Any] = (n_clusters, penalty_weight)
    if "auto" in given:
        raise ValueError("over partitions n_clusters and penalty_weight must be numbers")
    if isinstance(scale, str) and scale not in ("none", "standard"):
        raise ValueError(f"scale='{scale}' is not known over partitions; give none, standard, or (centre, spread)")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the file to go on from")
    if isinstance(oracle, str) and oracle == "k-means":
        oracle = NAMED["k-means"](algorithm="lloyd")
    old = {name: settings.pop(name) for name in OF_ORACLES if name in settings}
    oracle = renewed(_Method, {"oracle": oracle}, old, NAMED).get("oracle", oracle)
    estimator = _Method(n_clusters, penalty_weight, oracle, scale="none", **{"oracle_every": "first", **settings})
    if client is None:
        from distributed import default_client

        client = default_client()

    reading = {"object": object, "features": None if features is None else list(features), "penalty": penalty, "truth": "none"}
    parts = Parts.of(data, {**reading, "missing": missing}, candidates)
    if candidates is None and features is None:
        refuse_stars(data, parts.sources)
    workers = Workers(client, parts.sources)
    first = {"id": workers.tag, "cache": cache, "moments": isinstance(scale, str) and scale == "standard", "object": object}
    surveys, known = surveyed(workers, first)
    sizes = [survey["n"] for survey in surveys]
    run = first | known | _prepared(surveys, estimator, scale) | {"threads": threads}
    rounds = run["settings"]["oracle_iterations"] or 10
    coordinator = _goc.Coordinator(run["settings"], sizes, len(run["names"]), sample, rounds, adapt(oracle))
    mark = _mark(run, reading, parts.keys, oracle, candidates, missing)
    if resume and checkpoint is not None and Path(checkpoint).exists():
        coordinator.resume(checkpoints.read(Path(checkpoint), mark))
    while (command := coordinator.command()) is not None:
        before = coordinator.iterations
        coordinator.take(workers.all(tasks.perform, run, command))
        if coordinator.iterations > before or coordinator.steps == 1:
            if checkpoint is not None:
                checkpoints.write(Path(checkpoint), mark, coordinator.to_bytes())
            if callback is not None and coordinator.iterations:
                callback(coordinator.iterations, coordinator.history[-1])
    outcome = coordinator.outcome()
    assert outcome is not None  # there is one once no command is left
    found = DaskClustering(workers, run, parts, outcome, coordinator.history)
    if not found.converged_:
        warnings.warn(f"goc.dask.fit {estimator._unsettled(found.cycle_)}", ConvergenceWarning, stacklevel=2)
    return found


def _prepared(surveys: list[dict[str, Any]], estimator: Any, scale: Any) -> dict[str, Any]:
    """What every task of a run is told of numbers."""
    filled = [survey for survey in surveys if survey["n"]]
    centre, spread = _scaling(scale, [survey["moments"] for survey in filled], filled[0]["features"])
    largest = max(survey["penalty"] for survey in filled)
    return {
        "settings": estimator._settings(sum(survey["n"] for survey in surveys)),
        "centre": centre,
        "spread": spread,
        "penalty_divisor": largest if estimator.scale_penalties and largest > 0 else 1.0,
    }


def _scaling(scale: Any, moments: list[Moments], q: int) -> tuple[list[float], list[float]]:
    if isinstance(scale, str):
        return ([0.0] * q, [1.0] * q) if scale == "none" else Moments.together(moments).scale()
    centre, spread = (np.broadcast_to(np.asarray(part, np.float64), (q,)).tolist() for part in scale)
    return centre, spread


def _mark(run: Any, reading: Any, keys: list[str], oracle: Any, candidates: Any, missing: Any) -> str:
    """Everything that the answer depends on and the coordinator does not know itself."""
    # Of an oracle that runs in Rust the settings say all.
    oracle = run["settings"]["oracle"] if adapt(oracle) is None else oracle
    known = {name: run[name] for name in ("settings", "names", "centre", "spread", "penalty_divisor")}
    return checkpoints.mark(known, reading, keys, checkpoints.named(oracle), checkpoints.named(candidates), missing)


def candidates(ddf: Any, function: Callable[[Any], Candidates] | None = None, **options: Any) -> Any:
    """The candidates of a Dask dataframe of stars as a Dask dataframe, one row per candidate, partition by partition.

    Parameters
    ----------
    ddf : Dask dataframe, one row per star
    function : function of a table, default :func:`goc.from_gaia` with `options`

    Returns
    -------
    Dask dataframe
        object, candidate, the features, penalty. The draws of a star follow from its own name, not from its partition.
    """
    from functools import partial

    from ._stars import from_gaia

    function = function or partial(from_gaia, **options)
    # The first star says what columns there will be.
    meta = _long(ddf.head(1, npartitions=-1), function, None).iloc[:0]
    return ddf.map_partitions(_long, function, meta, meta=meta)


def _long(table: Any, function: Callable[[Any], Candidates], empty: Any) -> Any:
    import pandas as pd

    if len(table) == 0 and empty is not None:
        return empty
    made = function(table)
    counts = made.counts
    ids = np.arange(len(made)) if made.ids is None else made.ids
    columns: dict[str, Any] = {"object": np.repeat(ids, counts)}
    columns["candidate"] = np.arange(counts.sum()) - np.repeat(made.offsets[:-1], counts)
    columns |= {str(name): made.values[:, f] for f, name in enumerate(made.features or range(made.values.shape[1]))}
    if made.penalties is not None:
        columns["penalty"] = made.penalties
    return pd.DataFrame(columns)
