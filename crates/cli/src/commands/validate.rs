//! `goc validate`: are groups tighter than chance in a column that was not used to find them?

use std::path::PathBuf;

use clap::Args;
use goc::confidence::Tightness;
use goc::confidence::tightness::LARGEST;
use goc_galaxy::spaces::Space;
use goc_pipeline::long_table::MISSING_OR_NAN;
use goc_pipeline::sampling::FEATURES_KEY;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::validate::{RATE, Validation};
use goc_pipeline::{Unwatched, WithColumn, error_column_of};
use goc_tables::{Files, Missing, Table};
use serde_json::json;

use super::Work;
use super::score::{LABEL_NAMES, column, prefix_of};
use crate::choices::at_least_one;
use crate::console;
use crate::failure::Result;
use crate::output::OutputArgs;
use crate::which_table::WhichArgs;

/// Test groups with a column that was not used to find them: is their chemistry tighter than
/// chance?
#[derive(Args)]
#[command(after_help = "Example: goc validate groups.fits --by fe_h:fe_h_error -o chemistry.csv\n\
    Each group is compared with random groups of the same size and of similar orbits.\n\
    goc plot validation draws the table.")]
pub struct Validate {
    /// Table with labels, features and the column, such as `goc stars -o` writes
    labels: PathBuf,

    #[command(flatten)]
    which: WhichArgs,

    #[command(flatten)]
    output: OutputArgs,

    /// Column to test, and the column of its errors [default: x_error, x_err, sigma_x or e_x]
    #[arg(long, value_name = "COLUMN[:ERROR]")]
    by: WithColumn,

    /// Column of the labels; a negative label means in no group [default: label, labels, cluster or
    /// goc_label]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// Features that the groups were found in [default: those that the table names, or the actions]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    features: Vec<String>,

    /// Value that means "missing", beside NaN and null
    #[arg(long, value_name = "RULE", default_value = MISSING_OR_NAN)]
    missing: String,

    /// Random groups for each group
    #[arg(long, value_name = "N", default_value_t = Tightness::default().draws, value_parser = at_least_one())]
    draws: usize,

    /// Smallest number of nearest stars outside the group from which the replacement of a member is
    /// drawn
    #[arg(long, value_name = "N", default_value_t = Tightness::default().neighbours, value_parser = at_least_one())]
    neighbours: usize,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Validate {
    fn files(&self) -> Files {
        self.output.files(Files::default().reads([&self.labels]))
    }

    fn run(self) -> Result<()> {
        self.output.check(self.json)?;
        let missing = Missing::parse(&self.missing)?;
        let table = goc_pipeline::open_which(&self.labels, &self.which.which(), &Unwatched)?;
        let source = self.labels.display().to_string();
        let label = column(&table, self.label.as_deref(), &LABEL_NAMES, "label", &self.labels)?;
        let whole = |row: usize| -> Result<Option<i64>> {
            if label.is_null(row) {
                return Ok(None);
            }
            let text = label.text(row);
            // Labels in a floating-point column are integers too, up to the largest exactly
            // represented one.
            let whole = |number: &f64| number.fract() == 0.0 && number.abs() <= 9e15;
            let number = || text.parse().ok().filter(whole).map(|number| number as i64);
            let label_of = text.parse().ok().or_else(number);
            Ok(Some(label_of.ok_or_else(|| label.value_error(row, "is not a whole number"))?))
        };
        let labels = (0..table.rows()).map(whole).collect::<Result<Vec<_>>>()?;
        let prefix = prefix_of(label.name());
        let named = self.features_of(&table, prefix)?;
        let error = error_column_of(&TableColumns::new(&table, &source), &self.by)?;
        let value_column = table.require(&self.by.value)?;
        if named.contains(&self.by.value) || named.contains(&format!("{prefix}{}", self.by.value)) {
            console::note(format!(
                "warning: `{}` was used to find the groups, so their agreement in it proves nothing",
                self.by.value
            ));
        }
        let read = |name: &String| -> Result<(String, Vec<f64>)> {
            let own = name.strip_prefix(prefix).unwrap_or(name);
            Ok((own.to_string(), table.require(name)?.numbers()?))
        };
        let features = named.iter().map(read).collect::<Result<Vec<_>>>()?;
        let known = |name: &str| -> Result<Vec<f64>> {
            let numbers = table.require(name)?.numbers()?;
            Ok(numbers.into_iter().map(|v| if missing.is_missing(v) { f64::NAN } else { v }).collect())
        };
        let (values, errors) = (known(value_column.name())?, known(&error)?);
        for row in 0..table.rows() {
            if values[row].abs() > LARGEST {
                let what = "is not finite, or too far out to be squared; mend it or drop the row";
                return Err(value_column.value_error(row, what).into());
            }
            if errors[row] < 0.0 || errors[row] > LARGEST {
                let what = "is not an error that can be squared; 0 means exact";
                return Err(table.require(&error)?.value_error(row, what).into());
            }
        }
        let how = Tightness { draws: self.draws, neighbours: self.neighbours };
        let found = Validation::judge(&labels, &features, &values, &errors, how, self.seed)?;
        let by = &self.by.value;
        self.output.write(&found.table(by, value_column.unit())?, self.json)?;
        let (tested, tight) = (found.tested(), found.tight());
        if self.json {
            return console::print_json(&json!({
                "by": by,
                "error": error,
                "features": named,
                "n_objects": found.objects,
                "n_values": found.values,
                "groups": found.labels.len(),
                "tested": tested,
                "tight": tight,
                "p_value": found.found.p_value,
                "draws": self.draws,
                "neighbours": self.neighbours,
                "seed": self.seed,
            }));
        }
        let verdict = match tested {
            0 => "none has as many stars outside it as it has members, to compare it with".to_string(),
            _ => format!(
                "{tight} tighter than chance (false-discovery rate {RATE}); all together p = {:.4}",
                found.found.p_value
            ),
        };
        console::note(format!(
            "{} by {by}, {} of {} stars with a value: {verdict}{}",
            console::counted(tested, "group"),
            found.values,
            found.objects,
            self.output.file().map_or_else(String::new, |path| format!(", in {}", path.display()))
        ));
        Ok(())
    }
}

impl Validate {
    /// The columns of the features that the groups were found in.
    fn features_of(&self, table: &Table, prefix: &str) -> Result<Vec<String>> {
        let there = |name: &str| {
            let prefixed = format!("{prefix}{name}");
            let found = [prefixed, name.to_string()].into_iter().find(|name| table.column(name).is_some());
            found.filter(|_| !name.is_empty())
        };
        if !self.features.is_empty() {
            let found = |name: &String| match there(name) {
                Some(found) => Ok(found),
                None => Ok(table.require(name)?.name().to_string()),
            };
            return self.features.iter().map(found).collect();
        }
        let told = table.get_metadata(FEATURES_KEY).unwrap_or_default();
        let told: Vec<&str> = told.split(',').filter(|name| !name.is_empty()).collect();
        let spaces = goc::choice::Choice::ALL as &[(Space, &str, &str)];
        let of_space = |(space, ..): &(Space, &str, &str)| space.features().iter().map(|f| f.0).collect();
        let sets = std::iter::once(told).chain(spaces.iter().map(of_space));
        for names in sets.filter(|names: &Vec<&str>| !names.is_empty()) {
            if let Some(found) = names.iter().map(|name| there(name)).collect::<Option<Vec<_>>>() {
                return Ok(found);
            }
        }
        Err(usage!(
            "{}: the table does not say in which features the groups were found; name their columns \
             with --features",
            self.labels.display()
        ))
    }
}
