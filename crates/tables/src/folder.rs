//! A folder of Parquet files, the partitions of one table, read as that table.
//!
//! A survey is too large for one file. Its catalogue is a folder of partitions, often in HATS, the
//! layout of lsdb: the rows of pixel 12 of order 5 are in
//! `dataset/Norder=5/Dir=0/Npix=12.parquet`, and `partition_info.csv` lists the pixels. Beside the
//! partitions such a folder holds Parquet files that are none: margins, statistics, a preview. So
//! of a HATS collection, catalogue or `dataset/` only the partitions of its list are read, in the
//! order of the sky. Any other folder is searched for Parquet files, whose names are put in order
//! with their numbers as numbers.
//!
//! (`python/goc/_hats.py` reads the same list for Dask workers, and also writes catalogues.)

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::column::Origin;
use crate::error::{Place, Result, TableError};
use crate::{Table, Which};

const PROPERTIES: [&str; 2] = ["hats.properties", "properties"];
const COLLECTION: &str = "collection.properties";
const LIST: &str = "partition_info.csv";
/// What a partition may be a part of.
const KINDS: [&str; 2] = ["object", "source"];
/// The order at which a pixel's number gives its place on the sky.
const FINEST: u32 = 29;

/// Reads all partitions as one table, in their order. Names, units and metadata are those of the
/// first; the others must have the same columns.
pub(crate) fn read(folder: &Path) -> Result<Table> {
    let mut whole: Option<Table> = None;
    for path in partitions(folder)? {
        let part = crate::read_which(&path, &Which::First)?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.append(part)?,
        }
    }
    let whole =
        whole.ok_or_else(|| malformed(folder, "there are no Parquet files in the folder; give a file"))?;
    // A row's number is that in the whole table, so messages name the folder.
    Ok(whole.with_origin(&Arc::new(Origin { file: Some(folder.to_path_buf()), first_line: None })))
}

/// The files of the partitions in order.
pub fn partitions(folder: &Path) -> Result<Vec<PathBuf>> {
    if let Some(root) = catalogue(folder)? {
        return listed(&root);
    }
    let mut found = Vec::new();
    search(folder, &mut found)?;
    found.sort_by_cached_key(|path| numbered(&path.strip_prefix(folder).unwrap_or(path).to_string_lossy()));
    Ok(found)
}

fn malformed(path: &Path, problem: impl Into<String>) -> TableError {
    Place::file(path).malformed(problem.into())
}

fn unreadable(path: &Path, source: std::io::Error) -> TableError {
    TableError::Io { file: path.to_path_buf(), doing: "read", source }
}

/// The folder of the HATS catalogue that `folder` is, holds, or is the `dataset/` of.
fn catalogue(folder: &Path) -> Result<Option<PathBuf>> {
    let collection = folder.join(COLLECTION);
    if collection.is_file() {
        let known = properties(&collection)?;
        let Some(primary) = value(&known, "hats_primary_table_url") else {
            let problem = "names no hats_primary_table_url; give the catalogue's own folder";
            return Err(malformed(&collection, problem));
        };
        if primary.contains("://") {
            let problem = format!("its catalogue is {primary}, which is on another machine; fetch it first");
            return Err(malformed(&collection, problem));
        }
        return Ok(Some(folder.join(primary)));
    }
    let parent = folder.parent().filter(|_| folder.file_name().is_some_and(|name| name == "dataset"));
    for root in [Some(folder), parent].into_iter().flatten() {
        if root.join(LIST).is_file() && PROPERTIES.iter().any(|name| root.join(name).is_file()) {
            return Ok(Some(root.to_path_buf()));
        }
    }
    Ok(None)
}

/// The partitions of a catalogue by its list, in the order of the sky.
fn listed(root: &Path) -> Result<Vec<PathBuf>> {
    let of = PROPERTIES.iter().map(|name| root.join(name)).find(|path| path.is_file());
    let of = of.ok_or_else(|| malformed(root, "the catalogue has no hats.properties"))?;
    let known = properties(&of)?;
    let kind = value(&known, "dataproduct_type").unwrap_or(KINDS[0]);
    if !KINDS.contains(&kind) {
        let problem =
            format!("is a HATS {kind}, not a catalogue of objects; give the catalogue or its collection");
        return Err(malformed(root, problem));
    }
    let suffix = value(&known, "hats_npix_suffix").unwrap_or(".parquet");
    let list = crate::read_which(&root.join(LIST), &Which::First)?;
    let whole = |name: &str| -> Result<Vec<i64>> { list.require(name)?.integers() };
    let mut pixels: Vec<(i64, i64)> = whole("Norder")?.into_iter().zip(whole("Npix")?).collect();
    if let Some((order, _)) = pixels.iter().find(|(order, _)| !(0..=i64::from(FINEST)).contains(order)) {
        return Err(malformed(
            &root.join(LIST),
            format!("Norder is {order}, but must be from 0 to {FINEST}"),
        ));
    }
    pixels.sort_by_key(|(order, pixel)| (i128::from(*pixel) << (2 * (i64::from(FINEST) - order)), *order));
    pixels.dedup();
    let mut files = Vec::new();
    for (order, pixel) in pixels {
        let folder = root.join(format!("dataset/Norder={order}/Dir={}", pixel / 10_000 * 10_000));
        let path = match suffix {
            "/" => folder.join(format!("Npix={pixel}")),
            suffix => folder.join(format!("Npix={pixel}{suffix}")),
        };
        let before = files.len();
        match suffix {
            "/" if path.is_dir() => search(&path, &mut files)?,
            "/" => {}
            _ if path.is_file() => files.push(path.clone()),
            _ => {}
        }
        if files.len() == before {
            let problem = format!(
                "the list of partitions has Norder={order}, Npix={pixel}, but there is no {}",
                path.display()
            );
            return Err(malformed(root, problem));
        }
        files[before..].sort();
    }
    Ok(files)
}

/// `key=value`, by lines.
fn properties(path: &Path) -> Result<Vec<(String, String)>> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(path, error))?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with(['#', '!']));
    let pairs = lines.filter_map(|line| line.split_once('='));
    Ok(pairs.map(|(key, value)| (key.trim().to_string(), value.trim().replace('\\', ""))).collect())
}

fn value<'k>(known: &'k [(String, String)], key: &str) -> Option<&'k str> {
    let found = known.iter().find(|(name, value)| name == key && !value.is_empty());
    found.map(|(_, value)| value.as_str())
}

/// All Parquet files below a folder; names that begin with `_` or `.` are no partitions.
fn search(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(['_', '.'])) {
            continue;
        }
        if path.is_dir() {
            search(&path, found)?;
        } else if path.extension().is_some_and(|end| end == "parquet") {
            found.push(path);
        }
    }
    Ok(())
}

/// A name whose numbers are compared as numbers: `Npix=2` before `Npix=10`.
fn numbered(name: &str) -> Vec<(bool, u128, String)> {
    let mut parts: Vec<(bool, u128, String)> = Vec::new();
    for character in name.chars() {
        let digit = character.is_ascii_digit();
        match parts.last_mut() {
            Some((number, _, text)) if *number == digit => text.push(character),
            _ => parts.push((digit, 0, character.to_string())),
        }
    }
    for (number, value, text) in &mut parts {
        if *number {
            *value = text.parse().unwrap_or(u128::MAX);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Column, Data};

    fn part(first: i64, n: i64, null: bool) -> Table {
        let ids: Vec<i64> = (first..first + n).collect();
        let x = Column::new("x", Data::F64(ids.iter().map(|&id| id as f64 / 4.0).collect())).with_unit("mas");
        let x = if null { x.with_valid(ids.iter().map(|id| id % 2 == 0).collect()).unwrap() } else { x };
        Table::new(vec![Column::new("source_id", Data::I64(ids)), x]).unwrap()
    }

    fn put(root: &Path, name: &str, table: &Table) {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        crate::write(table, &path).unwrap();
    }

    fn folder(name: &str) -> PathBuf {
        let root = std::env::temp_dir().join(format!("goc-folder-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&root);
        std::fs::create_dir_all(&root).unwrap();
        root
    }

    fn ids(table: &Table) -> Vec<i64> {
        table.require("source_id").unwrap().integers().unwrap()
    }

    #[test]
    fn files_are_read_as_one_table_in_the_order_of_their_numbers() {
        let root = folder("plain");
        put(&root, "part.10.parquet", &part(5, 3, true));
        put(&root, "part.9.parquet", &part(0, 5, false));
        put(&root, "_notes.parquet", &part(90, 3, false));
        let whole = crate::read(&root).unwrap();
        assert_eq!(ids(&whole), (0..8).collect::<Vec<_>>());
        let x = whole.require("x").unwrap();
        assert_eq!((x.unit(), x.is_null(5), x.is_null(6), x.is_null(1)), (Some("mas"), true, false, false));
        assert_eq!(whole.source(), Some(root.as_path()));
        put(&root, "part.11.parquet", &Table::new(vec![Column::new("x", Data::F64(vec![1.0]))]).unwrap());
        let problem = crate::read(&root).unwrap_err().to_string();
        assert!(problem.contains("part.11.parquet: no column `source_id`"), "{problem}");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn of_a_hats_collection_only_the_listed_partitions_are_read() {
        let root = folder("hats");
        put(&root, "halo/dataset/Norder=1/Dir=0/Npix=4.parquet", &part(0, 2, false));
        put(&root, "halo/dataset/Norder=0/Dir=0/Npix=0.parquet", &part(2, 2, false));
        put(&root, "halo/dataset/Norder=0/Dir=0/Npix=3.parquet", &part(80, 2, false));
        put(&root, "halo/per_partition_statistics.parquet", &part(90, 2, false));
        put(&root, "halo_10arcs/dataset/Norder=0/Dir=0/Npix=0.parquet", &part(70, 2, false));
        let halo = root.join("halo");
        std::fs::write(root.join(COLLECTION), "#\nobs_collection=h\nhats_primary_table_url=halo\n").unwrap();
        std::fs::write(halo.join("hats.properties"), "dataproduct_type=object\n").unwrap();
        std::fs::write(halo.join(LIST), "Norder,Npix\n1,4\n0,0\n").unwrap();
        for given in [root.clone(), halo.clone(), halo.join("dataset")] {
            assert_eq!(ids(&crate::read(&given).unwrap()), [2, 3, 0, 1], "{}", given.display());
        }
        std::fs::write(halo.join(LIST), "Norder,Npix\n1,4\n1,5\n").unwrap();
        let problem = crate::read(&root).unwrap_err().to_string();
        assert!(problem.contains("has Norder=1, Npix=5, but there is no"), "{problem}");
        std::fs::write(halo.join("hats.properties"), "dataproduct_type=margin\n").unwrap();
        let problem = crate::read(&halo).unwrap_err().to_string();
        assert!(problem.contains("is a HATS margin, not a catalogue of objects"), "{problem}");
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_folder_without_partitions_is_refused() {
        let root = folder("empty");
        let problem = crate::read(&root).unwrap_err().to_string();
        assert!(problem.ends_with("there are no Parquet files in the folder; give a file"), "{problem}");
        std::fs::remove_dir_all(root).unwrap();
    }
}
