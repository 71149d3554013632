//! A user-defined clustering as an oracle.
//!
//! The paper's method accepts *any* clustering of plain points. [`Custom`] wraps a function. The
//! length of its result is checked, and its labels, of any type, are renumbered to `0..k`.
//! Otherwise the function is trusted: more or fewer clusters than requested are accepted.

use super::{Oracle, OracleError, Result, Start};
use crate::{Partition, Points, Stream};
use std::fmt::Display;
use std::marker::PhantomData;

/// A function `(points, start, stream) -> labels` as an oracle.
///
/// For reproducible results, draw random numbers from the stream only.
///
/// ```
/// use goc::oracle::{Oracle, Start, custom::Custom};
/// use goc::{Points, Stream, random::stream};
/// let by_sign = Custom::new("by sign", |points: &Points, _: Start<'_>, _: &mut Stream| {
///     Ok::<_, String>(points.rows().map(|row| row[0] < 0.0).collect())
/// });
/// let points = Points::new(vec![-1.0, 3.0, -2.0], 1)?;
/// let partition = by_sign.cluster(&points, Start::K(2), &mut stream(1, 0))?;
/// assert_eq!(partition.labels(), [1, 0, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Custom<F, L, E> {
    name: String,
    function: F,
    answer: PhantomData<fn() -> (L, E)>,
}

impl<F, L, E> Custom<F, L, E>
where
    F: Fn(&Points, Start<'_>, &mut Stream) -> Result<Vec<L>, E> + Sync,
    L: Copy + Ord,
    E: Display,
{
    /// Wraps `function` under a `name` for messages and results.
    pub fn new(name: impl Into<String>, function: F) -> Self {
        Self { name: name.into(), function, answer: PhantomData }
    }
}

impl<F, L, E> Oracle for Custom<F, L, E>
where
    F: Fn(&Points, Start<'_>, &mut Stream) -> Result<Vec<L>, E> + Sync,
    L: Copy + Ord,
    E: Display,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn cluster(&self, points: &Points, start: Start<'_>, stream: &mut Stream) -> Result<Partition> {
        start.check(points)?;
        let labels = (self.function)(points, start, stream)
            .map_err(|error| OracleError::Failed { oracle: self.name.clone(), reason: error.to_string() })?;
        if labels.len() != points.len() {
            return Err(OracleError::WrongLength { labels: labels.len(), points: points.len() });
        }
        Ok(Partition::from_labels(&labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;
    use rand::RngExt;

    fn three() -> Points {
        Points::new(vec![1.0, 2.0, 3.0], 1).unwrap()
    }

    fn answering(labels: Result<Vec<i64>, &'static str>) -> Result<Partition> {
        let oracle = Custom::new("mine", move |_: &Points, _: Start<'_>, _: &mut Stream| labels.clone());
        oracle.cluster(&three(), Start::K(2), &mut stream(1, 1))
    }

    #[test]
    fn gaps_in_the_labels_are_closed() {
        let partition = answering(Ok(vec![40, -7, 40])).unwrap();
        assert_eq!((partition.labels(), partition.k()), (&[1, 0, 1][..], 2));
    }

    #[test]
    fn a_wrong_number_of_labels_is_refused() {
        assert_eq!(answering(Ok(vec![1])), Err(OracleError::WrongLength { labels: 1, points: 3 }));
        assert_eq!(answering(Ok(vec![1; 4])), Err(OracleError::WrongLength { labels: 4, points: 3 }));
    }

    #[test]
    fn an_error_of_the_function_carries_its_name() {
        assert_eq!(answering(Err("out of luck")).unwrap_err().to_string(), "mine: out of luck");
    }

    #[test]
    fn bad_requests_never_reach_the_function() {
        let oracle =
            Custom::new("mine", |_: &Points, _: Start<'_>, _: &mut Stream| -> Result<Vec<u32>, String> {
                panic!("called")
            });
        let rng = &mut stream(1, 1);
        assert_eq!(oracle.cluster(&three(), Start::K(0), rng), Err(OracleError::NoClusters));
        let too_many = OracleError::MoreClustersThanPoints { k: 4, n: 3 };
        assert_eq!(oracle.cluster(&three(), Start::K(4), rng), Err(too_many));
        let none = Points::new(vec![], 1).unwrap();
        assert_eq!(oracle.cluster(&none, Start::K(1), rng), Err(OracleError::NoPoints));
    }

    #[test]
    fn the_function_sees_the_start_and_draws_from_the_stream() {
        let oracle = Custom::new("mine", |points: &Points, start: Start<'_>, rng: &mut Stream| {
            Ok::<_, String>((0..points.len()).map(|_| rng.random_range(0..start.k() as u32)).collect())
        });
        let rng = &mut stream(9, 1);
        let want: Vec<u32> = (0..3).map(|_| rng.random_range(0..3)).collect();
        let got = oracle.cluster(&three(), Start::K(3), &mut stream(9, 1)).unwrap();
        assert_eq!(got, Partition::from_labels(&want));
        assert_eq!(oracle.name(), "mine");
    }
}
