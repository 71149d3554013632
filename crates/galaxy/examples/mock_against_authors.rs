//! Ten mock Milky Ways beside the authors' ten sets: are they draws from one law?
//!
//! For each quantity a two-sample Kolmogorov-Smirnov test of ours (seeds 1 to 10, or from the
//! number given) against theirs, and GOC on ours. Stars of one dwarf are not independent, and
//! neither are sets of five to ten; where a test assumes it, each dwarf gives one number. Prints
//! the table of docs/explanation/mock.md. The authors' data are looked for in GOC_DATA, else
//! ../shared/data.
//!
//!     cargo run --release -p goc-galaxy --example mock_against_authors

mod made;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use goc::metrics::Scores;
use goc::optimistic::{Optimistic, Preset};
use goc::oracle::k_means::KMeans;
use goc::scale::{Scaler, Scaling};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::frames::Galactocentric;
use goc_galaxy::mock::{Mock, MockParams};

/// Numbers of one collection of stars, by quantity.
#[derive(Default)]
struct Sample {
    parallax_errors: Vec<f64>,
    distances: Vec<f64>,
    /// One number for each dwarf with two or more stars: the spread of the true action among them.
    spreads: [Vec<f64>; 3],
    /// One star for each dwarf: where the dwarfs are in action space.
    actions: [Vec<f64>; 3],
    latitudes: Vec<f64>,
}

/// A star as both sides have it.
struct Star {
    group: usize,
    parallax_error: f64,
    distance: f64,
    latitude: f64,
    actions: Option<[f64; 3]>,
}

impl Sample {
    fn add(&mut self, stars: &[Star]) {
        let mut at = 0;
        while at < stars.len() {
            let end = at + stars[at..].iter().take_while(|s| s.group == stars[at].group).count();
            let dwarf = &stars[at..end];
            let actions: Vec<[f64; 3]> = dwarf.iter().filter_map(|s| s.actions).collect();
            for c in 0..3 {
                if let Some(first) = actions.first() {
                    self.actions[c].push(first[c]);
                }
                if actions.len() > 1 {
                    let mean = actions.iter().map(|a| a[c]).sum::<f64>() / actions.len() as f64;
                    let squares: f64 = actions.iter().map(|a| (a[c] - mean) * (a[c] - mean)).sum();
                    self.spreads[c].push((squares / (actions.len() - 1) as f64).sqrt());
                }
            }
            // One star per dwarf: the others are where it is, or nearly.
            self.parallax_errors.push(dwarf[0].parallax_error);
            self.distances.push(dwarf[0].distance);
            self.latitudes.push(dwarf[0].latitude.abs());
            at = end;
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = std::env::var_os("GOC_DATA").map_or(beside, PathBuf::from);
    let finder = Arc::new(ActionFinder::milky_way(Variant::Authors)?);
    let valid = MockParams::default().check()?;
    let (mut ours, mut scores) = (Sample::default(), Vec::new());
    println!("| seed | stars | orbits | dwarfs drawn anew | NMI | F | K |\n|---|---|---|---|---|---|---|");
    let first: u64 = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    for seed in first..first + 10 {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        ours.add(&stars_of(&mock, &finder));
        let (nmi, f, k) = goc_on(&mock, &finder, seed)?;
        println!(
            "| {seed} | {} | {} | {} | {nmi:.3} | {f:.3} | {k} |",
            mock.stars.len(),
            mock.counts.orbits,
            mock.counts.redrawn
        );
        scores.push(nmi);
    }
    println!("\nmean NMI {:.4} (the authors' sets: .874)", scores.iter().sum::<f64>() / scores.len() as f64);

    if !folder.join("paper").is_dir() {
        println!("\nno data in {} (set GOC_DATA): nothing to compare with", folder.display());
        return Ok(());
    }
    let mut theirs = Sample::default();
    for seed in 1..=10 {
        theirs.add(&authors(&folder, seed)?);
    }
    println!(
        "\n| one number a dwarf | median ours | median theirs | largest difference of the distributions | p |"
    );
    println!("|---|---|---|---|---|");
    let compare = |name: &str, a: &mut Vec<f64>, b: &mut Vec<f64>| {
        let (d, p) = kolmogorov_smirnov(a, b);
        println!("| {name} | {:.4} | {:.4} | {d:.3} | {p:.2} |", a[a.len() / 2], b[b.len() / 2]);
    };
    compare("parallax error (mas)", &mut ours.parallax_errors, &mut theirs.parallax_errors);
    compare("distance (kpc)", &mut ours.distances, &mut theirs.distances);
    compare("latitude, either side (deg)", &mut ours.latitudes, &mut theirs.latitudes);
    for (c, name) in ["Jr", "Jz", "Jphi"].into_iter().enumerate() {
        compare(&format!("{name} (kpc km/s)"), &mut ours.actions[c], &mut theirs.actions[c]);
        compare(&format!("spread of {name} within a dwarf"), &mut ours.spreads[c], &mut theirs.spreads[c]);
    }
    Ok(())
}

fn stars_of(mock: &Mock, finder: &ActionFinder) -> Vec<Star> {
    let places: Vec<Galactocentric> = mock.stars.iter().map(|star| star.place).collect();
    let outcomes = finder.many(&places);
    mock.stars
        .iter()
        .zip(outcomes)
        .map(|(star, outcome)| Star {
            group: star.group,
            parallax_error: star.measured.errors.parallax,
            distance: star.measured.truth.distance.kpc(),
            latitude: star.measured.truth.position.in_degrees()[1],
            actions: outcome.bound().map(|a| [a.jr, a.jz, a.jphi]),
        })
        .collect()
}

fn authors(folder: &Path, seed: usize) -> Result<Vec<Star>, Box<dyn std::error::Error>> {
    let table = goc_tables::read(&folder.join(format!("paper/stars_seed{seed:02}.csv")))?;
    let number = |name: &str| table.require(name).and_then(|column| column.numbers());
    let (group, error, distance) =
        (number("true_cluster_id")?, number("parallax_error")?, number("true_dist_kpc")?);
    let latitude = number("true_bee_radian")?;
    let actions = [number("true_Jr")?, number("true_Jz")?, number("true_Jphi")?];
    let mut order: Vec<usize> = (0..table.rows()).collect();
    order.sort_by_key(|&row| group[row] as usize);
    let star = |row: usize| Star {
        group: group[row] as usize,
        parallax_error: error[row],
        distance: distance[row],
        latitude: latitude[row].to_degrees(),
        actions: (actions[0][row] != -9999.0).then(|| std::array::from_fn(|c| actions[c][row])),
    };
    Ok(order.into_iter().map(star).collect())
}

/// GOC as the authors ran it, on a mock's candidates made as theirs.
fn goc_on(
    mock: &Mock,
    finder: &Arc<ActionFinder>,
    seed: u64,
) -> Result<(f64, f64, usize), Box<dyn std::error::Error>> {
    let (candidates, truth) = made::candidates(mock, finder, seed)?;
    let candidates = Scaler::fit(Scaling::Standard, &candidates)?.apply(candidates);
    let goc = Optimistic::preset(Preset::Authors, 50).lambda(0.01).check(&candidates)?;
    let run = goc.run(&KMeans::default(), seed)?;
    let scores = Scores::of(run.partition.labels(), &truth)?;
    Ok((scores.nmi, scores.f, run.partition.k()))
}

/// The largest difference of two empirical distributions, and how likely one as large is if they
/// are the same (Kolmogorov's series).
fn kolmogorov_smirnov(a: &mut [f64], b: &mut [f64]) -> (f64, f64) {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j, mut d) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        while i < a.len() && a[i] <= x {
            i += 1;
        }
        while j < b.len() && b[j] <= x {
            j += 1;
        }
        d = d.max((i as f64 / n - j as f64 / m).abs());
    }
    let root = (n * m / (n + m)).sqrt();
    let t = (root + 0.12 + 0.11 / root) * d;
    let p: f64 = (1..=100)
        .map(|k| {
            let k = f64::from(k);
            let sign = if k % 2.0 == 1.0 { 2.0 } else { -2.0 };
            sign * (-2.0 * k * k * t * t).exp()
        })
        .sum();
    (d, p.clamp(0.0, 1.0))
}
