//! Star catalogues through the pipeline: whatever the table is made of, and whatever units its columns are in.

use goc::Ids;
use goc_galaxy::catalogue::schema::Columns;
use goc_pipeline::candidate_table::{candidate_table, loss_table};
use goc_pipeline::long_table::LongTable;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{
    BadRows, Dataset, MeasuredColumns, Origin, PenaltyKind, PipelineError, Sampling, Speech, StarModel,
    Unwatched, Watch, star_candidates,
};
use goc_tables::{Column, Data, Table};

/// Columns that are no table: what a program in Rust, or another language, may have.
struct Plain(Vec<(&'static str, &'static str, Vec<f64>)>);

impl Columns for Plain {
    type Error = PipelineError;

    fn names(&self) -> Vec<String> {
        self.0.iter().map(|column| column.0.to_string()).collect()
    }

    fn require(&self, name: &str) -> Result<(), PipelineError> {
        self.numbers(name).map(|_| ())
    }

    fn unit(&self, name: &str) -> Option<String> {
        self.0.iter().find(|column| column.0 == name).map(|column| column.1.to_string())
    }

    fn numbers(&self, name: &str) -> Result<Vec<f64>, PipelineError> {
        let found = self.0.iter().find(|column| column.0 == name);
        found
            .map(|column| column.2.clone())
            .ok_or_else(|| PipelineError::Usage(format!("no column `{name}`")))
    }
}

impl Plain {
    /// The same columns as a table.
    fn table(&self) -> Table {
        let column = |(name, unit, values): &(&str, &str, Vec<f64>)| {
            Column::new(*name, Data::F64(values.clone())).with_unit(*unit)
        };
        Table::new(self.0.iter().map(column).collect()).unwrap()
    }

    fn set(&mut self, name: &str, unit: &'static str, factor: f64) {
        let column = self.0.iter_mut().find(|column| column.0 == name).unwrap();
        column.1 = unit;
        column.2.iter_mut().for_each(|value| *value *= factor);
    }
}

/// Six stars in the units that are needed.
fn catalogue() -> Plain {
    let n = 6;
    let each = |first: f64, step: f64| (0..n).map(|i| first + step * f64::from(i)).collect::<Vec<f64>>();
    Plain(vec![
        ("ra", "deg", each(20.0, 51.0)),
        ("dec", "deg", each(-50.0, 19.0)),
        ("parallax", "mas", each(0.4, 0.1)),
        ("parallax_error", "mas", each(0.02, 0.002)),
        ("pmra", "mas/yr", each(-4.0, 1.5)),
        ("pmra_error", "mas/yr", each(0.03, 0.001)),
        ("pmdec", "mas/yr", each(3.0, -1.1)),
        ("pmdec_error", "mas/yr", each(0.04, 0.001)),
        ("radial_velocity", "km/s", each(-90.0, 35.0)),
        ("radial_velocity_error", "km/s", each(1.0, 0.5)),
        ("parallax_pmra_corr", "", each(-0.3, 0.1)),
    ])
}

/// The same stars in other units, errors too.
fn in_other_units() -> Plain {
    let mut other = catalogue();
    other.set("ra", "rad", 1_f64.to_radians());
    other.set("dec", "arcmin", 60.0);
    other.set("parallax", "arcsec", 1e-3);
    other.set("parallax_error", "uas", 1e3);
    other.set("pmra", "deg/yr", 1.0 / 3.6e6);
    other.set("pmra_error", "arcsec.yr**-1", 1e-3);
    other.set("radial_velocity", "m/s", 1e3);
    other.set("radial_velocity_error", "cm s-1", 1e5);
    other
}

fn made<C: Columns>(columns: &C) -> Result<(Dataset, Origin), PipelineError>
where
    C::Error: Into<PipelineError>,
{
    let reading = MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|number| number == -9999.0,
        bad_rows: BadRows::Refuse,
    };
    let sampling = Sampling { draws: 15, ..Sampling::default() };
    star_candidates(columns, Ids::Position, &reading, &StarModel::default(), &sampling, 7, &Unwatched)
}

#[test]
fn a_table_and_plain_columns_in_any_units_give_the_same_stars() {
    let (expected, _) = made(&catalogue()).unwrap();
    assert_eq!((expected.candidates.objects(), expected.candidates.total()), (6, 90));
    for columns in [catalogue(), in_other_units()] {
        let (plain, origin) = made(&columns).unwrap();
        let table = columns.table();
        let (of_table, same_origin) = made(&TableColumns::new(&table, "stars.fits")).unwrap();
        // To the byte, whatever the columns are made of.
        assert_eq!(plain.candidates, of_table.candidates);
        assert_eq!((plain.extras.as_slice(), origin), (of_table.extras.as_slice(), same_origin));
        for i in 0..6 {
            for (a, b) in plain.candidates.block(i).iter().zip(expected.candidates.block(i)) {
                assert!((a - b).abs() < 1e-8 * b.abs(), "star {i}: {a} {b}");
            }
            for (a, b) in plain.candidates.penalties(i).iter().zip(expected.candidates.penalties(i)) {
                assert!((a - b).abs() < 1e-8, "star {i}: {a} {b}");
            }
        }
    }
}

#[test]
fn a_unit_that_is_not_known_is_refused_by_name_of_values_and_errors_alike() {
    for (name, unit, needed) in [
        ("parallax", "furlong", "mas"),
        ("pmra_error", "mas", "mas/yr"),
        ("radial_velocity_error", "mas", "km/s"),
        ("ra", "h:m:s", "deg"),
    ] {
        let mut columns = catalogue();
        columns.set(name, unit, 1.0);
        let table = columns.table();
        let expected = format!("column `{name}` is in {unit}, but {needed} is needed; convert it");
        for error in [made(&columns), made(&TableColumns::new(&table, "stars.fits"))] {
            let error = error.unwrap_err();
            assert_eq!(error.said(Speech::Keywords), expected);
            assert!(error.is_usage());
        }
    }
}

#[test]
fn numbers_that_stand_for_missing_are_found_before_they_are_converted() {
    let mut columns = in_other_units();
    columns.0.iter_mut().find(|column| column.0 == "radial_velocity").unwrap().2[2] = -9999.0;
    let (data, origin) = made(&columns).unwrap();
    assert_eq!(origin.dropped, [(2, "radial_velocity missing".to_string())]);
    assert_eq!(data.candidates.ids(), &Ids::Integer(vec![0, 1, 3, 4, 5]));
    assert_eq!(data.dropped, ["dropped 1 of 6 objects: a value is missing or not possible"]);
    assert_eq!(origin.notes()[2], "radial_velocity missing");
}

#[test]
fn a_data_set_and_the_table_of_its_candidates_say_the_same() {
    let mut columns = catalogue();
    columns.0[2].2[4] = 0.015; // within its error not everywhere a distance
    let (data, origin) = made(&columns).unwrap();
    assert!(!origin.losses.is_empty());
    let table = candidate_table(&data, &origin, &[]).unwrap();
    assert_eq!(table.names(), ["object", "candidate", "Jr", "Jz", "Jphi", "energy", "penalty"]);
    let read = LongTable { missing: "none".into(), ..LongTable::new("c.parquet") };
    let back = read.group(&table, &Unwatched).unwrap();
    assert_eq!(back.candidates, data.candidates);
    assert_eq!(back.features, data.features);
    assert_eq!((back.penalties, data.penalties), (PenaltyKind::LogDensity, PenaltyKind::LogDensity));
    assert_eq!(back.provenance, data.provenance);
    let keys: Vec<&str> = data.provenance.iter().map(|(key, _)| &key[4..]).collect();
    let settings = "version seed shape size sampler m transform penalty potential variant sun jphi_sign angles zero_point_mas";
    assert_eq!(keys.join(" "), format!("{settings} features dropped"));
    let lost = loss_table(&origin).unwrap();
    assert_eq!((lost.rows(), lost.names()), (1, vec!["object", "drawn", "kept", "reasons"]));
}

#[test]
fn extras_are_kept_only_where_they_are_asked_for() {
    let (with, _) = made(&catalogue()).unwrap();
    assert_eq!((with.extras.len(), with.extras[0].values.len()), (1, 90));
    assert_eq!(with.extras[0].feature.name, "energy");
    let columns = catalogue();
    let model = StarModel::default();
    let stars = model.require_observed(&columns, &Unwatched).unwrap();
    let reading = MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|_| false,
        bad_rows: BadRows::Refuse,
    };
    let star = Some((&stars, model.angles));
    let measured = reading.measure(&columns, Ids::Position, star, None, &Unwatched).unwrap();
    let f = model.actions(&stars, std::sync::Arc::new(model.finder().unwrap()), None).unwrap();
    let sampling = Sampling { draws: 15, extras: false, ..Sampling::default() };
    let (without, _) = sampling.sample(&measured, &f, 7, &Unwatched).unwrap();
    assert!(without.extras.is_empty());
    assert_eq!(without.candidates, with.candidates);
}

#[test]
fn weakened_correlations_are_a_warning() {
    #[derive(Default)]
    struct Ears(std::sync::Mutex<Vec<String>>);
    impl Watch for Ears {
        fn warn(&self, warning: &str) {
            self.0.lock().unwrap().push(warning.to_string());
        }
    }
    let mut columns = catalogue();
    for (name, value) in [("parallax_pmdec_corr", 0.9), ("pmra_pmdec_corr", -0.9)] {
        columns.0.push((name, "", vec![0.0, 0.0, value, 0.0, 0.0, 0.0]));
    }
    columns.0[10].2[2] = 0.9;
    let ears = Ears::default();
    let reading = MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|_| false,
        bad_rows: BadRows::Refuse,
    };
    let (model, sampling) = (StarModel::default(), Sampling { draws: 3, ..Sampling::default() });
    let ids = Ids::Text(["a", "b", "c", "d", "e", "f"].map(String::from).into());
    star_candidates(&columns, ids, &reading, &model, &sampling, 7, &ears).unwrap();
    let said = ears.0.into_inner().unwrap();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("object c: its correlations contradict each other"), "{}", said[0]);
}
