//! The configuration of a balancer, in TOML.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::path::Path;

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;

use crate::stack::Address;

const MAX_FRONTENDS: usize = 64;
const MAX_BACKENDS: usize = 256;

/// A day, the longest of all times.
const MAX_SECONDS: u64 = 86_400;

/// A whole configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The checks of the backends.
    #[serde(default)]
    pub health: HealthConfig,
    /// What clients connect to.
    #[serde(rename = "frontend", default)]
    pub frontends: Vec<FrontendConfig>,
    /// What serves them.
    #[serde(rename = "backend", default)]
    pub backends: Vec<BackendConfig>,
}

/// How backends are checked.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HealthConfig {
    /// Time between two checks of a backend.
    pub interval_ms: u64,
    /// A check without a result after this time has failed.
    pub timeout_ms: u64,
    /// Successes in a row after which a backend that was down is up again. The first one at the start suffices.
    pub rise: u32,
    /// Failures in a row after which a backend is down.
    pub fall: u32,
    /// The path that `GET` asks for. Any status 2xx is good, and 503 lets the backend drain. Without it, a connection is
    /// enough.
    pub path: Option<String>,
}

impl Default for HealthConfig {
    fn default() -> Self {
        Self {
            interval_ms: 1000,
            timeout_ms: 500,
            rise: 2,
            fall: 2,
            path: None,
        }
    }
}

/// A port that clients connect to.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrontendConfig {
    /// Its name in the statistics.
    pub name: String,
    /// The TCP port of the balancer's address.
    pub port: u16,
    /// The names of its backends.
    pub backends: Vec<String>,
}

/// A server.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackendConfig {
    /// Its name in the statistics, and for the choice of a backend.
    pub name: String,
    /// Its address and port, in the balancer's own network.
    pub address: SocketAddrV4,
}

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn read(path: &Path, own: Address, stats_port: u16) -> Result<Self> {
        let file = || path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(file)?;
        Self::parse(&text, own, stats_port).with_context(file)
    }

    /// Parses and checks a text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str, own: Address, stats_port: u16) -> Result<Self> {
        let config: Self = toml::from_str(text)?;
        config.check_numbers()?;
        config.check_backends(own)?;
        config.check_frontends(stats_port)?;
        Ok(config)
    }

    fn check_numbers(&self) -> Result<()> {
        let health = &self.health;
        for (name, milliseconds) in [
            ("health.interval_ms", health.interval_ms),
            ("health.timeout_ms", health.timeout_ms),
        ] {
            ensure!(
                (100..=MAX_SECONDS * 1000).contains(&milliseconds),
                "{name} is {milliseconds}; 100 to {} are possible",
                MAX_SECONDS * 1000
            );
        }
        ensure!(
            health.rise >= 1 && health.fall >= 1,
            "health.rise and health.fall are at least 1"
        );
        if let Some(path) = &health.path {
            let good = path.bytes().all(|byte| byte.is_ascii_graphic());
            ensure!(
                path.starts_with('/') && good && path.len() <= 512,
                "health.path is '{path}'; it starts with '/', has no blanks, and at most 512 bytes"
            );
        }
        Ok(())
    }

    fn check_backends(&self, own: Address) -> Result<()> {
        let backends = &self.backends;
        ensure!(
            (1..=MAX_BACKENDS).contains(&backends.len()),
            "there are {} backends; 1 to {MAX_BACKENDS} are possible",
            backends.len()
        );
        check_names("backend", backends.iter().map(|backend| &backend.name))?;
        let mut addresses = BTreeSet::new();
        for BackendConfig { name, address } in backends {
            ensure!(address.port() != 0, "backend '{name}': port 0 is none");
            ensure!(
                *address.ip() != own.ip,
                "backend '{name}': {} is the balancer's own address",
                address.ip()
            );
            ensure!(
                own.contains(*address.ip()),
                "backend '{name}': {} is not in the balancer's network {}/{}",
                address.ip(),
                own.ip,
                own.prefix
            );
            ensure!(
                addresses.insert(address),
                "backend '{name}': another backend has the address {address}"
            );
        }
        Ok(())
    }

    fn check_frontends(&self, stats_port: u16) -> Result<()> {
        let frontends = &self.frontends;
        ensure!(
            (1..=MAX_FRONTENDS).contains(&frontends.len()),
            "there are {} frontends; 1 to {MAX_FRONTENDS} are possible",
            frontends.len()
        );
        check_names("frontend", frontends.iter().map(|frontend| &frontend.name))?;
        let mut ports = BTreeSet::from([stats_port]);
        for frontend in frontends {
            let FrontendConfig { name, port, .. } = frontend;
            ensure!(*port != 0, "frontend '{name}': port 0 is none");
            ensure!(
                ports.insert(*port),
                "frontend '{name}': port {port} belongs to another frontend or to --listen"
            );
            ensure!(
                !frontend.backends.is_empty(),
                "frontend '{name}' has no backends"
            );
            let mut used = BTreeSet::new();
            for backend in &frontend.backends {
                if !self.backends.iter().any(|known| known.name == *backend) {
                    bail!("frontend '{name}': there is no backend '{backend}'");
                }
                ensure!(
                    used.insert(backend),
                    "frontend '{name}' names the backend '{backend}' twice"
                );
            }
        }
        Ok(())
    }
}

fn check_names<'n>(kind: &str, names: impl Iterator<Item = &'n String>) -> Result<()> {
    let mut used = BTreeSet::new();
    for name in names {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        ensure!(
            !name.is_empty() && name.len() <= 64 && name.bytes().all(good),
            "{kind} '{name}': a name has 1 to 64 letters, digits, '-', '_' and '.'"
        );
        ensure!(used.insert(name), "two {kind}s have the name '{name}'");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [[frontend]]
        name = "web"
        port = 80
        backends = ["a", "b"]
        [[backend]]
        name = "a"
        address = "10.0.0.11:80"
        [[backend]]
        name = "b"
        address = "10.0.0.12:80"
    "#;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(text, "10.0.0.2/24".parse().unwrap(), 8080)
    }

    #[test]
    fn a_short_configuration_has_the_other_values_by_default() {
        let config = parse(GOOD).unwrap();
        assert_eq!(config.frontends[0].backends, ["a", "b"]);
        assert_eq!((config.health.interval_ms, config.health.rise), (1000, 2));
    }

    #[test]
    fn a_wrong_configuration_says_what_is_wrong() {
        let with = |from: &str, to: &str| GOOD.replacen(from, to, 1);
        for (text, message) in [
            (String::new(), "0 backends"),
            (with("port = 80", "port = 0"), "port 0 is none"),
            (
                with("port = 80", "port = 8080"),
                "port 8080 belongs to another",
            ),
            (with("\"a\", \"b\"", ""), "has no backends"),
            (with("\"a\", \"b\"", "\"c\""), "there is no backend 'c'"),
            (
                with("\"a\", \"b\"", "\"a\", \"a\""),
                "names the backend 'a' twice",
            ),
            (
                with("name = \"a\"", "name = \"b\""),
                "two backends have the name 'b'",
            ),
            (with("name = \"a\"", "name = \"a b\""), "a name has 1 to 64"),
            (
                with("10.0.0.11", "10.0.1.11"),
                "not in the balancer's network",
            ),
            (with("10.0.0.11", "10.0.0.2"), "own address"),
            (
                with("10.0.0.11", "10.0.0.12"),
                "another backend has the address",
            ),
            (with("10.0.0.11:80", "10.0.0.11:0"), "port 0 is none"),
            (
                with("10.0.0.11:80", "web.example:80"),
                "invalid IPv4 socket address",
            ),
            (with("port = 80", "prot = 80"), "unknown field `prot`"),
            (
                format!("[health]\ntimeout_ms = 1\n{GOOD}"),
                "health.timeout_ms is 1",
            ),
            (format!("[health]\nfall = 0\n{GOOD}"), "at least 1"),
            (
                format!("[health]\npath = \"health\"\n{GOOD}"),
                "health.path is 'health'",
            ),
        ] {
            let error = format!("{:#}", parse(&text).unwrap_err());
            assert!(error.contains(message), "{message}: {error}");
        }
    }
}
