"""Every setting of a fit: its names, default, allowed values and description.

The list is the library's own (``_goc.settings()``), from which the command's flags are made too:
the estimators take their keywords, defaults, checks and documentation from it, so a setting is
described in one place only.

An entry has the keys

name     what `_goc.fit` calls the setting
python   what the estimators call it; where scikit-learn has a name, that one
flag     what the command calls it
default  None: the method, the preset or the oracle chooses
help     one or two sentences
kind     count (whole, at least 1), whole (at least 0), number, flag, word, text, labels; with " or auto" where it can be found
words    for a word: all there are
"""

from __future__ import annotations

import numbers as number_types
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _goc


def _is_whole(value: Any) -> bool:
    return isinstance(value, number_types.Integral) and not isinstance(value, bool)


def _entry(told: dict[str, Any]) -> dict[str, Any]:
    """An entry of the library's list as Python has it."""
    help = re.sub(r" \[default: (.*)\]$", r"; by default \1", told["help"])
    told = told | {"help": f"{help}.", "words": None if told["words"] is None else tuple(told["words"])}
    return told | _HERE.get(told["name"], {})


# What only Python can be told, or says otherwise.
_HERE: dict[str, dict[str, Any]] = {
    "oracle": {
        "kind": "text",
        "words": None,
        "help": "The clusterer of plain points, run on one point per object: a name, an estimator of this package such as goc.KMeans(n_init=10), a function "
        "``(points, k, seed) -> labels``, or a clusterer of scikit-learn. Names: k-means, k-medoids, gmm-diag, mclust-eii, mclust-vii, "
        "mclust-vvv, linkage, affinity, mean-shift, spectral, convex, hdbscan.",
    },
    "penalty_scale": {"kind": "flag", "words": None, "default": True, "help": "Divide the penalties by the largest."},
    "k": {"help": 'Initial number of clusters; "auto" finds it, by `k_by`.'},
}
_LABELS = {"name": "initial_labels", "python": "initial_labels", "flag": "init-labels", "default": None, "help": "Initial labels in place of the first clustering.",
           "kind": "labels", "words": None}  # fmt: skip

SETTINGS: list[dict[str, Any]] = [*(_entry(told) for told in _goc.settings() if told["name"] != "method"), _LABELS]


def own_default(method: str, name: str) -> Any:
    """The default of a setting where the method has one of its own."""
    return next(told["default"] for told in _goc.settings(method) if told["name"] == name)


@dataclass(frozen=True)
class Setting:
    name: str
    python: str
    flag: str | None
    default: Any
    help: str
    kind: str
    words: tuple[str, ...] | None

    def check(self, keyword: str, value: Any) -> None:
        """That `value` is one that the setting, called `keyword`, may have."""
        if value is None and self.default is None:
            return
        kind = self.kind.removesuffix(" or auto")
        if kind != self.kind and isinstance(value, str) and value == "auto":
            return
        wanted = "a number or 'auto'" if kind != self.kind else None
        if kind in ("count", "whole"):
            least = int(kind == "count")
            if not _is_whole(value):
                raise ValueError(f"{keyword} is {value!r}, but must be {wanted or f'a whole number of at least {least}'}")
            if value < least:
                raise ValueError(f"{keyword} is {value!r}, but must be a whole number of at least {least}")
        elif kind == "number":
            if not isinstance(value, number_types.Real) or (wanted and isinstance(value, bool)):
                raise ValueError(f"{keyword} is {value!r}, but must be {wanted or 'a number'}")
        elif kind == "word" and self.words is not None and value not in self.words:
            raise ValueError(f"{keyword}={value!r} is not known; give one of {', '.join(self.words)}")


BY_NAME: dict[str, Setting] = {entry["name"]: Setting(**entry) for entry in SETTINGS}
DEFAULTS: dict[str, Any] = {name: setting.default for name, setting in BY_NAME.items()}
# By what the estimators call them. Two that share a name are a method's own and its oracle's; the
# method's come first.
BY_KEYWORD: dict[str, Setting] = {setting.python: setting for setting in reversed(BY_NAME.values())}


@dataclass(frozen=True)
class Keyword:
    """A keyword of an estimator: the setting it stands for, and what differs from that setting
    here.
    """

    setting: Setting
    default: Any
    says: str
    # What scikit-learn calls a word otherwise than the library.
    words: Mapping[str, str] | None = None

    def value(self, keyword: str, given: Any) -> Any:
        """What the compiled part is told."""
        if self.words and given is not self.default:
            if not isinstance(given, str):
                raise ValueError(f"{keyword} is of type {type(given).__name__}; give one of {', '.join(self.words)}")
            if given not in self.words and given not in self.words.values():
                raise ValueError(f"{keyword}={given!r} is not known; give one of {', '.join(self.words)}")
        if self.words and isinstance(given, str):
            given = self.words.get(given, given)
        self.setting.check(keyword, given)
        return given

    def documentation(self, keyword: str) -> str:
        """The entry of a docstring."""
        kind = self.setting.kind.removesuffix(" or auto")
        names = {"count": "int", "whole": "int", "number": "float", "flag": "bool", "labels": "array of n whole numbers",
                 "text": "str, estimator or callable"}  # fmt: skip
        what = names.get(kind) or "{" + ", ".join(f'"{word}"' for word in self.words or self.setting.words or ()) + "}"
        if kind != self.setting.kind:
            what += ' or "auto"'
        usual = f'"{self.default}"' if isinstance(self.default, str) else self.default
        head = f"{keyword} : {what}, " + ("optional" if self.default is None else f"default {usual}")
        said = textwrap.wrap(self.says, 122, break_long_words=False, break_on_hyphens=False)
        return "\n".join([head, *(f"        {line}" for line in said)])


def keyword(name: str, of: str | None = None, says: str | None = None, words: Mapping[str, str] | None = None, **default: Any) -> Keyword:
    """The keyword `name`, of the setting `of` if not of its own; ``default=`` where it differs."""
    setting = BY_KEYWORD[name] if of is None else BY_NAME[of]
    usual = default.get("default", setting.default)
    if words and "default" not in default:
        usual = next((ours for ours, theirs in words.items() if theirs == usual), usual)
    return Keyword(setting, usual, says or setting.help, words)
