//! The flags that choose a method and its settings, and running it.

use std::path::PathBuf;

use clap::Args;
use goc::baselines::uk_means::uk_means;
use goc::optimistic::{Distance, Ending, KRule, Optimistic};
use goc::oracle::k_means::means;
use goc::pessimistic::Pessimistic;
use goc::points::squared_distance;
use goc::scale::Scaling;
use goc::{Candidates, Partition, Points};
use serde_json::{Value, json};

use crate::choices::{
    AlgorithmName, BeginName, DistanceName, EveryName, KRuleName, LinkageName, MethodName, OracleName,
    OracleSettings, PenaltyScale, PresetName, ReadingName, SeedingName, at_least_one, typed,
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

    /// Number of clusters to begin with, K(0)
    #[arg(long, value_name = "K")]
    pub k: usize,

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
}

/// What every method gives, in scaled units.
pub struct Answer {
    pub partition: Partition,
    /// The chosen candidate of each object; none for a method that does not choose.
    pub chosen: Option<Vec<u32>>,
    pub representatives: Points,
    pub centres: Points,
    pub objective: f64,
    pub iterations: usize,
    pub converged: bool,
    pub cycle: bool,
    pub k_initial: usize,
    pub history: Vec<goc::optimistic::Iteration>,
}

impl MethodArgs {
    /// Runs the method on scaled candidates. `trace`: keep every iteration in full.
    pub fn solve(&self, candidates: &Candidates, seed: u64, trace: bool) -> Result<Answer, Fail> {
        let oracle = OracleSettings {
            name: self.oracle,
            starts: self.oracle_starts,
            iterations: self.oracle_iterations,
            algorithm: self.algorithm,
            seeding: self.seeding,
            linkage: self.linkage,
        }
        .build();
        match self.method {
            MethodName::Goc => {
                let valid = self.optimistic(candidates, trace)?.check(candidates)?;
                let bar = screen::counter("iterations and moves");
                let found = valid.run_watched(oracle.as_ref(), seed, &|| bar.inc(1))?;
                bar.finish_and_clear();
                Ok(Answer {
                    representatives: candidates.chosen(&found.chosen),
                    converged: matches!(found.ending, Ending::Converged | Ending::Tolerance),
                    cycle: matches!(found.ending, Ending::Cycle { .. }),
                    // K(0): as asked, or as the first labels have it. An oracle may find fewer.
                    k_initial: if self.init_labels.is_some() { found.first.1.k() } else { self.k },
                    partition: found.partition,
                    chosen: Some(found.chosen),
                    centres: found.centres,
                    objective: found.objective,
                    iterations: found.iterations,
                    history: found.history,
                })
            }
            MethodName::Gpc => {
                let gpc = Pessimistic {
                    lambda: self.lambda,
                    distance: self.distance.map_or(Distance::Squared, DistanceName::value),
                    k_rule: self.k_rule.map_or(KRule::Plural, KRuleName::value),
                    max_iterations: self.max_iterations,
                    ..Pessimistic::new(self.k, self.reading.value())
                };
                let found = gpc.run(candidates, oracle.as_ref(), seed)?;
                Ok(Answer {
                    representatives: candidates.chosen(&found.chosen),
                    partition: found.partition,
                    chosen: Some(found.chosen),
                    centres: found.centres,
                    objective: found.objective,
                    iterations: found.iterations,
                    converged: found.converged,
                    cycle: found.cycle,
                    k_initial: self.k,
                    history: Vec::new(),
                })
            }
            MethodName::UkMeans => {
                let (partition, points) = uk_means(candidates, oracle.as_ref(), self.k, seed)?;
                let centres = means(&points, &partition);
                let objective = points
                    .rows()
                    .zip(partition.labels())
                    .map(|(x, &l)| squared_distance(x, centres.row(l as usize)))
                    .sum();
                Ok(Answer {
                    k_initial: self.k,
                    partition,
                    chosen: None,
                    representatives: points,
                    centres,
                    objective,
                    iterations: 1,
                    converged: true,
                    cycle: false,
                    history: Vec::new(),
                })
            }
        }
    }

    fn optimistic(&self, candidates: &Candidates, trace: bool) -> Result<Optimistic, Fail> {
        let mut goc = Optimistic::preset(self.preset.value(), self.k)
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

    /// The choices that made this result.
    pub fn settings(&self, seed: u64) -> Vec<(&'static str, Value)> {
        let mut settings = vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("method", json!(typed(self.method))),
            ("oracle", json!(typed(self.oracle))),
        ];
        if self.method == MethodName::Goc {
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
        if self.method == MethodName::Goc {
            settings.extend([("starts", json!(self.starts)), ("swaps", json!(self.swaps))]);
        }
        settings.extend([
            ("k_asked", json!(self.k)),
            ("lambda", json!(self.lambda)),
            ("scale", json!(self.scale.to_string())),
            ("seed", json!(seed)),
        ]);
        settings
    }
}
