//! A data set ready to be clustered: roots taken, features scaled, penalties divided.
//!
//! The numbers are changed in place, so a data set that is no longer needed is prepared without a
//! copy. The marginal mixture loads objects one by one: for it nothing is changed, and each object
//! is mapped as it is loaded ([`Prepared::objects`]).

use std::borrow::Cow;

use goc::marginal::{Model, ModelError, Prediction, Sums};
use goc::objects::Scaled;
use goc::scale::Scaler;

use crate::dataset::{Dataset, PenaltyKind};
use crate::error::Result;
use crate::feature_map::{ACTIONS, FeatureMap, rooted};
use crate::names::{FeatureMapName, MethodName, PenaltyScale};
use crate::settings::Settings;
use crate::watch::Watch;

/// A data set whose candidates are expressed in the features to be clustered.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    /// The data set. Its candidates are mapped and scaled and their penalties divided, unless this
    /// is done as they are loaded.
    pub data: Dataset,
    /// The way back to the units of the input.
    pub map: FeatureMap,
    /// What the penalties were divided by; `None` if they were left unchanged.
    pub penalty_divisor: Option<f64>,
    /// Whether the candidates themselves were changed.
    applied: bool,
}

impl FeatureMapName {
    /// Which of these features, given by name, are replaced by their square root.
    pub fn roots(self, names: &[&str]) -> Result<Vec<bool>> {
        let is = |name: &str, action: &str| name.eq_ignore_ascii_case(action);
        let has = |action: &str| names.iter().any(|name| is(name, action));
        let roots = || names.iter().map(|name| is(name, "Jr") || is(name, "Jz")).collect();
        match self {
            Self::Auto if ACTIONS.iter().all(|action| has(action)) => Ok(roots()),
            Self::None | Self::Auto => Ok(vec![false; names.len()]),
            Self::Actions if has("Jr") && has("Jz") => Ok(roots()),
            Self::Actions => Err(usage!(
                "{{feature_map}} actions needs features Jr and Jz, not {}; name them with --features, or use {{feature_map}} none",
                names.join(", ")
            )),
        }
    }
}

impl Prepared {
    /// Prepares a data set that is no longer needed, and reports anything noteworthy.
    pub fn new(data: Dataset, settings: &Settings, watch: &dyn Watch) -> Result<Self> {
        Ok(Self::lazily(data, settings, watch)?.applied())
    }

    /// Like [`Prepared::new`], but leaves the candidates as they are.
    pub fn lazily(mut data: Dataset, settings: &Settings, watch: &dyn Watch) -> Result<Self> {
        data.keep_digest();
        let roots = match settings.map() {
            // Unnamed arrays are assumed to be in the paper's order.
            FeatureMapName::Actions if data.is_unnamed() && data.features.len() == ACTIONS.len() => {
                FeatureMapName::Actions.roots(&ACTIONS)?
            }
            map => map.roots(&data.feature_names())?,
        };
        check_roots(&data, &roots, "use {feature_map} none")?;
        let scaling = settings.scaling_of(&data);
        let scaler = Scaler::fit_objects(scaling, &Scaled::new(&data.candidates).roots(&roots))?;
        check_spread(&data, &roots, &scaler)?;
        for &f in scaler.constant_features() {
            let name = &data.features[f].name;
            watch.note(&format!("feature {name} is constant; it is centred, not scaled"));
        }
        // Weights are likelihoods already: dividing their logarithms would change them.
        let weights = matches!(data.penalties, PenaltyKind::Weights { .. });
        let penalty_divisor = (settings.penalty_scale == PenaltyScale::Max && !weights).then(|| {
            let largest = data.candidates.largest_penalty();
            if largest > 0.0 { largest } else { 1.0 }
        });
        Ok(Self { data, map: FeatureMap { roots, scaler }, penalty_divisor, applied: false })
    }

    /// Prepares it as the method needs: the marginal mixture loads objects one by one, unless its
    /// repeats need candidates to resample.
    pub fn of(data: Dataset, settings: &Settings, watch: &dyn Watch) -> Result<Self> {
        let lazily = settings.method == MethodName::Marginal
            && settings.stability.is_none()
            && settings.significance.is_none();
        if lazily { Self::lazily(data, settings, watch) } else { Self::new(data, settings, watch) }
    }

    /// Prepares new objects like those of a fit, with the same roots, scaling and divisor.
    pub fn like(data: Dataset, map: &FeatureMap, divisor: f64) -> Result<Self> {
        check_roots(&data, &map.roots, "drop it")?;
        // Weights were turned into penalties with the model's own strength.
        let weights = matches!(data.penalties, PenaltyKind::Weights { .. });
        let penalty_divisor = (!weights).then_some(divisor);
        Ok(Self { data, map: map.clone(), penalty_divisor, applied: false }.applied())
    }

    /// With the candidates themselves mapped, scaled and their penalties divided.
    fn applied(mut self) -> Self {
        if !self.applied {
            let FeatureMap { roots, scaler } = &self.map;
            if roots.contains(&true) {
                self.data.candidates.map_features(|f, value| if roots[f] { value.sqrt() } else { value });
            }
            let scaled = scaler.apply(self.data.candidates);
            self.data.candidates = scaled.divide_penalties(self.penalty_divisor.unwrap_or(1.0));
            self.applied = true;
        }
        self
    }

    /// Predicts the group of each object with a model. What the model learned about the errors is
    /// used if these candidates were also drawn with heavy tails.
    pub fn predict(&self, model: &Model, watch: &dyn Watch) -> Result<Vec<Prediction>, ModelError> {
        if self.has_tails() && model.parts().errors.is_none() {
            watch.warn(
                "the candidates were drawn with heavy tails, those of the model were not: use the same \
                 sampler for both",
            );
        }
        self.fitting(model).predict(&self.data.candidates)
    }

    /// The sums of a sweep over these objects, by the same model as [`Prepared::predict`].
    pub fn sums(&self, model: &Model) -> Result<Sums, ModelError> {
        self.fitting(model).sums(&self.data.candidates)
    }

    fn has_tails(&self) -> bool {
        matches!(self.data.penalties, PenaltyKind::Tails { .. })
    }

    fn fitting<'a>(&self, model: &'a Model) -> Cow<'a, Model> {
        if self.has_tails() { Cow::Borrowed(model) } else { Cow::Owned(model.without_errors()) }
    }

    /// Whether the candidates of [`Prepared::data`] are those that are clustered.
    pub(crate) fn is_applied(&self) -> bool {
        self.applied
    }

    /// The objects in the form in which they are clustered.
    pub fn objects(&self) -> Scaled<'_> {
        let plain = Scaled::new(&self.data.candidates);
        match self.applied {
            true => plain,
            false => plain
                .roots(&self.map.roots)
                .scaler(&self.map.scaler)
                .penalty_divisor(self.penalty_divisor.unwrap_or(1.0)),
        }
    }

    /// A description of the features in the form in which they are clustered.
    pub fn feature_words(&self) -> Vec<String> {
        let features = self.data.features.iter().zip(&self.map.roots);
        features.map(|(feature, root)| rooted(&feature.name, *root)).collect()
    }

    /// The default cost of a penalty of 1 in log likelihood.
    pub fn penalty_strength(&self) -> f64 {
        self.data.penalty_strength(self.penalty_divisor)
    }
}

/// Refuses, by name, a negative value of a feature whose square root is to be taken. `way` says
/// what to do instead.
fn check_roots(data: &Dataset, roots: &[bool], way: &str) -> Result<()> {
    for f in (0..roots.len()).filter(|f| roots[*f]) {
        for i in 0..data.candidates.objects() {
            let values = data.candidates.feature(i, f);
            if let Some(j) = values.iter().position(|value| *value < 0.0) {
                let (place, value) = (place(data, i, j, f), values[j]);
                return Err(failed!("{place}: {value} is negative and has no square root; fix it, or {way}"));
            }
        }
    }
    Ok(())
}

/// Refuses, by name, a value so far from the others that the sum of all squared distances is
/// infinite: every method would silently treat all partitions as equally bad.
fn check_spread(data: &Dataset, roots: &[bool], scaler: &Scaler) -> Result<()> {
    let candidates = &data.candidates;
    let mut total = 0.0;
    for f in 0..roots.len() {
        let (centre, spread) = (scaler.centre()[f], scaler.spread()[f]);
        // The farthest from the centre, and where it is.
        let (mut low, mut high, mut farthest) = (f64::INFINITY, f64::NEG_INFINITY, (0.0, 0, 0));
        for i in 0..candidates.objects() {
            for (j, &value) in candidates.feature(i, f).iter().enumerate() {
                let scaled = (if roots[f] { value.sqrt() } else { value } - centre) / spread;
                (low, high) = (low.min(scaled), high.max(scaled));
                if scaled.abs() > farthest.0 {
                    farthest = (scaled.abs(), i, j);
                }
            }
        }
        let width = high - low;
        total += width * width * candidates.objects() as f64;
        if !total.is_finite() {
            let (_, i, j) = farthest;
            let (place, value) = (place(data, i, j, f), candidates.feature(i, f)[j]);
            return Err(failed!(
                "{place}: {value:?} is so far out that squared distances overflow; fix or drop it, or \
                 use {{scale}} standard"
            ));
        }
    }
    Ok(())
}

/// Where a value came from, as far as known.
fn place(data: &Dataset, object: usize, candidate: usize, feature: usize) -> String {
    let name = &data.features[feature].name;
    let file = data.source.as_ref().map_or_else(String::new, |file| format!("{file}: "));
    match &data.row_names {
        Some(rows) => format!("{}, column `{name}`", rows.at(data.row(object, candidate))),
        None => format!("{file}object {}, candidate {candidate}, feature {name}", data.name(object)),
    }
}
