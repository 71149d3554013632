//! What can be wrong with measured values, their errors and covariances, and the size of a set.

/// Why values and errors do not define a set. Coordinates are counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// d = 0.
    #[error("an uncertainty set needs at least one coordinate")]
    NoCoordinates,
    /// The number of errors differs from the number of values.
    #[error("{what}: {found} values where {expected} are needed")]
    Length {
        /// What has the wrong length.
        what: &'static str,
        /// Values needed.
        expected: usize,
        /// Values given.
        found: usize,
    },
    /// NaN or infinity.
    #[error("coordinate {coordinate}: the {what} {value} is not a finite number")]
    NotFinite {
        /// Value or error.
        what: &'static str,
        /// The coordinate.
        coordinate: usize,
        /// The value found.
        value: f64,
    },
    /// An error below zero.
    #[error("coordinate {coordinate}: the {what} {value} is negative; use 0 for an exact coordinate")]
    Negative {
        /// Error or half-width.
        what: &'static str,
        /// The coordinate.
        coordinate: usize,
        /// The value found.
        value: f64,
    },
    /// The set reaches beyond the finite numbers.
    #[error(
        "coordinate {coordinate}: {value} with the half-width {half_width} reaches beyond the finite numbers"
    )]
    TooWide {
        /// The coordinate.
        coordinate: usize,
        /// The measured value.
        value: f64,
        /// The half-width.
        half_width: f64,
    },
    /// An entry of a covariance that is NaN or infinite.
    #[error("covariance of coordinates {row} and {column}: {value} is not a finite number")]
    CovarianceNotFinite {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The value found.
        value: f64,
    },
    /// A variance below zero.
    #[error("coordinate {coordinate}: the variance {value} is negative")]
    NegativeVariance {
        /// The coordinate.
        coordinate: usize,
        /// The value found.
        value: f64,
    },
    /// The two halves of a covariance differ.
    #[error(
        "covariance of coordinates {row} and {column}: {lower} below the diagonal but {upper} above; it must be symmetric"
    )]
    Asymmetric {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The entry below the diagonal.
        lower: f64,
        /// The entry above.
        upper: f64,
    },
    /// A covariance larger than the product of the two errors.
    #[error(
        "covariance of coordinates {row} and {column}: {covariance} is more than their variances allow (correlation {correlation})"
    )]
    Correlation {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The entry.
        covariance: f64,
        /// The correlation it would be.
        correlation: f64,
    },
    /// A coordinate whose correlation with itself is not 1.
    #[error("coordinate {coordinate}: its correlation with itself is {value}, not 1")]
    OwnCorrelation {
        /// The coordinate.
        coordinate: usize,
        /// The value found.
        value: f64,
    },
    /// Three or more coordinates whose correlations contradict each other.
    #[error(
        "the covariance is not positive semi-definite: coordinate {coordinate} is left with {left} of its variance once the others are known; check the signs and the rounding of the correlations"
    )]
    NotPositive {
        /// The coordinate at which the contradiction shows.
        coordinate: usize,
        /// Remaining variance relative to the coordinate's own: negative.
        left: f64,
    },
    /// eta outside its range.
    #[error("eta {value} must be at least 1e-12 and below 1")]
    Eta {
        /// The value found.
        value: f64,
    },
    /// A number of sigmas or a radius that is not a valid size.
    #[error("the size {value} of an uncertainty set must be a finite number not below 0")]
    Size {
        /// The value found.
        value: f64,
    },
    /// Heavy tails around errors that are not normal.
    #[error("draws with heavy tails (tails) need normal errors")]
    TailsOfOthers,
    /// A coordinate the set does not have.
    #[error("there is no coordinate {coordinate}: the set has {dimension}, counted from 0")]
    NoSuchCoordinate {
        /// The coordinate requested.
        coordinate: usize,
        /// Number of coordinates.
        dimension: usize,
    },
}
