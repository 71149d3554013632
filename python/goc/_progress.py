"""A progress bar, on request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def bar(verbose: int, total: int | None, unit: str) -> Iterator[Callable[[int], None] | None]:
    """A function that takes the steps done so far; None when no bar is wanted."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("a progress bar needs tqdm: pip install tqdm, or verbose=0") from None
    with tqdm(total=total, unit=f" {unit}") as shown:
        yield lambda done: shown.update(done - shown.n)
