"""What several tests need: the command, the authors' data, and a small data set with known truth.

The data belong to others and are not in the repository: GOC_DATA says where they are, else
../shared/data beside the checkout. Without them, or without the command, the tests that need them
say so and are skipped; where CI=true that is a failure.
"""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


def absent(message: str):
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    print(f"SKIPPED: {message}")
    pytest.skip(message)


@pytest.fixture(scope="session")
def command():
    """Runs the goc command."""
    places = [os.environ.get("GOC_COMMAND"), os.environ.get("CARGO_TARGET_DIR") and os.environ["CARGO_TARGET_DIR"] + "/debug/goc"]
    places.append(str(ROOT / "target/debug/goc"))
    path = next((p for p in places if p and Path(p).is_file()), None)
    if path is None:
        absent("no goc command: cargo test --workspace --test command --no-run makes it")

    def run(*args):
        done = subprocess.run([path, *map(str, args)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run.path = Path(path).resolve()
    return run


@pytest.fixture(scope="session")
def paper():
    """The folder of the authors' ten sets."""
    folder = Path(os.environ.get("GOC_DATA") or ROOT / "../shared/data") / "paper"
    if not folder.is_dir():
        absent(f"no data in {folder} (set GOC_DATA)")
    return folder


@pytest.fixture(scope="session")
def sets():
    """Eighty objects of six groups in three features, ragged, with penalties: (X, penalties, truth)."""
    rng = np.random.default_rng(20221)
    places = rng.normal(0, 5, (6, 3))
    truth = np.arange(80) % 6
    X, penalties = [], []
    for group in truth:
        m = int(rng.integers(1, 25))
        centre = places[group] + rng.normal(0, 0.4, 3)
        step = np.linspace(-1, 1, m)[:, None] if m > 1 else np.zeros((1, 1))
        X.append(centre + step * rng.normal(0, 1.5, 3) + rng.normal(0, 0.05, (m, 3)))
        penalties.append(step[:, 0] ** 2)
    return X, np.concatenate(penalties), truth
