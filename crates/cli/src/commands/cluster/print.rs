//! The report on a fit: a sentence for people, a JSON object for programs.

use std::path::Path;

use goc::choice::Choice;
use goc::choose_k::{Chosen, Criterion, Trial};
use goc::optimistic::KRule;
use goc_pipeline::scores::by_name;
use goc_pipeline::{AutoFound, Fit, NOISE, Speech, counted};
use serde_json::{Value, json};

/// The summary for programs.
pub fn summary(fit: &Fit, output: Option<&Path>) -> Vec<(&'static str, Value)> {
    let (data, mut told) = (&fit.prepared.data, fit.described());
    let mut put = |key, value: Value| told.push((key, value));
    put("preset", json!(fit.settings.preset.word()));
    // A method without an oracle has a null here.
    if !fit.settings.method.uses_oracle() {
        put("oracle", Value::Null);
    }
    put("n_objects", json!(data.candidates.objects()));
    put("n_candidates", json!(data.candidates.total()));
    put("n_dropped", json!(data.dropped_candidates));
    put("n_features", json!(data.candidates.features()));
    put("k_initial", json!(fit.k_initial));
    for (key, value) in fit.outcome(true) {
        put(key, value);
    }
    if let Some(stability) = &fit.stability {
        let known: Vec<f64> = stability.objects.iter().copied().filter(|v| v.is_finite()).collect();
        let mean = known.iter().sum::<f64>() / known.len() as f64;
        put("mean_stability", if known.is_empty() { Value::Null } else { json!(mean) });
    }
    if let Some(verdict) = &fit.significance {
        put("k_tested", json!(verdict.p.iter().filter(|p| p.is_finite()).count()));
        put("null_clusters", json!(verdict.null_clusters));
    }
    if let Some((_, chosen)) = &fit.auto.k {
        put("k_curve", chosen.curve.iter().map(|trial| json!([trial.k, trial.value])).collect());
    }
    put("seconds", json!(fit.seconds));
    for (name, score) in fit.scores.iter().flat_map(|scores| by_name(scores).into_iter().take(3)) {
        put(name, json!(score));
    }
    if let Some(path) = output {
        put("output", json!(path.display().to_string()));
    }
    told
}

/// The report for people.
pub fn sentence(fit: &Fit, output: Option<&Path>) -> String {
    let (candidates, grouped, seconds) = (&fit.prepared.data.candidates, &fit.grouped, fit.seconds);
    let ending = match (grouped.converged, grouped.cycle) {
        (true, _) => "converged",
        (_, true) => "in a cycle, its best state kept",
        _ if grouped.posterior.is_some() => "not converged",
        _ => "stopped at the limit, see --max-iterations",
    };
    let mut text = format!(
        "{}, {}: {} after {} ({ending}){}, {seconds:.3} s",
        counted(candidates.objects(), "object"),
        counted(candidates.total(), "candidate"),
        counted(fit.k(), "cluster"),
        counted(grouped.iterations, "iteration"),
        grouped.objective.map_or_else(String::new, |objective| format!(", objective {objective:.6}")),
    );
    let mut line = |said: String| text.push_str(&format!("\n{said}"));
    found(&fit.auto).into_iter().for_each(&mut line);
    fit.remarks.iter().map(|remark| Speech::Flags.of(remark)).for_each(&mut line);
    if grouped.noise_count() > 0 {
        line(format!("{} in no cluster (label {NOISE})", counted(grouped.noise_count(), "object")));
    }
    let settings = &fit.settings;
    let falls = settings.method.uses_lambda() && settings.k_rule != Some(KRule::Constant);
    if fit.k() < fit.k_initial && grouped.noise.is_empty() && falls {
        let why = match (settings.oracle.finds_k(), settings.drops_single()) {
            (true, _) => "the oracle finds K itself",
            (_, true) => "empty and singleton clusters were dropped; --k-rule constant keeps K",
            _ => "empty clusters were dropped; --k-rule constant keeps K",
        };
        line(format!("K fell from {} to {}: {why}", fit.k_initial, fit.k()));
    }
    if let Some(s) = &fit.scores {
        line(format!("against the truth: NMI {:.3}, F {:.3}, ARI {:.3}", s.nmi, s.f, s.ari));
    }
    if let Some(path) = output {
        line(format!("labels in {}", path.display()));
    }
    text
}

/// The K and lambda that were chosen, and the curve as bars.
fn found(auto: &AutoFound) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((by, chosen)) = &auto.k {
        let why = match by {
            Criterion::Marginal => {
                ": below, how well the clusters agree with the draws of the marginal mixture"
            }
            _ => "",
        };
        lines.push(format!("K = {} by {by}{why}", chosen.k));
        lines.extend(bars(chosen));
    }
    if let Some(found) = &auto.lambda {
        let rounds = counted(found.rounds.len(), "round");
        let end = match (found.settled, found.rounds.len()) {
            (_, 0) => "there are no penalties to weigh".into(),
            (true, _) => format!("settled after {rounds}"),
            (false, _) => format!("not converged after {rounds}"),
        };
        lines.push(format!("lambda = {:.6} by the likelihood, {end}", found.lambda));
    }
    lines
}

/// A line for each K: the number, the value, a bar between the least and the largest value.
fn bars(chosen: &Chosen) -> Vec<String> {
    const WIDTH: f64 = 30.0;
    let values = || chosen.curve.iter().map(|t| t.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let share = |value: f64| if high > low { (value - low) / (high - low) } else { 1.0 };
    let line = |t: &Trial| {
        let mark = if t.k == chosen.k { '*' } else { ' ' };
        let bar = "#".repeat((share(t.value) * WIDTH).round() as usize);
        format!("{mark}{:>5}  {:>12.4}  {bar}", t.k, t.value)
    };
    chosen.curve.iter().map(line).collect()
}
