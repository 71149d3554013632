//! Splits text into rows and fields without copying it.
//!
//! Fields are spans of the file's bytes; only a quoted field with doubled quotes needs a copy, and only
//! when its text is requested. Numeric columns never make a `String`.

use std::borrow::Cow;

/// A field: the position of its text in the bytes, without quotes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    start: usize,
    end: usize,
    pub quoted: bool,
    /// Holds doubled quotes.
    doubled: bool,
}

impl Field {
    /// The raw bytes between the quotes or, if unquoted, without surrounding blanks.
    pub fn bytes<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        &all[self.start..self.end]
    }

    /// The text; an error when it is not UTF-8.
    pub fn text<'a>(&self, all: &'a [u8]) -> Result<Cow<'a, str>, std::str::Utf8Error> {
        let text = std::str::from_utf8(self.bytes(all))?;
        Ok(if self.doubled { text.replace("\"\"", "\"").into() } else { text.into() })
    }
}

/// What is wrong with the text, at a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A quote opened at this line never closes.
    Unclosed(u64),
    /// Something other than a delimiter follows a closing quote.
    AfterQuote(u64),
}

/// Walks over rows.
pub(crate) struct Rows<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The line the next row begins on, from 1.
    pub line: u64,
    delimiter: u8,
}

impl<'a> Rows<'a> {
    pub fn new(bytes: &'a [u8], delimiter: u8) -> Self {
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, line: 1, delimiter }
    }

    /// The next line if it is a comment, without its `#`.
    pub fn comment(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        if rest.first() != Some(&b'#') {
            return None;
        }
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        self.at += (end + 1).min(rest.len());
        self.line += 1;
        let text = &rest[1..end];
        Some(text.strip_suffix(b"\r").unwrap_or(text))
    }

    /// Skips blank lines; true if there was one.
    pub fn blank(&mut self) -> bool {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
        // In a tab-separated file a line of tabs is a row of nulls.
        let blank = rest[..end].iter().all(|&b| b == b'\r' || (b == b' ' && self.delimiter != b' '));
        if rest.is_empty() || !blank {
            return false;
        }
        self.at += (end + 1).min(rest.len());
        self.line += 1;
        true
    }

    /// The next row's fields and the line it begins on; comments and blank lines are skipped.
    /// `None` at the end.
    pub fn next(&mut self, fields: &mut Vec<Field>) -> Result<Option<u64>, Fault> {
        fields.clear();
        while self.comment().is_some() || self.blank() {}
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let line = self.line;
        loop {
            let (field, last) = self.field()?;
            fields.push(field);
            if last {
                self.line += 1;
                return Ok(Some(line));
            }
        }
    }

    /// One field, and whether it ends its row.
    fn field(&mut self) -> Result<(Field, bool), Fault> {
        let bytes = self.bytes;
        let mut start = self.at;
        if self.delimiter != b' ' {
            while bytes.get(start) == Some(&b' ') {
                start += 1;
            }
        }
        if bytes.get(start) == Some(&b'"') {
            return self.quoted(start + 1);
        }
        let mut end = start;
        while end < bytes.len() && bytes[end] != self.delimiter && bytes[end] != b'\n' {
            end += 1;
        }
        let last = self.step_over(end);
        while end > start && (bytes[end - 1] == b' ' || (last && bytes[end - 1] == b'\r')) {
            end -= 1;
        }
        Ok((Field { start, end, quoted: false, doubled: false }, last))
    }

    fn quoted(&mut self, start: usize) -> Result<(Field, bool), Fault> {
        let (bytes, opened) = (self.bytes, self.line);
        let (mut end, mut doubled) = (start, false);
        loop {
            match bytes.get(end) {
                None => return Err(Fault::Unclosed(opened)),
                Some(b'"') if bytes.get(end + 1) == Some(&b'"') => {
                    doubled = true;
                    end += 2;
                }
                Some(b'"') => break,
                Some(&byte) => {
                    self.line += u64::from(byte == b'\n');
                    end += 1;
                }
            }
        }
        let mut after = end + 1;
        while bytes.get(after) == Some(&b'\r') || (bytes.get(after) == Some(&b' ') && self.delimiter != b' ')
        {
            after += 1;
        }
        match bytes.get(after) {
            Some(&byte) if byte != self.delimiter && byte != b'\n' => {
                return Err(Fault::AfterQuote(self.line));
            }
            _ => {}
        }
        let last = self.step_over(after);
        Ok((Field { start, end, quoted: true, doubled }, last))
    }

    /// Moves past the delimiter or line end at `end`; true if the row is complete.
    fn step_over(&mut self, end: usize) -> bool {
        self.at = (end + 1).min(self.bytes.len());
        self.bytes.get(end).is_none_or(|&byte| byte == b'\n')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Vec<(u64, Vec<String>)> {
        let mut walk = Rows::new(text.as_bytes(), b',');
        let (mut found, mut fields) = (Vec::new(), Vec::new());
        while let Some(line) = walk.next(&mut fields).unwrap() {
            let texts = fields.iter().map(|f| f.text(text.as_bytes()).unwrap().into_owned()).collect();
            found.push((line, texts));
        }
        found
    }

    #[test]
    fn quotes_commas_line_ends_and_doubled_quotes() {
        let text = "a,\"b,\"\"c\"\"\nd\", e \r\n#no\n\n,\"\",f\"g";
        assert_eq!(
            rows(text),
            [
                (1, vec!["a".into(), "b,\"c\"\nd".into(), "e".into()]),
                (5, vec![String::new(), String::new(), "f\"g".into()])
            ]
        );
    }

    #[test]
    fn an_unclosed_quote_and_text_after_one_are_faults() {
        let mut fields = Vec::new();
        assert_eq!(Rows::new(b"a\n\"b", b',').next(&mut fields), Ok(Some(1)));
        assert_eq!(Rows::new(b"\"b", b',').next(&mut fields), Err(Fault::Unclosed(1)));
        assert_eq!(Rows::new(b"\"b\"c", b',').next(&mut fields), Err(Fault::AfterQuote(1)));
    }

    #[test]
    fn a_trailing_delimiter_is_an_empty_last_field() {
        assert_eq!(
            rows("a,\nb,"),
            [(1, vec!["a".into(), String::new()]), (2, vec!["b".into(), String::new()])]
        );
    }
}
