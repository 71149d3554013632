//! The long table of candidates while it grows, column by column.

use std::collections::TryReserveError;

use goc::Candidates as Sets;
use goc_tables::{Column, Data, Table};

use crate::fail::Fail;
use goc_pipeline::long_table::Names;

/// A feature's column.
pub struct Feature {
    pub name: String,
    pub unit: Option<String>,
}

/// The columns of the result while they grow.
pub struct Long {
    /// The row of the input, and the number of candidates, of each object.
    pub objects: Vec<(usize, usize)>,
    pub candidate: Vec<i32>,
    features: Vec<Vec<f64>>,
    penalty: Vec<f64>,
}

impl Long {
    /// Room for all candidates at once, so that nothing is copied while it grows.
    pub fn with_room(room: usize, features: usize, penalty: bool) -> Result<Self, TryReserveError> {
        let mut long = Self {
            objects: Vec::new(),
            candidate: Vec::new(),
            features: vec![Vec::new(); features],
            penalty: Vec::new(),
        };
        long.candidate.try_reserve_exact(room)?;
        for column in &mut long.features {
            column.try_reserve_exact(room)?;
        }
        if penalty {
            long.penalty.try_reserve_exact(room)?;
        }
        Ok(long)
    }

    /// Adds sets; `rows` are the rows of the input that they belong to.
    pub fn take(&mut self, sets: &Sets, rows: impl Iterator<Item = usize>) {
        for (i, row) in rows.enumerate() {
            let m = sets.count(i);
            self.objects.push((row, m));
            self.candidate.extend(0..m as i32);
            for (f, column) in self.features.iter_mut().enumerate() {
                column.extend_from_slice(sets.feature(i, f));
            }
            self.penalty.extend_from_slice(sets.penalties(i));
        }
    }

    pub fn into_table(self, names: &Names, features: &[Feature], kept: &[&Column]) -> Result<Table, Fail> {
        let rows = || self.objects.iter().copied();
        let object = match names {
            Names::Position => Data::I64(repeat(rows(), |row| row as i64)),
            Names::Integer(ids) => Data::I64(repeat(rows(), |row| ids[row])),
            Names::Text(ids) => Data::Text(repeat(rows(), |row| ids[row].clone())),
        };
        let mut columns = vec![
            Column::new("object", object).with_description("object, as the input names it"),
            Column::new("candidate", Data::I32(self.candidate))
                .with_description("candidate of the object, from 0"),
        ];
        for (feature, values) in features.iter().zip(self.features) {
            let column = Column::new(feature.name.clone(), Data::F64(values));
            columns.push(column.with_unit(feature.unit.clone().unwrap_or_default()));
        }
        if !self.penalty.is_empty() {
            columns.push(
                Column::new("penalty", Data::F64(self.penalty)).with_description("penalty, not scaled"),
            );
        }
        for column in kept {
            if columns.iter().any(|c| c.name() == column.name()) {
                return Err(Fail::usage(format!(
                    "--keep {}: the candidates have a column of that name already",
                    column.name()
                )));
            }
            columns.push(repeat_column(column, &self.objects)?);
        }
        Ok(Table::new(columns)?)
    }
}

/// A value a candidate from a value a row.
fn repeat<T: Clone>(objects: impl Iterator<Item = (usize, usize)>, value: impl Fn(usize) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for (row, m) in objects {
        all.resize(all.len() + m, value(row));
    }
    all
}

fn repeat_column(column: &Column, objects: &[(usize, usize)]) -> Result<Column, Fail> {
    let rows = || objects.iter().copied();
    let data = match column.data() {
        Data::Bool(v) => Data::Bool(repeat(rows(), |row| v[row])),
        Data::U8(v) => Data::U8(repeat(rows(), |row| v[row])),
        Data::I16(v) => Data::I16(repeat(rows(), |row| v[row])),
        Data::I32(v) => Data::I32(repeat(rows(), |row| v[row])),
        Data::I64(v) => Data::I64(repeat(rows(), |row| v[row])),
        Data::F32(v) => Data::F32(repeat(rows(), |row| v[row])),
        Data::F64(v) => Data::F64(repeat(rows(), |row| v[row])),
        _ => Data::Text(repeat(rows(), |row| column.text(row).into_owned())),
    };
    let mut made = Column::new(column.name(), data)
        .with_unit(column.unit().unwrap_or_default())
        .with_description(column.description().unwrap_or_default());
    if column.valid().is_some() {
        made = made.with_valid(repeat(rows(), |row| !column.is_null(row)))?;
    }
    Ok(made)
}
