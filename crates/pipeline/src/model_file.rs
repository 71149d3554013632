//! A fitted marginal mixture in a file: JSON with a format name and a version.
//!
//! Besides the numbers of [`goc::marginal::Model`], it says how a table must be prepared: the
//! features by name and unit, which of them are square roots, the scaling, and the divisor of the
//! penalties. Numbers are written so that they read back exactly, so reading and rewriting a file
//! leaves it unchanged. Every part is checked on reading: a damaged file is an error that names the
//! location.

use std::path::Path;

use goc::marginal::{ClusterParts, Errors, Model, ModelParts};
use goc::scale::{Scaler, Scaling};
use serde_json::{Value, json};

use crate::dataset::Feature;
use crate::error::Result;
use crate::feature_map::FeatureMap;

const FORMAT: &str = "goc marginal mixture";
const VERSION: u64 = 2;

/// A model, and how to prepare a table for it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelFile {
    /// The names and units of the features.
    pub features: Vec<Feature>,
    /// Roots and scaling.
    pub map: FeatureMap,
    /// What penalties are divided by.
    pub penalty_divisor: f64,
    /// The groups.
    pub model: Model,
}

impl ModelFile {
    /// Writes it, under a temporary name first.
    #[cfg(feature = "tables")]
    pub fn write(&self, path: &Path) -> Result<()> {
        Ok(goc_tables::write_text(&self.to_text(), path)?)
    }

    /// Reads and checks it.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let bytes = std::fs::read(path).map_err(|error| failed!("{name}: cannot read it: {error}"))?;
        Self::from_bytes(&bytes).map_err(|problem| failed!("{name}: {problem}"))
    }

    /// As text, which [`ModelFile::from_bytes`] reads back exactly.
    pub fn to_text(&self) -> String {
        let scaler = &self.map.scaler;
        let feature = |(f, root): (&Feature, &bool)| json!({ "name": f.name, "unit": f.unit, "root": root });
        let cluster = |c: &ClusterParts| json!({ "size": c.size, "mean": c.mean, "scatter": c.scatter });
        let parts = self.model.parts();
        let mut whole = json!({
            "format": FORMAT,
            "version": VERSION,
            "features": self.features.iter().zip(&self.map.roots).map(feature).collect::<Vec<_>>(),
            "scaling": {
                "kind": scaler.scaling().to_string(),
                "centre": scaler.centre(),
                "spread": scaler.spread(),
            },
            "penalty_divisor": self.penalty_divisor,
            "strength": parts.penalty_strength,
            "nu": parts.nu,
            "alpha": parts.alpha,
            "single": parts.singleton_weight,
            "power": parts.power,
            "metric": parts.metric,
            "base": { "middle": parts.base_middle, "scale": parts.base_scale },
            "clusters": parts.clusters.iter().map(cluster).collect::<Vec<_>>(),
            "field": parts.field.as_ref().map(cluster),
        });
        if let Some(errors) = &parts.errors {
            whole["errors"] = json!({ "values": errors.values, "shares": errors.shares });
        }
        format!("{whole:#}\n")
    }

    /// Reads and checks it; the error says what is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let whole: Value = serde_json::from_slice(bytes)
            .map_err(|error| format!("is not JSON: {error}; write it again with goc cluster --save-model"))?;
        if whole["format"] != FORMAT {
            return Err("is not a model; goc cluster --method marginal --save-model writes one".into());
        }
        if whole["version"] != VERSION {
            return Err(format!(
                "has version {}, but this program reads {VERSION}; write it again with goc cluster --save-model",
                whole["version"]
            ));
        }
        let whole = Part { value: &whole, path: String::new() };
        let features = whole.list("features")?.iter().map(feature).collect::<Result<Vec<_>, _>>()?;
        let (features, roots): (Vec<Feature>, Vec<bool>) = features.into_iter().unzip();
        let scaling = whole.at("scaling")?;
        let kind: Scaling = scaling.text("kind")?.parse().map_err(|e| format!("scaling.kind: {e}"))?;
        let scaler = Scaler::from_parts(kind, scaling.numbers("centre")?, scaling.numbers("spread")?)
            .map_err(|error| format!("scaling: {error}"))?;
        let penalty_divisor = whole.number("penalty_divisor")?;
        if !(penalty_divisor.is_finite() && penalty_divisor > 0.0) {
            return Err(format!("penalty_divisor is {penalty_divisor}, but must be above 0"));
        }
        let base = whole.at("base")?;
        let field = whole.at("field")?;
        // Absent from models of candidates without heavy tails, and from models written by earlier
        // versions.
        let errors = match whole.value["errors"].is_null() {
            true => None,
            false => {
                let errors = whole.at("errors")?;
                Some(Errors { values: errors.count("values")?, shares: errors.numbers("shares")? })
            }
        };
        let model = Model::new(ModelParts {
            clusters: whole.list("clusters")?.iter().map(cluster).collect::<Result<_, _>>()?,
            field: if field.value.is_null() { None } else { Some(cluster(&field)?) },
            metric: whole.numbers("metric")?,
            nu: whole.count("nu")?,
            alpha: whole.number("alpha")?,
            singleton_weight: whole.number("single")?,
            power: whole.number("power")?,
            penalty_strength: whole.number("strength")?,
            errors,
            base_middle: base.numbers("middle")?,
            base_scale: base.numbers("scale")?,
        })
        .map_err(|error| error.to_string())?;
        let (named, scaled, fitted) = (features.len(), scaler.centre().len(), model.features());
        if named != fitted || scaled != fitted {
            return Err(format!(
                "{named} features are named and {scaled} scaled, but the model has {fitted}; write it again"
            ));
        }
        Ok(Self { features, map: FeatureMap { roots, scaler }, penalty_divisor, model })
    }
}

fn feature(part: &Part<'_>) -> Result<(Feature, bool), String> {
    let unit = match part.at("unit")?.value {
        Value::Null => None,
        _ => Some(part.text("unit")?.to_string()),
    };
    let root = part.at("root")?;
    let root = root.value.as_bool().ok_or_else(|| root.is_not("true or false"))?;
    Ok((Feature { name: part.text("name")?.to_string(), unit }, root))
}

fn cluster(part: &Part<'_>) -> Result<ClusterParts, String> {
    Ok(ClusterParts {
        size: part.count("size")?,
        mean: part.numbers("mean")?,
        scatter: part.numbers("scatter")?,
    })
}

/// A part of the file that knows its location.
struct Part<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Part<'a> {
    fn at(&self, key: &str) -> Result<Part<'a>, String> {
        let path = if self.path.is_empty() { key.to_string() } else { format!("{}.{key}", self.path) };
        match self.value.get(key) {
            Some(value) => Ok(Part { value, path }),
            None => Err(format!("{path} is missing; write it again with goc cluster --save-model")),
        }
    }

    fn is_not(&self, what: &str) -> String {
        format!("{} is not {what}; write it again with goc cluster --save-model", self.path)
    }

    fn list(&self, key: &str) -> Result<Vec<Part<'a>>, String> {
        let part = self.at(key)?;
        let items = part.value.as_array().ok_or_else(|| part.is_not("a list"))?;
        let of = |(i, value)| Part { value, path: format!("{}[{i}]", part.path) };
        Ok(items.iter().enumerate().map(of).collect())
    }

    fn numbers(&self, key: &str) -> Result<Vec<f64>, String> {
        let number = |part: &Part<'_>| part.value.as_f64().ok_or_else(|| part.is_not("a number"));
        self.list(key)?.iter().map(number).collect()
    }

    fn number(&self, key: &str) -> Result<f64, String> {
        let part = self.at(key)?;
        part.value.as_f64().ok_or_else(|| part.is_not("a number"))
    }

    fn count(&self, key: &str) -> Result<usize, String> {
        let part = self.at(key)?;
        let number = part.value.as_u64().and_then(|v| usize::try_from(v).ok());
        number.ok_or_else(|| part.is_not("a whole number"))
    }

    fn text(&self, key: &str) -> Result<&'a str, String> {
        let part = self.at(key)?;
        part.value.as_str().ok_or_else(|| part.is_not("a text"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> ModelFile {
        let third = 1.0 / 3.0;
        let cluster = |size: usize| ClusterParts {
            size,
            mean: vec![0.1 + size as f64, -third * 1e-7],
            scatter: vec![0.7, 0.1, 0.1, f64::MIN_POSITIVE + third],
        };
        let model = Model::new(ModelParts {
            clusters: vec![cluster(3), cluster(12)],
            field: Some(cluster(40)),
            metric: vec![0.3, 0.1 * third, 0.1 * third, std::f64::consts::PI],
            nu: 9,
            alpha: 5.0,
            singleton_weight: 1.0,
            power: 0.5,
            penalty_strength: 2.0,
            errors: None,
            base_middle: vec![0.0, 1e300],
            base_scale: vec![1.1, 0.0, 0.0, 2.2],
        });
        let scaler = Scaler::from_parts(Scaling::Robust, vec![0.1, 0.2], vec![0.7, 1e-9]).unwrap();
        ModelFile {
            features: vec![Feature::with_unit("Jr \"<&", "kpc km/s"), Feature::new("Jphi")],
            map: FeatureMap { roots: vec![true, false], scaler },
            penalty_divisor: 1.9999999999999998,
            model: model.unwrap(),
        }
    }

    #[test]
    fn a_model_reads_back_to_the_last_bit_and_writes_the_same_bytes() {
        let text = model().to_text();
        let again = ModelFile::from_bytes(text.as_bytes()).unwrap();
        assert_eq!(again, model());
        assert_eq!(again.to_text(), text);
    }

    #[test]
    fn damaged_and_foreign_files_are_refused_with_the_place() {
        let text = model().to_text();
        let cases: [(&str, &str, &str); 11] = [
            (FORMAT, "other", "is not a model; goc cluster --method marginal --save-model writes one"),
            ("\"version\": 2", "\"version\": 7", "has version 7, but this program reads 2; write it"),
            ("\"nu\": 9", "\"nu\": -9", "nu is not a whole number; write it again"),
            ("\"nu\": 9", "\"mu\": 9", "nu is missing; write it again with goc cluster --save-model"),
            ("\"size\": 12", "\"size\": \"12\"", "clusters[1].size is not a whole number; write it"),
            ("\"root\": true", "\"root\": 1", "features[0].root is not true or false; write it"),
            ("\"alpha\": 5.0", "\"alpha\": -5.0", "alpha is -5, but must be a finite number above 0"),
            ("\"robust\"", "\"odd\"", "scaling.kind: scaling `odd` is unknown; use standard, robust or none"),
            ("\"centre\": [\n      0.1,", "\"centre\": [", "scaling: 1 centres, but 2 spreads"),
            ("1.9999999999999998", "0.0", "penalty_divisor is 0, but must be above 0"),
            ("3.141592653589793\n", "-3.1\n", "the metric is not a positive definite symmetric matrix"),
        ];
        for (from, to, message) in cases {
            assert!(text.contains(from), "{from} in {text}");
            let problem = ModelFile::from_bytes(text.replacen(from, to, 1).as_bytes()).unwrap_err();
            assert!(problem.starts_with(message), "{problem}");
        }
        let cut = ModelFile::from_bytes(&text.as_bytes()[..text.len() / 2]).unwrap_err();
        assert!(cut.starts_with("is not JSON: "), "{cut}");
        assert!(ModelFile::from_bytes(b"[1, 2]").unwrap_err().starts_with("is not a model"));
        assert!(ModelFile::from_bytes(b"\xff\xfe").unwrap_err().starts_with("is not JSON: "));
    }
}
