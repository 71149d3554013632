//! Galaxies read from AGAMA's text format.

use goc_galaxy::potential::ini::{IniError, parse};
use goc_galaxy::potential::*;

/// McMillan (2017), table 3, in AGAMA's words, with all that may vary: capitals, comments, spaces, order.
const MCMILLAN: &str = "
# the best-fitting model
[Potential thin disc]
type = Disk
surfaceDensity = 8.95679e+08
scaleRadius=2.49955
scaleHeight=0.3   # kpc

[potential thick disc]
TYPE=disk
SURFACEDENSITY=1.83444e+08
scaleradius=3.02134
ScaleHeight=0.9

[Potential HI]
type=Disk
surfaceDensity=5.31319e+07
scaleRadius=7
scaleHeight=-0.085
innerCutoffRadius=4

[Potential H2]
innerCutoffRadius=12
type=Disk
surfaceDensity=2.17995e+09
scaleRadius=1.5
scaleHeight=-0.045

[Potential bulge]
type=Spheroid
densityNorm=9.8351e+10
axisRatioZ=0.5
gamma=0
beta=1.8
scaleRadius=0.075
outerCutoffRadius=2.1

[Potential halo]
type=Spheroid
densityNorm=8.53702e+06
gamma=1
beta=3
alpha=1
scaleRadius=19.5725
";

#[test]
fn mcmillans_ini_gives_mcmillans_bytes() {
    let (read, known) = (parse(MCMILLAN).unwrap(), McMillan17::new(Build::Converged));
    assert_eq!(read.len(), 1);
    for (r, z) in
        [(0.0, 0.0), (1e-6, 0.0), (0.1, 0.02), (3.0, -1.0), (8.178, 0.0208), (20.0, 15.0), (1e6, 0.0)]
    {
        assert_eq!(read.gradient(r, z), known.gradient(r, z));
        assert_eq!(read.curvature(r, z), known.curvature(r, z));
        assert_eq!(read.density(r, z), known.density(r, z));
    }
}

#[test]
fn every_type_is_read_into_its_potential() {
    let text = "[Potential a]\ntype=NFW\nmass=1e12\nscaleRadius=20\n[Potential b]\ntype=Plummer\nmass=1e9\nscaleRadius=1\n\
                [Potential c]\ntype=Isochrone\nmass=1e10\nscaleRadius=2\n[Potential]\ntype=MiyamotoNagai\nmass=1e11\n\
                scaleRadius=3\nscaleHeight=.3\n[Potential d]\ntype=Logarithmic\nv0=100\nscaleRadius=1\naxisRatioZ=.9\n\
                [Potential e]\ntype=Plummer\nmass=4e6\nscaleRadius=0\n";
    let mut known = Sum::default();
    known.push(NFW::new(1e12, 20.0).unwrap());
    known.push(Plummer::new(1e9, 1.0).unwrap());
    known.push(Isochrone::new(1e10, 2.0).unwrap());
    known.push(MiyamotoNagai::new(1e11, 3.0, 0.3).unwrap());
    known.push(Logarithmic::new(100.0, 1.0, 0.9).unwrap());
    known.push(Kepler::new(4e6).unwrap());
    let read = parse(text).unwrap();
    assert_eq!(read.len(), known.len());
    assert_eq!(read.gradient(8.0, 1.0), known.gradient(8.0, 1.0));
}

#[test]
fn a_mass_stands_for_the_density_it_makes() {
    // Hernquist's sphere: gamma = 1, beta = 4 are the defaults. A disc: M = 2 pi Sigma0 Rd^2.
    let sphere = parse("[Potential]\ntype=Spheroid\nmass=1e10\nscaleRadius=2\n").unwrap();
    let known = -goc_galaxy::units::G * 1e10 / (5.0 + 2.0);
    assert!((sphere.value(3.0, 4.0) / known - 1.0).abs() < 2e-9);
    let disc = |line: &str| {
        parse(&format!("[Potential]\ntype=Disk\nscaleRadius=2\nscaleHeight=.3\n{line}\n"))
            .unwrap()
            .value(4.0, 0.1)
    };
    let mass = 2.0 * std::f64::consts::PI * 1e9 * 4.0;
    assert!((disc(&format!("mass={mass}")) / disc("surfaceDensity=1e9") - 1.0).abs() < 1e-11);
}

#[test]
fn what_is_wrong_is_named_with_section_line_and_key() {
    let message = |text: &str| parse(text).unwrap_err().to_string();
    assert_eq!(parse("# nothing\n").unwrap_err(), IniError::Empty);
    assert_eq!(message("mass = 3\n"), "line 1: `mass = 3` is neither [Potential name] nor key = value");
    assert_eq!(
        message("[Potential a]\nhello\n"),
        "line 2: `hello` is neither [Potential name] nor key = value"
    );
    assert_eq!(message("[Density a]\n"), "line 1: section [Density a] is not a [Potential name]");
    assert_eq!(message("[Potential a]\nmass = 1\n"), "line 1, [Potential a]: `type` is missing");
    assert_eq!(
        message("[Potential a]\n\ntype = Ferrers\n"),
        "line 3, [Potential a]: type `Ferrers` is not known; known are Disk, Spheroid, NFW, Plummer, Isochrone, \
         MiyamotoNagai, Logarithmic"
    );
    assert_eq!(
        message("[Potential a]\ntype=NFW\nmass=1\nscaleRadius=2\naxisRatioY=.5\n"),
        "line 5, [Potential a]: NFW has no key `axisRatioY`"
    );
    assert_eq!(
        message("[Potential a]\ntype=NFW\nMass=1\nmass=2\n"),
        "line 4, [Potential a]: `mass` was given before"
    );
    assert_eq!(
        message("[Potential a]\ntype=NFW\nmass=1e12 Msun\nscaleRadius=2\n"),
        "line 3, [Potential a]: mass = `1e12 Msun` is not a number"
    );
    assert_eq!(
        message("[Potential a]\ntype=Plummer\nmass=1\nscaleRadius=-2\n"),
        "line 1, [Potential a]: Plummer: scale radius is -2, it must be finite and above 0"
    );
    assert_eq!(
        message("[Potential a]\ntype=Disk\nscaleRadius=2\nscaleHeight=1\n"),
        "line 1, [Potential a]: `surfaceDensity` is missing"
    );
    assert!(message("[Potential a]\ntype=Spheroid\nmass=1\nscaleRadius=2\nbeta=3\n").contains("beta"));
    assert!(
        message("[Potential a]\ntype=Disk\nmass=1\nsurfaceDensity=2\nscaleRadius=2\nscaleHeight=1\n")
            .contains("`mass` was given before")
    );
}
