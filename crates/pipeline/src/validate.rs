//! Validates groups with a column that was not used to find them: is their chemistry tighter than
//! chance?
//!
//! The input is labels, the features in which the groups were found, and a measured column with
//! errors. For each group, the output is the scatter of the column beyond the errors, the same
//! scatter for random groups of equal size and similar positions, and a p-value
//! ([`goc::confidence::tightness`] defines the statistic).

use goc::confidence::Tightness;
use goc::confidence::tightness::{LARGEST, Tight};
use goc::scale::{Scaler, Scaling};
use goc::{Candidates, Points};
#[cfg(feature = "tables")]
use goc_tables::{Column, Data, Table};

use crate::error::Result;
use crate::memory;
use crate::names::FeatureMapName;

/// The false-discovery rate up to which a group is called tighter than chance.
pub const RATE: f64 = 0.05;

/// The result of a validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Validation {
    /// The label of each group, ascending.
    pub labels: Vec<i64>,
    /// The result for each group, and for all together.
    pub found: Tight,
    /// Number of objects with all features and a label (-1, in no group, counts as one).
    pub objects: usize,
    /// Number of these that have a value.
    pub values: usize,
    /// The parameters of the test.
    pub how: Tightness,
    /// The seed of the random groups.
    pub seed: u64,
}

impl Validation {
    /// Tests the groups of `labels` (below 0: in no group; `None`: not clustered) by `values` with
    /// `errors`. A value is missing if it or its error is NaN. `features` are named columns in any
    /// units.
    pub fn judge(
        labels: &[Option<i64>],
        features: &[(String, Vec<f64>)],
        values: &[f64],
        errors: &[f64],
        how: Tightness,
        seed: u64,
    ) -> Result<Self> {
        let names: Vec<&str> = features.iter().map(|(name, _)| name.as_str()).collect();
        if names.is_empty() {
            return Err(usage!("name the features that the groups were found in ({{features}})"));
        }
        let n = labels.len();
        let lengths = features.iter().map(|(name, column)| (name.as_str(), column.len()));
        let mut lengths = lengths.chain([("values", values.len()), ("errors", errors.len())]);
        if let Some((what, found)) = lengths.find(|(_, found)| *found != n) {
            return Err(failed!("{found} numbers in {what} for {n} labels"));
        }
        let whole = |&row: &usize| {
            labels[row].is_some() && features.iter().all(|(_, column)| column[row].is_finite())
        };
        let rows: Vec<usize> = (0..n).filter(whole).collect();
        if rows.is_empty() {
            return Err(failed!("no object has a label and all features ({})", names.join(", ")));
        }
        let far = |&&row: &&usize| features.iter().any(|(_, column)| column[row].abs() > LARGEST);
        if let Some(row) = rows.iter().find(far) {
            let at = row + 1;
            return Err(failed!(
                "row {at}: a feature is beyond {LARGEST:e}, too far out to be squared; drop the row"
            ));
        }
        let roots = FeatureMapName::Auto.roots(&names)?;
        let place = |&row: &usize| -> Vec<f64> {
            let value = |(column, root): (&(String, Vec<f64>), &bool)| match *root {
                true => column.1[row].max(0.0).sqrt(),
                false => column.1[row],
            };
            features.iter().zip(&roots).map(value).collect()
        };
        let mut places: Vec<Vec<f64>> = rows.iter().map(place).collect();
        let scaler = Scaler::fit(Scaling::Robust, &Candidates::from_points(&Points::from_rows(&places)?)?)?;
        places.iter_mut().for_each(|place| scaler.apply_row(place));
        let label = |row: &usize| labels[*row].filter(|label| *label >= 0);
        let mut all: Vec<i64> = rows.iter().filter_map(label).collect();
        all.sort_unstable();
        all.dedup();
        // Twice for each group, and once more for all together.
        let numbers = (2 * all.len() as u64 + 1).saturating_mul(how.draws as u64);
        let what = format!("{} random groups for each of {}", how.draws, all.len());
        memory::check(numbers.saturating_mul(8), &what, "ask for fewer ({draws})")?;
        let groups: Vec<Option<u32>> =
            rows.iter().map(|row| Some(all.binary_search(&label(row)?).ok()? as u32)).collect();
        let known = |row: &usize| if errors[*row].is_nan() { f64::NAN } else { values[*row] };
        let own: Vec<f64> = rows.iter().map(known).collect();
        let own_errors: Vec<f64> = rows.iter().map(|row| errors[*row]).collect();
        let found = how.judge(&Points::from_rows(&places)?, &groups, &own, &own_errors, seed);
        Ok(Self {
            found: found.map_err(|error| failed!("{error}"))?,
            labels: all,
            objects: rows.len(),
            values: own.iter().filter(|value| value.is_finite()).count(),
            how,
            seed,
        })
    }

    /// How many groups are tighter than chance, at a false-discovery rate of [`RATE`].
    pub fn tight(&self) -> usize {
        self.found.groups.iter().filter(|group| group.q_value <= RATE).count()
    }

    /// How many groups could be tested.
    pub fn tested(&self) -> usize {
        self.found.groups.iter().filter(|group| group.p_value.is_finite()).count()
    }

    /// One row per group.
    #[cfg(feature = "tables")]
    pub fn table(&self, by: &str, unit: Option<&str>) -> Result<Table> {
        let groups = &self.found.groups;
        let whole = |name, about: &str, of: &dyn Fn(usize) -> i64| {
            Column::new(name, Data::I64((0..groups.len()).map(of).collect())).with_description(about)
        };
        let number = |name, unit: Option<&str>, about: &str, of: &dyn Fn(usize) -> f64| -> Result<Column> {
            let values: Vec<f64> = (0..groups.len()).map(of).collect();
            let valid = values.iter().map(|value| value.is_finite()).collect();
            let column = Column::new(name, Data::F64(values)).with_description(about);
            let column = unit.map_or(column.clone(), |unit| column.with_unit(unit));
            Ok(column.with_valid(valid)?)
        };
        let mut table = Table::new(vec![
            whole("label", "group", &|g| self.labels[g]),
            whole("members", "objects of the group", &|g| groups[g].members as i64),
            whole("values", "those with a value", &|g| groups[g].values as i64),
            number("median", unit, "of their values", &|g| groups[g].middle)?,
            number("scatter", unit, "within the group, beyond the errors", &|g| groups[g].scatter)?,
            number("random_low", unit, "scatter of random groups, quantile 0.05", &|g| groups[g].random[0])?,
            number("random_median", unit, "scatter of random groups, median", &|g| groups[g].random[1])?,
            number("random_high", unit, "scatter of random groups, quantile 0.95", &|g| groups[g].random[2])?,
            number("p_value", None, "share of random groups that agree as well", &|g| groups[g].p_value)?,
            number(
                "q_value",
                None,
                "smallest false-discovery rate at which the group is a discovery",
                &|g| groups[g].q_value,
            )?,
        ])?;
        for (key, value) in [
            ("goc_version", env!("CARGO_PKG_VERSION").to_string()),
            ("goc_by", by.to_string()),
            ("goc_draws", self.how.draws.to_string()),
            ("goc_neighbours", self.how.neighbours.to_string()),
            ("goc_seed", self.seed.to_string()),
            ("goc_p_value", self.found.p_value.to_string()),
        ] {
            table.set_metadata(key, value);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_label_or_feature_are_left_out_and_labels_keep_their_numbers() {
        let n = 60;
        let label = |i: i64| match i {
            0..10 => Some(7),
            10..20 => Some(3),
            20 => None,
            _ => Some(-1),
        };
        let labels: Vec<Option<i64>> = (0..n).map(label).collect();
        let mut x: Vec<f64> = (0..n).map(|i| (i * 17 % n) as f64).collect();
        x[21] = f64::NAN;
        let value = |i: i64| if (0..10).contains(&i) { 1.0 } else { (i * 7 % 13) as f64 };
        let mut values: Vec<f64> = (0..n).map(value).collect();
        values[0] = f64::NAN;
        let mut errors = vec![0.1; n as usize];
        errors[1] = f64::NAN;
        let features = [("x".to_string(), x)];
        let how = Tightness::default();
        let found = Validation::judge(&labels, &features, &values, &errors, how, 1).unwrap();
        assert_eq!((found.labels.as_slice(), found.objects, found.values), ([3, 7].as_slice(), 58, 56));
        assert_eq!((found.found.groups[1].members, found.found.groups[1].values), (10, 8));
        assert!(found.found.groups[1].p_value < 0.01 && found.found.groups[0].p_value > 0.05);
        assert_eq!((found.tested(), found.tight()), (2, 1));
        assert!(Validation::judge(&labels, &[], &values, &errors, how, 1).is_err());
        let mut far = features.clone();
        far[0].1[30] = -1e160;
        let said = Validation::judge(&labels, &far, &values, &errors, how, 1).unwrap_err().to_string();
        assert!(said.starts_with("row 31: a feature is beyond 1e150"), "{said}");
        let none = vec![None; n as usize];
        assert!(Validation::judge(&none, &features, &values, &errors, how, 1).is_err());
    }
}
