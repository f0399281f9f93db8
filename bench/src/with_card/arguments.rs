//! The command line of `triptych with-card`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use bridge_config::MAX_PORTS;
use clap::Args;

use crate::usage::number;

/// The last lines of the command's help.
pub const EXAMPLES: &str = "\
Examples:
  triptych with-card --expect none -- dpdk-testpmd --no-huge -m 256 --no-shconf -l 0,1 -- --total-num-mbufs=16384 --stats-period=1
  triptych with-card --duration 5 -- ./ixy-fwd 0000:03:00.0 0000:04:00.0
  triptych with-card -- gdb -ex 'handle SIGSEGV SIGSYS nostop noprint pass' --args ./my-driver 0000:03:00.0
  triptych with-card --ports 1 --traffic off -- lspci -v

The ports of the card are 0000:03:00.0, 0000:04:00.0 and so on. Options after `--` belong to the program.
A script's background job, which Ctrl-C does not reach, ends with the script; below `nohup` it goes on.

Exit status:
  N      the program's own
  128+S  signal S ended the program
  1      the card, the namespace or the launcher failed
  2      the command line is wrong, or the program cannot run with the card";

/// The options of `triptych with-card`.
#[derive(Debug, Clone, Args)]
pub struct WithCardArguments {
    /// The card that the command starts.
    #[command(flatten)]
    pub card: CardOptions,

    /// Use the port of a running card instead of starting one; once for each port, in order
    #[arg(long, value_name = "PATH", conflicts_with = "card_options")]
    pub socket: Vec<PathBuf>,

    /// Put all ports into one IOMMU group
    #[arg(long)]
    pub same_group: bool,

    /// Bits of the addresses that the IOMMU translates, as the program reads them
    #[arg(long, value_name = "N", default_value_t = 48, value_parser = number::<u8>(39..=57))]
    pub aw_bits: u8,

    /// Most bytes that the program may map for DMA, as `ulimit -l` limits them; no limit if absent
    #[arg(long, value_name = "BYTES")]
    pub memlock: Option<u64>,

    /// Refuse to open the groups and devices below /dev/vfio, as for a user without permission
    #[arg(long)]
    pub permission_denied: bool,

    /// Send SIGTERM to the program after S seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub duration: Option<Duration>,

    /// Do not print the card's report and notes
    #[arg(short, long)]
    pub quiet: bool,

    /// The folder with the built card and bridge; by default the one in which this program lies
    #[arg(long, value_name = "DIR")]
    pub build_dir: Option<PathBuf>,

    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    pub program: Vec<OsString>,
}

/// The options of the software card. They have the names of `nic`, which checks their values.
#[derive(Debug, Clone, Default, Args)]
#[group(id = "card_options", multiple = true)]
pub struct CardOptions {
    /// Ports of the card; neighbours (0 and 1, 2 and 3, ...) exchange frames
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = number::<usize>(1..=MAX_PORTS as u64))]
    pub ports: usize,

    /// PCI device ID in hexadecimal: 10fb is an 82599, 1528 an X540; default: 10fb
    #[arg(long, value_name = "HEX")]
    device_id: Vec<String>,

    /// Frames that arrive at every port: saturate, window=FRAMES, rate=MPPS or off
    #[arg(long, value_name = "TRAFFIC", default_value = "saturate")]
    traffic: String,

    /// Bytes of the frames without CRC: N, MIN-MAX, or A,B,C in turn; default: 60
    #[arg(long, value_name = "BYTES")]
    size: Vec<String>,

    /// Number of flows that the frames belong to; default: 1024
    #[arg(long, value_name = "N")]
    flows: Vec<String>,

    /// Change that the program makes to frames: touch (byte 1 goes up by one), touch@N (byte N), mac
    /// (as testpmd's mode) or none; default: touch
    #[arg(long, value_name = "CHANGE")]
    expect: Vec<String>,

    /// Checks of the frames that come back: full, sequence or off; default: full
    #[arg(long, value_name = "HOW")]
    verify: Vec<String>,

    /// Seconds from a reset until the link is up; default: 0
    #[arg(long, value_name = "S")]
    link_delay: Vec<String>,

    /// Register access: shared or trap (every access is a message); default: shared
    #[arg(long, value_name = "MODE")]
    mmio: Vec<String>,

    /// Cable between two ports, for instance 0:1; may be repeated
    #[arg(long, value_name = "A:B")]
    cable: Vec<String>,

    /// Processor for the card's data plane
    #[arg(long, value_name = "N")]
    cpu: Vec<String>,

    /// Write the card's counters to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Vec<String>,

    /// Another option of `nic`, for instance --card-option=--fault=stall; may be repeated
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true)]
    card_option: Vec<String>,
}

impl CardOptions {
    /// The options for `nic`.
    pub fn arguments(&self) -> Vec<String> {
        let (ports, traffic) = (vec![self.ports.to_string()], vec![self.traffic.clone()]);
        let mut words = self.card_option.clone();
        for (name, values) in [
            ("ports", &ports),
            ("traffic", &traffic),
            ("device-id", &self.device_id),
            ("size", &self.size),
            ("flows", &self.flows),
            ("expect", &self.expect),
            ("verify", &self.verify),
            ("link-delay", &self.link_delay),
            ("mmio", &self.mmio),
            ("cable", &self.cable),
            ("cpu", &self.cpu),
            ("json", &self.json),
        ] {
            words.extend(values.iter().map(|value| format!("--{name}={value}")));
        }
        words
    }
}

fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok();
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration.ok_or("write a number of seconds, such as 10 or 0.5")
}
