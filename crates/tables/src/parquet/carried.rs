//! Columns that a table of single values cannot hold, kept as Arrow arrays, so copying from one
//! Parquet file to another loses nothing.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Field;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::{ChunkReader, Length};

use super::read::{BATCH, damaged, explain, undecoded};
use crate::error::{Place, Result};

/// Such columns, in runs of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Carried {
    /// For each, the number of columns of the table before it, and its field.
    pub(super) fields: Vec<(usize, Arc<Field>)>,
    /// The arrays of all fields for each run.
    pub(super) runs: Vec<Vec<ArrayRef>>,
}

/// A column that a table of single values cannot hold.
pub(super) struct Left {
    /// Its position in the file.
    pub at: usize,
    /// Number of columns before it that are kept.
    pub after: usize,
    pub name: String,
    pub reason: String,
}

impl Carried {
    /// Reads these columns with the types of Arrow's own schema.
    pub(super) fn read<R: ChunkReader + 'static>(
        reader: Shared<R>,
        metadata: &ArrowReaderMetadata,
        left: &[Left],
        place: &Place,
    ) -> Result<Self> {
        let mask = ProjectionMask::roots(metadata.parquet_schema(), left.iter().map(|left| left.at));
        let batches = ParquetRecordBatchReaderBuilder::new_with_metadata(reader, metadata.clone())
            .with_projection(mask)
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| explain(error, place))?;
        let field = |left: &Left| (left.after, Arc::clone(&metadata.schema().fields()[left.at]));
        let mut carried = Self { fields: left.iter().map(field).collect(), runs: Vec::new() };
        for batch in batches {
            let batch = batch.map_err(|error| undecoded(place, &error.to_string()))?;
            if batch.num_columns() != left.len() {
                return Err(damaged(place, "its columns are not those of its schema"));
            }
            carried.runs.push(batch.columns().to_vec());
        }
        Ok(carried)
    }
}

/// A reader that two decoders share in turn.
pub(super) struct Shared<R>(pub Arc<R>);

impl<R> Clone for Shared<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<R: ChunkReader> Length for Shared<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Shared<R> {
    type T = R::T;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}
