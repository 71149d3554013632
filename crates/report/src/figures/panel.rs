//! Panels: frames with axes in a grid, a legend above them, and the way from data to the page.
//!
//! The room for tick labels is measured before the frames are placed, so nothing is cut off. Panels
//! that show geometry have the same scale in both directions (`equal`): the range of one axis is
//! widened until circles are circles.

use super::Figure;
use super::axis::{Axis, Ticks};
use super::canvas::{Anchor, Area, Canvas, FONT, INK, WIDTH};
use super::font;
use crate::colours::Mark;

/// Space around things.
const AIR: f64 = 6.0;
/// Size of titles.
const TITLE: f64 = 12.0;

/// The layout of one panel.
#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    /// Tick labels and names below and on the left; panels that share an axis show it once.
    pub shows_x: bool,
    pub shows_y: bool,
    /// One unit has the same length in both directions.
    pub equal: bool,
    /// Nothing at all on the left.
    pub bare: bool,
}

impl Panel {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, shows_x: true, shows_y: true, equal: false, bare: false }
    }

    pub fn equal(mut self) -> Self {
        self.equal = true;
        self
    }

    pub fn bare(mut self) -> Self {
        (self.bare, self.shows_y) = (true, false);
        self
    }

    pub fn shows(mut self, x: bool, y: bool) -> Self {
        (self.shows_x, self.shows_y) = (x, y);
        self
    }
}

/// How a legend shows what it names.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    Mark(Mark),
    /// A line, with these dashes if any.
    Line(&'static str),
}

/// A line of the legend.
#[derive(Clone, Debug)]
pub struct Entry {
    pub text: String,
    pub colour: String,
    pub sign: Sign,
}

/// A panel with its place on the page.
pub struct Placed {
    pub area: Area,
    x: Axis,
    y: Axis,
}

impl Placed {
    /// Where a point of the data lies on the page.
    pub fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [
            self.area.left + self.x.part(x) * self.area.width,
            self.area.bottom() - self.y.part(y) * self.area.height,
        ]
    }

    /// A length of the data along x, on the page.
    pub fn length(&self, x: f64) -> f64 {
        x / (self.x.high - self.x.low) * self.area.width
    }
}

/// A page of panels.
pub struct Page {
    pub canvas: Canvas,
    pub panels: Vec<Placed>,
    bottom: f64,
}

impl Page {
    /// Places the panels, `columns` in a row; frames are `tall` times as high as wide. Words on the
    /// right name the rows.
    pub fn new(panels: Vec<Panel>, columns: usize, tall: f64, legend: &[Entry], rows: &[String]) -> Self {
        let mut canvas = Canvas::new();
        let mut top = AIR;
        if !legend.is_empty() {
            top = draw_legend(&mut canvas, legend, top);
        }
        let columns = columns.clamp(1, panels.len().max(1));
        let right = if rows.is_empty() { AIR + 4.0 } else { AIR + FONT + 6.0 };
        // Tick labels depend on the size and the size on their width: twice round is enough, the
        // last one is drawn.
        let mut width = (WIDTH - right) / columns as f64 * 0.75;
        let mut gutters = vec![0.0; columns];
        for _ in 0..3 {
            for (c, gutter) in gutters.iter_mut().enumerate() {
                let own =
                    panels.iter().skip(c).step_by(columns).map(|p| left_gutter(p, width * tall, c == 0));
                *gutter = own.fold(0.0, f64::max);
            }
            width = ((WIDTH - right - gutters.iter().sum::<f64>()) / columns as f64).max(20.0);
        }
        let height = width * tall;
        let mut placed = Vec::with_capacity(panels.len());
        for (r, row) in panels.chunks(columns).enumerate() {
            let titled = row.iter().any(|p| !p.title.is_empty());
            top += if titled { TITLE + 5.0 } else { AIR + 3.0 };
            let mut left = 0.0;
            for (c, panel) in row.iter().enumerate() {
                left += gutters[c];
                let area = Area { left, top, width, height };
                let reach = [
                    if c == 0 { 0.0 } else { left - gutters[c] / 2.0 },
                    if c + 1 == columns { WIDTH } else { area.right() + gutters[c + 1] / 2.0 },
                ];
                placed.push(draw_frame(&mut canvas, panel, area, reach));
                left += width;
            }
            if let Some(name) = rows.get(r) {
                let text = font::fitted(name, TITLE, height);
                canvas.text(&text, [WIDTH - AIR - 3.0, top + height / 2.0], Anchor::Middle, TITLE, -90.0);
            }
            let below = row.iter().any(|p| p.shows_x);
            let named = row.iter().any(|p| p.shows_x && !p.x.name.is_empty());
            top += height + if below { FONT + 6.0 } else { 0.0 } + if named { FONT + 4.0 } else { 0.0 };
        }
        Self { canvas, panels: placed, bottom: top }
    }

    /// Draws inside a panel, clipped to its frame.
    pub fn inside(&mut self, panel: usize, draw: impl FnOnce(&mut Canvas, &Placed)) {
        let placed = &self.panels[panel];
        self.canvas.clipped(placed.area, |canvas| draw(canvas, placed));
    }

    pub fn finish(mut self) -> Figure {
        // Frames last, so that nothing drawn inside covers them.
        for placed in &self.panels {
            let style = format!("fill=\"none\" stroke=\"{INK}\" stroke-width=\".8\" class=\"frame\"");
            self.canvas.rectangle(placed.area, &style);
        }
        self.canvas.finish(self.bottom + AIR)
    }
}

fn left_gutter(panel: &Panel, height: f64, first: bool) -> f64 {
    if !panel.shows_y {
        return if first { AIR + 4.0 } else { 14.0 };
    }
    let widest =
        panel.y.ticks(height, false).ticks.iter().map(|t| font::width(&t.text, FONT)).fold(0.0, f64::max);
    let name = if panel.y.name.is_empty() { 0.0 } else { FONT + 4.0 };
    AIR + name + widest + 6.0
}

/// Widens one of the two ranges until a unit has the same length in both directions.
fn equalised(panel: &Panel, area: Area) -> (Axis, Axis) {
    let (mut x, mut y) = (panel.x.clone(), panel.y.clone());
    if panel.equal {
        let (across, up) = ((x.high - x.low) / area.width, (y.high - y.low) / area.height);
        let unit = across.max(up);
        for (axis, length) in [(&mut x, area.width), (&mut y, area.height)] {
            let more = (unit * length - (axis.high - axis.low)) / 2.0;
            (axis.low, axis.high) = (axis.low - more, axis.high + more);
        }
    }
    (x, y)
}

fn draw_frame(canvas: &mut Canvas, panel: &Panel, area: Area, reach: [f64; 2]) -> Placed {
    let (x, y) = equalised(panel, area);
    let style = format!("stroke=\"{INK}\" stroke-width=\".8\"");
    let middle = area.left + area.width / 2.0;
    if !panel.title.is_empty() {
        let room = (middle - reach[0].max(2.0)).min(reach[1].min(WIDTH - 2.0) - middle) * 2.0 - 4.0;
        let title = font::fitted(&panel.title, TITLE, room);
        canvas.text(&title, [middle, area.top - 5.0], Anchor::Middle, TITLE, 0.0);
    }
    let Ticks { ticks, power } = x.ticks(area.width, true);
    for tick in &ticks {
        let at = area.left + x.part(tick.at) * area.width;
        canvas.line([at, area.bottom()], [at, area.bottom() + 3.0], &style);
        if panel.shows_x {
            let half = font::width(&tick.text, FONT) / 2.0;
            // At the edge of the page there is room to move a little; towards a neighbour there is none.
            let (low, high) = (reach[0] + half + 2.5, reach[1] - half - 2.5);
            let moved = at.clamp(low.min(high), high.max(low));
            if (moved - at).abs() < half * 0.6 {
                canvas.text(&tick.text, [moved, area.bottom() + FONT + 4.0], Anchor::Middle, FONT, 0.0);
            }
        }
    }
    if panel.shows_x {
        let room = (middle - reach[0]).min(reach[1] - middle) * 2.0 - 4.0;
        let name = font::fitted(&x.name_with(power), FONT, room);
        canvas.text(&name, [middle, area.bottom() + 2.0 * FONT + 8.0], Anchor::Middle, FONT, 0.0);
    }
    if panel.bare {
        return Placed { area, x, y };
    }
    let Ticks { ticks, power } = y.ticks(area.height, false);
    let mut widest = 0.0_f64;
    for tick in &ticks {
        let at = area.bottom() - y.part(tick.at) * area.height;
        canvas.line([area.left - 3.0, at], [area.left, at], &style);
        if panel.shows_y {
            canvas.text(&tick.text, [area.left - 5.0, at + FONT * 0.36], Anchor::End, FONT, 0.0);
            widest = widest.max(font::width(&tick.text, FONT));
        }
    }
    if panel.shows_y && !y.name.is_empty() {
        let at = [area.left - widest - 10.0, area.top + area.height / 2.0];
        let name = font::fitted(&y.name_with(power), FONT, area.height + FONT);
        canvas.text(&name, at, Anchor::Middle, FONT, -90.0);
    }
    Placed { area, x, y }
}

/// Draws the legend in as many lines as it needs; returns the height below it.
fn draw_legend(canvas: &mut Canvas, legend: &[Entry], top: f64) -> f64 {
    const SIGN: f64 = 18.0;
    let room = WIDTH - 2.0 * AIR;
    let texts: Vec<String> = legend.iter().map(|e| font::fitted(&e.text, FONT, room - SIGN)).collect();
    let widths: Vec<f64> = texts.iter().map(|t| SIGN + font::width(t, FONT)).collect();
    let gap = 12.0;
    let mut lines: Vec<Vec<usize>> = vec![Vec::new()];
    let mut used = 0.0;
    for (at, width) in widths.iter().enumerate() {
        if used > 0.0 && used + gap + width > room {
            lines.push(Vec::new());
            used = 0.0;
        }
        used += width + if used > 0.0 { gap } else { 0.0 };
        if let Some(line) = lines.last_mut() {
            line.push(at);
        }
    }
    let mut y = top;
    for line in &lines {
        let all = line.iter().map(|&at| widths[at]).sum::<f64>() + gap * (line.len().max(1) - 1) as f64;
        let mut x = (WIDTH - all) / 2.0;
        y += FONT + 3.0;
        for &at in line {
            let entry = &legend[at];
            let middle = y - FONT * 0.36;
            let stroke = format!("stroke=\"{}\" stroke-width=\"2\"", entry.colour);
            match entry.sign {
                Sign::Mark(mark) => {
                    let style = format!("fill=\"{}\"", entry.colour);
                    canvas.sign([x + 9.0, middle], mark, &style);
                }
                Sign::Line(dashes) => {
                    let style = format!("{stroke} stroke-dasharray=\"{dashes}\"");
                    let style = if dashes.is_empty() { &stroke } else { &style };
                    canvas.line([x - 2.0, middle], [x + 14.0, middle], style);
                }
            }
            canvas.text(&texts[at], [x + SIGN, y], Anchor::Start, FONT, 0.0);
            x += widths[at] + gap;
        }
    }
    y + 7.0
}
