//! Reads a table and writes it in another format, by the endings of the names; in the same format every
//! column goes along, those of arrays too.
//!
//! `cargo run --release -p goc-tables --example convert -- stars.fits stars.parquet`

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use goc_tables::{Format, Which};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = names.as_slice() else {
        eprintln!("usage: convert FROM TO");
        return ExitCode::from(2);
    };
    match convert(Path::new(from), Path::new(to)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn convert(from: &Path, to: &Path) -> Result<(), goc_tables::TableError> {
    let begin = Instant::now();
    let table = goc_tables::read_for(from, &Which::First, Some(Format::of(to)?.0))?;
    eprintln!("read {} rows, {} columns in {:.2?}", table.rows(), table.columns().len(), begin.elapsed());
    for skipped in table.skipped() {
        eprintln!("left out `{}`: {}", skipped.name, skipped.reason);
    }
    let begin = Instant::now();
    goc_tables::write(&table, to)?;
    eprintln!("written in {:.2?}", begin.elapsed());
    Ok(())
}
