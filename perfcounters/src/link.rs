//! The links between a load generator and a forwarder, and the error if there is none.

use std::fmt;

use crate::process::ProcessError;

/// What to check if there is no link.
const ADVICE: &str = "Check cables and SFP+ modules, that each port of the generator is wired to a port \
                      of the forwarder, and that both sides have the same speed. Copper links may need \
                      a longer `link_timeout`";

/// The link of a generator's port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortLink {
    /// The port's name, usually its PCI address.
    pub name: String,
    /// Whether it has a link.
    pub up: bool,
}

/// The error of a forwarder that ended before its ports had a link. `generator` has the links of the
/// generator's ports at that time; none without a generator.
pub(crate) fn ended(cause: &ProcessError, generator: &[PortLink]) -> String {
    let cause = cause.to_string();
    match cause.contains("link") {
        true => format!("{cause}. {}. {ADVICE}", ports(generator)),
        false => cause,
    }
}

/// The error if the time is up. `forwarder` says whether all ports of the forwarder have a link.
pub(crate) fn no_link(seconds: f64, forwarder: bool, generator: &[PortLink]) -> String {
    let forwarder = match forwarder {
        true => "The forwarder's ports have a link",
        false => "A port of the forwarder has no link",
    };
    format!(
        "no link within {seconds:.1} s. {forwarder}. {}. {ADVICE}",
        ports(generator)
    )
}

/// Describes the links of a generator's ports.
fn ports(generator: &[PortLink]) -> String {
    if generator.is_empty() {
        return "No generator is configured: start its ports before the run".to_owned();
    }
    let states: Vec<String> = generator.iter().map(ToString::to_string).collect();
    format!("Generator: {}", states.join(", "))
}

impl fmt::Display for PortLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.up {
            true => write!(f, "port {} has a link", self.name),
            false => write!(f, "port {} has no link", self.name),
        }
    }
}
