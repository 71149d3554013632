//! An enum and its words, said once.

/// Declares enums that are one of a few words: a variant with its word and, for help texts, what it is. They
/// have what [`goc::choice!`] gives.
#[macro_export]
macro_rules! words {
    ($($(#[$meta:meta])* pub enum $type:ident {
        $($(#[$own:meta])* $variant:ident = $word:literal $(: $about:literal)?),+ $(,)?
    })+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[$own])* $(#[doc = $about])? $variant),+
        }

        ::goc::choice!($type { $($variant = $word $(: $about)?),+ });
    )+};
}
