//! Everything that reads what others wrote, as functions of bytes, and inputs to begin from.
//!
//! A target returns for any bytes, soon and with little memory; it panics only where something is
//! wrong with goc. Two kinds of program call them: libFuzzer (`main.rs`, by `make fuzz`), which is led by
//! coverage, and a plain test (`crates/cli/tests/fuzz.rs`, in `make test`) that repeats what was found
//! and mutates the seeds by fixed random numbers.

use goc::candidates::{CandidatesBuilder, Ids};
use goc_galaxy::catalogue::schema::Quantity;
use goc_galaxy::catalogue::{DistancePrior, Unit};
use goc_galaxy::frames::{JphiSign, Sky, Sun};
use goc_galaxy::potential::{Potential, ini};
use goc_pipeline::model_file::ModelFile;
use goc_pipeline::{
    Dataset, MethodName, OracleName, PenaltyName, QuotedErrors, SamplerName, Settings, TransformName,
    Unwatched,
};
use goc_report::page::{AngleUnit, Extra, Feature, Page, SkyFrame, Step};
use goc_tables::{Format, Missing, Table};

#[path = "../../crates/tables/tests/common/mod.rs"]
mod common;

/// Something that reads.
#[derive(Clone, Copy)]
pub struct Target {
    /// By which it is asked for.
    pub name: &'static str,
    /// Bytes that an input has at most.
    pub longest: usize,
    /// Reads an input.
    pub run: fn(&[u8]),
    /// Inputs that are right or nearly so.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All of them. A constant, so that a program that calls one of them holds nothing of the others.
pub const ALL: [Target; 9] = [
    Target {
        name: "csv",
        longest: 2048,
        run: |data| table(data, Format::Csv),
        seeds: || tables(Format::Csv),
    },
    Target {
        name: "ecsv",
        longest: 4096,
        run: |data| table(data, Format::Ecsv),
        seeds: || tables(Format::Ecsv),
    },
    Target {
        name: "votable",
        longest: 4096,
        run: |data| table(data, Format::VoTable),
        seeds: || tables(Format::VoTable),
    },
    Target {
        name: "fits",
        longest: 14_400,
        run: |data| table(data, Format::Fits),
        seeds: || tables(Format::Fits),
    },
    Target {
        name: "parquet",
        longest: 8192,
        run: |data| table(data, Format::Parquet),
        seeds: || tables(Format::Parquet),
    },
    Target { name: "potential", longest: 512, run: potential, seeds: potentials },
    Target { name: "model", longest: 4096, run: model, seeds: models },
    Target { name: "words", longest: 64, run: words, seeds: all_words },
    Target { name: "page", longest: 1024, run: page, seeds: pages },
];

/// A table that is read is whole, and what it holds can be asked for.
fn table(data: &[u8], format: Format) {
    let Ok(table) = goc_tables::from_bytes(data, format) else { return };
    for column in table.columns() {
        assert_eq!(column.len(), table.rows(), "{}", column.name());
        let _ = (column.numbers(), column.integers());
        assert_eq!(column.texts().len(), table.rows());
    }
    // ECSV holds whatever a table can be: nothing may be lost on the way through it.
    if format == Format::Ecsv || data.len().is_multiple_of(16) {
        let text = goc_tables::to_bytes(&table, Format::Ecsv);
        let Ok(text) = text else { return };
        let again = goc_tables::from_bytes(&text, Format::Ecsv)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&text)));
        assert_eq!(again.rows(), table.rows());
        for (one, other) in table.columns().iter().zip(again.columns()) {
            assert_eq!((one.name(), one.texts()), (other.name(), other.texts()));
        }
    }
}

fn tables(format: Format) -> Vec<Vec<u8>> {
    use goc_tables::{Column, Data};
    let small = Table::new(vec![
        Column::new("object", Data::Text(vec!["a".into(), "b c".into()])),
        Column::new("x", Data::F64(vec![0.5, f64::NAN])),
        Column::new("n", Data::I16(vec![-7, 3])).with_valid(vec![true, false]).expect("as long"),
    ])
    .expect("three names");
    let none = Table::new(vec![Column::new("x", Data::F32(vec![]))]).expect("one name");
    let mut seeds: Vec<Vec<u8>> = [small, none, common::every_type(format == Format::Fits)]
        .iter()
        .map(|table| goc_tables::to_bytes(table, format).expect("it can be written"))
        .collect();
    // What other programs write.
    macro_rules! golden {
        ($($name:literal),*) => { vec![$(include_bytes!(concat!("../../crates/tables/tests/golden/", $name)).to_vec()),*] };
    }
    seeds.extend(match format {
        Format::Csv => vec![b"# c\r\nid;x\r\n1;\"2\"\"3\"\r\n".to_vec(), b"a\tb\n1\t2\n".to_vec()],
        Format::Ecsv => golden!["comma.ecsv", "mask.ecsv", "space.ecsv"],
        Format::VoTable => golden!["binary.vot", "binary2.vot", "tabledata.vot"],
        Format::Fits => golden!["astropy.fits", "odd.fits"],
        Format::Parquet => {
            golden!["astropy.parquet", "gzip.parquet", "lz4.parquet", "snappy.parquet", "zstd.parquet"]
        }
        _ => Vec::new(),
    });
    seeds
}

/// A galaxy that is accepted has numbers to tell.
fn potential(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(galaxy) = ini::parse(text) {
        for (r, z) in [(8.0, 0.1), (0.0, 0.0), (1e6, -1e6)] {
            let _ = galaxy.value(r, z);
        }
    }
}

fn potentials() -> Vec<Vec<u8>> {
    [
        "[Potential halo]\ntype = NFW # dark\nmass = 1e12\nscaleRadius = 20\n",
        "[Potential]\ntype=Plummer\nmass=1e9\nscaleRadius=0\n[Potential b]\ntype=Isochrone\nmass=1\nscaleRadius=2\n",
        "; c\n[Potential d]\ntype = MiyamotoNagai\nmass = 5e10\nscaleRadius = 3\nscaleHeight = .3\n",
        "[Potential l]\ntype = Logarithmic\nv0 = 200\nscaleRadius = 1\naxisRatioZ = 0.8\n",
        "[Potential s]\ntype=Spheroid\ndensityNorm=1e9\nscaleRadius=1\ngamma=0\nbeta=1.8\naxisRatioZ=.5\nouterCutoffRadius=2.1\n",
        "[Potential t]\ntype=Spheroid\nmass=1e9\nscaleRadius=1\nalpha=2\ncutoffStrength=1\nouterCutoffRadius=9\n",
        "[Potential d]\ntype = Disk\nsurfaceDensity = 9e8\nscaleRadius = 2.5\nscaleHeight = 0.3\n",
        "[Potential d]\ntype = Disk\nmass = 9e8\nscaleRadius = 7\nscaleHeight = -0.085\ninnerCutoffRadius=4\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

/// A model that is read is written and read again as it is, and judges an object.
fn model(data: &[u8]) {
    let Ok(model) = ModelFile::from_bytes(data) else { return };
    let text = model.to_text();
    let again = ModelFile::from_bytes(text.as_bytes()).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(again == model, "{text}");
    let features = model.model.features();
    let mut builder = CandidatesBuilder::new(features);
    builder.push(&vec![0.25; 2 * features], &[0.0, 1.0]).expect("two candidates");
    builder.push(&vec![-1e9; features], &[0.5]).expect("one candidate");
    let _ = model.model.predict(&builder.build().expect("two objects"));
}

fn models() -> Vec<Vec<u8>> {
    let mut builder = CandidatesBuilder::new(2);
    for i in 0..12 {
        let x = f64::from(i % 2) * 10.0 + f64::from(i) * 0.01;
        builder.push(&[x, -x, x + 0.1, 0.05 - x], &[0.0, 0.5]).expect("two candidates");
    }
    let data = Dataset::new(builder.build().expect("twelve objects"));
    let settings = Settings { chains: 1, burn: Some(5), keep: 5, ..Settings::of(MethodName::Marginal) };
    let found = goc_pipeline::fit(&data, &settings, 1, &Unwatched).expect("the mixture takes it");
    let fitted = found.model().expect("the mixture leaves a model").expect("it has no trouble").to_text();
    vec![fitted.clone().into_bytes(), fitted.split_whitespace().collect::<String>().into_bytes()]
}

/// Whatever is typed after a flag: names of features and columns with what stands behind them, units,
/// priors, marks of missing values. What can be written as text again is the same when it is read.
fn words(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    macro_rules! there_and_back {
        ($($kind:ty),*) => { $(
            if let Ok(value) = text.parse::<$kind>() {
                let again = value.to_string().parse::<$kind>();
                assert!(again.is_ok_and(|again| again == value), "{text:?} is {value:?}");
            }
        )* };
    }
    there_and_back!(SamplerName, TransformName, PenaltyName, DistancePrior, MethodName, OracleName);
    let _ = (text.parse::<Sun>(), text.parse::<Sky>(), text.parse::<JphiSign>(), text.parse::<Quantity>());
    let _ = Missing::parse(text);
    let list: Vec<String> = text.split(',').map(String::from).collect();
    let _ = (QuotedErrors::parse(&list, &[]), QuotedErrors::parse(&[], &list));
    for unit in [Unit::DEGREE, Unit::MAS_PER_YEAR, Unit::KM_PER_SECOND, Unit::KPC, Unit::MAG] {
        assert!(unit.factor_from(text).is_none_or(|factor| factor.is_finite() && factor > 0.0), "{text:?}");
    }
    let _ = goc_tables::near_names(text, &["parallax", "parallax_error", "", "Größe"].map(String::from));
}

fn all_words() -> Vec<Vec<u8>> {
    let words = "uniform grid:parallax pca:3 kernel-pca:2 density:x,y volume:5 edsd:1.35 mas.yr**-1 km/s -9999,nan \
                 hattori astropy-v4.0 8.2,0.02 parallax=1.5,pmra=2 1.3 galactic icrs marginal goc k-means parallax_error";
    words.split_whitespace().map(|word| word.as_bytes().to_vec()).collect()
}

/// Numbers and texts out of bytes.
struct Source<'a>(&'a [u8]);

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    fn text(&mut self) -> String {
        let length = usize::from(self.byte() % 24).min(self.0.len());
        let (text, rest) = self.0.split_at(length);
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    fn number(&mut self) -> f64 {
        match self.byte() % 8 {
            0 => f64::NAN,
            1 => 0.0,
            2 => f64::from(self.byte()) / 255.0,
            3 => f64::from_bits(u64::from_le_bytes(std::array::from_fn(|_| self.byte()))),
            kind => (f64::from(self.byte()) - 128.0) * 10f64.powi(i32::from(kind) * 3 - 12),
        }
    }

    fn numbers(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.number()).collect()
    }

    fn label(&mut self) -> Option<u32> {
        u32::from(self.byte()).checked_sub(1).map(|label| label % 5)
    }
}

/// A page of anything has the scripts that a page of nothing has: no text gets out of its place.
fn page(data: &[u8]) {
    let mut from = Source(data);
    let Some(page) = any_page(&mut from) else { return };
    let Ok(html) = page.html() else { return };
    let plain = Page::new(
        vec!["a".into()],
        vec![None],
        vec![Feature { name: "x".into(), unit: None, values: vec![0.0] }],
    )
    .and_then(|page| page.html());
    let tags = |html: &str| {
        ["<script", "</script", "<style", "<img", "<iframe", "<!--"]
            .map(|tag| html.to_lowercase().matches(tag).count())
    };
    static TAGS: std::sync::OnceLock<[usize; 6]> = std::sync::OnceLock::new();
    assert_eq!(tags(&html), *TAGS.get_or_init(|| tags(&plain.expect("one object"))));
}

fn any_page(from: &mut Source<'_>) -> Option<Page> {
    let (n, q) = (usize::from(from.byte() % 6), usize::from(from.byte() % 4));
    // Mostly names that differ, so that most pages come to be.
    let odd = from.byte().is_multiple_of(8);
    let ids: Vec<String> =
        (0..n).map(|i| if odd { from.text() } else { format!("{i}{}", from.text()) }).collect();
    let labels = (0..n).map(|_| from.label()).collect();
    let features = (0..q).map(|f| Feature {
        name: format!("{f}{}", from.text()),
        unit: from.byte().is_multiple_of(2).then(|| from.text()),
        values: from
            .numbers(n)
            .iter()
            .map(|value| if odd || value.is_finite() { *value } else { 1.0 })
            .collect(),
    });
    let mut page = Page::new(ids.clone(), labels, features.collect()).ok()?.title(from.text());
    while !from.0.is_empty() {
        let kept = page.clone();
        let next = match from.byte() % 10 {
            0 => page.probability(from.numbers(n)),
            1 => page.runner_up((0..n).map(|_| from.label()).collect(), from.numbers(n)),
            2 => page.extra(Extra { name: from.text(), description: from.text(), values: from.numbers(n) }),
            3 => page.truth((0..n).map(|_| from.text()).collect()),
            4 => page.sky(SkyFrame::Galactic, AngleUnit::Degrees, from.numbers(n), from.numbers(n)),
            5 => Ok(page.facts(from.text(), vec![(from.text(), from.text())])),
            6 => Ok(page.remark(from.text()).left_out(vec![(from.text(), from.text())])),
            7 => {
                page.together(&[(usize::from(from.byte() % 6), usize::from(from.byte() % 6), from.number())])
            }
            8 => Ok(page.history(vec![Step { k: 2, objective: from.number(), changed: 3 }])),
            _ => {
                let mut builder = CandidatesBuilder::new(q);
                for _ in 0..n {
                    let _ = builder.push(&from.numbers(2 * q), &[]);
                }
                let chosen = (0..n).map(|_| u32::from(from.byte() % 3)).collect();
                match builder.build_with(Ids::Text(ids.clone())) {
                    Ok(candidates) => page.candidates(candidates, Some(chosen)),
                    Err(_) => Ok(page),
                }
            }
        };
        page = next.unwrap_or(kept);
    }
    Some(page)
}

fn pages() -> Vec<Vec<u8>> {
    // Bytes of all kinds: every branch above is a few bytes away from some of them.
    let plain = |step: usize| (0..200).map(move |i: usize| ((i * step + i / 7) % 251) as u8);
    let hostile = b"\x03\x02\x01\x14</script><script>a\x08<!--\"'\0\\\x03\xe2\x80\xa8 b\x02\x02\x14<img src=x onerror=1>".to_vec();
    let mut seeds: Vec<Vec<u8>> = [1, 3, 7, 29, 101].map(|step| plain(step).collect()).to_vec();
    seeds.push([hostile, plain(5).collect()].concat());
    seeds
}
