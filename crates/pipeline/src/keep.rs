//! Finished pieces of long work, so that it can be stopped and resumed.
//!
//! A piece is anything that can be computed independently: one run of a method, one repeat of a
//! fit. The work reads pieces from a [`Keep`] and hands new ones to it; `checkpoint` saves them in
//! a folder. Numbers are read back exactly, so resumed work gives the same bytes as uninterrupted
//! work.

use goc::marginal::{KeepStretches, Stretch};
use goc::metrics::Scores;
use serde_json::{Value, json};

use crate::error::Result;

/// Storage for finished pieces.
pub trait Keep: Sync {
    /// The piece with this name, if it was finished.
    fn kept(&self, name: &str) -> Result<Option<Value>>;

    /// Saves a piece, replacing one with the same name. The write is atomic.
    fn keep(&self, name: &str, piece: &Value) -> Result<()>;

    /// The error for a piece whose content cannot be what was saved.
    fn damaged(&self, name: &str) -> crate::PipelineError;
}

/// Returns the saved piece with this name, or makes it and saves it. `read` returns `None` for a
/// damaged piece.
///
/// Errors are never saved: the next run tries again.
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

/// A real number as JSON, which has no infinities or NaN.
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

/// A count that was saved.
pub fn to_count(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|count| usize::try_from(count).ok())
}

/// Chains of the marginal mixture, saved as pieces.
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
