"""Mean and standard deviation of features whose values lie in several places.

The library (`crates/goc/src/scale.rs`, "standard") takes of each feature

    centre = sum(x) / n                              a compensated sum, held between the least and the largest value
    spread = sqrt(sum((x - centre)^2) / (n - 1))     1 where all values are the same

A sum of floating-point numbers depends on the order in which they are added, so a sum over
partitions would depend on the cut. Here sum(x) and sum(x^2) are exact: a partition tells them as
fractions, fractions are added without rounding, and only the centre and the spread are rounded,
once, at the end. They are the same for any cut into partitions and differ from the library's by its
own rounding, which is a unit or two in the last place of a double (tested).

Exact sums are made as by Rump, Ogita & Oishi (2008): what stands above a power of two that is large
enough is taken off all numbers, and that part is added up without rounding; then the same with what
is left, until nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

# Numbers at a time: they stay in the processor's cache, and few enough that a pass takes off 36
# bits.
_CHUNK = 2**15
# Splits a double into two halves of 26 bits (Dekker).
_SPLIT = 2.0**27 + 1.0
_SMALL = 2.0**-400


@dataclass
class Moments:
    """Of some candidates, feature by feature: exact sums, and how far they reach."""

    count: int
    sums: list[Fraction]
    squares: list[Fraction]
    least: list[float]
    largest: list[float]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Moments:
        columns = [np.ascontiguousarray(values[:, f]) for f in range(values.shape[1])]
        both = [_sums(column) for column in columns]
        reach = [(float(column.min()), float(column.max())) for column in columns]
        return cls(len(values), [a for a, _ in both], [b for _, b in both], [a for a, _ in reach], [b for _, b in reach])

    @classmethod
    def together(cls, parts: Iterable[Moments]) -> Moments:
        first, *rest = parts
        made = cls(first.count, [*first.sums], [*first.squares], [*first.least], [*first.largest])
        for part in rest:
            made.count += part.count
            made.sums = [a + b for a, b in zip(made.sums, part.sums)]
            made.squares = [a + b for a, b in zip(made.squares, part.squares)]
            made.least = [min(pair) for pair in zip(made.least, part.least)]
            made.largest = [max(pair) for pair in zip(made.largest, part.largest)]
        return made

    def scale(self) -> tuple[list[float], list[float]]:
        """Centre and spread of each feature."""
        each = [self._scale(f) for f in range(len(self.sums))]
        return [centre for centre, _ in each], [spread for _, spread in each]

    def _scale(self, f: int) -> tuple[float, float]:
        least, largest, n = self.least[f], self.largest[f], self.count
        if least == largest:
            return least, 1.0
        reach = largest - least
        try:
            centre = float(self.sums[f]) / n
        except OverflowError:  # of a sum beyond the largest double; the mean is not
            centre = float(self.sums[f] / n)
        centre = min(max(centre, least), largest)
        if math.isfinite(reach):
            c = Fraction(centre)
            variance = (self.squares[f] - 2 * c * self.sums[f] + n * c * c) / (n - 1)
            # Squares of very large or very small numbers are beyond what a double can hold:
            # relative to the reach they are not.
            exponent = math.frexp(reach)[1]
            spread = math.ldexp(math.sqrt(variance / Fraction(4) ** exponent), exponent)
            if math.isfinite(reach / spread):
                return centre, spread
        raise ValueError(f"feature {f} reaches from {least} to {largest}: too far to be scaled; use another unit or drop outliers")


def _sums(x: NDArray[np.float64]) -> tuple[Fraction, Fraction]:
    """The sum of the numbers and of their squares."""
    total, squares = Fraction(0), Fraction(0)
    todo = [x[first : first + _CHUNK] for first in range(0, len(x), _CHUNK)]
    while todo:
        own = todo.pop()
        exponent = int(np.frexp(np.abs(own).max())[1])
        scaled = np.ldexp(own, -exponent)  # at most 1, so that no square overflows
        small = (np.abs(scaled) < _SMALL) & (own != 0.0)
        if small.any():  # and by themselves those whose square would underflow
            todo.append(own[small])
            scaled[small] = 0.0
        # The square as two doubles: rounded, and what rounding took away.
        square = scaled * scaled
        split = _SPLIT * scaled
        high = split - (split - scaled)
        low = scaled - high
        lost = ((high * high - square) + 2.0 * high * low) + low * low
        unit = Fraction(2) ** exponent
        total += _sum(scaled) * unit
        squares += (_sum(square) + _sum(lost)) * unit**2
    return total, squares


def _sum(x: NDArray[np.float64]) -> Fraction:
    """The exact sum of numbers not above 1."""
    total = Fraction(0)
    bits = (len(x) + 1).bit_length()
    x, top = x.copy(), np.empty_like(x)
    while (largest := max(float(x.max()), -float(x.min()))) > 0.0:
        # All of `top` are multiples of one power of two and so few that their sum needs no more
        # than 53 bits.
        power = math.ldexp(1.0, math.frexp(largest)[1] + bits)
        np.add(x, power, out=top)
        top -= power
        total += Fraction(float(top.sum()))
        x -= top
    return total
