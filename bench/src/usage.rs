//! Errors of usage, and a parser for options that name a value of an enumeration.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use strum::VariantNames;

/// An error of usage: a wrong option, or a configuration that cannot be used. The program exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(pub String);

/// Parses the name of an enumeration's value. An unknown name gives an error that lists the names.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantNames + FromStr<Err = strum::ParseError> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(T::VARIANTS).try_map(|name| name.parse())
}
