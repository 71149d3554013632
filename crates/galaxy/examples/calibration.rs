//! Is a probability of .8 right eight times in ten? The marginal mixture on twenty mock Milky Ways.
//!
//! Mocks of seeds 301 to 320. Three kinds of probabilities, each in ten bins against how often
//! it came true, with the expected calibration error (the mean distance of the two over all):
//!
//! - *together*: of every pair of stars that were together in some draw (the others, nearly all pairs, have probability 0 and would only
//!   make the error small), whether they are of one dwarf;
//! - *membership*: of every star in a cluster of two or more, the share of the cluster's others that are of its dwarf;
//! - *alone*: whether the star is the only one of its dwarf.
//!
//! Prints the tables of docs/confidence.md, and draws the picture when given a name for it:
//!
//!     cargo run --release -p goc-galaxy --example calibration -- docs/figures/calibration.svg

mod made;

use std::fmt::Write as _;
use std::sync::Arc;

use goc::marginal::{Marginal, Posterior};
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::mock::MockParams;

const SEEDS: std::ops::RangeInclusive<u64> = 301..=320;
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
    let valid = MockParams::default().check()?;
    let [mut together, mut membership, mut alone] = [(); 3].map(|()| Calibration::default());
    for seed in SEEDS {
        let mock = valid.draw(finder.potential().as_ref(), seed, &|_| {})?;
        let (candidates, truth) = made::candidates(&mock, &finder, seed)?;
        let found = Marginal::default().run(&made::roots(&candidates)?, 1)?;
        add(&found, &truth, [&mut together, &mut membership, &mut alone]);
        eprintln!("mock {seed} of {SEEDS:?}");
    }
    let kinds = [("together", &together), ("membership", &membership), ("alone", &alone)];
    for (name, calibration) in kinds {
        calibration.print(name);
    }
    if let Some(path) = std::env::args().nth(1) {
        goc_tables::write_text(&picture(&kinds), std::path::Path::new(&path))?;
    }
    Ok(())
}

fn add(found: &Posterior, truth: &[i64], [together, membership, alone]: [&mut Calibration; 3]) {
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
        alone.add(found.alone[i], f64::from(u8::from(single)));
    }
}

/// Said against came true, a panel a kind; discs are as large as the number of cases.
fn picture(kinds: &[(&str, &Calibration)]) -> String {
    let (side, gap, left, top) = (220.0, 50.0, 60.0, 40.0);
    let width = left + kinds.len() as f64 * (side + gap);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {}\" font-family=\"sans-serif\" \
         font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        top + side + 60.0
    );
    for (panel, (name, calibration)) in kinds.iter().enumerate() {
        let x0 = left + panel as f64 * (side + gap);
        let (x, y) = (|v: f64| x0 + v * side, |v: f64| top + (1.0 - v) * side);
        let mut put = |line: String| writeln!(svg, "{line}");
        let _ = put(format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\" font-size=\"15\">{name}, error {:.3}</text>",
            x(0.5),
            top - 14.0,
            calibration.error()
        ));
        let _ = put(format!(
            "<rect x=\"{x0}\" y=\"{top}\" width=\"{side}\" height=\"{side}\" fill=\"none\" stroke=\"#555\"/>"
        ));
        let _ = put(format!(
            "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"#999\" stroke-dasharray=\"5 4\"/>",
            x(0.0),
            y(0.0),
            x(1.0),
            y(1.0)
        ));
        for tick in [0.0, 0.5, 1.0] {
            let _ = put(format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{tick}</text>",
                x(tick),
                top + side + 18.0
            ));
            let _ = put(format!(
                "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{tick}</text>",
                x0 - 6.0,
                y(tick) + 4.0
            ));
        }
        let _ = put(format!(
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">probability said</text>",
            x(0.5),
            top + side + 40.0
        ));
        if panel == 0 {
            let _ = put(format!(
                "<text transform=\"translate({},{}) rotate(-90)\" text-anchor=\"middle\">share that came true</text>",
                x0 - 36.0,
                y(0.5)
            ));
        }
        let most = calibration.bins.iter().map(|bin| bin[0]).fold(1.0, f64::max);
        for [count, said, was] in calibration.bins.iter().filter(|bin| bin[0] > 0.0) {
            let _ = put(format!(
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"#0072b2\" fill-opacity=\"0.75\"/>",
                x(said / count),
                y(was / count),
                3.0 + 7.0 * (count / most).sqrt()
            ));
        }
    }
    svg.push_str("</svg>\n");
    svg
}
