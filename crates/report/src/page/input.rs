//! What the page is made from: plain numbers and text, checked once.
//!
//! [`Page::new`] takes what every clustering has; each further method adds something optional. The
//! page omits what is not given, and says so. Every number that is shown was checked here: lengths
//! agree, positions are finite, and a probability lies between 0 and 1 or is unknown (NaN).

use std::collections::HashMap;

use goc::Candidates;

/// The label of an object in no group, as in tables.
pub const NOISE: i32 = -1;

/// Number of pairs, the most likely ones, that the page keeps for each object.
pub const PARTNERS: usize = 12;

/// One feature of every object.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// As the table calls it.
    pub name: String,
    /// Its unit, if the table states one.
    pub unit: Option<String>,
    /// One number per object: its location in the input's unit.
    pub values: Vec<f64>,
}

/// A number of an object or a cluster besides its location, such as a stability.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// As the table calls it.
    pub name: String,
    /// What it means, in a few words; may be empty.
    pub description: String,
    /// The values; NaN where unknown.
    pub values: Vec<f64>,
}

/// Which sky the positions are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkyFrame {
    /// Galactic longitude and latitude.
    Galactic,
    /// Right ascension and declination.
    Equatorial,
}

/// Unit of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AngleUnit {
    /// A full turn is 360.
    Degrees,
    /// A full turn is 2 pi.
    Radians,
}

/// One iteration of the clustering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Number of clusters after it.
    pub k: u32,
    /// The objective after it.
    pub objective: f64,
    /// Number of objects whose label or candidate changed in it.
    pub changed: u64,
}

/// Why a page cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// Nothing to show.
    #[error("there are no objects; give a label table with at least one row")]
    NoObjects,
    /// Nothing to draw.
    #[error("there are no features; name the columns that hold the objects' places")]
    NoFeatures,
    /// Columns of different length.
    #[error("{what} has {found} entries for {wanted} objects; give one per object")]
    Length {
        /// Which input.
        what: String,
        /// How many it has.
        found: usize,
        /// How many it should have.
        wanted: usize,
    },
    /// A number that cannot be shown.
    #[error("{what} of object {object}: {value} {problem}")]
    Value {
        /// Which input.
        what: String,
        /// The object's name.
        object: String,
        /// The number.
        value: f64,
        /// What is wrong and what to do.
        problem: &'static str,
    },
    /// Two objects or features with the same name.
    #[error("{what} {name} occurs twice; each needs a name of its own")]
    Twice {
        /// Object or feature.
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// An object of the labels is not among the candidates.
    #[error("object {object} has no candidates; give the candidates that were clustered")]
    NoCandidates {
        /// The object's name.
        object: String,
    },
    /// Candidates with other features.
    #[error(
        "the candidates have {found} features, the labels {wanted}; give the candidates that were clustered"
    )]
    Features {
        /// Number of features of the candidates.
        found: usize,
        /// Number of features of the labels.
        wanted: usize,
    },
    /// A chosen candidate that the object does not have.
    #[error(
        "object {object} has {count} candidates, but number {chosen} (from 0) is said to be chosen; give the candidates that were clustered"
    )]
    Chosen {
        /// The object's name.
        object: String,
        /// How many it has.
        count: usize,
        /// Which was chosen.
        chosen: u32,
    },
    /// The scores could not be computed.
    #[error(transparent)]
    Scores(#[from] goc::metrics::MetricsError),
}

/// The candidates of the page's objects, in their order.
#[derive(Clone, Debug)]
pub(super) struct Sets {
    pub candidates: Candidates,
    /// The index of each object of the page among them.
    pub objects: Vec<usize>,
    pub chosen: Option<Vec<u32>>,
}

/// Positions, in degrees; NaN where an object has none.
#[derive(Clone, Debug)]
pub(super) struct Sky {
    pub frame: SkyFrame,
    pub longitude: Vec<f64>,
    pub latitude: Vec<f64>,
}

/// A report: what was clustered, what was found, and how. [`Page::html`] writes it.
///
/// ```
/// use goc_report::page::{Feature, Page};
/// let x = Feature { name: "x".into(), unit: Some("kpc".into()), values: vec![0.0, 0.1, 9.0] };
/// let y = Feature { name: "y".into(), unit: None, values: vec![1.0, 1.2, -3.0] };
/// let ids = vec!["a".into(), "b".into(), "c".into()];
/// let page = Page::new(ids, vec![Some(0), Some(0), None], vec![x, y])?.title("three stars");
/// assert!(page.html()?.starts_with("<!doctype html>"));
/// # Ok::<(), goc_report::page::PageError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Page {
    pub(super) title: String,
    pub(super) ids: Vec<String>,
    pub(super) labels: Vec<Option<u32>>,
    pub(super) features: Vec<Feature>,
    pub(super) probability: Option<Vec<f64>>,
    pub(super) runner_up: Option<(Vec<Option<u32>>, Vec<f64>)>,
    pub(super) extras: Vec<Extra>,
    pub(super) truth: Option<Vec<String>>,
    pub(super) sets: Option<Sets>,
    pub(super) sky: Option<Sky>,
    /// The partners of each object with their probabilities, most likely first.
    pub(super) together: Option<Vec<Vec<(u32, f64)>>>,
    pub(super) history: Vec<Step>,
    /// Values by label.
    pub(super) cluster_extras: Vec<(Extra, HashMap<u32, f64>)>,
    pub(super) facts: Vec<(String, Vec<(String, String)>)>,
    pub(super) remarks: Vec<String>,
    pub(super) left_out: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Page {
    /// The objects: a name, a label (`None`: in no group) and a location for each.
    pub fn new(
        ids: Vec<String>,
        labels: Vec<Option<u32>>,
        features: Vec<Feature>,
    ) -> Result<Self, PageError> {
        let n = ids.len();
        if n == 0 {
            return Err(PageError::NoObjects);
        }
        if features.is_empty() {
            return Err(PageError::NoFeatures);
        }
        let mut places = HashMap::with_capacity(n);
        for (i, id) in ids.iter().enumerate() {
            if places.insert(id.clone(), i).is_some() {
                return Err(PageError::Twice { what: "object", name: id.clone() });
            }
        }
        length("the list of labels", labels.len(), n)?;
        for (at, feature) in features.iter().enumerate() {
            length(&format!("feature {}", feature.name), feature.values.len(), n)?;
            if features[..at].iter().any(|other| other.name == feature.name) {
                return Err(PageError::Twice { what: "feature", name: feature.name.clone() });
            }
            if let Some(i) = feature.values.iter().position(|v| !v.is_finite()) {
                let problem = "cannot be drawn; fix it or drop the object";
                return Err(bad_value(
                    format!("feature {}", feature.name),
                    &ids[i],
                    feature.values[i],
                    problem,
                ));
            }
        }
        Ok(Self {
            title: "clusters".into(),
            ids,
            labels,
            features,
            probability: None,
            runner_up: None,
            extras: Vec::new(),
            truth: None,
            sets: None,
            sky: None,
            together: None,
            history: Vec::new(),
            cluster_extras: Vec::new(),
            facts: Vec::new(),
            remarks: Vec::new(),
            left_out: Vec::new(),
            places,
        })
    }

    /// The title at the head of the page.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The index of the object with this name, counted from 0.
    pub fn position(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// The names of the features, in order.
    pub fn feature_names(&self) -> Vec<String> {
        self.features.iter().map(|feature| feature.name.clone()).collect()
    }

    /// The number of objects.
    pub fn objects(&self) -> usize {
        self.ids.len()
    }

    /// The probability of each label, from 0 to 1; NaN if unknown.
    pub fn probability(mut self, probability: Vec<f64>) -> Result<Self, PageError> {
        self.check_share("probability", &probability)?;
        self.probability = Some(probability);
        Ok(self)
    }

    /// The next best cluster of each object and its probability (NaN if unknown).
    pub fn runner_up(mut self, labels: Vec<Option<u32>>, probability: Vec<f64>) -> Result<Self, PageError> {
        length("the list of runners-up", labels.len(), self.ids.len())?;
        self.check_share("runner-up probability", &probability)?;
        self.runner_up = Some((labels, probability));
        Ok(self)
    }

    /// An additional number for every object.
    pub fn extra(mut self, extra: Extra) -> Result<Self, PageError> {
        length(&extra.name, extra.values.len(), self.ids.len())?;
        self.extras.push(extra);
        Ok(self)
    }

    /// A number of the clusters that each member carries: the value of the first member that has
    /// one is used.
    pub fn cluster_extra_of_members(self, extra: Extra) -> Result<Self, PageError> {
        length(&extra.name, extra.values.len(), self.ids.len())?;
        let mut by_label = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for (label, value) in self.labels.iter().zip(&extra.values) {
            if let Some(label) = label.filter(|label| value.is_finite() && seen.insert(*label)) {
                by_label.push((label, *value));
            }
        }
        let (name, description) = (extra.name, extra.description);
        Ok(self.cluster_extra(name, description, by_label))
    }

    /// A number of the clusters, by label; a later one replaces an earlier one of the same name.
    /// Clusters without one show nothing.
    pub fn cluster_extra(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        by_label: impl IntoIterator<Item = (u32, f64)>,
    ) -> Self {
        let extra = Extra { name: name.into(), description: description.into(), values: Vec::new() };
        self.cluster_extras.retain(|(other, _)| other.name != extra.name);
        self.cluster_extras.push((extra, by_label.into_iter().collect()));
        self
    }

    /// The true group of each object; an empty string where unknown.
    pub fn truth(mut self, truth: Vec<String>) -> Result<Self, PageError> {
        length("the truth", truth.len(), self.ids.len())?;
        self.truth = truth.iter().any(|group| !group.is_empty()).then_some(truth);
        Ok(self)
    }

    /// The uncertainty sets, matched by name, in the unit and order of the features; and which
    /// candidate was chosen, from 0. Candidates of other objects are left out.
    pub fn candidates(mut self, candidates: Candidates, chosen: Option<Vec<u32>>) -> Result<Self, PageError> {
        if candidates.features() != self.features.len() {
            return Err(PageError::Features { found: candidates.features(), wanted: self.features.len() });
        }
        let at: HashMap<String, usize> = (0..candidates.objects()).map(|i| (candidates.name(i), i)).collect();
        let find =
            |id: &String| at.get(id).copied().ok_or_else(|| PageError::NoCandidates { object: id.clone() });
        let objects: Vec<usize> = self.ids.iter().map(find).collect::<Result<_, _>>()?;
        if let Some(chosen) = &chosen {
            length("the list of chosen candidates", chosen.len(), self.ids.len())?;
            for (i, &j) in chosen.iter().enumerate() {
                let count = candidates.count(objects[i]);
                if j as usize >= count {
                    return Err(PageError::Chosen { object: self.ids[i].clone(), count, chosen: j });
                }
            }
        }
        self.sets = Some(Sets { candidates, objects, chosen });
        Ok(self)
    }

    /// Positions on the sky; NaN where an object has none.
    pub fn sky(
        mut self,
        frame: SkyFrame,
        unit: AngleUnit,
        longitude: Vec<f64>,
        latitude: Vec<f64>,
    ) -> Result<Self, PageError> {
        length("the longitude", longitude.len(), self.ids.len())?;
        length("the latitude", latitude.len(), self.ids.len())?;
        let degrees = |value: f64| if unit == AngleUnit::Radians { value.to_degrees() } else { value };
        // A latitude of half a turn given in radians may come back as 90.00000000000001.
        let far = latitude.iter().position(|v| degrees(*v).abs() > 90.0 + 1e-9 || v.is_infinite());
        if let Some(i) = far {
            let problem = "is beyond a pole; check the unit (degrees or radians) and the column";
            return Err(bad_value("latitude", &self.ids[i], latitude[i], problem));
        }
        if let Some(i) = longitude.iter().position(|v| v.is_infinite()) {
            let problem = "is not an angle; fix it or leave it empty";
            return Err(bad_value("longitude", &self.ids[i], longitude[i], problem));
        }
        self.sky = Some(Sky {
            frame,
            longitude: longitude.iter().map(|v| degrees(*v).rem_euclid(360.0)).collect(),
            latitude: latitude.iter().map(|v| degrees(*v).clamp(-90.0, 90.0)).collect(),
        });
        Ok(self)
    }

    /// Pairs of objects (indices from 0) that may be together, each listed once, with their
    /// probability; [`PARTNERS`] of each object are kept.
    pub fn together(mut self, pairs: &[(usize, usize, f64)]) -> Result<Self, PageError> {
        let n = self.ids.len();
        let mut partners: Vec<Vec<(u32, f64)>> = vec![Vec::new(); n];
        for &(a, b, p) in pairs {
            for (i, other) in [(a, b), (b, a)] {
                if i >= n {
                    let what = "the list of pairs".to_string();
                    return Err(PageError::Length { what, found: i + 1, wanted: n });
                }
                if !(0.0..=1.0).contains(&p) {
                    let problem = "is not between 0 and 1";
                    return Err(bad_value("probability of a pair", &self.ids[i], p, problem));
                }
                partners[i].push((other as u32, p));
            }
        }
        for list in &mut partners {
            list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            list.truncate(PARTNERS);
        }
        self.together = Some(partners);
        Ok(self)
    }

    /// The objective and the changes, one entry per iteration.
    pub fn history(mut self, history: Vec<Step>) -> Self {
        self.history = history;
        self
    }

    /// Settings or findings under a heading: names and values.
    pub fn facts(mut self, heading: impl Into<String>, facts: Vec<(String, String)>) -> Self {
        if !facts.is_empty() {
            self.facts.push((heading.into(), facts));
        }
        self
    }

    /// A sentence about the input, such as what was dropped and why.
    pub fn remark(mut self, remark: impl Into<String>) -> Self {
        self.remarks.push(remark.into());
        self
    }

    /// Objects that were not clustered: name and reason.
    pub fn left_out(mut self, objects: Vec<(String, String)>) -> Self {
        self.left_out = objects;
        self
    }

    fn check_share(&self, what: &str, values: &[f64]) -> Result<(), PageError> {
        length(&format!("the list of {what}"), values.len(), self.ids.len())?;
        // A mean of ones may end in 1.0000000000000002.
        match values.iter().position(|p| !(p.is_nan() || (0.0..=1.0 + 1e-9).contains(p))) {
            None => Ok(()),
            Some(i) => Err(bad_value(what, &self.ids[i], values[i], "is not between 0 and 1")),
        }
    }
}

fn bad_value(what: impl Into<String>, object: &str, value: f64, problem: &'static str) -> PageError {
    PageError::Value { what: what.into(), object: object.to_owned(), value, problem }
}

fn length(what: &str, found: usize, wanted: usize) -> Result<(), PageError> {
    if found == wanted {
        return Ok(());
    }
    Err(PageError::Length { what: what.into(), found, wanted })
}
