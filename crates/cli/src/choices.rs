//! Names on the command line for what the library has.

use clap::ValueEnum;
use goc::optimistic::{Beginning, Distance, KRule, OracleEvery, Preset};
use goc::oracle::Oracle;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::k_means::{Algorithm, KMeans, Seeding};
use goc::oracle::k_medoids::KMedoids;
use goc::oracle::linkage::{Linkage, Method};
use goc::oracle::mclust::{Mclust, Model};
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
}

impl OracleName {
    /// Whether its answer depends on the seed.
    pub fn draws(self) -> bool {
        use OracleName::{GmmDiag, KMeans, KMedoids, Linkage, MclustEii, MclustVii, MclustVvv};
        match self {
            KMeans | KMedoids | GmmDiag => true,
            MclustEii | MclustVii | MclustVvv | Linkage => false,
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
}

impl OracleSettings {
    /// The named oracle with its own defaults.
    pub fn of(name: OracleName) -> Self {
        Self {
            name,
            starts: None,
            iterations: None,
            algorithm: AlgorithmName::HartiganWong,
            seeding: SeedingName::Random,
            linkage: LinkageName::Average,
        }
    }

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
            OracleName::KMedoids => {
                let mut oracle = KMedoids::default();
                if let Some(starts) = self.starts {
                    oracle = oracle.starts(starts);
                }
                if let Some(iterations) = self.iterations {
                    oracle = oracle.rounds(iterations);
                }
                Box::new(oracle)
            }
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
            OracleName::Linkage => Box::new(Linkage::new(match self.linkage {
                LinkageName::Single => Method::Single,
                LinkageName::Complete => Method::Complete,
                LinkageName::Average => Method::Average,
                LinkageName::Weighted => Method::Weighted,
                LinkageName::Ward => Method::Ward,
                LinkageName::Centroid => Method::Centroid,
                LinkageName::Median => Method::Median,
            })),
        }
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
