//! Colours that colour-blind readers can distinguish (Okabe & Ito 2008), without black so that they
//! show on light and dark backgrounds.
//!
//! Seven colours are not enough for fifty clusters, so a cluster has a colour and a mark: [`look`].

/// The colours, as CSS reads them.
pub const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31"];

/// For objects in no group, and for the background.
pub const GREY: &str = "#8A8A8A";

/// The shape of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A disc.
    Disc,
    /// A square.
    Square,
    /// A triangle pointing up.
    Up,
    /// A square standing on its corner.
    Diamond,
    /// A triangle pointing down.
    Down,
    /// An upright cross.
    Plus,
    /// A cross.
    Cross,
}

/// The marks, in the order they are used.
pub const MARKS: [Mark; 7] =
    [Mark::Disc, Mark::Square, Mark::Up, Mark::Diamond, Mark::Down, Mark::Plus, Mark::Cross];

/// The colour and the mark of a cluster: 49 combinations before one repeats.
pub fn look(label: usize) -> (&'static str, Mark) {
    (COLOURS[label % COLOURS.len()], MARKS[label / COLOURS.len() % MARKS.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_nine_clusters_have_a_look_of_their_own() {
        let looks: std::collections::HashSet<String> = (0..49).map(|k| format!("{:?}", look(k))).collect();
        assert_eq!(looks.len(), 49);
        assert_eq!(look(49), look(0));
    }
}
