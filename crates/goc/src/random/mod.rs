//! Random streams that depend on a seed and a key, never on the order of work.
//!
//! ChaCha is a counter-based generator: a seed gives 2^64 independent streams. Each object draws
//! from the stream of its own key, and each start of an oracle from the stream of its own index, so
//! neither the number of threads nor the other objects affect the draws.
//!
//! [`r`] is R's generator, for results that must match those of an R program.

pub mod r;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator used throughout goc; it has the methods of [`rand::Rng`].
pub type Stream = ChaCha8Rng;

/// The stream number `key` of `seed`.
///
/// ```
/// use goc::random::stream;
/// use rand::RngExt;
/// let first: f64 = stream(1, 42).random();
/// assert_eq!(first, stream(1, 42).random());
/// assert_ne!(first, stream(1, 43).random());
/// ```
pub fn stream(seed: u64, key: u64) -> Stream {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(key);
    rng
}

/// One number per key. The objects with the smallest numbers are a random sample that depends on
/// their names alone, not on their order or on where they are.
pub fn lots(seed: u64, keys: &[u64]) -> Vec<u64> {
    keys.iter().map(|&key| stream(seed ^ LOTS, key).next_u64()).collect()
}

/// Separates the lots from all other draws with the same seed.
const LOTS: u64 = 0x6c6f_7473_5f6f_665f;

/// A stream number for an object identified by text: FNV-1a, the same on every machine.
pub fn key_of_text(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
