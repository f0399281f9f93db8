//! `hostile`: runs the scenarios, and prints a line for each.

use std::process::ExitCode;

use anyhow::{ensure, Result};
use clap::{Parser, ValueEnum};
use hostile::builds::Build;
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
    let builds = match &options.builds[..] {
        [] => &Build::ALL[..],
        builds => builds,
    };
    let mut cases = Vec::new();
    let is_wanted = |name: &str| name.contains(&options.row);
    let rows = rows.iter().filter(|row| is_wanted(&row.name));
    for (nth, row) in rows
        .enumerate()
        .filter(|_| options.part != Some(Part::Client))
    {
        // What a message says is a promise of each driver, so the bounded run takes no turns with it.
        let all = !options.turns || !row.says.is_empty() || row.refused;
        let turn = if all {
            builds
        } else {
            &builds[nth % builds.len()..][..1]
        };
        let meets = |builds: &[Build]| -> Vec<_> {
            builds
                .iter()
                .copied()
                .filter(|build| row.victims.contains(build))
                .collect()
        };
        // A row that spares the build whose turn it is meets its first victim.
        let victims = match meets(turn) {
            none if none.is_empty() && options.turns => row.victims[..1].to_vec(),
            victims => victims,
        };
        for build in victims {
            cases.push(Case {
                row: &row.name,
                victim: build.to_string(),
                run: Box::new(move || server::run(row, build, &options.path)),
            });
        }
    }
    if options.part != Some(Part::Server) {
        cases.extend(
            attacks
                .iter()
                .filter(|row| is_wanted(&row.name))
                .map(|row| Case {
                    row: &row.name,
                    victim: "card".to_owned(),
                    run: Box::new(|| client::run(row)),
                }),
        );
    }
    ensure!(
        !cases.is_empty(),
        "no row's name contains {:?}; --list prints all",
        options.row
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
