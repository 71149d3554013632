"""Checkpoints of runs over partitions: a header, a mark that tells runs apart, and the state."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

_HEADER = b"goc-dask-checkpoint 1\n"


def mark(*told: Any) -> str:
    """Tells runs apart by everything that the answer depends on."""
    return hashlib.sha256(json.dumps(told, sort_keys=True, default=str).encode()).hexdigest()


def named(f: Any) -> Any:
    """A function by its name."""
    return f if f is None or isinstance(f, str) else getattr(f, "__qualname__", repr(f))


def write(path: Path, mark: str, state: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with open(temporary, "wb") as file:
        file.write(_HEADER + mark.encode() + b"\n" + state)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def read(path: Path, mark: str) -> bytes:
    content = path.read_bytes()
    if not content.startswith(_HEADER) or len(content) < len(_HEADER) + 65:
        raise ValueError(f"{path} is not a checkpoint of goc.dask")
    rest = content[len(_HEADER) :]
    if rest[:64] != mark.encode():
        raise ValueError(f"{path} belongs to another run, with other data or parameters; start again, or use those of that run")
    return rest[65:]
