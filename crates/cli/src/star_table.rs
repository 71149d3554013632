//! How a star catalogue is read, and the model of the Galaxy, as flags.

use clap::Args;
use goc_galaxy::actions::Variant;
use goc_galaxy::catalogue::Angles;
use goc_galaxy::catalogue::schema::Quantity;
use goc_galaxy::frames::{JphiSign, Sun};
use goc_pipeline::StarModel;

use crate::failure::Result;

/// How a star catalogue is read, and the model of the Galaxy.
#[derive(Args, Clone, Debug)]
pub struct StarArgs {
    /// Columns with other names, such as ra=RA_ICRS,radial_velocity=HRV; known: ra, dec, pmra,
    /// pmdec, l, b, pml, pmb, parallax, distance, distance_modulus, radial_velocity, x, y, z, vx,
    /// vy, vz
    #[arg(long, value_name = "NAME=COLUMN", value_delimiter = ',')]
    pub columns: Vec<String>,

    /// Unit of ra, dec, l, b: degrees or radians
    #[arg(long, default_value = "degrees")]
    pub angles: Angles,

    /// The Sun's position and velocity: hattori (the paper's), astropy-v4.0, or
    /// r0=8.2,z0=0.0208,vx=11.1,vy=245,vz=7.25
    #[arg(long, default_value = "hattori")]
    pub sun: Sun,

    /// The Galaxy: mcmillan17, mwpotential2014, or a file of components (AGAMA's .ini)
    #[arg(long, default_value = "mcmillan17")]
    pub potential: String,

    /// How actions are computed: converged, authors (as the paper's tables) or agama (as AGAMA
    /// today)
    #[arg(long, default_value = "converged")]
    pub variant: Variant,

    /// Sign of Jphi: paper (x vy - y vx, negative for the disc) or prograde-positive
    #[arg(long, default_value = "paper")]
    pub jphi: JphiSign,

    /// Offset added to every parallax, in mas; Gaia's parallaxes are too small by about 0.017
    #[arg(long, value_name = "MAS", default_value_t = 0.0, allow_negative_numbers = true)]
    pub zero_point: f64,
}

impl StarArgs {
    /// What they say.
    pub fn model(&self) -> Result<StarModel> {
        let mut other_names = Vec::new();
        for pair in self.columns.iter().filter(|pair| !pair.trim().is_empty()) {
            let named = pair.split_once('=').map(|(name, column)| (name.trim().parse(), column.trim()));
            let Some((Ok(quantity), column)) = named else {
                return Err(usage!(
                    "--columns {pair}: give NAME=COLUMN, with NAME one of {}",
                    Quantity::ALL.iter().map(|own| own.name()).collect::<Vec<_>>().join(", ")
                ));
            };
            other_names.push((quantity, column.to_string()));
        }
        Ok(StarModel {
            other_names,
            angles: self.angles,
            sun: self.sun,
            potential: self.potential.clone(),
            variant: self.variant,
            jphi: self.jphi,
            zero_point: self.zero_point,
        })
    }
}
