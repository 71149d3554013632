//! Reads a galaxy from the text of an AGAMA `.ini` file.
//!
//! A file has a section `[Potential name]` for each component, with its `type` and the parameters
//! of that type, one `key = value` per line; `#` and `;` begin comments; types and keys are
//! case-insensitive. Units are kpc, km/s and solar masses.
//!
//! | type | keys (in brackets: may be left out) |
//! |---|---|
//! | Disk | surfaceDensity or mass, scaleRadius, scaleHeight (below 0: isothermal), \[innerCutoffRadius\] |
//! | Spheroid | densityNorm or mass, scaleRadius, \[gamma = 1, beta = 4, alpha = 1, axisRatioZ = 1, outerCutoffRadius, cutoffStrength = 2\] |
//! | NFW, Plummer, Isochrone | mass, scaleRadius (Plummer: 0 is a point mass) |
//! | MiyamotoNagai | mass, scaleRadius, scaleHeight |
//! | Logarithmic | v0, scaleRadius, \[axisRatioZ = 1\] |
//!
//! All discs and spheroids become one [`Expansion`], as in AGAMA. A key that is not in the table is
//! refused, since ignoring it would mean computing a different galaxy from the one requested.

use std::collections::BTreeMap;

use super::disc::{Disc, Layer};
use super::spheroid::Spheroid;
use super::{
    Expansion, Isochrone, Kepler, Logarithmic, MiyamotoNagai, NFW, Plummer, Potential, PotentialError, Sum,
};

/// Why a text does not describe a galaxy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum IniError {
    /// A line that is neither a section, nor a key with a value, nor a comment.
    #[error("line {line}: `{text}` is neither [Potential name] nor key = value")]
    Syntax {
        /// Counted from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// A section that describes no potential.
    #[error("line {line}: section [{section}] is not a [Potential name]")]
    Section {
        /// Counted from 1.
        line: usize,
        /// The text in the brackets.
        section: String,
    },
    /// No section at all.
    #[error("the text has no [Potential] section")]
    Empty,
    /// An unknown type.
    #[error(
        "line {line}, [{section}]: type `{value}` is not known; known are Disk, Spheroid, NFW, Plummer, Isochrone, \
         MiyamotoNagai, Logarithmic"
    )]
    Type {
        /// Counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// The type requested.
        value: String,
    },
    /// A key that this type does not have.
    #[error("line {line}, [{section}]: {kind} has no key `{key}`")]
    Key {
        /// Counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// The section's type.
        kind: String,
        /// The key.
        key: String,
    },
    /// A key given twice.
    #[error("line {line}, [{section}]: `{key}` was given before")]
    Twice {
        /// Counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// The key.
        key: String,
    },
    /// A key that must be there.
    #[error("line {line}, [{section}]: `{key}` is missing")]
    Missing {
        /// Where the section begins, counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// The key.
        key: String,
    },
    /// A value that is not a number.
    #[error("line {line}, [{section}]: {key} = `{value}` is not a number")]
    Number {
        /// Counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A number outside its allowed range.
    #[error("line {line}, [{section}]: {source}")]
    Parameter {
        /// Where the section begins, counted from 1.
        line: usize,
        /// The section.
        section: String,
        /// What is wrong.
        source: PotentialError,
    },
}

/// One section as read.
struct Section {
    name: String,
    line: usize,
    /// From the key in lower case to the key and value as written, and the line.
    entries: BTreeMap<String, (String, String, usize)>,
}

/// The galaxy that `text` describes.
///
/// ```
/// use goc_galaxy::potential::{Potential, ini};
/// let halo = ini::parse("[Potential halo]\ntype = NFW # dark\nmass = 1e12\nscaleRadius = 20\n")?;
/// assert!(halo.value(8.0, 0.0) < 0.0);
/// # Ok::<(), ini::IniError>(())
/// ```
pub fn parse(text: &str) -> Result<Sum, IniError> {
    let sections = read(text)?;
    if sections.is_empty() {
        return Err(IniError::Empty);
    }
    let (mut discs, mut spheroids) = (Vec::new(), Vec::new());
    let mut parts: Vec<Box<dyn Potential>> = Vec::new();
    for section in &sections {
        match section.component()? {
            Component::Disc(disc) => discs.push(disc),
            Component::Spheroid(spheroid) => spheroids.push(spheroid),
            Component::Whole(potential) => parts.push(potential),
        }
    }
    if !(discs.is_empty() && spheroids.is_empty()) {
        parts.insert(0, Box::new(Expansion::new(discs, spheroids)));
    }
    Ok(Sum::new(parts))
}

fn read(text: &str) -> Result<Vec<Section>, IniError> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, raw) in text.lines().enumerate() {
        let line = number + 1;
        let content = raw.split(['#', ';']).next().unwrap_or_default().trim();
        if content.is_empty() {
            continue;
        }
        let syntax = || IniError::Syntax { line, text: raw.trim().to_owned() };
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest.strip_suffix(']').ok_or_else(syntax)?.trim();
            if !name.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case("potential")) {
                return Err(IniError::Section { line, section: name.to_owned() });
            }
            sections.push(Section { name: name.to_owned(), line, entries: BTreeMap::new() });
            continue;
        }
        let (key, value) = content.split_once('=').ok_or_else(syntax)?;
        let (key, value) = (key.trim(), value.trim());
        let section = sections.last_mut().ok_or_else(syntax)?;
        let entry = (key.to_owned(), value.to_owned(), line);
        if section.entries.insert(key.to_ascii_lowercase(), entry).is_some() {
            return Err(IniError::Twice { line, section: section.name.clone(), key: key.to_owned() });
        }
    }
    Ok(sections)
}

enum Component {
    Disc(Disc),
    Spheroid(Spheroid),
    Whole(Box<dyn Potential>),
}

impl Section {
    fn component(&self) -> Result<Component, IniError> {
        let (_, kind, line) = self.entries.get("type").ok_or_else(|| self.missing("type"))?;
        let wrong = |source| IniError::Parameter { line: self.line, section: self.name.clone(), source };
        let whole = |potential: Box<dyn Potential>| Ok(Component::Whole(potential));
        match kind.to_ascii_lowercase().as_str() {
            "disk" => self.disc(),
            "spheroid" => self.spheroid(),
            "nfw" => {
                let [mass, a] = self.only(["mass", "scaleRadius"])?;
                whole(Box::new(NFW::new(mass, a).map_err(wrong)?))
            }
            "plummer" => {
                let [mass, b] = self.only(["mass", "scaleRadius"])?;
                if b == 0.0 {
                    return whole(Box::new(Kepler::new(mass).map_err(wrong)?));
                }
                whole(Box::new(Plummer::new(mass, b).map_err(wrong)?))
            }
            "isochrone" => {
                let [mass, b] = self.only(["mass", "scaleRadius"])?;
                whole(Box::new(Isochrone::new(mass, b).map_err(wrong)?))
            }
            "miyamotonagai" => {
                let [mass, a, b] = self.only(["mass", "scaleRadius", "scaleHeight"])?;
                whole(Box::new(MiyamotoNagai::new(mass, a, b).map_err(wrong)?))
            }
            "logarithmic" => {
                self.refuse_others(&["v0", "scaleRadius", "axisRatioZ"])?;
                let q = self.number("axisRatioZ")?.unwrap_or(1.0);
                let (v, rc) = (self.require("v0")?, self.require("scaleRadius")?);
                whole(Box::new(Logarithmic::new(v, rc, q).map_err(wrong)?))
            }
            _ => Err(IniError::Type { line: *line, section: self.name.clone(), value: kind.clone() }),
        }
    }

    fn disc(&self) -> Result<Component, IniError> {
        let wrong = |source| IniError::Parameter { line: self.line, section: self.name.clone(), source };
        self.refuse_others(&["surfaceDensity", "mass", "scaleRadius", "scaleHeight", "innerCutoffRadius"])?;
        let hole = self.number("innerCutoffRadius")?.unwrap_or(0.0);
        let (rd, zd) = (self.require("scaleRadius")?, self.require("scaleHeight")?);
        let layer = if zd < 0.0 { Layer::Isothermal(-zd) } else { Layer::Exponential(zd) };
        let make = |sigma| Disc::new(sigma, rd, hole, layer).map_err(wrong);
        let disc = match self.one_of("surfaceDensity", "mass")? {
            (Some(sigma), _) => make(sigma)?,
            (_, mass) => make(mass / make(1.0)?.mass())?,
        };
        Ok(Component::Disc(disc))
    }

    fn spheroid(&self) -> Result<Component, IniError> {
        let wrong = |source| IniError::Parameter { line: self.line, section: self.name.clone(), source };
        self.refuse_others(&[
            "densityNorm",
            "mass",
            "scaleRadius",
            "gamma",
            "beta",
            "alpha",
            "axisRatioZ",
            "outerCutoffRadius",
            "cutoffStrength",
        ])?;
        let a = self.require("scaleRadius")?;
        let or = |key, default: f64| Ok::<_, IniError>(self.number(key)?.unwrap_or(default));
        let (gamma, beta, alpha) = (or("gamma", 1.0)?, or("beta", 4.0)?, or("alpha", 1.0)?);
        let (q, strength) = (or("axisRatioZ", 1.0)?, or("cutoffStrength", 2.0)?);
        let edge = self.number("outerCutoffRadius")?;
        let make = |density| {
            let body = Spheroid::new(density, a, gamma, beta)?.axis_ratio(q)?.sharpness(alpha)?;
            edge.map_or(Ok(body.clone()), |radius| body.cut_off(radius, strength))
        };
        let spheroid = match self.one_of("densityNorm", "mass")? {
            (Some(density), _) => make(density).map_err(wrong)?,
            (_, mass) => {
                let whole = make(1.0).and_then(|one| one.mass()).map_err(wrong)?;
                make(mass / whole).map_err(wrong)?
            }
        };
        Ok(Component::Spheroid(spheroid))
    }

    /// The number of the first key if it exists, otherwise that of the second.
    fn one_of(&self, first: &str, second: &str) -> Result<(Option<f64>, f64), IniError> {
        match (self.number(first)?, self.number(second)?) {
            (Some(_), Some(_)) => {
                let (key, _, line) = &self.entries[&second.to_ascii_lowercase()];
                Err(IniError::Twice { line: *line, section: self.name.clone(), key: key.clone() })
            }
            (Some(number), None) => Ok((Some(number), 0.0)),
            (None, Some(number)) => Ok((None, number)),
            (None, None) => Err(self.missing(first)),
        }
    }

    /// The numbers of these keys, which must all be present, with no others.
    fn only<const N: usize>(&self, keys: [&str; N]) -> Result<[f64; N], IniError> {
        self.refuse_others(&keys)?;
        let mut numbers = [0.0; N];
        for (number, key) in numbers.iter_mut().zip(keys) {
            *number = self.require(key)?;
        }
        Ok(numbers)
    }

    fn refuse_others(&self, known: &[&str]) -> Result<(), IniError> {
        for (low, (key, _, line)) in &self.entries {
            if low != "type" && !known.iter().any(|known| known.eq_ignore_ascii_case(low)) {
                let kind = self.entries.get("type").map(|(_, kind, _)| kind.clone()).unwrap_or_default();
                let section = self.name.clone();
                return Err(IniError::Key { line: *line, section, kind, key: key.clone() });
            }
        }
        Ok(())
    }

    fn require(&self, key: &str) -> Result<f64, IniError> {
        self.number(key)?.ok_or_else(|| self.missing(key))
    }

    fn missing(&self, key: &str) -> IniError {
        IniError::Missing { line: self.line, section: self.name.clone(), key: key.to_owned() }
    }

    fn number(&self, key: &str) -> Result<Option<f64>, IniError> {
        let Some((key, value, line)) = self.entries.get(&key.to_ascii_lowercase()) else { return Ok(None) };
        value.parse().map(Some).map_err(|_| IniError::Number {
            line: *line,
            section: self.name.clone(),
            key: key.clone(),
            value: value.clone(),
        })
    }
}
