//! Measures the applications under real clients, and writes `apps.csv` and `run.json` in a folder of `results/`.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, Result};
use apps_clients::clients::{http, iperf, node, ping, redis, Load};
use apps_clients::name_space;
use apps_clients::path::root;
use apps_clients::rows::{table, Row};
use apps_clients::server::{Driver, Over, Running, Server};
use clap::Parser;
use record::{create_folder, link, GitFacts, HostFacts};

/// Link in the results folder to the newest run.
const LATEST_LINK: &str = "latest-apps";

/// Measures the applications over each driver, over the kernel's sockets, and beside their peers. All of it runs in
/// name spaces of its own.
#[derive(Debug, Parser)]
#[command(name = "measure-apps", version)]
struct Options {
    /// One round with small loads
    #[arg(long)]
    quick: bool,

    /// Only this application
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// The program of nginx; without it, nginx is left out
    #[arg(long, value_name = "FILE")]
    nginx: Option<PathBuf>,
}

/// How much is measured.
struct Plan {
    rounds: u32,
    /// Requests of redis-benchmark, and of each kind in the pipeline.
    requests: u64,
    wrk_seconds: u64,
    controller_rounds: u64,
    iperf_seconds: u64,
    pings: u64,
}

impl Plan {
    const FULL: Self = Self {
        rounds: 3,
        requests: 100_000,
        wrk_seconds: 2,
        controller_rounds: 2_000,
        iperf_seconds: 3,
        pings: 10_000,
    };
    const QUICK: Self = Self {
        rounds: 1,
        requests: 20_000,
        wrk_seconds: 1,
        controller_rounds: 300,
        iperf_seconds: 1,
        pings: 2_000,
    };
}

/// A client, and how much it does.
type Client = fn(&Plan) -> Result<Load>;

/// An application with its clients.
struct Subject {
    name: &'static str,
    arguments: &'static [&'static str],
    peer: Option<Server>,
    clients: &'static [Client],
}

const KV_CLIENTS: [Client; 4] = [
    |plan| ping::flood(plan.pings),
    |plan| redis::benchmark("SET", plan.requests),
    |plan| redis::benchmark("GET", plan.requests),
    |plan| redis::pipeline(plan.requests),
];
const HTTP_CLIENTS: [Client; 2] = [
    |plan| http::wrk(plan.wrk_seconds),
    |_| http::ab(1000, 50, None),
];
const NODE_CLIENTS: [Client; 1] = [|plan| node::control(plan.controller_rounds)];
const IPERF_CLIENTS: [Client; 2] = [
    |plan| iperf::iperf3(plan.iperf_seconds, false),
    |plan| iperf::iperf3(plan.iperf_seconds, true),
];

fn subjects(options: &Options) -> [Subject; 4] {
    let subject = |name, clients| Subject {
        name,
        arguments: &[],
        peer: None,
        clients,
    };
    [
        Subject {
            peer: Some(Server::Redis),
            ..subject("kv", &KV_CLIENTS[..])
        },
        Subject {
            peer: options.nginx.clone().map(Server::Nginx),
            ..subject("http", &HTTP_CLIENTS)
        },
        subject("node", &NODE_CLIENTS),
        Subject {
            arguments: &["--socket-buffer", "262144"],
            ..subject("iperf", &IPERF_CLIENTS)
        },
    ]
}

/// The servers of an application: each driver with and without checks, the kernel's sockets, the peer.
fn servers(subject: &Subject) -> Vec<Server> {
    let name = subject.name;
    let drivers = Driver::ALL.into_iter().chain(Driver::CHECKED);
    let ours = drivers.map(Over::Driver).chain([Over::Kernel]);
    ours.map(|over| Server::Application { name, over })
        .chain(subject.peer.clone())
        .collect()
}

fn measure(
    subject: &Subject,
    server: &Server,
    plan: &Plan,
    round: u32,
    write: &mut impl FnMut(Row) -> Result<()>,
) -> Result<()> {
    let arguments = match server {
        Server::Application { .. } => subject.arguments,
        _ => &[],
    };
    let running = server.start(arguments)?;
    let mut before = times(&running)?;
    for client in subject.clients {
        let load = client(plan)?;
        let after = times(&running)?;
        write(Row::new(
            subject.name,
            server,
            round,
            &load,
            [after[0] - before[0], after[1] - before[1]],
        ))?;
        before = after;
    }
    running.end::<serde_json::Value>().map(drop)
}

fn times(running: &Running) -> Result<[apps_clients::process::CpuTime; 2]> {
    Ok([running.server_time()?, running.between_time()?])
}

fn run(options: &Options) -> Result<()> {
    let plan = if options.quick {
        Plan::QUICK
    } else {
        Plan::FULL
    };
    let start = SystemTime::now();
    let results = root().join("results");
    let (id, folder) = create_folder(&results, start)?;
    let file = folder.join("apps.csv");
    let mut writer = csv::Writer::from_path(&file).with_context(|| file.display().to_string())?;
    let mut rows = Vec::new();
    let mut failures = Vec::new();
    let mut write = |row: Row| -> Result<()> {
        // At once, so that a killed run keeps its rows.
        writer.serialize(&row)?;
        writer.flush()?;
        rows.push(row);
        Ok(())
    };
    let all = subjects(options);
    let wanted = |subject: &&Subject| {
        options
            .only
            .as_deref()
            .is_none_or(|only| only == subject.name)
    };
    for subject in all.iter().filter(wanted) {
        // The servers take turns, so that a noisy moment does not meet only one of them.
        for round in 1..=plan.rounds {
            for server in servers(subject) {
                eprintln!(
                    "{} over {server}, round {round} of {}",
                    subject.name, plan.rounds
                );
                if let Err(error) = measure(subject, &server, &plan, round, &mut write) {
                    eprintln!("failed: {error:#}");
                    failures.push(format!("{} over {server}: {error:#}", subject.name));
                }
            }
        }
    }
    let end = SystemTime::now();
    let time = |time| humantime::format_rfc3339_seconds(time).to_string();
    let record = serde_json::json!({
        "id": id,
        "start": time(start),
        "end": time(end),
        "command": std::env::args().skip(1).collect::<Vec<_>>(),
        "git": GitFacts::of(&root()),
        "host": HostFacts::gather(),
        "failures": failures,
    });
    let path = folder.join("run.json");
    fs::write(&path, serde_json::to_string_pretty(&record)? + "\n")
        .with_context(|| path.display().to_string())?;
    link(&results, LATEST_LINK, &id)?;
    println!("{}", table(&rows));
    println!(
        "results/{id}: {} rows, {} failures",
        rows.len(),
        failures.len()
    );
    anyhow::ensure!(
        failures.is_empty(),
        "{} measurements failed",
        failures.len()
    );
    Ok(())
}

fn main() -> ExitCode {
    let options = Options::parse();
    let entered = match name_space::enter() {
        Ok(Some(status)) => return status,
        Ok(None) => run(&options),
        Err(error) => Err(error),
    };
    match entered {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("measure-apps: {error:#}");
            ExitCode::FAILURE
        }
    }
}
