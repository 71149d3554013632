"""What a Dask worker does for :func:`goc.dask.fit`: makes parts of partitions, keeps those it has room for, answers commands."""

from __future__ import annotations

import os
import pickle
import threading
import uuid
from collections import OrderedDict
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import _goc
from ._candidates import ACTIONS, CANDIDATE_NAMES, PENALTY_NAMES, Candidates
from ._stars import KNOWN
from ._tables import Table


def refuse_stars(names: Sequence[str]) -> None:
    """A catalogue with a row a star would pass for candidates, one each, its errors and magnitudes for features."""
    low = {name.lower() for name in names}
    has = lambda quantity: any(name.lower() in low for name in KNOWN[quantity])  # noqa: E731
    place = has("ra") and has("dec") or has("l") and has("b")
    made = any(name in low for name in (*CANDIDATE_NAMES, *PENALTY_NAMES)) or all(name.lower() in low for name in ACTIONS)
    if place and has("parallax") and not made:
        raise ValueError(
            "the table looks like a star catalogue; give candidates=goc.from_gaia (or functools.partial of it), or features= if its "
            "rows are candidates"
        )


class Source:
    """One partition: how to make its table, and the candidates of the table. Small, and all that a worker needs.

    Functions are pickled on their own, so that those of a script or a notebook go to the workers whole.
    """

    def __init__(self, kind: str, of: Any, reading: Mapping[str, Any], function: bytes | None) -> None:
        self.kind, self.of, self.reading, self.function = kind, of, dict(reading), function

    def table(self) -> Any:
        if self.kind == "file":
            import pyarrow.parquet

            # partitioning=None: Norder=5/Npix=3 in a path are places, not columns.
            return pyarrow.parquet.read_table(self.of, partitioning=None)
        if self.kind == "delayed":
            return pickle.loads(self.of).compute(scheduler="synchronous")
        return pickle.loads(self.of)()

    def candidates(self) -> Candidates | None:
        table = self.table()
        if not isinstance(table, Candidates) and len(table) == 0:
            return None
        if self.function is not None:
            table = pickle.loads(self.function)(table)
        if isinstance(table, Candidates):
            return table if len(table) else None
        for name in self.reading.get("features") or ():
            Table(table).named(name, ())  # says what columns there are if it is not one of them
        if self.function is None and not self.reading.get("features"):
            refuse_stars(Table(table).names)
        return Candidates.from_table(table, **self.reading)


class Cache:
    """Parts that a worker keeps, up to a number of bytes.

    A run visits all parts in turn, again and again: throwing out what was used longest ago would throw out every part just before it
    is needed. So the first that fit stay, later ones are made again each time; parts of other runs make room.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.parts: OrderedDict[tuple[str, int], tuple[Any, int]] = OrderedDict()

    def get(self, run: str, index: int) -> Any:
        with self.lock:
            found = self.parts.get((run, index))
            return None if found is None else found[0]

    def put(self, run: str, index: int, part: Any, budget: int | None) -> None:
        size = part.nbytes
        with self.lock:
            for key in [key for key in self.parts if key[0] != run]:
                del self.parts[key]
            if budget is not None:
                if sum(own for _, own in self.parts.values()) + size <= budget:
                    self.parts[run, index] = (part, size)
                return
            used, limit = memory()
            if used <= 0.55 * limit:
                self.parts[run, index] = (part, size)
            elif used > 0.7 * limit:
                # A worker above four fifths is paused, and would wait for ever for memory that only this cache can free.
                self.parts.clear()

    def forget(self, run: str) -> None:
        with self.lock:
            for key in [key for key in self.parts if key[0] == run]:
                del self.parts[key]


CACHE = Cache()


def memory() -> tuple[float, float]:
    """Bytes that this process uses, the part just made among them, and its limit."""
    try:
        from distributed import get_worker

        limit = get_worker().memory_manager.memory_limit
    except (ImportError, ValueError, AttributeError):
        limit = None
    if not limit:
        return 0.0, 1.0
    import psutil

    return float(psutil.Process().memory_info().rss), float(limit)


def part_of(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], made: Candidates | None = None) -> Any:
    index, first, n = place
    part = CACHE.get(run["id"], index)
    if part is None:
        if made is None and n:
            made = source.candidates()
        count = 0 if made is None else len(made)
        if count != n:
            raise ValueError(f"partition {index} has {count} objects now, but had {n}; it must not change in a run")
        sets = None if made is None else made._sets
        part = _goc.Part(sets, first, run["settings"], run["centre"], run["spread"], run["penalty_divisor"])
        del made, sets
        CACHE.put(run["id"], index, part, run["cache"])
    return part


def perform(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], command: bytes) -> bytes:
    return part_of(source, place, run).perform(command, run["threads"])


def survey(source: Source, place: tuple[int, int, int]) -> dict[str, Any]:
    """What must be known of all partitions before the first command."""
    try:
        made = source.candidates()
    except ValueError as error:
        # Told, not raised: the client names the first partition in which something is wrong, not the first that said so.
        return {"n": 0, "error": str(error)}
    if made is None:
        return {"n": 0}
    values = made.values
    mean = values.mean(axis=0)
    squares = np.array([np.square(values[:, f] - mean[f]).sum() for f in range(len(mean))])
    return {
        "n": len(made),
        "features": values.shape[1],
        "names": made.features,
        "ends": None if made.ids is None else (str(made.ids[0]), str(made.ids[-1])),
        "whole": made.ids is None or made.ids.dtype.kind in "iu",
        "penalty": 0.0 if made.penalties is None else float(made.penalties.max()),
        "moments": (len(values), mean, squares),
    }


def seats(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], last: bytes) -> Any:
    """The rows of one partition: object, label, candidate, distance, penalty, the chosen features in the units of the data."""
    import pandas as pd

    _, first, n = place
    made = source.candidates() if n else None
    ids = np.arange(first, first + n) if made is None or made.ids is None else made.ids
    found = part_of(source, place, run, made).finish(last, run["threads"])
    columns: dict[str, Any] = {"object": np.asarray(ids, run["object_type"]), "label": found["labels"], "candidate": found["chosen"]}
    columns |= {"distance": found["distances"], "penalty": found["penalties"]}
    points = found["points"].reshape(n, len(run["names"])) * np.asarray(run["spread"]) + np.asarray(run["centre"])
    columns |= {name: points[:, f] for f, name in enumerate(run["names"])}
    return pd.DataFrame(columns)


def write(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], last: bytes, path: str) -> str:
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.Table.from_pandas(seats(source, place, run, last), preserve_index=False)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # Another worker may be writing the same file after this one was given up for dead.
    temporary = f"{path}.{uuid.uuid4().hex}.tmp"
    pyarrow.parquet.write_table(table, temporary)
    os.replace(temporary, path)
    return path


def forget(run: str) -> None:
    CACHE.forget(run)


def together(sources: list[Source], function: Callable[..., Any], places: list[tuple[int, int, int]], rest: list[tuple]) -> list[Any]:
    """The answers of several partitions, one after the other."""
    return [function(source, place, *own) for source, place, own in zip(sources, places, rest)]


def one(sources: list[Source], offset: int, function: Callable[..., Any], *rest: Any) -> Any:
    """The answer of one of them."""
    return function(sources[offset], *rest)
