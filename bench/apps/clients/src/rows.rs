//! The rows of `apps.csv`, and a table of their medians.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use crate::clients::Load;
use crate::layers::{Layer, LayerRow};
use crate::median::median;
use crate::process::CpuTime;
use crate::server::{Over, Server};

/// A row: what a client measured of a server in a round. Its columns are the fields, in this order.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `kv`, `http`, `node`, `iperf` or `balancer`.
    pub application: String,
    /// `c`, `rust`, `rust-unsafe`, `kernel`, or a peer: `redis-server`, `nginx`.
    pub server: String,
    /// The build of the driver: `default`, `overflow-checks` or `trapping-ubsan`.
    pub variant: String,
    /// The client, and what it did.
    pub client: String,
    /// Rounds count from 1.
    pub round: u32,
    /// Requests, or bytes with iperf3.
    pub requests: u64,
    /// Requests without an answer, or with a wrong one.
    pub failed: u64,
    /// Seconds from the first request to the last answer.
    pub seconds: f64,
    /// Requests per second, or bits per second with iperf3.
    pub rate: f64,
    /// Percentiles of the latency in milliseconds; empty if the client measures none.
    pub p50_ms: Option<f64>,
    /// The same.
    pub p99_ms: Option<f64>,
    /// The same.
    pub p999_ms: Option<f64>,
    /// Processor time of the server, in seconds.
    pub server_user_seconds: f64,
    /// The same, of the kernel for it.
    pub server_system_seconds: f64,
    /// Processor time of the card or of socat, which carry the frames.
    pub between_seconds: f64,
    /// Processor time of the client.
    pub client_user_seconds: f64,
    /// The same, of the kernel for it.
    pub client_system_seconds: f64,
}

impl Row {
    /// The row of a load on a server, with the processor times of the server and of what carries the frames.
    pub fn new(
        application: &str,
        server: &Server,
        round: u32,
        load: &Load,
        [own, between]: [CpuTime; 2],
    ) -> Self {
        let (name, variant) = match server {
            Server::Application {
                over: Over::Driver(driver),
                ..
            } => (driver.name, driver.variant),
            Server::Application { .. } => ("kernel", "default"),
            Server::Redis => ("redis-server", "default"),
            Server::Nginx(_) | Server::NginxProxy(_) => ("nginx", "default"),
        };
        Self {
            application: application.to_owned(),
            server: name.to_owned(),
            variant: variant.to_owned(),
            client: load.client.clone(),
            round,
            requests: load.requests,
            failed: load.failed,
            seconds: load.seconds,
            rate: load.rate,
            p50_ms: load.p50_ms,
            p99_ms: load.p99_ms,
            p999_ms: load.p999_ms,
            server_user_seconds: own.user,
            server_system_seconds: own.system,
            between_seconds: between.user + between.system,
            client_user_seconds: load.cpu.user,
            client_system_seconds: load.cpu.system,
        }
    }
}

/// The medians over all rounds, in the order in which clients and servers first appear.
pub fn table(rows: &[Row]) -> String {
    let mut order = Vec::new();
    let mut groups: BTreeMap<(String, String, String, String), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = (
            row.application.clone(),
            row.client.clone(),
            row.server.clone(),
            row.variant.clone(),
        );
        if !groups.contains_key(&key) {
            order.push(key.clone());
        }
        groups.entry(key).or_default().push(row);
    }
    let place: BTreeMap<_, _> = order
        .iter()
        .enumerate()
        .map(|(place, (application, client, ..))| ((application.clone(), client.clone()), place))
        .rev()
        .collect();
    order.sort_by_key(|(application, client, ..)| place[&(application.clone(), client.clone())]);
    let mut text = format!(
        "{:<8} {:<20} {:<12} {:<15} {:>12} {:>8} {:>8} {:>8} {:>7} {:>9} {:>9} {:>6}\n",
        "app",
        "client",
        "server",
        "variant",
        "rate/s",
        "spread",
        "p50 ms",
        "p99 ms",
        "p99.9",
        "server s",
        "client s",
        "failed"
    );
    for key in order {
        let group = &groups[&key];
        let of = |value: fn(&Row) -> Option<f64>| {
            median(group.iter().filter_map(|row| value(row)).collect())
        };
        let rates: Vec<f64> = group.iter().map(|row| row.rate).collect();
        let rate = median(rates.clone()).unwrap_or(0.0);
        let (low, high) = (
            rates.iter().copied().fold(f64::INFINITY, f64::min),
            rates.iter().copied().fold(0.0, f64::max),
        );
        let spread = format!("{:.0}%", 100.0 * (high - low) / rate);
        let number =
            |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
        let failed: u64 = group.iter().map(|row| row.failed).sum();
        // A string takes everything.
        let _ = writeln!(
            text,
            "{:<8} {:<20} {:<12} {:<15} {:>12.0} {:>8} {:>8} {:>8} {:>7} {:>9} {:>9} {:>6}",
            key.0,
            key.1,
            key.2,
            key.3,
            rate,
            spread,
            number(of(|row| row.p50_ms)),
            number(of(|row| row.p99_ms)),
            number(of(|row| row.p999_ms)),
            number(of(|row| Some(
                row.server_user_seconds + row.server_system_seconds
            ))),
            number(of(|row| Some(
                row.client_user_seconds + row.client_system_seconds
            ))),
            failed
        );
    }
    text
}

/// The instructions of a request by layer, medians over the rounds, a line for each application and driver.
pub fn layer_table(rows: &[LayerRow]) -> String {
    let mut text = format!(
        "{:<8} {:<20} {:<12} {:>10} {:>10} {:>12} {:>10} {:>10} {:>7}\n",
        "app",
        "client",
        "server",
        "driver",
        "smoltcp",
        "application",
        "libraries",
        "total",
        "driver"
    );
    let mut groups: Vec<Vec<&LayerRow>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<&LayerRow>| {
            (&group[0].application, &group[0].server) == (&row.application, &row.server)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    for group in groups {
        let of = |layer| {
            let rows = group.iter().filter(|row| row.layer == layer);
            median(rows.map(|row| row.instructions).collect()).unwrap_or(0.0)
        };
        let layers = Layer::ALL.map(of);
        let total: f64 = layers.iter().sum();
        // A string takes everything.
        let _ = write!(
            text,
            "{:<8} {:<20} {:<12}",
            group[0].application, group[0].client, group[0].server
        );
        for (layer, width) in layers.iter().zip([10, 10, 12, 10]) {
            let _ = write!(text, " {layer:>width$.0}");
        }
        let share = 100.0 * of(Layer::Driver) / total;
        let _ = writeln!(text, " {total:>10.0} {share:>6.1}%");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_the_medians_of_all_rounds() {
        let row = |round, rate| {
            let load = Load {
                client: "wrk".to_owned(),
                rate,
                p99_ms: Some(f64::from(round)),
                ..Load::default()
            };
            Row::new(
                "http",
                &Server::Redis,
                round,
                &load,
                [CpuTime::default(); 2],
            )
        };
        let text = table(&[row(1, 100.0), row(2, 300.0), row(3, 200.0)]);
        let line = text.lines().nth(1).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(
            words[..9],
            [
                "http",
                "wrk",
                "redis-server",
                "default",
                "200",
                "100%",
                "-",
                "2.000",
                "-"
            ]
        );
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn the_layers_are_medians_of_all_rounds() {
        let row = |round, layer, instructions| LayerRow {
            application: "kv".to_owned(),
            server: "c".to_owned(),
            client: "GET".to_owned(),
            round,
            requests: 10,
            layer,
            instructions,
        };
        let text = layer_table(&[
            row(1, Layer::Driver, 100.0),
            row(1, Layer::Stack, 300.0),
            row(2, Layer::Driver, 120.0),
            row(2, Layer::Stack, 200.0),
            row(3, Layer::Driver, 90.0),
            row(3, Layer::Stack, 400.0),
        ]);
        let words: Vec<_> = text.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(words[3..], ["100", "300", "0", "0", "400", "25.0%"]);
        assert_eq!(text.lines().count(), 2);
    }
}
