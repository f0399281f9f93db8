//! `nic`: runs a software 82599 until a signal or a time limit stops it, and prints a report.

mod options;
mod summary;

use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use nic::{Nic, NicConfig, NicError};

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
    let config = match options.config() {
        Ok(config) => config,
        Err(error) => {
            eprintln!("nic: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options, config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("nic: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options, config: NicConfig) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, stop.clone()).context("signal handler")?;
    }
    // The file comes first: a bad path should not cost an hour's run.
    let json = options.json.as_deref();
    let json = json
        .map(|path| File::create(path).with_context(|| format!("writing {}", path.display())))
        .transpose()?;
    let mut nic = Nic::new(config)?;
    let control = options.control.as_deref();
    let serve = |path| match options.turns {
        true => nic.serve_turns(path),
        false => nic.serve_control(path),
    };
    let control = control.map(serve).transpose()?;
    let data_plane = match options.turns {
        true => None,
        false => Some(nic.run_data_plane()?),
    };
    let start = Instant::now();
    for port in nic.ports() {
        eprintln!("port {}: {}", port.index(), port.device_name());
    }
    let mut output = io::stdout();
    writeln!(output, "ready")
        .and_then(|()| output.flush())
        .context("standard output")?;

    let mut bursts_reported = false;
    while !stop.load(Ordering::Relaxed)
        && options
            .duration
            .is_none_or(|duration| start.elapsed() < duration)
    {
        std::thread::sleep(TICK);
        if !bursts_reported && nic.bursts_done() {
            bursts_reported = true;
            writeln!(output, "bursts done")
                .and_then(|()| output.flush())
                .context("standard output")?;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(control);
    // The data plane ends first, so that the last session's report has its last counts.
    drop(data_plane);
    nic.stop();
    let report = Report::of(&nic, seconds);
    // Write to all three places, even if one of them fails: a disk may be full, a reader gone.
    let written = match (json, &options.json) {
        (Some(file), Some(path)) => {
            write_json(file, &report).with_context(|| format!("writing {}", path.display()))
        }
        _ => Ok(()),
    };
    let traced = finish_trace(&nic);
    let printed = report.print(&mut output).context("standard output");
    let recorded = match nic.wire_failure() {
        Some(error) => Err(anyhow::anyhow!("{error}")),
        None => Ok(()),
    };
    written.and(traced).and(printed).and(recorded)
}

fn write_json(mut file: File, report: &Report) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    Ok(file.write_all((text + "\n").as_bytes())?)
}

fn finish_trace(nic: &Nic) -> anyhow::Result<()> {
    match nic.flush_trace() {
        Err(error @ NicError::Trace { .. }) => Err(error).context("the trace is incomplete"),
        other => Ok(other?),
    }
}
