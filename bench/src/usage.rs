//! Errors of usage, and parsers for the values of options.

use std::ops::RangeInclusive;
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

/// Parses a whole number. Anything else gives an error that names the range.
pub fn number<T>(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = T>
where
    T: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| -> Result<T, String> {
        let wrong = || format!("write a number from {} to {}", range.start(), range.end());
        let number = text.parse().ok().filter(|number| range.contains(number));
        T::try_from(number.ok_or_else(wrong)?).map_err(|_| wrong())
    }
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
