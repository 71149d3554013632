//! The fit: from a data set and settings to labels, and how reliable they are.
//!
//! [`fit()`] prepares the data, searches for K and lambda if they are not given, runs the method,
//! and computes stability, significance and noise if requested. Whatever the method, the answer is
//! one [`Fit`].

use std::time::Instant;

use goc::choose_k::lambda::{LambdaFound, lambda};
use goc::choose_k::{Chooser, Chosen, Criterion, Solution};
use goc::confidence::{Stability, Verdict};
use goc::marginal::{ENOUGH_AGREEMENT, ENOUGH_DRAWS, ENOUGH_RECURRENCE, Model, Posterior};
use goc::method::Grouped;
use goc::metrics::Scores;
use goc::optimistic::hierarchy::Hierarchy;
use goc::optimistic::{KRule, Search};
use goc::oracle::Oracle;
use goc::{Candidates, Partition, Points};

use crate::dataset::{Dataset, PenaltyKind};
use crate::error::Result;
use crate::judge;
use crate::keep::Keep;
use crate::methods::Run;
use crate::missing_values::{with_burn, withhold};
use crate::model_file::ModelFile;
use crate::names::MethodName;
use crate::prepared::Prepared;
use crate::scores::scores_of;
use crate::settings::{Auto, LAMBDA, Settings};
use crate::watch::Watch;

/// The result of any method, in scaled features unless stated otherwise.
#[derive(Clone, Debug)]
pub struct Fit {
    /// The data as clustered, with everything known about them.
    pub prepared: Prepared,
    /// The settings, with numbers in place of `auto`.
    pub settings: Settings,
    /// The seed of everything random.
    pub seed: u64,
    /// The partition, the noise, how the method ended, and anything else it reports.
    pub grouped: Grouped,
    /// The location of each object.
    pub places: Points,
    /// The centre of each cluster.
    pub centres: Points,
    /// The initial number of clusters, as requested or from the initial labels.
    pub k_initial: usize,
    /// K and lambda, if they were searched for.
    pub auto: AutoFound,
    /// The clusters as the method found them, before any object was labelled noise.
    pub found: Partition,
    /// The stability of objects and clusters.
    pub stability: Option<Stability>,
    /// The significance of the clusters found.
    pub significance: Option<Verdict>,
    /// Agreement with the truth, where there is one.
    pub scores: Option<Scores>,
    /// Human-readable remarks on the method and its result, with settings in braces.
    pub remarks: Vec<String>,
    /// Wall-clock time.
    pub seconds: f64,
}

/// What the search for K and lambda found.
#[derive(Clone, Debug, Default)]
pub struct AutoFound {
    /// K, and the criterion that chose it.
    pub k: Option<(Criterion, Chosen)>,
    /// The weight of the penalties.
    pub lambda: Option<LambdaFound>,
}

/// Clusters a data set; see [`Fit`].
///
/// ```
/// use goc::candidates::CandidatesBuilder;
/// use goc_pipeline::{Dataset, MethodName, Settings, Unwatched, fit};
/// let mut builder = CandidatesBuilder::new(1);
/// for set in [&[0.0, 1.0, 2.0][..], &[2.1], &[9.0]] {
///     builder.push(set, &[])?;
/// }
/// let data = Dataset::new(builder.build()?);
/// let found = fit(&data, &Settings::of(MethodName::Goc).clusters(2), 1, &Unwatched)?;
/// assert_eq!(found.labels()[0], found.labels()[1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn fit(data: &Dataset, settings: &Settings, seed: u64, watch: &dyn Watch) -> Result<Fit> {
    fit_owned(data.without_extras(), settings, seed, watch)
}

/// Like [`fit()`], for a data set that is no longer needed: its candidates are changed in place.
pub fn fit_owned(data: Dataset, settings: &Settings, seed: u64, watch: &dyn Watch) -> Result<Fit> {
    fit_with(Prepared::of(data, settings, watch)?, settings, None, seed, watch)
}

/// Like [`fit()`], for data that are already prepared; `oracle` replaces the oracle that is named.
pub fn fit_with(
    prepared: Prepared,
    asked: &Settings,
    oracle: Option<&dyn Oracle>,
    seed: u64,
    watch: &dyn Watch,
) -> Result<Fit> {
    fit_keeping(prepared, asked, oracle, seed, watch, None)
}

/// Like [`fit_with`], but finished parts of the mixture's chains, of stability and of significance
/// are saved in `keep`, and read back if they are already there. `keep` must belong to this exact
/// fit.
pub fn fit_keeping(
    prepared: Prepared,
    asked: &Settings,
    oracle: Option<&dyn Oracle>,
    seed: u64,
    watch: &dyn Watch,
    keep: Option<&dyn Keep>,
) -> Result<Fit> {
    let began = Instant::now();
    asked.check()?;
    let mixture = asked.method == MethodName::Marginal;
    if mixture || prepared.map.roots.contains(&true) {
        let features = prepared.feature_words().join(", ");
        watch.note(&format!("clustered by {features}; scaling {}", prepared.map.scaler.scaling()));
    }
    if mixture && prepared.data.counts_errors_twice() {
        watch.warn(
            "the candidates were drawn from the errors, and their penalties count the errors a second \
             time: make them with penalty none",
        );
    }
    let strength = asked.penalty_strength.unwrap_or_else(|| prepared.penalty_strength());
    let scale = Some(prepared.map.scaler.scaling());
    let tails = match prepared.data.penalties {
        PenaltyKind::Tails { values } if mixture => Some(values),
        PenaltyKind::Tails { .. } => {
            watch.warn(
                "the candidates were drawn with heavy tails, which only the marginal mixture takes into account: make them with another sampler",
            );
            None
        }
        _ => None,
    };
    let settings = Settings { penalty_strength: Some(strength), scale, tails, ..asked.clone() };
    let settings = with_burn(settings, &prepared.data.from_prior);
    let weights = prepared.data.object_weights.clone();
    let candidates = &prepared.data.candidates;
    let run = Job { oracle, weights: weights.as_deref(), watch, keep };
    let (settings, auto) = run.resolve(settings, candidates, seed)?;
    let itself = Run { keep, ..run.with(&settings) };
    let grouped = match prepared.is_applied() {
        true => itself.group(candidates, seed)?,
        false => itself.mixture(&prepared.objects(), seed)?,
    };
    let (mut grouped, withheld) = withhold(grouped, &prepared.data.from_prior);
    let unused: Vec<&str> = asked
        .unused()
        .into_iter()
        .filter(|setting| setting.name != "penalty_strength" || prepared.data.weight_column.is_none())
        .map(|setting| setting.name)
        .collect();
    if !unused.is_empty() {
        let names: Vec<String> = unused.iter().map(|name| format!("{{{name}}}")).collect();
        watch.note(&format!("not used by {{method}} {}: {}", settings.method, names.join(", ")));
    }
    let places = grouped.take_places(candidates);
    let centres = grouped.take_centres(&places);
    let k_initial = grouped.first_k.map_or_else(|| settings.wanted(), Ok)?;
    let remarks = grouped.posterior.iter().map(|found| chains_remark(found)).chain(withheld).collect();
    let found = grouped.partition.clone();
    let mut fit = Fit {
        settings,
        seed,
        places,
        centres,
        k_initial,
        auto,
        found,
        stability: None,
        significance: None,
        scores: None,
        remarks,
        seconds: 0.0,
        grouped,
        prepared,
    };
    judge::judge(&mut fit, &run)?;
    if let Some(truth) = &fit.prepared.data.truth {
        fit.scores = scores_of(fit.grouped.partition.labels(), truth)?;
    }
    fit.seconds = began.elapsed().as_secs_f64();
    Ok(fit)
}

/// Everything about a run except the settings, which change during the search for K and lambda.
pub(crate) struct Job<'j> {
    pub oracle: Option<&'j dyn Oracle>,
    pub weights: Option<&'j [f64]>,
    pub watch: &'j dyn Watch,
    /// Where repeats and chains are saved and read back.
    pub keep: Option<&'j dyn Keep>,
}

impl<'j> Job<'j> {
    pub fn with<'s: 'r, 'r>(&'r self, settings: &'s Settings) -> Run<'r>
    where
        'j: 'r,
    {
        // The chains of a repeat are not kept: they are not part of the fit itself.
        Run { settings, oracle: self.oracle, weights: self.weights, watch: self.watch, keep: None }
    }

    /// The settings, with numbers in place of `auto`.
    fn resolve(
        &self,
        mut settings: Settings,
        candidates: &Candidates,
        seed: u64,
    ) -> Result<(Settings, AutoFound)> {
        let mut found = AutoFound::default();
        let strength = settings.penalty_strength.unwrap_or(goc::candidates::PENALTY_STRENGTH);
        let quiet = Job { watch: &crate::watch::Quiet(self.watch), ..*self };
        if settings.looks_for_k() {
            // A K that was searched for stays fixed, so the best minimum for it is worth finding.
            if settings.method == MethodName::Goc {
                settings.k_rule.get_or_insert(KRule::Constant);
                settings.search.get_or_insert(Search::Thorough);
            }
            let by = settings.k_by.unwrap_or_default();
            self.watch.begin("clusterings to choose K", None);
            let chooser = Chooser::new(by).penalty_strength(strength);
            let chosen = chooser.choose(candidates, seed, |candidates, k, seed| {
                settings.k = Some(Auto::Number(k));
                self.watch.tick();
                quiet.solution(&settings, candidates, seed)
            });
            self.watch.end();
            let chosen = chosen?;
            settings.k = Some(Auto::Number(chosen.k));
            found.k = Some((by, chosen));
        }
        if settings.lambda == Auto::Auto && settings.method.uses_lambda() {
            self.watch.begin("clusterings to find lambda", None);
            let this = lambda(candidates, strength, LAMBDA, |lambda| {
                settings.lambda = Auto::Number(lambda);
                self.watch.tick();
                quiet.solution(&settings, candidates, seed)
            });
            self.watch.end();
            let this = this?;
            settings.lambda = Auto::Number(this.lambda);
            found.lambda = Some(this);
        }
        Ok((settings, found))
    }

    fn solution(&self, settings: &Settings, candidates: &Candidates, seed: u64) -> Result<Solution> {
        let mut found = self.with(settings).group(candidates, seed)?;
        let places = found.take_places(candidates);
        Ok(Solution { partition: found.partition, places })
    }
}

/// Says whether the chains agree, and what to trust if they do not.
fn chains_remark(found: &Posterior) -> String {
    let chains = found.diagnostics;
    let advice = match (chains.converged(), chains.agrees()) {
        (true, _) => String::new(),
        (_, true) => {
            format!("; below {ENOUGH_DRAWS}, K is uncertain: try more {{burn}}, {{keep}} or {{chains}}")
        }
        (_, false) => format!(
            "; below {ENOUGH_AGREEMENT}, groups differ from chain to chain: {}. Try more {{burn}} and \
             {{keep}}",
            coming_back(found)
        ),
    };
    let errors = found.errors.as_ref().map_or_else(String::new, |errors| {
        let (factor, bad) = (errors.factor(), errors.bad());
        let bad = 100.0 * bad;
        format!(
            "; errors are {factor:.2} times the quoted ones, and far larger for {bad:.0} % of the objects"
        )
    });
    let partial = if found.partial { "partial: the chains were ended early; " } else { "" };
    format!(
        "{partial}chains agree to {:.2}, with {:.0} effective draws of K{advice}{errors}",
        chains.agreement, chains.effective_k
    )
}

/// Names the clusters that appear in nearly all draws.
fn coming_back(found: &Posterior) -> String {
    let groups = found.groups();
    let back: Vec<String> =
        (0..groups).filter(|&k| found.recurrence[k] >= ENOUGH_RECURRENCE).map(|k| k.to_string()).collect();
    let of = judge::counted(groups, "cluster");
    if back.is_empty() {
        return format!(
            "none of {of} recurs in most draws (recurrence above {ENOUGH_RECURRENCE}); trust a label as \
             far as its probability goes"
        );
    }
    format!(
        "{} of {of} recur in most draws (recurrence above {ENOUGH_RECURRENCE}) and can be trusted: {}; \
         trust other labels as far as their probabilities go",
        back.len(),
        back.join(", ")
    )
}

/// The label of an object that belongs to no cluster.
pub const NOISE: i32 = -1;

impl Fit {
    /// Whether object `i` is in no cluster.
    pub fn is_noise(&self, i: usize) -> bool {
        self.grouped.noise.get(i).copied().unwrap_or(false)
    }

    /// The label of each object, counted from 0; [`NOISE`] for an object in no cluster.
    pub fn labels(&self) -> Vec<i32> {
        let labels = self.grouped.partition.labels().iter().enumerate();
        labels.map(|(i, &label)| if self.is_noise(i) { NOISE } else { label as i32 }).collect()
    }

    /// The number of clusters, not counting noise.
    pub fn k(&self) -> usize {
        self.grouped.k()
    }

    /// The centre of each cluster in the units of the input, row by row.
    pub fn input_centres(&self) -> Vec<f64> {
        self.prepared.map.invert(&self.centres)
    }

    /// The location of each object in the units of the input, row by row: its chosen candidate or,
    /// where the method has a posterior, the probability-weighted mean of its candidates.
    pub fn input_places(&self) -> Vec<f64> {
        match &self.grouped.posterior {
            Some(posterior) => {
                self.prepared.map.mean_features(&self.prepared.objects(), &posterior.candidates)
            }
            None => self.prepared.map.invert(&self.places),
        }
    }

    /// The mixture's model for new objects; `None` for other methods, or if significance removed
    /// members from the clusters.
    pub fn model(&self) -> Option<Result<ModelFile>> {
        let posterior = self.grouped.posterior.as_ref().filter(|_| !self.settings.changes_clusters())?;
        let (prepared, objects) = (&self.prepared, self.prepared.objects());
        let model = Model::fit(&self.settings.mixture(), &objects, posterior);
        let kept = |model| ModelFile {
            features: prepared.data.features.clone(),
            map: prepared.map.clone(),
            penalty_divisor: prepared.penalty_divisor.unwrap_or(1.0),
            model,
        };
        Some(model.map(kept).map_err(|error| failed!("the model cannot be saved: {error}")))
    }

    /// The tree over the clusters, for a method that chooses candidates.
    pub fn tree(&self) -> Result<Hierarchy<'_>> {
        let chosen = self.grouped.chosen.as_ref().ok_or_else(|| {
            usage!(
                "a tree needs a method that chooses candidates, such as goc; {} does not",
                self.settings.method
            )
        })?;
        let (candidates, lambda) = (&self.prepared.data.candidates, self.settings.lambda());
        Ok(Hierarchy::new(candidates, &self.grouped.partition, chosen, lambda)?)
    }
}
