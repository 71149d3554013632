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

import hashlib
import json
import os
import re
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from . import _dask_tasks as tasks
from . import _goc
from ._candidates import Candidates
from ._estimators import METHODS
from ._old_names import OF_ORACLES, renewed
from ._oracle import NAMED, adapt
from ._scaling import Moments

__all__ = ["DaskClustering", "candidates", "fit", "partitions"]

_HEADER = b"goc-dask-checkpoint 1\n"
# What one machine can do and parts cannot.
_REFUSED = ("initial_labels", "n_init", "swaps", "search", "trim", "feature_map", "stability", "significance", "noise")
_Method: Any = METHODS["GreedyOptimisticClustering"]


def partitions(folder: str | os.PathLike[str]) -> list[str]:
    """The Parquet files under a folder, in order: ``Norder=5/Dir=0/Npix=12.parquet`` after ``Npix=2``.

    Files and folders whose names begin with ``_`` or ``.`` are no partitions.
    """
    folder = Path(folder)
    found = [p.relative_to(folder) for p in folder.rglob("*.parquet") if p.is_file()]
    found = [p for p in found if not any(part.startswith(("_", ".")) for part in p.parts)]
    if not found:
        raise ValueError(f"no Parquet files in {folder}")

    def number(text: str) -> list[Any]:
        return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", text)]

    return [str(folder / p) for p in sorted(found, key=lambda p: [number(part) for part in p.parts])]


def _sources(data: Any, reading: Mapping[str, Any], function: Any) -> tuple[list[tasks.Source], list[str], list[str]]:
    """The partitions, where their labels go within a folder, and what each is known by in a checkpoint."""
    function = None if function is None else _pickled(function)
    if isinstance(data, (str, os.PathLike)):
        folder = _there(data)
        paths = partitions(folder) if folder.is_dir() else [str(folder)]
        root = folder if folder.is_dir() else folder.parent
        names = [str(Path(p).relative_to(root)) for p in paths]
        return [tasks.Source("file", os.path.abspath(p), reading, function) for p in paths], names, names
    if hasattr(data, "to_delayed"):
        data = data.to_delayed()
    sources, keys = [], []
    for index, item in enumerate(data):
        if isinstance(item, (str, os.PathLike)):
            sources.append(tasks.Source("file", os.path.abspath(_there(item)), reading, function))
            keys.append(str(item))
        elif hasattr(item, "dask") and hasattr(item, "compute"):
            sources.append(tasks.Source("delayed", _pickled(item), reading, function))
            keys.append(f"partition {index}")
        elif callable(item):
            sources.append(tasks.Source("function", _pickled(item), reading, function))
            keys.append(f"partition {index}")
        else:
            raise ValueError(
                f"partition {index} is a {type(item).__name__}; give a Dask dataframe, a folder of Parquet files, or a list of files, "
                "delayed tables or functions that return a table"
            )
    return sources, [f"part.{i:05}.parquet" for i in range(len(sources))], keys


def _there(path: str | os.PathLike[str]) -> Path:
    """The path; a misspelt one is refused here, not by a worker after the others have read their partitions."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no file or folder {path}; for what only the workers see give functions that return its tables")
    return path


def _refuse_stars(data: Any, sources: Sequence[tasks.Source]) -> None:
    """Says so at once where the columns are known without a worker; workers look at the other tables."""
    if hasattr(data, "columns"):
        tasks.refuse_stars([str(name) for name in data.columns])
    elif sources[0].kind == "file":
        import pyarrow.parquet

        try:
            names = pyarrow.parquet.read_schema(sources[0].of).names
        except (OSError, ValueError):
            return  # whoever reads it says what is wrong, and in which partition
        tasks.refuse_stars(names)


def _pickled(item: Any) -> bytes:
    import cloudpickle  # comes with distributed

    pickled: bytes = cloudpickle.dumps(item)
    return pickled


class _Workers:
    """Carries commands to the partitions and answers back, by a Dask client.

    A task costs the scheduler some milliseconds, whatever it does, so neighbouring partitions share one: one task for each thread of the
    cluster. With more, an idle worker would take one over from a busy worker, and would have to make its parts anew.
    """

    def __init__(self, client: Any, sources: Sequence[tasks.Source]) -> None:
        self.client = client
        known = client.scheduler_info(n_workers=-1)["workers"]
        slots = [address for address, worker in known.items() for _ in range(worker["nthreads"])]
        count = min(len(sources), max(len(slots), 1))
        ends = [g * len(sources) // count for g in range(count + 1)]
        self.groups = [range(a, b) for a, b in zip(ends, ends[1:])]
        self.tag = uuid.uuid4().hex[:12]
        # All tasks of a group go to one worker, where its parts are kept; the scheduler would else send them where it sees fit once there
        # are many. If the worker dies they go where the group's sources are: the scheduler remembers how those were made and puts them
        # elsewhere.
        self.where: list[dict[str, Any]] = [
            {"workers": [slots[g * len(slots) // count]], "allow_other_workers": True} if slots else {} for g in range(count)
        ]
        self.held = [
            client.submit(_same, [sources[i] for i in group], key=f"goc-sources-{self.tag}-{g}", **where)
            for g, (group, where) in enumerate(zip(self.groups, self.where))
        ]
        self.places = [(index, 0, 0) for index in range(len(sources))]
        self.calls = 0

    def sized(self, sizes: Sequence[int]) -> None:
        """From now on every task is told the number of its first object and how many it has."""
        firsts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.places = [(index, firsts[index], n) for index, n in enumerate(sizes)]

    def all(self, function: Callable[..., Any], *rest: Any) -> list[Any]:
        """``function(source, place, *rest)`` for every partition, in order."""
        return self.each(function, [rest] * len(self.places))

    def each(self, function: Callable[..., Any], rest: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The same with arguments of its own for every partition."""
        self.calls += 1
        name = f"goc-{function.__name__}-{self.tag}-{self.calls}"
        futures = [
            self.client.submit(
                tasks.together,
                held,
                function,
                [self.places[i] for i in group],
                [rest[i] for i in group],
                key=f"{name}-{g}",
                pure=False,
                **where,
            )
            for g, (held, group, where) in enumerate(zip(self.held, self.groups, self.where))
        ]
        return [answer for answers in self.client.gather(futures) for answer in answers]


def _same(sources: list[tasks.Source]) -> list[tasks.Source]:
    return sources


class DaskClustering:
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

    def __init__(self, workers: _Workers, run: dict[str, Any], names: list[str], found: dict[str, Any], history: Any) -> None:
        self._workers, self._run, self._names, self._last = workers, run, names, found["last"]
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
        n, parts = int(self.sizes_.sum()), len(self._names)
        ending = "" if self.converged_ else ", in a cycle" if self.cycle_ else ", stopped at the limit"
        return f"DaskClustering({n} objects in {parts} partitions, {self.n_clusters_} clusters, {self.n_iter_} iterations{ending})"

    def labels(self) -> Any:
        """The labels as a Dask dataframe, one partition for each of the data: object, label, candidate, distance, penalty, features."""
        import dask.dataframe as dd
        import pandas as pd
        from dask.delayed import delayed

        names = self._run["names"]
        kinds = {"object": self._run["object_type"], "label": "i8", "candidate": "i8", "distance": "f8", "penalty": "f8"}
        meta = pd.DataFrame({name: np.empty(0, kind) for name, kind in (kinds | dict.fromkeys(names, "f8")).items()})
        one, workers = delayed(tasks.one, pure=False), self._workers
        parts = [
            one(held, offset, tasks.assignments, workers.places[i], self._run, self._last)
            for held, group in zip(workers.held, workers.groups)
            for offset, i in enumerate(group)
        ]
        return dd.from_delayed(parts, meta=meta, verify_meta=False)

    def compute(self) -> Any:
        """All labels in one pandas dataframe."""
        import pandas as pd

        return pd.concat(self._workers.all(tasks.assignments, self._run, self._last), ignore_index=True)

    def to_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the labels of each partition where its data are within theirs, on the workers; each file appears whole.

        All workers must be able to see the folder.
        """
        paths = [os.path.abspath(os.path.join(folder, name)) for name in self._names]
        return self._workers.each(tasks.write, [(self._run, self._last, path) for path in paths])

    def close(self) -> None:
        """Frees what the workers keep; labels can be asked for afterwards, too, and are then made again."""
        self._workers.client.run(tasks.forget, self._run["id"])


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
        takes. A folder of Parquet files may be
        nested (HATS: ``Norder=*/Dir=*/Npix=*.parquet``). A list has files, delayed tables or functions that return a table.
    n_clusters, penalty_weight, oracle, **settings
        As for :class:`goc.GreedyOptimisticClustering`, with ``oracle=goc.KMeans(algorithm="lloyd")`` and ``oracle_every="first"``: the
        oracle makes the first clustering, Lloyd's rounds over all partitions those after, as many as the oracle's ``max_iter`` (10 if it
        has none). n_init, swaps, search, trim, initial_labels, feature_map, stability, significance and noise need all objects in one place
        and are refused.
    object, features, penalty, missing
        Columns, as for :meth:`goc.Candidates.from_table`. A table that looks like a star catalogue is refused unless `features` or
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
    sources, names, keys = _sources(data, {**reading, "missing": missing}, candidates)
    if not sources:
        raise ValueError("there are no partitions")
    if candidates is None and features is None:
        _refuse_stars(data, sources)
    workers = _Workers(client, sources)
    first = {"id": workers.tag, "cache": cache, "moments": isinstance(scale, str) and scale == "standard"}
    surveys = workers.all(tasks.survey, first)
    for index, survey in enumerate(surveys):
        if "error" in survey:
            raise ValueError(f"partition {index}: {survey['error']}")
    sizes = [survey["n"] for survey in surveys]
    workers.sized(sizes)
    run = first | _prepared(surveys, estimator, scale) | {"threads": threads}
    rounds = run["settings"]["oracle_iterations"] or 10
    coordinator = _goc.Coordinator(run["settings"], sizes, len(run["names"]), sample, rounds, adapt(oracle))
    mark = _mark(run, reading, keys, oracle, candidates, missing)
    if resume and checkpoint is not None and Path(checkpoint).exists():
        coordinator.resume(_read_checkpoint(Path(checkpoint), mark))
    while (command := coordinator.command()) is not None:
        before = coordinator.iterations
        coordinator.take(workers.all(tasks.perform, run, command))
        if coordinator.iterations > before or coordinator.steps == 1:
            if checkpoint is not None:
                _write_checkpoint(Path(checkpoint), mark, coordinator.to_bytes())
            if callback is not None and coordinator.iterations:
                callback(coordinator.iterations, coordinator.history[-1])
    outcome = coordinator.outcome()
    assert outcome is not None  # there is one once no command is left
    found = DaskClustering(workers, run, names, outcome, coordinator.history)
    if not found.converged_:
        warnings.warn(f"goc.dask.fit {estimator._unsettled(found.cycle_)}", ConvergenceWarning, stacklevel=2)
    return found


def _prepared(surveys: list[dict[str, Any]], estimator: Any, scale: Any) -> dict[str, Any]:
    """What every task of a run is told."""
    filled = [survey for survey in surveys if survey["n"]]
    if not filled:
        raise ValueError("there are no objects")
    q = filled[0]["features"]
    last = None
    for index, survey in enumerate(surveys):
        if not survey["n"]:
            continue
        if survey["features"] != q or survey["names"] != filled[0]["names"]:
            raise ValueError(f"partition {index} has other features than those before; name them with features=")
        if survey["ends"] is not None:
            if survey["ends"][0] == last:
                raise ValueError(f"object {last} is in two partitions; all its rows must be in one")
            last = survey["ends"][1]
    centre, spread = _scaling(scale, [survey["moments"] for survey in filled], q)
    largest = max(survey["penalty"] for survey in filled)
    return {
        "settings": estimator._settings(sum(survey["n"] for survey in surveys)),
        "names": list(filled[0]["names"] or (f"x{f}" for f in range(q))),
        "centre": centre,
        "spread": spread,
        "penalty_divisor": largest if estimator.scale_penalties and largest > 0 else 1.0,
        "object_type": "i8" if all(survey["whole"] for survey in filled) else "O",
    }


def _scaling(scale: Any, moments: list[Moments], q: int) -> tuple[list[float], list[float]]:
    if isinstance(scale, str):
        return ([0.0] * q, [1.0] * q) if scale == "none" else Moments.together(moments).scale()
    centre, spread = (np.broadcast_to(np.asarray(part, np.float64), (q,)).tolist() for part in scale)
    return centre, spread


def _mark(run: Mapping[str, Any], reading: Any, keys: list[str], oracle: Any, candidates: Any, missing: Any) -> str:
    """Tells runs apart: everything that the answer depends on and the coordinator does not know itself."""

    def named(f: Any) -> Any:
        return f if f is None or isinstance(f, str) else getattr(f, "__qualname__", repr(f))

    # Of an oracle that runs in Rust the settings say all.
    oracle = run["settings"]["oracle"] if adapt(oracle) is None else oracle
    known = {name: run[name] for name in ("settings", "names", "centre", "spread", "penalty_divisor")}
    told = [known, reading, keys, named(oracle), named(candidates), missing]
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def _write_checkpoint(path: Path, mark: str, state: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(temporary, "wb") as file:
        file.write(_HEADER + mark.encode() + b"\n" + state)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _read_checkpoint(path: Path, mark: str) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_HEADER) or len(content) < len(_HEADER) + 65:
        raise ValueError(f"{path} is not a checkpoint of goc.dask")
    rest = content[len(_HEADER) :]
    if rest[:64] != mark.encode():
        raise ValueError(f"{path} belongs to another run, with other data or parameters; start again, or use those of that run")
    return rest[65:]


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
