//! The transformations against scikit-learn 1.9.1: `PCA(2)` and `KernelPCA(3, eigen_solver="dense",
//! ...)`, fitted to `FIT`, applied to `NEW`. Its signs are fixed by the same rule, so they are
//! compared too.

use goc::Points;
use goc::uncertainty::transform::{Kernel, KernelPca, Pca, Transform, TransformError};

const FIT: [[f64; 3]; 10] = [
    [1.2, -0.5, 3.1],
    [0.7, 2.4, -1.3],
    [-2.2, 0.3, 0.9],
    [3.3, 1.1, -0.4],
    [-0.6, -1.8, 2.2],
    [2.5, 0.9, 1.7],
    [-1.4, 2.8, -2.6],
    [0.2, -3.1, 0.5],
    [4.1, -0.7, -1.9],
    [-3.0, 1.6, 1.1],
];
const NEW: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [1.5, -1.0, 2.0], [-2.5, 3.0, 0.5], [10.0, -8.0, 6.0]];

fn points() -> Points {
    Points::from_rows(&FIT).unwrap()
}

fn assert_maps<const Q: usize>(f: &impl Transform, from: &[[f64; 3]], to: &[[f64; Q]]) {
    assert_eq!((f.inputs(), f.outputs()), (Some(3), Q));
    for (z, want) in from.iter().zip(to) {
        let mut x = [0.0; Q];
        f.apply(z, &mut x).unwrap();
        for c in 0..Q {
            assert!(
                (x[c] - want[c]).abs() <= 1e-12 * want[c].abs().max(1.0),
                "{z:?} {c}: {} {}",
                x[c],
                want[c]
            );
        }
    }
}

#[test]
fn pca_is_scikit_learns() {
    let pca = Pca::fit(&points(), 2).unwrap();
    let components = [
        [0.9685972858613836, -0.1630460695212922, -0.1877106204657018],
        [-0.01570530207112767, 0.7133359675891822, -0.7006462308686596],
    ];
    let variances: [f64; 2] = [5.787772903113364, 4.983221633797764];
    for k in 0..2 {
        for c in 0..3 {
            assert!((pca.component(k)[c] - components[k][c]).abs() < 1e-13);
        }
        assert!((pca.variances()[k] - variances[k]).abs() < 1e-13);
    }
    assert_maps(
        &pca,
        &NEW,
        &[
            [-0.3540683716033948, 0.02475101090404433],
            [0.8864523857785696, -2.1134353715291483],
            [-3.3585551050535813, 1.8536990534150801],
            [9.510009320386567, -10.042867135732648],
        ],
    );
}

#[test]
fn kernel_pca_with_a_gaussian_kernel_is_scikit_learns() {
    let f = KernelPca::fit(&points(), Kernel::Rbf { gamma: Some(0.1) }, 3).unwrap();
    assert_eigenvalues(&f, [1.8737600199043138, 1.6916490304012322, 1.152691691224017]);
    assert_maps(
        &f,
        &FIT[..2],
        &[
            [-0.11622772879218782, -0.5388911236691667, 0.10343095111509408],
            [0.32635067215064023, 0.46669858513943, 0.3845346153149013],
        ],
    );
    assert_maps(
        &f,
        &NEW,
        &[
            [-0.12110263117426763, 0.013468846344368336, 0.03922016616174082],
            [-0.07008734845739374, -0.5580617129874242, 0.1126903797936107],
            [-0.27294548933143525, 0.4922199175928706, -0.17229508020241402],
            [0.015604552904111552, 0.038558367781078316, 0.021928394863615076],
        ],
    );
}

#[test]
fn the_default_gamma_is_one_over_dimension_times_variance() {
    let f = KernelPca::fit(&points(), Kernel::Rbf { gamma: None }, 3).unwrap();
    assert!((f.gamma() - 0.08955517942380199).abs() < 1e-16); // 1 / (3 * X.var())
    assert_eigenvalues(&f, [1.8991811053345073, 1.7140954756423912, 1.0970293098110995]);
    assert_maps(
        &f,
        &NEW,
        &[
            [-0.12132572396556449, 0.01573756265184269, 0.04155876202982944],
            [-0.08287174475115723, -0.5538288879939578, 0.13039917420935404],
            [-0.26752346319342113, 0.5176093522701963, -0.18403550259026685],
            [0.01721078266820695, 0.041039310698338965, 0.01794750241417032],
        ],
    );
}

#[test]
fn kernel_pca_with_a_polynomial_kernel_is_scikit_learns() {
    let kernel = Kernel::Polynomial { degree: 3, gamma: Some(0.2), coef0: 1.0 };
    let f = KernelPca::fit(&points(), kernel, 3).unwrap();
    assert_eigenvalues(&f, [143.64617306945328, 79.11982080213707, 47.69986557850663]);
    assert_maps(
        &f,
        &FIT[..2],
        &[
            [-1.4392879175974473, -3.0722415307579793, -2.621441511525283],
            [-1.1218586402806179, 1.7863457553908075, -0.8285599116340185],
        ],
    );
    assert_maps(
        &f,
        &NEW,
        &[
            [-1.0425484400146932, -0.6689894933896144, 0.059796262362690464],
            [-0.976381074422702, -2.1376570841131493, -1.5827116334189135],
            [-3.2642122123665858, 1.8995216173026952, 4.505953301341496],
            [53.9233693179345, -105.90853802935888, -36.54067275236251],
        ],
    );
}

fn assert_eigenvalues(f: &KernelPca, want: [f64; 3]) {
    for (got, want) in f.eigenvalues().iter().zip(want) {
        assert!((got - want).abs() <= 1e-13 * want, "{got} {want}");
    }
}

#[test]
fn a_linear_kernel_is_plain_pca() {
    let kernel = Kernel::Polynomial { degree: 1, gamma: Some(1.0), coef0: 0.0 };
    let kernel = KernelPca::fit(&points(), kernel, 2).unwrap();
    let plain = Pca::fit(&points(), 2).unwrap();
    for z in &NEW {
        let (mut a, mut b) = ([0.0; 2], [0.0; 2]);
        kernel.apply(z, &mut a).unwrap();
        plain.apply(z, &mut b).unwrap();
        // The two fix their signs by different vectors.
        for c in 0..2 {
            assert!((a[c].abs() - b[c].abs()).abs() < 1e-12, "{a:?} {b:?}");
        }
    }
}

#[test]
fn fits_that_cannot_be_are_refused_with_a_reason() {
    let few = Points::new(vec![1.0, 2.0, 3.0], 3).unwrap();
    let line = Points::new(vec![0.0, 0.0, 1.0, 1.0, 2.0, 2.0], 2).unwrap();
    let same = Points::new(vec![5.0; 6], 2).unwrap();
    let rbf = Kernel::Rbf { gamma: None };
    assert_eq!(Pca::fit(&few, 1), Err(TransformError::TooFewPoints { points: 1 }));
    assert_eq!(KernelPca::fit(&few, rbf, 1), Err(TransformError::TooFewPoints { points: 1 }));
    assert_eq!(Pca::fit(&line, 0), Err(TransformError::Empty));
    assert_eq!(Pca::fit(&line, 2), Err(TransformError::TooManyComponents { asked: 2, available: 1 }));
    assert_eq!(Pca::fit(&same, 1), Err(TransformError::TooManyComponents { asked: 1, available: 0 }));
    assert_eq!(
        KernelPca::fit(&same, rbf, 1),
        Err(TransformError::TooManyComponents { asked: 1, available: 0 })
    );
    // Three points have at most two directions around their mean.
    assert_eq!(
        KernelPca::fit(&line, rbf, 3),
        Err(TransformError::TooManyComponents { asked: 3, available: 2 })
    );
    for kernel in [
        Kernel::Rbf { gamma: Some(0.0) },
        Kernel::Rbf { gamma: Some(f64::NAN) },
        Kernel::Polynomial { degree: 0, gamma: None, coef0: 1.0 },
        Kernel::Polynomial { degree: 101, gamma: None, coef0: 1.0 },
        Kernel::Polynomial { degree: 2, gamma: None, coef0: -1.0 },
    ] {
        assert!(matches!(KernelPca::fit(&line, kernel, 1), Err(TransformError::Kernel { .. })), "{kernel:?}");
    }
    let huge = Points::new(vec![1e200, 0.0, 0.0, 1.0], 2).unwrap();
    let cubic = Kernel::Polynomial { degree: 3, gamma: Some(1.0), coef0: 0.0 };
    assert_eq!(KernelPca::fit(&huge, cubic, 1), Err(TransformError::KernelNotFinite { first: 0, second: 0 }));
    let many = Points::new(vec![0.0; KernelPca::MOST_POINTS + 1], 1).unwrap();
    assert!(KernelPca::fit(&many, rbf, 1).unwrap_err().to_string().ends_with("fit it to a sample"));
}
