//! Names on the command line for what the library has.

use clap::ValueEnum;
use goc::baselines::boxes::BoxDistance;
use goc::optimistic::{Beginning, Distance, KRule, OracleEvery, Preset};
use goc::oracle::Oracle;
use goc::oracle::affinity::{Affinity, Preference};
use goc::oracle::convex::Convex;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::hdbscan::Hdbscan;
use goc::oracle::k_means::{Algorithm, KMeans, Seeding};
use goc::oracle::k_medoids::KMedoids;
use goc::oracle::linkage::{Linkage, Method};
use goc::oracle::mclust::{Mclust, Model};
use goc::oracle::mean_shift::{Bandwidth, MeanShift};
use goc::oracle::spectral::Spectral;
use goc::pessimistic::Reading;

/// The method that clusters uncertain objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Greedy optimistic clustering, the paper's
    Goc,
    /// Greedy pessimistic clustering
    Gpc,
    /// The oracle on the mean of each set, the paper's baseline
    UkMeans,
    /// Expected distance to geometric medians (Cormode & McGregor)
    UkMedians,
    /// k-means by expected squared distance, without the shortcut by means
    ExpectedKMeans,
    /// k-means by the distance to bounding boxes (Ngai et al.)
    Boxes,
    /// k-means against the worst case within boxes (Vo et al.)
    RobustBoxes,
    /// Possible worlds: the oracle on sampled worlds, consensus (Volk et al.)
    Worlds,
    /// The same on worlds chosen as representatives (Liu et al.)
    RepresentativeWorlds,
    /// DBSCAN with probabilities of distances (Kriegel & Pfeifle)
    Fdbscan,
    /// Affinity propagation on distances between sets
    Affinity,
    /// k-medoids on distances between sets
    Medoids,
    /// Agglomerative linkage on distances between sets
    Linkage,
    /// GOC over the convex hull of each set
    GocHull,
    /// GOC over the bounding box of each set
    GocBox,
    /// The marginal mixture: sums over the candidates, finds K itself and says how sure it is
    Marginal,
    /// GOC with half as many clusters again, merged to K as a tree that lets members choose anew
    GocTree,
}

impl MethodName {
    /// Whether it has no use for `--k`.
    pub fn finds_k(self) -> bool {
        matches!(self, MethodName::Affinity | MethodName::Fdbscan | MethodName::Marginal)
    }

    /// Whether `--oracle` matters to it.
    pub fn uses_oracle(self) -> bool {
        use MethodName::{Goc, GocBox, GocHull, GocTree, Gpc, RepresentativeWorlds, UkMeans, Worlds};
        matches!(self, Goc | Gpc | UkMeans | Worlds | RepresentativeWorlds | GocHull | GocBox | GocTree)
    }
}

/// A distance between sets of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SetDistanceName {
    /// Mean over all pairs of candidates
    S1,
    /// The nearest pair
    S2,
    /// The paper's "Hausdorff": the larger of two min-max distances
    S3,
    /// The true one: the larger of two max-min distances
    Hausdorff,
    /// Kullback-Leibler divergence of Gaussians, both ways
    Kl,
    /// The same of kernel densities (Jiang et al.)
    KlKernel,
}

/// Which point of a box counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BoxName {
    Min,
    Max,
}

impl BoxName {
    pub fn value(self) -> BoxDistance {
        match self {
            BoxName::Min => BoxDistance::Min,
            BoxName::Max => BoxDistance::Max,
        }
    }
}

/// The oracle that clusters one point per object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OracleName {
    /// Hartigan-Wong, as in R
    KMeans,
    /// FasterPAM
    KMedoids,
    /// Gaussian mixture, diagonal covariances, as in ClusterR
    GmmDiag,
    /// Gaussian mixture, one sphere for all, number by BIC, as in mclust
    MclustEii,
    /// Gaussian mixture, a sphere each, number by BIC
    MclustVii,
    /// Gaussian mixture, any covariances, number by BIC
    MclustVvv,
    /// Agglomerative linkage
    Linkage,
    /// Affinity propagation; finds K itself
    Affinity,
    /// Mean shift; finds K itself
    MeanShift,
    /// Spectral clustering of the nearest-neighbour graph
    Spectral,
    /// Convex clustering (sum of norms)
    Convex,
    /// HDBSCAN; finds K itself, noise is a cluster each
    Hdbscan,
}

impl OracleName {
    /// Whether it finds the number of clusters itself, or at most as many as asked for.
    pub fn finds_k(self) -> bool {
        use OracleName::{Affinity, Hdbscan, MclustEii, MclustVii, MclustVvv, MeanShift};
        matches!(self, Affinity | Hdbscan | MclustEii | MclustVii | MclustVvv | MeanShift)
    }

    /// Whether its answer depends on the seed.
    pub fn draws(self) -> bool {
        use OracleName::{
            Affinity, Convex, GmmDiag, Hdbscan, KMeans, KMedoids, Linkage, MclustEii, MclustVii, MclustVvv,
            MeanShift, Spectral,
        };
        match self {
            KMeans | KMedoids | GmmDiag | Spectral => true,
            // The draws of affinity propagation break ties of the last digits only.
            MclustEii | MclustVii | MclustVvv | Linkage | Affinity | MeanShift | Convex | Hdbscan => false,
        }
    }
}

/// How clusters are joined by the linkage oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LinkageName {
    Single,
    Complete,
    Average,
    Weighted,
    Ward,
    Centroid,
    Median,
}

/// How k-means descends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmName {
    /// Single transfers, R's default
    HartiganWong,
    /// Whole rounds, for many objects
    Lloyd,
}

/// How starts of an oracle are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SeedingName {
    /// Distinct objects
    Random,
    /// k-means++
    PlusPlus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PresetName {
    Paper,
    Authors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PenaltyScale {
    Max,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DistanceName {
    Squared,
    Euclidean,
    /// Single precision, as the authors' code
    EuclideanF32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum KRuleName {
    Constant,
    Occupied,
    Plural,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EveryName {
    First,
    Always,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BeginName {
    Mean,
    NearestToMean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReadingName {
    MinMax,
    MaxMax,
}

impl LinkageName {
    pub fn value(self) -> Linkage {
        Linkage::new(match self {
            LinkageName::Single => Method::Single,
            LinkageName::Complete => Method::Complete,
            LinkageName::Average => Method::Average,
            LinkageName::Weighted => Method::Weighted,
            LinkageName::Ward => Method::Ward,
            LinkageName::Centroid => Method::Centroid,
            LinkageName::Median => Method::Median,
        })
    }
}

impl DistanceName {
    pub fn value(self) -> Distance {
        match self {
            DistanceName::Squared => Distance::Squared,
            DistanceName::Euclidean => Distance::Euclidean,
            DistanceName::EuclideanF32 => Distance::EuclideanSingle,
        }
    }
}

impl KRuleName {
    pub fn value(self) -> KRule {
        match self {
            KRuleName::Constant => KRule::Constant,
            KRuleName::Occupied => KRule::Occupied,
            KRuleName::Plural => KRule::Plural,
        }
    }
}

impl PresetName {
    pub fn value(self) -> Preset {
        match self {
            PresetName::Paper => Preset::Paper,
            PresetName::Authors => Preset::Authors,
        }
    }
}

impl EveryName {
    pub fn value(self) -> OracleEvery {
        match self {
            EveryName::First => OracleEvery::First,
            EveryName::Always => OracleEvery::Always,
        }
    }
}

impl BeginName {
    pub fn value(self) -> Beginning {
        match self {
            BeginName::Mean => Beginning::Mean,
            BeginName::NearestToMean => Beginning::NearestToMean,
        }
    }
}

impl ReadingName {
    pub fn value(self) -> Reading {
        match self {
            ReadingName::MinMax => Reading::MinMax,
            ReadingName::MaxMax => Reading::MaxMax,
        }
    }
}

/// What can be set of an oracle.
#[derive(Clone, Debug)]
pub struct OracleSettings {
    pub name: OracleName,
    pub starts: Option<usize>,
    pub iterations: Option<usize>,
    pub algorithm: AlgorithmName,
    pub seeding: SeedingName,
    pub linkage: LinkageName,
    pub preference: f64,
    pub bandwidth: Option<f64>,
    pub min_cluster_size: usize,
}

/// Quantile of the similarities that affinity propagation takes as preference, unless told.
pub const PREFERENCE: f64 = 0.5;
/// What a penalty of 1 costs in log likelihood, unless told: the marginal mixture's own.
pub const STRENGTH: f64 = goc::candidates::PENALTY_STRENGTH;
/// Least members of a cluster of HDBSCAN, unless told.
pub const MIN_CLUSTER_SIZE: usize = 5;

impl OracleSettings {
    /// The oracle itself.
    pub fn build(&self) -> Box<dyn Oracle> {
        match self.name {
            OracleName::KMeans => {
                let mut oracle = KMeans::default()
                    .algorithm(match self.algorithm {
                        AlgorithmName::HartiganWong => Algorithm::HartiganWong,
                        AlgorithmName::Lloyd => Algorithm::Lloyd,
                    })
                    .seeding(match self.seeding {
                        SeedingName::Random => Seeding::Random,
                        SeedingName::PlusPlus => Seeding::PlusPlus,
                    });
                if let Some(starts) = self.starts {
                    oracle = oracle.starts(starts);
                }
                if let Some(iterations) = self.iterations {
                    oracle = oracle.max_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::KMedoids => Box::new(self.medoids()),
            OracleName::GmmDiag => {
                let mut oracle = GmmDiag::default();
                if let Some(starts) = self.starts {
                    oracle = oracle.starts(starts);
                }
                if let Some(iterations) = self.iterations {
                    oracle = oracle.em_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::MclustEii => self.mclust(Model::Eii),
            OracleName::MclustVii => self.mclust(Model::Vii),
            OracleName::MclustVvv => self.mclust(Model::Vvv),
            OracleName::Linkage => Box::new(self.linkage.value()),
            OracleName::Affinity => Box::new(self.affinity()),
            OracleName::MeanShift => {
                let mut oracle = MeanShift::default();
                if let Some(bandwidth) = self.bandwidth {
                    oracle = oracle.bandwidth(Bandwidth::Given(bandwidth));
                }
                if let Some(iterations) = self.iterations {
                    oracle = oracle.max_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::Spectral => Box::new(Spectral::default()),
            OracleName::Convex => {
                let mut oracle = Convex::default();
                if let Some(iterations) = self.iterations {
                    oracle = oracle.max_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::Hdbscan => Box::new(Hdbscan::new(self.min_cluster_size)),
        }
    }

    /// Affinity propagation, as an oracle or on distances between sets.
    pub fn affinity(&self) -> Affinity {
        let mut affinity = Affinity::default().preference(Preference::Quantile(self.preference));
        if let Some(iterations) = self.iterations {
            affinity = affinity.max_iterations(iterations);
        }
        affinity
    }

    /// k-medoids, as an oracle or on distances between sets.
    pub fn medoids(&self) -> KMedoids {
        let mut oracle = KMedoids::default();
        if let Some(starts) = self.starts {
            oracle = oracle.starts(starts);
        }
        if let Some(iterations) = self.iterations {
            oracle = oracle.rounds(iterations);
        }
        oracle
    }

    fn mclust(&self, model: Model) -> Box<dyn Oracle> {
        let mut oracle = Mclust::new(model);
        if let Some(iterations) = self.iterations {
            oracle = oracle.max_iterations(iterations);
        }
        Box::new(oracle)
    }
}

/// A count that cannot be 0.
pub fn at_least_one() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(1..)
}

/// The name as typed on the command line.
pub fn typed<V: ValueEnum>(value: V) -> String {
    value.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default()
}
