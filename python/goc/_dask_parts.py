"""The partitions of a catalogue, whatever they are given as, and the workers that hold them."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _dask_tasks as tasks
from . import _hats
from ._hats import Pixel, Sky


def partitions(folder: str | os.PathLike[str]) -> list[str]:
    """The Parquet files under a folder, in order: ``Norder=5/Dir=0/Npix=12.parquet`` after ``Npix=2``.

    Files and folders whose names begin with ``_`` or ``.`` are no partitions. Of a HATS catalogue, its collection or its ``dataset/``
    they are those of its list of partitions, in the order of the sky.
    """
    folder = Path(folder)
    found_there = _hats.catalogue(folder)
    if found_there is not None:
        return [str(path) for path in found_there.files]
    found = [p.relative_to(folder) for p in folder.rglob("*.parquet") if p.is_file()]
    found = [p for p in found if not any(part.startswith(("_", ".")) for part in p.parts)]
    if not found:
        raise ValueError(f"no Parquet files in {folder}")

    def number(text: str) -> list[Any]:
        return [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", text)]

    return [str(folder / p) for p in sorted(found, key=lambda p: [number(part) for part in p.parts])]


@dataclass
class Parts:
    """All partitions of the data."""

    sources: list[tasks.Source]
    # Where their labels go within a folder.
    names: list[str]
    # What each is known by in a checkpoint.
    keys: list[str]
    # Of a HATS catalogue: what a catalogue of labels takes over, and the folder it is in, if it is in one.
    sky: Sky | None = None
    root: Path | None = None

    @classmethod
    def of(cls, data: Any, reading: Mapping[str, Any], function: Any) -> Parts:
        """Takes a folder, a HATS catalogue or collection, an ``lsdb.Catalog``, a Dask dataframe, or a list."""
        function = None if function is None else pickled(function)
        if isinstance(data, (str, os.PathLike)):
            return cls._in_folder(there(data), reading, function)
        if hasattr(data, "hc_structure") and hasattr(data, "get_ordered_healpix_pixels"):
            return cls._of_lsdb(data, reading, function)
        if hasattr(data, "to_delayed"):
            data = data.to_delayed()
        sources, keys = [], []
        for index, item in enumerate(data):
            if isinstance(item, (str, os.PathLike)):
                sources.append(tasks.Source("file", os.path.abspath(there(item)), reading, function))
                keys.append(str(item))
            elif hasattr(item, "dask") and hasattr(item, "compute"):
                sources.append(tasks.Source("delayed", pickled(item), reading, function))
                keys.append(f"partition {index}")
            elif callable(item):
                sources.append(tasks.Source("function", pickled(item), reading, function))
                keys.append(f"partition {index}")
            else:
                raise ValueError(
                    f"partition {index} is a {type(item).__name__}; give a Dask dataframe, an lsdb.Catalog, a folder of Parquet files, or a "
                    "list of files, delayed tables or functions that return a table"
                )
        if not sources:
            raise ValueError("there are no partitions")
        return cls(sources, [f"part.{i:05}.parquet" for i in range(len(sources))], keys)

    @classmethod
    def _in_folder(cls, folder: Path, reading: Mapping[str, Any], function: bytes | None) -> Parts:
        found = _hats.catalogue(folder)
        if found is not None:
            sources = [tasks.Source("file", os.path.abspath(p), reading, function) for p in found.files]
            return cls(sources, found.names, found.names, found.sky, found.root)
        paths = partitions(folder) if folder.is_dir() else [str(folder)]
        root = folder if folder.is_dir() else folder.parent
        names = [str(Path(p).relative_to(root)) for p in paths]
        return cls([tasks.Source("file", os.path.abspath(p), reading, function) for p in paths], names, names)

    @classmethod
    def _of_lsdb(cls, catalog: Any, reading: Mapping[str, Any], function: bytes | None) -> Parts:
        """Of an ``lsdb.Catalog``, with all that was selected or computed there. Its margin is another catalogue, and stays out."""
        from dask.base import optimize

        known = catalog.hc_structure.catalog_info
        told = {
            "obs_collection": catalog.name,
            "hats_col_ra": known.ra_column,
            "hats_col_dec": known.dec_column,
            "hats_col_healpix": known.healpix_column or getattr(catalog.meta.index, "name", None),
            "hats_col_healpix_order": None if known.healpix_order is None else str(known.healpix_order),
        }
        sky = Sky.of({key: value for key, value in told.items() if value}, f"the lsdb catalogue {catalog.name}")
        pixels = [Pixel(int(pixel.order), int(pixel.pixel)) for pixel in catalog.get_ordered_healpix_pixels()]
        # Each of them carries the graph of all partitions until it is optimised by itself.
        made = [optimize(item)[0] for item in catalog.to_delayed()]
        sources = [tasks.Source("delayed", pickled(item), reading, function) for item in made]
        names = [pixel.path(sky.suffix) for pixel in pixels]
        return cls(sources, names, names, sky)


def there(path: str | os.PathLike[str]) -> Path:
    """The path; a misspelt one is refused here, not by a worker after the others have read their partitions."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"no file or folder {path}; for what only the workers see give functions that return its tables")
    return path


def refuse_stars(data: Any, sources: Sequence[tasks.Source]) -> None:
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


def pickled(item: Any) -> bytes:
    import cloudpickle  # comes with distributed

    pickled: bytes = cloudpickle.dumps(item)
    return pickled


class Workers:
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


def surveyed(workers: Workers, first: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The first pass over the partitions: what each has, and what all have in common."""
    surveys = workers.all(tasks.survey, first)
    for index, survey in enumerate(surveys):
        if "error" in survey:
            raise ValueError(f"partition {index}: {survey['error']}")
    workers.sized([survey["n"] for survey in surveys])
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
    return surveys, {
        "names": list(filled[0]["names"] or (f"x{f}" for f in range(q))),
        "object_type": "i8" if all(survey["whole"] for survey in filled) else "O",
        "named": all(survey["ends"] is not None for survey in filled),
    }
