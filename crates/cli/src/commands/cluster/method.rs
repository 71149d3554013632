//! The flags that choose a method and its settings; [`super::solve`] runs it.

use std::path::PathBuf;

use clap::Args;
use goc::scale::Scaling;
use serde_json::{Value, json};

use super::auto::{CriterionName, SearchName, Wish};
use crate::choices::{
    AlgorithmName, BeginName, BoxName, DistanceName, EveryName, KRuleName, LinkageName, MIN_CLUSTER_SIZE,
    MethodName, OracleName, OracleSettings, PREFERENCE, PenaltyScale, PresetName, ReadingName, STRENGTH,
    SeedingName, SetDistanceName, at_least_one, typed,
};
use crate::fail::Fail;
use crate::features::{FeatureMapName, Roots};
use crate::long_table::{LongTable, Taken};

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

    /// Number of clusters to begin with, K(0), or auto; not needed by affinity, fdbscan and marginal
    #[arg(long, value_name = "K")]
    pub k: Option<Wish<usize>>,

    /// How --k auto chooses K [default: marginal]
    #[arg(long, value_enum)]
    pub k_by: Option<CriterionName>,

    /// Weight of the penalties, or auto: the one that the likelihood has
    #[arg(long, default_value = "0.01", allow_negative_numbers = true)]
    pub lambda: Wish<f64>,

    /// Divide the penalties by the largest (max), or leave them (none)
    #[arg(long, value_enum, default_value_t = PenaltyScale::Max)]
    pub penalty_scale: PenaltyScale,

    /// How features are made comparable: standard, robust (median, IQR) or none [default: robust for marginal, else standard]
    #[arg(long)]
    pub scale: Option<Scaling>,

    /// What is taken of the features [default: auto for marginal, else none]
    #[arg(long, value_enum, value_name = "MAP")]
    pub feature_map: Option<FeatureMapName>,

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

    /// Search for a better minimum of the joint objective [default: plain; thorough with --k auto]
    #[arg(long, value_enum)]
    pub search: Option<SearchName>,

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

    /// What a penalty of 1 costs in log likelihood: the marginal mixture weighs a candidate by exp(-strength * penalty)
    /// [default: with the penalties of goc candidates what makes that the likelihood; else 2, which does so for the paper's]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub strength: Option<f64>,

    /// Chains of the marginal mixture
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = at_least_one())]
    pub chains: usize,

    /// Sweeps of each chain before draws are kept
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub burn: usize,

    /// Draws kept of each chain
    #[arg(long = "keep", value_name = "N", default_value_t = 140, value_parser = at_least_one())]
    pub draws_kept: usize,

    /// Radius of FDBSCAN, in scaled features [default: by a rule]
    #[arg(long, value_name = "R")]
    pub eps: Option<f64>,

    /// Many objects may be in no group (`--noise`).
    #[arg(skip)]
    pub expects_noise: bool,

    /// A repeat: no progress of its own.
    #[arg(skip)]
    pub quiet: bool,
}

impl MethodArgs {
    /// The number of clusters asked for; 1 for a method that has no use for it.
    pub(super) fn wanted(&self) -> Result<usize, Fail> {
        match self.k {
            Some(Wish::Number(k)) => Ok(k),
            _ if self.method.finds_k() => Ok(1),
            Some(Wish::Auto) => Err(Fail::usage("--k auto is not for this command; give a number")),
            None => {
                let method = typed(self.method);
                Err(Fail::usage(format!("--method {method} needs --k, the number of clusters; see --help")))
            }
        }
    }

    /// What can be said before any table is read.
    pub fn check(&self) -> Result<(), Fail> {
        self.check_wishes()?;
        if self.k == Some(Wish::Auto) { Ok(()) } else { self.wanted().map(|_| ()) }
    }

    /// The scaling asked for, or the method's own.
    pub fn scaling(&self) -> Scaling {
        let own = if self.method == MethodName::Marginal { Scaling::Robust } else { Scaling::Standard };
        self.scale.unwrap_or(own)
    }

    /// What a penalty of 1 costs in log likelihood.
    pub fn strength(&self) -> f64 {
        self.strength.unwrap_or(STRENGTH)
    }

    /// With the strength that these penalties have, unless it was told.
    pub fn with_strength(&self, input: &LongTable) -> Self {
        let strength = self.strength.unwrap_or_else(|| input.strength(self.penalty_scale));
        Self { strength: Some(strength), ..self.clone() }
    }

    /// How a table is to be taken: by the map asked for, or the method's own.
    pub fn taken(&self) -> Taken {
        let own = match self.method {
            MethodName::Marginal => FeatureMapName::Auto,
            _ => FeatureMapName::None,
        };
        Taken { roots: Roots::By(self.feature_map.unwrap_or(own)), strength: self.strength() }
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
            ("--k", matches!(self.k, Some(Wish::Number(_))), !method.finds_k()),
            ("--lambda", self.lambda == Wish::Auto, method.uses_lambda()),
            ("--oracle", oracle != OracleName::KMeans, method.uses_oracle()),
            ("--distance", self.distance.is_some(), greedy || method == M::Gpc),
            ("--k-rule", self.k_rule.is_some(), greedy || method == M::Gpc),
            ("--oracle-every", self.oracle_every.is_some(), greedy),
            ("--begin", self.begin.is_some(), greedy),
            ("--init-labels", self.init_labels.is_some(), greedy),
            ("--starts", self.starts != 1, greedy),
            ("--swaps", self.swaps != 0, greedy),
            ("--search", self.search.is_some(), matches!(method, M::Goc | M::GocTree)),
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
            ("--strength", self.strength.is_some(), method == M::Marginal),
            ("--chains", self.chains != 4, method == M::Marginal),
            ("--burn", self.burn != 40, method == M::Marginal),
            ("--keep", self.draws_kept != 140, method == M::Marginal),
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
            if let Some(search) = self.search {
                settings.push(("search", json!(typed(search))));
            }
        }
        if self.method == MethodName::Marginal {
            settings.extend([
                ("chains", json!(self.chains)),
                ("sweeps", json!(self.burn + self.draws_kept)),
                ("burn", json!(self.burn)),
                ("strength", json!(self.strength())),
            ]);
        }
        settings.extend([
            ("penalty_scale", json!(typed(self.penalty_scale))),
            ("max_iterations", json!(self.max_iterations)),
            ("k_asked", json!(self.wanted().ok().filter(|_| self.k.is_some()))),
            ("lambda", json!(self.lambda())),
            ("scale", json!(self.scaling().to_string())),
            ("seed", json!(seed)),
        ]);
        settings
    }
}
