//! Finished pieces of a long piece of work, so that it can be stopped and gone on with.
//!
//! A piece is whatever a work can do by itself: a run of a method, a repeat of a fit. [`Keep`] is what
//! the work asks for pieces and hands them to; `checkpoint` keeps them in a folder. Numbers come back
//! to the last bit, so a work that goes on gives the bytes of one that was never stopped.

use goc::marginal::{KeepStretches, Stretch};
use goc::metrics::Scores;
use serde_json::{Value, json};

use crate::error::Result;

/// Where finished pieces are kept.
pub trait Keep: Sync {
    /// The piece of this name, if it was finished.
    fn kept(&self, name: &str) -> Result<Option<Value>>;

    /// Keeps a piece, in place of one of the same name: complete or not at all.
    fn keep(&self, name: &str, piece: &Value) -> Result<()>;

    /// An error about a piece that cannot be what was kept.
    fn damaged(&self, name: &str) -> crate::PipelineError;
}

/// The piece of this name: as it was kept, or made and kept now. `read` is none for what it cannot be.
///
/// An error is never kept: the next run tries again.
pub fn piece<T, E: From<crate::PipelineError>>(
    keep: Option<&dyn Keep>,
    name: &str,
    make: impl FnOnce() -> Result<T, E>,
    written: impl Fn(&T) -> Value,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<T, E> {
    let Some(keep) = keep else { return make() };
    if let Some(value) = keep.kept(name)? {
        return Ok(read(&value).ok_or_else(|| keep.damaged(name))?);
    }
    let made = make()?;
    keep.keep(name, &written(&made))?;
    Ok(made)
}

/// A real number as JSON, which has none that are not finite.
pub fn real(value: f64) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

/// The number that [`real`] wrote.
pub fn to_real(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_f64(),
    }
}

/// Scores as JSON.
pub fn scores(of: &Scores) -> Value {
    Value::Array(of.values().map(real).into())
}

/// The scores that [`scores`] wrote.
pub fn to_scores(value: &Value) -> Option<Scores> {
    let all = value.as_array()?.iter().map(to_real).collect::<Option<Vec<f64>>>()?;
    all.try_into().ok().map(Scores::from_values)
}

/// A count that was kept.
pub fn to_count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

/// Chains of the marginal mixture, kept as pieces.
pub(crate) struct Chains<'k>(pub &'k dyn Keep);

impl KeepStretches for Chains<'_> {
    fn kept(&self, name: &str) -> Result<Option<Stretch>, String> {
        let Some(value) = self.0.kept(name).map_err(|error| error.to_string())? else { return Ok(None) };
        let read = || {
            let all = |name: &str| value.get(name)?.as_array();
            Some(Stretch {
                reals: all("reals")?.iter().map(to_real).collect::<Option<_>>()?,
                counts: all("counts")?.iter().map(Value::as_u64).collect::<Option<_>>()?,
            })
        };
        read().map(Some).ok_or_else(|| KeepStretches::damaged(self, name))
    }

    fn keep(&self, name: &str, stretch: &Stretch) -> Result<(), String> {
        let reals: Vec<Value> = stretch.reals.iter().copied().map(real).collect();
        let piece = json!({ "reals": reals, "counts": stretch.counts });
        self.0.keep(name, &piece).map_err(|error| error.to_string())
    }

    fn damaged(&self, name: &str) -> String {
        self.0.damaged(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_last_bit_through_text() {
        for value in [0.1, -0.0, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 1.0 / 3.0] {
            let text = real(value).to_string();
            let back = to_real(&serde_json::from_str(&text).unwrap()).unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{text}");
        }
        assert!(to_real(&real(f64::NAN)).unwrap().is_nan());
    }
}
