//! The command that starts a load generator, for a plan that people read.

use super::config::Config;
use super::generator::protocol;
use super::session::{command_line, Location};

/// The command that starts the generator, as a shell would take it.
pub fn of(config: &Config) -> String {
    let script = protocol(config).script(config);
    match &config.ssh {
        None => script,
        Some(name) => command_line(&Location::Host(name.clone()), &script),
    }
}
