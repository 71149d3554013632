"""The comparison with other people's tools runs and prints its table."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

PATH = Path(__file__).parents[1] / "examples" / "compare_peers.py"


@pytest.fixture(scope="module")
def peers():
    spec = importlib.util.spec_from_file_location("compare_peers", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One small set: 30 stars of six groups, 11 candidates each."""
    import pyarrow.parquet

    rng = np.random.default_rng(5)
    group, step = np.arange(30) % 6, np.linspace(-1, 1, 11)
    middle = rng.uniform([100, 100, -2000], [2000, 2000, 2000], (6, 3))[group] + rng.normal(0, 20, (30, 3))
    values = np.abs(middle[:, None, :] * (1 + 0.1 * step[None, :, None])).reshape(-1, 3)
    columns = {"object": np.repeat(np.arange(30), 11), "truth": np.repeat(group, 11), "penalty": np.tile(step**2, 30)}
    columns |= {name: values[:, f] for f, name in enumerate(("Jr", "Jz", "Jphi"))}
    folder = tmp_path_factory.mktemp("sets")
    pyarrow.parquet.write_table(pa.table(columns), folder / "one.parquet")
    return str(folder)


def test_every_method_has_a_row(peers, folder, capsys):
    methods = ["k-means", "hdbscan", "hdbscan, draws", "goc", "marginal"]
    found = peers.main(["--data", folder, "--methods", *methods])
    printed = capsys.readouterr().out
    for method in methods:
        assert any(line.startswith(f"{method} ") for line in printed.splitlines())
        ((nmi, f, k, seconds),) = found[method]
        assert 0 <= nmi <= 1 and 0 < f <= 1 and k >= 1 and seconds > 0


def test_a_peer_that_is_not_there_is_said_and_does_not_end_the_comparison(peers, folder, capsys, monkeypatch):
    def missing(sets, k, seed):
        import a_peer_that_nobody_has  # noqa: F401

    monkeypatch.setitem(peers.METHODS, "xd (astroML)", missing)
    peers.main(["--data", folder, "--methods", "xd (astroML)", "k-means"])
    printed = capsys.readouterr().out
    assert "not installed (No module named 'a_peer_that_nobody_has')" in printed
    assert "\nk-means " in printed


def test_noise_is_no_group(peers):
    assert peers.alone([0, -1, 1, -1]).tolist() == [0, 2, 1, 3]


def test_deconvolution_finds_the_component_a_star_is_nearest_to(peers):
    points, errors = np.array([[0.0], [4.0], [9.0]]), np.full((3, 1, 1), 0.1)
    labels = peers.deconvolved(points, errors, [0.5, 0.5], np.array([[0.0], [8.0]]), np.ones((2, 1, 1)))
    # Halfway the two are equally likely: the first of them.
    assert labels.tolist() == [0, 0, 1]
