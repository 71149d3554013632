"""Scores against scikit-learn's."""

import goc
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

labels = st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 4)), min_size=2, max_size=40)


@given(labels)
def test_scores_are_scikit_learns(pairs):
    a, b = map(list, zip(*pairs))
    ours = goc.metrics.scores(a, b)
    # Whoever is in no group (-1) is a group of its own.
    a = [-1 - i if label == -1 else label for i, label in enumerate(a)]
    assert ours["ari"] == pytest.approx(theirs.adjusted_rand_score(b, a), abs=1e-9)
    assert ours["homogeneity"] == pytest.approx(theirs.homogeneity_score(b, a), abs=1e-9)
    assert ours["completeness"] == pytest.approx(theirs.completeness_score(b, a), abs=1e-9)
    if len(set(a)) > 1 and len(set(b)) > 1:  # one cluster against one is defined otherwise
        assert ours["nmi"] == pytest.approx(theirs.normalized_mutual_info_score(b, a), abs=1e-9)
    given_labels = [own for own, _ in pairs]
    assert goc.metrics.nmi(given_labels, b) == ours["nmi"] and goc.metrics.f(given_labels, b) == ours["f"]


def test_labels_may_be_texts():
    assert goc.metrics.nmi(["x", "y", "x"], [2.5, 1.5, 2.5]) == 1
    with pytest.raises(ValueError, match="labels"):
        goc.metrics.nmi([0, 1], [0, 1, 2])
    with pytest.raises(ValueError):
        goc.metrics.nmi(np.zeros((2, 2)), [0, 1])
