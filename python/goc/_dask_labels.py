"""The labels of partitions: what finds them on a worker, and the ways in which they are given back."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _dask_tasks as tasks
from . import _goc, _hats
from ._candidates import OBJECT_NAMES, Candidates
from ._dask_parts import Parts, Workers
from ._tables import Table


class GreedyLabels:
    """Of :func:`goc.dask.fit`: each object chooses its candidate and cluster by the final centres."""

    def __init__(self, last: bytes) -> None:
        self.last = last

    def kinds(self, run: Mapping[str, Any]) -> dict[str, str]:
        """The columns besides the object's, with their types."""
        own = {"label": "i8", "candidate": "i8", "distance": "f8", "penalty": "f8"}
        return own | dict.fromkeys(run["names"], "f8")

    def of_partition(self, source: tasks.Source, place: tuple[int, int, int], run: Mapping[str, Any]) -> Any:
        _, first, n = place
        shard, ids = tasks.shard_of(source, place, run)
        return self._rows(shard, np.arange(first, first + n) if ids is None else ids, run)

    def of_candidates(self, made: Candidates, ids: Any, run: Mapping[str, Any]) -> Any:
        map = _goc.Map([], "standard", run["centre"], run["spread"], run["penalty_divisor"])
        return self._rows(_goc.Shard(made._sets, 0, run["settings"], map), ids, run)

    def _rows(self, shard: _goc.Shard, ids: Any, run: Mapping[str, Any]) -> Any:
        import pandas as pd

        found = shard.finish(self.last, run["threads"])
        columns: dict[str, Any] = {"object": np.asarray(ids, run["object_type"]), "label": found["labels"], "candidate": found["chosen"]}
        columns |= {"distance": found["distances"], "penalty": found["penalties"]}
        points = found["points"].reshape(len(ids), len(run["names"])) * np.asarray(run["spread"]) + np.asarray(run["centre"])
        columns |= {name: points[:, f] for f, name in enumerate(run["names"])}
        return pd.DataFrame(columns)


class Columns:
    """Adds the labels to a table, row by row: a function for ``map_partitions`` of a Dask dataframe or an ``lsdb.Catalog``.

    Labels follow from the row's own numbers, so it may be any table like those of the fit: other partitions, a margin, new stars.
    Nothing is asked of the workers of the fit. Rows of an object without candidates have no label.
    """

    def __init__(self, source: tasks.Source, run: Mapping[str, Any], labels: Any) -> None:
        self.source, self.run, self.labels = source, dict(run), labels

    def __call__(self, table: Any) -> Any:
        import pandas as pd

        kinds = {name: kind for name, kind in self.labels.kinds(self.run).items() if name not in self.run["names"]}
        made = self.source.candidates_of(table) if len(table) else None
        if made is None:
            at, there, found = np.empty(0, np.int64), np.zeros(len(table), bool), None
        else:
            name = None if made.ids is None else Table(table).named(self.run["object"], OBJECT_NAMES)
            ids = np.arange(len(made)) if made.ids is None else made.ids
            found = self.labels.of_candidates(made, ids, self.run)
            own = np.arange(len(table)) if name is None else Table(table).identifiers(name)
            at, there = tasks.found_at(found["object"].to_numpy(), own)
        columns = {}
        for column, kind in kinds.items():
            values = np.zeros(len(table), kind)
            if found is not None:
                values[there] = found[column].to_numpy()[at]
            columns[column] = pd.Series(values, table.index, "Int64" if kind == "i8" else "Float64").where(there)
        return table.assign(**columns)


class Found:
    """What fits over partitions have in common: the labels stay with the partitions until they are asked for."""

    def __init__(self, workers: Workers, run: dict[str, Any], parts: Parts, labels: Any) -> None:
        self._workers, self._run, self._parts, self._labels = workers, run, parts, labels

    @property
    def columns(self) -> Columns:
        """A function that adds the label columns to a table with the columns of the data.

        For ``map_partitions`` of a Dask dataframe, or of an ``lsdb.Catalog`` with its margin: ``catalog.map_partitions(found.columns)``.
        """
        source = self._parts.sources[0]
        return Columns(tasks.Source("table", None, source.reading, source.function), self._run, self._labels)

    def labels(self) -> Any:
        """The labels as a Dask dataframe, one partition for each of the data, one row per object."""
        import dask.dataframe as dd
        import pandas as pd
        from dask.delayed import delayed

        kinds = {"object": self._run["object_type"]} | self._labels.kinds(self._run)
        meta = pd.DataFrame({name: np.empty(0, kind) for name, kind in kinds.items()})
        one, workers, labels = delayed(tasks.one, pure=False), self._workers, delayed(self._labels, pure=False)
        parts = [
            one(held, offset, tasks.rows, workers.places[i], self._run, labels)
            for held, group in zip(workers.held, workers.groups)
            for offset, i in enumerate(group)
        ]
        return dd.from_delayed(parts, meta=meta, verify_meta=False)

    def compute(self) -> Any:
        """All labels in one pandas dataframe."""
        import pandas as pd

        return pd.concat(self._workers.all(tasks.rows, self._run, self._labels), ignore_index=True)

    def to_parquet(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the labels of each partition where its data are within theirs, on the workers; each file appears whole.

        All workers must be able to see the folder.

        Parameters
        ----------
        folder : path

        Returns
        -------
        list of str
            The files.
        """
        paths = [os.path.abspath(os.path.join(folder, name)) for name in self._parts.names]
        return self._workers.each(tasks.write, [(self._run, self._labels, path) for path in paths])

    def to_hats(self, folder: str | os.PathLike[str], name: str | None = None) -> Path:
        """Writes a HATS catalogue of the labels, which ``lsdb.open_catalog`` opens: for data that are a HATS catalogue themselves.

        It has the same partitions as the data, so ``catalog.join(labels, left_on="source_id", right_on="source_id")`` needs no
        crossmatch. Its columns are the HEALPix number, the object's name, its position, and those of :meth:`labels`. An object without
        candidates has no row. All workers must be able to see the folder.

        Parameters
        ----------
        folder : path
            A folder that is no catalogue yet.
        name : str, optional
            Name of the catalogue; by default that of the data and ``_labels``.

        Returns
        -------
        pathlib.Path
            The folder.
        """
        sky = self._parts.sky
        if sky is None:
            raise ValueError("the data are no HATS catalogue, so their labels cannot become one; to_parquet writes them partition by partition")
        folder = Path(os.path.abspath(folder))
        _hats.refuse_catalogue(folder)
        run = self._run | {"object": self._named_object()}
        paths = [str(folder / "dataset" / part) for part in self._parts.names]
        counts = self._workers.each(tasks.write_hats, [(run, self._labels, sky, path) for path in paths])
        written = [(part, rows) for part, rows in zip(self._parts.names, counts) if rows]
        _hats.finish(folder, f"{sky.name}_labels" if name is None else name, sky, written)
        return folder

    def _named_object(self) -> str:
        """The column that names the object in the data."""
        if not self._run["named"]:
            raise ValueError("the candidates have no names to join by: give ids= to goc.Candidates")
        given = self._run["object"]
        if given is not None:
            return str(given)
        names = self._workers.client.submit(_names, self._parts.sources[0], pure=False).result()
        found = next((name for name in OBJECT_NAMES if name in names), None)
        if found is None:
            raise ValueError(f"no column names the object ({', '.join(OBJECT_NAMES)}); give object= to the fit")
        return found

    def close(self) -> None:
        """Frees what the workers keep; labels can be asked for afterwards, too, and are then made again."""
        self._workers.client.run(tasks.forget, self._run["id"])


def _names(source: tasks.Source) -> list[str]:
    return source.names()
