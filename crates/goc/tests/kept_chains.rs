//! Chains of the marginal mixture that are kept: a run that is stopped anywhere goes on to the same
//! posterior, and what cannot have been kept is refused by name.

use std::collections::BTreeMap;
use std::sync::Mutex;

use goc::Candidates;
use goc::candidates::CandidatesBuilder;
use goc::marginal::{KeepStretches, Marginal, MarginalError, Posterior, Stretch};

/// Keeps this many stretches and no more, as if the run was stopped there.
struct Stopped {
    kept: Mutex<BTreeMap<String, Stretch>>,
    left: Mutex<usize>,
}

impl KeepStretches for Stopped {
    fn kept(&self, name: &str) -> Result<Option<Stretch>, String> {
        Ok(self.kept.lock().unwrap().get(name).cloned())
    }

    fn keep(&self, name: &str, stretch: &Stretch) -> Result<(), String> {
        let mut left = self.left.lock().unwrap();
        *left = left.checked_sub(1).ok_or("stopped")?;
        self.kept.lock().unwrap().insert(name.into(), stretch.clone());
        Ok(())
    }

    fn damaged(&self, name: &str) -> String {
        format!("{name} is damaged")
    }
}

fn groups_in_a_field() -> Candidates {
    let part = |i: usize, by: f64| (i as f64 * by).fract() - 0.5;
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..40 {
        let wide = if i < 20 { 0.3 } else { 12.0 };
        let (x, y) = (wide * part(i, 0.618_034), wide * part(i, 0.414_214) + f64::from(i % 2 == 0) * 5.0);
        let rows = [x, y, x + 0.2, y - 0.1, x - 0.1, y + 0.3];
        builder.push(&rows, &[0.0, 0.4, 1.0]).unwrap();
    }
    builder.build().unwrap()
}

#[test]
fn a_run_that_is_stopped_anywhere_goes_on_to_the_same_posterior() {
    let candidates = groups_in_a_field();
    for marginal in [Marginal::default(), Marginal::default().tails(Some(2))] {
        let marginal = marginal.length(2, 34, 25);
        let whole = marginal.run(&candidates, 7).unwrap();
        let run = |keep: &Stopped| -> Result<Posterior, MarginalError> {
            marginal.run_keeping(&candidates, 7, &|| {}, Some(keep))
        };
        // Two chains: beginnings, four or two times on the way there, and three stretches with what
        // was behind them.
        let mut stopped = 0;
        for first in 0.. {
            let keep = Stopped { kept: Mutex::default(), left: Mutex::new(first) };
            let found = run(&keep);
            *keep.left.lock().unwrap() = usize::MAX;
            assert_eq!(run(&keep).unwrap(), whole, "stopped after {first}");
            match found {
                Err(error) => assert_eq!(error, MarginalError::Kept("stopped".into())),
                Ok(found) => {
                    assert_eq!(found, whole);
                    break;
                }
            }
            stopped += 1;
        }
        assert!(stopped > 15, "{stopped}");
    }
}

#[test]
fn what_cannot_have_been_kept_is_refused_by_name() {
    let candidates = groups_in_a_field();
    let marginal = Marginal::default().length(2, 20, 10);
    let keep = Stopped { kept: Mutex::default(), left: Mutex::new(usize::MAX) };
    marginal.run_keeping(&candidates, 7, &|| {}, Some(&keep)).unwrap();
    let whole = keep.kept.lock().unwrap().clone();
    for (name, stretch) in &whole {
        for change in 0..4 {
            let mut other = stretch.clone();
            match change {
                0 => drop(other.reals.pop()),
                1 => other.counts.push(0),
                2 => drop(other.counts.pop()),
                _ => other.counts.iter_mut().for_each(|count| *count = u64::MAX),
            }
            *keep.kept.lock().unwrap() = whole.clone();
            keep.kept.lock().unwrap().insert(name.clone(), other);
            let found = marginal.run_keeping(&candidates, 7, &|| {}, Some(&keep));
            let refused = Err(MarginalError::Kept(format!("{name} is damaged")));
            assert_eq!(found.map(|_| ()), refused, "{name}, change {change}");
        }
    }
}
