//! The report on generating candidates: how many points were drawn, how many `f` rejected, and why.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Rejected points by reason, in alphabetical order of the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons(BTreeMap<Cow<'static, str>, usize>);

impl Reasons {
    pub(super) fn count(&mut self, reason: Cow<'static, str>) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Reasons) {
        for (reason, count) in &other.0 {
            *self.0.entry(reason.clone()).or_default() += count;
        }
    }

    /// Each reason with the number of points.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0.iter().map(|(reason, count)| (reason.as_ref(), *count))
    }

    /// Points rejected for one reason.
    pub fn of(&self, reason: &str) -> usize {
        self.0.get(reason).copied().unwrap_or(0)
    }

    /// Points rejected for any reason.
    pub fn total(&self) -> usize {
        self.0.values().sum()
    }

    /// True when nothing was rejected.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// "12 unbound, 3 not finite".
impl fmt::Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (reason, count)) in self.0.iter().enumerate() {
            write!(f, "{}{count} {reason}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// An object that lost points.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Losses {
    /// The object, by its position among those given.
    pub object: usize,
    /// Points drawn for it.
    pub drawn: usize,
    /// Why points were rejected.
    pub reasons: Reasons,
}

/// A summary of the points of all objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    drawn: usize,
    kept: usize,
    reasons: Reasons,
    losses: Vec<Losses>,
    left_out: Vec<Losses>,
    objects: Vec<usize>,
}

impl Report {
    /// Records the next object.
    pub(super) fn object(&mut self, object: usize, drawn: usize, kept: usize, reasons: Reasons) {
        self.drawn += drawn;
        self.kept += kept;
        self.reasons.add(&reasons);
        if kept > 0 {
            self.objects.push(object);
        }
        let losses = Losses { object, drawn, reasons };
        if kept == 0 {
            self.left_out.push(losses);
        } else if !losses.reasons.is_empty() {
            self.losses.push(losses);
        }
    }

    /// Points drawn for all objects.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// Points that became candidates.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// Rejected points by reason, over all objects.
    pub fn reasons(&self) -> &Reasons {
        &self.reasons
    }

    /// Objects that lost some of their points, in order.
    pub fn losses(&self) -> &[Losses] {
        &self.losses
    }

    /// Objects that lost all their points and are not among the candidates, in order.
    pub fn left_out(&self) -> &[Losses] {
        &self.left_out
    }

    /// For each object among the candidates, its position among the objects given.
    pub fn objects(&self) -> &[usize] {
        &self.objects
    }
}
