"""X in all its forms, and what is said of an X that is wrong."""

import goc
import numpy as np
import pandas
import pyarrow
import pytest
from goc._candidates import ragged
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

GOC = lambda **more: goc.GreedyOptimisticClustering(2, **{"oracle": goc.KMeans(n_init=2), "n_jobs": 1, **more})  # noqa: E731

shapes = st.tuples(st.integers(2, 12), st.integers(1, 6), st.integers(1, 4))
finite = st.floats(-1e6, 1e6, width=32)


def same(a, b):
    assert np.array_equal(a.labels_, b.labels_) and np.array_equal(a.chosen_, b.chosen_)
    assert a.cluster_centers_.tobytes() == b.cluster_centers_.tobytes()


@settings(max_examples=40, deadline=None)
@given(data=st.data(), shape=shapes)
def test_every_form_of_x_gives_the_same_bytes(data, shape):
    n, m, q = shape
    X = data.draw(hnp.arrays(np.float64, shape, elements=finite))
    first = GOC().fit(X)
    flat, offsets = X.reshape(-1, q), np.arange(n + 1) * m
    for form in (
        list(X),
        (flat, offsets),
        (flat, offsets.astype(np.uint32)),
        goc.Candidates(flat, offsets),
        pyarrow.array(X.tolist()),
        pyarrow.chunked_array([X[: n // 2].tolist(), X[n // 2 :].tolist()], pyarrow.list_(pyarrow.list_(pyarrow.float64()))),
        pyarrow.array(X.tolist(), pyarrow.list_(pyarrow.list_(pyarrow.float64(), q), m)),
        pyarrow.array(X.tolist(), pyarrow.large_list(pyarrow.list_(pyarrow.float64(), q))),
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
    ):
        same(first, GOC().fit(form))
    if m == 1:
        same(first, GOC().fit(X[:, 0]))
        same(first, GOC().fit(pandas.DataFrame(X[:, 0], columns=[f"x{f}" for f in range(q)])))


class Capsule:
    """Somebody's column that speaks Arrow and nothing else."""

    def __init__(self, column):
        self.column = column

    def __arrow_c_array__(self, requested_schema=None):
        return self.column.__arrow_c_array__(requested_schema)


def test_a_feature_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no column `Jx`; the table has object, x"):
        goc.Candidates.from_table({"object": [0, 1], "x": [1.0, 2.0]}, features=["Jx"])


def test_the_arrow_capsule_interface_is_enough(sets):
    X, _, _ = sets
    same(GOC().fit(X), GOC().fit(Capsule(pyarrow.array([own.tolist() for own in X]))))


@settings(max_examples=30, deadline=None)
@given(data=st.data(), kind=st.sampled_from(["f4", "i1", "u2", "i8", "f2", ">f8", "?"]), shape=shapes)
def test_other_number_types_are_taken_by_value(data, kind, shape):
    elements = {"allow_nan": False, "allow_infinity": False} if "f" in kind else None
    # Values whose squares overflow are refused by name.
    limits = {"min_value": -1e100, "max_value": 1e100} if kind == ">f8" else {}
    X = data.draw(hnp.arrays(np.dtype(kind), shape, elements=elements and elements | limits))
    same(GOC(scale="none").fit(X), GOC(scale="none").fit(X.astype(np.float64)))


@settings(max_examples=40, deadline=None)
@given(
    counts=st.lists(st.integers(1, 5), min_size=2, max_size=9), q=st.integers(1, 3), where=st.integers(0, 10**6),
    bad=st.sampled_from([np.nan, np.inf, -np.inf]),
)  # fmt: skip
def test_a_number_that_is_not_finite_is_named_by_object_candidate_and_feature(counts, q, where, bad):
    X = [np.ones((m, q)) for m in counts]
    i = where % len(X)
    j, f = where % counts[i], where % q
    X[i][j, f] = bad
    with pytest.raises(ValueError, match=rf"object {i}, candidate {j}, feature {f}: .*not a finite number"):
        GOC().fit(X)


@settings(max_examples=30, deadline=None)
@given(counts=st.lists(st.integers(1, 5), min_size=2, max_size=9), where=st.integers(0, 10**6), bad=st.sampled_from([-1.0, np.nan]))
def test_a_bad_penalty_or_weight_is_named(counts, where, bad):
    X = [np.ones((m, 2)) for m in counts]
    at = where % sum(counts)
    i = int(np.searchsorted(np.cumsum(counts), at, side="right"))
    costs = np.ones(sum(counts))
    costs[at] = bad
    for name in ("penalty", "weight"):
        with pytest.raises(ValueError, match=f"object {i}, candidate {at - sum(counts[:i])}: {name}"):
            GOC().fit(X, **{name: costs})


def test_contiguous_float64_is_read_where_it_is():
    X = np.zeros((5, 4, 3))
    values, offsets = ragged(X)
    assert np.shares_memory(values, X) and offsets.tolist() == [0, 4, 8, 12, 16, 20]
    flat = np.zeros((20, 3))
    assert ragged((flat, offsets))[0] is flat


@pytest.mark.parametrize(
    ("X", "said"),
    [
        ([np.zeros((2, 2)), np.zeros((2, 3))], "object 1 has 3 features, object 0 has 2"),
        ([np.zeros((2, 2)), np.zeros((0, 2))], "object 1 has no candidates"),
        ((np.zeros((4, 2)), [0, 3]), "offsets go from 0 to 3"),
        ((np.zeros((4, 2)), [0, 3, 1, 4]), "offsets fall from 3 to 1 at object 1"),
        ((np.zeros((4, 2)), [0.0, 4.0]), "offsets must be whole"),
        ((np.zeros((4, 2)), [0, 4], 1), "must be \\(values, offsets\\)"),
        (np.zeros((2, 2, 2, 2)), r"X has 4 dimensions; give \(n, m, q\)"),
        (np.zeros((2, 2, 2, 2)).tolist(), r"X has 4 dimensions; give \(n, m, q\)"),
        (np.zeros(5), r"X has 1 dimension; give \(n, m, q\).* or \(n, q\)"),
        ([1.0, 2.0, 3.0], "X has 1 dimension; give"),
        (pandas.Series([1.0, 2.0]), "X has 1 dimension; give"),
        (np.zeros((3, 2, 2), complex), "Complex data not supported"),
        ([[["a"]], [["b"]]], "object 0 cannot be taken as numbers"),
        (pyarrow.array([[[1.0, 2.0]], [[1.0]]]), "object 1, candidate 0 has 1 features, the first has 2"),
        (pyarrow.array([[[1.0]], [[2.0], [None]]]), "object 1, candidate 1: a feature is null"),
        (pyarrow.array([[[1.0]], None]), "object 1 of the Arrow column is null"),
        (pyarrow.array([1.0, 2.0]), "the Arrow column is of double"),
        (np.zeros((1, 2, 2)), "n_samples=1 should be >= n_clusters=2"),
    ],
)
def test_what_is_wrong_with_x_is_said(X, said):
    with pytest.raises(ValueError, match=said):
        GOC().fit(X)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"n_clusters": 0}, "n_clusters is 0"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5"),
        ({"penalty_weight": -1.0}, "penalty_weight is -1.0, but must be a finite number not below 0"),
        ({"penalty_weight": np.nan}, "penalty_weight is nan"),
        ({"oracle": "k-mean"}, "oracle k-mean: `k-mean` is not known; give one of k-means"),
        ({"oracle": 7}, "oracle is a int"),
        ({"distance": "manhattan"}, "distance='manhattan' is not known; give one of squared"),
        ({"scale": "min-max"}, "scale='min-max' is not known"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"random_state": -3}, "random_state is -3"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": 2.0}, "the tolerance is 2"),
        ({"initial_labels": [0, 1]}, "2 first labels for 10 objects"),
        ({"preset": "authors", "penalty_weight": "auto"}, "add distance squared"),
    ],
)
def test_what_is_wrong_with_a_setting_is_said(params, said):
    with pytest.raises(ValueError, match=said):
        goc.GreedyOptimisticClustering(**{"n_clusters": 2, **params}).fit(np.random.default_rng(1).normal(size=(10, 3, 2)))


def test_features_are_counted_at_predict(sets):
    found = GOC().fit(sets[0])
    with pytest.raises(ValueError, match="X has 2 features, but GreedyOptimisticClustering is expecting 3"):
        found.predict(np.zeros((4, 2, 2)))
    with pytest.raises(ValueError, match="penalty and weight"):
        GOC().fit(np.zeros((3, 1, 1)), penalty=[0, 0, 0], weight=[1, 1, 1])
    with pytest.raises(ValueError, match="4 penalties for 3 candidates"):
        GOC().fit(np.zeros((3, 1, 1)), penalty=[0, 0, 0, 0])


def test_a_long_table_is_grouped_by_object_in_the_order_of_first_rows():
    table = {
        "object": ["b", "a", "b", "c"], "x": [1.0, 2.0, 3.0, 4.0], "penalty": [0.1, 0.2, 0.3, 0.4], "truth": [5, 6, 5, 6],
    }  # fmt: skip
    for form in (table, pandas.DataFrame(table), pyarrow.table(table)):
        sets = goc.Candidates.from_table(form)
        assert sets.ids.tolist() == ["b", "a", "c"] and sets.features == ("x",)
        assert sets.values[:, 0].tolist() == [1, 3, 2, 4] and sets.offsets.tolist() == [0, 2, 3, 4]
        assert sets.penalties.tolist() == [0.1, 0.3, 0.2, 0.4] and sets.truth.tolist() == [5, 6, 6]
        back = goc.Candidates.from_table(sets.to_pandas())
        assert back.values.tobytes() == sets.values.tobytes() and sets.to_arrow().num_rows == 4
    with pytest.raises(ValueError, match="row 2: truth 7 contradicts 5"):
        goc.Candidates.from_table({**table, "truth": [5, 6, 7, 6]})
    with pytest.raises(ValueError, match="object 0, candidate 0, feature 0|object b, candidate 0, feature 0"):
        goc.Candidates.from_table({**table, "x": [np.nan, 2.0, 3.0, 4.0]})


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # chains are kept short
def test_the_feature_map_takes_roots_and_gives_actions_back():
    rng = np.random.default_rng(6)
    actions = rng.uniform(1, 100, (30, 4, 3))
    names = ("Jr", "Jz", "Jphi")
    sets = goc.Candidates(actions.reshape(-1, 3), np.arange(31) * 4, features=names)
    mixture = lambda **more: goc.MarginalMixture(burn=2, keep=5, **more)  # noqa: E731
    roots = actions.copy()
    roots[:, :, :2] = np.sqrt(roots[:, :, :2])
    by_hand = mixture(feature_map="none").fit(roots)
    for found in (mixture().fit(sets), mixture(feature_map="actions").fit(actions)):
        assert np.array_equal(found.labels_, by_hand.labels_)
        lowest, highest = actions.min(axis=1), actions.max(axis=1)
        inside = (found.representatives_ >= lowest - 1e-9) & (found.representatives_ <= highest + 1e-9)
        assert inside.all()
    with pytest.raises(ValueError, match="object 3, candidate 1, feature x1: -1 is negative and has no square root"):
        actions[3, 1, 1] = -1
        mixture(feature_map="actions").fit(actions)
