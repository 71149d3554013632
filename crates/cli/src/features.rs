//! Which columns of a table are its features, and what is taken of them.
//!
//! Named by `--features`, else by the table itself, else the three actions, else every column of real numbers that is nothing else.
//! Actions have a map of their own: a group of stars is round in `sqrt(Jr), sqrt(Jz), Jphi`, as radial and vertical actions are squares of
//! amplitudes and cannot be negative (docs/methods.md has what it gains). `--feature-map` switches it on; whoever clusters
//! by it still reads and writes the actions themselves.

use clap::ValueEnum;
use goc_tables::{Column, Data, Table};

use crate::fail::Fail;
use crate::long_table::{CANDIDATE_NAMES, FEATURES_KEY, LongTableArgs, PENALTY_NAMES, TRUTH_NAMES};

const ACTIONS: [&str; 3] = ["Jr", "Jz", "Jphi"];

/// What is taken of the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FeatureMapName {
    /// The features as they are
    None,
    /// Square roots of the radial and vertical action: sqrt(Jr), sqrt(Jz), Jphi
    Actions,
    /// actions where the features have those names, in any case; else none
    Auto,
}

/// How the features of a table are to be taken.
#[derive(Clone, Debug)]
pub enum Roots {
    /// By a map.
    By(FeatureMapName),
    /// The square root of just these.
    Of(Vec<bool>),
}

impl Roots {
    /// Of which features, by name, the root is taken.
    pub fn of(&self, names: &[&str]) -> Result<Vec<bool>, Fail> {
        let is = |name: &str, action: &str| name.eq_ignore_ascii_case(action);
        let has = |action: &str| names.iter().any(|name| is(name, action));
        let roots = || names.iter().map(|name| is(name, "Jr") || is(name, "Jz")).collect();
        match self {
            Roots::Of(roots) => Ok(roots.clone()),
            Roots::By(FeatureMapName::None) => Ok(vec![false; names.len()]),
            Roots::By(FeatureMapName::Auto) if ACTIONS.iter().all(|action| has(action)) => Ok(roots()),
            Roots::By(FeatureMapName::Auto) => Ok(vec![false; names.len()]),
            Roots::By(FeatureMapName::Actions) if has("Jr") && has("Jz") => Ok(roots()),
            Roots::By(FeatureMapName::Actions) => Err(Fail::usage(format!(
                "--feature-map actions needs features Jr and Jz, not {}; name them with --features, or use --feature-map none",
                names.join(", ")
            ))),
        }
    }
}

/// The column whose square root is meant: `sqrt(Jr)`.
pub fn root_of(name: &str) -> Option<&str> {
    name.trim().strip_prefix("sqrt(")?.strip_suffix(')').map(str::trim)
}

impl LongTableArgs {
    /// The features of `table`; `taken` are columns that are something else.
    pub(super) fn feature_columns<'t>(
        &self,
        table: &'t Table,
        taken: &[Option<&Column>],
        say: &dyn Fn(String),
    ) -> Result<Vec<&'t Column>, Fail> {
        if let Some(names) = &self.features {
            let mut columns = Vec::new();
            for name in names.iter().filter(|n| !n.is_empty()) {
                columns.push(table.require(root_of(name).unwrap_or(name))?);
            }
            if columns.is_empty() {
                return Err(Fail::usage("--features names no column"));
            }
            return Ok(columns);
        }
        if let Some(names) = table.get_metadata(FEATURES_KEY) {
            return Ok(names.split(',').map(|n| table.require(n.trim())).collect::<Result<_, _>>()?);
        }
        if let Some(columns) = ACTIONS.iter().map(|n| any_case(table, n)).collect::<Option<Vec<_>>>() {
            return Ok(columns);
        }
        let free = |c: &&Column| {
            let used = taken.iter().flatten().any(|t| t.name() == c.name());
            let real = matches!(c.data(), Data::F32(_) | Data::F64(_));
            // A penalty or a truth that is not used (`none`) does not become a feature.
            let other = [&CANDIDATE_NAMES[..], &PENALTY_NAMES, &TRUTH_NAMES];
            real && !used && !other.iter().any(|names| names.contains(&c.name()))
        };
        let whole: Vec<&str> = table
            .columns()
            .iter()
            .filter(|c| matches!(c.data(), Data::U8(_) | Data::I16(_) | Data::I32(_) | Data::I64(_)))
            .map(|c| c.name())
            .filter(|n| !taken.iter().flatten().any(|t| t.name() == *n) && !CANDIDATE_NAMES.contains(n))
            .collect();
        let columns: Vec<&Column> = table.columns().iter().filter(free).collect();
        if columns.is_empty() {
            let (input, names) = (self.input.display(), table.names().join(", "));
            return Err(Fail::usage(match whole[..] {
                [] => format!(
                    "{input}: no feature columns found; name them with --features (the table has {names})"
                ),
                _ => format!(
                    "{input}: no feature columns found; columns of whole numbers ({}) are features only if named: --features {}",
                    whole.join(", "),
                    whole.join(",")
                ),
            }));
        }
        let names: Vec<&str> = columns.iter().map(|c| c.name()).collect();
        if let Some(error) = names.iter().find(|name| is_error_bar(table, name)) {
            return Err(self.error_bar(error));
        }
        say(format!("features: {}", names.join(", ")));
        if !whole.is_empty() {
            say(format!(
                "not used, as they hold whole numbers: {} (name them with --features)",
                whole.join(", ")
            ));
        }
        Ok(columns)
    }

    /// An error bar is not a feature: this is a catalogue, and the step before was left out.
    pub fn error_bar(&self, error: &str) -> Fail {
        Fail::usage(format!(
            "{}: column `{error}` looks like an error bar: make candidates first (goc candidates), or name the features with --features",
            self.input.display()
        ))
    }
}

/// A column by its name, or by its name in any case where just one has it.
pub fn any_case<'t>(table: &'t Table, name: &str) -> Option<&'t Column> {
    let mut alike = table.columns().iter().filter(|c| c.name().eq_ignore_ascii_case(name));
    table.column(name).or_else(|| alike.next().filter(|_| alike.next().is_none()))
}

/// Whether this is the name of another column's error.
fn is_error_bar(table: &Table, name: &str) -> bool {
    let value = name.strip_suffix("_error").or_else(|| name.strip_suffix("_err"));
    value.is_some_and(|v| table.column(v).is_some())
}
