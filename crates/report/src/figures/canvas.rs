//! SVG text, written piece by piece.
//!
//! Numbers keep two decimals, text is escaped in one place, and frequent marks are defined once and
//! reused.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{Figure, font};
use crate::colours::Mark;

/// Width of every figure in its own units.
pub const WIDTH: f64 = 400.0;

/// Size of the smallest letters in these units.
pub const FONT: f64 = 11.0;

/// The colour of letters and frames.
pub const INK: &str = "#222222";

/// Maximum number of dots in a cloud; more are thinned out.
const MOST_DOTS: usize = 50_000;

/// Where a line of text is anchored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A rectangle: left, top, width, height.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

impl Area {
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    fn holds(&self, [x, y]: [f64; 2]) -> bool {
        (self.left..=self.right()).contains(&x) && (self.top..=self.bottom()).contains(&y)
    }
}

/// A number with at most two decimals, without redundant characters.
pub fn number(value: f64) -> String {
    let mut text = format!("{value:.2}");
    while text.ends_with('0') {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    if text == "-0" { "0".into() } else { text }
}

/// Text escaped for XML, whatever it contains. Characters that XML does not allow become blanks.
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The canvas of a drawing.
pub struct Canvas {
    body: String,
    clips: usize,
    /// Marks are drawn this many times their size.
    pub mark_scale: f64,
}

/// The marks are drawn around the origin with about the same area.
const MARKS: [(Mark, &str, &str); 7] = [
    (Mark::Disc, "disc", "M-2.1 0a2.1 2.1 0 1 0 4.2 0a2.1 2.1 0 1 0 -4.2 0z"),
    (Mark::Square, "square", "M-1.9 -1.9h3.8v3.8h-3.8z"),
    (Mark::Up, "up", "M0 -2.7L2.5 1.8H-2.5z"),
    (Mark::Diamond, "diamond", "M0 -2.8L2.5 0L0 2.8L-2.5 0z"),
    (Mark::Down, "down", "M0 2.7L2.5 -1.8H-2.5z"),
    (Mark::Plus, "plus", "M-.8 -2.6h1.6v1.8h1.8v1.6h-1.8v1.8h-1.6v-1.8h-1.8v-1.6h1.8z"),
    (
        Mark::Cross,
        "cross",
        "M-2.4 -1.3L-1.3 -2.4L0 -1.1L1.3 -2.4L2.4 -1.3L1.1 0L2.4 1.3L1.3 2.4L0 1.1L-1.3 2.4L-2.4 1.3L-1.1 0z",
    ),
];

impl Canvas {
    pub fn new() -> Self {
        Self { body: String::new(), clips: 0, mark_scale: 1.0 }
    }

    fn put(&mut self, piece: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.body.write_fmt(piece);
        self.body.push('\n');
    }

    /// A line of text, rotated about its anchor by `angle` degrees.
    pub fn text(&mut self, text: &str, [x, y]: [f64; 2], anchor: Anchor, size: f64, angle: f64) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let (x, y, text) = (number(x), number(y), escaped(text));
        let turn =
            if angle == 0.0 { String::new() } else { format!(" transform=\"rotate({angle} {x} {y})\"") };
        let size = number(size);
        self.put(format_args!(
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-size=\"{size}\"{turn}>{text}</text>"
        ));
    }

    /// A straight line.
    pub fn line(&mut self, [x1, y1]: [f64; 2], [x2, y2]: [f64; 2], style: &str) {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(number);
        self.put(format_args!("<path d=\"M{x1} {y1}L{x2} {y2}\" fill=\"none\" {style}/>"));
    }

    /// A line through points; a single one becomes a dot.
    pub fn polyline(&mut self, points: &[[f64; 2]], style: &str) {
        let mut d = String::new();
        for (at, [x, y]) in points.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, number(*x), number(*y));
        }
        if points.len() == 1 {
            d.push_str("h0");
        }
        self.put(format_args!(
            "<path d=\"{d}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\" {style}/>"
        ));
    }

    pub fn circle(&mut self, [x, y]: [f64; 2], radius: f64, style: &str) {
        // A radius is rounded up, so that everything in the circle stays inside.
        let radius = (radius * 100.0).ceil() / 100.0;
        let [x, y, r] = [x, y, radius].map(number);
        self.put(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" {style}/>"));
    }

    pub fn rectangle(&mut self, area: Area, style: &str) {
        let [x, y, w, h] = [area.left, area.top, area.width, area.height].map(number);
        self.put(format_args!("<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" {style}/>"));
    }

    /// Shapes given by their outline, in one piece.
    pub fn path(&mut self, d: &str, style: &str) {
        self.put(format_args!("<path d=\"{d}\" {style}/>"));
    }

    /// One element per object, for points that must be counted and distinguished.
    pub fn marks(&mut self, points: impl Iterator<Item = [f64; 2]>, mark: Mark, colour: &str) {
        let name = MARKS.iter().find(|(m, _, _)| *m == mark).map_or("disc", |(_, name, _)| name);
        self.put(format_args!("<g fill=\"{colour}\" class=\"points\">"));
        for [x, y] in points {
            let [x, y] = [x, y].map(number);
            self.put(format_args!("<use href=\"#{name}\" x=\"{x}\" y=\"{y}\"/>"));
        }
        self.put(format_args!("</g>"));
    }

    /// One dot per point in one path, none left out.
    pub fn dots(&mut self, points: impl Iterator<Item = [f64; 2]>, size: f64, colour: &str) {
        let mut d = String::new();
        for [x, y] in points {
            let _ = write!(d, "M{} {}h0", number(x), number(y));
        }
        let size = number(size);
        self.put(format_args!(
            "<path class=\"dots\" d=\"{d}\" stroke=\"{colour}\" stroke-width=\"{size}\" stroke-linecap=\"round\" fill=\"none\"/>"
        ));
    }

    /// A mark of a legend, half as large again as in the picture.
    pub fn sign(&mut self, [x, y]: [f64; 2], mark: Mark, style: &str) {
        let d = MARKS.iter().find(|(m, _, _)| *m == mark).map_or("", |(_, _, d)| d);
        let [x, y] = [x, y].map(number);
        self.put(format_args!("<path d=\"{d}\" transform=\"translate({x} {y}) scale(1.5)\" {style}/>"));
    }

    /// A cloud of dots in one path. Dots that coincide are drawn once, and no more than a screen
    /// can show.
    pub fn cloud(&mut self, points: impl Iterator<Item = [f64; 2]>, within: Area, size: f64, colour: &str) {
        // In fourths of a unit, a pixel and more of what most will see.
        let places: BTreeSet<(i64, i64)> = points
            .filter(|point| within.holds(*point))
            .map(|[x, y]| ((x * 4.0).round() as i64, (y * 4.0).round() as i64))
            .collect();
        if places.is_empty() {
            return;
        }
        let every = places.len().div_ceil(MOST_DOTS);
        let mut d = String::new();
        for (x, y) in places.into_iter().step_by(every) {
            let _ = write!(d, "M{} {}h0", number(x as f64 / 4.0), number(y as f64 / 4.0));
        }
        let size = number(size);
        self.put(format_args!(
            "<path class=\"cloud\" d=\"{d}\" stroke=\"{colour}\" stroke-width=\"{size}\" stroke-linecap=\"round\" fill=\"none\"/>"
        ));
    }

    /// Clips what `draw` draws to an area.
    pub fn clipped(&mut self, area: Area, draw: impl FnOnce(&mut Self)) {
        let id = self.clips;
        self.clips += 1;
        self.put(format_args!("<clipPath id=\"clip{id}\">"));
        self.rectangle(area, "");
        self.put(format_args!("</clipPath>\n<g clip-path=\"url(#clip{id})\">"));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// The finished figure, on white.
    pub fn finish(self, height: f64) -> Figure {
        let (width, height) = (number(WIDTH), number(height.ceil()));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{}\" height=\"{}\" \
             font-family=\"{}\" fill=\"{INK}\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n",
            number(2.0 * WIDTH),
            number(2.0 * height.parse::<f64>().unwrap_or(WIDTH)),
            font::FAMILY,
        );
        svg.push_str("<defs>\n");
        for (_, name, d) in MARKS.iter().filter(|(_, name, _)| self.body.contains(&format!("\"#{name}\""))) {
            let scale = match self.mark_scale {
                1.0 => String::new(),
                scale => format!(" transform=\"scale({})\"", number(scale)),
            };
            let _ = writeln!(svg, "<path id=\"{name}\" d=\"{d}\"{scale}/>");
        }
        svg.push_str("</defs>\n");
        svg.push_str(&self.body);
        svg.push_str("</svg>\n");
        Figure { svg }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_minus_nothing() {
        let texts = [0.0, -0.001, 1.0, 1.5, -2.254, 100.0, 1e6].map(number);
        assert_eq!(texts, ["0", "0", "1", "1.5", "-2.25", "100", "1000000"]);
    }

    #[test]
    fn text_never_becomes_markup() {
        assert_eq!(escaped("<a b=\"c\">'&\u{0}"), "&lt;a b=&quot;c&quot;&gt;&#39;&amp; ");
    }

    #[test]
    fn a_cloud_is_thinned_and_stays_inside() {
        let mut canvas = Canvas::new();
        let within = Area { left: 10.0, top: 10.0, width: 300.0, height: 300.0 };
        let points = (0..500_000).map(|i| [f64::from(i % 1000) * 0.5, f64::from(i / 1000)]);
        canvas.cloud(points, within, 1.0, "#000");
        let figure = canvas.finish(400.0);
        let dots = figure.svg().matches('M').count();
        assert!((MOST_DOTS / 2..=MOST_DOTS).contains(&dots), "{dots}");
        assert!(figure.svg().len() < 1_000_000);
    }
}
