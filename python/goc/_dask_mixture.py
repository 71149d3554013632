"""The marginal mixture over partitions: learned from a sample, applied to all objects where they are.

The chains of the mixture visit every object hundreds of times and look at all clusters at once, which partitions cannot. So the chains see
a sample. Each object draws a lot from its own name and the smallest lots are in, which makes the sample the same for any order and any
cut into partitions. The model that the chains give then tells of every other object which cluster it belongs to, where it is.

A sample shows fewer members of every cluster, and none of some. What it shows can be sharpened by sweeps: each shares out all objects
among the clusters and moves these to their sums (`crates/goc/src/marginal/model/sweep.rs`). The sums are of whole numbers, so they do not
depend on the cut either. What a sample has not shown at all no sweep finds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _dask_checkpoint as checkpoints
from . import _dask_tasks as tasks
from . import _goc
from ._candidates import Candidates
from ._dask_labels import Found
from ._dask_parts import Parts, Workers, refuse_stars, surveyed
from ._estimators import MarginalMixture

# What the table of labels has of each object, besides its name and expected features.
_COLUMNS = {
    "label": "i8",
    "probability": "f8",
    "runner_up": "i8",
    "runner_up_probability": "f8",
    "alone": "f8",
    "field": "f8",
}
# Statements about clusters as they were found in the sample, which later objects would change.
_REFUSED = ("stability", "significance", "noise")


class MixtureLabels:
    """By the model; the objects of the sample have what the chains said of them, unless sweeps moved the model since."""

    def __init__(self, model: str, sample: Mapping[str, Any] | None) -> None:
        self.model, self.sample = model, sample

    def kinds(self, run: Mapping[str, Any]) -> dict[str, str]:
        """The columns besides the object's, with their types."""
        return _COLUMNS | dict.fromkeys(run["names"], "f8")

    def of_partition(self, source: tasks.Source, place: tuple[int, int, int], run: Mapping[str, Any]) -> Any:
        _, first, n = place
        kept = tasks.sets_of(source, place, run)
        return self._rows(kept.sets, np.arange(first, first + n) if kept.ids is None else kept.ids, run)

    def of_candidates(self, made: Candidates, ids: Any, run: Mapping[str, Any]) -> Any:
        return self._rows(made._sets, ids, run)

    def _rows(self, sets: Any, ids: Any, run: Mapping[str, Any]) -> Any:
        import pandas as pd

        columns: dict[str, Any] = {"object": np.asarray(ids, run["object_type"])}
        if sets is None:
            return pd.DataFrame(columns | {name: np.empty(0, kind) for name, kind in self.kinds(run).items()})
        found = _goc.Model.from_text(self.model).assign(sets, run["threads"])
        columns |= {name: found[name] for name in _COLUMNS}
        columns |= {name: found["features"][:, f].copy() for f, name in enumerate(run["names"])}
        if self.sample is not None:
            at, there = tasks.found_at(np.asarray(self.sample["object"]), columns["object"])
            for name in self.kinds(run):
                columns[name][there] = np.asarray(self.sample[name])[at]
        return pd.DataFrame(columns)


class DaskMixture(Found):
    """What :func:`fit_mixture` found. The model is here; the labels stay with the partitions.

    Attributes
    ----------
    cluster_centers_ : array (n_clusters_, q), in the units of the data
    sizes_ : array, members of each cluster: of the sample, or of all objects after a sweep
    n_clusters_, n_objects_, n_sweeps_ : int
    first_on_ : str
        ``"all"``, or ``"sample of N"``: what the chains were run on.
    """

    def __init__(self, workers: Workers, run: dict[str, Any], parts: Parts, state: dict[str, Any]) -> None:
        sample = state["sample"] if not state["sweeps"] else None
        super().__init__(workers, run, parts, MixtureLabels(state["model"], sample))
        model = _goc.Model.from_text(state["model"])
        self.sizes_: NDArray[np.int64] = model.sizes
        self.cluster_centers_: NDArray[np.float64] = model.centres
        self.n_clusters_ = len(self.sizes_)
        self.n_objects_ = sum(n for _, _, n in workers.places)
        self.n_sweeps_: int = state["sweeps"]
        drawn = len(state["sample"]["object"])
        self.first_on_ = "all" if drawn == self.n_objects_ else f"sample of {drawn}"

    def __repr__(self) -> str:
        parts = len(self._parts.names)
        return f"DaskMixture({self.n_objects_} objects in {parts} partitions, {self.n_clusters_} clusters, from {self.first_on_})"

    def save_model(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that ``goc predict`` reads.

        Parameters
        ----------
        path : path
        """
        path = Path(path)
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        temporary.write_text(self._labels.model)
        os.replace(temporary, path)


def fit_mixture(
    data: Any,
    *,
    object: str | None = None,
    features: Sequence[str] | None = None,
    penalty: str | None = None,
    missing: float | None = -9999.0,
    candidates: Callable[[Any], Candidates] | None = None,
    sample: int = 20_000,
    sweeps: int = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    client: Any = None,
    cache: int | None = None,
    threads: int = 1,
    callback: Callable[[int, NDArray[np.int64]], Any] | None = None,
    **settings: Any,
) -> DaskMixture:
    """The marginal mixture on a Dask cluster: learned from a sample, applied to all objects where they are.

    Parameters
    ----------
    data, object, features, penalty, missing, candidates
        As for :func:`goc.dask.fit`.
    sample : int
        With more objects than this the chains run on a random sample of about this size, on the client. Otherwise they run on all, and
        the answer is that of :class:`goc.MarginalMixture`.
    sweeps : int
        Times that the clusters are moved to the sums over all objects. The objects of the sample are then judged by the model, too.
    checkpoint : path, optional
        Written after the chains and after every sweep, under a temporary name and renamed.
    resume : bool
        Continue from `checkpoint` if it exists; one of another run is refused. `sweeps` may be larger than before.
    client, cache, threads
        As for :func:`goc.dask.fit`.
    callback : function, optional
        Called after the chains (0) and after each sweep with its number and the members of each cluster.
    **settings
        Of :class:`goc.MarginalMixture`. stability, significance and noise would be of the sample alone, and are refused.

    Returns
    -------
    DaskMixture
    """
    for name in _REFUSED:
        if settings.get(name):
            raise ValueError(f"{name}={settings[name]!r} would be of the sample alone; leave it out, or cluster on one machine")
    if sample < 1 or sweeps < 0:
        raise ValueError(f"sample={sample} and sweeps={sweeps}: there must be at least one object in the sample, and no sweep less than none")
    if resume and checkpoint is None:
        raise ValueError("resume=True needs checkpoint=, the file to go on from")
    mixture: Any = MarginalMixture(**settings)
    if client is None:
        from distributed import default_client

        client = default_client()
    reading = {"object": object, "features": None if features is None else list(features), "penalty": penalty, "truth": "none"}
    parts = Parts.of(data, {**reading, "missing": missing}, candidates)
    if candidates is None and features is None:
        refuse_stars(data, parts.sources)
    workers = Workers(client, parts.sources)
    first = {"id": workers.tag, "cache": cache, "moments": False, "object": object, "threads": threads}
    surveys, known = surveyed(workers, first)
    n = sum(survey["n"] for survey in surveys)
    run = first | known | {"settings": mixture._settings(n)}

    mark = checkpoints.mark("mixture", run["settings"], run["names"], n, sample, reading, parts.keys, checkpoints.named(candidates), missing)
    there = resume and checkpoint is not None and Path(checkpoint).exists()
    state: dict[str, Any] = json.loads(checkpoints.read(Path(checkpoint), mark)) if there and checkpoint else {}

    def keep() -> None:
        if checkpoint is not None:
            checkpoints.write(Path(checkpoint), mark, json.dumps(state).encode())
        if callback is not None:
            callback(state["sweeps"], _goc.Model.from_text(state["model"]).sizes)

    if not state:
        state = _from_sample(mixture, workers, run, n, sample)
        keep()
    # The chains have seen all objects that there are: a sweep knows less.
    wanted = sweeps if len(state["sample"]["object"]) < n else 0
    while state["sweeps"] < wanted:
        sums = [own for own in workers.all(tasks.sums, run, state["model"]) if own is not None]
        swept = _goc.Model.from_text(state["model"]).swept(sums)
        state |= {"model": swept.to_text(), "sweeps": state["sweeps"] + 1}
        keep()
    return DaskMixture(workers, run, parts, state)


def _from_sample(mixture: Any, workers: Workers, run: dict[str, Any], n: int, size: int) -> dict[str, Any]:
    """The model of the chains, and what they said of the objects that they saw."""
    most = 2**64 - 1 if n <= size else (2**64 - 1) * size // n
    pieces = [piece for piece in workers.all(tasks.drawn, run, most) if piece is not None]
    if not pieces:
        raise ValueError(f"a sample of {size} of {n} objects has none of them; raise sample=")
    ids, lots, counts, values = (np.concatenate([piece[name] for piece in pieces]) for name in ("ids", "lots", "counts", "values"))
    penalties = None if pieces[0]["penalties"] is None else np.concatenate([piece["penalties"] for piece in pieces])
    if n > size:
        # In the order of the lots, which is that of no partition.
        order = np.argsort(lots, kind="stable")
        begins = np.concatenate([[0], np.cumsum(counts)])[:-1]
        rows = np.concatenate([np.arange(begins[i], begins[i] + counts[i]) for i in order])
        ids, counts, values = ids[order], counts[order], values[rows]
        penalties = None if penalties is None else penalties[rows]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    told = {"ids": ids, "features": run["names"], "metadata": pieces[0]["metadata"]}
    found = mixture.fit(Candidates(values, offsets, penalties, **told))
    rows_of = {name: getattr(found, f"{'labels' if name == 'label' else 'probabilities' if name == 'probability' else name}_") for name in _COLUMNS}
    rows_of |= {name: found.representatives_[:, f] for f, name in enumerate(run["names"])}
    told_of = {"object": np.asarray(ids, run["object_type"])} | rows_of
    return {"model": found._model.to_text(), "sweeps": 0, "sample": {name: own.tolist() for name, own in told_of.items()}}
