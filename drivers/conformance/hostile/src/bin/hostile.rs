//! `hostile`: runs the scenarios, and prints a line for each.

use std::process::ExitCode;

use anyhow::{ensure, Result};
use clap::{Parser, ValueEnum};
use hostile::builds::Build;
use hostile::row::Row;
use hostile::suite::{self, Case};
use hostile::{client, client_rows, server, server_rows};

/// Runs the hostile server against the drivers, and the hostile client against the software card.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Run only this part
    #[arg(long)]
    part: Option<Part>,
    /// Run only this build of a driver; may be repeated
    #[arg(long = "build", value_name = "BUILD")]
    builds: Vec<Build>,
    /// Run only rows whose name contains TEXT
    #[arg(long, value_name = "TEXT", default_value = "")]
    row: String,
    /// Let the drivers forward by this path, as `ixgbe-fwd --path` does
    #[arg(long, value_name = "PATH", default_value = "default")]
    path: String,
    /// Run each row with one build of a driver, not with all: the builds take turns
    #[arg(long)]
    turns: bool,
    /// Runs side by side; most runs wait
    #[arg(long, value_name = "N", default_value_t = 16)]
    jobs: usize,
    /// Print the names of the rows, and run nothing
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The hostile server, against drivers
    Server,
    /// The hostile client, against the software card
    Client,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("hostile: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool> {
    let (rows, attacks) = (server_rows::all(), client_rows::all());
    let mut cases = Vec::new();
    let is_wanted = |name: &str| name.contains(&options.row);
    if options.part != Some(Part::Client) {
        let rows = rows.iter().filter(|row| is_wanted(&row.name));
        for (nth, row) in rows.enumerate() {
            cases.extend(victims(row, nth, options).into_iter().map(|build| Case {
                row: &row.name,
                victim: build.to_string(),
                run: Box::new(move || server::run(row, build, &options.path)),
            }));
        }
    }
    if options.part != Some(Part::Server) {
        let attacks = attacks.iter().filter(|row| is_wanted(&row.name));
        cases.extend(attacks.map(|row| Case {
            row: &row.name,
            victim: "card".to_owned(),
            run: Box::new(|| client::run(row)),
        }));
    }
    let text = &options.row;
    ensure!(
        !cases.is_empty(),
        "no row's name contains {text:?}; --list prints all"
    );
    if options.list {
        for case in &cases {
            println!("{:<62} {}", case.row, case.victim);
        }
        return Ok(true);
    }
    let totals = suite::run(&cases, options.jobs, &mut std::io::stdout())?;
    println!("{} passed, {} failed", totals.passed, totals.failed);
    Ok(totals.failed == 0)
}

/// The builds that meet row number `nth`.
fn victims(row: &Row, nth: usize, options: &Options) -> Vec<Build> {
    let builds = match &options.builds[..] {
        [] => &Build::ALL[..],
        builds => builds,
    };
    let spared = |build: &Build| !row.victims.contains(build);
    // What a message says is a promise of each driver, so the bounded run takes no turns with it.
    if options.turns && row.says.is_empty() && !row.refused {
        // A row that spares the build whose turn it is meets its first victim.
        let turn = builds[nth % builds.len()];
        return vec![if spared(&turn) { row.victims[0] } else { turn }];
    }
    builds
        .iter()
        .copied()
        .filter(|build| !spared(build))
        .collect()
}
