//! Star catalogues through the pipeline: whatever the table is made of, and whatever units its
//! columns are in.

use goc::Ids;
use goc_galaxy::catalogue::schema::Columns;
use goc_pipeline::candidate_table::{candidate_table, loss_table};
use goc_pipeline::long_table::LongTable;
use goc_pipeline::table_columns::TableColumns;
use goc_pipeline::{
    BadRows, Dataset, MeasuredColumns, Origin, PenaltyKind, PipelineError, QuotedErrors, Sampling, Speech,
    StarModel, Unwatched, Watch, star_candidates,
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
    made_with(columns, &QuotedErrors::default())
}

/// Columns by their usual names; -9999 is missing.
fn columns_with(quoted: &QuotedErrors) -> MeasuredColumns<'_> {
    MeasuredColumns {
        values: None,
        errors: None,
        object: None,
        missing: &|number| number == -9999.0,
        bad_rows: BadRows::Refuse,
        quoted,
        missing_rv: None,
        with: &[],
    }
}

fn made_with<C: Columns>(columns: &C, quoted: &QuotedErrors) -> Result<(Dataset, Origin), PipelineError>
where
    C::Error: Into<PipelineError>,
{
    let reading = columns_with(quoted);
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
    let quoted = QuotedErrors::default();
    let reading = columns_with(&quoted);
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
    let quoted = QuotedErrors::default();
    let reading = columns_with(&quoted);
    let (model, sampling) = (StarModel::default(), Sampling { draws: 3, ..Sampling::default() });
    let ids = Ids::Text(["a", "b", "c", "d", "e", "f"].map(String::from).into());
    star_candidates(&columns, ids, &reading, &model, &sampling, 7, &ears).unwrap();
    let said = ears.0.into_inner().unwrap();
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("object c: its correlations contradict each other"), "{}", said[0]);
}

fn quoted(inflate: &str, floors: &str) -> Result<QuotedErrors, PipelineError> {
    let words = |text: &str| text.split_terminator(',').map(String::from).collect::<Vec<_>>();
    QuotedErrors::parse(&words(inflate), &words(floors))
}

#[test]
fn inflated_errors_are_those_of_a_table_that_was_multiplied() {
    for columns in [catalogue(), in_other_units()] {
        let unit = |name: &str| columns.0.iter().find(|column| column.0 == name).unwrap().1;
        let multiplied = |factors: &[(&str, f64)]| {
            let mut other = Plain(columns.0.clone());
            for (name, factor) in factors {
                other.set(name, unit(name), *factor);
            }
            made(&other).unwrap().0
        };
        let inflated = |words: &str| made_with(&columns, &quoted(words, "").unwrap()).unwrap().0;
        let some = multiplied(&[("parallax_error", 1.7), ("radial_velocity_error", 2.0)]);
        let told = inflated("parallax=1.7,radial_velocity=2");
        assert_eq!(told.candidates, some.candidates);
        assert_ne!(told.candidates, made(&columns).unwrap().0.candidates);
        let four = ["parallax", "pmra", "pmdec", "radial_velocity"].map(|name| format!("{name}_error"));
        let all = multiplied(&four.each_ref().map(|name| (name.as_str(), 1.7)));
        assert_eq!(inflated("1.7").candidates, all.candidates);
        assert_eq!(inflated("1").candidates, made(&columns).unwrap().0.candidates);
    }
}

#[test]
fn errors_below_the_floor_are_raised_to_it_in_the_unit_of_the_column_after_inflation() {
    let mut columns = catalogue();
    columns.0[5].2[0] = 0.0; // exact, as the table has it
    let raised = |factor: f64, floor: f64| {
        let mut other = Plain(columns.0.clone());
        other.0[5].2.iter_mut().for_each(|error| *error = (*error * factor).max(floor));
        made(&other).unwrap().0.candidates
    };
    let told = |inflate: &str, floors: &str| {
        made_with(&columns, &quoted(inflate, floors).unwrap()).unwrap().0.candidates
    };
    assert_eq!(told("", "pmra=0.032"), raised(1.0, 0.032));
    assert_eq!(told("pmra=1.1", "pmra=0.035"), raised(1.1, 0.035));
    assert_eq!(told("", "pmra=0"), raised(1.0, 0.0));
    // The proper motion is in arcsec/yr, so its floor is; its error in mas/yr is compared as such.
    let mut other = Plain(columns.0.clone());
    other.set("pmra", "arcsec/yr", 1e-3);
    let expected = made_with(&columns, &quoted("", "pmra=0.032").unwrap()).unwrap().0.candidates;
    let found = made_with(&other, &quoted("", "pmra=0.000032").unwrap()).unwrap().0.candidates;
    for i in 0..6 {
        for (a, b) in found.block(i).iter().zip(expected.block(i)) {
            assert!((a - b).abs() < 1e-8 * b.abs(), "star {i}: {a} {b}");
        }
    }
}

#[test]
fn what_was_done_to_errors_is_in_the_provenance_and_only_then() {
    let said = |quoted: &QuotedErrors| -> Vec<String> {
        let (data, origin) = made_with(&catalogue(), quoted).unwrap();
        assert_eq!(origin.settings.len() + 1, data.provenance.len());
        let of_errors = data
            .provenance
            .iter()
            .filter(|(key, _)| ["goc_inflate", "goc_error_floor"].contains(&key.as_str()));
        of_errors.map(|(key, value)| format!("{key} {value}")).collect()
    };
    assert!(said(&QuotedErrors::default()).is_empty());
    assert_eq!(said(&quoted("1.5", "").unwrap()), ["goc_inflate 1.5"]);
    assert_eq!(
        said(&quoted("parallax=1.5,pmra=2", "pmra=0.02").unwrap()),
        ["goc_inflate parallax=1.5,pmra=2", "goc_error_floor pmra=0.02"]
    );
}

#[test]
fn factors_floors_and_columns_that_cannot_be_are_named() {
    for (inflate, floors, expected) in [
        ("0", "", "inflate 0: a factor is a finite number above 0"),
        ("parallax=-2", "", "inflate parallax=-2: a factor is a finite number above 0"),
        ("parallax=nan", "", "inflate parallax=NaN: a factor is a finite number above 0"),
        ("inf", "", "inflate inf: a factor is a finite number above 0"),
        ("parallax", "", "inflate parallax: give COLUMN=FACTOR for each column, or one factor for all"),
        ("2,pmra=3", "", "inflate 2: give COLUMN=FACTOR for each column, or one factor for all"),
        ("=2", "", "inflate =2: give COLUMN=FACTOR for each column, or one factor for all"),
        ("", "0.02", "error_floor 0.02: give COLUMN=ERROR, in the unit of the column"),
        ("", "pmra=-1", "error_floor pmra=-1: a floor is a finite number from 0, in the unit of its column"),
        (
            "",
            "pmra=inf",
            "error_floor pmra=inf: a floor is a finite number from 0, in the unit of its column",
        ),
    ] {
        let error = quoted(inflate, floors).unwrap_err();
        assert_eq!((error.said(Speech::Keywords).as_str(), error.is_usage()), (expected, true));
    }
    let there = "; there are: parallax, pmra, pmdec, radial_velocity";
    for (inflate, floors, expected) in [
        ("paralax=2", "", "inflate: no measured column with errors `paralax` (did you mean `parallax`?)"),
        (
            "",
            "pmra_error=2",
            "error_floor: no measured column with errors `pmra_error` (did you mean `pmra`?)",
        ),
        ("", "ra=2", "error_floor: no measured column with errors `ra`"),
    ] {
        let error = made_with(&catalogue(), &quoted(inflate, floors).unwrap()).unwrap_err();
        let said = error.said(Speech::Keywords);
        assert!(said.starts_with(expected) && said.ends_with(there) && error.is_usage(), "{said}");
    }
    let twice = made_with(&catalogue(), &quoted("pmra=2,pmra=3", "").unwrap()).unwrap_err();
    assert_eq!(twice.said(Speech::Flags), "--inflate names `pmra` twice");
    // Beyond the numbers there are: named by its row.
    let beyond = made_with(&catalogue(), &quoted("1e308", "").unwrap()).unwrap_err();
    assert!(beyond.to_string().starts_with("row 0: object 0: "), "{beyond}");
}
