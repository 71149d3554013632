//! Names of methods, oracles and the other choices that concern a whole fit.

use goc::confidence::Background;

words! {
    /// The method that clusters uncertain objects.
    pub enum MethodName {
        Goc = "goc": "Greedy optimistic clustering, the paper's",
        Gpc = "gpc": "Greedy pessimistic clustering",
        UkMeans = "uk-means": "The oracle on the mean of each set, the paper's baseline",
        UkMedians = "uk-medians": "Expected distance to geometric medians (Cormode & McGregor)",
        ExpectedKMeans = "expected-k-means": "k-means by expected squared distance, without the shortcut by means",
        Boxes = "boxes": "k-means by the distance to bounding boxes (Ngai et al.)",
        RobustBoxes = "robust-boxes": "k-means against the worst case within boxes (Vo et al.)",
        Worlds = "worlds": "Possible worlds: consensus of the oracle's runs on sampled worlds (Volk et al.)",
        RepresentativeWorlds = "representative-worlds": "The same on worlds chosen as representatives (Liu et al.)",
        ConsistentWorlds = "consistent-worlds": "Representative worlds in one spectral clustering that learns what they share (Liu et al.)",
        HdbscanDraws = "hdbscan-draws": "HDBSCAN on draws from the errors, combined by consensus",
        Fdbscan = "fdbscan": "DBSCAN with probabilities of distances (Kriegel & Pfeifle)",
        Foptics = "foptics": "OPTICS by expected distances (Kriegel & Pfeifle; Fuentes et al.)",
        SignificantLinkage = "significant-linkage": "Single linkage; keeps the clusters that stand out \
        from a smooth background (Lövdal et al.)",
        ExtremeDeconvolution = "extreme-deconvolution": "A Gaussian mixture convolved with the errors; \
        finds K unless it is given (Bovy et al.)",
        Affinity = "affinity": "Affinity propagation on distances between sets",
        Medoids = "medoids": "k-medoids on distances between sets",
        Linkage = "linkage": "Agglomerative linkage on distances between sets",
        GocHull = "goc-hull": "GOC over the convex hull of each set",
        GocBox = "goc-box": "GOC over the bounding box of each set",
        Marginal = "marginal": "The marginal mixture: sums over the candidates, finds K and the field, \
        gives probabilities",
        GocTree = "goc-tree": "GOC with 1.5 K clusters, merged down to K by a tree whose members choose \
        their candidates again",
        Oracle = "oracle": "The oracle by itself, for plain points",
    }

    /// The oracle that clusters one point per object.
    pub enum OracleName {
        KMeans = "k-means": "Hartigan-Wong, as in R",
        KMedoids = "k-medoids": "FasterPAM",
        GmmDiag = "gmm-diag": "Gaussian mixture, diagonal covariances, as in ClusterR",
        MclustEii = "mclust-eii": "Gaussian mixture, equal spheres, number by BIC, as in mclust",
        MclustVii = "mclust-vii": "Gaussian mixture, spheres of their own sizes, number by BIC",
        MclustVvv = "mclust-vvv": "Gaussian mixture, any covariances, number by BIC",
        Linkage = "linkage": "Agglomerative linkage",
        Affinity = "affinity": "Affinity propagation; finds K itself",
        MeanShift = "mean-shift": "Mean shift; finds K itself",
        Spectral = "spectral": "Spectral clustering of the nearest-neighbour graph",
        Convex = "convex": "Convex clustering (sum of norms)",
        Hdbscan = "hdbscan": "HDBSCAN; finds K itself, each noise point is a cluster of its own",
    }

    /// A dissimilarity between two sets of candidates.
    pub enum SetDistanceName {
        S1 = "s1": "Mean over all pairs of candidates",
        S2 = "s2": "The nearest pair",
        S3 = "s3": "The paper's \"Hausdorff\": the larger of two min-max distances",
        Hausdorff = "hausdorff": "The true Hausdorff distance: the larger of two max-min distances",
        Kl = "kl": "Kullback-Leibler divergence of Gaussians, both ways",
        KlKernel = "kl-kernel": "The same for kernel densities (Jiang et al.)",
    }

    /// What is taken of the features.
    pub enum FeatureMapName {
        None = "none": "The features as they are",
        Actions = "actions": "Square roots of the radial and vertical action: sqrt(Jr), sqrt(Jz), Jphi",
        Auto = "auto": "actions where the features have those names, in any case; else none",
    }

    /// Whether penalties are scaled.
    pub enum PenaltyScale {
        /// Divided by the largest.
        Max = "max",
        /// Left as they are.
        None = "none",
    }

    /// How a background without groups is made.
    pub enum BackgroundName {
        Smooth = "smooth": "Every object is moved at random, not far from its place",
        Shuffled = "shuffled": "Uncorrelated combinations of features permuted among the objects",
    }
}

impl MethodName {
    /// Whether it needs no K.
    pub fn finds_k(self) -> bool {
        let density =
            matches!(self, Self::Fdbscan | Self::Foptics | Self::HdbscanDraws | Self::SignificantLinkage);
        density || matches!(self, Self::Affinity | Self::Marginal | Self::ExtremeDeconvolution)
    }

    /// Whether it uses a given K.
    pub fn takes_k(self) -> bool {
        !self.finds_k() || self == Self::ExtremeDeconvolution
    }

    /// Whether it clusters worlds.
    pub fn has_worlds(self) -> bool {
        matches!(self, Self::Worlds | Self::RepresentativeWorlds | Self::ConsistentWorlds)
            || matches!(self, Self::HdbscanDraws | Self::Foptics)
    }

    /// Whether candidates are weighted by their penalties, as likelihoods.
    pub fn uses_strength(self) -> bool {
        matches!(self, Self::Marginal | Self::ExtremeDeconvolution)
    }

    /// Whether it uses the oracle.
    pub fn uses_oracle(self) -> bool {
        self.is_greedy()
            || matches!(
                self,
                Self::Gpc | Self::UkMeans | Self::Worlds | Self::RepresentativeWorlds | Self::Oracle
            )
    }

    /// GOC in one of its forms.
    pub fn is_greedy(self) -> bool {
        matches!(self, Self::Goc | Self::GocTree | Self::GocHull | Self::GocBox)
    }

    /// Whether it uses the weight of the penalties.
    pub fn uses_lambda(self) -> bool {
        self.is_greedy() || self == Self::Gpc
    }

    /// Whether it compares whole sets of candidates.
    pub fn compares_sets(self) -> bool {
        matches!(self, Self::Affinity | Self::Medoids | Self::Linkage)
    }

    /// Whether it has its own k-means, with rounds and starts.
    pub fn has_rounds(self) -> bool {
        matches!(self, Self::UkMedians | Self::ExpectedKMeans | Self::Boxes | Self::RobustBoxes)
    }

    /// Whether the preset determines its default distance.
    pub fn has_preset_distance(self) -> bool {
        matches!(self, Self::Goc | Self::GocTree)
    }
}

impl OracleName {
    /// Whether it finds the number of clusters itself, or at most as many as requested.
    pub fn finds_k(self) -> bool {
        use OracleName::{Affinity, Hdbscan, MclustEii, MclustVii, MclustVvv, MeanShift};
        matches!(self, Affinity | Hdbscan | MclustEii | MclustVii | MclustVvv | MeanShift)
    }

    /// Whether it stops by a tolerance that can be set.
    pub fn has_tolerance(self) -> bool {
        matches!(self, Self::MclustEii | Self::MclustVii | Self::MclustVvv | Self::Convex)
    }

    /// Whether its answer depends on the seed. The random numbers of affinity propagation only
    /// break ties in the last digits.
    pub fn draws(self) -> bool {
        matches!(self, Self::KMeans | Self::KMedoids | Self::GmmDiag | Self::Spectral)
    }
}

impl BackgroundName {
    /// What it stands for.
    pub fn background(self) -> Background {
        match self {
            Self::Smooth => Background::default(),
            Self::Shuffled => Background::Shuffled,
        }
    }
}
