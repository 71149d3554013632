//! `goc report`: the interactive page.
//!
//! Reads the output of `goc cluster -o` or `goc stars -o` and any other named tables, and passes
//! plain numbers to [`goc_report::page`]. The labels alone are enough; each further table adds a
//! part. Labels from `goc stars` have a column prefix, which the label column reveals.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use clap::Args;
use goc_galaxy::catalogue::Angles;
use goc_report::page::{AngleUnit, Extra, Feature, Page, SkyFrame, Step};
use goc_tables::{Column, Data, Files, Table};
use serde_json::{Value, json};

use goc_pipeline::Unwatched;
use goc_pipeline::labels::{DIGEST_KEY, HISTORY_KEY, check_candidates};
use goc_pipeline::long_table::MISSING;
use goc_pipeline::long_table::{
    DROPPED_BETWEEN, DROPPED_KEY, FEATURES_KEY, LongTable, OBJECT_NAMES, TRUTH_NAMES, named, require_named,
};

use super::Work;
use super::score::{LABEL_NAMES, prefix_of};
use crate::console;
use crate::failure::{Failure, Result};

/// Columns of a label table with numbers of an object, for its card, by name.
const EXTRAS: [&str; 6] = ["alone", "field", "stability", "log_odds", "distance", "penalty"];

/// Columns with numbers of its cluster: the name there and the name on the page.
const CLUSTER_EXTRAS: [(&str, &str); 4] = [
    ("recurrence", "recurrence"),
    ("cluster_stability", "stability"),
    ("p_value", "p_value"),
    ("q_value", "q_value"),
];

/// Known columns, which are not features.
#[rustfmt::skip]
const KNOWN: [&str; 14] = [
    "probability", "runner_up", "runner_up_probability", "candidate", "row", "candidates", "note", "ra",
    "dec", "l", "b", "object", "truth", "cluster",
];

/// Metadata that record how the candidates were made and with which model of the Galaxy.
#[rustfmt::skip]
const OF_CANDIDATES: [&str; 22] = [
    "shape", "size", "sampler", "m", "distance_prior", "transform", "penalty", "potential", "variant",
    "sun", "jphi_sign", "angles", "zero_point_mas", "error_model", "accuracy", "dwarfs", "field_stars",
    "dispersion_km_s", "speed_km_s", "age_gyr", "reach_kpc", "latitude_deg",
];

/// Metadata that the page shows elsewhere.
const ELSEWHERE: [&str; 4] = [HISTORY_KEY, DROPPED_KEY, FEATURES_KEY, DIGEST_KEY];

/// Make an interactive page: stars in linked views and a table of clusters, in one HTML file
#[derive(Args)]
#[command(after_help = "Example: goc report labels.parquet --candidates candidates.parquet -o report.html\n\
    CSV keeps no metadata: write labels as .parquet or .ecsv to see parameters, seed and potential on the page.")]
pub struct Report {
    /// Labels, as `goc cluster -o` or `goc stars -o` writes them
    labels: PathBuf,

    /// File to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    output: PathBuf,

    /// The candidates that were clustered; pointing at a star then shows its uncertainty set
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,

    /// Pairs of objects that may be together, from `goc cluster --together`
    #[arg(long, value_name = "FILE")]
    together: Option<PathBuf>,

    /// Objective and changes per iteration, from `goc cluster --history` [default: the history in
    /// the labels]
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

    /// More columns for the table of clusters, from `goc cluster --clusters`
    #[arg(long, value_name = "FILE")]
    clusters: Option<PathBuf>,

    /// Positions on the sky, by object: l and b, or ra and dec [default: the labels, if they have
    /// them]
    #[arg(long, value_name = "FILE")]
    stars: Option<PathBuf>,

    /// Title of the page [default: the name of the label file]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Column of the labels [default: label, labels, cluster or goc_label]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,

    /// Column that names the object [default: object, source_id, i or id; else the row, from 0]
    #[arg(long, value_name = "COLUMN")]
    object: Option<String>,

    /// Feature columns [default: those the table's metadata name, or every numeric column with no
    /// other role]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    features: Option<Vec<String>>,

    /// Column of the true groups, or `none` [default: truth or true_cluster_id, if present]
    #[arg(long, value_name = "COLUMN")]
    truth: Option<String>,

    /// Value that means "missing" in the candidates, as it was for `goc cluster`
    #[arg(long, value_name = "RULE", default_value = MISSING)]
    missing: String,

    /// Unit of the positions, degrees or radians [default: the unit in the table, else degrees]
    #[arg(long, value_name = "UNIT")]
    angles: Option<Angles>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Work for Report {
    fn files(&self) -> Files {
        let others = [&self.candidates, &self.together, &self.history, &self.clusters, &self.stars];
        let files = Files::default().reads([&self.labels]).reads(others.into_iter().flatten());
        files.writes([&self.output])
    }

    fn run(self) -> Result<()> {
        if !self.output.extension().is_some_and(|end| end == "html" || end == "htm") {
            return Err(usage!("{}: the page is an HTML file; name it .html", self.output.display()));
        }
        let labels = LabelTable::read(&self)?;
        let page = self.page(&labels)?;
        let html = page.html().map_err(|e| within(&self.labels, e))?;
        goc_tables::write_text(&html, &self.output)?;
        if self.json {
            return console::print_json(&json!({
                "n_objects": page.objects(),
                "n_left_out": labels.table.rows() - page.objects(),
                "bytes": html.len(),
                "output": self.output.display().to_string(),
            }));
        }
        console::note(format!(
            "{} on a page: open {} in a browser",
            console::counted(page.objects(), "object"),
            self.output.display()
        ));
        Ok(())
    }
}

impl Report {
    fn page(&self, labels: &LabelTable) -> Result<Page> {
        let table = &labels.table;
        let own = |error| within(&self.labels, error);
        let title = self.title.clone().unwrap_or_else(|| {
            self.labels.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
        });
        let mut page =
            Page::new(labels.ids(), labels.labels()?, labels.features(self)?).map_err(own)?.title(title);
        if let Some(column) = labels.column("probability") {
            page = page.probability(labels.numbers(column)?).map_err(own)?;
        }
        if let Some(column) = labels.column("runner_up") {
            let probability = match labels.column("runner_up_probability") {
                Some(column) => labels.numbers(column)?,
                None => vec![f64::NAN; labels.rows.len()],
            };
            page = page.runner_up(labels.clusters_in(column)?, probability).map_err(own)?;
        }
        for name in EXTRAS {
            if let Some(column) = labels.column(name) {
                page = page.extra(labels.extra(column, name)?).map_err(own)?;
            }
        }
        for (name, shown) in CLUSTER_EXTRAS {
            if let Some(column) = labels.column(name) {
                page = page.cluster_extra_of_members(labels.extra(column, shown)?).map_err(own)?;
            }
        }
        if let Some(column) = named(table, self.truth.as_deref(), &TRUTH_NAMES)? {
            page = page
                .truth(labels.rows.iter().map(|&row| column.text(row).into_owned()).collect())
                .map_err(own)?;
        }
        page = page.left_out(labels.left_out()).history(self.steps(table)?);
        let mut of_candidates = facts(table.metadata(), &|key| OF_CANDIDATES.contains(&key));
        let clustering = facts(table.metadata(), &|key| !OF_CANDIDATES.contains(&key));
        let mut dropped = table.get_metadata(DROPPED_KEY).map(str::to_string);
        if let Some(path) = &self.candidates {
            let long = self.long_table(path, table, &page.feature_names()).read(&Unwatched)?;
            check_candidates(&long, table, &self.labels, path)?;
            let chosen = labels.column("candidate").map(|column| labels.clusters_in(column)).transpose()?;
            // Noise objects have a chosen candidate too; an object without one has no mark.
            let chosen = chosen.and_then(|all| all.into_iter().collect::<Option<Vec<u32>>>());
            // Their own metadata, if any, are more complete than what the labels kept of them.
            of_candidates = Some(facts(&long.provenance, &|_| true))
                .filter(|facts| !facts.is_empty())
                .unwrap_or(of_candidates);
            dropped = dropped.or_else(|| Some(long.dropped.join(DROPPED_BETWEEN)));
            page = page.candidates(long.candidates, chosen).map_err(|e| within(path, e))?;
        }
        page = page.facts("Clustering", clustering).facts("Candidates", of_candidates);
        for sentence in dropped.iter().flat_map(|all| all.split(DROPPED_BETWEEN)).filter(|s| !s.is_empty()) {
            page = page.remark(sentence);
        }
        if let Some(path) = &self.together {
            let pairs = self.pairs(path, &page)?;
            page = page.together(&pairs).map_err(|e| within(path, e))?;
        }
        if let Some(path) = &self.clusters {
            page = with_clusters(page, path)?;
        }
        self.with_sky(page, labels)
    }

    /// The candidates, read as for the clustering: the same ones are dropped, so that a chosen
    /// candidate has the same number.
    fn long_table(&self, path: &Path, labels: &Table, features: &[String]) -> LongTable {
        LongTable {
            weight: labels.get_metadata("goc_weight").map(str::to_string),
            features: Some(features.to_vec()),
            object: self.object.clone(),
            missing: self.missing.clone(),
            ..LongTable::new(path)
        }
    }

    /// The iterations, from their own table or from the labels' metadata.
    fn steps(&self, labels: &Table) -> Result<Vec<Step>> {
        if let Some(path) = &self.history {
            let table = goc_tables::read(path)?;
            let [k, objective, changed] =
                ["k", "objective", "changed"].map(|name| table.require(name).and_then(Column::numbers));
            let (k, objective, changed) = (k?, objective?, changed?);
            return Ok((0..table.rows())
                .map(|t| Step { k: k[t] as u32, objective: objective[t], changed: changed[t] as u64 })
                .collect());
        }
        let said = labels.get_metadata(HISTORY_KEY).and_then(|text| serde_json::from_str::<Value>(text).ok());
        let step = |step: &Value| {
            Some(Step {
                k: u32::try_from(step[0].as_u64()?).ok()?,
                objective: step[1].as_f64().unwrap_or(f64::NAN),
                changed: step[2].as_u64()?,
            })
        };
        Ok(said.iter().filter_map(Value::as_array).flatten().filter_map(step).collect())
    }

    /// Pairs of indices on the page; pairs with other objects are left out.
    fn pairs(&self, path: &Path, page: &Page) -> Result<Vec<(usize, usize, f64)>> {
        let table = goc_tables::read(path)?;
        let (a, b) = (table.require("object_a")?, table.require("object_b")?);
        let p = table.require("probability")?.numbers()?;
        Ok((0..table.rows())
            .filter_map(|row| Some((page.position(&a.text(row))?, page.position(&b.text(row))?, p[row])))
            .collect())
    }

    fn with_sky(&self, page: Page, labels: &LabelTable) -> Result<Page> {
        let read = self.stars.as_ref().map(|file| goc_tables::read(file)).transpose()?;
        let (table, rows, path);
        match (&self.stars, &read) {
            (Some(file), Some(stars)) => {
                (table, path) = (stars, file);
                let at: HashMap<String, usize> = match named(table, self.object.as_deref(), &OBJECT_NAMES)? {
                    Some(column) => column.texts().into_iter().zip(0..).collect(),
                    None => (0..table.rows()).map(|row| (row.to_string(), row)).collect(),
                };
                rows = labels.ids().iter().map(|id| at.get(id).copied()).collect::<Vec<_>>();
            }
            _ => {
                (table, path) = (&labels.table, &self.labels);
                rows = labels.rows.iter().map(|&row| Some(row)).collect();
            }
        }
        let frames = [
            (SkyFrame::Galactic, [["l", "ell", "glon"], ["b", "bee", "glat"]]),
            (SkyFrame::Equatorial, [["ra", "RA", "ra_icrs"], ["dec", "DEC", "de_icrs"]]),
        ];
        for (frame, names) in frames {
            let [longitude, latitude] = names.map(|names| names.iter().find_map(|name| table.column(name)));
            let (Some(longitude), Some(latitude)) = (longitude, latitude) else { continue };
            let said = |unit: Option<&str>| unit.is_some_and(|unit| unit.starts_with("rad"));
            let radians = match self.angles {
                Some(angles) => angles == Angles::Radians,
                None => said(longitude.unit()) || said(table.get_metadata("goc_angles")),
            };
            let unit = if radians { AngleUnit::Radians } else { AngleUnit::Degrees };
            let of = |column: &Column| -> Result<Vec<f64>> {
                let numbers = column.numbers()?;
                Ok(rows.iter().map(|row| row.map_or(f64::NAN, |row| numbers[row])).collect())
            };
            return page.sky(frame, unit, of(longitude)?, of(latitude)?).map_err(|e| within(path, e));
        }
        match &self.stars {
            Some(path) => Err(failed!(
                "{}: no positions (looked for l and b, ra and dec; the table has {})",
                path.display(),
                table.names().join(", ")
            )),
            None => Ok(page),
        }
    }
}

/// The label table, and where its parts are.
struct LabelTable {
    table: Table,
    label: String,
    /// The prefix of the columns that `goc stars` added.
    prefix: String,
    object: Option<String>,
    /// Rows that have a label.
    rows: Vec<usize>,
}

impl LabelTable {
    fn read(report: &Report) -> Result<Self> {
        let path = &report.labels;
        let table = goc_tables::read(path)?;
        let flag = report.label.as_deref();
        let label = require_named(&table, path, flag, &LABEL_NAMES, "label", "; name it with --label")?;
        let rows: Vec<usize> = (0..table.rows()).filter(|&row| !label.is_null(row)).collect();
        let object = named(&table, report.object.as_deref(), &OBJECT_NAMES)?.map(|c| c.name().to_string());
        let label = label.name().to_string();
        let prefix = prefix_of(&label).to_string();
        if rows.is_empty() {
            return Err(failed!("{}: no object has a label", path.display()));
        }
        Ok(Self { table, label, prefix, object, rows })
    }

    /// The column of this name, with the prefix if there is one.
    fn column(&self, name: &str) -> Option<&Column> {
        self.table.column(&format!("{}{name}", self.prefix))
    }

    fn id(&self, row: usize) -> String {
        let column = self.object.as_ref().and_then(|name| self.table.column(name));
        column.map_or_else(|| row.to_string(), |column| column.text(row).into_owned())
    }

    fn ids(&self) -> Vec<String> {
        self.rows.iter().map(|&row| self.id(row)).collect()
    }

    fn labels(&self) -> Result<Vec<Option<u32>>> {
        self.clusters_in(self.table.require(&self.label)?)
    }

    /// Whole numbers; `None` where the number is negative or missing.
    fn clusters_in(&self, column: &Column) -> Result<Vec<Option<u32>>> {
        let number = |&row: &usize| {
            if column.is_null(row) {
                return Ok(None);
            }
            let text = column.text(row);
            let whole = text.trim().trim_end_matches(".0").parse::<i64>().ok();
            match whole.map(|whole| (whole, i32::try_from(whole))) {
                Some((whole, _)) if whole < 0 => Ok(None),
                Some((_, Ok(small))) => Ok(Some(small.unsigned_abs())),
                _ => Err(column
                    .value_error(
                        row,
                        "is not the number of a cluster; those are whole numbers, and -1 means in no group",
                    )
                    .into()),
            }
        };
        self.rows.iter().map(number).collect()
    }

    fn numbers(&self, column: &Column) -> Result<Vec<f64>> {
        let numbers = column.numbers()?;
        Ok(self.rows.iter().map(|&row| numbers[row]).collect())
    }

    fn extra(&self, column: &Column, name: &str) -> Result<Extra> {
        let description = column.description().unwrap_or_default().to_string();
        Ok(Extra { name: name.to_string(), description, values: self.numbers(column)? })
    }

    /// The features: named by the flag, by the metadata, or all numeric columns with no other role.
    fn features(&self, report: &Report) -> Result<Vec<Feature>> {
        let of = |name: &str, column: &Column| -> Result<Feature> {
            let unit = column.unit().filter(|unit| !unit.is_empty()).map(str::to_string);
            Ok(Feature { name: name.to_string(), unit, values: self.numbers(column)? })
        };
        if let Some(names) = &report.features {
            return names
                .iter()
                .filter(|name| !name.is_empty())
                .map(|name| match self.column(name) {
                    Some(column) => of(name, column),
                    None => of(name, self.table.require(name)?),
                })
                .collect();
        }
        if let Some(names) = self.table.get_metadata(FEATURES_KEY) {
            let found: Option<Vec<(&str, &Column)>> =
                names.split(',').map(|name| Some((name, self.column(name)?))).collect();
            if let Some(found) = found {
                return found.into_iter().map(|(name, column)| of(name, column)).collect();
            }
        }
        let mut features = Vec::new();
        for column in self.table.columns() {
            let Some(name) = column.name().strip_prefix(&self.prefix) else { continue };
            let taken = column.name() == self.label
                || self.object.as_deref() == Some(column.name())
                || [&KNOWN[..], &EXTRAS, &OBJECT_NAMES, &TRUTH_NAMES].concat().contains(&name)
                || CLUSTER_EXTRAS.iter().any(|(known, _)| *known == name);
            if !taken && !matches!(column.data(), Data::Text(_) | Data::Bool(_)) {
                features.push(of(name, column)?);
            }
        }
        Ok(features)
    }

    /// Objects without a label, and why.
    fn left_out(&self) -> Vec<(String, String)> {
        let note = self.column("note");
        let labelled: std::collections::HashSet<usize> = self.rows.iter().copied().collect();
        (0..self.table.rows())
            .filter(|row| !labelled.contains(row))
            .map(|row| (self.id(row), note.map_or_else(String::new, |note| note.text(row).into_owned())))
            .collect()
    }
}

/// Adds the numbers of `goc cluster --clusters` that the page does not compute itself.
fn with_clusters(mut page: Page, path: &Path) -> Result<Page> {
    let table = goc_tables::read(path)?;
    let labels = table.require("label")?.integers()?;
    let ours = page.feature_names();
    for column in table.columns() {
        let name = column.name();
        let known = ["label", "size", "probability"].contains(&name)
            || ours.iter().any(|f| f == name || name.strip_suffix("_spread") == Some(f));
        if known || matches!(column.data(), Data::Text(_) | Data::Bool(_)) {
            continue;
        }
        let values = column.numbers()?;
        let by_label =
            labels.iter().zip(values).filter_map(|(&label, v)| Some((u32::try_from(label).ok()?, v)));
        page = page.cluster_extra(name, column.description().unwrap_or_default(), by_label);
    }
    Ok(page)
}

/// The metadata in readable form: `goc_jphi_sign` becomes "jphi sign". Null values are left out.
fn facts(metadata: &[(String, String)], wanted: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    metadata
        .iter()
        .filter(|(key, value)| !ELSEWHERE.contains(&key.as_str()) && value != "null")
        .filter_map(|(key, value)| {
            let key = key.strip_prefix("goc_").filter(|key| wanted(key))?;
            Some((key.replace('_', " "), value.clone()))
        })
        .collect()
}

fn within(path: &Path, error: goc_report::page::PageError) -> Failure {
    failed!("{}: {error}", path.display())
}
