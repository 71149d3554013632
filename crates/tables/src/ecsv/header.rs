//! The YAML description of a table: its columns and metadata.
//!
//! ECSV stores it in comment lines; astropy puts the same text into Parquet (`table_meta_yaml`)
//! and, for what FITS itself cannot express, into FITS comments. So it is read and written for
//! three formats.

use std::collections::HashMap;

use crate::error::Result;
use crate::yaml::{Node, scalar};
use crate::{Column, Table, yaml};

/// One column as described.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Described {
    pub name: String,
    pub datatype: String,
    pub subtype: Option<String>,
    pub unit: Option<String>,
    pub description: Option<String>,
}

/// The description of a table.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Description {
    pub delimiter: Option<String>,
    pub columns: Vec<Described>,
    pub metadata: Vec<(String, String)>,
    /// Columns and their mask columns.
    masks: Vec<(String, String)>,
}

/// Reads the YAML text; the error says what is wrong with it.
pub(crate) fn parse(text: &str) -> Result<Description, String> {
    let root = yaml::parse(text)?;
    let mut found = Description {
        delimiter: root.get("delimiter").and_then(Node::text).map(String::from),
        ..Description::default()
    };
    let Some(Node::List(columns)) = root.get("datatype") else {
        return Err("the YAML header has no list `datatype`".into());
    };
    for (at, column) in columns.iter().enumerate() {
        let entry = |key: &str| column.get(key).map(Node::flat).filter(|text| !text.is_empty());
        found.columns.push(Described {
            name: entry("name").ok_or_else(|| format!("column {} of the YAML header has no name", at + 1))?,
            datatype: entry("datatype")
                .ok_or_else(|| format!("column {} of the YAML header has no datatype", at + 1))?,
            subtype: entry("subtype"),
            unit: entry("unit"),
            description: entry("description"),
        });
    }
    for (key, node) in root.get("meta").map(Node::entries).unwrap_or_default() {
        if key == "__serialized_columns__" {
            found.masks = masks(node);
        } else if !key.starts_with("__") {
            found.metadata.push((key.to_string(), node.flat()));
        }
    }
    Ok(found)
}

/// `x: {__class__: ...MaskedColumn, data: {name: x}, mask: {name: x.mask}}`.
fn masks(serialized: &Node) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (_, entry) in serialized.entries() {
        let name = |key: &str| entry.get(key).and_then(|node| node.get("name")).and_then(Node::text);
        if let (Some(data), Some(mask)) = (name("data"), name("mask")) {
            found.push((data.to_string(), mask.to_string()));
        }
    }
    found
}

impl Description {
    /// Adds units, descriptions and metadata to a table that was read by other means, and folds in
    /// masks.
    pub fn apply(&self, table: &mut Table) -> Result<()> {
        // In reverse, so that the first of two with the same name wins.
        let by_name: HashMap<&str, _> = self.columns.iter().rev().map(|d| (d.name.as_str(), d)).collect();
        let described = |column: Column| match by_name.get(column.name()) {
            None => column,
            Some(found) => {
                let unit = column.unit().map(String::from).or_else(|| found.unit.clone());
                let text = column.description().map(String::from).or_else(|| found.description.clone());
                column.with_unit(unit.unwrap_or_default()).with_description(text.unwrap_or_default())
            }
        };
        table.map_columns(described);
        for (key, value) in &self.metadata {
            if table.get_metadata(key).is_none() {
                table.set_metadata(key, value);
            }
        }
        for (data, mask) in &self.masks {
            table.fold_mask(data, mask)?;
        }
        Ok(())
    }
}

/// The YAML lines that describe `table`.
pub(crate) fn lines(table: &Table, delimiter: Option<char>) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(delimiter) = delimiter {
        lines.push(format!("delimiter: '{delimiter}'"));
    }
    lines.extend(columns(table));
    if !table.metadata().is_empty() {
        lines.push("meta: !!omap".into());
        for (key, value) in table.metadata() {
            // An implicit key may have at most 1024 characters; `?` allows any length.
            let mark = if key.len() > 500 { "? " } else { "" };
            lines.push(format!("- {{{mark}{}: {}}}", scalar(key), quoted(value)));
        }
    }
    lines.push("schema: astropy-2.0".into());
    lines
}

/// The lines about the columns alone.
pub(crate) fn columns(table: &Table) -> Vec<String> {
    let mut lines = vec!["datatype:".to_string()];
    for column in table.columns() {
        let mut parts = vec![format!("name: {}", scalar(column.name()))];
        if let Some(unit) = column.unit() {
            parts.push(format!("unit: {}", scalar(unit)));
        }
        parts.push(format!("datatype: {}", column.kind()));
        if let Some(description) = column.description() {
            parts.push(format!("description: {}", scalar(description)));
        }
        lines.push(format!("- {{{}}}", parts.join(", ")));
    }
    lines
}

/// Metadata is text, so it is written as text: `42` in quotes, or other programs would read it as a
/// number.
fn quoted(value: &str) -> String {
    let text = scalar(value);
    if text.starts_with('"') { text } else { format!("\"{text}\"") }
}
