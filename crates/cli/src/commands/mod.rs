//! One file a command.

pub mod cluster;
pub mod score;
