//! Baselines: what GOC is compared with.

pub mod uk_means;
