"""Stars from tables of any make, with and without units; the Galaxy."""

import pickle

import numpy as np
import pandas
import pyarrow
import pytest
from astropy import coordinates, units
from astropy.table import MaskedColumn, QTable, Table
from pyarrow import parquet

import goc
from goc.galaxy import Potential

UNITS = {"ra": "deg", "dec": "deg", "parallax": "mas", "pmra": "mas/yr", "pmdec": "mas/yr", "radial_velocity": "km/s"}
UNITS |= {f"{name}_error": unit for name, unit in UNITS.items() if name not in ("ra", "dec")}


@pytest.fixture(scope="module")
def catalogue():
    rng = np.random.default_rng(11)
    n = 12
    stars = {
        "source_id": np.arange(n) + 4_000_000_000_000_000_000,
        "ra": rng.uniform(0, 360, n),
        "dec": rng.uniform(-60, 60, n),
        "parallax": rng.uniform(0.3, 1, n),
        "pmra": rng.normal(0, 5, n),
        "pmdec": rng.normal(0, 5, n),
        "radial_velocity": rng.normal(0, 80, n),
    }
    for name, error in (("parallax", 0.03), ("pmra", 0.04), ("pmdec", 0.05), ("radial_velocity", 1.0)):
        stars[f"{name}_error"] = np.full(n, error)
    stars["parallax_pmra_corr"] = rng.uniform(-0.4, 0.4, n)
    return stars


def test_every_make_of_table_gives_the_same_bytes(catalogue):
    first = goc.from_gaia(catalogue, m=8)
    assert first.ids[0] == 4_000_000_000_000_000_000 and first.features == ("Jr", "Jz", "Jphi")
    plain = Table(catalogue)
    with_units = QTable(plain)
    for name, unit in UNITS.items():
        with_units[name].unit = unit
    records = np.array(list(zip(*catalogue.values())), [(name, np.asarray(v).dtype) for name, v in catalogue.items()])
    for form in (pandas.DataFrame(catalogue), pyarrow.table(catalogue), plain, with_units, records):
        made = goc.from_gaia(form, m=8)
        assert made.values.tobytes() == first.values.tobytes() and made.penalties.tobytes() == first.penalties.tobytes()
    other = QTable(with_units)
    other["radial_velocity"] = other["radial_velocity"].to("m/s")
    other["ra"] = other["ra"].to("rad")
    assert np.allclose(goc.from_gaia(other, m=8).values, first.values, rtol=1e-9)


def test_errors_that_are_quoted_too_small_are_mended(catalogue):
    def same(made, **errors):
        expected = goc.from_gaia(catalogue | {f"{name}_error": error for name, error in errors.items()}, m=8)
        assert made.values.tobytes() == expected.values.tobytes()
        assert made.penalties.tobytes() == expected.penalties.tobytes()

    parallax, pmra = catalogue["parallax_error"], catalogue["pmra_error"]
    inflated = goc.from_gaia(catalogue, m=8, inflate={"parallax": 1.7})
    same(inflated, parallax=1.7 * parallax)
    assert inflated.metadata["goc_inflate"] == "parallax=1.7" and "goc_error_floor" not in inflated.metadata
    raised = goc.from_gaia(catalogue, m=8, inflate={"parallax": 1.7}, error_floor={"parallax": 0.01, "pmra": 0.1})
    same(raised, parallax=1.7 * parallax, pmra=np.full_like(pmra, 0.1))
    assert raised.metadata["goc_error_floor"] == "parallax=0.01,pmra=0.1"
    names = ("parallax", "pmra", "pmdec", "radial_velocity")
    same(goc.from_gaia(catalogue, m=8, inflate=2), **{name: 2 * catalogue[f"{name}_error"] for name in names})
    same(goc.from_gaia(catalogue, m=8, inflate={}, error_floor={}))


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"inflate": 0}, "inflate 0: a factor is a finite number above 0"),
        ({"inflate": {"pmra": float("nan")}}, "inflate pmra=NaN: a factor is a finite number above 0"),
        ({"inflate": "all"}, "inflate='all': give numbers by measured column"),
        ({"error_floor": 0.02}, "error_floor=0.02: give numbers by measured column"),
        ({"error_floor": {"pmra": -1}}, "error_floor pmra=-1: a floor is a finite number from 0"),
        ({"inflate": {"pmra_error": 2}}, r"`pmra_error` \(did you mean `pmra`\?\); there are: parallax, pmra, pmdec, radial_velocity"),
        ({"error_floor": {"ra": 1}}, "error_floor: no measured column with errors `ra`; there are: parallax"),
    ],
)
def test_what_cannot_be_done_to_errors_is_refused(how, said, catalogue):
    with pytest.raises(ValueError, match=said):
        goc.from_gaia(catalogue, **how)


def test_a_star_depends_on_its_name_and_the_seed_only(catalogue):
    whole = goc.from_gaia(catalogue, m=6)
    some = goc.from_gaia({name: column[[7, 2]] for name, column in catalogue.items()}, m=6)
    assert np.array_equal(some[0], whole[7]) and np.array_equal(some[1], whole[2])
    assert not np.array_equal(goc.from_gaia(catalogue, m=6, random_state=2).values, whole.values)


def test_threads_change_no_byte(catalogue):
    one, two = (goc.from_gaia(catalogue, m=6, n_jobs=n).values.tobytes() for n in (1, 2))
    assert one == two


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"parallax_error": -1.0}, "row 3, object 4000000000000000003, column `parallax_error`: -1.0 is negative"),
        ({"pmra": np.nan}, "row 3, object 4000000000000000003, column `pmra`: nan is not a finite number; fix it, or drop such rows with on_nan='drop'"),
        ({"dec": np.inf}, "column `dec`: inf is not a finite number; fix it, or on_bad='drop'$"),
        ({"parallax_pmra_corr": 1.5}, "column `parallax_pmra_corr`: 1.5 is not a correlation"),
        ({"source_id": 4_000_000_000_000_000_002}, "object 4000000000000000002 is in rows 2 and 3"),
    ],
)
def test_a_number_that_cannot_be_is_named(catalogue, change, said):
    wrong = {name: column.copy() for name, column in catalogue.items()}
    for name, value in change.items():
        wrong[name][3] = value
    with pytest.raises(ValueError, match=said):
        goc.from_gaia(wrong, m=3)


def test_missing_stars_are_dropped_where_asked(catalogue):
    table = Table(catalogue)
    table["radial_velocity"] = MaskedColumn(table["radial_velocity"], mask=np.arange(12) == 5)
    with pytest.raises(ValueError, match="row 5"):
        goc.from_gaia(table, m=3)
    made = goc.from_gaia(table, m=3, on_nan="drop")
    assert len(made) == 11
    assert [(own, drawn, kept) for own, drawn, kept, _ in made.losses] == [(catalogue["source_id"][5], 0, 0)]
    assert "radial_velocity" in made.losses[0][3]
    assert len(goc.from_gaia({**catalogue, "pmra": np.where(np.arange(12) < 2, -9999.0, 1.0)}, m=3)) == 10
    far = {**catalogue, "parallax": np.where(np.arange(12) == 4, -5.0, 0.5)}
    made = goc.from_gaia(far, m=3)
    assert len(made) == 11 and made.losses == [(4_000_000_000_000_000_004, 3, 0, "3 parallax not positive")]
    back = pickle.loads(pickle.dumps(made))
    assert back.values.tobytes() == made.values.tobytes() and back.losses == made.losses and back.features == made.features
    with pytest.raises(ValueError, match="row 4: object 4000000000000000004: all 3 points were rejected .* on_empty='drop'"):
        goc.from_gaia(far, m=3, on_empty="raise")


def test_a_star_that_cannot_be_is_dropped_where_asked(catalogue):
    wrong = {name: column.copy() for name, column in catalogue.items()}
    wrong["parallax_error"][3], wrong["dec"][5], wrong["parallax_pmra_corr"][7] = -1.0, np.inf, 1.5
    made = goc.from_gaia(wrong, m=3, on_bad="drop")
    assert len(made) == 9
    with pytest.raises(ValueError, match="on_bad='keep' is not known"):
        goc.from_gaia(wrong, m=3, on_bad="keep")


def test_units_of_values_and_errors_are_converted_and_others_refused(catalogue):
    table = pyarrow.table(catalogue)

    def named(units):
        fields = [field.with_metadata({"unit": units[field.name]}) if field.name in units else field for field in table.schema]
        scaled = {name: catalogue[name] / factor for name, factor in scales.items()}
        return pyarrow.table({**catalogue, **scaled}, pyarrow.schema(fields))

    scales = {"parallax_error": 1e-3, "radial_velocity": 1e-3, "pmra": 3.6e6, "dec": 1 / 60}
    other = {"parallax_error": "uas", "radial_velocity": "m/s", "pmra": "deg / yr", "dec": "arcmin"}
    first, made = goc.from_gaia(catalogue, m=6), goc.from_gaia(named(other), m=6)
    assert np.allclose(made.values, first.values, rtol=1e-8) and np.allclose(made.penalties, first.penalties, rtol=1e-6)
    assert np.allclose(goc.galaxy.actions(named(other)).Jr, goc.galaxy.actions(catalogue).Jr, rtol=1e-8)
    scales = {}
    with pytest.raises(ValueError, match="column `parallax` is in furlong, but mas is needed; convert it"):
        goc.from_gaia(named({"parallax": "furlong"}), m=3)


def test_contradicting_correlations_are_weakened_with_a_warning(catalogue):
    wrong = {**catalogue, **{name: np.zeros(12) for name in ("parallax_pmdec_corr", "pmra_pmdec_corr")}}
    wrong["parallax_pmra_corr"] = wrong["parallax_pmra_corr"].copy()
    for name, value in (("parallax_pmra_corr", 0.9), ("parallax_pmdec_corr", 0.9), ("pmra_pmdec_corr", -0.9)):
        wrong[name][[2, 6]] = value
    with pytest.warns(UserWarning, match=r"object 4000000000000000002: its correlations contradict each other .* 1 more objects alike"):
        goc.from_gaia(wrong, m=3)


def test_a_distance_prior_holds_candidates_within_its_reach(catalogue):
    wide = {**catalogue, "parallax": np.full(12, 0.3), "parallax_error": np.full(12, 0.1)}
    how = {"m": 200, "sampler": "density", "penalty": "none"}
    plain, near = goc.from_gaia(wide, **how), goc.from_gaia(wide, distance_prior="volume:4", **how)
    spread = lambda made: np.mean([np.ptp(own[:, 2]) for own in made])  # noqa: E731
    assert len(near) == 12 and spread(near) < 0.5 * spread(plain)
    gone = goc.from_gaia({**wide, "parallax": np.where(np.arange(12) == 4, 0.1, 0.3), "parallax_error": np.full(12, 0.01)},
                         distance_prior="volume:4", m=5)  # fmt: skip
    assert gone.losses == [(4_000_000_000_000_000_004, 5, 0, "5 beyond the reach of the distance prior")]
    with pytest.raises(ValueError, match="volume:REACH"):
        goc.from_gaia(catalogue, distance_prior="volume")


def test_what_is_no_catalogue_is_said(catalogue):
    with pytest.raises(ValueError, match="not a star catalogue: .*the table has a"):
        goc.from_gaia({"a": [1.0]})
    with pytest.raises(ValueError, match="no error column for `pmra`"):
        goc.from_gaia({name: column for name, column in catalogue.items() if name != "pmra_error"})
    with pytest.raises(ValueError, match="is not a table"):
        goc.from_gaia(3)
    with pytest.raises(ValueError, match="`rv2` is none|no column `rv2`"):
        goc.from_gaia(catalogue, columns={"radial_velocity": "rv2"})


def as_astropy_sees(catalogue):
    """The measured stars as astropy's coordinates."""
    return coordinates.SkyCoord(
        catalogue["ra"] * units.deg, catalogue["dec"] * units.deg, distance=units.kpc / catalogue["parallax"],
        pm_ra_cosdec=catalogue["pmra"] * units.mas / units.yr, pm_dec=catalogue["pmdec"] * units.mas / units.yr,
        radial_velocity=catalogue["radial_velocity"] * units.km / units.s,
    )  # fmt: skip


def test_spaces_agree_with_astropy(catalogue):
    """What was measured, without errors: astropy's Galactic and Galactocentric Cartesian
    coordinates of it.
    """
    exact = {**catalogue, **{name: np.zeros(12) for name in catalogue if name.endswith("_error")}}
    sky = as_astropy_sees(catalogue)
    with coordinates.galactocentric_frame_defaults.set("v4.0"):
        place = sky.transform_to(coordinates.Galactocentric())
    position, velocity = sky.galactic.cartesian.xyz.to_value("pc").T, sky.galactic.velocity.d_xyz.to_value("km/s").T

    def made(space, **how):
        return goc.from_gaia(exact, m=1, space=space, shape="box", **how).values

    seen = made("xyzuvw")
    assert np.allclose(seen[:, :3], position, rtol=1e-10, atol=1e-8) and np.allclose(seen[:, 3:], velocity, rtol=1e-10, atol=1e-9)
    assert np.array_equal(made("uvw"), seen[:, 3:])
    galactocentric = made("galactocentric", sun="astropy-v4.0")
    assert np.allclose(galactocentric[:, :3], place.cartesian.xyz.to_value("kpc").T, atol=1e-9)
    assert np.allclose(galactocentric[:, 3:], place.velocity.d_xyz.to_value("km/s").T, atol=1e-8)
    # Energy and angular momentum of those places.
    potential = Potential("mwpotential2014")
    x, v = galactocentric[:, :3], galactocentric[:, 3:]
    energy, lz, lperp = made("iom", sun="astropy-v4.0", potential=potential).T
    momentum = np.cross(x, v)
    assert np.allclose(energy, 0.5 * (v**2).sum(axis=1) + potential.value(x), rtol=1e-12)
    assert np.allclose(lz, momentum[:, 2]) and np.allclose(lperp, np.hypot(momentum[:, 0], momentum[:, 1]))
    orbit = goc.from_gaia(exact, m=1, space="orbit", shape="box")
    assert orbit.features[2:] == ("circularity", "eccentricity", "pericentre", "apocentre", "zmax")
    near, far = orbit.values[:, 4], orbit.values[:, 5]
    assert np.allclose(orbit.values[:, 3], (far - near) / (far + near)) and (np.abs(orbit.values[:, 2]) <= 1).all()


def test_spaces_are_named_and_build_only_what_they_need(catalogue, monkeypatch):
    with pytest.raises(ValueError, match="space='xyz' is not known; give one of actions, iom, orbit, xyzuvw, uvw, galactocentric"):
        goc.from_gaia(catalogue, space="xyz")
    # A logarithmic potential has no actions, but energies.
    logarithmic = Potential.from_ini("[Potential]\ntype=Logarithmic\nv0=220\nscaleRadius=1\n")
    assert len(goc.from_gaia(catalogue, m=3, space="iom", potential=logarithmic)) == 12
    monkeypatch.setattr(goc.galaxy, "_own", None)
    monkeypatch.setattr(goc.galaxy, "_finder", None)
    for space in ("xyzuvw", "uvw", "galactocentric"):
        assert "goc_potential" not in goc.from_gaia(catalogue, m=3, space=space).metadata


def test_frames_agree_with_astropy(catalogue):
    """astropy's own transformation with the same Sun, to a metre per second."""
    sky = as_astropy_sees(catalogue)
    with coordinates.galactocentric_frame_defaults.set("v4.0"):
        theirs = sky.transform_to(coordinates.Galactocentric())
    position = theirs.cartesian.xyz.to_value("kpc").T
    velocity = theirs.velocity.d_xyz.to_value("km/s").T
    for form in (sky, sky.galactic, catalogue):
        ours = goc.galaxy.to_galactocentric(form, sun="astropy-v4.0")
        assert np.allclose(ours[:, :3], position, atol=1e-6) and np.allclose(ours[:, 3:], velocity, atol=1e-3)
    seen = goc.galaxy.from_galactocentric(ours, sun="astropy-v4.0")
    for name in ("ra", "dec", "parallax", "pmra", "pmdec", "radial_velocity"):
        assert np.allclose(seen[name], catalogue[name], rtol=1e-8, atol=1e-8), name
    with pytest.raises(ValueError, match="no error bars"):
        goc.from_gaia(sky)


def test_actions_of_a_table_and_of_its_places_are_the_same(catalogue):
    found = goc.galaxy.actions(catalogue)
    places = goc.galaxy.to_galactocentric(catalogue)
    assert np.array_equal(found.Jr, goc.galaxy.actions(places).Jr)
    assert np.allclose(found.Jphi, places[:, 0] * places[:, 4] - places[:, 1] * places[:, 3])
    quantity = goc.galaxy.actions(places, quantity=True)
    assert quantity.Jz.unit == units.kpc * units.km / units.s and np.array_equal(quantity.Jz.value, found.Jz)
    fast = goc.galaxy.actions([[8.0, 0, 0, 900.0, 0, 0], [np.nan] * 6])
    assert fast.note.tolist()[0] == "unbound" and fast.note[1] and np.isnan(fast.Jr).all()


def test_orbits_keep_their_energy_and_come_back(catalogue):
    potential = Potential("mwpotential2014")
    start = goc.galaxy.to_galactocentric(catalogue)
    states = goc.galaxy.orbits(start, [0.0, 0.5, 1.0], potential=potential)
    assert np.array_equal(states[:, 0], start)
    energy = lambda s: 0.5 * (s[:, 3:] ** 2).sum(axis=1) + potential.value(s[:, :3])  # noqa: E731
    assert np.allclose(energy(states[:, 2]), energy(start), rtol=1e-6)
    back = goc.galaxy.orbits(states[:, 2], [-1.0] * units.Gyr, potential=potential)
    assert np.allclose(back[:, 0], start, rtol=1e-4, atol=1e-3)


def test_potentials(tmp_path):
    text = "[Potential]\ntype=Plummer\nmass=1e10\nscaleRadius=2\n"
    (tmp_path / "plummer.ini").write_text(text)
    point = np.array([[3.0, 0.0, 4.0]])
    for potential in (Potential.from_ini(text), Potential(str(tmp_path / "plummer.ini")), pickle.loads(pickle.dumps(Potential.from_ini(text)))):
        # Closed form: -G M / sqrt(r^2 + a^2), with r^2 = 25 kpc^2.
        assert potential.value(point)[0] == pytest.approx(-4.30091727e-6 * 1e10 / np.sqrt(29), rel=1e-6)
        assert np.allclose(potential.acceleration(point)[0], -4.30091727e-6 * 1e10 / 29**1.5 * point[0], rtol=1e-6)
    assert 200 < Potential().circular_velocity(8.0 * units.kpc) < 250
    with pytest.raises(ValueError, match="potential 'newton' is not known"):
        Potential("newton")
    with pytest.raises(ValueError):
        Potential.from_ini("[Potential]\ntype=Nonsense\n")


def test_the_realistic_sky_has_the_bytes_of_the_command(command, tmp_path):
    command("simulate", "--sky", "realistic", "--stars", 60, "--age", 3, "--seed", 3, "--stars-out", tmp_path / "s.parquet")
    theirs = parquet.read_table(tmp_path / "s.parquet").to_pandas()
    ours = goc.galaxy.simulate(sky="realistic", stars=60, age=3, random_state=3)
    assert list(ours) == list(theirs.columns)
    for name, values in ours.items():
        assert np.array_equal(values, theirs[name].to_numpy(), equal_nan=values.dtype.kind == "f"), name
    assert set(ours["component"]) <= {"group", "merger", "globular", "disc", "halo"}
    assert np.array_equal(ours["truth"] == -1, np.isin(ours["component"], ["disc", "halo"]))
    everyone = goc.galaxy.simulate(sky="realistic", stars=60, age=3, without_velocity=0, random_state=3)
    assert np.isfinite(everyone["radial_velocity"]).all()
    for bad in ({"sky": "real"}, {"sky": "realistic", "dwarfs": 3}, {"without_velocity": 0.1}):
        with pytest.raises(ValueError):
            goc.galaxy.simulate(**bad)


def test_simulate_makes_what_from_gaia_takes():
    stars = goc.galaxy.simulate(dwarfs=3, stars=[2, 3, 1], random_state=2)
    assert np.bincount(stars["truth"]).tolist() == [2, 3, 1]
    assert goc.from_gaia(pandas.DataFrame(stars), m=5).truth.tolist() == stars["truth"].tolist()
    with pytest.raises(ValueError):
        goc.galaxy.simulate(dwarfs=0)
