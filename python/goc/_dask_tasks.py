"""What a Dask worker does for :func:`goc.dask.fit` and :func:`goc.dask.fit_mixture`: makes shards of partitions, keeps those it has room for, answers commands.

Making the candidates of a partition may cost more than all that follows (orbital actions), so it is done once where there is room: the
first pass over the partitions, which counts objects, keeps the candidates, the first command makes shards of them, and the names of the
objects stay with the shards for the table of labels.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _goc
from ._candidates import ACTIONS, CANDIDATE_NAMES, PENALTY_NAMES, Candidates
from ._hats import Sky, write_whole
from ._scaling import Moments
from ._stars import KNOWN
from ._tables import Table


def refuse_stars(names: Sequence[str]) -> None:
    """A catalogue with one row per star would pass for candidates, one each, its errors and magnitudes for features."""
    low = {name.lower() for name in names}

    def has(quantity: str) -> bool:
        return any(name.lower() in low for name in KNOWN[quantity])

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

    def names(self) -> list[str]:
        """The names of the columns."""
        if self.kind != "file":
            return Table(self.table()).names
        import pyarrow.parquet

        return list(pyarrow.parquet.read_schema(self.of).names)

    def columns(self, names: Sequence[str]) -> Any:
        """Some columns of the table, as pyarrow has them."""
        import pyarrow
        import pyarrow.parquet

        if self.kind == "file":
            for name in names:
                Table(pyarrow.parquet.read_schema(self.of).empty_table()).named(name, ())
            return pyarrow.parquet.read_table(self.of, columns=list(names), partitioning=None)
        table = self.table()
        # lsdb has the HEALPix number in the index.
        if hasattr(table, "reset_index") and table.index.name in names and table.index.name not in table.columns:
            table = table.reset_index()
        for name in names:
            Table(table).named(name, ())
        return table.select(list(names)) if isinstance(table, pyarrow.Table) else pyarrow.Table.from_pydict({n: table[n] for n in names})

    def candidates(self) -> Candidates | None:
        return self.candidates_of(self.table())

    def candidates_of(self, table: Any) -> Candidates | None:
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


@dataclass
class Kept:
    """What a worker has of a partition: its candidates until a shard is made of them, then the shard; and what its objects are called."""

    ids: Any = None
    sets: Any = None
    # Of the candidates; a shard has never fewer.
    size: int = 0
    shard: Any = None
    # How the candidates were made.
    metadata: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, made: Candidates | None) -> Kept:
        return cls() if made is None else cls(made.ids, made._sets, made.nbytes, metadata=made.metadata)

    @property
    def nbytes(self) -> int:
        return (self.size if self.shard is None else self.shard.nbytes) + (0 if self.ids is None else self.ids.nbytes)


class Cache:
    """Candidates and shards that a worker keeps, up to a number of bytes.

    A run visits all partitions in turn, again and again: throwing out what was used longest ago would throw out everything just before it
    is needed. So the first that fit stay, later ones are made again each time; those of other runs make room.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: dict[tuple[str, int], tuple[Kept, int]] = {}

    def get(self, run: str, index: int) -> Kept | None:
        """What is kept; candidates are handed over, since a shard will take their place."""
        with self.lock:
            found = self.kept.get((run, index))
            if found is not None and found[0].shard is None:
                del self.kept[run, index]
            return None if found is None else found[0]

    def put(self, run: str, index: int, kept: Kept, budget: int | None) -> None:
        size = kept.nbytes
        with self.lock:
            for key in [key for key in self.kept if key[0] != run]:
                del self.kept[key]
            if budget is not None:
                if sum(own for _, own in self.kept.values()) + size <= budget:
                    self.kept[run, index] = (kept, size)
                return
            used, limit = memory()
            if used <= 0.55 * limit:
                self.kept[run, index] = (kept, size)
            elif used > 0.7 * limit:
                # A worker above four fifths is paused, and would wait for ever for memory that only this cache can free.
                waiting = [key for key, (own, _) in self.kept.items() if own.shard is None]
                for key in waiting or list(self.kept):
                    del self.kept[key]

    def forget(self, run: str) -> None:
        with self.lock:
            for key in [key for key in self.kept if key[0] == run]:
                del self.kept[key]


CACHE = Cache()


def memory() -> tuple[float, float]:
    """Bytes that this process uses, what was just made among them, and its limit."""
    try:
        from distributed import get_worker

        limit = get_worker().memory_manager.memory_limit
    except (ImportError, ValueError, AttributeError):
        limit = None
    if not limit:
        return 0.0, 1.0
    import psutil

    return float(psutil.Process().memory_info().rss), float(limit)


def shard_of(source: Source, place: tuple[int, int, int], run: Mapping[str, Any]) -> tuple[Any, Any]:
    """The shard of a partition and the names of its objects."""
    index, first, n = place
    kept = CACHE.get(run["id"], index)
    if kept is None:
        made = source.candidates() if n else None
        kept = Kept.of(made)
        del made
    if kept.shard is None:
        count = 0 if kept.sets is None else kept.sets.n_objects
        if count != n:
            raise ValueError(f"partition {index} has {count} objects now, but had {n}; it must not change in a run")
        map = _goc.Map([], "standard", run["centre"], run["spread"], run["penalty_divisor"])
        kept.shard = _goc.Shard(kept.sets, first, run["settings"], map)
        kept.sets = None
        CACHE.put(run["id"], index, kept, run["cache"])
    return kept.shard, kept.ids


def sets_of(source: Source, place: tuple[int, int, int], run: Mapping[str, Any]) -> Kept:
    """The candidates of a partition, which stay kept."""
    index, _, n = place
    kept = CACHE.get(run["id"], index)
    if kept is None:
        kept = Kept.of(source.candidates() if n else None)
    count = 0 if kept.sets is None else kept.sets.n_objects
    if count != n:
        raise ValueError(f"partition {index} has {count} objects now, but had {n}; it must not change in a run")
    CACHE.put(run["id"], index, kept, run["cache"])
    return kept


def perform(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], command: bytes) -> bytes:
    answer: bytes = shard_of(source, place, run)[0].perform(command, run["threads"])
    return answer


def survey(source: Source, place: tuple[int, int, int], run: Mapping[str, Any]) -> dict[str, Any]:
    """What must be known of all partitions before the first command; the candidates are kept for it."""
    try:
        made = source.candidates()
    except ValueError as error:
        # Told, not raised: the client names the first partition in which something is wrong, not the first that said so.
        return {"n": 0, "error": str(error)}
    if made is None:
        return {"n": 0}
    told = {
        "n": len(made),
        "features": made.n_features,
        "names": made.features,
        "ends": None if made.ids is None else (str(made.ids[0]), str(made.ids[-1])),
        "whole": made.ids is None or made.ids.dtype.kind in "iu",
        "penalty": 0.0 if made.penalties is None else float(made.penalties.max()),
        "moments": Moments.of(made.values) if run["moments"] else None,
    }
    kept = Kept.of(made)
    del made  # with arrays that nobody needs any more, and that would be counted
    CACHE.put(run["id"], place[0], kept, run["cache"])
    return told


def drawn(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], most: int) -> dict[str, Any] | None:
    """The candidates of the objects whose lots are at most `most`."""
    _, first, n = place
    kept = sets_of(source, place, run)
    if not n:
        return None
    ids = np.arange(first, first + n) if kept.ids is None else kept.ids
    lots = _goc.lots(run["settings"]["seed"], keys_of(ids))
    here = lots <= np.uint64(most)
    if not here.any():
        return None
    counts, penalties = np.diff(kept.sets.offsets), kept.sets.penalties
    rows = np.repeat(here, counts)
    return {
        "ids": ids[here],
        "lots": lots[here],
        "values": kept.sets.values[rows],
        "counts": counts[here],
        "penalties": None if penalties is None else penalties[rows],
        "metadata": kept.metadata,
    }


def keys_of(ids: Any) -> Any:
    """The numbers of the random streams of objects, as Rust has them: a whole number is its own."""
    if ids.dtype.kind in "iu":
        return np.ascontiguousarray(ids, np.int64).view(np.uint64)
    return np.array([_goc.key_of_text(str(name)) for name in ids], np.uint64)


def sums(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], model: str) -> bytes | None:
    """What a sweep needs of a partition."""
    kept = sets_of(source, place, run)
    return None if kept.sets is None else _goc.Model.from_text(model).sums(kept.sets, run["threads"])


def rows(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], labels: Any) -> Any:
    """The labels of one partition, one row per object."""
    return labels.of_partition(source, place, run)


def write(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], labels: Any, path: str) -> str:
    import pyarrow

    write_whole(pyarrow.Table.from_pandas(rows(source, place, run, labels), preserve_index=False), path)
    return path


def write_hats(source: Source, place: tuple[int, int, int], run: Mapping[str, Any], labels: Any, sky: Sky, path: str) -> int:
    """The labels with what places each object on the sky, in the order of the catalogue; the number of rows."""
    import pyarrow

    if not place[2]:
        return 0
    found = rows(source, place, run, labels)
    name = run["object"]
    table = source.columns([*([] if sky.healpix is None else [sky.healpix]), name, sky.ra, sky.dec])
    # An object of several rows, its candidates, stands where the first of them does.
    ids = Table(table).identifiers(name)
    first = np.sort(np.unique(ids, return_index=True)[1])
    at, there = found_at(found["object"].to_numpy(), ids[first])
    table = table.take(first[there])
    for column in found.columns[1:]:
        if column not in table.column_names:
            table = table.append_column(column, pyarrow.array(found[column].to_numpy()[at]))
    write_whole(table.replace_schema_metadata(None), path)
    return len(table)


def found_at(known: Any, wanted: Any) -> tuple[Any, Any]:
    """Which of the wanted names are known, and where among the known."""
    if known.dtype.kind not in "iu" or wanted.dtype.kind not in "iu":
        known, wanted = known.astype(str), wanted.astype(str)
    order = np.argsort(known, kind="stable")
    at = order[np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)]
    there = known[at] == wanted
    return at[there], there


def forget(run: str) -> None:
    CACHE.forget(run)


def together(sources: list[Source], function: Callable[..., Any], places: list[tuple[int, int, int]], rest: list[tuple[Any, ...]]) -> list[Any]:
    """The answers of several partitions, one after the other."""
    return [function(source, place, *own) for source, place, own in zip(sources, places, rest)]


def one(sources: list[Source], offset: int, function: Callable[..., Any], *rest: Any) -> Any:
    """The answer of one of them."""
    return function(sources[offset], *rest)
