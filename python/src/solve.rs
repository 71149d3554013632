//! Running a method on scaled candidates: every method of the library, one kind of answer.
//!
//! The same choices in the same order as the command makes them, so that both give the same bytes; `tests/test_command.py` holds them
//! together.

use goc::baselines::boxes::Boxes;
use goc::baselines::clusterer::Clusterer;
use goc::baselines::expected_k_means::ExpectedKMeans;
use goc::baselines::fdbscan::Fdbscan;
use goc::baselines::kl::{Density, DensityClustering};
use goc::baselines::possible_worlds::PossibleWorlds;
use goc::baselines::representative_worlds::RepresentativeWorlds;
use goc::baselines::robust_boxes::RobustBoxes;
use goc::baselines::set_distances::SetDistanceClustering;
use goc::baselines::uk_means::UkMeans;
use goc::baselines::uk_medians::UkMedians;
use goc::baselines::{Method, check_k};
use goc::choose_k::lambda::lambda;
use goc::choose_k::{Chooser, Solution};
use goc::confidence::noise;
use goc::marginal::{Marginal, Posterior};
use goc::optimistic::continuous::{Continuous, Region};
use goc::optimistic::hierarchy::Hierarchy;
use goc::optimistic::weighted::Weighted;
use goc::optimistic::{Distance, Iteration, KRule, Termination};
use goc::oracle::k_means::means;
use goc::oracle::{Oracle, Start};
use goc::pessimistic::Pessimistic;
use goc::points::squared_distance;
use goc::set_distance::SetDistance;
use goc::{Candidates, Partition, Points, random};
use pyo3::PyErr;
use pyo3::exceptions::PyValueError;

use crate::settings::Settings;
use crate::watch::Watch;

/// What every method gives, in scaled units.
pub struct Answer {
    pub partition: Partition,
    /// The chosen candidate of each object; none for a method that does not choose.
    pub chosen: Option<Vec<u32>>,
    pub representatives: Points,
    pub centres: Points,
    pub objective: Option<f64>,
    /// Which objects the method calls noise; empty when it knows none.
    pub noise: Vec<bool>,
    /// How alone each object is; empty unless noise was asked for.
    pub solitude: Vec<f64>,
    /// How sure it is of each object; empty when it does not say.
    pub confidence: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
    pub cycle: bool,
    pub history: Vec<Iteration>,
    pub posterior: Option<Posterior>,
}

/// Why there is no answer: the library's error in words, which become a ValueError.
pub struct Failed(String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl Failed {
    pub fn into_error(self) -> PyErr {
        PyValueError::new_err(self.0)
    }
}

/// K and the penalty weight where they were to be found, and what was looked at.
#[derive(Default)]
pub struct Found {
    pub k: Option<usize>,
    pub k_curve: Vec<(usize, f64)>,
    pub penalty_weight: Option<f64>,
}

/// A method that is being run.
pub struct Run<'r> {
    pub settings: Settings,
    pub oracle: &'r dyn Oracle,
    pub watch: &'r Watch,
}

impl Answer {
    fn new(partition: Partition, representatives: Points, centres: Points) -> Self {
        Self {
            partition,
            chosen: None,
            representatives,
            centres,
            objective: None,
            noise: Vec::new(),
            solitude: Vec::new(),
            confidence: Vec::new(),
            iterations: 0,
            converged: true,
            cycle: false,
            history: Vec::new(),
            posterior: None,
        }
    }

    fn ended(mut self, termination: Termination) -> Self {
        self.converged = matches!(termination, Termination::Converged | Termination::Tolerance);
        self.cycle = matches!(termination, Termination::Cycle { .. });
        self
    }
}

impl Run<'_> {
    /// Finds what is to be found, then runs the method.
    pub fn answer(mut self, candidates: &Candidates) -> Result<(Answer, Found), Failed> {
        let found = self.resolve(candidates)?;
        Ok((self.solve(candidates, self.settings.seed)?, found))
    }

    fn finds_k(&self) -> bool {
        matches!(self.settings.method.as_str(), "affinity" | "fdbscan" | "marginal")
    }

    fn resolve(&mut self, candidates: &Candidates) -> Result<Found, Failed> {
        let mut found = Found::default();
        let seed = self.settings.seed;
        let strength = self.settings.strength();
        if self.settings.k.is_none() && !self.finds_k() {
            // A K that was looked for is kept, and the minimum with it is worth finding.
            if self.settings.method == "goc" {
                self.settings.k_rule.get_or_insert("constant".into());
                self.settings.search.get_or_insert("thorough".into());
            }
            let criterion = self.settings.criterion().map_err(|e| Failed(e.to_string()))?;
            let chooser = Chooser::new(criterion).penalty_strength(strength);
            let chosen = chooser.choose(candidates, seed, |candidates, k, seed| {
                self.settings.k = Some(k);
                self.watch.tick();
                self.solution(candidates, seed)
            })?;
            self.settings.k = Some(chosen.k);
            found.k = Some(chosen.k);
            found.k_curve = chosen.curve.iter().map(|trial| (trial.k, trial.value)).collect();
        }
        if self.settings.penalty_weight.is_none() {
            let first = self.settings.lambda();
            let weight = lambda(candidates, strength, first, |weight| {
                self.settings.penalty_weight = Some(weight);
                self.watch.tick();
                self.solution(candidates, seed)
            })?;
            self.settings.penalty_weight = Some(weight.lambda);
            found.penalty_weight = Some(weight.lambda);
        }
        Ok(found)
    }

    fn solution(&self, candidates: &Candidates, seed: u64) -> Result<Solution, Failed> {
        let answer = self.solve(candidates, seed)?;
        Ok(Solution { partition: answer.partition, places: answer.representatives })
    }

    fn k(&self) -> usize {
        self.settings.k.unwrap_or(1)
    }

    fn solve(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let (s, oracle, k) = (&self.settings, self.oracle, self.k());
        // Starts of the methods that have no oracle: as asked for, or ten.
        let starts = s.oracle_starts.unwrap_or(10);
        let most = s.max_iter;
        if let Some(weights) = &s.sample_weight {
            return self.weighted(candidates, weights, seed);
        }
        match s.method.as_str() {
            "goc" => self.greedy(candidates, seed),
            "gpc" => self.pessimistic(candidates, seed),
            "goc-tree" => self.tree(candidates, seed),
            "goc-hull" => self.continuous(candidates, Region::Hull, seed),
            "goc-box" => self.continuous(candidates, Region::Box, seed),
            "marginal" => self.marginal(candidates, seed),
            "oracle" => self.plain(candidates, seed),
            "uk-means" => {
                let mut answer = self.method(candidates, &UkMeans { oracle, k }, seed)?;
                let distance = |(x, &l): (&[f64], &u32)| squared_distance(x, answer.centres.row(l as usize));
                answer.objective =
                    Some(answer.representatives.rows().zip(answer.partition.labels()).map(distance).sum());
                answer.iterations = 1;
                Ok(answer)
            }
            "uk-medians" => {
                self.method(candidates, &UkMedians::new(k).max_iterations(most).starts(starts), seed)
            }
            "expected-k-means" => {
                self.method(candidates, &ExpectedKMeans::new(k).max_iterations(most).starts(starts), seed)
            }
            "boxes" => {
                let boxes = Boxes::new(k).distance(s.box_distance().map_err(said)?);
                self.method(candidates, &boxes.max_iterations(most).starts(starts), seed)
            }
            "robust-boxes" => {
                self.method(candidates, &RobustBoxes::new(k).max_iterations(most).starts(starts), seed)
            }
            "worlds" => self.method(candidates, &PossibleWorlds::new(oracle, k).worlds(s.worlds), seed),
            "representative-worlds" => {
                self.method(candidates, &RepresentativeWorlds::new(oracle, k).worlds(s.worlds), seed)
            }
            "fdbscan" => {
                let fdbscan = Fdbscan::new(s.min_points);
                let fdbscan = s.eps.map_or(fdbscan.clone(), |eps| fdbscan.eps(eps));
                self.method(candidates, &fdbscan, seed)
            }
            "affinity" => self.by_set_distance(candidates, Clusterer::Affinity(s.affinity()), seed),
            "medoids" => {
                self.by_set_distance(candidates, Clusterer::KMedoids { search: s.medoids(), k }, seed)
            }
            "linkage" => {
                let linkage = s.linkage().map_err(said)?;
                self.by_set_distance(candidates, Clusterer::Linkage { linkage, k }, seed)
            }
            other => Err(Failed(format!("method '{other}' is not known"))),
        }
    }

    fn by_set_distance(
        &self,
        candidates: &Candidates,
        clusterer: Clusterer,
        seed: u64,
    ) -> Result<Answer, Failed> {
        let sets = |distance| SetDistanceClustering { distance, clusterer: clusterer.clone() };
        let densities = |density| DensityClustering::new(density, clusterer.clone());
        match self.settings.set_distance.as_str() {
            "s1" => self.method(candidates, &sets(SetDistance::Mean), seed),
            "s2" => self.method(candidates, &sets(SetDistance::Min), seed),
            "s3" => self.method(candidates, &sets(SetDistance::MinMax), seed),
            "hausdorff" => self.method(candidates, &sets(SetDistance::Hausdorff), seed),
            "kl" => self.method(candidates, &densities(Density::Gaussian), seed),
            "kl-kernel" => self.method(candidates, &densities(Density::Kernel), seed),
            other => Err(Failed(format!(
                "set_distance='{other}' is not known; give one of s1, s2, s3, hausdorff, kl, kl-kernel"
            ))),
        }
    }

    /// Any of the library's methods. One that does not say where the objects are has them at the means of their sets.
    fn method(&self, candidates: &Candidates, method: &dyn Method, seed: u64) -> Result<Answer, Failed> {
        let found = method.group(candidates, seed)?;
        let representatives = found.places.unwrap_or_else(|| candidates.means());
        let centres = means(&representatives, &found.partition);
        Ok(Answer {
            objective: found.objective,
            noise: found.noise,
            confidence: found.confidence,
            iterations: found.iterations,
            converged: found.converged,
            ..Answer::new(found.partition, representatives, centres)
        })
    }

    /// The oracle by itself, on plain points.
    fn plain(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let points = candidates.means();
        let partition = self.oracle.cluster(&points, Start::K(self.k()), &mut random::stream(seed, 0))?;
        let centres = means(&points, &partition);
        // What HDBSCAN calls noise is alone in its partition.
        let sizes = partition.sizes();
        let noise = match self.settings.oracle == "hdbscan" && self.settings.min_cluster_size > 1 {
            true => partition.labels().iter().map(|&l| sizes[l as usize] == 1).collect(),
            false => Vec::new(),
        };
        Ok(Answer { iterations: 1, noise, ..Answer::new(partition, points, centres) })
    }

    /// Objects that count more than others: k-means and GOC with weights. Python has seen to it that nothing else is asked for.
    fn weighted(&self, candidates: &Candidates, weights: &[f64], seed: u64) -> Result<Answer, Failed> {
        let s = &self.settings;
        let goc = Weighted {
            lambda: s.lambda(),
            distance: s.distance().map_err(said)?.unwrap_or(Distance::Squared),
            starts: s.oracle_starts.unwrap_or(10),
            max_iterations: s.max_iter,
            ..Weighted::new(self.k())
        };
        if s.method != "goc" {
            // One candidate an object, its mean: then the descent is that of k-means.
            let points = Candidates::from_points(&candidates.means())?;
            let found = goc.run(&points, weights, seed, &|| self.watch.tick())?;
            let objective = found.history.last().copied();
            let iterations = found.history.len();
            let converged = found.converged;
            let answer = Answer::new(found.partition, candidates.means(), found.centres);
            return Ok(Answer { objective, iterations, converged, ..answer });
        }
        let found = goc.run(candidates, weights, seed, &|| self.watch.tick())?;
        let representatives = candidates.chosen(&found.chosen);
        Ok(Answer {
            objective: found.history.last().copied(),
            iterations: found.history.len(),
            converged: found.converged,
            chosen: Some(found.chosen),
            ..Answer::new(found.partition, representatives, found.centres)
        })
    }

    fn greedy(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let valid = self.settings.greedy(self.k()).map_err(said)?.check(candidates)?;
        let found = valid.run_watched(self.oracle, seed, &|| self.watch.tick())?;
        let representatives = candidates.chosen(&found.chosen);
        Ok(Answer {
            chosen: Some(found.chosen),
            objective: Some(found.objective),
            iterations: found.iterations,
            history: found.history,
            ..Answer::new(found.partition, representatives, found.centres)
        }
        .ended(found.termination))
    }

    fn pessimistic(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let s = &self.settings;
        let gpc = Pessimistic {
            lambda: s.lambda(),
            distance: s.distance().map_err(said)?.unwrap_or(Distance::Squared),
            k_rule: s.k_rule().map_err(said)?.unwrap_or(KRule::Plural),
            max_iterations: s.max_iter,
            ..Pessimistic::new(self.k(), s.reading().map_err(said)?)
        };
        let found = gpc.run(candidates, self.oracle, seed)?;
        let representatives = candidates.chosen(&found.chosen);
        Ok(Answer {
            chosen: Some(found.chosen),
            objective: Some(found.objective),
            iterations: found.iterations,
            converged: found.converged,
            cycle: found.cycle,
            ..Answer::new(found.partition, representatives, found.centres)
        })
    }

    /// GOC over hulls or boxes. Its distance is squared, whatever the preset.
    fn continuous(&self, candidates: &Candidates, region: Region, seed: u64) -> Result<Answer, Failed> {
        let mut goc = self.settings.greedy(self.k()).map_err(said)?;
        if self.settings.distance.is_none() {
            goc = goc.distance(Distance::Squared);
        }
        let found = Continuous::new(region, goc).check(candidates)?.run(self.oracle, seed)?;
        Ok(Answer {
            objective: Some(found.objective),
            iterations: found.iterations,
            ..Answer::new(found.partition, found.places, found.centres)
        }
        .ended(found.termination))
    }

    /// GOC with half as many clusters again, then the tree over them, cut at K.
    fn tree(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let k = self.k();
        check_k(k, candidates)?;
        let first = (k + k / 2).min(candidates.objects());
        let valid = self.settings.greedy(first).map_err(said)?.check(candidates)?;
        let found = valid.run_watched(self.oracle, seed, &|| self.watch.tick())?;
        let tree = Hierarchy::new(candidates, &found.partition, &found.chosen, self.settings.lambda())?;
        let cut = tree.cut(k.min(found.partition.k()))?;
        let representatives = candidates.chosen(&cut.chosen);
        Ok(Answer {
            chosen: Some(cut.chosen),
            objective: Some(cut.objective),
            iterations: found.iterations,
            history: found.history,
            ..Answer::new(cut.partition, representatives, cut.centres)
        }
        .ended(found.termination))
    }

    fn marginal(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Failed> {
        let mut model = self.settings.mixture();
        if self.settings.noise {
            model = noise::expecting(model, candidates.objects());
        }
        let mut found = model.run_watched(candidates, seed, &|| self.watch.tick())?;
        let (mut solitude, mut is_noise) = (Vec::new(), Vec::new());
        if self.settings.noise {
            solitude = noise::solitude(candidates, &found, self.settings.strength());
            let (grouped, by) =
                noise::by_solitude(&found.partition, &solitude, noise::SOLITUDE, &found.together);
            let partition = noise::set_apart(&grouped, &by);
            (found.membership, found.runner_up) = noise::memberships(&found, &partition, &by);
            (found.partition, is_noise) = (partition, by);
        }
        let centres = means(&found.places, &found.partition);
        Ok(Answer {
            noise: is_noise,
            solitude,
            confidence: found.membership.clone(),
            iterations: self.settings.burn + self.settings.keep,
            converged: found.diagnostics.converged(),
            ..Answer::new(found.partition.clone(), found.places.clone(), centres)
        }
        .with(found))
    }
}

impl Answer {
    fn with(mut self, posterior: Posterior) -> Self {
        self.posterior = Some(posterior);
        self
    }
}

impl Settings {
    /// What a penalty of 1 costs in log likelihood; a fit has filled it in.
    fn strength(&self) -> f64 {
        self.strength.unwrap_or(1.0)
    }

    /// The marginal mixture.
    pub fn mixture(&self) -> Marginal {
        Marginal::default().length(self.chains, self.burn, self.keep).penalty_strength(self.strength())
    }
}

/// A setting that is wrong, in words.
fn said(error: PyErr) -> Failed {
    let text = error.to_string();
    Failed(text.strip_prefix("ValueError: ").unwrap_or(&text).to_string())
}
