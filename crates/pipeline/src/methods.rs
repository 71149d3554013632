//! From settings to methods and oracles: the one place that knows them all.

use goc::Candidates;
use goc::baselines::boxes::Boxes;
use goc::baselines::clusterer::Clusterer;
use goc::baselines::consistent_worlds::ConsistentWorlds;
use goc::baselines::expected_k_means::ExpectedKMeans;
use goc::baselines::extreme_deconvolution::ExtremeDeconvolution;
use goc::baselines::fdbscan::Fdbscan;
use goc::baselines::foptics::Foptics;
use goc::baselines::hdbscan_draws::HdbscanDraws;
use goc::baselines::kl::{Density, DensityClustering};
use goc::baselines::possible_worlds::PossibleWorlds;
use goc::baselines::representative_worlds::RepresentativeWorlds;
use goc::baselines::robust_boxes::RobustBoxes;
use goc::baselines::set_distances::SetDistanceClustering;
use goc::baselines::significant_linkage::SignificantLinkage;
use goc::baselines::uk_means::UkMeans;
use goc::baselines::uk_medians::UkMedians;
use goc::candidates::PENALTY_STRENGTH;
use goc::marginal::{KeepStretches, Marginal, Watching};
use goc::method::greedy::{Greedy, GreedyOver, GreedyTree, Plain, WeightedGreedy, Worst};
use goc::method::{Grouped, Method, MethodError};
use goc::objects::Objects;
use goc::optimistic::continuous::Region;
use goc::optimistic::weighted::Weighted;
use goc::optimistic::{Detail, Distance, KRule, Optimistic, Search, Trim};
use goc::oracle::Oracle;
use goc::oracle::affinity::{Affinity, Preference};
use goc::oracle::convex::Convex;
use goc::oracle::gmm_diag::GmmDiag;
use goc::oracle::hdbscan::Hdbscan;
use goc::oracle::k_means::KMeans;
use goc::oracle::k_medoids::KMedoids;
use goc::oracle::linkage::Linkage;
use goc::oracle::mclust::{Mclust, Model};
use goc::oracle::mean_shift::{Bandwidth, MeanShift};
use goc::oracle::spectral::Spectral;
use goc::pessimistic::Pessimistic;
use goc::set_distance::SetDistance;

use crate::error::{PipelineError, Result};
use crate::keep::{Chains, Keep};
use crate::memory;
use crate::names::{MethodName, OracleName, SetDistanceName};
use crate::settings::{Auto, Settings};
use crate::watch::Watch;

/// A mixture that is expected to take more seconds than this says so beforehand.
const LONG: f64 = 120.0;

/// Default number of starts of methods that have their own descent.
const OWN_STARTS: usize = 10;

/// Applies optional settings; the method's default holds for those that are not set.
trait Told: Sized {
    fn told<V>(self, value: Option<V>, set: impl FnOnce(Self, V) -> Self) -> Self {
        match value {
            Some(value) => set(self, value),
            None => self,
        }
    }
}

impl<T> Told for T {}

/// A method with everything it needs except the candidates.
pub(crate) struct Run<'r> {
    pub settings: &'r Settings,
    /// Replaces the oracle that the settings name.
    pub oracle: Option<&'r dyn Oracle>,
    /// How much each object counts.
    pub weights: Option<&'r [f64]>,
    pub watch: &'r dyn Watch,
    /// Where the chains of the mixture are saved and read back.
    pub keep: Option<&'r dyn Keep>,
}

impl Run<'_> {
    /// Clusters scaled candidates; K and lambda are already resolved to numbers.
    pub fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped> {
        let s = self.settings;
        s.check_memory(candidates, self.oracle.is_none())?;
        let named;
        let oracle = match self.oracle {
            Some(oracle) => oracle,
            None => {
                named = s.oracle();
                named.as_ref()
            }
        };
        let k = s.wanted()?;
        let starts = s.oracle_starts.unwrap_or(OWN_STARTS);
        let most = s.max_iterations;
        if let Some(weights) = self.weights {
            let params = s.weighted(k)?;
            let means = s.method != MethodName::Goc;
            return self.run(&WeightedGreedy { params, weights, means }, candidates, seed);
        }
        let sets = |clusterer| self.by_set_distance(clusterer);
        let method: Box<dyn Method + '_> = match s.method {
            MethodName::Goc => Box::new(Greedy { params: s.greedy(k), oracle }),
            MethodName::GocTree => {
                Box::new(GreedyTree { k, params: s.greedy(k), lambda: s.lambda(), oracle })
            }
            MethodName::GocHull | MethodName::GocBox => {
                let region = if s.method == MethodName::GocHull { Region::Hull } else { Region::Box };
                // Hulls and boxes are searched by squared distance, regardless of the preset.
                let params = s.greedy(k).distance(s.distance.unwrap_or(Distance::Squared));
                Box::new(GreedyOver { region, params, oracle })
            }
            MethodName::Gpc => Box::new(Worst { params: s.pessimistic(k), oracle }),
            MethodName::UkMeans => Box::new(UkMeans { oracle, k }),
            MethodName::Oracle => {
                let single_is_noise = s.oracle == OracleName::Hdbscan && s.min_cluster_size > 1;
                Box::new(Plain { oracle, k, single_is_noise })
            }
            MethodName::UkMedians => Box::new(UkMedians::new(k).max_iterations(most).starts(starts)),
            MethodName::ExpectedKMeans => {
                Box::new(ExpectedKMeans::new(k).max_iterations(most).starts(starts))
            }
            MethodName::Boxes => {
                Box::new(Boxes::new(k).distance(s.box_distance).max_iterations(most).starts(starts))
            }
            MethodName::RobustBoxes => Box::new(RobustBoxes::new(k).max_iterations(most).starts(starts)),
            MethodName::Worlds => Box::new(PossibleWorlds::new(oracle, k).worlds(s.worlds)),
            MethodName::RepresentativeWorlds => {
                Box::new(RepresentativeWorlds::new(oracle, k).worlds(s.worlds))
            }
            MethodName::ConsistentWorlds => Box::new(ConsistentWorlds::new(k).worlds(s.worlds)),
            MethodName::HdbscanDraws => Box::new(HdbscanDraws::new(s.hdbscan()).worlds(s.worlds)),
            MethodName::Fdbscan => Box::new(Fdbscan::new(s.min_points).told(s.eps, Fdbscan::eps)),
            MethodName::Foptics => {
                Box::new(Foptics::new(s.min_points).worlds(s.worlds).told(s.eps, Foptics::eps))
            }
            MethodName::SignificantLinkage => {
                let linkage = SignificantLinkage::default().least_members(s.least_members);
                Box::new(linkage.background(s.background.background()))
            }
            MethodName::ExtremeDeconvolution => {
                let k = s.k.and_then(Auto::number);
                let strength = s.penalty_strength.unwrap_or(PENALTY_STRENGTH);
                Box::new(ExtremeDeconvolution::new(k).penalty_strength(strength))
            }
            MethodName::Affinity => sets(Clusterer::Affinity(s.affinity())),
            MethodName::Medoids => sets(Clusterer::KMedoids { search: s.medoids(), k }),
            MethodName::Linkage => sets(Clusterer::Linkage { linkage: Linkage::new(s.linkage), k }),
            MethodName::Marginal => return self.mixture(candidates, seed),
        };
        self.run(method.as_ref(), candidates, seed)
    }

    /// The marginal mixture of objects that are loaded one by one.
    pub fn mixture(&self, objects: &dyn Objects, seed: u64) -> Result<Grouped> {
        let mixture = self.settings.mixture();
        let seconds = mixture.seconds(objects);
        if seconds > LONG {
            let minutes = (seconds / 60.0).ceil();
            let threads = rayon::current_num_threads().min(self.settings.chains);
            self.watch.note(&format!(
                "this takes about {minutes} minutes of one processor, and at best {} with {}",
                (minutes / threads as f64).ceil(),
                crate::counted(threads, "thread")
            ));
        }
        self.begin();
        let chains = self.keep.map(Chains);
        let keep = chains.as_ref().map(|chains| chains as &dyn KeepStretches);
        let watching = Watching { tick: &|| self.watch.tick(), enough: &|| self.watch.enough() };
        let found = mixture.run_until(objects, seed, watching, keep);
        self.watch.end();
        Ok(Grouped::of_posterior(found.map_err(MethodError::from)?, mixture.sweeps()))
    }

    fn by_set_distance(&self, clusterer: Clusterer) -> Box<dyn Method> {
        let distance = match self.settings.set_distance {
            SetDistanceName::S1 => SetDistance::Mean,
            SetDistanceName::S2 => SetDistance::Min,
            SetDistanceName::S3 => SetDistance::MinMax,
            SetDistanceName::Hausdorff => SetDistance::Hausdorff,
            SetDistanceName::Kl => return Box::new(DensityClustering::new(Density::Gaussian, clusterer)),
            SetDistanceName::KlKernel => return Box::new(DensityClustering::new(Density::Kernel, clusterer)),
        };
        Box::new(SetDistanceClustering { distance, clusterer })
    }

    fn run(&self, method: &dyn Method, candidates: &Candidates, seed: u64) -> Result<Grouped> {
        self.begin();
        let found = method.group_watched(candidates, seed, &|| self.watch.tick());
        self.watch.end();
        Ok(found?)
    }

    /// Announces the steps of the method.
    fn begin(&self) {
        let (s, watch) = (self.settings, self.watch);
        match s.method {
            MethodName::Goc | MethodName::GocTree => watch.begin("iterations and moves", None),
            MethodName::Marginal => watch.begin("sweeps", s.steps().map(|steps| steps as u64)),
            MethodName::ExtremeDeconvolution => watch.begin("mixtures", None),
            MethodName::SignificantLinkage => watch.begin("mergers", None),
            _ => {}
        }
    }
}

impl Settings {
    /// The oracle that is named, with its own settings.
    pub fn oracle(&self) -> Box<dyn Oracle + Send> {
        let (starts, iterations) = (self.oracle_starts, self.oracle_iterations);
        let mclust = |model| {
            let oracle = Mclust::new(model).told(iterations, Mclust::max_iterations);
            Box::new(oracle.told(self.oracle_tolerance, Mclust::tolerance))
        };
        match self.oracle {
            OracleName::KMeans => Box::new(self.k_means()),
            OracleName::KMedoids => Box::new(self.medoids()),
            OracleName::GmmDiag => {
                let oracle = GmmDiag::default().told(starts, GmmDiag::starts);
                Box::new(oracle.told(iterations, GmmDiag::em_iterations))
            }
            OracleName::MclustEii => mclust(Model::Eii),
            OracleName::MclustVii => mclust(Model::Vii),
            OracleName::MclustVvv => mclust(Model::Vvv),
            OracleName::Linkage => Box::new(Linkage::new(self.linkage)),
            OracleName::Affinity => Box::new(self.affinity()),
            OracleName::MeanShift => {
                let bandwidth = self.bandwidth.map(Bandwidth::Given);
                let oracle = MeanShift::default().told(bandwidth, MeanShift::bandwidth);
                Box::new(oracle.told(iterations, MeanShift::max_iterations))
            }
            OracleName::Spectral => Box::new(Spectral::default()),
            OracleName::Convex => {
                let oracle = Convex::default().told(iterations, Convex::max_iterations);
                Box::new(oracle.told(self.oracle_tolerance, Convex::tolerance))
            }
            OracleName::Hdbscan => Box::new(self.hdbscan()),
        }
    }

    /// Refuses methods and oracles whose pairwise matrices, or copies of all objects, do not fit
    /// into memory. `named` means that the oracle is the one named by these settings.
    fn check_memory(&self, candidates: &Candidates, named: bool) -> Result<()> {
        let (objects, features) = (candidates.objects(), candidates.features());
        let values = (objects * features) as f64 * 8.0;
        /// Bytes for one number per unordered pair of objects, in units of the squared number of
        /// objects.
        const PAIRS: f64 = 4.0;
        // Bytes per squared number of objects, as documented in the modules of the library.
        let method = match self.method {
            MethodName::Affinity => PAIRS + 32.0,
            MethodName::Medoids => PAIRS + 8.0,
            MethodName::Linkage => PAIRS,
            MethodName::Fdbscan => PAIRS + 8.0,
            MethodName::Worlds | MethodName::RepresentativeWorlds | MethodName::HdbscanDraws => PAIRS,
            // The distances, once by rows and once as a whole.
            MethodName::Foptics => 2.0 * 8.0,
            MethodName::SignificantLinkage => PAIRS,
            _ => 0.0,
        };
        // Additional bytes.
        let more = match self.method {
            // Worlds as points.
            MethodName::Foptics => self.worlds as f64 * values,
            // The background values, as drawn and sorted.
            MethodName::SignificantLinkage => 2.0 * SignificantLinkage::BACKGROUNDS as f64 * values,
            // Covariances of the errors.
            MethodName::ExtremeDeconvolution => features as f64 * values,
            // The choices of all worlds, and the vectors of the worlds that are clustered.
            MethodName::ConsistentWorlds => {
                let vectors = ConsistentWorlds::REPRESENTATIVES as f64 * self.wanted()? as f64 * 8.0;
                objects as f64 * (4.0 * self.worlds as f64 + vectors)
            }
            _ => 0.0,
        };
        let oracle = match self.oracle {
            _ if !named || !self.method.uses_oracle() => 0.0,
            OracleName::Affinity => 32.0,
            OracleName::Linkage | OracleName::MclustEii | OracleName::MclustVii | OracleName::MclustVvv => {
                PAIRS
            }
            // The nearest 30% of all objects with their distances, for the rule that sets the
            // bandwidth.
            OracleName::MeanShift if self.bandwidth.is_none() => 0.3 * 16.0,
            _ => 0.0,
        };
        let bytes = |each: f64| (each * (objects as f64).powi(2)) as u64;
        let what = |name: String| format!("{name} of {objects} objects");
        let way = "use {method} goc, uk-means or marginal, which do not look at all pairs";
        let most = bytes(method).saturating_add(more as u64);
        memory::check(most, &what(format!("{{method}} {}", self.method)), way)?;
        let way = "use {oracle} k-means, which does not look at all pairs";
        memory::check(bytes(oracle), &what(format!("{{oracle}} {}", self.oracle)), way)
    }

    /// HDBSCAN, as an oracle or on draws of the errors.
    fn hdbscan(&self) -> Hdbscan {
        Hdbscan::new(self.min_cluster_size).told(self.min_samples, Hdbscan::min_samples)
    }

    /// k-means with the settings that apply to it.
    pub fn k_means(&self) -> KMeans {
        let oracle = KMeans::default().algorithm(self.algorithm).seeding(self.seeding);
        let oracle = oracle.told(self.oracle_starts, KMeans::starts);
        oracle.told(self.oracle_iterations, KMeans::max_iterations)
    }

    /// Affinity propagation, as an oracle or on distances between sets.
    fn affinity(&self) -> Affinity {
        let affinity = Affinity::default().preference(Preference::Quantile(self.preference));
        let affinity = affinity.told(self.damping, Affinity::damping);
        affinity.told(self.oracle_iterations, Affinity::max_iterations)
    }

    /// k-medoids, as an oracle or on distances between sets.
    fn medoids(&self) -> KMedoids {
        let oracle = KMedoids::default().distance(self.oracle_distance);
        let oracle = oracle.told(self.oracle_starts, KMedoids::starts);
        oracle.told(self.oracle_iterations, KMedoids::rounds)
    }

    /// GOC with the settings that apply to it.
    pub fn greedy(&self, k: usize) -> Optimistic {
        Optimistic::preset(self.preset, k)
            .lambda(self.lambda())
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .starts(self.starts)
            .swaps(self.swaps)
            .told(self.search.or(self.trims().then_some(Search::Thorough)), Optimistic::search)
            .told(self.trims().then(|| self.trim()), Optimistic::trim)
            .told(self.full_history.then_some(Detail::Full), Optimistic::history)
            .told(self.distance, Optimistic::distance)
            .told(self.k_rule, Optimistic::k_rule)
            .told(self.oracle_every, Optimistic::oracle_every)
            .told(self.begin, Optimistic::beginning)
            .told(self.initial_labels.clone(), Optimistic::initial_labels)
    }

    /// What GOC trims. A plain descent cannot move a centre away from a distant object, so trimming
    /// uses the thorough search.
    fn trim(&self) -> Trim {
        match self.trim {
            Auto::Number(share) => Trim::Share(share),
            Auto::Auto => Trim::Auto,
        }
    }

    fn pessimistic(&self, k: usize) -> Pessimistic {
        Pessimistic {
            lambda: self.lambda(),
            distance: self.distance.unwrap_or(Distance::Squared),
            k_rule: self.k_rule.unwrap_or(KRule::Plural),
            max_iterations: self.max_iterations,
            ..Pessimistic::new(k, self.reading)
        }
    }

    /// The number of steps of the method, if it is known in advance.
    pub fn steps(&self) -> Option<usize> {
        (self.method == MethodName::Marginal).then(|| self.chains.saturating_mul(self.mixture().ticks()))
    }

    /// The marginal mixture with the settings that apply to it.
    pub fn mixture(&self) -> Marginal {
        Marginal::default()
            .length(self.chains, self.burn(), self.keep)
            .penalty_strength(self.penalty_strength.unwrap_or(PENALTY_STRENGTH))
            .tails(self.tails)
            .power(self.power.number())
            .alpha(self.alpha.number())
            .singleton_weight(self.singleton_weight.number())
            .field_prior(self.field_prior)
            .told(self.nu, Marginal::nu)
    }

    /// GOC or k-means with object weights; refuses settings that do not support them.
    fn weighted(&self, k: usize) -> Result<Weighted> {
        let usage = |text: String| Err(PipelineError::Usage(text));
        if !matches!(self.method, MethodName::Goc | MethodName::UkMeans | MethodName::Oracle) {
            return usage(format!("object weights need {{method}} goc or uk-means, not {}", self.method));
        }
        if self.oracle != OracleName::KMeans {
            return usage(format!(
                "object weights need {{oracle}} k-means, not {}: only its centres take weights",
                self.oracle
            ));
        }
        let own = Settings { k: self.k, lambda: self.lambda, ..Settings::default() };
        let plain =
            ["preset", "k_rule", "oracle_every", "begin", "starts", "swaps", "search", "trim", "tolerance"];
        for setting in plain.iter().filter_map(|name| crate::settings::Setting::named(name)) {
            if setting.get(self) != setting.get(&own) {
                return usage(format!(
                    "object weights do not work with {{{}}}; leave it at its default",
                    setting.name
                ));
            }
        }
        if self.initial_labels.is_some() || self.lambda == Auto::Auto {
            return usage("object weights need {k} and {lambda} as numbers, and no first labels".into());
        }
        Ok(Weighted {
            lambda: self.lambda(),
            distance: self.distance.unwrap_or(Distance::Squared),
            starts: self.oracle_starts.unwrap_or(OWN_STARTS),
            max_iterations: self.max_iterations,
            ..Weighted::new(k)
        })
    }
}
