//! Is a probability of 0.8 right eight times in ten? The marginal mixture on mock Milky Ways.
//!
//! Twenty mocks without field stars (seeds 301 to 320), and twenty with a third field stars (1001
//! to 1020), each field star the only one of its dwarf. Four kinds of probabilities, each in ten
//! bins against how often it came true, with the expected calibration error (the mean distance of
//! the two over all):
//!
//! - *together*: of every pair of stars that were together in some draw (the others, nearly all
//!   pairs, have probability 0 and would only make the error small), whether they are of one dwarf;
//! - *membership*: of every star in a cluster of two or more, the share of the cluster's others
//!   that are of its dwarf;
//! - *in no group*: of being in the field or alone, whether the star is the only one of its dwarf;
//! - *field*: of being in the field, where there are field stars, the same.
//!
//! Prints the tables of docs/explanation/confidence.md, and writes the bins when given a name for
//! them, to be drawn by goc:
//!
//!     cargo run --release -p goc-galaxy --example calibration -- docs/figures/calibration.csv
//!     goc plot calibration docs/figures/calibration.csv -o docs/figures/calibration.svg

mod made;

use std::sync::Arc;

use goc::marginal::{Marginal, Posterior};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::mock::MockParams;
use goc_tables::{Column, Data, Table};

/// Field stars beside the 275 of the dwarfs, and seeds.
const SETS: [(usize, &str, std::ops::RangeInclusive<u64>); 2] =
    [(0, "", 301..=320), (137, ", a third field", 1001..=1020)];
const BINS: usize = 10;

/// Probabilities and how often they came true, by tenths.
#[derive(Default)]
struct Calibration {
    /// Count, sum of probabilities, sum of what came true.
    bins: [[f64; 3]; BINS],
}

impl Calibration {
    fn add(&mut self, probability: f64, came_true: f64) {
        let bin = ((probability * BINS as f64) as usize).min(BINS - 1);
        for (sum, value) in self.bins[bin].iter_mut().zip([1.0, probability, came_true]) {
            *sum += value;
        }
    }

    fn error(&self) -> f64 {
        let total: f64 = self.bins.iter().map(|bin| bin[0]).sum();
        self.bins.iter().map(|[_, said, was]| (said - was).abs()).sum::<f64>() / total
    }

    fn print(&self, name: &str) {
        println!("\n{name}: expected calibration error {:.3}\n", self.error());
        println!("| said | came true | how many |\n|---|---|---|");
        for [count, said, was] in self.bins.iter().filter(|bin| bin[0] > 0.0) {
            println!("| {:.2} | {:.2} | {count} |", said / count, was / count);
        }
    }
}

fn main() -> Result<(), made::Failure> {
    let finder = Arc::new(ActionFinder::milky_way(Variant::Authors)?);
    let mut kinds: Vec<(String, Calibration)> = Vec::new();
    for (field, name, seeds) in SETS {
        let valid = MockParams { field, ..MockParams::default() }.check()?;
        let mut own: [Calibration; 4] = Default::default();
        for seed in seeds.clone() {
            let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
            let (candidates, truth) = made::candidates(&mock, &finder, seed)?;
            let found = Marginal::default().run(&made::roots(&candidates)?, 1)?;
            add(&found, &truth, &mut own);
            eprintln!("mock {seed} of {seeds:?}{name}");
        }
        let names = ["together", "membership", "in no group", "field"];
        let of_this = names.into_iter().zip(own).filter(|(kind, _)| field > 0 || *kind != "field");
        kinds.extend(of_this.map(|(kind, calibration)| (format!("{kind}{name}"), calibration)));
    }
    for (name, calibration) in &kinds {
        calibration.print(name);
    }
    if let Some(path) = std::env::args().nth(1) {
        goc_tables::write(&table(&kinds)?, std::path::Path::new(&path))?;
    }
    Ok(())
}

fn add(found: &Posterior, truth: &[i64], own: &mut [Calibration; 4]) {
    let [together, membership, in_none, field] = own;
    let labels = found.partition.labels();
    let same = |i: usize, j: usize| f64::from(u8::from(truth[i] == truth[j]));
    for i in 0..truth.len() {
        for (j, p) in found.together.partners(i).filter(|(j, _)| *j > i) {
            together.add(p, same(i, j));
        }
        let mates: Vec<usize> = (0..truth.len()).filter(|&j| j != i && labels[j] == labels[i]).collect();
        if !mates.is_empty() {
            let share = mates.iter().map(|&j| same(i, j)).sum::<f64>() / mates.len() as f64;
            membership.add(found.membership[i], share);
        }
        let single = (0..truth.len()).all(|j| j == i || truth[j] != truth[i]);
        let single = f64::from(u8::from(single));
        in_none.add(found.alone[i] + found.field[i], single);
        field.add(found.field[i], single);
    }
}

/// One row per bin that has cases.
fn table(kinds: &[(String, Calibration)]) -> Result<Table, made::Failure> {
    let bins: Vec<(&str, [f64; 3])> = kinds
        .iter()
        .flat_map(|(name, calibration)| calibration.bins.iter().map(move |bin| (name.as_str(), *bin)))
        .filter(|(_, bin)| bin[0] > 0.0)
        .collect();
    let column = |value: fn([f64; 3]) -> f64| Data::F64(bins.iter().map(|(_, bin)| value(*bin)).collect());
    Ok(Table::new(vec![
        Column::new("kind", Data::Text(bins.iter().map(|(name, _)| name.to_string()).collect())),
        Column::new("said", column(|[count, said, _]| said / count)),
        Column::new("came_true", column(|[count, _, was]| was / count)),
        Column::new("count", column(|[count, _, _]| count)),
    ])?)
}
