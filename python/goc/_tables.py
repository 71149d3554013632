"""Tables of any kind, column by column: pandas, pyarrow, astropy, structured arrays, mappings. None
of these libraries is required.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Table:
    """Columns by name, whatever the table is made of."""

    def __init__(self, table: Any) -> None:
        if isinstance(table, Table):
            table = table._table
        self._table: Any = table
        if hasattr(table, "colnames"):  # astropy
            names = list(table.colnames)
        elif hasattr(table, "column_names"):  # pyarrow, polars' old name
            names = list(table.column_names)
        elif isinstance(table, np.ndarray) and table.dtype.names:
            names = list(table.dtype.names)
        elif hasattr(table, "columns"):  # pandas, polars
            names = [str(name) for name in table.columns]
        elif hasattr(table, "keys"):
            names = [str(name) for name in table.keys()]
        else:
            raise ValueError(f"{type(table).__name__} is not a table: give pandas, pyarrow, astropy, or a mapping of columns")
        self.names: list[str] = names

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def __len__(self) -> int:
        return len(self._table[self.names[0]]) if self.names else 0

    def metadata(self, but: str | None = None) -> dict[str, str]:
        """What the table says of its making under keys of goc, where tables of its make can say
        something.
        """
        said: Any
        if hasattr(self._table, "schema") and hasattr(self._table.schema, "metadata"):  # pyarrow
            said = {key.decode(): value.decode() for key, value in (self._table.schema.metadata or {}).items() if key[:4] == b"goc_"}
        else:
            said = getattr(self._table, "meta", None) or getattr(self._table, "attrs", None)  # astropy, pandas
        if not hasattr(said, "items"):
            return {}
        # Headers of FITS are in capitals.
        own = {str(key).lower(): str(value) for key, value in said.items()}
        return {key: value for key, value in own.items() if key.startswith("goc_") and key != but}

    def named(self, given: str | None, usual: Sequence[str]) -> str | None:
        """The column that was named (``"none"``: no column), or the first of the usual names that
        is there.
        """
        if given == "none":
            return None
        if given is not None:
            if given not in self:
                raise ValueError(f"no column `{given}`; the table has {', '.join(self.names)}")
            return given
        return next((name for name in usual if name in self), None)

    def like(self, name: str) -> str | None:
        """The column of this name, or one that differs in case only."""
        if name in self:
            return name
        return next((own for own in self.names if own.lower() == name.lower()), None)

    def is_real(self, name: str) -> bool:
        return np.asarray(self._plain(name)).dtype.kind == "f"

    def _plain(self, name: str) -> Any:
        """The column as numpy has it."""
        column = self._table[name]
        if hasattr(column, "to_value"):  # an astropy Quantity
            return column.value
        return column.to_numpy() if hasattr(column, "to_numpy") else column

    def unit(self, name: str) -> str | None:
        """The unit that the column names, as text."""
        if hasattr(self._table, "schema") and hasattr(self._table.schema, "field"):  # pyarrow: as goc writes Parquet
            said = (self._table.schema.field(name).metadata or {}).get(b"unit")
            return None if said is None else said.decode()
        unit = getattr(self._table[name], "unit", None)
        return None if unit is None else str(unit)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """The column as float64, NaN where it is null."""
        plain = self._plain(name)
        if isinstance(plain, np.ma.MaskedArray):
            plain = np.ma.filled(plain.astype(np.float64), np.nan)
        plain = np.asarray(plain)
        if plain.dtype == object:
            plain = np.array([np.nan if _is_null(v) else v for v in plain])
        try:
            return np.ascontiguousarray(plain, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"column `{name}` is not made of numbers") from None

    def identifiers(self, name: str) -> NDArray[Any]:
        """The column as whole numbers, or as text."""
        plain = np.asarray(self._plain(name))
        whole = plain.dtype.kind == "f" and np.isfinite(plain).all() and (plain == np.floor(plain)).all()
        if plain.dtype.kind in "iub" or whole:
            return plain.astype(np.int64)
        if plain.dtype.kind == "S":
            return np.char.decode(plain, "utf-8")
        if plain.dtype.kind in "UOT":
            null = [row for row, v in enumerate(plain) if _is_null(v)]
            if null:
                raise ValueError(f"column `{name}`, row {null[0]}: null where an object is named")
            return np.array([str(v) for v in plain])
        raise ValueError(f"column `{name}` names objects neither by whole numbers nor by text")


def _is_null(value: Any) -> bool:
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
