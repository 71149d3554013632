//! The figures: one file a figure, each from plain numbers to a drawing that can be saved as SVG or PNG.
