"""Writes goc/__init__.pyi: the estimators are made from tables, which type checkers cannot run.

    python make_stubs.py            # after a change of the tables; a test compares
"""

import inspect
import textwrap
from pathlib import Path

import goc
from goc import _estimators
from goc._base import COMMON
from goc._estimators import METHODS, ORACLES

HEAD = '''# Made by make_stubs.py; do not edit.
from typing import Any

from . import _estimators
from . import galaxy as galaxy
from . import metrics as metrics
from . import plot as plot
from . import uncertainty as uncertainty
from ._base import PredictsByMeans, UncertainClusterer
from ._candidates import Candidates as Candidates
from ._compare import compare as compare
from ._display import view as view
from ._oracle_estimators import OracleEstimator, _KMeans, _KMedoids, _WithMeans
from ._stars import from_gaia as from_gaia
from ._validate import validate as validate
from .uncertainty import propagate as propagate

__version__: str
'''

# What a setting of a kind may be.
KINDS = {"count": "int", "whole": "int", "number": "float", "flag": "bool", "word": "str", "text": "Any", "labels": "Any"}
COMMON_KINDS = {"random_state": "Any", "n_jobs": "int | None", "verbose": "int"}


def hint(cls: type, name: str) -> str:
    if name in COMMON:
        return COMMON_KINDS[name]
    setting, default = cls._keywords[name].setting, cls._keywords[name].default
    kind = KINDS[setting.kind.removesuffix(" or auto")]
    if setting.kind.endswith(" or auto"):
        kind += " | str"
    return kind if default is not None or kind == "Any" else f"{kind} | None"


def stub(cls: type) -> str:
    """A class that has only its keywords: all else, with types, is that of the classes it is made of."""
    written_out = hasattr(_estimators, cls.__name__)
    bases = f"_estimators.{cls.__name__}" if written_out else ", ".join(base.__name__ for base in cls.__bases__)
    parameters = ["self"]
    for name, p in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if p.kind is p.KEYWORD_ONLY and "*" not in parameters:
            parameters.append("*")
        parameters.append(f"{name}: {hint(cls, name)} = ...")
    # Lines are broken between parameters only.
    text = textwrap.fill(", ".join(p.replace(" ", "\0") for p in parameters), 92, break_on_hyphens=False).replace("\0", " ")
    lines = [f"\nclass {cls.__name__}({bases}):", "    def __init__("]
    lines += [f"        {line}" for line in text.split("\n")]
    return "\n".join([*lines, "    ) -> None: ..."]) + "\n"


def text() -> str:
    return HEAD + "".join(stub(cls) for cls in (*METHODS.values(), *ORACLES.values()))


if __name__ == "__main__":
    Path(goc.__file__).with_name("__init__.pyi").write_text(text())
