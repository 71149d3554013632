"""A linkage table in Newick format, character for character as the library writes it (`goc::optimistic::hierarchy::newick`)."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

# What may stand in a name without quotes, beside letters and digits.
_BARE = frozenset("-+.|/#*")


def newick(tree: NDArray[np.float64], names: Sequence[Any]) -> str:
    """The tree of a linkage table; `names` are those of the leaves.

    The length of a branch is the height of its upper end less that of its lower end, leaves at height 0.

    >>> newick(np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 2.0, 3.0]]), ["a", "b's (2)", "c"])
    "(c:2,(a:0.5,'b''s (2)':0.5):1.5);"
    """
    rows = np.asarray(tree, dtype=np.float64).reshape(-1, 4)
    leaves = len(rows) + 1
    names = [str(name) for name in names]
    if len(names) != leaves:
        raise ValueError(f"{len(names)} names for a tree of {leaves} leaves")
    heights = np.concatenate([np.zeros(leaves), rows[:, 2]])
    text: list[str] = []
    # A list of what is still to be written instead of recursion: a chain is as deep as it has leaves.
    todo: list[Any] = [";", (leaves + len(rows) - 1, None)]
    while todo:
        following = todo.pop()
        if isinstance(following, str):
            text.append(following)
            continue
        at, above = following
        if above is not None:
            # Digits as Rust shows a number: the fewest that tell it, without an exponent.
            todo.append(":" + np.format_float_positional(above - heights[at], trim="-"))
        if at < leaves:
            text.append(_quoted(names[at]))
            continue
        first, second = (int(part) for part in rows[at - leaves, :2])
        text.append("(")
        todo += [")", (second, heights[at]), ",", (first, heights[at])]
    return "".join(text)


def _quoted(name: str) -> str:
    """A name as Newick wants it: bare if it is made of harmless characters only."""
    if name and all(c.isalnum() or c in _BARE for c in name):
        return name
    return "'" + name.replace("'", "''") + "'"
