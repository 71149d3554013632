"""Writes goc/__init__.pyi: the estimators are made from tables, which type checkers cannot run.

    python make_stubs.py            # after a change of the tables; a test compares
"""

import inspect
from pathlib import Path

import goc
from goc._base import COMMON, PredictsByMeans
from goc._estimators import METHODS, ORACLES

HEAD = '''# Made by make_stubs.py; do not edit.
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import UncertainClusterer
from ._candidates import Candidates as Candidates
from ._compare import compare as compare
from ._oracle_estimators import OracleEstimator
from ._stars import from_gaia as from_gaia
from .uncertainty import propagate as propagate

__version__: str
'''

# What a setting of a kind may be.
KINDS = {"count": "int", "whole": "int", "number": "float", "flag": "bool", "word": "str", "text": "Any", "labels": "Any"}
COMMON_KINDS = {"random_state": "Any", "n_jobs": "int | None", "verbose": "int"}
NUMBERS, WHOLE = "NDArray[np.float64]", "NDArray[np.int64]"
POSTERIOR = {
    "alone_": NUMBERS, "runner_up_": WHOLE, "runner_up_probability_": NUMBERS, "k_posterior_": "NDArray[Any]", "together_": "Any",
    "candidate_probabilities_": NUMBERS, "agreement_": "float", "effective_draws_": "float",
}  # fmt: skip
OF_ORACLES = {
    "n_iter_": "int", "cluster_centers_": NUMBERS, "medoid_indices_": WHOLE, "inertia_": "float",
}  # fmt: skip


def hint(cls: type, name: str) -> str:
    if name in COMMON:
        return COMMON_KINDS[name]
    setting, default = cls._keywords[name].setting, cls._keywords[name].default
    kind = KINDS[setting.kind.removesuffix(" or auto")]
    if setting.kind.endswith(" or auto"):
        kind += " | str"
    return kind if default is not None or kind == "Any" else f"{kind} | None"


def signature(cls: type, method: str) -> list[str]:
    """The parameters of a method that is not made from a table, as they stand in the source."""
    parameters, starred = ["self"], False
    for name, p in list(inspect.signature(getattr(cls, method)).parameters.items())[1:]:
        if p.kind is p.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        kind = "Sequence[Any] | None" if name == "ids" else "Any"
        parameters.append(f"{name}: {kind}" + ("" if p.default is p.empty else " = ..."))
    return parameters


def stub(cls: type) -> str:
    oracle = cls.__name__ in ORACLES
    lines = [f"\nclass {cls.__name__}({'OracleEstimator' if oracle else 'UncertainClusterer'}):"]
    parameters, starred = ["self"], False
    for name, p in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if p.kind is p.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        parameters.append(f"{name}: {hint(cls, name)} = ...")
    lines.append("    def __init__(")
    lines += [f"        {p}," for p in parameters]
    lines.append("    ) -> None: ...")
    lines.append(f"    def fit({', '.join(signature(cls, 'fit'))}) -> Self: ...")
    if hasattr(cls, "predict"):
        more = "" if issubclass(cls, PredictsByMeans) else ", penalty: Any = ..., weight: Any = ..."
        lines.append(f"    def predict(self, X: Any{more}) -> {WHOLE}: ...")
    if hasattr(cls, "predict_confidence"):
        lines.append(f"    def predict_confidence(self, X: Any, penalty: Any = ..., weight: Any = ...) -> tuple[{NUMBERS}, {NUMBERS}]: ...")
        lines += [f"    {name}: {kind}" for name, kind in POSTERIOR.items()]
    if hasattr(cls, "newick"):
        lines.append(f"    def newick({', '.join(signature(cls, 'newick'))}) -> str: ...")
        lines.append(f"    tree_: {NUMBERS} | None")
    if oracle:  # what methods find stands in their base
        lines += [f"    {name}: {kind}" for name, kind in OF_ORACLES.items() if f"    {name} :" in cls.__doc__]
    return "\n".join(lines) + "\n"


def text() -> str:
    return HEAD + "".join(stub(cls) for cls in (*METHODS.values(), *ORACLES.values()))


if __name__ == "__main__":
    Path(goc.__file__).with_name("__init__.pyi").write_text(text())
