//! The configuration of a balancer, in TOML.

use std::collections::BTreeSet;
use std::net::SocketAddrV4;
use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure, Context, Result};
use serde::Deserialize;

use crate::stack::Address;

/// Ports of the balancer for its checks of backends. They are below those of the connections.
pub(super) const CHECK_PORTS: u16 = 512;

/// The most connections of the table: each has a port of its own.
const MAX_CONNECTIONS: u32 = 56_000;

const MAX_FRONTENDS: usize = 64;
const MAX_BACKENDS: usize = 256;

/// A day, the longest of all times.
const MAX_SECONDS: u64 = 86_400;

/// A whole configuration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The connection table.
    #[serde(default)]
    pub table: TableConfig,
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

/// The bounds of the connection table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TableConfig {
    /// Connections at the same time.
    pub connections: u32,
    /// A connection whose handshake is not complete after this time is forgotten.
    pub opening_seconds: u64,
    /// A connection on which nothing moves for this time is forgotten.
    pub idle_seconds: u64,
    /// A connection that has ended is forgotten after this time.
    pub closing_seconds: u64,
}

impl Default for TableConfig {
    fn default() -> Self {
        Self {
            connections: 16_384,
            opening_seconds: 5,
            idle_seconds: 300,
            closing_seconds: 2,
        }
    }
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
    /// The path that `GET` asks for; any status 2xx is good. Without it, a connection is enough.
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

    /// The first port of the connections. The rest up to 65535 are theirs too.
    pub fn first_connection_port(&self) -> u16 {
        // At most 56,000 connections, so the difference is a port.
        (65_536 - self.table.connections) as u16
    }

    /// The first port of the checks.
    pub fn first_check_port(&self) -> u16 {
        self.first_connection_port() - CHECK_PORTS
    }

    fn check_numbers(&self) -> Result<()> {
        let table = &self.table;
        ensure!(
            (1..=MAX_CONNECTIONS).contains(&table.connections),
            "table.connections is {}; 1 to {MAX_CONNECTIONS} are possible",
            table.connections
        );
        for (name, seconds) in [
            ("table.opening_seconds", table.opening_seconds),
            ("table.idle_seconds", table.idle_seconds),
            ("table.closing_seconds", table.closing_seconds),
        ] {
            ensure!(
                (1..=MAX_SECONDS).contains(&seconds),
                "{name} is {seconds}; 1 to {MAX_SECONDS} are possible"
            );
        }
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
        let limit = self.first_check_port();
        ensure!(
            stats_port < limit,
            "--listen {stats_port}: ports from {limit} on belong to connections and checks"
        );
        let mut ports = BTreeSet::from([stats_port]);
        for frontend in frontends {
            let FrontendConfig { name, port, .. } = frontend;
            ensure!(
                (1..limit).contains(port),
                "frontend '{name}': port {port} is not possible; 1 to {} are, because the others belong to \
                 {} connections and their checks",
                limit - 1,
                self.table.connections
            );
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

    /// Time after which a connection in a state is forgotten: opening, open, closing.
    pub(super) fn timeouts(&self) -> [Duration; 3] {
        let table = &self.table;
        [
            table.opening_seconds,
            table.idle_seconds,
            table.closing_seconds,
        ]
        .map(Duration::from_secs)
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
        assert_eq!(config.table.connections, 16_384);
        assert_eq!(config.first_connection_port(), 49_152);
        assert_eq!(config.first_check_port(), 48_640);
    }

    #[test]
    fn the_largest_table_leaves_ports_for_frontends() {
        let text = format!("[table]\nconnections = 56000\n{GOOD}");
        let config = parse(&text.replace("port = 80", "port = 8999")).unwrap();
        assert_eq!(config.first_check_port(), 9024);
        assert_eq!(config.frontends[0].port, 8999);
    }

    #[test]
    fn a_wrong_configuration_says_what_is_wrong() {
        let with = |from: &str, to: &str| GOOD.replacen(from, to, 1);
        for (text, message) in [
            (String::new(), "0 backends"),
            (with("port = 80", "port = 0"), "port 0 is not possible"),
            (
                with("port = 80", "port = 49152"),
                "port 49152 is not possible",
            ),
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
                format!("[table]\nconnections = 0\n{GOOD}"),
                "table.connections is 0",
            ),
            (
                format!("[table]\nconnections = 56001\n{GOOD}"),
                "table.connections is 56001",
            ),
            (
                format!("[table]\nidle_seconds = 0\n{GOOD}"),
                "table.idle_seconds is 0",
            ),
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
