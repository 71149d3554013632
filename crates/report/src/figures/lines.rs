//! A line with a name, as several figures draw them.

/// Points joined by a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What the legend calls it.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<[f64; 2]>,
}
