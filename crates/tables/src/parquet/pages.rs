//! Checks the sizes that the pages of a file claim, before the decoder trusts them.
//!
//! The header of a page states the compressed and uncompressed sizes of its data, and the decoder
//! allocates as much memory as it says: 2 GB for a damaged file of 6 kB. Every compression has a
//! maximum ratio, so a page that claims more is damaged. Likewise, a dictionary cannot have more
//! values than bytes, but the decoder allocates as many as its header says. Headers use Thrift's
//! compact protocol, of which this module reads the two sizes and that number and skips the rest; a
//! header that it cannot read is left to the decoder.

use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::ChunkReader;

use super::read::damaged;
use crate::error::{Place, Result};

/// An uncompressed size up to this is harmless, whatever the page claims.
const HARMLESS: u64 = 1 << 26;

/// This many values of a dictionary are harmless too.
const FEW: u64 = 1 << 20;

/// Maximum number of bytes in a header, which may hold the minimum and maximum values of the page.
const HEADER: u64 = 1 << 16;

/// Maximum nesting depth of structures.
const DEEP: usize = 16;

/// The maximum compression ratio as the formats define it; for those without a limit, more than
/// that of a page of zeros.
fn most(compression: Compression) -> u64 {
    match compression {
        Compression::UNCOMPRESSED => 1,
        Compression::SNAPPY => 64,
        Compression::GZIP(_) => 1100,
        Compression::LZ4 | Compression::LZ4_RAW | Compression::LZO => 300,
        Compression::BROTLI(_) | Compression::ZSTD(_) => 50_000,
    }
}

/// Refuses pages that claim more than they can hold.
pub(super) fn check<R: ChunkReader>(reader: &R, metadata: &ParquetMetaData, place: &Place) -> Result<()> {
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let begin = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let (Ok(mut at), Ok(bytes)) = (u64::try_from(begin), u64::try_from(column.compressed_size())) else {
            continue;
        };
        let end = at.saturating_add(bytes).min(reader.len());
        while at < end {
            let Ok(header) = reader.get_bytes(at, (end - at).min(HEADER) as usize) else { break };
            let Some(page) = Page::read(&header) else { break };
            if page.unpacked > HARMLESS.max(page.packed.saturating_mul(most(column.compression()))) {
                let (name, to) = (column.column_path().string(), goc_memory::amount(page.unpacked));
                let problem = format!("a page of {} bytes claims to unpack to {to}", page.packed);
                return Err(damaged(&place.clone().column(&name), &problem));
            }
            if page.dictionary > FEW.max(page.unpacked) {
                let name = column.column_path().string();
                let problem =
                    format!("a dictionary of {} bytes claims {} values", page.unpacked, page.dictionary);
                return Err(damaged(&place.clone().column(&name), &problem));
            }
            at = at.saturating_add(page.header).saturating_add(page.packed);
        }
    }
    Ok(())
}

/// The lengths of a page.
struct Page {
    header: u64,
    packed: u64,
    unpacked: u64,
    /// Number of values in a dictionary; 0 for other pages.
    dictionary: u64,
}

impl Page {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = Compact(bytes);
        let (mut packed, mut unpacked, mut dictionary, mut id) = (None, None, 0, 0);
        while let Some(kind) = rest.field(&mut id)? {
            match (id, kind) {
                (7, 12) => {
                    let mut id = 0;
                    while let Some(kind) = rest.field(&mut id)? {
                        match (id, kind) {
                            (1, 5) => dictionary = u64::try_from(rest.integer()? as i32).unwrap_or(0),
                            _ => rest.skip(kind, DEEP)?,
                        }
                    }
                }
                (2, 5) => unpacked = u64::try_from(rest.integer()? as i32).ok(),
                (3, 5) => packed = u64::try_from(rest.integer()? as i32).ok(),
                _ => rest.skip(kind, DEEP)?,
            }
        }
        let header = (bytes.len() - rest.0.len()) as u64;
        Some(Self { header, packed: packed?, unpacked: unpacked?, dictionary })
    }
}

/// A reader of Thrift's compact protocol; `None` if the bytes end or are something else.
struct Compact<'a>(&'a [u8]);

impl Compact<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    /// Seven bits per byte, the lowest first. An overlong one is read as the decoder reads it.
    fn varint(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0_u64, 0_u32);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f).wrapping_shl(shift);
            shift = shift.wrapping_add(7);
            if byte < 0x80 {
                return Some(value);
            }
        }
    }

    /// The lowest bit is the sign.
    fn integer(&mut self) -> Option<i64> {
        let bits = self.varint()?;
        Some((bits >> 1) as i64 ^ -((bits & 1) as i64))
    }

    /// The type of the next field, and its number in `id`; `Some(None)` at the end of the structure.
    fn field(&mut self, id: &mut i64) -> Option<Option<u8>> {
        let byte = self.byte()?;
        if byte == 0 {
            return Some(None);
        }
        *id = match byte >> 4 {
            0 => self.integer()?,
            step => *id + i64::from(step),
        };
        Some(Some(byte & 0xf))
    }

    fn skip(&mut self, kind: u8, deep: usize) -> Option<()> {
        let deeper = deep.checked_sub(1)?;
        match kind {
            1 | 2 => Some(()), // true and false are types
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let items = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.items(items, &[head & 0xf], deeper)
            }
            11 => match self.varint()? {
                0 => Some(()),
                items => {
                    let kinds = self.byte()?;
                    self.items(items, &[kinds >> 4, kinds & 0xf], deeper)
                }
            },
            12 => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, deeper)?;
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Skips this many values of these types in turn. Here a boolean takes one byte.
    fn items(&mut self, items: u64, kinds: &[u8], deep: usize) -> Option<()> {
        for _ in 0..items {
            for &kind in kinds {
                if kind <= 2 { self.pass(1)? } else { self.skip(kind, deep)? }
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lengths_of_a_page_are_read_and_the_rest_skipped() {
        // Type 0, unpacked 300, packed 20, then a structure with a list, a text, a double and a flag.
        let inner = [
            0x15, 0x02, 0x19, 0x25, 0x02, 0x04, 0x18, 0x02, b'a', b'b', 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0x11, 0,
        ];
        let mut bytes = vec![0x15, 0x00, 0x15, 0xd8, 0x04, 0x15, 0x28, 0x2c];
        bytes.extend(inner);
        bytes.extend([0, 99, 99]);
        let page = Page::read(&bytes).unwrap();
        assert_eq!((page.header, page.unpacked, page.packed), (bytes.len() as u64 - 2, 300, 20));
        // Cut off anywhere it is none, and a list of very many is no long work.
        assert!((0..bytes.len() - 3).all(|end| Page::read(&bytes[..end]).is_none()));
        assert!(Page::read(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f]).is_none());
    }

    #[test]
    fn a_dictionary_of_more_values_than_bytes_is_damage() {
        let header = [0x15, 0x04, 0x15, 0x0a, 0x15, 0x0a, 0x4c, 0x15, 0x0e, 0x15, 0x00, 0, 0];
        assert_eq!(Page::read(&header).unwrap().dictionary, 7);
        // As the fuzzer found it.
        let file = include_bytes!("../../../../fuzz/regressions/parquet/dictionary-of-many-values");
        let said = crate::from_bytes(file, crate::Format::Parquet).unwrap_err().to_string();
        assert!(said.contains("a dictionary of") && said.contains("bytes claims"), "{said}");
    }
}
