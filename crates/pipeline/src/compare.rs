//! Every method and every oracle on the same data: the list of what can be compared, and one run.
//!
//! A row holds the settings that differ from the default, so each row can be rerun on its own.
//! Methods run one after another, so their times can be compared; each uses all threads where it
//! can.

use std::time::Instant;

use goc::baselines::boxes::BoxDistance;
use goc::choice::Choice;
use goc::method::Grouped;
use goc::metrics::Scores;
use goc::pessimistic::Reading;
use serde_json::{Value, json};

use crate::error::Result;
use crate::keep::{self, Keep};
use crate::methods::Run;
use crate::missing_values::{with_burn, withhold};
use crate::names::{MethodName, OracleName, SetDistanceName};
use crate::prepared::Prepared;
use crate::scores::scores_of;
use crate::settings::{Setting, Settings};
use crate::watch::{Unwatched, Watch};

/// One row of the comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The method and, after a slash, the oracle or distance it is used with.
    pub name: String,
    /// The settings that define it, as pairs of field and value.
    pub changes: Vec<(&'static str, String)>,
    /// Whether the answer depends on the seed.
    pub draws: bool,
}

impl Row {
    fn new(method: MethodName, draws: bool) -> Self {
        let name = method.word().to_string();
        Self { changes: vec![("method", name.clone())], name, draws }
    }

    /// One row for every word a setting accepts; `draws` says for which words the answer depends on
    /// the seed.
    fn with_each<C: Choice>(&self, setting: &'static str, draws: impl Fn(C) -> bool) -> Vec<Self> {
        let with = |(choice, word, _): &(C, &str, &str)| {
            let changes = [&self.changes[..], &[(setting, word.to_string())]].concat();
            Self { name: format!("{}/{word}", self.name), changes, draws: draws(*choice) }
        };
        C::ALL.iter().map(with).collect()
    }

    /// Whether `name` is this row's name, or the beginning of it up to a slash.
    pub fn is_called(&self, name: &str) -> bool {
        self.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The name up to the slash.
    pub fn kind(&self) -> &str {
        self.name.split('/').next().unwrap_or(&self.name)
    }

    /// The command-line flags that produce it.
    pub fn flags(&self) -> String {
        let flag = |(name, value): &(&str, String)| {
            Setting::named(name).map(|setting| format!("--{} {value}", setting.flag))
        };
        self.changes.iter().filter_map(flag).collect::<Vec<_>>().join(" ")
    }

    /// The settings of this row; everything else is as in `base`.
    pub fn settings(&self, base: &Settings) -> Result<Settings> {
        let mut settings = base.clone();
        for (name, value) in &self.changes {
            settings.set(name, value)?;
        }
        Ok(settings)
    }
}

/// Every method, with every oracle and every distance that it can use.
pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for (method, ..) in MethodName::ALL {
        let row = Row::new(*method, *method != MethodName::Fdbscan);
        match method {
            MethodName::Goc | MethodName::UkMeans => rows.extend(row.with_each("oracle", OracleName::draws)),
            MethodName::Gpc => rows.extend(row.with_each("reading", |_: Reading| true)),
            MethodName::Boxes => rows.extend(row.with_each("box_distance", |_: BoxDistance| true)),
            MethodName::Affinity | MethodName::Medoids | MethodName::Linkage => {
                let draws = *method == MethodName::Medoids;
                rows.extend(row.with_each("set_distance", |_: SetDistanceName| draws));
            }
            MethodName::ExtremeDeconvolution => {
                let mut found = row.clone();
                found.name = format!("{}/bic", row.name);
                found.changes.push(("k", "auto".into()));
                rows.extend([row.clone(), found]);
            }
            // An oracle clusters plain points, not uncertain objects; UK-means is the oracle on the
            // means of the sets.
            MethodName::Oracle => {}
            _ => rows.push(row.clone()),
        }
        if *method == MethodName::Goc {
            let mut best = row;
            best.name = "goc-best-of-10".into();
            let more = [("k_rule", "constant"), ("starts", "10"), ("swaps", "150")];
            best.changes.extend(more.map(|(name, value)| (name, value.to_string())));
            rows.push(best);
        }
    }
    rows
}

/// The rows with one of these names, or all rows if no name is given. The error is a name that no
/// row has, with the known names.
pub fn rows_called(only: Option<&[String]>) -> Result<Vec<Row>, (String, String)> {
    let mut all = rows();
    let Some(only) = only else { return Ok(all) };
    if let Some(name) = only.iter().find(|name| !all.iter().any(|row| row.is_called(name))) {
        let mut kinds: Vec<&str> = all.iter().map(Row::kind).collect();
        kinds.dedup();
        return Err((name.clone(), kinds.join(", ")));
    }
    all.retain(|row| only.iter().any(|name| row.is_called(name)));
    Ok(all)
}

/// The result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Scores against the truth, where there is one.
    pub scores: Option<Scores>,
    /// Number of clusters, not counting noise.
    pub k: usize,
    /// Number of objects that the method labels as noise.
    pub noise: usize,
    /// Rounds of the method.
    pub iterations: usize,
    /// What the method minimises.
    pub objective: Option<f64>,
    /// Whether it converged.
    pub converged: bool,
    /// Wall-clock time of the method alone.
    pub seconds: f64,
}

/// Only runs a method on prepared data: no search for K, no stability or significance.
pub fn group(prepared: &Prepared, settings: &Settings, seed: u64, watch: &dyn Watch) -> Result<Grouped> {
    let strength = settings.penalty_strength.unwrap_or_else(|| prepared.penalty_strength());
    let settings = Settings { penalty_strength: Some(strength), ..settings.clone() };
    let settings = &with_burn(settings, &prepared.data.from_prior);
    let run = Run { settings, oracle: None, weights: None, watch, keep: None };
    Ok(withhold(run.group(&prepared.data.candidates, seed)?, &prepared.data.from_prior).0)
}

/// One run of a row.
pub fn outcome(prepared: &Prepared, settings: &Settings, seed: u64) -> Result<Outcome> {
    let began = Instant::now();
    let found = group(prepared, settings, seed, &Unwatched)?;
    let seconds = began.elapsed().as_secs_f64();
    let scores = match &prepared.data.truth {
        Some(truth) => scores_of(found.partition.labels(), truth)?,
        None => None,
    };
    Ok(Outcome {
        scores,
        k: found.k(),
        noise: found.noise_count(),
        iterations: found.iterations,
        objective: found.objective,
        converged: found.converged,
        seconds,
    })
}

/// The same, saved under `name`, or read back if it was saved before. The outer error concerns
/// saving; a method that fails is not saved.
pub fn kept_outcome(
    prepared: &Prepared,
    settings: &Settings,
    seed: u64,
    keep: Option<&dyn Keep>,
    name: &str,
) -> Result<Result<Outcome>> {
    let Some(keep) = keep else { return Ok(outcome(prepared, settings, seed)) };
    if let Some(kept) = keep.kept(name)? {
        return Outcome::read(&kept).map(Ok).ok_or_else(|| keep.damaged(name));
    }
    let made = outcome(prepared, settings, seed);
    if let Ok(made) = &made {
        keep.keep(name, &made.written())?;
    }
    Ok(made)
}

impl Outcome {
    fn written(&self) -> Value {
        json!({
            "scores": self.scores.as_ref().map(keep::scores),
            "k": self.k,
            "noise": self.noise,
            "iterations": self.iterations,
            "objective": self.objective.map(keep::real),
            "converged": self.converged,
            "seconds": keep::real(self.seconds),
        })
    }

    fn read(kept: &Value) -> Option<Self> {
        let scores = match kept.get("scores")? {
            Value::Null => None,
            scores => Some(keep::to_scores(scores)?),
        };
        let objective = match kept.get("objective")? {
            Value::Null => None,
            objective => Some(keep::to_real(objective)?),
        };
        Some(Self {
            scores,
            k: keep::to_count(kept.get("k")?)?,
            noise: keep::to_count(kept.get("noise")?)?,
            iterations: keep::to_count(kept.get("iterations")?)?,
            objective,
            converged: kept.get("converged")?.as_bool()?,
            seconds: keep::to_real(kept.get("seconds")?)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_every_oracle_has_a_row_and_no_name_stands_twice() {
        let rows = rows();
        for (_, method, _) in MethodName::ALL.iter().filter(|(_, word, _)| *word != "oracle") {
            let flag = format!("--method {method}");
            assert!(rows.iter().any(|row| row.flags().starts_with(&flag)), "{method}");
        }
        for (_, oracle, _) in OracleName::ALL {
            let flags = format!("--method goc --oracle {oracle}");
            assert!(rows.iter().any(|row| row.flags() == flags), "{oracle}");
        }
        let mut names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rows.len());
    }

    #[test]
    fn a_name_stands_for_all_that_begin_with_it_up_to_a_slash() {
        let named = |name: &str| rows().iter().filter(|row| row.is_called(name)).count();
        assert_eq!(named("goc"), OracleName::ALL.len());
        assert_eq!((named("goc/k-means"), named("goc-hull"), named("go")), (1, 1, 0));
    }

    #[test]
    fn a_row_changes_what_it_says_and_nothing_else() {
        let base = Settings::of(MethodName::Goc).clusters(7);
        for row in rows() {
            let settings = row.settings(&base).unwrap();
            assert!(settings.check().is_ok(), "{}", row.name);
            let mut back = settings.clone();
            for (name, _) in &row.changes {
                let setting = Setting::named(name).unwrap();
                match setting.get(&base) {
                    Some(value) => setting.set(&mut back, &value).unwrap(),
                    None => back.k_rule = None,
                }
            }
            assert_eq!(back, base, "{}", row.name);
        }
    }
}
