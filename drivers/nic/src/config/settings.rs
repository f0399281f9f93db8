//! The settings of a NIC and its ports, one type each.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use crate::config::error::ConfigError;
use crate::traffic::frame::{MAX_FRAME, MIN_FRAME};

/// How a driver reaches the registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MmioMode {
    /// Driver and NIC share the pages with the queue registers (0x1000 and 0x6000) as memory. This
    /// is fast, but the NIC does not see the single accesses: they have no side effects, and a trace
    /// does not show them.
    #[default]
    Shared,
    /// Every access is a message to the NIC.
    Trap,
}

/// The frames that arrive at a port from its wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Traffic {
    /// No frames, except those that are injected or come over a cable.
    #[default]
    Off,
    /// A frame for every free receive descriptor: no driver can be faster.
    Saturate,
    /// As `Saturate`, but only while the driver has few of the port's frames. A program that is
    /// never late has no reason to drop a frame, however slow or busy the machine is.
    Window {
        /// Most frames of this port that have not come back; 1 to [`MAX_WINDOW`](super::MAX_WINDOW).
        frames: u32,
    },
    /// Frames at a fixed rate, evenly spaced, whether or not there are descriptors for them.
    Rate {
        /// Millions of packets a second; above 0, at most 1000.
        mpps: f64,
    },
}

impl Traffic {
    /// Whether the time decides which frames arrive.
    pub(crate) fn is_timed(self) -> bool {
        matches!(self, Self::Rate { .. } | Self::Window { .. })
    }
}

/// Lengths of the generated frames in bytes, without the CRC. The generator repeats the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes(Vec<u16>);

impl FrameSizes {
    /// Frames of one length, 60 to 1514 bytes.
    pub fn fixed(len: usize) -> Result<Self, ConfigError> {
        Self::cycle([len])
    }

    /// Every length from `from` to `to`, one after the other.
    pub fn range(from: usize, to: usize) -> Result<Self, ConfigError> {
        Self::cycle(from..=to)
    }

    /// The given lengths, one after the other.
    pub fn cycle(lengths: impl IntoIterator<Item = usize>) -> Result<Self, ConfigError> {
        let checked = |len: usize| {
            u16::try_from(len)
                .ok()
                .filter(|_| (MIN_FRAME..=MAX_FRAME).contains(&len))
                .ok_or_else(|| {
                    ConfigError(format!(
                        "frame size {len}: must be {MIN_FRAME} to {MAX_FRAME} bytes, without the CRC"
                    ))
                })
        };
        let lengths: Vec<u16> = lengths.into_iter().map(checked).collect::<Result<_, _>>()?;
        if lengths.is_empty() {
            return Err(ConfigError::new("no frame sizes: name at least one"));
        }
        Ok(Self(lengths))
    }

    /// The lengths of one cycle.
    pub(crate) fn lengths(&self) -> &[u16] {
        &self.0
    }
}

impl Default for FrameSizes {
    fn default() -> Self {
        Self(vec![MIN_FRAME as u16])
    }
}

/// How closely the NIC checks the frames that come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerifyMode {
    /// Every byte.
    #[default]
    Full,
    /// Only the sequence number and the check word that protects it.
    Sequence,
    /// Not at all.
    Off,
}

/// The change that the driver under test makes to the frames that it forwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// One byte goes up by 1 and wraps. The number is the byte's place in the frame, 0 to 59: all
    /// frames have at least 60 bytes.
    Touch(u8),
    /// The frame gets new addresses, as DPDK's `testpmd --forward-mode=mac` writes them. The source
    /// is the MAC address of the sending port. The destination is 02:00:00:00:00:N, where N is the
    /// number of the sending port.
    Mac,
    /// No change.
    Unchanged,
}

impl Default for Expected {
    /// Byte 1, the second of the destination address: as this project's forwarders do.
    fn default() -> Self {
        Self::Touch(1)
    }
}

/// The module in a port's SFP+ cage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Module {
    /// No module: the port has no link.
    None,
    /// A passive direct-attach cable.
    #[default]
    Dac,
    /// An optical module for short range (10GBASE-SR), whose laser the driver can switch off.
    Sr,
}

/// A cable between two ports: each port receives what the other sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cable {
    /// One end.
    pub a: usize,
    /// The other end; may be the same port (a loop-back plug).
    pub b: usize,
}

impl fmt::Display for Cable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.a, self.b)
    }
}

/// What is at the other end of a wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WireTo {
    /// The TAP interface of that name, 1 to 15 bytes, so that this machine's own programs exchange frames
    /// with the driver.
    Tap(String),
    /// Files of recorded frames.
    Pcap {
        /// The file of the frames that arrive, once.
        input: Option<PathBuf>,
        /// The file for the frames that the driver sends.
        output: Option<PathBuf>,
    },
}

impl fmt::Display for WireTo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |path: &Option<PathBuf>| path.clone().unwrap_or_default();
        match self {
            Self::Tap(name) => write!(f, "tap={name}"),
            Self::Pcap { input, output } => {
                let (input, output) = (name(input), name(output));
                write!(f, "pcap={},{}", input.display(), output.display())
            }
        }
    }
}

/// The other end of a port's wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireEnd {
    /// The port; `None` for the next one without a wire.
    pub port: Option<usize>,
    /// What is there.
    pub to: WireTo,
}

impl fmt::Display for WireEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(port) = self.port {
            write!(f, "{port}:")?;
        }
        write!(f, "{}", self.to)
    }
}

/// How the NIC measures latency. It times every frame that arrives at a fixed rate, from the moment
/// the frame is due until the peer port fetches it for sending. See
/// [`Port::latency`](crate::Port::latency).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeasureLatency {
    /// Warm-up time after the first frame that a port receives, and again after each reset. Frames
    /// due in that time are left out.
    pub after: Duration,
}

/// Where the NIC records accesses to registers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum TraceTo {
    /// Nowhere.
    #[default]
    Off,
    /// In memory, for [`Nic::take_trace`](crate::Nic::take_trace).
    Memory,
    /// In a file, one line each.
    File(PathBuf),
}
