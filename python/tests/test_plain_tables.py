"""The marginal mixture on plain tables that everyone knows: no errors, many features, no given number of groups."""

import numpy as np
import pytest
from sklearn import datasets
from sklearn.decomposition import PCA

import goc


def standardised(features):
    return (features - features.mean(axis=0)) / features.std(axis=0)


def wine():
    return datasets.load_wine(return_X_y=True)


def digits():
    features, truth = datasets.load_digits(return_X_y=True)
    return PCA(10, random_state=0).fit_transform(features), truth


def breast_cancer():
    return datasets.load_breast_cancer(return_X_y=True)


@pytest.mark.filterwarnings("ignore:MarginalMixture did not converge")
@pytest.mark.parametrize(("table", "groups"), [(wine, 3), (digits, 10), (breast_cancer, 2)])
def test_groups_of_a_plain_table_are_pure_and_those_of_a_kind_are_few(table, groups):
    """Classes are not normal, so there are more groups than classes; but each group is of one class."""
    features, truth = table()
    found = goc.MarginalMixture(chains=2, burn=20, keep=30, random_state=1).fit(standardised(features))
    labels = found.labels_
    assert np.mean(labels >= 0) > 0.9
    members = [truth[labels == k] for k in range(labels.max() + 1)]
    right = sum(np.bincount(of).max() for of in members)
    assert right / np.sum(labels >= 0) > 0.9
    # The largest groups, as many as there are classes, hold a good part of all.
    largest = sorted(len(of) for of in members)[-groups:]
    assert sum(largest) > 0.3 * len(truth)
