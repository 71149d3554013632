//! McMillan's Milky Way against AGAMA's numbers.

mod common;

use common::{data, golden, median_and_max};
use goc_galaxy::potential::{Build, McMillan17, Potential};

/// Relative errors of the potential against a golden table.
fn potential_errors(folder: &std::path::Path, file: &str, build: Build) -> Vec<f64> {
    let potential = McMillan17::new(build);
    let [x, y, z, phi] = golden(folder, file, ["x", "y", "z", "Phi"]);
    assert_eq!(phi.len(), 1200);
    (0..phi.len())
        .map(|i| ((potential.value((x[i] * x[i] + y[i] * y[i]).sqrt(), z[i]) - phi[i]) / phi[i]).abs())
        .collect()
}

#[test]
fn both_agamas_potentials_are_reproduced() {
    let Some(folder) = data("both_agamas_potentials_are_reproduced") else { return };
    for (file, build) in [("potential_current.csv", Build::Agama), ("potential_authors.csv", Build::Authors)]
    {
        let (median, max) = median_and_max(potential_errors(&folder, file, build));
        println!("{build:?}: relative error of Phi: median {median:.2e}, max {max:.2e}");
        assert!(median <= 1e-10 && max <= 5e-9, "{build:?}: median {median:e}, max {max:e}");
    }
}

#[test]
fn agamas_force_and_density_are_reproduced() {
    let Some(folder) = data("agamas_force_and_density_are_reproduced") else { return };
    let potential = McMillan17::new(Build::Agama);
    let [x, y, z, ax, ay, az, rho] =
        golden(&folder, "potential_current.csv", ["x", "y", "z", "ax", "ay", "az", "rho"]);
    let (mut forces, mut laplacians, mut densities) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..x.len() {
        let r = (x[i] * x[i] + y[i] * y[i]).sqrt();
        let (gradient, c) = (potential.gradient(r, z[i]), potential.curvature(r, z[i]));
        let size = (ax[i] * ax[i] + ay[i] * ay[i] + az[i] * az[i]).sqrt();
        let (dx, dy, dz) =
            (gradient.d_r * x[i] / r + ax[i], gradient.d_r * y[i] / r + ay[i], gradient.d_z + az[i]);
        forces.push((dx * dx + dy * dy + dz * dz).sqrt() / size);
        let laplacian =
            (c.d_rr + c.d_zz + gradient.d_r / r) / (4.0 * std::f64::consts::PI * goc_galaxy::units::G);
        laplacians.push((laplacian / rho[i] - 1.0).abs());
        densities.push((potential.density(r, z[i]) / rho[i] - 1.0).abs());
    }
    let (median, max) = median_and_max(forces);
    println!("relative error of the force: median {median:.2e}, max {max:.2e}");
    assert!(median <= 2e-8 && max <= 1e-6, "median {median:e}, max {max:e}");
    // AGAMA's density is the Laplacian of its multipoles, which end at degree 32, so ours differs
    // from the true one in the same way.
    let (median, max) = median_and_max(laplacians);
    println!("relative error of the Laplacian: median {median:.2e}, max {max:.2e}");
    assert!(median <= 3e-7 && max <= 5e-5, "median {median:e}, max {max:e}");
    let (median, max) = median_and_max(densities);
    println!("true density against AGAMA's: median {median:.2e}, max {max:.2e}");
    assert!(median <= 5e-4 && max <= 2e-2, "median {median:e}, max {max:e}");
}

#[test]
fn rotation_curve_and_frequencies_are_agamas() {
    let Some(folder) = data("rotation_curve_and_frequencies_are_agamas") else { return };
    let potential = McMillan17::new(Build::Agama);
    let [r, vcirc, omega, kappa, nu, phi] =
        golden(&folder, "vcirc_20.csv", ["R", "vcirc", "Omega", "kappa", "nu", "Phi"]);
    for i in 0..r.len() {
        let (k, n, o) = potential.epicycle_frequencies(r[i]);
        let errors = [
            ("vcirc", potential.circular_velocity(r[i]) / vcirc[i] - 1.0, 1e-5),
            ("Omega", o / omega[i] - 1.0, 1e-5),
            ("kappa", k / kappa[i] - 1.0, 1e-4),
            ("nu", n / nu[i] - 1.0, 1e-5),
            ("Phi", potential.value(r[i], 0.0) / phi[i] - 1.0, 1e-6),
        ];
        for (name, error, most) in errors {
            assert!(error.abs() < most, "R = {}: {name} is off by {error:e}", r[i]);
        }
    }
}
