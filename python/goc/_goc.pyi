"""The part in Rust. Arrays must be C-contiguous float64 (or int64, uint64 where whole)."""

from typing import Any, Callable, Mapping

import numpy as np
from numpy.typing import NDArray

_Numbers = NDArray[np.float64]
_Whole = NDArray[np.int64]
_Keys = NDArray[np.uint64]
_Progress = Callable[[int], Any] | None

__version__: str

class Candidates:
    def __init__(
        self,
        values: _Numbers,
        offsets: _Whole,
        penalty: _Numbers | None = ...,
        weight: _Numbers | None = ...,
        strength: float = ...,
        names: list[str] | None = ...,
    ) -> None: ...
    @property
    def n_objects(self) -> int: ...
    @property
    def n_candidates(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @property
    def offsets(self) -> _Whole: ...
    @property
    def values(self) -> _Numbers: ...
    @property
    def penalties(self) -> _Numbers | None: ...

class Sets:
    def __init__(self, shape: str, centre: _Numbers, spread: _Numbers, size: tuple[str, float], keys: _Keys) -> None: ...
    def __len__(self) -> int: ...
    @property
    def dimension(self) -> int: ...
    @property
    def centres(self) -> _Numbers: ...
    def sample(
        self, m: int, sampler: str, coordinate: int, seed: int, first: int, last: int, threads: int | None = ...
    ) -> _Numbers: ...
    def surprise(self, points: _Numbers, m: int, first: int, coordinates: list[int] | None = ...) -> _Numbers: ...

class Potential:
    def __init__(self, name: str, text: str | None = ...) -> None: ...
    def evaluate(self, points: _Numbers) -> _Numbers: ...
    def circular_velocity(self, radii: _Numbers) -> _Numbers: ...

class ActionFinder:
    def __init__(self, potential: Potential, variant: str) -> None: ...
    def actions(self, stars: _Numbers, jphi: str = ..., threads: int | None = ...) -> tuple[_Numbers, list[str]]: ...
    def angles(self, stars: _Numbers, jphi: str = ..., threads: int | None = ...) -> _Numbers: ...

class Model:
    def predict(
        self, candidates: Candidates, centre: list[float], spread: list[float], penalty_divisor: float, threads: int | None = ...
    ) -> tuple[_Whole, _Numbers, _Numbers]: ...
    @staticmethod
    def from_parts(parts: Any) -> Model: ...

def fit(
    candidates: Candidates,
    settings: Mapping[str, Any],
    function: Callable[[_Numbers, int, int], _Whole] | None = ...,
    threads: int | None = ...,
    progress: _Progress = ...,
) -> dict[str, Any]: ...
def select(
    candidates: Candidates,
    centres: _Numbers,
    distance: str = ...,
    penalty_weight: float = ...,
    centre: list[float] | None = ...,
    spread: list[float] | None = ...,
    penalty_divisor: float = ...,
    threads: int | None = ...,
) -> tuple[_Whole, _Whole, _Numbers]: ...
def cluster_sums(points: _Numbers, labels: _Whole, k: int) -> tuple[_Numbers, _Whole]: ...
def oracle(
    points: _Numbers,
    settings: Mapping[str, Any],
    key: int = ...,
    function: Callable[[_Numbers, int, int], _Whole] | None = ...,
    threads: int | None = ...,
) -> _Whole: ...
def to_galactocentric(
    rows: _Numbers, sky: str, far: str, offset: float, angles: str, sun: str
) -> tuple[_Numbers, list[str]]: ...
def from_galactocentric(rows: _Numbers, sky: str, sun: str) -> _Numbers: ...
def orbits(
    potential: Potential,
    stars: _Numbers,
    times: list[float],
    accuracy: float = ...,
    threads: int | None = ...,
    progress: _Progress = ...,
) -> _Numbers: ...
def star_candidates(
    rows: _Numbers,
    errors: _Numbers,
    correlations: _Numbers | None,
    keys: _Keys,
    finder: ActionFinder,
    sampling: Mapping[str, Any],
    threads: int | None = ...,
    progress: _Progress = ...,
) -> dict[str, Any]: ...
def simulate(
    wanted: Mapping[str, Any], finder: ActionFinder, threads: int | None = ..., progress: _Progress = ...
) -> dict[str, NDArray[Any]]: ...
def scores(predicted: list[int], truth: list[int]) -> dict[str, float]: ...
def key_of_text(text: str) -> int: ...
