//! ixgbe-fwd: forwards packets between two devices, both ways.
#![forbid(unsafe_code)]

mod pipeline_threads;
mod program;
mod queue_threads;
mod rates;
mod threads;

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use ixgbe::driver::device::MAX_QUEUES;
use ixgbe::error::Result;
use ixgbe::rooms::forwarder::{
    Counts, Forwarder, Path, Ports, PortsOptions, DEFAULT_INTERRUPT_INTERVAL_US,
    MAX_INTERRUPT_INTERVAL_US,
};
use ixgbe::rooms::interrupts::Waits;
use ixgbe::rooms::lane::Monitor;
use ixgbe::tsc_read;
use pipeline_threads::forward_in_pipeline;
use program::{
    hold_signals, json_open, json_write, parse_number, parse_packets, run_program, turns_per_look,
    warn_of_ordinary_pages, CommonOptions,
};
use queue_threads::forward_in_threads;
use rates::Rates;
use rustix::time::{clock_gettime, ClockId};
use serde::Serialize;
use threads::{cpu_list_parse, CpuList};

/// With interrupts, the forwarder sleeps after so many turns without a packet, at most so long.
const EMPTY_TURNS: u32 = 64;
const SLEEP: Duration = Duration::from_millis(100);

/// It only polls while more packets than [`BUSY_PACKETS`] come in [`BUSY`].
const BUSY_PACKETS: u64 = 200;
const BUSY: Duration = Duration::from_millis(1);

/// With threads, the main thread looks at the clock and at them this often.
const LOOK: Duration = Duration::from_millis(20);

/// Forwards packets between two devices, both ways, and changes one byte of every packet.
/// Ends on SIGINT or SIGTERM, after N packets, or after S seconds.
/// Prints the rates of each second. Without --json, it prints at the end how many packets
/// were received, sent, dropped (no room in the TX ring) and missed (no RX descriptor).
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    #[command(flatten)]
    common: CommonOptions,

    /// How packets travel: default; stride, with buffers 2112 bytes apart in place of 2048; tuned, four at a
    /// time, in exchange for sent ones; or agent, with one buffer for each descriptor for ever, which drops
    /// none
    #[arg(long, value_name = "PATH", default_value = "default", value_parser = parse_path)]
    path: Path,

    /// Queue pairs of each device, 1 to 16, each with a thread of its own; RSS divides the flows among
    /// them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_queues)]
    queues: u32,

    /// Pin a thread to each of these CPUs, such as 1,3 or 0-3; with fewer CPUs than queues, a thread has
    /// several queues
    #[arg(long, value_name = "LIST", value_parser = cpu_list_parse)]
    cpus: Option<CpuList>,

    /// Hand packets from thread to thread: one receives, one for each queue changes the packets, and one
    /// sends; they take the CPUs of --cpus in turn, the receiving and the sending thread first
    #[arg(long)]
    pipeline: bool,

    /// Sleep while few packets come, instead of polling; needs one queue
    #[arg(long)]
    interrupts: bool,

    /// At least US microseconds between two interrupts of a queue, 0 to 1022
    #[arg(long, value_name = "US", default_value_t = DEFAULT_INTERRUPT_INTERVAL_US,
          value_parser = parse_interrupt_interval)]
    interrupt_interval: u32,

    /// End after N received packets, counted over both directions
    #[arg(long, value_name = "N", conflicts_with = "duration", value_parser = parse_packets)]
    packets: Option<u64>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket)
    #[arg(value_name = "DEVICE")]
    device_a: String,

    /// The other device
    #[arg(value_name = "DEVICE")]
    device_b: String,
}

impl Options {
    /// Whether the queues have threads of their own.
    fn in_threads(&self) -> bool {
        self.queues > 1 || self.cpus.is_some() || self.pipeline
    }

    /// Says what is wrong with options that parse.
    fn check(&self) -> std::result::Result<(), String> {
        let cpus = self.cpus.as_ref().map_or(0, |list| list.0.len());
        let queues = self.queues as usize;
        let message = if self.pipeline && cpus > queues + 2 {
            "--cpus names more CPUs than there are threads: with --pipeline, one for each queue, \
             and two; raise --queues"
        } else if !self.pipeline && cpus > queues {
            "--cpus names more CPUs than there are queues; each thread needs a queue: raise --queues"
        } else if self.interrupts && self.in_threads() {
            "--interrupts needs one queue without threads; leave out --queues, --cpus and --pipeline"
        } else if matches!(self.path, Path::Tuned | Path::Agent)
            && (self.pipeline || self.interrupts)
        {
            "--path tuned and agent exclude --pipeline and --interrupts, which need a pool"
        } else if self.device_a == self.device_b {
            let device = &self.device_a;
            return Err(format!("the two devices must differ; both are: {device}"));
        } else {
            return Ok(());
        };
        Err(message.to_owned())
    }
}

fn parse_path(text: &str) -> std::result::Result<Path, String> {
    match text {
        "default" => Ok(Path::Default),
        "stride" => Ok(Path::Stride),
        "tuned" => Ok(Path::Tuned),
        "agent" => Ok(Path::Agent),
        _ => Err("--path must be default, stride, tuned or agent".to_owned()),
    }
}

fn parse_queues(text: &str) -> std::result::Result<u32, String> {
    parse_number(text, 1..=MAX_QUEUES.into(), "--queues must be a number")
}

fn parse_interrupt_interval(text: &str) -> std::result::Result<u32, String> {
    let must = "--interrupt-interval must be a number of microseconds";
    parse_number(text, 0..=MAX_INTERRUPT_INTERVAL_US.into(), must)
}

/// The results of a run.
#[derive(Default, Serialize)]
struct Totals {
    #[serde(flatten)]
    counts: Counts,
    seconds: f64,
    /// That this process used of them, all threads together.
    cpu_seconds: f64,
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

/// Prints the packets of both devices; `missed` are those for which a device had no descriptor.
fn totals_print(totals: &Totals, missed: u64) {
    let (rx, tx, dropped) = (totals.counts.rx, totals.counts.tx, totals.counts.dropped);
    // If the reader of the output went away, the run is still a success.
    let _ = writeln!(
        io::stdout(),
        "both devices: received {rx}, sent {tx}, dropped {dropped}, missed {missed}"
    );
}

/// The processor time of this process, all threads together.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A run of the forwarder.
struct Run<'r, 'p> {
    forwarder: &'r mut Forwarder<'p>,
    options: &'r Options,
    ended: &'r AtomicBool,
    start: Instant,
    duration: Duration,
    rates: Rates<'r, 2>,
}

/// Forwards until the end of the run. The totals are valid even after an error.
fn run(
    forwarder: &mut Forwarder<'_>,
    options: &Options,
    ended: &AtomicBool,
) -> (Totals, anyhow::Result<()>) {
    let (start, start_tsc, start_cpu) = (Instant::now(), tsc_read(), cpu_time());
    let mut run = Run {
        forwarder,
        options,
        ended,
        start,
        duration: options.common.duration.unwrap_or(Duration::MAX),
        rates: Rates::new([&options.device_a, &options.device_b], start),
    };
    let result = match options.in_threads() {
        true => run.forward_with_threads(),
        false if options.interrupts => run.forward_with_interrupts(),
        false => run.forward(),
    };
    let mut totals = Totals {
        tsc_cycles: tsc_read() - start_tsc,
        seconds: start.elapsed().as_secs_f64(),
        cpu_seconds: (cpu_time() - start_cpu).as_secs_f64(),
        counts: forwarder.read_counts(),
        waits: options.interrupts.then(|| forwarder.read_waits()),
        queues: Vec::new(),
    };
    if options.queues > 1 {
        let queues = (0..).zip(forwarder.read_queue_counts());
        totals.queues = queues
            .map(|(queue, counts)| QueueTotals { queue, counts })
            .collect();
    }
    (totals, result)
}

impl Run<'_, '_> {
    fn forward_with_threads(&mut self) -> anyhow::Result<()> {
        let (packets, cpus) = (self.options.packets, self.options.cpus.clone());
        let cpus = cpus.unwrap_or_default();
        let mut goes_on = |monitor: &mut Monitor<'_>| {
            std::thread::sleep(LOOK);
            let time = Instant::now();
            self.rates
                .print(time, |device| monitor.device_stats(device))?;
            Ok(time - self.start < self.duration && !self.ended.load(Ordering::Relaxed))
        };

        if !self.options.pipeline {
            let (mut monitor, lanes) = self.forwarder.give_queues()?;
            return forward_in_threads(lanes, self.options.path, &cpus, packets, || {
                goes_on(&mut monitor)
            });
        }
        let (mut monitor, pipeline) = self.forwarder.give_pipeline()?;
        let (counts, result) =
            forward_in_pipeline(pipeline, &cpus, packets, || goes_on(&mut monitor));
        for (queue, counts) in counts.iter().enumerate() {
            self.forwarder.add_counts(queue, counts);
        }
        result
    }

    /// Calls `round` until the end of the run. It gets the turns until the next look, and the packets and the
    /// time that are left, and returns how many packets it received.
    fn forward_rounds(
        &mut self,
        mut round: impl FnMut(&mut Forwarder<'_>, u32, u64, Duration) -> Result<u64>,
    ) -> anyhow::Result<()> {
        let mut left = self.options.packets.unwrap_or(u64::MAX);
        let mut time = self.start;
        let forwarder = &mut *self.forwarder;
        let turns = turns_per_look(forwarder.is_trapped());

        while left > 0 && time - self.start < self.duration {
            left -= round(forwarder, turns, left, self.duration - (time - self.start))?;
            time = Instant::now();
            if self.ended.load(Ordering::Relaxed) {
                break;
            }
            self.rates
                .print(time, |device| forwarder.device_stats(device))?;
        }
        Ok(())
    }

    fn forward(&mut self) -> anyhow::Result<()> {
        match self.options.path {
            Path::Tuned => self.forward_rounds(|forwarder, turns, packets, _| {
                tuned_turns(forwarder, turns, packets)
            }),
            Path::Agent => self.forward_rounds(|forwarder, turns, packets, _| {
                agent_turns(forwarder, turns, packets)
            }),
            _ => self.forward_rounds(|forwarder, turns, packets, _| {
                forward_turns(forwarder, turns, packets)
            }),
        }
    }

    /// As `forward`, but sleeps while few packets come.
    fn forward_with_interrupts(&mut self) -> anyhow::Result<()> {
        let mut load = Load {
            busy: false,
            since: self.start,
            packets: 0,
        };
        let mut idle = false;

        self.forwarder
            .use_interrupts(self.options.interrupt_interval)?;
        self.forward_rounds(|forwarder, turns, packets, time| {
            if idle && !load.busy {
                forwarder.wait(SLEEP.min(time))?;
            }
            let received;
            (received, idle) = forward_until_idle(forwarder, turns, packets)?;
            load.update(received);
            Ok(received)
        })
    }
}

/// Forwards `turns` times, or until `packets` packets have been received. Returns their number. A function of
/// its own keeps all that the loop needs in registers.
#[inline(never)]
fn forward_turns(forwarder: &mut Forwarder<'_>, turns: u32, packets: u64) -> Result<u64> {
    let (mut received, mut left) = (0, turns);

    while left > 0 && received < packets {
        received += forwarder.turn()? as u64;
        left -= 1;
    }
    Ok(received)
}

/// The same by the tuned path.
#[inline(never)]
fn tuned_turns(forwarder: &mut Forwarder<'_>, turns: u32, packets: u64) -> Result<u64> {
    let (mut received, mut left) = (0, turns);

    while left > 0 && received < packets {
        received += forwarder.tuned_turn()? as u64;
        left -= 1;
    }
    Ok(received)
}

/// The same by the agent.
#[inline(never)]
fn agent_turns(forwarder: &mut Forwarder<'_>, turns: u32, packets: u64) -> Result<u64> {
    let (mut received, mut left) = (0, turns);

    while left > 0 && received < packets {
        received += forwarder.agent_turn()? as u64;
        left -= 1;
    }
    Ok(received)
}

/// Forwards until [`EMPTY_TURNS`] turns in a row were empty, until `turns` turns were not, or until
/// `packets` packets have been received. Returns their number, and whether the last turns were empty.
fn forward_until_idle(
    forwarder: &mut Forwarder<'_>,
    turns: u32,
    packets: u64,
) -> Result<(u64, bool)> {
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

/// Whether many packets come, as of the last whole period.
struct Load {
    busy: bool,
    /// When the period began.
    since: Instant,
    /// Packets since then.
    packets: u64,
}

impl Load {
    fn update(&mut self, received: u64) {
        let period = self.since.elapsed();

        self.packets += received;
        if period >= BUSY {
            let packets = u128::from(self.packets) * BUSY.as_nanos();
            self.busy = packets > u128::from(BUSY_PACKETS) * period.as_nanos();
            self.since += period;
            self.packets = 0;
        }
    }
}

/// Opens the devices, forwards, and closes them.
fn forward_until_end(options: &Options) -> anyhow::Result<()> {
    let common = &options.common;
    let json = json_open(common)?;
    let ports = Ports::open_with(
        &options.device_a,
        &options.device_b,
        PortsOptions {
            ring_size: common.ring_size,
            queues: options.queues,
            path: options.path,
            connect_timeout_ms: common.connect_timeout_ms,
        },
    )?;
    let mut forwarder = Forwarder::start(&ports, common.batch, common.link_timeout_ms)?;

    let ended = hold_signals()?;
    if forwarder.on_ordinary_pages() {
        warn_of_ordinary_pages();
    }
    // Threads have the limit themselves.
    if let (Some(packets), false) = (options.packets, options.in_threads()) {
        forwarder.limit(packets);
    }
    let (totals, ran) = run(&mut forwarder, options, &ended);
    let missed = ran.and_then(|()| Ok(forwarder.read_missed()?));
    let stopped = forwarder.stop();
    json_write(json, &totals)?;
    let missed = missed?;
    stopped?;
    if common.json.is_none() {
        totals_print(&totals, missed);
    }
    Ok(())
}

fn main() -> ExitCode {
    run_program(Options::check, forward_until_end)
}
