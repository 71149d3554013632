"""Sets, their points, and what becomes of them."""

import goc
import numpy as np
import pytest
from goc import uncertainty
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 5), d=st.integers(1, 4), m=st.integers(1, 20), seed=st.integers(0, 2**32), sigmas=st.floats(0.1, 5))
def test_points_lie_in_their_sets(n, d, m, seed, sigmas):
    rng = np.random.default_rng(seed)
    values, errors = rng.normal(size=(n, d)), rng.uniform(0.1, 2, (n, d))
    for sampler in ("uniform", "sobol", f"grid:{d - 1}"):
        off = (uncertainty.box(values, errors, sigmas=sigmas).sample(m, sampler=sampler) - values[:, None]) / errors[:, None]
        assert off.shape == (n, m, d) and (np.abs(off) <= sigmas * (1 + 1e-12)).all()
        off = uncertainty.ball(values, errors[:, 0], sigmas=sigmas).sample(m, sampler=sampler) - values[:, None]
        assert (np.linalg.norm(off, axis=2) <= sigmas * errors[:, :1] * (1 + 1e-9)).all()
        off = (uncertainty.l1(values, errors, sigmas=sigmas).sample(m, sampler=sampler) - values[:, None]) / errors[:, None]
        assert off.shape == (n, m, d)
    factor = rng.normal(size=(n, d, d)) + 2 * np.eye(d)
    covariance = factor @ factor.transpose(0, 2, 1)
    off = uncertainty.ellipsoid(values, covariance, sigmas=sigmas).sample(m) - values[:, None]
    distance = np.einsum("nmi,nij,nmj->nm", off, np.linalg.inv(covariance), off)
    assert (distance <= sigmas**2 * (1 + 1e-6)).all()


def test_an_objects_points_follow_its_key():
    values = np.zeros((3, 2))
    whole = uncertainty.box(values, 1.0, keys=["a", "b", "c"]).sample(4)
    one = uncertainty.box(values[:1], 1.0, keys=["b"]).sample(4)
    assert np.array_equal(whole[1], one[0]) and not np.array_equal(whole[0], whole[1])
    assert np.array_equal(whole, uncertainty.box(values, 1.0, keys=["a", "b", "c"]).sample(4, n_jobs=2))


def test_draws_from_the_density_are_normal():
    points = uncertainty.ellipsoid([[1.0, 2.0]], [[4.0, 1.0], [1.0, 1.0]]).sample(4000, sampler="density")[0]
    assert stats.kstest((points[:, 0] - 1) / 2, "norm").pvalue > 1e-3
    assert np.allclose(np.cov(points.T), [[4, 1], [1, 1]], atol=0.2)


def test_penalties_are_those_of_scipy():
    """Minus log density, relative to the measured value; scipy's normal."""
    covariance = np.array([[4.0, 1.0], [1.0, 2.0]])
    normal = stats.multivariate_normal([1.0, 2.0], covariance)
    made = goc.propagate(uncertainty.ellipsoid([[1.0, 2.0]], covariance), m=50)
    assert np.allclose(made.penalties, normal.logpdf([1.0, 2.0]) - normal.logpdf(made.values))
    part = goc.propagate(uncertainty.ellipsoid([[1.0, 2.0]], covariance), m=50, penalty="density:1")
    assert np.allclose(part.penalties, (part.values[:, 1] - 2) ** 2 / 2 / 2)
    assert goc.propagate(uncertainty.ball([[0.0]], 1.0), penalty="none").penalties is None
    far = goc.propagate(uncertainty.ball([[3.0]], 1.0), lambda z: z**2, m=7, penalty="distance")
    assert np.allclose(far.penalties, (far.values[:, 0] - 9) ** 2)


def test_f_sees_all_points_at_once_and_may_refuse_some():
    calls = []

    def f(z):
        calls.append(z.shape)
        return np.where(z[:, 0] > 0, np.sqrt(np.abs(z[:, 0])), np.nan)

    sets = uncertainty.box([[5.0], [0.0], [-9.0]], 1.0, keys=[10, 11, 12])
    made = goc.propagate(sets, f, m=40, on_empty="drop")
    assert calls == [(120, 1)] and made.ids.tolist() == [10, 11]
    assert made.counts[0] == 40 and 0 < made.counts[1] < 40 and len(made.penalties) == len(made.values)
    points = sets.sample(40)
    kept = points[1][points[1][:, 0] > 0]
    assert np.array_equal(made[1][:, 0], np.sqrt(kept[:, 0]))
    with pytest.raises(ValueError, match="object 12: f gives no finite features for any of its 40 points"):
        goc.propagate(sets, f, m=40)
    with pytest.raises(ValueError, match=r"shape \(2, 1\) for 120 points"):
        goc.propagate(sets, lambda z: np.zeros(2), m=40)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: uncertainty.box([[1.0, np.nan]], 1.0), "object 0: .*1"),
        (lambda: uncertainty.box([[1.0], [1.0]], [[1.0], [-1.0]]), "object 1: .*-1"),
        (lambda: uncertainty.box([[1.0]], 1.0, sigmas=2, eta=0.1), "sigmas and eta are different ways"),
        (lambda: uncertainty.box([[1.0]], 1.0, eta=2), "eta"),
        (lambda: uncertainty.box([1.0], 1.0), "values has 1 dimensions, but needs 2"),
        (lambda: uncertainty.ellipsoid([[1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]), "object 0: "),
        (lambda: uncertainty.ellipsoid(np.zeros((8, 2)), np.ones((5, 2, 2))), "covariance has 5 rows, but values has 8"),
        (lambda: uncertainty.ellipsoid(np.zeros((8, 2)), np.eye(3)), r"covariance has the shape \(3, 3\), but values asks for \(8, 2, 2\)"),
        (lambda: uncertainty.box(np.zeros((8, 2)), np.ones((5, 2))), "errors has 5 rows, but values has 8"),
        (lambda: uncertainty.ball(np.zeros((8, 2)), np.ones(5)), "error has 5 rows, but values has 8"),
        (lambda: uncertainty.box([[1.0]], 1.0).sample(0), "at least one point"),
        (lambda: uncertainty.box([[1.0]], 1.0).sample(3, sampler="grid"), "grid:C"),
        (lambda: uncertainty.box([[1.0]], 1.0).sample(3, sampler="grid:4"), "4"),
        (lambda: uncertainty.box([[1.0]], 1.0, keys=[1, 2]), "2 keys for 1 objects"),
        (lambda: uncertainty.box([[1.0]], 1.0).sample(2**62), "do not fit into memory"),
    ],
)
def test_what_is_wrong_is_said(make, said):
    with pytest.raises(ValueError, match=said):
        make()
