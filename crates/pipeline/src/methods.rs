//! From settings to the method and the oracle themselves: the one place that knows them all.

use goc::Candidates;
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
use goc::candidates::PENALTY_STRENGTH;
use goc::confidence::noise;
use goc::marginal::Marginal;
use goc::method::greedy::{Greedy, GreedyOver, GreedyTree, Plain, WeightedGreedy, Worst};
use goc::method::{Grouped, Method, MethodError};
use goc::objects::Objects;
use goc::optimistic::continuous::Region;
use goc::optimistic::weighted::Weighted;
use goc::optimistic::{Detail, Distance, KRule, Optimistic};
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

use crate::error::PipelineError;
use crate::names::{MethodName, OracleName, SetDistanceName};
use crate::settings::{Auto, Settings};
use crate::watch::Watch;

/// Starts of the methods that descend by themselves, unless told.
const OWN_STARTS: usize = 10;

/// A method with everything it needs but the candidates.
pub(crate) struct Run<'r> {
    pub settings: &'r Settings,
    /// In place of the oracle that the settings name.
    pub oracle: Option<&'r dyn Oracle>,
    /// How much each object counts.
    pub weights: Option<&'r [f64]>,
    pub watch: &'r dyn Watch,
}

impl Run<'_> {
    /// Groups scaled candidates; K and lambda are numbers by now.
    pub fn group(&self, candidates: &Candidates, seed: u64) -> Result<Grouped, PipelineError> {
        let s = self.settings;
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
        match s.method {
            MethodName::Goc => self.run(&Greedy { params: s.greedy(k), oracle }, candidates, seed),
            MethodName::GocTree => {
                let params = s.greedy(k);
                self.run(&GreedyTree { k, params, lambda: s.lambda(), oracle }, candidates, seed)
            }
            MethodName::GocHull | MethodName::GocBox => {
                let region = if s.method == MethodName::GocHull { Region::Hull } else { Region::Box };
                // Hulls and boxes are searched by squared distance, whatever the preset.
                let params = match s.distance {
                    None => s.greedy(k).distance(Distance::Squared),
                    Some(_) => s.greedy(k),
                };
                self.run(&GreedyOver { region, params, oracle }, candidates, seed)
            }
            MethodName::Gpc => self.run(&Worst { params: s.pessimistic(k), oracle }, candidates, seed),
            MethodName::UkMeans => self.run(&UkMeans { oracle, k }, candidates, seed),
            MethodName::Oracle => {
                let single_is_noise = s.oracle == OracleName::Hdbscan && s.min_cluster_size > 1;
                self.run(&Plain { oracle, k, single_is_noise }, candidates, seed)
            }
            MethodName::UkMedians => {
                self.run(&UkMedians::new(k).max_iterations(most).starts(starts), candidates, seed)
            }
            MethodName::ExpectedKMeans => {
                self.run(&ExpectedKMeans::new(k).max_iterations(most).starts(starts), candidates, seed)
            }
            MethodName::Boxes => {
                let boxes = Boxes::new(k).distance(s.box_distance);
                self.run(&boxes.max_iterations(most).starts(starts), candidates, seed)
            }
            MethodName::RobustBoxes => {
                self.run(&RobustBoxes::new(k).max_iterations(most).starts(starts), candidates, seed)
            }
            MethodName::Worlds => {
                self.run(&PossibleWorlds::new(oracle, k).worlds(s.worlds), candidates, seed)
            }
            MethodName::RepresentativeWorlds => {
                self.run(&RepresentativeWorlds::new(oracle, k).worlds(s.worlds), candidates, seed)
            }
            MethodName::Fdbscan => {
                let fdbscan = Fdbscan::new(s.min_points);
                let fdbscan = s.eps.map_or(fdbscan.clone(), |eps| fdbscan.eps(eps));
                self.run(&fdbscan, candidates, seed)
            }
            MethodName::Affinity => self.by_set_distance(Clusterer::Affinity(s.affinity()), candidates, seed),
            MethodName::Medoids => {
                self.by_set_distance(Clusterer::KMedoids { search: s.medoids(), k }, candidates, seed)
            }
            MethodName::Linkage => {
                let linkage = Linkage::new(s.linkage);
                self.by_set_distance(Clusterer::Linkage { linkage, k }, candidates, seed)
            }
            MethodName::Marginal => self.mixture(candidates, seed),
        }
    }

    /// The marginal mixture, of objects that are loaded one by one.
    pub fn mixture(&self, objects: &dyn Objects, seed: u64) -> Result<Grouped, PipelineError> {
        let mixture = self.settings.mixture(objects.objects());
        self.begin();
        let found = mixture.run_watched(objects, seed, &|| self.watch.tick());
        self.watch.end();
        Ok(Grouped::of_posterior(found.map_err(MethodError::from)?, mixture.sweeps()))
    }

    fn by_set_distance(
        &self,
        clusterer: Clusterer,
        candidates: &Candidates,
        seed: u64,
    ) -> Result<Grouped, PipelineError> {
        let distance = match self.settings.set_distance {
            SetDistanceName::S1 => SetDistance::Mean,
            SetDistanceName::S2 => SetDistance::Min,
            SetDistanceName::S3 => SetDistance::MinMax,
            SetDistanceName::Hausdorff => SetDistance::Hausdorff,
            SetDistanceName::Kl => {
                return self.run(&DensityClustering::new(Density::Gaussian, clusterer), candidates, seed);
            }
            SetDistanceName::KlKernel => {
                return self.run(&DensityClustering::new(Density::Kernel, clusterer), candidates, seed);
            }
        };
        self.run(&SetDistanceClustering { distance, clusterer }, candidates, seed)
    }

    fn run(&self, method: &dyn Method, candidates: &Candidates, seed: u64) -> Result<Grouped, PipelineError> {
        self.begin();
        let found = method.group_watched(candidates, seed, &|| self.watch.tick());
        self.watch.end();
        Ok(found?)
    }

    /// Says what the steps of the method are.
    fn begin(&self) {
        let (s, watch) = (self.settings, self.watch);
        match s.method {
            MethodName::Goc | MethodName::GocTree => watch.begin("iterations and moves", None),
            MethodName::Marginal => {
                watch.begin("sweeps", Some(s.chains as u64 * (s.burn + s.keep) as u64));
            }
            _ => {}
        }
    }
}

impl Settings {
    /// The oracle that is named, with its own settings.
    pub fn oracle(&self) -> Box<dyn Oracle + Send> {
        let (starts, iterations) = (self.oracle_starts, self.oracle_iterations);
        let mclust = |model| {
            let oracle = Mclust::new(model);
            let oracle = iterations.map_or(oracle, |most| oracle.max_iterations(most));
            self.oracle_tolerance.map_or(oracle, |gain| oracle.tolerance(gain))
        };
        match self.oracle {
            OracleName::KMeans => Box::new(self.k_means()),
            OracleName::KMedoids => Box::new(self.medoids()),
            OracleName::GmmDiag => {
                let mut oracle = GmmDiag::default();
                if let Some(starts) = starts {
                    oracle = oracle.starts(starts);
                }
                if let Some(iterations) = iterations {
                    oracle = oracle.em_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::MclustEii => Box::new(mclust(Model::Eii)),
            OracleName::MclustVii => Box::new(mclust(Model::Vii)),
            OracleName::MclustVvv => Box::new(mclust(Model::Vvv)),
            OracleName::Linkage => Box::new(Linkage::new(self.linkage)),
            OracleName::Affinity => Box::new(self.affinity()),
            OracleName::MeanShift => {
                let mut oracle = MeanShift::default();
                if let Some(bandwidth) = self.bandwidth {
                    oracle = oracle.bandwidth(Bandwidth::Given(bandwidth));
                }
                if let Some(iterations) = iterations {
                    oracle = oracle.max_iterations(iterations);
                }
                Box::new(oracle)
            }
            OracleName::Spectral => Box::new(Spectral::default()),
            OracleName::Convex => {
                let oracle = Convex::default();
                let oracle = iterations.map_or(oracle.clone(), |most| oracle.max_iterations(most));
                Box::new(self.oracle_tolerance.map_or(oracle.clone(), |gain| oracle.tolerance(gain)))
            }
            OracleName::Hdbscan => {
                let oracle = Hdbscan::new(self.min_cluster_size);
                Box::new(self.min_samples.map_or(oracle.clone(), |samples| oracle.min_samples(samples)))
            }
        }
    }

    /// k-means with its own settings.
    pub fn k_means(&self) -> KMeans {
        let mut oracle = KMeans::default().algorithm(self.algorithm).seeding(self.seeding);
        if let Some(starts) = self.oracle_starts {
            oracle = oracle.starts(starts);
        }
        if let Some(iterations) = self.oracle_iterations {
            oracle = oracle.max_iterations(iterations);
        }
        oracle
    }

    /// Affinity propagation, as an oracle or on distances between sets.
    fn affinity(&self) -> Affinity {
        let affinity = Affinity::default().preference(Preference::Quantile(self.preference));
        let affinity = self.damping.map_or(affinity.clone(), |damping| affinity.damping(damping));
        self.oracle_iterations.map_or(affinity.clone(), |most| affinity.max_iterations(most))
    }

    /// k-medoids, as an oracle or on distances between sets.
    fn medoids(&self) -> KMedoids {
        let mut oracle = KMedoids::default().distance(self.oracle_distance);
        if let Some(starts) = self.oracle_starts {
            oracle = oracle.starts(starts);
        }
        if let Some(iterations) = self.oracle_iterations {
            oracle = oracle.rounds(iterations);
        }
        oracle
    }

    /// GOC with its own settings.
    pub fn greedy(&self, k: usize) -> Optimistic {
        let mut goc = Optimistic::preset(self.preset, k)
            .lambda(self.lambda())
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .starts(self.starts)
            .swaps(self.swaps);
        if let Some(search) = self.search {
            goc = goc.search(search);
        }
        if self.full_history {
            goc = goc.history(Detail::Full);
        }
        if let Some(distance) = self.distance {
            goc = goc.distance(distance);
        }
        if let Some(rule) = self.k_rule {
            goc = goc.k_rule(rule);
        }
        if let Some(every) = self.oracle_every {
            goc = goc.oracle_every(every);
        }
        if let Some(begin) = self.begin {
            goc = goc.beginning(begin);
        }
        if let Some(labels) = &self.initial_labels {
            goc = goc.initial_labels(labels.clone());
        }
        goc
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

    /// The marginal mixture for so many objects; told whether many of them may be in no group.
    pub fn mixture(&self, objects: usize) -> Marginal {
        let mixture = Marginal::default()
            .length(self.chains, self.burn, self.keep)
            .penalty_strength(self.penalty_strength.unwrap_or(PENALTY_STRENGTH));
        if self.noise { noise::expecting(mixture, objects) } else { mixture }
    }

    /// GOC or k-means with weights on the objects; refuses what does not go with them.
    fn weighted(&self, k: usize) -> Result<Weighted, PipelineError> {
        let usage = |text: String| Err(PipelineError::Usage(text));
        if !matches!(self.method, MethodName::Goc | MethodName::UkMeans | MethodName::Oracle) {
            return usage(format!("weights of objects need {{method}} goc or uk-means, not {}", self.method));
        }
        if self.oracle != OracleName::KMeans {
            return usage(format!(
                "weights of objects need {{oracle}} k-means, not {}: only its centres take weights",
                self.oracle
            ));
        }
        let own = Settings { k: self.k, lambda: self.lambda, ..Settings::default() };
        let plain = ["preset", "k_rule", "oracle_every", "begin", "starts", "swaps", "search", "tolerance"];
        for setting in plain.iter().filter_map(|name| crate::settings::Setting::named(name)) {
            if setting.get(self) != setting.get(&own) {
                return usage(format!(
                    "weights of objects do not go with {{{}}}; leave it as it is by default",
                    setting.name
                ));
            }
        }
        if self.initial_labels.is_some() || self.lambda == Auto::Auto {
            return usage("weights of objects need {k} and {lambda} as numbers, and no first labels".into());
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
