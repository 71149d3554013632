"""Keywords of earlier versions. They still work, with a FutureWarning that says what to write
instead.

Methods used to take the settings of their oracle themselves (``oracle="linkage", linkage="ward"``);
now the oracle is an object that has them (``oracle=goc.Linkage(linkage="ward")``). Oracles and
methods without one used to call scikit-learn's ``n_init`` and ``max_iter`` ``oracle_starts`` and
``oracle_iterations``.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from ._settings import BY_NAME

# Settings of oracles that methods used to have.
OF_ORACLES = ("oracle_starts", "oracle_iterations", "algorithm", "seeding", "linkage", "preference", "bandwidth", "min_cluster_size")


def renewed(cls: Any, values: Mapping[str, Any], old: Mapping[str, Any], oracles: Mapping[str, type], stacklevel: int = 3) -> dict[str, Any]:
    """The keywords, with their values, that say what the `old` ones said beside those that `cls`
    has (`values`).
    """
    told: dict[str, Any] = {}
    flags, idle = {}, []
    for name, value in old.items():
        if name in cls._renamed:
            new, words = cls._renamed[name]
            told[new] = (words or {}).get(value, value)
            _warn(f"{name} is deprecated in {cls.__name__}: write {new}={told[new]!r}", stacklevel)
        elif name in cls._idle:
            idle.append(name)
        else:
            flags[name] = value
    if idle:
        _warn(f"{_listed(idle)} deprecated in {cls.__name__}, where it never did anything: leave it out", stacklevel)
    if flags:
        oracle = _equipped(values["oracle"], flags, oracles)
        if oracle is None:
            _warn(f"{_listed(flags)} deprecated in {cls.__name__} and no setting of oracle={values['oracle']!r}: leave it out", stacklevel)
        else:
            told["oracle"] = oracle
            _warn(f"{_listed(flags)} deprecated in {cls.__name__}: write oracle=goc.{oracle!r}", stacklevel)
    return told


def _equipped(oracle: Any, flags: Mapping[str, Any], oracles: Mapping[str, type]) -> Any:
    """The oracle as an object that has those of the flags that it knows; None if it knows none of
    them.
    """
    if isinstance(oracle, str) and oracle in oracles:
        made = oracles[oracle]()
    elif type(oracle) in oracles.values():
        made = clone(oracle)
    else:
        return None
    known = {}
    for name, value in flags.items():
        new, words = type(made)._renamed.get(name, (name, None))
        if new in made._keywords and made._keywords[new].setting is BY_NAME[name]:
            known[new] = (words or {}).get(value, value)
    return made.set_params(**known) if known else None


def _listed(names: Any) -> str:
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


def _warn(text: str, stacklevel: int) -> None:
    warnings.warn(text, FutureWarning, stacklevel=stacklevel + 1)
