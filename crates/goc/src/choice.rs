//! Named choices: the words that users type for the variants of a setting.
//!
//! The words of every such setting are defined here, once: the command's flags, the Python
//! keywords, metadata and messages all come from these lists. A variant has a name and, if the name
//! is not self-explanatory, a short description for help texts.

use std::fmt;

use crate::baselines::boxes::BoxDistance;
use crate::choose_k::Criterion;
use crate::optimistic::{Beginning, Distance, KRule, OracleEvery, Preset, Search};
use crate::oracle::k_means::{Algorithm, Seeding};
use crate::oracle::k_medoids;
use crate::oracle::linkage;
use crate::pessimistic::Reading;
use crate::scale::Scaling;

/// A setting that is one of a few words.
///
/// ```
/// use goc::choice::Choice;
/// use goc::optimistic::KRule;
/// assert_eq!(KRule::Plural.word(), "plural");
/// assert_eq!(KRule::from_word("constant"), Ok(KRule::Constant));
/// let error = KRule::from_word("none").unwrap_err();
/// assert_eq!(error.to_string(), "`none` is not known; give one of constant, occupied, plural");
/// ```
pub trait Choice: Copy + PartialEq + Sized + 'static {
    /// Every variant with its name and a description for help texts.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The name of this variant.
    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(_, word, _)| word)
    }

    /// The variant of this name.
    fn from_word(word: &str) -> Result<Self, UnknownWord> {
        let found = Self::ALL.iter().find(|(_, known, _)| *known == word);
        found.map(|(value, ..)| *value).ok_or_else(|| UnknownWord {
            given: word.to_string(),
            known: Self::ALL.iter().map(|(_, word, _)| *word).collect(),
        })
    }
}

/// A word that matches none of the variants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownWord {
    /// What was given.
    pub given: String,
    /// The words that are known.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not known; give one of {}", self.given, self.known.join(", "))
    }
}

impl std::error::Error for UnknownWord {}

/// Gives an enum its words, with `Display` and `FromStr` that follow them.
#[macro_export]
macro_rules! choice {
    (only $type:ty { $($variant:ident = $word:literal $(: $about:literal)?),+ $(,)? }) => {
        impl $crate::choice::Choice for $type {
            const ALL: &'static [(Self, &'static str, &'static str)] =
                &[$((<$type>::$variant, $word, concat!($($about)?))),+];
        }
    };
    ($type:ty { $($rest:tt)+ }) => {
        $crate::choice!(only $type { $($rest)+ });

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad($crate::choice::Choice::word(*self))
            }
        }

        impl ::std::str::FromStr for $type {
            type Err = $crate::choice::UnknownWord;

            fn from_str(word: &str) -> Result<Self, Self::Err> {
                $crate::choice::Choice::from_word(word)
            }
        }
    };
}

choice!(Preset { Paper = "paper", Authors = "authors" });
choice!(Distance {
    Squared = "squared",
    Euclidean = "euclidean",
    EuclideanSingle = "euclidean-f32": "Single precision, as the authors' code",
});
choice!(KRule { Constant = "constant", Occupied = "occupied", Plural = "plural" });
choice!(OracleEvery { First = "first", Always = "always" });
choice!(Beginning { Mean = "mean", NearestToMean = "nearest-to-mean" });
choice!(Search {
    Plain = "plain": "The paper's run, and the --swaps asked for",
    Thorough = "thorough": "Then guided swaps of centres, until they no longer pay",
});
choice!(Reading { MinMax = "min-max", MaxMax = "max-max" });
choice!(BoxDistance { Min = "min", Max = "max" });
choice!(Algorithm {
    HartiganWong = "hartigan-wong": "Single transfers, the default of R",
    Lloyd = "lloyd": "Whole rounds, for many objects",
});
choice!(Seeding {
    Random = "random": "Distinct objects",
    PlusPlus = "plus-plus": "k-means++",
});
choice!(k_medoids::Distance { Euclidean = "euclidean", SquaredEuclidean = "sqeuclidean" });
choice!(linkage::Method {
    Single = "single",
    Complete = "complete",
    Average = "average",
    Weighted = "weighted",
    Ward = "ward",
    Centroid = "centroid",
    Median = "median",
});
choice!(Criterion {
    Marginal = "marginal": "The clustering that agrees best with the draws of the marginal mixture",
    Silhouette = "silhouette": "Mean silhouette of the representatives",
    Bic = "bic": "BIC of a Gaussian mixture that sums over the candidates",
    Icl = "icl": "The same, less the entropy of the memberships",
    Stability = "stability": "Agreement of clusterings of resampled candidates",
});
// Scaling has an error of its own for names that are not known.
choice!(only Scaling { Standard = "standard", Robust = "robust", None = "none" });

#[cfg(test)]
mod tests {
    use super::*;

    fn round<C: Choice + std::fmt::Debug>() {
        let mut words: Vec<&str> = C::ALL.iter().map(|(_, word, _)| *word).collect();
        for (value, word, _) in C::ALL {
            assert_eq!(C::from_word(word), Ok(*value));
            assert_eq!(value.word(), *word);
        }
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), C::ALL.len(), "a word stands twice");
    }

    #[test]
    fn every_word_means_one_variant_and_back() {
        round::<Preset>();
        round::<Distance>();
        round::<KRule>();
        round::<OracleEvery>();
        round::<Beginning>();
        round::<Search>();
        round::<Reading>();
        round::<BoxDistance>();
        round::<Algorithm>();
        round::<Seeding>();
        round::<k_medoids::Distance>();
        round::<linkage::Method>();
        round::<Criterion>();
        round::<Scaling>();
    }

    #[test]
    fn scaling_has_the_same_words_both_ways() {
        for (value, word, _) in Scaling::ALL {
            assert_eq!((value.to_string().as_str(), word.parse()), (*word, Ok(*value)));
        }
    }
}
