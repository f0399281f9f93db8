//! `nic`: runs a software 82599 until it is told to stop, then says what happened.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use nic::{
    Cable, ConfigError, Expected, Faults, FrameSizes, Latency, LatencySummary, MeasureLatency,
    MmioMode, Module, Nic, NicConfig, NicError, Port, PortCounters, SessionReport, TimesSummary,
    TraceTo, Traffic, VerifyMode,
};
use serde::Serialize;

/// How often the process looks whether it is to stop.
const TICK: Duration = Duration::from_millis(20);

/// A software Intel 82599, served over vfio-user.
///
/// Each port is a socket DIR/portN.sock, which a driver names vfio-user:DIR/portN.sock. The line
/// "ready" on standard output says that drivers may connect. SIGINT or SIGTERM ends it: it prints
/// what each port saw.
#[derive(Debug, Parser)]
#[command(name = "nic", version)]
struct Options {
    /// Directory of the sockets port0.sock, port1.sock, ...; made if it does not exist
    #[arg(long, value_name = "DIR")]
    socket_dir: PathBuf,

    /// Ports; neighbours (0 and 1, 2 and 3, ...) are peers: what one receives, the other is
    /// expected to send
    #[arg(long, value_name = "N", default_value_t = 2)]
    ports: usize,

    /// How drivers reach the registers: shared (queue registers are shared memory) or trap (every
    /// access is a message)
    #[arg(long, value_name = "MODE", default_value = "shared")]
    mmio: MmioMode,

    /// What arrives at every port: off, saturate (a frame for every free descriptor), or rate=MPPS
    #[arg(long, value_name = "TRAFFIC", default_value = "off")]
    traffic: Traffic,

    /// Frame size in bytes without CRC, 60 to 1514; MIN-MAX or A,B,C for several, one after the
    /// other
    #[arg(long, value_name = "BYTES", default_value = "60")]
    size: FrameSizes,

    /// Flows that the frames belong to
    #[arg(long, value_name = "N", default_value_t = 1024)]
    flows: u16,

    /// What is checked of frames that come back: full (every byte), sequence, or off
    #[arg(long, value_name = "HOW", default_value = "full")]
    verify: VerifyMode,

    /// What drivers do to frames: touch (byte 1 goes up by one) or none
    #[arg(long, value_name = "WHAT", default_value = "touch")]
    expect: Expected,

    /// A cable between two ports: what one sends, the other receives (and what is sent is not
    /// checked)
    #[arg(long, value_name = "A:B")]
    cable: Vec<Cable>,

    /// What is in the SFP+ cages: dac (a direct-attach cable), sr (an optical module) or none
    #[arg(long, value_name = "MODULE", default_value = "dac")]
    module: Module,

    /// PCI device id, in hexadecimal
    #[arg(long, value_name = "HEX", value_parser = device_id, default_value = "10fb")]
    device_id: u16,

    /// Misbehave: never-finish-reset, stall (transmits nothing), no-link
    #[arg(long, value_name = "NAME", value_parser = fault)]
    fault: Vec<String>,

    /// Record every register access in FILE (in shared mode, those to the queue registers are not
    /// seen)
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,

    /// Measure the latency of every frame, from the moment it is due (traffic rate=MPPS) until the
    /// peer port fetches it for sending
    #[arg(long)]
    latency: bool,

    /// Leave out of the latency the frames that are due in the first S seconds after a port has
    /// begun to receive
    #[arg(long, value_name = "S", value_parser = seconds, requires = "latency")]
    latency_after: Option<Duration>,

    /// Take commands on a UNIX socket: "link PORT up|down", "module PORT dac|sr|none", "stats"
    #[arg(long, value_name = "PATH")]
    control: Option<PathBuf>,

    /// Write what each port saw to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Stop after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    duration: Option<Duration>,

    /// Processor for the data plane
    #[arg(long, value_name = "N")]
    cpu: Option<usize>,
}

fn device_id(text: &str) -> Result<u16, String> {
    let digits = text.trim_start_matches("0x");
    u16::from_str_radix(digits, 16)
        .map_err(|_| "write up to four hexadecimal digits, such as 10fb".to_owned())
}

fn fault(name: &str) -> Result<String, ConfigError> {
    Faults::default().add(name).map(|()| name.to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "write a number of seconds, such as 10 or 0.5".to_owned())
}

impl Options {
    fn config(&self) -> Result<NicConfig, ConfigError> {
        let mut faults = Faults::default();
        for name in &self.fault {
            faults.add(name)?;
        }
        let mut config = NicConfig::new(&self.socket_dir, self.ports)
            .with_mmio(self.mmio)
            .with_each_port(|port| {
                port.traffic = self.traffic;
                port.sizes = self.size.clone();
                port.flows = self.flows;
                port.verify = self.verify;
                port.expected = self.expect;
                port.module = self.module;
                port.device_id = self.device_id;
                port.faults = faults;
            });
        config.cables = self.cable.clone();
        config.cpu = self.cpu;
        if self.latency {
            if self.traffic == Traffic::Off {
                return Err(ConfigError::new(
                    "--latency: there is no traffic to measure; add --traffic rate=MPPS",
                ));
            }
            config.latency = Some(MeasureLatency {
                after: self.latency_after.unwrap_or_default(),
            });
        }
        if let Some(path) = &self.trace {
            config.trace = TraceTo::File(path.clone());
        }
        config.check()?;
        Ok(config)
    }
}

/// What is told of a port at the end.
#[derive(Debug, Serialize)]
struct PortReport {
    port: usize,
    #[serde(flatten)]
    counters: PortCounters,
    last_session: Option<SessionReport>,
    /// Of the frames that arrived here.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<LatencySummary>,
}

#[derive(Debug, Serialize)]
struct Report {
    seconds: f64,
    ports: Vec<PortReport>,
    /// Of all frames.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<LatencySummary>,
}

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
    // First: a path that cannot be written should not cost an hour's run.
    let json = options.json.as_deref();
    let json = json
        .map(|path| File::create(path).with_context(|| format!("writing {}", path.display())))
        .transpose()?;
    let mut nic = Nic::new(config)?;
    let control = options.control.as_deref();
    let control = control.map(|path| nic.serve_control(path)).transpose()?;
    let data_plane = nic.run_data_plane()?;
    let start = Instant::now();
    for port in nic.ports() {
        eprintln!("port {}: {}", port.index(), port.device_name());
    }
    let mut output = io::stdout();
    writeln!(output, "ready")
        .and_then(|()| output.flush())
        .context("standard output")?;

    while !stop.load(Ordering::Relaxed)
        && options
            .duration
            .is_none_or(|duration| start.elapsed() < duration)
    {
        std::thread::sleep(TICK);
    }
    let seconds = start.elapsed().as_secs_f64();
    drop(control);
    // First the data plane: what it counts last is then in the last session's report.
    drop(data_plane);
    nic.stop();
    let report = report(&nic, seconds);
    // Each goes where it can, whatever becomes of the others: a disk may be full, a reader gone.
    let written = match (json, &options.json) {
        (Some(file), Some(path)) => {
            write_json(file, &report).with_context(|| format!("writing {}", path.display()))
        }
        _ => Ok(()),
    };
    let traced = finish_trace(&nic);
    let printed = print(&report, &mut output).context("standard output");
    written.and(traced).and(printed)
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

fn report(nic: &Nic, seconds: f64) -> Report {
    let ports = nic.ports().iter().map(|port| PortReport {
        port: port.index(),
        counters: port.stats(),
        last_session: port.last_session(),
        latency: port.latency().map(|latency| latency.summary()),
    });
    let latency = Latency::merged(nic.ports().iter().filter_map(Port::latency));
    Report {
        seconds,
        ports: ports.collect(),
        latency: latency.map(|latency| latency.summary()),
    }
}

fn print_latency(output: &mut impl Write, who: &str, latency: &LatencySummary) -> io::Result<()> {
    let times = |times: &TimesSummary| {
        let figures = [
            ("min", times.min_us),
            ("50 %", times.p50_us),
            ("90 %", times.p90_us),
            ("99 %", times.p99_us),
            ("99.9 %", times.p99_9_us),
            ("99.99 %", times.p99_99_us),
            ("99.999 %", times.p99_999_us),
            ("99.9999 %", times.p99_9999_us),
            ("max", times.max_us),
        ];
        let known = figures
            .iter()
            .filter_map(|(name, value)| value.map(|value| format!("{name} {value:.3}")));
        known.collect::<Vec<_>>().join(", ")
    };
    writeln!(
        output,
        "{who}: {} offered, {} lost, {} timed",
        latency.offered, latency.lost, latency.times.count
    )?;
    if latency.times.count > 0 {
        writeln!(output, "{who}: latency in us: {}", times(&latency.times))?;
        writeln!(output, "{who}: of it the NIC's: {}", times(&latency.lag))?;
    }
    Ok(())
}

fn print(report: &Report, output: &mut impl Write) -> io::Result<()> {
    for PortReport {
        port,
        counters: c,
        last_session,
        latency,
    } in &report.ports
    {
        writeln!(output, "port {port}: received {} of {} generated (no descriptor {}, no buffer {}, filtered {}, not running {}); transmitted {}",
            c.delivered,
            c.generated,
            c.dropped_no_descriptor,
            c.dropped_no_buffer,
            c.dropped_filtered,
            c.dropped_not_running,
            c.transmitted,
        )?;
        let v = &c.verify;
        writeln!(output, "port {port}: verified {} ok, {} missing, {} duplicated, {} reordered, {} altered, {} foreign; {} outstanding, {} abandoned",
            v.ok, v.missing, v.duplicated, v.reordered, v.altered, v.foreign, c.outstanding, v.abandoned,
        )?;
        writeln!(
            output,
            "port {port}: {} sessions, {} resets, {} DMA faults",
            c.sessions, c.resets, c.dma_faults
        )?;
        if let Some(session) = last_session {
            let rest = if session.snapshot.quiescent() {
                "at rest"
            } else {
                "NOT at rest"
            };
            writeln!(
                output,
                "port {port}: last driver left the device {rest}, {} DMA maps",
                session.snapshot.dma_maps
            )?;
            for note in &session.notes {
                writeln!(output, "port {port}: note: {note}")?;
            }
            for text in &session.unmodelled {
                writeln!(output, "port {port}: not modelled: {text}")?;
            }
        }
        if let Some(latency) = latency {
            print_latency(output, &format!("port {port}"), latency)?;
        }
    }
    if let Some(latency) = &report.latency {
        print_latency(output, "all ports", latency)?;
    }
    Ok(())
}
