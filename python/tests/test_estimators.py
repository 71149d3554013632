"""Every estimator: what it promises whatever the method."""

import pickle
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

import goc
from goc._estimators import METHODS, ORACLES

ALL = {**METHODS, **ORACLES}
# Kept short: chains long enough to mix are tested in Rust.
QUICK = {"burn": 10, "keep": 20, "worlds": 12}

short = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def made(cls, k=6, **more):
    known = cls().get_params()
    starts = {"oracle": goc.KMeans(n_init=5)} if "oracle" in known else {"n_init": 5}
    wanted = {**QUICK, **starts, "n_clusters": k, **more}
    return cls(**{name: value for name, value in wanted.items() if name in known})


def fitted(name, X, penalties, **more):
    """Methods are told the penalties of the candidates; oracles cluster points, which have none."""
    told = {"penalty": penalties} if name in METHODS else {}
    return made(ALL[name], **more).fit(X, **told)


# Checks that cannot hold, and why.
WEIGHTS = {
    "check_sample_weight_equivalence_on_dense_data": "starts are drawn object by object, so that copies and weights draw different "
    "ones; that the descent from the same start is equal is proved in Rust (a_whole_weight_is_that_many_copies)"
}
UNCOUNTED = ("KMedoids", "DiagonalMixture", "MclustEII", "MclustVII", "MclustVVV", "Affinity", "MeanShift", "ConvexClustering")
EXPECTED = {
    **{name: {"check_non_transformer_estimators_n_iter": "its oracle does not say how many iterations it took"} for name in UNCOUNTED},
    "GreedyOptimisticClustering": WEIGHTS,
    "UKMeans": WEIGHTS,
    "KMeans": WEIGHTS,
    "SignificantLinkage": {
        "check_clustering": "groups that stand out of the smooth density of all points are its clusters, and the check has three that are all there is"
    },
    "FDBSCAN": {
        "check_clustering": "its rule for eps looks at the extent of uncertain objects; plain points have none, and more of them "
        "are noise than the check allows"
    },
}


@pytest.mark.parametrize("name", ALL)
def test_scikit_learns_own_checks_hold_on_plain_points(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(made(ALL[name], 3), expected_failed_checks=EXPECTED.get(name, {}), on_fail=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert not failed
    listed = {r["check_name"] for r in results if r["status"] == "xfail"}
    assert listed == set(EXPECTED.get(name, {})), "a check that is listed holds: take it off the list"


@short
@pytest.mark.parametrize("name", ALL)
def test_attributes_fit_together(name, sets):
    X, penalties, truth = sets
    found = fitted(name, X, penalties)
    n, k = len(X), found.n_clusters_
    assert found.labels_.shape == (n,) and found.labels_.dtype == np.int64
    assert set(found.labels_) - {-1} == set(range(k))
    assert found.n_features_in_ == 3
    assert not hasattr(found, "n_iter_") or found.n_iter_ >= 1
    if name in ORACLES:
        return
    assert found.cluster_centers_.shape == (k, 3) and found.representatives_.shape == (n, 3)
    for label in range(k):
        mean = found.representatives_[found.labels_ == label].mean(axis=0)
        if name != "MarginalMixture":  # its representatives are means in the features as given, its centres of those clustered
            assert np.allclose(found.cluster_centers_[label], mean, rtol=1e-9, atol=1e-9)
    if found.chosen_ is not None:
        rows = np.array([own[j] for own, j in zip(X, found.chosen_)])
        assert np.allclose(rows, found.representatives_, rtol=1e-12, atol=1e-12)
    if found.probabilities_ is not None:
        assert ((found.probabilities_ >= 0) & (found.probabilities_ <= 1)).all()


@short
@pytest.mark.parametrize("name", ALL)
def test_pickle_and_clone_keep_everything(name, sets):
    X, penalties, _ = sets
    found = fitted(name, X, penalties)
    back = pickle.loads(pickle.dumps(found))
    assert repr(back) == repr(found) and [*back.get_params()] == [*found.get_params()]
    for attribute, value in vars(found).items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, getattr(back, attribute), equal_nan=value.dtype.kind == "f"), attribute
    if hasattr(found, "predict"):
        assert np.array_equal(found.predict(X), back.predict(X))
    again = clone(found)
    again.fit(X, penalty=penalties) if name in METHODS else again.fit(X)
    assert np.array_equal(again.labels_, found.labels_)
    assert again._centres.tobytes() == found._centres.tobytes()


@short
@pytest.mark.parametrize("name", ALL)
def test_the_number_of_threads_changes_no_byte(name, sets):
    X, penalties, _ = sets
    one, *others = (fitted(name, X, penalties, n_jobs=n) for n in (1, 2, 4))
    for other in others:
        assert one.labels_.tobytes() == other.labels_.tobytes()
        assert one._places.tobytes() == other._places.tobytes()
        assert one._centres.tobytes() == other._centres.tobytes()


@short
def test_random_state_decides(sets):
    X, penalties, _ = sets
    fit = lambda seed: goc.MarginalMixture(burn=2, keep=4, random_state=seed).fit(X, penalty=penalties).candidate_probabilities_  # noqa: E731
    assert np.array_equal(fit(3), fit(3)) and not np.array_equal(fit(3), fit(4))
    state = lambda: np.random.RandomState(8)  # noqa: E731
    assert np.array_equal(fit(state()), fit(state()))


def test_groups_are_found(sets):
    X, penalties, truth = sets
    for name in ("GreedyOptimisticClustering", "MarginalMixture"):
        found = ALL[name](**({"n_clusters": 6, "n_init": 20} if name[0] == "G" else {})).fit(X, penalty=penalties)
        assert goc.metrics.ari(found.labels_, truth) > 0.95


def test_predict_gives_the_labels_of_a_converged_fit(sets):
    X, penalties, _ = sets
    found = goc.GreedyOptimisticClustering(6, k_rule="constant", random_state=2).fit(X, penalty=penalties)
    assert found.converged_
    assert np.array_equal(found.predict(X, penalty=penalties), found.labels_)


def test_history_tells_the_descent(sets):
    X, penalties, _ = sets
    found = goc.GreedyOptimisticClustering(6, k_rule="constant", oracle_every="first").fit(X, penalty=penalties)
    assert len(found.history_) == found.n_iter_ and found.history_["changed"][-1] == 0
    assert (np.diff(found.history_["objective"]) <= 1e-12).all()
    assert found.history_["objective"][-1] == pytest.approx(found.objective_)


def test_auto_finds_k_and_the_penalty_weight(sets):
    X, penalties, truth = sets
    found = goc.GreedyOptimisticClustering("auto", "auto").fit(X, penalty=penalties)
    assert found.n_clusters_ in found.k_curve_["k"]
    by_hand = goc.GreedyOptimisticClustering(
        found.n_clusters_, found.penalty_weight_, k_rule="constant", search="thorough"
    ).fit(X, penalty=penalties)
    assert found.penalty_weight_ != 0.01 and np.array_equal(found.labels_, by_hand.labels_)


class TestConvergence:
    """Who does not look at `converged_` is told."""

    def said(self, estimator, X, **more):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(X, **more)
        assert all(w.category is ConvergenceWarning and w.filename == __file__ for w in caught)
        assert bool(caught) != estimator.converged_
        return "".join(str(w.message) for w in caught)

    @pytest.mark.parametrize("cls", [goc.GreedyOptimisticClustering, goc.HullOptimisticClustering, goc.ExpectedKMeans])
    def test_the_limit_of_iterations(self, cls, sets):
        said = self.said(made(cls, max_iter=1, n_init=1), sets[0])
        assert said.startswith(f"{cls.__name__} did not converge in max_iter=1 iterations; raise max_iter")
        assert not self.said(made(cls), sets[0])

    def test_the_limit_of_an_oracle(self, sets):
        found = goc.SetAffinityPropagation(max_iter=20)
        assert "did not converge in max_iter=20 iterations; raise max_iter" in self.said(found, sets[0])

    def test_a_cycle(self):
        # One object may be at 0 or at 10; the oracle always puts it with those that are far.
        X = [[[0.0], [10.0]], *([[[-3.0]]] * 9), *([[[13.0]]] * 9)]

        def restless(points, k, seed):
            return [int(points[0, 0] < 5), *[0] * 9, *[1] * 9]

        found = goc.GreedyOptimisticClustering(2, oracle=restless, k_rule="constant", oracle_every="always", scale="none")
        said = self.said(found, X)
        assert found.cycle_ and "runs in a cycle, whose best state is kept; oracle_every='first'" in said

    def test_chains_that_disagree(self, sets):
        mixture = goc.MarginalMixture(burn=0, keep=2)
        said = self.said(mixture, sets[0])
        assert f"the chains agree to {mixture.agreement_:.2f}" in said and said.endswith("raise burn, keep or chains")


@short
def test_weights_of_candidates_are_their_likelihoods(sets):
    X, penalties, _ = sets
    weights = np.exp(-2.0 * penalties)
    by_weight = goc.MarginalMixture().fit(X, weight=weights)
    by_penalty = goc.MarginalMixture(scale_penalties=False).fit(X, penalty=penalties)
    # The same up to rounding, which is enough for chains to part: the same distribution, not the same draws.
    assert adjusted_rand_score(by_weight.labels_, by_penalty.labels_) > 0.95
    assert np.allclose(by_weight.candidate_probabilities_, by_penalty.candidate_probabilities_, atol=0.2)
    # Two candidates an object, of which the first weighs nothing: the second is chosen, and counted
    # as the second.
    pairs = np.stack([np.full((80, 3), 100.0), np.array([own[0] for own in X])], axis=1)
    found = goc.GreedyOptimisticClustering(6).fit(pairs, weight=np.tile([0.0, 1.0], 80))
    assert (found.chosen_ == 1).all()
    mixture = goc.MarginalMixture(burn=2, keep=3).fit(pairs, weight=np.tile([0.0, 1.0], 80))
    assert mixture.candidate_probabilities_.reshape(80, 2)[:, 1].tolist() == [1.0] * 80


def test_the_posterior_is_consistent(sets):
    X, penalties, _ = sets
    found = goc.MarginalMixture(burn=10, keep=30).fit(X, penalty=penalties)
    assert found.k_posterior_["probability"].sum() == pytest.approx(1)
    each = np.add.reduceat(found.candidate_probabilities_, np.cumsum([0] + [len(own) for own in X])[:-1])
    assert np.allclose(each, 1)
    together = found.together_.toarray()
    assert np.array_equal(together, together.T) and (together.diagonal() == 1).all()
    label, alone = found.predict(X, penalty=penalties), found.predict_confidence(X, penalty=penalties)[1]
    assert adjusted_rand_score(label, found.labels_) > 0.9 and ((alone >= 0) & (alone <= 1)).all()


class TestOracles:
    def test_a_function_is_an_oracle(self, sets):
        X, _, truth = sets
        seen = []

        def by_truth(points, k, seed):
            seen.append((points.shape, k, seed, threading.current_thread()))
            return np.array([f"group {t}" for t in truth])

        found = goc.GreedyOptimisticClustering(6, oracle=by_truth, oracle_every="first", k_rule="constant").fit(X)
        assert seen[0][:2] == ((80, 3), 6) and adjusted_rand_score(found.labels_, truth) > 0.95

    @pytest.mark.parametrize("theirs", [AgglomerativeClustering(), TheirKMeans(n_init=3), DBSCAN(eps=0.8)])
    def test_a_clusterer_of_scikit_learn_is_an_oracle(self, theirs, sets):
        X, _, truth = sets
        found = goc.GreedyOptimisticClustering(6, oracle=theirs, k_rule="constant").fit(X)
        again = clone(found).fit(X)
        assert np.array_equal(found.labels_, again.labels_)
        if not isinstance(theirs, DBSCAN):
            assert adjusted_rand_score(found.labels_, truth) > 0.9

    def test_the_given_clusterer_stays_untouched(self, sets):
        theirs = AgglomerativeClustering(n_clusters=2)
        goc.UKMeans(6, oracle=theirs).fit(sets[0])
        assert theirs.n_clusters == 2 and not hasattr(theirs, "labels_")

    def test_its_exception_comes_back_as_it_is(self, sets):
        class Own(Exception):
            pass

        def broken(points, k, seed):
            raise Own("no luck today")

        with pytest.raises(Own, match="no luck today") as raised:
            goc.UKMeans(3, oracle=broken).fit(sets[0])
        assert raised.traceback[-1].name == "broken"

    def test_labels_of_another_length_are_refused(self, sets):
        with pytest.raises(ValueError, match="the oracle labelled 3 points of 80"):
            goc.UKMeans(3, oracle=lambda points, k, seed: [0, 1, 2]).fit(sets[0])

    def test_named_oracles_are_those_of_scikit_learn_in_effect(self, sets):
        """k-means finds the least loss that scikit-learn's finds."""
        points = np.array([own.mean(axis=0) for own in sets[0]])
        ours = goc.KMeans(6).fit(points)
        theirs = TheirKMeans(6, n_init=50, random_state=0).fit(points)
        loss = ((points - ours.cluster_centers_[ours.labels_]) ** 2).sum()
        assert loss == pytest.approx(theirs.inertia_, rel=1e-9)


class TestSampleWeight:
    def test_weighted_k_means_is_scikit_learns(self, sets):
        points = np.array([own.mean(axis=0) for own in sets[0]])
        weights = np.random.default_rng(4).uniform(0, 3, 80)
        ours = goc.KMeans(6, n_init=50).fit(points, sample_weight=weights)
        theirs = TheirKMeans(6, n_init=50, random_state=0).fit(points, sample_weight=weights)
        loss = (weights * ((points - ours.cluster_centers_[ours.labels_]) ** 2).sum(axis=1)).sum()
        assert loss == pytest.approx(theirs.inertia_, rel=1e-9)
        assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0

    def test_centres_are_weighted_means(self, sets):
        X, penalties, _ = sets
        weights = np.random.default_rng(5).uniform(0, 3, 80)
        found = goc.GreedyOptimisticClustering(6, scale="none").fit(X, penalty=penalties, sample_weight=weights)
        assert found.converged_
        for label in range(found.n_clusters_):
            own = found.labels_ == label
            mean = np.average(found.representatives_[own], axis=0, weights=weights[own])
            assert np.allclose(found.cluster_centers_[label], mean)

    def test_what_cannot_be_weighted_is_refused(self, sets):
        X, weights = sets[0], np.ones(80)
        for params, said in [({"oracle": "k-medoids"}, "oracle k-means"), ({"search": "thorough"}, "search"), ({"swaps": 5}, "swaps")]:
            with pytest.raises(ValueError, match=said):
                goc.GreedyOptimisticClustering(3, **params).fit(X, sample_weight=weights)
        with pytest.raises(ValueError, match="object 7: weight -1"):
            goc.UKMeans(3).fit(X, sample_weight=np.where(np.arange(80) == 7, -1.0, 1.0))
