//! Writes Parquet piece by piece: a table that is never in memory whole.
//!
//! The bytes are those that [`write`](super::write) makes of the whole table. Rows are handed to
//! the encoder in the same batches, whatever the pieces are, and what is only known at the end, the
//! metadata and the longest texts, is stored in the footer, which comes last.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter, encode_arrow_schema};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;

use super::fence::{Broken, fenced};
use super::no_memory;
use super::write::{BATCH, WIDE, array, check, field, longest, properties, text_length, write};
use crate::error::{Place, Result, TableError};
use crate::{Data, Table};

/// A Parquet file that takes its rows piece by piece.
pub struct Pieces<'w> {
    out: Option<&'w mut BufWriter<File>>,
    writer: Option<ArrowWriter<&'w mut BufWriter<File>>>,
    path: &'w Path,
    /// Rows that do not fill a batch yet.
    waiting: Table,
    /// The longest text of each column.
    longest: Vec<usize>,
}

impl<'w> Pieces<'w> {
    pub(crate) fn new(out: &'w mut BufWriter<File>, path: &'w Path) -> Self {
        Self { out: Some(out), writer: None, path, waiting: Table::default(), longest: Vec::new() }
    }

    /// Adds rows; the columns are those of the first piece.
    pub fn put(&mut self, piece: Table) -> Result<()> {
        if self.waiting.columns().is_empty() {
            self.longest = vec![0; piece.columns().len()];
            self.waiting = piece;
        } else {
            self.waiting.append(piece)?;
        }
        // So wide a table is stored in another way if it is short, so it waits for its end.
        if self.waiting.columns().len() > WIDE {
            return Ok(());
        }
        let full = self.waiting.rows() / BATCH * BATCH;
        if full > 0 {
            let rest = self.waiting.split_off(full);
            let full = std::mem::replace(&mut self.waiting, rest);
            self.write_rows(&full)?;
        }
        Ok(())
    }

    fn write_rows(&mut self, table: &Table) -> Result<()> {
        for (longest_so_far, column) in self.longest.iter_mut().zip(table.columns()) {
            if let Data::Text(texts) = column.data() {
                *longest_so_far = longest(texts).max(*longest_so_far);
            }
        }
        let path = self.path;
        self.fenced(|own| {
            let schema = Arc::new(Schema::new(table.columns().iter().map(field).collect::<Vec<_>>()));
            if let Some(out) = own.out.take() {
                let options = ArrowWriterOptions::new()
                    .with_properties(properties(false, None))
                    .with_skip_arrow_metadata(true);
                let writer = ArrowWriter::try_new_with_options(out, Arc::clone(&schema), options);
                own.writer = Some(writer.map_err(failed(path))?);
            }
            let Some(writer) = &mut own.writer else { return Ok(()) };
            for from in (0..table.rows()).step_by(BATCH) {
                let to = (from + BATCH).min(table.rows());
                let arrays = table.columns().iter().map(|column| array(column, from, to)).collect();
                let batch = RecordBatch::try_new(Arc::clone(&schema), arrays);
                writer.write(&batch.map_err(|error| failed(path)(error.into()))?).map_err(failed(path))?;
            }
            Ok(())
        })
    }

    /// Writes the last rows and the metadata.
    pub(crate) fn finish(mut self, metadata: Vec<(String, String)>) -> Result<()> {
        let mut last = std::mem::take(&mut self.waiting);
        for (key, value) in metadata {
            last.set_metadata(key, value);
        }
        check(&last, self.path)?;
        if last.columns().len() > WIDE
            && let Some(out) = self.out.take()
        {
            return write(&last, out, self.path);
        }
        self.write_rows(&last)?;
        let path = self.path;
        self.fenced(|own| {
            let Some(mut writer) = own.writer.take() else { return Ok(()) };
            let mut pairs = super::write::pairs(&last);
            let lengths = last.columns().iter().zip(&own.longest);
            pairs.extend(lengths.filter_map(|(column, length)| text_length(column, *length)));
            let notes: HashMap<String, String> =
                pairs.iter().map(|pair| (pair.key.clone(), pair.value.clone().unwrap_or_default())).collect();
            let fields = last.columns().iter().map(field).collect::<Vec<_>>();
            let schema = encode_arrow_schema(&Schema::new(fields).with_metadata(notes));
            pairs.push(KeyValue::new(ARROW_SCHEMA_META_KEY.to_string(), schema));
            pairs.into_iter().for_each(|pair| writer.append_key_value_metadata(pair));
            writer.close().map_err(failed(path)).map(drop)
        })
    }

    fn fenced(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let path = self.path;
        match fenced(|| work(self)) {
            Ok(done) => done,
            Err(Broken::Memory) => Err(no_memory(path, "write")),
            // Not predictable from the input: a bug here or in the crates.
            Err(Broken::Unexpected) => panic!("{}: the Parquet writer panicked", path.display()),
        }
    }
}

fn failed(path: &Path) -> impl Fn(ParquetError) -> TableError + '_ {
    move |error| TableError::Io {
        file: path.to_path_buf(),
        doing: "write",
        source: std::io::Error::other(error),
    }
}

/// Writes a Parquet file of pieces: `make` puts them, and returns the metadata of the table.
///
/// The bytes are those of the whole table, and an error leaves no file, as for
/// [`write()`](crate::write()).
pub fn write_pieces<E: From<TableError>>(
    path: &Path,
    make: impl FnOnce(&mut Pieces<'_>) -> Result<Vec<(String, String)>, E>,
) -> Result<(), E> {
    let mut stopped = None;
    let written = crate::destination::write_to(path, |out| {
        let mut pieces = Pieces::new(out, path);
        match make(&mut pieces) {
            Ok(metadata) => pieces.finish(metadata),
            Err(error) => {
                stopped = Some(error);
                Err(Place::file(path).malformed("it was not finished"))
            }
        }
    });
    match stopped {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    fn rows(from: usize, to: usize) -> Table {
        let texts = (from..to).map(|i| "x".repeat(i % 17)).collect();
        let valid = (from..to).map(|i| i % 70_000 != 69_999).collect();
        Table::new(vec![
            Column::new("id", Data::I64((from..to).map(|i| i as i64 * 3).collect())).with_unit("1"),
            Column::new("x", Data::F64((from..to).map(|i| (i as f64).sqrt()).collect()))
                .with_valid(valid)
                .unwrap(),
            Column::new("name", Data::Text(texts)).with_description("as it is"),
        ])
        .unwrap()
    }

    #[test]
    fn pieces_of_any_size_have_the_bytes_of_the_whole_table() {
        let folder = tempfile::TempDir::new().unwrap();
        let n = 2 * BATCH + 1234;
        let notes =
            [("seed", "7"), ("goc_dropped", "two of them")].map(|(a, b)| (a.to_string(), b.to_string()));
        let mut whole = rows(0, n);
        notes.iter().for_each(|(key, value)| whole.set_metadata(key, value));
        let wanted = folder.path().join("whole.parquet");
        crate::write(&whole, &wanted).unwrap();
        for size in [1000, BATCH, BATCH + 1, n] {
            let path = folder.path().join("pieces.parquet");
            write_pieces(&path, |pieces| {
                for from in (0..n).step_by(size) {
                    pieces.put(rows(from, (from + size).min(n)))?;
                }
                Ok::<_, TableError>(notes.to_vec())
            })
            .unwrap();
            assert_eq!(crate::read(&path).unwrap(), crate::read(&wanted).unwrap());
            assert!(std::fs::read(&path).unwrap() == std::fs::read(&wanted).unwrap(), "{size} rows a piece");
        }
    }

    #[test]
    fn an_error_on_the_way_leaves_no_file() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("pieces.parquet");
        let stopped = write_pieces(&path, |pieces| {
            pieces.put(rows(0, 10))?;
            Err(Place::default().malformed("stop"))
        });
        assert_eq!(stopped.unwrap_err().to_string(), "stop");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
