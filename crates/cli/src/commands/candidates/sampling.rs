//! The flags that say how uncertainty sets are sampled.

use clap::Args;
use goc::uncertainty::Size;
use goc_galaxy::catalogue::DistancePrior;
use goc_galaxy::spaces::Space;
use goc_pipeline::{PenaltyName, SamplerName, Sampling, Shape, TransformName, WhenEmpty};

use crate::choices::{at_least_one, words};
use crate::failure::Result;

/// How the uncertainty sets are formed and sampled.
#[derive(Args, Clone, Debug)]
pub struct SamplingArgs {
    /// Form of the uncertainty sets [default: ellipsoid if there are correlations, else box]
    #[arg(long, value_parser = words::<Shape>())]
    pub shape: Option<Shape>,

    /// Size of the sets, in standard errors [default: 2]
    #[arg(long, value_name = "N", group = "size", allow_negative_numbers = true)]
    pub sigmas: Option<f64>,

    /// Size of the sets, by the probability that the truth lies outside
    #[arg(long, value_name = "P", group = "size", allow_negative_numbers = true)]
    pub eta: Option<f64>,

    /// Size of the sets, by the half-width of the widest value; the errors then give only the shape
    #[arg(long, value_name = "R", group = "size", allow_negative_numbers = true)]
    pub radius: Option<f64>,

    /// Candidates drawn per object
    #[arg(short = 'm', long, value_name = "N", default_value_t = Sampling::DRAWS, value_parser = at_least_one())]
    pub draws: usize,

    /// How candidates are drawn: uniform, sobol (evenly spread), grid:COLUMN (one value in even
    /// steps, the others uniform), density (from the error distribution, not cut off at the set) or
    /// tails (the same, some with heavy tails, from which the marginal mixture learns how far
    /// quoted errors hold) [default: uniform; tails for goc stars --method marginal]
    #[arg(long)]
    pub sampler: Option<SamplerName>,

    /// Prior on the distances of stars: volume:REACH (uniform density out to REACH kpc, none
    /// beyond) or edsd:LENGTH (density that falls with that scale length, in kpc); candidates are
    /// drawn from the set in proportion to it
    #[arg(long, value_name = "PRIOR")]
    pub distance_prior: Option<DistancePrior>,

    /// From values to features: actions (Jr, Jz, Jphi of stars), none, pca:Q, kernel-pca:Q
    /// (radial), kernel-pca-poly:Q (cubic), or coasting (a toy: where tracks cross) [default:
    /// actions for a star catalogue, else none]
    #[arg(long)]
    pub transform: Option<TransformName>,

    /// Space in which stars are clustered [default: actions]
    #[arg(long, value_parser = words::<Space>())]
    pub space: Option<Space>,

    /// What a candidate costs: none, density (minus its log density), density:COLUMN[,COLUMN] (of
    /// these values only) or distance (squared, from the features of what was measured)
    #[arg(long, default_value = "density")]
    pub penalty: PenaltyName,

    /// What to do with an object that has no valid candidates: refuse it, or name it and continue
    /// without it (drop) [default: drop for a star catalogue, else refuse]
    #[arg(long, value_parser = words::<WhenEmpty>())]
    pub when_empty: Option<WhenEmpty>,
}

impl SamplingArgs {
    /// Whether they set the size of the sets.
    pub fn says_size(&self) -> bool {
        self.sigmas.is_some() || self.eta.is_some() || self.radius.is_some()
    }

    /// The checked parameters.
    pub fn sampling(&self) -> Result<Sampling> {
        let size = match (self.sigmas, self.eta, self.radius) {
            (_, Some(eta), _) => Size::eta(eta),
            (_, _, Some(radius)) => Size::radius(radius),
            (sigmas, _, _) => Size::sigmas(sigmas.unwrap_or(Sampling::SIGMAS)),
        };
        Ok(Sampling {
            shape: self.shape,
            size: size.map_err(|error| usage!("{error}"))?,
            draws: self.draws,
            sampler: self.sampler.clone().unwrap_or_default(),
            distance_prior: self.distance_prior,
            transform: self.transform,
            space: self.space,
            penalty: self.penalty.clone(),
            when_empty: self.when_empty,
            extras: true,
        })
    }
}
