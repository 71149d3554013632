//! Objects in a plane: the first two principal components of the scaled candidates, or two features
//! unchanged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use goc::scale::{Scaler, Scaling};
use goc_pipeline::feature_map::root_of;
use goc_pipeline::labels::check_candidates;
use goc_pipeline::long_table::{
    LongTable, MISSING, OBJECT_NAMES, not_finite, require_named, rows_of_objects,
};
use goc_pipeline::{Dataset, Feature, NOISE, Unwatched};
use goc_report::figures::{
    ClusterPanel, Components, Figure, Plane, TruthPanel, clusters, most_clusters, truth,
};
use goc_tables::{Column, Table};

use super::super::score::{LABEL_NAMES, prefix_of};
use super::{about, stem};
use crate::console::{counted, note};
use crate::failure::Result;

/// What the kinds `clusters` and `truth` want to know.
#[derive(Args, Clone, Debug)]
pub struct PlaneArgs {
    /// clusters: table with one row per candidate, drawn in grey; also defines the principal
    /// components
    #[arg(long, value_name = "FILE")]
    candidates: Option<PathBuf>,

    /// clusters, truth: two features to draw as they are, in place of principal components
    #[arg(long, value_name = "X,Y", value_delimiter = ',')]
    axes: Vec<String>,

    /// clusters, truth: feature columns [default: as goc cluster]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    features: Option<Vec<String>>,

    /// clusters, truth: column that names the object [default: as goc cluster]
    #[arg(long, value_name = "COLUMN")]
    object: Option<String>,

    /// clusters, truth: value that means "missing" [default: -9999]
    #[arg(long, value_name = "RULE")]
    missing: Option<String>,

    /// clusters: show every object, including the few far out that are otherwise left outside the
    /// frame
    #[arg(long)]
    whole: bool,

    /// clusters, truth: titles of the panels [default: the method, or the file's name]
    #[arg(long, value_name = "TITLES", value_delimiter = ',')]
    titles: Vec<String>,

    /// truth: the groups in colour, up to seven [default: six, spread evenly]
    #[arg(long, value_name = "GROUPS", value_delimiter = ',')]
    groups: Vec<String>,

    /// truth: column of the true groups [default: truth or true_cluster_id]
    #[arg(long, value_name = "COLUMN")]
    truth: Option<String>,
}

/// Which kinds a flag is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    Clusters,
    Truth,
    Both,
}

/// A table of candidates with the plane it is drawn in.
struct Sets {
    table: Dataset,
    path: PathBuf,
    scaler: Scaler,
    way: Way,
    /// Every candidate in the plane.
    points: Vec<[f64; 2]>,
    plane: Plane,
}

/// A column of a label table, its numbers, and whether the feature is their square root.
type Place<'t> = (&'t Column, Vec<f64>, bool);

/// From scaled features to the plane.
enum Way {
    Components(Components),
    Features([usize; 2]),
}

impl PlaneArgs {
    /// The flags, whether they are given, and what they are for.
    pub fn given(&self) -> [(&'static str, bool, For); 9] {
        [
            ("--candidates", self.candidates.is_some(), For::Clusters),
            ("--axes", !self.axes.is_empty(), For::Both),
            ("--features", self.features.is_some(), For::Both),
            ("--object", self.object.is_some(), For::Both),
            ("--missing", self.missing.is_some(), For::Both),
            ("--whole", self.whole, For::Clusters),
            ("--titles", !self.titles.is_empty(), For::Both),
            ("--groups", !self.groups.is_empty(), For::Truth),
            ("--truth", self.truth.is_some(), For::Truth),
        ]
    }

    /// The file of the candidates.
    pub fn candidates(&self) -> Option<&PathBuf> {
        self.candidates.as_ref()
    }

    pub fn clusters(&self, labels: &[PathBuf]) -> Result<Figure> {
        self.check_titles(labels.len())?;
        let path = match &self.candidates {
            Some(path) => path,
            // A table of labels has other columns besides the features; only names distinguish
            // them.
            None if self.features.is_some() || !self.axes.is_empty() => &labels[0],
            None => {
                return Err(usage!(
                    "plot clusters needs --candidates FILE, or --features with columns of the labels"
                ));
            }
        };
        let sets = self.sets(path)?;
        let mut panels = Vec::new();
        for (p, path) in labels.iter().enumerate() {
            panels.push(sets.panel(path, self.titles.get(p), self.object.as_deref())?);
        }
        let grey: &[[f64; 2]] = if self.candidates.is_some() { &sets.points } else { &[] };
        if self.whole {
            return clusters(grey, &panels, &sets.plane).map_err(about(path));
        }
        let (figure, outside) = most_clusters(grey, &panels, &sets.plane).map_err(about(path))?;
        if outside > 0 {
            let all = sets.table.candidates.objects();
            note(format!("{outside} of {} outside the limits; --whole shows all", counted(all, "object")));
        }
        Ok(figure)
    }

    pub fn truth(&self, inputs: &[PathBuf]) -> Result<Figure> {
        self.check_titles(inputs.len())?;
        let mut chosen: Vec<String> = self.groups.clone();
        let mut panels = Vec::new();
        let mut plane = None;
        for (p, path) in inputs.iter().enumerate() {
            let sets = self.sets(path)?;
            self.check_sets(path, &sets.table)?;
            let truth = sets.table.truth.as_ref().ok_or_else(|| {
                failed!(
                    "{}: no column of the true groups (looked for truth, true_cluster_id); name it with --truth",
                    path.display()
                )
            })?;
            if chosen.is_empty() {
                chosen = spread_groups(truth);
            }
            if let Some(group) = chosen.iter().find(|group| !truth.contains(group)) {
                return Err(failed!(
                    "{}: there is no true group {group}; choose others with --groups",
                    path.display()
                ));
            }
            let counts = (0..sets.table.candidates.objects()).map(|i| sets.table.candidates.count(i));
            let groups = truth
                .iter()
                .zip(counts)
                .flat_map(|(t, m)| std::iter::repeat_n(chosen.iter().position(|g| g == t), m))
                .collect();
            let title = self.titles.get(p).cloned().unwrap_or_else(|| stem(path));
            panels.push(TruthPanel { title, points: sets.points, groups });
            plane.get_or_insert(sets.plane);
        }
        let mut plane = plane.ok_or_else(|| usage!("plot truth needs an input table"))?;
        if panels.len() > 1 && self.axes.is_empty() {
            // Each set has its own components and variance fractions.
            plane.names = ["PC 1".into(), "PC 2".into()];
        }
        let names: Vec<String> = chosen
            .iter()
            .enumerate()
            .map(|(g, name)| if g == 0 { format!("true group {name}") } else { name.clone() })
            .collect();
        truth(&panels, &names, &plane).map_err(about(&inputs[0]))
    }

    /// Label tables also hold the true groups, but only one location per object: there is no set to
    /// draw.
    fn check_sets(&self, path: &Path, table: &Dataset) -> Result<()> {
        if table.candidates.total() > table.candidates.objects() {
            return Ok(());
        }
        // Points with a true group called `label` may be drawn, if that is said.
        let labels = goc_tables::read(path)?;
        match ["label", "goc_label"].into_iter().find(|name| labels.column(name).is_some()) {
            Some(name) if self.truth.as_deref() != Some(name) => Err(usage!(
                "{}: a table of labels (one row per object, column `{name}`), but plot truth draws candidates: give the \
                 table that was clustered, or draw the labels with plot clusters",
                path.display()
            )),
            _ => Ok(()),
        }
    }

    fn check_titles(&self, panels: usize) -> Result<()> {
        if self.titles.len() > panels {
            return Err(usage!("--titles has {} for {panels} panels", self.titles.len()));
        }
        Ok(())
    }

    fn sets(&self, path: &Path) -> Result<Sets> {
        let args = LongTable {
            object: self.object.clone(),
            features: match (&self.features, &self.axes) {
                (None, axes) if self.candidates.is_none() && !axes.is_empty() => Some(axes.clone()),
                (features, _) => features.clone(),
            },
            penalty: Some("none".into()),
            truth: self.truth.clone(),
            missing: self.missing.clone().unwrap_or_else(|| MISSING.into()),
            ..LongTable::new(path)
        };
        let mut table = args.read(&Unwatched)?;
        table.keep_digest();
        let names = table.feature_names();
        let axis = |wanted: &String| {
            let (path, all) = (path.display(), names.join(", "));
            let none = || usage!("{path}: --axes: {wanted} is not a feature of the table, which has {all}");
            names.iter().position(|name| name == wanted).ok_or_else(none)
        };
        let axes = match &self.axes[..] {
            [] => None,
            [x, y] => Some([axis(x)?, axis(y)?]),
            other => return Err(usage!("--axes takes two features, not {}", other.len())),
        };
        let scaling = if axes.is_some() { Scaling::None } else { Scaling::Standard };
        let scaler =
            Scaler::fit(scaling, &table.candidates).map_err(|e| failed!("{}: {e}", path.display()))?;
        table.candidates = scaler.apply(table.candidates);
        let rows: Vec<Vec<f64>> = (0..table.candidates.objects())
            .flat_map(|i| (0..table.candidates.count(i)).map(move |j| (i, j)))
            .map(|(i, j)| table.candidates.candidate(i, j))
            .collect();
        let (way, plane) = match axes {
            Some(axes) => {
                let named = |f: usize| match &table.features[f] {
                    Feature { name, unit: Some(unit) } => format!("{name} ({unit})"),
                    Feature { name, unit: None } => name.clone(),
                };
                let [x, y] = axes;
                let units = [&table.features[x].unit, &table.features[y].unit];
                let equal = units[0].is_some() && units[0] == units[1];
                (Way::Features(axes), Plane { names: axes.map(named), equal })
            }
            None => {
                let components = Components::fit(rows.iter().map(Vec::as_slice)).map_err(about(path))?;
                let plane = Plane::components(&components);
                (Way::Components(components), plane)
            }
        };
        let points = rows.iter().map(|row| way.place(row)).collect();
        Ok(Sets { table, path: path.to_path_buf(), scaler, way, points, plane })
    }
}

impl Way {
    fn place(&self, row: &[f64]) -> [f64; 2] {
        match self {
            Way::Components(components) => components.place(row),
            Way::Features([x, y]) => [row[*x], row[*y]],
        }
    }
}

impl Sets {
    /// The clustering of a label table over these sets.
    fn panel(&self, path: &Path, title: Option<&String>, object: Option<&str>) -> Result<ClusterPanel> {
        let labels = goc_tables::read(path)?;
        check_candidates(&self.table, &labels, path, &self.path)?;
        let objects = require_named(&labels, path, object, &OBJECT_NAMES, "object", "")?;
        let label = require_named(&labels, path, None, &LABEL_NAMES, "label", "")?;
        let features = self.representatives(&labels, prefix_of(label.name()))?;
        let candidates = &self.table.candidates;
        let means = candidates.means();
        let value = |number: f64, root: bool| if root { number.sqrt() } else { number };
        // `goc stars` keeps a star that could not be used, without a label.
        let left_out = |row| label.is_null(row);
        let check = |row: usize| {
            let bad = |(_, numbers, root): &&Place<'_>| !value(numbers[row], *root).is_finite();
            let bad = features.iter().flatten().find(bad);
            bad.map_or(Ok(()), |(column, ..)| Err(not_finite(column, row).into()))
        };
        let rows = rows_of_objects(candidates, path, objects, label, &left_out, &check)?;
        let texts: Vec<String> = rows.iter().map(|&row| label.text(row).into_owned()).collect();
        let place = |(i, &row): (usize, &usize)| match &features {
            // Without its own representative, an object is shown at the mean of its set.
            None => self.way.place(means.row(i)),
            Some(columns) => {
                let mut values: Vec<f64> =
                    columns.iter().map(|(_, numbers, root)| value(numbers[row], *root)).collect();
                self.scaler.apply_row(&mut values);
                self.way.place(&values)
            }
        };
        let points = rows.iter().enumerate().map(place).collect();
        if features.is_none() {
            note(format!(
                "{}: no columns {} of chosen candidates; the mean of each set is drawn",
                path.display(),
                self.feature_names().join(", ")
            ));
        }
        let labelled = numbers_of(&texts);
        let k = labelled.iter().flatten().max().map_or(0, |most| *most as usize + 1);
        let method = labels.get_metadata("goc_method").map_or_else(|| stem(path), str::to_string);
        let title = title.cloned().unwrap_or_else(|| format!("{method}, {}", counted(k, "cluster")));
        Ok(ClusterPanel { title, points, labels: labelled })
    }

    fn feature_names(&self) -> Vec<&str> {
        self.table.feature_names()
    }

    /// The columns of a label table with the features of each object, and whether to take the root;
    /// `None` if one is missing.
    fn representatives<'t>(&self, labels: &'t Table, prefix: &str) -> Result<Option<Vec<Place<'t>>>> {
        // Prefixed names first: the catalogue may have had a column with the plain name.
        let of = |name: &str| labels.column(&format!("{prefix}{name}")).or_else(|| labels.column(name));
        let mut found = Vec::new();
        for name in self.feature_names() {
            let column = of(name).map(|column| (column, false));
            let inner = root_of(name).and_then(of).map(|column| (column, true));
            let Some((column, root)) = column.or(inner) else { return Ok(None) };
            found.push((column, column.numbers()?, root));
        }
        Ok(Some(found))
    }
}

/// Labels as numbers from 0 in their order; noise has `None`.
pub fn numbers_of(texts: &[String]) -> Vec<Option<u32>> {
    let noise = NOISE.to_string();
    let mut known: BTreeMap<(Option<i64>, &str), u32> = BTreeMap::new();
    for text in texts.iter().filter(|text| **text != noise) {
        known.insert((text.parse().ok(), text), 0);
    }
    for (number, value) in known.values_mut().enumerate() {
        *value = number as u32;
    }
    texts.iter().map(|text| known.get(&(text.parse().ok(), text.as_str())).copied()).collect()
}

/// Six groups spread evenly over all, numbers before other names.
fn spread_groups(truth: &[String]) -> Vec<String> {
    let named = truth.iter().filter(|group| !group.is_empty());
    let all = named.map(|group| (group.parse::<i64>().unwrap_or(i64::MAX), group.as_str())).collect();
    goc_paper::spread_evenly(all).into_iter().map(|(_, group)| group.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_groups_are_chosen_of_fifty() {
        let truth: Vec<String> = (1..=50).rev().map(|k| k.to_string()).collect();
        assert_eq!(spread_groups(&truth), ["1", "10", "20", "30", "40", "50"]);
        assert_eq!(spread_groups(&["b".into(), "a".into(), String::new()]), ["a", "b"]);
        assert!(spread_groups(&[]).is_empty());
    }

    #[test]
    fn labels_of_any_text_are_numbered_and_noise_is_not() {
        let texts = ["10", "-1", "9", "b", "a", "9"].map(String::from);
        let expected = [Some(3), None, Some(2), Some(1), Some(0), Some(2)];
        assert_eq!(numbers_of(&texts), expected);
    }
}
