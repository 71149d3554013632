//! R's random numbers, as `set.seed(s)` and `runif()` give them.
//!
//! A result that rests on a single draw of an R program can only be reproduced with R's own draw.
//! R's default generator is the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998): 624 words
//! `x`, renewed by `x[i] = x[i + 397] ^ twist(x[i], x[i + 1])`, indices modulo 624, and tempered on
//! output. The seeding is specific to R: the seed goes through the congruential generator `s <-
//! 69069 s + 1` (modulo 2^32) fifty times, one more value becomes the position (and is overwritten
//! with "all used up"), and the next 624 are the words.

const WORDS: usize = 624;
const SHIFT: usize = 397;

/// R's generator after `set.seed(seed)`.
///
/// ```
/// use goc::random::r::RStream;
/// // R: set.seed(1); runif(2)
/// let mut stream = RStream::new(1);
/// assert_eq!([stream.uniform(), stream.uniform()], [0.2655086631421, 0.37212389963679016]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RStream {
    words: [u32; WORDS],
    used: usize,
}

impl RStream {
    /// The state that R has after `set.seed(seed)`.
    pub fn new(seed: i32) -> Self {
        // R, too, takes the bits of a negative seed as they are.
        let mut state = seed as u32;
        let mut step = || {
            state = state.wrapping_mul(69069).wrapping_add(1);
            state
        };
        (0..51).for_each(|_| {
            step();
        });
        Self { words: std::array::from_fn(|_| step()), used: WORDS }
    }

    /// The next number of `runif(1)`: 32 random bits, strictly between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        // R moves the one value that would be 0 to half of 1 / (2^32 - 1).
        match self.next_word() {
            0 => 0.5 / f64::from(u32::MAX),
            word => f64::from(word) / 4_294_967_296.0,
        }
    }

    /// The next `sample.int(n, k)`, counted from 0: `k` distinct numbers below `n`, or all of them
    /// if `k > n`. Matches R since 3.6 for `n` up to ten million; above that R itself may use
    /// another method.
    pub fn sample(&mut self, n: usize, k: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..n).collect();
        (0..k.min(n))
            .map(|_| {
                let at = self.below(left.len());
                left.swap_remove(at)
            })
            .collect()
    }

    /// A number below `n`, which is at least 1: as many random bits as `n - 1` may need, drawn again until
    /// they are less.
    fn below(&mut self, n: usize) -> usize {
        let bits = usize::BITS - (n - 1).leading_zeros();
        loop {
            let mut value = 0_usize;
            // 16 bits from each number, and one number more than needed where they would just do: R's own
            // way.
            for _ in 0..=bits / 16 {
                value = (value << 16) | (self.uniform() * 65536.0) as usize;
            }
            if bits < usize::BITS {
                value &= (1 << bits) - 1;
            }
            if value < n {
                return value;
            }
        }
    }

    fn next_word(&mut self) -> u32 {
        if self.used == WORDS {
            self.renew();
        }
        let mut word = self.words[self.used];
        self.used += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9d2c_5680;
        word ^= (word << 15) & 0xefc6_0000;
        word ^ (word >> 18)
    }

    fn renew(&mut self) {
        for i in 0..WORDS {
            let joined = (self.words[i] & 0x8000_0000) | (self.words[(i + 1) % WORDS] & 0x7fff_ffff);
            let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
            self.words[i] = self.words[(i + SHIFT) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rustfmt::skip]
    const GOLDEN: [(i32, [f64; 7]); 6] = [
        (0, [0.8966972001362592, 0.2655086631421, 0.37212389963679016, 0.7682484304532409, 0.13648758619092405, 0.3992657368071377, 0.3803701251745224]),
        (1, [0.2655086631421, 0.37212389963679016, 0.5728533633518964, 0.13648758619092405, 0.3248651404865086, 0.02094694459810853, 0.7194475159049034]),
        (-7, [0.32649485557340086, 0.5398611170239747, 0.25473622092977166, 0.27813431923277676, 0.14276628708466887, 0.5306647983379662, 0.3022052275482565]),
        (123456789, [0.6931757398415357, 0.6728809545747936, 0.6539016799069941, 0.43873049900867045, 0.8516753460280597, 0.7972684146370739, 0.08465367532335222]),
        (2147483647, [0.6896674267482013, 0.9878751782234758, 0.19676422467455268, 0.46012574597261846, 0.10062019852921367, 0.6161030924413353, 0.2009267075918615]),
        (-2147483647, [0.5620166787412018, 0.5756177932489663, 0.37009761366061866, 0.8083020858466625, 0.7469239023048431, 0.6105786073021591, 0.395378181245178]),
    ];

    #[test]
    fn the_numbers_are_those_of_r() {
        // R 4.2.2: for each seed, the numbers at these places of runif(1400), in shortest digits.
        let places = [1, 2, 3, 624, 625, 1300, 1400];
        for (seed, numbers) in GOLDEN {
            let mut stream = RStream::new(seed);
            let drawn: Vec<f64> = (0..1400).map(|_| stream.uniform()).collect();
            assert_eq!(places.map(|p| drawn[p - 1]), numbers, "set.seed({seed})");
        }
    }

    #[test]
    fn samples_are_those_of_r() {
        // R 4.2.2: set.seed(seed); sample.int(n, k) - 1. One power of two is drawn with a number more, one
        // without.
        for (seed, n, drawn) in [
            (1, 275, &[166, 128, 269, 186, 84, 262, 78, 212][..]),
            (42, 100_000, &[61412, 54424, 99555, 74361, 46207, 47127]),
            (3, 16, &[4, 9, 11, 6, 3, 14, 7, 10, 13, 1, 15, 12, 0, 8, 2, 5]),
            (3, 65536, &[52921, 21478, 39609, 19306]),
            (9, 7_000_000, &[3_802_676, 341_818, 1_516_114, 155_275, 3_145_210]),
        ] {
            assert_eq!(RStream::new(seed).sample(n, drawn.len()), drawn, "set.seed({seed}); n = {n}");
        }
        let mut stream = RStream::new(3);
        assert_eq!(stream.sample(1, 5), [0]);
        assert_eq!(stream.uniform(), 0.8075163990724832);
        assert_eq!(stream.sample(0, 5), [0; 0]);
    }
}
