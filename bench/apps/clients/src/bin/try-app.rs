//! Starts an application over a driver in name spaces of its own, and runs a client there: a command, or a shell.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use apps_clients::name_space;
use apps_clients::server::{Driver, Over, Server, ADDRESS};
use clap::Parser;

/// Starts an application over a driver in name spaces of its own, and runs a command or a shell there. The
/// application has the address 10.0.0.2, and everything ends with the command.
#[derive(Debug, Parser)]
#[command(name = "try-app", version)]
struct Options {
    /// The application
    #[arg(long, value_name = "NAME", default_value = "kv",
          value_parser = ["kv", "http", "node", "balancer"])]
    application: String,

    /// The driver, or the kernel's sockets instead of one
    #[arg(long, value_name = "NAME", default_value = "rust",
          value_parser = ["c", "rust", "rust-unsafe", "kernel"])]
    driver: String,

    /// The command for a shell; without it, an interactive shell
    #[arg(long, value_name = "COMMAND")]
    run: Option<String>,
}

const NAMES: [&str; 4] = ["kv", "http", "node", "balancer"];

fn run(options: &Options) -> Result<ExitCode> {
    let name = NAMES.into_iter().find(|name| *name == options.application);
    let over = Driver::ALL
        .into_iter()
        .find(|driver| driver.name == options.driver)
        .map_or(Over::Kernel, Over::Driver);
    let name = name.context("no such application")?;
    let running = Server::Application { name, over }.start(&[])?;
    let shell = std::env::var_os("SHELL").unwrap_or_else(|| "sh".into());
    let status = match &options.run {
        Some(command) => Command::new("sh").args(["-c", command]).status(),
        None => {
            eprintln!(
                "{name} over {} serves {ADDRESS}; `exit` ends it",
                options.driver
            );
            Command::new(shell).status()
        }
    };
    let status = status.context("cannot run the command")?;
    let statistics: Option<serde_json::Value> = running.end()?;
    if let Some(statistics) = statistics {
        eprintln!("{statistics:#}");
    }
    Ok(ExitCode::from(status.code().map_or(1, |code| code as u8)))
}

fn main() -> ExitCode {
    let options = Options::parse();
    if options.application == "balancer" && options.driver == "kernel" {
        eprintln!("try-app: the balancer changes frames, and needs a driver: --driver c, rust or rust-unsafe");
        return ExitCode::from(2);
    }
    name_space::run_inside("try-app", || run(&options))
}
