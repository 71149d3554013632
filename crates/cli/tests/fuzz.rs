//! A minute of fuzzing that is the same every time: what the fuzzer once found, then the seeds of every
//! target, mutated by fixed random numbers. `make fuzz` looks for more, led by coverage.

#[path = "../../../fuzz/src/targets.rs"]
mod targets;

use std::path::Path;
use std::time::{Duration, Instant};

use targets::{ALL, Target};

/// For one input, on a busy machine and without all optimisations.
const LIMIT: Duration = Duration::from_secs(10);

/// For the whole process, in kB: the tests of all targets run side by side.
#[cfg(target_os = "linux")]
const MEMORY: u64 = 1 << 20;

/// What stands in files of one kind or another, and numbers at the edge of their types.
const TOKENS: [&[u8]; 20] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"-1",
    b"1e999",
    b"nan",
    b"\"",
    b"'",
    b"<",
    b">",
    b"&#0;",
    b"\n",
    b"\r",
    b",",
    b"= ",
    b"#",
    b"{",
    b"9999999999999999999",
    b"\x80\x80\x80\x80\x10",
    b"\xe2\x80\xa8",
];

/// SplitMix64: a few lines, the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let from = self.below(length + 1);
        from..(from + self.below(32)).min(length)
    }
}

/// One to four changes: bits, bytes, tokens, pieces repeated, left out or taken from another seed.
fn mutated(seeds: &[Vec<u8>], longest: usize, numbers: &mut Numbers) -> Vec<u8> {
    let mut bytes = seeds[numbers.below(seeds.len())].clone();
    for _ in 0..1 + numbers.below(4) {
        let at = numbers.below(bytes.len());
        match numbers.below(7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << numbers.below(8),
            1 if !bytes.is_empty() => bytes[at] = numbers.below(256) as u8,
            2 => drop(bytes.drain(numbers.range(bytes.len()))),
            3 => {
                let piece = bytes[numbers.range(bytes.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            4 => {
                let other = &seeds[numbers.below(seeds.len())];
                let piece = other[numbers.range(other.len())].to_vec();
                bytes.splice(at..at, piece);
            }
            5 => bytes.truncate(at),
            _ => {
                let token = TOKENS[numbers.below(TOKENS.len())];
                // Over what is there, or between.
                let end = if numbers.below(2) == 0 { at } else { (at + token.len()).min(bytes.len()) };
                bytes.splice(at..end, token.iter().copied());
            }
        }
    }
    bytes.truncate(longest);
    bytes
}

fn run(target: &Target, what: &str, bytes: &[u8]) {
    let began = Instant::now();
    let ended = std::panic::catch_unwind(|| (target.run)(bytes));
    assert!(ended.is_ok(), "{}: {what}: {}", target.name, bytes.escape_ascii());
    let taken = began.elapsed();
    assert!(taken < LIMIT, "{}: {what} takes {taken:?}: {}", target.name, bytes.escape_ascii());
}

fn survives(name: &str, rounds: usize) {
    let target = ALL.iter().find(|target| target.name == name).unwrap();
    let seeds = (target.seeds)();
    for seed in &seeds {
        run(target, "a seed", seed);
    }
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions").join(name);
    for file in std::fs::read_dir(found).into_iter().flatten() {
        let path = file.unwrap().path();
        run(target, &path.display().to_string(), &std::fs::read(&path).unwrap());
    }
    let mut numbers = Numbers(1);
    for round in 0..rounds {
        run(target, &format!("round {round}"), &mutated(&seeds, target.longest, &mut numbers));
    }
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < MEMORY, "{name}: {peak} kB of memory");
    }
}

macro_rules! targets {
    ($($name:ident $rounds:literal)*) => {
        $(#[test] fn $name() { survives(stringify!($name), $rounds); })*

        #[test]
        fn every_target_is_here() {
            assert_eq!(ALL.iter().map(|target| target.name).collect::<Vec<_>>(), [$(stringify!($name)),*]);
        }
    };
}

// This many rounds that all of them together take a minute of one core.
targets! {
    csv 1_200_000
    ecsv 120_000
    votable 200_000
    fits 120_000
    parquet 500_000
    potential 10_000
    model 500_000
    words 1_200_000
    page 7_500
}
