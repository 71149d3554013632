//! From SVG to PNG, using resvg with only the built-in font, so the machine's installed fonts do
//! not matter.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

use super::{FigureError, Result, font};

/// Pixels across.
const WIDTHS: std::ops::RangeInclusive<u32> = 16..=8192;
const MOST_HIGH: f64 = 16384.0;

/// The SVG as resvg understands it.
pub fn tree(svg: &str) -> Result<Tree> {
    static FONTS: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let fonts = FONTS.get_or_init(|| {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(font::DATA.to_vec());
        fonts.set_sans_serif_family("DejaVu Sans");
        Arc::new(fonts)
    });
    let options = Options { fontdb: Arc::clone(fonts), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| FigureError::Draw(error.to_string()))
}

pub fn rasterise(svg: &str, width: u32) -> Result<Vec<u8>> {
    if !WIDTHS.contains(&width) {
        return Err(FigureError::Width { width });
    }
    let tree = tree(svg)?;
    let scale = f64::from(width) / f64::from(tree.size().width());
    let height = (f64::from(tree.size().height()) * scale).round().max(1.0);
    if height > MOST_HIGH {
        return Err(FigureError::Height { height });
    }
    let mut pixels = Pixmap::new(width, height as u32).ok_or(FigureError::Width { width })?;
    resvg::render(&tree, Transform::from_scale(scale as f32, scale as f32), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| FigureError::Draw(error.to_string()))
}
