//! `nic`: runs a software 82599 until a signal or a time limit stops it, and prints a report.

mod options;
mod summary;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use nic::{Nic, NicConfig};

use options::Options;
use summary::Report;

/// Time between two checks whether the process must stop.
const TICK: Duration = Duration::from_millis(20);

fn main() -> ExitCode {
    let options = Options::parse();
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .without_time()
        .with_target(false)
        .init();
    let (error, status) = match options.config() {
        Err(error) => (error.into(), 2),
        Ok(config) => match run(&options, config) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error, 1),
        },
    };
    eprintln!("nic: {error:#}");
    ExitCode::from(status)
}

fn run(options: &Options, config: NicConfig) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).context("signal handler")?;
    }
    // The file comes first: a bad path should not cost an hour's run.
    let path = options.json.as_deref();
    let writing = || format!("writing {}", path.unwrap_or(Path::new("")).display());
    let json = path.map(File::create).transpose();
    let json = json.with_context(writing)?;
    let mut nic = Nic::new(config)?;
    let serve = if options.turns {
        Nic::serve_turns
    } else {
        Nic::serve_control
    };
    let control = options.control.as_deref();
    let control = control.map(|path| serve(&nic, path)).transpose()?;
    let data_plane = (!options.turns).then(|| nic.run_data_plane()).transpose()?;
    let start = Instant::now();
    for port in nic.ports() {
        eprintln!("port {}: {}", port.index(), port.device_name());
    }
    let mut output = io::stdout();
    say(&mut output, "ready\n")?;

    let mut bursts_reported = false;
    let longest = options.duration.unwrap_or(Duration::MAX);
    while !stop.load(Ordering::Relaxed) && start.elapsed() < longest {
        std::thread::sleep(TICK);
        if !bursts_reported && nic.bursts_done() {
            bursts_reported = true;
            say(&mut output, "bursts done\n")?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(control);
    // The data plane ends first, so that the last session's report has its last counts.
    drop(data_plane);
    nic.stop();
    let report = Report::of(&nic, seconds);
    // Write to all three places, even if one of them fails: a disk may be full, a reader gone.
    let written = json.map_or(Ok(()), |file| {
        write_json(file, &report).with_context(writing)
    });
    let traced = nic.flush_trace().context("the trace is incomplete");
    let printed = say(&mut output, &report.text());
    let recorded = match nic.wire_failure() {
        None => Ok(()),
        Some(error) => Err(anyhow::anyhow!("{error}")),
    };
    written.and(traced).and(printed).and(recorded)
}

fn say(mut output: impl Write, text: &str) -> anyhow::Result<()> {
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    written.context("standard output")
}

fn write_json(mut file: File, report: &Report) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    Ok(file.write_all((text + "\n").as_bytes())?)
}
