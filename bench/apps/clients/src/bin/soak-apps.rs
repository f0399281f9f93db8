//! Sends a million requests of each kind to each application over each driver, compares the answers, and
//! sends a flood of a million SYNs.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{ensure, Result};
use apps_clients::attack::HandClient;
use apps_clients::clients::{http, node, redis, Load};
use apps_clients::name_space;
use apps_clients::server::{Driver, Over, Running, Server};
use clap::Parser;
use serde_json::Value;

/// Requests or SYNs of each kind.
const MILLION: u64 = 1_000_000;

/// Requests of one run of redis-cli, of each of its four kinds.
const REDIS_STEP: u64 = 25_000;

/// Seconds of one run of wrk.
const WRK_STEP: u64 = 10;

/// Requests of one run of ab, each with a connection of its own.
const AB_STEP: u64 = 50_000;

/// Rounds of one run of the controller, each of 13 requests.
const NODE_STEP: u64 = 10_000;

/// SYNs of a flood, after which the program looks whether the server still answers.
const FLOOD_STEP: u32 = 100_000;

/// Sends a million requests of each kind to each application over each driver and compares the answers. A
/// million SYNs follow. All of it runs in name spaces of its own, and takes about
/// 20 minutes.
#[derive(Debug, Parser)]
#[command(name = "soak-apps", version)]
struct Options {
    /// Only this driver
    #[arg(long, value_name = "NAME", value_parser = ["c", "rust", "rust-unsafe"])]
    driver: Option<String>,

    /// Requests of each kind
    #[arg(long, value_name = "N", default_value_t = MILLION)]
    requests: u64,
}

/// Runs a client until it has sent enough.
fn until(requests: u64, mut client: impl FnMut() -> Result<Load>) -> Result<u64> {
    let mut sent = 0;
    while sent < requests {
        let load = client()?;
        ensure!(load.failed == 0, "lost or wrong: {load:?}");
        ensure!(load.requests > 0, "no requests: {load:?}");
        sent += load.requests;
    }
    Ok(sent)
}

/// A flood in steps, with a client after each. Returns what it did to the server.
fn flood(running: &mut Running, requests: u64) -> Result<String> {
    let before = running.server().memory_kib()?;
    let steps = requests.div_ceil(u64::from(FLOOD_STEP));
    for _ in 0..steps {
        HandClient::new(6379, 7000)?.flood(FLOOD_STEP);
        ensure!(redis::cli(&["PING"])? == "PONG");
    }
    let after = running.server().memory_kib()?;
    Ok(format!(
        "{} SYNs, memory {before} KiB before and {after} KiB after",
        steps * u64::from(FLOOD_STEP)
    ))
}

fn soak(driver: Driver, requests: u64) -> Result<()> {
    let start = |name| {
        let over = Over::Driver(driver);
        Server::Application { name, over }.start(&[])
    };
    let end = |running: Running, sent: u64, what: &str| -> Result<()> {
        let statistics = running.end::<Value>()?.unwrap_or_default();
        println!("{driver}: {sent} {what}: 0 lost, 0 wrong");
        let sum = |names: &[&str]| -> u64 {
            let count = |name: &&str| statistics[name].as_u64();
            names.iter().filter_map(count).sum()
        };
        ensure!(sum(&["malformed", "checksum_errors"]) == 0, "{statistics}");
        Ok(())
    };

    let kv = start("kv")?;
    let sent = until(requests, || redis::check_answers(REDIS_STEP))?;
    end(kv, sent, "requests of redis-cli to kv")?;

    for (application, place) in [("http", "to http"), ("balancer", "through the balancer")] {
        let server = start(application)?;
        let sent = until(requests, || http::wrk_checked(WRK_STEP))?;
        end(server, sent, &format!("requests of wrk {place}"))?;
        let server = start(application)?;
        let sent = until(requests, || http::ab(AB_STEP, 50, None))?;
        end(server, sent, &format!("connections of ab {place}"))?;
    }

    let server = start("node")?;
    let sent = until(requests, || node::control(NODE_STEP))?;
    end(server, sent, "requests of the controller to node")?;

    let mut kv = start("kv")?;
    let text = flood(&mut kv, requests)?;
    std::thread::sleep(Duration::from_millis(100));
    let statistics = kv.end::<Value>()?.unwrap_or_default();
    println!(
        "{driver}: {text}; {} evicted, {} dropped",
        statistics["half_open_evicted"], statistics["syn_dropped"]
    );
    Ok(())
}

fn run(options: &Options) -> Result<()> {
    let wanted = |driver: &Driver| {
        options
            .driver
            .as_deref()
            .is_none_or(|name| name == driver.name)
    };
    for driver in Driver::ALL.into_iter().filter(wanted) {
        soak(driver, options.requests).map_err(|error| error.context(driver.to_string()))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let options = Options::parse();
    name_space::run_inside("soak-apps", || run(&options).map(|()| ExitCode::SUCCESS))
}
