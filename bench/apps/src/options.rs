//! The options that all applications have, and their common course.

use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::error::ErrorKind;
use clap::{Args, Parser};
use serde::Serialize;

use crate::contain::report_panics;
use crate::driver::{library_path, PortConfig};
use crate::kernel::{self, KernelTcp};
use crate::run::{Limits, Run};
use crate::service::{DatagramService, Service, OUTPUT_LIMIT};
use crate::stack::{self, Address, PortOptions, StackTcp};
use crate::statistics::Statistics;
use crate::tcp::{serve, Application, Server};

const EXIT_RUN_TIME: u8 = 1;
const EXIT_USAGE: u8 = 2;

/// The name of no driver: the application uses the kernel's sockets.
const KERNEL: &str = "kernel";

/// The options that all applications have.
#[derive(Args, Clone, Debug)]
pub struct CommonOptions {
    /// Which driver: c, rust, rust-unsafe, the path of a libports.so, or kernel (sockets of the kernel, no device)
    #[arg(long, value_name = "DRIVER", default_value = "rust")]
    pub driver: String,

    /// Own IPv4 address with the length of its prefix
    #[arg(long, value_name = "ADDRESS/PREFIX", default_value = "10.0.0.2/24")]
    pub ip: Address,

    /// Router to other networks
    #[arg(long, value_name = "ADDRESS")]
    pub gateway: Option<Ipv4Addr>,

    /// Queue pairs of the port, 1 to 16; RSS divides the flows among them
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=16))]
    pub queues: u32,

    /// Descriptors of every ring, a power of two, 64 to 4096
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = parse_ring_size)]
    pub ring_size: u32,

    /// Only poll the port, and never sleep until an interrupt
    #[arg(long)]
    pub poll: bool,

    /// End after S seconds; fractions are allowed
    #[arg(long, value_name = "S", value_parser = parse_seconds)]
    pub duration: Option<Duration>,

    /// Wait at most S seconds for the socket of the device
    #[arg(long, value_name = "S", default_value = "5", value_parser = parse_timeout)]
    pub connect_timeout: Duration,

    /// Wait at most S seconds for the link
    #[arg(long, value_name = "S", default_value = "30", value_parser = parse_timeout)]
    pub link_timeout: Duration,

    /// Write the statistics to FILE at the end
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// 0000:03:00.0 (PCI, bound to vfio-pci) or vfio-user:PATH (a socket); none with --driver kernel
    #[arg(value_name = "DEVICE")]
    pub device: Option<String>,
}

/// The options of an application over TCP.
#[derive(Args, Clone, Debug)]
pub struct TcpServerOptions {
    /// Those of all applications.
    #[command(flatten)]
    pub common: CommonOptions,

    /// Connections at the same time, 1 to 4096; each takes two socket buffers
    #[arg(long, value_name = "N", default_value_t = 128,
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub connections: u32,

    /// Bytes of each socket buffer, 2048 to 1048576
    #[arg(long, value_name = "BYTES", default_value_t = 32 * 1024,
          value_parser = clap::value_parser!(u32).range(2048..=1_048_576))]
    pub socket_buffer: u32,

    /// Close a connection on which nothing moves for S seconds
    #[arg(long, value_name = "S", default_value = "300", value_parser = parse_timeout)]
    pub idle_timeout: Duration,

    /// Reset a connection whose request or answer takes longer than S seconds, and one more for each 4 KiB of it
    #[arg(long, value_name = "S", default_value = "20", value_parser = parse_timeout)]
    pub request_timeout: Duration,
}

impl CommonOptions {
    /// What is wrong with options that parse.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), String> {
        match (&self.device, self.driver == KERNEL) {
            (None, false) => {
                Err("a device is needed, such as vfio-user:PATH or 0000:03:00.0".into())
            }
            (Some(device), true) => Err(format!(
                "--driver kernel uses no device; leave out {device}"
            )),
            _ => Ok(()),
        }
    }

    /// Whether the application uses the kernel's sockets.
    pub fn is_kernel(&self) -> bool {
        self.driver == KERNEL
    }

    /// The port to open.
    ///
    /// # Errors
    /// If there is no such driver.
    pub fn port(&self) -> Result<PortOptions> {
        Ok(PortOptions {
            library: library_path(&self.driver)?,
            port: PortConfig {
                device: self.device.clone().unwrap_or_default(),
                queues: self.queues,
                ring_size: self.ring_size,
                connect_timeout_ms: self.connect_timeout.as_millis() as u32,
                link_timeout_ms: self.link_timeout.as_millis() as u32,
                interrupts: !self.poll,
            },
            address: self.ip,
            gateway: self.gateway,
        })
    }
}

fn parse_ring_size(text: &str) -> Result<u32, String> {
    text.parse()
        .ok()
        .filter(|size: &u32| (64..=4096).contains(size) && size.is_power_of_two())
        .ok_or_else(|| "a ring has a power of two of descriptors, from 64 to 4096".to_owned())
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 1e9)
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("'{text}' is no number of seconds above 0"))
}

/// Seconds up to an hour, at least a millisecond.
fn parse_timeout(text: &str) -> Result<Duration, String> {
    parse_seconds(text)
        .ok()
        .filter(|timeout| (0.001..=3600.0).contains(&timeout.as_secs_f64()))
        .ok_or_else(|| format!("'{text}' is no number of seconds from 0.001 to 3600"))
}

/// What a run of an application was: its own counters, and those of the server.
#[derive(Serialize)]
struct Report<'r, A: Serialize> {
    #[serde(flatten)]
    application: A,
    #[serde(flatten)]
    server: &'r Statistics,
}

impl TcpServerOptions {
    /// The bounds of connections and memory.
    pub fn limits(&self) -> Limits {
        Limits {
            connections: self.connections as usize,
            socket_buffer: self.socket_buffer as usize,
            idle_timeout: self.idle_timeout,
            request_timeout: self.request_timeout,
        }
    }
}

/// What a program over TCP needs besides its options.
pub struct Ports {
    /// The ports of clients.
    pub listen: Vec<u16>,
    /// Connections to servers.
    pub to_servers: usize,
    /// The most memory that each connection needs besides its socket.
    pub connection_bytes: usize,
}

/// Serves a service over TCP until the run is over, then writes its statistics.
///
/// # Errors
/// If the service cannot be set up, or fails.
pub fn run_service<S: Service, A: Serialize>(
    options: &TcpServerOptions,
    listen: u16,
    service: S,
    own: impl FnOnce(&S) -> A,
) -> Result<()> {
    let mut server = Server::new(service, options.limits());
    let ports = Ports {
        listen: vec![listen],
        to_servers: 0,
        // A request, and the answers that wait, which a vector holds in at most twice its length.
        connection_bytes: 2 * (S::REQUEST_LIMIT + OUTPUT_LIMIT + S::ANSWER_LIMIT),
    };
    run_application(options, ports, &mut server, |server| own(&server.service))
}

/// Runs an application over TCP until the run is over, then writes its statistics.
///
/// # Errors
/// If it cannot be set up, or fails.
pub fn run_application<P: Application, A: Serialize>(
    options: &TcpServerOptions,
    ports: Ports,
    application: &mut P,
    own: impl FnOnce(&P) -> A,
) -> Result<()> {
    let common = &options.common;
    let limits = options.limits();
    let memory = limits.connections * ports.connection_bytes;
    run_and_report(common, |run, statistics| {
        let served = if common.is_kernel() {
            statistics.connection_memory_limit = memory as u64;
            KernelTcp::open(common.ip.ip, ports.listen, &limits)
                .and_then(|tcp| serve(application, tcp, run, statistics))
        } else {
            let buffers = stack::buffer_bytes(&limits, ports.to_servers);
            statistics.connection_memory_limit = (memory + buffers) as u64;
            common
                .port()
                .and_then(|port| StackTcp::open(&port, ports.listen, &limits, ports.to_servers))
                .and_then(|tcp| serve(application, tcp, run, statistics))
        };
        (served, own(application))
    })
}

/// Serves an application over UDP until the run is over, then writes its statistics.
///
/// # Errors
/// If the service cannot be set up, or fails.
pub fn run_udp_service<S: DatagramService, A: Serialize>(
    common: &CommonOptions,
    listen: u16,
    service: &mut S,
    own: impl FnOnce(&S) -> A,
) -> Result<()> {
    run_and_report(common, |run, statistics| {
        let served = if common.is_kernel() {
            kernel::serve_udp(service, (common.ip.ip, listen), run, statistics)
        } else {
            common
                .port()
                .and_then(|port| stack::serve_udp(service, &port, listen, run, statistics))
        };
        (served, own(service))
    })
}

/// Serves until the run is over, then writes the statistics, also after an error.
fn run_and_report<A: Serialize>(
    common: &CommonOptions,
    serve: impl FnOnce(&Run, &mut Statistics) -> (Result<()>, A),
) -> Result<()> {
    let json = json_open(common.json.as_deref())?;
    let mut statistics = Statistics::default();
    let run = Run::start(common.duration)?;
    let (served, application) = serve(&run, &mut statistics);
    statistics.finish(run.seconds());
    let report = Report {
        application,
        server: &statistics,
    };
    json_write(json, common.json.as_deref(), &report)?;
    served
}

/// Parses the command line and runs the program. `check` says what is wrong with options that parse.
pub fn run_program<O: Parser>(
    check: impl FnOnce(&O) -> Result<(), String>,
    run: impl FnOnce(&O) -> Result<()>,
) -> ExitCode {
    let parsed = O::try_parse().and_then(|options| {
        check(&options)
            .map_err(|message| O::command().error(ErrorKind::ValueValidation, message))?;
        Ok(options)
    });
    let options = match parsed {
        Ok(options) => options,
        Err(error) => {
            // A closed standard error must not hide the exit status.
            let _ = error.print();
            return if error.use_stderr() {
                ExitCode::from(EXIT_USAGE)
            } else {
                ExitCode::SUCCESS
            };
        }
    };
    report_panics(O::command().get_name().to_owned());
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error:#}", O::command().get_name());
            ExitCode::from(EXIT_RUN_TIME)
        }
    }
}

/// Opens the file for the statistics before the run, so that a wrong path fails at once.
///
/// # Errors
/// If it cannot be created.
pub fn json_open(path: Option<&Path>) -> Result<Option<File>> {
    path.map(|path| File::create(path).with_context(|| path.display().to_string()))
        .transpose()
}

/// Writes the statistics to the file that [`json_open`] opened.
///
/// # Errors
/// If the file system refuses.
pub fn json_write(
    file: Option<File>,
    path: Option<&Path>,
    statistics: &impl Serialize,
) -> Result<()> {
    match file.zip(path) {
        Some((file, path)) => {
            write_line(file, statistics).with_context(|| path.display().to_string())
        }
        None => Ok(()),
    }
}

fn write_line(mut file: File, statistics: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(statistics)?;
    line.push('\n');
    file.write_all(line.as_bytes())?;
    // A file system may report a full disk only here. A pipe has nothing to sync.
    match file.sync_all() {
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
