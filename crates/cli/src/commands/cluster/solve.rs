//! Running a method on scaled candidates: every method of the library, one kind of answer.

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
use goc::confidence::noise;
use goc::marginal::{ENOUGH_AGREEMENT, ENOUGH_DRAWS, Marginal, Posterior};
use goc::optimistic::continuous::{Continuous, Region};
use goc::optimistic::hierarchy::Hierarchy;
use goc::optimistic::{Distance, KRule, Optimistic, Termination};
use goc::oracle::Oracle;
use goc::oracle::k_means::means;
use goc::pessimistic::Pessimistic;
use goc::points::squared_distance;
use goc::set_distance::SetDistance;
use goc::{Candidates, Partition, Points};

use super::method::MethodArgs;
use crate::choices::{DistanceName, KRuleName, MethodName, SetDistanceName};
use crate::fail::Fail;
use crate::long_table::{labels_for, numbered};
use crate::screen;

/// What every method gives, in scaled units.
pub struct Answer {
    pub partition: Partition,
    /// The chosen candidate of each object; none for a method that does not choose.
    pub chosen: Option<Vec<u32>>,
    pub representatives: Points,
    pub centres: Points,
    /// What the method minimises, where it minimises something.
    pub objective: Option<f64>,
    /// Which objects the method calls noise; empty when it knows none.
    pub noise: Vec<bool>,
    /// How sure it is of each object; empty when it does not say.
    pub confidence: Vec<f64>,
    /// Expected value of one over the size of each object's cluster; empty when the method has no posterior.
    pub solitude: Vec<f64>,
    pub iterations: usize,
    pub converged: bool,
    pub cycle: bool,
    pub k_initial: usize,
    pub history: Vec<goc::optimistic::Iteration>,
    /// Everything that the marginal mixture knows.
    pub posterior: Option<Posterior>,
    /// What the method has to say beside.
    pub remark: String,
}

impl Answer {
    /// A partition of objects at these places, and nothing more to say of it.
    fn new(partition: Partition, representatives: Points, centres: Points, k_initial: usize) -> Self {
        Self {
            partition,
            chosen: None,
            representatives,
            centres,
            objective: None,
            noise: Vec::new(),
            confidence: Vec::new(),
            solitude: Vec::new(),
            iterations: 0,
            converged: true,
            cycle: false,
            k_initial,
            history: Vec::new(),
            posterior: None,
            remark: String::new(),
        }
    }

    /// How GOC ended.
    fn ended(mut self, termination: Termination) -> Self {
        self.converged = matches!(termination, Termination::Converged | Termination::Tolerance);
        self.cycle = matches!(termination, Termination::Cycle { .. });
        self
    }

    fn with(mut self, posterior: Posterior) -> Self {
        self.posterior = Some(posterior);
        self
    }

    pub fn noise_count(&self) -> usize {
        self.noise.iter().filter(|noise| **noise).count()
    }

    /// The number of clusters, noise not counted.
    pub fn k(&self) -> usize {
        self.partition.k() - self.noise_count()
    }
}

impl MethodArgs {
    /// Runs the method on scaled candidates. `trace`: keep every iteration in full.
    pub fn solve(&self, candidates: &Candidates, seed: u64, trace: bool) -> Result<Answer, Fail> {
        let settings = self.oracle_settings();
        let oracle = settings.build();
        let oracle = oracle.as_ref();
        let k = self.wanted()?;
        match self.method {
            MethodName::Goc => self.greedy(candidates, oracle, seed, trace),
            MethodName::Gpc => self.pessimistic(candidates, oracle, seed),
            MethodName::GocTree => self.tree(candidates, oracle, seed),
            MethodName::UkMeans => {
                let mut answer = self.method(candidates, &UkMeans { oracle, k }, seed)?;
                let distance = |(x, &l): (&[f64], &u32)| squared_distance(x, answer.centres.row(l as usize));
                answer.objective =
                    Some(answer.representatives.rows().zip(answer.partition.labels()).map(distance).sum());
                answer.iterations = 1;
                Ok(answer)
            }
            MethodName::UkMedians => {
                let medians =
                    UkMedians::new(k).max_iterations(self.max_iterations).starts(self.some_starts());
                self.method(candidates, &medians, seed)
            }
            MethodName::ExpectedKMeans => {
                let expected =
                    ExpectedKMeans::new(k).max_iterations(self.max_iterations).starts(self.some_starts());
                self.method(candidates, &expected, seed)
            }
            MethodName::Boxes => {
                let boxes = Boxes::new(k)
                    .distance(self.box_distance.value())
                    .max_iterations(self.max_iterations)
                    .starts(self.some_starts());
                self.method(candidates, &boxes, seed)
            }
            MethodName::RobustBoxes => {
                let boxes =
                    RobustBoxes::new(k).max_iterations(self.max_iterations).starts(self.some_starts());
                self.method(candidates, &boxes, seed)
            }
            MethodName::Worlds => {
                self.method(candidates, &PossibleWorlds::new(oracle, k).worlds(self.worlds), seed)
            }
            MethodName::RepresentativeWorlds => {
                self.method(candidates, &RepresentativeWorlds::new(oracle, k).worlds(self.worlds), seed)
            }
            MethodName::Fdbscan => {
                let mut fdbscan = Fdbscan::new(self.min_points);
                if let Some(eps) = self.eps {
                    fdbscan = fdbscan.eps(eps);
                }
                self.method(candidates, &fdbscan, seed)
            }
            MethodName::Affinity => {
                self.by_set_distance(candidates, Clusterer::Affinity(settings.affinity()), seed)
            }
            MethodName::Medoids => {
                let clusterer = Clusterer::KMedoids { search: settings.medoids(), k };
                self.by_set_distance(candidates, clusterer, seed)
            }
            MethodName::Linkage => {
                let clusterer = Clusterer::Linkage { linkage: self.linkage.value(), k };
                self.by_set_distance(candidates, clusterer, seed)
            }
            MethodName::Marginal => self.marginal(candidates, seed),
            MethodName::GocHull | MethodName::GocBox => {
                let region = if self.method == MethodName::GocHull { Region::Hull } else { Region::Box };
                self.continuous(candidates, region, oracle, seed)
            }
        }
    }

    /// Starts of the methods that have no oracle: as asked for, or ten.
    fn some_starts(&self) -> usize {
        self.oracle_starts.unwrap_or(10)
    }

    fn by_set_distance(
        &self,
        candidates: &Candidates,
        clusterer: Clusterer,
        seed: u64,
    ) -> Result<Answer, Fail> {
        let sets = |distance| SetDistanceClustering { distance, clusterer: clusterer.clone() };
        let densities = |density| DensityClustering::new(density, clusterer.clone());
        match self.set_distance {
            SetDistanceName::S1 => self.method(candidates, &sets(SetDistance::Mean), seed),
            SetDistanceName::S2 => self.method(candidates, &sets(SetDistance::Min), seed),
            SetDistanceName::S3 => self.method(candidates, &sets(SetDistance::MinMax), seed),
            SetDistanceName::Hausdorff => self.method(candidates, &sets(SetDistance::Hausdorff), seed),
            SetDistanceName::Kl => self.method(candidates, &densities(Density::Gaussian), seed),
            SetDistanceName::KlKernel => self.method(candidates, &densities(Density::Kernel), seed),
        }
    }

    /// Any of the library's methods. One that does not say where the objects are has them at the means of their sets.
    fn method(&self, candidates: &Candidates, method: &dyn Method, seed: u64) -> Result<Answer, Fail> {
        let found = method.group(candidates, seed)?;
        let representatives = found.places.unwrap_or_else(|| candidates.means());
        let centres = means(&representatives, &found.partition);
        Ok(Answer {
            objective: found.objective,
            noise: found.noise,
            confidence: found.confidence,
            iterations: found.iterations,
            converged: found.converged,
            ..Answer::new(found.partition, representatives, centres, self.wanted()?)
        })
    }

    fn greedy(
        &self,
        candidates: &Candidates,
        oracle: &dyn Oracle,
        seed: u64,
        trace: bool,
    ) -> Result<Answer, Fail> {
        let valid = self.optimistic(candidates, self.wanted()?, trace)?.check(candidates)?;
        let bar = self.shown(screen::counter("iterations and moves"));
        let found = valid.run_watched(oracle, seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        // K(0): as asked, or as the first labels have it. An oracle may find fewer.
        let k_initial = if self.init_labels.is_some() { found.first.1.k() } else { self.wanted()? };
        let representatives = candidates.chosen(&found.chosen);
        Ok(Answer {
            chosen: Some(found.chosen),
            objective: Some(found.objective),
            iterations: found.iterations,
            history: found.history,
            ..Answer::new(found.partition, representatives, found.centres, k_initial)
        }
        .ended(found.termination))
    }

    fn pessimistic(&self, candidates: &Candidates, oracle: &dyn Oracle, seed: u64) -> Result<Answer, Fail> {
        let gpc = Pessimistic {
            lambda: self.lambda(),
            distance: self.distance.map_or(Distance::Squared, DistanceName::value),
            k_rule: self.k_rule.map_or(KRule::Plural, KRuleName::value),
            max_iterations: self.max_iterations,
            ..Pessimistic::new(self.wanted()?, self.reading.value())
        };
        let found = gpc.run(candidates, oracle, seed)?;
        let representatives = candidates.chosen(&found.chosen);
        Ok(Answer {
            chosen: Some(found.chosen),
            objective: Some(found.objective),
            iterations: found.iterations,
            converged: found.converged,
            cycle: found.cycle,
            ..Answer::new(found.partition, representatives, found.centres, self.wanted()?)
        })
    }

    /// GOC over hulls or boxes, with GOC's own flags. Its distance is squared, whatever the preset.
    fn continuous(
        &self,
        candidates: &Candidates,
        region: Region,
        oracle: &dyn Oracle,
        seed: u64,
    ) -> Result<Answer, Fail> {
        let mut goc = self.optimistic(candidates, self.wanted()?, false)?;
        if self.distance.is_none() {
            goc = goc.distance(Distance::Squared);
        }
        let found = Continuous::new(region, goc).check(candidates)?.run(oracle, seed)?;
        Ok(Answer {
            objective: Some(found.objective),
            iterations: found.iterations,
            ..Answer::new(found.partition, found.places, found.centres, self.wanted()?)
        }
        .ended(found.termination))
    }

    /// GOC with more clusters than asked for, then the tree over them, cut at K.
    fn tree(&self, candidates: &Candidates, oracle: &dyn Oracle, seed: u64) -> Result<Answer, Fail> {
        let k = self.wanted()?;
        check_k(k, candidates)?;
        let first = (k + k / 2).min(candidates.objects());
        let found = self.optimistic(candidates, first, false)?.check(candidates)?.run(oracle, seed)?;
        let tree = Hierarchy::new(candidates, &found.partition, &found.chosen, self.lambda())?;
        let cut = tree.cut(k.min(found.partition.k()))?;
        let representatives = candidates.chosen(&cut.chosen);
        Ok(Answer {
            chosen: Some(cut.chosen),
            objective: Some(cut.objective),
            iterations: found.iterations,
            history: found.history,
            ..Answer::new(cut.partition, representatives, cut.centres, k)
        }
        .ended(found.termination))
    }

    /// The marginal mixture with its flags.
    pub fn mixture(&self) -> Marginal {
        Marginal::default().length(self.chains, self.burn, self.draws_kept).strength(self.strength())
    }

    fn marginal(&self, candidates: &Candidates, seed: u64) -> Result<Answer, Fail> {
        let sweeps = self.burn + self.draws_kept;
        let bar = self.shown(screen::progress((self.chains * sweeps) as u64, "sweeps"));
        let mut model = self.mixture();
        if self.expects_noise {
            model = noise::expecting(model, candidates.objects());
        }
        let found = model.run_watched(candidates, seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        let chains = found.diagnostics;
        let advice = match (chains.converged(), chains.agrees(), self.expects_noise) {
            (true, ..) => String::new(),
            (_, true, _) => {
                format!("; below {ENOUGH_DRAWS} K is not settled: try more --burn, --keep or --chains")
            }
            (_, false, noise) => format!(
                "; with an agreement below {ENOUGH_AGREEMENT} groups differ from chain to chain: believe a label as far as its probability, \
                 {}",
                if noise {
                    "and try without --noise, which looks for small groups, for large ones"
                } else {
                    "try more --burn and --keep, or --noise for small groups among objects that have none"
                }
            ),
        };
        let centres = means(&found.places, &found.partition);
        Ok(Answer {
            confidence: found.membership.clone(),
            solitude: if self.expects_noise {
                noise::solitude(candidates, &found, self.strength())
            } else {
                Vec::new()
            },
            iterations: sweeps,
            converged: chains.converged(),
            remark: format!(
                "chains agree to {:.2}; their K is worth {:.0} independent draws{advice}",
                chains.agreement, chains.effective_k
            ),
            ..Answer::new(found.partition.clone(), found.places.clone(), centres, self.wanted()?)
        }
        .with(found))
    }

    fn optimistic(&self, candidates: &Candidates, k: usize, trace: bool) -> Result<Optimistic, Fail> {
        let mut goc = Optimistic::preset(self.preset.value(), k)
            .lambda(self.lambda())
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .starts(self.starts)
            .swaps(self.swaps);
        if let Some(search) = self.search {
            goc = goc.search(search.value());
        }
        if trace {
            goc = goc.history(goc::optimistic::Detail::Full);
        }
        if let Some(distance) = self.distance {
            goc = goc.distance(distance.value());
        }
        if let Some(rule) = self.k_rule {
            goc = goc.k_rule(rule.value());
        }
        if let Some(every) = self.oracle_every {
            goc = goc.oracle_every(every.value());
        }
        if let Some(begin) = self.begin {
            goc = goc.beginning(begin.value());
        }
        if let Some(path) = &self.init_labels {
            let labels = labels_for(candidates, path, &["label", "init_cluster", "cluster"])?;
            goc = goc.initial_labels(numbered(&labels));
        }
        Ok(goc)
    }
}
