"""The Milky Way: frames, potentials, actions, orbits and a mock catalogue.

Plain numbers are in kpc, km/s, mas, mas/yr, degrees and Gyr; astropy's quantities, coordinates and
tables are converted where they come in, and given back (``quantity=True``) where asked for. astropy
is needed only for that.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _goc
from ._base import _seed, _threads
from ._progress import bar
from ._tables import Table

__all__ = ["Actions", "Potential", "actions", "angles", "from_galactocentric", "orbits", "simulate", "to_galactocentric"]


class Potential:
    """An axisymmetric potential.

    Parameters
    ----------
    name : str
        ``"mcmillan17"`` (McMillan 2017), ``"mwpotential2014"`` (Bovy 2015), or a file of components
        that ends in .ini (AGAMA's).

    Examples
    --------
    >>> from goc.galaxy import Potential
    >>> round(float(Potential("mcmillan17").circular_velocity(8.2)), 1)
    233.1
    """

    def __init__(self, name: str = "mcmillan17") -> None:
        self._build(str(name), Path(name).read_text() if str(name).endswith(".ini") else None)

    def _build(self, name: str, text: str | None) -> None:
        self.name, self._text = name, text
        self._potential = _goc.Potential(name.lower()) if text is None else _goc.Potential("ini", text)

    @classmethod
    def from_ini(cls, text: str) -> Potential:
        """From the text of an .ini file, with one section per component."""
        made = cls.__new__(cls)
        made._build("ini", text)
        return made

    def __repr__(self) -> str:
        return f"Potential({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_potential, (self.name, self._text))

    def value(self, positions: ArrayLike) -> NDArray[np.float64]:
        """The potential, (km/s)^2, at positions (n, 3) in kpc."""
        return self._potential.evaluate(_points(positions))[:, 0]

    def acceleration(self, positions: ArrayLike) -> NDArray[np.float64]:
        """Accelerations (n, 3), (km/s)^2 / kpc, at positions (n, 3) in kpc."""
        return self._potential.evaluate(_points(positions))[:, 1:4]

    def density(self, positions: ArrayLike) -> NDArray[np.float64]:
        """Mass density, Msun / kpc^3, at positions (n, 3) in kpc."""
        return self._potential.evaluate(_points(positions))[:, 4]

    def circular_velocity(self, radius: ArrayLike) -> NDArray[np.float64]:
        """Speed on circular orbits of this radius (kpc), km/s."""
        radius = np.asarray(_in(radius, "kpc"), dtype=np.float64)
        return self._potential.circular_velocity(radius.reshape(-1)).reshape(radius.shape)


def _potential(name: str, text: str | None) -> Potential:
    return Potential(name) if text is None else Potential.from_ini(text)


def _points(positions: Any) -> NDArray[np.float64]:
    positions = np.atleast_2d(np.asarray(_in(positions, "kpc"), dtype=np.float64))
    return np.ascontiguousarray(positions)


def _in(value: Any, unit: str) -> Any:
    """A quantity as a number in this unit; a number as it is."""
    return value.to_value(unit) if hasattr(value, "to_value") else value


@lru_cache(maxsize=8)
def _named_finder(name: str, variant: str) -> Any:
    return _goc.ActionFinder(Potential(name)._potential, variant)


def _finder(potential: Any, variant: str) -> Any:
    if isinstance(potential, Potential) and potential._text is None:
        potential = potential.name
    if isinstance(potential, Potential) or str(potential).endswith(".ini"):
        return _goc.ActionFinder(_own(potential), variant)
    return _named_finder(str(potential).lower(), variant)


def _own(potential: Any) -> Any:
    return (potential if isinstance(potential, Potential) else Potential(potential))._potential


def _is_skycoord(stars: Any) -> bool:
    return hasattr(stars, "frame") and hasattr(stars, "spherical")


def to_galactocentric(
    stars: Any,
    *,
    columns: Mapping[str, str] | None = None,
    sun: str = "hattori",
    angles: str = "degrees",
    zero_point: float = 0.0,
    return_reasons: bool = False,
) -> Any:
    """Positions and velocities (x, y, z, vx, vy, vz; kpc, km/s) in the frame of the Galaxy.

    Parameters
    ----------
    stars : table, SkyCoord with distances and velocities, or array (n, 6)
        A table in any of the forms that :func:`goc.from_gaia` takes (without errors); an array is
        taken to be x, y, z, vx, vy, vz.
    columns, sun, angles, zero_point
        As for :func:`goc.from_gaia`.
    return_reasons : bool
        Also return, for each star, why it has no position; empty if it has one.

    Returns
    -------
    places : array (n, 6)
        NaN where a star has no position: a parallax that is not positive, a missing number.

    Examples
    --------
    >>> import goc, numpy as np
    >>> star = {"ra": [266.4], "dec": [-28.9], "distance": [8.0], "pmra": [0.0], "pmdec": [0.0], "radial_velocity": [0.0]}
    >>> bool(np.linalg.norm(goc.galaxy.to_galactocentric(star)[0, :3]) < 0.3)
    True
    """
    if _is_skycoord(stars):
        sky = stars.icrs
        rows = np.column_stack(
            [np.atleast_1d(part) for part in (
                sky.ra.to_value("deg"), sky.dec.to_value("deg"), sky.distance.to_value("kpc"),
                sky.pm_ra_cosdec.to_value("mas/yr"), sky.pm_dec.to_value("mas/yr"), sky.radial_velocity.to_value("km/s"))]
        )  # fmt: skip
        form, depth, angles = "icrs", "distance", "degrees"
    elif isinstance(stars, np.ndarray) and stars.dtype.names is None or isinstance(stars, (list, tuple)):
        rows, form, depth = np.atleast_2d(np.asarray(stars, dtype=np.float64)), "galactocentric", None
    else:
        rows, form, depth = _goc.star_rows(Table(stars), list((columns or {}).items()), angles)
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    if form == "galactocentric":
        if rows.shape[1] != 6:
            raise ValueError(f"a star has 6 numbers (x, y, z, vx, vy, vz), not {rows.shape[1]}")
        reasons = ["" if good else "a number is missing or not finite" for good in np.isfinite(rows).all(axis=1)]
        return (rows, reasons) if return_reasons else rows
    if zero_point != 0.0 and depth != "parallax":
        raise ValueError("zero_point is for parallaxes; the catalogue has distances")
    places, reasons = _goc.to_galactocentric(rows, form, depth or "", float(zero_point), angles, sun)
    return (places, reasons) if return_reasons else places


def from_galactocentric(places: ArrayLike, *, sky: str = "icrs", sun: str = "hattori") -> dict[str, NDArray[np.float64]]:
    """The observed quantities of stars at these positions.

    Parameters
    ----------
    places : array (n, 6)
        x, y, z, vx, vy, vz in kpc and km/s.
    sky : {"icrs", "galactic"}
    sun : str

    Returns
    -------
    dict
        ra, dec (or l, b; degrees), distance (kpc), parallax (mas), pmra, pmdec (or pml, pmb;
        mas/yr), radial_velocity (km/s).
    """
    rows = np.ascontiguousarray(np.atleast_2d(np.asarray(places, dtype=np.float64)))
    seen = _goc.from_galactocentric(rows, sky, sun)
    names = ("ra", "dec", "distance", "pmra", "pmdec") if sky == "icrs" else ("l", "b", "distance", "pml", "pmb")
    made = dict(zip((*names, "radial_velocity"), seen.T))
    made["parallax"] = 1.0 / made["distance"]
    return made


class Actions(dict[str, Any]):
    """Columns Jr, Jz, Jphi (kpc km/s), energy ((km/s)^2) and note (why there are none); as
    attributes too.
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


def actions(
    stars: Any,
    *,
    potential: Any = "mcmillan17",
    variant: str = "converged",
    jphi: str = "paper",
    columns: Mapping[str, str] | None = None,
    sun: str = "hattori",
    angles: str = "degrees",
    zero_point: float = 0.0,
    quantity: bool = False,
    n_jobs: int | None = None,
) -> Actions:
    """Orbital actions of stars, as ``goc actions`` gives them.

    Parameters
    ----------
    stars, columns, sun, angles, zero_point
        As for :func:`to_galactocentric`.
    potential, variant, jphi
        As for :func:`goc.from_gaia`.
    quantity : bool
        Give astropy quantities.
    n_jobs : int or None

    Returns
    -------
    Actions
        NaN and a note where a star has none (unbound, no distance).

    Examples
    --------
    >>> import goc
    >>> found = goc.galaxy.actions([[-8.0, 0.0, 0.1, 10.0, 220.0, 5.0]])
    >>> float(found.Jphi[0])
    -1760.0
    """
    places, reasons = to_galactocentric(
        stars, columns=columns, sun=sun, angles=angles, zero_point=zero_point, return_reasons=True
    )
    found, notes = _finder(potential, variant).actions(np.ascontiguousarray(places), jphi, _threads(n_jobs))
    made = Actions(zip(("Jr", "Jz", "Jphi", "energy"), found.T))
    made["note"] = np.array([reason or note for reason, note in zip(reasons, notes)])
    if quantity:
        from astropy import units

        for name, unit in (("Jr", "kpc km/s"), ("Jz", "kpc km/s"), ("Jphi", "kpc km/s"), ("energy", "km2/s2")):
            made[name] = made[name] * units.Unit(unit)
    return made


def angles(stars: Any, *, potential: Any = "mcmillan17", variant: str = "converged", jphi: str = "paper",
           n_jobs: int | None = None, **how: Any) -> dict[str, NDArray[np.float64]]:  # fmt: skip
    """Angles (rad) and frequencies (rad/Gyr) of stars on their orbits.

    The columns are theta_r, theta_z, theta_phi, Omega_r, Omega_z and Omega_phi.

    Parameters are those of :func:`actions`.
    """
    places = np.ascontiguousarray(to_galactocentric(stars, **how))
    found = _finder(potential, variant).angles(places, jphi, _threads(n_jobs))
    return dict(zip(("theta_r", "theta_z", "theta_phi", "Omega_r", "Omega_z", "Omega_phi"), found.T))


def orbits(
    stars: Any, times: ArrayLike, *, potential: Any = "mcmillan17", accuracy: float = 1e-8, n_jobs: int | None = None,
    verbose: int = 0, **how: Any,
) -> NDArray[np.float64]:  # fmt: skip
    """Follow stars through time.

    Parameters
    ----------
    stars
        As for :func:`to_galactocentric`, with its keywords.
    times : array of T numbers, Gyr, or a quantity
        In any order; 0 is now, negative is the past.
    potential : str or Potential
    accuracy : float
        Relative, 1e-13 to 1e-3.
    n_jobs, verbose
        As for the estimators.

    Returns
    -------
    states : array (n, T, 6)
        x, y, z, vx, vy, vz in kpc and km/s.

    Examples
    --------
    >>> import goc
    >>> goc.galaxy.orbits([[-8.0, 0.0, 0.1, 10.0, 220.0, 5.0]], [0.0, -1.0]).shape
    (1, 2, 6)
    """
    places = np.ascontiguousarray(to_galactocentric(stars, **how))
    times = np.atleast_1d(np.asarray(_in(times, "Gyr"), dtype=np.float64))
    with bar(verbose, len(places), "stars") as progress:
        states = _goc.orbits(_own(potential), places, times.tolist(), float(accuracy), _threads(n_jobs), progress)
    return states.reshape(len(places), len(times), 6)


def simulate(
    *,
    sky: str = "paper",
    dwarfs: int = 50,
    stars: int | list[int] | None = None,
    without_velocity: float | None = None,
    field: int = 0,
    dispersion: float = 5.0,
    speed: float = 100.0,
    age: float = 10.0,
    reach: float = 5.0,
    latitude: float = 20.0,
    magnitudes: tuple[float, float] = (-2.0, 2.0),
    errors: str = "paper",
    most: int = 30_000,
    full: bool = False,
    accuracy: float | None = None,
    variant: str = "converged",
    sun: str = "hattori",
    jphi: str = "paper",
    random_state: Any = 1,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> dict[str, NDArray[Any]]:
    """A mock Milky Way: stars of disrupted dwarf galaxies near the Sun, with Gaia's errors.

    Parameters
    ----------
    sky : {"paper", "realistic"}
        The simulation of the paper's Appendix A, or a harder one: groups of 3 to 3000 stars, a
        radial merger, globular clusters, a thick disc and a smooth halo, with metallicities, and
        with errors that are too small for some stars. The realistic sky draws its own groups, so
        `dwarfs`, `field`, `dispersion`, `most` and `full` must be left out.
    dwarfs : int
    stars : int or list of int, optional
        Stars per dwarf; by default 1 to 10 in turn. For the realistic sky: all stars together, by
        default 5000.
    without_velocity : float, optional
        Share of the realistic sky's stars without a radial velocity (NaN); by default 0.1.
    field : int
        Additional field stars, without siblings.
    dispersion, speed : float
        Spread of velocities within a dwarf, and of the dwarfs' own, km/s.
    age : float
        When the dwarfs fell in, Gyr ago.
    reach, latitude : float
        Distance out to which stars are observed (kpc), and lowest Galactic latitude (degrees).
    magnitudes : two floats
        Range of absolute magnitudes.
    errors : {"paper", "gaia-dr3", "gaia-dr4", "gaia-dr5"}
    most, full, accuracy, variant, sun, jphi
        As for ``goc simulate``.
    random_state, n_jobs, verbose
        As for the estimators.

    Returns
    -------
    dict of columns
        One row per star: measured values with errors, `truth`, and the true values;
        pandas.DataFrame or astropy's Table take it as it is. The realistic sky also has
        `component`, `fe_h`, `fe_h_error`, `true_fe_h` and `error_factor`; the `truth` of its field
        stars is -1.

    Examples
    --------
    >>> import goc
    >>> catalogue = goc.galaxy.simulate(dwarfs=3, stars=2)
    >>> len(catalogue["parallax"]), int(catalogue["truth"].max())
    (6, 2)
    """
    wanted = {
        "sky": sky, "dwarfs": dwarfs, "stars": None if stars is None else np.atleast_1d(stars).tolist(), "field": field,
        "without_velocity": None if without_velocity is None else float(without_velocity),
        "dispersion": float(dispersion), "speed": float(speed), "age": float(age), "reach": float(reach),
        "latitude": float(latitude), "magnitudes": [float(m) for m in magnitudes], "errors": errors, "most": most, "full": full,
        "accuracy": accuracy, "sun": sun, "jphi": jphi, "seed": _seed(random_state),
    }  # fmt: skip
    # How many dwarfs the realistic sky has is drawn with the rest.
    with bar(verbose, dwarfs + field if sky == "paper" else None, "dwarfs") as progress:
        return _goc.simulate(wanted, _finder("mcmillan17", variant), _threads(n_jobs), progress)
