//! Header cards: 80 characters each, `KEYWORD = value / comment`.
//!
//! Three conventions beyond the plain card are read and written: long strings continue in
//! `CONTINUE` cards (standard, 4.2.1.2), keys that are not FITS keywords follow `HIERARCH`, and
//! what fits neither (a key or text beyond ASCII, a long text after a long key) is one long string
//! in a card `GOCMn`: `key=text`, with `%XX` for each byte that is not printable ASCII and for `%`
//! itself.

/// Length of a card.
pub(super) const CARD: usize = 80;

/// A card's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// A quoted string, quotes and trailing blanks removed.
    Text(String),
    /// A number or `T` or `F`, as written.
    Bare(String),
    /// `COMMENT`, `HISTORY` and other text without a value.
    Remark(String),
}

impl Value {
    pub fn text(&self) -> &str {
        match self {
            Value::Text(text) | Value::Bare(text) | Value::Remark(text) => text,
        }
    }
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Card {
    pub key: String,
    pub value: Value,
}

/// Decodes bytes as UTF-8 if valid, otherwise as Latin-1, which older files use for `µ` and `Å`.
pub(super) fn decode(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_string(),
        Err(_) => bytes.iter().map(|&b| char::from(b)).collect(),
    }
}

/// Reads cards in order, joining `CONTINUE`; a long string's pieces become one value.
#[derive(Default)]
pub(super) struct Cards {
    pub cards: Vec<Card>,
    pub ended: bool,
}

impl Cards {
    /// Takes the cards of a block until `END`.
    pub fn take(&mut self, block: &[u8]) {
        for card in block.chunks_exact(CARD) {
            if self.ended {
                return;
            }
            self.take_card(card);
        }
    }

    fn take_card(&mut self, card: &[u8]) {
        let key = decode(&card[..8]).trim_end().to_string();
        if key == "END" {
            self.ended = true;
            return;
        }
        if key == "CONTINUE" {
            // Continues only if the preceding string announced it.
            if let (Some(Card { value: Value::Text(text), .. }), Value::Text(more)) =
                (self.cards.last_mut(), value(&card[8..]))
                && text.ends_with('&')
            {
                text.pop();
                text.push_str(&more);
            }
            return;
        }
        if key == "HIERARCH" {
            let text = decode(&card[8..]);
            if let Some(equals) = text.find('=') {
                let value = value(&text.as_bytes()[equals + 1..]);
                self.cards.push(Card { key: text[..equals].trim().to_string(), value });
                return;
            }
        }
        let value = if card[8..10] == *b"= " {
            value(&card[10..])
        } else {
            Value::Remark(decode(&card[8..]).trim_end().to_string())
        };
        self.cards.push(Card { key, value });
    }
}

/// What follows the `=`.
fn value(bytes: &[u8]) -> Value {
    let text = decode(bytes);
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('\'') else {
        let bare = text.split('/').next().unwrap_or_default();
        return Value::Bare(bare.trim().to_string());
    };
    let mut found = String::new();
    let mut chars = quoted.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\'' {
            if chars.peek() != Some(&'\'') {
                break;
            }
            chars.next();
        }
        found.push(c);
    }
    found.truncate(found.trim_end_matches(' ').len());
    Value::Text(found)
}

/// A header being written.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// `KEY = value`, right-aligned as the standard's fixed format requires.
    pub fn number(&mut self, key: &str, value: impl std::fmt::Display) {
        self.card(&format!("{key:<8}= {value:>20}"));
    }

    /// A string, over as many cards as it needs. `text` is printable ASCII.
    pub fn text(&mut self, key: &str, text: &str) {
        let quoted = text.replace('\'', "''");
        // The standard requires mandatory strings of at least eight characters; padding is harmless
        // elsewhere.
        let single = format!("{key:<8}= '{quoted:<8}'");
        if single.len() <= CARD {
            self.card(&single);
            return;
        }
        let mut prefix = format!("{key:<8}= ");
        let mut rest = quoted.as_str();
        while !rest.is_empty() {
            // Quotes, and an `&` unless this is the last piece.
            let room = CARD - prefix.len() - 2;
            let mut end = if rest.len() <= room { rest.len() } else { room - 1 };
            // Never split a doubled quote: count the quotes before the cut.
            if end < rest.len() && rest[..end].bytes().rev().take_while(|&b| b == b'\'').count() % 2 == 1 {
                end -= 1;
            }
            let (piece, after) = rest.split_at(end);
            let more = if after.is_empty() { "" } else { "&" };
            self.card(&format!("{prefix}'{piece}{more}'"));
            rest = after;
            prefix = "CONTINUE  ".into();
        }
    }

    /// Metadata in whichever convention can hold it; `number` counts the `GOCMn` cards.
    pub fn metadata(&mut self, key: &str, text: &str, number: &mut usize) {
        let plain = printable(text) && !text.ends_with([' ', '&']);
        if plain && keyword(key) && !super::header::structural(key) && !encoded(key) {
            self.text(key, text);
            return;
        }
        let quoted = text.replace('\'', "''");
        let single = format!("HIERARCH {key} = '{quoted}'");
        let word = !key.is_empty() && key.trim() == key && printable(key) && !key.contains(['=', '\'']);
        if plain && word && !keyword(key) && single.len() <= CARD {
            self.card(&single);
            return;
        }
        *number += 1;
        self.text(&format!("GOCM{number}"), &format!("{}={}", percent(key, true), percent(text, false)));
    }

    fn card(&mut self, text: &str) {
        debug_assert!(text.len() <= CARD && text.is_ascii(), "{text}");
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.resize(self.bytes.len().next_multiple_of(CARD), b' ');
    }

    /// A remark such as `COMMENT`, of at most 72 printable characters.
    pub fn remark(&mut self, key: &str, text: &str) {
        self.card(&format!("{key:<8}{text}"));
    }

    /// The padded header.
    pub fn finish(mut self) -> Vec<u8> {
        self.card("END");
        self.bytes.resize(self.bytes.len().next_multiple_of(super::BLOCK), b' ');
        self.bytes
    }
}

/// Printable ASCII only.
pub(super) fn printable(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// Whether this is a FITS keyword: up to eight capital letters, digits, `-` and `_`.
fn keyword(key: &str) -> bool {
    (1..=8).contains(&key.len())
        && key.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
}

/// Whether a keyword is one of ours for coded metadata.
pub(super) fn encoded(key: &str) -> bool {
    key.strip_prefix("GOCM").is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn percent(text: &str, key: bool) -> String {
    let mut coded = String::with_capacity(text.len());
    let last = text.len().saturating_sub(1);
    for (at, byte) in text.bytes().enumerate() {
        // Blanks and `&` are lost or misread at the end of a FITS string.
        let edge = at == last && (byte == b' ' || byte == b'&');
        if (b' '..=b'~').contains(&byte) && byte != b'%' && !(key && byte == b'=') && !edge {
            coded.push(char::from(byte));
        } else {
            coded.push_str(&format!("%{byte:02X}"));
        }
    }
    coded
}

/// The key and text of a `GOCMn` card; `None` if it is not one of ours.
pub(super) fn decode_metadata(coded: &str) -> Option<(String, String)> {
    let (key, text) = coded.split_once('=')?;
    Some((unpercent(key)?, unpercent(text)?))
}

fn unpercent(coded: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(coded.len());
    let mut rest = coded.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let high = char::from(rest.next()?).to_digit(16)?;
        let low = char::from(rest.next()?).to_digit(16)?;
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(write: impl FnOnce(&mut Writer)) -> Vec<Card> {
        let mut writer = Writer::default();
        write(&mut writer);
        let bytes = writer.finish();
        assert_eq!(bytes.len() % super::super::BLOCK, 0);
        let mut cards = Cards::default();
        cards.take(&bytes);
        assert!(cards.ended);
        cards.cards
    }

    #[test]
    fn strings_of_any_length_with_quotes_anywhere_come_back() {
        for len in 60..200 {
            for quote_at in [0, len / 2, len - 1, 66.min(len - 1)] {
                let mut text = "x".repeat(len);
                text.replace_range(quote_at..=quote_at, "'");
                let cards = round_trip(|w| w.text("OBSERVER", &text));
                assert_eq!(cards, [Card { key: "OBSERVER".into(), value: Value::Text(text) }]);
            }
            let quotes = "'".repeat(len);
            assert_eq!(round_trip(|w| w.text("Q", &quotes))[0].value.text(), quotes);
        }
    }

    #[test]
    fn metadata_of_any_key_and_text_come_back() {
        let long = "é ".repeat(300);
        for (key, text) in [
            ("TELESCOP", "Gaia"),
            ("seed", "42"),
            ("a long key with blanks", "it's"),
            ("key=odd", "a=b%20"),
            ("NAXIS", "not the structure"),
            ("GOCM7", "x"),
            ("ключ", long.as_str()),
            ("ends", "blank "),
            ("AMP", "ends with &"),
            ("LINES", "two\nlines"),
            ("EMPTY", ""),
        ] {
            let mut number = 0;
            let cards = round_trip(|w| w.metadata(key, text, &mut number));
            assert_eq!(cards.len(), 1, "{key}");
            let found = if encoded(&cards[0].key) {
                decode_metadata(cards[0].value.text()).unwrap()
            } else {
                (cards[0].key.clone(), cards[0].value.text().to_string())
            };
            assert_eq!(found, (key.to_string(), text.to_string()));
        }
    }

    #[test]
    fn comments_after_a_value_are_not_part_of_it() {
        let mut cards = Cards::default();
        let line = format!("{:<80}{:<80}", "A       = 'it''s / so' / why", "B       =  -3 / number");
        cards.take(line.as_bytes());
        assert_eq!(cards.cards[0].value, Value::Text("it's / so".into()));
        assert_eq!(cards.cards[1].value, Value::Bare("-3".into()));
    }
}
