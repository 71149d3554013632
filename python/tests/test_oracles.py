"""Oracles: estimators with scikit-learn's names, and objects that methods take; keywords of earlier
versions still work.
"""

import inspect
import pickle
import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans as TheirKMeans
from sklearn.metrics import pairwise_distances

import goc
from goc import _settings
from goc._estimators import METHODS, ORACLES
from goc._oracle import NAMED

# Every keyword beside scale, and every attribute beside labels_, n_clusters_ and n_features_in_.
KEYWORDS = {
    "KMeans": ({"n_clusters", "n_init", "max_iter", "algorithm", "init", "random_state", "n_jobs"}, {"cluster_centers_", "inertia_", "n_iter_"}),
    "KMedoids": ({"n_clusters", "n_init", "max_iter", "metric", "random_state", "n_jobs"},
                 {"cluster_centers_", "medoid_indices_", "inertia_"}),
    "DiagonalMixture": ({"n_clusters", "n_init", "max_iter", "random_state", "n_jobs"}, {"cluster_centers_"}),
    "MclustEII": ({"n_clusters", "max_iter", "tol"}, {"cluster_centers_"}),
    "MclustVII": ({"n_clusters", "max_iter", "tol"}, {"cluster_centers_"}),
    "MclustVVV": ({"n_clusters", "max_iter", "tol"}, {"cluster_centers_"}),
    "Linkage": ({"n_clusters", "linkage"}, set()),
    "Affinity": ({"preference", "damping", "max_iter", "random_state"}, set()),
    "MeanShift": ({"bandwidth", "max_iter", "n_jobs"}, set()),
    "SpectralClustering": ({"n_clusters", "random_state", "n_jobs"}, set()),
    "ConvexClustering": ({"n_clusters", "max_iter", "tol", "n_jobs"}, set()),
    "HDBSCAN": ({"min_cluster_size", "min_samples"}, set()),
}  # fmt: skip
WITH_ORACLE = [name for name, cls in METHODS.items() if "oracle" in cls._keywords]
SHORT = {"worlds": 12}


@pytest.fixture(scope="module")
def points(sets):
    return np.array([own.mean(axis=0) for own in sets[0]])


def test_k_means_counts_the_iterations_of_its_best_start(points):
    short, whole = (goc.KMeans(6, algorithm="lloyd", n_init=1, max_iter=most).fit(points) for most in (1, 100))
    assert short.n_iter_ == 1 < whole.n_iter_ < 100
    assert goc.KMeans(6, algorithm="lloyd", n_init=1, max_iter=whole.n_iter_).fit(points).inertia_ == whole.inertia_
    assert goc.KMeans(6).fit(points, sample_weight=np.arange(len(points))).n_iter_ > 1


def test_numbers_of_candidates_are_the_librarys():
    for function in (goc.from_gaia, goc.propagate, goc.uncertainty.Sets.sample):
        assert inspect.signature(function).parameters["m"].default == goc._goc.DRAWS == 101


def method(name, **more):
    known = METHODS[name]._keywords
    return METHODS[name](**{key: value for key, value in {"n_clusters": 6, **SHORT, **more}.items() if key in known or key not in SHORT})


def same(a, b):
    for attribute, value in vars(a).items():
        if isinstance(value, np.ndarray):
            assert value.tobytes() == getattr(b, attribute).tobytes(), attribute


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_has_the_keywords_and_attributes_that_mean_something(name, points):
    keywords, attributes = KEYWORDS[name]
    assert set(ORACLES[name]().get_params()) == keywords | {"scale"}
    found = ORACLES[name](**({"n_clusters": 6} if "n_clusters" in keywords else {})).fit(points)
    public = {name for name in vars(found) if name.endswith("_") and not name.startswith("_")}
    assert public == attributes | {"labels_", "n_clusters_", "n_features_in_"}
    for attribute in public:
        assert f"    {attribute} :" in type(found).__doc__


class TestKMeans:
    @pytest.mark.parametrize("more", [{}, {"algorithm": "lloyd", "init": "k-means++", "n_init": 50, "max_iter": 300}])
    def test_centres_and_inertia_are_scikit_learns(self, points, more):
        ours, theirs = goc.KMeans(6, **more).fit(points), TheirKMeans(6, n_init=50, random_state=0).fit(points)
        assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
        order = lambda centres: centres[np.lexsort(centres.T)]  # noqa: E731
        assert np.allclose(order(ours.cluster_centers_), order(theirs.cluster_centers_))
        assert np.array_equal(ours.predict(points), ours.labels_)

    def test_inertia_is_weighted_where_points_are_and_scaled_where_they_are(self, points):
        weights = np.random.default_rng(4).uniform(0, 3, 80)
        found = goc.KMeans(6).fit(points, sample_weight=weights)
        assert found.inertia_ == pytest.approx((weights * ((points - found.cluster_centers_[found.labels_]) ** 2).sum(axis=1)).sum())
        scaled = goc.KMeans(6, scale="standard").fit(points)
        away = (points - scaled.cluster_centers_[scaled.labels_]) / points.std(axis=0, ddof=1)
        assert scaled.inertia_ == pytest.approx((away**2).sum())

    def test_words_are_scikit_learns_and_the_librarys(self, points):
        same(goc.KMeans(6, init="k-means++").fit(points), goc.KMeans(6, init="plus-plus").fit(points))
        with pytest.raises(ValueError, match="init='k-means' is not known; give one of random, k-means"):
            goc.KMeans(6, init="k-means").fit(points)


@pytest.mark.parametrize("init", [np.zeros((4, 2)), None, 3])
def test_centres_as_init_are_refused_by_name(points, init):
    with pytest.raises(ValueError, match="init is of type .*; give one of random, k-means\\+\\+"):
        goc.KMeans(4, init=init).fit(points)


def test_medoids_are_points_with_the_least_sum_of_distances(points):
    for scale in ("none", "standard"):
        found = goc.KMedoids(6, scale=scale).fit(points)
        spread = points.std(axis=0, ddof=1) if scale == "standard" else 1.0
        away = pairwise_distances(points / spread)
        nearest = away[:, found.medoid_indices_]
        assert np.array_equal(nearest.argmin(axis=1), found.labels_)
        assert found.inertia_ == pytest.approx(nearest.min(axis=1).sum())
        assert np.allclose(found.cluster_centers_, points[found.medoid_indices_], rtol=1e-12)
        for label, medoid in enumerate(found.medoid_indices_):
            members = np.flatnonzero(found.labels_ == label)
            assert away[np.ix_(members, members)].sum(axis=1).min() == pytest.approx(away[medoid, members].sum())
    # In slices, the same.
    many = np.random.default_rng(2).normal(size=(3000, 2))
    found = goc.KMedoids(2).fit(many)
    assert found.inertia_ == pytest.approx(pairwise_distances(many)[:, found.medoid_indices_].min(axis=1).sum())


def test_penalties_belong_to_candidates_not_to_points(sets, points):
    X, penalties, _ = sets
    with pytest.warns(FutureWarning, match="KMeans clusters points, which have no penalty"):
        found = goc.KMeans(6).fit(X, penalty=penalties)
    same(found, goc.KMeans(6).fit(X))


class TestObjects:
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("oracle", NAMED)
    def test_a_name_is_the_object_with_its_defaults(self, oracle, sets):
        X, penalties, _ = sets
        by_name = method("GreedyOptimisticClustering", oracle=oracle).fit(X, penalty=penalties)
        same(method("GreedyOptimisticClustering", oracle=NAMED[oracle]()).fit(X, penalty=penalties), by_name)

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("name", WITH_ORACLE)
    def test_every_method_with_an_oracle_takes_an_object_and_runs_it_in_rust(self, name, sets, monkeypatch):
        X, penalties, _ = sets
        seen = []
        rust = goc._goc.fit
        monkeypatch.setattr(goc._goc, "fit", lambda sets, settings, function, *rest: seen.append((settings, function)) or rust(
            sets, settings, function, *rest))  # fmt: skip
        oracle = goc.KMeans(3, n_init=2, max_iter=7, algorithm="lloyd", init="k-means++", scale="robust", random_state=99)
        for own in ("fit", "fit_predict"):
            monkeypatch.setattr(goc.KMeans, own, lambda *args, **more: pytest.fail("the callback"))
        found = method(name, oracle=oracle).fit(X, penalty=penalties)
        settings, function = seen[0]
        assert function is None and not hasattr(oracle, "labels_")
        told = {"oracle": "k-means", "oracle_starts": 2, "oracle_iterations": 7, "algorithm": "lloyd", "seeding": "plus-plus"}
        assert {key: settings[key] for key in told} == told
        # Its number of clusters, scaling and seed are the method's.
        assert (settings["k"], settings["scale"], settings["seed"]) == (6, None, 1)
        assert found.n_clusters_ <= 6

    def test_parameters_of_the_oracle_are_parameters_of_the_method(self, sets):
        X, _, _ = sets
        found = goc.UKMeans(6, goc.KMeans(n_init=3))
        assert found.get_params()["oracle__n_init"] == 3 and "oracle__n_init" not in found.get_params(deep=False)
        found.set_params(oracle__n_init=4, oracle__init="k-means++")
        assert (found.oracle.n_init, found.oracle.init) == (4, "k-means++")
        other = clone(found)
        assert other.oracle is not found.oracle and repr(other) == repr(found)
        same(pickle.loads(pickle.dumps(found)).fit(X), other.fit(X))
        # A name becomes the object that it stands for.
        named = goc.UKMeans(6, "linkage").set_params(oracle__linkage="ward")
        assert repr(named.oracle) == "Linkage(linkage='ward')"
        assert repr(goc.UKMeans(6).set_params(oracle="k-medoids", oracle__n_init=2).oracle) == "KMedoids(n_init=2)"
        with pytest.raises(ValueError, match="Invalid parameter 'linkage' for estimator KMeans"):
            goc.UKMeans(6).set_params(oracle__linkage="ward")

    def test_a_grid_search_can_vary_it(self, sets):
        from sklearn.model_selection import GridSearchCV

        points = np.array([own.mean(axis=0) for own in sets[0]])
        quality = lambda estimator, X: -estimator.objective_  # noqa: E731
        search = GridSearchCV(goc.UKMeans(3), {"oracle__n_init": [1, 5]}, scoring=quality, cv=2).fit(points)
        assert search.best_params_["oracle__n_init"] in (1, 5)

    def test_weights_of_objects_go_with_k_means_as_an_object(self, sets):
        X, weights = sets[0], np.linspace(0.1, 2, 80)
        same(goc.UKMeans(6, goc.KMeans()).fit(X, sample_weight=weights), goc.UKMeans(6).fit(X, sample_weight=weights))
        for other in (goc.KMedoids(), TheirKMeans()):
            with pytest.raises(ValueError, match="needs? oracle.*k-means.*, not"):
                goc.UKMeans(6, other).fit(X, sample_weight=weights)

    def test_a_class_is_not_an_oracle(self, sets):
        with pytest.raises(ValueError, match=r"oracle is the class KMeans; give one of it, KMeans\(\)"):
            goc.UKMeans(6, goc.KMeans).fit(sets[0])

    def test_what_is_wrong_with_a_setting_of_the_oracle_is_said(self, sets):
        with pytest.raises(ValueError, match="n_init is 0, but must be a whole number of at least 1"):
            goc.UKMeans(6, goc.KMeans(n_init=0)).fit(sets[0])


# Old keywords of a class, what is said, and what to write instead.
OLD = [
    ("KMeans", {"oracle_starts": 4, "oracle_iterations": 5}, ["write n_init=4", "write max_iter=5"], {"n_init": 4, "max_iter": 5}),
    ("KMeans", {"seeding": "plus-plus"}, ["seeding is deprecated in KMeans: write init='k-means[+][+]'"], {"init": "k-means++"}),
    ("KMedoids", {"oracle_starts": 1, "oracle_iterations": 5}, ["write n_init=1", "write max_iter=5"], {"n_init": 1, "max_iter": 5}),
    ("DiagonalMixture", {"oracle_starts": 2}, ["write n_init=2"], {"n_init": 2}),
    ("MclustVII", {"oracle_iterations": 5}, ["write max_iter=5"], {"max_iter": 5}),
    ("MeanShift", {"oracle_iterations": 5, "verbose": 1}, ["write max_iter=5", "verbose is deprecated in MeanShift"], {"max_iter": 5}),
    ("Linkage", {"random_state": 4, "n_jobs": 2}, ["random_state and n_jobs are deprecated in Linkage, where"], {}),
    ("UKMedians", {"oracle_starts": 2}, ["write n_init=2"], {"n_init": 2}),
    ("ExpectedKMeans", {"oracle_starts": 2}, ["write n_init=2"], {"n_init": 2}),
    ("BoxKMeans", {"oracle_starts": 2}, ["write n_init=2"], {"n_init": 2}),
    ("RobustBoxKMeans", {"oracle_starts": 2}, ["write n_init=2"], {"n_init": 2}),
    ("SetKMedoids", {"oracle_starts": 2, "oracle_iterations": 9}, ["write n_init=2", "write max_iter=9"], {"n_init": 2, "max_iter": 9}),
    ("SetAffinityPropagation", {"oracle_iterations": 500}, ["write max_iter=500"], {"max_iter": 500}),
    *((name, {"oracle_starts": 2, "oracle_iterations": 5},
       [rf"oracle_starts and oracle_iterations are deprecated in {name}: write oracle=goc.KMeans\(max_iter=5, n_init=2\)"],
       {"oracle": goc.KMeans(n_init=2, max_iter=5)}) for name in WITH_ORACLE),
    ("UKMeans", {"algorithm": "lloyd", "seeding": "plus-plus"}, [r"write oracle=goc.KMeans\(algorithm='lloyd', init='k-means[+][+]'\)"],
     {"oracle": goc.KMeans(algorithm="lloyd", init="k-means++")}),
    ("UKMeans", {"oracle": "linkage", "linkage": "ward"}, [r"write oracle=goc.Linkage\(linkage='ward'\)"],
     {"oracle": goc.Linkage(linkage="ward")}),
    ("UKMeans", {"oracle": "affinity", "preference": 0.3}, [r"write oracle=goc.Affinity\(preference=0.3\)"],
     {"oracle": goc.Affinity(preference=0.3)}),
    ("UKMeans", {"oracle": "mean-shift", "bandwidth": 0.5}, [r"write oracle=goc.MeanShift\(bandwidth=0.5\)"],
     {"oracle": goc.MeanShift(bandwidth=0.5)}),
    ("UKMeans", {"oracle": "hdbscan", "min_cluster_size": 3}, [r"write oracle=goc.HDBSCAN\(min_cluster_size=3\)"],
     {"oracle": goc.HDBSCAN(min_cluster_size=3)}),
    ("UKMeans", {"linkage": "ward"}, ["linkage is deprecated in UKMeans and no setting of oracle='k-means'"], {}),
    ("UKMeans", {"oracle": TheirKMeans(n_init=2), "linkage": "ward"}, ["no setting of oracle=KMeans"], {"oracle": TheirKMeans(n_init=2)}),
]  # fmt: skip


class TestOldNames:
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize(("name", "old", "said", "new"), OLD, ids=lambda value: str(value)[:40])
    def test_they_work_and_say_what_to_write(self, name, old, said, new, sets):
        cls = {**METHODS, **ORACLES}[name]
        more = {key: value for key, value in {"n_clusters": 6, **SHORT}.items() if key in cls._keywords}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            made = cls(**more, **old)
            later = cls(**more).set_params(**old)
        assert all(w.category is FutureWarning and w.filename == __file__ for w in caught) and len(caught) == 2 * len(said)
        for text in said:
            assert sum(re.search(text, str(w.message)) is not None for w in caught) == 2
        wanted = cls(**more, **new)
        assert repr(made) == repr(later) == repr(wanted)
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # once renewed, nothing is said any more
            same(clone(made).fit(sets[0]), wanted.fit(sets[0]))

    @pytest.mark.parametrize("name", [*METHODS, *ORACLES])
    def test_none_stands_in_a_signature(self, name):
        cls = {**METHODS, **ORACLES}[name]
        known = set(inspect.signature(cls.__init__).parameters)
        assert not known & {"oracle_starts", "oracle_iterations", "seeding"}
        if name in METHODS and not name.startswith(("Set", "HDBSCAN")):  # those have such settings of their own
            assert not known & {"algorithm", "linkage", "preference", "bandwidth", "min_cluster_size"}
        with pytest.raises(TypeError, match="unexpected keyword argument 'n_cluster'"):
            cls(n_cluster=3)


class TestSettings:
    def test_every_setting_is_a_keyword_of_some_estimator(self):
        of = {known.setting.name for cls in (*METHODS.values(), *ORACLES.values()) for known in cls._keywords.values()}
        assert of == set(_settings.BY_NAME)

    def test_the_list_has_the_form_in_which_the_library_will_tell_it(self):
        names = [entry["name"] for entry in _settings.SETTINGS]
        assert len(set(names)) == len(names)
        for entry in _settings.SETTINGS:
            assert set(entry) == {"name", "python", "flag", "default", "help", "kind", "words"}
            assert (entry["words"] is not None) == (entry["kind"] == "word")
            assert entry["kind"].removesuffix(" or auto") in ("count", "whole", "number", "flag", "word", "text", "labels")
            _settings.BY_NAME[entry["name"]].check(entry["python"], entry["default"])

    @pytest.mark.parametrize("name", [*METHODS, *ORACLES])
    def test_keywords_begin_with_the_defaults_of_their_settings(self, name):
        own = {"n_clusters": 8}
        own |= {"scale": "robust", "feature_map": "auto"} if name == "MarginalMixture" else {}
        own |= {"n_clusters": "auto"} if name == "ExtremeDeconvolution" else {}
        own |= {"scale": "none"} if name in ORACLES else {}
        for keyword, known in {**METHODS, **ORACLES}[name]._keywords.items():
            assert known.default == own.get(keyword, known.setting.default), keyword
