//! The flags that choose a method and its settings, and running it.

use std::path::PathBuf;

use clap::Args;
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
use goc::marginal::Marginal;
use goc::optimistic::continuous::{Continuous, Region};
use goc::optimistic::hierarchy::Hierarchy;
use goc::optimistic::{Distance, Ending, KRule, Optimistic};
use goc::oracle::Oracle;
use goc::oracle::k_means::means;
use goc::pessimistic::Pessimistic;
use goc::points::squared_distance;
use goc::scale::Scaling;
use goc::set_distance::SetDistance;
use goc::{Candidates, Partition, Points};
use serde_json::{Value, json};

use crate::choices::{
    AlgorithmName, BeginName, BoxName, DistanceName, EveryName, KRuleName, LinkageName, MIN_CLUSTER_SIZE,
    MethodName, OracleName, OracleSettings, PREFERENCE, PenaltyScale, PresetName, ReadingName, SeedingName,
    SetDistanceName, at_least_one, typed,
};
use crate::fail::Fail;
use crate::long_table::{labels_for, numbered};
use crate::screen;

/// How objects are clustered.
#[derive(Args, Clone, Debug)]
pub struct MethodArgs {
    /// Method for uncertain objects
    #[arg(long, value_enum, default_value_t = MethodName::Goc)]
    pub method: MethodName,

    /// Oracle that clusters one point per object
    #[arg(long, value_enum, default_value_t = OracleName::KMeans)]
    pub oracle: OracleName,

    /// Choices that belong together: what the paper says, or what the authors' code does
    #[arg(long, value_enum, default_value_t = PresetName::Paper)]
    pub preset: PresetName,

    /// Number of clusters to begin with, K(0); not needed by affinity, fdbscan and marginal
    #[arg(long, value_name = "K")]
    pub k: Option<usize>,

    /// Weight of the penalties
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    pub lambda: f64,

    /// Divide the penalties by the largest (max), or leave them (none)
    #[arg(long, value_enum, default_value_t = PenaltyScale::Max)]
    pub penalty_scale: PenaltyScale,

    /// How features are made comparable: standard, robust (median, IQR) or none
    #[arg(long, default_value = "standard")]
    pub scale: Scaling,

    /// Distance of step (III); overrides the preset
    #[arg(long, value_enum)]
    pub distance: Option<DistanceName>,

    /// How K(t) follows from the clusters before; overrides the preset
    #[arg(long, value_enum)]
    pub k_rule: Option<KRuleName>,

    /// When the oracle is used; overrides the preset
    #[arg(long, value_enum)]
    pub oracle_every: Option<EveryName>,

    /// First representative of each object; overrides the preset
    #[arg(long, value_enum)]
    pub begin: Option<BeginName>,

    /// Labels that replace the first clustering: a table with object and label
    #[arg(long, value_name = "FILE")]
    pub init_labels: Option<PathBuf>,

    /// Keep the best joint objective of N starts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    pub starts: usize,

    /// Then try N swap moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub swaps: usize,

    /// Stop once no more than this share of the objects change; 0 is perfect convergence
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    pub tolerance: f64,

    /// Iterations at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub max_iterations: usize,

    /// Starts of the oracle [default: the oracle's own; 100 for k-means]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub oracle_starts: Option<usize>,

    /// Iterations of the oracle at most: a low number is the early-stopped oracle
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    pub oracle_iterations: Option<usize>,

    /// How k-means descends
    #[arg(long, value_enum, default_value_t = AlgorithmName::HartiganWong)]
    pub algorithm: AlgorithmName,

    /// How k-means draws its starts
    #[arg(long, value_enum, default_value_t = SeedingName::Random)]
    pub seeding: SeedingName,

    /// How the linkage oracle joins clusters
    #[arg(long, value_enum, default_value_t = LinkageName::Average)]
    pub linkage: LinkageName,

    /// What pessimism (--method gpc) maximises
    #[arg(long, value_enum, default_value_t = ReadingName::MinMax)]
    pub reading: ReadingName,

    /// Distance between sets, for --method affinity, medoids and linkage
    #[arg(long, value_enum, default_value_t = SetDistanceName::S2)]
    pub set_distance: SetDistanceName,

    /// Distance to a box that --method boxes takes
    #[arg(long = "box", value_enum, default_value_t = BoxName::Min)]
    pub box_distance: BoxName,

    /// Worlds that --method worlds and representative-worlds sample
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one())]
    pub worlds: usize,

    /// Preference of affinity propagation: this quantile of the similarities
    #[arg(long, value_name = "Q", default_value_t = PREFERENCE)]
    pub preference: f64,

    /// Bandwidth of mean shift, in scaled features [default: by scikit-learn's rule]
    #[arg(long, value_name = "H")]
    pub bandwidth: Option<f64>,

    /// Least members of a cluster of HDBSCAN
    #[arg(long, value_name = "N", default_value_t = MIN_CLUSTER_SIZE, value_parser = at_least_one())]
    pub min_cluster_size: usize,

    /// Objects within eps that make a core object of FDBSCAN
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one())]
    pub min_points: usize,

    /// Chains of the marginal mixture
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one())]
    pub chains: usize,

    /// Sweeps of each chain before draws are kept
    #[arg(long, value_name = "N", default_value_t = 80)]
    pub burn: usize,

    /// Draws kept of each chain
    #[arg(long = "keep", value_name = "N", default_value_t = 120, value_parser = at_least_one())]
    pub draws_kept: usize,

    /// Radius of FDBSCAN, in scaled features [default: by a rule]
    #[arg(long, value_name = "R")]
    pub eps: Option<f64>,
}

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
    pub iterations: usize,
    pub converged: bool,
    pub cycle: bool,
    pub k_initial: usize,
    pub history: Vec<goc::optimistic::Iteration>,
    /// What the method has to say beside.
    pub remark: String,
}

impl Answer {
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
            MethodName::Marginal => {
                let model = Marginal::default().length(self.chains, self.burn, self.draws_kept);
                let bar = screen::progress((self.chains * (self.burn + self.draws_kept)) as u64, "sweeps");
                let found = model.run_watched(candidates, seed, &|| bar.inc(1))?;
                bar.finish_and_clear();
                let d = found.diagnostics;
                let remark = format!(
                    "chains agree to {:.2}; their K is worth {:.0} independent draws{}",
                    d.agreement,
                    d.effective_k,
                    if d.converged() { "" } else { ": more may help, --burn, --keep and --chains" }
                );
                Ok(Answer {
                    centres: means(&found.places, &found.partition),
                    representatives: found.places,
                    partition: found.partition,
                    chosen: None,
                    objective: None,
                    noise: Vec::new(),
                    confidence: found.membership,
                    iterations: self.burn + self.draws_kept,
                    converged: d.converged(),
                    cycle: false,
                    k_initial: 1,
                    history: Vec::new(),
                    remark,
                })
            }
            MethodName::GocHull | MethodName::GocBox => {
                let region = if self.method == MethodName::GocHull { Region::Hull } else { Region::Box };
                self.continuous(candidates, region, oracle, seed)
            }
        }
    }

    /// The number of clusters asked for; 1 for a method that has no use for it.
    fn wanted(&self) -> Result<usize, Fail> {
        match self.k {
            Some(k) => Ok(k),
            None if self.method.finds_k() => Ok(1),
            None => {
                let method = typed(self.method);
                Err(Fail::usage(format!("--method {method} needs --k, the number of clusters; see --help")))
            }
        }
    }

    /// What can be said before any table is read.
    pub fn check(&self) -> Result<(), Fail> {
        self.wanted().map(|_| ())
    }

    pub fn oracle_settings(&self) -> OracleSettings {
        OracleSettings {
            name: self.oracle,
            starts: self.oracle_starts,
            iterations: self.oracle_iterations,
            algorithm: self.algorithm,
            seeding: self.seeding,
            linkage: self.linkage,
            preference: self.preference,
            bandwidth: self.bandwidth,
            min_cluster_size: self.min_cluster_size,
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
        Ok(Answer {
            centres: means(&representatives, &found.partition),
            representatives,
            partition: found.partition,
            chosen: None,
            objective: found.objective,
            noise: found.noise,
            confidence: found.confidence,
            iterations: found.iterations,
            converged: found.converged,
            cycle: false,
            k_initial: self.wanted()?,
            history: Vec::new(),
            remark: String::new(),
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
        let bar = screen::counter("iterations and moves");
        let found = valid.run_watched(oracle, seed, &|| bar.inc(1))?;
        bar.finish_and_clear();
        Ok(Answer {
            representatives: candidates.chosen(&found.chosen),
            converged: matches!(found.ending, Ending::Converged | Ending::Tolerance),
            cycle: matches!(found.ending, Ending::Cycle { .. }),
            // K(0): as asked, or as the first labels have it. An oracle may find fewer.
            k_initial: if self.init_labels.is_some() { found.first.1.k() } else { self.wanted()? },
            partition: found.partition,
            chosen: Some(found.chosen),
            centres: found.centres,
            objective: Some(found.objective),
            noise: Vec::new(),
            confidence: Vec::new(),
            iterations: found.iterations,
            history: found.history,
            remark: String::new(),
        })
    }

    fn pessimistic(&self, candidates: &Candidates, oracle: &dyn Oracle, seed: u64) -> Result<Answer, Fail> {
        let gpc = Pessimistic {
            lambda: self.lambda,
            distance: self.distance.map_or(Distance::Squared, DistanceName::value),
            k_rule: self.k_rule.map_or(KRule::Plural, KRuleName::value),
            max_iterations: self.max_iterations,
            ..Pessimistic::new(self.wanted()?, self.reading.value())
        };
        let found = gpc.run(candidates, oracle, seed)?;
        Ok(Answer {
            representatives: candidates.chosen(&found.chosen),
            partition: found.partition,
            chosen: Some(found.chosen),
            centres: found.centres,
            objective: Some(found.objective),
            noise: Vec::new(),
            confidence: Vec::new(),
            iterations: found.iterations,
            converged: found.converged,
            cycle: found.cycle,
            k_initial: self.wanted()?,
            history: Vec::new(),
            remark: String::new(),
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
            representatives: found.places,
            partition: found.partition,
            chosen: None,
            centres: found.centres,
            objective: Some(found.objective),
            noise: Vec::new(),
            confidence: Vec::new(),
            iterations: found.iterations,
            converged: matches!(found.ending, Ending::Converged | Ending::Tolerance),
            cycle: matches!(found.ending, Ending::Cycle { .. }),
            k_initial: self.wanted()?,
            history: Vec::new(),
            remark: String::new(),
        })
    }

    /// GOC with more clusters than asked for, then the tree over them, cut at K.
    fn tree(&self, candidates: &Candidates, oracle: &dyn Oracle, seed: u64) -> Result<Answer, Fail> {
        let k = self.wanted()?;
        check_k(k, candidates)?;
        let first = (k + k / 2).min(candidates.objects());
        let found = self.optimistic(candidates, first, false)?.check(candidates)?.run(oracle, seed)?;
        let tree = Hierarchy::new(candidates, &found.partition, &found.chosen, self.lambda)?;
        let cut = tree.cut(k.min(found.partition.k()))?;
        Ok(Answer {
            representatives: candidates.chosen(&cut.chosen),
            partition: cut.partition,
            chosen: Some(cut.chosen),
            centres: cut.centres,
            objective: Some(cut.objective),
            noise: Vec::new(),
            confidence: Vec::new(),
            iterations: found.iterations,
            converged: matches!(found.ending, Ending::Converged | Ending::Tolerance),
            cycle: matches!(found.ending, Ending::Cycle { .. }),
            k_initial: self.wanted()?,
            history: found.history,
            remark: String::new(),
        })
    }

    fn optimistic(&self, candidates: &Candidates, k: usize, trace: bool) -> Result<Optimistic, Fail> {
        let mut goc = Optimistic::preset(self.preset.value(), k)
            .lambda(self.lambda)
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .starts(self.starts)
            .swaps(self.swaps);
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

    /// Whether clusters of one member are given up.
    pub fn drops_single(&self) -> bool {
        match self.k_rule {
            Some(rule) => rule == KRuleName::Plural,
            None => self.preset == PresetName::Paper || self.method == MethodName::Gpc,
        }
    }

    /// Flags that were changed and that the method does not have.
    pub fn unused_flags(&self) -> Vec<&'static str> {
        use MethodName as M;
        let (method, oracle) = (self.method, self.oracle);
        let greedy = matches!(method, M::Goc | M::GocTree | M::GocHull | M::GocBox);
        let by_distance = matches!(method, M::Affinity | M::Medoids | M::Linkage);
        let with = |name: OracleName| method.uses_oracle() && oracle == name;
        let rounds = matches!(method, M::UkMedians | M::ExpectedKMeans | M::Boxes | M::RobustBoxes);
        let flags = [
            ("--oracle", oracle != OracleName::KMeans, method.uses_oracle()),
            ("--distance", self.distance.is_some(), greedy || method == M::Gpc),
            ("--k-rule", self.k_rule.is_some(), greedy || method == M::Gpc),
            ("--oracle-every", self.oracle_every.is_some(), greedy),
            ("--begin", self.begin.is_some(), greedy),
            ("--init-labels", self.init_labels.is_some(), greedy),
            ("--starts", self.starts != 1, greedy),
            ("--swaps", self.swaps != 0, greedy),
            ("--tolerance", self.tolerance != 0.0, greedy),
            ("--max-iterations", self.max_iterations != 200, greedy || rounds || method == M::Gpc),
            (
                "--oracle-starts",
                self.oracle_starts.is_some(),
                method.uses_oracle() || rounds || method == M::Medoids,
            ),
            ("--oracle-iterations", self.oracle_iterations.is_some(), method.uses_oracle() || by_distance),
            ("--algorithm", self.algorithm != AlgorithmName::HartiganWong, with(OracleName::KMeans)),
            ("--seeding", self.seeding != SeedingName::Random, with(OracleName::KMeans)),
            (
                "--linkage",
                self.linkage != LinkageName::Average,
                with(OracleName::Linkage) || method == M::Linkage,
            ),
            ("--reading", self.reading != ReadingName::MinMax, method == M::Gpc),
            ("--set-distance", self.set_distance != SetDistanceName::S2, by_distance),
            ("--box", self.box_distance != BoxName::Min, method == M::Boxes),
            ("--worlds", self.worlds != 100, matches!(method, M::Worlds | M::RepresentativeWorlds)),
            (
                "--preference",
                self.preference != PREFERENCE,
                with(OracleName::Affinity) || method == M::Affinity,
            ),
            ("--bandwidth", self.bandwidth.is_some(), with(OracleName::MeanShift)),
            ("--min-cluster-size", self.min_cluster_size != MIN_CLUSTER_SIZE, with(OracleName::Hdbscan)),
            ("--min-points", self.min_points != 3, method == M::Fdbscan),
            ("--eps", self.eps.is_some(), method == M::Fdbscan),
            ("--chains", self.chains != 3, method == M::Marginal),
            ("--burn", self.burn != 80, method == M::Marginal),
            ("--keep", self.draws_kept != 120, method == M::Marginal),
        ];
        flags.into_iter().filter(|(_, given, used)| *given && !used).map(|(flag, ..)| flag).collect()
    }

    /// The choices that made this result.
    pub fn settings(&self, seed: u64) -> Vec<(&'static str, Value)> {
        let mut settings =
            vec![("version", json!(env!("CARGO_PKG_VERSION"))), ("method", json!(typed(self.method)))];
        if self.method.uses_oracle() {
            settings.push(("oracle", json!(typed(self.oracle))));
        }
        if matches!(self.method, MethodName::Affinity | MethodName::Medoids | MethodName::Linkage) {
            settings.push(("set_distance", json!(typed(self.set_distance))));
        }
        if matches!(
            self.method,
            MethodName::Goc | MethodName::GocTree | MethodName::GocHull | MethodName::GocBox
        ) {
            settings.push(("preset", json!(typed(self.preset))));
        }
        // Only what was asked for beside the preset; the preset's own choices go by its name.
        if let Some(distance) = self.distance {
            settings.push(("distance", json!(typed(distance))));
        }
        if let Some(rule) = self.k_rule {
            settings.push(("k_rule", json!(typed(rule))));
        }
        if let Some(every) = self.oracle_every {
            settings.push(("oracle_every", json!(typed(every))));
        }
        if let Some(begin) = self.begin {
            settings.push(("begin", json!(typed(begin))));
        }
        if let Some(starts) = self.oracle_starts {
            settings.push(("oracle_starts", json!(starts)));
        }
        if self.tolerance != 0.0 {
            settings.push(("tolerance", json!(self.tolerance)));
        }
        if self.method == MethodName::Goc {
            settings.extend([("starts", json!(self.starts)), ("swaps", json!(self.swaps))]);
        }
        settings.extend([
            ("penalty_scale", json!(typed(self.penalty_scale))),
            ("max_iterations", json!(self.max_iterations)),
            ("k_asked", json!(self.k)),
            ("lambda", json!(self.lambda)),
            ("scale", json!(self.scale.to_string())),
            ("seed", json!(seed)),
        ]);
        settings
    }
}
