//! Files as other programs write them.

use std::sync::Arc;

use arrow_array::{Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use crate::{Column, Data, Format, Table, from_bytes, to_bytes};

#[test]
fn every_compression_is_read() {
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Float64, false)]));
    let values: Vec<f64> = (0..1000).map(|i| f64::from(i % 7)).collect();
    let column = Arc::new(Float64Array::from(values.clone()));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).unwrap();
    for compression in [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::BROTLI(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
    ] {
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, Arc::clone(&schema), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let table = from_bytes(&bytes, Format::Parquet).unwrap();
        assert_eq!(table.require("x").unwrap().numbers().unwrap(), values, "{compression}");
    }
}

#[test]
fn a_very_wide_table_is_the_same_after_writing_and_reading() {
    let column = |c: usize| Column::new(format!("c{c}"), Data::F64(vec![c as f64, 0.5])).with_unit("mas");
    let table = Table::new((0..20_000).map(column).collect()).unwrap();
    let bytes = to_bytes(&table, Format::Parquet).unwrap();
    assert_eq!(from_bytes(&bytes, Format::Parquet).unwrap(), table);
}
