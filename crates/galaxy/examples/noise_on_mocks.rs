//! Which stars are in a group? Mock Milky Ways with a third field stars, judged by the marginal mixture and by GOC.
//!
//! Each set has the 275 stars of 50 dwarfs and 137 field stars, each the only one of its dwarf. A star is truly in a group if its dwarf has two
//! or more observed stars: 270 of 412. Features are the roots of the radial and vertical action and the angular momentum, with robust
//! scaling. Two kinds of candidates: the authors', and draws of the errors told that the mock's stars fill the volume to 5 kpc
//! (`--distance-prior volume:5`). The threshold (`goc::confidence::noise`) was chosen on seeds 201 to 230; docs/confidence.md reports those from
//! 231 on. Prints the table of precision and recall of "is in a group".
//!
//!     cargo run --release -p goc-galaxy --example noise_on_mocks                seeds 231 to 320
//!     cargo run --release -p goc-galaxy --example noise_on_mocks -- 201 5       five from 201
//!     cargo run --release -p goc-galaxy --example noise_on_mocks -- 201 5 goc   and GOC by significance, which takes longer

mod made;

use std::error::Error;
use std::sync::Arc;

use goc::candidates::PENALTY_STRENGTH;
use goc::confidence::{Significance, noise};
use goc::marginal::Marginal;
use goc::optimistic::{Optimistic, OptimisticError, Preset};
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
    let mut ways = vec!["authors' candidates", "with a distance prior"];
    ways.extend(with_goc.then_some("goc"));
    println!(
        "Precision / recall of \"in a group\".\n\n| seed | {} |\n|---|{}",
        ways.join(" | "),
        "---|".repeat(ways.len())
    );
    let mut sums = vec![[0.0; 2]; ways.len()];
    for seed in first..first + count {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        let authors = made::candidates(&mock, &finder, seed)?;
        let by_prior = made::candidates_by_prior(&mock, &finder, reach, seed)?;
        let all: Vec<i64> = mock.stars.iter().map(|star| star.group as i64).collect();
        let mut row = Vec::new();
        for (candidates, groups) in [&authors, &by_prior] {
            row.push(precision_and_recall(&by_marginal(&made::roots(candidates)?)?, groups, &all));
        }
        if with_goc {
            row.push(precision_and_recall(&by_goc(&made::roots(&authors.0)?)?, &authors.1, &all));
        }
        println!("| {seed} | {} |", cells(&row));
        for (sum, value) in sums.as_flattened_mut().iter_mut().zip(row.as_flattened()) {
            *sum += value / count as f64;
        }
    }
    println!("| mean | {} |", cells(&sums));
    Ok(())
}

fn cells(pairs: &[[f64; 2]]) -> String {
    let cells: Vec<String> = pairs.iter().map(|[p, r]| format!("{p:.3} / {r:.3}")).collect();
    cells.join(" | ")
}

fn by_marginal(candidates: &Candidates) -> Result<Vec<bool>, Box<dyn Error>> {
    let model = noise::expecting(Marginal::default(), candidates.objects());
    let found = model.run(candidates, 1)?;
    let solitude = noise::solitude(candidates, &found, PENALTY_STRENGTH);
    Ok(noise::by_solitude(&found.partition, &solitude, noise::SOLITUDE, &found.together).1)
}

fn by_goc(candidates: &Candidates) -> Result<Vec<bool>, Box<dyn Error>> {
    let method = |c: &Candidates, seed: u64| -> Result<Partition, OptimisticError> {
        let goc = Optimistic::preset(Preset::Authors, K).lambda(0.01).check(c)?;
        Ok(goc.run(&KMeans::default().starts(10), seed)?.partition)
    };
    let partition = method(candidates, 1)?;
    let verdict = Significance::new(RUNS).judge(candidates, &partition, 1, &method, &|| {})?;
    Ok(noise::by_significance(&partition, &verdict, RATE, noise::ODDS))
}

/// Of "is in a group". Truly in one are the stars whose dwarf has two or more among `all`; one without candidates is missed.
fn precision_and_recall(noise: &[bool], groups: &[i64], all: &[i64]) -> [f64; 2] {
    let has_siblings = |g: &i64| all.iter().filter(|other| *other == g).count() > 1;
    let found: Vec<&i64> = noise.iter().zip(groups).filter(|(noise, _)| !**noise).map(|(_, g)| g).collect();
    let right = found.iter().filter(|g| has_siblings(g)).count() as f64;
    let true_ones = all.iter().filter(|g| has_siblings(g)).count() as f64;
    [right / (found.len() as f64).max(1.0), right / true_ones.max(1.0)]
}
