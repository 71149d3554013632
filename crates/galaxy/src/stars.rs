//! The transformation f of the paper's Example 1: from the measurements of a star to its orbital
//! actions.
//!
//! A [`Catalogue`] gives the position and velocity of a star, and an [`ActionFinder`] its actions:
//! six numbers become the features Jr, Jz, Jphi, and the energy is carried along. If there is no
//! result, there is a reason: a parallax that is not positive has no distance, and an unbound star
//! has no actions.

use std::sync::Arc;

use goc::uncertainty::transform::{Rejection, Transform};

use crate::actions::{ActionFinder, Actions, Outcome};
use crate::catalogue::{Catalogue, ROW, Reason};
use crate::frames::{Galactocentric, JphiSign};

/// The features of a star's orbit, with their units.
pub const ACTIONS: [(&str, &str); 3] = [("Jr", "kpc km/s"), ("Jz", "kpc km/s"), ("Jphi", "kpc km/s")];

/// The extra value carried along.
pub const ENERGY: (&str, &str) = ("energy", "km2 s-2");

/// From a row of a catalogue to (Jr, Jz, Jphi) and, as an extra, the energy.
pub struct StarActions {
    catalogue: Catalogue,
    finder: Arc<ActionFinder>,
    sign: JphiSign,
}

impl StarActions {
    /// For rows of this catalogue, with this action finder and sign convention of Jphi.
    pub fn new(catalogue: Catalogue, finder: Arc<ActionFinder>, sign: JphiSign) -> Self {
        Self { catalogue, finder, sign }
    }
}

impl Transform for StarActions {
    fn inputs(&self) -> Option<usize> {
        Some(ROW)
    }

    fn outputs(&self) -> usize {
        4
    }

    fn extras(&self) -> usize {
        1 // the energy
    }

    fn apply(&self, z: &[f64], x: &mut [f64]) -> Result<(), Rejection> {
        self.apply_all(ROW, z, x).pop().unwrap_or_else(|| Err(Rejection::new("no star")))
    }

    fn apply_all(&self, _: usize, points: &[f64], x: &mut [f64]) -> Vec<Result<(), Rejection>> {
        let places = self.catalogue.places(points);
        let found: Vec<_> = places.iter().filter_map(|place| place.ok()).collect();
        let write = |actions: Actions, x: &mut [f64]| {
            let a = actions.with_sign(self.sign);
            x.copy_from_slice(&[a.jr, a.jz, a.jphi, a.energy]);
        };
        verdicts(places, self.finder.many(&found), self.outputs(), x, write)
    }
}

/// The verdict on each position. `outcomes` belong to the valid positions, in order; `write` stores
/// a result in a row of `x`, which is `width` numbers wide.
pub(crate) fn verdicts<A>(
    places: Vec<Result<Galactocentric, Reason>>,
    outcomes: Vec<Outcome<A>>,
    width: usize,
    x: &mut [f64],
    write: impl Fn(A, &mut [f64]),
) -> Vec<Result<(), Rejection>> {
    let mut outcomes = outcomes.into_iter();
    let mut verdict = |place: Result<Galactocentric, Reason>, x: &mut [f64]| {
        place?;
        match outcomes.next() {
            Some(Outcome::Bound(found)) => {
                write(found, x);
                Ok(())
            }
            Some(Outcome::Unbound { .. }) => Err(Rejection::new("unbound")),
            Some(Outcome::Undefined(reason)) => Err(Rejection::new(reason.to_string())),
            None => Err(Rejection::new("no actions")),
        }
    };
    places.into_iter().zip(x.chunks_exact_mut(width)).map(|(place, x)| verdict(place, x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::Variant;
    use crate::catalogue::DistanceMeasure;
    use crate::frames::{Sky, Sun};

    #[test]
    fn all_points_at_once_give_the_bytes_of_one_by_one_and_reasons_stay_in_place() {
        let catalogue =
            Catalogue::new(Sky::Galactic, DistanceMeasure::Parallax { offset: 0.0 }, Sun::hattori()).unwrap();
        let finder = Arc::new(ActionFinder::milky_way(Variant::Converged).unwrap());
        let f = StarActions::new(catalogue, finder, JphiSign::Paper);
        let mut rows = Vec::new();
        for i in 0..20 {
            let parallax = 0.05 * f64::from(i - 2); // the first three have no distance
            let rv = if i == 9 { 2000.0 } else { 10.0 * f64::from(i) };
            rows.extend([30.0, 40.0, parallax, 1.0, -2.0, rv]);
        }
        let mut x = vec![0.0; 80];
        let together = f.apply_all(6, &rows, &mut x);
        assert_eq!(together.iter().filter(|v| v.is_err()).count(), 4);
        assert_eq!(together[2].as_ref().unwrap_err().reason(), "parallax not positive");
        assert_eq!(together[9].as_ref().unwrap_err().reason(), "unbound");
        for (i, row) in rows.chunks_exact(6).enumerate() {
            let mut one = [0.0; 4];
            let alone = f.apply(row, &mut one);
            assert_eq!(alone, together[i]);
            if alone.is_ok() {
                assert_eq!(one, x[4 * i..][..4], "star {i}");
            }
        }
    }
}
