//! Files: opening them, gzip, and dispatching on the format.
//!
//! The bytes that are written depend only on the table: no time stamp, no host, no path.
//! `destination` decides where they go.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use crate::column::Origin;
use crate::destination::{self, failed};
use crate::error::{Place, Result, TableError};
use crate::table::Stored;
use crate::{Format, Table, Which, csv, ecsv, fits, folder, parquet, votable};

/// On 270 000 rows of floats as CSV, level 1 takes 0.77 s for 10.96 MB and the usual 6 takes 2.79 s
/// for 10.24 MB.
const GZIP_LEVEL: u32 = 1;

/// The first bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Where the bytes come from, and which file to name in messages.
pub(crate) struct Input<'a> {
    reader: Box<dyn Read + 'a>,
    /// The number of bytes, if known in advance.
    pub len: Option<u64>,
    /// The number of bytes read so far.
    pub taken: u64,
    pub file: Option<PathBuf>,
    /// The kind of the last failure, for a caller that continued.
    broken: Option<io::Error>,
}

impl<'a> Input<'a> {
    fn of_bytes(bytes: &'a [u8]) -> Self {
        Self { reader: Box::new(bytes), len: Some(bytes.len() as u64), taken: 0, file: None, broken: None }
    }

    fn of_stream(reader: impl Read + 'a, name: &Path) -> Self {
        Self { reader: Box::new(reader), len: None, taken: 0, file: Some(name.to_path_buf()), broken: None }
    }

    fn open(path: &Path, gzip: bool) -> Result<Self> {
        let io = |source| TableError::Io { file: path.to_path_buf(), doing: "read", source };
        let file = File::open(path).map_err(io)?;
        let metadata = file.metadata().map_err(io)?;
        if metadata.is_dir() {
            return Err(io(io::Error::from(io::ErrorKind::IsADirectory)));
        }
        // Pipes and the like have no length of their own.
        let len = (metadata.is_file() && !gzip).then_some(metadata.len());
        let reader: Box<dyn Read> = if gzip {
            Box::new(MultiGzDecoder::new(io::BufReader::with_capacity(1 << 16, file)))
        } else {
            Box::new(file)
        };
        Ok(Self { reader, len, taken: 0, file: Some(path.to_path_buf()), broken: None })
    }

    pub fn place(&self) -> Place {
        Place { file: self.file.clone(), ..Place::default() }
    }

    pub fn origin(&self, first_line: Option<u64>) -> Arc<Origin> {
        Arc::new(Origin { file: self.file.clone(), first_line })
    }

    /// Fills `buffer` as far as the input goes; returns the number of bytes read.
    pub fn fill(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut got = 0;
        while got < buffer.len() {
            match self.reader.read(&mut buffer[got..]) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        self.taken += got as u64;
        Ok(got)
    }

    /// Skips `bytes` bytes; returns how many there were.
    pub fn pass(&mut self, bytes: u64) -> Result<u64> {
        match io::copy(&mut self.reader.by_ref().take(bytes), &mut io::sink()) {
            Ok(got) => {
                self.taken += got;
                Ok(got)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Reads the rest of a compressed input, because its checksum comes last. A plain file has
    /// none, so its rest is ignored.
    pub fn check_rest(&mut self) -> Result<()> {
        if self.len.is_none() {
            self.pass(u64::MAX)?;
        }
        match self.broken.take() {
            Some(error) => Err(self.failed(error)),
            None => Ok(()),
        }
    }

    /// Everything that is left.
    pub fn rest(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(len) = self.len {
            // One extra byte, so that reading the end does not double the buffer.
            bytes.reserve_exact(usize::try_from(len).unwrap_or(0).saturating_add(1));
        }
        match self.reader.read_to_end(&mut bytes) {
            Ok(got) => {
                self.taken += got as u64;
                Ok(bytes)
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    fn failed(&mut self, error: io::Error) -> TableError {
        self.broken = Some(error.kind().into());
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.place().cut_off("the compressed data end too early"),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => self.place().malformed(format!(
                "the compressed data are damaged ({error}); fetch or write the file again"
            )),
            _ => TableError::Io { file: self.file.clone().unwrap_or_default(), doing: "read", source: error },
        }
    }
}

/// Reads a table; the file's extension determines the format. A folder of Parquet files, such as a
/// HATS catalogue, is read as one table.
///
/// `-` is standard input. Its format, like that of any other stream without an ending (a FIFO,
/// `/dev/fd/63`), is recognised by its first bytes ([`Format::of_content`]); it may be compressed
/// with gzip.
///
/// ```no_run
/// let table = goc_tables::read("stars.fits".as_ref())?;
/// let parallax = table.require("parallax")?.numbers()?;
/// # Ok::<(), goc_tables::TableError>(())
/// ```
pub fn read(path: &Path) -> Result<Table> {
    read_which(path, &Which::First)
}

/// Reads one of the tables of a file.
pub fn read_which(path: &Path, which: &Which) -> Result<Table> {
    read_for(path, which, None)
}

/// The same for a table that will be written again in the format `to`. From FITS to FITS and from
/// Parquet to Parquet, columns that a table of single values cannot hold are not left out but
/// carried along ([`Table::carried`]) and written unchanged. Other formats cannot hold them.
pub fn read_for(path: &Path, which: &Which, to: Option<Format>) -> Result<Table> {
    if path.is_dir() {
        check_which(which, Format::Parquet, &Place::file(path))?;
        return folder::read(path);
    }
    let (format, gzip) = match Format::of(path) {
        Ok(known) => known,
        Err(_) if path == Path::new("-") => {
            return read_stream(io::stdin().lock(), Path::new("standard input"), which, to);
        }
        Err(unknown) => {
            let stream = std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir());
            let file = File::open(path).ok().filter(|_| stream).ok_or(unknown)?;
            return read_stream(file, path, which, to);
        }
    };
    let carry = to == Some(format);
    check_which(which, format, &Place::file(path))?;
    let input = Input::open(path, gzip)?;
    if format == Format::Parquet {
        // Parquet is read from its end, so it needs the file itself.
        let file = File::open(path).map_err(|source| TableError::Io {
            file: path.to_path_buf(),
            doing: "read",
            source,
        })?;
        return parquet::read(file, Some(path), carry);
    }
    read_input(input, format, which, carry)
}

/// Reads a table whose format is recognised by its content; messages call the stream `name`.
fn read_stream(stream: impl Read, name: &Path, which: &Which, to: Option<Format>) -> Result<Table> {
    let packed = Input::of_stream(stream, name).rest()?;
    let bytes = match packed.starts_with(&GZIP_MAGIC) {
        true => {
            let mut input = Input::of_stream(MultiGzDecoder::new(packed.as_slice()), name);
            input.rest()?
        }
        false => packed,
    };
    let format = Format::of_content(&bytes);
    check_which(which, format, &Place::file(name))?;
    let input = Input { file: Some(name.to_path_buf()), ..Input::of_bytes(&bytes) };
    read_input(input, format, which, to == Some(format))
}

/// Reads a table from bytes in memory.
pub fn from_bytes(bytes: &[u8], format: Format) -> Result<Table> {
    from_bytes_which(bytes, format, &Which::First)
}

/// Reads one of the tables of a file that is in memory.
pub fn from_bytes_which(bytes: &[u8], format: Format, which: &Which) -> Result<Table> {
    check_which(which, format, &Place::default())?;
    read_input(Input::of_bytes(bytes), format, which, false)
}

/// Refuses a selection that the format does not support.
fn check_which(which: &Which, format: Format, place: &Place) -> Result<()> {
    let problem = match (which, format) {
        (Which::Hdu(_), Format::Fits) | (Which::Table(_), Format::VoTable) | (Which::First, _) => {
            return Ok(());
        }
        (Which::Hdu(_), _) => "only FITS files have HDUs; leave --hdu out",
        (Which::Table(_), Format::Fits) => "a FITS file has HDUs; use --hdu in place of --table",
        (Which::Table(_), _) => "only VOTable files have several tables; leave --table out",
    };
    Err(TableError::NoTable { place: place.clone(), problem: problem.into() })
}

fn read_input(input: Input<'_>, format: Format, which: &Which, carry: bool) -> Result<Table> {
    match format {
        Format::Csv => csv::read(input, b','),
        Format::Tsv => csv::read(input, b'\t'),
        Format::Ecsv => ecsv::read(input),
        Format::Parquet => {
            let mut input = input;
            let bytes = input.rest()?;
            parquet::read(bytes::Bytes::from(bytes), input.file.as_deref(), carry)
        }
        Format::Fits => fits::read(input, which, carry),
        Format::VoTable => votable::read(input, which),
    }
}

/// Writes a table atomically; the file's extension determines the format.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("goc-doc-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder).unwrap();
/// use goc_tables::{Column, Data, Table};
/// let table = Table::new(vec![Column::new("x", Data::F32(vec![0.5]))])?;
/// let path = folder.join("x.fits");
/// goc_tables::write(&table, &path)?;
/// assert_eq!(goc_tables::read(&path)?, table);
/// # std::fs::remove_dir_all(&folder).unwrap();
/// # Ok::<(), goc_tables::TableError>(())
/// ```
pub fn write(table: &Table, path: &Path) -> Result<()> {
    write_as(table, path, None)
}

/// Writes a table in a given format, or in the one that the file's extension determines.
pub fn write_as(table: &Table, path: &Path, format: Option<Format>) -> Result<()> {
    let (format, gzip) = Format::asked(path, format)?;
    destination::write_to(path, |out| {
        if gzip {
            let mut encoder = GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL));
            write_to(table, format, &mut encoder, path)?;
            encoder.finish().map(|_| ()).map_err(failed(path, "write"))
        } else {
            write_to(table, format, out, path)
        }
    })
}

/// Refuses a table whose names, text or metadata the format of `path` cannot hold, before any work
/// is done. Nothing is written.
///
/// ```
/// use goc_tables::{Column, Data, Table};
/// let table = Table::new(vec![Column::new("\u{3b1}", Data::F64(vec![0.5]))])?;
/// assert!(goc_tables::check_can_hold(&table, "stars.fits".as_ref()).is_err());
/// goc_tables::check_can_hold(&table, "stars.parquet".as_ref())?;
/// # Ok::<(), goc_tables::TableError>(())
/// ```
pub fn check_can_hold(table: &Table, path: &Path) -> Result<()> {
    check_can_hold_as(table, path, None)
}

/// The same for a given format.
pub fn check_can_hold_as(table: &Table, path: &Path, format: Option<Format>) -> Result<()> {
    let format = Format::asked(path, format)?.0;
    check_carried(table, format, path)?;
    match format {
        Format::Fits => fits::check(table, path),
        Format::Parquet => parquet::check(table, path),
        // These can hold any name; text that XML forbids is detected on writing.
        Format::Csv | Format::Tsv | Format::Ecsv | Format::VoTable => Ok(()),
    }
}

/// Refuses to drop carried columns that another format cannot hold.
fn check_carried(table: &Table, format: Format, path: &Path) -> Result<()> {
    match (table.stored(), format, table.carried().first()) {
        (Stored::Nothing, ..)
        | (Stored::Fits(_), Format::Fits, _)
        | (Stored::Parquet(_), Format::Parquet, _)
        | (.., None) => Ok(()),
        (.., Some(carried)) => {
            let problem = format!("{}; only the format that it comes from holds it", carried.reason);
            Err(Place::file(path).column(&carried.name).cannot_hold(problem))
        }
    }
}

/// Writes text that is not a table, such as a tree, in the same way as [`write()`]: under a
/// temporary name, then renamed.
pub fn write_text(text: &str, path: &Path) -> Result<()> {
    write_bytes(text.as_bytes(), path)
}

/// Writes bytes that are not a table, such as a picture, in the same way.
pub fn write_bytes(bytes: &[u8], path: &Path) -> Result<()> {
    destination::write_to(path, |out| out.write_all(bytes).map_err(failed(path, "write")))
}

/// Writes a table to bytes in memory.
pub fn to_bytes(table: &Table, format: Format) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_to(table, format, &mut bytes, Path::new("memory"))?;
    Ok(bytes)
}

fn write_to<W: Write + Send>(table: &Table, format: Format, out: &mut W, path: &Path) -> Result<()> {
    check_carried(table, format, path)?;
    match format {
        Format::Csv => csv::write(table, out, b',', path),
        Format::Tsv => csv::write(table, out, b'\t', path),
        Format::Ecsv => ecsv::write(table, out, path),
        Format::Parquet => parquet::write(table, out, path),
        Format::Fits => fits::write(table, out, path),
        Format::VoTable => votable::write(table, out, path),
    }
}

/// For writers: a system error with the file's name.
pub(crate) fn write_failed(path: &Path) -> impl Fn(io::Error) -> TableError + '_ {
    move |source| TableError::Io { file: path.to_path_buf(), doing: "write", source }
}
