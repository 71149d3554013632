//! Greedy optimistic clustering of three uncertain objects.
//!
//!     cargo run -p goc --example optimistic

use goc::candidates::CandidatesBuilder;
use goc::optimistic::{KRule, Optimistic};
use goc::oracle::k_means::KMeans;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = CandidatesBuilder::new(1);
    builder.push(&[0.0, 1.0, 2.0], &[])?; // uncertain: anywhere between 0 and 2
    builder.push(&[2.1], &[])?;
    builder.push(&[9.0], &[])?;
    let candidates = builder.build()?;
    let goc = Optimistic::new(2).k_rule(KRule::Constant).check(&candidates)?;
    let found = goc.run(&KMeans::default(), 1)?;
    for i in 0..candidates.objects() {
        let chosen = candidates.candidate(i, found.chosen[i] as usize);
        println!("object {i}: cluster {}, at {chosen:?}", found.partition.labels()[i]);
    }
    Ok(())
}
