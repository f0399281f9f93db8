//! Errors of usage, and a parser for options that name a value of an enumeration.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use record::Implementation;
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

/// Parses the name of a driver that a compiler can build here: all but DPDK, which is a package.
pub fn compiled_driver() -> impl TypedValueParser<Value = Implementation> {
    use Implementation::{DpdkScalar, DpdkVector};
    let all = Implementation::OURS
        .into_iter()
        .chain(Implementation::PEERS);
    let compiled = all.filter(|driver| !matches!(driver, DpdkVector | DpdkScalar));
    PossibleValuesParser::new(compiled.map(<&str>::from))
        .try_map(|name| name.parse::<Implementation>())
}

/// Parses the name of a driver of this repository.
pub fn our_driver() -> impl TypedValueParser<Value = Implementation> {
    let names = Implementation::OURS.map(<&str>::from);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Implementation>())
}
