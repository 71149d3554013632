//! What a column of a star catalogue holds: each quantity with its unit and its usual names.

use std::fmt;
use std::str::FromStr;

use crate::catalogue::{Angles, Unit};

/// The quantities of a star catalogue: each with its required unit (none: an angle, in degrees or
/// radians) and the usual names of its column.
macro_rules! quantities {
    ($($name:ident, $unit:expr, [$($own:literal),+];)*) => {
        /// What a column of a star catalogue holds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // the names below say what each is
        #[non_exhaustive]
        pub enum Quantity {
            $($name,)*
        }

        impl Quantity {
            /// All of them.
            pub const ALL: &'static [Quantity] = &[$(Self::$name),*];

            /// The unit, and the names.
            fn row(self) -> (Option<Unit>, &'static [&'static str]) {
                match self {
                    $(Self::$name => ($unit, &[$($own),+]),)*
                }
            }
        }
    };
}

quantities! {
    Ra, None, ["ra"];
    Dec, None, ["dec"];
    PmRa, Some(Unit::MAS_PER_YEAR), ["pmra"];
    PmDec, Some(Unit::MAS_PER_YEAR), ["pmdec"];
    L, None, ["l", "ell", "glon"];
    B, None, ["b", "bee", "glat"];
    PmL, Some(Unit::MAS_PER_YEAR), ["pml", "pm_l", "pml_cosb"];
    PmB, Some(Unit::MAS_PER_YEAR), ["pmb", "pm_b"];
    Parallax, Some(Unit::MAS), ["parallax"];
    Distance, Some(Unit::KPC), ["distance", "dist", "distance_kpc", "dist_kpc"];
    DistanceModulus, Some(Unit::MAG), ["distance_modulus", "dm", "DM"];
    RadialVelocity, Some(Unit::KM_PER_SECOND),
        ["radial_velocity", "rv", "HRV", "vlos", "any_vlos", "dr2_radial_velocity"];
    X, Some(Unit::KPC), ["x"];
    Y, Some(Unit::KPC), ["y"];
    Z, Some(Unit::KPC), ["z"];
    Vx, Some(Unit::KM_PER_SECOND), ["vx"];
    Vy, Some(Unit::KM_PER_SECOND), ["vy"];
    Vz, Some(Unit::KM_PER_SECOND), ["vz"];
}

impl Quantity {
    /// Its usual names, its own first.
    pub fn names(self) -> &'static [&'static str] {
        self.row().1
    }

    /// Its own name.
    pub fn name(self) -> &'static str {
        self.names()[0]
    }

    /// Its required unit; positions on the sky may be in degrees or radians.
    pub fn unit(self, angles: Angles) -> Unit {
        self.row().0.unwrap_or(match angles {
            Angles::Degrees => Unit::DEGREE,
            Angles::Radians => Unit::RADIAN,
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// An unknown name of a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a quantity of a star; give one of {}", Quantity::ALL.iter().map(|own| own.name()).collect::<Vec<_>>().join(", "))]
pub struct UnknownQuantity {
    /// What was given.
    pub given: String,
}

impl FromStr for Quantity {
    type Err = UnknownQuantity;

    fn from_str(text: &str) -> Result<Self, UnknownQuantity> {
        let found = Self::ALL.iter().copied().find(|quantity| quantity.name() == text);
        found.ok_or_else(|| UnknownQuantity { given: text.to_string() })
    }
}
