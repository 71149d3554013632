//! From a star catalogue to a table of groups, in fifteen lines.
//!
//!     goc simulate --stars-out stars.fits
//!     cargo run --release -p goc-pipeline --example groups_of_stars -- stars.fits groups.fits

use goc_pipeline::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = std::env::args().skip(1);
    let (Some(input), Some(output)) = (files.next(), files.next()) else {
        return Err("name two files: a catalogue and where the groups go".into());
    };
    let stars = Dataset::read_stars(input, &StarModel::default(), &Sampling::default(), 1, &Unwatched)?;
    let found = fit_owned(stars, &Settings::of(MethodName::Marginal), 1, &Unwatched)?;
    println!("{} groups of {} stars", found.k(), found.labels().len());
    Ok(goc_tables::write(&found.label_table()?, output.as_ref())?)
}
