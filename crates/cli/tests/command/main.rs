//! The `goc` command as people meet it: what it prints, writes and refuses.

mod auto;
mod bad_input;
mod candidates;
mod checkpoint;
mod cluster;
mod compare;
mod demo;
mod desk;
mod files;
mod folders;
mod help;
mod marginal;
mod missing_values;
mod plot;
mod predict;
mod quoted_errors;
mod report;
mod reproduce;
mod score;
mod simulate;
mod soon;
mod spaces;
mod stars;
mod sure;
mod threads;
