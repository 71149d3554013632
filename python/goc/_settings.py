"""Every setting of a fit, once: what it is called, its default, what it may be and what it does.

The estimators take their keywords, defaults, checks and documentation from this list, so a setting is described in one place only. It has
the form in which the compiled part will tell it (``_goc.settings()``, the library's own list): then `SETTINGS` becomes that call.

An entry has the keys

name     what `_goc.fit` calls the setting
python   what the estimators call it; where scikit-learn has a name, that one
default  None: the method, the preset or the oracle chooses
help     one or two sentences
kind     count (whole, at least 1), whole (at least 0), number, flag, word, text, labels; with " or auto" where it can be found
words    for a word: all there are
"""

from __future__ import annotations

import numbers as number_types
import textwrap
from dataclasses import dataclass
from typing import Any, Mapping


def _is_whole(value: Any) -> bool:
    return isinstance(value, number_types.Integral) and not isinstance(value, bool)


def _entry(name: str, python: str, default: Any, kind: str, help: str, words: tuple[str, ...] | None = None) -> dict[str, Any]:
    return {"name": name, "python": python, "default": default, "help": help, "kind": kind, "words": words}


SETTINGS: list[dict[str, Any]] = [
    _entry("oracle", "oracle", "k-means", "text",
           "What clusters one point per object: a name, an estimator of this package such as goc.KMeans(n_init=10), a function "
           "``(points, k, seed) -> labels``, or a clusterer of scikit-learn. Names: k-means, k-medoids, gmm-diag, mclust-eii, mclust-vii, "
           "mclust-vvv, linkage, affinity, mean-shift, spectral, convex, hdbscan."),
    _entry("preset", "preset", "paper", "word", "What the paper says, or what the authors' code does.", ("paper", "authors")),
    _entry("k", "n_clusters", None, "count or auto", 'Number of clusters to begin with; "auto" finds it, by `k_by`.'),
    _entry("k_by", "k_by", "marginal", "word", 'How "auto" chooses.', ("marginal", "silhouette", "bic", "icl", "stability")),
    _entry("penalty_weight", "penalty_weight", 0.01, "number or auto", "The weight of the penalties (lambda)."),
    _entry("scale_penalties", "scale_penalties", True, "flag", "Divide the penalties by the largest."),
    _entry("scale", "scale", "standard", "word",
           "How features are made comparable before distances are taken. Results are in the units of X.", ("standard", "robust", "none")),
    _entry("feature_map", "feature_map", "none", "word",
           "Square roots of the features Jr and Jz, in which groups of stars are round; auto: where the features have those names.",
           ("auto", "actions", "none")),
    _entry("distance", "distance", None, "word", "Distance of step (III); overrides the preset.",
           ("squared", "euclidean", "euclidean-f32")),
    _entry("k_rule", "k_rule", None, "word", "How K follows from the clusters before; overrides the preset.",
           ("constant", "occupied", "plural")),
    _entry("oracle_every", "oracle_every", None, "word", "When the oracle is used; overrides the preset.", ("first", "always")),
    _entry("begin", "begin", None, "word", "First representative of each object; overrides the preset.", ("mean", "nearest-to-mean")),
    _entry("initial_labels", "initial_labels", None, "labels", "Replaces the first clustering."),
    _entry("starts", "n_init", 1, "count", "Keep the best joint objective of so many starts."),
    _entry("swaps", "swaps", 0, "whole", "Then try so many swap moves."),
    _entry("search", "search", None, "word", 'Search for a better minimum; thorough with n_clusters="auto".', ("plain", "thorough")),
    _entry("tolerance", "tol", 0.0, "number", "Stop once no more than this share of the objects change."),
    _entry("max_iter", "max_iter", 200, "count", "Iterations at most."),
    _entry("oracle_starts", "n_init", None, "count", "Starts of the oracle, of which the best is kept."),
    _entry("oracle_iterations", "max_iter", None, "count", "Iterations of the oracle at most."),
    _entry("oracle_tolerance", "tol", None, "number", "The oracle stops once an iteration gains less than this."),
    _entry("algorithm", "algorithm", "hartigan-wong", "word", "How k-means descends.", ("hartigan-wong", "lloyd")),
    _entry("seeding", "init", "random", "word", "How k-means draws its starts.", ("random", "plus-plus")),
    _entry("oracle_distance", "metric", "euclidean", "word", "The distance that k-medoids adds up.", ("euclidean", "sqeuclidean")),
    _entry("linkage", "linkage", "average", "word", "How clusters are joined.",
           ("single", "complete", "average", "weighted", "ward", "centroid", "median")),
    _entry("preference", "preference", 0.5, "number", "Preference of affinity propagation: this quantile of the similarities."),
    _entry("damping", "damping", 0.9, "number", "How much of the last messages affinity propagation keeps, from 0.5 to below 1."),
    _entry("bandwidth", "bandwidth", None, "number", "Bandwidth of mean shift, in scaled features; by scikit-learn's rule if not given."),
    _entry("min_cluster_size", "min_cluster_size", 5, "count", "Least members of a cluster."),
    _entry("min_samples", "min_samples", None, "count",
           "Neighbours, the point itself among them, that make a place dense; as many as min_cluster_size if not given."),
    _entry("reading", "reading", "min-max", "word", "What pessimism maximises.", ("min-max", "max-max")),
    _entry("set_distance", "set_distance", "s2", "word", "Distance between sets.", ("s1", "s2", "s3", "hausdorff", "kl", "kl-kernel")),
    _entry("box_distance", "box_distance", "min", "word", "Which point of a box counts.", ("min", "max")),
    _entry("worlds", "worlds", 100, "count", "Worlds that are sampled."),
    _entry("min_points", "min_points", 3, "count", "Objects within eps that make a core object."),
    _entry("eps", "eps", None, "number", "Radius, in scaled features; by a rule if not given."),
    _entry("strength", "strength", None, "number",
           "What a penalty of 1 costs in log likelihood. By default what makes the penalties of :func:`goc.from_gaia` and "
           ":func:`goc.propagate` a likelihood; else 2, which does so for the paper's."),
    _entry("chains", "chains", 4, "count", "Chains."),
    _entry("burn", "burn", 40, "whole", "Sweeps of each chain before draws are kept."),
    _entry("keep", "keep", 140, "count", "Draws kept of each chain."),
    _entry("stability", "stability", None, "count",
           "Repeat the method so many times each with other seeds, with resampled candidates and with resampled objects: `stability_` "
           "and `cluster_stability_` say what comes back."),
    _entry("significance", "significance", None, "count",
           "Run the method on so many backgrounds without groups: `p_values_` and `q_values_` of the clusters, `log_odds_` of the objects."),
    _entry("background", "background", "smooth", "word", "How a background without groups is made.", ("smooth", "shuffled")),
    _entry("noise", "noise", False, "flag",
           "Label -1 for objects in no group: by significance (20 backgrounds unless `significance` says otherwise)."),
    _entry("fdr", "fdr", 0.05, "number", "False-discovery rate at which a cluster is significant."),
]  # fmt: skip

# What the compiled part cannot be told yet: anything but the default is refused rather than passed over.
WAITING = {"oracle_tolerance", "oracle_distance", "damping", "min_samples"}


@dataclass(frozen=True)
class Setting:
    name: str
    python: str
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
        elif kind == "word" and value not in self.words:
            raise ValueError(f"{keyword}={value!r} is not known; give one of {', '.join(self.words)}")
        if self.name in WAITING and value != self.default:
            raise ValueError(f"{keyword}={value!r} is not known to the compiled part of this installation; leave it at {self.default!r}")


BY_NAME: dict[str, Setting] = {entry["name"]: Setting(**entry) for entry in SETTINGS}
DEFAULTS: dict[str, Any] = {name: setting.default for name, setting in BY_NAME.items()}
# By what the estimators call them. Two that share a name are a method's own and its oracle's; the method's come first.
BY_KEYWORD: dict[str, Setting] = {setting.python: setting for setting in reversed(BY_NAME.values())}


@dataclass(frozen=True)
class Keyword:
    """A keyword of an estimator: the setting it stands for, and what differs from that setting here."""

    setting: Setting
    default: Any
    says: str
    # What scikit-learn calls a word otherwise than the library.
    words: Mapping[str, str] | None = None

    def value(self, keyword: str, given: Any) -> Any:
        """What the compiled part is told."""
        if self.words and isinstance(given, str):
            if given not in self.words and given not in self.words.values():
                raise ValueError(f"{keyword}={given!r} is not known; give one of {', '.join(self.words)}")
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
