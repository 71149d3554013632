//! Long tables: one row per candidate, grouped by object.
//!
//! Columns with the usual names are found automatically (`i`, `object` or `source_id`; `penalty` or
//! `parallax_penalty`; `true_cluster_id` or `truth`); [`LongTable`] can name others. A candidate
//! with a missing value in a feature is dropped and counted. NaN and null are errors unless they
//! count as missing. An object that loses all its candidates is an error. These errors name the
//! offender. Objects keep the order in which they first appear in the table; their rows need not be
//! adjacent.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use goc::candidates::{CandidatesBuilder, PENALTY_STRENGTH};
use goc::{Candidates, Ids};
use goc_galaxy::catalogue::schema::Columns;
use goc_tables::{Column, Data, Missing, Table, TableError, Which};

use crate::dataset::{Dataset, Feature, PenaltyKind};
use crate::error::{PipelineError, Result};
use crate::feature_map::{ACTIONS, root_of, rooted};
use crate::judge::counted;
use crate::measured::name;
use crate::memory;
use crate::open::open_which;
use crate::table_columns::TableColumns;
use crate::watch::Watch;

pub use crate::sampling::{DROPPED_BETWEEN, DROPPED_KEY, FEATURES_KEY};

/// The default value that means "missing", as used by surveys.
pub const MISSING: &str = "-9999";
/// The same, with NaN and null also counted as missing.
pub const MISSING_OR_NAN: &str = "-9999,nan";

/// Usual names of the object column.
pub const OBJECT_NAMES: [&str; 4] = ["object", "source_id", "i", "id"];
/// Usual names of the penalty column; the first is the one goc writes.
pub const PENALTY_NAMES: [&str; 2] = ["penalty", "parallax_penalty"];
/// Usual names of the column of the true groups.
pub const TRUTH_NAMES: [&str; 2] = ["truth", "true_cluster_id"];
/// Columns that number the candidates of an object; they are never features.
pub const CANDIDATE_NAMES: [&str; 2] = ["candidate", "j"];

/// Column that says which objects have a value drawn from a prior.
pub const FROM_PRIOR: &str = "from_prior";

/// The roles of the columns of a long table. `None` means that the usual names are searched for.
#[derive(Clone, Debug)]
pub struct LongTable {
    /// The name of the table in messages: its file.
    pub input: PathBuf,
    /// Which of the file's tables to read.
    pub which: Which,
    /// Column that names the object; with `none`, every row is an object.
    pub object: Option<String>,
    /// Feature columns, or their square roots such as `sqrt(Jr)`.
    pub features: Option<Vec<String>>,
    /// Penalty column, or `none`.
    pub penalty: Option<String>,
    /// Column of weights to use instead of penalties: the likelihood of each candidate, up to a
    /// constant factor.
    pub weight: Option<String>,
    /// Column of the true groups, or `none`.
    pub truth: Option<String>,
    /// Column of the objects' weights.
    pub object_weight: Option<String>,
    /// The rule for missing values: see [`Missing`].
    pub missing: String,
    /// The cost of a penalty of 1 in log likelihood, used to turn weights into penalties.
    pub penalty_strength: f64,
}

impl LongTable {
    /// The usual names; `input` is the name of the table in messages.
    pub fn new(input: impl Into<PathBuf>) -> Self {
        Self {
            input: input.into(),
            which: Which::First,
            object: None,
            features: None,
            penalty: None,
            weight: None,
            truth: None,
            object_weight: None,
            missing: MISSING.into(),
            penalty_strength: PENALTY_STRENGTH,
        }
    }

    /// Reads the file and groups its rows; reports what was assumed and dropped.
    pub fn read(&self, watch: &dyn Watch) -> Result<Dataset> {
        self.group(&open_which(&self.input, &self.which, watch)?, watch)
    }

    /// Groups the rows of a table that has already been read.
    pub fn group(&self, table: &Table, watch: &dyn Watch) -> Result<Dataset> {
        let say = |remark: String| watch.note(&remark);
        if self.weight.is_some() && !(self.penalty_strength.is_finite() && self.penalty_strength > 0.0) {
            return Err(usage!(
                "{{penalty_strength}} is {}, but --weight needs a finite number above 0",
                self.penalty_strength
            ));
        }
        let missing = Missing::parse(&self.missing)?;
        let object = named(table, self.object.as_deref(), &OBJECT_NAMES)?;
        let weight = self.weight.as_deref().map(|name| table.require(name)).transpose()?;
        let penalty = match weight {
            Some(_) => None,
            None => named(table, self.penalty.as_deref(), &PENALTY_NAMES)?,
        };
        let truth = named(table, self.truth.as_deref(), &TRUTH_NAMES)?;
        let counts = self.object_weight.as_deref().map(|name| table.require(name)).transpose()?;
        let features = self.feature_columns(table, &[object, penalty, weight, truth, counts], &say)?;
        let asked: Vec<bool> = match &self.features {
            Some(names) => names.iter().filter(|n| !n.is_empty()).map(|n| root_of(n).is_some()).collect(),
            None => vec![false; features.len()],
        };
        let names = features.iter().zip(&asked).map(|(c, root)| rooted(c.name(), *root));
        let names: Vec<String> = names.collect();
        if object.is_none() {
            say(format!(
                "{}: no column names the object (looked for {}); every row is an object of its own",
                self.input.display(),
                OBJECT_NAMES.join(", ")
            ));
        }

        // For every row: its features, its penalty, its number, and where its object begins.
        let numbers_of_row = features.len() as u64 + 3;
        let what = format!("{}: the candidates of {} rows", self.input.display(), table.rows());
        memory::check(8 * numbers_of_row * table.rows() as u64, &what, "use fewer rows or features")?;
        let (groups, ids) = group(table, object)?;
        let values: Vec<Cow<'_, [f64]>> = features.iter().map(|c| numbers(c)).collect::<Result<_, _>>()?;
        let penalties = penalty.or(weight).map(numbers).transpose()?;
        let mut builder = CandidatesBuilder::with_capacity(features.len(), groups.len(), table.rows());
        let mut kept_rows = Vec::new();
        let mut plain = groups.order.is_none();
        let (mut dropped, mut weightless) = (0, 0);
        let (mut row_values, mut row_penalties) = (Vec::new(), Vec::new());
        for o in 0..groups.len() {
            row_values.clear();
            row_penalties.clear();
            for row in groups.rows(o) {
                let gone = values.iter().any(|v| missing.is_missing(v[row]));
                let weighs_nothing = weight.is_some() && penalties.as_ref().is_some_and(|w| w[row] == 0.0);
                if gone || weighs_nothing {
                    if plain {
                        // From here on the order of the candidates is not the order of the rows.
                        kept_rows.extend(0..row);
                        plain = false;
                    }
                    (dropped, weightless) = (dropped + usize::from(gone), weightless + usize::from(!gone));
                    continue;
                }
                for (f, (column, v)) in features.iter().zip(&values).enumerate() {
                    if !v[row].is_finite() {
                        return Err(not_finite(column, row).into());
                    }
                    if asked[f] && v[row] < 0.0 {
                        let problem =
                            "is negative and has no square root; fix it, or take the column as it is";
                        return Err(column.value_error(row, problem).into());
                    }
                    row_values.push(if asked[f] { v[row].sqrt() } else { v[row] });
                }
                if let (Some(column), Some(p)) = (penalty.or(weight), &penalties) {
                    if !(p[row].is_finite() && p[row] >= 0.0) {
                        let problem = match weight {
                            Some(_) => "is not a weight; weights are finite and not below 0",
                            None => "is not a penalty; penalties are finite and not below 0",
                        };
                        return Err(column.value_error(row, problem).into());
                    }
                    row_penalties.push(p[row]);
                }
                if !plain {
                    kept_rows.push(row);
                }
            }
            if row_values.is_empty() {
                let why = match weight.map(Column::name) {
                    Some(name) => &format!(" or the weight 0; drop the object or fix column `{name}`"),
                    None => "; drop the object or change --missing",
                };
                let (input, object, all) = (self.input.display(), name(&ids, o), groups.rows(o).count());
                return Err(failed!(
                    "{input}: object {object} has no candidates left: all {all} have a missing feature{why}"
                ));
            }
            if weight.is_some() {
                builder.push_weighted(&row_values, &row_penalties, self.penalty_strength)?;
            } else {
                builder.push(&row_values, &row_penalties)?;
            }
        }
        let candidates = builder.build_with(ids)?;
        let truth = truth.map(|column| truth_of(column, &groups, &candidates)).transpose()?;
        let unknown = truth.iter().flatten().filter(|truth| truth.is_empty()).count();
        if unknown > 0 {
            let (what, all) = (counted(unknown, "object"), candidates.objects());
            say(format!("{what} of {all} without a truth: left out of the scores"));
        }
        let before = table.get_metadata(DROPPED_KEY);
        let mut dropped_why: Vec<String> = before.map(str::to_string).into_iter().collect();
        for (count, why) in [(dropped, "a feature is missing"), (weightless, "their weight is 0")] {
            if count > 0 {
                let sentence = format!("dropped {count} of {} candidates: {why}", table.rows());
                say(sentence.clone());
                dropped_why.push(sentence);
            }
        }
        let object_weights = counts.map(|column| weights_of(column, &groups, &candidates)).transpose()?;
        let of_ours = |(key, _): &&(String, String)| key.starts_with("goc_");
        let provenance = table.metadata().iter().filter(of_ours).cloned().collect();
        let unit = |f: usize| features[f].unit().filter(|_| !asked[f]).map(str::to_string);
        let features = names.into_iter().enumerate().map(|(f, name)| Feature { name, unit: unit(f) });
        let of_goc = penalty.is_some_and(|column| column.name() == PENALTY_NAMES[0]);
        let mut data = Dataset { provenance, ..Dataset::new(candidates) };
        data.penalties = match weight {
            Some(_) => PenaltyKind::Weights { strength: self.penalty_strength },
            // The metadata do not describe columns with other names.
            None if of_goc => data.said_penalties(),
            None => PenaltyKind::Unknown,
        };
        let source = self.input.display().to_string();
        Ok(Dataset {
            features: features.collect(),
            truth,
            object_weights,
            from_prior: from_prior_of(table, &groups)?,
            dropped: dropped_why,
            dropped_candidates: dropped + weightless,
            weight_column: weight.map(|column| column.name().to_string()),
            rows: (!plain).then_some(kept_rows),
            row_names: Some(TableColumns::new(table, &source).rows()),
            source: Some(source),
            ..data
        })
    }

    /// The features of `table`; `taken` lists the columns that have another role.
    fn feature_columns<'t>(
        &self,
        table: &'t Table,
        taken: &[Option<&Column>],
        say: &dyn Fn(String),
    ) -> Result<Vec<&'t Column>> {
        if let Some(names) = &self.features {
            let names = names.iter().filter(|n| !n.is_empty());
            let columns: Vec<&Column> =
                names.map(|name| table.require(root_of(name).unwrap_or(name))).collect::<Result<_, _>>()?;
            return if columns.is_empty() { Err(usage!("--features names no column")) } else { Ok(columns) };
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
            // An unused penalty or truth column (`none`) does not become a feature.
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
            let (listed, typed) = (whole.join(", "), whole.join(","));
            let way = match whole[..] {
                [] => format!("name them with --features (the table has {names})"),
                _ => format!(
                    "columns of whole numbers ({listed}) are features only if named: --features {typed}"
                ),
            };
            return Err(usage!("{input}: no feature columns found; {way}"));
        }
        let names: Vec<&str> = columns.iter().map(|c| c.name()).collect();
        if let Some(error) = names.iter().find(|name| is_error_bar(table, name)) {
            return Err(self.error_bar(error));
        }
        say(format!("features: {}", names.join(", ")));
        if !whole.is_empty() {
            let whole = whole.join(", ");
            say(format!("not used, as they hold whole numbers: {whole} (name them with --features)"));
        }
        Ok(columns)
    }

    /// An error bar is not a feature: this is a catalogue, and the step that makes candidates was
    /// skipped.
    pub fn error_bar(&self, error: &str) -> PipelineError {
        usage!(
            "{}: column `{error}` looks like an error bar: make candidates first (goc candidates), or name the features with --features",
            self.input.display()
        )
    }
}

/// The column named by a flag (`none` for no column), or the first of the usual names that exists.
pub fn named<'t>(table: &'t Table, flag: Option<&str>, usual: &[&str]) -> Result<Option<&'t Column>> {
    match flag {
        Some("none") => Ok(None),
        Some(name) => Ok(Some(table.require(name)?)),
        None => Ok(usual.iter().find_map(|name| table.column(name))),
    }
}

/// Like [`named`], but a missing column is an error that says what was searched for, followed by
/// `hint`. `what` describes what the column holds.
pub fn require_named<'t>(
    table: &'t Table,
    path: &Path,
    flag: Option<&str>,
    usual: &[&str],
    what: &str,
    hint: &str,
) -> Result<&'t Column> {
    named(table, flag, usual)?.ok_or_else(|| {
        let (path, usual, names) = (path.display(), usual.join(", "), table.names().join(", "));
        failed!("{path}: no {what} column (looked for {usual}; the table has {names}){hint}")
    })
}

/// The row of each object in a table with one row per object. The rows may be in any order, and
/// each object must appear exactly once. Rows in `left_out` need not belong to an object. The row
/// of an object needs a label, and `check` may report further problems with it.
pub fn rows_of_objects(
    candidates: &Candidates,
    path: &Path,
    objects: &Column,
    labels: &Column,
    left_out: &dyn Fn(usize) -> bool,
    check: &dyn Fn(usize) -> Result<()>,
) -> Result<Vec<usize>> {
    let at: HashMap<String, usize> = (0..candidates.objects()).map(|i| (candidates.name(i), i)).collect();
    let mut found: Vec<Option<usize>> = vec![None; candidates.objects()];
    for row in 0..objects.len() {
        let Some(&i) = at.get(objects.text(row).as_ref()) else {
            if left_out(row) {
                continue;
            }
            return Err(objects.value_error(row, "is not an object of the candidates").into());
        };
        if labels.is_null(row) {
            return Err(labels.value_error(row, "is null where a label is needed").into());
        }
        if found[i].replace(row).is_some() {
            return Err(objects.value_error(row, "is labelled twice").into());
        }
        check(row)?;
    }
    let none = |i| failed!("{}: object {} has no label", path.display(), candidates.name(i));
    found.into_iter().enumerate().map(|(i, row)| row.ok_or_else(|| none(i))).collect()
}

/// The error for a value that is not a finite number, with advice on what to do.
pub fn not_finite(column: &Column, row: usize) -> TableError {
    let problem = if column.is_null(row) {
        "is null where a number is needed; fill it, or drop such rows with --missing nan"
    } else if column.text(row).contains("inf") {
        "is not a finite number; fix it or drop the row"
    } else {
        "is not a finite number; fix it, or drop such rows with --missing nan"
    };
    column.value_error(row, problem)
}

/// The rows of each object, objects in order of appearance.
pub(crate) struct Groups {
    /// Rows ordered by object; `None` if the table is already in that order.
    order: Option<Vec<usize>>,
    offsets: Vec<usize>,
}

impl Groups {
    /// The number of objects.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The rows of object `o`.
    pub fn rows(&self, o: usize) -> impl Iterator<Item = usize> + '_ {
        (self.offsets[o]..self.offsets[o + 1]).map(|at| self.order.as_ref().map_or(at, |order| order[at]))
    }
}

/// Groups the rows by object; without an object column, every row is an object.
pub(crate) fn group(table: &Table, object: Option<&Column>) -> Result<(Groups, Ids)> {
    let Some(column) = object else {
        let groups = Groups { order: None, offsets: (0..=table.rows()).collect() };
        return Ok((groups, Ids::Position));
    };
    if let Data::Text(texts) = column.data() {
        if let Some(row) = (0..table.rows()).find(|&r| column.is_null(r)) {
            return Err(column.value_error(row, "is null where the name of an object is needed").into());
        }
        let (groups, names) = group_by(texts);
        Ok((groups, Ids::Text(names)))
    } else {
        let (groups, names) = group_by(&column.integers()?);
        Ok((groups, Ids::Integer(names)))
    }
}

fn group_by<K: std::hash::Hash + Eq + Clone>(keys: &[K]) -> (Groups, Vec<K>) {
    let mut names: Vec<K> = Vec::new();
    let mut at: HashMap<&K, usize> = HashMap::new();
    // Runs of consecutive rows of the same object; usually there is one run per object.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for row in 0..keys.len() {
        if row > 0 && keys[row] == keys[row - 1] {
            continue;
        }
        let next = names.len();
        let o = *at.entry(&keys[row]).or_insert(next);
        if o == next {
            names.push(keys[row].clone());
        }
        runs.push((o, row));
    }
    if runs.len() == names.len() {
        let offsets = runs.iter().map(|r| r.1).chain([keys.len()]).collect();
        return (Groups { order: None, offsets }, names);
    }
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (r, &(o, from)) in runs.iter().enumerate() {
        let to = runs.get(r + 1).map_or(keys.len(), |next| next.1);
        rows[o].extend(from..to);
    }
    let mut offsets = vec![0];
    offsets.extend(rows.iter().scan(0, |sum, r| {
        *sum += r.len();
        Some(*sum)
    }));
    (Groups { order: Some(rows.concat()), offsets }, names)
}

/// A column as `f64` numbers, without a copy if it already holds them.
fn numbers(column: &Column) -> Result<Cow<'_, [f64]>> {
    match (column.data(), column.valid()) {
        (Data::F64(values), None) => Ok(Cow::Borrowed(values)),
        _ => Ok(Cow::Owned(column.numbers()?)),
    }
}

fn truth_of(column: &Column, groups: &Groups, candidates: &Candidates) -> Result<Vec<String>> {
    (0..groups.len())
        .map(|i| {
            let truth = groups.rows(i).next().map_or_else(String::new, |row| column.text(row).into_owned());
            let other = groups.rows(i).find(|&row| column.text(row) != truth.as_str());
            let problem = || format!("contradicts {truth} for the same object {}", candidates.name(i));
            other.map_or(Ok(()), |row| Err(column.value_error(row, problem())))?;
            Ok(truth)
        })
        .collect()
}

/// Which objects have a value drawn from a prior, where the table says so.
fn from_prior_of(table: &Table, groups: &Groups) -> Result<Vec<bool>> {
    let Some(column) = table.column(FROM_PRIOR) else { return Ok(Vec::new()) };
    let of = |row: usize| match column.text(row).as_ref() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(column.value_error(row, "is not true or false; drop the column or fix it")),
    };
    (0..groups.len()).map(|i| Ok(groups.rows(i).next().map_or(Ok(false), of)?)).collect()
}

/// Labels by object from a table, as [`rows_of_objects`] finds them.
pub fn labels_for(candidates: &Candidates, path: &Path, label_names: &[&str]) -> Result<Vec<String>> {
    let table = goc_tables::read(path)?;
    let objects = named(&table, None, &["object", "source_id", "i", "star", "id"])?
        .ok_or_else(|| failed!("{}: no column names the object", path.display()))?;
    let labels = require_named(&table, path, None, label_names, "label", "")?;
    let rows = rows_of_objects(candidates, path, objects, labels, &|_| false, &|_| Ok(()))?;
    Ok(rows.into_iter().map(|row| labels.text(row).into_owned()).collect())
}

/// A column by its name, or by a case-insensitive match if that is unique.
pub fn any_case<'t>(table: &'t Table, name: &str) -> Option<&'t Column> {
    let mut alike = table.columns().iter().filter(|c| c.name().eq_ignore_ascii_case(name));
    table.column(name).or_else(|| alike.next().filter(|_| alike.next().is_none()))
}

/// Whether this is the name of another column's error column.
fn is_error_bar(table: &Table, name: &str) -> bool {
    let value = name.strip_suffix("_error").or_else(|| name.strip_suffix("_err"));
    value.is_some_and(|v| table.column(v).is_some())
}

/// The weight of each object, which must be the same in all its rows.
fn weights_of(column: &Column, groups: &Groups, candidates: &Candidates) -> Result<Vec<f64>> {
    let numbers = numbers(column)?;
    (0..groups.len())
        .map(|i| {
            let first = groups.rows(i).next().map_or(f64::NAN, |row| numbers[row]);
            let weighs = first.is_finite() && first >= 0.0;
            let Some(row) = groups.rows(i).find(|&row| numbers[row] != first || !weighs) else {
                return Ok(first);
            };
            let object = candidates.name(i);
            let problem = format!(
                "is not a weight of object {object}: weights are finite, not below 0, and one per object"
            );
            Err(column.value_error(row, problem).into())
        })
        .collect()
}
