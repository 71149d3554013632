//! One file per command.

use goc_tables::{Existing, Files};

use crate::failure::Result;

pub mod actions;
pub mod candidates;
pub mod cluster;
pub mod compare;
pub mod completions;
pub mod demo;
pub mod man;
pub mod plot;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod simulate;
pub mod stars;
pub mod validate;

/// A command, parsed.
pub trait Work {
    /// What it reads and writes.
    fn files(&self) -> Files;

    /// Does it.
    fn run(self) -> Result<()>;
}

/// Does the work, unless it would overwrite a needed file or an output cannot be written. Every
/// command goes through here.
pub fn perform(work: impl Work, existing: Existing) -> Result<()> {
    work.files().check(existing)?;
    work.run()
}
