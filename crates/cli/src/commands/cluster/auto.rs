//! `--k auto` and `--lambda auto`: numbers that the data give, found before the method runs with them.

use std::str::FromStr;

use clap::ValueEnum;
use goc::Candidates;
use goc::choose_k::lambda::{LambdaFound, lambda};
use goc::choose_k::{Chooser, Chosen, Criterion, Solution};
use goc::optimistic::{Distance, Search};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use super::method::MethodArgs;
use crate::choices::{DistanceName, KRuleName, MethodName, PresetName, typed};
use crate::fail::Fail;
use crate::long_table::scores_of;
use crate::screen;

/// Lambda where nothing was said, and where the search for one begins.
pub const FIRST_LAMBDA: f64 = 0.01;

/// A number, or the wish to have it found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish<T> {
    Number(T),
    Auto,
}

impl<T: FromStr> FromStr for Wish<T>
where
    T::Err: std::fmt::Display,
{
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Wish::Auto),
            number => {
                number.parse().map(Wish::Number).map_err(|error| format!("{error}; give a number or auto"))
            }
        }
    }
}

/// What K is chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CriterionName {
    /// The number of clusters that the marginal mixture finds
    Marginal,
    /// Mean silhouette of the representatives
    Silhouette,
    /// BIC of a Gaussian mixture that sums over the candidates
    Bic,
    /// The same, memberships that are not clear counted against it
    Icl,
    /// Agreement of clusterings of resampled candidates
    Stability,
}

impl CriterionName {
    fn value(self) -> Criterion {
        match self {
            CriterionName::Marginal => Criterion::Marginal,
            CriterionName::Silhouette => Criterion::Silhouette,
            CriterionName::Bic => Criterion::Bic,
            CriterionName::Icl => Criterion::Icl,
            CriterionName::Stability => Criterion::Stability,
        }
    }
}

/// What is done for a better minimum of GOC's objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SearchName {
    /// The paper's run, and the --swaps asked for
    Plain,
    /// Then guided swaps of centres until they no longer pay
    Thorough,
}

impl SearchName {
    pub fn value(self) -> Search {
        match self {
            SearchName::Plain => Search::Plain,
            SearchName::Thorough => Search::Thorough,
        }
    }
}

/// What was found for the wishes.
#[derive(Default)]
pub struct Found {
    k: Option<(CriterionName, Chosen)>,
    lambda: Option<LambdaFound>,
}

impl MethodArgs {
    /// The method with numbers in place of wishes.
    pub fn resolved(&self, candidates: &Candidates, seed: u64) -> Result<(Self, Found), Fail> {
        let mut method = self.clone();
        let mut found = Found::default();
        if self.looks_for_k() {
            // A K that was looked for is kept, and the minimum with it is worth finding.
            if self.method == MethodName::Goc {
                method.k_rule.get_or_insert(KRuleName::Constant);
                method.search.get_or_insert(SearchName::Thorough);
            }
            let by = self.k_by.unwrap_or(CriterionName::Marginal);
            let chooser = Chooser::new(by.value()).penalty_strength(self.strength());
            let bar = screen::counter("clusterings to choose K");
            let chosen = chooser.choose(candidates, seed, |candidates, k, seed| {
                method.k = Some(Wish::Number(k));
                bar.inc(1);
                method.solution(candidates, seed)
            })?;
            bar.finish_and_clear();
            method.k = Some(Wish::Number(chosen.k));
            found.k = Some((by, chosen));
        }
        if self.lambda == Wish::Auto && self.method.uses_lambda() {
            let bar = screen::counter("clusterings to find lambda");
            let this = lambda(candidates, self.strength(), FIRST_LAMBDA, |lambda| {
                method.lambda = Wish::Number(lambda);
                bar.inc(1);
                method.solution(candidates, seed)
            })?;
            bar.finish_and_clear();
            method.lambda = Wish::Number(this.lambda);
            found.lambda = Some(this);
        }
        Ok((method, found))
    }

    fn solution(&self, candidates: &Candidates, seed: u64) -> Result<Solution, Fail> {
        let answer = self.solve(candidates, seed, false)?;
        Ok(Solution { partition: answer.partition, places: answer.representatives })
    }

    /// Lambda as a number.
    pub fn lambda(&self) -> f64 {
        match self.lambda {
            Wish::Number(lambda) => lambda,
            Wish::Auto => FIRST_LAMBDA,
        }
    }

    /// Whether K is to be found.
    pub(super) fn looks_for_k(&self) -> bool {
        self.k == Some(Wish::Auto) && !self.method.finds_k()
    }

    /// What can be said of the wishes before any table is read.
    pub(super) fn check_wishes(&self) -> Result<(), Fail> {
        if self.k_by.is_some() && !self.looks_for_k() {
            return Err(Fail::usage(
                "--k-by is a way to find K: it needs --k auto and a method that takes K",
            ));
        }
        if self.looks_for_k() && self.init_labels.is_some() {
            return Err(Fail::usage("--init-labels fixes K, so it cannot go with --k auto"));
        }
        if self.lambda == Wish::Auto {
            let squared = match self.distance {
                Some(distance) => distance.value() == Distance::Squared,
                None => self.preset == PresetName::Paper || !self.method.has_preset_distance(),
            };
            if !squared {
                return Err(Fail::usage(format!(
                    "--lambda auto is the weight that the squared distance has in a likelihood; add --distance {}",
                    typed(DistanceName::Squared)
                )));
            }
        }
        Ok(())
    }
}

impl MethodName {
    /// Whether `--lambda` matters to it.
    pub fn uses_lambda(self) -> bool {
        use MethodName::{Goc, GocBox, GocHull, GocTree, Gpc};
        matches!(self, Goc | Gpc | GocHull | GocBox | GocTree)
    }

    /// Whether its distance follows from the preset unless told.
    fn has_preset_distance(self) -> bool {
        matches!(self, MethodName::Goc | MethodName::GocTree)
    }
}

impl Found {
    /// For machines.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        let mut settings = Vec::new();
        if let Some((by, chosen)) = &self.k {
            settings.push(("k_asked", json!("auto")));
            settings.push(("k_by", json!(typed(*by))));
            settings.push(("k_chosen", json!(chosen.k)));
        }
        if let Some(found) = &self.lambda {
            settings.push(("lambda_asked", json!("auto")));
            settings.push(("lambda_rounds", json!(found.rounds)));
        }
        settings
    }

    /// The curve, for `--json`.
    pub fn curve(&self) -> Option<Value> {
        let (_, chosen) = self.k.as_ref()?;
        Some(chosen.curve.iter().map(|trial| json!([trial.k, trial.value])).collect())
    }

    /// For people: what was taken, and the curve as bars.
    pub fn sentence(&self) -> String {
        let mut lines = Vec::new();
        if let Some((by, chosen)) = &self.k {
            let why = match by {
                CriterionName::Marginal => {
                    ": the clusters of the partition nearest to all draws; below, how often the draws had each K"
                }
                _ => "",
            };
            lines.push(format!("K = {} by {}{why}", chosen.k, typed(*by)));
            lines.extend(bars(chosen));
        }
        if let Some(found) = &self.lambda {
            let end = match (found.settled, found.rounds.len()) {
                (_, 0) => "there are no penalties to weigh".into(),
                (true, rounds) => format!("settled after {}", screen::counted(rounds, "round")),
                (false, rounds) => format!("not settled after {}", screen::counted(rounds, "round")),
            };
            lines.push(format!("lambda = {:.6} by the likelihood, {end}", found.lambda));
        }
        lines.join("\n")
    }

    /// A row for every K that was looked at: k, the criterion, and, with the truth, the NMI of the
    /// clustering.
    pub fn curve_table(&self, truth: Option<&[String]>) -> Result<Table, Fail> {
        let (by, chosen) = self
            .k
            .as_ref()
            .ok_or_else(|| Fail::usage("--k-curve needs --k auto and a method that takes K"))?;
        let trials = &chosen.curve;
        let mut columns = vec![
            Column::new("k", Data::I64(trials.iter().map(|t| t.k as i64).collect())),
            Column::new(
                match by {
                    CriterionName::Marginal => "probability".into(),
                    other => typed(*other),
                },
                Data::F64(trials.iter().map(|t| t.value).collect()),
            ),
        ];
        if let Some(truth) = truth {
            let mut scores = Vec::with_capacity(trials.len());
            for trial in trials {
                scores.push(match &trial.partition {
                    Some(partition) => scores_of(partition.labels(), truth)?.map(|s| s.nmi),
                    None => None,
                });
            }
            if scores.iter().any(Option::is_some) {
                let values = scores.iter().map(|s| s.unwrap_or(f64::NAN)).collect();
                let valid = scores.iter().map(Option::is_some).collect();
                columns.push(Column::new("nmi", Data::F64(values)).with_valid(valid)?);
            }
        }
        columns.push(Column::new("chosen", Data::Bool(trials.iter().map(|t| t.k == chosen.k).collect())));
        let mut table = Table::new(columns)?;
        for (key, value) in self.settings() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_string);
            table.set_metadata(format!("goc_{key}"), text);
        }
        Ok(table)
    }
}

/// A line for each K: the number, the value, a bar between the least and the largest value.
fn bars(chosen: &Chosen) -> Vec<String> {
    const WIDTH: f64 = 30.0;
    let values = || chosen.curve.iter().map(|t| t.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let share = |value: f64| if high > low { (value - low) / (high - low) } else { 1.0 };
    let line = |t: &goc::choose_k::Trial| {
        let mark = if t.k == chosen.k { '*' } else { ' ' };
        let bar = "#".repeat((share(t.value) * WIDTH).round() as usize);
        format!("{mark}{:>5}  {:>12.4}  {bar}", t.k, t.value)
    };
    chosen.curve.iter().map(line).collect()
}
