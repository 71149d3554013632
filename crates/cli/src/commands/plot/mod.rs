//! `goc plot`: figures from the output of the other commands.
//!
//! One file per source of figures: [`plane`] places objects in a plane, [`series`] reads series by
//! iteration or size, [`probabilities`] the results of the marginal mixture. Drawing is left to
//! `goc-report`, and the simulation to `goc-paper`.

mod plane;
mod probabilities;
mod series;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use goc_report::figures::{Figure, FigureError};
use goc_tables::Files;

use super::Work;
use crate::choices::typed;
use crate::console;
use crate::failure::{Failure, Result};

/// What is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Clusters over the uncertainty sets, with circles around them; several LABELS side by side:
    /// LABELS… --candidates FILE
    Clusters,
    /// Uncertainty sets with some true groups in colour; several data sets side by side:
    /// CANDIDATES…
    Truth,
    /// Convergence: the file `convergence.csv` of goc reproduce, or files of goc cluster --history
    Convergence,
    /// Two dwarf galaxies that dissolve, at 0, 3 and 10 Gyr: no input, --seed
    Simulation,
    /// Predicted probabilities against observed frequencies: table with kind, said, came_true,
    /// count
    Calibration,
    /// The probability of each K: the file of goc cluster --k-posterior
    KPosterior,
    /// Co-clustering matrix: the file of goc cluster --together, and --labels
    Together,
    /// Scatter of each group beside that of random groups: the file of goc validate
    Validation,
    /// Benches: bars by name (a column of text, columns of numbers) or lines by size (columns n,
    /// seconds, perhaps series)
    Bench,
}

/// Draw a figure as SVG or PNG
#[derive(Args)]
#[command(
    after_help = "Example: goc plot clusters uk.csv goc.csv --candidates candidates.parquet -o figure.svg\n\
    docs/howto/figures.md shows every kind with the commands that make its input."
)]
pub struct Plot {
    /// What to draw
    #[arg(value_enum)]
    kind: Kind,

    /// Tables to draw it from
    #[arg(value_name = "INPUT")]
    inputs: Vec<PathBuf>,

    /// File to write: .svg or .png
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Width of a .png in pixels
    #[arg(long, value_name = "PX", default_value_t = 1200, value_parser = clap::value_parser!(u32).range(16..=8192))]
    width: u32,

    #[command(flatten)]
    plane: plane::PlaneArgs,

    /// together: table with the label of each object
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,

    /// convergence: the oracle, where the file has several
    #[arg(long, value_name = "NAME")]
    oracle: Option<String>,

    /// simulation: the dwarfs' seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Work for Plot {
    fn files(&self) -> Files {
        let files = Files::default().reads(&self.inputs).reads(&self.labels);
        files.reads(self.plane.candidates()).writes([&self.output])
    }

    fn run(self) -> Result<()> {
        let format = Format::of(&self.output)?;
        self.check_flags()?;
        let figure = match self.kind {
            Kind::Clusters => self.plane.clusters(self.some()?)?,
            Kind::Truth => self.plane.truth(self.some()?)?,
            Kind::Convergence => series::convergence(self.some()?, self.oracle.as_deref())?,
            Kind::Simulation => {
                if let Some(input) = self.inputs.first() {
                    return Err(usage!(
                        "{}: plot simulation makes its own stars and takes no input; choose them with --seed",
                        input.display()
                    ));
                }
                goc_paper::simulation_figure(self.seed)?
            }
            Kind::Calibration => probabilities::calibration(self.one()?)?,
            Kind::KPosterior => probabilities::k_posterior(self.one()?)?,
            Kind::Together => {
                let labels = self
                    .labels
                    .as_deref()
                    .ok_or_else(|| usage!("plot together needs --labels FILE: the label of each object"))?;
                probabilities::together(self.one()?, labels)?
            }
            Kind::Validation => probabilities::validation(self.one()?)?,
            Kind::Bench => series::bench(self.one()?)?,
        };
        format.write(&figure, &self.output, self.width)?;
        console::note(format!("figure in {}", self.output.display()));
        Ok(())
    }
}

impl Plot {
    fn some(&self) -> Result<&[PathBuf]> {
        match self.inputs[..] {
            [] => Err(usage!("plot {} needs an input table", typed(self.kind))),
            _ => Ok(&self.inputs),
        }
    }

    fn one(&self) -> Result<&Path> {
        match &self.some()? {
            [input] => Ok(input),
            more => Err(usage!("plot {} takes one input table, not {}", typed(self.kind), more.len())),
        }
    }

    /// A flag that a kind does not use is refused by name.
    fn check_flags(&self) -> Result<()> {
        let given = [
            ("--labels", self.labels.is_some(), self.kind == Kind::Together),
            ("--oracle", self.oracle.is_some(), self.kind == Kind::Convergence),
        ];
        let plane = self.plane.given().map(|(flag, given, kinds)| {
            let fits = match self.kind {
                Kind::Clusters => kinds != plane::For::Truth,
                Kind::Truth => kinds != plane::For::Clusters,
                _ => false,
            };
            (flag, given, fits)
        });
        match given.into_iter().chain(plane).find(|(_, given, fits)| *given && !fits) {
            Some((flag, _, _)) => Err(usage!("plot {} does not use {flag}", typed(self.kind))),
            None => Ok(()),
        }
    }
}

/// How a figure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Svg,
    Png,
}

impl Format {
    fn of(path: &Path) -> Result<Self> {
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        match end.as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("png") => Ok(Format::Png),
            _ => Err(usage!("{}: a figure is written as .svg or .png", path.display())),
        }
    }

    fn write(self, figure: &Figure, path: &Path, width: u32) -> Result<()> {
        match self {
            Format::Svg => goc_tables::write_text(figure.svg(), path)?,
            Format::Png => goc_tables::write_bytes(&figure.png(width)?, path)?,
        }
        Ok(())
    }
}

/// A figure as SVG and as PNG, beside each other.
pub fn write_both(figure: &Figure, folder: &Path, name: &str) -> Result<()> {
    Format::Svg.write(figure, &folder.join(format!("{name}.svg")), 0)?;
    Format::Png.write(figure, &folder.join(format!("{name}.png")), 1200)
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        match error {
            FigureError::Width { .. } | FigureError::TooMany { .. } | FigureError::Height { .. } => {
                Failure::Usage(error.to_string())
            }
            other => Failure::Failed(other.to_string()),
        }
    }
}

/// A figure's error with the file that it concerns.
fn about(path: &Path) -> impl Fn(FigureError) -> Failure + '_ {
    move |error| Failure::from(error).because(&path.display().to_string())
}

/// The name of a file without its folder and extension.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}
