"""Stars without a velocity or a metallicity: what cannot be is named, as the command names it."""

import pickle

import numpy as np
import pytest

import goc


@pytest.fixture
def stars():
    """Forty stars, each measured whole."""
    rng = np.random.default_rng(18)
    n = 40
    columns = {
        "source_id": np.arange(n) + 100,
        "ra": rng.uniform(0, 360, n),
        "dec": rng.uniform(-60, 60, n),
        "parallax": rng.uniform(0.5, 1, n),
        "pmra": rng.normal(0, 5, n),
        "pmdec": rng.normal(0, 5, n),
        "radial_velocity": rng.normal(0, 80, n),
        "fe_h": rng.normal(-1.2, 0.5, n),
        "fe_h_error": np.full(n, 0.1),
    }
    for name, error in (("parallax", 0.02), ("pmra", 0.02), ("pmdec", 0.02), ("radial_velocity", 1.0)):
        columns[f"{name}_error"] = np.full(n, error)
    return columns


def made(stars, **more):
    return goc.from_gaia(stars, m=10, space="uvw", **more)


def test_a_star_with_neither_velocity_nor_proper_motion_is_refused_or_dropped(stars):
    stars["radial_velocity"][[5, 6]] = np.nan
    stars["pmra"][5] = np.nan
    with pytest.raises(ValueError, match="`pmra`"):
        made(stars, missing_rv="prior")
    sets = made(stars, missing_rv="prior", on_nan="drop")
    names = np.unique(sets.to_dict()["object"])
    assert len(sets) == 39 and 105 not in names
    assert sets.counts[list(names).index(106)] > sets.counts[0]


@pytest.mark.parametrize("rule", ["prior", "prior:100"])
def test_without_any_velocity_there_is_no_prior(stars, rule):
    stars["radial_velocity"][:] = np.nan
    with pytest.raises(ValueError, match="`radial_velocity`, too few to learn a prior from"):
        made(stars, missing_rv=rule)


@pytest.mark.parametrize("rule", ["prior:0", "prior:-3", "prior:nan", "prior:x"])
def test_a_prior_without_a_width_is_named(stars, rule):
    stars["radial_velocity"][5] = np.nan
    with pytest.raises(ValueError, match=r"must be above 0 and at most 299792\.458"):
        made(stars, missing_rv=rule)


@pytest.mark.parametrize("value", [-9999.0, np.nan])
def test_a_metallicity_that_is_missing_is_a_wide_set(stars, value):
    stars["fe_h"][5] = value
    sets = made(stars, with_="fe_h")
    wide, narrow = (sets.values[sets.offsets[i] : sets.offsets[i + 1], -1] for i in (5, 4))
    assert np.ptp(wide) > 1 > 0.4 > np.ptp(narrow)
    assert -4 < wide.min() and wide.max() < 2


def test_an_error_of_zero_is_exact_and_a_negative_one_is_named(stars):
    stars["fe_h_error"][5] = 0.0
    sets = made(stars, with_={"fe_h": "fe_h_error"})
    own = sets.values[sets.offsets[5] : sets.offsets[6], -1]
    assert (own == stars["fe_h"][5]).all()
    stars["radial_velocity_error"][5] = 0.0
    assert len(made(stars, missing_rv="prior")) == 40
    stars["fe_h_error"][5] = -0.1
    with pytest.raises(ValueError, match="`fe_h_error`: -0.1 is negative"):
        made(stars, with_="fe_h")


def test_a_column_of_text_is_named(stars):
    stars["name"] = np.array([f"star {i}" for i in range(40)])
    for with_ in ({"name": "fe_h_error"}, {"fe_h": "name"}):
        with pytest.raises(ValueError, match="column `name`.* numbers"):
            made(stars, with_=with_)


def test_sets_know_which_stars_have_a_value_from_a_prior(stars):
    assert made(stars, missing_rv="prior").from_prior is None
    stars["radial_velocity"][5] = np.nan
    sets = made(stars, missing_rv="prior")
    assert list(np.flatnonzero(sets.from_prior)) == [5]
    for again in (goc.Candidates.from_table(sets.to_dict()), pickle.loads(pickle.dumps(sets))):
        assert (again.from_prior == sets.from_prior).all()
    with pytest.raises(ValueError, match="1 from_prior where 2 are needed"):
        goc.Candidates([[0.0], [1.0]], [0, 1, 2], from_prior=[True])


def test_a_label_is_withheld_where_its_probability_is_low(stars):
    stars["radial_velocity"][::2] = np.nan
    sets = made(stars, missing_rv="prior", sampler="tails")
    found = goc.MarginalMixture(chains=2, burn=10, keep=40, random_state=1).fit(sets)
    sizes = np.array([(found.labels_ == label).sum() for label in found.labels_])
    labelled = sets.from_prior & (found.labels_ >= 0) & (sizes > 1)
    assert (found.labels_[sets.from_prior] == -1).any()
    plain = goc.Candidates(sets.values, sets.offsets, sets.penalties, metadata=sets.metadata)
    before = goc.MarginalMixture(chains=2, burn=10, keep=40, random_state=1).fit(plain)
    assert (before.probabilities_[labelled] >= 0.7).all()
    # The draws are the same; only who is labelled changes.
    assert (found.labels_[~sets.from_prior] >= 0).sum() <= (before.labels_[~sets.from_prior] >= 0).sum()
