//! The energy nodes of the focal-distance tables of two AGAMA builds.
//!
//! AGAMA chooses its nodes from the potential, so that a spline through some function of ln R would
//! be accurate to 1e-4. The steps are also sensitive to the last digits of its own potential table:
//! 87 energies in the build of February 2021, 75 in 1.0.159. Between so few nodes D(E, Lz) is
//! interpolated bilinearly, which shifts actions by up to a percent: reproducing its actions
//! requires its nodes. They are given here as ln(R / kpc), the energy being Phi(R, 0), recovered
//! from the tables these builds print in their logs (six digits) with the potentials of
//! [`McMillan17`](crate::potential::McMillan17). The nodes inside 2e-4 kpc and beyond 1.5e4 kpc,
//! where there are no stars, are omitted.

/// The build of 2021-02-13 (git 755e528), which computed the paper's tables.
#[rustfmt::skip]
pub(super) const AUTHORS: [f64; 56] = [
    -8.405_337, -7.703_172, -7.138_910, -6.619_800, -6.119_098, -5.625_488, -5.098_890, -4.481_799,
    -3.945_493, -3.482_558, -3.054_046, -2.649_211, -2.265_978, -1.899_811, -1.533_484, -1.131_104,
    -0.690_990, -0.354_071, -0.053_604, 0.368_493, 0.545_656, 0.693_669, 0.841_681, 0.989_703, 1.146_290,
    1.296_274, 1.444_292, 1.592_313, 1.740_328, 1.888_345, 2.053_325, 2.201_342, 2.349_358, 2.497_376,
    2.703_974, 2.851_991, 3.000_006, 3.148_024, 3.296_040, 3.444_058, 3.592_073, 3.809_129, 3.957_145,
    4.105_163, 4.253_179, 4.488_879, 4.652_416, 4.804_026, 4.996_032, 5.267_354, 5.703_194, 6.447_732,
    7.263_627, 8.010_976, 8.774_635, 9.611_431,
];

/// Version 1.0.159 (git 4e62db6).
#[rustfmt::skip]
pub(super) const AGAMA: [f64; 44] = [
    -8.060_231, -7.315_553, -6.690_778, -6.175_676, -5.715_564, -5.273_100, -4.789_091, -4.207_338,
    -3.680_708, -3.216_519, -2.708_940, -2.032_717, -1.522_979, -1.124_252, -0.782_153, -0.476_691,
    -0.195_868, 0.067_529, 0.315_595, 0.547_490, 0.776_535, 1.034_717, 1.286_945, 1.477_729, 1.643_369,
    1.839_544, 2.167_380, 2.461_400, 2.703_970, 3.000_003, 3.296_036, 3.538_607, 3.764_506, 4.029_310,
    4.238_006, 4.439_376, 4.680_545, 5.008_144, 5.551_956, 6.357_830, 7.187_128, 7.929_466, 8.685_702,
    9.514_027,
];
