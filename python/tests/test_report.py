"""The page to look at, from Python."""

import json
import re

import goc
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError


def told(path):
    text = path.read_text(encoding="utf-8")
    block = re.search(r'<script type="application/json" id="goc-data">(.*?)</script>', text, re.S)
    return json.loads(block.group(1)), text


@pytest.fixture
def sets():
    rng = np.random.default_rng(1)
    middles = np.repeat([[0.0, 0.0], [6.0, 1.0], [1.0, 7.0]], 5, axis=0)
    values = middles[:, None, :] + rng.normal(0, 0.3, (15, 4, 2))
    ids = ["<script>alert(1)</script>", "a,\"b\"", *(f"star {i}" for i in range(13))]
    return goc.Candidates(
        values.reshape(-1, 2), np.arange(0, 61, 4), ids=ids, features=["Jr", "Jphi"], truth=np.repeat(["x", "y", "z"], 5)
    )


def test_the_page_has_every_object_with_its_set_and_its_truth(sets, tmp_path):
    found = goc.GreedyOptimisticClustering(n_clusters=3).fit(sets)
    path = found.report(tmp_path / "page.html", sets)
    data, text = told(path)
    assert data["ids"] == list(sets.ids)
    assert [feature["name"] for feature in data["features"]] == ["Jr", "Jphi"]
    assert data["truth"]["groups"] and dict(data["truth"]["scores"])["NMI"] == pytest.approx(1.0)
    assert sorted(cluster["size"] for cluster in data["clusters"]) == [5, 5, 5]
    assert len(data["history"]) == len(found.history_)
    packed = re.search(r'id="goc-candidates">(.*?)</script>', text, re.S).group(1)
    assert len(packed.strip()) >= 60 * 2 * 2 * 4 / 3
    assert "<script>alert" not in text, "text of the data never becomes markup"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # chains are kept short
def test_the_same_fit_gives_the_same_page(sets, tmp_path):
    found = goc.MarginalMixture(chains=2, burn=5, keep=10).fit(sets)
    pages = [found.report(tmp_path / f"{name}.html", sets, title="t").read_bytes() for name in "ab"]
    assert pages[0] == pages[1]
    data, _ = told(tmp_path / "a.html")
    assert data["probability"] and data["runnerUp"]


def test_labels_alone_are_enough(tmp_path):
    X = np.array([[0.0, 1.0], [0.1, 1.0], [9.0, 3.0]])
    data, _ = told(goc.KMeans(n_clusters=2).fit(X).report(str(tmp_path / "p.html")))
    assert data["ids"] == ["0", "1", "2"] and data["truth"] is None


def test_what_does_not_fit_is_said(sets, tmp_path):
    found = goc.UKMeans(n_clusters=3).fit(sets)
    with pytest.raises(ValueError, match="name it .html"):
        found.report(tmp_path / "page.txt")
    with pytest.raises(ValueError, match="2 truth where 15 are needed"):
        found.report(tmp_path / "page.html", truth=[1, 2])
    with pytest.raises(ValueError, match="X has 3 objects, but 15 were clustered"):
        found.report(tmp_path / "page.html", np.zeros((3, 2, 2)), ids=range(15))
    with pytest.raises(FileNotFoundError, match="make it first"):
        found.report(tmp_path / "nowhere" / "page.html")
    assert not list(tmp_path.iterdir())


def test_a_table_of_candidates_is_not_taken_for_points():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"object": [0, 0, 1], "candidate": [0, 1, 0], "x": [1.0, 2.0, 9.0]})
    with pytest.raises(ValueError, match="Candidates.from_table"):
        goc.GreedyOptimisticClustering(n_clusters=2).fit(table)
    assert list(goc.GreedyOptimisticClustering(n_clusters=2).fit(goc.Candidates.from_table(table)).labels_) == [0, 1]


def test_view_shows_the_page_in_a_frame_of_its_own(sets):
    found = goc.GreedyOptimisticClustering(n_clusters=3).fit(sets)
    view = goc.view(found, sets, title="mine", height=300)
    assert view.html.startswith("<!doctype html>") and "mine" in view.html
    shown = view._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "height:300px" in shown and 'sandbox="allow-scripts' in shown
    assert "<script" not in shown  # it is text of the attribute, escaped
    with pytest.raises(NotFittedError):
        goc.view(goc.UKMeans(2))


def test_a_fitted_estimator_shows_a_picture_below_its_parameters(sets):
    found = goc.GreedyOptimisticClustering(n_clusters=3)
    assert "<svg" not in found._repr_html_()
    shown = found.fit(sets)._repr_mimebundle_()["text/html"]
    assert shown.count("<circle") == 15 and "3 clusters of 15 objects" in shown
    assert "<svg" in found._repr_html_()
    # One feature has no picture; many objects have a part of their marks.
    assert "<svg" not in goc.KMeans(2).fit([[0.0], [1.0], [5.0]])._repr_html_()
    many = goc.KMeans(2, n_init=1).fit(np.random.default_rng(1).normal(size=(5000, 2)))
    assert many._repr_html_().count("<circle") == 2000
