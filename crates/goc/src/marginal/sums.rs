//! What every object has in each of the field's densities: only what is not negligible.
//!
//! An object is far from most kernels. Leaving those out saves memory, and a factor of several in
//! every sweep. With few objects only exact zeros are left out, so nothing changes.

/// Sums of all objects, one row each.
#[derive(Clone, Debug, Default)]
pub(super) struct FieldSums {
    starts: Vec<usize>,
    /// The density of each entry, and the object's sum in it.
    which: Vec<u16>,
    values: Vec<f64>,
}

/// The row of one object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    which: &'a [u16],
    values: &'a [f64],
}

impl FieldSums {
    /// No objects yet.
    pub(super) fn new() -> Self {
        Self { starts: vec![0], ..Self::default() }
    }

    /// From all sums, object after object, in this many densities.
    #[cfg(test)]
    pub(super) fn of_all(all: &[f64], densities: usize) -> Self {
        let mut sums = Self::new();
        all.chunks_exact(densities).for_each(|row| sums.push(row, 0.0));
        sums
    }

    /// Appends an object with these sums. Left out are zeros, and sums below this share of the
    /// largest.
    pub(super) fn push(&mut self, row: &[f64], negligible: f64) {
        let least = negligible * row.iter().copied().fold(0.0, f64::max);
        for (at, &value) in (0..).zip(row) {
            if value > least || value.is_nan() {
                self.which.push(at);
                self.values.push(value);
            }
        }
        self.starts.push(self.which.len());
    }

    /// Appends all objects of others.
    pub(super) fn extend(&mut self, others: &Self) {
        let before = self.which.len();
        self.starts.extend(others.starts[1..].iter().map(|start| before + start));
        self.which.extend_from_slice(&others.which);
        self.values.extend_from_slice(&others.values);
    }

    /// The row of object `i`.
    pub(super) fn of(&self, i: usize) -> Row<'_> {
        let own = self.starts[i]..self.starts[i + 1];
        Row { which: &self.which[own.clone()], values: &self.values[own] }
    }
}

impl<'a> Row<'a> {
    /// The densities in which the object has anything, and what it has.
    pub(super) fn entries(self) -> impl Iterator<Item = (usize, f64)> + 'a {
        self.which.iter().zip(self.values).map(|(at, value)| (usize::from(*at), *value))
    }

    /// The density at which entry `at` is.
    pub(super) fn density(self, at: usize) -> Option<usize> {
        self.which.get(at).map(|density| usize::from(*density))
    }

    /// The sum over the densities with these shares.
    pub(super) fn with(self, shares: &[f64]) -> f64 {
        self.entries().fold(0.0, |sum, (at, value)| sum + value * shares[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_what_is_negligible_are_left_out() {
        let rows = [[1.0, 0.0, 0.5], [0.0, 0.0, 0.0], [1e-7, 2.0, 3.0]];
        let all = FieldSums::of_all(&rows.concat(), 3);
        let entries = |sums: &FieldSums, i: usize| sums.of(i).entries().collect::<Vec<_>>();
        assert_eq!(entries(&all, 0), [(0, 1.0), (2, 0.5)]);
        assert_eq!(entries(&all, 1), []);
        assert_eq!(entries(&all, 2), [(0, 1e-7), (1, 2.0), (2, 3.0)]);
        assert_eq!(all.of(2).with(&[1.0, 0.5, 0.0]), 1.0 + 1e-7);
        let mut some = FieldSums::new();
        rows.iter().for_each(|row| some.push(row, 1e-6));
        assert_eq!(entries(&some, 2), [(1, 2.0), (2, 3.0)]);
        assert_eq!(some.of(2).density(0), Some(1));
        let mut both = all.clone();
        both.extend(&some);
        assert_eq!((entries(&both, 2), entries(&both, 5)), (entries(&all, 2), entries(&some, 2)));
    }
}
