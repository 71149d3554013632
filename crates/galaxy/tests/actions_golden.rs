//! Actions against numbers made by others: the authors' stars, both AGAMAs, and tori with known actions.
//!
//! A relative difference is |J - J_golden| / max(J_golden, 1 kpc km/s): below 1 kpc km/s an action is
//! compared to that, since an orbit's L is some hundreds.

mod common;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use common::data;
use goc_galaxy::actions::{ActionFinder, Outcome, Variant};
use goc_galaxy::frames::{Galactocentric, Sky, SkyPosition, Sun};
use goc_galaxy::potential::{Build, McMillan17};

/// Columns of a table by name.
struct Columns(goc_tables::Table);

impl Columns {
    fn read(path: &Path) -> Self {
        Self(goc_tables::read(path).unwrap())
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        self.0.require(name).unwrap().numbers().unwrap()
    }

    fn texts(&self, name: &str) -> Vec<String> {
        self.0.require(name).unwrap().texts()
    }

    fn stars(&self) -> Vec<Galactocentric> {
        let [x, y, z, vx, vy, vz] = ["x", "y", "z", "vx", "vy", "vz"].map(|name| self.numbers(name));
        (0..x.len())
            .map(|i| Galactocentric { position: [x[i], y[i], z[i]], velocity: [vx[i], vy[i], vz[i]] })
            .collect()
    }
}

fn relative(found: f64, golden: f64) -> f64 {
    (found - golden).abs() / golden.max(1.0)
}

/// The value below which `fraction` of the errors lie.
fn quantile(errors: &[f64], fraction: f64) -> f64 {
    let mut sorted = errors.to_vec();
    assert!(sorted.iter().all(|e| !e.is_nan()), "an error is not a number");
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * fraction).round() as usize]
}

/// How far Jphi moves, at most, if `observables` (parallax, both proper motions, line-of-sight
/// velocity) move by half a unit in the last place of a single-precision number each.
fn jphi_of_single_precision(at: impl Fn([f64; 4]) -> Galactocentric, observables: [f64; 4]) -> f64 {
    let jphi = |observables| {
        let Galactocentric { position: [x, y, _], velocity: [vx, vy, _] } = at(observables);
        x * vy - y * vx
    };
    (0..4)
        .map(|k| {
            let single = observables[k].abs() as f32;
            assert_eq!(f64::from(single), observables[k].abs(), "not in single precision");
            let mut moved = observables;
            moved[k] += 0.5 * f64::from(single.next_up() - single);
            (jphi(moved) - jphi(observables)).abs()
        })
        .sum()
}

#[test]
fn actions_of_the_authors_2750_stars_are_theirs() {
    let Some(folder) = data("actions_of_the_authors_2750_stars_are_theirs") else { return };
    let finder = ActionFinder::milky_way(Variant::Authors).unwrap();
    let sun = Sun::hattori();
    let (mut jr, mut jz, mut seen, mut unbound) = (Vec::new(), Vec::new(), 0, 0);
    let (mut jphi_worst, mut energy_worst) = (BTreeMap::<&str, f64>::new(), 0.0f64);
    for seed in 1..=10 {
        let table = Columns::read(&folder.join(format!("paper/stars_seed{seed:02}.csv")));
        let (l, b) = (table.numbers("true_ell_radian"), table.numbers("true_bee_radian"));
        for kind in ["true", "we"] {
            let column = |name: &str| table.numbers(&format!("{kind}_{name}"));
            let [parallax, pml, pmb, hrv] = ["parallax", "pml", "pmb", "HRV"].map(column);
            let golden = ["Jr", "Jz", "Jphi", "energy"].map(column);
            let at = |i: usize, [parallax, pml, pmb, hrv]: [f64; 4]| {
                let position = SkyPosition::radians(Sky::Galactic, l[i], b[i]).unwrap();
                sun.direction(&position).at(1.0 / parallax, [pml, pmb], hrv)
            };
            let observables = |i: usize| [parallax[i], pml[i], pmb[i], hrv[i]];
            let stars: Vec<Galactocentric> = (0..l.len()).map(|i| at(i, observables(i))).collect();
            // The true observables were stored in single precision, after the actions had been
            // computed from them; the noisy ones were not.
            let rounding = |i: usize| match kind {
                "true" => jphi_of_single_precision(|o| at(i, o), observables(i)),
                _ => 0.0,
            };
            for (i, outcome) in finder.many(&stars).into_iter().enumerate() {
                seen += 1;
                let energy = outcome.energy().unwrap();
                energy_worst = energy_worst.max((energy - golden[3][i]).abs());
                match outcome {
                    Outcome::Bound(found) => {
                        assert_ne!(
                            golden[0][i], -9999.0,
                            "seed {seed} star {i}: the authors have it unbound"
                        );
                        jr.push(relative(found.jr, golden[0][i]));
                        jz.push(relative(found.jz, golden[1][i]));
                        let off = (found.jphi - golden[2][i]).abs();
                        let worst = jphi_worst.entry(kind).or_default();
                        *worst = worst.max(off);
                        let most = 5e-4 + rounding(i);
                        assert!(off <= most, "seed {seed} star {i}, {kind}: Jphi off by {off:e} > {most:e}");
                    }
                    _ => {
                        assert_eq!(golden[0][i], -9999.0, "seed {seed} star {i}: the authors have it bound");
                        unbound += 1;
                    }
                }
            }
        }
    }
    println!("{seen} stars, {unbound} of them unbound");
    for (name, errors) in [("Jr", &jr), ("Jz", &jz)] {
        let [median, p99, most] = [0.5, 0.99, 1.0].map(|f| quantile(errors, f));
        println!("{name}: median {median:.1e}, 99 % {p99:.1e}, max {most:.1e}");
        assert!(median <= 2e-7 && p99 <= 5e-6, "{name}: median {median:e}, 99 % {p99:e}");
    }
    for (kind, worst) in jphi_worst {
        println!("Jphi, {kind}: max {worst:.1e} kpc km/s");
    }
    println!("energy: max {energy_worst:.1e} (km/s)^2");
    assert_eq!(seen, 5500);
    assert!(energy_worst <= 0.05, "energy {energy_worst:e}");
}

/// Both actions of every kind of orbit against an AGAMA.
fn compare_with_agama(variant: Variant, file: &str, folder: &Path) {
    let table = Columns::read(&folder.join("golden").join(file));
    let [jr, jz, jphi] = ["Jr", "Jz", "Jphi"].map(|name| table.numbers(name));
    let found = ActionFinder::milky_way(variant).unwrap().many(&table.stars());
    assert_eq!(found.len(), 3000);
    let mut kinds: BTreeMap<String, [Vec<f64>; 3]> = BTreeMap::new();
    for (i, kind) in table.texts("kind").into_iter().enumerate() {
        let Outcome::Bound(found) = found[i] else { panic!("{file}: row {i} is not bound") };
        let errors = [relative(found.jr, jr[i]), relative(found.jz, jz[i]), (found.jphi - jphi[i]).abs()];
        for (list, error) in kinds.entry(kind).or_default().iter_mut().zip(errors) {
            list.push(error);
        }
    }
    for (kind, errors) in &kinds {
        let text = |list: &[f64]| {
            let [median, p99, most] = [0.5, 0.99, 1.0].map(|f| quantile(list, f));
            format!("median {median:.1e} 99 % {p99:.1e} max {most:.1e}")
        };
        println!(
            "{variant:9} {kind:9} {:5} Jr {} | Jz {}",
            errors[0].len(),
            text(&errors[0]),
            text(&errors[1])
        );
    }
    for (kind, [jr, jz, jphi]) in &kinds {
        for (name, errors) in [("Jr", jr), ("Jz", jz)] {
            let (median, p99) = (quantile(errors, 0.5), quantile(errors, 0.99));
            assert!(median <= 1e-7 && p99 <= 1e-4, "{variant}, {kind}, {name}: {median:e}, 99 % {p99:e}");
        }
        assert!(quantile(jphi, 1.0) <= 1e-9, "{variant}, {kind}");
    }
}

#[test]
fn the_authors_agama_is_reproduced_for_every_kind_of_orbit() {
    let Some(folder) = data("the_authors_agama_is_reproduced_for_every_kind_of_orbit") else { return };
    compare_with_agama(Variant::Authors, "actions_authors.csv.gz", &folder);
}

#[test]
fn the_present_agama_is_reproduced_for_every_kind_of_orbit() {
    let Some(folder) = data("the_present_agama_is_reproduced_for_every_kind_of_orbit") else { return };
    compare_with_agama(Variant::Agama, "actions_current.csv.gz", &folder);
}

#[test]
fn focal_distances_are_agamas_at_its_nodes() {
    let Some(folder) = data("focal_distances_are_agamas_at_its_nodes") else { return };
    for (variant, file) in
        [(Variant::Authors, "focal_distance_grid_authors.csv"), (Variant::Agama, "focal_distance_grid.csv")]
    {
        let table = Columns::read(&folder.join("golden").join(file));
        let [energy, spin, d] = ["E", "Lz_over_Lcirc", "focal_distance_kpc"].map(|name| table.numbers(name));
        let finder = ActionFinder::milky_way(variant).unwrap();
        let mut errors = Vec::new();
        for [e, u, found] in finder.focal_distances().nodes() {
            // The file has six digits: energies so deep that D is below 1 % of a kpc are not told apart by
            // it.
            let nearest = (0..energy.len())
                .filter(|&i| (spin[i] - u).abs() < 1e-6)
                .min_by(|&i, &j| (energy[i] - e).abs().total_cmp(&(energy[j] - e).abs()))
                .unwrap();
            assert!((energy[nearest] - e).abs() < 1e-5 * e.abs(), "{variant}: no node at E {e}");
            if d[nearest] > 0.1 {
                errors.push((found / d[nearest] - 1.0).abs());
            }
        }
        let [median, p90, most] = [0.5, 0.9, 1.0].map(|f| quantile(&errors, f));
        println!("{variant}: {} nodes, D: median {median:.1e}, 90 % {p90:.1e}, max {most:.1e}", errors.len());
        assert!(errors.len() > 450 && median <= 1e-5 && p90 <= 5e-5, "{variant}: median {median:e}");
    }
}

#[test]
fn converged_actions_are_as_near_to_known_tori_as_agamas() {
    let Some(folder) = data("converged_actions_are_as_near_to_known_tori_as_agamas") else { return };
    let table = Columns::read(&folder.join("golden/actions_torus.csv"));
    let stars = table.stars();
    let [jr, jz, scatter] = ["Jr_true", "Jz_true", "E_rel_scatter_of_torus"].map(|name| table.numbers(name));
    let [agama_r, agama_z] = ["Jr_fudge", "Jz_fudge"].map(|name| table.numbers(name));
    let kind = table.texts("kind");
    // The tori were made in AGAMA's build of the potential.
    let potential = Arc::new(McMillan17::new(Build::Agama));
    let found = ActionFinder::new(potential, Variant::Converged).unwrap().many(&stars);
    // By kind: AGAMA's Jr, ours, AGAMA's Jz, ours.
    let mut kinds: BTreeMap<&str, [Vec<f64>; 4]> = BTreeMap::new();
    for i in (0..stars.len()).filter(|&i| scatter[i] < 1e-3) {
        let ours = found[i].bound().unwrap();
        let errors = [agama_r[i] / jr[i], ours.jr / jr[i], agama_z[i] / jz[i], ours.jz / jz[i]];
        for (list, ratio) in kinds.entry(&kind[i]).or_default().iter_mut().zip(errors) {
            list.push((ratio - 1.0).abs());
        }
    }
    let mut sums = [0.0, 0.0];
    for (kind, errors) in &kinds {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| quantile(&errors[k], 0.5));
        let mean = |k: usize| errors[k].iter().sum::<f64>() / errors[k].len() as f64;
        println!("{kind:9} {:4} median error of Jr: AGAMA {a:.5}, converged {b:.5}", errors[0].len());
        println!("{:14} mean {:.5}, {:.5}", "", mean(0), mean(1));
        println!("{:14} median error of Jz: AGAMA {c:.5}, converged {d:.5}", "");
        println!("{:14} mean {:.5}, {:.5}", "", mean(2), mean(3));
        // The medians of so few tori (eight points on each) jump by 5 % if a handful of orbits is left out.
        assert!(b <= 1.05 * a && d <= 1.05 * c, "{kind}");
        sums = [sums[0] + a + c, sums[1] + b + d];
    }
    assert!(kinds.len() == 3 && sums[1] <= 1.01 * sums[0], "{sums:?}");
}

#[test]
fn angles_are_those_of_the_tori() {
    let Some(folder) = data("angles_are_those_of_the_tori") else { return };
    let table = Columns::read(&folder.join("golden/actions_torus.csv"));
    let golden = ["theta_r", "theta_z", "theta_phi"].map(|name| table.numbers(name));
    let scatter = table.numbers("E_rel_scatter_of_torus");
    let potential = Arc::new(McMillan17::new(Build::Agama));
    let finder = ActionFinder::new(potential, Variant::Converged).unwrap();
    let mut errors = [Vec::new(), Vec::new(), Vec::new()];
    for (i, star) in table.stars().iter().enumerate().filter(|(i, _)| scatter[*i] < 1e-3) {
        let found = finder.with_angles(star).bound().unwrap();
        for k in 0..3 {
            let off = (found.angles[k] - golden[k][i]) / std::f64::consts::TAU;
            errors[k].push((off - off.round()).abs() * std::f64::consts::TAU);
        }
    }
    for (name, errors) in ["r", "z", "phi"].into_iter().zip(&errors) {
        let [median, p90] = [0.5, 0.9].map(|f| quantile(errors, f));
        println!("theta_{name}: median {median:.4} rad, 90 % {p90:.4}");
        // The fudge's own error, as in the actions: a percent or two.
        assert!(median < 0.02 && p90 < 0.1, "theta_{name}: median {median}, 90 % {p90}");
    }
}
