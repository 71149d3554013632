//! An enum and its words, declared once.

/// Declares enums that are one of a few words: each variant has its word and a description for help
/// texts. They get everything that [`goc::choice!`] provides.
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
