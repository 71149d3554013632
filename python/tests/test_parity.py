"""Both doors have every setting of the library's list, with the same default and the same bytes.

The list is `_goc.settings()`: a new setting is tested here without a line being written, as long as
some method below uses it.
"""

import inspect
import json
import re

import numpy as np
import pyarrow.parquet as parquet
import pytest

import goc
from goc import _goc
from goc._estimators import METHODS, ORACLES
from goc._settings import BY_NAME

SETTINGS = [told for told in _goc.settings() if told["name"] != "method"]
ESTIMATORS = {**METHODS, **ORACLES}
# What both are told so that a setting matters: the estimator, and other keywords of it. Others are
# tried on GOC.
WITH = {
    "k_by": ("GreedyOptimisticClustering", {"n_clusters": "auto"}),
    "oracle": ("UKMeans", {}),
    "reading": ("GreedyPessimisticClustering", {}),
    "set_distance": ("SetLinkage", {}),
    "box_distance": ("BoxKMeans", {}),
    "worlds": ("PossibleWorlds", {}),
    "least_members": ("SignificantLinkage", {}),
    "min_points": ("FDBSCAN", {}),
    "eps": ("FDBSCAN", {}),
    "penalty_strength": ("MarginalMixture", {"keep": 6}),
    "chains": ("MarginalMixture", {"keep": 6}),
    "burn": ("MarginalMixture", {"keep": 6}),
    "keep": ("MarginalMixture", {}),
    **dict.fromkeys(("field_prior", "alpha", "power", "singleton_weight", "nu"), ("MarginalMixture", {"keep": 6})),
    "background": ("UKMeans", {"significance": 3}),
    "fdr": ("UKMeans", {"noise": True, "significance": 3}),
}
# Of an oracle, by the class that has it; the method is UK-means.
OF_ORACLE = {
    "oracle_starts": "KMeans",
    "oracle_iterations": "KMeans",
    "oracle_tolerance": "ConvexClustering",
    "oracle_distance": "KMedoids",
    "algorithm": "KMeans",
    "seeding": "KMeans",
    "linkage": "Linkage",
    "preference": "Affinity",
    "damping": "Affinity",
    "bandwidth": "MeanShift",
    "min_cluster_size": "HDBSCAN",
    "min_samples": "HDBSCAN",
}
# Numbers that are not the default and mean something.
NUMBERS = {"lambda": 0.3, "tolerance": 0.2, "preference": 0.2, "damping": 0.7, "bandwidth": 0.8, "eps": 0.4, "penalty_strength": 1.3,
           "fdr": 0.4, "oracle_tolerance": 0.01, "trim": 0.2,
           "field_prior": 0.2, "alpha": 2.5, "power": 0.7, "singleton_weight": 3.0, "nu": 8}  # fmt: skip


def other(told):
    """A value that is not the default."""
    name, kind = told["name"], told["kind"]
    if kind == "word":
        return next(word for word in told["words"] if word != told["default"])
    if kind == "flag":
        return not told["default"]
    if name in NUMBERS:
        return NUMBERS[name]
    assert kind in ("count", "whole", "count or auto"), f"give {name} a number that is not its default"
    return {None: 3}.get(told["default"], (told["default"] or 0) + 2)


@pytest.fixture(scope="module")
def candidates(command, tmp_path_factory):
    path = tmp_path_factory.mktemp("parity") / "candidates.parquet"
    command("simulate", "--seed", 3, "--dwarfs", 6, "--stars", 4, "-m", 9, "-o", path)
    return path


def keywords(name):
    """Every class and keyword that stands for a setting."""
    own = [(cls, word, known) for cls in ESTIMATORS.values() for word, known in cls._keywords.items()]
    return [(cls, word, known) for cls, word, known in own if known.setting.name == name]


@pytest.mark.parametrize("told", SETTINGS, ids=lambda told: told["name"])
def test_every_setting_has_a_flag_and_a_keyword_with_one_default(told, command):
    text = command("cluster", "--help")
    assert f"--{told['flag']}" in text
    own = keywords(told["name"])
    assert own, f"no estimator has {told['python']}"
    flag = text.split(f"\n      --{told['flag']} ")[-1].split("\n      --")[0]
    number = f"{told['default']:g}" if isinstance(told["default"], float) else told["default"]
    if told["default"] is not None and told["kind"] not in ("flag",) and told["name"] not in ("scale", "feature_map"):
        assert f"[default: {number}]" in " ".join(flag.split()), flag
    # Where a class has a default of its own, it is the library's for its method.
    theirs = {method: {e["name"]: e["default"] for e in _goc.settings(method)} for method in {cls._method for cls, _, _ in own}}
    for cls, word, known in own:
        if told["name"] == "k":
            continue  # 8, scikit-learn's: the command has none
        wanted = BY_NAME["penalty_scale"].default if told["name"] == "penalty_scale" else theirs[cls._method][told["name"]]
        given = known.words.get(known.default, known.default) if known.words else known.default
        assert given == wanted, f"{cls.__name__}({word}={known.default!r})"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("told", SETTINGS, ids=lambda told: told["name"])
def test_a_setting_that_is_not_the_default_gives_the_same_labels(told, command, candidates, tmp_path):
    name, value = told["name"], other(told)
    cls, rest = WITH.get(name, ("UKMeans" if name in OF_ORACLE else "GreedyOptimisticClustering", {}))
    estimator = ESTIMATORS[cls]().set_params(**rest)
    if "n_clusters" in estimator.get_params() and "n_clusters" not in rest:
        estimator.set_params(n_clusters=5)
    spoken = {True: "max", False: "none"}.get(value, value) if name == "penalty_scale" else value
    flags = ["--method", estimator._method]
    if name in OF_ORACLE:
        oracle = ESTIMATORS[OF_ORACLE[name]]
        word, known = next((word, known) for _, word, known in keywords(name) if word in oracle._keywords)
        spelt = {ours: word for word, ours in (known.words or {}).items()}
        estimator.set_params(oracle=oracle().set_params(**{word: spelt.get(value, value)}))
        flags += ["--oracle", oracle._oracle]
    else:
        word = next(word for cls, word, _ in keywords(name) if isinstance(estimator, cls))
        estimator.set_params(**{word: not told["default"] if name == "penalty_scale" else value})
    if name == "penalty_scale":
        estimator.set_params(scale_penalties=False)
        spoken = "none"
    flags += [f"--{told['flag']}"] if spoken is True else [f"--{told['flag']}", spoken]
    for keyword, given in rest.items():
        setting = estimator._keywords[keyword].setting
        flag = next(t["flag"] for t in SETTINGS if t["name"] == setting.name)
        flags += [f"--{flag}"] if given is True else [f"--{flag}", given]
    if "n_clusters" in estimator.get_params() and "n_clusters" not in rest and name != "k":
        flags += ["--k", 5]
    out = tmp_path / "labels.parquet"
    summary = json.loads(command("cluster", candidates, *flags, "-o", out, "--json"))
    theirs = parquet.read_table(out)["label"].to_numpy()
    found = estimator.fit(goc.Candidates.from_table(parquet.read_table(candidates)))
    if (theirs < 0).any():
        _, theirs = np.unique(theirs, return_inverse=True)
        theirs = theirs - 1
    np.testing.assert_array_equal(found.labels_, theirs)
    if summary["objective"] is not None:
        assert found.objective_ == summary["objective"]


@pytest.mark.parametrize("door", ["stars", "candidates"])
def test_both_doors_have_every_space_with_one_default(door, command):
    said = command(door, "--help").split("\n      --space ")[1].split("\n      --")[0]
    words = re.findall(r"^ +- (\w+): ", said, flags=re.MULTILINE)
    assert words == list(_goc.star_spaces()) and "[default: actions]" in said
    assert inspect.signature(goc.from_gaia).parameters["space"].default == words[0] == "actions"
    assert all(f'"{word}"' in goc.from_gaia.__doc__ for word in words)
