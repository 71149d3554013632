//! Labels that are withheld: what an object's group is, is not said where it is too unsure.
//!
//! The draws stay as they are, and so does what follows from them. Only the single partition
//! changes: the object is set apart, and its next best group is the one it was in. An object that
//! is left behind alone in its group is in no group, if there is a field.

use super::Posterior;
use super::summary::{memberships, recurrence};
use crate::confidence::noise::{either, set_apart};

impl Posterior {
    /// Withholds the labels of these objects. What is said of all others (certainty, next best
    /// group, recurrence) is then about the groups that remain.
    pub fn withhold(&mut self, unsure: &[bool]) {
        if !unsure.contains(&true) {
            return;
        }
        let out = match self.in_no_group.is_empty() {
            true => unsure.to_vec(),
            false => either(&self.partition, &self.in_no_group, unsure),
        };
        let without_company: Vec<f64> = self.alone.iter().zip(&self.field).map(|(a, f)| a + f).collect();
        let partition = set_apart(&self.partition, &out);
        for (i, is) in self.in_no_group.iter_mut().enumerate() {
            *is = out[i] && !unsure[i];
        }
        self.withheld = unsure.to_vec();
        self.recurrence = recurrence(&partition, self.together.draws());
        (self.membership, self.runner_up) = memberships(&partition, &self.together, &without_company, &out);
        self.partition = partition;
    }

    /// Which objects have no group to be labelled with: those in no group, and those whose label is
    /// withheld. Empty if there are neither.
    pub fn unlabelled(&self) -> Vec<bool> {
        match (self.in_no_group.is_empty(), self.withheld.is_empty()) {
            (_, true) => self.in_no_group.clone(),
            (true, _) => self.withheld.clone(),
            _ => self.in_no_group.iter().zip(&self.withheld).map(|(a, b)| *a || *b).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::candidates::CandidatesBuilder;
    use crate::marginal::Marginal;

    /// Two groups of four, and an object that may be in either; no field.
    fn found() -> super::Posterior {
        let mut sets = CandidatesBuilder::new(2);
        for middle in [0.0, 10.0] {
            for i in 0..4 {
                sets.push(&[middle + 0.3 * f64::from(i), 0.2 * f64::from(i * i)], &[]).unwrap();
            }
        }
        sets.push(&[0.4, 0.3, 0.5, 0.4, 10.4, 0.3], &[]).unwrap();
        let candidates = sets.build().unwrap();
        Marginal::default().field_prior(0.0).length(2, 20, 60).run(&candidates, 1).unwrap()
    }

    #[test]
    fn a_withheld_label_leaves_all_others_as_they_are_and_names_the_group_as_the_next_best() {
        let before = found();
        let mut after = before.clone();
        after.withhold(&[false; 9]);
        assert_eq!(after, before);
        let unsure: Vec<bool> = (0..9).map(|i| i == 8).collect();
        after.withhold(&unsure);
        assert_eq!(after.partition.labels()[..8], before.partition.labels()[..8]);
        assert_eq!((after.unlabelled(), after.in_no_group.len()), (unsure, 0));
        assert_eq!(after.groups(), before.groups());
        let own = before.partition.labels()[8];
        let (group, p) = after.runner_up[8].unwrap();
        assert!((group, p) == (own, before.membership[8]) && after.membership[8] < 0.2, "{after:?}");
        // The others are now judged by each other alone.
        let others = (0..8).filter(|&i| before.partition.labels()[i] == own);
        assert!(
            others.clone().count() == 4 && others.clone().all(|i| after.membership[i] > before.membership[i])
        );
        assert_eq!((&after.together, &after.k, &after.places), (&before.together, &before.k, &before.places));
    }

    #[test]
    fn an_object_that_is_left_alone_is_in_no_group_if_there_is_a_field() {
        let mut found = found();
        let label = found.partition.labels()[0];
        found.in_no_group = vec![false; 9];
        let unsure: Vec<bool> = (0..9).map(|i| i > 0 && found.partition.labels()[i] == label).collect();
        found.withhold(&unsure);
        assert_eq!(found.withheld, unsure);
        assert_eq!(found.in_no_group, (0..9).map(|i| i == 0).collect::<Vec<_>>());
        assert_eq!((found.groups(), found.recurrence.len()), (1, found.partition.k()));
    }
}
