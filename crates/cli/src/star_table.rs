//! Star catalogues: which columns say where a star is and how it moves, and in which model of the Galaxy.
//!
//! Three forms are known by their usual names: Gaia's own (ra, dec, parallax, pmra, pmdec, radial_velocity), Galactic (l, b,
//! parallax, pml, pmb, radial velocity), and Galactocentric x, y, z, vx, vy, vz. The first that is complete is taken, and said. In
//! place of the parallax there may be a distance or a distance modulus. `--columns` gives other names.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use goc_galaxy::actions::{ActionFinder, Variant};
use goc_galaxy::catalogue::{Angles, Catalogue, DistanceMeasure};
use goc_galaxy::frames::{JphiSign, Sky, Sun};
use goc_galaxy::potential::{MWPotential2014, Potential, ini};

use goc_tables::{Column, Table};
use serde_json::{Value, json};

use crate::fail::Fail;
use crate::screen::note;

/// How a star catalogue is read, and the model of the Galaxy.
#[derive(Args, Clone, Debug)]
pub struct StarArgs {
    /// Columns with other names, such as ra=RA_ICRS,radial_velocity=HRV; known: ra, dec, pmra, pmdec, l, b, pml, pmb, parallax, distance,
    /// distance_modulus, radial_velocity, x, y, z, vx, vy, vz
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// Unit of ra, dec, l, b: degrees or radians
    #[arg(long, default_value = "degrees")]
    pub angles: Angles,

    /// The Sun's place and velocity: hattori (the paper's), astropy-v4.0, or r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25
    #[arg(long, default_value = "hattori")]
    pub sun: Sun,

    /// The Galaxy: mcmillan17, mwpotential2014, or a file of components (AGAMA's .ini)
    #[arg(long, default_value = "mcmillan17")]
    pub potential: String,

    /// How actions are computed: converged, authors (as the paper's tables) or agama (as AGAMA today)
    #[arg(long, default_value = "converged")]
    pub variant: Variant,

    /// Sign of Jphi: paper (x vy - y vx, negative for the disc) or prograde-positive
    #[arg(long, default_value = "paper")]
    pub jphi: JphiSign,

    /// Added to every parallax, mas; Gaia's are too small by about 0.017
    #[arg(long, value_name = "MAS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub zero_point: f64,
}

/// How a catalogue says how far a star is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    Parallax,
    Distance,
    Modulus,
}

/// The form of a catalogue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Observed(Sky, Depth),
    Galactocentric,
}

/// The columns of a catalogue, by their names in the table.
#[derive(Clone, Debug)]
pub struct StarColumns {
    pub form: Form,
    /// Longitude, latitude, depth, proper motions, radial velocity; or x, y, z, vx, vy, vz.
    pub names: [String; 6],
}

/// Names each quantity goes by, the first as in `--columns`.
const KNOWN: [&[&str]; 18] = [
    &["ra"],
    &["dec"],
    &["pmra"],
    &["pmdec"],
    &["l", "ell", "glon"],
    &["b", "bee", "glat"],
    &["pml", "pm_l", "pml_cosb"],
    &["pmb", "pm_b"],
    &["parallax"],
    &["distance", "dist", "distance_kpc", "dist_kpc"],
    &["distance_modulus", "dm", "DM"],
    &["radial_velocity", "rv", "HRV", "vlos", "any_vlos", "dr2_radial_velocity"],
    &["x"],
    &["y"],
    &["z"],
    &["vx"],
    &["vy"],
    &["vz"],
];

impl StarArgs {
    /// The usual names, McMillan's Galaxy.
    pub fn of_model(variant: Variant, sun: Sun, jphi: JphiSign) -> Self {
        let (columns, potential) = (Vec::new(), "mcmillan17".to_string());
        Self { columns, angles: Angles::Degrees, sun, potential, variant, jphi, zero_point: 0.0 }
    }

    /// The columns of a star catalogue, if the table is one.
    pub fn find(&self, table: &Table) -> Result<Option<StarColumns>, Fail> {
        let mut given: Vec<(&str, &str)> = Vec::new();
        for pair in self.columns.iter().filter(|p| !p.trim().is_empty()) {
            let known = |name: &str| KNOWN.iter().any(|names| names[0] == name);
            match pair.split_once('=').map(|(name, column)| (name.trim(), column.trim())) {
                Some((name, column)) if known(name) => {
                    table.require(column)?;
                    given.push((name, column));
                }
                _ => {
                    let all: Vec<&str> = KNOWN.iter().map(|names| names[0]).collect();
                    return Err(Fail::usage(format!(
                        "--columns {pair}: give NAME=COLUMN, with NAME one of {}",
                        all.join(", ")
                    )));
                }
            }
        }
        let column = |quantity: &str| -> Option<String> {
            if let Some((_, column)) = given.iter().find(|(name, _)| *name == quantity) {
                return Some((*column).to_string());
            }
            let names = KNOWN.iter().find(|names| names[0] == quantity)?;
            names.iter().find_map(|name| column_like(table, name)).map(|column| column.name().to_string())
        };
        let depth = [
            ("parallax", Depth::Parallax),
            ("distance", Depth::Distance),
            ("distance_modulus", Depth::Modulus),
        ];
        let asked = |(name, _): &(&str, Depth)| given.iter().any(|(g, _)| g == name);
        // A depth named by the user goes before a parallax that happens to be there.
        let depth = depth
            .into_iter()
            .filter(asked)
            .chain(depth)
            .find_map(|(name, depth)| Some((column(name)?, depth)));
        let observed = |sky: Sky, [lon, lat, pm1, pm2]: [&str; 4]| {
            let (depth_column, depth) = depth.clone()?;
            let names = [
                column(lon)?,
                column(lat)?,
                depth_column,
                column(pm1)?,
                column(pm2)?,
                column("radial_velocity")?,
            ];
            Some(StarColumns { form: Form::Observed(sky, depth), names })
        };
        let cartesian = || {
            let names = ["x", "y", "z", "vx", "vy", "vz"].map(column);
            let names: Option<Vec<String>> = names.into_iter().collect();
            let names = names?.try_into().ok()?;
            Some(StarColumns { form: Form::Galactocentric, names })
        };
        let icrs = || observed(Sky::Icrs, ["ra", "dec", "pmra", "pmdec"]);
        let galactic = || observed(Sky::Galactic, ["l", "b", "pml", "pmb"]);
        // The form of which the user named a coordinate goes first.
        let names_any = |names: &[&str]| given.iter().any(|(g, _)| names.contains(g));
        let found = if names_any(&["x", "y", "z", "vx", "vy", "vz"]) {
            cartesian()
        } else if names_any(&["l", "b", "pml", "pmb"]) {
            galactic()
        } else {
            let sky = icrs().or_else(galactic);
            // Everything measured but how far: a slip of the pen, not another kind of table.
            let all = |names: [&str; 5]| names.iter().all(|name| column(name).is_some());
            let measured = all(["ra", "dec", "pmra", "pmdec", "radial_velocity"])
                || all(["l", "b", "pml", "pmb", "radial_velocity"]);
            if sky.is_none() && depth.is_none() && measured {
                table.require("parallax")?;
            }
            sky.or_else(cartesian)
        };
        Ok(found)
    }

    /// The columns, or an error that says what is needed.
    pub fn require(&self, table: &Table, input: &Path) -> Result<StarColumns, Fail> {
        self.require_or(table, input, "; or x, y, z, vx, vy, vz")
    }

    /// As [`Self::require`]; `others` are the forms that the error offers beside the measured ones.
    fn require_or(&self, table: &Table, input: &Path, others: &str) -> Result<StarColumns, Fail> {
        match self.find(table)? {
            Some(columns) => {
                note(format!("star columns: {}", columns.names.join(", ")));
                self.check_units(table, &columns)?;
                self.say_others(table, &columns);
                Ok(columns)
            }
            None => Err(Fail::usage(format!(
                "{}: no star catalogue: ra, dec, parallax, pmra, pmdec, radial_velocity (or l, b, pml, pmb{others}) are \
                 needed; give other names with --columns (the table has {})",
                input.display(),
                table.names().join(", ")
            ))),
        }
    }

    /// A unit that the table names must be the one that is meant.
    fn check_units(&self, table: &Table, columns: &StarColumns) -> Result<(), Fail> {
        let angle = match self.angles {
            Angles::Degrees => "deg",
            Angles::Radians => "rad",
        };
        let units = match columns.form {
            Form::Observed(_, depth) => {
                let far = match depth {
                    Depth::Parallax => "mas",
                    Depth::Distance => "kpc",
                    Depth::Modulus => "mag",
                };
                [angle, angle, far, "mas/yr", "mas/yr", "km/s"]
            }
            Form::Galactocentric => ["kpc", "kpc", "kpc", "km/s", "km/s", "km/s"],
        };
        for (name, meant) in columns.names.iter().zip(units) {
            let Some(unit) = table.column(name).and_then(Column::unit) else { continue };
            if !unit.trim().is_empty() && !same_unit(unit, meant) {
                let advice = match meant {
                    "deg" | "rad" => "see --angles, or convert it",
                    _ => "convert it",
                };
                return Err(Fail::usage(format!(
                    "column `{name}` is in {unit}, but {meant} is needed; {advice}"
                )));
            }
        }
        Ok(())
    }

    /// Says which other columns could have been the radial velocity: surveys have several.
    fn say_others(&self, table: &Table, columns: &StarColumns) {
        let taken = &columns.names[5];
        let Some(names) = KNOWN.iter().find(|names| names[0] == "radial_velocity") else { return };
        if columns.form == Form::Galactocentric
            || self.columns.iter().any(|c| c.starts_with("radial_velocity="))
        {
            return;
        }
        let others: Vec<&str> = names
            .iter()
            .filter_map(|name| column_like(table, name))
            .map(Column::name)
            .filter(|n| n != taken)
            .collect();
        if !others.is_empty() {
            note(format!(
                "radial velocity: {taken} (there is also {}; --columns radial_velocity=COLUMN chooses)",
                others.join(", ")
            ));
        }
    }

    /// As [`Self::require`], for values that were measured.
    pub fn require_observed(&self, table: &Table, input: &Path) -> Result<StarColumns, Fail> {
        let columns = self.require_or(table, input, "")?;
        if columns.form == Form::Galactocentric {
            return Err(Fail::usage(format!(
                "{}: x, y, z, vx, vy, vz were not measured, so they have no error bars to sample; ra, dec, parallax, pmra, \
                 pmdec, radial_velocity are needed (see --columns)",
                input.display()
            )));
        }
        Ok(columns)
    }

    /// How rows become Galactocentric places.
    pub fn catalogue(&self, sky: Sky, depth: Depth) -> Result<Catalogue, Fail> {
        if self.zero_point != 0.0 && depth != Depth::Parallax {
            return Err(Fail::usage("--zero-point is for parallaxes; the catalogue has distances"));
        }
        let far = match depth {
            Depth::Parallax => DistanceMeasure::Parallax { offset: self.zero_point },
            Depth::Distance => DistanceMeasure::Distance,
            Depth::Modulus => DistanceMeasure::Modulus,
        };
        let catalogue =
            Catalogue::new(sky, far, self.sun).map_err(|e| Fail::usage(format!("--zero-point: {e}")))?;
        Ok(catalogue.angles(self.angles))
    }

    /// The action finder; its tables are made here.
    pub fn finder(&self) -> Result<ActionFinder, Fail> {
        let failed = |error: &dyn std::fmt::Display| Fail::failed(format!("{}: {error}", self.potential));
        let potential: Arc<dyn Potential> = match self.potential.to_ascii_lowercase().as_str() {
            "mcmillan17" => {
                return ActionFinder::milky_way(self.variant).map_err(|error| failed(&error));
            }
            "mwpotential2014" => Arc::new(MWPotential2014::new()),
            name if name.ends_with(".ini") => {
                let text = std::fs::read_to_string(&self.potential).map_err(|error| failed(&error))?;
                Arc::new(ini::parse(&text).map_err(|error| failed(&error))?)
            }
            other => {
                return Err(Fail::usage(format!(
                    "--potential {other}: give mcmillan17, mwpotential2014 or a file that ends in .ini"
                )));
            }
        };
        ActionFinder::new(potential, self.variant).map_err(|error| failed(&error))
    }

    /// What every output's metadata say.
    pub fn settings(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("potential", json!(self.potential)),
            ("variant", json!(self.variant.to_string())),
            ("sun", json!(self.sun.to_string())),
            ("jphi_sign", json!(self.jphi.description())),
            ("angles", json!(self.angles.to_string())),
            ("zero_point_mas", json!(self.zero_point)),
        ]
    }
}

/// The column of this name, or one that differs in case only.
fn column_like<'t>(table: &'t Table, name: &str) -> Option<&'t Column> {
    table.column(name).or_else(|| table.columns().iter().find(|c| c.name().eq_ignore_ascii_case(name)))
}

/// Whether a unit as tables write it (`mas yr-1`, `mas.yr**-1`, `km s^-1`, `degree`) is the one that is meant.
fn same_unit(unit: &str, meant: &str) -> bool {
    let plain: String = unit.chars().filter(|c| !" .*^()\"'".contains(*c)).collect();
    let known: &[&str] = match meant {
        "deg" => &["deg", "degree", "degrees"],
        "rad" => &["rad", "radian", "radians"],
        "mas" => &["mas", "milliarcsec", "milliarcsecond"],
        "mas/yr" => &["mas/yr", "masyr-1", "mas/year", "masyear-1", "mas/a"],
        "km/s" => &["km/s", "kms-1", "km/sec"],
        "kpc" => &["kpc"],
        _ => &["mag", "mags", "magnitude"],
    };
    known.iter().any(|name| name.eq_ignore_ascii_case(&plain))
}

/// The names and units of what a star's orbit gives.
pub const ACTION_COLUMNS: [(&str, &str); 4] =
    [("Jr", "kpc km/s"), ("Jz", "kpc km/s"), ("Jphi", "kpc km/s"), ("energy", "km2 s-2")];

/// The six columns as numbers; NaN where there is none.
pub fn numbers(table: &Table, names: &[String; 6]) -> Result<Vec<Vec<f64>>, Fail> {
    names.iter().map(|name| Ok(table.require(name).and_then(Column::numbers)?)).collect()
}
