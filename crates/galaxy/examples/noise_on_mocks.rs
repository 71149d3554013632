//! Which stars are in a group? Mock Milky Ways with a third field stars, judged by the marginal
//! mixture and by GOC.
//!
//! Each set has the 275 stars of 50 dwarfs and 137 field stars, each the only one of its dwarf. A
//! star is truly in a group if its dwarf has two or more observed stars: 270 of 412. Features are
//! the roots of the radial and vertical action and the angular momentum, with robust scaling. Two
//! kinds of candidates: the authors', and draws of the errors told that the mock's stars fill the
//! volume to 5 kpc (`--distance-prior volume:5`). The mixture's threshold was chosen on seeds 411
//! to 416. Beside it HDBSCAN on the means of the candidates, its least size chosen by the truth.
//! Prints AMI (each star in no group a group of its own) and precision / recall of "is in a group".
//!
//!     cargo run --release -p goc-galaxy --example noise_on_mocks                seeds 231 to 320
//!     cargo run --release -p goc-galaxy --example noise_on_mocks -- 201 5       five from 201
//!     cargo run --release -p goc-galaxy --example noise_on_mocks -- 201 5 goc   and GOC by significance, which takes longer

mod made;

use std::error::Error;
use std::sync::Arc;

use goc::confidence::{Significance, noise};
use goc::marginal::Marginal;
use goc::metrics::Scores;
use goc::optimistic::{Optimistic, OptimisticError, Preset};
use goc::oracle::hdbscan::Hdbscan;
use goc::oracle::k_means::KMeans;
use goc::{Candidates, Partition};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::mock::MockParams;

/// Field stars beside the 275: a third of all.
const FIELD: usize = 137;
/// Clusters that GOC begins with, about n / 4.
const K: usize = 100;
/// Backgrounds that GOC's clusters are tested against, and the false-discovery rate.
const RUNS: usize = 20;
const RATE: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let first: u64 = std::env::args().nth(1).map_or(Ok(231), |seed| seed.parse())?;
    let count: u64 = std::env::args().nth(2).map_or(Ok(90), |count| count.parse())?;
    let with_goc = std::env::args().nth(3).is_some_and(|word| word == "goc");
    let finder = Arc::new(ActionFinder::milky_way(Variant::Authors)?);
    let params = MockParams { field: FIELD, ..MockParams::default() };
    let reach = params.reach;
    let valid = params.check()?;
    let mut ways = vec!["authors' candidates", "with a distance prior", "HDBSCAN, its best"];
    ways.extend(with_goc.then_some("goc"));
    println!(
        "AMI, precision / recall of \"in a group\".\n\n| seed | {} |\n|---|{}",
        ways.join(" | "),
        "---|".repeat(ways.len())
    );
    let mut sums = vec![[0.0; 3]; ways.len()];
    for seed in first..first + count {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        let authors = made::candidates(&mock, &finder, seed)?;
        let by_prior = made::candidates_by_prior(&mock, &finder, reach, seed)?;
        let all: Vec<i64> = mock.stars.iter().map(|star| star.group as i64).collect();
        let mut row = Vec::new();
        for (candidates, groups) in [&authors, &by_prior] {
            row.push(judge(&by_marginal(&made::roots(candidates)?)?, groups, &all)?);
        }
        row.push(best_hdbscan(&made::roots(&authors.0)?, &authors.1, &all)?);
        if with_goc {
            row.push(judge(&by_goc(&made::roots(&authors.0)?)?, &authors.1, &all)?);
        }
        println!("| {seed} | {} |", cells(&row));
        for (sum, value) in sums.as_flattened_mut().iter_mut().zip(row.as_flattened()) {
            *sum += value / count as f64;
        }
    }
    println!("| mean | {} |", cells(&sums));
    Ok(())
}

fn cells(of: &[[f64; 3]]) -> String {
    let cells: Vec<String> = of.iter().map(|[ami, p, r]| format!("{ami:.3}, {p:.2} / {r:.2}")).collect();
    cells.join(" | ")
}

/// Clusters, and which objects are in none of them: those are clusters of their own.
type Found = (Partition, Vec<bool>);

fn by_marginal(candidates: &Candidates) -> Result<Found, Box<dyn Error>> {
    let found = Marginal::default().run(candidates, 1)?;
    let sizes = found.partition.sizes();
    let alone = found.partition.labels().iter().map(|label| sizes[*label as usize] == 1).collect();
    Ok((found.partition, alone))
}

/// The answer of the best AMI over least sizes of a cluster.
fn best_hdbscan(candidates: &Candidates, groups: &[i64], all: &[i64]) -> Result<[f64; 3], Box<dyn Error>> {
    let points = candidates.means();
    let mut best = [f64::NEG_INFINITY; 3];
    for size in [2, 3, 4, 5, 8, 12] {
        let labels = Hdbscan::new(size).fit(&points)?.labels;
        let noise: Vec<bool> = labels.iter().map(Option::is_none).collect();
        let of: Vec<u32> = labels.iter().map(|label| label.map_or(0, |label| label + 1)).collect();
        let partition = noise::set_apart(&Partition::from_labels(&of), &noise);
        let found = judge(&(partition, noise), groups, all)?;
        best = if found[0] > best[0] { found } else { best };
    }
    Ok(best)
}

fn by_goc(candidates: &Candidates) -> Result<Found, Box<dyn Error>> {
    let method = |c: &Candidates, seed: u64| -> Result<Partition, OptimisticError> {
        let goc = Optimistic::preset(Preset::Authors, K).lambda(0.01).check(c)?;
        Ok(goc.run(&KMeans::default().starts(10), seed)?.partition)
    };
    let partition = method(candidates, 1)?;
    let verdict = Significance::new(RUNS).judge(candidates, &partition, 1, &method, &|| {})?;
    let noise = noise::by_significance(&partition, &verdict, RATE, noise::ODDS);
    Ok((noise::set_apart(&partition, &noise), noise))
}

/// AMI, then precision and recall of "is in a group". Truly in one are the stars whose dwarf has
/// two or more among `all`; one without candidates is missed.
fn judge((partition, noise): &Found, groups: &[i64], all: &[i64]) -> Result<[f64; 3], Box<dyn Error>> {
    let ami = Scores::of(partition.labels(), groups)?.ami;
    let has_siblings = |g: &i64| all.iter().filter(|other| *other == g).count() > 1;
    let found: Vec<&i64> = noise.iter().zip(groups).filter(|(noise, _)| !**noise).map(|(_, g)| g).collect();
    let right = found.iter().filter(|g| has_siblings(g)).count() as f64;
    let true_ones = all.iter().filter(|g| has_siblings(g)).count() as f64;
    Ok([ami, right / (found.len() as f64).max(1.0), right / true_ones.max(1.0)])
}
