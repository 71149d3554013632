//! libFuzzer's door to one target, the one that the program is named after. `fuzz/run.py` builds and
//! starts it. With `GOC_FUZZ_SEEDS=FOLDER` it writes the seed corpus and the longest length instead.
//!
//! Every target is a program of its own: after each execution libFuzzer goes through the counters of
//! everything that is linked. For `words` these are 3 000, and hundreds of thousands with all readers.

#![no_main]

#[path = "targets.rs"]
#[allow(dead_code, reason = "the other targets")]
mod targets;

use libfuzzer_sys::fuzz_target;
use targets::{ALL, Target};

const CHOSEN: Target = {
    let mut i = 0;
    while !same(ALL[i].name, env!("CARGO_BIN_NAME")) {
        i += 1;
    }
    ALL[i]
};

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut i = 0;
    while i < one.len() && i < other.len() && one[i] == other[i] {
        i += 1;
    }
    i == one.len() && i == other.len()
}

fn write_seeds() {
    let Some(folder) = std::env::var_os("GOC_FUZZ_SEEDS") else { return };
    for (number, seed) in (CHOSEN.seeds)().iter().enumerate() {
        let path = std::path::Path::new(&folder).join(number.to_string());
        std::fs::write(path, seed).expect("the seeds can be written");
    }
    println!("{}", CHOSEN.longest);
    std::process::exit(0);
}

fuzz_target!(init: write_seeds(), |data: &[u8]| (CHOSEN.run)(data));
