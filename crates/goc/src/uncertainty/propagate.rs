//! Propagation: from sets to candidates, eqs. (3) to (5) of the paper.
//!
//! For each object, points are drawn from its set (eq. 4) and mapped by `f`. Those that `f` accepts
//! become its candidates (eq. 5), with a penalty if requested. Objects are processed in parallel.
//! Each draws from the random stream of its own key, so its candidates do not depend on the other
//! objects, on their order or on the number of threads. Keys should be distinct: two objects with
//! the same key and the same set get the same points.
//!
//! What `f` returns in addition to features ([`Transform::extras`]) is not part of the candidates;
//! [`Propagation::propagate_into`] returns it on request, and can also fill candidates in several
//! parts.
//!
//! Points that `f` rejects are counted by reason. An object with no points left is an error that
//! names it, or is left out, depending on [`WhenAllRejected`].

use super::penalty::Penalty;
use super::prior::{DRAWN_FOR_ONE, LnPrior, Nothing, choose};
use super::report::{Reasons, Report};
use super::transform::{Rejection, Transform, evaluate};
use super::{Object, Sampler, SetError, unmeasured};
use crate::candidates::{Candidates, CandidatesBuilder, CandidatesError, Ids};
use crate::random::stream;
use rayon::prelude::*;

/// What to do with an object when `f` rejects all of its points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhenAllRejected {
    /// Fail with an error that names the object.
    #[default]
    Refuse,
    /// Continue without the object; the [`Report`] lists it.
    LeaveOut,
}

/// Why sets cannot be converted to candidates. Objects are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PropagateError {
    /// Nothing given.
    #[error("there are no objects")]
    NoObjects,
    /// Zero points for an object.
    #[error("object {object}: at least one point must be drawn")]
    NoDraws {
        /// The object.
        object: usize,
    },
    /// More points than fit in memory.
    #[error("{draws} points of {features} features are more than any memory holds; draw fewer")]
    TooManyDraws {
        /// Points requested.
        draws: usize,
        /// Features of each.
        features: usize,
    },
    /// The number of ids differs from the number of objects.
    #[error("{found} ids for {expected} objects")]
    IdCount {
        /// The number of objects.
        expected: usize,
        /// Ids given.
        found: usize,
    },
    /// An object whose number of coordinates differs from that of the first.
    #[error("object {object} has {found} coordinates, object 0 has {expected}")]
    Dimension {
        /// The object.
        object: usize,
        /// Coordinates of object 0.
        expected: usize,
        /// Coordinates of this one.
        found: usize,
    },
    /// `f` takes a different number of coordinates.
    #[error("the transformation takes {expected} coordinates, the objects have {found}")]
    Inputs {
        /// Coordinates that f takes.
        expected: usize,
        /// Coordinates of the objects.
        found: usize,
    },
    /// `f` returns no features.
    #[error("the transformation gives no features")]
    NoOutputs,
    /// The number of vectors differs from the number of extras.
    #[error("{found} vectors for the {expected} numbers that the transformation gives beside features")]
    Extras {
        /// The number of values that f returns in addition to features.
        expected: usize,
        /// Vectors given.
        found: usize,
    },
    /// The sampler does not fit the sets.
    #[error("sampler: {reason}")]
    Sampler {
        /// What is wrong.
        reason: SetError,
    },
    /// Coordinates of a penalty that the sets do not have.
    #[error("penalty: {reason}")]
    PenaltyCoordinates {
        /// What is wrong.
        reason: SetError,
    },
    /// A coordinate that would be counted twice.
    #[error("penalty: coordinate {coordinate} is given twice")]
    PenaltyTwice {
        /// The coordinate.
        coordinate: usize,
    },
    /// A penalty that is negative, NaN or infinite.
    #[error("object {object}, draw {draw}: penalty {value} must be a finite number not below 0")]
    Penalty {
        /// The object.
        object: usize,
        /// The draw.
        draw: usize,
        /// The value found.
        value: f64,
    },
    /// A prior that is NaN or infinite somewhere.
    #[error("object {object}: the log of the prior is {value} at a point, which is not the log of a density")]
    Prior {
        /// The object.
        object: usize,
        /// The value found.
        value: f64,
    },
    /// An object with no points left.
    #[error(
        "object {object}: all {drawn} points were rejected ({reasons}); leave it out, or check its values"
    )]
    AllRejected {
        /// The object's id or position.
        object: String,
        /// Points drawn.
        drawn: usize,
        /// Why.
        reasons: Reasons,
    },
    /// No object has a point left.
    #[error("all points of all {objects} objects were rejected ({reasons})")]
    NothingLeft {
        /// Objects given.
        objects: usize,
        /// Why.
        reasons: Reasons,
    },
    /// The candidates are not consistent, such as an id that occurs twice.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
}

/// How candidates are generated. See the [module](super) for an example.
pub struct Propagation<'a, T> {
    transform: T,
    sampler: Sampler,
    prior: Option<LnPrior<'a>>,
    draws: usize,
    penalty: Penalty,
    scale_penalties: bool,
    when_all_rejected: WhenAllRejected,
    ids: Ids,
    seed: u64,
}

/// The result for one object.
struct Made {
    rows: Vec<f64>,
    /// The values that `f` returns in addition to the features, row by row.
    extras: Vec<f64>,
    penalties: Vec<f64>,
    reasons: Reasons,
}

impl<'a, T: Transform> Propagation<'a, T> {
    /// With `transform`: 100 uniform points for each object (the paper's choice), no penalty, seed
    /// 0.
    pub fn new(transform: T) -> Self {
        Self {
            transform,
            sampler: Sampler::Uniform,
            prior: None,
            draws: 100,
            penalty: Penalty::None,
            scale_penalties: false,
            when_all_rejected: WhenAllRejected::Refuse,
            ids: Ids::Position,
            seed: 0,
        }
    }

    setters! {
        /// How points are drawn from a set.
        sampler: Sampler;
        /// The prior on the true values: the log of a density, up to a constant. Points are drawn
        /// in proportion to it. Points where it returns a rejection or minus infinity are never
        /// drawn.
        ///
        /// ```
        /// use goc::uncertainty::transform::{Identity, Rejection};
        /// use goc::uncertainty::{Object, Propagation, Size, UncertaintySet};
        /// // Measured as 3 +- 1, known to be positive and the more likely the larger.
        /// let set = UncertaintySet::cuboid(&[3.0], &[1.0], Size::sigmas(4.0)?)?;
        /// let (candidates, _) = Propagation::new(Identity::new(1))
        ///     .prior(|z| if z[0] > 0.0 { Ok(z[0].ln()) } else { Err(Rejection::new("not positive")) })
        ///     .draws(1000)
        ///     .propagate(&[Object::new(1, set)])?;
        /// // Uniform over the set, from -1 to 7, times z where that is positive: the mean is 14 / 3.
        /// assert!((candidates.means().row(0)[0] - 14.0 / 3.0).abs() < 0.1);
        /// # Ok::<(), Box<dyn std::error::Error>>(())
        /// ```
        prior: impl Fn(&[f64]) -> Result<f64, Rejection> + Sync + Send + 'a = Some(Box::new(prior));
        /// The number of points per object, m; more if coordinates were not measured
        /// ([`Object::unmeasured`]).
        draws: usize;
        /// The penalty of a candidate.
        penalty: Penalty;
        /// Divide all penalties by the largest, as the paper does (section 4.2).
        scale_penalties: bool;
        /// What to do with an object that has no points left.
        when_all_rejected: WhenAllRejected;
        /// The identifiers of the objects. By default, objects are identified by their position
        /// among all given objects, even if some are left out.
        ids: Ids;
        /// The seed of all random streams.
        seed: u64;
    }

    /// Generates the candidates of all objects, in order, and reports the rejected points.
    pub fn propagate(&self, objects: &[Object]) -> Result<(Candidates, Report), PropagateError> {
        let (candidates, report) = self.propagate_some(objects)?;
        match candidates {
            Some(candidates) => Ok((candidates, report)),
            None => {
                Err(PropagateError::NothingLeft { objects: objects.len(), reasons: report.reasons().clone() })
            }
        }
    }

    /// Like [`propagate`](Self::propagate), for one part of many objects: a part of which nothing
    /// is left is not an error.
    pub fn propagate_some(&self, objects: &[Object]) -> Result<(Option<Candidates>, Report), PropagateError> {
        let (q, total) = self.check_room(objects)?;
        let mut builder = CandidatesBuilder::with_capacity(q, objects.len(), total);
        let report = self.propagate_into(objects, &mut builder, &mut [])?;
        if report.objects().is_empty() {
            return Ok((None, report));
        }
        let candidates = builder.build_with(self.kept_ids(&report))?;
        Ok((Some(if self.scale_penalties { candidates.scale_penalties() } else { candidates }), report))
    }

    /// Checks that the candidates can fit in memory; returns the number of features of each and the
    /// maximum number of candidates.
    fn check_room(&self, objects: &[Object]) -> Result<(usize, usize), PropagateError> {
        let q = self.check(objects)?;
        let times = objects.iter().map(|object| object.times);
        let (all, most) = times.fold((0_usize, 1), |(sum, most), t| (sum.saturating_add(t), most.max(t)));
        let total = all.saturating_mul(self.draws);
        // An object's points are held in memory in addition to the features of all objects.
        let points = self.points(most).saturating_mul(objects[0].set().dimension());
        let outputs = self.transform.outputs();
        if total.saturating_mul(outputs).max(points) > isize::MAX as usize / size_of::<f64>() {
            return Err(PropagateError::TooManyDraws { draws: total, features: q });
        }
        Ok((q, total))
    }

    /// Adds the candidates of these objects to `builder`, so that the candidates of many objects,
    /// generated part by part, are held in memory only once. Penalties are not scaled, and ids are
    /// ignored.
    ///
    /// `extras` receives what the transformation returns in addition to features, one vector per
    /// value; if it is empty, these values are discarded.
    ///
    /// ```
    /// use goc::candidates::CandidatesBuilder;
    /// use goc::uncertainty::transform::Identity;
    /// use goc::uncertainty::{Object, Propagation, Size, UncertaintySet};
    /// let how = Propagation::new(Identity::new(1)).draws(10);
    /// let mut builder = CandidatesBuilder::new(1);
    /// for part in [1..3_u64, 3..6] {
    ///     let set = |key| UncertaintySet::cuboid(&[key as f64], &[0.1], Size::sigmas(2.0)?);
    ///     let objects = part.map(|key| Ok(Object::new(key, set(key)?))).collect::<Result<Vec<_>, _>>();
    ///     how.propagate_into(&objects.map_err(|e: goc::uncertainty::SetError| e)?, &mut builder, &mut [])?;
    /// }
    /// assert_eq!(builder.build()?.total(), 50);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn propagate_into(
        &self,
        objects: &[Object],
        builder: &mut CandidatesBuilder,
        extras: &mut [Vec<f64>],
    ) -> Result<Report, PropagateError> {
        let (q, _) = self.check_room(objects)?;
        let carried = self.transform.extras();
        if !(extras.is_empty() || extras.len() == carried) {
            return Err(PropagateError::Extras { expected: carried, found: extras.len() });
        }
        let mut report = Report::default();
        // In chunks, so that the rows of all objects are not held in memory twice.
        const CHUNK: usize = 4096;
        for (chunk, part) in objects.chunks(CHUNK).enumerate() {
            let made: Vec<_> = part
                .par_iter()
                .enumerate()
                .map(|(at, object)| self.make(chunk * CHUNK + at, object, q))
                .collect();
            for (at, made) in made.into_iter().enumerate() {
                let (i, made) = (chunk * CHUNK + at, made?);
                let drawn = self.draws_of(&part[at]);
                if made.rows.is_empty() {
                    if self.when_all_rejected == WhenAllRejected::Refuse {
                        let object = self.name(i);
                        return Err(PropagateError::AllRejected { object, drawn, reasons: made.reasons });
                    }
                } else {
                    builder.push(&made.rows, &made.penalties)?;
                    for (e, column) in extras.iter_mut().enumerate() {
                        column.extend(made.extras.iter().skip(e).step_by(carried));
                    }
                }
                report.object(i, drawn, made.rows.len() / q, made.reasons);
            }
        }
        Ok(report)
    }

    /// Checks everything that can be wrong before the first draw; returns the number of features.
    fn check(&self, objects: &[Object]) -> Result<usize, PropagateError> {
        let n = objects.len();
        let Some(first) = objects.first() else { return Err(PropagateError::NoObjects) };
        let d = first.set().dimension();
        if let Some(object) = objects.iter().position(|o| o.set().dimension() != d) {
            let found = objects[object].set().dimension();
            return Err(PropagateError::Dimension { object, expected: d, found });
        }
        if let Some(expected) = self.transform.inputs()
            && expected != d
        {
            return Err(PropagateError::Inputs { expected, found: d });
        }
        let q = self.transform.outputs().saturating_sub(self.transform.extras());
        if q == 0 {
            return Err(PropagateError::NoOutputs);
        }
        self.sampler.check(d).map_err(|reason| PropagateError::Sampler { reason })?;
        self.penalty.check(d)?;
        if self.draws == 0 {
            return Err(PropagateError::NoDraws { object: 0 });
        }
        let ids = match &self.ids {
            Ids::Position => n,
            Ids::Integer(ids) => ids.len(),
            Ids::Text(ids) => ids.len(),
        };
        if ids != n {
            return Err(PropagateError::IdCount { expected: n, found: ids });
        }
        Ok(q)
    }

    fn make(&self, i: usize, object: &Object, q: usize) -> Result<Made, PropagateError> {
        let (m, set, outputs) = (self.draws_of(object), object.set(), self.transform.outputs());
        let d = set.dimension();
        let mut made = Made {
            rows: Vec::with_capacity(m * q),
            extras: Vec::with_capacity(m * (outputs - q)),
            penalties: Vec::new(),
            reasons: Reasons::default(),
        };
        let mut bad_centre = None;
        let penalty = self
            .penalty
            .prepare(set, || {
                let mut centre = vec![0.0; outputs];
                bad_centre =
                    evaluate(&self.transform, d, set.centre(), &mut centre).pop().and_then(Result::err);
                centre.truncate(q);
                centre
            })
            .map_err(|reason| PropagateError::PenaltyCoordinates { reason })?;
        if let Some(rejection) = bad_centre {
            // Without a point to measure from, no candidate has a penalty.
            for _ in 0..m {
                made.reasons.count(format!("measured value: {rejection}").into());
            }
            return Ok(made);
        }
        let drawn = self.points(object.times);
        let mut points = Vec::with_capacity(drawn * d);
        let mut rng = stream(self.seed, object.key());
        self.sampler
            .draw(set, drawn, &mut rng, |_, z| points.extend_from_slice(z))
            .map_err(|reason| PropagateError::Sampler { reason })?;
        if let Some(prior) = &self.prior {
            points = match choose(prior, &points, d, m, &mut rng) {
                Ok(points) => points,
                Err(Nothing::NotADensity(value)) => return Err(PropagateError::Prior { object: i, value }),
                Err(Nothing::Rejected(rejection)) => {
                    let reason = rejection.into_reason();
                    (0..m).for_each(|_| made.reasons.count(reason.clone()));
                    return Ok(made);
                }
            };
        }
        let before = unmeasured::draw(object, self.sampler, &mut points, &mut rng);
        let judged = before.as_deref().unwrap_or(&points);
        let mut given = vec![0.0; m * outputs];
        let verdicts = evaluate(&self.transform, d, &points, &mut given);
        for (draw, verdict) in verdicts.into_iter().enumerate() {
            if let Err(rejection) = verdict {
                made.reasons.count(rejection.into_reason());
                continue;
            }
            let z = &judged[draw * d..][..d];
            let (x, beside) = given[draw * outputs..][..outputs].split_at(q);
            if let Some(value) = penalty.value(z, x) {
                if !(value.is_finite() && value >= 0.0) {
                    return Err(PropagateError::Penalty { object: i, draw, value });
                }
                made.penalties.push(value);
            }
            made.rows.extend_from_slice(x);
            made.extras.extend_from_slice(beside);
        }
        Ok(made)
    }

    /// The number of points of an object.
    fn draws_of(&self, object: &Object) -> usize {
        self.draws.saturating_mul(object.times)
    }

    /// The number of points that the sampler draws for an object with `times` as many: more than
    /// are kept if a prior selects among them.
    fn points(&self, times: usize) -> usize {
        let kept = self.draws.saturating_mul(times);
        kept.saturating_mul(if self.prior.is_some() { DRAWN_FOR_ONE } else { 1 })
    }

    fn name(&self, i: usize) -> String {
        match &self.ids {
            Ids::Position => i.to_string(),
            Ids::Integer(ids) => ids[i].to_string(),
            Ids::Text(ids) => ids[i].clone(),
        }
    }

    fn kept_ids(&self, report: &Report) -> Ids {
        let kept = report.objects();
        match &self.ids {
            Ids::Position if report.left_out().is_empty() => Ids::Position,
            Ids::Position => Ids::Integer(kept.iter().map(|&i| i as i64).collect()),
            Ids::Integer(ids) => Ids::Integer(kept.iter().map(|&i| ids[i]).collect()),
            Ids::Text(ids) => Ids::Text(kept.iter().map(|&i| ids[i].clone()).collect()),
        }
    }
}
