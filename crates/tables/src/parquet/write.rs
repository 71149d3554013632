//! Writes Parquet: zstd, row groups of about a million rows, and reproducible bytes.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int16Array, Int32Array, Int64Array,
    RecordBatch, RecordBatchOptions, StringArray, UInt8Array,
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::carried::Carried;
use super::fence::{Broken, fenced};
use super::{ASTROPY, ASTROPY_LENGTH, about_storage, no_memory};
use crate::ecsv::header;
use crate::error::{Place, Result, TableError};
use crate::table::Stored;
use crate::{Column, Data, Table};

/// Rows copied at a time.
pub(super) const BATCH: usize = 1 << 16;

/// Number of columns beyond which a table with few rows is written without compression or
/// dictionaries: the writer keeps both for every column at once. 100 000 columns of two rows take
/// 3.6 GB and 15 s with them, 0.5 GB and 2 s without.
pub(super) const WIDE: usize = 5000;

/// Bytes that the writer holds for one column of a wide table besides its values: the measured
/// number plus a margin.
const WIDE_COLUMN: u64 = 5000;

/// Refuses what Parquet cannot hold.
pub(crate) fn check(table: &Table, path: &Path) -> Result<()> {
    match table.metadata().iter().find(|(key, _)| about_storage(key)) {
        Some((key, _)) => Err(Place::file(path)
            .cannot_hold(format!("the metadata key `{key}` is one Parquet uses itself; rename it"))),
        None => Ok(()),
    }
}

/// Writes the table.
pub(crate) fn write<W: Write + Send>(table: &Table, out: &mut W, path: &Path) -> Result<()> {
    match fenced(|| write_fenced(table, out, path)) {
        Ok(written) => written,
        Err(Broken::Memory) => Err(no_memory(path, "write")),
        // Not predictable from the input: a bug here or in the crates.
        Err(Broken::Unexpected) => panic!("{}: the Parquet writer panicked", path.display()),
    }
}

fn write_fenced<W: Write + Send>(table: &Table, out: &mut W, path: &Path) -> Result<()> {
    check(table, path)?;
    let failed = |error: ParquetError| TableError::Io {
        file: path.to_path_buf(),
        doing: "write",
        source: std::io::Error::other(error),
    };
    let nothing = Carried::default();
    let carried = match table.stored() {
        Stored::Parquet(carried) => carried,
        _ => &nothing,
    };
    let own = table.columns().iter().map(|column| Arc::new(field(column))).collect();
    let others = carried.fields.iter().map(|(after, field)| (*after, Arc::clone(field)));
    let fields = merged(own, others);
    let mut pairs = pairs(table);
    pairs.extend(table.columns().iter().filter_map(|column| match column.data() {
        Data::Text(texts) => text_length(column, longest(texts)),
        _ => None,
    }));
    // pyarrow reads the pairs from Arrow's schema, where they lose their order; other programs read
    // them from the file itself.
    let notes: HashMap<String, String> =
        pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect();
    let schema = Arc::new(Schema::new(fields).with_metadata(notes));
    let wide = table.columns().len() > WIDE && table.rows() <= BATCH;
    if wide {
        let columns = table.columns().len();
        Place::file(path)
            .check_memory(&format!("{columns} columns to be written"), WIDE_COLUMN * columns as u64)?;
    }
    let properties = properties(wide, Some(pairs));
    let mut writer =
        ArrowWriter::try_new(&mut *out, Arc::clone(&schema), Some(properties)).map_err(failed)?;
    let (mut from, mut runs) = (0, carried.runs.iter());
    while from < table.rows() {
        let run = runs.next();
        let length = run.and_then(|run| run.first()).map_or(BATCH, |array| array.len());
        let to = (from + length).min(table.rows());
        let own = table.columns().iter().map(|column| array(column, from, to)).collect();
        let afters = carried.fields.iter().map(|(after, _)| *after);
        let arrays = merged(own, afters.zip(run.into_iter().flatten().cloned()));
        let options = RecordBatchOptions::new().with_row_count(Some(to - from));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&schema), arrays, &options)
            .map_err(|error| failed(error.into()))?;
        writer.write(&batch).map_err(failed)?;
        from = to;
    }
    writer.close().map_err(failed)?;
    Ok(())
}

/// Merges the table's own items with the others, each placed after the given number of its own.
fn merged<T>(own: Vec<T>, others: impl Iterator<Item = (usize, T)>) -> Vec<T> {
    let (mut all, mut others) = (Vec::new(), others.peekable());
    for (at, mine) in own.into_iter().enumerate() {
        while let Some((_, other)) = others.next_if(|(after, _)| *after <= at) {
            all.push(other);
        }
        all.push(mine);
    }
    all.extend(others.map(|(_, other)| other));
    all
}

/// How the file is stored.
pub(super) fn properties(wide: bool, pairs: Option<Vec<KeyValue>>) -> WriterProperties {
    let compression = if wide { Compression::UNCOMPRESSED } else { Compression::ZSTD(ZstdLevel::default()) };
    WriterProperties::builder()
        .set_created_by(concat!("goc-tables version ", env!("CARGO_PKG_VERSION")).to_string())
        .set_compression(compression)
        .set_dictionary_enabled(!wide)
        .set_key_value_metadata(pairs)
        .build()
}

/// The table's metadata, and astropy's description of it.
pub(super) fn pairs(table: &Table) -> Vec<KeyValue> {
    let own = table.metadata().iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone()));
    let described = KeyValue::new(ASTROPY.to_string(), header::lines(table, None).join("\n"));
    own.chain([described]).collect()
}

/// The length of the longest text.
pub(super) fn longest(texts: &[String]) -> usize {
    texts.iter().map(|text| text.chars().count()).max().unwrap_or(0)
}

/// astropy makes fixed-length strings, and fails on a null if the length is not recorded.
pub(super) fn text_length(column: &Column, longest: usize) -> Option<KeyValue> {
    let Data::Text(_) = column.data() else { return None };
    Some(KeyValue::new(format!("{ASTROPY_LENGTH}{}", column.name()), longest.max(1).to_string()))
}

pub(super) fn field(column: &Column) -> Field {
    let kind = match column.data() {
        Data::Bool(_) => DataType::Boolean,
        Data::U8(_) => DataType::UInt8,
        Data::I16(_) => DataType::Int16,
        Data::I32(_) => DataType::Int32,
        Data::I64(_) => DataType::Int64,
        Data::F32(_) => DataType::Float32,
        Data::F64(_) => DataType::Float64,
        Data::Text(_) => DataType::Utf8,
    };
    let notes = [("unit", column.unit()), ("description", column.description())];
    let notes: HashMap<String, String> = notes
        .into_iter()
        .filter_map(|(key, text)| text.map(|text| (key.to_string(), text.to_string())))
        .collect();
    // Nullable even without nulls, so that files of one survey have one schema.
    Field::new(column.name(), kind, true).with_metadata(notes)
}

pub(super) fn array(column: &Column, from: usize, to: usize) -> ArrayRef {
    let valid = |at: usize| !column.is_null(from + at);
    macro_rules! numbers {
        ($array:ty, $values:expr) => {
            if column.valid().is_none() {
                Arc::new(<$array>::from($values[from..to].to_vec()))
            } else {
                let values = $values[from..to].iter().enumerate();
                Arc::new(<$array>::from_iter(values.map(|(at, &value)| valid(at).then_some(value))))
            }
        };
    }
    match column.data() {
        Data::Bool(v) => numbers!(BooleanArray, v),
        Data::U8(v) => numbers!(UInt8Array, v),
        Data::I16(v) => numbers!(Int16Array, v),
        Data::I32(v) => numbers!(Int32Array, v),
        Data::I64(v) => numbers!(Int64Array, v),
        Data::F32(v) => numbers!(Float32Array, v),
        Data::F64(v) => numbers!(Float64Array, v),
        Data::Text(v) => {
            let values = v[from..to].iter().enumerate();
            Arc::new(StringArray::from_iter(values.map(|(at, text)| valid(at).then_some(text.as_str()))))
        }
    }
}
