//! Axes: their range, and the positions and labels of their ticks.
//!
//! Ticks are 1, 2 or 5 times a power of ten apart, as close as their labels allow without touching:
//! the labels are measured. Numbers too large or too small to write out share a power of ten, which
//! the name of the axis then carries. Logarithmic axes have one tick per decade, with 2 and 5
//! between them where there is room.

use super::canvas::FONT;
use super::font;

/// One axis: its name and range.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    pub name: String,
    pub low: f64,
    pub high: f64,
    pub log: bool,
    /// Whether only whole numbers have ticks.
    pub whole: bool,
}

/// A tick: its position and label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub text: String,
}

/// Ticks, and the power of ten that multiplies all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    pub ticks: Vec<Tick>,
    pub power: i32,
}

impl Axis {
    /// An axis from `low` to `high`, exactly.
    pub fn new(name: impl Into<String>, low: f64, high: f64) -> Self {
        Self { name: name.into(), low, high, log: false, whole: false }
    }

    /// An axis around these values with a small margin; a single value gets some range around it.
    pub fn around(name: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
        let room = match (high - low) * 0.05 {
            room if room > low.abs().max(high.abs()) * 1e-9 => room,
            _ if high == 0.0 && low == 0.0 => 0.5,
            _ => low.abs().max(high.abs()) * 0.05,
        };
        Self::new(name, low - room, high + room)
    }

    /// A logarithmic axis around these values; values that are not above 0 are ignored.
    pub fn decades(name: impl Into<String>, values: impl Iterator<Item = f64>) -> Self {
        let around = Self::around(name, values.filter(|v| *v > 0.0).map(libm::log10));
        let (low, high) = if around.high - around.low < 0.3 {
            (around.low - 0.2, around.high + 0.2)
        } else {
            (around.low, around.high)
        };
        Self { low: ten_to(low), high: ten_to(high), log: true, ..around }
    }

    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// The relative position of a value, from 0 at the low end to 1 at the high end.
    pub fn part(&self, value: f64) -> f64 {
        if self.log {
            let value = value.max(f64::MIN_POSITIVE);
            (libm::log10(value) - libm::log10(self.low)) / (libm::log10(self.high) - libm::log10(self.low))
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// Ticks for an axis of this `length` whose labels are side by side (`along`) or stacked.
    pub fn ticks(&self, length: f64, along: bool) -> Ticks {
        if self.log { self.log_ticks(length, along) } else { self.plain_ticks(length, along) }
    }

    fn plain_ticks(&self, length: f64, along: bool) -> Ticks {
        let span = self.high - self.low;
        let mut step = ten_to(libm::log10(span / 20.0).floor());
        if self.whole {
            step = step.max(1.0);
        }
        let mut best = Ticks { ticks: Vec::new(), power: 0 };
        // From narrow to wide spacing; the first that fits is used.
        for round in 0..9 {
            let ticks = self.with_step(step);
            if ticks.ticks.len() <= 7 && fits(&ticks, |t| self.part(t) * length, along) {
                return self.with_more(ticks, step, length, along);
            }
            if !ticks.ticks.is_empty() {
                best = ticks;
            }
            step *= if round % 3 == 1 { 2.5 } else { 2.0 };
        }
        best.ticks.truncate(1);
        best
    }

    /// Where fewer than three ticks fit, steps of 3, 4 or 6 may give one more: -300, 0, 300.
    fn with_more(&self, found: Ticks, step: f64, length: f64, along: bool) -> Ticks {
        if found.ticks.len() >= 3 {
            return found;
        }
        let decade = ten_to(libm::log10(step * 1.0001).floor());
        [0.3, 0.4, 0.6, 3.0, 4.0]
            .into_iter()
            .map(|factor| factor * decade)
            .filter(|other| *other < step && !(self.whole && other.fract() != 0.0))
            .map(|other| self.with_step(other))
            .find(|other| {
                other.ticks.len() > found.ticks.len()
                    && other.ticks.len() <= 4
                    && fits(other, |t| self.part(t) * length, along)
            })
            .unwrap_or(found)
    }

    fn with_step(&self, step: f64) -> Ticks {
        let power_of = |v: f64| libm::log10(v.abs()).floor() as i32;
        let largest = self.low.abs().max(self.high.abs());
        let power = match power_of(largest) {
            p if p >= 5 => p,
            p if p <= -4 => p,
            _ => 0,
        };
        let scale = ten_to(f64::from(power));
        let decimals = usize::try_from(-(power_of(step * 1.0001) - power)).unwrap_or(0).min(12);
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        let ticks = (first..=last.min(first.saturating_add(200)))
            .map(|i| {
                let at = i as f64 * step;
                Tick { at, text: signed(&format!("{:.decimals$}", at / scale)) }
            })
            .collect();
        Ticks { ticks, power }
    }

    fn log_ticks(&self, length: f64, along: bool) -> Ticks {
        let (first, last) = (libm::log10(self.low).floor() as i32, libm::log10(self.high).ceil() as i32);
        let mut best = Vec::new();
        // 1 2 5 in each decade, then decades, then every second, third, … decade.
        let choices: [(&[f64], usize); 6] =
            [(&[1.0, 2.0, 5.0], 1), (&[1.0, 3.0], 1), (&[1.0], 1), (&[1.0], 2), (&[1.0], 3), (&[1.0], 6)];
        for (within, every) in choices {
            let ticks: Vec<Tick> = (first..=last)
                .filter(|p| p.rem_euclid(every as i32) == 0)
                .flat_map(|p| within.iter().map(move |f| (*f, p)))
                .map(|(f, p)| Tick { at: f * ten_to(f64::from(p)), text: power_text(f, p) })
                .filter(|tick| (-1e-9..=1.0 + 1e-9).contains(&self.part(tick.at)))
                .collect();
            let ticks = Ticks { ticks, power: 0 };
            if ticks.ticks.len() <= 7 && fits(&ticks, |t| self.part(t) * length, along) {
                return ticks;
            }
            if !ticks.ticks.is_empty() {
                best = ticks.ticks;
            }
        }
        best.truncate(1);
        Ticks { ticks: best, power: 0 }
    }

    /// The name with the power of ten that its ticks share.
    pub fn name_with(&self, power: i32) -> String {
        match power {
            0 => self.name.clone(),
            p => format!("{} × 10{}", self.name, superscript(p)),
        }
    }
}

/// Whether labels have space between them.
fn fits(ticks: &Ticks, place: impl Fn(f64) -> f64, along: bool) -> bool {
    ticks.ticks.windows(2).all(|pair| {
        let between = (place(pair[1].at) - place(pair[0].at)).abs();
        let needed = if along {
            (font::width(&pair[0].text, FONT) + font::width(&pair[1].text, FONT)) / 2.0 + FONT * 0.5
        } else {
            FONT * 1.4
        };
        between >= needed
    })
}

/// Ten to a power; exact for integer exponents.
fn ten_to(exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() < 300.0 {
        format!("1e{exponent:.0}").parse().unwrap_or(1.0)
    } else {
        libm::pow(10.0, exponent)
    }
}

fn power_text(factor: f64, power: i32) -> String {
    if (-3..=4).contains(&power) {
        let decimals = usize::try_from(-power).unwrap_or(0);
        format!("{:.decimals$}", factor * ten_to(f64::from(power)))
    } else if factor == 1.0 {
        format!("10{}", superscript(power))
    } else {
        format!("{factor}×10{}", superscript(power))
    }
}

fn superscript(power: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32(c as u32 - '4' as u32 + '⁴' as u32).unwrap_or(c),
    };
    power.to_string().chars().map(digit).collect()
}

/// With a true minus sign, and none before a zero.
pub fn signed(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_string(),
        Some(rest) => format!("−{rest}"),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis, length: f64, along: bool) -> Vec<String> {
        axis.ticks(length, along).ticks.into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        assert_eq!(texts(&Axis::new("", 0.0, 1.0), 100.0, true), ["0.0", "0.5", "1.0"]);
        assert_eq!(texts(&Axis::new("", -2100.0, 1300.0), 150.0, true), ["−2000", "−1000", "0", "1000"]);
        assert_eq!(texts(&Axis::new("", -440.0, 440.0), 75.0, true), ["−300", "0", "300"]);
        for (low, high) in [(0.0, 1e-7), (-3.0, 8.0), (5e8, 6e8), (1.0001, 1.0002), (-1e-3, 1e3), (0.2, 0.9)]
        {
            for length in [40.0, 90.0, 300.0] {
                let axis = Axis::new("", low, high);
                for along in [true, false] {
                    let ticks = axis.ticks(length, along).ticks;
                    assert!(!ticks.is_empty() && ticks.len() <= 7, "{low} {high} {length}");
                    let slack = (high - low) * 1e-6;
                    assert!(ticks.iter().all(|t| t.at >= low - slack && t.at <= high + slack));
                    let mut said: Vec<&String> = ticks.iter().map(|t| &t.text).collect();
                    said.dedup();
                    assert_eq!(said.len(), ticks.len(), "{low} {high}: {said:?}");
                }
            }
        }
    }

    #[test]
    fn labels_never_touch() {
        for high in [1.0, 7.3, 33.0, 999.0, 12345.0] {
            let axis = Axis::new("", -high, high);
            let ticks = axis.ticks(100.0, true).ticks;
            for pair in ticks.windows(2) {
                let gap = (axis.part(pair[1].at) - axis.part(pair[0].at)) * 100.0;
                assert!(
                    gap > (font::width(&pair[0].text, FONT) + font::width(&pair[1].text, FONT)) / 2.0 + 5.0
                );
            }
        }
    }

    #[test]
    fn large_numbers_share_a_power_of_ten() {
        let axis = Axis::new("energy", -2e5, -1e5);
        let ticks = axis.ticks(200.0, true);
        assert_eq!(axis.name_with(ticks.power), "energy × 10⁵");
        assert_eq!(ticks.ticks[0].text, "−2.0");
        assert_eq!((superscript(-12), signed("-0.0")), ("⁻¹²".into(), "0.0".into()));
    }

    #[test]
    fn decades_have_ticks_of_their_own() {
        let axis = Axis::decades("n", [10.0, 1000.0].into_iter());
        assert_eq!(texts(&axis, 150.0, true), ["10", "30", "100", "300", "1000"]);
        assert_eq!(axis.part(axis.low), 0.0);
        assert!((axis.part(100.0) - 0.5).abs() < 1e-12);
        assert_eq!(texts(&Axis::decades("n", [1e-9, 1e9].into_iter()), 60.0, false).len(), 3);
    }

    #[test]
    fn one_value_or_none_still_has_an_axis() {
        for values in [vec![], vec![0.0], vec![5.0; 3], vec![-1e9], vec![1e-300]] {
            let axis = Axis::around("x", values.iter().copied());
            assert!(axis.low < axis.high, "{values:?} {axis:?}");
            assert!(values.iter().all(|v| (axis.part(*v) - 0.5).abs() < 1e-6));
        }
    }

    #[test]
    fn counted_things_have_no_tick_between_whole_numbers() {
        let texts = texts(&Axis::new("k", 0.5, 3.5).whole(), 300.0, true);
        assert_eq!(texts, ["1", "2", "3"]);
    }
}
