//! Integers in as few bytes as the largest of them needs.
//!
//! Labels, members of clusters and candidate indices are small, and there are many of them: one for
//! each object and draw, or for each candidate.

use std::ops::Range;
use std::slice;

/// Unsigned integers of 8, 16 or 32 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Narrow {
    Bits8(Vec<u8>),
    Bits16(Vec<u16>),
    Bits32(Vec<u32>),
}

/// The same code for every width: `each!(narrow, all => ...)`. With 32 bits there is nothing to
/// convert.
macro_rules! each {
    ($value:expr, $all:ident => $what:expr) => {
        #[allow(clippy::useless_conversion, clippy::unnecessary_cast)]
        match $value {
            Self::Bits8($all) => $what,
            Self::Bits16($all) => $what,
            Self::Bits32($all) => $what,
        }
    };
}

impl Narrow {
    /// Empty, with capacity for `count` numbers of at most `most`.
    pub(super) fn with_capacity(count: usize, most: usize) -> Self {
        if most <= usize::from(u8::MAX) {
            Self::Bits8(Vec::with_capacity(count))
        } else if most <= usize::from(u16::MAX) {
            Self::Bits16(Vec::with_capacity(count))
        } else {
            Self::Bits32(Vec::with_capacity(count))
        }
    }

    /// Zeros that can be overwritten with numbers of at most `most`.
    pub(super) fn zeros(count: usize, most: usize) -> Self {
        let mut zeros = Self::with_capacity(count, most);
        each!(&mut zeros, all => all.resize(count, 0));
        zeros
    }

    /// Appends a number, at most the declared maximum.
    pub(super) fn push(&mut self, number: u32) {
        each!(self, all => all.push(number as _));
    }

    pub(super) fn set(&mut self, at: usize, number: u32) {
        each!(self, all => all[at] = number as _);
    }

    pub(super) fn get(&self, at: usize) -> u32 {
        each!(self, all => all[at].into())
    }

    pub(super) fn len(&self) -> usize {
        each!(self, all => all.len())
    }

    /// The numbers of a range, in order.
    pub(super) fn range(&self, range: Range<usize>) -> Numbers<'_> {
        match self {
            Self::Bits8(all) => Numbers::Bits8(all[range].iter()),
            Self::Bits16(all) => Numbers::Bits16(all[range].iter()),
            Self::Bits32(all) => Numbers::Bits32(all[range].iter()),
        }
    }
}

/// The numbers of [`Narrow::range`].
#[derive(Clone, Debug)]
pub(super) enum Numbers<'a> {
    Bits8(slice::Iter<'a, u8>),
    Bits16(slice::Iter<'a, u16>),
    Bits32(slice::Iter<'a, u32>),
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        each!(self, left => left.next().map(|v| u32::from(*v)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        each!(self, left => left.size_hint())
    }

    /// Matches on the width once, not for every number.
    fn fold<B, F: FnMut(B, u32) -> B>(self, first: B, mut of: F) -> B {
        each!(self, left => left.fold(first, |sum, v| of(sum, u32::from(*v))))
    }
}

impl ExactSizeIterator for Numbers<'_> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_every_width() {
        for (most, bytes) in [(255, 1), (256, 2), (65_535, 2), (65_536, 4)] {
            let numbers: Vec<u32> = (0..100).map(|i| (i * 7919) % (most + 1)).chain([most]).collect();
            let mut narrow = Narrow::with_capacity(numbers.len(), most as usize);
            numbers.iter().for_each(|v| narrow.push(*v));
            let width = match &narrow {
                Narrow::Bits8(_) => 1,
                Narrow::Bits16(_) => 2,
                Narrow::Bits32(_) => 4,
            };
            assert_eq!((width, narrow.len()), (bytes, numbers.len()));
            let mut other = Narrow::zeros(numbers.len(), most as usize);
            (0..numbers.len()).for_each(|at| other.set(at, narrow.get(at)));
            assert_eq!(other, narrow);
            assert!(narrow.range(3..50).eq(numbers[3..50].iter().copied()));
            let mut folded = Vec::new();
            narrow.range(0..numbers.len()).for_each(|v| folded.push(v));
            assert_eq!(folded, numbers);
        }
    }
}
