//! Reading Parquet: batches of rows, appended to plain vectors.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatchReader};
use arrow_schema::{DataType, Field};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use parquet::file::reader::ChunkReader;

use super::carried::{Carried, Left, Shared};
use super::fence::{Broken, fenced};
use super::pages;
use super::{ASTROPY, about_storage, no_memory};
use crate::column::Origin;
use crate::ecsv::header;
use crate::error::{Place, Result, TableError};
use crate::gather::Values;
use crate::table::Stored;
use crate::{Column, Data, Table};

/// Rows decoded at a time: large enough for speed, small compared with the table.
pub(super) const BATCH: usize = 1 << 16;

/// Reads the whole file. With `carry`, columns that a table cannot hold are kept for another
/// Parquet file.
pub(crate) fn read<R: ChunkReader + 'static>(reader: R, file: Option<&Path>, carry: bool) -> Result<Table> {
    let origin = Arc::new(Origin { file: file.map(Path::to_path_buf), first_line: None });
    check_ends(&reader, &origin.place())?;
    fenced(|| read_fenced(Shared(Arc::new(reader)), &origin, carry)).unwrap_or_else(|broken| {
        Err(match broken {
            Broken::Memory => no_memory(file.unwrap_or(Path::new("memory")), "read"),
            Broken::Unexpected => {
                origin.place().malformed("the Parquet data are damaged; fetch or write the file again")
            }
        })
    })
}

/// Checks for `PAR1` at both ends, to distinguish a truncated file from one that never was Parquet.
fn check_ends<R: ChunkReader>(reader: &R, place: &Place) -> Result<()> {
    let len = reader.len();
    if len == 0 {
        let problem = "the file is empty: it has 0 bytes; fetch or write it again";
        return Err(place.clone().malformed(problem));
    }
    let at = |start: u64| reader.get_bytes(start, 4).map_err(|error| explain(error, place));
    if len >= 4 && at(0)?[..] == *b"PARE" {
        let problem = "the Parquet file is encrypted; write it without encryption";
        return Err(place.clone().malformed(problem));
    }
    if len < 4 || at(0)?[..] != *b"PAR1" {
        return Err(place.clone().malformed("not a Parquet file: it does not begin with PAR1"));
    }
    if len < 12 || at(len - 4)?[..] != *b"PAR1" {
        let missing = format!("it ends after {len} bytes without the closing PAR1");
        return Err(place.clone().cut_off(missing));
    }
    Ok(())
}

fn read_fenced<R: ChunkReader + 'static>(
    reader: Shared<R>,
    origin: &Arc<Origin>,
    carry: bool,
) -> Result<Table> {
    let place = origin.place();
    let failed = |error| explain(error, &place);
    let annotated = ArrowReaderMetadata::load(&reader, ArrowReaderOptions::new()).map_err(failed)?;
    // Without Arrow's own schema, a dictionary of strings is read as strings.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let plain = ArrowReaderMetadata::try_new(Arc::clone(annotated.metadata()), options).map_err(failed)?;
    let file = plain.metadata().file_metadata();
    let rows = usize::try_from(file.num_rows()).map_err(|_| damaged(&place, "a negative number of rows"))?;
    // The decoder trusts the file's own count; the row groups have counts too, and must agree.
    let grouped =
        plain.metadata().row_groups().iter().map(|group| i128::from(group.num_rows())).sum::<i128>();
    if grouped != i128::from(file.num_rows()) {
        let problem = format!("it claims {rows} rows, its row groups {grouped}");
        return Err(damaged(&place, &problem));
    }

    let (mut roots, mut gathered, mut left) = (Vec::new(), Vec::new(), Vec::new());
    for (at, field) in plain.schema().fields().iter().enumerate() {
        match Gathering::new(field, rows, &place)? {
            Ok(gathering) => {
                roots.push(at);
                gathered.push(gathering);
            }
            Err(reason) => left.push(Left { at, after: roots.len(), name: field.name().clone(), reason }),
        }
    }
    // Uncompressed, the values take about as much memory as the resulting table.
    let groups = plain.metadata().row_groups().iter();
    let unpacked = groups.map(|group| u64::try_from(group.total_byte_size()).unwrap_or(0));
    place.check_memory(&format!("{rows} rows"), unpacked.fold(0, u64::saturating_add))?;
    pages::check(&reader, plain.metadata(), &place)?;
    let pairs = file.key_value_metadata().cloned().unwrap_or_default();
    let mask = ProjectionMask::roots(plain.parquet_schema(), roots);
    let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(reader.clone(), plain.clone())
        .with_projection(mask)
        .with_batch_size(BATCH)
        .build()
        .map_err(failed)?;
    if batches.schema().fields().len() != gathered.len() {
        return Err(damaged(&place, "its columns are not those of its schema"));
    }
    for batch in batches {
        let batch = batch.map_err(|error| undecoded(&place, &error.to_string()))?;
        for (gathering, array) in gathered.iter_mut().zip(batch.columns()) {
            gathering.take(array.as_ref(), &place)?;
        }
    }

    let mut columns = Vec::with_capacity(gathered.len());
    let fields = annotated.schema().fields();
    let noted: HashMap<&str, &Arc<Field>> =
        fields.iter().map(|field| (field.name().as_str(), field)).collect();
    for gathering in gathered {
        let field = noted.get(gathering.name.as_str());
        let column = gathering.finish(rows, &place)?.with_origin(origin);
        columns.push(match field {
            Some(field) => {
                let text = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
                column.with_unit(text("unit")).with_description(text("description"))
            }
            None => column,
        });
    }
    let mut table = Table::new(columns)?.with_origin(origin);
    if carry && !left.is_empty() {
        let stored = Carried::read(reader, &annotated, &left, &place)?;
        table.carry(left.into_iter().map(|left| (left.name, left.reason)), Stored::Parquet(stored))?;
    } else {
        left.into_iter().for_each(|left| table.skip(left.name, left.reason));
    }
    for pair in pairs.iter().filter(|pair| !about_storage(&pair.key)) {
        table.set_metadata(&pair.key, pair.value.as_deref().unwrap_or_default());
    }
    if let Some(text) = pairs.iter().find(|pair| pair.key == ASTROPY).and_then(|pair| pair.value.as_deref()) {
        match header::parse(text) {
            Ok(description) => description.apply(&mut table)?,
            Err(reason) => table.skip(ASTROPY, reason),
        }
    }
    Ok(table)
}

/// A decoder error about a page. The decoder verifies the checksums of pages that have one.
pub(super) fn undecoded(place: &Place, said: &str) -> TableError {
    if said.contains("CRC checksum mismatch") {
        return damaged(place, "the checksum of a page is wrong");
    }
    // The metadata of an encrypted column are encrypted too, so they are not found in the usual
    // place.
    if said.contains("Required field type_ is missing") {
        let problem =
            "columns of the Parquet file are encrypted, or it is damaged; write it without encryption";
        return place.clone().malformed(problem);
    }
    damaged(place, said)
}

pub(super) fn damaged(place: &Place, problem: &str) -> TableError {
    place.clone().malformed(format!("the Parquet data are damaged: {problem}; fetch or write the file again"))
}

pub(super) fn explain(error: ParquetError, place: &Place) -> TableError {
    match error {
        ParquetError::EOF(what) => place.clone().cut_off(what),
        ParquetError::NYI(what) => place
            .clone()
            .malformed(format!("uses what is not supported: {what}; write it with zstd or snappy")),
        other => damaged(place, &other.to_string()),
    }
}

/// A column under construction.
struct Gathering {
    name: String,
    /// `None` for a column of Arrow's null type, which has no values at all.
    values: Option<Values>,
    /// False where null; empty as long as nothing is null.
    valid: Vec<bool>,
    rows: usize,
}

/// Room for `rows` values, or an error instead of an abort if a damaged header asks for too much.
fn room<T>(rows: usize, place: &Place) -> Result<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(rows).map_err(|_| TableError::Memory {
        place: place.clone(),
        what: format!("{rows} rows").into(),
        bytes: rows.saturating_mul(size_of::<T>()) as u64,
    })?;
    Ok(values)
}

impl Gathering {
    /// An empty column, or why a table of single values cannot hold the type.
    fn new(field: &Field, rows: usize, place: &Place) -> Result<Result<Self, String>> {
        let values = match field.data_type() {
            DataType::Null => None,
            DataType::Boolean => Some(Values::Bool(room(rows, place)?)),
            DataType::UInt8 => Some(Values::U8(room(rows, place)?)),
            DataType::Int8 | DataType::Int16 => Some(Values::I16(room(rows, place)?)),
            DataType::UInt16 | DataType::Int32 => Some(Values::I32(room(rows, place)?)),
            DataType::UInt32 | DataType::Int64 => Some(Values::I64(room(rows, place)?)),
            DataType::UInt64 => Some(Values::U64(room(rows, place)?)),
            DataType::Float16 | DataType::Float32 => Some(Values::F32(room(rows, place)?)),
            DataType::Float64 => Some(Values::F64(room(rows, place)?)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                Some(Values::Text(room(rows, place)?))
            }
            other => return Ok(Err(reason(other))),
        };
        Ok(Ok(Self { name: field.name().clone(), values, valid: Vec::new(), rows: 0 }))
    }

    fn take(&mut self, array: &dyn Array, place: &Place) -> Result<()> {
        macro_rules! numbers {
            ($type:ty) => {
                array.as_primitive::<$type>().values()
            };
        }
        let owned = |text: Option<&str>| text.unwrap_or_default().to_string();
        match (&mut self.values, array.data_type()) {
            (Some(Values::Bool(v)), DataType::Boolean) => v.extend(array.as_boolean().values().iter()),
            (Some(Values::U8(v)), DataType::UInt8) => v.extend_from_slice(numbers!(UInt8Type)),
            (Some(Values::I16(v)), DataType::Int8) => {
                v.extend(numbers!(Int8Type).iter().map(|&x| i16::from(x)))
            }
            (Some(Values::I16(v)), DataType::Int16) => v.extend_from_slice(numbers!(Int16Type)),
            (Some(Values::I32(v)), DataType::UInt16) => {
                v.extend(numbers!(UInt16Type).iter().map(|&x| i32::from(x)))
            }
            (Some(Values::I32(v)), DataType::Int32) => v.extend_from_slice(numbers!(Int32Type)),
            (Some(Values::I64(v)), DataType::UInt32) => {
                v.extend(numbers!(UInt32Type).iter().map(|&x| i64::from(x)))
            }
            (Some(Values::I64(v)), DataType::Int64) => v.extend_from_slice(numbers!(Int64Type)),
            (Some(Values::U64(v)), DataType::UInt64) => v.extend_from_slice(numbers!(UInt64Type)),
            (Some(Values::F32(v)), DataType::Float16) => {
                v.extend(numbers!(Float16Type).iter().map(|x| x.to_f32()))
            }
            (Some(Values::F32(v)), DataType::Float32) => v.extend_from_slice(numbers!(Float32Type)),
            (Some(Values::F64(v)), DataType::Float64) => v.extend_from_slice(numbers!(Float64Type)),
            (Some(Values::Text(v)), DataType::Utf8) => v.extend(array.as_string::<i32>().iter().map(owned)),
            (Some(Values::Text(v)), DataType::LargeUtf8) => {
                v.extend(array.as_string::<i64>().iter().map(owned))
            }
            (Some(Values::Text(v)), DataType::Utf8View) => v.extend(array.as_string_view().iter().map(owned)),
            (None, DataType::Null) => {}
            (_, other) => {
                return Err(damaged(place, &format!("column `{}` changes its type to {other}", self.name)));
            }
        }
        if let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) {
            self.valid.resize(self.rows, true);
            self.valid.extend(nulls.iter());
        } else if !self.valid.is_empty() {
            self.valid.resize(self.rows + array.len(), true);
        }
        self.rows += array.len();
        Ok(())
    }

    fn finish(self, rows: usize, place: &Place) -> Result<Column> {
        if self.rows != rows {
            let problem = format!("column `{}` has {} of {rows} rows", self.name, self.rows);
            return Err(damaged(place, &problem));
        }
        let Some(values) = self.values else {
            let column = Column::new(self.name, Data::F64(vec![f64::NAN; rows]));
            return column.with_valid(vec![false; rows]);
        };
        let column = Column::new(self.name, values.into_data());
        if self.valid.is_empty() { Ok(column) } else { column.with_valid(self.valid) }
    }
}

fn reason(kind: &DataType) -> String {
    match kind {
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::FixedSizeList(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => "each value is an array".into(),
        DataType::Struct(_) | DataType::Map(..) => "each value is a record".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            "its values are raw bytes".into()
        }
        DataType::Timestamp(..)
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_) => "its values are dates or times; store them as numbers or text".into(),
        other => format!("its values are of the type {other}; store them as numbers or text"),
    }
}
