//! Which table of a file is read, as flags.

use clap::Args;
use goc_tables::{Pick, Which};

/// Which table of a file is read.
#[derive(Args, Clone, Debug, Default)]
pub struct WhichArgs {
    /// HDU of a FITS file to read, by number (0 is the primary one) or EXTNAME [default: the first
    /// table]
    #[arg(long, value_name = "N|NAME")]
    hdu: Option<Pick>,

    /// Table of a VOTable file to read, by number (from 1), name or ID [default: the first]
    #[arg(long, value_name = "N|NAME", conflicts_with = "hdu")]
    table: Option<Pick>,
}

impl WhichArgs {
    /// What they say.
    pub fn which(&self) -> Which {
        match (&self.hdu, &self.table) {
            (Some(hdu), _) => Which::Hdu(hdu.clone()),
            (None, Some(table)) => Which::Table(table.clone()),
            (None, None) => Which::First,
        }
    }
}
