//! Which columns of a measured table are what, as flags.

use std::path::PathBuf;

use clap::Args;
use goc_galaxy::catalogue::Angles;
use goc_galaxy::catalogue::schema::StarColumns;
use goc_pipeline::long_table::MISSING;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{BadRows, Measured, MeasuredColumns, QuotedErrors, Shape, WhenMissing, WithColumn};
use goc_tables::{Format, Missing, Table};

use crate::choices::words;
use crate::console::Console;
use crate::failure::Result;
use crate::which_table::WhichArgs;

/// Which columns of a measured table are what.
#[derive(Args, Clone, Debug)]
pub struct MeasuredArgs {
    /// Table with one row per object (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot; `-` is standard
    /// input)
    pub input: PathBuf,

    #[command(flatten)]
    pub which: WhichArgs,

    /// Measured columns [default: every numeric column x with an error column x_error, x_err,
    /// sigma_x or e_x]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub values: Option<Vec<String>>,

    /// Columns of their standard errors, in the order of --values (for a star: depth, proper
    /// motions, radial velocity); 0 means exact
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub errors: Option<Vec<String>>,

    /// Column that names the object [default: object, source_id, i or id; else the row's position]
    #[arg(long, value_name = "COLUMN")]
    pub object: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = MISSING)]
    pub missing: String,

    /// A row with an infinite number, a negative error or a correlation beyond 1: stop, or drop it
    /// with a count
    #[arg(long, value_parser = words::<BadRows>(), default_value = "refuse")]
    pub bad_rows: BadRows,

    #[command(flatten)]
    pub quoted: QuotedErrorArgs,

    #[command(flatten)]
    pub more: MoreArgs,
}

/// Values that need not be there, and columns to cluster by beside the others.
#[derive(Args, Clone, Debug, Default)]
pub struct MoreArgs {
    /// A star without a radial velocity: refuse it by name, drop it with a count, or draw its
    /// velocity from a prior fitted to the other stars (prior; prior:SIGMA sets its width, in km/s)
    /// [default: as any missing value]
    #[arg(long, value_name = "RULE")]
    pub missing_rv: Option<WhenMissing>,

    /// More measured columns to cluster by, such as fe_h:fe_h_error,mg_fe, each with the column of
    /// its errors [default: x_error, x_err, sigma_x or e_x]; missing values are drawn from a prior
    /// fitted to the other objects
    #[arg(long, value_name = "COLUMN[:ERROR]", value_delimiter = ',')]
    pub with: Vec<WithColumn>,
}

/// What to do about errors that are quoted too small.
#[derive(Args, Clone, Debug, Default)]
pub struct QuotedErrorArgs {
    /// Multiply the quoted errors of these measured columns, such as parallax=1.5,pmra=1.2; a
    /// single number multiplies them all
    #[arg(long, value_name = "COLUMN=FACTOR", value_delimiter = ',')]
    inflate: Vec<String>,

    /// Smallest error of a measured column, in its unit, such as pmra=0.02,pmdec=0.02: smaller
    /// errors, 0 included, are raised to it, after --inflate
    #[arg(long, value_name = "COLUMN=ERROR", value_delimiter = ',')]
    error_floor: Vec<String>,
}

impl QuotedErrorArgs {
    /// The checked parameters.
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
            more: MoreArgs::default(),
        }
    }

    /// Reads the table.
    pub fn open(&self) -> Result<Table> {
        self.open_for(None)
    }

    /// Reads the table, keeping every column for a file of format `to`.
    pub fn open_for(&self, to: Option<Format>) -> Result<Table> {
        self.quoted.parsed()?; // before the table is read for nothing
        Ok(goc_pipeline::open_for(&self.input, &self.which.which(), to, &Console::default())?)
    }

    /// The name of the table in messages.
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
            missing_rv: self.more.missing_rv,
            with: &self.more.with,
        };
        if star.is_none() && self.more.missing_rv.is_some() {
            return Err(usage!("--missing-rv is for the radial velocities of a star catalogue"));
        }
        Ok(measured.measure(&columns, columns.ids(object)?, star, shape, &Console::default())?)
    }
}
