//! Reads the XML: fields, metadata, and the data of the first or the named table.

use base64::Engine;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::binary;
use super::field::{FieldTag, Reading};
use crate::error::{Place, Result, TableError};
use crate::file::Input;
use crate::{Pick, Table, Which};

/// Elements that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tag {
    VoTable,
    Table,
    Field,
    Description,
    Info,
    TableData,
    Row,
    Cell,
    Binary,
    Binary2,
    Stream,
    Other,
}

/// Reads the whole input.
pub(crate) fn read(mut input: Input<'_>, which: &Which) -> Result<Table> {
    let bytes = input.rest()?;
    let place = input.place();
    let text = std::str::from_utf8(&bytes).map_err(|error| {
        place.clone().line(line_of(&bytes, error.valid_up_to())).malformed("not UTF-8; convert the file")
    })?;
    let mut xml = quick_xml::Reader::from_str(text);
    xml.config_mut().expand_empty_elements = true;
    let mut walk = Walk::new(place.clone(), which);
    loop {
        let event = xml.read_event().map_err(|error| match error {
            // All of them mean that something was opened and never closed.
            quick_xml::Error::Syntax(what) => {
                place.clone().line(line_of(&bytes, position(xml.error_position()))).cut_off(what.to_string())
            }
            other => place
                .clone()
                .line(line_of(&bytes, position(xml.error_position())))
                .malformed(format!("the XML is damaged: {other}")),
        })?;
        let at = xml.buffer_position();
        match event {
            Event::Eof => break,
            event => walk.take(event).map_err(|problem| match problem {
                Problem::Said(error) => error,
                Problem::Here(problem) => {
                    place.clone().line(line_of(&bytes, position(at))).malformed(problem)
                }
            })?,
        }
    }
    if !walk.ended {
        let missing = "it ends before </VOTABLE>";
        return Err(place.line(line_of(&bytes, bytes.len())).cut_off(missing));
    }
    walk.finish().map(|table| table.with_origin(&input.origin(None)))
}

fn position(at: u64) -> usize {
    usize::try_from(at).unwrap_or(usize::MAX)
}

/// The line of a byte, counted from 1.
fn line_of(bytes: &[u8], at: usize) -> u64 {
    1 + bytes[..at.min(bytes.len())].iter().filter(|&&b| b == b'\n').count() as u64
}

enum Problem {
    /// An error that already has its place.
    Said(TableError),
    /// An error at the current line.
    Here(String),
}

impl From<String> for Problem {
    fn from(problem: String) -> Self {
        Problem::Here(problem)
    }
}

/// What is known so far.
struct Walk {
    place: Place,
    /// Which table is wanted, if not the first.
    wanted: Option<Pick>,
    open: Vec<Tag>,
    /// The text of the element being read.
    text: String,
    fields: Vec<FieldTag>,
    readings: Vec<Reading>,
    names: Vec<String>,
    rows: u64,
    declared_rows: Option<u64>,
    /// Column of the next cell.
    cell: usize,
    metadata: Vec<(String, String)>,
    info: Option<(String, String)>,
    service_error: Option<String>,
    base64: bool,
    tables: usize,
    /// The number of the table that is read, once it was found.
    chosen: Option<usize>,
    other_tables: Vec<(usize, String)>,
    data: bool,
    ended: bool,
}

impl Walk {
    fn new(place: Place, which: &Which) -> Self {
        let wanted = match which {
            Which::Table(pick) => Some(pick.clone()),
            _ => None,
        };
        Self {
            place,
            wanted,
            open: Vec::new(),
            text: String::new(),
            fields: Vec::new(),
            readings: Vec::new(),
            names: Vec::new(),
            rows: 0,
            declared_rows: None,
            cell: 0,
            metadata: Vec::new(),
            info: None,
            service_error: None,
            base64: false,
            tables: 0,
            chosen: None,
            other_tables: Vec::new(),
            data: false,
            ended: false,
        }
    }

    fn take(&mut self, event: Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Start(start) => self.start(&start),
            Event::End(_) => self.end(),
            Event::Text(text) if self.wants_text() => {
                let text = text.xml10_content();
                if self.open.last() == Some(&Tag::Description) {
                    self.fold(&text);
                } else {
                    self.text.push_str(&text);
                }
                Ok(())
            }
            Event::CData(text) if self.wants_text() => {
                self.text.push_str(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(reference) if self.wants_text() => {
                self.text.push(entity(&reference)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wants_text(&self) -> bool {
        matches!(self.open.last(), Some(Tag::Description | Tag::Info | Tag::Cell | Tag::Stream))
    }

    /// Adds text, with each run of white space that contains a line end replaced by one blank.
    fn fold(&mut self, text: &str) {
        for (at, line) in text.split('\n').enumerate() {
            let line = if at == 0 { line } else { line.trim_start() };
            if at > 0 {
                let end = self.text.trim_end_matches([' ', '\t']).len();
                self.text.truncate(end);
                self.text.push(' ');
            }
            self.text.push_str(line);
        }
    }

    /// Whether we are in a table that is not read.
    fn elsewhere(&self) -> bool {
        self.chosen != Some(self.tables) && self.open.contains(&Tag::Table)
    }

    /// A table begins: is it the one?
    fn begin_table(&mut self, start: &BytesStart<'_>) -> Result<(), Problem> {
        self.tables += 1;
        let name = attribute(start, "name")?.unwrap_or_default();
        let id = attribute(start, "ID")?.unwrap_or_default();
        let wanted = self.wanted.as_ref().is_none_or(|pick| pick.is(self.tables, &[&name, &id]));
        if wanted && self.chosen.is_none() {
            self.chosen = Some(self.tables);
        } else {
            self.other_tables.push((self.tables, if name.is_empty() { id } else { name }));
        }
        Ok(())
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), Problem> {
        let local = start.local_name();
        let tag = match local.as_ref() {
            "VOTABLE" => Tag::VoTable,
            "TABLE" => Tag::Table,
            "FIELD" => Tag::Field,
            "DESCRIPTION" => Tag::Description,
            "INFO" => Tag::Info,
            "TABLEDATA" => Tag::TableData,
            "TR" => Tag::Row,
            "TD" => Tag::Cell,
            "BINARY" => Tag::Binary,
            "BINARY2" => Tag::Binary2,
            "STREAM" => Tag::Stream,
            _ => Tag::Other,
        };
        if self.open.is_empty() && tag != Tag::VoTable {
            return Err(format!("not a VOTable: the root element is {}", local.as_ref()).into());
        }
        if self.open.len() > 100 {
            return Err("the XML is nested too deeply".to_string().into());
        }
        let parent = self.open.last().copied();
        self.open.push(tag);
        if self.wants_text() {
            self.text.clear();
        }
        if tag == Tag::Table {
            self.begin_table(start)?;
        }
        if self.elsewhere() {
            return Ok(());
        }
        match tag {
            Tag::Table => {
                if let Some(name) = attribute(start, "name")? {
                    self.note("name", &name);
                }
                if let Some(rows) = attribute(start, "nrows")? {
                    let bad = |_| format!("nrows is `{rows}`, not a count");
                    self.declared_rows = Some(rows.trim().parse().map_err(bad)?);
                }
            }
            Tag::Field if self.open.contains(&Tag::Table) => self.field(start)?,
            Tag::Info => {
                let name = attribute(start, "name")?.unwrap_or_default();
                self.info = Some((name, attribute(start, "value")?.unwrap_or_default()));
            }
            Tag::TableData | Tag::Binary | Tag::Binary2 => self.begin_data()?,
            Tag::Row if parent == Some(Tag::TableData) => self.cell = 0,
            Tag::Stream => {
                if attribute(start, "href")?.is_some() {
                    return Err("the data are in another file (STREAM href); fetch them as one file"
                        .to_string()
                        .into());
                }
                self.base64 = match attribute(start, "encoding")?.as_deref() {
                    Some("base64") => true,
                    other => {
                        let other = other.unwrap_or("none");
                        return Err(format!(
                            "a stream of the encoding `{other}` inside XML; only base64 is read"
                        )
                        .into());
                    }
                };
            }
            Tag::Other => match local.as_ref() {
                "PARAM" => {
                    if let (Some(name), Some(value)) = (attribute(start, "name")?, attribute(start, "value")?)
                    {
                        self.note(&name, &value);
                    }
                }
                "VALUES" if parent == Some(Tag::Field) => {
                    if let (Some(null), Some(field)) = (attribute(start, "null")?, self.fields.last_mut()) {
                        field.null = Some(null);
                    }
                }
                "FITS" => {
                    return Err("its data are FITS inside VOTable; store them as FITS".to_string().into());
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    fn note(&mut self, key: &str, value: &str) {
        self.metadata.push((key.to_string(), value.to_string()));
    }

    fn field(&mut self, start: &BytesStart<'_>) -> Result<(), Problem> {
        let at = self.fields.len() + 1;
        let name = match attribute(start, "name")? {
            Some(name) => Some(name),
            None => attribute(start, "ID")?,
        };
        self.fields.push(FieldTag {
            name: name.ok_or_else(|| format!("FIELD {at} has no name"))?,
            datatype: attribute(start, "datatype")?.ok_or_else(|| format!("FIELD {at} has no datatype"))?,
            arraysize: attribute(start, "arraysize")?,
            unit: attribute(start, "unit")?,
            description: None,
            null: None,
        });
        Ok(())
    }

    fn begin_data(&mut self) -> Result<(), Problem> {
        if self.data {
            return Err("the table has two sets of data".to_string().into());
        }
        self.data = true;
        self.prepare()
    }

    fn prepare(&mut self) -> Result<(), Problem> {
        for field in &self.fields {
            let reading = field.reading().map_err(|problem| {
                Problem::Said(self.place.clone().column(&field.name).malformed(problem))
            })?;
            self.readings.push(reading);
            self.names.push(field.name.clone());
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), Problem> {
        let elsewhere = self.elsewhere();
        let Some(tag) = self.open.pop() else { return Ok(()) };
        self.ended |= self.open.is_empty();
        if elsewhere {
            return Ok(());
        }
        match tag {
            Tag::Description => {
                let text = self.text.trim().to_string();
                match self.open.last() {
                    Some(Tag::Field) => {
                        if let Some(field) = self.fields.last_mut() {
                            field.description = Some(text);
                        }
                    }
                    Some(Tag::Table) => self.note("description", &text),
                    _ => {}
                }
            }
            Tag::Info => {
                if let Some((name, value)) = self.info.take() {
                    if name == "QUERY_STATUS" && value.eq_ignore_ascii_case("error") {
                        self.service_error = Some(self.text.trim().to_string());
                    }
                    self.note(&name, &value);
                }
            }
            Tag::Cell if self.open.last() == Some(&Tag::Row) => self.end_cell()?,
            Tag::Row if self.open.last() == Some(&Tag::TableData) => {
                if self.cell != self.readings.len() {
                    return Err(self.wrong_cells());
                }
                self.rows += 1;
            }
            Tag::Stream if self.base64 => {
                self.base64 = false;
                self.end_stream()?;
            }
            _ => {}
        }
        Ok(())
    }

    fn wrong_cells(&self) -> Problem {
        Problem::Said(self.place.clone().row(self.rows + 1).malformed(format!(
            "{} cells, but there are {} fields",
            self.cell,
            self.readings.len()
        )))
    }

    fn end_cell(&mut self) -> Result<(), Problem> {
        self.cell += 1;
        let Some(reading) = self.readings.get_mut(self.cell - 1) else { return Err(self.wrong_cells()) };
        reading.take_text(&self.text).map_err(|problem| {
            Problem::Said(TableError::Value {
                place: self.place.clone().row(self.rows + 1).column(&self.names[self.cell - 1]),
                value: self.text.as_str().into(),
                problem: problem.into(),
            })
        })
    }

    fn end_stream(&mut self) -> Result<(), Problem> {
        let flagged = match self.open.last() {
            Some(Tag::Binary) => false,
            Some(Tag::Binary2) => true,
            _ => return Ok(()),
        };
        let mut text = std::mem::take(&mut self.text).into_bytes();
        text.retain(|b| !b.is_ascii_whitespace());
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(text)
            .map_err(|error| format!("the base64 data are damaged: {error}"))?;
        self.rows = binary::rows(&bytes, flagged, &mut self.readings, &self.names, &self.place)
            .map_err(Problem::Said)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Table> {
        let malformed = |problem: String| self.place.clone().malformed(problem);
        if self.tables == 0 {
            return Err(malformed(match &self.service_error {
                Some(said) => format!("the service that wrote it reports an error: {said}"),
                None => "no TABLE in the VOTable".into(),
            }));
        }
        let named = |(number, name): &(usize, String)| format!("{number} {name}").trim_end().to_string();
        if let (None, Some(pick)) = (self.chosen, &self.wanted) {
            let there = self.other_tables.iter().map(named).collect::<Vec<_>>().join(", ");
            let problem = format!("no table {pick}; there are: {there}");
            return Err(TableError::NoTable { place: self.place, problem });
        }
        if let Some(declared) = self.declared_rows.filter(|&declared| declared != self.rows) {
            return Err(malformed(format!("nrows is {declared}, but there are {} rows", self.rows)));
        }
        if !self.data
            && let Err(Problem::Said(error)) = self.prepare()
        {
            return Err(error);
        }
        let (mut columns, mut skipped) = (Vec::new(), Vec::new());
        for (field, reading) in self.fields.iter().zip(self.readings) {
            match reading.to {
                Ok(column) => columns.push(
                    column
                        .finish(&field.name)?
                        .with_unit(field.unit.clone().unwrap_or_default())
                        .with_description(field.description.clone().unwrap_or_default()),
                ),
                Err(reason) => skipped.push((field.name.clone(), reason)),
            }
        }
        let mut table = Table::new(columns)?;
        for (name, reason) in skipped {
            table.skip(name, reason);
        }
        for other in &self.other_tables {
            let reason = format!("another table of the file, which --table {} reads", other.0);
            table.skip(format!("table {}", named(other)), reason);
        }
        for (key, value) in self.metadata {
            table.set_metadata(key, value);
        }
        Ok(table)
    }
}

/// An attribute's value, by its name without prefix.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Problem> {
    for found in start.attributes() {
        let found = found.map_err(|error| format!("the XML is damaged: {error}"))?;
        if found.key.local_name().as_ref() == name {
            let value = found
                .normalized_value(XmlVersion::Implicit1_0)
                .map_err(|error| format!("the XML is damaged: {error}"))?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// `&amp;`, `&#10;` and the like.
fn entity(reference: &BytesRef<'_>) -> Result<char, Problem> {
    if let Ok(Some(c)) = reference.resolve_char_ref() {
        return Ok(c);
    }
    Ok(match reference.xml10_content().as_ref() {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        other => return Err(format!("the XML has an unknown entity `&{other};`").into()),
    })
}
