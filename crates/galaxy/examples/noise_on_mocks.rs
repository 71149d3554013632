//! Which stars are in a group? Mock Milky Ways with a third field stars, judged by the marginal mixture and by GOC.
//!
//! Each set has the 275 stars of 50 dwarfs and 137 field stars, each the only one of its dwarf. A star is truly in a group if its dwarf has two
//! or more observed stars: 270 of 412. Features are the roots of the radial and vertical action and the angular momentum, with robust
//! scaling. Thresholds (`goc::confidence::noise`) were chosen on seeds 201 to 230; docs/confidence.md reports seeds 231 to 250. Prints the
//! table of precision and recall of "is in a group".
//!
//!     cargo run --release -p goc-galaxy --example noise_on_mocks            seeds 231 to 250
//!     cargo run --release -p goc-galaxy --example noise_on_mocks -- 201 5   five from 201

mod made;

use std::error::Error;
use std::sync::Arc;

use goc::confidence::{Significance, noise};
use goc::marginal::Marginal;
use goc::optimistic::{Optimistic, OptimisticError, Preset};
use goc::oracle::k_means::KMeans;
use goc::{Candidates, Partition};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::mock::{Mock, MockParams};

/// Field stars beside the 275: a third of all.
const FIELD: usize = 137;
/// Clusters that GOC begins with, about n / 4.
const K: usize = 100;
/// Backgrounds that GOC's clusters are tested against, and the false-discovery rate.
const RUNS: usize = 20;
const RATE: f64 = 0.05;

fn main() -> Result<(), Box<dyn Error>> {
    let first: u64 = std::env::args().nth(1).map_or(Ok(231), |seed| seed.parse())?;
    let count: u64 = std::env::args().nth(2).map_or(Ok(20), |count| count.parse())?;
    let finder = Arc::new(ActionFinder::milky_way(Variant::Authors)?);
    let valid = MockParams { field: FIELD, ..MockParams::default() }.check()?;
    println!(
        "| seed | stars | marginal: precision | recall | goc: precision | recall |\n|---|---|---|---|---|---|"
    );
    let mut sums = [0.0; 4];
    for seed in first..first + count {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        let (candidates, grouped) = candidates_of(&mock, &finder, seed)?;
        let row = [by_marginal(&candidates)?, by_goc(&candidates)?]
            .map(|noise| precision_and_recall(&noise, &grouped))
            .concat();
        let cells: Vec<String> = row.iter().map(|v| format!("{v:.3}")).collect();
        println!("| {seed} | {} | {} |", candidates.objects(), cells.join(" | "));
        for (sum, value) in sums.iter_mut().zip(row) {
            *sum += value / count as f64;
        }
    }
    println!("| mean | | {} |", sums.map(|v| format!("{v:.3}")).join(" | "));
    Ok(())
}

/// Candidates in the features of the marginal mixture; and which stars have siblings.
fn candidates_of(
    mock: &Mock,
    finder: &Arc<ActionFinder>,
    seed: u64,
) -> Result<(Candidates, Vec<bool>), Box<dyn Error>> {
    let (candidates, group) = made::candidates(mock, finder, seed)?;
    let grouped = group.iter().map(|g| group.iter().filter(|other| *other == g).count() > 1).collect();
    Ok((made::roots(&candidates)?, grouped))
}

fn by_marginal(candidates: &Candidates) -> Result<Vec<bool>, Box<dyn Error>> {
    let model = noise::expecting(Marginal::default(), candidates.objects());
    let found = model.run(candidates, 1)?;
    let solitude = noise::in_crowds(&noise::solitude(&found.draws), candidates, &found);
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

/// Of "is in a group".
fn precision_and_recall(noise: &[bool], grouped: &[bool]) -> [f64; 2] {
    let both = noise.iter().zip(grouped).filter(|(noise, grouped)| !**noise && **grouped).count() as f64;
    let found = noise.iter().filter(|noise| !**noise).count() as f64;
    let true_ones = grouped.iter().filter(|grouped| **grouped).count() as f64;
    [both / found.max(1.0), both / true_ones.max(1.0)]
}
