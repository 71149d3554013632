//! Uncertainty sets, samplers, transformations and their chain, through the public interface.

mod chain;
mod coverage;
mod samplers;
mod transforms;
