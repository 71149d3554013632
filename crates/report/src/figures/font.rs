//! The font: a subset of DejaVu Sans that is built into the program (`assets/fonts/README.md` says
//! how it was cut).
//!
//! Text is measured before it is placed, so that labels neither collide nor leave the page; a
//! browser with a different sans-serif font draws similar or smaller widths, since DejaVu is among
//! the widest.

use std::sync::OnceLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider};

/// The font file.
pub const DATA: &[u8] = include_bytes!("../../assets/fonts/DejaVuSans-goc.ttf");

/// Its name and its substitutes.
pub const FAMILY: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// The width of a line of text. Characters that the font lacks are as wide as its widest common letter.
pub fn width(text: &str, size: f64) -> f64 {
    struct Widths {
        font: FontRef<'static>,
        metrics: GlyphMetrics<'static>,
    }
    static WIDTHS: OnceLock<Option<Widths>> = OnceLock::new();
    let widths = WIDTHS.get_or_init(|| {
        let font = FontRef::new(DATA).ok()?;
        let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
        Some(Widths { font, metrics })
    });
    let of = |letter: char| -> f64 {
        let known = widths.as_ref().and_then(|w| w.metrics.advance_width(w.font.charmap().map(letter)?));
        known.map_or(1.0, f64::from)
    };
    text.chars().map(of).sum::<f64>() * size
}

/// The text, or as much of its beginning as fits, followed by dots.
pub fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let mut short = String::new();
    let mut used = width("…", size);
    for letter in text.chars() {
        used += width(letter.encode_utf8(&mut [0; 4]), size);
        if used > room {
            break;
        }
        short.push(letter);
    }
    format!("{}…", short.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_in_the_font_file() {
        // hmtx of DejaVu Sans 2.37 by fonttools, 2048 units an em: H 1540, i 569, eta 1298, minus 1716.
        for (text, units) in [("H", 1540.0), ("i", 569.0), ("η", 1298.0), ("−", 1716.0)] {
            assert!((width(text, 2048.0) - units).abs() < 0.01, "{text} {}", width(text, 2048.0));
        }
        assert_eq!(width("", 11.0), 0.0);
    }

    #[test]
    fn long_text_is_cut_to_its_room() {
        assert_eq!(fitted("short", 11.0, 100.0), "short");
        let cut = fitted(&"long ".repeat(100), 11.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 11.0) <= 100.0 && cut.len() > 10, "{cut}");
        assert_eq!(fitted("m", 11.0, 0.0), "…");
    }
}
