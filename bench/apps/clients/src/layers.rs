//! How the instructions of a request divide among the layers, by callgrind.
//!
//! A program runs twice, with a load and with twice that load. The difference is what the requests cost, without start
//! and end. callgrind counts the instructions of user mode, and not those of the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use serde::Serialize;

use crate::clients::Load;
use crate::server::{Driver, Over, Server};

/// Where the instructions of a request are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The library of the driver.
    Driver,
    /// smoltcp.
    Stack,
    /// The rest of the program: the application, and the loop that serves its connections.
    Application,
    /// Libraries of the system: the C library, SQLite.
    Libraries,
}

impl Layer {
    /// All layers, from the driver up.
    pub const ALL: [Self; 4] = [
        Self::Driver,
        Self::Stack,
        Self::Application,
        Self::Libraries,
    ];
}

/// A row of `layers.csv`.
#[derive(Clone, Debug, Serialize)]
pub struct LayerRow {
    /// `kv`, `http`, `balancer` or `node`.
    pub application: String,
    /// `c`, `rust` or `rust-unsafe`.
    pub server: String,
    /// The client, and what it did.
    pub client: String,
    /// Rounds count from 1.
    pub round: u32,
    /// Requests of the difference.
    pub requests: u64,
    /// The layer.
    pub layer: Layer,
    /// Its instructions for each request.
    pub instructions: f64,
}

/// Sums the cost of each layer in a profile of callgrind whose names are not compressed.
fn sum_layers(profile: &str, program: &str) -> BTreeMap<Layer, u64> {
    let mut layers = BTreeMap::new();
    let (mut object, mut function) = ("", "");
    let mut is_call = false;
    for line in profile.lines() {
        if let Some(name) = line.strip_prefix("ob=") {
            object = name;
        } else if let Some(name) = line.strip_prefix("fn=") {
            function = name;
        } else if line.starts_with("calls=") {
            // The next line is the cost of the called function, which has lines of its own.
            is_call = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            let cost = line
                .split(' ')
                .nth(1)
                .and_then(|cost| cost.parse::<u64>().ok());
            if let (Some(cost), false) = (cost, is_call) {
                *layers.entry(layer(object, function, program)).or_default() += cost;
            }
            is_call = false;
        }
    }
    layers
}

fn layer(object: &str, function: &str, program: &str) -> Layer {
    let file = Path::new(object).file_name().and_then(|name| name.to_str());
    match file {
        Some("libports.so") => Layer::Driver,
        Some(name) if name == program && function.contains("smoltcp") => Layer::Stack,
        Some(name) if name == program => Layer::Application,
        _ => Layer::Libraries,
    }
}

/// Counts what a client's requests cost an application over a driver.
///
/// # Errors
/// If a program is missing or fails.
pub fn count(
    application: &'static str,
    driver: Driver,
    round: u32,
    requests: u64,
    client: impl Fn(u64) -> Result<Load>,
) -> Result<Vec<LayerRow>> {
    let run = |requests| -> Result<(Load, BTreeMap<Layer, u64>)> {
        let folder = tempfile::tempdir()?;
        let profile = folder.path().join("profile");
        let wrapper = [
            "valgrind".to_owned(),
            "--quiet".to_owned(),
            "--tool=callgrind".to_owned(),
            "--compress-strings=no".to_owned(),
            "--compress-pos=no".to_owned(),
            format!("--callgrind-out-file={}", profile.display()),
        ];
        let over = Over::Driver(driver);
        let server = Server::Application {
            name: application,
            over,
        };
        let running = server.start_under(&wrapper, &[])?;
        let load = client(requests)?;
        running.end::<serde_json::Value>()?;
        let text = fs::read_to_string(&profile).context("callgrind wrote no profile")?;
        Ok((load, sum_layers(&text, application)))
    };
    let (once, less) = run(requests)?;
    let (twice, more) = run(2 * requests)?;
    let difference = twice.requests.saturating_sub(once.requests);
    ensure!(difference > 0, "{application}: no difference in {twice:?}");
    let rows = more.iter().map(|(layer, cost)| LayerRow {
        application: application.to_owned(),
        server: driver.name.to_owned(),
        client: twice.client.clone(),
        round,
        requests: difference,
        layer: *layer,
        instructions: cost.saturating_sub(less.get(layer).copied().unwrap_or(0)) as f64
            / difference as f64,
    });
    Ok(rows.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_call_counts_once() {
        let profile = "events: Ir\n\
            ob=/a/kv\nfl=???\nfn=apps::kv::serve\n0 10\n\
            cob=/b/libports.so\ncfn=stack_port_send\ncalls=2 0\n0 70\n\
            fn=smoltcp::iface::poll\n0 5\n+3 6\n\
            ob=/b/libports.so\nfn=stack_port_send\n0 70\n\
            ob=/lib/libc.so.6\nfn=memcpy\n0 7\n";
        let layers = sum_layers(profile, "kv");
        let expected = [
            (Layer::Driver, 70),
            (Layer::Stack, 11),
            (Layer::Application, 10),
            (Layer::Libraries, 7),
        ];
        assert_eq!(layers, BTreeMap::from(expected));
    }
}
