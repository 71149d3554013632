//! A named line, used by several figures.

/// Points joined by a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name in the legend.
    pub name: String,
    /// Its points, in order.
    pub points: Vec<[f64; 2]>,
}
