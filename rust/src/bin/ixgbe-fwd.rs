//! ixgbe-fwd: forwards packets between two devices, both ways.
#![forbid(unsafe_code)]

#[path = "../apps/queue_threads.rs"]
mod queue_threads;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use ixgbe::device::{Stats, MAX_QUEUES, MAX_RING_SIZE, MIN_RING_SIZE};
use ixgbe::forwarder::{
    Counts, Forwarder, Monitor, Ports, Waits, DEFAULT_BATCH, DEFAULT_CONNECT_TIMEOUT_MS,
    DEFAULT_INTERRUPT_INTERVAL_US, DEFAULT_LINK_TIMEOUT_MS, DEFAULT_RING_SIZE, MAX_BATCH,
    MAX_INTERRUPT_INTERVAL_US,
};
use ixgbe::tsc_read;
use queue_threads::{cpu_list_parse, forward_in_threads, CpuList};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

const EXIT_RUN_TIME: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// The forwarder checks the clock and the signals once every so many turns.
const TURNS_PER_LOOK: u32 = 1024;

/// The same when a turn may take four messages to servers, each 20 ms or more.
const TURNS_PER_LOOK_TRAPPED: u32 = 8;

/// The bytes on the wire besides the frame: preamble, start delimiter, inter-frame gap.
const WIRE_OVERHEAD_BYTES: u64 = 20;

/// With interrupts, the forwarder sleeps after so many turns without a packet, at most so long.
const EMPTY_TURNS: u32 = 64;
const SLEEP: Duration = Duration::from_millis(100);

/// With threads, the main thread looks at the clock and at them this often.
const LOOK: Duration = Duration::from_millis(20);

/// The longest wait for a server or a link.
const MAX_TIMEOUT: Duration = Duration::from_secs(3600);

/// Forwards packets between two devices, both ways, and changes one byte of every packet.
/// Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
#[derive(Debug, Parser)]
#[command(
    name = "ixgbe-fwd",
    version,
    max_term_width = 80,
    infer_long_args = true,
    args_override_self = true
)]
struct Options {
    /// Packets per call, 1 to 512
    #[arg(long, value_name = "N", default_value_t = DEFAULT_BATCH, value_parser = parse_batch)]
    batch: usize,

    /// Descriptors of every ring, a power of two, 64 to 4096
    #[arg(long, value_name = "N", default_value_t = DEFAULT_RING_SIZE,
          value_parser = parse_ring_size)]
    ring_size: u32,

    /// Queue pairs of each device, 1 to 16, each with a thread of its own; RSS divides the flows among
    /// them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_queues)]
    queues: u32,

    /// Pin a thread to each of these CPUs, such as 1,3 or 0-3; with fewer CPUs than queues, a thread has
    /// several queues
    #[arg(long, value_name = "LIST", value_parser = cpu_list_parse)]
    cpus: Option<CpuList>,

    /// Sleep while no packets come, instead of polling; needs one queue
    #[arg(long)]
    interrupts: bool,

    /// At least US microseconds between two interrupts of a queue, 0 to 1022
    #[arg(long, value_name = "US", default_value_t = DEFAULT_INTERRUPT_INTERVAL_US,
          value_parser = parse_interrupt_interval)]
    interrupt_interval: u32,

    /// End after N received packets, counted over both directions
    #[arg(long, value_name = "N", conflicts_with = "duration", value_parser = parse_packets)]
    packets: Option<u64>,

    /// End after S seconds; fractions are allowed
    #[arg(long, value_name = "S", value_parser = parse_duration)]
    duration: Option<Duration>,

    /// Wait at most S seconds for the sockets, up to 3600 [default: 5]
    #[arg(long, value_name = "S", value_parser = parse_timeout)]
    connect_timeout: Option<u32>,

    /// Wait at most S seconds for each link, up to 3600 [default: 30]
    #[arg(long, value_name = "S", value_parser = parse_timeout)]
    link_timeout: Option<u32>,

    /// Write the totals to FILE at the end
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device_a: String,

    /// The other device
    #[arg(value_name = "DEVICE")]
    device_b: String,
}

impl Options {
    /// Parses the command line. Prints an error and the usage if it is wrong.
    fn from_command_line() -> Result<Self, ExitCode> {
        let parsed = Self::try_parse().and_then(|options| {
            let cpus = options.cpus.as_ref().map_or(0, |list| list.0.len());
            if cpus > options.queues as usize {
                let message = "--cpus names more CPUs than there are queues; each thread needs a \
                               queue: raise --queues";
                return Err(Self::command().error(ErrorKind::ValueValidation, message));
            }
            if options.interrupts && (options.queues > 1 || options.cpus.is_some()) {
                let message = "--interrupts needs one queue without threads; leave out --queues \
                               and --cpus";
                return Err(Self::command().error(ErrorKind::ValueValidation, message));
            }
            if options.device_a == options.device_b {
                let message = format!(
                    "the two devices must differ; both are: {}",
                    options.device_a
                );
                return Err(Self::command().error(ErrorKind::ValueValidation, message));
            }
            Ok(options)
        });
        parsed.map_err(|error| {
            // A closed standard error must not hide the exit status.
            let _ = error.print();
            if !error.use_stderr() {
                return ExitCode::SUCCESS;
            }
            if !error.to_string().contains("Usage:") {
                eprintln!("\n{}", Self::command().render_usage());
            }
            ExitCode::from(EXIT_USAGE)
        })
    }
}

/// A whole number, in digits only.
fn parse_number(text: &str) -> Option<u64> {
    text.bytes().all(|c| c.is_ascii_digit()).then_some(())?;
    text.parse().ok()
}

fn parse_batch(text: &str) -> Result<usize, String> {
    parse_number(text)
        .and_then(|batch| usize::try_from(batch).ok())
        .filter(|batch| (1..=MAX_BATCH).contains(batch))
        .ok_or_else(|| format!("--batch must be a number from 1 to {MAX_BATCH}"))
}

fn parse_queues(text: &str) -> Result<u32, String> {
    parse_number(text)
        .and_then(|queues| u32::try_from(queues).ok())
        .filter(|queues| (1..=MAX_QUEUES).contains(queues))
        .ok_or_else(|| format!("--queues must be a number from 1 to {MAX_QUEUES}"))
}

fn parse_interrupt_interval(text: &str) -> Result<u32, String> {
    parse_number(text)
        .and_then(|interval| u32::try_from(interval).ok())
        .filter(|interval| *interval <= MAX_INTERRUPT_INTERVAL_US)
        .ok_or_else(|| {
            format!(
                "--interrupt-interval must be a number of microseconds from 0 to \
                 {MAX_INTERRUPT_INTERVAL_US}"
            )
        })
}

fn parse_ring_size(text: &str) -> Result<u32, String> {
    parse_number(text)
        .and_then(|size| u32::try_from(size).ok())
        .filter(|size| (MIN_RING_SIZE..=MAX_RING_SIZE).contains(size) && size.is_power_of_two())
        .ok_or_else(|| {
            format!("--ring-size must be a power of two from {MIN_RING_SIZE} to {MAX_RING_SIZE}")
        })
}

fn parse_packets(text: &str) -> Result<u64, String> {
    parse_number(text)
        .filter(|packets| (1..u64::MAX).contains(packets))
        .ok_or_else(|| "--packets must be a number from 1".to_owned())
}

fn parse_duration(text: &str) -> Result<Duration, String> {
    text.starts_with(|c: char| c.is_ascii_digit())
        .then_some(text)
        .filter(|text| text.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
        .and_then(|text| text.parse().ok())
        .filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 1e9)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "--duration must be a number of seconds above 0".to_owned())
}

/// Seconds up to an hour, as milliseconds, at least 1.
fn parse_timeout(text: &str) -> Result<u32, String> {
    parse_duration(text)
        .ok()
        .filter(|timeout| *timeout <= MAX_TIMEOUT)
        .and_then(|timeout| u32::try_from(timeout.as_nanos().div_ceil(1_000_000)).ok())
        .ok_or_else(|| "the wait must be a number of seconds above 0, at most 3600".to_owned())
}

/// The results of a run.
#[derive(Default, Serialize)]
struct Totals {
    #[serde(flatten)]
    counts: Counts,
    seconds: f64,
    tsc_cycles: u64,
    /// Only with `--interrupts`.
    #[serde(flatten)]
    waits: Option<Waits>,
    /// Only if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    queues: Vec<QueueTotals>,
}

#[derive(Serialize)]
struct QueueTotals {
    queue: u32,
    #[serde(flatten)]
    counts: Counts,
}

/// The totals of a forwarder whose queues are back.
fn read_totals(forwarder: &Forwarder<'_>, start: Instant, start_tsc: u64) -> Totals {
    let queues = forwarder.read_queue_counts();
    let queues = (0..)
        .zip(queues)
        .map(|(queue, counts)| QueueTotals { queue, counts });
    Totals {
        tsc_cycles: tsc_read() - start_tsc,
        seconds: start.elapsed().as_secs_f64(),
        counts: forwarder.read_counts(),
        waits: None,
        queues: Some(queues.collect())
            .filter(|queues: &Vec<_>| queues.len() > 1)
            .unwrap_or_default(),
    }
}

/// Prints million packets per second, and Gbit/s on the wire.
fn print_rates(device: &str, before: &Stats, now: &Stats, seconds: f64) {
    let rate = |packets: u64, bytes: u64| {
        let bits = (bytes + packets * WIRE_OVERHEAD_BYTES) * 8;
        format!(
            "{:.2} Mpps {:.2} Gbit/s",
            packets as f64 / seconds / 1e6,
            bits as f64 / seconds / 1e9
        )
    };
    let rx = rate(
        now.rx_packets - before.rx_packets,
        now.rx_bytes - before.rx_bytes,
    );
    let tx = rate(
        now.tx_packets - before.tx_packets,
        now.tx_bytes - before.tx_bytes,
    );
    // If the reader of the output goes away, the devices must still be stopped.
    let _ = writeln!(io::stdout(), "{device}: RX {rx}, TX {tx}");
}

/// What the lines of each second remember.
struct Rates<'o> {
    devices: [&'o str; 2],
    /// When the last lines were printed.
    printed: Instant,
    before: [Stats; 2],
}

impl<'o> Rates<'o> {
    fn new(options: &'o Options, start: Instant) -> Self {
        Self {
            devices: [&options.device_a, &options.device_b],
            printed: start,
            before: [Stats::default(); 2],
        }
    }

    /// Prints a line for each device, if a second is over.
    fn print(
        &mut self,
        time: Instant,
        mut device_stats: impl FnMut(usize) -> ixgbe::error::Result<Stats>,
    ) -> anyhow::Result<()> {
        if time - self.printed < Duration::from_secs(1) {
            return Ok(());
        }
        let seconds = (time - self.printed).as_secs_f64();
        for (i, before) in self.before.iter_mut().enumerate() {
            let now = device_stats(i)?;
            print_rates(self.devices[i], before, &now, seconds);
            *before = now;
        }
        self.printed = time;
        Ok(())
    }
}

/// Forwards until the end of the run. The totals are valid even after an error.
fn run(
    forwarder: &mut Forwarder<'_>,
    options: &Options,
    ended: &AtomicBool,
) -> (Totals, anyhow::Result<()>) {
    let start_tsc = tsc_read();
    let start = Instant::now();
    let result = match options.queues > 1 || options.cpus.is_some() {
        true => forward_with_threads(forwarder, options, ended, start),
        false if options.interrupts => forward_with_interrupts(forwarder, options, ended, start),
        false => forward(forwarder, options, ended, start),
    };
    let waits = options.interrupts.then(|| forwarder.read_waits());
    let totals = read_totals(forwarder, start, start_tsc);
    (Totals { waits, ..totals }, result)
}

fn forward_with_threads(
    forwarder: &mut Forwarder<'_>,
    options: &Options,
    ended: &AtomicBool,
    start: Instant,
) -> anyhow::Result<()> {
    let duration = options.duration.unwrap_or(Duration::MAX);
    let cpus = options.cpus.clone().unwrap_or_default();
    let mut rates = Rates::new(options, start);
    let (mut monitor, lanes): (Monitor<'_>, _) = forwarder.give_queues()?;

    forward_in_threads(lanes, &cpus, options.packets, || {
        std::thread::sleep(LOOK);
        let time = Instant::now();
        rates.print(time, |device| monitor.device_stats(device))?;
        Ok(time - start < duration && !ended.load(Ordering::Relaxed))
    })
}

fn forward(
    forwarder: &mut Forwarder<'_>,
    options: &Options,
    ended: &AtomicBool,
    start: Instant,
) -> anyhow::Result<()> {
    let packets = options.packets.unwrap_or(u64::MAX);
    let duration = options.duration.unwrap_or(Duration::MAX);
    let mut rates = Rates::new(options, start);
    let mut time = start;
    let mut received = 0;
    let turns = match forwarder.is_trapped() {
        true => TURNS_PER_LOOK_TRAPPED,
        false => TURNS_PER_LOOK,
    };

    while received < packets && time - start < duration {
        let mut left = turns;
        while left > 0 && received < packets {
            received += forwarder.turn()? as u64;
            left -= 1;
        }
        time = Instant::now();
        if ended.load(Ordering::Relaxed) {
            break;
        }
        rates.print(time, |device| forwarder.device_stats(device))?;
    }
    Ok(())
}

/// Forwards until [`EMPTY_TURNS`] turns in a row were empty, until `turns` turns were not, or until
/// `packets` packets have been received. Returns their number, and whether the last turns were empty.
fn forward_until_idle(
    forwarder: &mut Forwarder<'_>,
    turns: u32,
    packets: u64,
) -> ixgbe::error::Result<(u64, bool)> {
    let (mut received, mut left, mut empty) = (0, turns, 0);

    while left > 0 && empty < EMPTY_TURNS && received < packets {
        match forwarder.queue_turn(0)? as u64 {
            0 => empty += 1,
            batch => {
                received += batch;
                left -= 1;
                empty = 0;
            }
        }
    }
    Ok((received, empty == EMPTY_TURNS))
}

/// As [`forward`], but sleeps while no packets come. It has a loop of its own, so that the one of
/// [`forward`] stays as small as it is.
fn forward_with_interrupts(
    forwarder: &mut Forwarder<'_>,
    options: &Options,
    ended: &AtomicBool,
    start: Instant,
) -> anyhow::Result<()> {
    let packets = options.packets.unwrap_or(u64::MAX);
    let duration = options.duration.unwrap_or(Duration::MAX);
    let mut rates = Rates::new(options, start);
    let mut time = start;
    let mut received = 0;
    let mut idle = false;
    let turns = match forwarder.is_trapped() {
        true => TURNS_PER_LOOK_TRAPPED,
        false => TURNS_PER_LOOK,
    };

    forwarder.use_interrupts(options.interrupt_interval)?;
    while received < packets && time - start < duration {
        if idle {
            forwarder.wait(SLEEP.min(duration - (time - start)))?;
        }
        let (more, empty) = forward_until_idle(forwarder, turns, packets - received)?;
        received += more;
        idle = empty;
        time = Instant::now();
        if ended.load(Ordering::Relaxed) {
            break;
        }
        rates.print(time, |device| forwarder.device_stats(device))?;
    }
    Ok(())
}

fn write_json(mut file: File, totals: &Totals) -> io::Result<()> {
    let mut line = serde_json::to_string(totals)?;
    line.push('\n');
    file.write_all(line.as_bytes())?;
    // A file system may report a full disk only here. A pipe has nothing to sync.
    match file.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Opens the devices, forwards, and closes them.
fn forward_until_end(options: &Options) -> anyhow::Result<()> {
    // Opens the file first, so that a wrong path fails before the run.
    let json = match &options.json {
        Some(path) => Some(File::create(path).with_context(|| path.display().to_string())?),
        None => None,
    };
    let connect_timeout_ms = options
        .connect_timeout
        .unwrap_or(DEFAULT_CONNECT_TIMEOUT_MS);
    let ports = Ports::open_queues(
        &options.device_a,
        &options.device_b,
        options.ring_size,
        options.queues,
        connect_timeout_ms,
    )?;
    let link_timeout_ms = options.link_timeout.unwrap_or(DEFAULT_LINK_TIMEOUT_MS);
    let mut forwarder = Forwarder::start(&ports, options.batch, link_timeout_ms)?;

    // From here on, a signal ends the run, so that the program can stop the devices first.
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    if forwarder.on_ordinary_pages() {
        eprintln!(
            "ixgbe-fwd: warning: too few huge pages of 2 MiB are free, using ordinary pages, which \
             are slower; `make hugepages` reserves some"
        );
    }
    // With threads, they divide the packets among themselves.
    if let (Some(packets), 1, None) = (options.packets, options.queues, &options.cpus) {
        forwarder.limit(packets);
    }
    let (totals, ran) = run(&mut forwarder, options, &ended);
    let stopped = forwarder.stop();
    if let (Some(file), Some(path)) = (json, &options.json) {
        write_json(file, &totals).with_context(|| path.display().to_string())?;
    }
    ran?;
    stopped?;
    Ok(())
}

fn main() -> ExitCode {
    let options = match Options::from_command_line() {
        Ok(options) => options,
        Err(status) => return status,
    };
    match forward_until_end(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("ixgbe-fwd: {error:#}");
            ExitCode::from(EXIT_RUN_TIME)
        }
    }
}
