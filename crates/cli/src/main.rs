//! The `goc` command.

fn main() {}
