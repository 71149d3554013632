//! Long tables: one row a candidate, grouped by object.
//!
//! The usual column names are found by themselves (`i`, `object` or `source_id`; `penalty` or `parallax_penalty`;
//! `true_cluster_id` or `truth`), flags override. A candidate with the missing value in a feature is dropped
//! and counted; NaN and null are refused by name unless `--missing nan`; an object that loses all its
//! candidates is an error that names it. Objects keep the order in which the table first names them; their
//! rows need not stand together.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use goc::candidates::CandidatesBuilder;
use goc::metrics::Scores;
use goc::scale::Scaler;
use goc::{Candidates, Ids};
use goc_tables::{Column, Data, Missing, Table};

use crate::choices::{PenaltyScale, STRENGTH};
use crate::fail::Fail;
use crate::features::{FeatureMapName, Roots, root_of};
use crate::screen::{counted, note};

/// Metadata key under which a candidate table says which columns are its features.
pub const FEATURES_KEY: &str = "goc_features";

/// Metadata key under which every table says what was dropped on the way to it, and why.
pub const DROPPED_KEY: &str = "goc_dropped";

/// Between the sentences under [`DROPPED_KEY`].
pub const DROPPED_BETWEEN: &str = "; ";

/// Metadata keys under which a candidate table says what its penalties are and how its candidates were drawn, and how either begins where it is by
/// the density of the errors.
const PENALTY_KEY: &str = "goc_penalty";
const SAMPLER_KEY: &str = "goc_sampler";
const LOG_DENSITY: &str = "density";

pub const OBJECT_NAMES: [&str; 4] = ["object", "source_id", "i", "id"];
pub const PENALTY_NAMES: [&str; 2] = ["penalty", "parallax_penalty"];
pub const TRUTH_NAMES: [&str; 2] = ["truth", "true_cluster_id"];
/// Columns that number the candidates of an object: never a feature.
pub const CANDIDATE_NAMES: [&str; 2] = ["candidate", "j"];

/// Which columns of a long table are what.
#[derive(Args, Clone, Debug)]
pub struct LongTableArgs {
    /// Table with one row a candidate (.parquet, .fits, .csv, .csv.gz, .ecsv, .vot)
    pub input: PathBuf,

    /// Column that names the object [default: object, source_id, i or id]
    #[arg(long, value_name = "COLUMN")]
    pub object: Option<String>,

    /// Feature columns, or their square roots: sqrt(Jr),sqrt(Jz),Jphi [default: what the table says, or Jr,Jz,Jphi, or every
    /// other column of real numbers]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub features: Option<Vec<String>>,

    /// Penalty column, or `none` [default: penalty or parallax_penalty if there]
    #[arg(long, value_name = "COLUMN")]
    pub penalty: Option<String>,

    /// Column of weights, in place of penalties: each candidate's likelihood, in any unit
    #[arg(long, value_name = "COLUMN", conflicts_with = "penalty")]
    pub weight: Option<String>,

    /// Column of the true groups, or `none` [default: truth or true_cluster_id if there]
    #[arg(long, value_name = "COLUMN")]
    pub truth: Option<String>,

    /// Value that means "missing"; `none`, or `nan` to count NaN and null too
    #[arg(long, value_name = "RULE", default_value = "-9999")]
    pub missing: String,
}

/// How a table is to be taken: what its method says.
#[derive(Clone, Debug)]
pub struct Taken {
    pub roots: Roots,
    /// What a penalty of 1 costs in log likelihood: weights become penalties by it.
    pub strength: f64,
}

impl Default for Taken {
    fn default() -> Self {
        Self { roots: Roots::By(FeatureMapName::None), strength: STRENGTH }
    }
}

/// A long table, read.
pub struct LongTable {
    pub candidates: Candidates,
    /// Names of the features, and their units where the table has them.
    pub features: Vec<(String, Option<String>)>,
    /// The true group of each object, as the table writes it.
    pub truth: Option<Vec<String>>,
    /// Features of which the square root was taken by a map: results are told without it.
    pub mapped: Vec<bool>,
    /// The column that the weights came from; such penalties are not to be scaled.
    pub weight: Option<String>,
    /// The penalties are minus log densities of the errors, as the table's metadata say.
    log_density: bool,
    /// What the penalties were divided by.
    pub penalty_divisor: f64,
    /// The row of the table that each candidate came from; none when that is simply the same order.
    rows: Option<Vec<usize>>,
    /// Candidates dropped for a missing value or a weight of 0.
    pub dropped: usize,
    /// What was dropped and why, here and before: a sentence each.
    pub dropped_why: Vec<String>,
    /// What the table's metadata say of how it came about.
    pub origin: Vec<(String, String)>,
}

impl LongTableArgs {
    /// Reads the table and groups its rows; says what was assumed and dropped.
    pub fn read(&self, taken: &Taken) -> Result<LongTable, Fail> {
        self.read_saying(taken, &|message| note(message))
    }

    /// As [`Self::read`] with the features as they are, without a word.
    pub fn read_quietly(&self) -> Result<LongTable, Fail> {
        self.read_saying(&Taken::default(), &|_| {})
    }

    fn read_saying(&self, taken: &Taken, say: &dyn Fn(String)) -> Result<LongTable, Fail> {
        let table = goc_tables::read(&self.input)?;
        if self.weight.is_some() && !(taken.strength.is_finite() && taken.strength > 0.0) {
            return Err(Fail::usage(format!(
                "--strength is {}, but --weight needs a finite number above 0",
                taken.strength
            )));
        }
        if table.rows() == 0 {
            return Err(Fail::failed(format!("{}: the table has no rows", self.input.display())));
        }
        self.group_saying(&table, taken, say)
    }

    /// For a table of candidates that this program has just made; `input` is what messages name.
    pub fn of_candidates(input: PathBuf) -> Self {
        Self {
            input,
            object: None,
            features: None,
            penalty: None,
            weight: None,
            truth: None,
            missing: "none".into(),
        }
    }

    /// Groups the rows of a table that is read already.
    pub fn group(&self, table: &Table, taken: &Taken) -> Result<LongTable, Fail> {
        self.group_saying(table, taken, &|message| note(message))
    }

    fn group_saying(&self, table: &Table, taken: &Taken, say: &dyn Fn(String)) -> Result<LongTable, Fail> {
        let missing = Missing::parse(&self.missing)?;
        let object = named(table, self.object.as_deref(), &OBJECT_NAMES)?;
        let weight = self.weight.as_deref().map(|name| table.require(name)).transpose()?;
        let penalty = match weight {
            Some(_) => None,
            None => named(table, self.penalty.as_deref(), &PENALTY_NAMES)?,
        };
        let truth = named(table, self.truth.as_deref(), &TRUTH_NAMES)?;
        let features = self.feature_columns(table, &[object, penalty, weight, truth], say)?;
        let asked: Vec<bool> = match &self.features {
            Some(names) => names.iter().filter(|n| !n.is_empty()).map(|n| root_of(n).is_some()).collect(),
            None => vec![false; features.len()],
        };
        let names: Vec<String> = features
            .iter()
            .zip(&asked)
            .map(|(c, root)| if *root { format!("sqrt({})", c.name()) } else { c.name().to_string() })
            .collect();
        let mapped = taken.roots.of(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        if object.is_none() {
            say(format!(
                "{}: no column names the object (looked for {}); every row is an object of its own",
                self.input.display(),
                OBJECT_NAMES.join(", ")
            ));
        }

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
                    let root = asked[f] || mapped[f];
                    if root && v[row] < 0.0 {
                        let way = match taken.roots {
                            Roots::Of(_) => "drop the row", // a model wants it so
                            Roots::By(_) if mapped[f] => "use --feature-map none",
                            Roots::By(_) => "take the column as it is",
                        };
                        let problem = format!("is negative and has no square root; mend it, or {way}");
                        return Err(column.value_error(row, problem).into());
                    }
                    row_values.push(if root { v[row].sqrt() } else { v[row] });
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
                let why = match weight {
                    Some(column) => format!(
                        "have a missing feature or the weight 0; drop the object or mend column `{}`",
                        column.name()
                    ),
                    None => "have a missing feature; drop the object or change --missing".to_string(),
                };
                return Err(Fail::failed(format!(
                    "{}: object {} has no candidates left: all {} {why}",
                    self.input.display(),
                    ids.name(o),
                    groups.rows(o).count()
                )));
            }
            let pushed = match weight {
                Some(_) => builder.push_weighted(&row_values, &row_penalties, taken.strength).map(|_| ()),
                None => builder.push(&row_values, &row_penalties).map(|_| ()),
            };
            pushed.map_err(|e| Fail::failed(e.to_string()))?;
        }
        let candidates = builder.build_with(ids.into_ids()).map_err(|e| Fail::failed(e.to_string()))?;
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
        let of_ours = |(key, _): &&(String, String)| key.starts_with("goc_");
        let origin = table.metadata().iter().filter(of_ours).cloned().collect();
        let unit = |f: usize| features[f].unit().filter(|_| !asked[f]).map(str::to_string);
        let features = names.into_iter().enumerate().map(|(f, name)| (name, unit(f))).collect();
        let rows = (!plain).then_some(kept_rows);
        let of_goc = penalty.is_some_and(|column| column.name() == PENALTY_NAMES[0]);
        let log_density =
            of_goc && table.get_metadata(PENALTY_KEY).is_some_and(|kind| kind.starts_with(LOG_DENSITY));
        Ok(LongTable {
            candidates,
            features,
            truth,
            mapped,
            weight: weight.map(|column| column.name().to_string()),
            log_density,
            penalty_divisor: 1.0,
            rows,
            dropped: dropped + weightless,
            dropped_why,
            origin,
        })
    }
}

/// The column that a flag names (`none`: no column), or the first of the usual names that is there.
pub fn named<'t>(table: &'t Table, flag: Option<&str>, usual: &[&str]) -> Result<Option<&'t Column>, Fail> {
    match flag {
        Some("none") => Ok(None),
        Some(name) => Ok(Some(table.require(name)?)),
        None => Ok(usual.iter().find_map(|name| table.column(name))),
    }
}

pub fn not_finite(column: &Column, row: usize) -> goc_tables::TableError {
    let problem = if column.is_null(row) {
        "is null where a number is needed; fill it, or drop such rows with --missing nan"
    } else if column.text(row).contains("inf") {
        "is not a finite number; mend it or drop the row"
    } else {
        "is not a finite number; mend it, or drop such rows with --missing nan"
    };
    column.value_error(row, problem)
}

/// How the objects of a table are called.
pub enum Names {
    Position,
    Integer(Vec<i64>),
    Text(Vec<String>),
}

impl Names {
    pub fn name(&self, i: usize) -> String {
        match self {
            Names::Position => i.to_string(),
            Names::Integer(v) => v[i].to_string(),
            Names::Text(v) => v[i].clone(),
        }
    }

    fn into_ids(self) -> Ids {
        match self {
            Names::Position => Ids::Position,
            Names::Integer(v) => Ids::Integer(v),
            Names::Text(v) => Ids::Text(v),
        }
    }
}

/// The rows of each object, objects in order of appearance.
pub struct Groups {
    /// Rows, object after object; none when the table has them in that order already.
    order: Option<Vec<usize>>,
    offsets: Vec<usize>,
}

impl Groups {
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub fn rows(&self, o: usize) -> impl Iterator<Item = usize> + '_ {
        (self.offsets[o]..self.offsets[o + 1]).map(|at| self.order.as_ref().map_or(at, |order| order[at]))
    }
}

/// Groups the rows by object; without an object column every row is one.
pub fn group(table: &Table, object: Option<&Column>) -> Result<(Groups, Names), Fail> {
    let Some(column) = object else {
        let groups = Groups { order: None, offsets: (0..=table.rows()).collect() };
        return Ok((groups, Names::Position));
    };
    if let Data::Text(texts) = column.data() {
        if let Some(row) = (0..table.rows()).find(|&r| column.is_null(r)) {
            return Err(column.value_error(row, "is null where an object is named").into());
        }
        let (groups, names) = group_by(texts);
        Ok((groups, Names::Text(names)))
    } else {
        let (groups, names) = group_by(&column.integers()?);
        Ok((groups, Names::Integer(names)))
    }
}

fn group_by<K: std::hash::Hash + Eq + Clone>(keys: &[K]) -> (Groups, Vec<K>) {
    let mut names: Vec<K> = Vec::new();
    let mut at: HashMap<&K, usize> = HashMap::new();
    // Runs of rows with one object; usually there is one run an object.
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

/// A column as numbers, without a copy where it holds just that.
fn numbers(column: &Column) -> Result<Cow<'_, [f64]>, Fail> {
    match (column.data(), column.valid()) {
        (Data::F64(values), None) => Ok(Cow::Borrowed(values)),
        _ => Ok(Cow::Owned(column.numbers()?)),
    }
}

fn truth_of(column: &Column, groups: &Groups, candidates: &Candidates) -> Result<Vec<String>, Fail> {
    (0..groups.len())
        .map(|i| {
            let truth = groups.rows(i).next().map_or_else(String::new, |row| column.text(row).into_owned());
            match groups.rows(i).find(|&row| column.text(row) != truth.as_str()) {
                None => Ok(truth),
                Some(row) => {
                    let problem = format!("contradicts {truth} for the same object {}", candidates.name(i));
                    Err(column.value_error(row, problem).into())
                }
            }
        })
        .collect()
}

impl LongTable {
    /// The same objects with their candidates changed in place.
    pub fn map_candidates(self, change: impl FnOnce(Candidates) -> Candidates) -> Self {
        Self { candidates: change(self.candidates), ..self }
    }

    /// Features scaled, and penalties divided by the largest if asked. Weights are likelihoods already: dividing their logarithms would
    /// change them.
    pub fn scaled(self, scaler: &Scaler, penalties: PenaltyScale) -> Self {
        let penalty_divisor = match self.candidates.largest_penalty() {
            largest if penalties == PenaltyScale::Max && self.weight.is_none() && largest > 0.0 => largest,
            _ => 1.0,
        };
        let candidates = scaler.apply(self.candidates).divide_penalties(penalty_divisor);
        Self { candidates, penalty_divisor, ..self }
    }

    /// What a penalty of 1 costs in log likelihood, unless told: where the penalties are known to be minus log densities, what undoes
    /// their scaling. Others are taken for the paper's, at most 2 before they were scaled.
    pub fn strength(&self, penalties: PenaltyScale) -> f64 {
        match penalties {
            _ if self.weight.is_some() => STRENGTH,
            PenaltyScale::None => 1.0,
            PenaltyScale::Max if self.log_density => self.penalty_divisor,
            PenaltyScale::Max => STRENGTH,
        }
    }

    /// Whether candidates that were drawn from the errors have the density of the errors as penalties too.
    pub fn counts_errors_twice(&self) -> bool {
        self.log_density && self.origin.iter().any(|(key, value)| key == SAMPLER_KEY && value == LOG_DENSITY)
    }

    /// The objects, as the table names them.
    pub fn object_column(&self) -> Column {
        let ids = match self.candidates.ids() {
            Ids::Integer(v) => Data::I64(v.clone()),
            Ids::Text(v) => Data::Text(v.clone()),
            _ => Data::I64((0..self.candidates.objects() as i64).collect()),
        };
        Column::new("object", ids).with_description("object, as the input names it")
    }

    /// The features of each object, by these rows, with their units.
    pub fn feature_columns(&self, rows: &[Vec<f64>], description: Option<&str>) -> Vec<Column> {
        let column = |(f, (name, unit)): (usize, &(String, Option<String>))| {
            let mut column = Column::new(name.clone(), Data::F64(rows.iter().map(|row| row[f]).collect()));
            if let Some(description) = description {
                column = column.with_description(description);
            }
            match unit {
                Some(unit) => column.with_unit(unit.clone()),
                None => column,
            }
        };
        self.features.iter().enumerate().map(column).collect()
    }

    /// The true groups, as numbers where all of them are.
    pub fn truth_column(&self) -> Option<Column> {
        let truth = self.truth.as_ref()?;
        let whole: Result<Vec<i64>, _> = truth.iter().map(|t| t.parse()).collect();
        Some(Column::new("truth", whole.map_or_else(|_| Data::Text(truth.clone()), Data::I64)))
    }

    /// One feature vector from what was clustered, scaling undone, to what the table has.
    pub fn undo_map(&self, row: &mut [f64]) {
        for (value, _) in row.iter_mut().zip(&self.mapped).filter(|(_, mapped)| **mapped) {
            *value *= *value;
        }
    }

    /// The features as they were clustered, in words.
    pub fn taken_features(&self) -> Vec<String> {
        let taken = |((name, _), mapped): (&(String, _), &bool)| match mapped {
            true => format!("sqrt({name})"),
            false => name.clone(),
        };
        self.features.iter().zip(&self.mapped).map(taken).collect()
    }

    /// The name of the feature map that was used.
    pub fn map_name(&self) -> &'static str {
        if self.mapped.contains(&true) { "actions" } else { "none" }
    }

    /// The row of the table, from 0, that candidate `j` of object `i` came from.
    pub fn row(&self, i: usize, j: usize) -> usize {
        let at = self.candidates.offsets()[i] + j;
        self.rows.as_ref().map_or(at, |rows| rows[at])
    }
}

/// Scores of labels against the truth; objects without a truth do not count. None when no object has one.
pub fn scores_of<L: Copy + Ord>(labels: &[L], truth: &[String]) -> Result<Option<Scores>, Fail> {
    let known: Vec<usize> = (0..truth.len()).filter(|&i| !truth[i].is_empty()).collect();
    if known.is_empty() {
        return Ok(None);
    }
    let labels: Vec<L> = known.iter().map(|&i| labels[i]).collect();
    let truth: Vec<String> = known.iter().map(|&i| truth[i].clone()).collect();
    Ok(Some(Scores::of(&labels, &numbered(&truth))?))
}

/// Labels by object from a table: one row an object, in any order, each object once and none too many.
pub fn labels_for(candidates: &Candidates, path: &Path, label_names: &[&str]) -> Result<Vec<String>, Fail> {
    let table = goc_tables::read(path)?;
    let objects = match named(&table, None, &["object", "source_id", "i", "star", "id"])? {
        Some(column) => column,
        None => return Err(Fail::failed(format!("{}: no column names the object", path.display()))),
    };
    let labels = match label_names.iter().find_map(|n| table.column(n)) {
        Some(column) => column,
        None => {
            return Err(Fail::failed(format!(
                "{}: no label column (looked for {}; the table has {})",
                path.display(),
                label_names.join(", "),
                table.names().join(", ")
            )));
        }
    };
    let at: HashMap<String, usize> = (0..candidates.objects()).map(|i| (candidates.name(i), i)).collect();
    let mut found: Vec<Option<String>> = vec![None; candidates.objects()];
    for row in 0..table.rows() {
        let name = objects.text(row);
        let Some(&i) = at.get(name.as_ref()) else {
            return Err(objects.value_error(row, "is not an object of the candidates").into());
        };
        if labels.is_null(row) {
            return Err(labels.value_error(row, "is null where a label is needed").into());
        }
        if found[i].replace(labels.text(row).into_owned()).is_some() {
            return Err(objects.value_error(row, "is labelled twice").into());
        }
    }
    found
        .into_iter()
        .enumerate()
        .map(|(i, label)| {
            label.ok_or_else(|| {
                Fail::failed(format!("{}: object {} has no label", path.display(), candidates.name(i)))
            })
        })
        .collect()
}

/// Labels of any text as numbers, equal texts alike.
pub fn numbered(labels: &[String]) -> Vec<i64> {
    let mut seen: HashMap<&str, i64> = HashMap::new();
    labels
        .iter()
        .map(|label| {
            let next = seen.len() as i64;
            // Whole numbers keep their value: order and gaps of somebody's own numbering stay.
            label.parse().unwrap_or_else(|_| *seen.entry(label).or_insert(i64::MIN + next))
        })
        .collect()
}
