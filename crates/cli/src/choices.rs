//! Values of flags.

use clap::builder::TypedValueParser;
use goc::choice::Choice;

/// A count that cannot be 0.
pub fn at_least_one() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(1..)
}

/// One of the words of a choice, each with its help.
pub fn words<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let all = C::ALL.iter().map(|(_, word, about)| (*word, *about));
    goc_pipeline::possible_values(all).try_map(|word| C::from_word(&word))
}

/// The name as typed on the command line.
pub fn typed<V: clap::ValueEnum>(value: V) -> String {
    value.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default()
}
