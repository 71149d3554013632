//! Writes a data set as a long table with one row per candidate.

use std::borrow::Cow;

use goc::{Candidates, Ids};
use goc_tables::{Column, Data, Table};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::labels::described;
use crate::long_table::FROM_PRIOR;
use crate::sampling::{Loss, Origin};

/// The long table: object, candidate, features, extra columns and penalty, followed by the columns
/// `kept` of the input. Its metadata hold the provenance.
pub fn candidate_table(dataset: &Dataset, origin: &Origin, kept: &[&Column]) -> Result<Table> {
    long_table(Cow::Borrowed(dataset), &origin.rows, kept)
}

/// Like [`candidate_table`], for a data set that is no longer needed: its extra columns are not
/// copied.
pub fn into_candidate_table(dataset: Dataset, origin: &Origin, kept: &[&Column]) -> Result<Table> {
    piece_table(dataset, &origin.rows, kept)
}

/// The same for a piece of a data set ([`Sampling::sample_in_pieces`](crate::Sampling)) and the
/// rows of its objects.
pub fn piece_table(dataset: Dataset, rows: &[usize], kept: &[&Column]) -> Result<Table> {
    long_table(Cow::Owned(dataset), rows, kept)
}

fn long_table(dataset: Cow<'_, Dataset>, rows: &[usize], kept: &[&Column]) -> Result<Table> {
    let sets = &dataset.candidates;
    let counts: Vec<usize> = (0..sets.objects()).map(|i| sets.count(i)).collect();
    let object = match sets.ids() {
        Ids::Integer(ids) => Data::I64(repeat(&counts, |i| ids[i])),
        Ids::Text(ids) => Data::Text(repeat(&counts, |i| ids[i].clone())),
        _ => Data::I64(repeat(&counts, |i| i as i64)),
    };
    let candidate = counts.iter().flat_map(|&m| 0..m as i32).collect();
    let mut columns = vec![
        described("object", object, "object, as the input names it"),
        described("candidate", Data::I32(candidate), "candidate of the object, from 0"),
    ];
    for (f, feature) in dataset.features.iter().enumerate() {
        let column = Column::new(feature.name.clone(), Data::F64(all(sets, |i| sets.feature(i, f))));
        columns.push(column.with_unit(feature.unit.clone().unwrap_or_default()));
    }
    let from_prior =
        (!dataset.from_prior.is_empty()).then(|| Data::Bool(repeat(&counts, |i| dataset.from_prior[i])));
    let penalty = sets.has_penalties().then(|| all(sets, |i| sets.penalties(i)));
    let (extras, provenance) = match dataset {
        Cow::Owned(dataset) => (dataset.extras, dataset.provenance),
        Cow::Borrowed(dataset) => (dataset.extras.clone(), dataset.provenance.clone()),
    };
    for extra in extras {
        let column = Column::new(extra.feature.name, Data::F64(extra.values));
        columns.push(column.with_unit(extra.feature.unit.unwrap_or_default()));
    }
    if let Some(penalty) = penalty {
        columns.push(described("penalty", Data::F64(penalty), "penalty, not scaled"));
    }
    if let Some(from_prior) = from_prior {
        columns.push(described(
            FROM_PRIOR,
            from_prior,
            "whether a value of the object is drawn from a prior",
        ));
    }
    for column in kept {
        if columns.iter().any(|c| c.name() == column.name()) {
            return Err(usage!(
                "{{keep}} {}: the candidates have a column of that name already",
                column.name()
            ));
        }
        columns.push(repeat_column(column, &counts, rows)?);
    }
    let mut table = Table::new(columns)?;
    for (key, value) in provenance {
        table.set_metadata(key, value);
    }
    Ok(table)
}

/// The values of all objects, concatenated.
fn all<'c>(sets: &'c Candidates, values: impl Fn(usize) -> &'c [f64]) -> Vec<f64> {
    let mut column = Vec::with_capacity(sets.total());
    (0..sets.objects()).for_each(|i| column.extend_from_slice(values(i)));
    column
}

/// One row for each object that lost points: how many were drawn, how many were kept, and why.
pub fn loss_table(origin: &Origin) -> Result<Table> {
    let losses = &origin.losses;
    let count =
        |number: &dyn Fn(&Loss) -> usize| Data::I32(losses.iter().map(|loss| number(loss) as i32).collect());
    Ok(Table::new(vec![
        Column::new("object", Data::Text(losses.iter().map(|loss| loss.name.clone()).collect())),
        Column::new("drawn", count(&|loss| loss.drawn)),
        Column::new("kept", count(&|loss| loss.kept)),
        Column::new("reasons", Data::Text(losses.iter().map(|loss| loss.reasons.to_string()).collect())),
    ])?)
}

/// Repeats a value of each object for all its candidates.
fn repeat<T: Clone>(counts: &[usize], value: impl Fn(usize) -> T) -> Vec<T> {
    let mut all = Vec::with_capacity(counts.iter().sum());
    for (i, m) in counts.iter().enumerate() {
        all.resize(all.len() + m, value(i));
    }
    all
}

/// Repeats the rows of an input column, one per object, for every candidate.
fn repeat_column(column: &Column, counts: &[usize], rows: &[usize]) -> Result<Column> {
    let data = match column.data() {
        Data::Bool(v) => Data::Bool(repeat(counts, |i| v[rows[i]])),
        Data::U8(v) => Data::U8(repeat(counts, |i| v[rows[i]])),
        Data::I16(v) => Data::I16(repeat(counts, |i| v[rows[i]])),
        Data::I32(v) => Data::I32(repeat(counts, |i| v[rows[i]])),
        Data::I64(v) => Data::I64(repeat(counts, |i| v[rows[i]])),
        Data::F32(v) => Data::F32(repeat(counts, |i| v[rows[i]])),
        Data::F64(v) => Data::F64(repeat(counts, |i| v[rows[i]])),
        _ => Data::Text(repeat(counts, |i| column.text(rows[i]).into_owned())),
    };
    let mut made = Column::new(column.name(), data)
        .with_unit(column.unit().unwrap_or_default())
        .with_description(column.description().unwrap_or_default());
    if column.valid().is_some() {
        made = made.with_valid(repeat(counts, |i| !column.is_null(rows[i])))?;
    }
    Ok(made)
}
