"""The candidates of all objects: the form in which every method takes uncertain objects.

An object is a set of `m_i` candidate feature vectors, each with a penalty or a weight if there are
any. Every form that X may have becomes one table of candidates and offsets into it, checked once,
in Rust.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _goc
from ._tables import Table

OBJECT_NAMES = ("object", "source_id", "i", "id")
PENALTY_NAMES = ("penalty", "parallax_penalty")
TRUTH_NAMES = ("truth", "true_cluster_id")
CANDIDATE_NAMES = ("candidate", "j")
FROM_PRIOR = "from_prior"
ACTIONS = ("Jr", "Jz", "Jphi")


class Candidates:
    """Ragged candidate sets of many objects.

    Parameters
    ----------
    values : array of shape (n_candidates, n_features)
        All candidates, object after object.
    offsets : array of shape (n_objects + 1,)
        Where each object's candidates begin, and the end.
    penalties : array of shape (n_candidates,), optional
        What each candidate costs; finite, not below 0.
    ids : sequence of length n_objects, optional
        Names of the objects.
    features : sequence of str, optional
        Names of the features.
    truth : array of length n_objects, optional
        The true group of each object, where it is known.
    extras : mapping of str to array, optional
        Other columns, one value per candidate, such as the energy of an orbit.
    metadata : mapping of str to str, optional
        How the candidates were made, under the command's keys: a ``"goc_penalty"`` that begins with
        ``density`` says that the penalties are minus log densities of the errors, so that
        likelihood methods can use them as such.
    from_prior : array of bool of length n_objects, optional
        Which objects have a value that was drawn from a prior: the marginal mixture labels them
        only where it is sure.

    Examples
    --------
    >>> import goc
    >>> sets = goc.Candidates([[0.0], [1.0], [2.0], [2.1]], [0, 3, 4])
    >>> sets
    Candidates(2 objects, 4 candidates, 1 features)
    >>> sets[0]
    array([[0.],
           [1.],
           [2.]])
    """

    def __init__(
        self,
        values: ArrayLike,
        offsets: ArrayLike,
        penalties: ArrayLike | None = None,
        *,
        ids: Sequence[Any] | None = None,
        features: Sequence[str] | None = None,
        truth: ArrayLike | None = None,
        extras: Mapping[str, NDArray[Any]] | None = None,
        metadata: Mapping[str, str] | None = None,
        from_prior: ArrayLike | None = None,
    ) -> None:
        values = numbers(values, "values", 2)
        offsets = _offsets(offsets)
        penalties = None if penalties is None else numbers(penalties, "penalties", 1)
        self.ids = None if ids is None else np.asarray(ids)
        self.features = None if features is None else tuple(str(name) for name in features)
        self.truth = None if truth is None else np.asarray(truth)
        self.extras = {} if extras is None else dict(extras)
        self.metadata = {} if metadata is None else {str(key): str(value) for key, value in metadata.items()}
        # Objects that lost points on the way: (id, drawn, kept, reasons).
        self.losses: list[tuple[Any, int, int, str]] = []
        n = len(offsets) - 1
        for name, given, wanted in (
            ("ids", self.ids, n),
            ("truth", self.truth, n),
            ("features", self.features, values.shape[1]),
        ):
            if given is not None and len(given) != wanted:
                raise ValueError(f"{len(given)} {name} where {wanted} are needed")
        names = None if self.ids is None else [str(i) for i in self.ids]
        # The numbers are kept in Rust, once; who needs them as an array asks the properties.
        told = list(self.metadata.items())
        drawn = None if from_prior is None else np.asarray(from_prior, bool).tolist()
        self._sets = _goc.Candidates(values, offsets, penalties, names=names, features=self.features, metadata=told, from_prior=drawn)

    @classmethod
    def _of(cls, sets: _goc.Candidates, **known: Any) -> Candidates:
        """Of candidates that Rust has made; nothing is copied."""
        made = cls.__new__(cls)
        made._sets = sets
        empty: dict[str, Any] = {"ids": None, "features": None, "truth": None, "extras": {}, "metadata": {}, "losses": []}
        vars(made).update(empty | known)
        return made

    def __len__(self) -> int:
        return self._sets.n_objects

    def __getitem__(self, i: int) -> NDArray[np.float64]:
        return self._sets.object(range(len(self))[i])

    def __iter__(self) -> Iterable[NDArray[np.float64]]:
        return (self._sets.object(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Candidates({len(self)} objects, {self.n_candidates} candidates, {self.n_features} features)"

    def __reduce__(self) -> tuple[Any, ...]:
        rest = {"ids": self.ids, "features": self.features, "truth": self.truth, "extras": self.extras, "metadata": self.metadata}
        rest["from_prior"] = self.from_prior
        return (_rebuilt, (self.values, self.offsets, self.penalties, rest), {"losses": self.losses})

    @property
    def values(self) -> NDArray[np.float64]:
        """All candidates, object after object: (n_candidates, n_features). A copy, each time."""
        return self._sets.values

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each object's candidates begin, and the end."""
        return self._sets.offsets

    @property
    def penalties(self) -> NDArray[np.float64] | None:
        """What each candidate costs, if they cost anything."""
        return self._sets.penalties

    @property
    def from_prior(self) -> NDArray[np.bool_] | None:
        """Which objects have a value that was drawn from a prior, if any has."""
        drawn = self._sets.from_prior
        return np.array(drawn, bool) if drawn else None

    @property
    def n_candidates(self) -> int:
        """Candidates of all objects together."""
        return self._sets.n_candidates

    @property
    def n_features(self) -> int:
        """Features of a candidate."""
        return self._sets.n_features

    @property
    def nbytes(self) -> int:
        """Bytes of the candidates, their penalties and offsets, as the library counts them."""
        return 8 * (self.n_candidates * (self.n_features + self._sets.has_penalties) + len(self) + 1)

    @property
    def log_density(self) -> bool:
        """Whether the penalties are minus log densities of the errors."""
        return self._sets.log_density

    @property
    def counts(self) -> NDArray[np.int64]:
        """Candidates of each object."""
        return np.diff(self.offsets)

    def means(self) -> NDArray[np.float64]:
        """The mean of each object's candidates: the paper's eq. (10)."""
        return self._sets.means()

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        object: str | None = None,
        features: Sequence[str] | None = None,
        penalty: str | None = None,
        truth: str | None = None,
        missing: float | None = -9999.0,
    ) -> Candidates:
        """From a table of one row per candidate, as ``goc candidates`` writes it.

        Parameters
        ----------
        table : pandas, pyarrow or astropy table, structured array, or mapping of columns
        object : str, optional
            Column that names the object; by default object, source_id, i or id.
        features : sequence of str, optional
            By default those that the table's metadata name (``goc_features``), or Jr, Jz, Jphi,
            else every column of real numbers that is nothing else.
        penalty, truth : str, optional
            By default penalty or parallax_penalty; truth or true_cluster_id. ``"none"``: no column.
        missing : float, optional
            A candidate with this value in a feature is dropped; None switches it off.

        Examples
        --------
        >>> import goc
        >>> goc.Candidates.from_table({"object": [7, 7, 9], "x": [0.0, 1.0, -9999.0]})
        Traceback (most recent call last):
        ...
        ValueError: object 9 has no candidates left: all 1 have a missing feature
        """
        table = Table(table)
        name = table.named(object, OBJECT_NAMES)
        if name is None:
            raise ValueError(f"no column names the object; give object= (the table has {', '.join(table.names)})")
        penalty_name = table.named(penalty, PENALTY_NAMES)
        truth_name = table.named(truth, TRUTH_NAMES)
        if features is None:
            said = table.metadata().get("goc_features", "").split(",")
            features = said if all(name in table for name in said) else [table.like(action) for action in ACTIONS]
            if None in features:
                other = {name, penalty_name, truth_name, FROM_PRIOR, *CANDIDATE_NAMES, *PENALTY_NAMES, *TRUTH_NAMES}
                features = [c for c in table.names if c not in other and table.is_real(c)]
        features = [table.named(column, ()) for column in features]
        if not features:
            raise ValueError("the table has no column of real numbers to be a feature")
        values = np.column_stack([table.numbers(c) for c in features])
        kept = np.ones(len(values), bool) if missing is None else ~(values == missing).any(axis=1)
        objects = table.identifiers(name)
        ids, first, inverse = np.unique(objects, return_index=True, return_inverse=True)
        rank = np.empty(len(ids), np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(ids))
        place = rank[inverse.reshape(-1)]  # objects in the order of their first row
        rows = np.argsort(place, kind="stable")
        rows = rows[kept[rows]]
        counts = np.bincount(place[rows], minlength=len(ids))
        first.sort()
        if (counts == 0).any():
            lost = int(np.flatnonzero(counts == 0)[0])
            all_of_it = int((place == lost).sum())
            raise ValueError(f"object {objects[first[lost]]} has no candidates left: all {all_of_it} have a missing feature")
        truths = None
        if truth_name is not None:
            column = table.identifiers(truth_name)
            truths = column[first]
            contrary = np.flatnonzero(column != truths[place])
            if contrary.size:
                row = int(contrary[0])
                raise ValueError(f"row {row}: truth {column[row]} contradicts {truths[place[row]]} for the same object")
        drawn = np.isin(table.identifiers(FROM_PRIOR)[first].astype(str), ("1", "True", "true")) if FROM_PRIOR in table else None
        return cls(
            values[rows],
            np.concatenate([[0], np.cumsum(counts)]),
            None if penalty_name is None else table.numbers(penalty_name)[rows],
            ids=objects[first],
            features=[str(c) for c in features],
            truth=truths,
            metadata=table.metadata(None if penalty_name == PENALTY_NAMES[0] else "goc_penalty"),
            from_prior=drawn,
        )

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """The long table: columns object, candidate, the features, extras, penalty, from_prior and
        truth; one row per candidate.
        """
        counts = self.counts
        ids = np.arange(len(self)) if self.ids is None else self.ids
        names = self.features or tuple(f"x{f}" for f in range(self.n_features))
        columns: dict[str, NDArray[Any]] = {
            "object": np.repeat(ids, counts),
            "candidate": (np.arange(self.n_candidates) - np.repeat(self.offsets[:-1], counts)).astype(np.int32),
        }
        values, penalties = self.values, self.penalties
        columns.update((name, values[:, f]) for f, name in enumerate(names))
        columns.update(self.extras)
        if penalties is not None:
            columns["penalty"] = penalties
        if self.from_prior is not None:
            columns[FROM_PRIOR] = np.repeat(self.from_prior, counts)
        if self.truth is not None:
            columns["truth"] = np.repeat(self.truth, counts)
        return columns

    def to_pandas(self) -> Any:
        """The long table as a pandas DataFrame."""
        import pandas

        frame = pandas.DataFrame(self.to_dict())
        frame.attrs.update(self.metadata)
        return frame

    def to_arrow(self) -> Any:
        """The long table as a pyarrow Table."""
        import pyarrow

        table = pyarrow.table(self.to_dict())
        return table.replace_schema_metadata(self.metadata) if self.metadata else table


def _rebuilt(values: Any, offsets: Any, penalties: Any, rest: dict[str, Any]) -> Candidates:
    return Candidates(values, offsets, penalties, **rest)


def numbers(array: Any, what: str, dimensions: int) -> NDArray[np.float64]:
    """As contiguous float64, without a copy where it is that already."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what}")
    try:
        made = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what} cannot be taken as numbers: {error}") from None
    if array.ndim != dimensions:
        raise ValueError(f"{what} has {array.ndim} dimensions, but needs {dimensions}")
    return made


def _offsets(offsets: Any) -> NDArray[np.int64]:
    offsets = np.asarray(offsets)
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu":
        raise ValueError("offsets must be whole numbers in one dimension")
    return np.ascontiguousarray(offsets, dtype=np.int64)


def is_ragged(X: Any) -> bool:
    """Whether X is anything but a plain table with one row per object."""
    if isinstance(X, (Candidates, tuple)) or _is_arrow(X):
        return True
    if isinstance(X, list):
        return len(X) > 0 and np.ndim(X[0]) == 2
    return getattr(X, "ndim", 2) == 3


def check_dimensions(X: Any) -> None:
    """Says what X may be where it is an array of too few or too many dimensions."""
    dimensions = getattr(X, "ndim", None)
    if isinstance(X, list):
        try:
            dimensions = np.ndim(X)
        except ValueError:  # ragged in a way that numpy does not take; others say what is wrong
            return
    if dimensions in (0, 1):
        raise ValueError(
            f"X has {dimensions} dimension{'s' if dimensions == 0 else ''}; give (n, m, q), m candidates of q features for each of n "
            "objects, or (n, q), one candidate each. Reshape your data: X.reshape(-1, 1) has one feature, X.reshape(1, -1) one object"
        )
    if dimensions is not None and dimensions > 3:
        raise ValueError(
            f"X has {dimensions} dimensions; give (n, m, q), m candidates of q features for each of n objects, or a list of (m_i, q) "
            "arrays; features in several dimensions become one by X.reshape(n, m, -1)"
        )


def _is_arrow(X: Any) -> bool:
    if hasattr(X, "iloc"):  # a pandas table is one of points
        return False
    return hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__")


def ragged(X: Any) -> Candidates | tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Values and offsets of an X for which :func:`is_ragged` holds."""
    if isinstance(X, Candidates):
        return X
    if _is_arrow(X):
        return _from_arrow(X)
    if isinstance(X, tuple):
        if len(X) != 2:
            raise ValueError(f"X is a tuple of {len(X)}; as a tuple it must be (values, offsets)")
        return numbers(X[0], "values", 2), _offsets(X[1])
    if isinstance(X, list):
        sets = [numbers(own, f"object {i}", 2) for i, own in enumerate(X)]
        q = sets[0].shape[1]
        for i, own in enumerate(sets):
            if own.shape[1] != q:
                raise ValueError(f"object {i} has {own.shape[1]} features, object 0 has {q}")
        counts = [len(own) for own in sets]
        return np.concatenate(sets), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    X = numbers(X, "X", 3)
    n, m, q = X.shape
    return X.reshape(n * m, q), np.arange(n + 1, dtype=np.int64) * m


def arrays(X: Any, names: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64], Any]:
    """Values and offsets of any X, and what its features are called where that is not said."""
    if not is_ragged(X):
        values = numbers(X, "X", 2)
        return values, np.arange(len(values) + 1), names
    made = ragged(X)
    if isinstance(made, Candidates):
        return made.values, made.offsets, made.features if names is None else names
    return *made, names


def _from_arrow(X: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A list column: each object a list of lists (or fixed-size lists) of numbers."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("an Arrow column needs pyarrow: pip install pyarrow") from None

    if isinstance(X, (pyarrow.Array, pyarrow.ChunkedArray)):
        column = X
    elif hasattr(X, "__arrow_c_array__"):
        column = pyarrow.array(X)
    else:
        column = pyarrow.chunked_array(X)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pyarrow.ChunkedArray):  # no chunk at all
            column = pyarrow.concat_arrays(column.chunks) if column.num_chunks else pyarrow.array([], column.type)
    outer, inner = _flat(column, "object")
    per_candidate, plain = _flat(inner, "candidate")
    widths = np.diff(per_candidate)
    if widths.size == 0:
        raise ValueError("there are no objects")
    if (widths != widths[0]).any():
        j = int(np.flatnonzero(widths != widths[0])[0])
        i = int(np.searchsorted(outer, j, side="right")) - 1
        raise ValueError(
            f"object {i}, candidate {j - int(outer[i])} has {widths[j]} features, the first has {widths[0]}"
        )
    if plain.null_count:
        at = int(np.flatnonzero(plain.is_null().to_numpy(zero_copy_only=False))[0]) // int(widths[0])
        i = int(np.searchsorted(outer, at, side="right")) - 1
        raise ValueError(f"object {i}, candidate {at - int(outer[i])}: a feature is null")
    values = numbers(plain.to_numpy(zero_copy_only=False), "the Arrow column", 1)
    return values.reshape(-1, int(widths[0])), outer


def _flat(column: Any, what: str) -> tuple[NDArray[np.int64], Any]:
    """Offsets and contents of a list column of either kind."""
    import pyarrow

    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"{what} {at} of the Arrow column is null")
    kind = column.type
    if pyarrow.types.is_fixed_size_list(kind):
        return np.arange(len(column) + 1, dtype=np.int64) * kind.list_size, column.flatten()
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        counts = column.value_lengths().to_numpy(zero_copy_only=False)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), column.flatten()
    raise ValueError(f"the Arrow column is of {kind}; objects are lists of candidates, candidates lists of numbers")
