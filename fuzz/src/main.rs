//! libFuzzer's door to the targets: `GOC_FUZZ_TARGET` says which. `fuzz/run.py` builds and starts it.
//!
//! With `GOC_FUZZ_SEEDS=FOLDER` it writes the seed corpus of every target, and their list, instead.

#![no_main]

#[path = "targets.rs"]
mod targets;

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use targets::{ALL, Target};

static CHOSEN: OnceLock<&Target> = OnceLock::new();

fn choose() {
    if let Some(folder) = std::env::var_os("GOC_FUZZ_SEEDS") {
        write_seeds(folder.into()).expect("the seeds can be written");
        std::process::exit(0);
    }
    let name = std::env::var("GOC_FUZZ_TARGET").expect("GOC_FUZZ_TARGET names a target");
    let target =
        ALL.iter().find(|target| target.name == name).expect("GOC_FUZZ_TARGET is one of the targets");
    CHOSEN.get_or_init(|| target);
}

fn write_seeds(folder: PathBuf) -> std::io::Result<()> {
    for target in &ALL {
        let own = folder.join(target.name);
        std::fs::create_dir_all(&own)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(own.join(number.to_string()), seed)?;
        }
        println!("{} {}", target.name, target.longest);
    }
    Ok(())
}

fuzz_target!(init: choose(), |data: &[u8]| {
    (CHOSEN.get().expect("chosen at the start").run)(data);
});
