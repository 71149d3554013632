"""How sure a fit is: stability, significance and noise of every method; trees; all methods compared."""

import json
import pickle

import numpy as np
import pyarrow.parquet as parquet
import pytest

import goc
from goc._estimators import METHODS
from goc._goc import newick

SURE = {"stability": None, "significance": None, "background": "smooth", "noise": False, "fdr": 0.05}
# Whether the compiled part answers what it is asked for, or passes it over.
TOLD = hasattr(goc._goc, "settings")


@pytest.fixture
def asked(monkeypatch):
    """What `_goc.fit` is told, and what it answers beside its own: (settings, answers)."""
    settings, answers = {}, {}
    rust = goc._goc.fit

    def fit(sets, told, *rest):
        settings.update(told)
        return {**rust(sets, {**told, **SURE}, *rest), **answers}

    monkeypatch.setattr(goc._goc, "fit", fit)
    return settings, answers


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_the_same_questions(name):
    known = METHODS[name]().get_params()
    assert {key: known[key] for key in SURE} == SURE
    assert known["feature_map"] == ("auto" if name == "MarginalMixture" else "none")


@pytest.mark.parametrize("name", ["GreedyOptimisticClustering", "UKMeans", "SetLinkage", "BoxKMeans"])
def test_questions_go_to_rust_and_answers_become_attributes(name, sets, asked):
    settings, answers = asked
    X = sets[0]
    wanted = {"stability": 3, "significance": 4, "background": "shuffled", "fdr": 0.1}
    k = METHODS[name](6).fit(X).n_clusters_
    each, clusters = np.linspace(0, 1, 80), np.linspace(1, 2, k)
    answers |= {"stability_objects": each, "stability_clusters": clusters, "p_values": clusters / 9, "q_values": clusters / 4, "log_odds": -each}
    found = METHODS[name](6, **wanted).fit(X)
    assert {key: settings[key] for key in wanted} == wanted
    assert np.array_equal(found.stability_, each) and np.array_equal(found.log_odds_, -each)
    assert np.array_equal(found.cluster_stability_, clusters)
    assert np.array_equal(found.p_values_, clusters / 9) and np.array_equal(found.q_values_, clusters / 4)
    assert np.array_equal(pickle.loads(pickle.dumps(found)).q_values_, found.q_values_)


def test_clusters_that_noise_left_have_the_numbers_of_those_they_were(sets, asked):
    """Labels and noise as Rust tells them: every noise object a cluster of its own."""
    _, answers = asked
    X = np.repeat(np.arange(4.0), 3)[:, None] * 10
    before = np.repeat(np.arange(4), 3)
    noise = np.isin(np.arange(12), [0, 3, 4, 5])  # one of the first cluster, all of the second
    after = np.where(noise, 4 + np.arange(12), before)
    after = np.unique(after, return_inverse=True)[1]
    points = np.zeros((after.max() + 1, 1))
    answers |= {"labels": after, "found_labels": before, "noise": noise, "centres": points, "scaled_centres": points}
    answers |= {"p_values": np.array([0.1, 0.2, 0.3, 0.4]), "q_values": np.arange(4) / 4, "log_odds": np.zeros(12)}
    found = goc.GreedyOptimisticClustering(4, noise=True).fit(X)
    assert found.labels_.tolist() == [-1, 0, 0, -1, -1, -1, 1, 1, 1, 2, 2, 2]
    assert found.p_values_.tolist() == [0.1, 0.3, 0.4] and found.q_values_.tolist() == [0.0, 0.5, 0.75]


def test_nothing_is_told_that_was_not_asked(sets):
    found = goc.GreedyOptimisticClustering(6).fit(sets[0])
    for attribute in ("stability_", "cluster_stability_", "p_values_", "q_values_", "log_odds_", "recurrence_"):
        assert getattr(found, attribute) is None


@pytest.mark.skipif(TOLD, reason="the compiled part answers")
@pytest.mark.parametrize("question", [{"stability": 2}, {"significance": 2}, {"noise": True}])
def test_what_is_not_answered_is_said(question, sets):
    with pytest.warns(UserWarning, match=f"GreedyOptimisticClustering was asked for {next(iter(question))}, but the compiled part"):
        goc.GreedyOptimisticClustering(6, **question).fit(sets[0])


@pytest.mark.skipif(not TOLD, reason="the compiled part does not answer yet")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("estimator", "flags"),
    [
        (goc.GreedyOptimisticClustering(8, stability=3, significance=4), ["--k", 8, "--stability", 3, "--significance", 4]),
        (goc.UKMeans(8, noise=True, background="shuffled", fdr=0.2),
         ["--method", "uk-means", "--k", 8, "--noise", "--background", "shuffled", "--fdr", 0.2]),
        (goc.MarginalMixture(keep=20, noise=True, significance=3), ["--method", "marginal", "--keep", 20, "--noise", "--significance", 3]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)  # fmt: skip
def test_answers_are_the_commands(estimator, flags, command, mock, tmp_path):
    command("cluster", mock, *flags, "-o", tmp_path / "labels.parquet")
    labels = parquet.read_table(tmp_path / "labels.parquet")
    found = estimator.fit(goc.Candidates.from_table(parquet.read_table(mock)))
    assert np.array_equal(found.labels_ < 0, labels["label"].to_numpy() < 0)
    for attribute, column in [("stability_", "stability"), ("log_odds_", "log_odds")]:
        assert (getattr(found, attribute) is not None) == (column in labels.column_names)
        if column in labels.column_names:
            assert np.array_equal(getattr(found, attribute), labels[column].to_numpy(zero_copy_only=False), equal_nan=True)
    of_clusters = ["cluster_stability", "p_value", "q_value", "recurrence"]
    for attribute, column in zip(["cluster_stability_", "p_values_", "q_values_", "recurrence_"], of_clusters, strict=True):
        if column in labels.column_names:
            theirs = labels[column].to_numpy(zero_copy_only=False)
            grouped = found.labels_ >= 0
            assert np.array_equal(getattr(found, attribute)[found.labels_[grouped]], theirs[grouped], equal_nan=True)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"stability": 0}, "stability is 0, but must be a whole number of at least 1"),
        ({"significance": 1.5}, "significance is 1.5, but must be a whole number"),
        ({"background": "flat"}, "background='flat' is not known; give one of smooth, shuffled"),
        ({"fdr": 1.0}, "fdr.* must be above 0 and below 1"),
        ({"stability": 2, "initial_labels": [0] * 80}, "leave out .*init"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(params, said, sets):
    with pytest.raises(ValueError, match=said):
        goc.GreedyOptimisticClustering(6, **params).fit(sets[0])


def test_repeats_do_not_know_weights_of_objects(sets):
    with pytest.raises(ValueError, match="stability.* do not work with object weights"):
        goc.GreedyOptimisticClustering(6, stability=2).fit(sets[0], sample_weight=np.ones(80))


class TestTree:
    @pytest.mark.parametrize("flags", [["--method", "goc-tree"], ["--k-rule", "constant"]])
    def test_newick_is_the_commands(self, flags, command, mock, tmp_path):
        for name in ("tree.nwk", "tree.parquet"):
            command("cluster", mock, "--k", 8, *flags, "--tree", tmp_path / name, "-o", tmp_path / "labels.parquet")
        table, ids = parquet.read_table(tmp_path / "tree.parquet"), parquet.read_table(tmp_path / "labels.parquet")["object"].to_pylist()
        rows = np.column_stack([column.to_numpy().astype(float) for column in table.columns])
        assert newick(rows, [str(name) for name in ids]) == (tmp_path / "tree.nwk").read_text().rstrip("\n")

    def test_a_tree_has_a_name_for_every_leaf(self, asked):
        _, answers = asked
        answers["tree"] = np.array([[0.0, 1.0, 1e-7, 2.0], [2.0, 3.0, 2e16, 3.0]])
        found = goc.TreeOptimisticClustering(2).fit(np.array([[0.0], [0.1], [9.0]]))
        assert np.array_equal(found.tree_, answers["tree"])
        assert found.newick() == "(2:20000000000000000,(0:0.0000001,1:0.0000001):20000000000000000);"
        sets = goc.Candidates([[0.0], [0.1], [9.0]], [0, 1, 2, 3], ids=["a b", "it's", ""])
        assert found.newick(sets) == "('':20000000000000000,('a b':0.0000001,'it''s':0.0000001):20000000000000000);"
        assert found.newick(sets, ids="xyz").startswith("(z:")
        with pytest.raises(ValueError, match="2 names for a tree of 3 leaves"):
            found.newick(ids=["a", "b"])

    def test_scipy_reads_it(self, sets):
        hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
        found = goc.TreeOptimisticClustering(6, k_rule="constant").fit(sets[0])
        if found.tree_ is None:
            with pytest.raises(ValueError, match="does not tell the tree"):
                found.newick()
            pytest.skip("the compiled part does not tell the tree yet")
        assert hierarchy.is_valid_linkage(found.tree_)
        cut = hierarchy.fcluster(found.tree_, 6, "maxclust")
        assert goc.metrics.ari(cut, found.labels_) == 1.0


@pytest.fixture(scope="module")
def mock(command, tmp_path_factory):
    path = tmp_path_factory.mktemp("mock") / "candidates.parquet"
    command("simulate", "--seed", 5, "--dwarfs", 8, "--stars", 3, "-o", path)
    return path


class TestCompare:
    def test_it_is_the_commands_table(self, command, mock):
        flags = ["--k", 6, "--seeds", 2, "--json", "--", "--worlds", 10, "--keep", 10]
        theirs = json.loads(command("compare", mock, *flags))["methods"]
        sets = goc.Candidates.from_table(parquet.read_table(mock))
        ours = goc.compare(sets, 6, seeds=2, worlds=10, keep=10)
        assert [row["method"] for row in ours] == [row["method"] for row in theirs]
        for one, other in zip(ours, theirs):
            assert (one["runs"], one["failed"], one["converged"]) == (other["runs"], other["failed"], other["converged"]), one["method"]
            for quantity in ("nmi", "f", "ari", "k", "objective"):
                for key in (quantity, f"{quantity}_sd"):
                    assert (one[key] is None) == (other[key] is None), (one["method"], key)
                    assert one[key] is None or one[key] == pytest.approx(other[key], rel=1e-12, abs=1e-12), (one["method"], key)

    def test_records_are_plain_and_scores_need_a_truth(self, sets):
        pandas = pytest.importorskip("pandas")
        X, penalties, truth = sets
        rows = goc.compare(X, 6, truth=truth, penalty=penalties, only="goc/k-means")
        found = goc.GreedyOptimisticClustering(6).fit(X, penalty=penalties)
        assert rows[0]["nmi"] == goc.metrics.nmi(found.labels_, truth) and rows[0]["k"] == found.n_clusters_
        assert rows[0]["objective"] == found.objective_ and rows[0]["error"] is None
        assert len(pandas.DataFrame(rows)) == 1 and json.dumps(rows)
        (row,) = goc.compare(X, 6, only="uk-means/k-means", weight=np.exp(-penalties))
        assert row["nmi"] is None and "seconds" not in row and row["nmi_sd"] is None
        known = np.array([*truth.tolist()], dtype=object)
        known[:40] = None
        (row,) = goc.compare(np.array([own[0] for own in X]), 6, truth=known, only=["uk-means/linkage"])
        labels = goc.UKMeans(6, "linkage").fit(np.array([own[0] for own in X])).labels_
        assert row["nmi"] == goc.metrics.nmi(labels[40:], truth[40:])

    def test_what_is_wrong_is_said_and_what_fails_is_told(self, sets):
        X = sets[0]
        with pytest.raises(ValueError, match="no such method g-means; there are goc, goc-best-of-10, gpc"):
            goc.compare(X, 6, only=["g-means"])
        with pytest.raises(ValueError, match="n_cluster is no setting of any of these methods"):
            goc.compare(X, 6, n_cluster=3)
        with pytest.raises(ValueError, match="79 truth where 80 are needed"):
            goc.compare(X, 6, truth=[0] * 79)
        with pytest.raises(ValueError, match="seeds is 0"):
            goc.compare(X, 6, seeds=0)


class TestCandidates:
    """The numbers are asked for where they are needed, not before: they may be kept elsewhere."""

    def test_no_fit_asks_for_the_values(self, sets, monkeypatch, tmp_path):
        X, penalties, truth = sets
        made = goc.Candidates(np.concatenate(X), np.concatenate([[0], np.cumsum([len(own) for own in X])]), penalties, truth=truth)
        by_list = goc.GreedyOptimisticClustering(6).fit(X, penalty=penalties)
        for name in ("values", "offsets", "penalties"):
            monkeypatch.setattr(goc.Candidates, name, property(lambda self: pytest.fail("asked for")))
        found = goc.GreedyOptimisticClustering(6).fit(made)
        assert np.array_equal(found.labels_, by_list.labels_) and np.array_equal(found.predict(made), by_list.predict(X, penalty=penalties))
        found.report(tmp_path / "page.html", made)
        goc.KMeans(6).fit(made)
        goc.compare(made, 6, only="uk-means/k-means")
        assert repr(made) == f"Candidates(80 objects, {len(penalties)} candidates, 3 features)" and len(made) == 80

    def test_properties_cannot_be_set(self):
        made = goc.Candidates([[0.0], [1.0]], [0, 2], [0.5, 0.0])
        for name in ("values", "offsets", "penalties", "n_candidates", "n_features", "nbytes"):
            with pytest.raises(AttributeError):
                setattr(made, name, None)
        assert made.nbytes == 8 * (2 * 2 + 2) and [own.tolist() for own in made] == [[[0.0], [1.0]]] and made[-1].shape == (2, 1)
