//! The meaning of columns for tools of the Virtual Observatory: UCDs by column name.
//!
//! A Unified Content Descriptor is a term of a controlled vocabulary (UCD1+, IVOA 2023). TOPCAT
//! uses it to find positions and identifiers. Only names with the same meaning in all our tables
//! are listed; a wrong descriptor is worse than none. The vocabulary has no term for actions.

use crate::{Column, Data};

/// Names in lower case, their UCDs, and how the unit of the column must end where the name alone is
/// ambiguous.
const WORDS: [(&str, &str, &str); 45] = [
    ("source_id", "meta.id;meta.main", ""),
    ("ra", "pos.eq.ra;meta.main", ""),
    ("dec", "pos.eq.dec;meta.main", ""),
    ("l", "pos.galactic.lon", "deg"),
    ("b", "pos.galactic.lat", "deg"),
    ("parallax", "pos.parallax.trig", ""),
    ("distance_modulus", "phot.mag.distMod", ""),
    ("pmra", "pos.pm;pos.eq.ra", ""),
    ("pmdec", "pos.pm;pos.eq.dec", ""),
    ("pml", "pos.pm;pos.galactic.lon", ""),
    ("pmb", "pos.pm;pos.galactic.lat", ""),
    ("radial_velocity", "spect.dopplerVeloc.opt", ""),
    ("phot_g_mean_mag", "phot.mag;em.opt", ""),
    ("fe_h", "phys.abund.Fe", ""),
    ("x", "pos.cartesian.x", "pc"),
    ("y", "pos.cartesian.y", "pc"),
    ("z", "pos.cartesian.z", "pc"),
    ("vx", "phys.veloc;pos.cartesian.x", "km/s"),
    ("vy", "phys.veloc;pos.cartesian.y", "km/s"),
    ("vz", "phys.veloc;pos.cartesian.z", "km/s"),
    ("u", "phys.veloc;pos.cartesian.x", "km/s"),
    ("v", "phys.veloc;pos.cartesian.y", "km/s"),
    ("w", "phys.veloc;pos.cartesian.z", "km/s"),
    ("jphi", "phys.angMomentum", ""),
    ("lz", "phys.angMomentum", ""),
    ("lperp", "phys.angMomentum", ""),
    ("energy", "phys.energy", ""),
    ("eccentricity", "src.orbital.eccentricity", ""),
    ("pericentre", "src.orbital.periastron", ""),
    ("apocentre", "src.orbital", ""),
    ("zmax", "src.orbital", ""),
    ("object", "meta.id", ""),
    ("label", "meta.id;src.class", ""),
    ("runner_up", "meta.id;src.class", ""),
    ("candidates", "meta.number", ""),
    ("probability", "stat.probability", ""),
    ("runner_up_probability", "stat.probability", ""),
    ("field", "stat.probability", ""),
    ("alone", "stat.probability", ""),
    ("recurrence", "stat.probability", ""),
    ("stability", "stat.value", ""),
    ("cluster_stability", "stat.value", ""),
    ("p_value", "stat.probability", ""),
    ("q_value", "stat.probability", ""),
    ("note", "meta.note", ""),
];

/// The UCD of a column, if its name determines it: `goc_label` is what `label` is, `true_ra` what
/// `ra` is, and `parallax_error` the error of a parallax.
pub(crate) fn ucd(column: &Column) -> Option<String> {
    if matches!(column.data(), Data::Bool(_)) {
        return None; // a flag, such as `field` of a mock, and no probability
    }
    let lower = column.name().to_lowercase();
    let own = lower.strip_prefix("goc_").unwrap_or(&lower);
    // The true position of a mock star is not the table's main one.
    let (plain, main) = own.strip_prefix("true_").map_or((own, true), |plain| (plain, false));
    let of = |name: &str| {
        let fits = |unit: &str| unit.is_empty() || column.unit().is_some_and(|own| own.ends_with(unit));
        WORDS.iter().find(|(known, _, unit)| *known == name && fits(unit)).map(|(_, word, _)| *word)
    };
    if let Some(word) = of(plain) {
        return Some(if main { word.into() } else { word.replace(";meta.main", "") });
    }
    let word = of(plain.strip_suffix("_error")?)?;
    Some(format!("stat.error;{}", word.replace(";meta.main", "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_a_column_is_and_never_too_much() {
        let of = |name: &str, unit: &str| ucd(&Column::new(name, Data::F64(vec![1.0])).with_unit(unit));
        assert_eq!(of("RA", "deg").as_deref(), Some("pos.eq.ra;meta.main"));
        assert_eq!(of("true_ra", "deg").as_deref(), Some("pos.eq.ra"));
        assert_eq!(of("parallax_error", "mas").as_deref(), Some("stat.error;pos.parallax.trig"));
        assert_eq!(of("goc_probability", "").as_deref(), Some("stat.probability"));
        assert_eq!(of("x", "kpc").as_deref(), Some("pos.cartesian.x"));
        for (name, unit) in [("x", ""), ("x", "mg"), ("goc_Jr", "kpc km/s"), ("_error", ""), ("goc_", "")] {
            assert_eq!(of(name, unit), None, "{name} {unit}");
        }
        assert_eq!(ucd(&Column::new("field", Data::Bool(vec![true]))), None);
    }
}
