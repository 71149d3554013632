//! One file a command.

pub mod actions;
pub mod candidates;
pub mod cluster;
pub mod compare;
pub mod demo;
pub mod plot;
pub mod predict;
pub mod report;
pub mod reproduce;
pub mod score;
pub mod simulate;
pub mod stars;
