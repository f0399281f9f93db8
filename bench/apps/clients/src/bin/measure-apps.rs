//! Measures the applications under real clients, and writes `apps.csv`, `layers.csv`, `code.json` and `run.json` in a
//! folder of `results/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use apps_clients::clients::{http, node, ping, redis, repeated, Load};
use apps_clients::layers::{self, LayerRow};
use apps_clients::name_space;
use apps_clients::path::{built, root};
use apps_clients::process::run_well;
use apps_clients::rows::{layer_table, table, Row};
use apps_clients::server::{Driver, Over, Running, Server};
use clap::Parser;
use record::{create_folder, link, GitFacts, HostFacts};

/// Counting lines takes seconds.
const CODE_LIMIT: Duration = Duration::from_secs(60);

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
    #[arg(long, value_name = "NAME", value_parser = ["kv", "http", "balancer", "node"])]
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
    /// Runs of ab and ping in a round, which are short.
    short_runs: u32,
    controller_rounds: u64,
    pings: u64,
}

impl Plan {
    const FULL: Self = Self {
        rounds: 3,
        requests: 100_000,
        wrk_seconds: 2,
        short_runs: 8,
        controller_rounds: 2_000,
        pings: 10_000,
    };
    const QUICK: Self = Self {
        rounds: 1,
        requests: 20_000,
        wrk_seconds: 1,
        short_runs: 2,
        controller_rounds: 300,
        pings: 2_000,
    };
}

/// A client, and how much it does.
type Client = fn(&Plan) -> Result<Load>;

/// A number of requests, and a client that sends so many.
type Counted = (u64, fn(u64) -> Result<Load>);

/// An application with its clients.
struct Subject {
    name: &'static str,
    arguments: &'static [&'static str],
    peer: Option<Server>,
    clients: &'static [Client],
    /// The load whose instructions callgrind counts, and its size.
    counted: Option<Counted>,
}

/// What the clients of the balancer and of `http` post.
const BODY: &str = r#"{"name":"x","value":1}"#;

const KV_CLIENTS: [Client; 4] = [
    |plan| repeated(plan.short_runs, || ping::flood(plan.pings)),
    |plan| redis::benchmark("SET", plan.requests),
    |plan| redis::benchmark("GET", plan.requests),
    |plan| redis::pipeline(plan.requests),
];
const HTTP_CLIENTS: [Client; 2] = [
    |plan| http::wrk(plan.wrk_seconds),
    |plan| repeated(plan.short_runs, || http::ab(1000, 50, None)),
];
const NODE_CLIENTS: [Client; 1] = [|plan| node::control(plan.controller_rounds)];
const BALANCER_CLIENTS: [Client; 2] = [
    |plan| repeated(plan.short_runs, || http::ab(2100, 40, Some(BODY))),
    |plan| http::wrk(plan.wrk_seconds),
];

fn subjects(options: &Options) -> [Subject; 4] {
    let subject = |name, clients| Subject {
        name,
        arguments: &[],
        peer: None,
        clients,
        counted: None,
    };
    [
        Subject {
            peer: Some(Server::Redis),
            counted: Some((2000, |requests| redis::benchmark("GET", requests))),
            ..subject("kv", &KV_CLIENTS[..])
        },
        Subject {
            peer: options.nginx.clone().map(Server::Nginx),
            counted: Some((500, |requests| http::ab(requests, 50, None))),
            ..subject("http", &HTTP_CLIENTS)
        },
        Subject {
            peer: options.nginx.clone().map(Server::NginxProxy),
            counted: Some((500, |requests| http::ab(requests, 40, Some(BODY)))),
            ..subject("balancer", &BALANCER_CLIENTS)
        },
        Subject {
            counted: Some((100, node::control)),
            ..subject("node", &NODE_CLIENTS)
        },
    ]
}

/// The servers of an application: each driver with and without checks, the kernel's sockets, the peer.
fn servers(subject: &Subject) -> Vec<Server> {
    let name = subject.name;
    let drivers = Driver::ALL.into_iter().chain(Driver::CHECKED);
    let kernel = (name != "balancer").then_some(Over::Kernel);
    let ours = drivers.map(Over::Driver).chain(kernel);
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

/// Counts the instructions of an application's requests over each driver.
fn count_layers(
    subject: &Subject,
    round: u32,
    rows: &mut Vec<LayerRow>,
    failures: &mut Vec<String>,
) {
    let Some((requests, client)) = subject.counted else {
        return;
    };
    for driver in Driver::ALL {
        eprintln!(
            "{} over {driver}, under callgrind, round {round}",
            subject.name
        );
        match layers::count(subject.name, driver, round, requests, client) {
            Ok(counted) => rows.extend(counted),
            Err(error) => {
                eprintln!("failed: {error:#}");
                failures.push(format!("{} over {driver}: {error:#}", subject.name));
            }
        }
    }
}

fn write_layers(path: &Path, rows: &[LayerRow]) -> Result<()> {
    let mut writer = csv::Writer::from_path(path).with_context(|| path.display().to_string())?;
    for row in rows {
        writer.serialize(row)?;
    }
    writer.flush().with_context(|| path.display().to_string())
}

fn times(running: &Running) -> Result<[apps_clients::process::CpuTime; 2]> {
    Ok([running.server_time()?, running.between_time()?])
}

/// What a run has measured, and what failed.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    layers: Vec<LayerRow>,
    failures: Vec<String>,
}

/// Measures an application in all rounds, and writes each row at once, so that a killed run keeps its rows.
fn measure_rounds(
    subject: &Subject,
    plan: &Plan,
    counts_layers: bool,
    writer: &mut csv::Writer<fs::File>,
    measured: &mut Measured,
) {
    let Measured {
        rows,
        layers,
        failures,
    } = measured;
    let mut write = |row: Row| -> Result<()> {
        writer.serialize(&row)?;
        writer.flush()?;
        rows.push(row);
        Ok(())
    };
    // The servers take turns, so that a noisy moment does not meet only one of them. Each round begins with another
    // one, because the first is measured in a calmer or busier machine than the others.
    let mut order = servers(subject);
    let shift = order.len() / plan.rounds as usize;
    for round in 1..=plan.rounds {
        order.rotate_left(shift);
        for server in &order {
            eprintln!(
                "{} over {server}, round {round} of {}",
                subject.name, plan.rounds
            );
            if let Err(error) = measure(subject, server, plan, round, &mut write) {
                eprintln!("failed: {error:#}");
                failures.push(format!("{} over {server}: {error:#}", subject.name));
            }
        }
        if counts_layers {
            count_layers(subject, round, layers, failures);
        }
    }
}

/// Writes what was measured where, and when.
fn write_record(folder: &Path, id: &str, start: SystemTime, failures: &[String]) -> Result<()> {
    let time = |time| humantime::format_rfc3339_seconds(time).to_string();
    let record = serde_json::json!({
        "id": id,
        "start": time(start),
        "end": time(SystemTime::now()),
        "command": std::env::args().skip(1).collect::<Vec<_>>(),
        "git": GitFacts::of(&root()),
        "host": HostFacts::gather(),
        "failures": failures,
    });
    let path = folder.join("run.json");
    fs::write(&path, serde_json::to_string_pretty(&record)? + "\n")
        .with_context(|| path.display().to_string())
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
    let mut measured = Measured::default();
    let all = subjects(options);
    let only = options.only.as_deref();
    for subject in &all {
        if only.is_none_or(|only| only == subject.name) {
            // A quick run counts only the first application.
            let counts_layers = !options.quick || subject.name == all[0].name;
            measure_rounds(subject, &plan, counts_layers, &mut writer, &mut measured);
        }
    }
    let Measured {
        rows,
        layers,
        failures,
    } = measured;
    write_layers(&folder.join("layers.csv"), &layers)?;
    let mut code_size = Command::new(built("bin/code-size")?);
    code_size.arg("--root").arg(root()).arg("--output");
    run_well(code_size.arg(folder.join("code.json")), CODE_LIMIT)?;
    write_record(&folder, &id, start, &failures)?;
    link(&results, LATEST_LINK, &id)?;
    println!("{}", table(&rows));
    println!("{}", layer_table(&layers));
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
    name_space::run_inside("measure-apps", || run(&options).map(|()| ExitCode::SUCCESS))
}
