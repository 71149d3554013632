"""Writes goc/__init__.pyi: the estimators are made from a table, which type checkers cannot run.

    python make_stubs.py            # after a change of the table; a test compares
"""

import inspect
from pathlib import Path

import goc
from goc._base import PredictsByMeans, Weightable
from goc._estimators import METHODS, ORACLES

HEAD = '''# Made by make_stubs.py; do not edit.
from typing import Any

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import UncertainClusterer
from ._candidates import Candidates as Candidates
from ._stars import from_gaia as from_gaia
from .uncertainty import propagate as propagate

__version__: str
'''

# What a setting may be; the rest follow from their defaults.
WIDER = {
    "n_clusters": "int | str", "penalty_weight": "float | str", "oracle": "Any", "initial_labels": "Any", "random_state": "Any",
    "n_jobs": "int | None", "bandwidth": "float | None", "eps": "float | None", "strength": "float | None", "oracle_starts": "int | None",
    "oracle_iterations": "int | None",
}  # fmt: skip


def hint(name: str, default: object) -> str:
    return WIDER.get(name) or ("str | None" if default is None else type(default).__name__)


def stub(cls: type) -> str:
    lines = [f"\nclass {cls.__name__}(UncertainClusterer):"]
    parameters, starred = ["self"], False
    for name, p in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if p.kind is p.KEYWORD_ONLY and not starred:
            parameters.append("*")
            starred = True
        parameters.append(f"{name}: {hint(name, p.default)} = ...")
    lines.append("    def __init__(")
    lines += [f"        {p}," for p in parameters]
    lines.append("    ) -> None: ...")
    weights = ", sample_weight: Any = ..." if issubclass(cls, Weightable) else ""
    lines.append(f"    def fit(self, X: Any, y: Any = ..., penalty: Any = ..., weight: Any = ...{weights}) -> Self: ...")
    if hasattr(cls, "predict"):
        more = "" if issubclass(cls, PredictsByMeans) else ", penalty: Any = ..., weight: Any = ..."
        lines.append(f"    def predict(self, X: Any{more}) -> NDArray[np.int64]: ...")
    if hasattr(cls, "predict_confidence"):
        pair = "tuple[NDArray[np.float64], NDArray[np.float64]]"
        lines.append(f"    def predict_confidence(self, X: Any, penalty: Any = ..., weight: Any = ...) -> {pair}: ...")
        numbers = ("alone_", "runner_up_probability_", "candidate_probabilities_")
        lines += [f"    {name}: NDArray[np.float64]" for name in numbers]
        lines.append("    solitude_: NDArray[np.float64] | None")
        lines += ["    runner_up_: NDArray[np.int64]", "    k_posterior_: NDArray[Any]", "    together_: Any"]
        lines += ["    agreement_: float", "    effective_draws_: float"]
    return "\n".join(lines) + "\n"


def text() -> str:
    classes = [goc.GreedyOptimisticClustering, goc.MarginalMixture, goc.UKMeans, *METHODS.values(), *ORACLES.values()]
    return HEAD + "".join(stub(cls) for cls in classes)


if __name__ == "__main__":
    Path(goc.__file__).with_name("__init__.pyi").write_text(text())
