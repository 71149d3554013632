"""What is written about the package is true: examples run, the notebooks run, stubs and tables agree."""

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

import goc  # noqa: E402
from goc._estimators import METHODS, ORACLES  # noqa: E402

HERE = Path(__file__).resolve().parents[1]
MODULES = ["goc", *(f"goc.{m.name}" for m in pkgutil.iter_modules(goc.__path__) if m.name not in ("_goc", "dask"))]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    found = doctest.DocTestFinder(exclude_empty=True).find(module, name)
    if name == "goc._estimators":  # their classes call themselves goc's
        for cls in (goc.GreedyOptimisticClustering, goc.MarginalMixture, goc.UKMeans):
            found += doctest.DocTestFinder().find(cls, cls.__name__, module=False)
    runner = doctest.DocTestRunner()
    for test in found:
        runner.run(test)
    assert runner.summarize().failed == 0
    if name == "goc._estimators":
        assert runner.summarize().attempted >= 8


def test_everything_public_is_documented():
    for name in goc.__all__:
        thing = getattr(goc, name)
        assert thing.__doc__, name
        if inspect.ismodule(thing):
            for own in thing.__all__:
                assert getattr(thing, own).__doc__, f"{name}.{own}"
        elif inspect.isclass(thing) and name != "Candidates":
            for parameter in list(inspect.signature(thing.__init__).parameters)[1:]:
                assert f"    {parameter} :" in thing.__doc__, f"{name}: {parameter}"


def test_stubs_are_up_to_date():
    spec = importlib.util.spec_from_file_location("make_stubs", HERE / "make_stubs.py")
    make_stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_stubs)
    assert (HERE / "goc/__init__.pyi").read_text() == make_stubs.text(), "run python make_stubs.py"


def test_stubs_of_the_rust_part_name_all_of_it():
    from goc import _goc

    text = (HERE / "goc/_goc.pyi").read_text()
    for name in (n for n in dir(_goc) if not n.startswith("__")):
        assert any(said in text for said in (f"class {name}", f"def {name}(", f"\n{name}: ")), name


def test_every_method_and_oracle_has_a_class():
    assert all(hasattr(goc, name) and name in goc.__all__ for name in (*METHODS, *ORACLES))
    assert {cls._oracle for cls in ORACLES.values()} == {
        "k-means", "k-medoids", "gmm-diag", "mclust-eii", "mclust-vii", "mclust-vvv", "linkage", "affinity", "mean-shift", "spectral",
        "convex", "hdbscan",
    }  # fmt: skip


def run_notebook(name):
    """The lines of code of a notebook, and how many pictures it draws. It is kept without output."""
    import nbformat
    from nbclient import NotebookClient

    path = HERE / "examples" / name
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.outputs for cell in notebook.cells if cell.cell_type == "code"), "keep it without output"
    code = [line for cell in notebook.cells if cell.cell_type == "code" for line in cell.source.splitlines()]
    done = NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [out for cell in done.cells if cell.cell_type == "code" for out in cell.outputs]
    pictures = sum("image/png" in out.get("data", {}) for out in outputs)
    return [line for line in code if line.strip() and not line.strip().startswith("#")], pictures


def test_the_tutorial_runs_and_is_short():
    lines, pictures = run_notebook("tutorial.ipynb")
    assert len(lines) < 20
    assert pictures >= 2


def test_the_notebook_of_the_real_sky_runs():
    lines, pictures = run_notebook("real_sky.ipynb")
    assert len(lines) < 40
    assert pictures >= 1


def test_estimators_show_themselves_in_notebooks():
    assert "GreedyOptimisticClustering" in goc.GreedyOptimisticClustering(3)._repr_html_()


def test_pictures_hold_what_was_fitted(sets):
    import matplotlib.pyplot as plt

    X, penalties, _ = sets
    mixture = goc.MarginalMixture(burn=5, keep=10).fit(X, penalty=penalties)
    greedy = goc.GreedyOptimisticClustering(6).fit(X, penalty=penalties)
    figure, axes = plt.subplots(2, 2)
    assert goc.plot.clusters(greedy, X, ax=axes[0, 0]) is axes[0, 0]
    cloud, places, centres = (c.get_offsets() for c in axes[0, 0].collections)
    assert len(cloud) == len(penalties) and len(places) == 80 and len(centres) == greedy.n_clusters_
    bars = goc.plot.k_posterior(mixture, ax=axes[0, 1]).patches
    assert sum(bar.get_height() for bar in bars) == pytest.approx(1)
    assert all(tick == round(tick) for tick in axes[0, 1].get_xticks())
    assert goc.plot.together(mixture, ax=axes[1, 0]).images[0].get_array().shape == (80, 80)
    assert goc.plot.history(greedy, ax=axes[1, 1]).lines[0].get_ydata().tolist() == greedy.history_["objective"].tolist()
    figure.canvas.draw()
    with pytest.raises(ValueError, match="80 were fitted"):
        goc.plot.clusters(greedy, X[:5], ax=axes[0, 0])
    with pytest.raises(ValueError, match="k_posterior_"):
        goc.plot.k_posterior(greedy, ax=axes[0, 0])


def test_one_outlier_does_not_squeeze_the_picture():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(2)
    actions = np.abs(rng.normal(10, 1, (100, 3)))
    actions[7, 2] = 1e6
    X = goc.Candidates(actions, np.arange(101), features=("Jr", "Jz", "Jphi"))
    found = goc.KMeans(2).fit(X)
    _, (inner, whole, other) = plt.subplots(1, 3)
    goc.plot.clusters(found, X, ax=inner)
    assert (inner.get_xlabel(), inner.get_ylabel()) == ("Jphi", "Jr")
    rest = np.delete(actions, 7, axis=0)
    for (low, high), column in ((inner.get_xlim(), rest[:, 2]), (inner.get_ylim(), actions[:, 0])):
        assert low < column.min() and column.max() < high < 20
    assert inner.get_title() == "2 clusters of 100 objects, 1 beyond the edges"
    goc.plot.clusters(found, X, ax=whole, whole=True)
    assert whole.get_xlim()[1] > 1e6 and whole.get_title() == "2 clusters of 100 objects"
    assert goc.plot.clusters(found, X, features=(0, 1), ax=other).get_xlabel() == "Jr"
