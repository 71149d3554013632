//! `goc cluster`: candidates in, labels out.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use goc::baselines::uk_means::uk_means;
use goc::metrics::Scores;
use goc::optimistic::{Distance, Ending, KRule, Optimistic};
use goc::oracle::k_means::means;
use goc::pessimistic::Pessimistic;
use goc::points::squared_distance;
use goc::scale::{Scaler, Scaling};
use goc::{Candidates, Ids, Partition, Points};
use goc_tables::{Column, Data, Table};
use serde_json::{Value, json};

use crate::choices::{
    AlgorithmName, BeginName, DistanceName, EveryName, KRuleName, LinkageName, MethodName, OracleName,
    OracleSettings, PenaltyScale, PresetName, ReadingName, SeedingName, at_least_one, typed,
};
use crate::fail::Fail;
use crate::long_table::{LongTable, LongTableArgs, labels_for, numbered};
use crate::screen;

/// Cluster uncertain objects; every object gets a label and its chosen candidate
#[derive(Args)]
#[command(after_help = "Example: goc cluster candidates.parquet --k 50 -o labels.parquet\n\
         The authors' published code: --preset authors. Better minima: --k-rule constant --starts 10 --swaps 150.")]
pub struct Cluster {
    #[command(flatten)]
    table: LongTableArgs,

    /// Where the label table goes [default: standard output, as CSV]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Method for uncertain objects
    #[arg(long, value_enum, default_value_t = MethodName::Goc)]
    method: MethodName,

    /// Oracle that clusters one point per object
    #[arg(long, value_enum, default_value_t = OracleName::KMeans)]
    oracle: OracleName,

    /// Choices that belong together: what the paper says, or what the authors' code does
    #[arg(long, value_enum, default_value_t = PresetName::Paper)]
    preset: PresetName,

    /// Number of clusters to begin with, K(0)
    #[arg(long, value_name = "K")]
    k: usize,

    /// Weight of the penalties
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    lambda: f64,

    /// Divide the penalties by the largest (max), or leave them (none)
    #[arg(long, value_enum, default_value_t = PenaltyScale::Max)]
    penalty_scale: PenaltyScale,

    /// How features are made comparable: standard, robust (median, IQR) or none
    #[arg(long, default_value = "standard")]
    scale: Scaling,

    /// Distance of step (III); overrides the preset
    #[arg(long, value_enum)]
    distance: Option<DistanceName>,

    /// How K(t) follows from the clusters before; overrides the preset
    #[arg(long, value_enum)]
    k_rule: Option<KRuleName>,

    /// When the oracle is used; overrides the preset
    #[arg(long, value_enum)]
    oracle_every: Option<EveryName>,

    /// First representative of each object; overrides the preset
    #[arg(long, value_enum)]
    begin: Option<BeginName>,

    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Labels that replace the first clustering: a table with object and label
    #[arg(long, value_name = "FILE")]
    init_labels: Option<PathBuf>,

    /// Keep the best joint objective of N starts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    starts: usize,

    /// Then try N swap moves
    #[arg(long, value_name = "N", default_value_t = 0)]
    swaps: usize,

    /// Stop once no more than this share of the objects change; 0 is perfect convergence
    #[arg(long, value_name = "SHARE", default_value_t = 0.0)]
    tolerance: f64,

    /// Iterations at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    max_iterations: usize,

    /// Starts of the oracle [default: the oracle's own; 100 for k-means]
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    oracle_starts: Option<usize>,

    /// Iterations of the oracle at most: a low number is the early-stopped oracle
    #[arg(long, value_name = "N", value_parser = at_least_one())]
    oracle_iterations: Option<usize>,

    /// How k-means descends
    #[arg(long, value_enum, default_value_t = AlgorithmName::HartiganWong)]
    algorithm: AlgorithmName,

    /// How k-means draws its starts
    #[arg(long, value_enum, default_value_t = SeedingName::Random)]
    seeding: SeedingName,

    /// How the linkage oracle joins clusters
    #[arg(long, value_enum, default_value_t = LinkageName::Average)]
    linkage: LinkageName,

    /// What pessimism (--method gpc) maximises
    #[arg(long, value_enum, default_value_t = ReadingName::MinMax)]
    reading: ReadingName,

    /// Also write a table with a row an iteration: k, objective, objects changed
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,

    /// Also write a table with a row an iteration and object: candidate, label
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// What every method gives, in scaled units.
struct Answer {
    partition: Partition,
    /// The chosen candidate of each object; none for a method that does not choose.
    chosen: Option<Vec<u32>>,
    representatives: Points,
    centres: Points,
    objective: f64,
    iterations: usize,
    converged: bool,
    cycle: bool,
    k_initial: usize,
    history: Vec<goc::optimistic::Iteration>,
}

/// What the command has to say, and the labels.
pub struct Done {
    pub labels: Table,
    /// For machines.
    pub summary: Value,
    /// For people.
    pub sentence: String,
}

impl Cluster {
    pub fn run(self) -> Result<(), Fail> {
        let done = self.work()?;
        if self.json {
            if self.output.is_some() {
                screen::write_table(&done.labels, self.output.as_deref())?;
            }
            return screen::print_json(&done.summary);
        }
        // The sentence says where the labels are, so they must be there.
        screen::write_table(&done.labels, self.output.as_deref())?;
        screen::note(done.sentence);
        Ok(())
    }

    /// Everything but the printing; writes --history and --trace.
    pub fn work(&self) -> Result<Done, Fail> {
        if self.trace.is_some() && self.method != MethodName::Goc {
            return Err(Fail::usage("--trace needs --method goc"));
        }
        for path in [&self.output, &self.history, &self.trace] {
            screen::check_output(path.as_deref())?;
            if path.as_ref().is_some_and(|path| *path == self.table.input) {
                let name = self.table.input.display();
                return Err(Fail::usage(format!(
                    "{name}: the output would overwrite the input; name another file"
                )));
            }
        }
        let input = self.table.read()?;
        let began = Instant::now();
        let scaler = Scaler::fit(self.scale, &input.candidates).map_err(|e| Fail::failed(e.to_string()))?;
        for &f in scaler.constant_features() {
            screen::note(format!(
                "feature {} is the same everywhere; it is centred, not scaled",
                input.features[f].0
            ));
        }
        let input = input.map_candidates(|candidates| {
            let scaled = scaler.apply(candidates);
            if self.penalty_scale == PenaltyScale::Max { scaled.scale_penalties() } else { scaled }
        });
        let answer = self.solve(&input)?;
        let seconds = began.elapsed().as_secs_f64();
        let scores = input
            .truth
            .as_ref()
            .map(|truth| Scores::of(answer.partition.labels(), &numbered(truth)))
            .transpose()?;

        let labels = self.label_table(&input, &answer, &scaler)?;
        if let Some(path) = &self.history {
            goc_tables::write(&history_table(&answer)?, path)?;
        }
        if let Some(path) = &self.trace {
            goc_tables::write(&trace_table(&answer, &input.candidates)?, path)?;
        }
        Ok(Done {
            summary: self.summary(&input, &answer, scores.as_ref(), seconds),
            sentence: self.sentence(&input, &answer, scores.as_ref(), seconds),
            labels,
        })
    }

    fn solve(&self, input: &LongTable) -> Result<Answer, Fail> {
        let candidates = &input.candidates;
        let oracle = OracleSettings {
            name: self.oracle,
            starts: self.oracle_starts,
            iterations: self.oracle_iterations,
            algorithm: self.algorithm,
            seeding: self.seeding,
            linkage: self.linkage,
        }
        .build();
        match self.method {
            MethodName::Goc => {
                let valid = self.optimistic(candidates)?.check(candidates)?;
                let bar = screen::counter("iterations and moves");
                let found = valid.run_watched(oracle.as_ref(), self.seed, &|| bar.inc(1))?;
                bar.finish_and_clear();
                Ok(Answer {
                    representatives: candidates.chosen(&found.chosen),
                    converged: matches!(found.ending, Ending::Converged | Ending::Tolerance),
                    cycle: matches!(found.ending, Ending::Cycle { .. }),
                    // K(0): as asked, or as the first labels have it. An oracle may find fewer.
                    k_initial: if self.init_labels.is_some() { found.first.1.k() } else { self.k },
                    partition: found.partition,
                    chosen: Some(found.chosen),
                    centres: found.centres,
                    objective: found.objective,
                    iterations: found.iterations,
                    history: found.history,
                })
            }
            MethodName::Gpc => {
                let gpc = Pessimistic {
                    lambda: self.lambda,
                    distance: self.distance.map_or(Distance::Squared, DistanceName::value),
                    k_rule: self.k_rule.map_or(KRule::Plural, KRuleName::value),
                    max_iterations: self.max_iterations,
                    ..Pessimistic::new(self.k, self.reading.value())
                };
                let found = gpc.run(candidates, oracle.as_ref(), self.seed)?;
                Ok(Answer {
                    representatives: candidates.chosen(&found.chosen),
                    partition: found.partition,
                    chosen: Some(found.chosen),
                    centres: found.centres,
                    objective: found.objective,
                    iterations: found.iterations,
                    converged: found.converged,
                    cycle: found.cycle,
                    k_initial: self.k,
                    history: Vec::new(),
                })
            }
            MethodName::UkMeans => {
                let (partition, points) = uk_means(candidates, oracle.as_ref(), self.k, self.seed)?;
                let centres = means(&points, &partition);
                let objective = points
                    .rows()
                    .zip(partition.labels())
                    .map(|(x, &l)| squared_distance(x, centres.row(l as usize)))
                    .sum();
                Ok(Answer {
                    k_initial: self.k,
                    partition,
                    chosen: None,
                    representatives: points,
                    centres,
                    objective,
                    iterations: 1,
                    converged: true,
                    cycle: false,
                    history: Vec::new(),
                })
            }
        }
    }

    fn optimistic(&self, candidates: &Candidates) -> Result<Optimistic, Fail> {
        let mut goc = Optimistic::preset(self.preset.value(), self.k)
            .lambda(self.lambda)
            .tolerance(self.tolerance)
            .max_iterations(self.max_iterations)
            .starts(self.starts)
            .swaps(self.swaps);
        if self.trace.is_some() {
            goc = goc.history(goc::optimistic::Detail::Full);
        }
        if let Some(distance) = self.distance {
            goc = goc.distance(distance.value());
        }
        if let Some(rule) = self.k_rule {
            goc = goc.k_rule(rule.value());
        }
        if let Some(every) = self.oracle_every {
            goc = goc.oracle_every(every.value());
        }
        if let Some(begin) = self.begin {
            goc = goc.beginning(begin.value());
        }
        if let Some(path) = &self.init_labels {
            let labels = labels_for(candidates, path, &["label", "init_cluster", "cluster"])?;
            goc = goc.initial_labels(numbered(&labels));
        }
        Ok(goc)
    }

    fn label_table(&self, input: &LongTable, answer: &Answer, scaler: &Scaler) -> Result<Table, Fail> {
        let candidates = &input.candidates;
        let n = candidates.objects();
        let distance: Vec<f64> = (0..n)
            .map(|i| {
                let centre = answer.centres.row(answer.partition.labels()[i] as usize);
                squared_distance(answer.representatives.row(i), centre).sqrt()
            })
            .collect();
        let ids = match candidates.ids() {
            Ids::Integer(v) => Data::I64(v.clone()),
            Ids::Text(v) => Data::Text(v.clone()),
            _ => Data::I64((0..n as i64).collect()),
        };
        let labels = answer.partition.labels().iter().map(|&l| l as i32).collect();
        let mut columns = vec![
            Column::new("object", ids).with_description("object, as the input names it"),
            Column::new("label", Data::I32(labels)).with_description("cluster, from 0"),
        ];
        if let Some(chosen) = &answer.chosen {
            let penalties = (0..n).map(|i| candidates.penalty(i, chosen[i] as usize)).collect();
            let rows = (0..n).map(|i| input.row(i, chosen[i] as usize) as i64).collect();
            columns.push(
                Column::new("candidate", Data::I32(chosen.iter().map(|&j| j as i32).collect()))
                    .with_description(
                        "chosen candidate, from 0, among those of the object that were not dropped",
                    ),
            );
            columns.push(
                Column::new("row", Data::I64(rows))
                    .with_description("row of the input table, from 0, of that candidate"),
            );
            columns.push(
                Column::new("penalty", Data::F64(penalties))
                    .with_description("penalty of the chosen candidate, as scaled"),
            );
        }
        columns.push(
            Column::new("distance", Data::F64(distance)).with_description(
                "distance of the representative to its cluster's centre, in scaled features",
            ),
        );
        let original = scaler.invert(&answer.representatives);
        for (f, (name, unit)) in input.features.iter().enumerate() {
            let values = original.rows().map(|row| row[f]).collect();
            let mut column = Column::new(name.clone(), Data::F64(values));
            if let Some(unit) = unit {
                column = column.with_unit(unit.clone());
            }
            columns.push(column);
        }
        if let Some(truth) = &input.truth {
            let whole: Result<Vec<i64>, _> = truth.iter().map(|t| t.parse()).collect();
            columns.push(Column::new("truth", whole.map_or_else(|_| Data::Text(truth.clone()), Data::I64)));
        }
        let mut table = Table::new(columns)?;
        for (key, value) in self.settings() {
            table.set_metadata(format!("goc_{key}"), text_of(&value));
        }
        Ok(table)
    }

    /// The choices that made this result.
    fn settings(&self) -> Vec<(&'static str, Value)> {
        let mut settings = vec![
            ("version", json!(env!("CARGO_PKG_VERSION"))),
            ("method", json!(typed(self.method))),
            ("oracle", json!(typed(self.oracle))),
        ];
        if self.method == MethodName::Goc {
            settings.push(("preset", json!(typed(self.preset))));
        }
        // Only what was asked for beside the preset; the preset's own choices go by its name.
        if let Some(distance) = self.distance {
            settings.push(("distance", json!(typed(distance))));
        }
        if let Some(rule) = self.k_rule {
            settings.push(("k_rule", json!(typed(rule))));
        }
        if let Some(every) = self.oracle_every {
            settings.push(("oracle_every", json!(typed(every))));
        }
        if self.method == MethodName::Goc {
            settings.extend([("starts", json!(self.starts)), ("swaps", json!(self.swaps))]);
        }
        settings.extend([
            ("k_asked", json!(self.k)),
            ("lambda", json!(self.lambda)),
            ("scale", json!(self.scale.to_string())),
            ("seed", json!(self.seed)),
        ]);
        settings
    }

    fn summary(&self, input: &LongTable, answer: &Answer, scores: Option<&Scores>, seconds: f64) -> Value {
        let mut object = serde_json::Map::new();
        for (key, value) in self.settings() {
            object.insert(key.into(), value);
        }
        let mut put = |key: &str, value: Value| object.insert(key.into(), value);
        put("preset", json!(typed(self.preset)));
        put("n_objects", json!(input.candidates.objects()));
        put("n_candidates", json!(input.candidates.total()));
        put("n_dropped", json!(input.dropped));
        put("n_features", json!(input.candidates.features()));
        put("k_initial", json!(answer.k_initial));
        put("k", json!(answer.partition.k()));
        put("iterations", json!(answer.iterations));
        put("converged", json!(answer.converged));
        put("cycle", json!(answer.cycle));
        put("objective", json!(answer.objective));
        put("seconds", json!(seconds));
        if let Some(scores) = scores {
            put("nmi", json!(scores.nmi));
            put("f", json!(scores.f));
            put("ari", json!(scores.ari));
        }
        if let Some(path) = &self.output {
            put("output", json!(path.display().to_string()));
        }
        Value::Object(object)
    }

    fn sentence(&self, input: &LongTable, answer: &Answer, scores: Option<&Scores>, seconds: f64) -> String {
        let ending = match (answer.converged, answer.cycle) {
            (true, _) => "converged",
            (_, true) => "in a cycle, its best state kept",
            _ => "stopped at the limit",
        };
        let mut text = format!(
            "{} objects, {} candidates: {} clusters after {} iterations ({ending}), objective {:.6}, {seconds:.3} s",
            input.candidates.objects(),
            input.candidates.total(),
            answer.partition.k(),
            answer.iterations,
            answer.objective,
        );
        if answer.partition.k() < answer.k_initial && self.k_rule != Some(KRuleName::Constant) {
            text.push_str(&format!(
                "\nK fell from {} to {}: clusters that emptied, or kept one member only, were given up; --k-rule constant keeps K",
                answer.k_initial,
                answer.partition.k()
            ));
        }
        if let Some(s) = scores {
            text.push_str(&format!("\nagainst the truth: NMI {:.3}, F {:.3}, ARI {:.3}", s.nmi, s.f, s.ari));
        }
        if let Some(path) = &self.output {
            text.push_str(&format!("\nlabels in {}", path.display()));
        }
        text
    }
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn history_table(answer: &Answer) -> Result<Table, Fail> {
    let h = &answer.history;
    Ok(Table::new(vec![
        Column::new("iteration", Data::I32((1..=h.len() as i32).collect())),
        Column::new("k", Data::I32(h.iter().map(|t| t.k as i32).collect())),
        Column::new("objective", Data::F64(h.iter().map(|t| t.objective).collect())),
        Column::new("changed", Data::I64(h.iter().map(|t| t.changed as i64).collect())),
    ])?)
}

fn trace_table(answer: &Answer, candidates: &Candidates) -> Result<Table, Fail> {
    let (h, n) = (&answer.history, candidates.objects());
    let each = |value: &dyn Fn(usize, usize) -> i32| -> Vec<i32> {
        (0..h.len()).flat_map(|t| (0..n).map(move |i| (t, i))).map(|(t, i)| value(t, i)).collect()
    };
    let names = (0..h.len()).flat_map(|_| (0..n).map(|i| candidates.name(i)));
    let objects = match candidates.ids() {
        Ids::Text(_) => Data::Text(names.collect()),
        _ => Data::I64(names.map(|name| name.parse().unwrap_or_default()).collect()),
    };
    Ok(Table::new(vec![
        Column::new("iteration", Data::I32(each(&|t, _| t as i32 + 1))),
        Column::new("object", objects),
        Column::new("candidate", Data::I32(each(&|t, i| h[t].chosen[i] as i32))),
        Column::new("oracle_label", Data::I32(each(&|t, i| h[t].oracle_labels[i] as i32))),
        Column::new("label", Data::I32(each(&|t, i| h[t].labels[i] as i32))),
    ])?)
}
