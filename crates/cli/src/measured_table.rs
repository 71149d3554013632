//! Which columns of a measured table are what, as flags.

use std::path::PathBuf;

use clap::Args;
use goc_galaxy::catalogue::Angles;
use goc_galaxy::catalogue::schema::StarColumns;
use goc_pipeline::long_table::MISSING;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{BadRows, Measured, MeasuredColumns, QuotedErrors, Shape};
use goc_tables::{Format, Missing, Table};

use crate::choices::words;
use crate::console::Console;
use crate::failure::Result;
use crate::which_table::WhichArgs;

/// Which columns of a measured table are what.
#[derive(Args, Clone, Debug)]
pub struct MeasuredArgs {
    /// Table with one row per object (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot)
    pub input: PathBuf,

    #[command(flatten)]
    pub which: WhichArgs,

    /// Measured columns [default: every number x with an error column x_error, x_err, sigma_x or e_x]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub values: Option<Vec<String>>,

    /// Columns of their standard errors, in the order of --values (of a star: depth, proper motions, radial velocity); 0 is exact
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub errors: Option<Vec<String>>,

    /// Column that names the object [default: object, source_id, i or id; else the position]
    #[arg(long, value_name = "COLUMN")]
    pub object: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = MISSING)]
    pub missing: String,

    /// A row with an infinite number, a negative error or a correlation beyond 1: stop, or drop it with a count
    #[arg(long, value_parser = words::<BadRows>(), default_value = "refuse")]
    pub bad_rows: BadRows,

    #[command(flatten)]
    pub quoted: QuotedErrorArgs,
}

/// What becomes of errors that are quoted too small.
#[derive(Args, Clone, Debug, Default)]
pub struct QuotedErrorArgs {
    /// Multiply the quoted errors of these measured columns, such as parallax=1.5,pmra=1.2, or with
    /// one number those of all
    #[arg(long, value_name = "COLUMN=FACTOR", value_delimiter = ',')]
    inflate: Vec<String>,

    /// Smallest error of a measured column, in its unit, such as pmra=0.02,pmdec=0.02: smaller ones
    /// are raised to it, 0 too, after --inflate
    #[arg(long, value_name = "COLUMN=ERROR", value_delimiter = ',')]
    error_floor: Vec<String>,
}

impl QuotedErrorArgs {
    /// What they say, checked.
    fn parsed(&self) -> Result<QuotedErrors> {
        Ok(QuotedErrors::parse(&self.inflate, &self.error_floor)?)
    }
}

impl MeasuredArgs {
    /// For a star catalogue with the usual names; `input` is what messages name.
    pub fn of_stars(input: PathBuf) -> Self {
        Self {
            input,
            which: WhichArgs::default(),
            values: None,
            errors: None,
            object: None,
            missing: MISSING.into(),
            bad_rows: BadRows::Refuse,
            quoted: QuotedErrorArgs::default(),
        }
    }

    /// Reads the table.
    pub fn open(&self) -> Result<Table> {
        self.open_for(None)
    }

    /// Reads the table, of which every column is to go into a file of format `to`.
    pub fn open_for(&self, to: Option<Format>) -> Result<Table> {
        self.quoted.parsed()?; // before the table is read for nothing
        Ok(goc_pipeline::open_for(&self.input, &self.which.which(), to, &Console::default())?)
    }

    /// What messages call the table.
    pub fn source(&self) -> String {
        self.input.display().to_string()
    }

    /// Checks every number that is used; `star` has the columns of a star catalogue.
    pub fn measure(
        &self,
        table: &Table,
        shape: Option<Shape>,
        star: Option<(&StarColumns, Angles)>,
    ) -> Result<Measured> {
        let (source, missing) = (self.source(), Missing::parse(&self.missing)?);
        let columns = TableColumns::new(table, &source);
        let object = columns.object(self.object.as_deref())?;
        let measured = MeasuredColumns {
            values: self.values.as_deref(),
            errors: self.errors.as_deref(),
            object: object.map(|column| column.name()),
            missing: &|number| missing.is_missing(number),
            bad_rows: self.bad_rows,
            quoted: &self.quoted.parsed()?,
        };
        Ok(measured.measure(&columns, columns.ids(object)?, star, shape, &Console::default())?)
    }
}
