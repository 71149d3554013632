//! Serialisation of commands, answers and checkpoints: little-endian numbers, a length before each
//! list, a tag before each variant.
//!
//! Written by hand because the guarantee is about bytes: the same state gives the same bytes on
//! every machine, and input is validated (lengths against the bytes available, points for finite
//! numbers) before it is used.

use crate::Points;
use crate::oracle::k_means::sums::Sums;

/// Why bytes cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("the bytes end at {at} in the middle of {what}; the message or file is cut short")]
    Short {
        /// The number of bytes.
        at: usize,
        /// What was being read.
        what: &'static str,
    },
    /// Bytes are left over.
    #[error("{left} bytes are left over; the message or file is of another version or damaged")]
    Left {
        /// The number of bytes left.
        left: usize,
    },
    /// The bytes do not start like such a message.
    #[error("these bytes are not {what} of this version")]
    Kind {
        /// What was expected.
        what: &'static str,
    },
    /// An invalid value.
    #[error("byte {at}: {what} cannot be read; the message or file is damaged")]
    Value {
        /// The position.
        at: usize,
        /// What was being read.
        what: &'static str,
    },
}

/// Bytes being read.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], DecodeError> {
        let slice = self.bytes.get(self.at..self.at + N);
        let found =
            slice.and_then(|s| s.try_into().ok()).ok_or(DecodeError::Short { at: self.bytes.len(), what })?;
        self.at += N;
        Ok(found)
    }

    pub(super) fn wrong<T>(&self, what: &'static str) -> Result<T, DecodeError> {
        Err(DecodeError::Value { at: self.at, what })
    }
}

/// Conversion of a value to bytes and back.
pub(super) trait Codec: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError>;
}

/// Writes `value` after the magic number of its kind.
pub(super) fn pack(kind: &[u8; 8], value: &impl Codec) -> Vec<u8> {
    let mut out = kind.to_vec();
    value.write(&mut out);
    out
}

/// Reads the value that [`pack`] wrote.
pub(super) fn unpack<T: Codec>(kind: &[u8; 8], what: &'static str, bytes: &[u8]) -> Result<T, DecodeError> {
    let rest = bytes.strip_prefix(kind).ok_or(DecodeError::Kind { what })?;
    let mut reader = Reader { bytes: rest, at: 0 };
    let value = T::read(&mut reader)?;
    let left = rest.len() - reader.at;
    if left == 0 { Ok(value) } else { Err(DecodeError::Left { left }) }
}

macro_rules! numbers {
    ($($type:ty: $what:literal),*) => {$(
        impl Codec for $type {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok(Self::from_le_bytes(from.take($what)?))
            }
        }
    )*};
}
numbers!(u8: "a tag", u32: "a number", u64: "a number", u128: "a mark", f64: "a real number");

impl Codec for usize {
    fn write(&self, out: &mut Vec<u8>) {
        (*self as u64).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let value = u64::read(from)?;
        usize::try_from(value).or_else(|_| from.wrong("a count"))
    }
}

impl<T: Codec> Codec for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        u8::from(self.is_some()).write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match u8::read(from)? {
            0 => Ok(None),
            1 => Ok(Some(T::read(from)?)),
            _ => from.wrong("an option"),
        }
    }
}

impl<T: Codec> Codec for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        self.iter().for_each(|value| value.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let len = usize::read(from)?;
        // A wrong length must not allocate more memory than the bytes could fill.
        let mut values = Vec::with_capacity(len.min((from.bytes.len() - from.at) / size_of::<T>().max(1)));
        for _ in 0..len {
            values.push(T::read(from)?);
        }
        Ok(values)
    }
}

impl<A: Codec, B: Codec> Codec for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl Codec for Points {
    fn write(&self, out: &mut Vec<u8>) {
        self.features().write(out);
        self.len().write(out);
        self.values().iter().for_each(|x| x.write(out));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (features, len) = (usize::read(from)?, usize::read(from)?);
        let Some(count) = features.checked_mul(len) else { return from.wrong("the size of points") };
        let mut values = Vec::with_capacity(count.min((from.bytes.len() - from.at) / size_of::<f64>()));
        for _ in 0..count {
            values.push(f64::read(from)?);
        }
        Points::new(values, features).or_else(|_| from.wrong("points"))
    }
}

impl Codec for Sums {
    fn write(&self, out: &mut Vec<u8>) {
        self.values.write(out);
        self.counts.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { values: Vec::read(from)?, counts: Vec::read(from)? })
    }
}

/// Fields one after the other, in the order given.
macro_rules! codec_struct {
    ($type:ident { $($field:ident),* }) => {
        impl $crate::optimistic::sharded::encoding::Codec for $type {
            fn write(&self, out: &mut Vec<u8>) {
                $($crate::optimistic::sharded::encoding::Codec::write(&self.$field, out);)*
            }
            fn read(
                from: &mut $crate::optimistic::sharded::encoding::Reader<'_>,
            ) -> Result<Self, $crate::optimistic::sharded::encoding::DecodeError> {
                $(let $field = $crate::optimistic::sharded::encoding::Codec::read(from)?;)*
                Ok(Self { $($field),* })
            }
        }
    };
}

/// A tag, then the fields of the variant.
macro_rules! codec_enum {
    ($type:ident: $what:literal { $($tag:literal => $variant:ident { $($field:ident),* }),* $(,)? }) => {
        impl $crate::optimistic::sharded::encoding::Codec for $type {
            fn write(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        let tag: u8 = $tag;
                        $crate::optimistic::sharded::encoding::Codec::write(&tag, out);
                        $($crate::optimistic::sharded::encoding::Codec::write($field, out);)*
                    })*
                }
            }
            fn read(
                from: &mut $crate::optimistic::sharded::encoding::Reader<'_>,
            ) -> Result<Self, $crate::optimistic::sharded::encoding::DecodeError> {
                match <u8 as $crate::optimistic::sharded::encoding::Codec>::read(from)? {
                    $($tag => {
                        $(let $field = $crate::optimistic::sharded::encoding::Codec::read(from)?;)*
                        Ok(Self::$variant { $($field),* })
                    })*
                    _ => from.wrong($what),
                }
            }
        }
    };
}
pub(super) use {codec_enum, codec_struct};
